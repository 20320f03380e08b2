/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread has some runs of neighbouring bytes under way (host.h). */
#include "libs/observer/host.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libs/observer/advice.h"
#include "libs/observer/generation.h"
#include "libs/observer/history.h"
#include "libs/observer/objects.h"
#include "libs/observer/order_call.h"
#include "libs/observer/shadow.h"
#include "libs/observer/sites.h"
#include "libs/observer/talk.h"
#include "observe/host.h"

enum { RUNS = 8, PARTS = 64, PAGE = 4096 };

/* Bytes that one place in the code has touched. */
struct run {
    struct obs_operation *operation; /* NULL: there is no run */
    const void *site;
    uintptr_t first, end, told; /* told of: first up to told - 1 */
    uint64_t version;           /* of what the host knew */
    uint32_t how;
};

struct mine {
    bool open; /* a run may be under way */
    bool busy; /* inside of this file: an access from here on is the observer's own */
    bool is_known;               /* the thread's end is waited for */
    bool interrupted, elsewhere; /* the access is told from a handler of a signal; by another thread */
    uint32_t number;             /* of the thread that has touched, if that is another one */
    unsigned next;
    struct obs_operation *function;
    uintptr_t ours, ours_end, free_page; /* memory of both sides; a page that has none */
    uint64_t generations;                /* how many there were when that was found */
    struct run runs[RUNS];
};

static _Thread_local struct mine mine;
static pthread_key_t threads; /* any value: the thread's end tells of what it has touched */
static bool sees_ends; /* there was a key for that; as the next */
static bool watched;        /* pages.c tells of touches */
static bool races;          /* the tool race wants to know; as the next, written before any access is told of */
static obs_host_look *look; /* the tool mem does; NULL: it doesn't */
static _Atomic uint64_t accesses, touches;
static struct mr_host *parts[PARTS]; /* under the rules' lock */
static unsigned part_count;

static void tell(struct run *run)
{
    bool word = run->end - run->first <= OBS_WORD && !obs_order_strict;
    struct mr_access box = {
        .first = run->told, .width = run->end - run->told, .rows = 1, .how = run->how | (word ? OBS_ACCESS_WORD : 0u)};
    if (run->end <= run->told)
        return;
    run->told = run->end;
    atomic_fetch_add_explicit(&accesses, 1, memory_order_relaxed);
    obs_shadow_touch(run->operation, &box, 1);
    if (word)
        obs_talk_host(run->operation, run->first, run->how & MR_ACCESS_WRITE);
}

static void end_run(struct run *run)
{
    if (!run->operation)
        return;
    tell(run);
    obs_operation_drop(run->operation);
    run->operation = NULL;
}

static void end_all(void)
{
    bool busy = mine.busy;
    mine.busy = true;
    for (int i = 0; i < RUNS; i++)
        end_run(&mine.runs[i]);
    mine.open = false;
    mine.busy = busy;
}

static void thread_ends(void *value)
{
    (void)value;
    end_all();
}

void obs_host_settle(void)
{
    const struct mr_observed_driver *driver = obs_driver.driver;
    if (!mine.open)
        return;
    if (driver)
        driver->pause(true);
    end_all();
    if (driver)
        driver->pause(false);
}

void obs_host_function(struct obs_operation *operation)
{
    end_all();
    if (mine.function)
        obs_operation_drop(mine.function);
    mine.function = operation ? obs_operation_keep(operation) : NULL;
}

void obs_host_watched(void)
{
    watched = true;
}

bool obs_host_unseen(void)
{
    return races && !watched && part_count == 0;
}

uint64_t obs_host_accesses(void)
{
    return accesses;
}

uint64_t obs_host_touches(void)
{
    return touches;
}

/* Is it memory of both sides, alive? */
static bool is_ours(uintptr_t first)
{
    struct obs_generation_view view;
    uint64_t now = obs_generation_count();
    if (mine.generations == now && first - mine.ours < mine.ours_end - mine.ours)
        return true;
    if (mine.generations == now && first / PAGE == mine.free_page)
        return false;
    mine.generations = now;
    mine.ours = mine.ours_end = mine.free_page = 0;
    if (obs_generation_at(first, UINT64_MAX, &view) && view.alive) {
        if (!obs_generation_is_shared(view.kind))
            return false;
        mine.ours = view.base;
        mine.ours_end = view.base + view.size;
        return true;
    }
    uintptr_t page = first / PAGE * PAGE;
    if (!obs_generation_below(page + PAGE - 1, &view) || view.base + view.size <= page)
        mine.free_page = first / PAGE;
    return false;
}

