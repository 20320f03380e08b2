/* SPDX-License-Identifier: Apache-2.0 */
/* The side table (objects.h): chained hash tables of a fixed number of heads, and timelines that are used again. */
#include "libs/observer/objects.h"

#include <stdlib.h>
#include <string.h>

enum { HEADS = 65536, TIMELINES = 1 << 20, TRIED = 8 };

bool obs_edges_apart, obs_lanes_apart, obs_order_strict, obs_order_short;

static struct obs_stream *streams_by_handle[HEADS], *streams_by_id[HEADS];
static struct obs_event *events[HEADS];
static struct obs_exec *execs[HEADS];
struct obs_flag *_Atomic obs_flags;
static struct obs_flag *flags[HEADS];
static struct obs_context *contexts;

struct obs_context *obs_context_first(void)
{
    return contexts;
}
static struct import {
    struct import *next;
    uint64_t base, times;
} *imports;

/* Timelines that were given back, oldest first, in a ring. */
static struct idle {
    uint32_t timeline, guard;
    uint64_t tick, guard_tick;
} *idle;
static size_t idle_count, idle_first, idle_room;
static uint64_t streams_made;
static uint32_t timelines = 1; /* 0 is the host's */

static size_t head_of(uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 48) % HEADS;
}

static void *record(size_t size)
{
    void *made = calloc(1, size);
    obs_order_short = obs_order_short || !made;
    return made;
}

void obs_point_set(struct obs_point *to, const struct obs_point *from)
{
    for (int i = 0; i < OBS_EDGES_KINDS; i++) {
        if (to->before[i] == from->before[i])
            continue;
        const struct obs_clock *old = to->before[i];
        to->before[i] = obs_clock_keep(from->before[i]);
        obs_clock_drop(old);
    }
    to->timeline = from->timeline;
    to->tick = from->tick;
}

void obs_point_clear(struct obs_point *point)
{
    for (int i = 0; i < OBS_EDGES_KINDS; i++)
        obs_clock_drop(point->before[i]);
    *point = (struct obs_point){0};
}

void obs_point_join(const struct obs_clock *clocks[OBS_EDGES_KINDS], const struct obs_point *point)
{
    for (int i = 0; i <= obs_edges_apart; i++) {
        clocks[i] = obs_clock_join(clocks[i], point->before[i]);
        if (point->tick)
            clocks[i] = obs_clock_with(clocks[i], point->timeline, point->tick);
    }
}

uint32_t obs_timeline_take(const struct obs_lane *lane, uint64_t *tick)
{
    for (size_t i = 0; i < TRIED && i < idle_count; i++) {
        struct idle *first = &idle[idle_first], found = *first;
        idle_first = (idle_first + 1) % idle_room;
        idle_count--;
        bool known = true;
        for (int w = 0; w <= obs_edges_apart; w++)
            known = known && obs_clock_at(lane->knows[w], found.guard) >= found.guard_tick;
        if (known || timelines >= TIMELINES) {
            *tick = found.tick;
            return found.timeline;
        }
        idle[(idle_first + idle_count++) % idle_room] = found;
    }
    *tick = 0;
    return obs_timeline_new();
}

uint32_t obs_timeline_new(void)
{
    return timelines < TIMELINES ? timelines++ : 0;
}

void obs_timeline_give(uint32_t timeline, uint64_t tick, uint32_t guard, uint64_t guard_tick)
{
    if (idle_count == idle_room) {
        size_t room = idle_room ? 2 * idle_room : 64;
        struct idle *more = calloc(room, sizeof *more);
        if (!more)
            return; /* the number is lost, and nothing else */
        for (size_t i = 0; i < idle_count; i++)
            more[i] = idle[(idle_first + i) % idle_room];
        free(idle);
        idle = more;
        idle_first = 0;
        idle_room = room;
    }
    idle[(idle_first + idle_count++) % idle_room] = (struct idle){timeline, guard, tick, guard_tick};
}

uint32_t obs_timeline_count(void)
{
    return timelines - (uint32_t)idle_count;
}

void obs_list_add(struct obs_list *list, struct obs_stream *stream)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct obs_stream **more = realloc(list->at, room * sizeof *more);
        if (!more) {
            obs_order_short = true;
            return;
        }
        list->at = more;
        list->room = room;
    }
    list->at[list->count++] = stream;
}

void obs_list_remove(struct obs_list *list, struct obs_stream *stream)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == stream) {
            list->at[i] = list->at[--list->count];
            return;
        }
}

