/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cases of events between processes share: the note that goes between
 * a case and its peer, the tasks, and a pair of processes with one event.
 */
#ifndef GOLD_IPC_H
#define GOLD_IPC_H

#include "gold_peer.h"

#include <string.h>

enum { SHARED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };

/* What goes between the two processes; objects mean something only where they were made. */
struct note {
    CUipcEventHandle handle;
    CUipcMemHandle memory_handle;
    CUdeviceptr memory, mapped;
    CUevent event, second;
    CUstream stream;
    CUcontext context;
    struct gold_gate gate;
    unsigned value, flags;
    CUresult status;
};

/* ---- tasks ---- */

__attribute__((unused)) static void open_quiet(void *data)
{
    struct note *note = data;
    note->event = NULL;
    note->status = cuIpcOpenEventHandle(&note->event, note->handle);
}

__attribute__((unused)) static void open_say(void *data)
{
    open_quiet(data);
    say(((struct note *)data)->status);
}

__attribute__((unused)) static void query_say(void *data)
{
    say(cuEventQuery(((struct note *)data)->event));
}

__attribute__((unused)) static void synchronize_say(void *data)
{
    say(cuEventSynchronize(((struct note *)data)->event));
}

__attribute__((unused)) static void destroy_say(void *data)
{
    say(cuEventDestroy(((struct note *)data)->event));
}

__attribute__((unused)) static void stream_task(void *data)
{
    ((struct note *)data)->stream = gold_stream(CU_STREAM_NON_BLOCKING);
    gold_function("store"); /* loaded before something keeps the device busy */
}

__attribute__((unused)) static void record_task(void *data)
{
    struct note *note = data;
    say(cuEventRecord(note->event, note->stream));
}

__attribute__((unused)) static void gated_record_task(void *data)
{
    struct note *note = data;
    note->gate = gold_gate_close(note->stream);
    say(cuEventRecord(note->event, note->stream));
}

__attribute__((unused)) static void gate_open_task(void *data)
{
    gold_gate_open(((struct note *)data)->gate);
}

__attribute__((unused)) static void wait_say(void *data)
{
    struct note *note = data;
    say(cuStreamWaitEvent(note->stream, note->event, 0));
}

__attribute__((unused)) static void stream_query_say(void *data)
{
    say(cuStreamQuery(((struct note *)data)->stream));
}

__attribute__((unused)) static void stream_synchronize_say(void *data)
{
    say(cuStreamSynchronize(((struct note *)data)->stream));
}

__attribute__((unused)) static void create_export(void *data)
{
    struct note *note = data;
    note->event = gold_event(SHARED);
    NEED(cuIpcGetEventHandle(&note->handle, note->event));
}

__attribute__((unused)) static void get_say(void *data)
{
    struct note *note = data;
    say(cuIpcGetEventHandle(&note->handle, note->event));
}

__attribute__((unused)) static void memory_open(void *data)
{
    struct note *note = data;
    NEED(cuIpcOpenMemHandle(&note->mapped, note->memory_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

/* ---- the case's process: an event of its own, opened by a peer, and a stream on either side ---- */

struct pair {
    struct gold_peer peer;
    struct note here, there;
};

__attribute__((unused)) static struct pair pair_make(void)
{
    struct pair pair = {.peer = gold_peer_start(false)};
    create_export(&pair.here);
    stream_task(&pair.here);
    pair.there.handle = pair.here.handle;
    gold_peer_ask(&pair.peer, stream_task, &pair.there, sizeof pair.there);
    gold_peer_ask(&pair.peer, open_quiet, &pair.there, sizeof pair.there);
    gold_need(pair.there.status, "open");
    return pair;
}

__attribute__((unused)) static void there(struct pair *pair, void (*task)(void *note))
{
    gold_peer_ask(&pair->peer, task, &pair->there, sizeof pair->there);
}

#endif
