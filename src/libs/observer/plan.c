/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a graph into a plan (plan.h), by the driver's public functions. */
#include "libs/observer/plan.h"

#include <stdlib.h>
#include <string.h>

#include "libs/observer/order_call.h"

enum { DEEPEST = 256, BODY_HEADS = 256 };

/* Bodies of conditional nodes, by node. No function of the driver tells of them later. */
static struct body {
    struct body *next;
    CUgraphNode node;
    unsigned count;
    CUgraph graph[];
} *bodies[BODY_HEADS];

static size_t body_head(CUgraphNode node)
{
    return ((uintptr_t)node * 0x9e3779b97f4a7c15u >> 40) % BODY_HEADS;
}

void obs_plan_bodies(CUgraphNode node, const CUgraph *graphs, unsigned count)
{
    struct body *made = malloc(sizeof *made + count * sizeof *graphs);
    if (!made)
        return;
    made->node = node;
    made->count = count;
    memcpy(made->graph, graphs, count * sizeof *graphs);
    obs_order_lock();
    made->next = bodies[body_head(node)];
    bodies[body_head(node)] = made;
    obs_order_unlock();
}

static const struct body *body_of(CUgraphNode node)
{
    obs_order_lock();
    const struct body *found = bodies[body_head(node)];
    while (found && found->node != node)
        found = found->next;
    obs_order_unlock();
    return found; /* never freed */
}

struct obs_plan *obs_plan_keep(struct obs_plan *plan)
{
    plan->references++;
    return plan;
}

void obs_plan_drop(struct obs_plan *plan, const struct obs_point *last)
{
    if (!plan || --plan->references > 0)
        return;
    for (uint32_t i = 0; plan->timeline && i < plan->chains; i++)
        if (plan->timeline[i])
            obs_timeline_give(plan->timeline[i], plan->tick[i], last->timeline, last->tick);
    for (uint32_t i = 0; i < plan->count; i++) {
        free(plan->node[i].before);
        free(plan->node[i].edge);
        free(plan->node[i].value);
    }
    free(plan->node);
    free(plan->by_handle);
    free(plan->timeline);
    free(plan->tick);
    free(plan);
}

/* The nodes and edges of one graph, as the driver tells them. */
struct list {
    CUgraphNode *node, *from, *to;
    CUgraphEdgeData *data;
    size_t count, edges;
};

static void list_free(struct list *list)
{
    free(list->node);
    free(list->from);
    free(list->to);
    free(list->data);
}

static bool list_read(CUgraph graph, struct list *list)
{
    if (obs_driver.graph_nodes(graph, NULL, &list->count) != CUDA_SUCCESS ||
        obs_driver.graph_edges(graph, NULL, NULL, NULL, &list->edges) != CUDA_SUCCESS)
        return false;
    list->node = calloc(list->count + 1, sizeof *list->node);
    list->from = calloc(list->edges + 1, sizeof *list->from);
    list->to = calloc(list->edges + 1, sizeof *list->to);
    list->data = calloc(list->edges + 1, sizeof *list->data);
    return list->node && list->from && list->to && list->data &&
           (list->count == 0 || obs_driver.graph_nodes(graph, list->node, &list->count) == CUDA_SUCCESS) &&
           (list->edges == 0 ||
            obs_driver.graph_edges(graph, list->from, list->to, list->data, &list->edges) == CUDA_SUCCESS);
}

static uint32_t index_of(const struct list *list, CUgraphNode node, const uint32_t *table, uint32_t heads)
{
    uint32_t at = (uint32_t)((uintptr_t)node * 0x9e3779b97f4a7c15u >> 32) % heads;
    while (table[at] && list->node[table[at] - 1] != node)
        at = (at + 1) % heads;
    return table[at] - 1;
}

/* An order of running: `place` gets for each node of the list its position. False: there is a circle. */
struct sorted {
    uint32_t *table, heads, *from, *to, *degree, *first, *order, *place;
};

