/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs are not for several threads at once, but a program that does it all the same gets a graph in some order, never
 * a crash: threads that add, remove, connect, clone and ask about the nodes of one graph. Statuses may be errors where
 * another thread was faster. */
#include "graph_support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, TURNS = 400, NODES = 32 };

static CUgraph shared;
static _Atomic(CUgraphNode) nodes[NODES];

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void change(unsigned *seed)
{
    _Atomic(CUgraphNode) *place = &nodes[next(seed) % NODES];
    CUgraphNode one = atomic_load(place), two = atomic_load(&nodes[next(seed) % NODES]), list[NODES];
    CUgraph clone = NULL;
    size_t count = NODES;
    switch (next(seed) % 6) {
    case 0:
        if (cuGraphAddEmptyNode(&one, shared, &two, next(seed) % 2) == CUDA_SUCCESS)
            atomic_store(place, one);
        break;
    case 1:
        (void)cuGraphDestroyNode(one);
        break;
    case 2:
        (void)cuGraphAddDependencies_v2(shared, &one, &two, NULL, 1);
        break;
    case 3:
        (void)cuGraphRemoveDependencies_v2(shared, &one, &two, NULL, 1);
        break;
    case 4:
        if (cuGraphClone(&clone, shared) == CUDA_SUCCESS) {
            (void)cuGraphNodeFindInClone(&two, one, clone);
            (void)cuGraphDestroy(clone);
        }
        break;
    default:
        (void)cuGraphNodeGetDependentNodes_v2(one, list, NULL, &count);
        break;
    }
}

static void *work(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    for (int i = 0; i < TURNS; i++)
        change(&seed);
    return NULL;
}

static void test_one_graph(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    shared = new_graph();
    for (int i = 0; i < NODES; i++)
        atomic_store(&nodes[i], empty_in(shared));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* Every edge is told from both sides. */
    size_t count = nodes_of(shared), before = 0, after = 0;
    CUgraphNode *list = calloc(count + 1, sizeof *list);
    size_t room = count + 1;
    OK(cuGraphGetNodes(shared, list, &room));
    for (size_t i = 0; i < count; i++) {
        size_t one = 0, two = 0;
        OK(cuGraphNodeGetDependencies_v2(list[i], NULL, NULL, &one));
        OK(cuGraphNodeGetDependentNodes_v2(list[i], NULL, NULL, &two));
        before += one;
        after += two;
    }
    free(list);
    assert_int_equal(before, after);
    assert_int_equal(before, edges_of(shared));
    OK(cuGraphDestroy(shared));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_one_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
