/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends a capture before its time, and what is refused: the codes 900 to
 * 908, the state that a capture and its streams are left in, and that other
 * captures and streams go on.
 */
#include "gold_capture.h"

#include <pthread.h>
#include <string.h>

static void nothing(void *data)
{
    (void)data;
}

static CUevent mark(CUstream stream)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, stream));
    return event;
}

static CUstream fork_of(CUstream stream)
{
    CUstream other = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamWaitEvent(other, mark(stream), 0));
    return other;
}

/* An invalidated capture over two streams. */
static void spoil(CUstream stream)
{
    CUdeviceptr p;
    if (cuMemAlloc(&p, 64) == CUDA_SUCCESS)
        gold_stop("cuMemAlloc was allowed");
    say_state(stream);
}

#define G CU_STREAM_CAPTURE_MODE_GLOBAL
#define T CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define X CU_STREAM_CAPTURE_MODE_RELAXED

/* ---- unjoined work ---- */

CASE(capture_invalid, unjoined)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    say_rest(one);
    say_state(two);
    say(cuStreamQuery(two));
}

CASE(capture_invalid, unjoined_graph_argument)
{
    CUstream one = gold_capture(G);
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    CUgraph graph = (CUgraph)GOLD_WILD;
    say(cuStreamEndCapture(one, &graph));
    say_if("null", graph == NULL);
    say_if("untouched", graph == (CUgraph)GOLD_WILD);
}

CASE(capture_invalid, unjoined_after_join)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    NEED(cuStreamWaitEvent(one, mark(two), 0));
    NEED(gold_empty(two));
    say_rest(one);
    say_state(two);
}

CASE(capture_invalid, unjoined_one_of_two)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one), three = fork_of(one);
    NEED(gold_empty(two));
    NEED(gold_empty(three));
    NEED(cuStreamWaitEvent(one, mark(two), 0));
    say_rest(one);
    say_state(two);
    say_state(three);
}

CASE(capture_invalid, unjoined_event_node)
{
    struct gold_set *set = gold_set_begin(G);
    CUstream two = fork_of(set->captured);
    NEED(cuEventRecordWithFlags(set->fresh, two, CU_EVENT_RECORD_EXTERNAL));
    say_rest(set->captured);
}

CASE(capture_invalid, unjoined_stream_destroyed)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    say(cuStreamDestroy(two));
    say_rest(one);
}

CASE(capture_invalid, forked_stream_without_work_destroyed)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    say(cuStreamDestroy(two));
    say_rest(one);
}

CASE(capture_invalid, joined_stream_destroyed)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    NEED(cuStreamWaitEvent(one, mark(two), 0));
    say(cuStreamDestroy(two));
    say_rest(one);
}

CASE(capture_invalid, end_on_forked_stream)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    CUgraph graph = (CUgraph)GOLD_WILD;
    say(cuStreamEndCapture(two, &graph));
    say_if("null", graph == NULL);
    say_state(one);
    say_state(two);
    say_end(one);
}

CASE(capture_invalid, end_on_forked_stream_joined)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    NEED(gold_empty(two));
    NEED(cuStreamWaitEvent(one, mark(two), 0));
    say_end(two);
    say_rest(one);
}

CASE(capture_invalid, begin_on_forked_stream)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    say(cuStreamBeginCapture(two, G));
    say_state(two);
    say_rest(one);
}

CASE(capture_invalid, begin_twice)
{
    CUstream one = gold_capture(G);
    say(cuStreamBeginCapture(one, G));
    say_rest(one);
}

CASE(capture_invalid, begin_invalidated)
{
    CUstream one = gold_capture(G);
    spoil(one);
    say(cuStreamBeginCapture(one, G));
    say_rest(one);
    say(cuStreamBeginCapture(one, G));
    say_rest(one);
}

/* ---- captured events ---- */

CASE(capture_invalid, captured_event_query)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    say(cuEventQuery(event));
    say_rest(one);
}

CASE(capture_invalid, captured_event_query_relaxed)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    say(cuEventQuery(event));
    say_rest(one);
    say(cuEventQuery(event));
}

CASE(capture_invalid, captured_event_synchronize)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    say(cuEventSynchronize(event));
    say_rest(one);
    say(cuEventSynchronize(event));
}

