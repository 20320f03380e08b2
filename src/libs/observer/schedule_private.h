/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a schedule, which schedule_state.c keeps and schedule_choose.c chooses from.
 *
 * A chain is what has one priority in a random schedule: the works of a stream, a step of a graph, a host thread. It is
 * named by numbers that are the same in each run: a stream by its place in the order in which the first works of
 * streams came, a step by its node, a thread by its number. Its priority is drawn from seed and name, so that no order
 * of arrival matters. */
#ifndef MR_OBSERVER_SCHEDULE_PRIVATE_H
#define MR_OBSERVER_SCHEDULE_PRIVATE_H

#include "libs/observer/schedule.h"

struct live {
    uint64_t work, order; /* order: its number among the works that were queued */
    uint64_t stream, chain;
    struct obs_operation_name name; /* node 0 */
    uint32_t next; /* in its list of the table, or in the free list */
};

struct held {
    uint64_t work, node, order, stream, chain;
    struct obs_operation_name name;
    enum obs_role role;
};

struct host {
    uint64_t wanted;
    uint32_t thread;
    enum obs_host host;
    bool served; /* something was done since it polls */
};

struct stream {
    uint64_t id, chain;
};

struct change {
    uint64_t at;    /* which decision */
    uint64_t chain; /* that it made the lowest; 0: not yet reached */
};

/* How far one of a witness's operations is. */
struct progress {
    uint64_t live; /* of its works, those that have not ended */
    bool left, began, ended;
};

struct obs_schedule {
    struct obs_schedule_options options;
    uint32_t *lists; /* live works by number: first of each list */
    uint32_t list_count;
    struct live *live;
    size_t live_room;
    size_t live_count;
    uint32_t free; /* first of the free ones */
    uint64_t works;
    struct stream *streams;
    size_t stream_count, stream_room;
    struct held *held;
    size_t held_count, held_room;
    struct host *hosts;
    size_t host_count, host_room;
    struct change changes[OBS_DEPTH_MOST];
    bool chosen; /* a work was chosen, and has not been asked about since */
    uint64_t chosen_work, chosen_node;
    bool open; /* the witness's operation is held no longer, and threads neither */
    bool over; /* nothing is held */
    struct progress hold, until;
    struct { /* the work that the current call has queued last */
        uint32_t thread, work;
        uint64_t call;
    } last;
    struct obs_schedule_counts counts;
};
static inline uint64_t mix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static inline uint64_t mix_both(uint64_t one, uint64_t other)
{
    return mix(mix(one) ^ other);
}
/* A host thread in that state, or NULL. */
struct host *obs_schedule_host_that(struct obs_schedule *schedule, enum obs_host state);

/* The threads that have stopped in this way go on: all of them, because one may wait for another in ways that nobody
 * sees here. */
enum obs_decision obs_schedule_go_on(struct obs_schedule *schedule, enum obs_host stopped);

#endif
