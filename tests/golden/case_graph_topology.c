/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of graphs: nodes, roots, edges and what their queries answer when
 * the arrays are too small, too large or absent; cycles; clones.
 */
#include "gold_graph.h"

/* Says the nodes that a query answered as places in LIST, and the count. */
static void say_places(const CUgraphNode *got, size_t room, const CUgraphNode *list, size_t count, size_t said)
{
    for (size_t i = 0; i < room; i++)
        say_int(place_of(got[i], list, count));
    say_value("count", (long long)said);
}

/* ---- graphs ---- */

CASE(graph_topology, create)
{
    CUgraph graph = NULL;
    say(cuGraphCreate(&graph, 0));
    say_if("made", graph != NULL);
    say(cuGraphDestroy(graph));
}

CASE(graph_topology, create_flags)
{
    CUgraph graph = NULL;
    say(cuGraphCreate(&graph, 1));
    say(cuGraphCreate(&graph, 0x80000000u));
    say_if("untouched", graph == NULL);
}

CASE(graph_topology, create_null)
{
    say(cuGraphCreate(NULL, 0));
}

CASE(graph_topology, create_without_context, .alone = true)
{
    CUgraph graph = NULL;
    NEED(cuCtxSetCurrent(NULL));
    say(cuGraphCreate(&graph, 0));
    CUgraphNode node = NULL;
    say(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    say(cuGraphDestroyNode(node));
    say(cuGraphDestroy(graph));
}

CASE(graph_topology, create_before_init, .bare = true)
{
    CUgraph graph = NULL;
    say(cuGraphCreate(&graph, 0));
}

CASE(graph_topology, destroy_null)
{
    say(cuGraphDestroy(NULL));
}

CASE(graph_topology, destroy_foreign, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads whatever lies at the handle")
{
    say(cuGraphDestroy(gold_foreign()));
}

CASE(graph_topology, destroy_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads freed memory")
{
    CUgraph graph = graph_new();
    say(cuGraphDestroy(graph));
    say(cuGraphDestroy(graph));
}

CASE(graph_topology, node_after_its_graph, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads freed memory")
{
    CUgraph graph = graph_new();
    CUgraphNode node = empty_in(graph);
    graph_end(graph);
    CUgraphNodeType type;
    say(cuGraphNodeGetType(node, &type));
}

/* ---- nodes ---- */

CASE(graph_topology, nodes_of_an_empty_graph)
{
    CUgraph graph = graph_new();
    size_t count = 7;
    say(cuGraphGetNodes(graph, NULL, &count));
    say_value("nodes", (long long)count);
    count = 7;
    say(cuGraphGetRootNodes(graph, NULL, &count));
    say_value("roots", (long long)count);
    count = 7;
    say(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    say_value("edges", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, nodes_exact)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3], got[3] = {0};
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    size_t count = 3;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 3, list, 3, count);
    graph_end(graph);
}

CASE(graph_topology, nodes_too_few)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3], got[3] = {0};
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    size_t count = 2;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 3, list, 3, count);
    graph_end(graph);
}

CASE(graph_topology, nodes_too_many)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3], got[5];
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    memset(got, 0x55, sizeof got);
    size_t count = 5;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 5, list, 3, count);
    graph_end(graph);
}

CASE(graph_topology, nodes_room_for_none)
{
    CUgraph graph = graph_new();
    CUgraphNode list[2], got[1] = {0};
    for (int i = 0; i < 2; i++)
        list[i] = empty_in(graph);
    size_t count = 0;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 1, list, 2, count);
    graph_end(graph);
}

CASE(graph_topology, nodes_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode got[1] = {0};
    size_t count = 1;
    say(cuGraphGetNodes(NULL, NULL, &count));
    say(cuGraphGetNodes(graph, NULL, NULL));
    say(cuGraphGetNodes(graph, got, NULL));
    say(cuGraphGetRootNodes(NULL, NULL, &count));
    say(cuGraphGetRootNodes(graph, NULL, NULL));
    say(cuGraphGetEdges_v2(NULL, NULL, NULL, NULL, &count));
    say(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, NULL));
    graph_end(graph);
}

