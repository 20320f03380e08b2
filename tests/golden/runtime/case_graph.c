/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes, edges, instantiation, launches, updates, user objects; and capture. */
#include "rt.h"

#include <string.h>

/* ---- graphs and their nodes ---- */

CASE(graph, create)
{
    cudaGraph_t graph = NULL;
    rt(cudaGraphCreate(&graph, 0));
    rt(cudaGraphDestroy(graph));
}

CASE(graph, create_bad)
{
    cudaGraph_t graph = NULL;
    rt_noted(cudaGraphCreate(&graph, 1));
    rt_noted(cudaGraphCreate(NULL, 0));
    rt_noted(cudaGraphDestroy(NULL));
}

CASE(graph, empty_nodes_and_edges)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t first = rt_graph_empty(graph), second = rt_graph_empty(graph), from, to;
    size_t count = 0, edges = 0;
    rt(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
    rt(cudaGraphGetNodes(graph, NULL, &count));
    say_int((long long)count);
    rt(cudaGraphGetRootNodes(graph, NULL, &count));
    say_int((long long)count);
    rt(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    say_int((long long)edges);
    edges = 1;
    rt(cudaGraphGetEdges(graph, &from, &to, NULL, &edges));
    say_if("edge", from == first && to == second);
    rt(cudaGraphNodeGetDependencies(second, NULL, NULL, &count));
    say_int((long long)count);
    rt(cudaGraphNodeGetDependentNodes(second, NULL, NULL, &count));
    say_int((long long)count);
    rt(cudaGraphRemoveDependencies(graph, &first, &second, NULL, 1));
    rt_noted(cudaGraphRemoveDependencies(graph, &first, &second, NULL, 1));
    rt(cudaGraphDestroyNode(first));
    rt(cudaGraphDestroy(graph));
}

CASE(graph, edges_bad)
{
    cudaGraph_t graph = rt_graph(), other = rt_graph();
    cudaGraphNode_t first = rt_graph_empty(graph), second = rt_graph_empty(graph), foreign = rt_graph_empty(other);
    rt_noted(cudaGraphAddDependencies(graph, &first, &first, NULL, 1));
    rt_noted(cudaGraphAddDependencies(graph, &first, &foreign, NULL, 1));
    rt_noted(cudaGraphAddDependencies(graph, NULL, NULL, NULL, 1));
    rt_noted(cudaGraphAddDependencies(graph, NULL, NULL, NULL, 0));
    rt(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
    rt_noted(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
    rt_noted(cudaGraphAddDependencies(NULL, &first, &second, NULL, 1));
}

CASE(graph, queries_bad)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t node = rt_graph_empty(graph);
    enum cudaGraphNodeType type;
    size_t count = 0;
    rt_noted(cudaGraphGetNodes(graph, NULL, NULL));
    rt_noted(cudaGraphGetNodes(NULL, NULL, &count));
    rt_noted(cudaGraphGetNodes(graph, &node, &count));
    rt_noted(cudaGraphNodeGetType(node, NULL));
    rt_noted(cudaGraphNodeGetType(NULL, &type));
    rt_noted(cudaGraphDestroyNode(NULL));
    rt_noted(cudaGraphAddEmptyNode(NULL, graph, NULL, 0));
    rt_noted(cudaGraphAddEmptyNode(&node, NULL, NULL, 0));
    rt_noted(cudaGraphAddEmptyNode(&node, graph, NULL, 1));
}

static void say_type(cudaGraphNode_t node)
{
    enum cudaGraphNodeType type = (enum cudaGraphNodeType)77;
    rt(cudaGraphNodeGetType(node, &type));
    say_int(type);
}

static void no_host(void *data)
{
    (void)data;
}

CASE(graph, node_types)
{
    cudaGraph_t graph = rt_graph(), child = rt_graph();
    cudaGraphNode_t node;
    unsigned *words = rt_words(4, 0);
    rt_graph_empty(child);
    say_type(rt_graph_empty(graph));
    say_type(rt_graph_store(graph, NULL, words, 1));
    struct cudaMemsetParams fill = {words, 0, 3, 4, 4, 1};
    rt(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    say_type(node);
    rt(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, words, words + 2, 8, cudaMemcpyDeviceToDevice));
    say_type(node);
    struct cudaHostNodeParams host = {no_host, NULL};
    rt(cudaGraphAddHostNode(&node, graph, NULL, 0, &host));
    say_type(node);
    rt(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    say_type(node);
    rt(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, rt_event(0)));
    say_type(node);
    rt(cudaGraphAddEventWaitNode(&node, graph, NULL, 0, rt_event(0)));
    say_type(node);
}

CASE(graph, kernel_node,
     .allow =
         "cudaSuccess grid=1 block=1 params=yes extra=no cudaSuccess cudaSuccess cudaSuccess 6 cudaSuccess cudaSuccess",
     .why = "NVIDIA's library can't tell the parameters of a node whose kernel is of a library; here they are told")
{
    cudaGraph_t graph = rt_graph();
    unsigned *word = rt_words(1, 0);
    cudaGraphNode_t node = rt_graph_store(graph, NULL, word, 6);
    struct cudaKernelNodeParams params;
    cudaGraphExec_t exec;
    memset(&params, 0, sizeof params);
    rt(cudaGraphKernelNodeGetParams(node, &params));
    say_value("grid", params.gridDim.x);
    say_value("block", params.blockDim.x);
    say_if("params", params.kernelParams != NULL);
    say_if("extra", params.extra != NULL);
    rt(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
    rt(cudaGraphExecDestroy(exec));
    rt(cudaGraphDestroy(graph));
}

CASE(graph, kernel_node_of_symbol)
{
    cudaGraph_t graph = rt_graph();
    unsigned *word = rt_words(1, 0), value = 8;
    void *pointers[] = {&word, &value};
    struct cudaKernelNodeParams params, got;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    memset(&params, 0, sizeof params);
    params.func = &rt_host_store;
    params.gridDim = params.blockDim = (dim3){1, 1, 1};
    params.kernelParams = pointers;
    rt(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    rt(cudaGraphKernelNodeGetParams(node, &got));
    say_if("symbol", got.func == &rt_host_store);
    rt(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(graph, kernel_node_bad)
{
    cudaGraph_t graph = rt_graph();
    struct cudaKernelNodeParams params;
    cudaGraphNode_t node = NULL;
    memset(&params, 0, sizeof params);
    params.func = &rt_host_missing;
    params.gridDim = params.blockDim = (dim3){1, 1, 1};
    rt_noted(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.func = NULL;
    rt_noted(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.func = &rt_host_empty;
    params.gridDim.x = 0;
    rt_noted(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.gridDim.x = 1;
    params.blockDim.x = 2048;
    rt_noted(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    rt_noted(cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL));
    rt_noted(cudaGraphKernelNodeGetParams(rt_graph_empty(graph), &params));
}

CASE(graph, memset_node_bad)
{
    cudaGraph_t graph = rt_graph();
    unsigned *words = rt_words(4, 0);
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams fill = {words, 0, 3, 3, 4, 1};
    rt_noted(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    fill.elementSize = 4;
    fill.width = 0;
    rt_noted(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    fill.width = 4;
    fill.dst = NULL;
    rt_noted(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    rt_noted(cudaGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
    fill = (struct cudaMemsetParams){words, 0, 3, 4, 4, 1};
    rt(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    memset(&fill, 0, sizeof fill);
    rt(cudaGraphMemsetNodeGetParams(node, &fill));
    say_value("width", (long long)fill.width);
    say_value("size", fill.elementSize);
}

CASE(graph, memcpy_node_bad)
{
    cudaGraph_t graph = rt_graph();
    unsigned *words = rt_words(4, 0);
    cudaGraphNode_t node = NULL;
    rt_noted(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, words, words + 2, 0, cudaMemcpyDeviceToDevice));
    rt_noted(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, NULL, words + 2, 8, cudaMemcpyDeviceToDevice));
    rt_noted(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, words, words + 2, 8, (enum cudaMemcpyKind)9));
    rt_noted(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, NULL));
}

CASE(graph, memcpy_node_symbols)
{
    cudaGraph_t graph = rt_graph();
    unsigned *words = rt_words(16, 5);
    cudaGraphNode_t node = NULL, second = NULL;
    cudaGraphExec_t exec;
    rt(cudaGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, &rt_host_table, words, 64, 0, cudaMemcpyDeviceToDevice));
    rt_noted(cudaGraphAddMemcpyNodeToSymbol(&second, graph, NULL, 0, &rt_host_table, words, 64, 4,
                                            cudaMemcpyDeviceToDevice));
    rt_noted(cudaGraphAddMemcpyNodeToSymbol(&second, graph, NULL, 0, &rt_host_missing_variable, words, 4, 0,
                                            cudaMemcpyDeviceToDevice));
    rt(cudaGraphAddMemcpyNodeFromSymbol(&second, graph, &node, 1, words, &rt_host_table, 4, 60,
                                        cudaMemcpyDeviceToDevice));
    rt(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(words));
}

CASE(graph, host_node)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t node = NULL;
    struct cudaHostNodeParams host = {no_host, &node}, got = {NULL, NULL};
    rt(cudaGraphAddHostNode(&node, graph, NULL, 0, &host));
    rt(cudaGraphHostNodeGetParams(node, &got));
    say_if("same", got.fn == no_host && got.userData == &node);
    host.fn = NULL;
    rt_noted(cudaGraphAddHostNode(&node, graph, NULL, 0, &host));
    rt_noted(cudaGraphAddHostNode(&node, graph, NULL, 0, NULL));
}

CASE(graph, event_nodes)
{
    cudaGraph_t graph = rt_graph();
    cudaEvent_t event = rt_event(0), other = rt_event(0), got = NULL;
    cudaGraphNode_t node;
    rt(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    rt(cudaGraphEventRecordNodeGetEvent(node, &got));
    say_if("same", got == event);
    rt(cudaGraphEventRecordNodeSetEvent(node, other));
    rt_noted(cudaGraphEventWaitNodeGetEvent(node, &got));
    rt_noted(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, NULL));
    rt_noted(cudaGraphAddEventWaitNode(&node, graph, NULL, 0, NULL));
}

CASE(graph, child_node)
{
    cudaGraph_t graph = rt_graph(), child = rt_graph(), got = NULL;
    cudaGraphNode_t node;
    rt_graph_empty(child);
    rt(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    rt(cudaGraphChildGraphNodeGetGraph(node, &got));
    say_if("clone", got && got != child);
    rt_noted(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
    rt_noted(cudaGraphChildGraphNodeGetGraph(rt_graph_empty(graph), &got));
}

CASE(graph, generic_node)
{
    cudaGraph_t graph = rt_graph();
    struct cudaGraphNodeParams params;
    cudaGraphNode_t node = NULL;
    memset(&params, 0, sizeof params);
    params.type = cudaGraphNodeTypeEmpty;
    rt_noted(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params.type = (enum cudaGraphNodeType)99;
    rt_noted(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    rt_noted(cudaGraphAddNode(&node, graph, NULL, NULL, 0, NULL));
    params.type = cudaGraphNodeTypeHost;
    params.host.fn = no_host;
    rt_noted(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params.reserved2 = 1;
    rt_noted(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
}

CASE(graph, memory_nodes)
{
    cudaGraph_t graph = rt_graph();
    struct cudaMemAllocNodeParams params;
    cudaGraphNode_t allocation, release;
    cudaGraphExec_t exec;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 64;
    rt(cudaGraphAddMemAllocNode(&allocation, graph, NULL, 0, &params));
    say_if("address", params.dptr != NULL);
    rt(cudaGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr));
    rt(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    rt_noted(cudaGraphAddMemFreeNode(&release, graph, NULL, 0, NULL));
    params.bytesize = 0;
    rt_noted(cudaGraphAddMemAllocNode(&allocation, graph, NULL, 0, &params));
    rt_noted(cudaGraphAddMemAllocNode(&allocation, graph, NULL, 0, NULL));
}

CASE(graph, memory_attributes)
{
    unsigned long long value = 77;
    rt(cudaDeviceGraphMemTrim(0));
    rt_noted(cudaDeviceGraphMemTrim(-1));
    rt(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
    rt_noted(cudaDeviceGetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)9, &value));
    rt_noted(cudaDeviceGetGraphMemAttribute(-1, cudaGraphMemAttrUsedMemHigh, &value));
    value = 5;
    rt_noted(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
    rt_noted(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value));
    value = 0;
    rt_noted(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
}

CASE(graph, clone)
{
    cudaGraph_t graph = rt_graph(), copy = NULL;
    cudaGraphNode_t node = rt_graph_empty(graph), found = NULL;
    rt(cudaGraphClone(&copy, graph));
    rt(cudaGraphNodeFindInClone(&found, node, copy));
    say_if("other", found && found != node);
    rt_noted(cudaGraphNodeFindInClone(&found, node, graph));
    rt_noted(cudaGraphClone(NULL, graph));
    rt_noted(cudaGraphClone(&copy, NULL));
}

CASE(graph, kernel_attributes)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t node = rt_graph_store(graph, NULL, rt_words(1, 0), 1);
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    rt(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
    say_int(value.priority);
    value.priority = -2;
    rt(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
    rt(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
    say_int(value.priority);
    rt_noted(cudaGraphKernelNodeGetAttribute(rt_graph_empty(graph), cudaLaunchAttributePriority, &value));
    rt_noted(cudaGraphKernelNodeCopyAttributes(node, rt_graph_store(graph, NULL, rt_words(1, 0), 1)));
}

CASE(graph, kernel_attribute_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    cudaGraphNode_t node = rt_graph_store(rt_graph(), NULL, rt_words(1, 0), 1);
    rt_noted(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, NULL));
}

CASE(graph, kernel_attribute_set_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    cudaGraphNode_t node = rt_graph_store(rt_graph(), NULL, rt_words(1, 0), 1);
    rt_noted(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, NULL));
}

CASE(graph, conditional_handle)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphConditionalHandle handle = 0;
    rt_noted(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    rt_noted(cudaGraphConditionalHandleCreate(&handle, graph, 1, 8));
    rt_noted(cudaGraphConditionalHandleCreate(NULL, graph, 1, 0));
    rt_noted(cudaGraphConditionalHandleCreate(&handle, NULL, 1, 0));
}

CASE(graph, dot_bad)
{
    rt_noted(cudaGraphDebugDotPrint(rt_graph(), "/nonexistent/directory/file", 0));
    rt_noted(cudaGraphDebugDotPrint(rt_graph(), NULL, 0));
    rt_noted(cudaGraphDebugDotPrint(NULL, "/dev/null", 0));
}

/* ---- executable graphs ---- */

CASE(exec, instantiate_bad)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphExec_t exec = NULL;
    rt_noted(cudaGraphInstantiate(NULL, graph, 0));
    rt_noted(cudaGraphInstantiate(&exec, NULL, 0));
    rt_noted(cudaGraphInstantiate(&exec, graph, 0x100));
    rt_noted(cudaGraphInstantiateWithFlags(&exec, graph, 0x100));
    say_if("untouched", exec == NULL);
}

CASE(exec, instantiate_cycle)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t first = rt_graph_empty(graph), second = rt_graph_empty(graph);
    cudaGraphExec_t exec = NULL;
    rt(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
    rt_noted(cudaGraphAddDependencies(graph, &second, &first, NULL, 1));
    rt_noted(cudaGraphInstantiate(&exec, graph, 0));
}

CASE(exec, instantiate_with_params)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphInstantiateParams params;
    cudaGraphExec_t exec = NULL;
    rt_graph_empty(graph);
    memset(&params, 0, sizeof params);
    rt_noted(cudaGraphInstantiateWithParams(&exec, graph, &params));
    say_value("result", params.result_out);
    rt_noted(cudaGraphInstantiateWithParams(&exec, graph, NULL));
    params.flags = 0x100;
    rt_noted(cudaGraphInstantiateWithParams(&exec, graph, &params));
    say_value("result", params.result_out);
}

CASE(exec, empty_graph)
{
    cudaGraphExec_t exec = NULL;
    rt(cudaGraphInstantiate(&exec, rt_graph(), 0));
    rt(cudaGraphUpload(exec, NULL));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaStreamSynchronize(NULL));
    rt(cudaGraphExecDestroy(exec));
}

CASE(exec, null)
{
    unsigned long long flags;
    rt_noted(cudaGraphLaunch(NULL, NULL));
    rt_noted(cudaGraphUpload(NULL, NULL));
    rt_noted(cudaGraphExecDestroy(NULL));
    rt_noted(cudaGraphExecGetFlags(NULL, &flags));
    rt_noted(cudaGraphExecUpdate(NULL, rt_graph(), NULL));
}

CASE(exec, flags)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphExec_t exec;
    unsigned long long flags = 77;
    RT_NEED(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    rt(cudaGraphExecGetFlags(exec, &flags));
    say_hex(flags);
    rt_noted(cudaGraphExecGetFlags(exec, NULL));
}

CASE(exec, set_kernel_params)
{
    cudaGraph_t graph = rt_graph();
    unsigned *word = rt_words(1, 0), value = 20;
    cudaGraphNode_t node = rt_graph_store(graph, NULL, word, 6);
    void *pointers[] = {&word, &value};
    struct cudaKernelNodeParams params;
    cudaGraphExec_t exec;
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    memset(&params, 0, sizeof params);
    params.func = (void *)(uintptr_t)rt_kernel("store");
    params.gridDim = params.blockDim = (dim3){1, 1, 1};
    params.kernelParams = pointers;
    rt(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
    params.gridDim.x = 0;
    rt_noted(cudaGraphExecKernelNodeSetParams(exec, node, &params));
}

CASE(exec, set_kernel_params_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t node = rt_graph_store(graph, NULL, rt_words(1, 0), 6);
    cudaGraphExec_t exec;
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt_noted(cudaGraphExecKernelNodeSetParams(exec, node, NULL));
}

CASE(exec, set_kernel_params_of_nothing)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphNode_t node = rt_graph_store(graph, NULL, rt_words(1, 0), 6);
    struct cudaKernelNodeParams params;
    memset(&params, 0, sizeof params);
    params.func = (void *)(uintptr_t)rt_kernel("empty");
    params.gridDim = params.blockDim = (dim3){1, 1, 1};
    rt_noted(cudaGraphExecKernelNodeSetParams(NULL, node, &params));
}

CASE(exec, set_kernel_params_of_no_node)
{
    cudaGraph_t graph = rt_graph();
    cudaGraphExec_t exec;
    struct cudaKernelNodeParams params;
    memset(&params, 0, sizeof params);
    params.func = (void *)(uintptr_t)rt_kernel("empty");
    params.gridDim = params.blockDim = (dim3){1, 1, 1};
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt_noted(cudaGraphExecKernelNodeSetParams(exec, NULL, &params));
}

CASE(exec, enabled)
{
    cudaGraph_t graph = rt_graph();
    unsigned *word = rt_words(1, 0), enabled = 77;
    cudaGraphNode_t node = rt_graph_store(graph, NULL, word, 6), empty = rt_graph_empty(graph);
    cudaGraphExec_t exec;
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphNodeGetEnabled(exec, node, &enabled));
    say_int(enabled);
    rt(cudaGraphNodeSetEnabled(exec, node, 0));
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
    rt_noted(cudaGraphNodeSetEnabled(exec, empty, 0));
    rt_noted(cudaGraphNodeGetEnabled(exec, node, NULL));
}

CASE(exec, update)
{
    cudaGraph_t graph = rt_graph(), same = rt_graph(), more = rt_graph();
    unsigned *word = rt_words(1, 0);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    rt_graph_store(graph, NULL, word, 6);
    rt_graph_store(same, NULL, word, 7);
    rt_graph_store(more, rt_graph_store(more, NULL, word, 8), word, 9);
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    memset(&info, 0x55, sizeof info);
    rt_noted(cudaGraphExecUpdate(exec, same, &info));
    say_value("result", info.result);
    rt(cudaGraphLaunch(exec, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
    rt_noted(cudaGraphExecUpdate(exec, more, &info));
    say_value("result", info.result);
    rt_noted(cudaGraphExecUpdate(exec, same, NULL));
    rt_noted(cudaGraphExecUpdate(exec, NULL, &info));
}

CASE(exec, update_other_type)
{
    cudaGraph_t graph = rt_graph(), other = rt_graph();
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t node;
    struct cudaHostNodeParams host = {no_host, NULL};
    rt_graph_store(graph, NULL, rt_words(1, 0), 6);
    RT_NEED(cudaGraphAddHostNode(&node, other, NULL, 0, &host));
    RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
    memset(&info, 0, sizeof info);
    rt_noted(cudaGraphExecUpdate(exec, other, &info));
    say_value("result", info.result);
    say_if("node", info.errorNode == node);
}

/* ---- user objects ---- */

static volatile int destroyed;

static void destroy(void *data)
{
    (void)data;
    destroyed++;
}

CASE(user_object, lives_with_graph)
{
    cudaGraph_t graph = rt_graph();
    cudaUserObject_t object = NULL;
    destroyed = 0;
    rt(cudaUserObjectCreate(&object, NULL, destroy, 1, cudaUserObjectNoDestructorSync));
    rt(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    rt(cudaGraphDestroy(graph));
    for (int i = 0; i < 2000 && !destroyed; i++)
        gold_sleep_ms(1);
    say_int(destroyed);
}

CASE(user_object, bad)
{
    cudaUserObject_t object = NULL;
    rt_noted(cudaUserObjectCreate(&object, NULL, destroy, 1, 0));
    rt_noted(cudaUserObjectCreate(&object, NULL, NULL, 1, cudaUserObjectNoDestructorSync));
    rt_noted(cudaUserObjectCreate(&object, NULL, destroy, 0, cudaUserObjectNoDestructorSync));
    rt_noted(cudaUserObjectCreate(NULL, NULL, destroy, 1, cudaUserObjectNoDestructorSync));
    rt_noted(cudaUserObjectRetain(NULL, 1));
    rt_noted(cudaUserObjectRelease(NULL, 1));
    rt_noted(cudaGraphRetainUserObject(rt_graph(), NULL, 1, 0));
    rt_noted(cudaGraphReleaseUserObject(rt_graph(), NULL, 1));
}
