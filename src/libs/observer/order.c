/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for streams, events and the host (order.h).
 *
 * A stream's `now` is a point: its clock, and its own timeline up to the latest tick. A launch takes the next tick and
 * shares the clock. The clock changes when the stream waits for something, when the default-stream rules add something,
 * and when the host has learnt something since: a stream whose clock held nothing but what the host knew (`pure`) then
 * simply takes the host's clock, whatever the number of timelines. */
#include "libs/observer/order.h"

_Atomic uint64_t obs_stamps;
static struct obs_lane of_all; /* the lane of all threads */
static _Thread_local struct obs_lane own;

struct obs_lane *obs_lane_here(void)
{
    if (__builtin_expect(!obs_lanes_apart, 1))
        return &of_all;
    if (!own.timeline)
        own.timeline = obs_timeline_new();
    return &own;
}

void obs_order_begin(bool apart)
{
    obs_edges_apart = apart;
}

/* The work of a stream needs a timeline once it has some. */
void obs_order_timeline(struct obs_stream *stream)
{
    if (!stream->now.timeline)
        stream->now.timeline = obs_timeline_take(obs_lane_here(), &stream->now.tick);
}

static bool is_what_host_knows(const struct obs_stream *stream)
{
    const struct obs_lane *lane = obs_lane_here();
    bool same = true;
    for (int i = 0; i <= obs_edges_apart; i++)
        same = same && stream->now.before[i] == lane->knows[i];
    return same;
}

/* What the host has learnt holds for whatever it submits from now on. */
static void take_from_host(struct obs_stream *stream)
{
    const struct obs_lane *lane = obs_lane_here();
    if (stream->lane != lane->timeline) { /* another thread uses it now */
        stream->lane = lane->timeline;
        stream->joined = UINT64_MAX;
        stream->pure = false;
    }
    if (stream->joined == lane->version)
        return;
    struct obs_point known = {.before = {lane->knows[0], lane->knows[1]}};
    if (stream->pure) {
        known.timeline = stream->now.timeline;
        known.tick = stream->now.tick;
        obs_point_set(&stream->now, &known);
    } else {
        obs_point_join(stream->now.before, &known);
        stream->pure = is_what_host_knows(stream);
    }
    stream->joined = lane->version;
}

static void list_as_unknown(struct obs_stream *stream)
{
    if (!stream->to_be_known) {
        stream->to_be_known = true;
        obs_list_add(&stream->context->to_be_known, stream);
    }
}

/* `edges`: OBS_EDGES_ALL if it is so by luck alone; OBS_EDGES_DOCUMENTED for both. */
static void wait_by(struct obs_stream *stream, const struct obs_point *point, enum obs_edges edges)
{
    take_from_host(stream);
    for (int i = 0; i <= (int)edges && i <= obs_edges_apart; i++) {
        const struct obs_clock **clock = &stream->now.before[i];
        *clock = obs_clock_join(*clock, point->before[i]);
        if (point->tick && point->timeline != stream->now.timeline)
            *clock = obs_clock_with(*clock, point->timeline, point->tick);
    }
    stream->pure = is_what_host_knows(stream);
    if (!stream->pure)
        list_as_unknown(stream);
}

void obs_order_wait(struct obs_stream *stream, const struct obs_point *point)
{
    wait_by(stream, point, OBS_EDGES_DOCUMENTED);
}

/* The legacy stream's work waits for what blocking streams have, up to their latest solid work. */
static void join_blocking(const struct obs_context *context, const struct obs_clock *clocks[OBS_EDGES_KINDS])
{
    clocks[OBS_EDGES_ALL] = obs_clock_join(clocks[OBS_EDGES_ALL], context->gone_solid.before[OBS_EDGES_ALL]);
    for (size_t i = 0; i < context->to_be_joined.count; i++)
        obs_point_join(clocks, &context->to_be_joined.at[i]->solid);
}

static void legacy_takes_all(struct obs_stream *legacy)
{
    struct obs_context *context = legacy->context;
    if (context->to_be_joined.count == 0 && !context->gone_solid.before[OBS_EDGES_ALL])
        return;
    join_blocking(context, legacy->now.before);
    legacy->pure = is_what_host_knows(legacy);
    for (size_t i = 0; i < context->to_be_joined.count; i++)
        context->to_be_joined.at[i]->to_be_joined = false;
    context->to_be_joined.count = 0;
    obs_point_clear(&context->gone_solid);
}

