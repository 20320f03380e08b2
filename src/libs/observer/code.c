/* SPDX-License-Identifier: Apache-2.0 */
/* Which made-up address the code of a module has: an array by the module's number. */
#include "libs/observer/code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libs/observer/generation.h"
#include "libs/observer/order.h"
#include "libs/observer/shadow.h"

enum { FIRST_ROOM = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the places */
static uintptr_t *places; /* 0: none */
static uint64_t room;
static atomic_bool gone; /* a module has been unloaded */

bool obs_code_watched;

/* NULL: there is none, or memory is short. */
static uintptr_t *place_of(uint64_t module, bool wanted)
{
    if (module >= room && wanted) {
        uint64_t more = module < FIRST_ROOM / 2 ? FIRST_ROOM : 2 * module;
        uintptr_t *grown = realloc(places, more * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + room, 0, (more - room) * sizeof *grown);
        places = grown;
        room = more;
    }
    return module < room ? &places[module] : NULL;
}

/* With the lock held: makes the allocation of a module's code. 0: memory is short. */
static uintptr_t make(void)
{
    obs_order_lock();
    struct obs_operation *made = obs_order_before_all();
    obs_order_unlock();
    if (!made)
        return 0;
    made->side.call = "cuModuleLoadData";
    made->side.what = MR_SIDE_ALLOCATION;
    uintptr_t first = obs_generation_range(1);
    if (!obs_generation_made(made, MR_ALLOCATION_CODE, first, 1))
        first = 0;
    obs_operation_drop(made);
    return first;
}

/* Where the module's code is; 0: nowhere, or memory is short. */
static uintptr_t find(uint64_t module, bool wanted)
{
    pthread_mutex_lock(&lock);
    uintptr_t *place = place_of(module, wanted);
    if (place && !*place && wanted)
        *place = make();
    uintptr_t first = place ? *place : 0;
    pthread_mutex_unlock(&lock);
    return first;
}

void obs_code_runs(struct obs_operation *operation, uint64_t module, bool node)
{
    if (!module || (!obs_code_watched && !(node && atomic_load_explicit(&gone, memory_order_acquire))))
        return;
    struct mr_access byte = {
        .first = find(module, obs_code_watched), .width = 1, .rows = 1, .how = MR_ACCESS_READ | OBS_ACCESS_RUNS};
    if (byte.first)
        obs_shadow_touch(operation, &byte, 1);
}

void obs_code_ended(struct obs_operation *operation, uint64_t module)
{
    uintptr_t first = find(module, true);
    atomic_store_explicit(&gone, true, memory_order_release);
    if (first)
        (void)obs_generation_ended(operation, first);
}

void obs_code_stays(uint64_t module)
{
    pthread_mutex_lock(&lock);
    uintptr_t *place = place_of(module, false);
    if (place)
        *place = 0;
    pthread_mutex_unlock(&lock);
}
