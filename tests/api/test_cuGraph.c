/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: making and ending them, nodes and edges, queries, clones, DOT; large ones; and handles of what is gone. */
#include "graph_support.h"

#include <time.h>

static void test_life(void **state)
{
    (void)state;
    CUgraph graph = new_graph();
    assert_int_equal(nodes_of(graph), 0);
    CUgraphNode node = empty_in(graph);
    assert_int_equal(nodes_of(graph), 1);
    OK(cuGraphDestroy(graph));
    CUgraphNodeType type;
    size_t count;
    FAILS(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphNodeGetType(node, &type), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphGetNodes(graph, NULL, &count), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddEmptyNode(&node, graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void test_bad_handles(void **state)
{
    (void)state;
    CUgraph graph = new_graph(), wild = WILD(CUgraph), clone;
    CUgraphNode node = empty_in(graph), wild_node = WILD(CUgraphNode), out;
    size_t count;
    FAILS(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphCreate(&clone, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDestroy(wild), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDestroy((CUgraph)node), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDestroyNode((CUgraphNode)graph), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphClone(&clone, wild), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddEmptyNode(&out, graph, &wild_node, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddDependencies_v2(graph, &node, &wild_node, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphNodeGetDependencies_v2(wild_node, NULL, NULL, &count), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphNodeFindInClone(&out, wild_node, graph), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(nodes_of(graph), 1);
    OK(cuGraphDestroy(graph));
}

static void test_edges(void **state)
{
    (void)state;
    CUgraph graph = new_graph();
    CUgraphNode list[4], from[8], to[8];
    list[0] = empty_in(graph);
    list[1] = empty_after(graph, list, 1);
    list[2] = empty_after(graph, list, 1);
    list[3] = empty_after(graph, list + 1, 2);
    size_t count = 8;
    OK(cuGraphGetEdges_v2(graph, from, to, NULL, &count));
    assert_int_equal(count, 4);
    assert_ptr_equal(from[0], list[0]);
    assert_ptr_equal(to[0], list[1]);
    assert_ptr_equal(to[3], list[3]);
    assert_null(from[4]);
    FAILS(cuGraphAddDependencies_v2(graph, list, list + 1, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphAddDependencies_v2(graph, list, list, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphRemoveDependencies_v2(graph, list, list + 1, NULL, 1));
    FAILS(cuGraphRemoveDependencies_v2(graph, list, list + 1, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(edges_of(graph), 3);
    OK(cuGraphDestroyNode(list[3]));
    assert_int_equal(edges_of(graph), 1);
    count = 8;
    OK(cuGraphNodeGetDependentNodes_v2(list[0], from, NULL, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(from[0], list[2]);
    OK(cuGraphDestroy(graph));
}

/* More dependencies than an array on the stack holds, once named twice. */
static void test_many_dependencies(void **state)
{
    (void)state;
    enum { MANY = 300 };
    CUgraph graph = new_graph();
    CUgraphNode list[MANY], got[MANY], node;
    for (int i = 0; i < MANY; i++)
        list[i] = empty_in(graph);
    node = empty_after(graph, list, MANY);
    size_t count = MANY;
    OK(cuGraphNodeGetDependencies_v2(node, got, NULL, &count));
    assert_int_equal(count, MANY);
    assert_memory_equal(got, list, sizeof list);
    list[MANY - 1] = list[0];
    FAILS(cuGraphAddEmptyNode(&node, graph, list, MANY), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(nodes_of(graph), MANY + 1);
    OK(cuGraphDestroy(graph));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Ten thousand nodes: a chain, a fan and a tree, made, cloned, searched and taken apart. Anything quadratic would take
 * minutes. */
static void test_large(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    static CUgraphNode list[MANY];
    double start = seconds();
    for (int shape = 0; shape < 3; shape++) {
        CUgraph graph = new_graph(), clone;
        for (int i = 0; i < MANY; i++) {
            int before = shape == 0 ? i - 1 : shape == 1 ? 0 : (i - 1) / 2;
            list[i] = empty_after(graph, &list[before < 0 ? 0 : before], i > 0);
        }
        assert_int_equal(edges_of(graph), MANY - 1);
        OK(cuGraphClone(&clone, graph));
        for (int i = 0; i < MANY; i++) {
            CUgraphNode twin;
            OK(cuGraphNodeFindInClone(&twin, list[i], clone));
        }
        for (int i = MANY - 1; i >= 0; i -= 2)
            OK(cuGraphDestroyNode(list[i]));
        assert_int_equal(nodes_of(graph), MANY / 2);
        OK(cuGraphDestroy(graph));
        assert_int_equal(nodes_of(clone), MANY);
        OK(cuGraphDestroy(clone));
    }
    /* Edges against the order of making. */
    CUgraph graph = new_graph();
    for (int i = 0; i < MANY; i++)
        list[i] = empty_in(graph);
    for (int i = 0; i + 1 < MANY; i++)
        OK(cuGraphAddDependencies_v2(graph, &list[i + 1], &list[i], NULL, 1));
    OK(cuGraphDestroy(graph));
    assert_true(seconds() - start < 60);
}

static void test_clone(void **state)
{
    (void)state;
    CUgraph graph = new_graph(), inner = new_graph(), clone, again;
    CUgraphNode one = empty_in(graph), child, twin, found;
    empty_in(inner);
    OK(cuGraphAddChildGraphNode(&child, graph, &one, 1, inner));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(inner));
    OK(cuGraphNodeFindInClone(&twin, child, clone));
    assert_ptr_not_equal(twin, child);
    OK(cuGraphChildGraphNodeGetGraph(child, &inner));
    OK(cuGraphChildGraphNodeGetGraph(twin, &again));
    assert_ptr_not_equal(inner, again);
    empty_in(inner);
    assert_int_equal(nodes_of(again), 1);
    FAILS(cuGraphDestroy(again), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroyNode(twin));
    FAILS(cuGraphNodeFindInClone(&found, child, clone), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphNodeFindInClone(&found, one, clone));
    OK(cuGraphDestroy(graph));
    assert_int_equal(nodes_of(clone), 1);
    OK(cuGraphDestroy(clone));
}

/* Searching for twins in any order finds each. */
static void test_twins(void **state)
{
    (void)state;
    enum { MANY = 500 };
    CUgraph graph = new_graph(), clone;
    CUgraphNode list[MANY], twins[MANY], got[MANY];
    for (int i = 0; i < MANY; i++)
        list[i] = empty_in(graph);
    OK(cuGraphClone(&clone, graph));
    size_t count = MANY;
    OK(cuGraphGetNodes(clone, got, &count));
    for (int i = 0; i < MANY; i++) {
        int k = i * 277 % MANY;
        OK(cuGraphNodeFindInClone(&twins[k], list[k], clone));
        assert_ptr_equal(twins[k], got[k]);
        if (k % 3 == 0)
            OK(cuGraphDestroyNode(twins[k]));
    }
    for (int i = 0; i < MANY; i++) {
        CUgraphNode twin = NULL;
        FAILS(cuGraphNodeFindInClone(&twin, list[i], clone), i % 3 == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        assert_ptr_equal(twin, i % 3 == 0 ? NULL : twins[i]);
    }
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_life),  TEST_IN_CONTEXT(test_bad_handles),
        TEST_IN_CONTEXT(test_edges), TEST_IN_CONTEXT(test_many_dependencies),
        TEST_IN_CONTEXT(test_large), TEST_IN_CONTEXT(test_clone),
        TEST_IN_CONTEXT(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
