/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events between processes: what may be exported, what an opened event orders,
 * and what becomes of it when either side destroys it or ends.
 *
 * The case's process exports unless a case says otherwise; its peer opens.
 */
#include "gold_ipc.h"

/* ---- getting a handle ---- */

CASE(ipc, event_get_null_handle)
{
    say(cuIpcGetEventHandle(NULL, gold_event(SHARED)));
}

CASE(ipc, event_get_null_event, .allow = "CUDA_ERROR_INVALID_HANDLE", .why = "the documented status", .alone = true)
{
    CUipcEventHandle handle;
    say(cuIpcGetEventHandle(&handle, NULL));
}

CASE(ipc, event_get_foreign, .allow = "CUDA_ERROR_INVALID_HANDLE", .why = "the documented status", .alone = true)
{
    CUipcEventHandle handle;
    say(cuIpcGetEventHandle(&handle, gold_foreign()));
}

CASE(ipc, event_get_destroyed, .allow = "CUDA_ERROR_INVALID_HANDLE", .why = "the documented status", .alone = true)
{
    CUipcEventHandle handle;
    CUevent event = gold_event(SHARED);
    NEED(cuEventDestroy(event));
    say(cuIpcGetEventHandle(&handle, event));
}

CASE(ipc, event_get_plain)
{
    CUipcEventHandle handle, before;
    memset(&handle, 0x5a, sizeof handle);
    before = handle;
    say(cuIpcGetEventHandle(&handle, gold_event(0)));
    say(cuIpcGetEventHandle(&handle, gold_event(CU_EVENT_DISABLE_TIMING)));
    say(cuIpcGetEventHandle(&handle, gold_event(CU_EVENT_BLOCKING_SYNC)));
    say_if("untouched", memcmp(&handle, &before, sizeof handle) == 0);
}

CASE(ipc, event_create_needs_no_timing)
{
    CUevent event;
    say(cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    say(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_BLOCKING_SYNC));
    say(cuEventCreate(&event, SHARED));
    say(cuEventCreate(&event, SHARED | CU_EVENT_BLOCKING_SYNC));
}

CASE(ipc, event_get_twice_same)
{
    CUipcEventHandle first, second;
    CUevent event = gold_event(SHARED);
    memset(&first, 1, sizeof first);
    memset(&second, 2, sizeof second);
    say(cuIpcGetEventHandle(&first, event));
    say(cuIpcGetEventHandle(&second, event));
    say_if("same", memcmp(&first, &second, sizeof first) == 0);
    NEED(cuIpcGetEventHandle(&second, gold_event(SHARED)));
    say_if("same", memcmp(&first, &second, sizeof first) == 0);
}

CASE(ipc, event_get_pending)
{
    CUipcEventHandle handle;
    CUevent event = gold_event(SHARED);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    say(cuIpcGetEventHandle(&handle, event));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

CASE(ipc, event_get_no_context)
{
    CUipcEventHandle handle;
    CUevent event = gold_event(SHARED);
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
    say(cuIpcGetEventHandle(&handle, event));
}

CASE(ipc, event_get_other_context, .allow = "CUDA_SUCCESS", .why = "hardware's driver crashes", .alone = true)
{
    CUipcEventHandle handle;
    CUevent event = gold_event(SHARED);
    CUcontext other = gold_context_new();
    say(cuIpcGetEventHandle(&handle, event));
    NEED(cuCtxDestroy(other));
}

/* ---- an event with the flag, in its own process ---- */

CASE(ipc, event_own_life)
{
    CUevent event = gold_event(SHARED);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING), other = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    struct gold_gate gate = gold_gate_close(stream);
    say(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    say(cuStreamWaitEvent(other, event, 0));
    say(cuStreamQuery(other));
    gold_gate_open(gate);
    say(cuStreamSynchronize(other));
    say(cuEventQuery(event));
    say(cuEventDestroy(event));
}

CASE(ipc, event_own_elapsed)
{
    CUevent event = gold_event(SHARED), plain = gold_event(0);
    float ms = 0;
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventRecord(plain, NULL));
    NEED(cuCtxSynchronize());
    say(cuEventElapsedTime(&ms, event, plain));
    say(cuEventElapsedTime(&ms, plain, event));
}

CASE(ipc, event_own_re_recorded_wait)
{
    CUevent event = gold_event(SHARED);
    CUipcEventHandle handle;
    NEED(cuIpcGetEventHandle(&handle, event));
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING),
             waiter = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate one = gold_gate_close(first), two = gold_gate_close(second);
    NEED(cuEventRecord(event, first));
    NEED(cuStreamWaitEvent(waiter, event, 0));
    NEED(cuEventRecord(event, second));
    gold_gate_open(one);
    /* The wait took the first recording; the event is at its second. */
    say(gold_wait_stream(waiter, 5000));
    say(cuEventQuery(event));
    gold_gate_open(two);
    say(cuEventSynchronize(event));
}