struct obs_context *obs_context_find(CUcontext handle, bool make)
{
    struct obs_context *context = contexts;
    while (context && context->handle != handle)
        context = context->next;
    if (!context && make && (context = record(sizeof *context))) {
        context->handle = handle;
        context->next = contexts;
        contexts = context;
    }
    return context;
}

static struct obs_stream *stream_new(struct obs_context *context, enum mr_side_stream kind)
{
    struct obs_stream *stream = context ? record(sizeof *stream) : NULL;
    if (!stream)
        return NULL;
    stream->context = context;
    stream->serial = ++streams_made;
    stream->kind = kind;
    stream->blocking = kind == MR_STREAM_MADE || kind == MR_STREAM_PER_THREAD;
    stream->pure = true;
    stream->next = context->streams;
    context->streams = stream;
    if (kind == MR_STREAM_LEGACY)
        context->legacy = stream;
    else if (context->legacy)
        stream->legacy_made = context->legacy->solid.tick;
    return stream;
}

static void put_id(struct obs_stream *stream, uint64_t id)
{
    struct obs_stream **head = &streams_by_id[head_of(id)];
    stream->id = id;
    stream->next_by_id = *head;
    *head = stream;
}

struct obs_stream *obs_stream_find(CUstream handle, CUcontext current, uint64_t thread)
{
    bool legacy = handle == NULL || handle == CU_STREAM_LEGACY, own = handle == CU_STREAM_PER_THREAD;
    if (!legacy && !own) {
        struct obs_stream *stream = streams_by_handle[head_of((uintptr_t)handle)];
        while (stream && stream->handle != (uintptr_t)handle)
            stream = stream->next_by_handle;
        return stream;
    }
    struct obs_context *context = current ? obs_context_find(current, true) : NULL;
    if (!context)
        return NULL;
    if (legacy)
        return context->legacy ? context->legacy : stream_new(context, MR_STREAM_LEGACY);
    struct obs_stream *stream = context->own;
    while (stream && stream->thread != thread)
        stream = stream->next_by_handle;
    if (!stream && (stream = stream_new(context, MR_STREAM_PER_THREAD))) {
        stream->thread = thread;
        stream->next_by_handle = context->own;
        context->own = stream;
    }
    return stream;
}

struct obs_stream *obs_stream_of_work(uint64_t id, CUcontext context, struct obs_stream *known)
{
    if (known && known->id == id)
        return known;
    struct obs_stream *stream = streams_by_id[head_of(id)];
    while (stream && stream->id != id)
        stream = stream->next_by_id;
    if (stream)
        return stream;
    stream = known && known->id == 0 ? known : stream_new(obs_context_find(context, true), MR_STREAM_NONBLOCKING);
    if (stream)
        put_id(stream, id);
    return stream;
}

struct obs_stream *obs_stream_made(uint64_t handle, uint64_t id, CUcontext context, bool blocking)
{
    struct obs_stream *stream =
        stream_new(obs_context_find(context, true), blocking ? MR_STREAM_MADE : MR_STREAM_NONBLOCKING);
    if (!stream)
        return NULL;
    struct obs_stream **head = &streams_by_handle[head_of(handle)];
    stream->handle = handle;
    stream->next_by_handle = *head;
    *head = stream;
    if (id)
        put_id(stream, id);
    return stream;
}

/* Takes the stream out of its tables; `link` is the place of the pointer to the next in a chain. */
static void unlink_stream(struct obs_stream **at, struct obs_stream *stream, size_t link)
{
    for (; *at; at = (struct obs_stream **)((char *)*at + link))
        if (*at == stream) {
            *at = *(struct obs_stream **)((char *)stream + link);
            return;
        }
}

static void join_by_luck(struct obs_point *to, const struct obs_point *from)
{
    const struct obs_clock **luck = &to->before[OBS_EDGES_ALL];
    *luck = obs_clock_join(*luck, from->before[OBS_EDGES_ALL]);
    if (from->tick)
        *luck = obs_clock_with(*luck, from->timeline, from->tick);
}