CASE(capture_invalid, captured_event_elapsed)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUevent first = mark(one), second = mark(one);
    float ms;
    say(cuEventElapsedTime(&ms, first, second));
    say_rest(one);
    say(cuEventElapsedTime(&ms, first, second));
}

CASE(capture_invalid, captured_event_after_end)
{
    CUstream one = gold_capture(X), other = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    say_end(one);
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    say(cuStreamWaitEvent(other, event, 0));
    say_state(other);
    say(cuEventRecord(event, other));
    say(cuEventSynchronize(event));
}

CASE(capture_invalid, captured_event_after_end_in_capture)
{
    CUstream one = gold_capture(X), other = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    CUgraph graph = gold_capture_end(one);
    NEED(cuStreamBeginCapture(other, X));
    say(cuStreamWaitEvent(other, event, 0));
    say_rest(other);
    say(cuGraphDestroy(graph));
    NEED(cuStreamBeginCapture(one, X));
    say(cuStreamWaitEvent(one, event, 0));
    say_rest(one);
}

CASE(capture_invalid, captured_event_after_invalidation)
{
    CUstream one = gold_capture(G), other = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    spoil(one);
    say(cuStreamWaitEvent(other, event, 0));
    say_state(other);
    say(cuEventQuery(event));
    say_end(one);
    say(cuStreamWaitEvent(other, event, 0));
    say(cuEventQuery(event));
}

CASE(capture_invalid, captured_event_recorded_elsewhere)
{
    CUstream one = gold_capture(X), other = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    say(cuEventRecord(event, other));
    say_state(other);
    say(cuEventSynchronize(event));
    say(cuStreamWaitEvent(one, event, 0));
    say_rest(one);
}

CASE(capture_invalid, pending_event_recorded_in_capture)
{
    struct gold_set *set = gold_set_idle();
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(set->other);
    NEED(cuEventRecord(event, set->other));
    NEED(cuStreamBeginCapture(set->captured, X));
    say(cuEventRecord(event, set->captured));
    say(cuEventQuery(event));
    say_rest(set->captured);
    gold_gate_open(gate);
    say(cuStreamSynchronize(set->other));
    say(cuEventQuery(event));
}

CASE(capture_invalid, captured_event_external_wait_outside)
{
    CUstream one = gold_capture(X), other = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = mark(one);
    say(cuStreamWaitEvent(other, event, CU_EVENT_WAIT_EXTERNAL));
    say_state(other);
    say_rest(one);
}

CASE(capture_invalid, external_outside)
{
    struct gold_set *set = gold_set_idle();
    say(cuEventRecordWithFlags(set->done, set->other, CU_EVENT_RECORD_EXTERNAL));
    say(cuStreamWaitEvent(set->other, set->done, CU_EVENT_WAIT_EXTERNAL));
    say(cuEventRecordWithFlags(set->done, NULL, CU_EVENT_RECORD_EXTERNAL));
    say(cuStreamWaitEvent(NULL, set->done, CU_EVENT_WAIT_EXTERNAL));
    say(cuEventRecordWithFlags(set->done, set->other, 2));
    say(cuStreamWaitEvent(set->other, set->done, 2));
}

/* ---- isolation: work outside that the capture would depend on ---- */

CASE(capture_invalid, wait_for_event_outside)
{
    struct gold_set *set = gold_set_begin(G);
    say(cuStreamWaitEvent(set->captured, set->done, 0));
    say_rest(set->captured);
}

CASE(capture_invalid, wait_for_pending_event_outside)
{
    struct gold_set *set = gold_set_idle();
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(set->other);
    NEED(cuEventRecord(event, set->other));
    NEED(cuStreamBeginCapture(set->captured, X));
    say(cuStreamWaitEvent(set->captured, event, 0));
    say_rest(set->captured);
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(set->other));
}

CASE(capture_invalid, wait_for_event_recorded_since)
{
    struct gold_set *set = gold_set_begin(X);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, set->other));
    say(cuStreamWaitEvent(set->captured, event, 0));
    say_rest(set->captured);
}

/* A stream with work pending from before joins a capture. */
CASE(capture_invalid, busy_stream_joins)
{
    struct gold_set *set = gold_set_idle();
    struct gold_gate gate = gold_gate_close(set->other);
    NEED(cuStreamBeginCapture(set->captured, X));
    NEED(gold_empty(set->captured));
    CUevent event = mark(set->captured);
    say(cuStreamWaitEvent(set->other, event, 0));
    say_state(set->other);
    say(gold_empty(set->other));
    NEED(cuEventRecord(event, set->other));
    say(cuStreamWaitEvent(set->captured, event, 0));
    say_rest(set->captured);
    gold_gate_open(gate);
    say(cuStreamSynchronize(set->other));
}

