/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's side of the points of observation: what its rooms read before they tell an observer anything.
 *
 * cuInit loads the observer before any other call is open, so the table is written before another thread reads it, and
 * stays as it is. mr_observing changes when an observer attaches or leaves (observe/attach.h). So one thread may tell
 * of a work's begin and another find no observer at its end, or the other way round. A point is a load and a branch:
 *
 *     if (mr_observes(MR_OBSERVE_WORK))
 *         tell(...);
 *
 * A thread that is inside a call, or that the observer has paused, makes no calls that are told of (mr_observe_depth).
 */
#ifndef MR_OBSERVE_HOOKS_H
#define MR_OBSERVE_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "observe/observe.h"

#define MR_HIDDEN __attribute__((visibility("hidden")))

/* Bits of enum mr_observe_point that are live; 0 without an observer. */
extern _Atomic uint32_t mr_observing MR_HIDDEN;

/* The table that hands each point on to the observers that want it; always valid. Functions that an observer lacks do
 * nothing; may_begin then says true. */
extern const struct mr_observer mr_observer MR_HIDDEN;

/* More than 0: calls of this thread are not told of. */
extern _Thread_local unsigned mr_observe_depth __attribute__((tls_model("initial-exec"))) MR_HIDDEN;

/* The return address of a call that is about to be told of; between the wrapper and the function that tells. */
extern _Thread_local const void *mr_observe_site __attribute__((tls_model("initial-exec"))) MR_HIDDEN;

static inline bool mr_observes(uint32_t points)
{
    return __builtin_expect((atomic_load_explicit(&mr_observing, memory_order_relaxed) & points) != 0, 0);
}

/* Loads the observer if MILLRACE_OBSERVE asks for one, and arranges for its `finish`. `driver` stays as it is for as
 * long as the process. A library that is missing, or of another version, leaves a line in the log, and the program runs
 * unobserved. Called once, by cuInit. */
void mr_observe_load(const struct mr_observed_driver *driver) MR_HIDDEN;

/* Calls the observer's `finish`, unless that has been done, and waits until it has returned. It runs on a thread of its
 * own. Not in a child of a process that is observed. No lock held. */
void mr_observe_finish(void) MR_HIDDEN;

#endif
