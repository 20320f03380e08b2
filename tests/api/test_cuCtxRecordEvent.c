/* SPDX-License-Identifier: Apache-2.0 */
/* cuCtxRecordEvent, cuCtxWaitEvent: an event that stands for a whole context's work, and one that holds a whole context
 * up. */
#include "memory_support.h"

static CUstream stream_new(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent event_new(void)
{
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static void test_records_all_streams(void **state)
{
    enum { STREAMS = 6 };
    struct gate gates[STREAMS];
    CUstream streams[STREAMS];
    CUevent event = event_new();
    (void)state;
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = i == 0 ? CU_STREAM_PER_THREAD : stream_new(i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        gate_put(&gates[i], streams[i]);
    }
    OK(cuCtxRecordEvent(the_context, event));
    for (int i = 0; i < STREAMS; i++) {
        FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
        gate_open(&gates[i]);
        OK(cuStreamSynchronize(streams[i]));
    }
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    for (int i = 1; i < STREAMS; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuEventDestroy(event));
}

/* What is queued after the recording doesn't count, and isn't held up by other streams that do. */
static void test_later_work_is_free(void **state)
{
    struct gate early, late;
    CUstream one = stream_new(CU_STREAM_DEFAULT), two = stream_new(CU_STREAM_DEFAULT);
    CUdeviceptr word = device_bytes(4);
    CUevent event = event_new();
    (void)state;
    gate_put(&early, one);
    OK(cuCtxRecordEvent(the_context, event));
    OK(cuMemsetD32Async(word, 5, 1, two));
    OK(cuStreamSynchronize(two));
    gate_put(&late, two);
    gate_open(&early);
    OK(cuEventSynchronize(event));
    gate_open(&late);
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
    OK(cuMemFree(word));
    OK(cuEventDestroy(event));
}

static void test_idle_context(void **state)
{
    CUevent event = event_new();
    (void)state;
    OK(cuCtxSynchronize());
    OK(cuCtxRecordEvent(the_context, event));
    OK(cuEventSynchronize(event));
    OK(cuCtxWaitEvent(the_context, event));
    OK(cuCtxSynchronize());
    OK(cuEventDestroy(event));
}

static void test_holds_all_streams(void **state)
{
    enum { STREAMS = 6 };
    struct gate gate;
    CUstream streams[STREAMS], source = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = device_bytes(4 * STREAMS);
    CUevent event = event_new();
    unsigned back[STREAMS];
    (void)state;
    OK(cuMemsetD32(words, 0, STREAMS));
    OK(cuCtxSynchronize());
    gate_put(&gate, source);
    OK(cuEventRecord(event, source));
    for (int i = 0; i < STREAMS / 2; i++)
        streams[i] = stream_new(i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    OK(cuCtxWaitEvent(the_context, event));
    /* Streams that are made while the event is pending wait for it too. */
    for (int i = STREAMS / 2; i < STREAMS; i++)
        streams[i] = stream_new(i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    for (unsigned i = 0; i < STREAMS; i++)
        OK(cuMemsetD32Async(words + 4 * i, 1 + i, 1, streams[i]));
    for (int i = 0; i < STREAMS; i++)
        FAILS(cuStreamQuery(streams[i]), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(back, words, sizeof back));
    for (unsigned i = 0; i < STREAMS; i++) {
        assert_int_equal(back[i], 1 + i);
        OK(cuStreamDestroy(streams[i]));
    }
    CUstream after = stream_new(CU_STREAM_NON_BLOCKING);
    OK(cuStreamQuery(after));
    OK(cuStreamDestroy(after));
    OK(cuStreamDestroy(source));
    OK(cuEventDestroy(event));
    OK(cuMemFree(words));
}

static void test_bad(void **state)
{
    CUcontext other;
    CUevent mine = event_new(), theirs;
    (void)state;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    theirs = event_new();
    FAILS(cuCtxRecordEvent(the_context, theirs), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuCtxRecordEvent(NULL, theirs), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxRecordEvent(other, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxRecordEvent(other, theirs));
    OK(cuCtxWaitEvent(the_context, theirs));
    OK(cuCtxWaitEvent(other, mine));
    FAILS(cuCtxWaitEvent(NULL, theirs), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxWaitEvent(other, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy(other));
    FAILS(cuCtxWaitEvent(other, mine), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
    OK(cuEventDestroy(mine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records_all_streams),
                                       cmocka_unit_test(test_later_work_is_free), cmocka_unit_test(test_idle_context),
                                       cmocka_unit_test(test_holds_all_streams), cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests_name("cuCtxRecordEvent", tests, support_begin, support_end);
}