static struct obs_operation *operation_of(const void *site)
{
    if (mine.function)
        return obs_operation_keep(mine.function);
    obs_order_lock();
    struct obs_operation *operation = obs_order_host(obs_stamp());
    if (operation) {
        operation->side = (struct mr_side){.what = MR_SIDE_HOST,
                                           .call = obs_host_code,
                                           .number = obs_order_calls(),
                                           .thread = mine.elsewhere ? mine.number : obs_thread_number(),
                                           .of_thread = mine.elsewhere ? 0 : obs_calls_of_thread()};
        obs_order_returns(operation);
    }
    obs_order_unlock();
    if (operation)
        operation->side.site = mine.elsewhere     ? obs_site_of(site)
                               : mine.interrupted ? obs_site_at(site)
                                                  : obs_site_here(site);
    return operation;
}

/* The run that the access goes on, or one at the same place; else one that gives way. */
static struct run *run_for(uintptr_t first, uintptr_t end, uint32_t how, const void *site)
{
    struct run *same = NULL;
    for (int i = 0; i < RUNS; i++) {
        struct run *run = &mine.runs[i];
        if (!run->operation || run->site != site || run->how != how)
            continue;
        if (first <= run->end && end >= run->first)
            return run;
        same = run;
    }
    return same ? same : &mine.runs[mine.next++ % RUNS];
}

static void touch(uintptr_t first, uintptr_t end, uint32_t how, const void *site)
{
    struct run *run = run_for(first, end, how, site);
    uint64_t version = mine.function ? 0 : __atomic_load_n(&obs_lane_here()->version, __ATOMIC_RELAXED);
    if (run->operation && (run->site != site || run->how != how || run->version != version))
        end_run(run);
    if (run->operation && first >= run->first && first <= run->end) { /* it goes on */
        if (end > run->end)
            run->end = end;
        if (run->end - run->told > run->told - run->first)
            tell(run);
        return;
    }
    if (run->operation)
        tell(run);
    else if (!(run->operation = operation_of(site)))
        return;
    if (sees_ends && !mine.is_known)
        mine.is_known = pthread_setspecific(threads, &threads) == 0;
    mine.open = true;
    *run = (struct run){run->operation, site, first, end, first, version, how};
    tell(run);
}

static void access_here(uintptr_t first, size_t size, bool stores, const void *site)
{
    if (mine.busy || size == 0)
        return;
    mine.busy = true;
    if (look)
        look(first, size, stores, site);
    if (races && is_ours(first))
        touch(first, first + size, stores ? MR_ACCESS_WRITE : MR_ACCESS_READ, site);
    mine.busy = false;
}

void obs_host_touch(uintptr_t first, bool stores, const void *code)
{
    atomic_fetch_add_explicit(&touches, 1, memory_order_relaxed);
    mine.interrupted = true;
    access_here(first, 1, stores, code);
    mine.interrupted = false;
}

struct obs_operation *obs_host_function_here(void)
{
    return mine.function;
}

void obs_host_touch_of(uint32_t number, struct obs_operation *function, uintptr_t first, bool stores, const void *code)
{
    atomic_fetch_add_explicit(&touches, 1, memory_order_relaxed);
    mine.elsewhere = true;
    mine.number = number;
    mine.function = function;
    access_here(first, 1, stores, code);
    end_all(); /* the next one may be another thread's */
    mine.function = NULL;
    mine.elsewhere = false;
}

static void add_part(void *symbol)
{
    struct mr_host *part = symbol;
    bool known = !part || part->version != MR_HOST_VERSION;
    for (unsigned i = 0; i < part_count; i++)
        known = known || parts[i] == part;
    if (known || part_count == PARTS)
        return;
    parts[part_count++] = part;
    obs_talk_sees_host();
    part->access = access_here;
    atomic_store_explicit(&part->bounds, &obs_generation_bounds, memory_order_release);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    void *module = info->dlpi_name && *info->dlpi_name ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (module) {
        add_part(dlsym(module, MR_HOST_SYMBOL));
        dlclose(module);
    }
    return 0;
}

static void find_parts(void)
{
    add_part(dlsym(RTLD_DEFAULT, MR_HOST_SYMBOL));
    dl_iterate_phdr(add_module, NULL);
}

void obs_host_begin(void)
{
    sees_ends = pthread_key_create(&threads, thread_ends) == 0;
    races = true;
    find_parts();
}

void obs_host_tell(obs_host_look *given)
{
    look = given;
    obs_generation_bounds_all = true;
    find_parts();
}
