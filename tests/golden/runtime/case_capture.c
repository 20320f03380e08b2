/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: states, what is taken up, what is refused and what that leaves. */
#include "rt.h"

#include <string.h>

static cudaStream_t capturing(enum cudaStreamCaptureMode mode)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    RT_NEED(cudaStreamBeginCapture(stream, mode));
    return stream;
}

/* Ends the capture and says how, and how many nodes there are. */
static cudaGraph_t end(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    size_t count = 0;
    rt_noted(cudaStreamEndCapture(stream, &graph));
    if (!graph)
        return NULL;
    RT_NEED(cudaGraphGetNodes(graph, NULL, &count));
    say_value("nodes", (long long)count);
    return graph;
}

static void say_state(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)77;
    rt(cudaStreamIsCapturing(stream, &status));
    say_text(status == cudaStreamCaptureStatusNone          ? "none"
             : status == cudaStreamCaptureStatusActive      ? "active"
             : status == cudaStreamCaptureStatusInvalidated ? "invalidated"
                                                            : "other");
}

CASE(capture, kernel)
{
    unsigned *word = rt_words(1, 0);
    rt_kernel("store");
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    cudaGraphExec_t exec;
    say_state(stream);
    rt_store(stream, word, 5);
    cudaGraph_t graph = end(stream);
    say_state(stream);
    say_int(rt_word(word));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, stream));
    rt(cudaStreamSynchronize(stream));
    say_int(rt_word(word));
}

CASE(capture, nothing)
{
    end(capturing(cudaStreamCaptureModeRelaxed));
}

