/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventDestroy: twice, of something else, while pending, from another context, after the context; both ABI versions.
 */
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
    struct gate gate = {0};
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

/* Contexts that end with events alive leave nothing behind: records are used again, the context's and the events'. */
static void test_alive_at_the_end(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, EACH = 20, RECORDS = 1500 };
    CUevent events[EACH];
    for (int round = 0; round < ROUNDS; round++) {
        CUcontext other = new_context();
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        for (int i = 0; i < EACH; i++) {
            events[i] = new_event(i % 3);
            if (i % 2)
                OK(cuEventRecord(events[i], stream));
        }
        OK(cuCtxDestroy(other));
        assert_true(((uintptr_t)other >> 5 & 0x3fffff) < RECORDS);
        assert_true(((uintptr_t)events[EACH - 1] >> 5 & 0x3fffff) < RECORDS);
    }
    OK(cuCtxSetCurrent(the_context));
    for (int i = 0; i < EACH; i++) {
        FAILS(cuEventQuery(events[i]), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        FAILS(cuEventSynchronize(events[i]), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        FAILS(cuEventRecord(events[i], 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        FAILS(cuStreamWaitEvent(0, events[i], 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

/* Hardware looks for the context of a default stream before it looks at the event. */
static void test_without_context(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuEventRecord(NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuEventRecord(NULL, CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuEventRecordWithFlags(NULL, 0, 0x7ff), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuStreamWaitEvent(0, NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuEventRecord(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSetCurrent(the_context));
    FAILS(cuEventRecord(NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_first_abi),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_alive_at_the_end),
        cmocka_unit_test(test_without_context),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
