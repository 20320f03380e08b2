/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More of the shape of graphs: what the first recording of case_graph_topology.c
 * left open.
 */
#include "gold_graph.h"

static void say_places(const CUgraphNode *got, size_t room, const CUgraphNode *list, size_t count, size_t said)
{
    for (size_t i = 0; i < room; i++)
        say_int(place_of(got[i], list, count));
    say_value("count", (long long)said);
}

CASE(graph_topology, room_for_none)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1), got[2] = {0};
    size_t count = 0;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_value("count", (long long)count);
    say(cuGraphGetEdges_v2(graph, got, got + 1, NULL, &count));
    say_value("count", (long long)count);
    say(cuGraphNodeGetDependencies_v2(two, got, NULL, &count));
    say_value("count", (long long)count);
    say(cuGraphNodeGetDependentNodes_v2(one, got, NULL, &count));
    say_value("count", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, room_for_none_and_none_there)
{
    CUgraph graph = graph_new();
    CUgraphNode got[2] = {0};
    size_t count = 0;
    say(cuGraphGetNodes(graph, got, &count));
    say(cuGraphGetRootNodes(graph, got, &count));
    say(cuGraphGetEdges_v2(graph, got, got + 1, NULL, &count));
    CUgraphNode one = empty_in(graph);
    say(cuGraphNodeGetDependencies_v2(one, got, NULL, &count));
    say(cuGraphNodeGetDependentNodes_v2(one, got, NULL, &count));
    graph_end(graph);
}

CASE(graph_topology, remove_edge_with_other_data)
{
    CUgraphEdgeData programmatic = {.from_port = 1, .type = 1}, order = {.from_port = 2, .type = 1}, plain = {0};
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode one = store_in(graph, word, 1), two = store_in(graph, word, 2);
    NEED(cuGraphAddDependencies_v2(graph, &one, &two, &programmatic, 1));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, &order, 1));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, &plain, 1));
    say_value("edges", edges_of(graph));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, &programmatic, 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edges_of_which_one_has_bad_data)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3];
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    CUgraphEdgeData data[2] = {{0}, {.from_port = 1, .type = 1}};
    say(cuGraphAddDependencies_v2(graph, list, list + 1, data, 2));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edges_of_which_one_is_of_another_graph)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode list[3];
    for (int i = 0; i < 2; i++)
        list[i] = empty_in(graph);
    list[2] = empty_in(other);
    say(cuGraphAddDependencies_v2(graph, list, list + 1, NULL, 2));
    say_value("edges", edges_of(graph));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_topology, roots_of_a_clone)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode list[4], twins[4] = {0}, got[4] = {0};
    for (int i = 0; i < 4; i++)
        list[i] = empty_in(graph);
    NEED(cuGraphAddDependencies_v2(graph, &list[0], &list[2], NULL, 1));
    size_t count = 4;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 4, list, 4, count);
    NEED(cuGraphClone(&clone, graph));
    for (int i = 0; i < 4; i++)
        NEED(cuGraphNodeFindInClone(&twins[i], list[i], clone));
    memset(got, 0, sizeof got);
    count = 4;
    say(cuGraphGetRootNodes(clone, got, &count));
    say_places(got, 4, twins, 4, count);
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_topology, roots_after_removal)
{
    CUgraph graph = graph_new();
    CUgraphNode list[5], got[5] = {0};
    list[0] = empty_in(graph);
    list[1] = empty_in(graph);
    list[2] = empty_after(graph, list, 1);
    list[3] = empty_after(graph, list, 1);
    list[4] = empty_after(graph, list, 2);
    say(cuGraphDestroyNode(list[0]));
    list[0] = NULL;
    size_t count = 5;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 5, list, 5, count);
    graph_end(graph);
}

CASE(graph_topology, edges_of_a_clone_after_changes)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode list[4], twins[4] = {0}, from[4] = {0}, to[4] = {0};
    for (int i = 0; i < 4; i++)
        list[i] = empty_in(graph);
    NEED(cuGraphAddDependencies_v2(graph, &list[3], &list[0], NULL, 1));
    NEED(cuGraphAddDependencies_v2(graph, &list[0], &list[2], NULL, 1));
    NEED(cuGraphAddDependencies_v2(graph, &list[0], &list[1], NULL, 1));
    NEED(cuGraphClone(&clone, graph));
    for (int i = 0; i < 4; i++)
        NEED(cuGraphNodeFindInClone(&twins[i], list[i], clone));
    size_t count = 4;
    say(cuGraphGetEdges_v2(clone, from, to, NULL, &count));
    say_places(from, 4, twins, 4, count);
    say_places(to, 4, twins, 4, count);
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_topology, clone_of_a_cycle)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1);
    NEED(cuGraphAddDependencies_v2(graph, &two, &one, NULL, 1));
    CUresult status = cuGraphClone(&clone, graph);
    say(status);
    if (status == CUDA_SUCCESS) {
        say_value("edges", edges_of(clone));
        graph_end(clone);
    }
    say(cuGraphDestroyNode(one));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, cycle_as_a_child)
{
    CUgraph graph = graph_new(), outer = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1), node = NULL;
    NEED(cuGraphAddDependencies_v2(graph, &two, &one, NULL, 1));
    say(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    CUgraphExec exec = NULL;
    say(cuGraphInstantiateWithFlags(&exec, outer, 0));
    graph_end(graph);
    graph_end(outer);
}
