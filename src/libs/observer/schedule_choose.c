/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next: the choice between held works and stopped host threads, by the mode of the schedule. */
#include <assert.h>

#include "libs/observer/schedule_private.h"

static bool choose(struct obs_schedule *schedule, const struct held *held)
{
    const struct obs_operation_name *name = &held->name;
    schedule->chosen = true;
    schedule->chosen_work = held->work;
    schedule->chosen_node = held->node;
    schedule->counts.decisions++;
    schedule->counts.trace =
        mix_both(schedule->counts.trace, mix_both(name->thread, name->call) ^ mix_both(name->work, held->node));
    return true;
}
/* True if some host thread can't go on before something is done. */
static bool any_waits(struct obs_schedule *schedule)
{
    return obs_schedule_host_that(schedule, OBS_HOST_WAITS) || obs_schedule_host_that(schedule, OBS_HOST_POLLS);
}

static bool all_wait(const struct obs_schedule *schedule)
{
    for (size_t i = 0; i < schedule->host_count; i++)
        if (schedule->hosts[i].host != OBS_HOST_WAITS && schedule->hosts[i].host != OBS_HOST_POLLS &&
            schedule->hosts[i].host != OBS_HOST_HELD)
            return false;
    return schedule->host_count > 0;
}
/* Is `one` older than `other`? */
static bool is_older(const struct held *one, const struct held *other)
{
    return one->order != other->order ? one->order < other->order : one->node < other->node;
}

static const struct held *oldest(const struct obs_schedule *schedule, uint64_t stream)
{
    const struct held *found = NULL;
    for (size_t i = 0; i < schedule->held_count; i++)
        if ((!stream || schedule->held[i].stream == stream) && (!found || is_older(&schedule->held[i], found)))
            found = &schedule->held[i];
    return found;
}

static const struct held *newest(const struct obs_schedule *schedule)
{
    const struct held *found = NULL;
    for (size_t i = 0; i < schedule->held_count; i++)
        if (!found || is_older(found, &schedule->held[i]))
            found = &schedule->held[i];
    return found;
}

static const struct held *wanted(const struct obs_schedule *schedule)
{
    const struct held *found = NULL;
    for (size_t i = 0; i < schedule->host_count && !found; i++)
        if (schedule->hosts[i].host == OBS_HOST_WAITS && schedule->hosts[i].wanted)
            found = oldest(schedule, schedule->hosts[i].wanted);
    return found ? found : oldest(schedule, 0);
}

/* Higher goes first. Chains that a change point has made low are below all others, the latest the lowest. */
static uint64_t priority(const struct obs_schedule *schedule, uint64_t chain)
{
    for (uint32_t i = schedule->options.depth - 1; i-- > 0;)
        if (schedule->changes[i].chain == chain)
            return schedule->options.depth - i;
    return mix_both(schedule->options.seed, chain) | UINT64_C(1) << 63;
}

static uint64_t host_chain(const struct host *host)
{
    return UINT64_C(1) << 32 | host->thread;
}

/* The chain that goes on at this decision: a held work's, or a stopped thread's if that is higher. */
static uint64_t highest(struct obs_schedule *schedule, const struct held **held, struct host **host)
{
    uint64_t best = 0, chain = 0;
    *held = NULL;
    *host = NULL;
    for (size_t i = 0; i < schedule->held_count; i++) {
        uint64_t now = priority(schedule, schedule->held[i].chain);
        if (*held && (now < best || (now == best && !is_older(&schedule->held[i], *held))))
            continue;
        best = now;
        chain = schedule->held[i].chain;
        *held = &schedule->held[i];
    }
    for (size_t i = 0; i < schedule->host_count; i++) {
        uint64_t now = priority(schedule, host_chain(&schedule->hosts[i]));
        if (schedule->hosts[i].host != OBS_HOST_STOPS || (chain && now < best))
            continue;
        best = now;
        chain = host_chain(&schedule->hosts[i]);
        *host = &schedule->hosts[i];
    }
    return chain;
}

