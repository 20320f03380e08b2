/* SPDX-License-Identifier: Apache-2.0 */
/* Events that attributes of a launch name: which are taken, and when they are complete. */
#include "gold.h"
#include "gold_capture.h"

#include <string.h>

enum { KINDS = 2 };

#define PLAIN "here the edges of a launch's event are plain ones"

/* The attribute for an event: the programmatic one, then that of the launch's completion. */
static CUlaunchAttribute attribute(int kind, CUevent event, int flags)
{
    CUlaunchAttribute made;
    memset(&made, 0, sizeof made);
    if (kind == 0) {
        made.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        made.value.programmaticEvent.event = event;
        made.value.programmaticEvent.flags = flags;
    } else {
        made.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
        made.value.launchCompletionEvent.event = event;
        made.value.launchCompletionEvent.flags = flags;
    }
    return made;
}

static CUresult launch_with(CUfunction function, CUstream stream, CUlaunchAttribute *attributes, unsigned count,
                            void **params)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = attributes,
                             .numAttrs = count};
    return cuLaunchKernelEx(&config, function, params, NULL);
}

static CUresult launch_empty(int kind, CUstream stream, CUevent event, int flags)
{
    CUlaunchAttribute one = attribute(kind, event, flags);
    return launch_with(gold_function("empty"), stream, &one, 1, NULL);
}

CASE(launch_event, kinds_of_events)
{
    static const unsigned flags[] = {CU_EVENT_DISABLE_TIMING, CU_EVENT_DEFAULT, CU_EVENT_BLOCKING_SYNC,
                                     CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING,
                                     CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
            CUevent event = gold_event(flags[i]);
            say(launch_empty(kind, stream, event, 0));
            NEED(cuStreamSynchronize(stream));
            say(cuEventQuery(event));
        }
}

CASE(launch_event, no_event)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int kind = 0; kind < KINDS; kind++)
        say(launch_empty(kind, stream, NULL, 0));
    say(cuStreamSynchronize(stream));
}

CASE(launch_event, flags)
{
    static const int flags[] = {CU_EVENT_RECORD_EXTERNAL, 2, -1};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            say(launch_empty(kind, stream, gold_event(CU_EVENT_DISABLE_TIMING), flags[i]));
    say(cuStreamSynchronize(stream));
}

CASE(launch_event, at_the_begin_of_blocks)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int value = 1; value < 3; value++) {
        CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
        CUlaunchAttribute one = attribute(0, event, 0);
        one.value.programmaticEvent.triggerAtBlockStart = value;
        say(launch_with(gold_function("empty"), stream, &one, 1, NULL));
        NEED(cuStreamSynchronize(stream));
        say(cuEventQuery(event));
    }
}

CASE(launch_event, both)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent first = gold_event(CU_EVENT_DISABLE_TIMING), second = gold_event(CU_EVENT_DISABLE_TIMING);
    CUlaunchAttribute two[] = {attribute(0, first, 0), attribute(1, second, 0)};
    say(launch_with(gold_function("empty"), stream, two, 2, NULL));
    CUlaunchAttribute same[] = {attribute(1, first, 0), attribute(1, second, 0)};
    say(launch_with(gold_function("empty"), stream, same, 2, NULL));
    NEED(cuStreamSynchronize(stream));
    say(cuEventQuery(first));
    say(cuEventQuery(second));
}

CASE(launch_event, default_streams)
{
    static CUstream const streams[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 3; i++)
            say(launch_empty(kind, streams[i], gold_event(CU_EVENT_DISABLE_TIMING), 0));
    say(cuCtxSynchronize());
}

CASE(launch_event, of_other_context, .alone = true)
{
    CUcontext own = gold_context();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    (void)gold_function("empty");
    (void)gold_context_new();
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuCtxSetCurrent(own));
    for (int kind = 0; kind < KINDS; kind++)
        say(launch_empty(kind, stream, event, 0));
    say(cuStreamSynchronize(stream));
}

