/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixtures of the capture families (gold_capture.h).
 */
#include "gold_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 128, EDGES = 1024 };

CUstream gold_capture(CUstreamCaptureMode mode)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCapture(stream, mode));
    return stream;
}

void say_state(CUstream stream)
{
    CUstreamCaptureStatus state;
    CUresult status = cuStreamIsCapturing(stream, &state);
    if (status != CUDA_SUCCESS)
        say(status);
    else
        say_text(state == CU_STREAM_CAPTURE_STATUS_NONE     ? "none"
                 : state == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active"
                                                            : "invalidated");
}

/* ---- the picture ---- */

struct drawn {
    CUgraphNode node;
    char letter;
    int depth;
    int place;             /* in the picture, -1 until it has one */
    int count;             /* of what comes before */
    int before[NODES];
    CUgraphEdgeData data[NODES];
};

static char letter_of(CUgraphNodeType type)
{
    static const char letters[] = "KCSHGEWRXYAFBD"; /* in the order of CU_GRAPH_NODE_TYPE_*, from kernel on */
    return (unsigned)type < sizeof letters - 1 ? letters[type] : '?';
}

static struct drawn drawn[NODES];

static int by_place(const void *left, const void *right)
{
    const struct drawn *a = *(const struct drawn *const *)left, *b = *(const struct drawn *const *)right;
    if (a->depth != b->depth)
        return a->depth - b->depth;
    if (a->letter != b->letter)
        return a->letter - b->letter;
    if (a->count != b->count)
        return a->count - b->count;
    int places[2][NODES];
    for (int i = 0; i < a->count; i++) {
        places[0][i] = drawn[a->before[i]].place;
        places[1][i] = drawn[b->before[i]].place;
    }
    for (int i = 0; i < a->count; i++)
        if (places[0][i] != places[1][i])
            return places[0][i] - places[1][i];
    return 0;
}

static int find(CUgraphNode node, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (drawn[i].node == node)
            return (int)i;
    return -1;
}

static int by_before_place(const void *left, const void *right)
{
    return drawn[*(const int *)left].place - drawn[*(const int *)right].place;
}

static void deepen(size_t count)
{
    bool changed = true;
    for (size_t round = 0; changed && round <= count; round++) {
        changed = false;
        for (size_t i = 0; i < count; i++)
            for (int j = 0; j < drawn[i].count; j++)
                if (drawn[i].depth <= drawn[drawn[i].before[j]].depth) {
                    drawn[i].depth = drawn[drawn[i].before[j]].depth + 1;
                    changed = true;
                }
    }
}

static void say_node(const struct drawn *node)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%c", node->letter);
    for (int i = 0; i < node->count && length < 480; i++) {
        const CUgraphEdgeData *data = &node->data[node->before[i]];
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%c%d", i ? ',' : '<', drawn[node->before[i]].place);
        if (data->from_port || data->to_port || data->type)
            length += snprintf(text + length, sizeof text - (size_t)length, "(%d.%d.%d)", data->from_port,
                               data->to_port, data->type);
    }
    say_text(text);
}

