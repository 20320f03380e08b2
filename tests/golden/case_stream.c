/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: create, priority, flags, query, synchronise, destroy while busy,
 * wait for an event, and the order of work within and between streams.
 */
#include "gold.h"

/* ---- create ---- */

CASE(stream, create_each_flag)
{
    for (unsigned flags = 0; flags < 5; flags++) {
        CUstream stream = NULL;
        CUresult status = cuStreamCreate(&stream, flags);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuStreamDestroy(stream));
    }
}

CASE(stream, create_null)
{
    say(cuStreamCreate(NULL, 0));
}

CASE(stream, create_unknown_flag_leaves_result)
{
    CUstream stream = (CUstream)(uintptr_t)0x55;
    say(cuStreamCreate(&stream, 0x100));
    say_if("untouched", stream == (CUstream)(uintptr_t)0x55);
}

CASE(stream, create_without_context, .alone = true)
{
    CUstream stream;
    NEED(cuCtxSetCurrent(NULL));
    say(cuStreamCreate(&stream, 0));
}

CASE(stream, create_many)
{
    enum { MANY = 500 };
    static CUstream streams[MANY];
    int made = 0, gone = 0;
    for (int i = 0; i < MANY; i++)
        made += cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    for (int i = 0; i < MANY; i++)
        gone += cuStreamDestroy(streams[i]) == CUDA_SUCCESS;
    say_value("made", made);
    say_value("gone", gone);
}

CASE(stream, priority_clamped)
{
    int low, high;
    NEED(cuCtxGetStreamPriorityRange(&low, &high));
    for (int wanted = low - 1; wanted <= low + 1; wanted += 2) {
        CUstream stream;
        int priority = 99;
        say(cuStreamCreateWithPriority(&stream, 0, wanted));
        say(cuStreamGetPriority(stream, &priority));
        say_if("in_range", priority <= low && priority >= high);
    }
    CUstream stream;
    int priority = 99;
    say(cuStreamCreateWithPriority(&stream, 0, -1000));
    say(cuStreamGetPriority(stream, &priority));
    say_if("greatest", priority == high);
}

CASE(stream, priority_default, .alone = true)
{
    int priority = 99;
    say(cuStreamGetPriority(gold_stream(0), &priority));
    say_int(priority);
    say(cuStreamGetPriority(NULL, &priority));
    say_int(priority);
    say(cuStreamGetPriority(CU_STREAM_PER_THREAD, &priority));
    say_int(priority);
}

CASE(stream, priority_minus_one)
{
    CUstream stream;
    int priority = 99;
    say(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    say(cuStreamGetPriority(stream, &priority));
    say_int(priority);
}

CASE(stream, create_with_priority_bad)
{
    CUstream stream;
    say(cuStreamCreateWithPriority(NULL, 0, 0));
    say(cuStreamCreateWithPriority(&stream, 2, 0));
}

CASE(stream, priority_null_result)
{
    say(cuStreamGetPriority(gold_stream(0), NULL));
}

CASE(stream, flags)
{
    unsigned flags = 99;
    say(cuStreamGetFlags(gold_stream(0), &flags));
    say_int(flags);
    say(cuStreamGetFlags(gold_stream(CU_STREAM_NON_BLOCKING), &flags));
    say_int(flags);
}

CASE(stream, flags_of_default_streams)
{
    unsigned flags = 99;
    say(cuStreamGetFlags(NULL, &flags));
    say_int(flags);
    say(cuStreamGetFlags(CU_STREAM_LEGACY, &flags));
    say_int(flags);
    say(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags));
    say_int(flags);
}

CASE(stream, flags_null_result)
{
    say(cuStreamGetFlags(gold_stream(0), NULL));
}