static void sorted_free(struct sorted *sorted)
{
    free(sorted->table);
    free(sorted->from);
    free(sorted->to);
    free(sorted->degree);
    free(sorted->first);
    free(sorted->order);
    free(sorted->place);
}

static bool sort(const struct list *list, struct sorted *sorted)
{
    uint32_t count = (uint32_t)list->count, edges = (uint32_t)list->edges;
    sorted->heads = 2 * count + 1;
    sorted->table = calloc(sorted->heads, sizeof(uint32_t));
    sorted->from = calloc(edges + 1u, sizeof(uint32_t));
    sorted->to = calloc(edges + 1u, sizeof(uint32_t));
    sorted->degree = calloc(count + 1u, sizeof(uint32_t));
    sorted->first = calloc(count + 2u, sizeof(uint32_t));
    sorted->order = calloc(count + 1u, sizeof(uint32_t));
    sorted->place = calloc(count + 1u, sizeof(uint32_t));
    uint32_t *next = calloc(edges + 1u, sizeof(uint32_t));
    bool good = sorted->table && sorted->from && sorted->to && sorted->degree && sorted->first && sorted->order &&
                sorted->place && next;
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t at = (uint32_t)((uintptr_t)list->node[i] * 0x9e3779b97f4a7c15u >> 32) % sorted->heads;
        while (sorted->table[at])
            at = (at + 1) % sorted->heads;
        sorted->table[at] = i + 1;
    }
    for (uint32_t i = 0; good && i < edges; i++) {
        sorted->from[i] = index_of(list, list->from[i], sorted->table, sorted->heads);
        sorted->to[i] = index_of(list, list->to[i], sorted->table, sorted->heads);
        good = sorted->from[i] < count && sorted->to[i] < count;
        if (good) {
            sorted->degree[sorted->to[i]]++;
            next[i] = sorted->first[sorted->from[i]];
            sorted->first[sorted->from[i]] = i + 1;
        }
    }
    uint32_t done = 0, filled = 0;
    for (uint32_t i = 0; good && i < count; i++)
        if (sorted->degree[i] == 0)
            sorted->order[filled++] = i;
    while (good && done < filled) {
        uint32_t node = sorted->order[done];
        sorted->place[node] = done++;
        for (uint32_t edge = sorted->first[node]; edge; edge = next[edge - 1])
            if (--sorted->degree[sorted->to[edge - 1]] == 0)
                sorted->order[filled++] = sorted->to[edge - 1];
    }
    free(next);
    return good && done == count;
}

static bool room_for(struct obs_plan *plan, size_t more)
{
    if (plan->count + more >= OBS_NO_NODE)
        return false;
    if (plan->count + more > plan->room) {
        size_t room = 2 * (plan->count + more);
        struct obs_plan_node *node = realloc(plan->node, room * sizeof *node);
        if (!node)
            return false;
        plan->node = node;
        plan->room = (uint32_t)room;
    }
    return true;
}

void obs_plan_set_values(struct obs_plan_node *node, const CUstreamBatchMemOpParams *values, uint32_t count)
{
    CUstreamBatchMemOpParams *copy = count ? malloc(count * sizeof *copy) : NULL;
    if (!copy)
        return;
    memcpy(copy, values, count * sizeof *copy);
    free(node->value);
    node->value = copy;
    node->values = count;
}

static void take_values(struct obs_plan *plan, struct obs_plan_node *node, CUgraphNode handle)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {0};
    if (obs_driver.node_values(handle, &params) != CUDA_SUCCESS)
        return;
    obs_plan_set_values(node, params.paramArray, params.count);
    plan->has_values = true;
}