/* ---- merging two captures ---- */

CASE(capture_invalid, merge)
{
    CUstream one = gold_capture(X), two = gold_capture(X);
    NEED(gold_empty(one));
    NEED(gold_empty(two));
    say(cuStreamWaitEvent(two, mark(one), 0));
    say_state(one);
    say_state(two);
    say(gold_empty(one));
    say(gold_empty(two));
    say_end(one);
    say_end(two);
}

CASE(capture_invalid, merge_empty)
{
    CUstream one = gold_capture(X), two = gold_capture(X);
    say(cuStreamWaitEvent(two, mark(one), 0));
    say_rest(one);
    say_rest(two);
}

CASE(capture_invalid, merge_in_forked_stream)
{
    CUstream one = gold_capture(X), two = gold_capture(X);
    NEED(gold_empty(one));
    CUstream fork = fork_of(one);
    NEED(gold_empty(fork));
    say(cuStreamWaitEvent(fork, mark(two), 0));
    say_state(fork);
    say_rest(one);
    say_rest(two);
}

CASE(capture_invalid, two_captures_at_once)
{
    CUstream one = gold_capture(G), two = gold_capture(G);
    NEED(gold_empty(one));
    NEED(gold_empty(two));
    NEED(gold_empty(two));
    say_rest(two);
    say_rest(one);
}

/* An event of one capture recorded again in another. */
CASE(capture_invalid, event_moves_between_captures)
{
    CUstream one = gold_capture(X), two = gold_capture(X);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    NEED(gold_empty(two));
    say(cuEventRecord(event, two));
    say(cuStreamWaitEvent(two, event, 0));
    say(cuStreamWaitEvent(one, event, 0));
    say_rest(one);
    say_rest(two);
}

/* ---- threads ---- */

struct errand {
    CUstream stream;
    CUstreamCaptureMode mode;
    CUresult status[4];
    CUgraph graph;
};

static void *end_it(void *data)
{
    struct errand *errand = data;
    errand->status[0] = cuCtxSetCurrent(gold_context());
    errand->status[1] = cuStreamEndCapture(errand->stream, &errand->graph);
    return NULL;
}

static void *launch_it(void *data)
{
    struct errand *errand = data;
    errand->status[0] = cuCtxSetCurrent(gold_context());
    errand->status[1] = gold_empty(errand->stream);
    return NULL;
}

static void *begin_it(void *data)
{
    struct errand *errand = data;
    errand->status[0] = cuCtxSetCurrent(gold_context());
    errand->status[1] = cuStreamBeginCapture(errand->stream, errand->mode);
    return NULL;
}

static void *query_it(void *data)
{
    struct errand *errand = data;
    CUstreamCaptureStatus state;
    errand->status[0] = cuCtxSetCurrent(gold_context());
    errand->status[1] = cuStreamIsCapturing(errand->stream, &state);
    errand->status[2] = cuStreamGetCaptureInfo(errand->stream, &state, NULL, NULL, NULL, NULL, NULL);
    errand->status[3] = (CUresult)state;
    return NULL;
}

static void elsewhere(void *(*function)(void *), struct errand *errand)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, errand))
        gold_stop("no thread");
    pthread_join(thread, NULL);
    say(errand->status[1]);
}

