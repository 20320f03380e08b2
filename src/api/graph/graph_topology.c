/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of graphs: lists of nodes, roots, neighbours and edges, and changing edges.
 *
 * A list is asked for in two ways: without an array the answer is how many there are; with one, *count says how much
 * room it has, as many handles as fit are stored, the rest of the array is set to NULL, and *count becomes how many
 * were stored. Room for none is an error. The first versions of the functions know of no edge data: they refuse to tell
 * edges that have some. */
#include "api/graph/graph_calls.h"

#include <string.h>

#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* One answer in the making: up to three arrays, of which any may be NULL. */
struct answer {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t room, total, stored;
    bool lossy;                    /* an edge has data, and there is no array for it */
};

static void put(struct answer *answer, struct mr_node *from, struct mr_node *to, const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    size_t i = answer->total++;
    if (i >= answer->room)
        return;
    if (answer->from)
        answer->from[i] = from ? mr_object_handle(from) : NULL;
    if (answer->to)
        answer->to[i] = to ? mr_object_handle(to) : NULL;
    if (answer->data)
        answer->data[i] = *data;
    else if (data && memcmp(data, &plain, sizeof plain) != 0)
        answer->lossy = true;
    answer->stored = answer->total;
}

/* Empties what is left of the arrays and tells the count. */
static CUresult finish(struct answer *answer, size_t *count)
{
    if (answer->lossy) {
        mr_call_log(MR_LOG_INFO, "an edge has data, and there is no array for it");
        return CUDA_ERROR_LOSSY_QUERY;
    }
    for (size_t i = answer->stored; i < answer->room; i++) {
        if (answer->from)
            answer->from[i] = NULL;
        if (answer->to)
            answer->to[i] = NULL;
        if (answer->data)
            answer->data[i] = (CUgraphEdgeData){0};
    }
    *count = answer->room ? answer->stored : answer->total;
    return CUDA_SUCCESS;
}

/* `array` is what shows whether the program asks for more than the number. */
static CUresult begin(const void *array, const size_t *count, struct answer *answer)
{
    if (!count)
        return mr_bad_value("the count is NULL");
    if (array && *count == 0)
        return mr_bad_value("the array has room for 0 entries");
    answer->room = array ? *count : 0;
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    struct mr_graph *graph;
    struct answer answer = {.from = nodes};
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status == CUDA_SUCCESS)
        status = begin(nodes, numNodes, &answer);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&mr_graph_lock);
    if (!nodes)
        answer.total = graph->count;
    else
        for (struct mr_list *at = graph->nodes.next; at != &graph->nodes && answer.stored < answer.room; at = at->next)
            put(&answer, MR_CONTAINER(at, struct mr_node, link), NULL, NULL);
    mr_lock_drop(&mr_graph_lock);
    return finish(&answer, numNodes);
}

CUresult mr_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    struct mr_graph *graph;
    struct answer answer = {.from = rootNodes};
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status == CUDA_SUCCESS)
        status = begin(rootNodes, numRootNodes, &answer);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&mr_graph_lock);
    for (struct mr_list *at = graph->roots.next; at != &graph->roots; at = at->next)
        put(&answer, MR_CONTAINER(at, struct mr_node, root), NULL, NULL);
    mr_lock_drop(&mr_graph_lock);
    return finish(&answer, numRootNodes);
}

/* Edges in the order of the nodes that they lead from. */
static CUresult get_edges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    struct mr_graph *graph;
    struct answer answer = {.from = from, .to = to, .data = data};
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status == CUDA_SUCCESS && (!from != !to || (data && !from)))
        status = mr_bad_value("from and to must both be set or both be NULL; edge data need both");
    if (status == CUDA_SUCCESS)
        status = begin(from, count, &answer);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&mr_graph_lock);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next) {
        struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        for (size_t i = 0; i < node->after.count; i++)
            put(&answer, node, node->after.at[i].node, &node->after.at[i].data);
    }
    mr_lock_drop(&mr_graph_lock);
    return finish(&answer, count);
}

CUresult mr_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return get_edges(hGraph, from, to, NULL, numEdges);
}

CUresult mr_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                               size_t *numEdges)
{
    return get_edges(hGraph, from, to, edgeData, numEdges);
}

static CUresult get_neighbours(CUgraphNode hNode, bool after, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
    struct mr_node *node;
    struct answer answer = {.from = nodes, .data = data};
    CUresult status = mr_node_require(hNode, &node);
    if (status == CUDA_SUCCESS && data && !nodes)
        status = mr_bad_value("edge data are asked for without nodes");
    if (status == CUDA_SUCCESS)
        status = begin(nodes, count, &answer);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&mr_graph_lock);
    const struct mr_edges *edges = after ? &node->after : &node->before;
    for (size_t i = 0; i < edges->count; i++)
        put(&answer, edges->at[i].node, NULL, &edges->at[i].data);
    mr_lock_drop(&mr_graph_lock);
    return finish(&answer, count);
}

CUresult mr_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    return get_neighbours(hNode, false, dependencies, NULL, numDependencies);
}

CUresult mr_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                          size_t *numDependencies)
{
    return get_neighbours(hNode, false, dependencies, edgeData, numDependencies);
}

CUresult mr_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    return get_neighbours(hNode, true, dependentNodes, NULL, numDependentNodes);
}

CUresult mr_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
                                            size_t *numDependentNodes)
{
    return get_neighbours(hNode, true, dependentNodes, edgeData, numDependentNodes);
}

/* ---- changing edges ---- */

static CUresult change(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                       size_t count, bool add)
{
    struct mr_graph *graph;
    struct mr_node *few[2][MR_FEW_NODES], **ends[2];
    CUresult status = mr_graph_require(hGraph, &graph);
    if (status != CUDA_SUCCESS || count == 0)
        return status;
    if (!from || !to)
        return mr_bad_value("from or to is NULL");
    status = mr_nodes_require(from, count, few[0], &ends[0]);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_nodes_require(to, count, few[1], &ends[1]);
    if (status == CUDA_SUCCESS) {
        status = mr_graph_change_edges(graph, ends[0], ends[1], data, count, add);
        if (status == CUDA_ERROR_INVALID_VALUE)
            (void)mr_bad_value("an end is not a node of this graph, or an edge is %s",
                               add ? "there already, or can't be" : "not there");
        else if (status != CUDA_SUCCESS)
            mr_call_log(MR_LOG_INFO, "edges can't be removed from a graph that has memory nodes");
        if (ends[1] != few[1])
            mr_free(ends[1]);
    }
    if (ends[0] != few[0])
        mr_free(ends[0]);
    return status;
}

CUresult mr_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t numDependencies)
{
    return change(hGraph, from, to, NULL, numDependencies, true);
}

CUresult mr_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    return change(hGraph, from, to, edgeData, numDependencies, true);
}

CUresult mr_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      size_t numDependencies)
{
    return change(hGraph, from, to, NULL, numDependencies, false);
}

CUresult mr_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                         const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    return change(hGraph, from, to, edgeData, numDependencies, false);
}
