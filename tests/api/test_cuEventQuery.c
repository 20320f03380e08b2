/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventQuery: never recorded, pending, complete, bad handles, without a context. */
#include "stream_support.h"

static void test_states(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate = {0};
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, stream));
    OK(cuEventQuery(event));
    gate_put(&gate, stream);
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, stream));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    FAILS(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventQuery((CUevent)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventQuery((CUevent)WILD), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventQuery((CUevent)(void *)stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventQuery((CUevent)(void *)the_context), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

static void test_without_context(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    OK(cuEventRecord(event, NULL));
    OK(cuCtxSetCurrent(NULL));
    OK(cuEventQuery(event));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
    OK(cuCtxSetCurrent(the_context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_without_context),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
