/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamWaitEvent: what it holds back, events in every state, flags, bad handles. */
#include "stream_support.h"

static void test_holds_back(void **state)
{
    (void)state;
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING), second = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuStreamQuery(second));
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuStreamQuery(second));
    gate_put(&gate, first);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(first, event, 0));
    OK(cuStreamWaitEvent(second, event, CU_EVENT_WAIT_DEFAULT));
    FAILS(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    OK(cuEventDestroy(event));
    gate_open(&gate);
    OK(cuStreamSynchronize(second));
    OK(cuStreamSynchronize(first));
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(second));
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent event = new_event(0);
    FAILS(cuStreamWaitEvent(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamWaitEvent(stream, (CUevent)FOREIGN, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamWaitEvent((CUstream)FOREIGN, event, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    FAILS(cuStreamWaitEvent(stream, event, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitEvent(stream, event, 0x1000), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy(event));
    FAILS(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds_back),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
