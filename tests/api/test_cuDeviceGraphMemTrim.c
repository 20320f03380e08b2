/* SPDX-License-Identifier: Apache-2.0 */
/* cuDeviceGraphMemTrim and cuDeviceGetGraphMemAttribute: what graphs' memory counts for, and when a trim gives it back.
 */
#include "graph_support.h"

#define MIB ((size_t)1 << 20)

static uint64_t reserved(void)
{
    cuuint64_t bytes = 1;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes;
}

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

/* A graph that allocates, calls the host and frees. */
static CUgraphExec user(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node[3];
    CUgraphExec exec = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = device_alloc(32 * MIB);
    CUDA_HOST_NODE_PARAMS call = {.fn = nothing};
    OK(cuGraphAddMemAllocNode(&node[0], graph, NULL, 0, &params));
    OK(cuGraphAddHostNode(&node[1], graph, &node[0], 1, &call));
    OK(cuGraphAddMemFreeNode(&node[2], graph, &node[1], 1, params.dptr));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    return exec;
}

/* Whoever waited for a launch finds its memory unused: a trim gives all of it back. */
static void test_trim_behind_a_wait(void **state)
{
    CUstream stream = NULL;
    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = user();
    for (int i = 0; i < 2000; i++) {
        OK(cuGraphLaunch(exec, stream));
        assert_int_equal(reserved(), 32 * MIB);
        if (i % 2) {
            OK(cuStreamSynchronize(stream));
        } else {
            while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
                continue;
        }
        OK(cuDeviceGraphMemTrim(0));
        assert_int_equal(reserved(), 0);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy_v2(stream));
}

/* What is queued keeps its memory. */
static void test_trim_before_the_end(void **state)
{
    CUstream stream = NULL;
    CUdeviceptr word = 0;
    (void)state;
    OK(cuMemAlloc_v2(&word, 4));
    OK(cuMemsetD32_v2(word, 0, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = user();
    OK(cuStreamWaitValue32_v2(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuGraphLaunch(exec, stream));
    OK(cuDeviceGraphMemTrim(0));
    assert_int_equal(reserved(), 32 * MIB);
    OK(cuMemsetD32_v2(word, 1, 1));
    OK(cuStreamSynchronize(stream));
    OK(cuDeviceGraphMemTrim(0));
    assert_int_equal(reserved(), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFree_v2(word));
}

/* A graph with memory in a context that has gone since. Its address may be that of another one's memory then. */
static CUgraph left_behind(CUdeviceptr *address)
{
    CUcontext context = NULL;
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = device_alloc(32 * MIB);
    OK(cuCtxCreate_v2(&context, 0, 0));
    CUgraph graph = new_graph();
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cuGraphAddMemFreeNode(&node, graph, &node, 1, params.dptr));
    OK(cuCtxDestroy_v2(context));
    *address = params.dptr;
    return graph;
}

/* A graph that outlives its context is not in the way of one whose memory has the same address, whichever of them goes
 * first. Nothing promises that an address comes again, but with nothing else allocated one does, soon. */
static void test_addresses_of_a_context_that_is_gone(void **state)
{
    enum { MOST = 100 };
    CUcontext first = *state;
    CUgraph left[MOST];
    CUdeviceptr address[MOST];
    for (int later = 0; later < 2; later++) {
        int count = 0, same = -1;
        while (same < 0 && count < MOST) {
            left[count] = left_behind(&address[count]);
            for (int i = 0; i < count; i++)
                if (address[i] == address[count])
                    same = i;
            count++;
        }
        assert_true(same >= 0);
        OK(cuGraphDestroy(left[later ? count - 1 : same]));
        /* What remains of the other is still there: a third one comes, with all that it does. */
        CUdeviceptr third = 0;
        OK(cuGraphDestroy(left_behind(&third)));
        OK(cuGraphDestroy(left[later ? same : count - 1]));
        for (int i = 0; i + 1 < count; i++)
            if (i != same)
                OK(cuGraphDestroy(left[i]));
        OK(cuCtxSetCurrent(first));
        assert_int_equal(reserved(), 0);
    }
}

static void test_bad(void **state)
{
    cuuint64_t bytes = 0;
    (void)state;
    FAILS(cuDeviceGraphMemTrim(1000), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetGraphMemAttribute(1000, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes),
          CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)99, &bytes), CUDA_ERROR_INVALID_VALUE);
}

static CUgraphNode fill_of(CUgraph graph, CUgraphNode before, CUdeviceptr to, size_t bytes, CUresult expected)
{
    CUgraphNode node = NULL;
    CUcontext context = NULL;
    OK(cuCtxGetCurrent(&context));
    CUDA_MEMSET_NODE_PARAMS p = {.dst = to, .elementSize = 1, .value = 7, .width = bytes, .height = 1};
    FAILS(cuGraphAddMemsetNode(&node, graph, &before, 1, &p, context), expected);
    return node;
}

/* Memory that one allocation node gave back and a larger one got: nodes may name all of the larger one, before a run
 * and after it, whoever had it last. */
static void test_a_larger_holder(void **state)
{
    (void)state;
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    CUgraphNode node;
    CUstream stream = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS first = device_alloc(1), second = device_alloc(180), third = device_alloc(4);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &first));
    (void)fill_of(graph, node, first.dptr, 2, CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddMemFreeNode(&node, graph, &node, 1, first.dptr));
    OK(cuGraphAddMemAllocNode(&node, graph, &node, 1, &second));
    assert_true(second.dptr == first.dptr);
    node = fill_of(graph, node, second.dptr, 180, CUDA_SUCCESS);
    (void)fill_of(graph, node, second.dptr, 181, CUDA_ERROR_INVALID_VALUE);
    CUgraphNode kept = node;
    OK(cuGraphAddMemFreeNode(&node, graph, &node, 1, second.dptr));
    OK(cuGraphAddMemAllocNode(&node, graph, &node, 1, &third));
    assert_true(third.dptr == first.dptr);
    OK(cuGraphAddMemFreeNode(&node, graph, &node, 1, third.dptr));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        CUDA_MEMSET_NODE_PARAMS p = {.dst = second.dptr, .elementSize = 1, .value = 9, .width = 180, .height = 1};
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuGraphMemsetNodeSetParams(kept, &p));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trim_behind_a_wait, begin_context, end_context),
        cmocka_unit_test_setup_teardown(test_trim_before_the_end, begin_context, end_context),
        cmocka_unit_test_setup_teardown(test_addresses_of_a_context_that_is_gone, begin_context, end_context),
        cmocka_unit_test_setup_teardown(test_bad, begin_context, end_context),
        cmocka_unit_test_setup_teardown(test_a_larger_holder, begin_context, end_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