#define END_ELSEWHERE(title, capture_mode) \
    CASE(capture_invalid, end_in_other_thread_##title) \
    { \
        struct errand errand = {.stream = gold_capture(capture_mode)}; \
        NEED(gold_empty(errand.stream)); \
        elsewhere(end_it, &errand); \
        say_if("graph", errand.graph != NULL); \
        say_rest(errand.stream); \
    }

END_ELSEWHERE(global, G)
END_ELSEWHERE(thread, T)
END_ELSEWHERE(relaxed, X)

#define LAUNCH_ELSEWHERE(title, capture_mode) \
    CASE(capture_invalid, launch_in_other_thread_##title) \
    { \
        struct errand errand = {.stream = gold_capture(capture_mode)}; \
        elsewhere(launch_it, &errand); \
        say_rest(errand.stream); \
    }

LAUNCH_ELSEWHERE(global, G)
LAUNCH_ELSEWHERE(thread, T)
LAUNCH_ELSEWHERE(relaxed, X)

/* The thread that began is gone: who may end it? In a process of its own, as the capture may stay. */
CASE(capture_invalid, begin_in_other_thread_relaxed)
{
    struct errand errand = {.stream = gold_stream(CU_STREAM_NON_BLOCKING), .mode = X };
    gold_function("empty");
    elsewhere(begin_it, &errand);
    say_state(errand.stream);
    say(gold_empty(errand.stream));
    say_rest(errand.stream);
}

CASE(capture_invalid, begin_in_ended_thread_global, .alone = true)
{
    struct errand errand = {.stream = gold_stream(CU_STREAM_NON_BLOCKING), .mode = G};
    CUdeviceptr p = 0;
    gold_function("empty");
    elsewhere(begin_it, &errand);
    say_state(errand.stream);
    say(gold_empty(errand.stream));
    say_end(errand.stream);
    say_state(errand.stream);
    say(cuMemAlloc(&p, 64));
    say_state(errand.stream);
}

CASE(capture_invalid, begin_in_ended_thread_local, .alone = true)
{
    struct errand errand = {.stream = gold_stream(CU_STREAM_NON_BLOCKING), .mode = T};
    CUdeviceptr p = 0;
    gold_function("empty");
    elsewhere(begin_it, &errand);
    say_state(errand.stream);
    say(cuMemAlloc(&p, 64));
    say_state(errand.stream);
    say_end(errand.stream);
    say_state(errand.stream);
}

CASE(capture_invalid, query_in_other_thread)
{
    struct errand errand = {.stream = gold_capture(T)};
    elsewhere(query_it, &errand);
    say(errand.status[2]);
    say_int(errand.status[3]);
    say_rest(errand.stream);
}

/* ---- an invalidated capture ---- */

CASE(capture_invalid, work_after)
{
    struct gold_set *set = gold_set_begin(G);
    NEED(gold_empty(set->captured));
    spoil(set->captured);
    say(gold_empty(set->captured));
    say(cuMemcpyDtoDAsync(set->a, set->b, 64, set->captured));
    say(cuMemsetD8Async(set->a, 1, 64, set->captured));
    say(cuLaunchHostFunc(set->captured, nothing, NULL));
    say(cuEventRecord(gold_event(0), set->captured));
    say(cuStreamWaitEvent(set->captured, set->done, 0));
    say(cuEventRecordWithFlags(set->fresh, set->captured, CU_EVENT_RECORD_EXTERNAL));
    say(cuStreamWaitEvent(set->captured, set->done, CU_EVENT_WAIT_EXTERNAL));
    say(cuGraphLaunch(set->exec, set->captured));
    CUdeviceptr p;
    say(cuMemAllocAsync(&p, 64, set->captured));
    say(cuMemFreeAsync(set->a, set->captured));
    say(cuStreamWriteValue32(set->captured, set->a, 1, 0));
    say(cuStreamAttachMemAsync(set->captured, set->managed, 0, CU_MEM_ATTACH_GLOBAL));
    say_rest(set->captured);
    say(gold_empty(set->captured));
    say(cuStreamSynchronize(set->captured));
}

CASE(capture_invalid, queries_after)
{
    struct gold_set *set = gold_set_begin(G);
    spoil(set->captured);
    say(cuStreamQuery(set->captured));
    say(cuStreamSynchronize(set->captured));
    unsigned flags;
    say(cuStreamGetFlags(set->captured, &flags));
    CUstreamAttrValue value = {.priority = 0};
    say(cuStreamGetAttribute(set->captured, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuStreamSetAttribute(set->captured, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_rest(set->captured);
    say(cuStreamQuery(set->captured));
}

CASE(capture_invalid, spoils_all_streams)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    CUstream two = fork_of(one), three = fork_of(two);
    spoil(one);
    say_state(two);
    say_state(three);
    say(gold_empty(two));
    say_end(two);
    say_state(one);
    say_end(one);
    say_state(two);
    say_state(three);
    say(gold_empty(two));
}

CASE(capture_invalid, spoils_only_its_own)
{
    CUstream one = gold_capture(X), two = gold_capture(X);
    say(cuStreamQuery(one));
    say_state(one);
    say_state(two);
    say_end(one);
    say_end(two);
}

CASE(capture_invalid, end_null_graph_after)
{
    CUstream one = gold_capture(G);
    spoil(one);
    say(cuStreamEndCapture(one, NULL));
    say_rest(one);
}

CASE(capture_invalid, graph_argument_after)
{
    CUstream one = gold_capture(G);
    spoil(one);
    CUgraph graph = (CUgraph)GOLD_WILD;
    say(cuStreamEndCapture(one, &graph));
    say_if("null", graph == NULL);
    say_if("untouched", graph == (CUgraph)GOLD_WILD);
}

CASE(capture_invalid, stream_usable_after)
{
    CUdeviceptr memory = gold_alloc_words(1, 1);
    CUstream one = gold_capture(G);
    gold_store(one, memory, 5);
    spoil(one);
    say_end(one);
    gold_add(one, memory, 2);
    say(cuStreamSynchronize(one));
    say_int(gold_word(memory));
}

CASE(capture_invalid, query_invalidates)
{
    CUstream one = gold_capture(X);
    say(cuStreamQuery(one));
    say_rest(one);
}

CASE(capture_invalid, synchronize_invalidates)
{
    CUstream one = gold_capture(X);
    say(cuStreamSynchronize(one));
    say_rest(one);
}

CASE(capture_invalid, ctx_synchronize_relaxed)
{
    CUstream one = gold_capture(X);
    say(cuCtxSynchronize());
    say_rest(one);
}

CASE(capture_invalid, failed_launch_keeps)
{
    CUstream one = gold_capture(X);
    say(cuLaunchKernel(gold_function("empty"), 0, 1, 1, 1, 1, 1, 0, one, NULL, NULL));
    say_state(one);
    say(cuMemcpyDtoDAsync(0, 0, 64, one));
    say_state(one);
    say(cuLaunchHostFunc(one, NULL, NULL));
    say_state(one);
    say(cuStreamWaitEvent(one, NULL, 0));
    say_state(one);
    say(cuEventRecord(NULL, one));
    say_rest(one);
}

/* ---- legacy stream: 906 ---- */

CASE(capture_invalid, implicit_then_end)
{
    CUstream one = gold_stream(0);
    NEED(cuStreamBeginCapture(one, X));
    NEED(gold_empty(one));
    say(gold_empty(NULL));
    say_state(one);
    say(gold_empty(one));
    say_end(one);
    say(gold_empty(NULL));
}

CASE(capture_invalid, implicit_forked_blocking)
{
    CUstream one = gold_capture(X), two = gold_stream(0);
    NEED(gold_empty(one));
    NEED(cuStreamWaitEvent(two, mark(one), 0));
    say(gold_empty(NULL));
    say_state(one);
    say_state(two);
    say_end(one);
}

CASE(capture_invalid, implicit_two_captures)
{
    CUstream one = gold_stream(0), two = gold_stream(0), three = gold_capture(X);
    NEED(cuStreamBeginCapture(one, X));
    NEED(cuStreamBeginCapture(two, X));
    say(gold_empty(NULL));
    say_rest(one);
    say_rest(two);
    say_rest(three);
}

CASE(capture_invalid, implicit_info)
{
    CUstream one = gold_stream(0);
    NEED(cuStreamBeginCapture(one, X));
    CUstreamCaptureStatus state = (CUstreamCaptureStatus)7;
    say(cuStreamIsCapturing(NULL, &state));
    say_int(state);
    say(cuStreamIsCapturing(CU_STREAM_LEGACY, &state));
    cuuint64_t id = 99;
    state = (CUstreamCaptureStatus)7;
    say(cuStreamGetCaptureInfo(NULL, &state, &id, NULL, NULL, NULL, NULL));
    say_int(state);
    say_rest(one);
}

CASE(capture_invalid, implicit_event_record)
{
    CUstream one = gold_stream(0);
    CUevent event = gold_event(0);
    NEED(cuStreamBeginCapture(one, X));
    NEED(gold_empty(one));
    say(cuEventRecord(event, NULL));
    say_rest(one);
}

CASE(capture_invalid, implicit_sync_copy)
{
    struct gold_set *set = gold_set_idle();
    CUstream one = gold_stream(0);
    NEED(cuStreamBeginCapture(one, X));
    say(cuMemcpyHtoD(set->a, set->pageable, 64));
    say_rest(one);
}

/* ---- things that go away while captured ---- */

CASE(capture_invalid, origin_destroyed, .alone = true)
{
    CUstream one = gold_capture(G);
    NEED(gold_empty(one));
    say(cuStreamDestroy(one));
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
}

CASE(capture_invalid, origin_destroyed_fork_left, .alone = true)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUstream two = fork_of(one);
    say(cuStreamDestroy(one));
    say_state(two);
    say(gold_empty(two));
    say_state(two);
    say_end(two);
}

CASE(capture_invalid, origin_destroyed_invalidated, .alone = true)
{
    CUstream one = gold_capture(G);
    spoil(one);
    say(cuStreamDestroy(one));
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
}

CASE(capture_invalid, context_destroyed, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream one = gold_capture(X);
    say(cuCtxDestroy(other));
    (void)one;
    NEED(cuCtxSetCurrent(gold_context()));
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
}

CASE(capture_invalid, context_destroyed_global, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream one = gold_capture(G);
    say(cuCtxDestroy(other));
    (void)one;
    NEED(cuCtxSetCurrent(gold_context()));
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
}

CASE(capture_invalid, event_destroyed_and_made_again)
{
    CUstream one = gold_capture(X), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = mark(one);
    NEED(cuEventDestroy(event));
    event = gold_event(0);
    say(cuEventQuery(event));
    say(cuStreamWaitEvent(two, event, 0));
    say_state(two);
    say_rest(one);
}

CASE(capture_invalid, module_unloaded_while_captured, .alone = true)
{
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    NEED(cuModuleGetFunction(&function, module, "empty"));
    CUstream one = gold_capture(X);
    NEED(gold_launch(function, 1, one, NULL));
    say(cuModuleUnload(module));
    say_rest(one);
}

/* ---- contexts ---- */

CASE(capture_invalid, stream_of_other_context, .alone = true)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUevent event = mark(one);
    CUcontext other = gold_context_new();
    CUstream two = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitEvent(two, event, 0));
    say_state(two);
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(one);
    (void)other;
}

CASE(capture_invalid, captured_with_other_current, .alone = true)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING);
    CUfunction empty = gold_function("empty");
    CUcontext other = gold_context_new();
    say(cuStreamBeginCapture(one, X));
    say(gold_launch(empty, 1, one, NULL));
    say_rest(one);
    (void)other;
}

