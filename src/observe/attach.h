/* SPDX-License-Identifier: Apache-2.0 */
/* Observers that come while the program runs: the driver's private functions for libcupti, and for libcudart, whose
 * calls libcupti wants to know of.
 *
 * One table may be attached in a process, beside the observer that MILLRACE_OBSERVE loads. It stays: what changes is
 * which points it wants, and with none of them nobody calls it. A point that was on its way when the table gave it up
 * may still arrive. The end of a call is told if the table left something in `data` at its begin, whatever it wants by
 * then; else the end is not told. */
#ifndef MR_OBSERVE_ATTACH_H
#define MR_OBSERVE_ATTACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "observe/observe.h"

/* Further points; only for tables that attach. */
enum mr_attach_point {
    MR_ATTACH_RUNTIME = 1 << 8, /* runtime_enter, runtime_leave */
};

/* Which points the table wants from now on: MR_OBSERVE_CALLS, MR_OBSERVE_WORK and MR_ATTACH_RUNTIME; 0 for none.
 * Before cuInit too: then from its end on, which `opened` tells of. NULL if another table is
 * attached, or the table is of another version, or wants other points. The answer is valid as long as the process. Any
 * thread, no lock held; from points but bind, too. */
#define MR_ATTACH_SYMBOL "millrace_attach"
typedef const struct mr_observed_driver *mr_attach_function(const struct mr_observer *table, uint32_t points);

/* What a runtime library reads before each call: whether it shall tell of calls at all, and how. The library makes the
 * record, with `call`, `name`, `params`, `site` and `per_thread`. */
struct mr_runtime_points {
    _Atomic uint32_t on;
    void (*enter)(struct mr_observed_call *call);
    void (*leave)(struct mr_observed_call *call, int status);
};

/* The one of the process; valid as long as that. Before cuInit too. */
#define MR_RUNTIME_POINTS_SYMBOL "millrace_runtime_points"
typedef const struct mr_runtime_points *mr_runtime_points_function(void);

/* ---- the driver's side ---- */

/* Sets the attached table and its points: mr_observing changes. False as millrace_attach's NULL. Calls of the runtime
 * API go to the table if it wants them. Any thread; the caller lets in one at a time. */
bool mr_observe_attach(const struct mr_observer *table, uint32_t points) __attribute__((visibility("hidden")));

/* Tells the table, if it wants calls, that the driver has opened. */
void mr_observe_opened(void) __attribute__((visibility("hidden")));

/* A call of the runtime API, whose record is filled in: to the table, if it wants it. */
void mr_observe_runtime_enter(struct mr_observed_call *call) __attribute__((visibility("hidden")));
void mr_observe_runtime_leave(struct mr_observed_call *call, int status) __attribute__((visibility("hidden")));

#endif
