/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN in stream order: behind and before kernels, seen by events, captured and replayed. */
#include "dn.h"

#include <string.h>

static unsigned float_bits(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* One element each: y = x * w by a convolution. */
struct tiny {
    cudnnHandle_t h;
    cudaStream_t stream;
    struct dn x, w, y;
    cudnnConvolutionDescriptor_t d;
};

static cudnnStatus_t multiply(const struct tiny *t, const void *alpha, const void *beta)
{
    return cudnnConvolutionForward(t->h, alpha, t->x.d, t->x.at, t->w.f, t->w.at, t->d,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, beta, t->y.d, t->y.at);
}

static struct tiny tiny(void)
{
    struct tiny t = {.h = dn_begin(), .stream = rt_stream(cudaStreamNonBlocking)};
    float one = 1, zero = 0;
    t.x = dn_filled('S', 1, 1, 1, 1, 3);
    t.w = dn_filter('S', 'c', 1, 1, 1, 1, 6); /* 2 */
    t.y = dn_tensor('S', 'c', 1, 1, 1, 1, -1);
    DN_NEED(cudnnCreateConvolutionDescriptor(&t.d));
    DN_NEED(cudnnSetConvolution2dDescriptor(t.d, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    /* Hardware waits for the device when it loads a kernel. */
    DN_NEED(multiply(&t, &one, &zero));
    RT_NEED(cudaDeviceSynchronize());
    DN_NEED(cudnnSetStream(t.h, t.stream));
    return t;
}

CASE(dnn_order, kernel_product_kernel)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 0;
    struct rt_gate gate = rt_gate_close(t.stream);
    rt_store(t.stream, t.x.at, float_bits(5));
    dn(multiply(&t, &alpha, &beta));
    alpha = 100;
    rt_store(t.stream, t.x.at, float_bits(7));
    rt(cudaStreamQuery(t.stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(t.stream));
    dn_say(&t.y);
}

CASE(dnn_order, event)
{
    struct tiny t = tiny();
    float alpha = 1, beta = 0;
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    struct rt_gate gate = rt_gate_close(t.stream);
    dn(multiply(&t, &alpha, &beta));
    RT_NEED(cudaEventRecord(event, t.stream));
    rt(cudaEventQuery(event));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
    dn_say(&t.y);
}

CASE(dnn_order, descriptions_gone)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 0;
    struct rt_gate gate = rt_gate_close(t.stream);
    dn(multiply(&t, &alpha, &beta));
    dn(cudnnDestroyTensorDescriptor(t.x.d));
    dn(cudnnDestroyFilterDescriptor(t.w.f));
    dn(cudnnDestroyConvolutionDescriptor(t.d));
    rt_gate_open(gate);
    dn_say(&t.y);
}

CASE(dnn_order, captured)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 1;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT_NEED(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeThreadLocal));
    dn(multiply(&t, &alpha, &beta));
    alpha = 50;
    rt(cudaStreamEndCapture(t.stream, &graph));
    dn_say(&t.y);
    rt(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        RT_NEED(cudaGraphLaunch(exec, t.stream));
    dn_say(&t.y);
}

CASE(dnn_order, other_stream_waits)
{
    struct tiny t = tiny();
    float alpha = 1, beta = 0, copied = 0;
    cudaStream_t other = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    struct rt_gate gate = rt_gate_close(t.stream);
    dn(multiply(&t, &alpha, &beta));
    RT_NEED(cudaEventRecord(event, t.stream));
    RT_NEED(cudaStreamWaitEvent(other, event, 0));
    void *to = dn_room(4);
    RT_NEED(cudaMemcpyAsync(to, t.y.at, 4, cudaMemcpyDeviceToDevice, other));
    rt(cudaStreamQuery(other));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(other));
    RT_NEED(cudaMemcpy(&copied, to, 4, cudaMemcpyDefault));
    say_int((long long)copied);
}

CASE(dnn_order, two_handles)
{
    struct tiny t = tiny();
    cudnnHandle_t second;
    float alpha = 1, beta = 0;
    DN_NEED(cudnnCreate(&second));
    cudaStream_t other = rt_stream(cudaStreamNonBlocking);
    DN_NEED(cudnnSetStream(second, other));
    struct rt_gate gate = rt_gate_close(t.stream);
    dn(multiply(&t, &alpha, &beta));
    struct dn x = dn_tensor('S', 'c', 1, 1, 1, 1, 5), y = dn_tensor('S', 'c', 1, 1, 1, 1, -1);
    dn(cudnnAddTensor(second, &alpha, x.d, x.at, &beta, y.d, y.at));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(other));
    rt(cudaStreamSynchronize(t.stream));
    dn_say(&y);
    dn_say(&t.y);
    dn(cudnnDestroy(second));
}
