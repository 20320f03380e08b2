/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions and callbacks in a stream: when they run, what follows them,
 * and which arguments are refused.
 */
#include "gold.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int calls;

static void count(void *data)
{
    atomic_fetch_add(&calls, data ? *(int *)data : 1);
}

CASE(host_func, runs_in_order)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    int one = 1, ten = 10;
    atomic_store(&calls, 0);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuLaunchHostFunc(stream, count, &one));
    say(cuLaunchHostFunc(stream, count, &ten));
    say_int(atomic_load(&calls));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&calls));
}

CASE(host_func, null_data)
{
    atomic_store(&calls, 0);
    say(cuLaunchHostFunc(NULL, count, NULL));
    say(cuStreamSynchronize(NULL));
    say_int(atomic_load(&calls));
}

CASE(host_func, null_function)
{
    say(cuLaunchHostFunc(NULL, NULL, NULL));
    say(cuLaunchHostFunc(gold_stream(0), NULL, NULL));
}

CASE(host_func, in_default_streams)
{
    atomic_store(&calls, 0);
    say(cuLaunchHostFunc(CU_STREAM_LEGACY, count, NULL));
    say(cuLaunchHostFunc(CU_STREAM_PER_THREAD, count, NULL));
    say(cuCtxSynchronize());
    say_int(atomic_load(&calls));
}

CASE(host_func, many)
{
    CUstream stream = gold_stream(0);
    atomic_store(&calls, 0);
    for (int i = 0; i < 1000; i++)
        NEED(cuLaunchHostFunc(stream, count, NULL));
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&calls));
}

static pthread_t ran_on;

static void note_thread(void *data)
{
    (void)data;
    ran_on = pthread_self();
}

CASE(host_func, not_on_the_calling_thread, .allow = "CUDA_SUCCESS same_thread=yes|CUDA_SUCCESS same_thread=no",
     .why = "no promise is made about the thread")
{
    CUstream stream = gold_stream(0);
    NEED(cuLaunchHostFunc(stream, note_thread, NULL));
    say(cuStreamSynchronize(stream));
    say_if("same_thread", pthread_equal(ran_on, pthread_self()) != 0);
}

static void slow(void *data)
{
    gold_sleep_ms(50);
    atomic_fetch_add((atomic_int *)data, 1);
}

CASE(host_func, later_work_waits)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    atomic_int done = 0;
    NEED(cuLaunchHostFunc(stream, slow, &done));
    NEED(cuEventRecord(event, stream));
    say(cuEventSynchronize(event));
    say_int(atomic_load(&done));
}

CASE(host_func, elapsed_time_covers_it)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent start = gold_event(0), end = gold_event(0);
    atomic_int done = 0;
    float ms = 0;
    NEED(cuEventRecord(start, stream));
    NEED(cuLaunchHostFunc(stream, slow, &done));
    NEED(cuEventRecord(end, stream));
    NEED(cuEventSynchronize(end));
    say(cuEventElapsedTime(&ms, start, end));
    say_if("at_least_45ms", ms >= 45);
}

CASE(host_func, sees_earlier_copy)
{
    static unsigned *pinned;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 5);
    NEED(cuMemAllocHost((void **)&pinned, 4));
    *pinned = 0;
    atomic_store(&calls, 0);
    gold_add(stream, word, 3);
    NEED(cuMemcpyDtoHAsync(pinned, word, 4, stream));
    NEED(cuLaunchHostFunc(stream, count, pinned));
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&calls));
    NEED(cuMemFreeHost(pinned));
}

static CUresult inner_status;

static void calls_driver(void *data)
{
    inner_status = cuStreamQuery((CUstream)data);
}

CASE(host_func, driver_call_inside, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuLaunchHostFunc(stream, calls_driver, stream));
    say(cuStreamSynchronize(stream));
    say(inner_status);
}

static void allocates(void *data)
{
    (void)data;
    CUdeviceptr address;
    inner_status = cuMemAlloc(&address, 16);
}

CASE(host_func, allocation_inside, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuLaunchHostFunc(stream, allocates, NULL));
    say(cuStreamSynchronize(stream));
    say(inner_status);
}

/* ---- callbacks, the older form ---- */

static CUstream callback_stream;
static CUresult callback_status;

static void CUDA_CB callback(CUstream stream, CUresult status, void *data)
{
    callback_stream = stream;
    callback_status = status;
    atomic_fetch_add(&calls, *(int *)data);
}

CASE(host_func, callback)
{
    CUstream stream = gold_stream(0);
    int three = 3;
    atomic_store(&calls, 0);
    callback_status = CUDA_ERROR_UNKNOWN;
    say(cuStreamAddCallback(stream, callback, &three, 0));
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&calls));
    say(callback_status);
    say_if("stream_same", callback_stream == stream);
}

CASE(host_func, callback_holds_later_work)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    int one = 1;
    atomic_store(&calls, 0);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamAddCallback(stream, callback, &one, 0));
    say(cuStreamQuery(stream));
    say_int(atomic_load(&calls));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&calls));
}

CASE(host_func, callback_in_default_stream)
{
    int one = 1;
    atomic_store(&calls, 0);
    callback_stream = (CUstream)(uintptr_t)99;
    say(cuStreamAddCallback(NULL, callback, &one, 0));
    say(cuStreamSynchronize(NULL));
    say_int(atomic_load(&calls));
    say_if("stream_null", callback_stream == NULL);
}

CASE(host_func, callback_bad)
{
    int one = 1;
    say(cuStreamAddCallback(gold_stream(0), NULL, &one, 0));
    say(cuStreamAddCallback(gold_stream(0), callback, &one, 1));
    say(cuStreamAddCallback(gold_stream(0), callback, &one, 0x80));
    say(cuCtxSynchronize());
}
