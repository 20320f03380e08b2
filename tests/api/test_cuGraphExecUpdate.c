/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of executable graphs from other graphs: large ones, in turn, with children and bodies; and what launches that
 * are queued keep. */
#include "graph_support.h"

static const char ptx[] = PTX_HEAD ".visible .entry add(.param .u64 to, .param .u32 value)\n{\n"
                                   "    .reg .b64 %rd<3>;\n    .reg .b32 %r<4>;\n"
                                   "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
                                   "    atom.global.add.u32 %r2, [%rd1], %r1;\n    ret;\n}\n";

static CUfunction add;

static CUdeviceptr begin(void)
{
    CUdeviceptr word = 0;
    add = get_function(load_module(ptx), "add");
    OK(cuMemAlloc_v2(&word, 64));
    OK(cuMemsetD32_v2(word, 0, 16));
    OK(cuCtxSynchronize());
    return word;
}

static CUgraphNode add_after(CUgraph graph, const CUgraphNode *before, size_t count, CUdeviceptr word, unsigned value)
{
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(add, params);
    CUgraphNode node = NULL;
    OK(cuGraphAddKernelNode_v2(&node, graph, before, count, &kernel));
    return node;
}

static unsigned take(CUdeviceptr word)
{
    unsigned value = 0;
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(&value, word, 4));
    OK(cuMemsetD32_v2(word, 0, 1));
    OK(cuCtxSynchronize());
    return value;
}

/* A root, `width` nodes after it, and a child of `width` nodes beside each other after them all. */
static CUgraph make_wide(CUdeviceptr word, unsigned width, unsigned value)
{
    CUgraph graph = new_graph(), inner = new_graph();
    CUgraphNode root = add_after(graph, NULL, 0, word, value), last = empty_after(graph, &root, 1), child;
    for (unsigned i = 0; i < width; i++) {
        CUgraphNode node = add_after(graph, &root, 1, word, value);
        OK(cuGraphAddDependencies_v2(graph, &node, &last, NULL, 1));
        add_after(inner, NULL, 0, word, value);
    }
    OK(cuGraphAddChildGraphNode(&child, graph, &last, 1, inner));
    OK(cuGraphDestroy(inner));
    return graph;
}

static void test_wide(void **state)
{
    (void)state;
    enum { WIDTH = 2000 };
    CUdeviceptr word = begin();
    CUgraph graph = make_wide(word, WIDTH, 1);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned value = 2; value < 6; value++) {
        CUgraph other = make_wide(word, WIDTH, value);
        OK(cuGraphExecUpdate_v2(exec, other, &info));
        OK(cuGraphDestroy(other));
        OK(cuGraphLaunch(exec, NULL));
        assert_int_equal(take(word), (2 * WIDTH + 1) * value);
    }
    CUgraph other = make_wide(word, WIDTH - 1, 1);
    FAILS(cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(take(word), (2 * WIDTH + 1) * 5);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

/* Updates while launches are queued in two streams: each launch does what the graph was at its call. */
static void test_queued(void **state)
{
    (void)state;
    CUdeviceptr word = begin();
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUstream streams[2];
    unsigned sum = 0;
    for (int i = 0; i < 2; i++)
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    add_after(graph, NULL, 0, word, 0);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < 400; i++) {
        CUgraph other = new_graph();
        add_after(other, NULL, 0, word, i);
        OK(cuGraphExecUpdate_v2(exec, other, &info));
        OK(cuGraphDestroy(other));
        OK(cuGraphLaunch(exec, streams[i % 2]));
        sum += i;
    }
    OK(cuGraphExecDestroy(exec));
    assert_int_equal(take(word), sum);
    OK(cuGraphDestroy(graph));
}

static void test_conditional_body(void **state)
{
    CUdeviceptr word = begin();
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    for (unsigned turn = 0; turn < 2; turn++) {
        CUgraph graph = new_graph();
        CUgraphConditionalHandle handle;
        CUgraphNode node;
        OK(cuGraphConditionalHandleCreate(&handle, graph, *state, 2, CU_GRAPH_COND_ASSIGN_DEFAULT));
        CUgraphNodeParams params = {
            .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
            .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_SWITCH, .size = 3, .ctx = *state}};
        OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
        for (unsigned i = 0; i < 3; i++)
            add_after(params.conditional.phGraph_out[i], NULL, 0, word, (turn + 1) * 10 + i);
        if (turn == 0)
            OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else
            OK(cuGraphExecUpdate_v2(exec, graph, &info));
        OK(cuGraphLaunch(exec, NULL));
        assert_int_equal(take(word), (turn + 1) * 10 + 2);
        OK(cuGraphDestroy(graph));
    }
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(take(word), 22);
    OK(cuGraphExecDestroy(exec));
}

/* One launch with attributes whose unused bytes hold `garbage`: a synchronisation domain, and whether its blocks may
 * wait for each other. */
static CUgraph capture_launch(CUstream stream, CUdeviceptr word, unsigned value, unsigned char garbage, unsigned domain,
                              int cooperative)
{
    CUlaunchAttribute attributes[2];
    memset(attributes, garbage, sizeof attributes);
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[0].value.cooperative = cooperative;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    attributes[1].value.memSyncDomain = (CUlaunchMemSyncDomain)domain;
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, attributes, 2};
    void *params[] = {&word, &value};
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuLaunchKernelEx(&config, add, params, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* Programs set one member of an attribute's union and leave its other bytes as they were. Of attributes few must stay.
 */
static void test_attributes_with_garbage(void **state)
{
    (void)state;
    CUdeviceptr word = begin();
    CUstream stream = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph first = capture_launch(stream, word, 1, 0x55, 0, 0), second = capture_launch(stream, word, 2, 0xaa, 1, 0),
            other = capture_launch(stream, word, 2, 0x55, 0, 1);
    OK(cuGraphInstantiateWithFlags(&exec, first, 0));
    OK(cuGraphExecUpdate_v2(exec, second, &info));
    OK(cuGraphLaunch(exec, stream));
    assert_int_equal(take(word), 2);
    FAILS(cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(first));
    OK(cuGraphDestroy(second));
    OK(cuGraphDestroy(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_wide),
        TEST_IN_CONTEXT(test_queued),
        TEST_IN_CONTEXT(test_conditional_body),
        TEST_IN_CONTEXT(test_attributes_with_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
