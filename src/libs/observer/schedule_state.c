/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule: works that live, those of them that are held, and host threads. What comes next is chosen in
 * schedule_choose.c. */
#include "libs/observer/schedule_private.h"

#include <stdlib.h>

enum { NO_LIST = UINT32_MAX, FIRST_ROOM = 64 };

static bool grow(void **array, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t more = *room ? *room * 2 : FIRST_ROOM;
    void *moved = realloc(*array, more * size);
    if (!moved)
        return false;
    *array = moved;
    *room = more;
    return true;
}

/* ---- making one ---- */

static void draw_changes(struct obs_schedule *schedule)
{
    const struct obs_schedule_options *options = &schedule->options;
    for (uint32_t i = 0; i + 1 < options->depth; i++)
        schedule->changes[i].at = 1 + mix_both(options->seed, UINT64_C(0x100000000) + i) % options->length;
}

struct obs_schedule *obs_schedule_new(const struct obs_schedule_options *options)
{
    struct obs_schedule *schedule = calloc(1, sizeof *schedule);
    if (!schedule)
        return NULL;
    schedule->options = *options;
    schedule->free = NO_LIST;
    schedule->list_count = 1024;
    schedule->lists = malloc(schedule->list_count * sizeof *schedule->lists);
    if (!schedule->lists) {
        free(schedule);
        return NULL;
    }
    for (uint32_t i = 0; i < schedule->list_count; i++)
        schedule->lists[i] = NO_LIST;
    if (options->mode == OBS_RANDOM)
        draw_changes(schedule);
    return schedule;
}

void obs_schedule_free(struct obs_schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->lists);
    free(schedule->live);
    free(schedule->streams);
    free(schedule->held);
    free(schedule->hosts);
    free(schedule);
}

/* ---- live works ---- */

static uint32_t *list_of(struct obs_schedule *schedule, uint64_t work)
{
    return &schedule->lists[mix(work) % schedule->list_count];
}

static struct live *find_live(const struct obs_schedule *schedule, uint64_t work)
{
    for (uint32_t at = schedule->lists[mix(work) % schedule->list_count]; at != NO_LIST; at = schedule->live[at].next)
        if (schedule->live[at].work == work)
            return &schedule->live[at];
    return NULL;
}

static bool make_room(struct obs_schedule *schedule)
{
    size_t before = schedule->live_room;
    if (schedule->free != NO_LIST)
        return true;
    if (before >= NO_LIST / 2 ||
        !grow((void **)&schedule->live, &schedule->live_room, before + 1, sizeof *schedule->live))
        return false;
    for (size_t i = schedule->live_room; i-- > before;) {
        schedule->live[i].next = schedule->free;
        schedule->free = (uint32_t)i;
    }
    return true;
}

static uint64_t chain_of(struct obs_schedule *schedule, uint64_t stream)
{
    for (size_t i = schedule->stream_count; i-- > 0;)
        if (schedule->streams[i].id == stream)
            return schedule->streams[i].chain;
    if (!grow((void **)&schedule->streams, &schedule->stream_room, schedule->stream_count + 1,
              sizeof *schedule->streams))
        return 1;
    schedule->streams[schedule->stream_count] = (struct stream){stream, schedule->stream_count + 1};
    return schedule->streams[schedule->stream_count++].chain;
}

static bool same_call(const struct obs_operation_name *name, uint32_t thread, uint64_t call)
{
    return name->thread == thread && name->call == call;
}

/* Is the work, or the step of it, all or part of the operation? A step is part of the whole run of its graph. */
static bool is_part(const struct obs_operation_name *of, const struct obs_operation_name *name, uint64_t node)
{
    return of->kind == OBS_OF_CALL && same_call(of, name->thread, name->call) &&
           (of->work == 0 || of->work == name->work) && (of->node == 0 || of->node == node);
}

static bool is_code(const struct obs_operation_name *of, uint32_t thread, uint64_t call)
{
    return of->kind == OBS_OF_CODE && same_call(of, thread, call);
}

bool obs_schedule_bound(struct obs_schedule *schedule, uint64_t work, uint64_t stream, uint32_t thread, uint64_t call)
{
    if (!make_room(schedule))
        return false;
    if (schedule->last.thread != thread || schedule->last.call != call) {
        schedule->last.thread = thread;
        schedule->last.call = call;
        schedule->last.work = 0;
    }
    uint32_t at = schedule->free, *list = list_of(schedule, work);
    struct live *live = &schedule->live[at];
    schedule->free = live->next;
    *live = (struct live){.work = work,
                          .order = ++schedule->works,
                          .stream = stream,
                          .chain = chain_of(schedule, stream),
                          .name = {.thread = thread, .call = call, .work = ++schedule->last.work},
                          .next = *list};
    *list = at;
    schedule->live_count++;
    if (schedule->options.witness) {
        schedule->hold.live += is_part(&schedule->options.hold, &live->name, schedule->options.hold.node);
        schedule->until.live += is_part(&schedule->options.until, &live->name, schedule->options.until.node);
    }
    return true;
}