/* ---- opening: arguments ---- */

CASE(ipc, event_open_own, .alone = true)
{
    struct note note = {.value = 0};
    create_export(&note);
    CUevent own = note.event;
    open_say(&note);
    say_if("null", note.event == NULL);
    say(cuEventDestroy(own));
}

CASE(ipc, event_open_zeros, .alone = true)
{
    struct note note = {.value = 0};
    open_say(&note);
}

CASE(ipc, event_open_ones, .alone = true)
{
    struct note note = {.value = 0};
    memset(&note.handle, 0xff, sizeof note.handle);
    open_say(&note);
}

CASE(ipc, event_open_noise, .alone = true)
{
    struct note note = {.value = 0};
    for (size_t i = 0; i < sizeof note.handle; i++)
        note.handle.reserved[i] = (char)(i * 37 + 11);
    open_say(&note);
}

CASE(ipc, event_open_null_pointer, .alone = true)
{
    struct note note = {.value = 0};
    say(cuIpcOpenEventHandle(NULL, note.handle));
}

CASE(ipc, event_open_no_context, .alone = true)
{
    struct note note = {.value = 0};
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
    open_say(&note);
}

static void memory_handle_task(void *data)
{
    struct note *note = data;
    CUipcEventHandle event;
    CUipcMemHandle memory;
    CUdeviceptr address;
    memcpy(&event, &note->memory_handle, sizeof event);
    memcpy(&memory, &note->handle, sizeof memory);
    say(cuIpcOpenEventHandle(&note->event, event));
    say(cuIpcOpenMemHandle(&address, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

CASE(ipc, event_open_handles_swapped, .alone = true)
{
    struct note note = {.value = 0};
    create_export(&note);
    note.memory = gold_alloc(4096);
    NEED(cuIpcGetMemHandle(&note.memory_handle, note.memory));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, memory_handle_task, &note, sizeof note);
    gold_peer_end(&peer);
}

static void open_null_task(void *data)
{
    say(cuIpcOpenEventHandle(NULL, ((struct note *)data)->handle));
}

CASE(ipc, event_open_valid_null_pointer, .alone = true)
{
    struct note note = {.value = 0};
    create_export(&note);
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_null_task, &note, sizeof note);
    gold_peer_end(&peer);
}

/* ---- what an opened event is ---- */

CASE(ipc, event_open_unrecorded, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS|"
              "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_NOT_READY CUDA_SUCCESS CUDA_SUCCESS",
     .why = "hardware may take a moment for a wait for nothing")
{
    struct pair pair = pair_make();
    there(&pair, query_say);
    there(&pair, synchronize_say);
    there(&pair, wait_say);
    there(&pair, stream_query_say);
    there(&pair, destroy_say);
    say(cuEventDestroy(pair.here.event));
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_open_complete, .alone = true)
{
    struct note note = {.value = 0}, other;
    create_export(&note);
    NEED(cuEventRecord(note.event, NULL));
    NEED(cuCtxSynchronize());
    other = note;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &other, sizeof other);
    gold_peer_ask(&peer, query_say, &other, sizeof other);
    gold_peer_ask(&peer, synchronize_say, &other, sizeof other);
    gold_peer_end(&peer);
}

CASE(ipc, event_open_pending, .alone = true)
{
    struct note note = {.value = 0}, other;
    create_export(&note);
    stream_task(&note);
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, stream_task, &note, 0);
    gated_record_task(&note);
    other = note;
    gold_peer_ask(&peer, open_say, &other, sizeof other);
    gold_peer_ask(&peer, query_say, &other, sizeof other);
    gold_gate_open(note.gate);
    gold_peer_ask(&peer, synchronize_say, &other, sizeof other);
    gold_peer_ask(&peer, query_say, &other, sizeof other);
    gold_peer_end(&peer);
}

