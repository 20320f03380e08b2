/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamQuery and cuStreamSynchronize: idle, busy, default streams, bad handles. */
#include "stream_support.h"

static void test_states(void **state)
{
    (void)state;
    CUstream all[] = {new_stream(0), new_stream(CU_STREAM_NON_BLOCKING), NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    struct gate gate = {0};
    for (int i = 0; i < 5; i++) {
        OK(cuStreamQuery(all[i]));
        OK(cuStreamSynchronize(all[i]));
        gate_put(&gate, all[i]);
        FAILS(cuStreamQuery(all[i]), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        OK(cuStreamSynchronize(all[i]));
        OK(cuStreamQuery(all[i]));
    }
    OK(cuStreamDestroy(all[0]));
    OK(cuStreamDestroy(all[1]));
}

static void test_others_are_left_alone(void **state)
{
    (void)state;
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING), idle = new_stream(CU_STREAM_NON_BLOCKING);
    struct gate gate = {0};
    gate_put(&gate, busy);
    OK(cuStreamSynchronize(idle));
    OK(cuStreamQuery(idle));
    FAILS(cuStreamQuery(busy), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(busy));
    OK(cuStreamDestroy(busy));
    OK(cuStreamDestroy(idle));
}

static void test_bad(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    FAILS(cuStreamQuery((CUstream)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamQuery((CUstream)WILD), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamQuery((CUstream)(void *)event), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamSynchronize((CUstream)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuStreamQuery(NULL), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
    OK(cuEventDestroy(event));
}

static void test_context_is_destroyed(void **state)
{
    (void)state;
    CUcontext context = new_context();
    CUstream stream = new_stream(0), gone = new_stream(0);
    unsigned flags;
    OK(cuStreamDestroy(gone));
    end_context(context);
    FAILS(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuStreamGetFlags(stream, &flags), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuMemsetD8Async(0, 0, 1, stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuStreamDestroy(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuStreamQuery(gone), CUDA_ERROR_INVALID_HANDLE); /* the program's own doing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_others_are_left_alone),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_context_is_destroyed),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
