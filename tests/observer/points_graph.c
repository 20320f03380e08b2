/* SPDX-License-Identifier: Apache-2.0 */
/* Points of graphs: runs and their steps. */
#define __CUDA_API_VERSION_INTERNAL
#include <stdlib.h>
#include <string.h>

#include "points_test.h"

#define READ MR_ACCESS_READ
#define WRITE MR_ACCESS_WRITE
#define ATOMIC MR_ACCESS_ATOMIC
#define RUNS 20

static void CUDA_CB host_work(void *data)
{
    ++*(int *)data;
}

static uint64_t handle(CUgraphNode node)
{
    return (uint64_t)(uintptr_t)node;
}

/* The step is in the run: begun after it, ended before it, once. */
static void check_step(uint64_t run, CUgraphNode node, enum mr_observed_kind kind)
{
    const struct point *begin = next_of(NULL, POINT_BEGIN, run, handle(node));
    const struct point *end = next_of(NULL, POINT_END, run, handle(node));
    CHECK(count_of(POINT_BEGIN, run, handle(node)) == 1 && count_of(POINT_END, run, handle(node)) == 1);
    CHECK(begin && begin->work.kind == kind);
    CHECK(begin > next_of(NULL, POINT_BEGIN, run, 0) && end > begin && end < next_of(NULL, POINT_END, run, 0));
    CHECK(begin && begin->work.stream == next_of(NULL, POINT_BEGIN, run, 0)->work.stream);
}

static void check_order(uint64_t run, CUgraphNode first, CUgraphNode second)
{
    CHECK(next_of(NULL, POINT_END, run, handle(first)) < next_of(NULL, POINT_BEGIN, run, handle(second)));
}

/* A captured graph: a copy, then a fill and a host function side by side, then a copy back to pageable memory. */
void test_graphs(void)
{
    CUdeviceptr a;
    CUstream stream, side;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    int calls = 0;
    unsigned char *pageable = malloc(4096);
    OK(cuMemAlloc_v2(&a, 8 << 20));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, 0));
    OK(cuEventCreate(&join, 0));
    mark();
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemcpyHtoDAsync_v2(a, pageable, 100, stream));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(side, fork, 0));
    OK(cuMemsetD8Async(a + 200, 1, 7 << 20, stream));
    OK(cuLaunchHostFunc(side, host_work, &calls));
    OK(cuEventRecord(join, side));
    OK(cuStreamWaitEvent(stream, join, 0));
    OK(cuMemcpyDtoHAsync_v2(pageable + 1000, a + 200, 100, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    look();
    CHECK(!next_point(NULL, POINT_BIND) && !next_point(NULL, POINT_BEGIN));
    CUgraphNode nodes[4], in, fill = NULL, host = NULL, out = NULL;
    size_t count = 4;
    OK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 4);
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        OK(cuGraphNodeGetType(nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_MEMSET)
            fill = nodes[i];
        else if (type == CU_GRAPH_NODE_TYPE_HOST)
            host = nodes[i];
        else if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
            out = nodes[i];
    }
    size_t roots = 1;
    OK(cuGraphGetRootNodes(graph, &in, &roots));
    for (int i = 0; i < RUNS; i++) {
        mark();
        OK(cuGraphLaunch(exec, stream));
        look();
        check_works();
        const struct point *bound = bound_by(MR_CALL_cuGraphLaunch);
        uint64_t run = bound->work.work;
        CHECK(bound->work.kind == MR_OBSERVED_GRAPH);
        check_step(run, in, MR_OBSERVED_COPY);
        check_step(run, fill, MR_OBSERVED_FILL);
        check_step(run, host, MR_OBSERVED_HOST);
        check_step(run, out, MR_OBSERVED_COPY);
        check_order(run, in, fill);
        check_order(run, in, host);
        check_order(run, fill, out);
        check_order(run, host, out);
        CHECK(has_box(run, handle(in), ROW(pageable, 100, READ | MR_ACCESS_CALL)) &&
              has_box(run, handle(in), ROW(a, 100, WRITE)));
        CHECK(has_box(run, handle(fill), ROW(a + 200, 7 << 20, WRITE)) &&
              count_of(POINT_ACCESS, run, handle(fill)) == 1);
        CHECK(has_box(run, handle(out), ROW(a + 200, 100, READ)) &&
              has_box(run, handle(out), ROW(pageable + 1000, 100, WRITE)));
        CHECK(count_of(POINT_SLICE, run, handle(fill)) >= 1 && count_of(POINT_ACCESS, run, 0) == 0);
    }
    CHECK(calls == RUNS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(fork));
    OK(cuEventDestroy_v2(join));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(side));
    OK(cuMemFree_v2(a));
    free(pageable);
}

static CUgraphNode add_fill(CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr where, CUcontext context)
{
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = where, .value = 1, .elementSize = 1, .width = 64, .height = 1};
    OK(cuGraphAddMemsetNode(&node, graph, after, count, &fill, context));
    return node;
}

/* Event nodes, memory operations, a child graph, and a node that is switched off. */
void test_graph_steps(void)
{
    CUdeviceptr a;
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUgraph graph, child, inside;
    CUgraphExec exec;
    CUgraphNode record, wait, batch, child_node, inner, inner_of_copy, last, off;
    size_t one = 1;
    OK(cuCtxGetCurrent(&context));
    OK(cuMemAlloc_v2(&a, 4096));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&child, 0));
    inner = add_fill(child, NULL, 0, a + 512, context);
    OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CUstreamBatchMemOpParams ops[2] = {
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64, .address = a, .value64 = 5}},
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .address = a, .value64 = 5}}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 params = {.ctx = context, .count = 2, .paramArray = ops};
    OK(cuGraphAddBatchMemOpNode(&batch, graph, &wait, 1, &params));
    OK(cuGraphAddChildGraphNode(&child_node, graph, &batch, 1, child));
    OK(cuGraphChildGraphNodeGetGraph(child_node, &inside));
    OK(cuGraphGetNodes(inside, &inner_of_copy, &one));
    last = add_fill(graph, &child_node, 1, a + 1024, context);
    off = add_fill(graph, &last, 1, a + 2048, context);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphNodeSetEnabled(exec, off, 0));
    for (int i = 0; i < RUNS; i++) {
        mark();
        OK(cuGraphLaunch(exec, stream));
        look();
        check_works();
        uint64_t run = bound_by(MR_CALL_cuGraphLaunch)->work.work;
        check_step(run, record, MR_OBSERVED_RECORD);
        check_step(run, wait, MR_OBSERVED_WAIT);
        check_step(run, batch, MR_OBSERVED_MEMORY_OP);
        check_step(run, inner_of_copy, MR_OBSERVED_FILL);
        check_step(run, last, MR_OBSERVED_FILL);
        check_order(run, batch, inner_of_copy);
        check_order(run, inner_of_copy, last);
        CHECK(has_box(run, handle(batch), ROW(a, 8, WRITE | ATOMIC)) &&
              has_box(run, handle(batch), ROW(a, 8, READ | ATOMIC)));
        CHECK(has_box(run, handle(inner_of_copy), ROW(a + 512, 64, WRITE)));
        CHECK(count_of(POINT_BEGIN, run, handle(off)) == 0 && count_of(POINT_BEGIN, run, handle(inner)) == 0);
        CHECK(count_of(POINT_BEGIN, run, handle(child_node)) == 0);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFree_v2(a));
}
