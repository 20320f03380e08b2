/* SPDX-License-Identifier: Apache-2.0 */
/* Clones of graphs, and the twin of a node in one.
 *
 * A clone's nodes have the ids of the originals and stand in the same order, which is by id. Works are shared, except
 * where a node owns graphs: the clone's node gets clones of them. A twin is searched for from where the last search
 * ended, so that asking for all nodes in turn costs one step each. */
#include "base/alloc.h"
#include "graph/conditional.h"
#include "graph/graph_private.h"
#include "graph/user_object.h"

static struct mr_graph *clone_locked(struct mr_graph *graph, bool *done);

/* The work of a node's twin: the same one, or for a child graph one with a clone of the child. What is made stays with
 * the twin, even if unfinished. */
static bool give_work(struct mr_node *twin, struct mr_work *work)
{
    bool done = true;
    if (work->type != CU_GRAPH_NODE_TYPE_GRAPH) {
        mr_work_hold(work);
        twin->work = work;
        return true;
    }
    twin->work = mr_work_new(work->type, work->context);
    if (!twin->work)
        return false;
    twin->work->child = clone_locked(work->child, &done);
    if (!twin->work->child)
        return false;
    mr_node_adopt(twin);
    return done;
}

/* Edges are made once all nodes are there, since a graph may be tangled: a node's dependencies in their order, and so
 * its dependent nodes in the order of the nodes, as on hardware. `mark` is the node's place. */
static bool copy_edges(struct mr_graph *graph, struct mr_node **twins)
{
    size_t i = 0;
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next, i++) {
        const struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        struct mr_edges *before = &twins[i]->before, *after = &twins[i]->after;
        before->room = node->before.count;
        after->room = node->after.count;
        before->at = before->room ? mr_calloc(before->room, sizeof *before->at) : NULL;
        after->at = after->room ? mr_calloc(after->room, sizeof *after->at) : NULL;
        if ((before->room && !before->at) || (after->room && !after->at))
            return false;
    }
    i = 0;
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next, i++) {
        const struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        for (size_t k = 0; k < node->before.count; k++) {
            const struct mr_edge *edge = &node->before.at[k];
            struct mr_node *from = twins[edge->node->mark];
            twins[i]->before.at[twins[i]->before.count++] = (struct mr_edge){from, edge->data};
            from->after.at[from->after.count++] = (struct mr_edge){twins[i], edge->data};
        }
    }
    return true;
}

static bool copy_nodes(struct mr_graph *graph, struct mr_graph *clone, struct mr_node **twins)
{
    size_t i = 0;
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next) {
        struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        twins[i] = mr_graph_append(clone, node->id);
        if (!twins[i] || !give_work(twins[i], node->work))
            return false;
        node->mark = i++;
    }
    bool done = copy_edges(graph, twins);
    for (struct mr_list *at = graph->roots.next; at != &graph->roots; at = at->next)
        mr_list_append(&clone->roots, &twins[MR_CONTAINER(at, struct mr_node, root)->mark]->root);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        MR_CONTAINER(at, struct mr_node, link)->mark = 0;
    return done;
}

/* A copy that may be unfinished, if *done is false, for the caller to destroy once the lock is free; or NULL. */
static struct mr_graph *clone_locked(struct mr_graph *graph, bool *done)
{
    struct mr_graph *clone = mr_graph_new();
    struct mr_node **twins = clone ? mr_calloc(graph->count, sizeof *twins) : NULL;
    *done =
        twins && copy_nodes(graph, clone, twins) && mr_user_holdings_copy(&graph->user_objects, &clone->user_objects);
    mr_free(twins);
    if (!clone)
        return NULL;
    clone->next_id = clone->cloned_next = graph->next_id;
    clone->tangled = graph->tangled;
    clone->height = graph->height;
    clone->memory_nodes = graph->memory_nodes;
    clone->cloned_from = (uint64_t)(uintptr_t)mr_object_handle(graph);
    return clone;
}

struct mr_graph *mr_graph_clone(struct mr_graph *graph)
{
    bool done = false;
    mr_lock_take(&mr_graph_lock);
    struct mr_graph *clone = clone_locked(graph, &done);
    mr_lock_drop(&mr_graph_lock);
    if (clone && !done) {
        mr_graph_destroy(clone);
        return NULL;
    }
    return clone;
}

/* Ids rise along the list: steps from the last twin, or from the first node, towards the one that is wanted. */
static struct mr_node *find_by_id(struct mr_graph *clone, uint64_t id)
{
    struct mr_list *head = &clone->nodes, *at = clone->hint ? &clone->hint->link : head->next;
    while (at != head && MR_CONTAINER(at, struct mr_node, link)->id < id)
        at = at->next;
    if (at == head)
        at = head->prev;
    while (at != head && MR_CONTAINER(at, struct mr_node, link)->id > id)
        at = at->prev;
    struct mr_node *found = at != head ? MR_CONTAINER(at, struct mr_node, link) : NULL;
    if (!found || found->id != id)
        return NULL;
    clone->hint = found;
    return found;
}

void *mr_graph_find_twin(struct mr_node *original, struct mr_graph *clone)
{
    void *handle = NULL;
    mr_lock_take(&mr_graph_lock);
    uint64_t graph = (uint64_t)(uintptr_t)mr_object_handle(original->graph);
    if (mr_object_handle(original) && mr_object_handle(clone) && graph && clone->cloned_from == graph &&
        original->id < clone->cloned_next) {
        struct mr_node *twin = find_by_id(clone, original->id);
        handle = twin ? mr_object_handle(twin) : NULL;
    }
    mr_lock_drop(&mr_graph_lock);
    return handle;
}
