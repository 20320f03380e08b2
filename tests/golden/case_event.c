/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: create, record, query, synchronise, wait, elapsed time, destroy.
 *
 * "Pending" work is a gate (gold.h): a kernel that spins until the case opens
 * it, so nothing here depends on how fast anything is.
 */
#include "gold.h"

/* ---- create and destroy ---- */

CASE(event, create_default)
{
    CUevent event;
    say(cuEventCreate(&event, CU_EVENT_DEFAULT));
    say(cuEventDestroy(event));
}

CASE(event, create_each_flag)
{
    for (unsigned flags = 0; flags < 16; flags++) {
        CUevent event = NULL;
        CUresult status = cuEventCreate(&event, flags);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuEventDestroy(event));
    }
}

CASE(event, create_unknown_flag)
{
    CUevent event = NULL;
    say(cuEventCreate(&event, 0x10));
    say(cuEventCreate(&event, 0x80000000u));
    say_if("untouched", event == NULL);
}

CASE(event, create_interprocess_with_timing)
{
    CUevent event;
    say(cuEventCreate(&event, CU_EVENT_INTERPROCESS));
}

CASE(event, create_null)
{
    say(cuEventCreate(NULL, 0));
}

CASE(event, create_without_context, .alone = true)
{
    CUevent event;
    NEED(cuCtxSetCurrent(NULL));
    say(cuEventCreate(&event, 0));
}

CASE(event, create_many)
{
    enum { MANY = 2000 };
    static CUevent events[MANY];
    int made = 0, gone = 0;
    for (int i = 0; i < MANY; i++)
        made += cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
    for (int i = 0; i < MANY; i++)
        gone += cuEventDestroy(events[i]) == CUDA_SUCCESS;
    say_value("made", made);
    say_value("gone", gone);
}

CASE(event, destroy_null)
{
    say(cuEventDestroy(NULL));
}

CASE(event, destroy_pending)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    say(cuEventDestroy(event));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

/* ---- record and query ---- */

CASE(event, query_unrecorded)
{
    say(cuEventQuery(gold_event(0)));
}

CASE(event, synchronize_unrecorded)
{
    say(cuEventSynchronize(gold_event(0)));
}

CASE(event, query_null)
{
    say(cuEventQuery(NULL));
}

CASE(event, synchronize_null)
{
    say(cuEventSynchronize(NULL));
}

CASE(event, record_null)
{
    say(cuEventRecord(NULL, NULL));
}

CASE(event, record_idle)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(0);
    say(cuEventRecord(event, stream));
    say(cuEventSynchronize(event));
    say(cuEventQuery(event));
}

CASE(event, query_pending)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
    say(cuEventQuery(event));
}

CASE(event, record_before_work)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, stream));
    struct gold_gate gate = gold_gate_close(stream);
    say(gold_wait_event(event, 2000));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(event, rerecord_moves_on)
{
    CUstream busy = gold_stream(CU_STREAM_NON_BLOCKING), idle = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(busy);
    NEED(cuEventRecord(event, busy));
    say(cuEventQuery(event));
    NEED(cuEventRecord(event, idle));
    say(gold_wait_event(event, 2000));
    gold_gate_open(gate);
    say(cuStreamSynchronize(busy));
}

CASE(event, rerecord_pends_again)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, stream));
    say(cuEventSynchronize(event));
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

CASE(event, record_legacy_handle)
{
    CUevent event = gold_event(0);
    say(cuEventRecord(event, CU_STREAM_LEGACY));
    say(cuEventRecord(event, CU_STREAM_PER_THREAD));
    say(cuEventRecord(event, NULL));
    say(cuEventSynchronize(event));
}

CASE(event, record_stream_of_other_context, .alone = true)
{
    CUevent event = gold_event(0);
    gold_context_new();
    CUstream stream = gold_stream(0);
    say(cuEventRecord(event, stream));
}

CASE(event, record_in_own_context_while_other_is_current, .alone = true)
{
    CUevent event = gold_event(0);
    CUstream stream = gold_stream(0);
    gold_context_new();
    say(cuEventRecord(event, stream));
    say(cuEventSynchronize(event));
}

CASE(event, record_default_stream_of_other_context, .alone = true)
{
    CUevent event = gold_event(0);
    gold_context_new();
    say(cuEventRecord(event, NULL));
}