void obs_plan_take_over(struct obs_plan *plan, struct obs_plan *from)
{
    bool alike = plan->count == from->count;
    for (uint32_t i = 0; alike && i < plan->count; i++)
        alike = plan->node[i].type == from->node[i].type && plan->node[i].owner == from->node[i].owner;
    for (uint32_t i = 0; alike && i < plan->count; i++) {
        struct obs_plan_node *to = &plan->node[i], old = *to;
        to->value = from->node[i].value;
        to->values = from->node[i].values;
        to->event = from->node[i].event;
        from->node[i].value = old.value;
        from->node[i].values = old.values;
    }
}

static void node_details(struct obs_plan *plan, struct obs_plan_node *node, CUgraphNode handle)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
    CUdeviceptr pointer;
    CUevent event;
    if (obs_driver.node_type(handle, &node->type) != CUDA_SUCCESS)
        return;
    if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && obs_driver.node_records(handle, &event) == CUDA_SUCCESS) {
        node->event = (uintptr_t)event;
        plan->has_records = true;
    } else if (node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && obs_driver.node_waits(handle, &event) == CUDA_SUCCESS) {
        node->event = (uintptr_t)event;
        plan->has_waits = true;
    } else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
               obs_driver.node_allocates(handle, &params) == CUDA_SUCCESS) {
        node->memory = params.dptr;
        node->size = params.bytesize;
        plan->has_memory = true;
    } else if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && obs_driver.node_frees(handle, &pointer) == CUDA_SUCCESS) {
        node->memory = pointer;
        plan->has_memory = true;
    } else if (node->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        take_values(plan, node, handle);
    }
}

/* A chain goes on from a node before that is the latest of its chain. `tail` has for each chain its latest node. */
static uint32_t chain_of(struct obs_plan *plan, const struct obs_plan_node *node, uint32_t index, uint32_t **tail,
                         uint32_t *tail_room, uint32_t first)
{
    for (uint32_t i = 0; i < node->before_count; i++) {
        uint32_t before = node->before[i], chain = plan->node[before].chain;
        if (node->edge[i] != OBS_EDGE_LAUNCH && before >= first && chain < *tail_room && (*tail)[chain] == before) {
            (*tail)[chain] = index;
            return chain;
        }
    }
    uint32_t chain = plan->chains++;
    if (chain >= *tail_room) {
        uint32_t room = 2 * chain + 16;
        uint32_t *more = realloc(*tail, room * sizeof *more);
        if (!more)
            return chain; /* the chain is never gone on with */
        for (uint32_t i = *tail_room; i < room; i++)
            more[i] = OBS_NO_NODE;
        *tail = more;
        *tail_room = room;
    }
    (*tail)[chain] = index;
    return chain;
}

static bool add_region(struct obs_plan *plan, CUgraph graph, uint32_t owner, int depth);

static bool add_inner(struct obs_plan *plan, CUgraphNode handle, uint32_t index, int depth)
{
    CUgraph child;
    CUgraphNodeType type = plan->node[index].type;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH)
        return obs_driver.node_child(handle, &child) == CUDA_SUCCESS && add_region(plan, child, index, depth + 1);
    const struct body *body = type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? body_of(handle) : NULL;
    for (unsigned i = 0; body && i < body->count; i++)
        if (!add_region(plan, body->graph[i], index, depth + 1))
            return false;
    return true;
}

