/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: making, destroying, cloning, and adding nodes of every type (driver API manual, Graph Management).
 *
 * Nothing here needs a current context: a graph belongs to the process, and its nodes say themselves where they run.
 * Every function that adds a node checks the common arguments, makes a work of the parameters (prepare/work.h), and
 * hands it to the graph. */
#include "api/graph/graph_calls.h"

#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

CUresult mr_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (!phGraph)
        return mr_bad_value("phGraph is NULL");
    if (flags)
        return mr_bad_value("flags are %#x and must be 0", flags);
    struct mr_graph *graph = mr_graph_new();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraph = mr_object_handle(graph);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphDestroy(CUgraph hGraph)
{
    struct mr_graph *graph;
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status != CUDA_SUCCESS)
        return status;
    if (graph->parent)
        return mr_bad_value("graph %p belongs to a node", (void *)hGraph);
    if (graph->capturing) {
        mr_call_log(MR_LOG_INFO, "a stream is being captured to graph %p", (void *)hGraph);
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    mr_graph_destroy(graph);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct mr_graph *graph;
    if (!phGraphClone)
        return mr_bad_value("phGraphClone is NULL");
    CUresult status = mr_graph_require(originalGraph, &graph);
    if (status != CUDA_SUCCESS)
        return status;
    if (graph->memory_nodes || mr_graph_has_type(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL)) {
        mr_call_log(MR_LOG_INFO, "graph %p has memory or conditional nodes", (void *)originalGraph);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct mr_graph *clone = mr_graph_clone(graph);
    if (!clone)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraphClone = mr_object_handle(clone);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    struct mr_node *node;
    struct mr_graph *clone;
    if (!phNode)
        return mr_bad_value("phNode is NULL");
    CUresult status = mr_node_require(hOriginalNode, &node);
    if (status == CUDA_SUCCESS)
        status = mr_graph_require(hClonedGraph, &clone);
    if (status != CUDA_SUCCESS)
        return status;
    void *twin = mr_graph_find_twin(node, clone);
    if (!twin)
        return mr_bad_value("graph %p has no clone of node %p", (void *)hClonedGraph, (void *)hOriginalNode);
    *phNode = twin;
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphDestroyNode(CUgraphNode hNode)
{
    struct mr_node *node;
    CUresult status = mr_node_require(hNode, &node);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_node_stays(node, &status)) {
        mr_call_log(MR_LOG_INFO,
                    "node %p is gone, or its graph can't lose nodes: it is being captured to or has memory nodes",
                    (void *)hNode);
        return status;
    }
    mr_graph_remove(node);
    return CUDA_SUCCESS;
}

CUresult mr_addition_check(const struct mr_addition *addition, const void *params, struct mr_graph **graph)
{
    if (!addition->out || !params)
        return mr_bad_value(addition->out ? "nodeParams is NULL" : "phGraphNode is NULL");
    if (addition->count && !addition->before)
        return mr_bad_value("dependencies is NULL, but there are to be %zu", addition->count);
    return mr_graph_require(addition->graph, graph);
}

CUresult mr_addition_finish(const struct mr_addition *addition, struct mr_graph *graph, struct mr_work *work)
{
    struct mr_node *few[MR_FEW_NODES], **before, *node;
    CUresult status = mr_nodes_require(addition->before, addition->count, few, &before);
    if (status != CUDA_SUCCESS) {
        mr_work_drop(work);
        return status;
    }
    status = mr_graph_add(graph, before, addition->data, addition->count, work, &node);
    if (before != few)
        mr_free(before);
    if (status == CUDA_SUCCESS)
        *addition->out = mr_object_handle(node);
    else if (status == CUDA_ERROR_INVALID_VALUE)
        return mr_bad_value(
            "dependencies that are of another graph or named twice, or edges that such nodes can't have");
    return status;
}

/* What every cuGraphAdd*Node has first. `params` must not be NULL. */
#define ADDITION(params) \
    const struct mr_addition addition = {phGraphNode, hGraph, dependencies, NULL, numDependencies}; \
    struct mr_graph *graph; \
    struct mr_work *work; \
    CUresult status = mr_addition_check(&addition, params, &graph); \
    if (status != CUDA_SUCCESS) \
    return status

/* And last. */
#define FINISH_ADDITION() return status == CUDA_SUCCESS ? mr_addition_finish(&addition, graph, work) : status

CUresult mr_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    ADDITION(nodeParams);
    status = mr_work_from_kernel((const CUDA_KERNEL_NODE_PARAMS_v3 *)nodeParams, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    ADDITION(nodeParams);
    const CUDA_KERNEL_NODE_PARAMS_v3 wide = mr_kernel_params_widen(nodeParams);
    status = mr_work_from_kernel(&wide, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct mr_context *context;
    ADDITION(copyParams);
    status = mr_node_context(ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_copy(copyParams, context, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct mr_context *context;
    ADDITION(memsetParams);
    status = mr_node_context(ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_fill(memsetParams, context, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    ADDITION(nodeParams);
    status = mr_work_from_host(nodeParams->fn, nodeParams->userData, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies)
{
    ADDITION(&addition);
    status = mr_work_empty(&work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, CUgraph childGraph)
{
    ADDITION(&addition);
    status = mr_work_from_child(graph, childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, CUevent event)
{
    ADDITION(&addition);
    status = mr_work_from_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, CUevent event)
{
    ADDITION(&addition);
    status = mr_work_from_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    ADDITION(nodeParams);
    status = mr_work_from_batch(nodeParams, &work);
    FINISH_ADDITION();
}

/* A memory node that can't be added after all gives back what it claimed when its work goes. */
CUresult mr_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    ADDITION(nodeParams);
    status = mr_work_from_alloc(nodeParams, graph, dependencies, numDependencies, &work);
    FINISH_ADDITION();
}

CUresult mr_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUdeviceptr dptr)
{
    ADDITION(&addition);
    status = mr_work_from_free(dptr, graph, &work);
    FINISH_ADDITION();
}

static CUresult add_any(const struct mr_addition *addition, CUgraphNodeParams *params)
{
    struct mr_graph *graph;
    struct mr_work *work;
    CUresult status = mr_addition_check(addition, params, &graph);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_params(params, graph, addition->before, addition->count, &work);
    return status == CUDA_SUCCESS ? mr_addition_finish(addition, graph, work) : status;
}

CUresult mr_cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    return add_any(&(struct mr_addition){phGraphNode, hGraph, dependencies, NULL, numDependencies}, nodeParams);
}

CUresult mr_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              const CUgraphEdgeData *dependencyData, size_t numDependencies,
                              CUgraphNodeParams *nodeParams)
{
    return add_any(&(struct mr_addition){phGraphNode, hGraph, dependencies, dependencyData, numDependencies},
                   nodeParams);
}
