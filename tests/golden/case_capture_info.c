/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked of a capture and changed in it: state, id, graph and
 * dependencies in each version of the query; setting and adding dependencies,
 * with edge data; captures into a graph that is there already.
 */
#include "gold_capture.h"

#include <string.h>

#define G CU_STREAM_CAPTURE_MODE_GLOBAL
#define X CU_STREAM_CAPTURE_MODE_RELAXED

struct info {
    CUstreamCaptureStatus state;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
};

static struct info unset(void)
{
    struct info info;
    memset(&info, 0x5a, sizeof info);
    return info;
}

static CUresult ask(CUstream stream, struct info *info)
{
    *info = unset();
    return cuStreamGetCaptureInfo(stream, &info->state, &info->id, &info->graph, &info->nodes, &info->data,
                                  &info->count);
}

static void say_info(CUresult status, const struct info *info)
{
    struct info before = unset();
    say(status);
    say_value("state", info->state == before.state ? -1 : (long long)info->state);
    say_text(info->id == before.id ? "id:untouched" : info->id ? "id:some" : "id:0");
    say_text(info->graph == before.graph ? "graph:untouched" : info->graph ? "graph:some" : "graph:null");
    say_text(info->nodes == before.nodes ? "nodes:untouched" : info->nodes ? "nodes:some" : "nodes:null");
    say_text(info->data == before.data ? "data:untouched" : info->data ? "data:some" : "data:null");
    if (info->count == before.count)
        say_text("count:untouched");
    else
        say_value("count", (long long)info->count);
}

CASE(capture_info, not_capturing)
{
    struct info info;
    CUresult status = ask(gold_stream(0), &info);
    say_info(status, &info);
}

CASE(capture_info, just_begun)
{
    CUstream stream = gold_capture(G);
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    say_rest(stream);
}

CASE(capture_info, after_kernel)
{
    CUstream stream = gold_capture(G);
    NEED(gold_empty(stream));
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    CUgraphNode nodes[4];
    size_t count = 4;
    NEED(cuGraphGetNodes(info.graph, nodes, &count));
    say_int((long long)count);
    say_if("same", info.count == 1 && info.nodes[0] == nodes[0]);
    say_rest(stream);
}

CASE(capture_info, after_join)
{
    CUstream one = gold_capture(G), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(gold_empty(one));
    NEED(cuEventRecord(event, one));
    NEED(cuStreamWaitEvent(two, event, 0));
    struct info first, second;
    CUresult status = ask(two, &second);
    say_info(status, &second);
    NEED(ask(one, &first));
    say_if("same_id", first.id == second.id);
    say_if("same_graph", first.graph == second.graph);
    NEED(gold_empty(one));
    NEED(gold_empty(two));
    NEED(cuEventRecord(event, two));
    NEED(cuStreamWaitEvent(one, event, 0));
    status = ask(one, &first);
    say_info(status, &first);
    say_rest(one);
}

CASE(capture_info, invalidated)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(cuStreamQuery(stream));
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    say_end(stream);
}

CASE(capture_info, after_end)
{
    CUstream stream = gold_capture(G);
    NEED(gold_empty(stream));
    say_end(stream);
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
}

CASE(capture_info, all_null)
{
    CUstream stream = gold_capture(X);
    say(cuStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL));
    CUstreamCaptureStatus state;
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, NULL, NULL, NULL));
    say_rest(stream);
    say(cuStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL));
    say(cuStreamIsCapturing(stream, NULL));
}

CASE(capture_info, only_dependencies)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    CUstreamCaptureStatus state;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 77;
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, &nodes, NULL, &count));
    say_int((long long)count);
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, NULL, NULL, &count));
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, &nodes, &data, NULL));
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, NULL, &data, &count));
    say_rest(stream);
}

CASE(capture_info, wild_stream)
{
    CUstreamCaptureStatus state;
    say(cuStreamIsCapturing(gold_foreign(), &state));
    struct info info;
    say(ask(gold_foreign(), &info));
}

CASE(capture_info, ids_differ)
{
    cuuint64_t ids[3];
    for (int i = 0; i < 3; i++) {
        CUstream stream = gold_capture(X);
        struct info info;
        NEED(ask(stream, &info));
        ids[i] = info.id;
        CUgraph graph = gold_capture_end(stream);
        NEED(cuGraphDestroy(graph));
    }
    say_if("differ", ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    say_if("not_zero", ids[0] && ids[1] && ids[2]);
    say_if("rise", ids[0] < ids[1] && ids[1] < ids[2]);
}

CASE(capture_info, graph_is_what_end_gives)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraph graph = gold_capture_end(stream);
    say_if("same", graph == info.graph);
}

