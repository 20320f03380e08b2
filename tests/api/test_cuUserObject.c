/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: the destructor runs once, when the last reference goes, whoever holds it; also when many threads let go
 * at once. */
#include "graph_support.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic int ends;
static CUresult inside_status;

static void CUDA_CB destroyed(void *data)
{
    CUcontext context;
    inside_status = cuCtxGetCurrent(&context);
    atomic_fetch_add((_Atomic int *)data, 1);
}

static CUuserObject new_object(unsigned count)
{
    CUuserObject object = NULL;
    OK(cuUserObjectCreate(&object, (void *)&ends, destroyed, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_non_null(object);
    return object;
}

static void test_references(void **state)
{
    (void)state;
    atomic_store(&ends, 0);
    CUuserObject object = new_object(2);
    OK(cuUserObjectRetain(object, 3));
    OK(cuUserObjectRelease(object, 4));
    assert_int_equal(ends, 0);
    OK(cuUserObjectRelease(object, 1));
    assert_int_equal(ends, 1);
    FAILS(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuUserObjectRetain(object, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(ends, 1);
}

static void test_graphs(void **state)
{
    (void)state;
    atomic_store(&ends, 0);
    CUuserObject object = new_object(1);
    CUgraph graph = new_graph(), clone, outer = new_graph();
    CUgraphNode node;
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(graph, object, 2, 0));
    OK(cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, clone));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    assert_int_equal(ends, 0);
    OK(cuGraphDestroy(outer));
    assert_int_equal(ends, 1);
}

/* A graph gives no more than it has. */
static void test_too_many(void **state)
{
    (void)state;
    atomic_store(&ends, 0);
    CUuserObject object = new_object(2);
    CUgraph graph = new_graph();
    OK(cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphReleaseUserObject(graph, object, 5));
    assert_int_equal(ends, 0);
    OK(cuUserObjectRelease(object, 1));
    assert_int_equal(ends, 1);
    OK(cuGraphDestroy(graph));
}

/* A destructor that ends another graph's object in turn: no lock is held around it. */
static void CUDA_CB end_second(void *data)
{
    (void)data;
    atomic_fetch_add(&ends, 1);
}

static void test_many_of_one_graph(void **state)
{
    (void)state;
    atomic_store(&ends, 0);
    CUgraph graph = new_graph();
    for (int i = 0; i < 100; i++) {
        CUuserObject object;
        OK(cuUserObjectCreate(&object, NULL, end_second, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    }
    OK(cuGraphDestroy(graph));
    assert_int_equal(ends, 100);
}

enum { THREADS = 4, TURNS = 500 };

static void *hold_and_let_go(void *data)
{
    CUuserObject object = data;
    for (int i = 0; i < TURNS; i++) {
        CUgraph graph = NULL, clone = NULL;
        if (cuGraphCreate(&graph, 0) != CUDA_SUCCESS || cuGraphRetainUserObject(graph, object, 1, 0) != CUDA_SUCCESS ||
            cuGraphClone(&clone, graph) != CUDA_SUCCESS || cuGraphDestroy(graph) != CUDA_SUCCESS ||
            cuGraphDestroy(clone) != CUDA_SUCCESS)
            return data;
    }
    return cuUserObjectRelease(object, 1) == CUDA_SUCCESS ? NULL : data;
}

static void test_threads(void **state)
{
    (void)state;
    atomic_store(&ends, 0);
    pthread_t threads[THREADS];
    CUuserObject object = new_object(THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_let_go, object), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(ends, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_references),        TEST_IN_CONTEXT(test_graphs),  TEST_IN_CONTEXT(test_too_many),
        TEST_IN_CONTEXT(test_many_of_one_graph), TEST_IN_CONTEXT(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
