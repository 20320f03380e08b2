/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the driver as a whole. Every exported wrapper reads it first, so reading is one
 * load and a predicted branch. cuInit moves it to ready, the process's end to ended; it never
 * moves back. */
#ifndef MR_API_STATE_H
#define MR_API_STATE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>

enum mr_driver_state_value {
    MR_DRIVER_NEW,   /* cuInit has not succeeded yet */
    MR_DRIVER_READY, /* every call is open */
    MR_DRIVER_ENDED, /* the process is ending: nothing works any more */
    MR_DRIVER_FORKED, /* the child of a process that had called cuInit: nothing works */
    MR_DRIVER_OBSERVED, /* every call is open, and an observer is told of it (api/observed.h) */
};

/* Written by cuInit and by the process's end, both under the initialisation lock, and changed between
 * MR_DRIVER_READY and MR_DRIVER_OBSERVED when an observer attaches; read by any thread without a lock.
 * The first store of one of these two releases all that cuInit set up. */
extern _Atomic int mr_driver_state __attribute__((visibility("hidden")));

/* The way of calls that nobody observes. */
static inline bool mr_driver_ready(void)
{
    return atomic_load_explicit(&mr_driver_state, memory_order_acquire) == MR_DRIVER_READY;
}

/* Every call is open. */
static inline bool mr_driver_open(void)
{
    int state = atomic_load_explicit(&mr_driver_state, memory_order_acquire);
    return state == MR_DRIVER_READY || state == MR_DRIVER_OBSERVED;
}

static inline bool mr_driver_observed(void)
{
    return atomic_load_explicit(&mr_driver_state, memory_order_acquire) == MR_DRIVER_OBSERVED;
}

/* For the few calls that are open before cuInit: false if there is nothing to look at. */
static inline bool mr_driver_past_ready(void)
{
    return atomic_load_explicit(&mr_driver_state, memory_order_acquire) > MR_DRIVER_READY;
}

static inline bool mr_driver_ended(void)
{
    return atomic_load_explicit(&mr_driver_state, memory_order_acquire) == MR_DRIVER_ENDED;
}

/* The status for a call that arrives when the driver is not ready: NOT_INITIALIZED before cuInit,
 * DEINITIALIZED once the process is ending. */
CUresult mr_driver_refuse(void);

/* Arranges that a forked child finds the driver in MR_DRIVER_FORKED, and the code generation library loaded as a whole
 * or not at all. False when memory is short. Called once, by cuInit. */
bool mr_driver_watch_fork(void);

/* Arranges that the driver is in MR_DRIVER_ENDED once exit() has come to what was registered before this call. False
 * when memory is short. Called once, by cuInit. */
bool mr_driver_watch_exit(void);

/* What cuDriverGetVersion answers: CUDA_VERSION, or what MILLRACE_DRIVER_VERSION says. Any thread, at any time. */
int mr_driver_version(void);

#endif
