/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, their nodes and their edges.
 *
 * Each node knows its neighbours on both sides. Nodes are made after what they depend on, so as a rule every edge leads
 * from a lower id to a higher one, and the order of making is an order of running. Only a graph that got an edge
 * against the ids is `tangled`, and pays for a sort. Such a graph may have cycles: hardware lets a program make them
 * and refuses to instantiate the graph.
 *
 * Roots stand in a list of their own, the latest to become one first, which is the order in which hardware tells them.
 */
#include "graph/graph_private.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/conditional.h"
#include "graph/user_object.h"

mr_lock mr_graph_lock = MR_LOCK_INIT(GRAPH);

static size_t next_mark;               /* under the lock; marks of earlier walks are all lower */

static void node_finish(void *object)
{
    struct mr_node *node = object;
    mr_work_drop(node->work);
    mr_free(node->before.at);
    mr_free(node->after.at);
}

static void graph_finish(void *object)
{
    (void)object;                      /* emptied when it was destroyed */
}

struct mr_graph *mr_graph_new(void)
{
    struct mr_graph *graph = mr_object_new(MR_KIND_GRAPH, sizeof *graph, graph_finish);
    if (!graph)
        return NULL;
    mr_list_init(&graph->nodes);
    mr_list_init(&graph->roots);
    mr_list_init(&graph->user_objects);
    mr_list_init(&graph->conditionals);
    graph->height = 1;
    return graph;
}

/* What is left of a graph once it can't be reached any more: freed with no lock held, since works may own graphs and
 * destructors may run. */
static void free_parts(struct mr_list *nodes, struct mr_list *conditionals, struct mr_list *users)
{
    MR_MAY_WAIT();
    while (!mr_list_empty(nodes)) {
        struct mr_node *node = MR_CONTAINER(nodes->next, struct mr_node, link);
        mr_list_remove(&node->link);
        mr_object_drop(node);
    }
    while (!mr_list_empty(conditionals)) {
        struct mr_conditional *conditional = MR_CONTAINER(conditionals->next, struct mr_conditional, link);
        mr_list_remove(&conditional->link);
        if (mr_object_retire(conditional))
            mr_object_drop(conditional);
    }
    mr_graph_user_objects_drop(users);
}

/* Moves all of a list to an empty one. */
static void list_take(struct mr_list *from, struct mr_list *to)
{
    mr_list_init(to);
    if (mr_list_empty(from))
        return;
    *to = *from;
    to->next->prev = to;
    to->prev->next = to;
    mr_list_init(from);
}

void mr_graph_destroy(struct mr_graph *graph)
{
    struct mr_list nodes, conditionals, users;
    mr_lock_take(&mr_graph_lock);
    if (!mr_object_retire(graph)) {
        mr_lock_drop(&mr_graph_lock);
        return;
    }
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next) {
        struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        mr_object_retire(node);
        node->before.count = node->after.count = 0;
    }
    list_take(&graph->nodes, &nodes);
    mr_list_init(&graph->roots);
    list_take(&graph->conditionals, &conditionals);
    list_take(&graph->user_objects, &users);
    graph->count = 0;
    graph->hint = NULL;
    mr_lock_drop(&mr_graph_lock);
    free_parts(&nodes, &conditionals, &users);
    mr_object_drop(graph);
}

static bool is_live(const void *object)
{
    return mr_object_handle(object) != NULL;
}

static bool edges_reserve(struct mr_edges *edges, size_t more)
{
    void *at = edges->at;
    if (!mr_array_reserve(&at, &edges->room, edges->count + more, sizeof *edges->at))
        return false;
    edges->at = at;
    return true;
}

static size_t edges_find(const struct mr_edges *edges, const struct mr_node *node)
{
    size_t i = 0;
    while (i < edges->count && edges->at[i].node != node)
        i++;
    return i;
}

