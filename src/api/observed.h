/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that an observer is told of (observe/observe.h).
 *
 * A generated wrapper that finds the driver in another state than MR_DRIVER_READY asks mr_observed_outer. If that says
 * true, the wrapper of the observed call makes the struct of parameters and calls itself between mr_observed_enter and
 * mr_observed_leave; that call finds its thread inside a call, and does the work. So a call that nobody observes costs
 * nothing more. */
#ifndef MR_API_OBSERVED_H
#define MR_API_OBSERVED_H

#include "api/state.h"
#include "observe/hooks.h"

/* Loads the observer that the settings ask for, and opens the driver: its state becomes MR_DRIVER_OBSERVED if calls
 * shall be told of, else MR_DRIVER_READY. For cuInit, once. */
void mr_observed_begin(void);

/* Whether the call that this thread has just begun is one to tell of; notes where it came from. */
#define mr_observed_outer() mr_observed_outer_from(__builtin_return_address(0))
static inline bool mr_observed_outer_from(const void *site)
{
    if (!mr_driver_observed() || mr_observe_depth != 0)
        return false;
    mr_observe_site = site;
    return true;
}

/* Fills in what the wrapper has left out, and tells of the call. */
void mr_observed_enter(struct mr_observed_call *call);
void mr_observed_leave(struct mr_observed_call *call, CUresult status);

#endif
