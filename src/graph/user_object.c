/* SPDX-License-Identifier: Apache-2.0 */
/* User objects and what graphs hold of them; see user_object.h. */
#include "graph/user_object.h"

#include "base/alloc.h"
#include "base/call_program.h"
#include "base/log.h"
#include "graph/graph.h"
#include "object/context.h"

struct mr_user_object *mr_user_object_new(void *data, CUhostFn destroy, uint64_t count)
{
    struct mr_user_object *object = mr_object_new(MR_KIND_USER_OBJECT, sizeof *object, NULL);
    if (!object)
        return NULL;
    object->destroy = destroy;
    object->data = data;
    atomic_store_explicit(&object->count, count, memory_order_relaxed);
    return object;
}

void mr_user_object_retain(struct mr_user_object *object, uint64_t count)
{
    atomic_fetch_add_explicit(&object->count, count, memory_order_relaxed);
}

void mr_user_object_release(struct mr_user_object *object, uint64_t count)
{
    uint64_t before = atomic_load_explicit(&object->count, memory_order_relaxed);
    uint64_t after;
    do {
        after = before > count ? before - count : 0;
    } while (!atomic_compare_exchange_weak_explicit(&object->count, &before, after, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (after != 0 || before == 0 || !mr_object_retire(object))
        return;
    bool inside = mr_in_host_function;
    mr_in_host_function = true;
    if (!mr_call_program(object->destroy, object->data))
        mr_log(MR_LOG_ERROR, "the destructor of a user object called pthread_exit: the thread goes on");
    mr_in_host_function = inside;
    mr_object_drop(object);
}

bool mr_user_holdings_copy(struct mr_list *from, struct mr_list *to)
{
    for (struct mr_list *at = from->next; at != from; at = at->next) {
        const struct mr_user_holding *holding = MR_CONTAINER(at, struct mr_user_holding, link);
        struct mr_user_holding *copy = mr_calloc(1, sizeof *copy);
        if (!copy)
            return false;
        copy->object = holding->object;
        copy->count = holding->count;
        mr_user_object_retain(copy->object, copy->count);
        mr_list_append(to, &copy->link);
    }
    return true;
}

static bool hold_all(struct mr_graph *graph, struct mr_list *list)
{
    bool done = mr_user_holdings_copy(&graph->user_objects, list);
    for (struct mr_list *at = graph->nodes.next; done && at != &graph->nodes; at = at->next) {
        struct mr_work *work = MR_CONTAINER(at, struct mr_node, link)->work;
        if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
            done = hold_all(work->child, list);
        else if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned i = 0; done && i < work->conditional.count; i++)
                done = hold_all(work->conditional.bodies[i], list);
    }
    return done;
}

bool mr_graph_user_objects_hold(struct mr_graph *graph, struct mr_list *list)
{
    struct mr_list mine;
    mr_list_init(&mine);
    mr_lock_take(&mr_graph_lock);
    bool done = hold_all(graph, &mine);
    mr_lock_drop(&mr_graph_lock);
    if (!done) {
        mr_graph_user_objects_drop(&mine);
        return false;
    }
    while (!mr_list_empty(&mine)) {
        struct mr_list *first = mine.next;
        mr_list_remove(first);
        mr_list_append(list, first);
    }
    return true;
}

void mr_graph_user_objects_drop(struct mr_list *list)
{
    MR_MAY_WAIT();
    while (!mr_list_empty(list)) {
        struct mr_user_holding *holding = MR_CONTAINER(list->next, struct mr_user_holding, link);
        mr_list_remove(&holding->link);
        mr_user_object_release(holding->object, holding->count);
        mr_free(holding);
    }
}
