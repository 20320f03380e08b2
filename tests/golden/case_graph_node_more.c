/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More of nodes: what their life leaves behind, what the general setting
 * function refuses, and parameters of the rarer kinds.
 */
#include "gold_graph.h"

static CUgraphNodeParams of_type(CUgraphNodeType type)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = type;
    return p;
}

static void call_nothing(void *data)
{
    (void)data;
}

/* ---- memory ---- */

CASE(graph_node, free_again_once_the_other_graph_is_gone)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    NEED(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr));
    graph_end(other);
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, free_with_wrong_dependencies_and_again)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode alloc = NULL, node = NULL, foreign = empty_in(other);
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, graph, &foreign, 1, p.dptr));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_node, free_of_what_a_dead_graph_allocated)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    graph_end(graph);
    say(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr));
    graph_end(other);
}

CASE(graph_node, memory_used_by_other_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(p.dptr, 7, 4, 1024);
    say(cuGraphAddMemsetNode(&node, graph, &alloc, 1, &fill, gold_context()));
    fill.width = 1025;
    say(cuGraphAddMemsetNode(&node, graph, &alloc, 1, &fill, gold_context()));
    CUDA_MEMCPY3D copy = linear_copy(gold_alloc(4096), p.dptr, 4096);
    say(cuGraphAddMemcpyNode(&node, graph, &alloc, 1, &copy, gold_context()));
    graph_end(graph);
}

/* ---- conditional handles ---- */

CASE(graph_node, conditional_handle_again_once_its_node_is_gone)
{
    CUgraph graph = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    p.conditional.handle = handle;
    p.conditional.size = 1;
    p.conditional.ctx = gold_context();
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    say(cuGraphDestroyNode(node));
    p.conditional.phGraph_out = NULL;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    graph_end(graph);
}

CASE(graph_node, conditional_with_wrong_dependencies_and_again)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL, foreign = empty_in(other);
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    p.conditional.handle = handle;
    p.conditional.size = 1;
    p.conditional.ctx = gold_context();
    say(cuGraphAddNode_v2(&node, graph, &foreign, NULL, 1, &p));
    p.conditional.phGraph_out = NULL;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_node, conditional_null_context)
{
    CUgraph graph = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    p.conditional.handle = handle;
    p.conditional.size = 1;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

/* ---- kernels ---- */

CASE(graph_params, kernel_of_a_library_told)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function = NULL;
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "empty"));
    NEED(cuKernelGetFunction(&function, kernel));
    CUDA_KERNEL_NODE_PARAMS p = one_thread(NULL, NULL), got;
    p.kern = kernel;
    p.ctx = gold_context();
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("func_is_the_kernel's", got.func == function);
    p = one_thread(function, NULL);
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("func", got.func == function);
    say_if("kern", got.kern == kernel);
    say_if("no_kern", got.kern == NULL);
    graph_end(graph);
    NEED(cuLibraryUnload(library));
}

CASE(graph_params, kernel_set_from_what_was_told)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 12);
    CUDA_KERNEL_NODE_PARAMS got;
    NEED(cuGraphKernelNodeGetParams_v2(node, &got));
    got.gridDimX = 2;
    say(cuGraphKernelNodeSetParams_v2(node, &got));
    NEED(cuGraphKernelNodeGetParams_v2(node, &got));
    say_int(got.gridDimX);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_params, kernel_told_parameters_can_be_written, .allow = "CUDA_SUCCESS 12|CUDA_SUCCESS 13",
     .why = "the manual forbids it")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 12);
    CUDA_KERNEL_NODE_PARAMS got;
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    *(unsigned *)got.kernelParams[1] = 13;
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

/* ---- the function that sets any ---- */

CASE(graph_params, any_set_reserved)
{
    CUgraph graph = graph_new();
    CUDA_HOST_NODE_PARAMS host = {call_nothing, NULL};
    CUgraphNode node = NULL;
    NEED(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_HOST);
    p.host.fn = call_nothing;
    p.reserved0[0] = 1;
    say(cuGraphNodeSetParams(node, &p));
    p.reserved0[0] = 0;
    p.reserved2 = 1;
    say(cuGraphNodeSetParams(node, &p));
    p.reserved2 = 0;
    p.reserved1[5] = 1;
    say(cuGraphNodeSetParams(node, &p));
    p.reserved1[5] = 0;
    say(cuGraphNodeSetParams(node, &p));
    graph_end(graph);
}

CASE(graph_params, any_set_wrong_values)
{
    CUgraph graph = graph_new();
    CUDA_HOST_NODE_PARAMS host = {call_nothing, NULL};
    CUgraphNode node = NULL;
    NEED(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_HOST);
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, gold_event(0)));
    p = of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddEventWaitNode(&node, graph, NULL, 0, gold_event(0)));
    p = of_type(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    say(cuGraphNodeSetParams(node, &p));
    graph_end(graph);
}