CASE(event, record_without_context, .alone = true)
{
    CUevent event = gold_event(0);
    CUstream stream = gold_stream(0);
    NEED(cuCtxSetCurrent(NULL));
    say(cuEventRecord(event, stream));
    say(cuEventRecord(event, NULL));
}

CASE(event, query_without_context, .alone = true)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    NEED(cuCtxSetCurrent(NULL));
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    say(cuEventDestroy(event));
}

CASE(event, record_with_flags_default)
{
    CUevent event = gold_event(0);
    say(cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_DEFAULT));
    say(cuEventSynchronize(event));
}

CASE(event, record_with_flags_external_uncaptured)
{
    CUevent event = gold_event(0);
    say(cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_EXTERNAL));
    say(cuEventQuery(event));
}

CASE(event, record_with_flags_unknown)
{
    CUevent event = gold_event(0);
    say(cuEventRecordWithFlags(event, NULL, 2));
    say(cuEventRecordWithFlags(event, NULL, 0x100));
}

CASE(event, record_with_flags_null)
{
    say(cuEventRecordWithFlags(NULL, NULL, 0));
}

CASE(event, blocking_sync_waits)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(CU_EVENT_BLOCKING_SYNC);
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int i = 0; i < 10; i++)
        gold_add(stream, word, 3);
    NEED(cuEventRecord(event, stream));
    say(cuEventSynchronize(event));
    say_int(gold_word(word));
}

/* ---- elapsed time ---- */

static void elapsed(unsigned first_flags, unsigned second_flags, bool record_first, bool record_second)
{
    CUevent start = gold_event(first_flags), end = gold_event(second_flags);
    if (record_first)
        NEED(cuEventRecord(start, NULL));
    if (record_second)
        NEED(cuEventRecord(end, NULL));
    NEED(cuCtxSynchronize());
    float ms = -7;
    CUresult status = cuEventElapsedTime(&ms, start, end);
    say(status);
    say_if("in_range", status == CUDA_SUCCESS ? ms >= 0 && ms < 20000 : ms == -7);
}

CASE(event, elapsed_both)
{
    elapsed(0, 0, true, true);
}

CASE(event, elapsed_start_unrecorded)
{
    elapsed(0, 0, false, true);
}

CASE(event, elapsed_end_unrecorded)
{
    elapsed(0, 0, true, false);
}

CASE(event, elapsed_neither_recorded)
{
    elapsed(0, 0, false, false);
}

CASE(event, elapsed_start_without_timing)
{
    elapsed(CU_EVENT_DISABLE_TIMING, 0, true, true);
}

CASE(event, elapsed_end_without_timing)
{
    elapsed(0, CU_EVENT_DISABLE_TIMING, true, true);
}

CASE(event, elapsed_untimed_and_unrecorded)
{
    elapsed(CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, false, false);
}

CASE(event, elapsed_reversed)
{
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, NULL));
    gold_sleep_ms(5);
    NEED(cuEventRecord(end, NULL));
    NEED(cuCtxSynchronize());
    float forward = 0, backward = 0;
    say(cuEventElapsedTime(&forward, start, end));
    say(cuEventElapsedTime(&backward, end, start));
    say_if("positive", forward > 0);
    say_if("opposite", forward == -backward);
}

CASE(event, elapsed_same_event)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    float ms = -7;
    say(cuEventElapsedTime(&ms, event, event));
    say_if("zero", ms == 0);
}

CASE(event, elapsed_covers_host_time)
{
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, NULL));
    NEED(cuEventSynchronize(start));
    gold_sleep_ms(40);
    NEED(cuEventRecord(end, NULL));
    NEED(cuEventSynchronize(end));
    float ms = 0;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("at_least_39ms", ms >= 39);
}

CASE(event, elapsed_covers_kernel)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, stream));
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(end, stream));
    gold_wait_event(start, 2000);
    gold_sleep_ms(30);
    gold_gate_open(gate);
    NEED(cuEventSynchronize(end));
    float ms = 0;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("at_least_25ms", ms >= 25);
}

CASE(event, elapsed_end_pending)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, stream));
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(end, stream));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("untouched", ms == -7);
    gold_gate_open(gate);
    NEED(cuEventSynchronize(end));
    say(cuEventElapsedTime(&ms, start, end));
}