/* A blocking stream's work waits for what the legacy stream has. If that was there before the stream was, the manual
 * says so and hardware needn't do it: that is luck, too. A thread's own stream is made by its first work. */
static void take_from_legacy(struct obs_stream *stream)
{
    const struct obs_stream *legacy = stream->context->legacy;
    if (!legacy || legacy->solid.tick <= stream->legacy_seen)
        return;
    if (stream->kind == MR_STREAM_PER_THREAD && stream->solid.tick == 0)
        stream->legacy_made = legacy->solid.tick;
    wait_by(stream, &legacy->solid, legacy->solid.tick <= stream->legacy_made ? OBS_EDGES_ALL : OBS_EDGES_DOCUMENTED);
    stream->legacy_seen = legacy->solid.tick;
}

static struct obs_operation *at_point(const struct obs_point *point, uint64_t tick, uint64_t stamp)
{
    struct obs_operation *operation = obs_operation_new();
    if (!operation) {
        obs_order_short = true;
        return NULL;
    }
    operation->timeline = point->timeline;
    atomic_store_explicit(&operation->tick, tick, memory_order_relaxed);
    operation->lane = obs_lane_here()->timeline;
    operation->lane_tick = stamp;
    operation->two = obs_edges_apart;
    for (int i = 0; i <= obs_edges_apart; i++)
        operation->before[i] = obs_clock_keep(point->before[i]);
    return operation;
}

/* Others that come after the point come after what this lane has done itself until now. With one lane for all they know
 * that anyhow. */
static void take_place_of_lane(struct obs_point *point, uint64_t stamp)
{
    for (int i = 0; i <= obs_edges_apart; i++)
        point->before[i] = obs_clock_with(point->before[i], obs_lane_here()->timeline, stamp);
}

struct obs_operation *obs_order_work(struct obs_stream *stream, uint64_t stamp, bool solid,
                                     struct obs_operation **early)
{
    struct obs_point alone = {0};
    obs_order_timeline(stream);
    take_from_host(stream);
    if (__builtin_expect(obs_lanes_apart, 0)) {
        take_place_of_lane(&stream->now, stamp);
        stream->pure = false;
    }
    if (early) {
        *early = NULL;
        if (stream->blocking || stream->kind == MR_STREAM_LEGACY)
            obs_point_set(&alone, &stream->now);
    }
    if (solid && stream->kind == MR_STREAM_LEGACY)
        legacy_takes_all(stream);
    else if (solid && stream->blocking)
        take_from_legacy(stream);
    stream->now.tick++;
    stream->behind_kernel = false;
    struct obs_operation *operation = at_point(&stream->now, stream->now.tick, stamp);
    if (early && alone.timeline &&
        (alone.before[0] != stream->now.before[0] || alone.before[1] != stream->now.before[1]))
        *early = at_point(&alone, stream->now.tick, stamp);
    obs_point_clear(&alone);
    if (solid && (stream->blocking || stream->kind == MR_STREAM_LEGACY)) {
        obs_point_set(&stream->solid, &stream->now);
        if (stream->blocking) {
            if (!stream->to_be_joined) {
                stream->to_be_joined = true;
                obs_list_add(&stream->context->to_be_joined, stream);
            }
        }
    }
    list_as_unknown(stream);
    return operation;
}

/* What the free comes after by the default-stream rules: also work on which nothing else is built. */
static void free_takes_all(struct obs_stream *stream)
{
    const struct obs_context *context = stream->context;
    const struct obs_stream *legacy = context->legacy;
    const struct obs_clock **all = &stream->now.before[OBS_EDGES_ALL];
    take_from_host(stream);
    if (stream->kind == MR_STREAM_LEGACY) {
        join_blocking(context, stream->now.before);
        *all = obs_clock_join(*all, context->gone_blocking.before[OBS_EDGES_ALL]);
        for (size_t i = 0; i < context->to_be_known.count; i++)
            if (context->to_be_known.at[i]->blocking)
                obs_point_join(stream->now.before, &context->to_be_known.at[i]->now);
        stream->pure = is_what_host_knows(stream);
    } else if (stream->blocking && legacy) {
        take_from_legacy(stream);
        wait_by(stream, &legacy->now, legacy->now.tick <= stream->legacy_made ? OBS_EDGES_ALL : OBS_EDGES_DOCUMENTED);
    }
}

struct obs_operation *obs_order_free(struct obs_stream *stream, uint64_t stamp)
{
    obs_order_timeline(stream);
    free_takes_all(stream);
    return obs_order_work(stream, stamp, false, NULL);
}

