/* SPDX-License-Identifier: Apache-2.0 */
/* Waits between streams: long chains, diamonds, re-recorded and destroyed events, streams destroyed while busy. */
#include "support.h"

/* Each of ten thousand streams waits for the one before; one gate holds them all. Nothing may recurse by the length of
 * the chain. */
static void test_chain_of_ten_thousand(void **state)
{
    (void)state;
    enum { LENGTH = 10000 };
    static CUstream streams[LENGTH];
    struct gate gate = {0};
    _Atomic int count = 0;
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    streams[0] = new_stream(CU_STREAM_NON_BLOCKING);
    gate_put(&gate, streams[0]);
    OK(cuEventRecord(event, streams[0]));
    for (int i = 1; i < LENGTH; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(cuStreamWaitEvent(streams[i], event, 0));
        if (i % 1000 == 0)
            OK(launch(streams[i], &code_count, 1, &count));
        OK(cuEventRecord(event, streams[i]));
    }
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    FAILS(cuStreamQuery(streams[LENGTH - 1]), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(event));
    assert_int_equal(count, (LENGTH - 1) / 1000);
    for (int i = 0; i < LENGTH; i++) {
        OK(cuStreamQuery(streams[i]));
        OK(cuStreamDestroy(streams[i]));
    }
    OK(cuEventDestroy(event));
}

/* As above with the streams destroyed before the gate opens, and their last event with them. */
static void test_chain_of_the_destroyed(void **state)
{
    (void)state;
    enum { LENGTH = 300 };
    struct gate gate = {0};
    _Atomic int count = 0;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    gate_put(&gate, stream);
    for (int i = 0; i < LENGTH; i++) {
        CUevent event = new_event(0);
        CUstream next = new_stream(i % 2 ? CU_STREAM_NON_BLOCKING : 0);
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(next, event, 0));
        OK(launch(next, &code_count, 1, &count));
        OK(cuEventDestroy(event));
        OK(cuStreamDestroy(stream));
        FAILS(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
        stream = next;
    }
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    assert_int_equal(count, 0);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(count, LENGTH);
    OK(cuStreamDestroy(stream));
    OK(cuCtxSynchronize());
}

static void test_diamond(void **state)
{
    (void)state;
    enum { SIDES = 16 };
    CUstream top = new_stream(CU_STREAM_NON_BLOCKING), sides[SIDES];
    CUevent fork = new_event(CU_EVENT_DISABLE_TIMING), join = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    _Atomic int count = 0;
    for (int i = 0; i < SIDES; i++)
        sides[i] = new_stream(CU_STREAM_NON_BLOCKING);
    for (int round = 0; round < 20; round++) {
        gate_put(&gate, top);
        OK(cuEventRecord(fork, top));
        for (int i = 0; i < SIDES; i++) {
            OK(cuStreamWaitEvent(sides[i], fork, 0));
            OK(launch(sides[i], &code_count, 3, &count));
            OK(cuEventRecord(join, sides[i]));
            OK(cuStreamWaitEvent(top, join, 0));
        }
        assert_int_equal(count, round * SIDES * 3);
        gate_open(&gate);
        OK(cuStreamSynchronize(top));
        assert_int_equal(count, (round + 1) * SIDES * 3);
    }
    for (int i = 0; i < SIDES; i++)
        OK(cuStreamDestroy(sides[i]));
    OK(cuStreamDestroy(top));
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
}

/* A wait is for the recording that the event held at the call. */
static void test_wait_keeps_its_recording(void **state)
{
    (void)state;
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING), second = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream early = new_stream(CU_STREAM_NON_BLOCKING), late = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate one = {0}, two = {0};
    gate_put(&one, first);
    gate_put(&two, second);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(early, event, 0));
    OK(cuEventRecord(event, second));
    OK(cuStreamWaitEvent(late, event, 0));
    gate_open(&one);
    OK(cuStreamSynchronize(early));
    FAILS(cuStreamQuery(late), CUDA_ERROR_NOT_READY);
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&two);
    OK(cuStreamSynchronize(late));
    OK(cuEventQuery(event));
    CUstream all[] = {first, second, early, late};
    for (int i = 0; i < 4; i++)
        OK(cuStreamDestroy(all[i]));
    OK(cuEventDestroy(event));
}

/* Timestamps are taken in stream order. */
static void test_times_rise(void **state)
{
    (void)state;
    enum { EVENTS = 50 };
    CUevent events[EVENTS];
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING), two = new_stream(CU_STREAM_NON_BLOCKING);
    struct gate gate = {0};
    _Atomic int count = 0;
    gate_put(&gate, one);
    for (int i = 0; i < EVENTS; i++) {
        CUstream stream = i % 2 ? two : one;
        events[i] = new_event(0);
        OK(launch(stream, &code_count, 2, &count));
        OK(cuEventRecord(events[i], stream));
        OK(cuStreamWaitEvent(i % 2 ? one : two, events[i], 0));
    }
    gate_open(&gate);
    OK(cuCtxSynchronize());
    for (int i = 0; i + 1 < EVENTS; i++) {
        float ms = -1;
        OK(cuEventElapsedTime(&ms, events[i], events[i + 1]));
        assert_true(ms >= 0);
    }
    for (int i = 0; i < EVENTS; i++)
        OK(cuEventDestroy(events[i]));
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
}

/* What other contexts' streams wait for. */
static void test_wait_across_contexts(void **state)
{
    (void)state;
    CUcontext other;
    CUdevice device;
    CUstream here = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate = {0};
    _Atomic int count = 0;
    gate_put(&gate, here);
    OK(cuEventRecord(event, here));
    OK(cuCtxGetDevice(&device));
    OK(cuCtxCreate_v2(&other, 0, device));
    CUstream there = new_stream(0);
    OK(cuStreamWaitEvent(there, event, 0));
    OK(launch(there, &code_count, 1, &count));
    FAILS(cuStreamQuery(there), CUDA_ERROR_NOT_READY);
    FAILS(cuEventRecord(event, there), CUDA_ERROR_INVALID_HANDLE);
    gate_open(&gate);
    OK(cuStreamSynchronize(there));
    assert_int_equal(count, 1);
    OK(cuEventQuery(event));
    OK(cuCtxDestroy(other));
    FAILS(cuStreamQuery(there), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxSetCurrent(the_context));
    OK(cuStreamDestroy(here));
    OK(cuEventDestroy(event));
}

/* The context's end waits for its work. */
static void test_context_ends_with_work(void **state)
{
    (void)state;
    CUcontext other;
    CUdevice device;
    _Atomic int count = 0;
    OK(cuCtxGetDevice(&device));
    OK(cuCtxCreate_v2(&other, 0, device));
    for (int i = 0; i < 20; i++) {
        CUstream stream = new_stream(i % 2 ? CU_STREAM_NON_BLOCKING : 0);
        for (int j = 0; j < 5; j++)
            OK(launch(j % 2 ? stream : NULL, &code_count, 4, &count));
        if (i % 3 == 0)
            OK(cuStreamDestroy(stream));
    }
    OK(cuCtxDestroy(other));
    assert_int_equal(count, 20 * 5 * 4);
    OK(cuCtxSetCurrent(the_context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_of_ten_thousand),
        cmocka_unit_test(test_chain_of_the_destroyed),
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_wait_keeps_its_recording),
        cmocka_unit_test(test_times_rise),
        cmocka_unit_test(test_wait_across_contexts),
        cmocka_unit_test(test_context_ends_with_work),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
