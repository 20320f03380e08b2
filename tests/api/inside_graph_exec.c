/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs when the driver's own memory runs out: each allocation of instantiating, launching, changing and
 * updating is made to fail in turn. The call then says so and leaves everything as it was; nothing is left over in the
 * end. */
#include "graph_support.h"

#include "each_failure.h"

static CUfunction add;
static CUstream stream;

static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

static CUgraphNode add_node(CUgraph graph, CUgraphNode before, CUdeviceptr word, unsigned value, unsigned blocks)
{
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(add, params);
    CUgraphNode node = NULL;
    kernel.gridDimX = blocks;
    OK(cuGraphAddKernelNode_v2(&node, graph, before ? &before : NULL, before ? 1 : 0, &kernel));
    return node;
}

struct zoo {
    CUgraph graph, inner;
    CUgraphNode kernel, child, copy;
    CUevent event;
};

/* One node of each kind; the word gets 1 for a launch, and the first kernel `value` more. */
static struct zoo make_zoo(CUdeviceptr word, unsigned value)
{
    struct zoo zoo = {.graph = new_graph(), .inner = new_graph()};
    CUgraphNode node;
    CUcontext context;
    OK(cuCtxGetCurrent(&context));
    OK(cuEventCreate(&zoo.event, 0));
    zoo.kernel = add_node(zoo.graph, NULL, word, value, 1);
    add_node(zoo.graph, NULL, word + 64, 0, 8);
    add_node(zoo.inner, add_node(zoo.inner, NULL, word, 0, 1), word, 1, 1);
    OK(cuGraphAddChildGraphNode(&zoo.child, zoo.graph, &zoo.kernel, 1, zoo.inner));
    CUDA_MEMCPY3D copy = linear_copy(word + 128, word + 192, 32);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = word + 320, .elementSize = 4, .width = 4, .height = 1};
    CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = word + 256}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 1, &op, 0};
    OK(cuGraphAddMemcpyNode(&zoo.copy, zoo.graph, &zoo.child, 1, &copy, NULL));
    OK(cuGraphAddMemsetNode(&node, zoo.graph, &zoo.child, 1, &fill, NULL));
    OK(cuGraphAddHostNode(&node, zoo.graph, &zoo.child, 1, &host));
    OK(cuGraphAddEventRecordNode(&node, zoo.graph, &zoo.child, 1, zoo.event));
    OK(cuGraphAddEventWaitNode(&node, zoo.graph, &zoo.copy, 1, zoo.event));
    OK(cuGraphAddBatchMemOpNode(&node, zoo.graph, &zoo.child, 1, &batch));
    return zoo;
}

static void end_zoo(struct zoo *zoo)
{
    OK(cuGraphDestroy(zoo->graph));
    OK(cuGraphDestroy(zoo->inner));
    OK(cuEventDestroy(zoo->event));
}

static void go_through_all(CUdeviceptr word)
{
    struct zoo zoo = make_zoo(word, 10), other = make_zoo(word, 100);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    unsigned value = 1000, found = 0, launches = 0;
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(add, params);
    CUDA_MEMCPY3D copy = linear_copy(word + 128, word + 200, 16);
    OK(cuMemsetD32_v2(word, 0, 256));
    OK(cuCtxSynchronize());
    EACH_FAILURE(cuGraphInstantiateWithFlags(&exec, zoo.graph, 0), OK(cuGraphExecDestroy(exec)));
    EACH_FAILURE((found = 0, cuGraphLaunch(exec, stream)), launches++);
    launches++;
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&found, word, 4));
    assert_int_equal(found, launches * 11);
    OK(cuMemsetD32_v2(word, 0, 1));
    OK(cuCtxSynchronize());
    EACH_FAILURE(cuGraphExecKernelNodeSetParams_v2(exec, zoo.kernel, &kernel), (void)0);
    EACH_FAILURE(cuGraphExecMemcpyNodeSetParams(exec, zoo.copy, &copy, NULL), (void)0);
    EACH_FAILURE(cuGraphExecChildGraphNodeSetParams(exec, zoo.child, other.inner), (void)0);
    EACH_FAILURE(cuGraphNodeSetEnabled(exec, zoo.copy, 0), OK(cuGraphNodeSetEnabled(exec, zoo.copy, 1)));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&found, word, 4));
    assert_int_equal(found, 1001);
    CUresult status = CUDA_ERROR_UNKNOWN;
    for (uint64_t try = 1; status != CUDA_SUCCESS && try < MOST_TRIES; try++) {
        (void)mr_alloc_fail_mine(try);
        status = cuGraphExecUpdate_v2(exec, other.graph, &info);
        (void)mr_alloc_fail_mine(0);
    }
    OK(status);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&found, word, 4));
    assert_int_equal(found, 1001 + 101);
    OK(cuGraphExecDestroy(exec));
    end_zoo(&zoo);
    end_zoo(&other);
}

static void test_all(void **state)
{
    (void)state;
    CUdeviceptr word;
    add = get_function(
        load_module(
            PTX_HEAD
            ".visible .entry add(.param .u64 to, .param .u32 value)\n{\n"
            "    .reg .b64 %rd<3>;\n    .reg .b32 %r<4>;\n"
            "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
            "    ld.global.u32 %r2, [%rd1];\n    add.u32 %r3, %r2, %r1;\n    st.global.u32 [%rd1], %r3;\n    ret;\n}\n"),
        "add");
    OK(cuMemAlloc_v2(&word, 4096));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    go_through_all(word);
    uint64_t before = live_at_rest();
    go_through_all(word);
    assert_in_range(live_once_settled(before + 8), 0, before + 8); /* records that a thread keeps for reuse */
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
