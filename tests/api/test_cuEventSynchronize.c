/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventSynchronize: waits for the latest recording and nothing else, in each way of waiting. */
#include "stream_support.h"

static void CUDA_CB count_up(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

static void test_waits(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 4; flags++) {
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = new_event(flags);
        _Atomic int count = 0;
        OK(cuEventSynchronize(event));
        for (int i = 1; i <= 20; i++) {
            OK(cuLaunchHostFunc(stream, count_up, &count));
            OK(cuEventRecord(event, stream));
            OK(cuEventSynchronize(event));
            assert_int_equal(count, i);
        }
        OK(cuEventDestroy(event));
        OK(cuStreamDestroy(stream));
    }
}

static void test_not_for_what_follows(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate = {0};
    _Atomic int count = 0;
    OK(cuLaunchHostFunc(stream, count_up, &count));
    OK(cuEventRecord(event, stream));
    gate_put(&gate, stream);
    OK(cuEventSynchronize(event));
    assert_int_equal(count, 1);
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

static CUresult inner;

static void CUDA_CB synchronise_inside(void *data)
{
    inner = cuEventSynchronize((CUevent)data);
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent event = new_event(0);
    FAILS(cuEventSynchronize(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventSynchronize((CUevent)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLaunchHostFunc(stream, synchronise_inside, event));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    /* The event may be unrecorded still or pending when the function runs; it never waits for itself. */
    assert_true(inner == CUDA_SUCCESS || inner == CUDA_ERROR_NOT_PERMITTED);
    OK(cuEventDestroy(event));
    FAILS(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_not_for_what_follows),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
