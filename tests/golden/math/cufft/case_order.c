/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT in stream order: behind and before kernels, with events, in captures and graphs; work areas. */
#include "ft.h"

static unsigned float_bits(float value)
{
    union {
        float value;
        unsigned bits;
    } both = {value};
    return both.bits;
}

/* A transform of two elements: (a, b) to (a + b, a - b), whose real parts are said. */
static void say_two(const void *at)
{
    float host[4];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, sizeof host, cudaMemcpyDeviceToHost));
    say_int((long long)host[0]);
    say_int((long long)host[2]);
}

struct pair {
    cufftHandle plan;
    cudaStream_t stream;
    char *in, *out;
};

/* The plan has run once: hardware waits for the device when it loads a kernel. */
static struct pair begin(void)
{
    struct pair p = {.stream = rt_stream(cudaStreamNonBlocking), .in = rt_alloc(64), .out = rt_alloc(64)};
    FT_NEED(cufftPlan1d(&p.plan, 2, CUFFT_C2C, 1));
    RT_NEED(cudaMemset(p.in, 0, 64));
    RT_NEED(cudaMemset(p.out, 0, 64));
    FT_NEED(cufftExecC2C(p.plan, (cufftComplex *)(void *)p.in, (cufftComplex *)(void *)p.out, CUFFT_FORWARD));
    RT_NEED(cudaDeviceSynchronize());
    FT_NEED(cufftSetStream(p.plan, p.stream));
    return p;
}

static cufftResult forward(const struct pair *p, void *in, void *out)
{
    return cufftExecC2C(p->plan, in, out, CUFFT_FORWARD);
}

static void end(struct pair *p)
{
    RT_NEED(cudaDeviceSynchronize());
    ft(cufftDestroy(p->plan));
    RT_NEED(cudaFree(p->in));
    RT_NEED(cudaFree(p->out));
}

/* A kernel before and one behind: the transform sees what the first stored. */
CASE(ft_order, kernel_transform_kernel)
{
    struct pair p = begin();
    struct rt_gate gate = rt_gate_close(p.stream);
    rt_store(p.stream, p.in, float_bits(3));
    rt_store(p.stream, p.in + 8, float_bits(5));
    ft(forward(&p, p.in, p.out));
    rt_store(p.stream, p.in, float_bits(100));
    rt_store(p.stream, p.out + 8, float_bits(9));
    rt(cudaStreamQuery(p.stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(p.stream));
    say_two(p.out);
    end(&p);
}

CASE(ft_order, two_in_place)
{
    struct pair p = begin();
    struct rt_gate gate = rt_gate_close(p.stream);
    rt_store(p.stream, p.in, float_bits(3));
    rt_store(p.stream, p.in + 8, float_bits(5));
    ft(forward(&p, p.in, p.in));
    ft(forward(&p, p.in, p.in));
    rt_gate_open(gate);
    say_two(p.in);
    end(&p);
}

CASE(ft_order, event_between_streams)
{
    struct pair p = begin();
    cudaStream_t other = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    struct rt_gate gate = rt_gate_close(p.stream);
    rt_store(p.stream, p.in, float_bits(4));
    ft(forward(&p, p.in, p.out));
    RT_NEED(cudaEventRecord(event, p.stream));
    RT_NEED(cudaStreamWaitEvent(other, event, 0));
    ft(cufftSetStream(p.plan, other));
    ft(forward(&p, p.out, p.in));
    rt(cudaEventQuery(event));
    rt(cudaStreamQuery(other));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(other));
    say_two(p.in);
    end(&p);
}

/* The legacy stream and a blocking one. */
CASE(ft_order, legacy_stream)
{
    struct pair p = begin();
    cudaStream_t blocking = rt_stream(0);
    ft(cufftSetStream(p.plan, NULL));
    struct rt_gate gate = rt_gate_close(blocking);
    rt_store(blocking, p.in, float_bits(4));
    ft(forward(&p, p.in, p.out));
    rt(cudaStreamQuery(NULL));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
    say_two(p.out);
    end(&p);
}

