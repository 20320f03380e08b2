/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of single nodes: asking for them and setting them. What is told points into the node's work and is valid
 * while the node has it. Setting parameters gives the node a new work; graphs that were cloned or instantiated before
 * keep the old one. */
#include "api/graph/graph_calls.h"

#include "api_impl.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

CUresult mr_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct mr_node *node;
    CUresult status = mr_node_require(hNode, &node);
    if (status != CUDA_SUCCESS)
        return status;
    if (!type)
        return mr_bad_value("type is NULL");
    struct mr_work *work = mr_node_work(node);
    if (!work)
        return mr_bad_value("node %p was destroyed meanwhile", (void *)hNode);
    *type = work->type;
    mr_work_drop(work);
    return CUDA_SUCCESS;
}

/* The checks before a node gets new parameters: it is there and of the type, and there are parameters. */
static CUresult check_set(CUgraphNode handle, CUgraphNodeType type, const void *params)
{
    struct mr_work *work;
    if (!params)
        return mr_bad_value("nodeParams is NULL");
    CUresult status = mr_node_work_require(handle, type, &work);
    if (status == CUDA_SUCCESS)
        mr_work_drop(work);
    return status;
}

/* Stores what a node of a type has in *out. */
#define GET_PARAMS(node_type, out, expression) \
    struct mr_work *work = NULL; \
    if (!(out)) \
        return mr_bad_value("the pointer for the answer is NULL"); \
    CUresult status = mr_node_work_require(hNode, node_type, &work); \
    if (status != CUDA_SUCCESS) \
        return status; \
    *(out) = (expression); \
    mr_work_drop(work); \
    return CUDA_SUCCESS

/* ---- kernels ---- */

CUresult mr_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_KERNEL, (CUDA_KERNEL_NODE_PARAMS_v3 *)nodeParams, work->kernel.params);
}

CUresult mr_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, *(CUDA_KERNEL_NODE_PARAMS_v1 *)&work->kernel.params);
}

static CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v3 *params)
{
    struct mr_work *work;
    CUresult status = mr_work_from_kernel(params, &work);
    return status == CUDA_SUCCESS ? mr_node_change_kernel(node, work) : status;
}

CUresult mr_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    CUresult status = check_set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams);
    return status == CUDA_SUCCESS ? set_kernel(hNode, (const CUDA_KERNEL_NODE_PARAMS_v3 *)nodeParams) : status;
}

CUresult mr_cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUresult status = check_set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams);
    if (status != CUDA_SUCCESS)
        return status;
    const CUDA_KERNEL_NODE_PARAMS_v3 wide = mr_kernel_params_widen(nodeParams);
    return set_kernel(hNode, &wide);
}

/* ---- copies and fills: they stay in their context ---- */

CUresult mr_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, work->copy.params);
}

CUresult mr_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    struct mr_work *old, *work;
    CUresult status =
        nodeParams ? mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &old) : mr_bad_value("nodeParams is NULL");
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_work_from_copy(nodeParams, old->context, &work);
    mr_work_drop(old);
    return status == CUDA_SUCCESS ? mr_node_change(hNode, work) : status;
}

CUresult mr_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, work->fill.params);
}

CUresult mr_cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct mr_work *old, *work;
    CUresult status =
        nodeParams ? mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &old) : mr_bad_value("nodeParams is NULL");
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_work_from_fill(nodeParams, old->context, &work);
    mr_work_drop(old);
    return status == CUDA_SUCCESS ? mr_node_change(hNode, work) : status;
}

/* ---- host functions and events ---- */

CUresult mr_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_HOST, nodeParams, ((CUDA_HOST_NODE_PARAMS){work->host.function, work->host.data}));
}

CUresult mr_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct mr_work *work;
    CUresult status = check_set(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_host(nodeParams->fn, nodeParams->userData, &work);
    return status == CUDA_SUCCESS ? mr_node_change(hNode, work) : status;
}

static CUresult set_event(CUgraphNode node, CUgraphNodeType type, CUevent event)
{
    struct mr_work *work;
    CUresult status = check_set(node, type, event);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_event(type, event, &work);
    return status == CUDA_SUCCESS ? mr_node_change(node, work) : status;
}

CUresult mr_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, work->event_handle);
}

CUresult mr_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set_event(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult mr_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, work->event_handle);
}

CUresult mr_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set_event(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

/* ---- batches of memory operations ---- */

CUresult mr_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    GET_PARAMS(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out,
               ((CUDA_BATCH_MEM_OP_NODE_PARAMS){work->context ? work->context->handle : NULL, work->batch.count,
                                                work->batch.ops, work->batch.flags}));
}

CUresult mr_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct mr_work *work;
    CUresult status = check_set(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_batch(nodeParams, &work);
    return status == CUDA_SUCCESS ? mr_node_change(hNode, work) : status;
}

/* ---- any node ---- */

/* The graph of a live node, to see that it is not made its own child; NULL if the node is gone. */
static struct mr_graph *graph_of(CUgraphNode handle)
{
    struct mr_node *node = mr_object_find(handle, MR_KIND_GRAPH_NODE);
    mr_lock_take(&mr_graph_lock);
    struct mr_graph *graph = node ? node->graph : NULL;
    mr_lock_drop(&mr_graph_lock);
    return graph;
}

/* What a node is made of can be changed, except for memory and conditions. */
CUresult mr_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct mr_work *work;
    if (!nodeParams)
        return mr_bad_value("nodeParams is NULL");
    CUresult status = check_set(hNode, nodeParams->type, nodeParams);
    if (status != CUDA_SUCCESS)
        return status;
    switch ((int)nodeParams->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        mr_call_log(MR_LOG_INFO, "the node is a %s node, and its type can't change",
                    mr_node_type_name(nodeParams->type));
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        break;
    }
    status = mr_work_from_params(nodeParams, graph_of(hNode), NULL, 0, &work);
    if (status != CUDA_SUCCESS)
        return status;
    return work->type == CU_GRAPH_NODE_TYPE_KERNEL ? mr_node_change_kernel(hNode, work) : mr_node_change(hNode, work);
}