/* Keeps the order of the others. */
static void edges_remove(struct mr_edges *edges, size_t i)
{
    memmove(&edges->at[i], &edges->at[i + 1], (edges->count - i - 1) * sizeof *edges->at);
    edges->count--;
}

static void edges_drop(struct mr_edges *edges, const struct mr_node *node)
{
    size_t i = edges_find(edges, node);
    if (i < edges->count)
        edges_remove(edges, i);
}

static void become_root(struct mr_node *node)
{
    mr_list_prepend(&node->graph->roots, &node->root);
}

/* Takes a dependency from a node, which may make it a root. */
static void unlink_before(struct mr_node *node, const struct mr_node *before)
{
    edges_drop(&node->before, before);
    if (node->before.count == 0)
        become_root(node);
}

/* Adds an edge for which both sides have room. */
static void link_nodes(struct mr_node *from, struct mr_node *to, const CUgraphEdgeData *data)
{
    const CUgraphEdgeData carried = data ? *data : (CUgraphEdgeData){0};
    from->after.at[from->after.count++] = (struct mr_edge){to, carried};
    to->before.at[to->before.count++] = (struct mr_edge){from, carried};
    mr_list_remove(&to->root);
    if (to->id <= from->id)
        from->graph->tangled = true;
}

/* Only kernels have ports other than 0. An edge of the programmatic type leads from such a port to a kernel; one of the
 * plain type may begin at a kernel's launch. */