/* The plan's stream when it is executed counts. */
CASE(ft_order, stream_changed_behind)
{
    struct pair p = begin();
    cudaStream_t other = rt_stream(cudaStreamNonBlocking);
    struct rt_gate gate = rt_gate_close(p.stream);
    rt_store(p.stream, p.in, float_bits(4));
    ft(forward(&p, p.in, p.out));
    ft(cufftSetStream(p.plan, other));
    rt(cudaStreamQuery(other));
    rt(cudaStreamQuery(p.stream));
    rt_gate_open(gate);
    say_two(p.out);
    end(&p);
}

CASE(ft_order, stream_destroyed)
{
    struct pair p = begin();
    cudaStream_t other;
    RT_NEED(cudaStreamCreate(&other));
    ft(cufftSetStream(p.plan, other));
    rt_store(other, p.in, float_bits(4));
    ft(forward(&p, p.in, p.out));
    RT_NEED(cudaStreamDestroy(other));
    say_two(p.out);
    end(&p);
}

/* A kernel, a transform and a kernel, replayed three times: each time from what the kernel stores. */
CASE(ft_graph, replay)
{
    struct pair p = begin();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT_NEED(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeThreadLocal));
    rt_store(p.stream, p.in, float_bits(3));
    ft(forward(&p, p.in, p.in));
    ft(forward(&p, p.in, p.out));
    rt_store(p.stream, p.in + 8, float_bits(1));
    rt(cudaStreamEndCapture(p.stream, &graph));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    RT_NEED(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++) {
        rt(cudaGraphLaunch(exec, p.stream));
        rt(cudaStreamSynchronize(p.stream));
        say_two(p.out);
    }
    rt(cudaGraphExecDestroy(exec));
    end(&p);
}

/* Nothing runs while it is captured. */
CASE(ft_graph, capture_only)
{
    struct pair p = begin();
    cudaGraph_t graph;
    rt_store(p.stream, p.in, float_bits(3));
    RT_NEED(cudaStreamSynchronize(p.stream));
    RT_NEED(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeThreadLocal));
    ft(forward(&p, p.in, p.out));
    rt(cudaStreamEndCapture(p.stream, &graph));
    size_t nodes = 0;
    rt(cudaGraphGetNodes(graph, NULL, &nodes));
    say_if("nodes", nodes > 0);
    say_two(p.out);
    rt(cudaGraphDestroy(graph));
    end(&p);
}

/* The modes in which a plan is made while its stream, or another, is captured. */
static void make_in_capture(enum cudaStreamCaptureMode mode, int n)
{
    struct pair p = begin();
    cudaGraph_t graph = NULL;
    cufftHandle plan = CUFFT_PLAN_NULL;
    RT_NEED(cudaStreamBeginCapture(p.stream, mode));
    ft(cufftPlan1d(&plan, n, CUFFT_C2C, 1));
    rt(cudaStreamEndCapture(p.stream, &graph));
    if (graph)
        RT_NEED(cudaGraphDestroy(graph));
    cufftDestroy(plan);
    cudaGetLastError();
    end(&p);
}

CASE(ft_graph, make_relaxed, .alone = true)
{
    make_in_capture(cudaStreamCaptureModeRelaxed, 1024);
}

CASE(ft_graph, set_stream_in_capture)
{
    struct pair p = begin();
    cudaGraph_t graph;
    RT_NEED(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeRelaxed));
    ft(cufftSetStream(p.plan, p.stream));
    ft(forward(&p, p.in, p.out));
    rt(cudaStreamEndCapture(p.stream, &graph));
    RT_NEED(cudaGraphDestroy(graph));
    end(&p);
}