CASE(ipc, event_query_across, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, query_say);
    gold_gate_open(pair.here.gate);
    synchronize_say(&pair.here);
    there(&pair, query_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_synchronize_across, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    gold_peer_send(&pair.peer, synchronize_say, &pair.there, sizeof pair.there);
    gold_sleep_ms(20);
    gold_gate_open(pair.here.gate);
    gold_peer_receive(&pair.peer, &pair.there, sizeof pair.there);
    there(&pair, query_say);
    say(cuStreamQuery(pair.here.stream));
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_wait_across, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    there(&pair, stream_query_say);
    gold_gate_open(pair.here.gate);
    there(&pair, stream_synchronize_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_record_by_peer, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, gated_record_task);
    query_say(&pair.here);
    wait_say(&pair.here);
    stream_query_say(&pair.here);
    there(&pair, gate_open_task);
    stream_synchronize_say(&pair.here);
    query_say(&pair.here);
    there(&pair, query_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_synchronize_record_by_peer, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, gated_record_task);
    query_say(&pair.here);
    there(&pair, gate_open_task);
    synchronize_say(&pair.here);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_re_record, .alone = true)
{
    struct pair pair = pair_make();
    record_task(&pair.here);
    synchronize_say(&pair.here);
    there(&pair, query_say);
    gated_record_task(&pair.here);
    there(&pair, query_say);
    gold_gate_open(pair.here.gate);
    there(&pair, synchronize_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_re_record_after_wait, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    struct gold_gate first = pair.here.gate;
    struct note second = pair.here;
    stream_task(&second);
    gated_record_task(&second);
    gold_gate_open(first);
    /* Is the peer's stream through with the first recording alone? */
    say(gold_wait_stream(pair.here.stream, 5000));
    gold_sleep_ms(200);
    there(&pair, query_say);
    gold_gate_open(second.gate);
    there(&pair, stream_synchronize_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_wait_takes_recording_at_call, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    struct note second = pair.here;
    stream_task(&second);
    gated_record_task(&second);
    gold_gate_open(pair.here.gate);
    say(gold_wait_stream(pair.here.stream, 5000));
    gold_sleep_ms(300);
    there(&pair, stream_query_say);
    gold_gate_open(second.gate);
    there(&pair, stream_synchronize_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_recorded_by_both, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, record_task); /* the later recording is complete at once */
    there(&pair, stream_synchronize_say);
    say(gold_wait_event(pair.here.event, 200));
    gold_gate_open(pair.here.gate);
    synchronize_say(&pair.here);
    there(&pair, synchronize_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_wait_own_recording, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, gated_record_task);
    there(&pair, query_say);
    struct note other = pair.there;
    gold_peer_ask(&pair.peer, stream_task, &other, sizeof other);
    gold_peer_ask(&pair.peer, wait_say, &other, sizeof other);
    gold_peer_ask(&pair.peer, stream_query_say, &other, sizeof other);
    there(&pair, gate_open_task);
    gold_peer_ask(&pair.peer, stream_synchronize_say, &other, sizeof other);
    gold_peer_end(&pair.peer);
}

static void elapsed_say(void *data)
{
    struct note *note = data;
    CUevent plain = gold_event(0);
    float ms = 0;
    NEED(cuEventRecord(plain, note->stream));
    NEED(cuStreamSynchronize(note->stream));
    say(cuEventElapsedTime(&ms, note->event, plain));
    say(cuEventElapsedTime(&ms, plain, note->event));
}

CASE(ipc, event_open_elapsed, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, elapsed_say);
    record_task(&pair.here);
    synchronize_say(&pair.here);
    there(&pair, elapsed_say);
    gold_peer_end(&pair.peer);
}

static void record_flags_say(void *data)
{
    struct note *note = data;
    say(cuEventRecordWithFlags(note->event, note->stream, CU_EVENT_RECORD_DEFAULT));
    say(cuEventRecordWithFlags(note->event, note->stream, CU_EVENT_RECORD_EXTERNAL));
    say(cuEventRecordWithFlags(note->event, note->stream, 7));
    say(cuEventRecord(note->event, NULL));
    say(cuEventSynchronize(note->event));
}

CASE(ipc, event_open_record_flags, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, record_flags_say);
    gold_peer_end(&pair.peer);
}

static void open_second(void *data)
{
    struct note *note = data;
    say(cuIpcOpenEventHandle(&note->second, note->handle));
    say_if("same", note->second == note->event);
    say(cuEventQuery(note->second));
    say(cuEventDestroy(note->event));
    if (note->second != note->event)
        say(cuEventQuery(note->second));
}

CASE(ipc, event_open_twice, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, open_second);
    gold_gate_open(pair.here.gate);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_get_opened, .alone = true)
{
    struct pair pair = pair_make();
    there(&pair, get_say);
    gold_peer_end(&pair.peer);
}

static void other_context_task(void *data)
{
    struct note *note = data;
    note->context = gold_context_new();
    say(cuEventQuery(note->event));
    say(cuEventRecord(note->event, note->stream));
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuEventRecord(note->event, stream));
    say(cuStreamWaitEvent(stream, note->event, 0));
    say(cuStreamSynchronize(stream));
}