void obs_stream_end(struct obs_stream *stream)
{
    struct obs_context *context = stream->context;
    if (stream->handle)
        unlink_stream(&streams_by_handle[head_of(stream->handle)], stream, offsetof(struct obs_stream, next_by_handle));
    if (stream->id)
        unlink_stream(&streams_by_id[head_of(stream->id)], stream, offsetof(struct obs_stream, next_by_id));
    unlink_stream(&context->streams, stream, offsetof(struct obs_stream, next));
    if (stream->kind == MR_STREAM_PER_THREAD)
        unlink_stream(&context->own, stream, offsetof(struct obs_stream, next_by_handle));
    if (context->legacy == stream)
        context->legacy = NULL;
    if (stream->to_be_known) {
        obs_list_remove(&context->to_be_known, stream);
        obs_point_join(context->gone.before, &stream->now);
        if (stream->blocking)
            join_by_luck(&context->gone_blocking, &stream->now);
    }
    if (stream->to_be_joined) {
        obs_list_remove(&context->to_be_joined, stream);
        join_by_luck(&context->gone_solid, &stream->solid);
    }
    for (int i = 0; i < 2; i++)
        if (stream->overlap[i])
            obs_timeline_give(stream->overlap[i], stream->overlaps, stream->now.timeline, stream->now.tick);
    if (stream->now.timeline)
        obs_timeline_give(stream->now.timeline, stream->now.tick, stream->now.timeline, stream->now.tick);
    obs_point_clear(&stream->now);
    obs_point_clear(&stream->solid);
    free(stream);
}

void obs_context_end(struct obs_context *context)
{
    struct obs_context **at = &contexts;
    for (struct obs_stream *stream = context->streams, *next; stream; stream = next) {
        next = stream->next;
        obs_stream_end(stream);
    }
    while (*at != context)
        at = &(*at)->next;
    *at = context->next;
    obs_point_clear(&context->gone);
    obs_point_clear(&context->gone_blocking);
    obs_point_clear(&context->gone_solid);
    free(context->to_be_known.at);
    free(context->to_be_joined.at);
    free(context);
}

bool obs_import_opened(uint64_t base)
{
    struct import *import = imports;
    while (import && import->base != base)
        import = import->next;
    if (!import && (import = record(sizeof *import))) {
        import->base = base;
        import->next = imports;
        imports = import;
    }
    return !import || import->times++ == 0;
}

bool obs_import_closed(uint64_t base)
{
    struct import **at = &imports;
    while (*at && (*at)->base != base)
        at = &(*at)->next;
    struct import *import = *at;
    if (!import)
        return true;
    if (--import->times > 0)
        return false;
    *at = import->next;
    free(import);
    return true;
}

struct obs_event *obs_event_find(uint64_t handle, bool make)
{
    struct obs_event **head = &events[head_of(handle)], *event = *head;
    while (event && event->handle != handle)
        event = event->next;
    if (!event && make && (event = record(sizeof *event))) {
        event->handle = handle;
        event->next = *head;
        *head = event;
    }
    return event;
}

void obs_event_end(uint64_t handle)
{
    for (struct obs_event **at = &events[head_of(handle)]; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct obs_event *event = *at;
            *at = event->next;
            obs_point_clear(&event->point);
            free(event);
            return;
        }
}

struct obs_exec *obs_exec_find(uint64_t handle, bool make)
{
    struct obs_exec **head = &execs[head_of(handle)], *exec = *head;
    while (exec && exec->handle != handle)
        exec = exec->next;
    if (!exec && make && (exec = record(sizeof *exec))) {
        exec->handle = handle;
        exec->next = *head;
        *head = exec;
    }
    return exec;
}

void obs_exec_end(uint64_t handle)
{
    for (struct obs_exec **at = &execs[head_of(handle)]; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct obs_exec *exec = *at;
            *at = exec->next;
            obs_point_clear(&exec->launch);
            free(exec);
            return;
        }
}

struct obs_flag *obs_flag_find(uint64_t address, bool make)
{
    struct obs_flag **head = &flags[head_of(address)], *flag = *head;
    while (flag && flag->address != address)
        flag = flag->next;
    if (!flag && make && (flag = record(sizeof *flag))) {
        flag->address = address;
        flag->next = *head;
        *head = flag;
        flag->next_of_all = obs_flags;
        obs_flags = flag;
    }
    return flag;
}

void obs_flags_forget(uint64_t base, size_t size)
{
    struct obs_flag *first = obs_flags, **at = &first;
    while (*at) {
        struct obs_flag *flag = *at, **head = &flags[head_of(flag->address)];
        if (flag->address - base >= size) {
            at = &flag->next_of_all;
            continue;
        }
        while (*head != flag)
            head = &(*head)->next;
        *head = flag->next;
        *at = flag->next_of_all;
        for (unsigned i = 0; i < flag->count; i++)
            obs_point_clear(&flag->write[i].point);
        for (unsigned i = 0; i < OBS_FLAG_RESETS; i++)
            obs_point_clear(&flag->reset[i]);
        free(flag);
    }
    obs_flags = first;
}
