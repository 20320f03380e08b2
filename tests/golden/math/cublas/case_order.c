/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS in stream order: behind and before kernels, in captures and graphs, with scalars on the host and the device.
 */
#include "bl.h"

#define N CUBLAS_OP_N

static unsigned float_bits(float value)
{
    union {
        float value;
        unsigned bits;
    } both = {value};
    return both.bits;
}

/* A kernel before and one behind: the product sees what the first stored. */
CASE(blas_order, kernel_product_kernel)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    BL_NEED(cublasSetStream(b.h, stream));
    /* Hardware waits for the device when it loads a kernel. */
    BL_NEED(cublasSgemm(b.h, N, N, 1, 1, 1, b.two, b.a, 1, b.b, 1, b.zero, b.c, 1));
    BL_NEED(cublasSaxpy(b.h, 1, b.one, b.a, 1, b.c, 1));
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, b.a, float_bits(3));
    rt_store(stream, b.b, float_bits(5));
    bl(cublasSgemm(b.h, N, N, 1, 1, 1, b.two, b.a, 1, b.b, 1, b.zero, b.c, 1));
    rt_store(stream, b.a, float_bits(7));
    bl(cublasSaxpy(b.h, 1, b.one, b.a, 1, b.c, 1));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    bl_say(&b, b.c, 1);
}

/* The host's scalar is read by the call, the device's when the work runs. */
CASE(blas_order, scalar_host)
{
    struct bl b = bl_begin('S');
    float alpha = 2;
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    BL_NEED(cublasSetStream(b.h, stream));
    rt_store(stream, b.a, float_bits(3));
    struct rt_gate gate = rt_gate_close(stream);
    bl(cublasSscal(b.h, 1, &alpha, b.a, 1));
    alpha = 100;
    rt_gate_open(gate);
    bl_say(&b, b.a, 1);
}

CASE(blas_order, scalar_device)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    BL_NEED(cublasSetStream(b.h, stream));
    BL_NEED(cublasSetPointerMode(b.h, CUBLAS_POINTER_MODE_DEVICE));
    rt_store(stream, b.a, float_bits(3));
    rt_store(stream, b.b, float_bits(2));
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, b.b, float_bits(50));
    bl(cublasSscal(b.h, 1, b.b, b.a, 1));
    rt_store(stream, b.b, float_bits(1));
    rt_gate_open(gate);
    bl_say(&b, b.a, 1);
}

CASE(blas_order, result_device_is_pending)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    BL_NEED(cublasSetStream(b.h, stream));
    BL_NEED(cublasSetPointerMode(b.h, CUBLAS_POINTER_MODE_DEVICE));
    struct rt_gate gate = rt_gate_close(stream);
    bl(cublasSdot(b.h, 5, b.a, 1, b.b, 1, b.c));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    bl_say(&b, b.c, 1);
}

CASE(blas_order, event_between_streams)
{
    struct bl b = bl_begin('S');
    cudaStream_t one = rt_stream(cudaStreamNonBlocking), two = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    struct rt_gate gate = rt_gate_close(one);
    rt_store(one, b.a, float_bits(4));
    BL_NEED(cublasSetStream(b.h, one));
    bl(cublasSscal(b.h, 1, b.two, b.a, 1));
    RT_NEED(cudaEventRecord(event, one));
    RT_NEED(cudaStreamWaitEvent(two, event, 0));
    BL_NEED(cublasSetStream(b.h, two));
    bl(cublasScopy(b.h, 1, b.a, 1, b.c, 1));
    rt(cudaEventQuery(event));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(two));
    bl_say(&b, b.c, 1);
}

/* A kernel, a product and a kernel, replayed three times: each time from what the kernel stores. */
CASE(blas_graph, replay)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float alpha = 2;
    BL_NEED(cublasSgemm(b.h, N, N, 4, 4, 4, b.one, b.a, 4, b.b, 4, b.zero, b.c, 4));
    RT_NEED(cudaDeviceSynchronize());
    BL_NEED(cublasSetStream(b.h, stream));
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    rt_store(stream, b.a, float_bits(3));
    bl(cublasSgemm(b.h, N, N, 1, 1, 1, &alpha, b.a, 1, b.a, 1, b.one, b.c, 1));
    rt_store(stream, b.a, float_bits(1));
    rt(cudaStreamEndCapture(stream, &graph));
    alpha = 1000;
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    RT_NEED(cudaMemset(b.c, 0, 4));
    RT_NEED(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        rt(cudaGraphLaunch(exec, stream));
    rt(cudaStreamSynchronize(stream));
    bl_say(&b, b.c, 1);
    rt(cudaGraphExecDestroy(exec));
}