CASE(capture_info, legacy_alone)
{
    struct info info;
    CUresult status = ask(NULL, &info);
    say_info(status, &info);
}

typedef CUresult (*info_v1)(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
typedef CUresult (*info_v2)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *);
typedef CUresult (*update_v1)(CUstream, CUgraphNode *, size_t, unsigned);

static void *symbol(const char *name, int version)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult result;
    NEED(cuGetProcAddress(name, &function, version, 0, &result));
    return function;
}

CASE(capture_info, version_1)
{
    info_v1 function = (info_v1)symbol("cuStreamGetCaptureInfo", 10010);
    CUstream stream = gold_capture(X);
    CUstreamCaptureStatus state = (CUstreamCaptureStatus)9;
    cuuint64_t id = 0;
    say(function(stream, &state, &id));
    say_int(state);
    say_if("id", id != 0);
    say(function(stream, &state, NULL));
    say(function(stream, NULL, &id));
    say(cuStreamQuery(stream));
    say(function(stream, &state, &id));
    say_int(state);
    say_end(stream);
    say(function(stream, &state, &id));
    say_int(state);
}

CASE(capture_info, version_2)
{
    info_v2 function = (info_v2)symbol("cuStreamGetCaptureInfo", 11030);
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info = unset();
    CUresult status = function(stream, &info.state, &info.id, &info.graph, &info.nodes, &info.count);
    say_info(status, &info);
    say_rest(stream);
}

/* ---- edges with data ---- */

static const CUgraphEdgeData programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                             .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

