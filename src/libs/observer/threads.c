/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/observer/threads.h"

#include <stdatomic.h>

static _Atomic uint32_t threads;
static _Thread_local struct obs_thread here;

const struct obs_thread *obs_thread_here(void)
{
    return &here;
}

void obs_thread_calls(void)
{
    if (here.number == 0)
        here.number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    here.calls++;
    here.inside++;
}

void obs_thread_leaves(void)
{
    here.inside--;
}
