/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, host functions, callbacks, attributes, capture of work without kernels. */
#include <stdatomic.h>
#include <string.h>

#include "expect.h"

static void test_streams(void)
{
    cudaStream_t plain, free_one, urgent;
    int priority = 1, least, greatest, device = -1;
    unsigned flags = 9;
    unsigned long long first, second;
    OK(cudaStreamCreate(&plain));
    OK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, greatest));
    OK(cudaStreamGetPriority(urgent, &priority));
    HOLDS(priority == greatest);
    OK(cudaStreamGetFlags(free_one, &flags));
    HOLDS(flags == cudaStreamNonBlocking);
    OK(cudaStreamGetId(plain, &first));
    OK(cudaStreamGetId(urgent, &second));
    HOLDS(first != second);
    OK(cudaStreamGetDevice(plain, &device));
    HOLDS(device == 0);
    OK(cudaStreamQuery(plain));
    OK(cudaStreamSynchronize(plain));
    GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&plain, 77));
    GIVES(cudaErrorInvalidValue, cudaStreamCreate(NULL));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    OK(cudaStreamDestroy(plain));
    OK(cudaStreamDestroy(free_one));
    OK(cudaStreamDestroy(urgent));
}

static void CUDART_CB count(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void CUDART_CB called_back(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    if (status == cudaSuccess)
        atomic_fetch_add((atomic_int *)user, 10);
}

static void CUDART_CB wait_for(void *user)
{
    while (atomic_load((atomic_int *)user) == 0)
        ;
}

static void test_host_functions(void)
{
    atomic_int counted = 0;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, count, &counted));
    OK(cudaStreamAddCallback(stream, called_back, &counted, 0));
    OK(cudaStreamSynchronize(stream));
    HOLDS(counted == 11);
    GIVES(cudaErrorInvalidValue, cudaStreamAddCallback(stream, NULL, NULL, 0));
    GIVES(cudaErrorInvalidValue, cudaStreamAddCallback(stream, called_back, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, NULL, NULL));
    OK(cudaStreamDestroy(stream));
}

static void test_events(void)
{
    cudaEvent_t begin, end, untimed;
    cudaStream_t stream, other;
    atomic_int gate = 0, counted = 0;
    float ms = -1;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventQuery(begin)); /* never recorded: nothing to wait for */
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, end));
    OK(cudaEventRecord(begin, stream));
    OK(cudaLaunchHostFunc(stream, wait_for, &gate));
    OK(cudaEventRecordWithFlags(end, stream, cudaEventRecordDefault));
    HOLDS(cudaEventQuery(end) == cudaErrorNotReady);
    HOLDS(cudaGetLastError() == cudaSuccess); /* not ready is no failure */
    HOLDS(cudaStreamQuery(stream) == cudaErrorNotReady);
    GIVES(cudaErrorNotReady, cudaEventElapsedTime(&ms, begin, end));
    OK(cudaStreamWaitEvent(other, end, 0));
    OK(cudaLaunchHostFunc(other, count, &counted));
    HOLDS(counted == 0);
    atomic_store(&gate, 1);
    OK(cudaStreamSynchronize(other));
    HOLDS(counted == 1);
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    HOLDS(ms >= 0);
    OK(cudaEventRecord(untimed, stream));
    OK(cudaEventSynchronize(untimed));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, untimed));
    GIVES(cudaErrorInvalidValue, cudaEventCreateWithFlags(&end, 0x100));
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
}

static void CUDART_CB call_back_in(void *user)
{
    int device = -1;
    void *memory = NULL;
    /* On a thread of the driver, which has no context and gets none. */
    atomic_store((atomic_int *)user, cudaMalloc(&memory, 64) == cudaSuccess ? 1 : 2);
    (void)cudaGetDevice(&device);
}

/* A host function may not call the runtime; that it does while the device is reset ends neither in a crash nor in a
 * lock. */
static void test_call_in_host_function(void)
{
    for (int i = 0; i < 20; i++) {
        atomic_int answer = 0;
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        OK(cudaLaunchHostFunc(stream, call_back_in, &answer));
        OK(cudaDeviceReset());
        HOLDS(answer == 2);
    }
}

static void test_attributes(void)
{
    cudaStream_t stream, copy;
    cudaStreamAttrValue value;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&copy));
    memset(&value, 0, sizeof value);
    value.syncPolicy = cudaSyncPolicyYield;
    OK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
    OK(cudaStreamCopyAttributes(copy, stream));
    memset(&value, 0, sizeof value);
    OK(cudaStreamGetAttribute(copy, cudaStreamAttributeSynchronizationPolicy, &value));
    HOLDS(value.syncPolicy == cudaSyncPolicyYield);
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(copy));
}

static void test_capture(void)
{
    cudaStream_t stream;
    cudaGraph_t graph, seen = NULL;
    cudaGraphExec_t exec;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    size_t nodes = 0;
    void *memory;
    int back = 0;
    OK(cudaMalloc(&memory, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaStreamIsCapturing(stream, &status));
    HOLDS(status == cudaStreamCaptureStatusActive);
    OK(cudaMemsetAsync(memory, 5, 4, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &seen, NULL, NULL, NULL));
    HOLDS(status == cudaStreamCaptureStatusActive && id != 0 && seen != NULL);
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
    HOLDS(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    (void)cudaGetLastError();
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(memory, 6, 4, stream));
    OK(cudaMemcpyAsync(&back, memory, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    HOLDS(nodes == 2);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    HOLDS(back == 0x06060606);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(memory));
}

int main(void)
{
    test_streams();
    test_host_functions();
    test_events();
    test_attributes();
    test_capture();
    test_call_in_host_function();
    return finish();
}