CASE(capture_info, version_2_lossy)
{
    info_v2 function = (info_v2)symbol("cuStreamGetCaptureInfo", 11030);
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode node = info.nodes[0];
    say(cuStreamUpdateCaptureDependencies(stream, &node, &programmatic, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    info = unset();
    CUresult status = function(stream, &info.state, &info.id, &info.graph, &info.nodes, &info.count);
    say_info(status, &info);
    status = ask(stream, &info);
    say_info(status, &info);
    if (info.count == 1 && info.data)
        say_int(info.data[0].from_port), say_int(info.data[0].type);
    say(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, version_3_without_room_for_data)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode node = info.nodes[0];
    say(cuStreamUpdateCaptureDependencies(stream, &node, &programmatic, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CUstreamCaptureStatus state = (CUstreamCaptureStatus)9;
    size_t count = 77;
    const CUgraphNode *nodes = NULL;
    say(cuStreamGetCaptureInfo(stream, &state, NULL, NULL, &nodes, NULL, &count));
    say_int(state);
    say_int((long long)count);
    say_rest(stream);
}

/* ---- updating the dependencies ---- */

CASE(capture_info, set_none)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, set_none_and_end)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say_rest(stream);
}

CASE(capture_info, add_none)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, set_own_node)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraph graph = info.graph;
    CUgraphNode before = info.nodes[0], node;
    say(cuGraphAddEmptyNode(&node, graph, &before, 1));
    say(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, add_own_node)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode node;
    say(cuGraphAddEmptyNode(&node, info.graph, NULL, 0));
    say(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, add_same_again)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode node = info.nodes[0];
    say(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    say(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, set_named_twice)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode nodes[2] = {info.nodes[0], info.nodes[0]};
    say(cuStreamUpdateCaptureDependencies(stream, nodes, NULL, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    say(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, set_earlier_node)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    struct info info;
    NEED(ask(stream, &info));
    CUgraphNode first = info.nodes[0];
    NEED(gold_empty(stream));
    say(cuStreamUpdateCaptureDependencies(stream, &first, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, set_node_of_other_graph)
{
    struct gold_set *set = gold_set_begin(X);
    CUgraphNode nodes[4];
    size_t count = 1;
    NEED(cuGraphGetNodes(set->graph, nodes, &count));
    say(cuStreamUpdateCaptureDependencies(set->captured, nodes, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say_rest(set->captured);
}

CASE(capture_info, update_bad_flags)
{
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 2));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 0x100));
    say_rest(stream);
}

CASE(capture_info, update_null_with_count)
{
    CUstream stream = gold_capture(X);
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say_rest(stream);
}

CASE(capture_info, update_not_capturing)
{
    say(cuStreamUpdateCaptureDependencies(gold_stream(0), NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say(cuStreamUpdateCaptureDependencies(NULL, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

CASE(capture_info, update_invalidated)
{
    CUstream stream = gold_capture(X);
    say(cuStreamQuery(stream));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say_rest(stream);
}

CASE(capture_info, update_version_1)
{
    update_v1 function = (update_v1)symbol("cuStreamUpdateCaptureDependencies", 11030);
    CUstream stream = gold_capture(X);
    NEED(gold_empty(stream));
    say(function(stream, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    NEED(gold_empty(stream));
    say_rest(stream);
}

/* A node that only an update made a dependency, in a stream that is not joined. */
CASE(capture_info, unjoined_by_set)
{
    CUstream one = gold_capture(X), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(gold_empty(one));
    NEED(cuEventRecord(event, one));
    NEED(cuStreamWaitEvent(two, event, 0));
    NEED(gold_empty(two));
    say(cuStreamUpdateCaptureDependencies(two, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say_rest(one);
}

/* The join is replaced by an update on the origin. */
CASE(capture_info, joined_by_add)
{
    CUstream one = gold_capture(X), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(gold_empty(one));
    NEED(cuEventRecord(event, one));
    NEED(cuStreamWaitEvent(two, event, 0));
    NEED(gold_empty(two));
    struct info info;
    NEED(ask(two, &info));
    CUgraphNode node = info.nodes[0];
    say(cuStreamUpdateCaptureDependencies(one, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    say_rest(one);
}

/* ---- captures into a graph that is there ---- */

static CUgraphNode add_empty(CUgraph graph)
{
    CUgraphNode node;
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return node;
}

static CUgraph new_graph(void)
{
    CUgraph graph;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}

CASE(capture_info, to_graph)
{
    CUgraph graph = new_graph(), got = NULL;
    CUgraphNode node = add_empty(graph);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, X));
    struct info info;
    CUresult status = ask(stream, &info);
    say_info(status, &info);
    say_if("own", info.graph == graph);
    NEED(gold_empty(stream));
    say(cuStreamEndCapture(stream, &got));
    say_if("same", got == graph);
    say_graph(graph);
    say(cuGraphDestroy(graph));
}

CASE(capture_info, to_graph_no_dependencies)
{
    CUgraph graph = new_graph();
    add_empty(graph);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, G));
    NEED(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, to_graph_edge_data)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = {.func = gold_function("empty"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1};
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(stream, graph, &node, &programmatic, 1, X));
    say(gold_empty(stream));
    say_rest(stream);
}

CASE(capture_info, to_graph_null)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, X));
    say_state(stream);
}

CASE(capture_info, to_graph_bad_arguments)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode own = add_empty(graph), foreign = add_empty(other), twice[2] = {own, own};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, X));
    say_state(stream);
    say(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 1, X));
    say_state(stream);
    say(cuStreamBeginCaptureToGraph(stream, graph, &own, NULL, 1, (CUstreamCaptureMode)5));
    say_state(stream);
    say(cuStreamBeginCaptureToGraph(NULL, graph, &own, NULL, 1, X));
    say(cuStreamBeginCaptureToGraph(stream, graph, twice, NULL, 2, X));
    say_state(stream);
}

CASE(capture_info, to_graph_unjoined)
{
    CUgraph graph = new_graph();
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(cuStreamBeginCaptureToGraph(one, graph, NULL, NULL, 0, X));
    NEED(gold_empty(one));
    NEED(cuEventRecord(event, one));
    NEED(cuStreamWaitEvent(two, event, 0));
    NEED(gold_empty(two));
    CUgraph got = NULL;
    say(cuStreamEndCapture(one, &got));
    say_if("null", got == NULL);
    say_graph(graph);
}

CASE(capture_info, to_graph_invalidated)
{
    CUgraph graph = new_graph();
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCaptureToGraph(one, graph, NULL, NULL, 0, X));
    NEED(gold_empty(one));
    say(cuStreamQuery(one));
    CUgraph got = NULL;
    say(cuStreamEndCapture(one, &got));
    say_if("null", got == NULL);
    say_graph(graph);
}

CASE(capture_info, to_graph_two_streams_at_once)
{
    CUgraph graph = new_graph();
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBeginCaptureToGraph(one, graph, NULL, NULL, 0, X));
    say(cuStreamBeginCaptureToGraph(two, graph, NULL, NULL, 0, X));
    say_state(two);
    say(cuGraphDestroy(graph));
    say_state(one);
}

CASE(capture_info, to_graph_of_capture)
{
    CUstream one = gold_capture(X), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    struct info info;
    NEED(ask(one, &info));
    say(cuStreamBeginCaptureToGraph(two, info.graph, NULL, NULL, 0, X));
    say_state(two);
    say_rest(one);
}

CASE(capture_info, to_graph_again)
{
    CUgraph graph = new_graph(), got;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 2; i++) {
        NEED(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, X));
        NEED(gold_empty(stream));
        NEED(gold_empty(stream));
        say(cuStreamEndCapture(stream, &got));
    }
    say_graph(graph);
}

CASE(capture_info, to_graph_end_null)
{
    CUgraph graph = new_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, X));
    NEED(gold_empty(stream));
    say(cuStreamEndCapture(stream, NULL));
    say_state(stream);
    say_graph(graph);
}
