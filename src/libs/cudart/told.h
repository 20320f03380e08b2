/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the runtime API that an observer is told of (observe/attach.h).
 *
 * The driver says whether there is one. A wrapper looks before it does anything else; if there is, it makes the record,
 * and calls itself between mr_rt_told_enter and mr_rt_told_leave: that call finds its thread inside a call, and does
 * the work. */
#ifndef MR_CUDART_TOLD_H
#define MR_CUDART_TOLD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "observe/attach.h"

/* What the driver says; as long as none has been found, points of this library's own, which say that it must look. */
extern _Atomic(const struct mr_runtime_points *) mr_rt_points;

/* Looks for the driver's points if it has none; then whether the call that the thread has begun is one to tell of. */
bool mr_rt_is_observed_slow(void) __attribute__((cold, noinline));

static inline bool mr_rt_is_observed(void)
{
    const struct mr_runtime_points *points = atomic_load_explicit(&mr_rt_points, memory_order_acquire);
    return __builtin_expect(atomic_load_explicit(&points->on, memory_order_relaxed) != 0, 0) &&
           mr_rt_is_observed_slow();
}

/* `library` is the driver's. For what opens it. */
void mr_rt_find_points(void *library);

/* The name of the kernel that a launch is told, if it is one that the program has registered; else NULL. Calls nothing
 * of the driver. */
const char *mr_rt_launch_name(const void *func);

void mr_rt_told_enter(struct mr_observed_call *call) __attribute__((cold));
void mr_rt_told_leave(struct mr_observed_call *call, cudaError_t status) __attribute__((cold));

#endif
