/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: parameters of each type, told and set; what setting leaves alone; memory and conditional nodes; the functions
 * for any node. */
#include "graph_support.h"

static CUfunction store_function(void)
{
    return get_function(load_module(PTX_HEAD PTX_STORE PTX_EMPTY), "store");
}

static CUgraphNode store_in(CUgraph graph, CUfunction function, CUdeviceptr address, unsigned value)
{
    void *params[] = {&address, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(function, params);
    CUgraphNode node = NULL;
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    return node;
}

static unsigned value_of(CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS p;
    OK(cuGraphKernelNodeGetParams_v2(node, &p));
    return *(unsigned *)p.kernelParams[1];
}

static CUdeviceptr some_memory(size_t bytes)
{
    CUdeviceptr address = 0;
    OK(cuMemAlloc_v2(&address, bytes));
    return address;
}

static void test_kernel(void **state)
{
    CUfunction function = store_function();
    CUdeviceptr word = some_memory(4);
    CUgraph graph = new_graph(), clone;
    CUgraphNode node = store_in(graph, function, word, 5), twin;
    CUDA_KERNEL_NODE_PARAMS p;
    OK(cuGraphKernelNodeGetParams_v2(node, &p));
    assert_ptr_equal(p.func, function);
    assert_ptr_equal(p.ctx, *state);
    assert_null(p.extra);
    assert_int_equal(*(CUdeviceptr *)p.kernelParams[0], word);
    assert_int_equal(value_of(node), 5);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&twin, node, clone));
    unsigned value = 6;
    void *params[] = {&word, &value};
    p = one_thread(function, params);
    p.gridDimX = 9;
    OK(cuGraphKernelNodeSetParams_v2(node, &p));
    assert_int_equal(value_of(node), 6);
    assert_int_equal(value_of(twin), 5);
    p.blockDimX = 5000;
    FAILS(cuGraphKernelNodeSetParams_v2(node, &p), CUDA_ERROR_INVALID_VALUE);
    p.func = NULL;
    FAILS(cuGraphKernelNodeSetParams_v2(node, &p), CUDA_ERROR_INVALID_HANDLE);
    OK(cuGraphKernelNodeGetParams_v2(node, &p));
    assert_int_equal(p.gridDimX, 9);
    OK(cuGraphDestroy(graph));
    assert_int_equal(value_of(twin), 5);
    OK(cuGraphDestroy(clone));
}

/* A node keeps its function's module. */
static void test_kernel_of_unloaded_module(void **state)
{
    (void)state;
    CUmodule module = load_module(PTX_HEAD PTX_STORE);
    CUgraph graph = new_graph();
    CUgraphNode node = store_in(graph, get_function(module, "store"), some_memory(4), 5);
    OK(cuModuleUnload(module));
    assert_int_equal(value_of(node), 5);
    CUDA_KERNEL_NODE_PARAMS p;
    OK(cuGraphKernelNodeGetParams_v2(node, &p));
    FAILS(cuGraphKernelNodeSetParams_v2(node, &p), CUDA_ERROR_INVALID_HANDLE);
    OK(cuGraphDestroy(graph));
}

