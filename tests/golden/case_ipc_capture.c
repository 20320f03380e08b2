/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles and opened events while streams are captured, in graphs, and in host
 * functions; and what else may be done with memory of another process.
 */
#include "gold_ipc.h"

static void captures(CUstream stream, CUstreamCaptureMode mode)
{
    NEED(cuStreamBeginCapture(stream, mode));
}

static size_t nodes_end(CUstream stream)
{
    CUgraph graph = NULL;
    size_t count = 0;
    CUresult status = cuStreamEndCapture(stream, &graph);
    say(status);
    if (status == CUDA_SUCCESS && graph) {
        NEED(cuGraphGetNodes(graph, NULL, &count));
        say_value("nodes", (long long)count);
        NEED(cuGraphDestroy(graph));
    }
    return count;
}

CASE(ipc, capture_get_handles, .alone = true)
{
    CUipcEventHandle event_handle;
    CUipcMemHandle memory_handle;
    CUevent event = gold_event(SHARED);
    CUdeviceptr memory = gold_alloc(4096);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    captures(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(cuIpcGetEventHandle(&event_handle, event));
    CUstreamCaptureStatus state;
    NEED(cuStreamIsCapturing(stream, &state));
    say_value("state", state);
    say(cuIpcGetMemHandle(&memory_handle, memory));
    NEED(cuStreamIsCapturing(stream, &state));
    say_value("state", state);
    nodes_end(stream);
}

CASE(ipc, capture_get_handles_relaxed, .alone = true)
{
    CUipcEventHandle event_handle;
    CUipcMemHandle memory_handle;
    CUevent event = gold_event(SHARED);
    CUdeviceptr memory = gold_alloc(4096);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    captures(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuIpcGetEventHandle(&event_handle, event));
    say(cuIpcGetMemHandle(&memory_handle, memory));
    nodes_end(stream);
}

static void capture_open_task(void *data)
{
    struct note *note = data;
    CUstreamCaptureStatus state;
    captures(note->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(cuIpcOpenEventHandle(&note->event, note->handle));
    NEED(cuStreamIsCapturing(note->stream, &state));
    say_value("state", state);
    say(cuIpcOpenMemHandle(&note->mapped, note->memory_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    NEED(cuStreamIsCapturing(note->stream, &state));
    say_value("state", state);
    nodes_end(note->stream);
}

CASE(ipc, capture_open_handles, .alone = true)
{
    struct note note = {.value = 0};
    create_export(&note);
    note.memory = gold_alloc(4096);
    NEED(cuIpcGetMemHandle(&note.memory_handle, note.memory));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    gold_peer_ask(&peer, capture_open_task, &note, sizeof note);
    gold_peer_end(&peer);
}

static void capture_close_task(void *data)
{
    struct note *note = data;
    CUstreamCaptureStatus state;
    memory_open(note);
    captures(note->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(cuIpcCloseMemHandle(note->mapped));
    NEED(cuStreamIsCapturing(note->stream, &state));
    say_value("state", state);
    nodes_end(note->stream);
}

CASE(ipc, capture_close_memory, .alone = true)
{
    struct note note = {.value = 0};
    note.memory = gold_alloc(4096);
    NEED(cuIpcGetMemHandle(&note.memory_handle, note.memory));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    gold_peer_ask(&peer, capture_close_task, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, capture_record_exported, .alone = true)
{
    struct note note = {.value = 0};
    create_export(&note);
    stream_task(&note);
    CUstream other = gold_stream(CU_STREAM_NON_BLOCKING);
    captures(note.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuEventRecord(note.event, note.stream));
    say(cuStreamWaitEvent(other, note.event, 0));
    say(cuEventQuery(note.event));
    say(cuIpcGetEventHandle(&note.handle, note.event));
    say(cuStreamWaitEvent(note.stream, note.event, 0));
    nodes_end(note.stream);
}

CASE(ipc, capture_record_unexported, .alone = true)
{
    CUevent event = gold_event(SHARED);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    captures(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuEventRecord(event, stream));
    say(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT));
    nodes_end(stream);
}

CASE(ipc, capture_wait_unexported, .alone = true)
{
    CUevent event = gold_event(SHARED);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    captures(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuStreamWaitEvent(stream, event, 0));
    nodes_end(stream);
    NEED(cuEventRecord(event, NULL));
    NEED(cuCtxSynchronize());
    captures(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuStreamWaitEvent(stream, event, 0));
    nodes_end(stream);
}

static void capture_opened_task(void *data)
{
    struct note *note = data;
    captures(note->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuEventRecord(note->event, note->stream));
    nodes_end(note->stream);
    captures(note->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuEventRecordWithFlags(note->event, note->stream, CU_EVENT_RECORD_EXTERNAL));
    say(cuStreamWaitEvent(note->stream, note->event, CU_EVENT_WAIT_EXTERNAL));
    nodes_end(note->stream);
    say(cuEventRecord(note->event, NULL));
    say(cuEventSynchronize(note->event));
}

CASE(ipc, capture_opened, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, capture_opened_task);
    gold_peer_end(&pair.peer);
}

static void capture_wait_pending_task(void *data)
{
    struct note *note = data;
    captures(note->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuStreamWaitEvent(note->stream, note->event, 0));
    nodes_end(note->stream);
}

CASE(ipc, capture_wait_opened_pending, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, capture_wait_pending_task);
    gold_gate_open(pair.here.gate);
    synchronize_say(&pair.here);
    gold_peer_end(&pair.peer);
}

/* A graph of the peer's: waits for one of the case's events, records the other. */
static void graph_launch_task(void *data)
{
    struct note *note = data;
    CUgraph graph;
    CUgraphNode wait, record;
    CUgraphExec exec;
    NEED(cuGraphCreate(&graph, 0));
    say(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, note->event));
    say(cuGraphAddEventRecordNode(&record, graph, &wait, 1, note->second));
    say(cuGraphInstantiate(&exec, graph, 0));
    say(cuGraphLaunch(exec, note->stream));
}

static void open_second_quiet(void *data)
{
    struct note *note = data;
    NEED(cuIpcOpenEventHandle(&note->second, note->handle));
}

CASE(ipc, graph_nodes_opened, .alone = true)
{
    struct pair pair = pair_make();
    struct note second = {.value = 0};
    create_export(&second);
    pair.there.handle = second.handle;
    there(&pair, open_second_quiet);
    gated_record_task(&pair.here);
    there(&pair, graph_launch_task);
    there(&pair, stream_query_say);
    query_say(&second);
    gold_gate_open(pair.here.gate);
    there(&pair, stream_synchronize_say);
    synchronize_say(&second);
    query_say(&second);
    gold_peer_end(&pair.peer);
}

static void in_host_function(void *data)
{
    struct note *note = data;
    CUipcMemHandle memory_handle;
    CUevent opened;
    note->flags = (unsigned)cuIpcGetEventHandle(&note->handle, note->event);
    note->value = (unsigned)cuIpcGetMemHandle(&memory_handle, note->memory);
    note->status = cuIpcOpenEventHandle(&opened, note->handle);
}

CASE(ipc, in_host_function, .alone = true)
{
    struct note note = {.event = gold_event(SHARED), .memory = gold_alloc(4096)};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuLaunchHostFunc(stream, in_host_function, &note));
    NEED(cuStreamSynchronize(stream));
    say((CUresult)note.flags);
    say((CUresult)note.value);
    say(note.status);
}

static void memory_attributes_task(void *data)
{
    struct note *note = data;
    int on = 1;
    bool set = false;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    memory_open(note);
    say(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, note->mapped));
    say(cuPointerGetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, note->mapped));
    say_if("set", set);
    say(cuMemHostUnregister((void *)(uintptr_t)note->mapped));
    say(cuMemFreeHost((void *)(uintptr_t)note->mapped));
    say(cuMemFreeAsync(note->mapped, note->stream));
    say(cuMemAdvise_v2(note->mapped, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    say(cuStreamAttachMemAsync(note->stream, note->mapped, 0, CU_MEM_ATTACH_GLOBAL));
    say(cuMemcpyDtoD(note->mapped + 64, note->mapped, 64));
    say(cuMemsetD8(note->mapped + 4095, 1, 2));
    say(cuCtxSynchronize());
}

CASE(ipc, mem_opened_other_calls, .alone = true)
{
    struct note note = {.value = 0};
    note.memory = gold_alloc(4096);
    NEED(cuIpcGetMemHandle(&note.memory_handle, note.memory));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    gold_peer_ask(&peer, memory_attributes_task, &note, sizeof note);
    gold_peer_end(&peer);
}
