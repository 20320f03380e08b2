/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of capture share: streams that are captured, and looking at the graphs that come out. */
#ifndef TESTS_API_CAPTURE_SUPPORT_H
#define TESTS_API_CAPTURE_SUPPORT_H

#include "stream_support.h"

__attribute__((unused)) static CUstream new_capture(CUstreamCaptureMode mode)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCapture(stream, mode));
    return stream;
}

__attribute__((unused)) static CUstreamCaptureStatus state_of(CUstream stream)
{
    CUstreamCaptureStatus state;
    OK(cuStreamIsCapturing(stream, &state));
    return state;
}

#define ACTIVE(stream) assert_int_equal(state_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE)
#define INVALIDATED(stream) assert_int_equal(state_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED)
#define NOT_CAPTURED(stream) assert_int_equal(state_of(stream), CU_STREAM_CAPTURE_STATUS_NONE)

__attribute__((unused)) static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

/* A node that runs nothing of interest. */
__attribute__((unused)) static void put_node(CUstream stream)
{
    OK(cuLaunchHostFunc(stream, do_nothing, NULL));
}

/* `to` waits for what `from` has now. */
__attribute__((unused)) static void put_after(CUstream to, CUstream from)
{
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventRecord(event, from));
    OK(cuStreamWaitEvent(to, event, 0));
    OK(cuEventDestroy(event));
}

__attribute__((unused)) static CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    OK(cuStreamEndCapture(stream, &graph));
    assert_non_null(graph);
    NOT_CAPTURED(stream);
    return graph;
}

/* The capture ends with a status and no graph. */
__attribute__((unused)) static void end_fails(CUstream stream, CUresult status)
{
    CUgraph graph = (CUgraph)WILD;
    FAILS(cuStreamEndCapture(stream, &graph), status);
    assert_null(graph);
}

__attribute__((unused)) static size_t count_nodes(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

__attribute__((unused)) static size_t count_edges(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

/* Ends the capture, looks at the graph's size, and destroys it. */
__attribute__((unused)) static void end_with(CUstream stream, size_t nodes, size_t edges)
{
    CUgraph graph = end_capture(stream);
    assert_int_equal(count_nodes(graph), nodes);
    assert_int_equal(count_edges(graph), edges);
    OK(cuGraphDestroy(graph));
}

#endif