CASE(graph_topology, order_of_nodes_after_removal)
{
    CUgraph graph = graph_new();
    CUgraphNode list[5], got[5] = {0};
    for (int i = 0; i < 4; i++)
        list[i] = empty_in(graph);
    say(cuGraphDestroyNode(list[1]));
    list[1] = NULL;
    list[4] = empty_in(graph);
    size_t count = 5;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 5, list, 5, count);
    graph_end(graph);
}

CASE(graph_topology, order_of_nodes_of_a_dag)
{
    /* Added against the order of their edges. */
    CUgraph graph = graph_new();
    CUgraphNode list[4], got[4] = {0};
    for (int i = 0; i < 4; i++)
        list[i] = empty_in(graph);
    CUgraphNode from[] = {list[3], list[2], list[1]}, to[] = {list[2], list[1], list[0]};
    say(cuGraphAddDependencies_v2(graph, from, to, NULL, 3));
    size_t count = 4;
    say(cuGraphGetNodes(graph, got, &count));
    say_places(got, 4, list, 4, count);
    count = 4;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 4, list, 4, count);
    graph_end(graph);
}

/* ---- roots ---- */

CASE(graph_topology, roots)
{
    CUgraph graph = graph_new();
    CUgraphNode list[4], got[4];
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_in(graph);
    list[3] = empty_after(graph, list, 3);
    memset(got, 0x55, sizeof got);
    size_t count = 4;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 4, list, 4, count);
    count = 1;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 1, list, 4, count);
    count = 0;
    say(cuGraphGetRootNodes(graph, NULL, &count));
    say_value("count", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, roots_follow_edges)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3], got[3] = {0};
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    say(cuGraphAddDependencies_v2(graph, &list[0], &list[1], NULL, 1));
    size_t count = 3;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 3, list, 3, count);
    say(cuGraphRemoveDependencies_v2(graph, &list[0], &list[1], NULL, 1));
    count = 3;
    say(cuGraphGetRootNodes(graph, got, &count));
    say_places(got, 3, list, 3, count);
    graph_end(graph);
}

/* ---- dependencies of one node ---- */

CASE(graph_topology, dependencies)
{
    CUgraph graph = graph_new();
    CUgraphNode list[4], got[5];
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    CUgraphNode before[] = {list[2], list[0], list[1]};
    list[3] = empty_after(graph, before, 3);
    size_t count = 99;
    say(cuGraphNodeGetDependencies_v2(list[3], NULL, NULL, &count));
    say_value("count", (long long)count);
    memset(got, 0x55, sizeof got);
    count = 5;
    say(cuGraphNodeGetDependencies_v2(list[3], got, NULL, &count));
    say_places(got, 5, list, 4, count);
    memset(got, 0, sizeof got);
    count = 2;
    say(cuGraphNodeGetDependencies_v2(list[3], got, NULL, &count));
    say_places(got, 3, list, 4, count);
    graph_end(graph);
}

CASE(graph_topology, dependent_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode list[4], got[5];
    list[0] = empty_in(graph);
    for (int i = 1; i < 4; i++)
        list[i] = empty_after(graph, list, 1);
    size_t count = 99;
    say(cuGraphNodeGetDependentNodes_v2(list[0], NULL, NULL, &count));
    say_value("count", (long long)count);
    memset(got, 0x55, sizeof got);
    count = 5;
    say(cuGraphNodeGetDependentNodes_v2(list[0], got, NULL, &count));
    say_places(got, 5, list, 4, count);
    memset(got, 0, sizeof got);
    count = 1;
    say(cuGraphNodeGetDependentNodes_v2(list[0], got, NULL, &count));
    say_places(got, 3, list, 4, count);
    graph_end(graph);
}

