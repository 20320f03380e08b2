/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs when the driver's own memory runs out: each allocation of each call is made to fail in turn. The call then
 * says so, leaves the graph as it was, and works when called again; nothing is left over in the end. */
#include "each_failure.h"
#include "graph_support.h"

static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

static CUdeviceptr memory;
static CUfunction function;

/* One node of each kind in a chain. Returns the graph. */
static CUgraph make_zoo(void)
{
    CUgraph graph, inner;
    CUgraphNode list[10];
    unsigned value = 5;
    void *params[] = {&memory, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(function, params);
    CUDA_MEMCPY3D copy = linear_copy(memory, memory + 128, 64);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory, .elementSize = 4, .width = 4, .height = 1};
    CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = memory}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {NULL, 1, &op, 0};
    CUkernelNodeAttrValue priority = {.priority = -1};
    CUevent event;
    CUcontext context;
    OK(cuCtxGetCurrent(&context));
    batch.ctx = context;
    OK(cuEventCreate(&event, 0));
    EACH_FAILURE(cuGraphCreate(&graph, 0), OK(cuGraphDestroy(graph)));
    EACH_FAILURE(cuGraphAddKernelNode_v2(&list[0], graph, NULL, 0, &kernel), OK(cuGraphDestroyNode(list[0])));
    EACH_FAILURE(cuGraphKernelNodeSetAttribute(list[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority), (void)0);
    EACH_FAILURE(cuGraphKernelNodeSetParams_v2(list[0], &kernel), (void)0);
    EACH_FAILURE(cuGraphAddMemcpyNode(&list[1], graph, &list[0], 1, &copy, NULL), OK(cuGraphDestroyNode(list[1])));
    EACH_FAILURE(cuGraphMemcpyNodeSetParams(list[1], &copy), (void)0);
    EACH_FAILURE(cuGraphAddMemsetNode(&list[2], graph, &list[1], 1, &fill, NULL), OK(cuGraphDestroyNode(list[2])));
    EACH_FAILURE(cuGraphAddHostNode(&list[3], graph, &list[2], 1, &host), OK(cuGraphDestroyNode(list[3])));
    EACH_FAILURE(cuGraphAddEmptyNode(&list[4], graph, list, 4), OK(cuGraphDestroyNode(list[4])));
    EACH_FAILURE(cuGraphAddEventRecordNode(&list[5], graph, &list[4], 1, event), OK(cuGraphDestroyNode(list[5])));
    EACH_FAILURE(cuGraphAddEventWaitNode(&list[6], graph, &list[5], 1, event), OK(cuGraphDestroyNode(list[6])));
    EACH_FAILURE(cuGraphAddBatchMemOpNode(&list[7], graph, &list[6], 1, &batch), OK(cuGraphDestroyNode(list[7])));
    EACH_FAILURE(cuGraphClone(&inner, graph), OK(cuGraphDestroy(inner)));
    EACH_FAILURE(cuGraphAddChildGraphNode(&list[8], graph, &list[7], 1, inner), OK(cuGraphDestroyNode(list[8])));
    EACH_FAILURE(cuGraphAddDependencies_v2(graph, &list[0], &list[8], NULL, 1),
                 OK(cuGraphRemoveDependencies_v2(graph, &list[0], &list[8], NULL, 1)));
    assert_int_equal(nodes_of(graph), 9);
    OK(cuGraphDestroy(inner));
    OK(cuEventDestroy(event));
    return graph;
}

static void go_through_all(const char *path)
{
    CUuserObject object;
    CUgraph graph = make_zoo(), clone, moved = new_graph();
    CUgraphNode node;
    EACH_FAILURE(cuUserObjectCreate(&object, NULL, do_nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                 OK(cuUserObjectRelease(object, 1)));
    EACH_FAILURE(cuGraphRetainUserObject(graph, object, 1, 0), OK(cuGraphReleaseUserObject(graph, object, 1)));
    EACH_FAILURE(cuGraphClone(&clone, graph), OK(cuGraphDestroy(clone)));
    EACH_FAILURE(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE), (void)0);
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {moved, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    EACH_FAILURE(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p), fail());
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    OK(cuUserObjectRelease(object, 1));
}

static void test_all(void **state)
{
    (void)state;
    static char path[256];
    CUgraphNode node;
    function = get_function(load_module(PTX_HEAD PTX_STORE), "store");
    OK(cuMemAlloc_v2(&memory, 4096));
    write_temporary(path, "");
    /* Machine code, and records that stay for reuse, are made by the first time. */
    void *params[] = {&memory, &memory};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(function, params);
    CUgraph first = new_graph();
    OK(cuGraphAddKernelNode_v2(&node, first, NULL, 0, &kernel));
    OK(cuGraphDestroy(first));
    go_through_all(path);
    uint64_t before = live_at_rest();
    go_through_all(path);
    assert_int_equal(mr_alloc_live(), before);
    unlink(path);
}

static void test_memory_and_conditions(void **state)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode alloc, node;
    CUgraphConditionalHandle handle;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(5000);
    p.accessDescs = &access;
    p.accessDescCount = 1;
    EACH_FAILURE(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p), (void)0);
    EACH_FAILURE(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr), fail());
    OK(cuGraphConditionalHandleCreate(&handle, other, *state, 0, 0));
    CUgraphNodeParams q = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_SWITCH, .size = 3, .ctx = *state}};
    EACH_FAILURE(cuGraphAddNode_v2(&node, other, NULL, NULL, 0, &q), fail());
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_all),
        TEST_IN_CONTEXT(test_memory_and_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
