/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventRecord and cuEventRecordWithFlags: the stream named in every way, re-recording, contexts that differ, flags.
 */
#include "stream_support.h"

static void test_streams(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    CUstream stream = new_stream(0);
    CUstream all[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, stream};
    for (int i = 0; i < 4; i++) {
        OK(cuEventRecord(event, all[i]));
        OK(cuEventSynchronize(event));
        OK(cuEventRecordWithFlags(event, all[i], CU_EVENT_RECORD_DEFAULT));
        OK(cuEventQuery(event));
    }
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

static void test_again(void **state)
{
    (void)state;
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING), idle = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate = {0};
    gate_put(&gate, busy);
    OK(cuEventRecord(event, busy));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuEventRecord(event, idle));
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, busy));
    OK(cuEventRecord(event, busy));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(busy));
    OK(cuStreamDestroy(idle));
}

/* An event in the legacy stream comes after the work of blocking streams. */
static void test_legacy(void **state)
{
    (void)state;
    CUstream blocking = new_stream(0), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0}, aside = {0};
    gate_put(&aside, other);
    OK(cuEventRecord(event, NULL));
    OK(cuEventSynchronize(event));
    gate_put(&gate, blocking);
    OK(cuEventRecord(event, NULL));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(event));
    gate_put(&gate, NULL);
    OK(cuEventRecord(event, blocking));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(event));
    gate_open(&aside);
    OK(cuCtxSynchronize());
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(blocking));
    OK(cuStreamDestroy(other));
}

static void test_contexts(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    CUstream mine = new_stream(0);
    CUcontext other = new_context();
    CUstream theirs = new_stream(0);
    FAILS(cuEventRecord(event, theirs), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecord(event, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(event, mine));
    OK(cuEventSynchronize(event));
    OK(cuCtxSetCurrent(NULL));
    OK(cuEventRecord(event, mine));
    FAILS(cuEventRecord(event, NULL), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(other));
    end_context(other);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(mine));
}

static void test_bad(void **state)
{
    (void)state;
    CUevent event = new_event(0);
    CUstream stream = new_stream(0);
    FAILS(cuEventRecord(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecord((CUevent)FOREIGN, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecord(event, (CUstream)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecord(event, (CUstream)(void *)event), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecordWithFlags(NULL, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    FAILS(cuEventRecordWithFlags(event, NULL, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuEventRecordWithFlags(event, NULL, 0x100), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy(stream));
    FAILS(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(event));
    FAILS(cuEventRecord(event, NULL), CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),  cmocka_unit_test(test_again), cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
