/* SPDX-License-Identifier: Apache-2.0 */
/* Child graphs of nodes, and the handles of conditional nodes. */
#include "api/graph/graph_calls.h"

#include "api_impl.h"
#include "base/call.h"
#include "graph/conditional.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* ---- child graphs ---- */

CUresult mr_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct mr_work *work;
    if (!phGraph)
        return mr_bad_value("phGraph is NULL");
    CUresult status = mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_GRAPH, &work);
    if (status != CUDA_SUCCESS)
        return status;
    *phGraph = mr_object_handle(work->child);
    mr_work_drop(work);
    return CUDA_SUCCESS;
}

/* ---- conditional nodes ---- */

CUresult mr_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx,
                                           unsigned int defaultLaunchValue, unsigned int flags)
{
    struct mr_graph *graph;
    struct mr_context *context;
    if (!pHandle_out)
        return mr_bad_value("pHandle_out is NULL");
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
        return mr_bad_value("flags %#x are not CU_GRAPH_COND_*", flags);
    context = mr_object_borrow(ctx, MR_KIND_CONTEXT);
    if (!context) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)ctx);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct mr_conditional *conditional = mr_conditional_new(context, (uint64_t)(uintptr_t)hGraph, defaultLaunchValue,
                                                            flags & CU_GRAPH_COND_ASSIGN_DEFAULT);
    if (!conditional)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&mr_graph_lock);
    bool live = mr_object_handle(graph) != NULL;
    if (live)
        mr_list_append(&graph->conditionals, &conditional->link);
    mr_lock_drop(&mr_graph_lock);
    if (!live) {
        mr_object_drop(conditional);
        return mr_bad_value("graph %p was destroyed meanwhile", (void *)hGraph);
    }
    *pHandle_out = (CUgraphConditionalHandle)(uintptr_t)mr_object_handle(conditional);
    return CUDA_SUCCESS;
}