/* What the kernel does before it waits for the one in front of it, which is the stream's latest work. The early part
 * comes after all that the stream knew but that kernel, and is known outside as a part of the work at `tick`. */
static struct obs_operation *early_part(struct obs_stream *stream, const struct obs_operation *kernel, uint64_t before,
                                        uint64_t tick)
{
    uint32_t *timeline = &stream->overlap[stream->overlaps++ % 2];
    struct obs_operation *early = obs_operation_new();
    if (!*timeline)
        *timeline = obs_timeline_new();
    if (!early || !*timeline) {
        obs_operation_drop(early);
        return NULL;
    }
    early->timeline = *timeline;
    atomic_store_explicit(&early->tick, stream->overlaps, memory_order_relaxed);
    early->lane = kernel->lane;
    early->lane_tick = kernel->lane_tick;
    early->launch = stream->now.timeline;
    early->launch_tick = tick;
    early->two = kernel->two;
    for (int i = 0; i <= obs_edges_apart; i++) {
        early->before[i] = obs_clock_keep(kernel->before[i]);
        if (before)
            early->before[i] = obs_clock_with(early->before[i], stream->now.timeline, before);
    }
    return early;
}

struct obs_operation *obs_order_kernel(struct obs_stream *stream, uint64_t stamp, bool overlaps,
                                       struct obs_operation **early)
{
    bool is_apart = overlaps && stream->behind_kernel;
    uint64_t before = stream->kernel_before, tick = stream->now.tick;
    *early = NULL;
    if (is_apart)
        stream->now.tick++; /* the early part's */
    struct obs_operation *operation = obs_order_work(stream, stamp, true, NULL);
    if (is_apart && operation)
        *early = early_part(stream, operation, before, tick + 1);
    stream->behind_kernel = true;
    stream->kernel_before = tick;
    return operation;
}

/* A work in the legacy stream of another context, whose operation nothing keeps. */
static void pass(struct obs_stream *legacy, uint64_t stamp)
{
    struct obs_operation *operation = obs_order_work(legacy, stamp, true, NULL);
    if (operation)
        obs_operation_drop(operation);
}

void obs_order_meet_before(struct obs_stream *stream, struct obs_stream *legacy, uint64_t stamp, enum obs_edges edges)
{
    pass(legacy, stamp);
    wait_by(stream, &legacy->now, edges);
}

void obs_order_meet_after(struct obs_stream *stream, struct obs_stream *legacy, uint64_t stamp, enum obs_edges edges)
{
    wait_by(legacy, &stream->now, edges);
    pass(legacy, stamp);
}

struct obs_operation *obs_order_host(uint64_t stamp)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point point = {.before = {lane->knows[0], lane->knows[1]}, .timeline = lane->timeline};
    struct obs_operation *operation = at_point(&point, UINT64_MAX, stamp);
    if (operation)
        operation->host = true;
    return operation;
}

struct obs_operation *obs_order_before_all(void)
{
    struct obs_operation *operation = obs_order_host(0);
    if (operation)
        atomic_store_explicit(&operation->tick, 0, memory_order_release);
    return operation;
}

struct obs_operation *obs_order_host_after(struct obs_context *context, uint64_t stamp)
{
    struct obs_operation *operation = obs_order_host(stamp);
    struct obs_point all = {0};
    if (!operation || !context)
        return operation;
    obs_order_of_context(context, &all);
    operation->before[OBS_EDGES_ALL] = obs_clock_join(operation->before[OBS_EDGES_ALL], all.before[OBS_EDGES_ALL]);
    obs_point_clear(&all);
    return operation;
}

void obs_order_returns(struct obs_operation *host)
{
    atomic_store_explicit(&host->tick, obs_stamp(), memory_order_release);
}

struct obs_operation *obs_order_apart(uint64_t stamp, struct obs_point *point)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point known = {.before = {lane->knows[0], lane->knows[1]}};
    *point = (struct obs_point){0};
    known.timeline = obs_timeline_take(lane, &known.tick);
    known.tick++;
    if (!known.timeline) {
        obs_order_short = true;
        return NULL;
    }
    obs_point_set(point, &known);
    if (obs_lanes_apart)
        take_place_of_lane(point, stamp);
    struct obs_operation *operation = at_point(point, point->tick, stamp);
    if (!operation)
        obs_point_clear(point);
    return operation;
}

void obs_order_apart_ends(struct obs_point *point)
{
    obs_order_known(point, OBS_EDGES_DOCUMENTED);
    obs_timeline_give(point->timeline, point->tick, point->timeline, point->tick);
    obs_point_clear(point);
}

