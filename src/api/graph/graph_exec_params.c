/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of single nodes of an executable graph, and nodes switched off and on.
 *
 * A node is named by the node of the graph that it was made of, which keeps its own parameters. The new parameters are checked as for a node
 * (prepare/work.h); what may change in an executable graph is checked by src/graph/exec_update.c. */
#include <string.h>

#include "api/graph/graph_calls.h"
#include "api/graph/graph_exec.h"
#include "api_impl.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* The executable graph, and the node, which must be one of its nodes and of a type. The executable graph is held for the caller. */
static CUresult require(CUgraphExec exec_handle, CUgraphNode node_handle, CUgraphNodeType type, const void *params,
    struct mr_exec **exec, struct mr_node **node)
{
    CUresult status = mr_exec_require(exec_handle, exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_require(node_handle, node);
    if (status == CUDA_SUCCESS && !params)
        status = mr_bad_value("the parameters are NULL");
    if (status == CUDA_SUCCESS) {
        struct mr_work *work = mr_exec_work(*exec, *node);
        if (!work)
            status = mr_bad_value("the executable graph was not made of a graph with the node %p", (void *)node_handle);
        else if (work->type != type)
            status = mr_bad_value("the node is a %s node", mr_node_type_name(work->type));
        if (work)
            mr_work_drop(work);
    }
    if (status != CUDA_SUCCESS)
        mr_object_drop(*exec);
    return status;
}

/* Gives the node a work that was just made, if it was, and drops the executable graph. */
static CUresult finish(struct mr_exec *exec, struct mr_node *node, CUresult status, struct mr_work *work)
{
    if (status == CUDA_SUCCESS) {
        status = mr_exec_set_work(exec, node, work);
        if (status == CUDA_ERROR_INVALID_VALUE)
            mr_call_log(MR_LOG_INFO, "the change is one that an executable graph can't make");
    }
    mr_object_drop(exec);
    return status;
}

CUresult mr_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_work *work = NULL;
    CUDA_KERNEL_NODE_PARAMS_v3 params;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    _Static_assert(sizeof params == sizeof *nodeParams, "the second version is the third by another name");
    memcpy(&params, nodeParams, sizeof params);
    status = mr_work_from_kernel(&params, &work);
    return finish(exec, node, status, work);
}

CUresult mr_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS wide;
    if (nodeParams) {
        CUDA_KERNEL_NODE_PARAMS_v3 params = mr_kernel_params_widen(nodeParams);
        memcpy(&wide, &params, sizeof wide);
    }
    return mr_cuGraphExecKernelNodeSetParams_v2(hGraphExec, hNode, nodeParams ? &wide : NULL);
}

CUresult mr_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_context *context;
    struct mr_work *work = NULL;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_context(ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_copy(copyParams, context, &work);
    return finish(exec, node, status, work);
}

CUresult mr_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_context *context;
    struct mr_work *work = NULL;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_context(ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_fill(memsetParams, context, &work);
    return finish(exec, node, status, work);
}

CUresult mr_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_work *work = NULL;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_work_from_host(nodeParams->fn, nodeParams->userData, &work);
    return finish(exec, node, status, work);
}

static CUresult set_event(CUgraphExec exec_handle, CUgraphNode node_handle, CUgraphNodeType type, CUevent event)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_work *work = NULL;
    CUresult status = require(exec_handle, node_handle, type, event, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_work_from_event(type, event, &work);
    return finish(exec, node, status, work);
}

CUresult mr_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set_event(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult mr_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set_event(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult mr_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_work *work = NULL;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_work_from_batch(nodeParams, &work);
    return finish(exec, node, status, work);
}

CUresult mr_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_graph *child;
    CUresult status = require(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_GRAPH, childGraph, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_graph_require(childGraph, &child);
    if (status == CUDA_SUCCESS)
        status = mr_exec_set_child(exec, node, child);
    if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        mr_call_log(MR_LOG_INFO, "the graph has another shape or other types of nodes");
    mr_object_drop(exec);
    return status;
}

/* ---- the generic form ---- */

/* What isn't used must be zero: behind the variant, and the reserved fields. */
static bool is_clean(const CUgraphNodeParams *params, size_t used)
{
    const unsigned char *bytes = (const unsigned char *)params->reserved1;
    for (size_t i = used; i < sizeof params->reserved1; i++)
        if (bytes[i])
            return false;
    return params->reserved0[0] == 0 && params->reserved0[1] == 0 && params->reserved0[2] == 0 && params->reserved2 == 0;
}

static CUresult set_params(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&kernel, &params->kernel, sizeof kernel);
        return mr_cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return mr_cuGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams, params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&fill, &params->memset, sizeof fill);
        return mr_cuGraphExecMemsetNodeSetParams(exec, node, &fill, params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
        memcpy(&host, &params->host, sizeof host);
        return mr_cuGraphExecHostNodeSetParams(exec, node, &host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return mr_cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return mr_cuGraphExecEventRecordNodeSetEvent(exec, node, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return mr_cuGraphExecEventWaitNodeSetEvent(exec, node, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        memcpy(&batch, &params->memOp, sizeof batch);
        return mr_cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;           /* it has none */
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        mr_call_log(MR_LOG_INFO, "nodes of this type can't be changed in an executable graph");
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return mr_bad_value("there is no type %d", (int)params->type);
    }
}

CUresult mr_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct mr_exec *exec;
    struct mr_node *node;
    if (!nodeParams)
        return mr_bad_value("nodeParams is NULL");
    CUresult status = require(hGraphExec, hNode, nodeParams->type, nodeParams, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    mr_object_drop(exec);
    if (!is_clean(nodeParams, sizeof nodeParams->memcpy > sizeof nodeParams->kernel ? sizeof nodeParams->memcpy : sizeof nodeParams->kernel))
        return mr_bad_value("bytes that are not used must be zero");
    return set_params(hGraphExec, hNode, nodeParams);
}

/* ---- switching nodes off and on ---- */

CUresult mr_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    struct mr_exec *exec;
    struct mr_node *node;
    CUresult status = mr_exec_require(hGraphExec, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_require(hNode, &node);
    if (status == CUDA_SUCCESS) {
        status = mr_exec_enable(exec, node, isEnabled != 0);
        if (status == CUDA_ERROR_INVALID_VALUE)
            status = mr_bad_value("%p is not a kernel, copy or fill of this executable graph", (void *)hNode);
    }
    mr_object_drop(exec);
    return status;
}

CUresult mr_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    struct mr_exec *exec;
    struct mr_node *node;
    bool enabled;
    if (!isEnabled)
        return mr_bad_value("isEnabled is NULL");
    CUresult status = mr_exec_require(hGraphExec, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_require(hNode, &node);
    if (status == CUDA_SUCCESS) {
        status = mr_exec_is_enabled(exec, node, &enabled);
        if (status == CUDA_ERROR_INVALID_VALUE)
            status = mr_bad_value("%p is not a kernel, copy or fill of this executable graph", (void *)hNode);
        else if (status == CUDA_SUCCESS)
            *isEnabled = enabled;
    }
    mr_object_drop(exec);
    return status;
}