static enum obs_plan_edge edge_of(const CUgraphEdgeData *data)
{
    if (data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
        return OBS_EDGE_PROGRAMMATIC;
    return data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ? OBS_EDGE_LAUNCH : OBS_EDGE_PLAIN;
}

static bool fill_region(struct obs_plan *plan, const struct list *list, const struct sorted *sorted, uint32_t owner)
{
    uint32_t first = plan->count, count = (uint32_t)list->count, tail_room = 0, *tail = NULL;
    bool good = room_for(plan, count);
    for (uint32_t i = 0; good && i < count; i++) {
        CUgraphNode handle = list->node[sorted->order[i]];
        struct obs_plan_node *node = &plan->node[plan->count++];
        *node = (struct obs_plan_node){.handle = (uintptr_t)handle,
                                       .owner = owner,
                                       .inner = OBS_NO_NODE,
                                       .next = OBS_NO_NODE,
                                       .early = OBS_NO_NODE,
                                       .last = true};
        node_details(plan, node, handle);
    }
    for (uint32_t i = 0; good && i < list->edges; i++)
        plan->node[first + sorted->place[sorted->to[i]]].before_count++;
    for (uint32_t i = first; good && i < first + count; i++) {
        struct obs_plan_node *node = &plan->node[i];
        node->before = malloc((node->before_count + 1u) * sizeof *node->before);
        node->edge = malloc(node->before_count + 1u);
        node->before_count = 0;
        good = node->before != NULL && node->edge != NULL;
    }
    for (uint32_t i = 0; good && i < list->edges; i++) {
        struct obs_plan_node *node = &plan->node[first + sorted->place[sorted->to[i]]];
        enum obs_plan_edge edge = edge_of(&list->data[i]);
        node->edge[node->before_count] = (uint8_t)edge;
        node->before[node->before_count++] = first + sorted->place[sorted->from[i]];
        if (edge == OBS_EDGE_PROGRAMMATIC && node->early == OBS_NO_NODE)
            node->early = plan->chains++;
        if (edge != OBS_EDGE_LAUNCH)
            plan->node[first + sorted->place[sorted->from[i]]].last = false;
    }
    for (uint32_t i = first; good && i < first + count; i++)
        plan->node[i].chain = chain_of(plan, &plan->node[i], i, &tail, &tail_room, first);
    free(tail);
    return good;
}

static bool add_region(struct obs_plan *plan, CUgraph graph, uint32_t owner, int depth)
{
    struct list list = {0};
    struct sorted sorted = {0};
    uint32_t first = plan->count;
    bool good =
        depth < DEEPEST && list_read(graph, &list) && sort(&list, &sorted) && fill_region(plan, &list, &sorted, owner);
    for (uint32_t i = 0; good && i < list.count; i++)
        good = add_inner(plan, list.node[sorted.order[i]], first + i, depth);
    list_free(&list);
    sorted_free(&sorted);
    return good;
}

static uint32_t head_of(const struct obs_plan *plan, uint64_t handle)
{
    return (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 32) % plan->heads;
}

uint32_t obs_plan_find(const struct obs_plan *plan, uint64_t handle)
{
    for (uint32_t at = head_of(plan, handle); plan->by_handle[at]; at = (at + 1) % plan->heads)
        if (plan->node[plan->by_handle[at] - 1].handle == handle)
            return plan->by_handle[at] - 1;
    return OBS_NO_NODE;
}

struct obs_plan *obs_plan_new(CUgraph graph)
{
    struct obs_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->references = 1;
    bool good = add_region(plan, graph, OBS_NO_NODE, 0);
    plan->heads = 2 * plan->count + 1;
    plan->by_handle = calloc(plan->heads, sizeof *plan->by_handle);
    plan->timeline = calloc(plan->chains + 1u, sizeof *plan->timeline);
    plan->tick = calloc(plan->chains + 1u, sizeof *plan->tick);
    if (!good || !plan->by_handle || !plan->timeline || !plan->tick) {
        obs_order_lock();
        obs_plan_drop(plan, &(struct obs_point){0});
        obs_order_unlock();
        return NULL;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t at = head_of(plan, plan->node[i].handle);
        while (plan->by_handle[at])
            at = (at + 1) % plan->heads;
        plan->by_handle[at] = i + 1;
    }
    for (uint32_t i = plan->count; i-- > 0;) {
        struct obs_plan_node *node = &plan->node[i];
        if (node->owner != OBS_NO_NODE) {
            node->next = plan->node[node->owner].inner;
            plan->node[node->owner].inner = i;
        }
    }
    return plan;
}
