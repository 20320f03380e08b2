/* SPDX-License-Identifier: Apache-2.0 */
/* Works that own graphs, batches of memory operations, and the description that fits any node; see graph_params.h. */
#include "api/graph.h"

#include "api/check.h"
#include "api/graph_params.h"
#include "api_impl.h"
#include "base/call.h"
#include "base/memory.h"
#include "engine/batch.h"
#include "graph/conditional.h"
#include "object/context.h"

static CUresult refuse_child(const char *why)
{
    mr_call_log(MR_LOG_INFO, "the child graph %s", why);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- child graphs ---- */

CUresult mr_work_from_child(struct mr_graph *parent, CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
    struct mr_work **out)
{
    struct mr_graph *graph;
    CUresult status = mr_graph_require(handle, &graph);
    if (status != CUDA_SUCCESS)
        return status;
    if (graph == parent)
        return mr_bad_value("a graph can't be its own child");
    /* Hardware clones for any other value. */
    bool move = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (graph->parent)
        return refuse_child("belongs to a node already");
    if (mr_graph_has_type(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL))
        return refuse_child("has conditional nodes");
    if (graph->memory_nodes && !move)
        return refuse_child("has memory nodes, so it has to be moved");
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_GRAPH, NULL);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->moved = move;
    work->child = move ? graph : mr_graph_clone(graph);
    if (!work->child) {
        mr_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = work;
    return CUDA_SUCCESS;
}

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

CUresult mr_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx, unsigned int defaultLaunchValue,
    unsigned int flags)
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
    struct mr_conditional *conditional =
        mr_conditional_new(context, (uint64_t)(uintptr_t)hGraph, defaultLaunchValue, flags & CU_GRAPH_COND_ASSIGN_DEFAULT);
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

/* Was the conditional made for this graph or one around it? */
static bool belongs(const struct mr_conditional *conditional, struct mr_graph *graph)
{
    bool found = false;
    mr_lock_take(&mr_graph_lock);
    for (struct mr_graph *at = graph; at && !found; at = at->parent ? at->parent->graph : NULL)
        found = (uint64_t)(uintptr_t)mr_object_handle(at) == conditional->graph;
    mr_lock_drop(&mr_graph_lock);
    return found;
}

static CUresult check_conditional(const CUDA_CONDITIONAL_NODE_PARAMS *params, struct mr_graph *graph,
    struct mr_conditional **out)
{
    struct mr_conditional *conditional = mr_object_borrow((void *)(uintptr_t)params->handle, MR_KIND_CONDITIONAL);
    *out = conditional;
    if (!conditional || !belongs(conditional, graph))
        return mr_bad_value("%#llx is no conditional handle of this graph", (unsigned long long)params->handle);
    unsigned most = params->type == CU_GRAPH_COND_TYPE_IF ? 2 : params->type == CU_GRAPH_COND_TYPE_WHILE ? 1 : 0x10000;
    if ((unsigned)params->type > CU_GRAPH_COND_TYPE_SWITCH || params->size == 0 || params->size > most)
        return mr_bad_value("a conditional node of type %d with %u bodies", (int)params->type, params->size);
    if (atomic_exchange_explicit(&conditional->used, true, memory_order_relaxed))
        return mr_bad_value("conditional handle %#llx has a node already", (unsigned long long)params->handle);
    return CUDA_SUCCESS;
}

/* The bodies, empty for now. */
static bool make_bodies(struct mr_work *work, unsigned count)
{
    work->conditional.count = count;
    work->conditional.bodies = mr_calloc(count, sizeof *work->conditional.bodies);
    work->conditional.handles = mr_calloc(count, sizeof *work->conditional.handles);
    if (!work->conditional.bodies || !work->conditional.handles)
        return false;
    for (unsigned i = 0; i < count; i++) {
        work->conditional.bodies[i] = mr_graph_new();
        if (!work->conditional.bodies[i])
            return false;
        work->conditional.handles[i] = mr_object_handle(work->conditional.bodies[i]);
    }
    return true;
}

CUresult mr_work_from_conditional(CUDA_CONDITIONAL_NODE_PARAMS *params, struct mr_graph *graph, struct mr_work **out)
{
    struct mr_conditional *conditional;
    struct mr_context *context;
    context = mr_object_borrow(params->ctx, MR_KIND_CONTEXT);
    if (!context) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)params->ctx);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult status = check_conditional(params, graph, &conditional);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_CONDITIONAL, context);
    if (!work) {
        atomic_store_explicit(&conditional->used, false, memory_order_relaxed);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->conditional.type = params->type;
    mr_object_hold(conditional);
    work->conditional.handle = conditional;
    if (!make_bodies(work, params->size)) {
        mr_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    params->phGraph_out = work->conditional.handles;
    *out = work;
    return CUDA_SUCCESS;
}

/* ---- batches of memory operations ---- */

CUresult mr_work_from_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct mr_work **out)
{
    struct mr_context *context;
    if (params->count && !params->paramArray)
        return mr_bad_value("paramArray is NULL");
    if (params->flags)
        return mr_bad_value("flags are %#x and must be 0", params->flags);
    if (!params->ctx)
        return mr_bad_value("the context is NULL");
    CUresult status = mr_node_context(params->ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_batch_check(params->paramArray, params->count);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, context);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->batch.count = params->count;
    work->batch.flags = params->flags;
    work->batch.ops = mr_memdup(params->paramArray, params->count * sizeof *params->paramArray);
    if (!work->batch.ops) {
        mr_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = work;
    return CUDA_SUCCESS;
}

/* ---- any node ---- */

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
    const CUDA_MEMSET_NODE_PARAMS fill = { params->dst, params->pitch, params->value, params->elementSize, params->width, params->height };
    CUresult status = mr_node_context(params->ctx, &context);
    return status == CUDA_SUCCESS ? mr_work_from_fill(&fill, context, out) : status;
}

static CUresult from_batch_params(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params, struct mr_work **out)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = { params->ctx, params->count, params->paramArray, params->flags };
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

CUresult mr_work_from_params(CUgraphNodeParams *params, struct mr_graph *graph, const CUgraphNode *before, size_t count, struct mr_work **out)
{
    if (!unused_is_zero(params))
        return mr_bad_value("reserved fields, or bytes that a node of type %d does not use, are not 0", (int)params->type);
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
