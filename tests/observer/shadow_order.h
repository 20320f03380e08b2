/* SPDX-License-Identifier: Apache-2.0 */
/* Operations made by hand for tests of the shadow: lines of operations, and waits between lines. A line is what a
 * stream is; line 0 is the host. Each operation has a call's number and, unless it is told otherwise, a site of its
 * own. */
#ifndef MILLRACE_TEST_SHADOW_ORDER_H
#define MILLRACE_TEST_SHADOW_ORDER_H

#include <stdint.h>

#include "libs/observer/clock.h"
#include "libs/observer/finding.h"
#include "libs/observer/operation.h"

enum { LINES = 64, HOST_LINE = 0 };

struct line {
    uint64_t tick;
    const struct obs_clock *clock;
};

static struct line lines[LINES];
static _Atomic uint64_t calls;
static _Atomic uint32_t sites;

/* The next operation of a line. The caller has a reference. */
static inline struct obs_operation *operation_with(uint32_t line, enum mr_side_what what, const char *call,
                                                   uint32_t site)
{
    obs_order_lock();
    struct obs_operation *operation = obs_operation_new();
    operation->timeline = line + 1;
    operation->tick = ++lines[line].tick;
    operation->lane = 0;
    operation->before[OBS_EDGES_ALL] = obs_clock_keep(lines[line].clock);
    lines[line].clock = obs_clock_with(lines[line].clock, line + 1, lines[line].tick);
    obs_order_unlock();
    calls++;
    operation->side = (struct mr_side){.what = what,
                                       .call = call,
                                       .site = site ? site : ++sites,
                                       .number = calls,
                                       .thread = 1,
                                       .stream_kind = line == HOST_LINE ? MR_STREAM_NONE : MR_STREAM_MADE,
                                       .stream = line,
                                       .work = line == HOST_LINE ? 0 : calls};
    return operation;
}

static inline struct obs_operation *operation(uint32_t line, enum mr_side_what what)
{
    static const char *const names[] = {
        [MR_SIDE_KERNEL] = "cuLaunchKernel",
        [MR_SIDE_COPY] = "cuMemcpyAsync",
        [MR_SIDE_FILL] = "cuMemsetD8Async",
        [MR_SIDE_HOST_FUNCTION] = "cuLaunchHostFunc",
        [MR_SIDE_MEMORY_OP] = "cuStreamWriteValue32",
        [MR_SIDE_GRAPH] = "cuGraphLaunch",
        [MR_SIDE_HOST] = "cuMemcpy",
        [MR_SIDE_ALLOCATION] = "cuMemAllocAsync",
        [MR_SIDE_FREE] = "cuMemFreeAsync",
        [MR_SIDE_OTHER] = "cuThing",
    };
    return operation_with(line, what, names[what], 0);
}

/* What comes in `later` from now on comes after all that is in `earlier` now. */
static inline void wait_for(uint32_t later, uint32_t earlier)
{
    obs_order_lock();
    lines[later].clock = obs_clock_join(lines[later].clock, obs_clock_keep(lines[earlier].clock));
    obs_order_unlock();
}

static inline void drop(struct obs_operation *operation)
{
    obs_operation_drop(operation);
}

#endif