CASE(graph_topology, dependencies_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = empty_in(graph);
    size_t count = 0;
    say(cuGraphNodeGetDependencies_v2(NULL, NULL, NULL, &count));
    say(cuGraphNodeGetDependencies_v2(node, NULL, NULL, NULL));
    say(cuGraphNodeGetDependentNodes_v2(NULL, NULL, NULL, &count));
    say(cuGraphNodeGetDependentNodes_v2(node, NULL, NULL, NULL));
    graph_end(graph);
}

CASE(graph_topology, dependencies_data_without_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1);
    CUgraphEdgeData data[2];
    size_t count = 2;
    say(cuGraphNodeGetDependencies_v2(two, NULL, data, &count));
    count = 2;
    say(cuGraphNodeGetDependentNodes_v2(one, NULL, data, &count));
    count = 2;
    say(cuGraphGetEdges_v2(graph, NULL, NULL, data, &count));
    graph_end(graph);
}

/* ---- edges ---- */

CASE(graph_topology, edges)
{
    CUgraph graph = graph_new();
    CUgraphNode list[4], from[5], to[5];
    CUgraphEdgeData data[5];
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_after(graph, list, 1);
    list[3] = empty_after(graph, list + 1, 2);
    memset(from, 0x55, sizeof from);
    memset(to, 0x55, sizeof to);
    memset(data, 0x55, sizeof data);
    size_t count = 5;
    say(cuGraphGetEdges_v2(graph, from, to, data, &count));
    say_places(from, 5, list, 4, count);
    say_places(to, 5, list, 4, count);
    for (int i = 0; i < 5; i++) {
        say_int(data[i].from_port);
        say_int(data[i].to_port);
        say_int(data[i].type);
    }
    graph_end(graph);
}

CASE(graph_topology, edges_too_few)
{
    CUgraph graph = graph_new();
    CUgraphNode list[4], from[3] = {0}, to[3] = {0};
    list[0] = empty_in(graph);
    for (int i = 1; i < 4; i++)
        list[i] = empty_after(graph, list, (size_t)i);
    size_t count = 3;
    say(cuGraphGetEdges_v2(graph, from, to, NULL, &count));
    say_places(from, 3, list, 4, count);
    say_places(to, 3, list, 4, count);
    graph_end(graph);
}

CASE(graph_topology, edges_half_null)
{
    CUgraph graph = graph_new();
    CUgraphNode list[2], ends[2] = {0};
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    size_t count = 2;
    say(cuGraphGetEdges_v2(graph, ends, NULL, NULL, &count));
    say_value("count", (long long)count);
    count = 2;
    say(cuGraphGetEdges_v2(graph, NULL, ends, NULL, &count));
    say_value("count", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, add_edge)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_in(graph);
    say(cuGraphAddDependencies_v2(graph, &one, &two, NULL, 1));
    say_value("edges", edges_of(graph));
    say(cuGraphAddDependencies_v2(graph, &one, &two, NULL, 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edge_backwards)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1);
    say(cuGraphAddDependencies_v2(graph, &two, &one, NULL, 1));
    say_value("edges", edges_of(graph));
    CUgraphExec exec = NULL;
    say(cuGraphInstantiateWithFlags(&exec, graph, 0));
    graph_end(graph);
}

CASE(graph_topology, add_long_cycle)
{
    CUgraph graph = graph_new();
    CUgraphNode list[5];
    list[0] = empty_in(graph);
    for (int i = 1; i < 5; i++)
        list[i] = empty_after(graph, &list[i - 1], 1);
    say(cuGraphAddDependencies_v2(graph, &list[4], &list[1], NULL, 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edge_to_itself)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph);
    say(cuGraphAddDependencies_v2(graph, &one, &one, NULL, 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edges_of_which_one_is_bad)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3];
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    CUgraphNode from[] = {list[0], list[1], list[0]}, to[] = {list[1], list[2], list[1]};
    say(cuGraphAddDependencies_v2(graph, from, to, NULL, 3));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_edges_of_which_one_is_null)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3];
    for (int i = 0; i < 3; i++)
        list[i] = empty_in(graph);
    CUgraphNode from[] = {list[0], NULL}, to[] = {list[1], list[2]};
    say(cuGraphAddDependencies_v2(graph, from, to, NULL, 2));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, add_no_edges)
{
    CUgraph graph = graph_new();
    say(cuGraphAddDependencies_v2(graph, NULL, NULL, NULL, 0));
    say(cuGraphRemoveDependencies_v2(graph, NULL, NULL, NULL, 0));
    say(cuGraphAddDependencies_v2(NULL, NULL, NULL, NULL, 0));
    say(cuGraphRemoveDependencies_v2(NULL, NULL, NULL, NULL, 0));
    graph_end(graph);
}