/* A long transform is captured whole, whatever steps it has. */
CASE(ft_graph, replay_long)
{
    struct ft_case wanted = {"", CUFFT_C2C, CUFFT_FORWARD, false, FT_PLAN, 0, {1, {262144}, 1}};
    cufftHandle plan = ft_plan(&wanted);
    struct ft_memory memory = ft_fill(&wanted);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    ft(ft_exec(plan, &wanted, &memory));
    RT_NEED(cudaDeviceSynchronize());
    ft(cufftSetStream(plan, stream));
    RT_NEED(cudaMemset(memory.out, 0, memory.out_size));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ft(ft_exec(plan, &wanted, &memory));
    rt(cudaStreamEndCapture(stream, &graph));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, stream));
    rt(cudaGraphLaunch(exec, stream));
    rt(cudaStreamSynchronize(stream));
    ft_say(&wanted, &memory);
    rt(cudaGraphExecDestroy(exec));
    rt(cudaGraphDestroy(graph));
    ft(cufftDestroy(plan));
}

/* ---- work areas ---- */

/* Without automatic allocation the plan uses the program's area. */
static void area(bool given)
{
    struct ft_case wanted = {"", CUFFT_C2C, CUFFT_FORWARD, false, FT_PLAN, 0, {1, {1 << 20}, 1}};
    cufftHandle plan;
    size_t size = 0, again = 1;
    struct ft_memory memory = ft_fill(&wanted);
    FT_NEED(cufftCreate(&plan));
    ft(cufftSetAutoAllocation(plan, 0));
    ft(cufftMakePlan1d(plan, 1 << 20, CUFFT_C2C, 1, &size));
    ft(cufftGetSize(plan, &again));
    say_if("same", size == again);
    say_if("some", size > 0);
    void *room = rt_alloc(size + 256);
    if (given)
        ft(cufftSetWorkArea(plan, room));
    ft(ft_exec(plan, &wanted, &memory));
    if (given)
        ft_say(&wanted, &memory);
    RT_NEED(cudaDeviceSynchronize());
    ft(cufftDestroy(plan));
    RT_NEED(cudaFree(room));
}

CASE(ft_area, own)
{
    area(true);
}

CASE(ft_area, missing, .alone = true)
{
    area(false);
}

/* A plan that has an area of its own takes the program's instead. */
CASE(ft_area, replaced)
{
    struct ft_case wanted = {"", CUFFT_C2C, CUFFT_FORWARD, false, FT_PLAN, 0, {1, {1 << 20}, 1}};
    cufftHandle plan = ft_plan(&wanted);
    struct ft_memory memory = ft_fill(&wanted);
    size_t size = 0;
    ft(cufftGetSize(plan, &size));
    void *room = rt_alloc(size + 256);
    ft(cufftSetWorkArea(plan, room));
    ft(ft_exec(plan, &wanted, &memory));
    ft_say(&wanted, &memory);
    ft(cufftDestroy(plan));
    RT_NEED(cudaFree(room));
}

CASE(ft_area, sizes_agree)
{
    size_t size = 1, estimate = 1, get = 1, many = 1;
    cufftHandle plan;
    int n = 4096;
    FT_NEED(cufftCreate(&plan));
    ft(cufftGetSize1d(plan, n, CUFFT_C2C, 8, &get));
    ft(cufftGetSizeMany(plan, 1, &n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 8, &many));
    ft(cufftMakePlan1d(plan, n, CUFFT_C2C, 8, &size));
    ft(cufftEstimate1d(n, CUFFT_C2C, 8, &estimate));
    say_if("many-as-1d", many == get);
    say_if("estimate-enough", estimate >= size);
    say_if("get-enough", get >= size);
    ft(cufftDestroy(plan));
}

/* ---- threads ---- */

static void other_thread(void *argument)
{
    struct pair *p = argument;
    ft(forward(p, p->in, p->out));
}

CASE(ft_order, other_thread)
{
    struct pair p = begin();
    rt_store(p.stream, p.in, float_bits(4));
    rt_thread(other_thread, &p);
    rt(cudaStreamSynchronize(p.stream));
    say_two(p.out);
    end(&p);
}