enum obs_role obs_schedule_role(const struct obs_schedule *schedule, uint64_t work, uint64_t node)
{
    const struct live *live = schedule->options.witness ? find_live(schedule, work) : NULL;
    if (!live)
        return OBS_NO_ROLE;
    /* The run of a graph as a whole has the role, or else its step; not both. */
    const struct obs_operation_name *hold = &schedule->options.hold, *until = &schedule->options.until;
    if (hold->node == node && is_part(hold, &live->name, node))
        return OBS_HELD;
    return until->node == node && is_part(until, &live->name, node) ? OBS_AWAITED : OBS_NO_ROLE;
}

enum obs_role obs_schedule_code_role(const struct obs_schedule *schedule, uint32_t thread, uint64_t call)
{
    if (!schedule->options.witness)
        return OBS_NO_ROLE;
    if (is_code(&schedule->options.hold, thread, call))
        return OBS_HELD;
    return is_code(&schedule->options.until, thread, call) ? OBS_AWAITED : OBS_NO_ROLE;
}

/* ---- asking ---- */

static void note_held(struct obs_schedule *schedule, const struct live *live, uint64_t node, enum obs_role role)
{
    for (size_t i = 0; i < schedule->held_count; i++)
        if (schedule->held[i].work == live->work && schedule->held[i].node == node)
            return;
    schedule->counts.held |= role == OBS_HELD;
    schedule->held[schedule->held_count++] = (struct held){.work = live->work,
                                                           .node = node,
                                                           .order = live->order,
                                                           .stream = live->stream,
                                                           .chain = node ? mix_both(live->chain, node) : live->chain,
                                                           .name = live->name,
                                                           .role = role};
}

/* The operation that is held begins. */
static void held_begins(struct obs_schedule *schedule)
{
    if (schedule->hold.began)
        return;
    schedule->hold.began = true;
    schedule->counts.let_go +=
        schedule->options.mode == OBS_PLAIN && schedule->options.until.kind != OBS_REST && !schedule->until.ended;
}

static bool begins(struct obs_schedule *schedule, enum obs_role role)
{
    if (role == OBS_HELD)
        held_begins(schedule);
    if (role == OBS_AWAITED)
        schedule->until.began = true;
    return true;
}

/* True for a work that belongs to nothing that the schedule holds. */
static bool is_free(const struct obs_schedule *schedule, const struct live *live, enum obs_role role)
{
    return !live || schedule->over ||
           (schedule->options.mode == OBS_PLAIN && (role != OBS_HELD || schedule->open || schedule->until.ended));
}

bool obs_schedule_ask(struct obs_schedule *schedule, uint64_t work, uint64_t node)
{
    enum obs_role role = obs_schedule_role(schedule, work, node);
    const struct live *live = find_live(schedule, work);
    schedule->counts.asked++;
    if (schedule->chosen && schedule->chosen_work == work && schedule->chosen_node == node) {
        schedule->chosen = false;
        return begins(schedule, role);
    }
    if (is_free(schedule, live, role) ||
        !grow((void **)&schedule->held, &schedule->held_room, schedule->held_count + 1, sizeof *schedule->held))
        return begins(schedule, role);
    note_held(schedule, live, node, role);
    return false;
}

void obs_schedule_forget(struct obs_schedule *schedule)
{
    schedule->held_count = 0;
}

/* An operation is done when its call has returned and nothing of it lives. True if it became so. */
static bool look_at(struct progress *progress)
{
    if (progress->ended || !progress->left || progress->live > 0)
        return false;
    return progress->ended = true;
}

/* Is `until` done, just now? Then what waited for it may begin: true if there is something. */
static bool look_at_until(struct obs_schedule *schedule)
{
    if (!look_at(&schedule->until))
        return false;
    bool thread = obs_schedule_host_that(schedule, OBS_HOST_HELD) != NULL;
    if (thread)
        obs_schedule_go_on(schedule, OBS_HOST_HELD);
    return thread || schedule->held_count > 0;
}

/* The end of a work, or of a step. A step that was left out is over when its run is. */
static void count_end(struct progress *progress, const struct obs_operation_name *of, const struct live *live,
                      uint64_t node)
{
    if ((node == of->node || node == 0) && is_part(of, &live->name, of->node) && progress->live > 0)
        progress->live--;
}

bool obs_schedule_ended(struct obs_schedule *schedule, uint64_t work, uint64_t node)
{
    bool again = false;
    if (schedule->options.witness) {
        const struct live *live = find_live(schedule, work);
        const struct obs_operation_name *hold = &schedule->options.hold, *until = &schedule->options.until;
        if (live)
            count_end(&schedule->hold, hold, live, node);
        if (live)
            count_end(&schedule->until, until, live, node);
        look_at(&schedule->hold);
        again = look_at_until(schedule);
    }
    if (node != 0)
        return again;
    for (uint32_t *at = list_of(schedule, work); *at != NO_LIST; at = &schedule->live[*at].next) {
        if (schedule->live[*at].work != work)
            continue;
        uint32_t gone = *at;
        *at = schedule->live[gone].next;
        schedule->live[gone].next = schedule->free;
        schedule->free = gone;
        schedule->live_count--;
        break;
    }
    return again;
}