CASE(ipc, event_open_other_context, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_INVALID_HANDLE CUDA_SUCCESS CUDA_SUCCESS",
     .why = "hardware's driver crashes; here an opened event is like any other of its context")
{
    struct pair pair = pair_make();
    there(&pair, other_context_task);
    gold_peer_end(&pair.peer);
}

/* ---- order ---- */

static void wait_read_say(void *data)
{
    struct note *note = data;
    unsigned value = 0;
    NEED(cuStreamWaitEvent(note->stream, note->event, 0));
    NEED(cuMemcpyDtoHAsync(&value, note->mapped, sizeof value, note->stream));
    NEED(cuStreamSynchronize(note->stream));
    say_int(value);
}

CASE(ipc, event_orders_memory, .alone = true)
{
    struct pair pair = pair_make();
    CUdeviceptr memory = gold_alloc_words(1024, 1);
    NEED(cuIpcGetMemHandle(&pair.there.memory_handle, memory));
    there(&pair, memory_open);
    pair.here.gate = gold_gate_close(pair.here.stream);
    gold_store(pair.here.stream, memory, 1234);
    record_task(&pair.here);
    gold_peer_send(&pair.peer, wait_read_say, &pair.there, sizeof pair.there);
    gold_sleep_ms(20);
    gold_gate_open(pair.here.gate);
    gold_peer_receive(&pair.peer, &pair.there, sizeof pair.there);
    gold_peer_end(&pair.peer);
}

/* One step of the game: wait for the other side's recording, add one, record. */
static void step_task(void *data)
{
    struct note *note = data;
    NEED(cuStreamWaitEvent(note->stream, note->event, 0));
    gold_add(note->stream, note->mapped, 1);
    NEED(cuEventRecord(note->second, note->stream));
}

CASE(ipc, event_ping_pong, .alone = true)
{
    enum { ROUNDS = 100 };
    struct gold_peer peer = gold_peer_start(false);
    struct note here = {.value = 0}, theirs = {.value = 0};
    CUdeviceptr memory = gold_alloc_words(1024, 0);
    create_export(&here);
    stream_task(&here);
    gold_peer_ask(&peer, create_export, &theirs, sizeof theirs);
    gold_peer_ask(&peer, stream_task, &theirs, sizeof theirs);
    CUevent own = here.event, their_own = theirs.event;
    CUipcEventHandle own_handle = here.handle;
    here.handle = theirs.handle;
    theirs.handle = own_handle;
    open_say(&here); /* here.event is theirs from now on, and the other way about */
    gold_peer_ask(&peer, open_say, &theirs, sizeof theirs);
    here.second = own;
    theirs.second = their_own;
    here.mapped = memory;
    NEED(cuIpcGetMemHandle(&theirs.memory_handle, memory));
    gold_peer_ask(&peer, memory_open, &theirs, sizeof theirs);
    for (int i = 0; i < ROUNDS; i++) {
        step_task(&here);
        gold_peer_ask(&peer, step_task, &theirs, sizeof theirs);
    }
    gold_peer_ask(&peer, stream_synchronize_say, &theirs, sizeof theirs);
    stream_synchronize_say(&here);
    say_int(gold_word(memory));
    gold_peer_end(&peer);
}

CASE(ipc, event_chain_of_three, .alone = true)
{
    struct pair pair = pair_make();
    struct note third = {.handle = pair.here.handle};
    struct gold_peer other = gold_peer_start(false);
    gold_peer_ask(&other, stream_task, &third, sizeof third);
    gold_peer_ask(&other, open_say, &third, sizeof third);
    there(&pair, gated_record_task);
    gold_peer_ask(&other, wait_say, &third, sizeof third);
    gold_peer_ask(&other, query_say, &third, sizeof third);
    query_say(&pair.here);
    there(&pair, gate_open_task);
    gold_peer_ask(&other, stream_synchronize_say, &third, sizeof third);
    synchronize_say(&pair.here);
    gold_peer_end(&other);
    gold_peer_end(&pair.peer);
}

/* ---- either side goes ---- */