static bool edge_is_valid(const struct mr_node *from, const struct mr_work *to, const CUgraphEdgeData *data)
{
    static const unsigned char none[sizeof data->reserved];
    if (!data)
        return true;
    if (data->to_port != 0 || memcmp(data->reserved, none, sizeof none) != 0)
        return false;
    bool kernel = from->work->type == CU_GRAPH_NODE_TYPE_KERNEL;
    bool launched = kernel && data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    if (data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
        return data->from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT || launched;
    return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && kernel && to->type == CU_GRAPH_NODE_TYPE_KERNEL &&
           (launched || data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
}

/* Each dependency is a live node of the graph, none comes twice, and there is room for one more edge from it. */
static CUresult check_dependencies(struct mr_graph *graph, struct mr_node *const *before, const CUgraphEdgeData *data,
                                   size_t count, const struct mr_work *work)
{
    size_t mark = ++next_mark;
    for (size_t i = 0; i < count; i++) {
        struct mr_node *node = before[i];
        if (!is_live(node) || node->graph != graph || node->mark == mark ||
            !edge_is_valid(node, work, data ? &data[i] : NULL))
            return CUDA_ERROR_INVALID_VALUE;
        node->mark = mark;
        if (!edges_reserve(&node->after, 1))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

void mr_node_adopt(struct mr_node *node)
{
    MR_HELD(&mr_graph_lock);
    struct mr_work *work = node->work;
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        work->child->parent = node;
    if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        for (unsigned i = 0; i < work->conditional.count; i++)
            work->conditional.bodies[i]->parent = node;
}

struct mr_node *mr_graph_append(struct mr_graph *graph, uint64_t id)
{
    MR_HELD(&mr_graph_lock);
    struct mr_node *node = mr_object_new(MR_KIND_GRAPH_NODE, sizeof *node, node_finish);
    if (!node)
        return NULL;
    node->graph = graph;
    node->id = id;
    mr_list_init(&node->root);
    mr_list_append(&graph->nodes, &node->link);
    graph->count++;
    return node;
}

/* The height of the graphs that a work owns. */
static unsigned height_of(const struct mr_work *work)
{
    unsigned height = 0;
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return work->child->height;
    for (unsigned i = 0; work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && i < work->conditional.count; i++)
        height = work->conditional.bodies[i]->height > height ? work->conditional.bodies[i]->height : height;
    return height;
}

/* Notes that a graph and those around it have got higher; false, with nothing changed, if that were too much. */
static bool grow(struct mr_graph *graph, unsigned inside)
{
    unsigned depth = inside;
    struct mr_node *owner;
    if (inside == 0)
        return true;
    for (struct mr_graph *at = graph; at; at = owner ? owner->graph : NULL) {
        owner = at->parent;
        depth++;
    }
    if (depth > MR_GRAPH_DEPTH)
        return false;
    for (struct mr_graph *at = graph; at && at->height <= inside; at = owner ? owner->graph : NULL) {
        owner = at->parent;
        at->height = ++inside;
    }
    return true;
}

/* How many memory nodes a node stands for. */
static size_t memory_nodes(const struct mr_work *work)
{
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return work->child->memory_nodes;
    return work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || work->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

CUresult mr_graph_add(struct mr_graph *graph, struct mr_node *const *before, const CUgraphEdgeData *data, size_t count,
                      struct mr_work *work, struct mr_node **out)
{
    struct mr_node *node = mr_object_new(MR_KIND_GRAPH_NODE, sizeof *node, node_finish);
    if (!node) {
        mr_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->work = work;
    node->graph = graph;
    mr_list_init(&node->link);
    mr_list_init(&node->root);
    if (count > 0 && !edges_reserve(&node->before, count)) {
        mr_object_drop(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_lock_take(&mr_graph_lock);
    CUresult status = is_live(graph) ? check_dependencies(graph, before, data, count, work) : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS && !grow(graph, height_of(work)))
        status = CUDA_ERROR_NOT_SUPPORTED;
    if (status == CUDA_SUCCESS) {
        node->id = graph->next_id++;
        if (count == 0)
            become_root(node);
        for (size_t i = 0; i < count; i++)
            link_nodes(before[i], node, data ? &data[i] : NULL);
        mr_list_append(&graph->nodes, &node->link);
        graph->count++;
        graph->memory_nodes += memory_nodes(work);
        mr_node_adopt(node);
        if (work->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            work->free.claimed_for = 0; /* for good, as on hardware */
    }
    mr_lock_drop(&mr_graph_lock);
    if (status != CUDA_SUCCESS)
        mr_object_drop(node);
    else
        *out = node;
    return status;
}

static CUresult connect_locked(struct mr_node *from, struct mr_node *to, const CUgraphEdgeData *data)
{
    if (!is_live(from) || !is_live(to) || from->graph != to->graph || from == to ||
        !edge_is_valid(from, to->work, data))
        return CUDA_ERROR_INVALID_VALUE;
    bool there = from->after.count < to->before.count ? edges_find(&from->after, to) < from->after.count
                                                      : edges_find(&to->before, from) < to->before.count;
    if (there)
        return CUDA_ERROR_INVALID_VALUE;
    if (!edges_reserve(&from->after, 1) || !edges_reserve(&to->before, 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    link_nodes(from, to, data);
    return CUDA_SUCCESS;
}

/* Hardware does not look at an edge's data here. */
static CUresult disconnect_locked(struct mr_node *from, struct mr_node *to)
{
    if (!is_live(from) || !is_live(to) || from->graph != to->graph)
        return CUDA_ERROR_INVALID_VALUE;
    size_t i = edges_find(&from->after, to);
    if (i == from->after.count)
        return CUDA_ERROR_INVALID_VALUE;
    edges_remove(&from->after, i);
    unlink_before(to, from);
    return CUDA_SUCCESS;
}

CUresult mr_graph_change_edges(struct mr_graph *graph, struct mr_node *const *from, struct mr_node *const *to,
                               const CUgraphEdgeData *data, size_t count, bool add)
{
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_graph_lock);
    if (!add && graph->memory_nodes)
        status = CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++)
        if (from[i]->graph != graph || to[i]->graph != graph || !is_live(from[i]) || !is_live(to[i]) ||
            (add && !edge_is_valid(from[i], to[i]->work, data ? &data[i] : NULL)))
            status = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++)
        status = add ? connect_locked(from[i], to[i], data ? &data[i] : NULL) : disconnect_locked(from[i], to[i]);
    mr_lock_drop(&mr_graph_lock);
    return status;
}

void mr_graph_remove(struct mr_node *node)
{
    mr_lock_take(&mr_graph_lock);
    bool mine = mr_object_retire(node);
    if (mine) {
        for (size_t i = 0; i < node->before.count; i++)
            edges_drop(&node->before.at[i].node->after, node);
        for (size_t i = 0; i < node->after.count; i++)
            unlink_before(node->after.at[i].node, node);
        node->before.count = node->after.count =
            0; /* a thread that has looked the node up finds no edges, rather than freed ones */
        mr_list_remove(&node->link);
        mr_list_remove(&node->root);
        node->graph->count--;
        node->graph->memory_nodes -= memory_nodes(node->work);
        if (node->graph->hint == node)
            node->graph->hint = NULL;
    }
    mr_lock_drop(&mr_graph_lock);
    if (mine)
        mr_object_drop(node);
}

bool mr_node_set_work(struct mr_node *node, struct mr_work *work)
{
    struct mr_work *old = work;
    mr_lock_take(&mr_graph_lock);
    bool live = is_live(node) && node->work->type == work->type && grow(node->graph, height_of(work));
    if (live) {
        old = node->work;
        node->work = work;
        node->graph->memory_nodes += memory_nodes(work) - memory_nodes(old);
        mr_node_adopt(node);
    }
    mr_lock_drop(&mr_graph_lock);
    mr_work_drop(old);
    return live;
}

struct mr_work *mr_node_work(struct mr_node *node)
{
    struct mr_work *work = NULL;
    mr_lock_take(&mr_graph_lock);
    if (is_live(node)) {
        work = node->work;
        mr_work_hold(work);
    }
    mr_lock_drop(&mr_graph_lock);
    return work;
}

bool mr_node_stays(struct mr_node *node, CUresult *status)
{
    mr_lock_take(&mr_graph_lock);
    *status = !is_live(node)              ? CUDA_ERROR_INVALID_VALUE
              : node->graph->capturing    ? CUDA_ERROR_ILLEGAL_STATE
              : node->graph->memory_nodes ? CUDA_ERROR_NOT_SUPPORTED
                                          : CUDA_SUCCESS;
    mr_lock_drop(&mr_graph_lock);
    return *status != CUDA_SUCCESS;
}

bool mr_graph_is_child(struct mr_graph *graph)
{
    mr_lock_take(&mr_graph_lock);
    bool child = graph->parent && graph->parent->work->type == CU_GRAPH_NODE_TYPE_GRAPH;
    mr_lock_drop(&mr_graph_lock);
    return child;
}

bool mr_graph_has_type(struct mr_graph *graph, CUgraphNodeType type)
{
    bool found = false;
    mr_lock_take(&mr_graph_lock);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes && !found; at = at->next)
        found = MR_CONTAINER(at, struct mr_node, link)->work->type == type;
    mr_lock_drop(&mr_graph_lock);
    return found;
}

/* Dependencies that are still to come are counted in `mark`, which starts the walks after this one anew. */
static size_t sort_tangled(struct mr_graph *graph, struct mr_node **order)
{
    size_t made = 0;
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next) {
        struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        node->mark = node->before.count;
        if (node->mark == 0)
            order[made++] = node;
    }
    for (size_t next = 0; next < made; next++)
        for (size_t i = 0; i < order[next]->after.count; i++) {
            struct mr_node *node = order[next]->after.at[i].node;
            if (--node->mark == 0)
                order[made++] = node;
        }
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        MR_CONTAINER(at, struct mr_node, link)->mark = 0;
    return made;
}

size_t mr_graph_sort(struct mr_graph *graph, struct mr_node **order)
{
    MR_HELD(&mr_graph_lock);
    size_t made = 0;
    if (graph->tangled)
        return sort_tangled(graph, order);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        order[made++] = MR_CONTAINER(at, struct mr_node, link);
    return made;
}