CASE(blas_graph, capture_scalars_device)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    BL_NEED(cublasSscal(b.h, 1, b.one, b.a, 1));
    BL_NEED(cublasSetStream(b.h, stream));
    BL_NEED(cublasSetPointerMode(b.h, CUBLAS_POINTER_MODE_DEVICE));
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    bl(cublasSscal(b.h, 1, b.b, b.a, 1));
    rt(cudaStreamEndCapture(stream, &graph));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt_store(stream, b.a, float_bits(3));
    rt_store(stream, b.b, float_bits(2));
    RT_NEED(cudaGraphLaunch(exec, stream));
    rt_store(stream, b.b, float_bits(5));
    RT_NEED(cudaGraphLaunch(exec, stream));
    bl_say(&b, b.a, 1);
}

/* A result for the host can't be had while the stream is captured. */
CASE(blas_graph, capture_result_host, .alone = true)
{
    struct bl b = bl_begin('S');
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    float result = 0;
    BL_NEED(cublasSdot(b.h, 5, b.a, 1, b.b, 1, &result));
    BL_NEED(cublasSetStream(b.h, stream));
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    bl(cublasSdot(b.h, 5, b.a, 1, b.b, 1, &result));
    rt(cudaStreamEndCapture(stream, &graph));
    (void)cudaGetLastError();
}

CASE(blas_graph, capture_fork)
{
    struct bl b = bl_begin('S');
    cudaStream_t one = rt_stream(cudaStreamNonBlocking), two = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t fork = rt_event(cudaEventDisableTiming), join = rt_event(cudaEventDisableTiming);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    BL_NEED(cublasSscal(b.h, 1, b.one, b.a, 1));
    RT_NEED(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
    rt_store(one, b.a, float_bits(3));
    RT_NEED(cudaEventRecord(fork, one));
    RT_NEED(cudaStreamWaitEvent(two, fork, 0));
    BL_NEED(cublasSetStream(b.h, two));
    bl(cublasScopy(b.h, 1, b.a, 1, b.b, 1));
    RT_NEED(cudaEventRecord(join, two));
    BL_NEED(cublasSetStream(b.h, one));
    bl(cublasScopy(b.h, 1, b.a, 1, b.c, 1));
    RT_NEED(cudaStreamWaitEvent(one, join, 0));
    bl(cublasSaxpy(b.h, 1, b.one, b.b, 1, b.c, 1));
    rt(cudaStreamEndCapture(one, &graph));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    RT_NEED(cudaGraphLaunch(exec, one));
    RT_NEED(cudaGraphLaunch(exec, one));
    bl_say(&b, b.c, 1);
}

/* A pointer that leads nowhere fails the context, as a kernel's does. */
CASE(blas_fault, wrong_pointer, .alone = true)
{
    struct bl b = bl_begin('S');
    bl(cublasSscal(b.h, 64, b.two, (float *)(uintptr_t)0x10, 1));
    rt(cudaDeviceSynchronize());
    bl(cublasSscal(b.h, 64, b.two, b.a, 1));
}

CASE(blas_fault, host_pointer, .alone = true, .allow = "SUCCESS cudaSuccess",
     .why = "some machines let devices read all of the host's memory")
{
    struct bl b = bl_begin('S');
    static float host[64];
    bl(cublasSscal(b.h, 64, b.two, host, 1));
    rt(cudaDeviceSynchronize());
}

CASE(blas_handle, stream_is_destroyed, RT_CRASHES("EXECUTION_FAILED"))
{
    struct bl b = bl_begin('S');
    cudaStream_t stream;
    RT_NEED(cudaStreamCreate(&stream));
    BL_NEED(cublasSscal(b.h, 1, b.one, b.a, 1));
    BL_NEED(cublasSetStream(b.h, stream));
    RT_NEED(cudaStreamDestroy(stream));
    bl(cublasSscal(b.h, 64, b.two, b.a, 1));
}

static void other_thread(void *argument)
{
    struct bl *b = argument;
    bl(cublasSscal(b->h, 1, b->two, b->a, 1));
}

CASE(blas_handle, other_thread)
{
    struct bl b = bl_begin('S');
    rt_store(NULL, b.a, float_bits(3));
    RT_NEED(cudaDeviceSynchronize());
    rt_thread(other_thread, &b);
    bl_say(&b, b.a, 1);
}

CASE(blas_handle, destroy_while_busy)
{
    struct bl b = bl_begin('S');
    cublasHandle_t handle;
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    BL_NEED(cublasCreate(&handle));
    BL_NEED(cublasSetStream(handle, stream));
    rt_store(stream, b.a, float_bits(3));
    bl(cublasSscal(handle, 1, b.two, b.a, 1));
    bl(cublasDestroy(handle));
    rt(cudaStreamQuery(stream));
    bl_say(&b, b.a, 1);
}

CASE(blas_handle, bare_create, .bare = true)
{
    cublasHandle_t handle = NULL;
    CUcontext context = NULL;
    bl(cublasCreate(&handle));
    say_if("handle", handle != NULL);
    say(cuCtxGetCurrent(&context));
    say_if("context", context != NULL);
    bl(cublasDestroy(handle));
}

CASE(blas_handle, bare_version, .bare = true)
{
    int value = -1;
    bl(cublasGetProperty(MAJOR_VERSION, &value));
    say_int(value);
    bl(cublasGetVersion(NULL, &value));
    say_int(value / 10000);
}