CASE(graph_params, any_set_copy_context, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(8, 3);
    CUcontext own = gold_context(), other = gold_context_new();
    NEED(cuCtxSetCurrent(own));
    CUgraph graph = graph_new();
    CUDA_MEMCPY3D copy = linear_copy(word, word + 16, 8);
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, own));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    p.memcpy.copyParams = copy;
    say(cuGraphNodeSetParams(node, &p));
    p.memcpy.copyCtx = other;
    say(cuGraphNodeSetParams(node, &p));
    p.memcpy.flags = 1;
    say(cuGraphNodeSetParams(node, &p));
}

CASE(graph_params, any_set_child)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new(), inner = graph_new(), second = graph_new(), got = NULL;
    CUgraphNode node = NULL;
    store_in(inner, word, 1);
    store_in(second, word, 2);
    empty_in(second);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    p.graph.graph = second;
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say_value("inside", nodes_of(got));
    say_if("a_copy", got != second);
    run_once(graph);
    say_int(gold_word(word));
    p.graph.graph = NULL;
    say(cuGraphNodeSetParams(node, &p));
    graph_end(graph);
    graph_end(inner);
    graph_end(second);
}

CASE(graph_params, any_set_child_moved, .alone = true, .allow = "CUDA_SUCCESS inside=1 same=yes",
     .why = "the node has no graph then on hardware")
{
    CUgraph graph = graph_new(), inner = graph_new(), second = graph_new(), got = NULL;
    CUgraphNode node = NULL;
    empty_in(second);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    p.graph.graph = second;
    p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say_value("inside", nodes_of(got));
    say_if("same", got == second);
}

CASE(graph_params, any_set_child_with_memory, .alone = true)
{
    CUgraph graph = graph_new(), inner = graph_new(), second = graph_new();
    CUgraphNode node = NULL, alloc = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS a = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, second, NULL, 0, &a));
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    p.graph.graph = second;
    say(cuGraphNodeSetParams(node, &p));
}

CASE(graph_params, any_set_batch)
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = word;
    op.writeValue.value = 4;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {gold_context(), 1, &op, 0};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &batch));
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    p.memOp.ctx = gold_context();
    p.memOp.count = 1;
    op.writeValue.value = 5;
    p.memOp.paramArray = &op;
    say(cuGraphNodeSetParams(node, &p));
    p.memOp.ctx = NULL;
    say(cuGraphNodeSetParams(node, &p));
    p.memOp.ctx = gold_context();
    p.memOp.count = 0;
    say(cuGraphNodeSetParams(node, &p));
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

/* ---- copies of host memory, told ---- */

CASE(graph_params, copy_told_of_host_memory)
{
    static unsigned host[4];
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D p = linear_copy(word, 0, 16), got;
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = host;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemcpyNodeGetParams(node, &got));
    say_value("type", got.srcMemoryType);
    say_if("host", got.srcHost == host);
    say_if("device", got.dstDevice == word);
    say_value("lod", (long long)got.srcLOD);
    graph_end(graph);
}

/* ---- clones and events ---- */

CASE(graph_node, clone_of_event_nodes)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUevent event = gold_event(0), other = gold_event(0), got = NULL;
    CUgraphNode node = NULL, twin = NULL;
    NEED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphNodeFindInClone(&twin, node, clone));
    say(cuGraphEventRecordNodeGetEvent(twin, &got));
    say_if("same", got == event);
    say(cuGraphEventRecordNodeSetEvent(node, other));
    say(cuGraphEventRecordNodeGetEvent(twin, &got));
    say_if("same", got == event);
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_node, edge_into_a_child)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL, inside = NULL, outside = empty_in(graph);
    empty_in(inner);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    size_t count = 1;
    NEED(cuGraphGetNodes(got, &inside, &count));
    say(cuGraphAddDependencies_v2(graph, &outside, &inside, NULL, 1));
    say(cuGraphAddDependencies_v2(got, &outside, &inside, NULL, 1));
    CUgraphNode after = NULL;
    say(cuGraphAddEmptyNode(&after, graph, &inside, 1));
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_node, nodes_of_a_destroyed_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr word = gold_alloc_words(8, 1);
    CUgraph graph = graph_new();
    CUDA_MEMCPY3D copy = linear_copy(word, word + 16, 8);
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, other));
    NEED(cuCtxSetCurrent(gold_context()));
    NEED(cuCtxDestroy(other));
    CUDA_MEMCPY3D got;
    say(cuGraphMemcpyNodeGetParams(node, &got));
    say(cuGraphDestroyNode(node));
    say(cuGraphDestroy(graph));
}