CASE(stream, ids_differ)
{
    CUstream one = gold_stream(0), two = gold_stream(0);
    unsigned long long a = 0, b = 0, again = 0, legacy = 0, zero = 0;
    say(cuStreamGetId(one, &a));
    say(cuStreamGetId(two, &b));
    say(cuStreamGetId(one, &again));
    say(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    say(cuStreamGetId(NULL, &zero));
    say_if("differ", a != b && a != legacy && b != legacy);
    say_if("stable", a == again);
    say_if("zero_is_legacy", zero == legacy);
}

CASE(stream, id_null_result)
{
    say(cuStreamGetId(gold_stream(0), NULL));
}

CASE(stream, context_of)
{
    CUcontext context = NULL;
    say(cuStreamGetCtx(gold_stream(0), &context));
    say_if("own", context == gold_context());
    context = NULL;
    say(cuStreamGetCtx(NULL, &context));
    say_if("own", context == gold_context());
    context = NULL;
    say(cuStreamGetCtx(CU_STREAM_PER_THREAD, &context));
    say_if("own", context == gold_context());
}

CASE(stream, context_of_while_other_is_current, .alone = true)
{
    CUstream stream = gold_stream(0);
    CUcontext other = gold_context_new(), context = NULL;
    say(cuStreamGetCtx(stream, &context));
    say_if("own", context == gold_context());
    say(cuStreamGetCtx(NULL, &context));
    say_if("other", context == other);
}

CASE(stream, context_null_result)
{
    say(cuStreamGetCtx(gold_stream(0), NULL));
}

CASE(stream, device_of)
{
    CUdevice device = -5;
    say(cuStreamGetDevice(gold_stream(0), &device));
    say_if("own", device == gold_device());
    say(cuStreamGetDevice(NULL, &device));
}

/* ---- query, synchronise, destroy ---- */

CASE(stream, query_idle)
{
    say(cuStreamQuery(gold_stream(0)));
}

CASE(stream, query_default_idle)
{
    say(cuStreamQuery(NULL));
    say(cuStreamQuery(CU_STREAM_LEGACY));
    say(cuStreamQuery(CU_STREAM_PER_THREAD));
}

CASE(stream, query_busy)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say(cuStreamQuery(stream));
}

CASE(stream, synchronize_idle)
{
    say(cuStreamSynchronize(gold_stream(0)));
    say(cuStreamSynchronize(NULL));
    say(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

CASE(stream, synchronize_leaves_others)
{
    CUstream busy = gold_stream(CU_STREAM_NON_BLOCKING), idle = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(busy);
    gold_store(idle, word, 5);
    say(cuStreamSynchronize(idle));
    say(cuStreamQuery(busy));
    gold_gate_open(gate);
    say(cuStreamSynchronize(busy));
}

CASE(stream, context_synchronize_waits_for_all)
{
    CUstream streams[4];
    CUdeviceptr words = gold_alloc_words(4, 0);
    for (unsigned i = 0; i < 4; i++) {
        streams[i] = gold_stream(i & 1 ? CU_STREAM_NON_BLOCKING : 0);
        gold_store(streams[i], words + 4 * i, i + 1);
    }
    say(cuCtxSynchronize());
    for (unsigned i = 0; i < 4; i++)
        say(cuStreamQuery(streams[i]));
    for (unsigned i = 0; i < 4; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(stream, destroy_busy_finishes_work)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(stream);
    gold_store(stream, word, 77);
    say(cuStreamDestroy(stream));
    gold_gate_open(gate);
    say(cuCtxSynchronize());
    say_int(gold_word(word));
}

CASE(stream, destroy_null)
{
    say(cuStreamDestroy(NULL));
}

CASE(stream, destroy_legacy)
{
    say(cuStreamDestroy(CU_STREAM_LEGACY));
}

CASE(stream, destroy_per_thread)
{
    say(cuStreamDestroy(CU_STREAM_PER_THREAD));
}

CASE(stream, operations_without_context, .alone = true)
{
    CUstream stream = gold_stream(0);
    NEED(cuCtxSetCurrent(NULL));
    say(cuStreamQuery(stream));
    say(cuStreamSynchronize(stream));
    say(cuStreamDestroy(stream));
}

CASE(stream, default_stream_without_context, .alone = true)
{
    NEED(cuCtxSetCurrent(NULL));
    say(cuStreamQuery(NULL));
    say(cuStreamSynchronize(NULL));
    say(cuStreamQuery(CU_STREAM_PER_THREAD));
}

CASE(stream, used_while_other_context_is_current, .alone = true)
{
    CUstream stream = gold_stream(0);
    gold_context_new();
    say(cuStreamQuery(stream));
    say(cuStreamSynchronize(stream));
    say(cuStreamDestroy(stream));
}

/* ---- order ---- */

CASE(stream, order_within)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = gold_alloc_words(2, 1);
    struct gold_gate gate = gold_gate_close(stream);
    gold_add(stream, words, 9);
    NEED(cuMemcpyDtoDAsync(words + 4, words, 4, stream));
    gold_add(stream, words + 4, 100);
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(stream, long_chain)
{
    CUstream stream = gold_stream(0);
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int i = 0; i < 1000; i++)
        gold_add(stream, word, 1);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(stream, wait_event_orders)
{
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr words = gold_alloc_words(2, 0);
    struct gold_gate gate = gold_gate_close(first);
    gold_store(first, words, 41);
    NEED(cuEventRecord(event, first));
    say(cuStreamWaitEvent(second, event, 0));
    gold_add(second, words, 1);
    say(cuStreamQuery(second));
    gold_gate_open(gate);
    say(cuStreamSynchronize(second));
    say_int(gold_word(words));
}

CASE(stream, wait_event_unrecorded)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitEvent(stream, gold_event(0), 0));
    say(gold_wait_stream(stream, 2000));
}

CASE(stream, wait_event_keeps_first_record)
{
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstream waiter = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuEventRecord(event, first));
    NEED(cuEventSynchronize(event));
    say(cuStreamWaitEvent(waiter, event, 0));
    struct gold_gate gate = gold_gate_close(second);
    NEED(cuEventRecord(event, second));
    say(gold_wait_stream(waiter, 2000));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

CASE(stream, wait_event_then_rerecord_elsewhere)
{
    CUstream busy = gold_stream(CU_STREAM_NON_BLOCKING), idle = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstream waiter = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    struct gold_gate gate = gold_gate_close(busy);
    NEED(cuEventRecord(event, busy));
    NEED(cuStreamWaitEvent(waiter, event, 0));
    NEED(cuEventRecord(event, idle));
    say(gold_wait_event(event, 2000));
    say(cuStreamQuery(waiter));
    gold_gate_open(gate);
    say(cuStreamSynchronize(waiter));
}

CASE(stream, wait_event_destroyed_after)
{
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(first);
    gold_store(first, word, 10);
    NEED(cuEventRecord(event, first));
    NEED(cuStreamWaitEvent(second, event, 0));
    say(cuEventDestroy(event));
    gold_add(second, word, 5);
    say(cuStreamQuery(second));
    gold_gate_open(gate);
    say(cuStreamSynchronize(second));
    say_int(gold_word(word));
}

CASE(stream, wait_event_own_stream)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, stream));
    say(cuStreamWaitEvent(stream, event, 0));
    say(cuStreamSynchronize(stream));
}

