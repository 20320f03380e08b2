/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How streams are forked and joined through events while they are captured, how
 * captures begin and end, and that a captured graph, launched, does what the
 * streams would have done.
 */
#include "gold_capture.h"

#include <string.h>

static void nothing(void *data)
{
    (void)data;
}

/* ---- forks and joins ---- */

CASE(capture, fork_join)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    gold_after(two, one);
    say_state(two);
    NEED(gold_empty(two));
    NEED(gold_empty(one));
    gold_after(one, two);
    NEED(gold_empty(one));
    say_rest(one);
    say_state(two);
}

CASE(capture, fork_before_first_node)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    gold_after(two, one);
    say_state(two);
    NEED(gold_empty(two));
    NEED(gold_empty(one));
    gold_after(one, two);
    say_rest(one);
}

CASE(capture, fork_without_work_not_joined)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    gold_after(two, one);
    say_rest(one);
    say_state(two);
}

CASE(capture, fork_of_blocking_streams)
{
    CUstream one = gold_stream(0), two = gold_stream(0);
    NEED(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(gold_empty(one));
    gold_after(two, one);
    NEED(gold_empty(two));
    gold_after(one, two);
    say_rest(one);
}

CASE(capture, fork_joined_by_third)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUstream two = gold_stream(CU_STREAM_NON_BLOCKING), three = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    gold_after(two, one);
    gold_after(three, one);
    NEED(gold_empty(two));
    NEED(gold_empty(three));
    gold_after(three, two);
    NEED(gold_empty(three));
    gold_after(one, three);
    NEED(gold_empty(one));
    say_rest(one);
}

CASE(capture, fork_chain)
{
    CUstream streams[6];
    streams[0] = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_empty(streams[0]));
    for (int i = 1; i < 6; i++) {
        streams[i] = gold_stream(CU_STREAM_NON_BLOCKING);
        gold_after(streams[i], streams[i - 1]);
        NEED(gold_empty(streams[i]));
    }
    gold_after(streams[0], streams[5]);
    say_rest(streams[0]);
}

CASE(capture, fork_wide)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), others[8];
    NEED(gold_empty(one));
    CUevent start = gold_mark(one);
    for (int i = 0; i < 8; i++) {
        others[i] = gold_stream(CU_STREAM_NON_BLOCKING);
        NEED(cuStreamWaitEvent(others[i], start, 0));
        NEED(gold_empty(others[i]));
    }
    for (int i = 0; i < 8; i++)
        gold_after(one, others[i]);
    NEED(gold_empty(one));
    say_rest(one);
}

CASE(capture, diamond_of_kinds)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUstream two = set->other;
    NEED(cuMemsetD8Async(set->a, 1, 64, set->captured));
    gold_after(two, set->captured);
    NEED(cuMemcpyDtoHAsync(set->pinned, set->a, 64, two));
    NEED(gold_empty(set->captured));
    gold_after(set->captured, two);
    NEED(cuLaunchHostFunc(set->captured, nothing, NULL));
    say_rest(set->captured);
}

CASE(capture, wait_of_two_events)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    gold_after(two, one);
    NEED(gold_empty(two));
    CUevent first = gold_mark(two);
    NEED(gold_empty(two));
    CUevent second = gold_mark(two);
    NEED(cuStreamWaitEvent(one, first, 0));
    NEED(cuStreamWaitEvent(one, second, 0));
    NEED(cuStreamWaitEvent(one, second, 0));
    NEED(gold_empty(one));
    say_rest(one);
}

CASE(capture, event_recorded_twice)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_mark(one);
    NEED(gold_empty(one));
    NEED(cuEventRecord(event, one));
    NEED(cuStreamWaitEvent(two, event, 0));
    NEED(gold_empty(two));
    NEED(cuEventRecord(event, two));
    NEED(cuStreamWaitEvent(one, event, 0));
    NEED(gold_empty(one));
    say_rest(one);
}

CASE(capture, event_destroyed_before_wait_ends)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    CUevent event = gold_mark(one);
    NEED(cuStreamWaitEvent(two, event, 0));
    say(cuEventDestroy(event));
    NEED(gold_empty(two));
    event = gold_mark(two);
    NEED(cuStreamWaitEvent(one, event, 0));
    say(cuEventDestroy(event));
    say_rest(one);
}

CASE(capture, joined_stream_goes_on)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    gold_after(two, one);
    NEED(gold_empty(two));
    gold_after(one, two);
    NEED(gold_empty(two));
    gold_after(one, two);
    NEED(gold_empty(one));
    gold_after(two, one);
    say_rest(one);
}

CASE(capture, per_thread_stream)
{
    say(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(gold_empty(CU_STREAM_PER_THREAD));
    say_rest(CU_STREAM_PER_THREAD);
}

CASE(capture, per_thread_stream_forked)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_empty(one));
    CUevent event = gold_mark(one);
    say(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
    say(gold_empty(CU_STREAM_PER_THREAD));
    say(cuEventRecord(event, CU_STREAM_PER_THREAD));
    say(cuStreamWaitEvent(one, event, 0));
    say_rest(one);
}

CASE(capture, legacy_stream_waits)
{
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_empty(one));
    say(cuStreamWaitEvent(NULL, gold_mark(one), 0));
    say_rest(one);
}

