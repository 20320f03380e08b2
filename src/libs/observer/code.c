/* SPDX-License-Identifier: Apache-2.0 */
/* Which made-up address the code of a module has: an open hash table by the module's number. */
#include "libs/observer/code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libs/observer/generation.h"
#include "libs/observer/order.h"
#include "libs/observer/shadow.h"

enum { FIRST_ROOM = 64 };

struct place {
    uint64_t module; /* 0: free */
    uintptr_t first; /* 0: none, as if it had never been asked for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the table */
static struct place *table;
static size_t room, used;
static atomic_bool gone; /* a module has been unloaded */

bool obs_code_watched;

static struct place *place_of(uint64_t module)
{
    size_t at = (size_t)(module * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (table[at].module && table[at].module != module)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool grow(void)
{
    size_t old_room = room;
    struct place *old = table, *more = calloc(room ? 2 * room : FIRST_ROOM, sizeof *more);
    if (!more)
        return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = more;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].module)
            *place_of(old[i].module) = old[i];
    free(old);
    return true;
}

/* With the table's lock held: makes the allocation of a module's code. 0: memory is short. */
static uintptr_t make(struct place *place)
{
    obs_order_lock();
    struct obs_operation *made = obs_order_before_all();
    obs_order_unlock();
    if (!made)
        return 0;
    made->side.call = "cuModuleLoadData";
    made->side.what = MR_SIDE_ALLOCATION;
    uintptr_t first = obs_generation_range(1);
    if (obs_generation_made(made, MR_ALLOCATION_CODE, first, 1))
        place->first = first;
    obs_operation_drop(made);
    return place->first;
}

/* Where the module's code is; 0: nowhere, or memory is short. */
static uintptr_t find(uint64_t module, bool wanted)
{
    uintptr_t first = 0;
    pthread_mutex_lock(&lock);
    struct place *place = NULL;
    if (wanted && 2 * (used + 1) > room && !grow())
        wanted = false;
    if (room)
        place = place_of(module);
    if (place && place->module)
        first = place->first;
    if (!first && wanted && place) {
        used += !place->module;
        place->module = module;
        first = make(place);
    }
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
    struct place *place = room ? place_of(module) : NULL;
    if (place)
        place->first = 0;
    pthread_mutex_unlock(&lock);
}
