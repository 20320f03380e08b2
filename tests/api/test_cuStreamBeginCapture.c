/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamBeginCapture, cuStreamBeginCaptureToGraph, cuStreamEndCapture: what is captured, forks and joins over few and
 * many streams, what goes wrong. */
#include "capture_support.h"

#include <string.h>

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static void test_begin_and_end(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    for (int mode = 0; mode < 3; mode++) {
        OK(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
        ACTIVE(stream);
        FAILS(cuStreamBeginCapture(stream, GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
        end_with(stream, 0, 0);
    }
    FAILS(cuStreamBeginCapture(stream, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamBeginCapture(NULL, GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamBeginCapture((CUstream)FOREIGN, GLOBAL), CUDA_ERROR_INVALID_HANDLE);
    end_fails(stream, CUDA_ERROR_ILLEGAL_STATE);
    FAILS(cuStreamEndCapture(stream, NULL), CUDA_ERROR_ILLEGAL_STATE);
    OK(cuStreamBeginCapture(stream, GLOBAL));
    put_node(stream);
    OK(cuStreamEndCapture(stream, NULL));
    NOT_CAPTURED(stream);
    OK(cuStreamDestroy(stream));
}

/* Nothing runs, nothing is read: the nodes name what the calls named. */
static void test_work(void **state)
{
    (void)state;
    CUdeviceptr memory;
    unsigned char *host = calloc(1, 256), got[256];
    CUevent event = new_event(0);
    CUgraphNode nodes[8];
    size_t count = 8;
    OK(cuMemAlloc(&memory, 256));
    OK(cuMemsetD8(memory, 7, 256));
    CUstream stream = new_capture(RELAXED);
    memset(host, 1, 256);
    OK(cuMemcpyHtoDAsync(memory, host, 256, stream));
    OK(cuMemsetD32Async(memory, 5, 16, stream));
    OK(cuMemcpyDtoHAsync(host, memory, 256, stream));
    OK(cuMemcpyDtoDAsync(memory, memory + 128, 0, stream));
    OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    OK(cuStreamWriteValue32(stream, memory, 3, 0));
    put_node(stream);
    OK(cuEventQuery(event));
    CUgraph graph = end_capture(stream);
    OK(cuMemcpyDtoH(got, memory, 256));
    assert_int_equal(got[0], 7);
    OK(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 7);
    assert_int_equal(count_edges(graph), 6);
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET,
                                            CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                            CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                            CU_GRAPH_NODE_TYPE_HOST};
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        OK(cuGraphNodeGetType(nodes[i], &type));
        assert_int_equal(type, types[i]);
    }
    CUDA_MEMCPY3D box;
    OK(cuGraphMemcpyNodeGetParams(nodes[0], &box));
    assert_ptr_equal(box.srcHost, host);
    assert_int_equal(box.WidthInBytes, 256);
    CUDA_MEMSET_NODE_PARAMS fill;
    OK(cuGraphMemsetNodeGetParams(nodes[1], &fill));
    assert_int_equal(fill.value, 5);
    assert_int_equal(fill.elementSize, 4);
    assert_int_equal(fill.width, 16);
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(memory));
    free(host);
}

/* Calls that can't be captured spoil the capture; calls with bad operands don't. */
static void test_refused_work(void **state)
{
    (void)state;
    CUdeviceptr memory;
    CUevent done = new_event(0);
    OK(cuMemAlloc(&memory, 64));
    OK(cuEventRecord(done, NULL));
    for (int i = 0; i < 7; i++) {
        CUstream stream = new_capture(RELAXED);
        unsigned flags;
        FAILS(cuMemcpyDtoDAsync(0x10, memory, 64, stream), CUDA_ERROR_INVALID_VALUE);
        FAILS(cuLaunchHostFunc(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
        FAILS(cuEventRecord(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
        ACTIVE(stream);
        switch (i) {
        case 0:
            FAILS(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            break;
        case 1:
            FAILS(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            break;
        case 2:
            FAILS(cuStreamGetFlags(stream, &flags), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            break;
        case 3:
            FAILS(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            break;
        case 4:
            FAILS(cuStreamWaitEvent(stream, done, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
            break;
        case 5:
            FAILS(cuMemcpyPeerAsync(memory, the_context, memory, the_context, 64, stream),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            break;
        default:
            FAILS(cuStreamWaitEvent(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
            break;
        }
        INVALIDATED(stream);
        FAILS(cuLaunchHostFunc(stream, do_nothing, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        FAILS(cuEventRecord(done, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        OK(cuStreamQuery(stream));
        OK(cuStreamDestroy(stream));
    }
    OK(cuEventDestroy(done));
    OK(cuMemFree(memory));
}

static void test_fork_join(void **state)
{
    (void)state;
    CUstream one = new_capture(GLOBAL), two = new_stream(CU_STREAM_NON_BLOCKING);
    put_node(one);
    put_after(two, one);
    ACTIVE(two);
    put_node(two);
    put_node(one);
    put_after(one, two);
    put_node(one);
    end_with(one, 4, 4);
    NOT_CAPTURED(two);
    OK(cuStreamQuery(two));
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
}

static void test_unjoined(void **state)
{
    (void)state;
    CUstream one = new_capture(GLOBAL), two = new_stream(CU_STREAM_NON_BLOCKING);
    put_node(one);
    put_after(two, one);
    end_with(one, 1, 0);
    OK(cuStreamBeginCapture(one, GLOBAL));
    put_after(two, one);
    put_node(two);
    end_fails(one, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    OK(cuStreamBeginCapture(one, GLOBAL));
    put_after(two, one);
    put_node(two);
    OK(cuStreamDestroy(two));
    ACTIVE(one);
    end_fails(one, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    two = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCapture(one, GLOBAL));
    put_after(two, one);
    end_fails(two, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    INVALIDATED(one);
    end_fails(one, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
}

/* One node forks to a thousand streams, two nodes each, which come back to the first; one more stream waits for all
 * that the first has then. */
static void test_many_streams(void **state)
{
    enum { MANY = 1000 };
    static CUstream streams[MANY];
    (void)state;
    CUstream first = new_capture(GLOBAL), last = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = new_event(CU_EVENT_DISABLE_TIMING);
    put_node(first);
    OK(cuEventRecord(start, first));
    OK(cuStreamWaitEvent(last, start, 0));
    for (int i = 0; i < MANY; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(cuStreamWaitEvent(streams[i], start, 0));
        put_node(streams[i]);
        put_node(streams[i]);
    }
    for (int i = 0; i < MANY; i++)
        put_after(first, streams[i]);
    put_after(last, first);
    put_after(last, first);
    put_node(last);
    put_after(first, last);
    put_node(first);
    end_with(first, 2 * MANY + 3, 2 * MANY + (MANY + 1) + (MANY + 2));
    for (int i = 0; i < MANY; i++) {
        NOT_CAPTURED(streams[i]);
        OK(cuStreamDestroy(streams[i]));
    }
    OK(cuEventDestroy(start));
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(last));
}

static void test_events(void **state)
{
    (void)state;
    CUstream one = new_capture(RELAXED), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0), done = new_event(0);
    float ms;
    OK(cuEventRecord(done, other));
    put_node(one);
    OK(cuEventRecord(event, one));
    FAILS(cuEventElapsedTime(&ms, done, event), CUDA_ERROR_CAPTURED_EVENT);
    ACTIVE(one);
    FAILS(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
    INVALIDATED(one);
    FAILS(cuEventSynchronize(event), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_INVALID_VALUE);
    end_fails(one, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    FAILS(cuEventQuery(event), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventRecord(event, other));
    OK(cuEventSynchronize(event));
    OK(cuEventElapsedTime(&ms, done, event));
    FAILS(cuEventRecordWithFlags(event, other, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    OK(cuStreamBeginCapture(one, RELAXED));
    OK(cuEventRecord(event, one));
    OK(cuEventDestroy(event));
    end_with(one, 0, 0);
    OK(cuEventDestroy(done));
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(other));
}

static void test_merge(void **state)
{
    (void)state;
    CUstream one = new_capture(RELAXED), two = new_capture(RELAXED), three = new_capture(RELAXED);
    CUevent event = new_event(0);
    put_node(one);
    OK(cuEventRecord(event, one));
    FAILS(cuStreamWaitEvent(two, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    INVALIDATED(one);
    INVALIDATED(two);
    end_fails(one, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_fails(two, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_with(three, 0, 0);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
    OK(cuStreamDestroy(three));
}

static void test_legacy_stream(void **state)
{
    (void)state;
    CUstream blocking = new_stream(0), free_stream = new_capture(RELAXED);
    CUstreamCaptureStatus got;
    OK(cuStreamQuery(NULL));
    OK(cuStreamBeginCapture(blocking, RELAXED));
    FAILS(cuStreamIsCapturing(NULL, &got), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    ACTIVE(blocking);
    FAILS(cuLaunchHostFunc(NULL, do_nothing, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    INVALIDATED(blocking);
    end_fails(blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamSynchronize(NULL));
    end_with(free_stream, 0, 0);
    OK(cuStreamDestroy(blocking));
    OK(cuStreamDestroy(free_stream));
}

/* What is captured goes away: the stream, the context, the per-thread stream. */
static void test_ends_early(void **state)
{
    (void)state;
    CUdeviceptr memory;
    CUstream one = new_capture(GLOBAL), two = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    put_node(one);
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(cuStreamDestroy(one));
    NOT_CAPTURED(two);
    FAILS(cuStreamWaitEvent(two, event, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc(&memory, 64));
    OK(cuMemFree(memory));
    CUcontext context = new_context();
    one = new_capture(GLOBAL);
    put_node(one);
    end_context(context);
    OK(cuMemAlloc(&memory, 64));
    OK(cuMemFree(memory));
    OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, GLOBAL));
    put_node(CU_STREAM_PER_THREAD);
    end_with(CU_STREAM_PER_THREAD, 1, 0);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(two));
}

static void test_to_graph(void **state)
{
    (void)state;
    CUgraph graph, got;
    CUgraphNode node, foreign;
    CUstream stream = new_stream(0), other = new_stream(0);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, RELAXED));
    FAILS(cuGraphDestroy(graph), CUDA_ERROR_ILLEGAL_STATE);
    FAILS(cuGraphDestroyNode(node), CUDA_ERROR_ILLEGAL_STATE);
    FAILS(cuStreamBeginCaptureToGraph(other, graph, NULL, NULL, 0, RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    put_node(stream);
    OK(cuStreamEndCapture(stream, &got));
    assert_ptr_equal(got, graph);
    assert_int_equal(count_nodes(graph), 2);
    assert_int_equal(count_edges(graph), 1);
    FAILS(cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, RELAXED), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 1, RELAXED), CUDA_ERROR_INVALID_VALUE);
    CUgraph second;
    OK(cuGraphCreate(&second, 0));
    OK(cuGraphAddEmptyNode(&foreign, second, NULL, 0));
    FAILS(cuStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, RELAXED), CUDA_ERROR_INVALID_VALUE);
    NOT_CAPTURED(stream);
    /* A capture that fails takes the graph along. */
    OK(cuStreamBeginCaptureToGraph(stream, second, NULL, NULL, 0, RELAXED));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    FAILS(cuGraphDestroy(second), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begin_and_end), cmocka_unit_test(test_work),     cmocka_unit_test(test_refused_work),
        cmocka_unit_test(test_fork_join),     cmocka_unit_test(test_unjoined), cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_events),        cmocka_unit_test(test_merge),    cmocka_unit_test(test_legacy_stream),
        cmocka_unit_test(test_ends_early),    cmocka_unit_test(test_to_graph),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
