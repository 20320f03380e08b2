/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamDestroy: while busy, twice, default streams, bad handles; both ABI versions. */
#include "stream_support.h"

#undef cuStreamDestroy
CUresult CUDAAPI cuStreamDestroy(CUstream hStream);

static void CUDA_CB count_up(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

static void test_busy(void **state)
{
    (void)state;
    static _Atomic int count;
    static struct gate gate;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    atomic_store(&count, 0);
    gate_put(&gate, stream);
    OK(cuLaunchHostFunc(stream, count_up, &count));
    OK(cuStreamDestroy_v2(stream));
    FAILS(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(count, 0);
    gate_open(&gate);
    OK(cuCtxSynchronize());
    assert_int_equal(count, 1);
}

static void test_bad(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    CUstream stream = new_stream(0);
    OK(cuStreamDestroy(stream));
    FAILS(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2((CUstream)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy_v2((CUstream)(void *)event), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(event));
}

static void test_without_context(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    OK(cuCtxSetCurrent(NULL));
    OK(cuStreamQuery(stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxSetCurrent(the_context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_without_context),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
