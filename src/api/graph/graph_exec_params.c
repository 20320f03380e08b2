/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of single nodes of an executable graph, and nodes switched off and on.
 *
 * A node is named by the node of the graph that it was made of, which keeps its own parameters. The new parameters are
 * checked as for a node (prepare/work.h); what may change in an executable graph is checked by src/graph/exec_update.c.
 */
#include <stddef.h>
#include <string.h>

#include "api/graph/graph_calls.h"
#include "api/graph/graph_exec.h"
#include "api_impl.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* The executable graph, and the node, which must be one of its nodes and of a type. The executable graph is held for
 * the caller. */
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

/* ---- a work of a node's parameters, by its type ---- */

/* `params` are those of the type's own call: a structure, or the event itself. `context` is the one that the call
 * names, for types whose call has one. */
typedef CUresult make_work(const void *params, CUcontext context, struct mr_work **work);

static CUresult make_kernel(const void *params, CUcontext context, struct mr_work **work)
{
    CUDA_KERNEL_NODE_PARAMS_v3 kernel;
    _Static_assert(sizeof kernel == sizeof(CUDA_KERNEL_NODE_PARAMS), "the second version is the third by another name");
    (void)context;
    memcpy(&kernel, params, sizeof kernel);
    return mr_work_from_kernel(&kernel, work);
}

static CUresult make_copy(const void *params, CUcontext handle, struct mr_work **work)
{
    struct mr_context *context;
    CUresult status = mr_node_context(handle, &context);
    return status == CUDA_SUCCESS ? mr_work_from_copy(params, context, work) : status;
}

static CUresult make_fill(const void *params, CUcontext handle, struct mr_work **work)
{
    CUDA_MEMSET_NODE_PARAMS fill;
    struct mr_context *context;
    CUresult status = mr_node_context(handle, &context);
    memcpy(&fill, params, sizeof fill);
    return status == CUDA_SUCCESS ? mr_work_from_fill(&fill, context, work) : status;
}

static CUresult make_host(const void *params, CUcontext context, struct mr_work **work)
{
    CUDA_HOST_NODE_PARAMS host;
    (void)context;
    memcpy(&host, params, sizeof host);
    return mr_work_from_host(host.fn, host.userData, work);
}

static CUresult make_record(const void *event, CUcontext context, struct mr_work **work)
{
    (void)context;
    return mr_work_from_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, (CUevent)event, work);
}

static CUresult make_wait(const void *event, CUcontext context, struct mr_work **work)
{
    (void)context;
    return mr_work_from_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, (CUevent)event, work);
}

static CUresult make_batch(const void *params, CUcontext context, struct mr_work **work)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    (void)context;
    memcpy(&batch, params, sizeof batch);
    return mr_work_from_batch(&batch, work);
}

/* The types whose parameters can be changed by a work. The generic form has them at `at`: the structure, which begins
 * as that of the type's own call does, or a handle; and the context's handle, for types that have one, at `context`. */
static const struct kind {
    make_work *make;
    size_t at, context;
    bool is_handle;
} kinds[] = {
#define AT(member) offsetof(CUgraphNodeParams, member)
    [CU_GRAPH_NODE_TYPE_KERNEL] = {make_kernel, AT(kernel), 0, false},
    [CU_GRAPH_NODE_TYPE_MEMCPY] = {make_copy, AT(memcpy.copyParams), AT(memcpy.copyCtx), false},
    [CU_GRAPH_NODE_TYPE_MEMSET] = {make_fill, AT(memset), AT(memset.ctx), false},
    [CU_GRAPH_NODE_TYPE_HOST] = {make_host, AT(host), 0, false},
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = {make_record, AT(eventRecord.event), 0, true},
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = {make_wait, AT(eventWait.event), 0, true},
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = {make_batch, AT(memOp), 0, false},
#undef AT
};

/* Gives a node of the type a work that is made of the parameters. */
static CUresult set(CUgraphExec exec_handle, CUgraphNode node_handle, CUgraphNodeType type, const void *params,
                    CUcontext context)
{
    struct mr_exec *exec;
    struct mr_node *node;
    struct mr_work *work = NULL;
    CUresult status = require(exec_handle, node_handle, type, params, &exec, &node);
    if (status != CUDA_SUCCESS)
        return status;
    status = kinds[type].make(params, context, &work);
    if (status == CUDA_SUCCESS) {
        status = mr_exec_set_work(exec, node, work);
        if (status == CUDA_ERROR_INVALID_VALUE)
            mr_call_log(MR_LOG_INFO, "the change is one that an executable graph can't make");
    }
    mr_object_drop(exec);
    return status;
}

CUresult mr_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, NULL);
}

CUresult mr_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v3 wide;
    if (nodeParams)
        wide = mr_kernel_params_widen(nodeParams);
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams ? &wide : NULL, NULL);
}

CUresult mr_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams,
                                           CUcontext ctx)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams, ctx);
}

CUresult mr_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams, ctx);
}

CUresult mr_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                         const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, NULL);
}

CUresult mr_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, NULL);
}

CUresult mr_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, NULL);
}

CUresult mr_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    return set(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, NULL);
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
    return params->reserved0[0] == 0 && params->reserved0[1] == 0 && params->reserved0[2] == 0 &&
           params->reserved2 == 0;
}

static CUresult set_generic(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *params)
{
    size_t type = (size_t)params->type;
    if (type < sizeof kinds / sizeof *kinds && kinds[type].make) {
        const struct kind *kind = &kinds[type];
        const char *at = (const char *)params + kind->at;
        CUcontext context = kind->context ? *(const CUcontext *)((const char *)params + kind->context) : NULL;
        return set(exec, node, params->type, kind->is_handle ? *(const void *const *)at : at, context);
    }
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return mr_cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
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
    if (!is_clean(nodeParams, sizeof nodeParams->memcpy > sizeof nodeParams->kernel ? sizeof nodeParams->memcpy
                                                                                    : sizeof nodeParams->kernel))
        return mr_bad_value("bytes that are not used must be zero");
    return set_generic(hGraphExec, hNode, nodeParams);
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
