/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, events and pools that a second process opens (../gold_peer.h). */
#include "../gold_peer.h"
#include "rt.h"

#include <string.h>

struct memory_note {
    cudaIpcMemHandle_t handle;
    size_t offset;
    unsigned value;
};

static void open_memory(void *data)
{
    struct memory_note *note = data;
    char *address = NULL;
    rt_noted(cudaIpcOpenMemHandle((void **)&address, note->handle, cudaIpcMemLazyEnablePeerAccess));
    if (!address)
        return;
    note->value = rt_word(address + note->offset);
    unsigned changed = note->value + 1;
    rt(cudaMemcpy(address + note->offset, &changed, sizeof changed, cudaMemcpyHostToDevice));
    rt_noted(cudaFree(address));
    rt(cudaIpcCloseMemHandle(address));
    rt_noted(cudaIpcCloseMemHandle(address));
}

CASE(share, memory, .alone = true)
{
    struct gold_peer peer = gold_peer_start(false);
    unsigned *word = rt_words(1, 41);
    struct memory_note note = {.offset = 0};
    rt(cudaIpcGetMemHandle(&note.handle, word));
    gold_peer_ask(&peer, open_memory, &note, sizeof note);
    say_int(note.value);
    say_int(rt_word(word));
    gold_peer_end(&peer);
}

static void open_memory_twice(void *data)
{
    struct memory_note *note = data;
    void *first = NULL, *second = NULL;
    rt_noted(cudaIpcOpenMemHandle(&first, note->handle, cudaIpcMemLazyEnablePeerAccess));
    rt_noted(cudaIpcOpenMemHandle(&second, note->handle, cudaIpcMemLazyEnablePeerAccess));
    say_if("same", first == second);
    rt(cudaIpcCloseMemHandle(first));
    rt_noted(cudaIpcCloseMemHandle(second));
    rt_noted(cudaIpcCloseMemHandle(second));
}

CASE(share, memory_twice, .alone = true)
{
    struct gold_peer peer = gold_peer_start(false);
    struct memory_note note = {.offset = 0};
    rt(cudaIpcGetMemHandle(&note.handle, rt_words(1, 41)));
    gold_peer_ask(&peer, open_memory_twice, &note, sizeof note);
    gold_peer_end(&peer);
}

static void look_at_memory(void *data)
{
    struct memory_note *note = data;
    struct cudaPointerAttributes attributes;
    void *address = NULL;
    RT_NEED(cudaIpcOpenMemHandle(&address, note->handle, cudaIpcMemLazyEnablePeerAccess));
    rt(cudaPointerGetAttributes(&attributes, address));
    say_int(attributes.type);
    say_int(attributes.device);
    cudaIpcMemHandle_t again;
    rt_noted(cudaIpcGetMemHandle(&again, address));
    rt(cudaIpcCloseMemHandle(address));
    rt(cudaPointerGetAttributes(&attributes, address));
    say_int(attributes.type);
}

CASE(share, memory_attributes, .alone = true)
{
    struct gold_peer peer = gold_peer_start(false);
    struct memory_note note = {.offset = 0};
    rt(cudaIpcGetMemHandle(&note.handle, rt_words(1, 41)));
    gold_peer_ask(&peer, look_at_memory, &note, sizeof note);
    gold_peer_end(&peer);
}

/* A process that has called nothing before may open a handle. */
CASE(share, memory_in_fresh_process, .alone = true)
{
    struct gold_peer peer = gold_peer_start(true);
    struct memory_note note = {.offset = 0};
    rt(cudaIpcGetMemHandle(&note.handle, rt_words(1, 41)));
    gold_peer_ask(&peer, open_memory, &note, sizeof note);
    gold_peer_end(&peer);
}

struct event_note {
    cudaIpcEventHandle_t handle;
};

static void open_event(void *data)
{
    struct event_note *note = data;
    cudaEvent_t event = NULL;
    cudaIpcEventHandle_t again;
    float ms;
    rt_noted(cudaIpcOpenEventHandle(&event, note->handle));
    rt(cudaEventQuery(event));
    rt(cudaEventSynchronize(event));
    rt(cudaStreamWaitEvent(NULL, event, 0));
    rt(cudaEventRecord(event, NULL));
    rt(cudaEventSynchronize(event));
    rt_noted(cudaEventElapsedTime(&ms, event, event));
    rt_noted(cudaIpcGetEventHandle(&again, event));
    rt(cudaEventDestroy(event));
}

CASE(share, event, .alone = true)
{
    struct gold_peer peer = gold_peer_start(false);
    cudaEvent_t event = rt_event(cudaEventDisableTiming | cudaEventInterprocess);
    struct event_note note;
    RT_NEED(cudaEventRecord(event, NULL));
    rt(cudaIpcGetEventHandle(&note.handle, event));
    gold_peer_ask(&peer, open_event, &note, sizeof note);
    rt(cudaEventSynchronize(event));
    gold_peer_end(&peer);
}

static void query_event(void *data)
{
    struct event_note *note = data;
    cudaEvent_t event = NULL;
    RT_NEED(cudaIpcOpenEventHandle(&event, note->handle));
    rt_noted(cudaEventQuery(event));
}

CASE(share, event_pending, .alone = true)
{
    struct gold_peer peer = gold_peer_start(false);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming | cudaEventInterprocess);
    struct event_note note;
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(cudaEventRecord(event, stream));
    rt(cudaIpcGetEventHandle(&note.handle, event));
    gold_peer_ask(&peer, query_event, &note, sizeof note);
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
    gold_peer_end(&peer);
}