CASE(graph_topology, add_edges_null_arrays)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_in(graph);
    say(cuGraphAddDependencies_v2(graph, NULL, &two, NULL, 1));
    say(cuGraphAddDependencies_v2(graph, &one, NULL, NULL, 1));
    say(cuGraphAddDependencies_v2(NULL, &one, &two, NULL, 1));
    say(cuGraphRemoveDependencies_v2(graph, NULL, &two, NULL, 1));
    say(cuGraphRemoveDependencies_v2(graph, &one, NULL, NULL, 1));
    graph_end(graph);
}

CASE(graph_topology, add_edge_between_graphs)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_in(other);
    say(cuGraphAddDependencies_v2(graph, &one, &two, NULL, 1));
    say(cuGraphAddDependencies_v2(other, &one, &two, NULL, 1));
    CUgraphNode also = empty_in(graph);
    say(cuGraphAddDependencies_v2(other, &one, &also, NULL, 1));
    say_value("edges", edges_of(graph) + edges_of(other));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_topology, node_after_node_of_other_graph)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode one = empty_in(graph), two = NULL;
    say(cuGraphAddEmptyNode(&two, other, &one, 1));
    say_if("untouched", two == NULL);
    say_value("nodes", nodes_of(other));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_topology, dependency_named_twice)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), twice[] = {one, one}, two = NULL;
    say(cuGraphAddEmptyNode(&two, graph, twice, 2));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_topology, dependency_null)
{
    CUgraph graph = graph_new();
    CUgraphNode none[] = {NULL}, node = NULL;
    say(cuGraphAddEmptyNode(&node, graph, NULL, 1));
    say(cuGraphAddEmptyNode(&node, graph, none, 1));
    say(cuGraphAddEmptyNode(&node, graph, none, 0));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_topology, remove_edge)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1);
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, NULL, 1));
    say_value("edges", edges_of(graph));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, NULL, 1));
    say(cuGraphRemoveDependencies_v2(graph, &two, &one, NULL, 1));
    graph_end(graph);
}

CASE(graph_topology, remove_edges_of_which_one_is_bad)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3];
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_after(graph, list + 1, 1);
    CUgraphNode from[] = {list[0], list[0]}, to[] = {list[1], list[2]};
    say(cuGraphRemoveDependencies_v2(graph, from, to, NULL, 2));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

/* ---- edge data ---- */