/* ---- beginning and ending ---- */

CASE(capture, begin_each_mode)
{
    for (int mode = -1; mode < 4; mode++) {
        CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
        say(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
        say_rest(stream);
    }
}

CASE(capture, begin_legacy)
{
    say(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
    say_state(NULL);
}

CASE(capture, begin_wild)
{
    say(cuStreamBeginCapture(gold_foreign(), CU_STREAM_CAPTURE_MODE_GLOBAL));
}

CASE(capture, begin_destroyed, .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE", .why = "a handle that is none")
{
    CUstream stream = gold_stream(0);
    NEED(cuStreamDestroy(stream));
    say(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

CASE(capture, begin_busy)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(gold_empty(stream));
    say_rest(stream);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(capture, end_without_begin)
{
    CUgraph graph = (CUgraph)GOLD_WILD;
    say(cuStreamEndCapture(gold_stream(0), &graph));
    say_if("untouched", graph == (CUgraph)GOLD_WILD);
    say_if("null", graph == NULL);
}

CASE(capture, end_legacy)
{
    CUgraph graph = (CUgraph)GOLD_WILD;
    say(cuStreamEndCapture(NULL, &graph));
    say_if("untouched", graph == (CUgraph)GOLD_WILD);
}

CASE(capture, end_null)
{
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_empty(stream));
    say(cuStreamEndCapture(stream, NULL));
    say_rest(stream);
}

CASE(capture, end_null_without_begin)
{
    say(cuStreamEndCapture(gold_stream(0), NULL));
}

CASE(capture, end_twice)
{
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    say_end(stream);
    say_end(stream);
}

CASE(capture, begin_again_after_end)
{
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_empty(stream));
    say_end(stream);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    say_end(stream);
}

CASE(capture, stream_works_after_end)
{
    CUdeviceptr memory = gold_alloc_words(1, 1);
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    gold_store(stream, memory, 2);
    CUgraph graph = gold_capture_end(stream);
    gold_add(stream, memory, 10);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(memory));
    say(cuGraphDestroy(graph));
}

/* ---- a captured graph does what the stream would have done ---- */

CASE(capture, launch_chain)
{
    CUdeviceptr memory = gold_alloc_words(1, 0);
    unsigned *pinned;
    void *host;
    NEED(cuMemHostAlloc(&host, 64, 0));
    pinned = host;
    pinned[0] = 5;
    pinned[1] = 0;
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(cuMemcpyHtoDAsync(memory, &pinned[0], 4, stream));
    gold_add(stream, memory, 3);
    NEED(cuMemcpyDtoHAsync(&pinned[1], memory, 4, stream));
    CUgraph graph = gold_capture_end(stream);
    CUgraphExec exec;
    say(cuGraphInstantiate(&exec, graph, 0));
    say_int(pinned[1]);
    for (int i = 0; i < 3; i++) {
        say(cuGraphLaunch(exec, stream));
        say(cuStreamSynchronize(stream));
        say_int(pinned[1]);
        pinned[0] += 10;
    }
    say(cuGraphExecDestroy(exec));
    say(cuGraphDestroy(graph));
}

CASE(capture, launch_pageable_source_is_read_late)
{
    static unsigned source;
    CUdeviceptr memory = gold_alloc_words(1, 0);
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    source = 1;
    NEED(cuMemcpyHtoDAsync(memory, &source, 4, stream));
    source = 2;
    CUgraph graph = gold_capture_end(stream);
    CUgraphExec exec;
    NEED(cuGraphInstantiate(&exec, graph, 0));
    source = 3;
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
    say_int(gold_word(memory));
}

CASE(capture, kernel_params_are_taken_at_once)
{
    CUdeviceptr memory = gold_alloc_words(1, 0);
    unsigned value = 7;
    void *params[] = {&memory, &value};
    CUfunction store = gold_function("store");
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    NEED(gold_launch(store, 1, stream, params));
    value = 9;
    CUgraph graph = gold_capture_end(stream);
    CUgraphExec exec;
    NEED(cuGraphInstantiate(&exec, graph, 0));
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
    say_int(gold_word(memory));
}

CASE(capture, nothing_runs_while_captured)
{
    CUdeviceptr memory = gold_alloc_words(1, 1);
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    gold_store(stream, memory, 2);
    CUgraph graph = gold_capture_end(stream);
    NEED(cuCtxSynchronize());
    say_int(gold_word(memory));
    NEED(cuGraphDestroy(graph));
}

CASE(capture, external_events)
{
    CUevent start = gold_event(0), end = gold_event(0);
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuEventRecordWithFlags(start, stream, CU_EVENT_RECORD_EXTERNAL));
    NEED(gold_empty(stream));
    say(cuEventRecordWithFlags(end, stream, CU_EVENT_RECORD_EXTERNAL));
    say(cuEventQuery(start));
    CUgraph graph = gold_capture_end(stream);
    CUgraphExec exec;
    NEED(cuGraphInstantiate(&exec, graph, 0));
    say(cuEventQuery(end));
    NEED(cuGraphLaunch(exec, stream));
    say(cuEventSynchronize(end));
    float ms = -1;
    say(cuEventElapsedTime(&ms, start, end));
    say_if("order", ms >= 0);
}
