/* SPDX-License-Identifier: Apache-2.0 */
/* What a program sees that is compiled for per-thread default streams. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "rt.h"

/* rt.c is compiled for the legacy stream; here NULL is the thread's own. */
static cudaError_t launch(const void *kernel, cudaStream_t stream, void **params)
{
    dim3 one = {1, 1, 1};
    return cudaLaunchKernel(kernel, one, one, params, 0, stream);
}

CASE(per_thread, query_is_own)
{
    struct rt_gate gate = rt_gate_close(cudaStreamPerThread);
    rt(cudaStreamQuery(NULL));
    rt(cudaStreamQuery(cudaStreamPerThread));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
    rt(cudaStreamQuery(cudaStreamPerThread));
}

CASE(per_thread, launch_is_own)
{
    cudaStream_t blocker = rt_stream(cudaStreamDefault);
    struct rt_gate gate = rt_gate_close(blocker);
    rt(launch(rt_kernel("empty"), NULL, NULL));
    rt(cudaStreamSynchronize(NULL)); /* it does not wait for other streams */
    rt(cudaStreamQuery(blocker));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(blocker));
}

CASE(per_thread, legacy_by_name)
{
    cudaStream_t blocker = rt_stream(cudaStreamDefault);
    struct rt_gate gate = rt_gate_close(blocker);
    rt(launch(rt_kernel("empty"), cudaStreamLegacy, NULL));
    rt(cudaStreamQuery(cudaStreamLegacy));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(cudaStreamLegacy));
}

CASE(per_thread, copy_passes_other_streams)
{
    cudaStream_t blocker = rt_stream(cudaStreamDefault);
    unsigned *word = rt_words(1, 3), value = 0;
    struct rt_gate gate = rt_gate_close(blocker);
    rt(cudaMemcpy(&value, word, 4, cudaMemcpyDeviceToHost));
    say_int(value);
    rt(cudaStreamQuery(blocker));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(blocker));
}

CASE(per_thread, fill_passes_other_streams)
{
    cudaStream_t blocker = rt_stream(cudaStreamDefault);
    unsigned *word = rt_words(1, 3);
    struct rt_gate gate = rt_gate_close(blocker);
    rt(cudaMemset(word, 0xff, 4));
    rt(cudaStreamSynchronize(NULL));
    rt(cudaStreamQuery(blocker));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(blocker));
    say_hex(rt_word(word));
}

CASE(per_thread, event_is_recorded_there)
{
    cudaEvent_t event = rt_event(0);
    struct rt_gate gate = rt_gate_close(cudaStreamPerThread);
    rt(cudaEventRecord(event, NULL));
    rt(cudaEventQuery(event));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
}

CASE(per_thread, wait_is_own)
{
    cudaStream_t other = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    struct rt_gate gate = rt_gate_close(other);
    RT_NEED(cudaEventRecord(event, other));
    rt(cudaStreamWaitEvent(NULL, event, 0));
    rt(launch(rt_kernel("empty"), NULL, NULL));
    rt(cudaStreamQuery(cudaStreamPerThread));
    rt(cudaStreamQuery(cudaStreamLegacy));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
}

static void query_own(void *argument)
{
    *(cudaError_t *)argument = cudaStreamQuery(NULL);
}

CASE(per_thread, each_thread_has_one)
{
    cudaError_t other = cudaErrorUnknown;
    struct rt_gate gate = rt_gate_close(cudaStreamPerThread);
    rt_thread(query_own, &other);
    rt(other);
    rt(cudaStreamQuery(NULL));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
}

CASE(per_thread, capture_default)
{
    cudaGraph_t graph = NULL;
    size_t count = 0;
    rt_noted(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal));
    rt(launch(rt_kernel("empty"), NULL, NULL));
    rt_noted(cudaStreamEndCapture(NULL, &graph));
    if (graph)
        rt(cudaGraphGetNodes(graph, NULL, &count));
    say_int((long long)count);
}

CASE(per_thread, flags_and_ids)
{
    unsigned flags = 77;
    unsigned long long own = 1, null = 2;
    rt(cudaStreamGetFlags(NULL, &flags));
    say_hex(flags);
    rt(cudaStreamGetId(NULL, &null));
    rt(cudaStreamGetId(cudaStreamPerThread, &own));
    say_if("same", own == null);
}

CASE(per_thread, host_func)
{
    struct rt_gate gate = rt_gate_close(cudaStreamPerThread);
    rt(cudaMemsetAsync(rt_alloc(4), 0, 4, NULL));
    rt(cudaStreamQuery(NULL));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
}