void say_graph(CUgraph graph)
{
    static CUgraphNode nodes[NODES], from[EDGES], to[EDGES];
    static CUgraphEdgeData data[EDGES];
    size_t count = NODES, edges = EDGES;
    NEED(cuGraphGetNodes(graph, NULL, &count));
    say_value("nodes", (long long)count);
    if (count == 0)
        return;
    if (count > NODES)
        gold_stop("too many nodes to draw");
    NEED(cuGraphGetNodes(graph, nodes, &count));
    NEED(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    if (edges > EDGES)
        gold_stop("too many edges to draw");
    if (edges)
        NEED(cuGraphGetEdges(graph, from, to, data, &edges));
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        NEED(cuGraphNodeGetType(nodes[i], &type));
        drawn[i] = (struct drawn){.node = nodes[i], .letter = letter_of(type), .place = -1};
    }
    for (size_t i = 0; i < edges; i++) {
        int source = find(from[i], count), target = find(to[i], count);
        if (source < 0 || target < 0)
            gold_stop("an edge of no node");
        drawn[target].data[source] = data[i];
        drawn[target].before[drawn[target].count++] = source;
    }
    deepen(count);
    int place = 0;
    for (int depth = 0; place < (int)count; depth++) {
        struct drawn *row[NODES];
        size_t width = 0;
        for (size_t i = 0; i < count; i++)
            if (drawn[i].depth == depth) {
                qsort(drawn[i].before, (size_t)drawn[i].count, sizeof(int), by_before_place);
                row[width++] = &drawn[i];
            }
        if (depth > (int)count)
            gold_stop("a cycle");
        qsort(row, width, sizeof row[0], by_place);
        for (size_t i = 0; i < width; i++) {
            row[i]->place = place++;
            say_node(row[i]);
        }
    }
}

void say_end(CUstream stream)
{
    CUgraph graph = NULL;
    CUresult status = cuStreamEndCapture(stream, &graph);
    say(status);
    if (graph) {
        if (status != CUDA_SUCCESS)
            say_text("graph");
        else
            say_graph(graph);
        cuGraphDestroy(graph);
    }
}

void say_rest(CUstream stream)
{
    say_state(stream);
    say_end(stream);
}

CUgraph gold_capture_end(CUstream stream)
{
    CUgraph graph = NULL;
    NEED(cuStreamEndCapture(stream, &graph));
    if (!graph)
        gold_stop("no graph");
    return graph;
}

CUgraphNode gold_node_of(CUgraph graph, CUgraphNodeType wanted)
{
    CUgraphNode nodes[NODES];
    size_t count = NODES;
    NEED(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        NEED(cuGraphNodeGetType(nodes[i], &type));
        if (type == wanted)
            return nodes[i];
    }
    gold_stop("no node of the type");
}

CUresult gold_empty(CUstream stream)
{
    return gold_launch(gold_function("empty"), 1, stream, NULL);
}

CUevent gold_mark(CUstream stream)
{
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuEventRecord(event, stream));
    return event;
}

void gold_after(CUstream to, CUstream from)
{
    NEED(cuStreamWaitEvent(to, gold_mark(from), 0));
}

/* ---- the set ---- */

struct gold_set *gold_set_idle(void)
{
    static struct gold_set set;
    if (!set.exec) {
        void *memory;
        set.empty = gold_function("empty");
        set.a = gold_alloc(4096);
        set.b = gold_alloc(4096);
        NEED(cuMemAllocManaged(&set.managed, 4096, CU_MEM_ATTACH_GLOBAL));
        NEED(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE));
        set.pinned = memory;
        set.pageable = gold_foreign();
        set.other = gold_stream(CU_STREAM_NON_BLOCKING);
        set.blocking = gold_stream(0);
        set.done = gold_event(0);
        set.done2 = gold_event(0);
        set.fresh = gold_event(0);
        NEED(cuEventRecord(set.done, set.other));
        NEED(cuEventRecord(set.done2, set.other));
        NEED(cuStreamSynchronize(set.other));
        NEED(cuGraphCreate(&set.graph, 0));
        CUgraphNode node;
        CUDA_KERNEL_NODE_PARAMS params = {.func = set.empty,
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1};
        NEED(cuGraphAddKernelNode(&node, set.graph, NULL, 0, &params));
        CUgraphExec exec;
        NEED(cuGraphInstantiate(&exec, set.graph, 0));
        NEED(cuGraphLaunch(exec, set.other));
        NEED(cuCtxSynchronize());
        set.exec = exec;
    }
    set.captured = gold_stream(CU_STREAM_NON_BLOCKING);
    return &set;
}

struct gold_set *gold_set_begin(CUstreamCaptureMode mode)
{
    struct gold_set *set = gold_set_idle();
    NEED(cuStreamBeginCapture(set->captured, mode));
    return set;
}
