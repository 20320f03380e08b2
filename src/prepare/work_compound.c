/* SPDX-License-Identifier: Apache-2.0 */
/* Works that own graphs, and batches of memory operations; see work.h. */
#include "base/alloc.h"
#include "base/call.h"
#include "engine/batch.h"
#include "graph/conditional.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"

static CUresult refuse_child(const char *why)
{
    mr_call_log(MR_LOG_INFO, "the child graph %s", why);
    return CUDA_ERROR_NOT_SUPPORTED;
}

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
        return mr_bad_value("%#llx is not a conditional handle of this graph", (unsigned long long)params->handle);
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