CASE(capture_invalid, captured_without_context, .alone = true)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuCtxSetCurrent(NULL));
    say(cuStreamBeginCapture(one, X));
    say_rest(one);
}

/* ---- the captured graph while it is captured ---- */

static CUgraph graph_of(CUstream stream)
{
    CUstreamCaptureStatus state;
    CUgraph graph = NULL;
    NEED(cuStreamGetCaptureInfo(stream, &state, NULL, &graph, NULL, NULL, NULL));
    return graph;
}

CASE(capture_invalid, graph_instantiated_while_captured)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUgraphExec exec;
    say(cuGraphInstantiate(&exec, graph_of(one), 0));
    say_rest(one);
}

CASE(capture_invalid, graph_destroyed_while_captured, .alone = true)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    say(cuGraphDestroy(graph_of(one)));
    say_state(one);
}

CASE(capture_invalid, graph_cloned_while_captured)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUgraph clone = NULL;
    say(cuGraphClone(&clone, graph_of(one)));
    if (clone)
        say_graph(clone);
    say_rest(one);
}

CASE(capture_invalid, graph_as_child_while_captured)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUgraph parent;
    CUgraphNode node;
    NEED(cuGraphCreate(&parent, 0));
    say(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph_of(one)));
    say_rest(one);
}

CASE(capture_invalid, node_added_by_hand)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUgraphNode node;
    say(cuGraphAddEmptyNode(&node, graph_of(one), NULL, 0));
    NEED(gold_empty(one));
    say_rest(one);
}

CASE(capture_invalid, node_destroyed_while_captured, .alone = true)
{
    CUstream one = gold_capture(X);
    NEED(gold_empty(one));
    CUgraphNode nodes[4];
    size_t count = 4;
    NEED(cuGraphGetNodes(graph_of(one), nodes, &count));
    say_int((long long)count);
    say(cuGraphDestroyNode(nodes[0]));
    say_state(one);
}
