/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: what the program asked for, with its place in the order of things.
 *
 * An operation is one work of a stream, one step of a graph's run, one host function, or the host itself inside of one
 * call. It stands on a timeline, at a tick, and knows what has happened when it begins: all that its clock says, all
 * that stands before it on its own timeline, and all that its lane of the host had done when it was asked for.
 *
 * A lane is a row of host calls whose order is known. There is one for the whole process: a call that returned before
 * another began is the earlier one. Or, if the host's threads are taken strictly, there is one for each thread, and
 * the calls of other threads count only if something that the program does orders them. The stamps of a lane are ticks
 * of its timeline: one is taken when a call begins and another when it returns. What the host does inside of a call
 * has the stamp of the return: until then nothing comes after it.
 *
 * Outside of its run, a step of a graph is known only as a part of the launch: what comes after the launch comes after
 * all its steps. So clocks of other work need not name the timelines of graphs.
 *
 * An edge is documented, or only known by luck: hardware behaves so, but no manual promises it. Where the difference
 * is asked for (obs_order_begin), operations carry two clocks.
 *
 * Operations are counted. order.c makes them; the shadow keeps those that it compares with. */
#ifndef MR_OBSERVER_OPERATION_H
#define MR_OBSERVER_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/observer/clock.h"
#include "libs/observer/finding.h"

/* By which edges an order is looked for. */
enum obs_edges { OBS_EDGES_ALL, OBS_EDGES_DOCUMENTED, OBS_EDGES_KINDS };

/* All but the counters stays as it is once others see the operation, except for `tick` of what the host does: it is
 * UINT64_MAX until the call returns. */
struct obs_operation {
    _Atomic uint32_t references;
    uint32_t timeline;
    _Atomic uint64_t tick;
    uint32_t lane;      /* the timeline of the lane that asked for it */
    uint64_t lane_tick; /* how far that lane had come then */
    uint32_t launch;    /* of a step: the timeline of its graph's launch, and its tick; 0: it is no step */
    uint64_t launch_tick;
    /* By enum obs_edges. The second one is NULL unless both are kept apart (`two`): the first one serves then. */
    const struct obs_clock *before[OBS_EDGES_KINDS];
    bool two;
    bool host;          /* what the host does inside of a call; `timeline` is its lane */
    struct mr_side side;
    struct obs_operation *next; /* for operation.c */
};

/* Does `later` begin only after `earlier` has ended, by these edges? An operation doesn't come after itself. Any
 * thread. */
static inline bool obs_comes_after_by(const struct obs_operation *later, const struct obs_operation *earlier,
                                      enum obs_edges edges)
{
    uint64_t tick = atomic_load_explicit(&((struct obs_operation *)earlier)->tick, memory_order_acquire);
    if (later->timeline == earlier->timeline && !later->host)
        return tick < atomic_load_explicit(&((struct obs_operation *)later)->tick, memory_order_relaxed);
    if (earlier->timeline == later->lane)
        return tick <= later->lane_tick;
    const struct obs_clock *before = later->before[later->two ? edges : OBS_EDGES_ALL];
    if (obs_clock_at(before, earlier->timeline) >= tick)
        return true;
    if (!earlier->launch)
        return false;
    if (later->timeline == earlier->launch)
        return earlier->launch_tick <
               atomic_load_explicit(&((struct obs_operation *)later)->tick, memory_order_relaxed);
    return obs_clock_at(before, earlier->launch) >= earlier->launch_tick;
}

/* By all edges: what is true of hardware. */
static inline bool obs_comes_after(const struct obs_operation *later, const struct obs_operation *earlier)
{
    return obs_comes_after_by(later, earlier, OBS_EDGES_ALL);
}

/* True if it comes after, but no manual promises it. Always false if edges are not kept apart. */
static inline bool obs_comes_after_by_luck(const struct obs_operation *later, const struct obs_operation *earlier)
{
    return later->two && obs_comes_after_by(later, earlier, OBS_EDGES_ALL) &&
           !obs_comes_after_by(later, earlier, OBS_EDGES_DOCUMENTED);
}

/* An operation of zeros with one reference, or NULL when memory is short. Needs the rules' lock. */
struct obs_operation *obs_operation_new(void);

/* One more reference, which is returned; and one given back. Any thread, with any lock: an operation that nobody has
 * any more is put aside, and its clocks are dropped by the next obs_operation_new. */
static inline struct obs_operation *obs_operation_keep(struct obs_operation *operation)
{
    atomic_fetch_add_explicit(&operation->references, 1, memory_order_relaxed);
    return operation;
}
void obs_operation_drop(struct obs_operation *operation);

/* Takes what was put aside. Needs the rules' lock. */
void obs_operation_sweep(void);

/* The rules' lock: of clocks and of the objects' table. It is the last lock: a thread that holds it takes no other and
 * calls neither the shadow nor the driver. */
void obs_order_lock(void);
void obs_order_unlock(void);

/* Operations alive (or put aside and not taken yet), those made since the start, and the bytes taken for them. */
uint64_t obs_operation_live(void);
uint64_t obs_operation_made(void);
size_t obs_operation_bytes(void);

#endif