CASE(capture, begin_bad)
{
    rt_noted(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    rt_noted(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
    rt_noted(cudaStreamBeginCapture(rt_stream(0), (enum cudaStreamCaptureMode)9));
}

CASE(capture, begin_twice)
{
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    rt_noted(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say_state(stream);
    end(stream);
}

CASE(capture, end_without_begin)
{
    cudaGraph_t graph = (cudaGraph_t)GOLD_WILD;
    rt_noted(cudaStreamEndCapture(rt_stream(0), &graph));
    rt_noted(cudaStreamEndCapture(NULL, &graph));
    rt_noted(cudaStreamEndCapture(NULL, NULL));
}

CASE(capture, state_of_default)
{
    say_state(NULL);
    say_state(cudaStreamPerThread);
    rt_noted(cudaStreamIsCapturing(NULL, NULL));
}

/* The legacy stream may not be asked while a blocking stream is captured. */
CASE(capture, legacy_is_implicit)
{
    cudaStream_t stream = rt_stream(cudaStreamDefault);
    enum cudaStreamCaptureStatus status;
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    rt_noted(cudaStreamIsCapturing(NULL, &status));
    say_state(stream);
    rt_noted(rt_launch(&rt_host_empty, 1, NULL, NULL));
    say_state(stream);
    end(stream);
}

#define CAPTURED(title, mode, call) \
    CASE(capture, title) \
    { \
        static unsigned char host[64]; \
        void *memory = rt_alloc(64), *out = NULL; \
        cudaEvent_t event = rt_event(0); \
        cudaStream_t stream = capturing(cudaStreamCaptureMode##mode); \
        rt_noted(call); \
        say_state(stream); \
        end(stream); \
        (void)host, (void)memory, (void)out, (void)event; \
    }

CAPTURED(memset_async, Global, cudaMemsetAsync(memory, 0, 64, stream))
CAPTURED(memcpy_async, Global, cudaMemcpyAsync(memory, host, 64, cudaMemcpyHostToDevice, stream))
CAPTURED(memcpy_nothing, Global, cudaMemcpyAsync(memory, host, 0, cudaMemcpyHostToDevice, stream))
CAPTURED(memset_nothing, Global, cudaMemsetAsync(memory, 0, 0, stream))
CAPTURED(memcpy_2d_async, Global, cudaMemcpy2DAsync(memory, 8, host, 8, 4, 4, cudaMemcpyHostToDevice, stream))
CAPTURED(memcpy_sync_global, Global, cudaMemcpy(memory, host, 64, cudaMemcpyHostToDevice))
CAPTURED(memcpy_sync_relaxed, Relaxed, cudaMemcpy(memory, host, 64, cudaMemcpyHostToDevice))
CAPTURED(memset_sync_global, Global, cudaMemset(memory, 0, 64))
CAPTURED(memset_sync_relaxed, Relaxed, cudaMemset(memory, 0, 64))
CAPTURED(malloc_global, Global, cudaMalloc(&out, 64))
CAPTURED(malloc_thread_local, ThreadLocal, cudaMalloc(&out, 64))
CAPTURED(malloc_relaxed, Relaxed, cudaMalloc(&out, 64))
CAPTURED(malloc_host_global, Global, cudaMallocHost(&out, 64))
CAPTURED(malloc_managed_global, Global, cudaMallocManaged(&out, 64, cudaMemAttachGlobal))
CAPTURED(malloc_async, Global, cudaMallocAsync(&out, 64, stream))
CAPTURED(free_global, Global, cudaFree(memory))
CAPTURED(free_relaxed, Relaxed, cudaFree(memory))
CAPTURED(free_null_global, Global, cudaFree(NULL))
CAPTURED(stream_query, Relaxed, cudaStreamQuery(stream))
CAPTURED(stream_synchronize, Relaxed, cudaStreamSynchronize(stream))
CAPTURED(device_synchronize_global, Global, cudaDeviceSynchronize())
CAPTURED(device_synchronize_relaxed, Relaxed, cudaDeviceSynchronize())
CAPTURED(event_record, Global, cudaEventRecord(event, stream))
CAPTURED(event_query_global, Global, cudaEventQuery(event))
CAPTURED(event_record_external, Global, cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal))
CAPTURED(wait_event, Global, cudaStreamWaitEvent(stream, event, 0))
CAPTURED(launch_bad, Global, rt_launch(&rt_host_empty, 2000, stream, NULL))
CAPTURED(launch_missing, Global, rt_launch(&rt_host_missing, 1, stream, NULL))
CAPTURED(host_func_null, Global, cudaLaunchHostFunc(stream, NULL, NULL))
CAPTURED(stream_flags, Global, cudaStreamGetFlags(stream, (unsigned *)(void *)host))
CAPTURED(get_device, Global, cudaGetDevice((int *)(void *)host))
CAPTURED(symbol_address, Global, cudaGetSymbolAddress(&out, &rt_host_counter))
CAPTURED(symbol_copy, Global, cudaMemcpyToSymbolAsync(&rt_host_table, host, 64, 0, cudaMemcpyHostToDevice, stream))
CAPTURED(symbol_copy_sync, Global, cudaMemcpyToSymbol(&rt_host_table, host, 64, 0, cudaMemcpyHostToDevice))
CAPTURED(func_attributes, Global,
         cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, -1))

CASE(capture, destroy_captured_stream, .alone = true)
{
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    rt_noted(cudaStreamDestroy(stream));
    rt_noted(cudaDeviceSynchronize());
}

CASE(capture, fork_and_join)
{
    cudaStream_t second = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t fork = rt_event(cudaEventDisableTiming), join = rt_event(cudaEventDisableTiming);
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    RT_NEED(cudaEventRecord(fork, stream));
    rt(cudaStreamWaitEvent(second, fork, 0));
    say_state(second);
    rt(rt_launch(&rt_host_empty, 1, second, NULL));
    RT_NEED(cudaEventRecord(join, second));
    rt(cudaStreamWaitEvent(stream, join, 0));
    end(stream);
    say_state(second);
}

CASE(capture, unjoined)
{
    cudaStream_t second = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t fork = rt_event(cudaEventDisableTiming);
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    RT_NEED(cudaEventRecord(fork, stream));
    RT_NEED(cudaStreamWaitEvent(second, fork, 0));
    RT_NEED(rt_launch(&rt_host_empty, 1, second, NULL));
    end(stream);
    say_state(second);
}

CASE(capture, captured_event_queried)
{
    cudaEvent_t event = rt_event(0);
    cudaStream_t stream = capturing(cudaStreamCaptureModeRelaxed);
    RT_NEED(cudaEventRecord(event, stream));
    rt_noted(cudaEventQuery(event));
    say_state(stream);
    rt_noted(cudaEventSynchronize(event));
    end(stream);
}

static void end_elsewhere(void *argument)
{
    cudaGraph_t graph;
    void **arguments = argument;
    *(cudaError_t *)arguments[1] = cudaStreamEndCapture((cudaStream_t)arguments[0], &graph);
}

CASE(capture, end_in_other_thread)
{
    cudaError_t status = cudaSuccess;
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    void *arguments[] = {stream, &status};
    rt_thread(end_elsewhere, arguments);
    rt(status);
    say_state(stream);
    end(stream);
}

CASE(capture, info)
{
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaGraph_t graph = NULL;
    const cudaGraphNode_t *dependencies = NULL;
    size_t count = 77;
    RT_NEED(rt_launch(&rt_host_empty, 1, stream, NULL));
    rt(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, NULL, &count));
    say_int(status);
    say_if("id", id != 0);
    say_if("graph", graph != NULL);
    say_int((long long)count);
    rt_noted(cudaStreamGetCaptureInfo(stream, NULL, &id, &graph, &dependencies, NULL, &count));
    rt_noted(cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
    rt_noted(cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 9));
    end(stream);
    rt(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, NULL, &count));
    say_int(status);
}

CASE(capture, to_graph)
{
    cudaGraph_t graph = rt_graph(), got = NULL;
    cudaGraphNode_t node = rt_graph_empty(graph);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    size_t count = 0;
    rt(cudaStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, cudaStreamCaptureModeGlobal));
    rt(rt_launch(&rt_host_empty, 1, stream, NULL));
    rt(cudaStreamEndCapture(stream, &got));
    say_if("same", got == graph);
    RT_NEED(cudaGraphGetNodes(graph, NULL, &count));
    say_int((long long)count);
    rt_noted(cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    say_state(stream);
}

CASE(capture, exchange_mode)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    rt(cudaThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    rt(cudaThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
}

CASE(capture, exchange_mode_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaThreadExchangeStreamCaptureMode(NULL));
}

CASE(capture, graph_launch_in_capture)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphExec_t exec;
    rt_graph_empty(graph);
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    rt_noted(cudaGraphLaunch(exec, stream));
    say_state(stream);
    end(stream);
}

CASE(capture, load_library_meanwhile)
{
    cudaLibrary_t library = NULL;
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    rt_noted(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    say_state(stream);
    end(stream);
}
