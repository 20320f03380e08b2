/* SPDX-License-Identifier: Apache-2.0 */
/* Watches: where they are kept, which threads look at them, and the poller.
 *
 * Watches hang in buckets by the eight bytes that they look at, oldest first, so that a store whose address is known
 * concerns one bucket, and so that a look at thousands of them never holds one lock for long.
 *
 * Nothing is missed between looking and adding: a thread that adds a watch counts it first and looks afterwards; a
 * thread that stores and rings stores first and then looks at the count; one of them sees the other (sequentially
 * consistent fences; mr_watch_ring saves its fence, and the poller may have to step in). The same holds for the
 * poller's going to sleep and its bell.
 *
 * Watches that are over wait on a list of the thread until that holds no lock; the list is worked off in a loop that is
 * never entered twice, for a `done` may move a stream on, whose next command rings for the next watch: a chain of any
 * length unrolls flat. */
#define _GNU_SOURCE
#include "engine/watch.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "kernel/fault.h"

#define BUCKETS 256u                 /* a power of two */
#define FEW 16u                      /* a thread that rings looks at so many */
#define NAP_LEAST_NS 20000u
#define NAP_MOST_NS 4000000u
#define NAP_SHARE 16u                /* a nap is this share of the time since something happened */
#define DUTY_BUSY 4u /* a nap is at least so many times what a look takes, soon after something happened, */
#define DUTY_IDLE 100u /* and when nothing has for long */
#define BUSY_NS 2000000u

struct bucket {
    mr_lock lock;
    _Atomic uint32_t count;
    struct mr_list watches; /* next is NULL before the first use */
};

static struct bucket buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = MR_LOCK_INIT(BUCKET)}};
_Atomic uint32_t mr_watch_count;
void (*mr_watch_settle)(void);

static struct {
    mr_lock lock; /* guards `made` */
    bool made;
    _Atomic bool stop, napping;
    _Atomic uint32_t bell; /* futex */
    _Atomic uint64_t happened; /* when something was added, rung for or over */
    _Atomic uint64_t rounds;
} poller = {.lock = MR_LOCK_INIT(POLLER)};

static _Thread_local struct {
    struct mr_watch *first, *last;
    bool running;
} over __attribute__((tls_model("initial-exec")));

