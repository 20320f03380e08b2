/* SPDX-License-Identifier: Apache-2.0 */
/* Where the driver's points of observation are, and which calls of a thread are the program's own. */
#include "libs/cudart/runtime.h"

#include <dlfcn.h>

#include "libs/cudart/told.h"

/* Until the driver has been found: an observer may have opened it, and nobody else can have attached. */
static const struct mr_runtime_points unknown = {.on = 1};
static const struct mr_runtime_points none;

_Atomic(const struct mr_runtime_points *) mr_rt_points = &unknown;

/* More than 0: the thread is inside a call that has been told of. */
static _Thread_local unsigned depth __attribute__((tls_model("initial-exec")));

void mr_rt_find_points(void *library)
{
    mr_runtime_points_function *find = (mr_runtime_points_function *)dlsym(library, MR_RUNTIME_POINTS_SYMBOL);
    atomic_store_explicit(&mr_rt_points, find ? find() : &none, memory_order_release);
}

bool mr_rt_is_observed_slow(void)
{
    const struct mr_runtime_points *points = atomic_load_explicit(&mr_rt_points, memory_order_acquire);
    if (points == &unknown) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (!library)
            return false;
        mr_rt_find_points(library);
        dlclose(library); /* whoever has opened it keeps it */
        points = atomic_load_explicit(&mr_rt_points, memory_order_acquire);
    }
    return depth == 0 && atomic_load_explicit(&points->on, memory_order_acquire) != 0;
}

void mr_rt_told_enter(struct mr_observed_call *call)
{
    depth++;
    atomic_load_explicit(&mr_rt_points, memory_order_acquire)->enter(call);
}

void mr_rt_told_leave(struct mr_observed_call *call, cudaError_t status)
{
    atomic_load_explicit(&mr_rt_points, memory_order_acquire)->leave(call, (int)status);
    depth--;
}