/* Behind work that has not ended. */
CASE(launch_event, behind_work)
{
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
        struct gold_gate gate = gold_gate_close(stream);
        say(launch_empty(kind, stream, event, 0));
        say(cuEventQuery(event));
        gold_gate_open(gate);
        NEED(cuStreamSynchronize(stream));
        say(cuEventQuery(event));
    }
}

/* While the kernel runs, which has begun all its blocks and says nothing. */
static void while_it_runs(int kind, int at_begin)
{
    void *memory;
    CUdeviceptr flag;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUlaunchAttribute one = attribute(kind, event, 0);
    if (kind == 0)
        one.value.programmaticEvent.triggerAtBlockStart = at_begin;
    NEED(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 4);
    NEED(cuMemHostGetDevicePointer(&flag, memory, 0));
    void *params[] = {&flag};
    NEED(launch_with(gold_function("spin"), stream, &one, 1, params));
    say(gold_wait_event(event, 2000));
    *(volatile unsigned *)memory = 1;
    NEED(cuStreamSynchronize(stream));
    say(cuEventQuery(event));
}

CASE(launch_event, programmatic_while_it_runs)
{
    while_it_runs(0, 0);
}

CASE(launch_event, at_the_begin_while_it_runs)
{
    while_it_runs(0, 1);
}

CASE(launch_event, completion_while_it_runs, .allow = "CUDA_ERROR_NOT_READY CUDA_SUCCESS",
     .why = "here such an event is complete when its kernel is")
{
    while_it_runs(1, 0);
}

CASE(
    launch_event, captured,
    .allow =
        "CUDA_SUCCESS CUDA_SUCCESS active CUDA_SUCCESS active CUDA_SUCCESS nodes=2 K K<0 CUDA_SUCCESS CUDA_SUCCESS active CUDA_SUCCESS active CUDA_SUCCESS nodes=2 K K<0",
    .why = PLAIN)
{
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED), other = gold_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
        say(launch_empty(kind, stream, event, 0));
        say(cuStreamWaitEvent(other, event, 0));
        say_state(other);
        say(gold_empty(other));
        gold_after(stream, other);
        say_rest(stream);
    }
}

CASE(launch_event, captured_timed)
{
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
        say(launch_empty(kind, stream, gold_event(CU_EVENT_DEFAULT), 0));
        say_rest(stream);
    }
}

/* What comes behind the event is no kernel. */
CASE(
    launch_event, captured_before_a_fill,
    .allow =
        "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS active active CUDA_SUCCESS nodes=2 K S<0 CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS active active CUDA_SUCCESS nodes=2 K S<0",
    .why = PLAIN)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED), other = gold_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
        say(launch_empty(kind, stream, event, 0));
        say(cuStreamWaitEvent(other, event, 0));
        say(cuMemsetD32Async(word, 5, 1, other));
        say_state(stream);
        gold_after(stream, other);
        say_rest(stream);
    }
}

/* The stream that launches goes on, behind the kernel; and the graph runs. */
CASE(
    launch_event, captured_in_one_stream,
    .allow =
        "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS nodes=3 K K<0 K<0 CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS nodes=3 K K<0 K<0 CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS 2 2",
    .why = PLAIN)
{
    CUdeviceptr own = gold_alloc_words(1, 0), others = gold_alloc_words(1, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED), other = gold_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
        CUgraphExec exec = NULL;
        say(launch_empty(kind, stream, event, 0));
        say(cuStreamWaitEvent(stream, event, 0));
        gold_add(stream, own, 1);
        say(cuStreamWaitEvent(other, event, 0));
        gold_add(other, others, 1);
        gold_after(stream, other);
        CUgraph graph = gold_capture_end(stream);
        say_graph(graph);
        say(cuGraphInstantiate(&exec, graph, 0));
        if (exec)
            say(cuGraphLaunch(exec, stream));
        say(cuStreamSynchronize(stream));
    }
    say_int(gold_word(own));
    say_int(gold_word(others));
}

CASE(launch_event, captured_external)
{
    for (int kind = 0; kind < KINDS; kind++) {
        CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
        say(launch_empty(kind, stream, gold_event(CU_EVENT_DISABLE_TIMING), CU_EVENT_RECORD_EXTERNAL));
        say_rest(stream);
    }
}
