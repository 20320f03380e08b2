/* SPDX-License-Identifier: Apache-2.0 */
/* The description that fits any node; see work.h. */
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

static CUresult refuse_semaphores(void)
{
    mr_call_log(MR_LOG_INFO, "external semaphores are not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult from_copy_params(const CUDA_MEMCPY_NODE_PARAMS *params, struct mr_work **out)
{
    struct mr_context *context;
    if (params->flags || params->reserved)
        return mr_bad_value("flags and reserved must be 0");
    CUresult status = mr_node_context(params->copyCtx, &context);
    return status == CUDA_SUCCESS ? mr_work_from_copy(&params->copyParams, context, out) : status;
}

static CUresult from_fill_params(const CUDA_MEMSET_NODE_PARAMS_v2 *params, struct mr_work **out)
{
    struct mr_context *context;
    const CUDA_MEMSET_NODE_PARAMS fill = {params->dst,         params->pitch, params->value,
                                          params->elementSize, params->width, params->height};
    CUresult status = mr_node_context(params->ctx, &context);
    return status == CUDA_SUCCESS ? mr_work_from_fill(&fill, context, out) : status;
}

static CUresult from_batch_params(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params, struct mr_work **out)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {params->ctx, params->count, params->paramArray, params->flags};
    return mr_work_from_batch(&batch, out);
}

/* How many bytes of the union a type of node uses. */
static size_t used_bytes(CUgraphNodeType type)
{
    static const CUgraphNodeParams any;
    static const size_t sizes[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = sizeof any.kernel,
        [CU_GRAPH_NODE_TYPE_MEMCPY] = sizeof any.memcpy,
        [CU_GRAPH_NODE_TYPE_MEMSET] = sizeof any.memset,
        [CU_GRAPH_NODE_TYPE_HOST] = sizeof any.host,
        [CU_GRAPH_NODE_TYPE_GRAPH] = sizeof any.graph,
        [CU_GRAPH_NODE_TYPE_EMPTY] = 0,
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = sizeof any.eventWait,
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = sizeof any.eventRecord,
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = sizeof any.extSemSignal,
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = sizeof any.extSemWait,
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = sizeof any.alloc,
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = sizeof any.free,
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = sizeof any.memOp,
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = sizeof any.conditional,
    };
    return (unsigned)type < sizeof sizes / sizeof *sizes ? sizes[type] : sizeof any.reserved1;
}

/* Hardware insists that everything which the type does not use is 0. */
static bool unused_is_zero(const CUgraphNodeParams *params)
{
    const unsigned char *bytes = (const unsigned char *)params->reserved1;
    for (size_t i = used_bytes(params->type); i < sizeof params->reserved1; i++)
        if (bytes[i])
            return false;
    return !params->reserved0[0] && !params->reserved0[1] && !params->reserved0[2] && !params->reserved2;
}

CUresult mr_work_from_params(CUgraphNodeParams *params, struct mr_graph *graph, const CUgraphNode *before, size_t count,
                             struct mr_work **out)
{
    if (!unused_is_zero(params))
        return mr_bad_value("reserved fields, or bytes that a node of type %d does not use, are not 0",
                            (int)params->type);
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return mr_work_from_kernel(&params->kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return from_copy_params(&params->memcpy, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return from_fill_params(&params->memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
        return mr_work_from_host(params->host.fn, params->host.userData, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return mr_work_from_child(graph, params->graph.graph, params->graph.ownership, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return mr_work_empty(out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return mr_work_from_event(params->type, params->eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return mr_work_from_event(params->type, params->eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return refuse_semaphores();
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return mr_work_from_alloc((CUDA_MEM_ALLOC_NODE_PARAMS *)&params->alloc, graph, before, count, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return mr_work_from_free(params->free.dptr, graph, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return from_batch_params(&params->memOp, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return mr_work_from_conditional(&params->conditional, graph, out);
    default:
        return mr_bad_value("there are no nodes of type %d", (int)params->type);
    }
}