static struct bucket *bucket_of(const void *word)
{
    uint64_t place = (uint64_t)(uintptr_t)word >> 3;
    return &buckets[(place * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}
_Static_assert(BUCKETS == 256u, "bucket_of takes eight bits");

static void note_over(struct mr_watch *watch, CUresult status)
{
    watch->status = status;
    watch->next = NULL;
    if (over.last)
        over.last->next = watch;
    else
        over.first = watch;
    over.last = watch;
}

static void settle(void)
{
    if (over.running || !over.first)
        return;
    over.running = true;
    while (over.first) {
        struct mr_watch *watch = over.first;
        over.first = watch->next;
        if (!over.first)
            over.last = NULL;
        watch->done(watch);
        if (mr_watch_settle)
            mr_watch_settle();
    }
    over.running = false;
}

/* ---- looking ---- */

struct look {
    struct bucket *bucket;
    const void *place; /* only watches on these eight bytes, if not NULL */
    struct mr_list *volatile at; /* the watch that is being looked at */
    volatile bool found;
};

static bool concerns(const struct mr_watch *watch, const void *place)
{
    return !place || (uintptr_t)watch->word >> 3 == (uintptr_t)place >> 3;
}

static void take_off(struct look *look, struct mr_watch *watch, CUresult status)
{
    look->at = watch->link.prev;
    mr_list_remove(&watch->link);
    watch->added = false;
    atomic_fetch_sub_explicit(&look->bucket->count, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&mr_watch_count, 1, memory_order_relaxed);
    look->found = true;
    note_over(watch, status);
}

/* Looks at the bucket's watches from `at` on. A fault ends it in the middle: the memory has gone. */
static void look_on(void *data)
{
    struct look *look = data;
    while (look->at->next != &look->bucket->watches) {
        look->at = look->at->next;
        struct mr_watch *watch = MR_CONTAINER(look->at, struct mr_watch, link);
        if (concerns(watch, look->place) && watch->ready(watch))
            take_off(look, watch, CUDA_SUCCESS);
    }
}

/* Looks at a bucket's watches. True if any is over. */
static bool look_at(struct bucket *bucket, const void *place)
{
    if (atomic_load_explicit(&bucket->count, memory_order_relaxed) == 0)
        return false;
    struct look look = {.bucket = bucket, .place = place, .at = &bucket->watches};
    mr_lock_take(&bucket->lock);
    CUresult status;
    while ((status = mr_fault_guard(look_on, &look)) != CUDA_SUCCESS)
        take_off(&look, MR_CONTAINER(look.at, struct mr_watch, link), status);
    mr_lock_drop(&bucket->lock);
    return look.found;
}

static bool look_at_all(void)
{
    bool found = false;
    for (unsigned i = 0; i < BUCKETS; i++)
        found |= look_at(&buckets[i], NULL);
    return found;
}

/* ---- the poller ---- */

static void wake_poller(void)
{
    if (!atomic_load(&poller.napping))
        return;
    atomic_fetch_add(&poller.bell, 1);
    mr_futex_wake(&poller.bell, 1);
}

/* How long to sleep after a look that took `cost`. */
static uint64_t nap_ns(uint64_t now, uint64_t cost)
{
    uint64_t happened = atomic_load(&poller.happened), since = now > happened ? now - happened : 0;
    uint64_t nap = since / NAP_SHARE, least = cost * (since < BUSY_NS ? DUTY_BUSY : DUTY_IDLE);
    nap = nap > NAP_MOST_NS ? NAP_MOST_NS : nap < NAP_LEAST_NS ? NAP_LEAST_NS : nap;
    return nap > least ? nap : least;
}

static void *poller_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-poll");
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    void *signal_stack = mr_fault_thread_begin();
    while (!atomic_load(&poller.stop)) {
        uint32_t heard = atomic_load(&poller.bell);
        uint64_t begin = mr_clock_ns();
        if (look_at_all()) {
            atomic_store(&poller.happened, mr_clock_ns());
            settle();
        }
        atomic_fetch_add_explicit(&poller.rounds, 1, memory_order_relaxed);
        uint64_t now = mr_clock_ns();
        atomic_store(&poller.napping, true);
        bool any = atomic_load(&mr_watch_count) != 0;
        mr_futex_wait(&poller.bell, heard, any ? nap_ns(now, now - begin) : UINT64_MAX);
        atomic_store(&poller.napping, false);
    }
    mr_fault_thread_end(signal_stack);
    return NULL;
}

bool mr_watch_begin(void)
{
    MR_MAY_WAIT();
    static _Atomic bool running;
    if (__builtin_expect(atomic_load_explicit(&running, memory_order_acquire), 1))
        return true;
    mr_lock_take(&poller.lock);
    if (!poller.made) {
        int error = mr_thread_start(poller_main, NULL);
        if (error != 0)
            mr_log(MR_LOG_WARN, "cannot start the thread that watches memory (errno %d)", error);
        poller.made = error == 0;
        atomic_store_explicit(&running, poller.made, memory_order_release);
    }
    bool made = poller.made;
    mr_lock_drop(&poller.lock);
    return made;
}

/* The process ends: the poller calls nobody any more. It is not waited for. */
__attribute__((destructor)) static void end_of_process(void)
{
    atomic_store(&poller.stop, true);
    atomic_fetch_add(&poller.bell, 1);
    mr_futex_wake(&poller.bell, 1);
}

/* ---- adding, taking back, ringing ---- */

struct first_look {
    struct mr_watch *watch;
    volatile bool ready;
};

static void look_first(void *data)
{
    struct first_look *look = data;
    look->ready = look->watch->ready(look->watch);
}

bool mr_watch_add(struct mr_watch *watch)
{
    struct bucket *bucket = bucket_of(watch->word);
    struct first_look look = {.watch = watch};
    watch->status = CUDA_SUCCESS;
    mr_lock_take(&bucket->lock);
    if (!bucket->watches.next)
        mr_list_init(&bucket->watches);
    atomic_fetch_add(&mr_watch_count, 1);
    atomic_fetch_add(&bucket->count, 1);
    atomic_thread_fence(memory_order_seq_cst);
    CUresult status = mr_fault_guard(look_first, &look);
    if (status != CUDA_SUCCESS || look.ready) {
        watch->status = status;
        atomic_fetch_sub(&bucket->count, 1);
        atomic_fetch_sub(&mr_watch_count, 1);
        mr_lock_drop(&bucket->lock);
        return false;
    }
    mr_list_append(&bucket->watches, &watch->link);
    watch->added = true;
    mr_lock_drop(&bucket->lock);
    atomic_store(&poller.happened, mr_clock_ns());
    wake_poller();
    return true;
}

bool mr_watch_cancel(struct mr_watch *watch)
{
    struct bucket *bucket = bucket_of(watch->word);
    mr_lock_take(&bucket->lock);
    bool added = watch->added;
    if (added) {
        watch->added = false;
        mr_list_remove(&watch->link);
        atomic_fetch_sub(&bucket->count, 1);
        atomic_fetch_sub(&mr_watch_count, 1);
    }
    mr_lock_drop(&bucket->lock);
    return added;
}

void mr_watch_ring_slow(const void *word)
{
    if (word) {
        (void)look_at(bucket_of(word), word);
    } else if (atomic_load_explicit(&mr_watch_count, memory_order_relaxed) <= FEW) {
        (void)look_at_all();
    } else {
        atomic_store(&poller.happened, mr_clock_ns());
        wake_poller();
    }
    settle();
}

uint64_t mr_watch_rounds(void)
{
    return atomic_load_explicit(&poller.rounds, memory_order_relaxed);
}
