/* SPDX-License-Identifier: Apache-2.0 */
/* Works: what nodes do. Made by the layer above, which has checked what goes in; freed here when the last node,
 * executable graph or run that shares one lets go. No lock may be held then: a work can own a whole graph. */
#include "base/alloc.h"
#include "command/parts.h"
#include "event/event.h"
#include "graph/conditional.h"
#include "graph/graph.h"
#include "graph/graph_memory.h"
#include "kernel/launch.h"
#include "object/context.h"

struct mr_work *mr_work_new(CUgraphNodeType type, struct mr_context *context)
{
    struct mr_work *work = mr_calloc(1, sizeof *work);
    if (!work)
        return NULL;
    atomic_store_explicit(&work->references, 1, memory_order_relaxed);
    work->type = type;
    work->context = context;
    if (context)
        mr_object_hold(context);
    return work;
}

void mr_work_hold(struct mr_work *work)
{
    atomic_fetch_add_explicit(&work->references, 1, memory_order_relaxed);
}

static void free_kernel(struct mr_work *work)
{
    mr_launch_free(work->kernel.launch);
    mr_free(work->kernel.pointers);
    mr_free(work->kernel.extra);
    mr_free(work->kernel.attributes);
}

static void free_conditional(struct mr_work *work)
{
    for (unsigned i = 0; work->conditional.bodies && i < work->conditional.count; i++)
        if (work->conditional.bodies[i])
            mr_graph_destroy(work->conditional.bodies[i]);
    mr_free(work->conditional.bodies);
    mr_free(work->conditional.handles);
    if (work->conditional.handle) {
        atomic_store_explicit(&work->conditional.handle->used, false, memory_order_relaxed);
        mr_object_drop(work->conditional.handle);
    }
}

static void free_variant(struct mr_work *work)
{
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        free_kernel(work);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        mr_parts_drop(work->host.parts);
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (work->child && (!work->moved || work->child->parent))
            mr_graph_destroy(work->child);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (work->event)
            mr_object_drop(work->event);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        mr_free((void *)(uintptr_t)work->alloc.params.accessDescs);
        if (work->alloc.memory)
            mr_graph_memory_drop(work->alloc.memory);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        if (work->free.claimed_for)
            mr_graph_memory_unclaim(work->free.memory, work->free.claimed_for);
        if (work->free.memory)
            mr_graph_memory_drop(work->free.memory);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        mr_free(work->batch.ops);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        free_conditional(work);
        break;
    default:
        break;
    }
}

void mr_work_drop(struct mr_work *work)
{
    if (!work || atomic_fetch_sub_explicit(&work->references, 1, memory_order_acq_rel) != 1)
        return;
    free_variant(work);
    if (work->context)
        mr_object_drop(work->context);
    mr_free(work);
}