CASE(graph_topology, edge_data_bad_between_empty_nodes)
{
    static const CUgraphEdgeData kinds[] = {{.from_port = 1}, {.to_port = 1},    {.type = 1},
                                            {.type = 2},      {.reserved = {1}}, {.from_port = 1, .type = 1},
                                            {.from_port = 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUgraph graph = graph_new();
        CUgraphNode one = empty_in(graph), two = empty_in(graph);
        say(cuGraphAddDependencies_v2(graph, &one, &two, &kinds[i], 1));
        say_value("edges", edges_of(graph));
        graph_end(graph);
    }
}

/* Two kernels with an edge of some kind between them. */
static void kernel_edge(CUgraphEdgeData data)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphNode one = store_in(graph, word, 1), two = store_in(graph, word, 2);
    say(cuGraphAddDependencies_v2(graph, &one, &two, &data, 1));
    CUgraphNode from[1] = {0}, to[1] = {0};
    CUgraphEdgeData got = {.from_port = 77};
    size_t count = 1;
    say(cuGraphGetEdges_v2(graph, from, to, NULL, &count));
    say_value("count", (long long)count);
    count = 1;
    say(cuGraphGetEdges_v2(graph, from, to, &got, &count));
    say_value("count", (long long)count);
    say_int(got.from_port);
    say_int(got.to_port);
    say_int(got.type);
    count = 1;
    say(cuGraphNodeGetDependencies_v2(two, from, NULL, &count));
    count = 1;
    say(cuGraphNodeGetDependentNodes_v2(one, to, NULL, &count));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, NULL, 1));
    say(cuGraphRemoveDependencies_v2(graph, &one, &two, &data, 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, edge_data_plain)
{
    kernel_edge((CUgraphEdgeData){0});
}

CASE(graph_topology, edge_data_programmatic)
{
    kernel_edge((CUgraphEdgeData){.from_port = 1, .type = 1});
}

CASE(graph_topology, edge_data_launch_order)
{
    kernel_edge((CUgraphEdgeData){.from_port = 2, .type = 1});
}

CASE(graph_topology, edge_data_kinds_between_kernels)
{
    static const CUgraphEdgeData kinds[] = {
        {.from_port = 1}, {.from_port = 2},          {.from_port = 3}, {.from_port = 3, .type = 1},  {.type = 1},
        {.to_port = 1},   {.to_port = 1, .type = 1}, {.type = 2},      {.reserved = {0, 0, 0, 0, 1}}};
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUgraph graph = graph_new();
        CUgraphNode one = store_in(graph, word, 1), two = store_in(graph, word, 2);
        say(cuGraphAddDependencies_v2(graph, &one, &two, &kinds[i], 1));
        graph_end(graph);
    }
}

CASE(graph_topology, edge_data_twice_between_two_nodes)
{
    CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode one = store_in(graph, word, 1), two = store_in(graph, word, 2);
    say(cuGraphAddDependencies_v2(graph, &one, &two, &programmatic, 1));
    say(cuGraphAddDependencies_v2(graph, &one, &two, NULL, 1));
    say_value("edges", edges_of(graph));
    size_t count = 0;
    say(cuGraphNodeGetDependencies_v2(two, NULL, NULL, &count));
    say_value("count", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, edge_data_from_kernel_to_empty)
{
    CUgraphEdgeData kinds[] = {
        {.from_port = 1, .type = 1}, {.from_port = 2, .type = 1}, {.from_port = 1}, {.from_port = 2}};
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUgraph graph = graph_new();
        CUgraphNode one = store_in(graph, word, 1), two = empty_in(graph);
        say(cuGraphAddDependencies_v2(graph, &one, &two, &kinds[i], 1));
        say(cuGraphAddDependencies_v2(graph, &two, &one, &kinds[i], 1));
        graph_end(graph);
    }
}