CASE(stream, wait_event_null)
{
    say(cuStreamWaitEvent(gold_stream(0), NULL, 0));
}

CASE(stream, wait_event_flags)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, stream));
    say(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_DEFAULT));
    say(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    say(cuStreamWaitEvent(stream, event, 2));
    say(cuStreamWaitEvent(stream, event, 0x1000));
}

CASE(stream, wait_event_of_other_context, .alone = true)
{
    CUevent event = gold_event(0);
    CUstream here = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(here);
    gold_store(here, word, 6);
    NEED(cuEventRecord(event, here));
    gold_context_new();
    CUstream there = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitEvent(there, event, 0));
    say(cuStreamQuery(there));
    gold_gate_open(gate);
    say(cuStreamSynchronize(there));
    say(cuEventQuery(event));
}

CASE(stream, diamond)
{
    CUstream top = gold_stream(CU_STREAM_NON_BLOCKING), left = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstream right = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent fork = gold_event(CU_EVENT_DISABLE_TIMING), join = gold_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr words = gold_alloc_words(3, 0);
    struct gold_gate gate = gold_gate_close(top);
    gold_store(top, words, 1);
    NEED(cuEventRecord(fork, top));
    NEED(cuStreamWaitEvent(left, fork, 0));
    NEED(cuStreamWaitEvent(right, fork, 0));
    NEED(cuMemcpyDtoDAsync(words + 4, words, 4, left));
    NEED(cuMemcpyDtoDAsync(words + 8, words, 4, right));
    NEED(cuEventRecord(join, left));
    NEED(cuStreamWaitEvent(top, join, 0));
    NEED(cuEventRecord(join, right));
    NEED(cuStreamWaitEvent(top, join, 0));
    gold_store(top, words, 2);
    gold_gate_open(gate);
    say(cuStreamSynchronize(top));
    for (unsigned i = 0; i < 3; i++)
        say_int(gold_word(words + 4 * i));
}

