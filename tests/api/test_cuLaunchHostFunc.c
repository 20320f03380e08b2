/* SPDX-License-Identifier: Apache-2.0 */
/* cuLaunchHostFunc and cuStreamAddCallback: order, arguments, what a function may call, bad input. */
#include "stream_support.h"

#include <pthread.h>

static CUstream seen_stream;
static CUresult seen_status;

static void CUDA_CB count_up(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

static void CUDA_CB callback(CUstream stream, CUresult status, void *data)
{
    seen_stream = stream;
    seen_status = status;
    atomic_fetch_add((_Atomic int *)data, 10);
}

static void test_order(void **state)
{
    (void)state;
    CUstream all[] = {new_stream(0), new_stream(CU_STREAM_NON_BLOCKING), NULL, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 4; i++) {
        struct gate gate = {0};
        _Atomic int count = 0;
        gate_put(&gate, all[i]);
        OK(cuLaunchHostFunc(all[i], count_up, &count));
        seen_status = CUDA_ERROR_UNKNOWN;
        OK(cuStreamAddCallback(all[i], callback, &count, 0));
        OK(cuLaunchHostFunc(all[i], count_up, &count));
        FAILS(cuStreamQuery(all[i]), CUDA_ERROR_NOT_READY);
        assert_int_equal(count, 0);
        gate_open(&gate);
        OK(cuStreamSynchronize(all[i]));
        assert_int_equal(count, 12);
        assert_int_equal(seen_status, CUDA_SUCCESS);
        assert_ptr_equal(seen_stream, all[i]);
    }
    OK(cuStreamDestroy(all[0]));
    OK(cuStreamDestroy(all[1]));
}

static CUresult inner[6];

static void CUDA_CB call_driver(void *data)
{
    CUstream stream = data, made;
    CUdeviceptr address;
    CUcontext context;
    inner[0] = cuMemAlloc(&address, 16);
    inner[1] = cuStreamSynchronize(stream);
    inner[2] = cuStreamCreate(&made, 0);
    inner[3] = cuCtxCreate_v2(&context, 0, 0);
    inner[4] = cuLaunchHostFunc(stream, call_driver, stream);
    inner[5] = cuStreamQuery(stream);
}

static void test_calls_inside(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuLaunchHostFunc(stream, call_driver, stream));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 5; i++)
        FAILS(inner[i], CUDA_ERROR_NOT_PERMITTED);
    FAILS(inner[5], CUDA_ERROR_NOT_READY);
    OK(cuStreamDestroy(stream));
}

static void test_bad(void **state)
{
    (void)state;
    _Atomic int count = 0;
    CUstream stream = new_stream(0);
    FAILS(cuLaunchHostFunc(stream, NULL, &count), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchHostFunc(NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchHostFunc((CUstream)FOREIGN, count_up, &count), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamAddCallback(stream, NULL, &count, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAddCallback(stream, callback, &count, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamAddCallback((CUstream)FOREIGN, callback, &count, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSynchronize());
    assert_int_equal(count, 0);
    OK(cuStreamDestroy(stream));
}

static void CUDA_CB leave(void *data)
{
    (void)data;
    pthread_exit(NULL);
}

static void CUDA_CB leave_callback(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status;
    leave(data);
}

/* A function that ends its thread ends its context, and nothing else: streams of other contexts go on, and so do the
 * workers. */
static void test_function_that_ends_its_thread(void **state)
{
    (void)state;
    enum { FUNCTION, CALLBACK, NODE, WAYS };
    for (int i = 0; i < 4 * WAYS; i++) {
        CUcontext context;
        CUstream stream;
        CUgraph graph;
        CUgraphNode node;
        CUgraphExec exec;
        _Atomic int count = 0;
        OK(cuCtxCreate_v2(&context, 0, 0));
        OK(cuStreamCreate(&stream, i % 2));
        if (i % WAYS == FUNCTION) {
            OK(cuLaunchHostFunc(stream, leave, NULL));
        } else if (i % WAYS == CALLBACK) {
            OK(cuStreamAddCallback(stream, leave_callback, NULL, 0));
        } else {
            OK(cuGraphCreate(&graph, 0));
            OK(cuGraphAddHostNode(&node, graph, NULL, 0, &(CUDA_HOST_NODE_PARAMS){.fn = leave}));
            OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
            OK(cuGraphLaunch(exec, stream));
        }
        (void)cuLaunchHostFunc(stream, count_up, &count);   /* refused if the context has failed already; never run */
        FAILS(cuStreamSynchronize(stream), CUDA_ERROR_UNKNOWN);
        FAILS(cuStreamQuery(stream), CUDA_ERROR_UNKNOWN);
        assert_int_equal(count, 0);
        (void)cuCtxDestroy(context);
        if (i % WAYS == NODE) {
            (void)cuGraphExecDestroy(exec);
            OK(cuGraphDestroy(graph));
        }
        stream = new_stream(0);
        OK(cuLaunchHostFunc(stream, count_up, &count));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(count, 1);
        OK(cuStreamDestroy(stream));
    }
}

static void test_destructor_that_ends_its_thread(void **state)
{
    (void)state;
    CUuserObject object;
    CUdeviceptr address;
    OK(cuUserObjectCreate(&object, &object, leave, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRelease(object, 1));
    OK(cuMemAlloc(&address, 16));
    OK(cuMemFree(address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_calls_inside),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_function_that_ends_its_thread),
        cmocka_unit_test(test_destructor_that_ends_its_thread),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