CASE(event, elapsed_start_pending)
{
    CUstream busy = gold_stream(CU_STREAM_NON_BLOCKING), idle = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    struct gold_gate gate = gold_gate_close(busy);
    NEED(cuEventRecord(start, busy));
    NEED(cuEventRecord(end, idle));
    NEED(cuEventSynchronize(end));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
    gold_gate_open(gate);
    NEED(cuEventSynchronize(start));
    say(cuEventElapsedTime(&ms, start, end));
    say_if("not_after", ms <= 0);
}

CASE(event, elapsed_across_streams)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, one));
    NEED(cuStreamWaitEvent(two, start, 0));
    NEED(cuEventRecord(end, two));
    NEED(cuEventSynchronize(end));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("not_negative", ms >= 0);
}

CASE(event, elapsed_across_contexts, .alone = true)
{
    CUevent start = gold_event(0);
    NEED(cuEventRecord(start, NULL));
    NEED(cuEventSynchronize(start));
    gold_context_new();
    CUevent end = gold_event(0);
    NEED(cuEventRecord(end, NULL));
    NEED(cuEventSynchronize(end));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
}

CASE(event, elapsed_null_result)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    say(cuEventElapsedTime(NULL, event, event));
}

CASE(event, elapsed_null_event)
{
    CUevent event = gold_event(0);
    float ms;
    say(cuEventElapsedTime(&ms, NULL, event));
    say(cuEventElapsedTime(&ms, event, NULL));
}

/* The older ABI of elapsed time is a symbol of its own. */
#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd);

CASE(event, elapsed_v1_both)
{
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, NULL));
    NEED(cuEventRecord(end, NULL));
    NEED(cuEventSynchronize(end));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("not_negative", ms >= 0);
}

CASE(event, elapsed_v1_unrecorded)
{
    float ms = -7;
    say(cuEventElapsedTime(&ms, gold_event(0), gold_event(0)));
}

CASE(event, elapsed_v1_end_pending)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, stream));
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(end, stream));
    float ms = -7;
    say(cuEventElapsedTime(&ms, start, end));
    gold_gate_open(gate);
    NEED(cuEventSynchronize(end));
}

CASE(event, elapsed_v1_without_timing)
{
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    float ms = -7;
    say(cuEventElapsedTime(&ms, event, event));
}

/* ---- handles that are no events ---- */

#define STALE_EVENT \
    .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED", \
    .why = "undefined on hardware: it may crash or take the handle for a live one"

static CUevent stale_event(void)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    NEED(cuEventDestroy(event));
    return event;
}

CASE(event, destroy_twice, STALE_EVENT)
{
    say(cuEventDestroy(stale_event()));
}

CASE(event, query_destroyed, STALE_EVENT)
{
    say(cuEventQuery(stale_event()));
}

CASE(event, synchronize_destroyed, STALE_EVENT)
{
    say(cuEventSynchronize(stale_event()));
}

CASE(event, record_destroyed, STALE_EVENT)
{
    say(cuEventRecord(stale_event(), NULL));
}

CASE(event, wait_destroyed, STALE_EVENT)
{
    say(cuStreamWaitEvent(NULL, stale_event(), 0));
}

CASE(event, elapsed_destroyed, STALE_EVENT)
{
    float ms;
    CUevent live = gold_event(0);
    NEED(cuEventRecord(live, NULL));
    say(cuEventElapsedTime(&ms, stale_event(), live));
}

CASE(event, query_foreign, STALE_EVENT)
{
    say(cuEventQuery(gold_foreign()));
}

CASE(event, record_foreign, STALE_EVENT)
{
    say(cuEventRecord(gold_foreign(), NULL));
}

CASE(event, destroy_foreign, STALE_EVENT)
{
    say(cuEventDestroy(gold_foreign()));
}

CASE(event, query_wild, STALE_EVENT)
{
    say(cuEventQuery(GOLD_WILD));
}

CASE(event, query_stream_as_event, STALE_EVENT)
{
    say(cuEventQuery((CUevent)(void *)gold_stream(0)));
}

CASE(event, record_in_stream_as_event, STALE_EVENT)
{
    CUevent event = gold_event(0);
    say(cuEventRecord(event, (CUstream)(void *)event));
}

CASE(event, query_after_context_destroyed, STALE_EVENT)
{
    CUcontext other = gold_context_new();
    CUevent event = gold_event(0);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuEventQuery(event));
}

CASE(event, destroy_after_context_destroyed, STALE_EVENT)
{
    CUcontext other = gold_context_new();
    CUevent event = gold_event(0);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuEventDestroy(event));
}