CASE(ipc, event_exporter_destroys, .alone = true)
{
    struct pair pair = pair_make();
    record_task(&pair.here);
    synchronize_say(&pair.here);
    say(cuEventDestroy(pair.here.event));
    there(&pair, query_say);
    there(&pair, synchronize_say);
    there(&pair, record_task);
    there(&pair, synchronize_say);
    there(&pair, destroy_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_exporter_destroys_pending, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    say(cuEventDestroy(pair.here.event));
    there(&pair, query_say);
    gold_gate_open(pair.here.gate);
    there(&pair, stream_synchronize_say);
    there(&pair, query_say);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_opener_destroys, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    there(&pair, destroy_say);
    query_say(&pair.here);
    gold_gate_open(pair.here.gate);
    there(&pair, stream_synchronize_say);
    synchronize_say(&pair.here);
    record_task(&pair.here);
    synchronize_say(&pair.here);
    gold_peer_end(&pair.peer);
}

CASE(ipc, event_open_destroyed, .alone = true, .allow = "CUDA_ERROR_MAP_FAILED",
     .why = "the documentation forbids it; here a handle ends with its event")
{
    struct note note = {.value = 0};
    create_export(&note);
    NEED(cuEventDestroy(note.event));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, event_open_exporter_ended, .alone = true, .allow = "CUDA_ERROR_MAP_FAILED",
     .why = "nothing outlives its process here that no other process has open")
{
    struct note note = {.value = 0};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, create_export, &note, sizeof note);
    gold_peer_end(&peer);
    open_say(&note);
}

CASE(ipc, event_exporter_ended, .alone = true)
{
    struct note note = {.value = 0};
    struct gold_peer peer = gold_peer_start(false);
    stream_task(&note);
    CUstream own = note.stream;
    gold_peer_ask(&peer, create_export, &note, sizeof note);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    gold_peer_ask(&peer, record_task, &note, sizeof note);
    gold_peer_ask(&peer, synchronize_say, &note, sizeof note);
    open_say(&note);
    gold_peer_end(&peer);
    note.stream = own;
    query_say(&note);
    wait_say(&note);
    stream_synchronize_say(&note);
    record_task(&note);
    synchronize_say(&note);
    destroy_say(&note);
}

CASE(ipc, event_recorder_killed, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS done CUDA_ERROR_CONTEXT_IS_DESTROYED",
     .why = "hardware leaves the event pending for ever; here whoever asks hears that the recording is lost")
{
    struct note note = {.value = 0};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, create_export, &note, sizeof note);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    struct note mine = note;
    open_say(&mine);
    gold_peer_ask(&peer, gated_record_task, &note, sizeof note);
    gold_peer_kill(&peer);
    CUresult status = gold_wait_event(mine.event, 10000);
    say_text(status == CUDA_ERROR_NOT_READY ? "still pending" : "done");
    say(status);
}

CASE(ipc, event_recorder_killed_stream_waits, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS",
     .why = "hardware's stream waits for ever; here the wait ends with the process")
{
    struct note note = {.value = 0};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, create_export, &note, sizeof note);
    gold_peer_ask(&peer, stream_task, &note, sizeof note);
    struct note mine = note;
    stream_task(&mine);
    open_say(&mine);
    gold_peer_ask(&peer, gated_record_task, &note, sizeof note);
    wait_say(&mine);
    gold_peer_kill(&peer);
    say(gold_wait_stream(mine.stream, 10000));
}

CASE(ipc, event_opener_killed, .alone = true)
{
    struct pair pair = pair_make();
    gated_record_task(&pair.here);
    there(&pair, wait_say);
    gold_peer_kill(&pair.peer);
    query_say(&pair.here);
    gold_gate_open(pair.here.gate);
    synchronize_say(&pair.here);
    record_task(&pair.here);
    synchronize_say(&pair.here);
    destroy_say(&pair.here);
}

static void context_new_create_export(void *data)
{
    struct note *note = data;
    note->context = gold_context_new();
    create_export(note);
}

static void context_destroy_say(void *data)
{
    say(cuCtxDestroy(((struct note *)data)->context));
}

CASE(ipc, event_exporting_context_destroyed, .alone = true)
{
    struct note note = {.value = 0};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, context_new_create_export, &note, sizeof note);
    struct note mine = note;
    open_say(&mine);
    gold_peer_ask(&peer, context_destroy_say, &note, sizeof note);
    query_say(&mine);
    synchronize_say(&mine);
    open_say(&note);
    gold_peer_end(&peer);
}

CASE(ipc, event_open_many, .alone = true)
{
    enum { COUNT = 500 };
    struct gold_peer peer = gold_peer_start(false);
    struct note note = {.value = 0};
    int opened = 0;
    for (int i = 0; i < COUNT; i++) {
        create_export(&note);
        NEED(cuEventRecord(note.event, NULL));
        gold_peer_ask(&peer, open_quiet, &note, sizeof note);
        opened += note.status == CUDA_SUCCESS;
    }
    say_int(opened);
    gold_peer_ask(&peer, synchronize_say, &note, sizeof note);
    gold_peer_end(&peer);
}
