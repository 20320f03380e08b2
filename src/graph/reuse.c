/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation nodes that get the address of memory which was freed before them in the same graph (CUDA programming
 * guide, Graph memory nodes: Address reuse within a graph).
 *
 * "Before" is a matter of dependencies: a free node that the new node comes behind, whatever the order of launching.
 * Each such memory has one holder after the other, all in one chain of dependencies, so that no two of them ever have
 * it at a time. The search goes back from what the new node depends on, and gives up after some thousand nodes: what it
 * misses costs memory, nothing else. */
#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/graph_memory.h"

#define NODES_MOST 4096u
#define CANDIDATES_MOST 256u

struct candidate {
    struct mr_graph_memory *memory;
    uint32_t holder;
};

struct search {
    struct mr_node *nodes[NODES_MOST];     /* found so far; node->mark is the place */
    size_t count;
    struct candidate candidates[CANDIDATES_MOST];
    size_t candidate_count;
};

static void add(struct search *search, struct mr_node *node)
{
    bool seen = node->mark < search->count && search->nodes[node->mark] == node;
    if (seen || search->count == NODES_MOST)
        return;
    node->mark = search->count;
    search->nodes[search->count++] = node;
}

/* The graph lock is held. Candidates are held. */
static void look_at(struct search *search, const struct mr_node *node)
{
    MR_HELD(&mr_graph_lock);
    const struct mr_work *work = node->work;
    if (work->type == CU_GRAPH_NODE_TYPE_MEM_FREE && search->candidate_count < CANDIDATES_MOST) {
        mr_graph_memory_hold(work->free.memory);
        search->candidates[search->candidate_count++] = (struct candidate){work->free.memory, work->free.holder};
    }
}

struct mr_graph_memory *mr_graph_memory_reuse(struct mr_graph *graph, const CUgraphNode *behind, size_t count,
                                              struct mr_context *context, size_t size)
{
    struct mr_graph_memory *found = NULL;
    if (count == 0 || atomic_load_explicit(&graph->memory_nodes, memory_order_relaxed) < 2)
        return NULL;
    struct search *search = mr_alloc(sizeof *search);
    if (!search)
        return NULL;                       /* then it gets memory of its own */
    search->count = search->candidate_count = 0;
    mr_lock_take(&mr_graph_lock);
    for (size_t i = 0; i < count; i++) {
        struct mr_node *node = mr_object_find(behind[i], MR_KIND_GRAPH_NODE);
        if (node && node->graph == graph)
            add(search, node);
    }
    for (size_t i = 0; i < search->count; i++) {
        look_at(search, search->nodes[i]);
        for (size_t j = 0; j < search->nodes[i]->before.count; j++)
            add(search, search->nodes[i]->before.at[j].node);
    }
    mr_lock_drop(&mr_graph_lock);
    uint64_t owner = (uint64_t)(uintptr_t)mr_object_handle(graph);
    /* The one that was made first, as on hardware. One that another thread takes meanwhile is looked past. */
    while (!found && search->candidate_count > 0) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < search->candidate_count; i++)
            if (mr_graph_memory_may_pass(search->candidates[i].memory, search->candidates[i].holder, owner, context,
                                         size) &&
                (best == SIZE_MAX || search->candidates[i].memory->id < search->candidates[best].memory->id))
                best = i;
        if (best == SIZE_MAX)
            break;
        if (mr_graph_memory_pass(search->candidates[best].memory, search->candidates[best].holder, size))
            found = search->candidates[best].memory;
        else
            search->candidates[best].holder = UINT32_MAX;
    }
    bool kept = false;                     /* the reference to what was found is the caller's */
    for (size_t i = 0; i < search->candidate_count; i++) {
        if (search->candidates[i].memory == found && !kept)
            kept = true;
        else
            mr_graph_memory_drop(search->candidates[i].memory);
    }
    mr_free(search);
    return found;
}
