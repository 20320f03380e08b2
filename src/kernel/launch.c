/* SPDX-License-Identifier: Apache-2.0 */
/* Launch records and their cache.
 *
 * A record is made on the program's thread and freed on a worker, so that plain per-thread free lists would drain on one side and swell on the other.
 * Each thread keeps up to two batches of records per size class; batches travel between threads through a shared list under a lock, which is
 * therefore taken once in LAUNCH_BATCH launches. Parameter blocks beyond the largest class are allocated and freed one by one. */
#include "kernel/launch.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "object/module.h"

#define LAUNCH_CLASSES 2u
#define LAUNCH_UNCACHED LAUNCH_CLASSES
#define LAUNCH_BATCH 32u
#define LAUNCH_SHARED_MAX 4096u    /* records that the shared list keeps per class */

static const size_t class_room[LAUNCH_CLASSES] = { 256, 4096 };

/* Where the parameters begin: after the record, at a multiple of 64 so that copying them in never splits a line without need. */
#define PARAMS_OFFSET ((sizeof(struct mr_launch) + 63) & ~(size_t)63)

struct launch_cache {
    struct mr_launch *free[LAUNCH_CLASSES];
    unsigned count[LAUNCH_CLASSES];
    bool registered;               /* the key's destructor will flush this cache */
    uint64_t next_id, end_id;      /* grid numbers that this thread may give out */
};

static _Thread_local struct launch_cache cache __attribute__((tls_model("initial-exec")));

static struct { mr_lock lock; struct mr_launch *free[LAUNCH_CLASSES]; unsigned count[LAUNCH_CLASSES]; } shared;
static _Atomic uint64_t next_id = 1;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t cache_key;
static bool key_made;

/* Moves up to `count` records from one list to another. */
static void move_records(struct mr_launch **from, unsigned *from_count, struct mr_launch **to, unsigned *to_count, unsigned count)
{
    while (count-- && *from) {
        struct mr_launch *launch = *from;
        *from = launch->next_free;
        launch->next_free = *to;
        *to = launch;
        --*from_count;
        ++*to_count;
    }
}

static void free_list(struct mr_launch **list, unsigned *count)
{
    while (*list) {
        struct mr_launch *launch = *list;
        *list = launch->next_free;
        mr_free(launch);
    }
    *count = 0;
}

/* Gives `count` records of this thread's to the shared list, or frees them if that is full. */
static void give_records(unsigned class, unsigned count)
{
    struct mr_launch *surplus = NULL;
    unsigned surplus_count = 0;
    mr_lock_take(&shared.lock);
    if (shared.count[class] < LAUNCH_SHARED_MAX)
        move_records(&cache.free[class], &cache.count[class], &shared.free[class], &shared.count[class], count);
    else
        move_records(&cache.free[class], &cache.count[class], &surplus, &surplus_count, count);
    mr_lock_drop(&shared.lock);
    free_list(&surplus, &surplus_count);
}

static void end_thread(void *unused)
{
    (void)unused;
    for (unsigned class = 0; class < LAUNCH_CLASSES; class++)
        give_records(class, cache.count[class]);
    cache.registered = false;
}

static void make_key(void)
{
    key_made = pthread_key_create(&cache_key, end_thread) == 0;
}

static void register_thread(void)
{
    pthread_once(&key_once, make_key);
    cache.registered = key_made && pthread_setspecific(cache_key, &cache) == 0;
}

static struct mr_launch *take_record(unsigned class)
{
    if (!cache.free[class]) {
        /* A thread that only launches has a cache to flush in the end as well. */
        if (!cache.registered)
            register_thread();
        mr_lock_take(&shared.lock);
        move_records(&shared.free[class], &shared.count[class], &cache.free[class], &cache.count[class], cache.registered ? LAUNCH_BATCH : 1);
        mr_lock_drop(&shared.lock);
    }
    struct mr_launch *launch = cache.free[class];
    if (launch) {
        cache.free[class] = launch->next_free;
        cache.count[class]--;
        return launch;
    }
    return mr_calloc_aligned(64, PARAMS_OFFSET + class_room[class]);
}

struct mr_launch *mr_launch_new(size_t param_bytes)
{
    unsigned class = 0;
    while (class < LAUNCH_CLASSES && param_bytes > class_room[class])
        class++;
    if (param_bytes > SIZE_MAX / 2)
        return NULL;
    struct mr_launch *launch = class < LAUNCH_CLASSES ? take_record(class) : mr_calloc_aligned(64, PARAMS_OFFSET + param_bytes);
    if (!launch)
        return NULL;
    memset(launch, 0, sizeof *launch);
    launch->room = class;
    launch->param_bytes = param_bytes;
    launch->params = (unsigned char *)launch + PARAMS_OFFSET;
    memset(launch->params, 0, param_bytes);
    if (cache.next_id == cache.end_id) {
        cache.next_id = atomic_fetch_add_explicit(&next_id, 1024, memory_order_relaxed);
        cache.end_id = cache.next_id + 1024;
    }
    launch->id = cache.next_id++;
    return launch;
}

void mr_launch_free(struct mr_launch *launch)
{
    if (!launch)
        return;
    if (launch->module)
        mr_object_drop(launch->module);
    if (launch->room == LAUNCH_UNCACHED) {
        mr_free(launch);
        return;
    }
    if (__builtin_expect(!cache.registered, 0))
        register_thread();
    unsigned class = launch->room;
    launch->next_free = cache.free[class];
    cache.free[class] = launch;
    if (++cache.count[class] >= 2 * LAUNCH_BATCH)
        give_records(class, LAUNCH_BATCH);
    else if (!cache.registered)
        give_records(class, cache.count[class]);
}