/* A kernel that spins must not keep back the stream whose work ends its spin. */
CASE(stream, spin_until_other_stream_stores)
{
    CUstream spinner = gold_stream(CU_STREAM_NON_BLOCKING), setter = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr flag = gold_alloc_words(1, 0);
    void *params[] = {&flag};
    CUevent start = gold_event(0), end = gold_event(0);
    gold_function("store");
    NEED(cuEventRecord(start, spinner));
    NEED(gold_launch(gold_function("spin"), 1, spinner, params));
    NEED(cuEventRecord(end, spinner));
    gold_store(setter, flag, 1);
    say(cuStreamSynchronize(spinner));
    float ms = 0;
    NEED(cuEventElapsedTime(&ms, start, end));
    say_if("before_its_bound", ms < 7000);
}

CASE(stream, many_spinners_make_progress)
{
    enum { SPINNERS = 6 };
    CUstream streams[SPINNERS], setter = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr flag = gold_alloc_words(1, 0);
    void *params[] = {&flag};
    CUevent start = gold_event(0), end = gold_event(0);
    NEED(cuEventRecord(start, setter));
    for (int i = 0; i < SPINNERS; i++) {
        streams[i] = gold_stream(CU_STREAM_NON_BLOCKING);
        NEED(gold_launch(gold_function("spin"), 1, streams[i], params));
    }
    gold_store(setter, flag, 1);
    for (int i = 0; i < SPINNERS; i++)
        NEED(cuStreamSynchronize(streams[i]));
    NEED(cuEventRecord(end, setter));
    say(cuEventSynchronize(end));
    float ms = 0;
    NEED(cuEventElapsedTime(&ms, start, end));
    say_if("before_its_bound", ms < 7000);
}

/* ---- attributes ---- */

CASE(stream, copy_attributes)
{
    say(cuStreamCopyAttributes(gold_stream(0), gold_stream(0)));
}

CASE(stream, capture_status_idle)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    say(cuStreamIsCapturing(gold_stream(0), &status));
    say_int(status);
    say(cuStreamIsCapturing(NULL, &status));
    say_int(status);
}

CASE(stream, capture_status_null)
{
    say(cuStreamIsCapturing(gold_stream(0), NULL));
}

/* ---- handles that are no streams ---- */

#define STALE_STREAM \
    .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED", \
    .why = "undefined on hardware: it may crash or take the handle for a live one"

static CUstream stale_stream(void)
{
    CUstream stream = gold_stream(0);
    NEED(cuStreamSynchronize(stream));
    NEED(cuStreamDestroy(stream));
    return stream;
}

CASE(stream, destroy_twice, STALE_STREAM)
{
    say(cuStreamDestroy(stale_stream()));
}

CASE(stream, query_destroyed, STALE_STREAM)
{
    say(cuStreamQuery(stale_stream()));
}

CASE(stream, synchronize_destroyed, STALE_STREAM)
{
    say(cuStreamSynchronize(stale_stream()));
}

CASE(stream, record_in_destroyed, STALE_STREAM)
{
    CUevent event = gold_event(0);
    say(cuEventRecord(event, stale_stream()));
}

CASE(stream, launch_in_destroyed, STALE_STREAM)
{
    CUfunction function = gold_function("empty");
    say(gold_launch(function, 1, stale_stream(), NULL));
}

CASE(stream, copy_in_destroyed, STALE_STREAM)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    say(cuMemcpyDtoDAsync(words, words + 4, 4, stale_stream()));
}

CASE(stream, flags_of_destroyed, STALE_STREAM)
{
    unsigned flags;
    say(cuStreamGetFlags(stale_stream(), &flags));
}

CASE(stream, query_foreign, STALE_STREAM)
{
    say(cuStreamQuery(gold_foreign()));
}

CASE(stream, query_wild, STALE_STREAM)
{
    say(cuStreamQuery(GOLD_WILD));
}

CASE(stream, query_event_as_stream, STALE_STREAM)
{
    say(cuStreamQuery((CUstream)(void *)gold_event(0)));
}

CASE(stream, query_after_context_destroyed, STALE_STREAM)
{
    CUcontext other = gold_context_new();
    CUstream stream = gold_stream(0);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuStreamQuery(stream));
}

CASE(stream, destroy_after_context_destroyed, STALE_STREAM)
{
    CUcontext other = gold_context_new();
    CUstream stream = gold_stream(0);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuStreamDestroy(stream));
}