void obs_order_record(struct obs_stream *stream, bool timed, struct obs_point *out)
{
    stream->behind_kernel = stream->behind_kernel && !timed; /* hardware takes the time between kernels */
    take_from_host(stream);
    obs_order_of_stream(stream, out);
}

void obs_order_of_stream(struct obs_stream *stream, struct obs_point *out)
{
    if (!obs_lanes_apart) /* else other threads' work in the stream does not come after what this thread knows */
        take_from_host(stream);
    obs_point_set(out, &stream->now);
    if (stream->kind == MR_STREAM_LEGACY)
        join_blocking(stream->context, out->before);
}

void obs_order_of_context(struct obs_context *context, struct obs_point *out)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point known = {.before = {lane->knows[0], lane->knows[1]}};
    obs_point_set(out, &known);
    obs_point_join(out->before, &context->gone);
    for (size_t i = 0; i < context->to_be_known.count; i++)
        obs_point_join(out->before, &context->to_be_known.at[i]->now);
}

void obs_order_record_all(struct obs_context *context, struct obs_point *out)
{
    obs_order_of_context(context, out);
}

void obs_order_wait_all(struct obs_context *context, const struct obs_point *point)
{
    for (struct obs_stream *stream = context->streams; stream; stream = stream->next)
        obs_order_wait(stream, point);
}

void obs_order_known(const struct obs_point *point, enum obs_edges edges)
{
    struct obs_lane *lane = obs_lane_here();
    bool more = false;
    for (int i = 0; i <= (int)edges && i <= obs_edges_apart; i++) {
        more = more || point->tick || !obs_clock_covers(lane->knows[i], point->before[i]);
        lane->knows[i] = obs_clock_join(lane->knows[i], point->before[i]);
        if (point->tick && point->timeline != lane->timeline)
            lane->knows[i] = obs_clock_with(lane->knows[i], point->timeline, point->tick);
    }
    lane->version += more;
}

void obs_order_release(struct obs_point *point)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point known = {
        .before = {lane->knows[0], lane->knows[1]}, .timeline = lane->timeline, .tick = obs_stamp()};
    obs_point_join(point->before, &known);
}

void obs_order_function_begins(const struct obs_operation *function)
{
    struct obs_point point = {.before = {function->before[0], function->before[1]},
                              .timeline = function->timeline,
                              .tick = atomic_load(&((struct obs_operation *)function)->tick)};
    if (!obs_lanes_apart && obs_order_strict)
        return;
    if (!obs_lanes_apart)
        point.tick--; /* what is before it on its timeline */
    obs_order_lock();
    obs_order_known(&point, OBS_EDGES_DOCUMENTED);
    obs_order_unlock();
}

void obs_order_reset(struct obs_context *context)
{
    struct obs_point all = {0};
    obs_order_of_context(context, &all);
    obs_order_known(&all, OBS_EDGES_DOCUMENTED);
    obs_point_clear(&all);
    obs_context_end(context);
}

/* All that the stream has is known to be done, by all edges. */
static bool is_known(const struct obs_stream *stream)
{
    const struct obs_lane *lane = obs_lane_here();
    bool known = !obs_lanes_apart; /* one thread's knowledge is not all threads' */
    for (int i = 0; i <= obs_edges_apart; i++)
        known = known && obs_clock_at(lane->knows[i], stream->now.timeline) >= stream->now.tick &&
                obs_clock_covers(lane->knows[i], stream->now.before[i]);
    return known;
}

void obs_order_settle_stream(struct obs_stream *stream)
{
    if (!stream->to_be_known || !is_known(stream))
        return;
    obs_list_remove(&stream->context->to_be_known, stream);
    stream->to_be_known = false;
    stream->pure = true;
}

void obs_order_settle(struct obs_context *context)
{
    struct obs_list *list = &context->to_be_known;
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct obs_stream *stream = list->at[i];
        if (is_known(stream)) {
            stream->to_be_known = false;
            stream->pure = true;
        } else {
            list->at[left++] = stream;
        }
    }
    list->count = left;
    bool gone = !obs_lanes_apart;
    for (int i = 0; i <= obs_edges_apart; i++)
        gone = gone && obs_clock_covers(obs_lane_here()->knows[i], context->gone.before[i]);
    if (gone) {
        obs_point_clear(&context->gone);
        obs_point_clear(&context->gone_blocking);
    }
}
