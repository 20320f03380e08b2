/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventDestroy: twice, of something else, while pending, from another context, after the context; both ABI versions. */
#include "stream_support.h"

#undef cuEventDestroy
CUresult CUDAAPI cuEventDestroy(CUevent hEvent);

static void test_bad(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    CUstream stream = new_stream(0);
    OK(cuEventDestroy_v2(event));
    FAILS(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventDestroy_v2((CUevent)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventDestroy_v2((CUevent)WILD), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventDestroy_v2((CUevent)(void *)stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

static void test_first_abi(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    OK(cuEventDestroy(event));
    FAILS(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
}

static void test_pending(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(CU_STREAM_NON_BLOCKING);
    struct gate gate = { 0 };
    CUevent event = new_event(0);
    gate_put(&gate, stream);
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuEventDestroy_v2(event));
    FAILS(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(other));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other));
}

static void test_contexts(void **state)
{
    (void)state;
    CUevent mine = new_event(0);
    CUcontext other = new_context();
    CUevent event = new_event(0);
    OK(cuEventDestroy_v2(mine));
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxDestroy(other));
    FAILS(cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuEventDestroy_v2(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSetCurrent(the_context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_first_abi),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_contexts),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