static void test_attributes(void **state)
{
    (void)state;
    CUfunction function = store_function();
    CUgraph graph = new_graph();
    CUgraphNode one = store_in(graph, function, some_memory(4), 5), two = store_in(graph, function, some_memory(4), 7);
    CUkernelNodeAttrValue value = {.priority = -2};
    OK(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value.priority = 0;
    OK(cuGraphKernelNodeGetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    assert_int_equal(value.priority, -2);
    OK(cuGraphKernelNodeCopyAttributes(two, one));
    OK(cuGraphKernelNodeGetAttribute(two, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    assert_int_equal(value.priority, -2);
    assert_int_equal(value_of(two), 7);
    CUDA_KERNEL_NODE_PARAMS p;
    OK(cuGraphKernelNodeGetParams_v2(one, &p));
    OK(cuGraphKernelNodeSetParams_v2(one, &p));
    OK(cuGraphKernelNodeGetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    assert_int_equal(value.priority, -2);
    CUgraphExec exec;
    value.cooperative = 1;
    OK(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuGraphExecDestroy(exec));
    value.cooperative = 0;
    OK(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphExecDestroy(exec));
    value.clusterDim.x = 2, value.clusterDim.y = value.clusterDim.z = 1;
    FAILS(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
          CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

static void test_copy_and_fill(void **state)
{
    (void)state;
    CUdeviceptr memory = some_memory(4096);
    CUgraph graph = new_graph();
    CUgraphNode copy_node, fill_node;
    CUDA_MEMCPY3D copy = linear_copy(memory, memory + 2048, 64), got_copy;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory, .value = 3, .elementSize = 4, .width = 8, .height = 1}, got_fill;
    OK(cuGraphAddMemcpyNode(&copy_node, graph, NULL, 0, &copy, NULL));
    OK(cuGraphAddMemsetNode(&fill_node, graph, &copy_node, 1, &fill, *state));
    copy.WidthInBytes = 32;
    OK(cuGraphMemcpyNodeSetParams(copy_node, &copy));
    OK(cuGraphMemcpyNodeGetParams(copy_node, &got_copy));
    assert_int_equal(got_copy.WidthInBytes, 32);
    copy.WidthInBytes = 4096;
    FAILS(cuGraphMemcpyNodeSetParams(copy_node, &copy), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphMemcpyNodeSetParams(fill_node, &got_copy), CUDA_ERROR_INVALID_VALUE);
    fill.elementSize = 3;
    FAILS(cuGraphMemsetNodeSetParams(fill_node, &fill), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphMemsetNodeGetParams(fill_node, &got_fill));
    assert_int_equal(got_fill.elementSize, 4);
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(memory));
}

static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

static void test_host_and_event(void **state)
{
    (void)state;
    int mine;
    CUgraph graph = new_graph();
    CUgraphNode host, record, wait;
    CUDA_HOST_NODE_PARAMS p = {do_nothing, &mine}, got = {0};
    CUevent event, other, seen;
    OK(cuEventCreate(&event, 0));
    OK(cuEventCreate(&other, 0));
    OK(cuGraphAddHostNode(&host, graph, NULL, 0, &p));
    OK(cuGraphHostNodeGetParams(host, &got));
    assert_true(got.fn == do_nothing && got.userData == &mine);
    OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
    OK(cuGraphEventRecordNodeSetEvent(record, other));
    OK(cuGraphEventRecordNodeGetEvent(record, &seen));
    assert_ptr_equal(seen, other);
    OK(cuGraphEventWaitNodeGetEvent(wait, &seen));
    assert_ptr_equal(seen, event);
    OK(cuEventDestroy(event));
    OK(cuGraphEventWaitNodeGetEvent(wait, &seen));
    assert_ptr_equal(seen, event);
    FAILS(cuGraphEventWaitNodeSetEvent(wait, event), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(other));
}

/* Graphs that own graphs, moved or cloned, end with their owner. */
static void test_children(void **state)
{
    (void)state;
    CUgraph outer = new_graph(), inner = new_graph(), got;
    CUgraphNode node, inside = empty_in(inner), more;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {inner, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    OK(cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &p));
    OK(cuGraphChildGraphNodeGetGraph(node, &got));
    assert_ptr_equal(got, inner);
    FAILS(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddEmptyNode(&more, inner, &inside, 1));
    p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    FAILS(cuGraphAddNode_v2(&more, outer, NULL, NULL, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGraphDestroyNode(node));
    FAILS(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeType type;
    FAILS(cuGraphNodeGetType(inside, &type), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(outer));
}

/* Graphs inside graphs, by moving them: as deep as is allowed, and no deeper. */
static void test_depth(void **state)
{
    (void)state;
    CUgraph graph = new_graph(), clone;
    CUresult status = CUDA_SUCCESS;
    int depth = 1;
    while (status == CUDA_SUCCESS && depth < 100000) {
        CUgraph outer = new_graph();
        CUgraphNode node;
        CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {graph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
        status = cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &p);
        if (status == CUDA_SUCCESS)
            graph = outer;
        else
            OK(cuGraphDestroy(outer));
        depth++;
    }
    assert_int_equal(status, CUDA_ERROR_NOT_SUPPORTED);
    assert_true(depth > 100 && depth < 2000);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
}

/* A graph that could not be moved stays the program's. */
static void test_move_that_fails(void **state)
{
    (void)state;
    CUgraph outer = new_graph(), inner = new_graph(), other = new_graph();
    CUgraphNode foreign = empty_in(other), node;
    empty_in(inner);
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {inner, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    FAILS(cuGraphAddNode_v2(&node, outer, &foreign, NULL, 1, &p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(nodes_of(inner), 1);
    OK(cuGraphDestroy(inner));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(other));
}

static void test_memory(void **state)
{
    (void)state;
    CUgraph graph = new_graph(), other = new_graph(), clone;
    CUgraphNode alloc, node, empty = empty_in(graph);
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(5000), got;
    OK(cuGraphAddMemAllocNode(&alloc, graph, &empty, 1, &p));
    assert_true(p.dptr != 0);
    OK(cuGraphMemAllocNodeGetParams(alloc, &got));
    assert_int_equal(got.dptr, p.dptr);
    FAILS(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    FAILS(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr), CUDA_ERROR_INVALID_VALUE);
    assert_int_not_equal(cuGraphDestroyNode(empty), CUDA_SUCCESS);
    assert_int_not_equal(cuGraphClone(&clone, graph), CUDA_SUCCESS);
    assert_int_not_equal(cuGraphRemoveDependencies_v2(graph, &empty, &alloc, NULL, 1), CUDA_SUCCESS);
    OK(cuGraphDestroy(graph));
    FAILS(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(other));
}

static void test_conditional(void **state)
{
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle;
    CUgraphNode node;
    OK(cuGraphConditionalHandleCreate(&handle, graph, *state, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 2, .ctx = *state}};
    OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    assert_non_null(p.conditional.phGraph_out);
    CUgraph body = p.conditional.phGraph_out[1];
    assert_ptr_not_equal(p.conditional.phGraph_out[0], body);
    empty_in(body);
    FAILS(cuGraphDestroy(body), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    size_t count;
    FAILS(cuGraphGetNodes(body, NULL, &count), CUDA_ERROR_INVALID_VALUE);
}

static void test_any(void **state)
{
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {do_nothing, NULL}};
    OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    OK(cuGraphNodeSetParams(node, &p));
    p.reserved0[1] = 1;
    FAILS(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    FAILS(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
    p.type = (CUgraphNodeType)77;
    FAILS(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    p.type = CU_GRAPH_NODE_TYPE_EMPTY;
    FAILS(cuGraphNodeSetParams(node, &p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(nodes_of(graph), 1);
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_kernel),
        TEST_IN_CONTEXT(test_kernel_of_unloaded_module),
        TEST_IN_CONTEXT(test_attributes),
        TEST_IN_CONTEXT(test_copy_and_fill),
        TEST_IN_CONTEXT(test_host_and_event),
        TEST_IN_CONTEXT(test_children),
        TEST_IN_CONTEXT(test_depth),
        TEST_IN_CONTEXT(test_move_that_fails),
        TEST_IN_CONTEXT(test_memory),
        TEST_IN_CONTEXT(test_conditional),
        TEST_IN_CONTEXT(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