static enum obs_decision choose_random(struct obs_schedule *schedule)
{
    const struct held *held;
    struct host *host;
    uint64_t now = schedule->counts.decisions + 1;
    uint64_t chain = highest(schedule, &held, &host);
    if (!chain || (!host && !any_waits(schedule) && !obs_schedule_host_that(schedule, OBS_HOST_STOPS)))
        return OBS_NOTHING;
    for (uint32_t i = 0; i + 1 < schedule->options.depth; i++)
        if (!schedule->changes[i].chain && schedule->changes[i].at <= now) {
            schedule->changes[i].chain = chain;
            chain = highest(schedule, &held, &host);
        }
    if (!host) {
        assert(held); /* there is a chain */
        choose(schedule, held);
        return OBS_WORK;
    }
    if (schedule->held_count > 0) { /* else there was nothing to choose between */
        schedule->counts.decisions++;
        schedule->counts.trace = mix_both(schedule->counts.trace, host_chain(host));
    }
    return obs_schedule_go_on(schedule, OBS_HOST_STOPS);
}

/* The work that a mode takes next, or NULL: none may begin now. */
static const struct held *next_held(struct obs_schedule *schedule)
{
    switch (schedule->options.mode) {
    case OBS_EAGER:
        return oldest(schedule, 0);
    case OBS_LATE:
        return any_waits(schedule) ? wanted(schedule) : NULL;
    case OBS_REVERSED:
        return any_waits(schedule) ? newest(schedule) : NULL;
    default:
        return NULL;
    }
}

/* A witness holds an operation that everything waits for: it is let go. */
static bool gives_in(struct obs_schedule *schedule)
{
    bool thread = obs_schedule_host_that(schedule, OBS_HOST_HELD) != NULL;
    if (schedule->options.mode != OBS_PLAIN || (schedule->held_count == 0 && !thread) || !all_wait(schedule))
        return false;
    if (thread)
        obs_schedule_go_on(schedule, OBS_HOST_HELD);
    return schedule->open = true;
}

enum obs_decision obs_schedule_rest(struct obs_schedule *schedule)
{
    schedule->chosen = false; /* what was chosen and not asked about is ready no longer */
    struct host *polls = obs_schedule_host_that(schedule, OBS_HOST_POLLS);
    if (polls && (polls->served || schedule->held_count == 0))
        return obs_schedule_go_on(schedule, OBS_HOST_POLLS);
    if (polls)
        polls->served = true;
    if (gives_in(schedule))
        return OBS_WORK;
    if (schedule->options.mode == OBS_RANDOM)
        return choose_random(schedule);
    const struct held *next = next_held(schedule);
    if (next) {
        choose(schedule, next);
        return OBS_WORK;
    }
    return obs_schedule_host_that(schedule, OBS_HOST_STOPS) ? obs_schedule_go_on(schedule, OBS_HOST_STOPS)
                                                            : OBS_NOTHING;
}

enum obs_decision obs_schedule_overdue(struct obs_schedule *schedule)
{
    const struct held *held = oldest(schedule, 0);
    struct host *host = obs_schedule_host_that(schedule, OBS_HOST_STOPS);
    if (!host)
        host = obs_schedule_host_that(schedule, OBS_HOST_POLLS);
    if (!host)
        host = obs_schedule_host_that(schedule, OBS_HOST_HELD);
    if (!held && !host)
        return OBS_NOTHING;
    schedule->counts.overdue++;
    schedule->open |= host && host->host == OBS_HOST_HELD;
    if (host) /* what it does may be what the works that run wait for */
        return obs_schedule_go_on(schedule, host->host);
    if (schedule->options.mode == OBS_PLAIN)
        schedule->open = true;
    else
        choose(schedule, held);
    return OBS_WORK;
}