bool obs_schedule_left(struct obs_schedule *schedule, uint32_t thread, uint64_t call)
{
    const struct obs_operation_name *hold = &schedule->options.hold, *until = &schedule->options.until;
    if (!schedule->options.witness)
        return false;
    schedule->hold.left |= hold->kind == OBS_OF_CALL && same_call(hold, thread, call);
    schedule->until.left |= until->kind == OBS_OF_CALL && same_call(until, thread, call);
    schedule->until.began |= is_code(until, thread, call);
    if (is_code(hold, thread, call) && (schedule->options.mode != OBS_PLAIN || schedule->until.ended))
        held_begins(schedule);
    look_at(&schedule->hold);
    return look_at_until(schedule);
}

bool obs_schedule_entered(struct obs_schedule *schedule, uint32_t thread, uint64_t call)
{
    if (!schedule->options.witness)
        return false;
    schedule->hold.left |= is_code(&schedule->options.hold, thread, call - 1);
    schedule->until.left |= is_code(&schedule->options.until, thread, call - 1);
    look_at(&schedule->hold);
    return look_at_until(schedule);
}

/* ---- host threads ---- */

bool obs_schedule_stops(const struct obs_schedule *schedule)
{
    return schedule->options.mode == OBS_EAGER || schedule->options.mode == OBS_RANDOM;
}

bool obs_schedule_holds_code(struct obs_schedule *schedule, uint32_t thread, uint64_t call)
{
    bool holds = schedule->options.witness && schedule->options.mode == OBS_PLAIN && !schedule->open &&
                 !schedule->over && !schedule->until.ended && is_code(&schedule->options.hold, thread, call);
    schedule->counts.held |= holds;
    return holds;
}

void obs_schedule_host(struct obs_schedule *schedule, uint32_t thread, enum obs_host state, uint64_t wanted)
{
    struct host *host = NULL;
    for (size_t i = 0; i < schedule->host_count && !host; i++)
        if (schedule->hosts[i].thread == thread)
            host = &schedule->hosts[i];
    if (!host) {
        if (state == OBS_HOST_GONE ||
            !grow((void **)&schedule->hosts, &schedule->host_room, schedule->host_count + 1, sizeof *schedule->hosts))
            return;
        host = &schedule->hosts[schedule->host_count++];
    }
    *host = (struct host){.thread = thread, .host = state, .wanted = wanted};
    if (state == OBS_HOST_GONE)
        *host = schedule->hosts[--schedule->host_count];
}

bool obs_schedule_gone(struct obs_schedule *schedule, uint32_t thread)
{
    const struct obs_operation_name *until = &schedule->options.until;
    obs_schedule_host(schedule, thread, OBS_HOST_GONE, 0);
    if (!schedule->options.witness || until->kind != OBS_OF_CODE || until->thread != thread || !schedule->until.began)
        return false;
    schedule->until.left = true;
    return look_at_until(schedule);
}

struct host *obs_schedule_host_that(struct obs_schedule *schedule, enum obs_host state)
{
    for (size_t i = 0; i < schedule->host_count; i++)
        if (schedule->hosts[i].host == state)
            return &schedule->hosts[i];
    return NULL;
}

enum obs_decision obs_schedule_go_on(struct obs_schedule *schedule, enum obs_host stopped)
{
    for (size_t i = 0; i < schedule->host_count; i++)
        if (schedule->hosts[i].host == stopped)
            schedule->hosts[i] = (struct host){.thread = schedule->hosts[i].thread, .host = OBS_HOST_RUNS};
    if (stopped == OBS_HOST_HELD)
        held_begins(schedule);
    return OBS_THREAD;
}

bool obs_schedule_runs(const struct obs_schedule *schedule, uint32_t thread)
{
    for (size_t i = 0; i < schedule->host_count; i++)
        if (schedule->hosts[i].thread == thread)
            return schedule->hosts[i].host == OBS_HOST_RUNS;
    return true;
}

bool obs_schedule_any(const struct obs_schedule *schedule)
{
    return schedule->live_count > 0;
}

bool obs_schedule_open(struct obs_schedule *schedule)
{
    bool thread = obs_schedule_host_that(schedule, OBS_HOST_HELD) != NULL;
    schedule->over = true;
    if (thread)
        obs_schedule_go_on(schedule, OBS_HOST_HELD);
    return thread || schedule->held_count > 0;
}

struct obs_schedule_counts obs_schedule_count(const struct obs_schedule *schedule)
{
    struct obs_schedule_counts counts = schedule->counts;
    counts.began = schedule->hold.began || schedule->hold.left;
    counts.until_began = schedule->until.began || schedule->until.left || schedule->options.until.kind == OBS_REST;
    counts.ended = schedule->hold.ended;
    counts.until_ended = schedule->until.ended;
    return counts;
}