typedef CUresult old_edges(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
typedef CUresult old_neighbours(CUgraphNode, CUgraphNode *, size_t *);
typedef CUresult old_connect(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);

static void *old(const char *name)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult found;
    NEED(cuGetProcAddress(name, &address, 10000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    if (!address)
        gold_stop("not found");
    return address;
}

CASE(graph_topology, first_versions)
{
    CUgraph graph = graph_new();
    CUgraphNode list[2], from[2] = {0}, to[2] = {0};
    for (int i = 0; i < 2; i++)
        list[i] = empty_in(graph);
    say(((old_connect *)old("cuGraphAddDependencies"))(graph, &list[0], &list[1], 1));
    size_t count = 2;
    say(((old_edges *)old("cuGraphGetEdges"))(graph, from, to, &count));
    say_places(from, 2, list, 2, count);
    say_places(to, 2, list, 2, count);
    count = 2;
    say(((old_neighbours *)old("cuGraphNodeGetDependencies"))(list[1], from, &count));
    say_places(from, 2, list, 2, count);
    count = 2;
    say(((old_neighbours *)old("cuGraphNodeGetDependentNodes"))(list[0], to, &count));
    say_places(to, 2, list, 2, count);
    say(((old_connect *)old("cuGraphRemoveDependencies"))(graph, &list[0], &list[1], 1));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_topology, first_versions_and_edge_data)
{
    CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode one = store_in(graph, word, 1), two = store_in(graph, word, 2), got[2];
    say(cuGraphAddDependencies_v2(graph, &one, &two, &programmatic, 1));
    size_t count = 1;
    say(((old_edges *)old("cuGraphGetEdges"))(graph, got, got + 1, &count));
    count = 0;
    say(((old_edges *)old("cuGraphGetEdges"))(graph, NULL, NULL, &count));
    say_value("count", (long long)count);
    count = 1;
    say(((old_neighbours *)old("cuGraphNodeGetDependencies"))(two, got, &count));
    count = 1;
    say(((old_neighbours *)old("cuGraphNodeGetDependentNodes"))(one, got, &count));
    say(((old_connect *)old("cuGraphRemoveDependencies"))(graph, &one, &two, 1));
    graph_end(graph);
}

/* ---- removing nodes ---- */

CASE(graph_topology, remove_node)
{
    CUgraph graph = graph_new();
    CUgraphNode list[3];
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_after(graph, list + 1, 1);
    say(cuGraphDestroyNode(list[1]));
    say_value("nodes", nodes_of(graph));
    say_value("edges", edges_of(graph));
    size_t count = 9;
    say(cuGraphNodeGetDependencies_v2(list[2], NULL, NULL, &count));
    say_value("count", (long long)count);
    graph_end(graph);
}

CASE(graph_topology, remove_all_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode list[6];
    list[0] = empty_in(graph);
    for (size_t i = 1; i < 6; i++)
        list[i] = empty_after(graph, list, i);
    static const int order[] = {3, 0, 5, 1, 4, 2};
    for (int i = 0; i < 6; i++) {
        say(cuGraphDestroyNode(list[order[i]]));
        say_int(nodes_of(graph));
        say_int(edges_of(graph));
    }
    graph_end(graph);
}

CASE(graph_topology, remove_node_null)
{
    say(cuGraphDestroyNode(NULL));
}

CASE(graph_topology, remove_node_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads freed memory")
{
    CUgraph graph = graph_new();
    CUgraphNode node = empty_in(graph);
    say(cuGraphDestroyNode(node));
    say(cuGraphDestroyNode(node));
}

CASE(graph_topology, type_null)
{
    CUgraph graph = graph_new();
    CUgraphNode node = empty_in(graph);
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_HOST;
    say(cuGraphNodeGetType(NULL, &type));
    say(cuGraphNodeGetType(node, NULL));
    graph_end(graph);
}

CASE(graph_topology, many_nodes)
{
    enum { MANY = 5000 };
    CUgraph graph = graph_new();
    static CUgraphNode list[MANY];
    for (int i = 0; i < MANY; i++)
        list[i] = empty_after(graph, i ? &list[(i - 1) / 2] : NULL, i != 0);
    say_value("nodes", nodes_of(graph));
    say_value("edges", edges_of(graph));
    for (int i = 0; i < MANY; i += 2)
        NEED(cuGraphDestroyNode(list[i]));
    say_value("nodes", nodes_of(graph));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

/* ---- clones ---- */

CASE(graph_topology, clone)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode list[3], twins[3] = {0}, got[3] = {0}, from[3] = {0}, to[3] = {0};
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_after(graph, list, 2);
    say(cuGraphClone(&clone, graph));
    say_if("another", clone != graph && clone);
    for (int i = 0; i < 3; i++)
        say(cuGraphNodeFindInClone(&twins[i], list[i], clone));
    size_t count = 3;
    say(cuGraphGetNodes(clone, got, &count));
    say_places(got, 3, twins, 3, count);
    count = 3;
    say(cuGraphGetEdges_v2(clone, from, to, NULL, &count));
    say_places(from, 3, twins, 3, count);
    say_places(to, 3, twins, 3, count);
    graph_end(graph);
    say_value("nodes", nodes_of(clone));
    graph_end(clone);
}

CASE(graph_topology, clone_is_apart)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode one = empty_in(graph);
    NEED(cuGraphClone(&clone, graph));
    empty_after(graph, &one, 1);
    say_value("clone", nodes_of(clone));
    CUgraphNode twin = NULL;
    NEED(cuGraphNodeFindInClone(&twin, one, clone));
    say(cuGraphDestroyNode(twin));
    say_value("original", nodes_of(graph));
    say_value("clone", nodes_of(clone));
    graph_end(clone);
    graph_end(graph);
}

CASE(graph_topology, clone_null)
{
    CUgraph graph = graph_new(), clone = NULL;
    say(cuGraphClone(NULL, graph));
    say(cuGraphClone(&clone, NULL));
    say_if("untouched", clone == NULL);
    graph_end(graph);
}

CASE(graph_topology, clone_of_clone)
{
    CUgraph graph = graph_new(), clone = NULL, second = NULL;
    CUgraphNode one = empty_in(graph), twin = NULL, third = NULL;
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphClone(&second, clone));
    say(cuGraphNodeFindInClone(&twin, one, clone));
    say(cuGraphNodeFindInClone(&third, twin, second));
    say(cuGraphNodeFindInClone(&third, one, second));
    graph_end(graph);
    graph_end(clone);
    graph_end(second);
}

CASE(graph_topology, find_in_clone_of_what_came_later)
{
    CUgraph graph = graph_new(), clone = NULL;
    empty_in(graph);
    NEED(cuGraphClone(&clone, graph));
    CUgraphNode later = empty_in(graph), found = NULL;
    say(cuGraphNodeFindInClone(&found, later, clone));
    say_if("untouched", found == NULL);
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_topology, find_in_clone_of_what_was_removed)
{
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode one = empty_in(graph), twin = NULL, found = NULL;
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphNodeFindInClone(&twin, one, clone));
    NEED(cuGraphDestroyNode(twin));
    say(cuGraphNodeFindInClone(&found, one, clone));
    say_if("untouched", found == NULL);
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_topology, find_in_what_is_no_clone)
{
    CUgraph graph = graph_new(), other = graph_new(), clone = NULL;
    CUgraphNode one = empty_in(graph), found = NULL;
    empty_in(other);
    NEED(cuGraphClone(&clone, graph));
    say(cuGraphNodeFindInClone(&found, one, other));
    say(cuGraphNodeFindInClone(&found, one, graph));
    say(cuGraphNodeFindInClone(&found, one, NULL));
    say(cuGraphNodeFindInClone(&found, NULL, clone));
    say(cuGraphNodeFindInClone(NULL, one, clone));
    CUgraphNode twin = NULL;
    NEED(cuGraphNodeFindInClone(&twin, one, clone));
    say(cuGraphNodeFindInClone(&found, twin, graph));
    graph_end(graph);
    graph_end(other);
    graph_end(clone);
}

CASE(graph_topology, find_in_clone_of_node_in_child)
{
    CUgraph graph = graph_new(), inner = graph_new(), clone = NULL, child = NULL, twin_child = NULL;
    CUgraphNode one = empty_in(inner), node = NULL, found = NULL, twin = NULL;
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &child));
    say(cuGraphNodeFindInClone(&found, one, child));
    NEED(cuGraphClone(&clone, graph));
    say(cuGraphNodeFindInClone(&twin, node, clone));
    NEED(cuGraphChildGraphNodeGetGraph(twin, &twin_child));
    CUgraphNode inside = NULL;
    size_t count = 1;
    NEED(cuGraphGetNodes(child, &inside, &count));
    say(cuGraphNodeFindInClone(&found, inside, clone));
    say(cuGraphNodeFindInClone(&found, inside, twin_child));
    graph_end(graph);
    graph_end(inner);
    graph_end(clone);
}
