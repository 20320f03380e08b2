/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing first versions of kernels' code, made in a hurry, by optimised ones.
 *
 * A thread that runs a first version counts the time (abi/tier.h), and the thread that finds the kernel hot puts it on
 * a list here. Threads of our own make the better versions and let them take the place: a launch under way goes on with
 * it at its next run of blocks. The first version stays as long as its program, for records of launches have its
 * address.
 *
 * The next version that is made is the one that has taken most of the program's time, for what optimising it costs: on
 * few processors the list is long for seconds, and a few kernels take most of the time. One thread is made when a first
 * version first runs, and stays. While it is busy and the list is not empty there may be others, on machines of more
 * processors.
 *
 * One run may be all there is: of one block, say, that takes a second. So the thread also looks at runs that are under
 * way, when they may have taken enough time.
 *
 * Of a module that has been unloaded meanwhile nothing is made. A version that cannot be made leaves the first one in
 * its place, and is not tried again. */
#include <pthread.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "compile/program.h"

static mr_lock lock = MR_LOCK_INIT(
    TIERS); /* held while a version is put on a list or taken off, and while the second list is looked at */
static struct mr_list hot = {&hot, &hot}; /* first versions, each with a reference to its program */
static struct mr_list watched = {
    &watched,
    &watched}; /* first versions of which a run has begun, and that may have ended meanwhile; without references */
static bool made; /* the thread that stays is there, or somebody is making it */
static bool busy; /* it makes a version */
static unsigned helpers; /* the threads beside it */
static _Atomic uint32_t bell; /* rung when something is on the list */
static _Atomic uint32_t pending; /* versions on the list, and the one that is being replaced */

/* How often the version has run for as long as makes it hot, which goes with what optimising it costs. */
static double heat(const struct mr_variant *first)
{
    uint64_t spent = atomic_load_explicit(&first->tier.spent, memory_order_relaxed);
    return (double)spent / (double)(first->tier.enough + 1);
}

/* Takes the hottest version off the list; NULL if it is empty. Lock held. */
static struct mr_variant *take_hottest(void)
{
    MR_HELD(&lock);
    struct mr_variant *hottest = NULL;
    for (struct mr_list *link = hot.next; link != &hot; link = link->next) {
        struct mr_variant *first = MR_CONTAINER(link, struct mr_variant, link);
        if (!hottest || heat(first) > heat(hottest))
            hottest = first;
    }
    if (hottest)
        mr_list_remove(&hottest->link);
    return hottest;
}

/* The same for the thread that stays. */
static struct mr_variant *take_hot(void)
{
    mr_lock_take(&lock);
    struct mr_variant *first = take_hottest();
    busy = first != NULL;
    mr_lock_drop(&lock);
    return first;
}

static void replace(struct mr_variant *first)
{
    const struct mr_wanted *wanted = &first->better;
    const char *name = first->code.name;
    struct mr_variant *better = mr_calloc(1, sizeof *better);
    CUresult status = better ? mr_variant_make(wanted, better) : CUDA_ERROR_OUT_OF_MEMORY;
    if (status != CUDA_SUCCESS) {
        mr_free(better);
        mr_log(MR_LOG_WARN,
               "kernel '%s' could not be optimised (status %d); it goes on in its first code, which is slower", name,
               (int)status);
        return;
    }
    better->first = first;
    atomic_store_explicit(&wanted->program->code[wanted->entry].variants[wanted->shape], better, memory_order_release);
    atomic_store_explicit(&first->tier.better, &better->code, memory_order_release);
    mr_log(MR_LOG_DEBUG, "kernel '%s' is hot, and has optimised code from now on", name);
}

/* Gives back what the list had. */
static void let_go(struct mr_program *program)
{
    mr_program_drop(program);
    if (atomic_fetch_sub_explicit(&pending, 1, memory_order_release) == 1)
        mr_futex_wake(&pending, INT32_MAX);
}

/* Puts a version on the list, so that nobody has to announce its runs any more; the caller has taken a reference to its
 * program. Lock held. */
static void put_hot(struct mr_variant *first)
{
    MR_HELD(&lock);
    atomic_store_explicit(&first->tier.watched, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&pending, 1, memory_order_relaxed);
    first->stage = MR_TIER_HOT;
    mr_list_append(&hot, &first->link);
}

/* Lock held. */
static void stop_watching(struct mr_variant *first)
{
    MR_HELD(&lock);
    if (first->stage != MR_TIER_WATCHED)
        return;
    mr_list_remove(&first->link);
    first->stage = MR_TIER_IDLE;
}

/* Looks at the run of a version that is watched. How many ns from now to look again; 0 if it is taken off the list.
 * Lock held. */
static uint64_t look_at(struct mr_variant *first, uint64_t now)
{
    MR_HELD(&lock);
    struct mr_tier *tier = &first->tier;
    uint64_t since = atomic_load_explicit(&tier->since, memory_order_relaxed), run = since < now ? now - since : 0;
    uint64_t spent = atomic_load_explicit(&tier->spent, memory_order_relaxed),
             left = spent < tier->enough ? tier->enough - spent : 0;
    if (since != 0 && left > run)
        return left - run;
    stop_watching(first);
    if (since == 0)
        atomic_store_explicit(&tier->watched, false, memory_order_relaxed);
    else if (mr_tier_add(tier, run) &&
             mr_program_try_hold(first->better.program)) /* unless it has ended while we looked */
        put_hot(first);
    return 0;
}

/* Looks at the runs that have been announced. How many ns from now to look again, UINT64_MAX if there are none, 0 if
 * something is hot. */
static uint64_t look(void)
{
    uint64_t next = UINT64_MAX, now = mr_clock_ns();
    mr_lock_take(&lock);
    for (struct mr_list *link = watched.next, *after; link != &watched; link = after) {
        after = link->next;
        uint64_t wait = look_at(MR_CONTAINER(link, struct mr_variant, link), now);
        next = wait != 0 && wait < next ? wait : next;
    }
    if (hot.next != &hot)
        next = 0;
    mr_lock_drop(&lock);
    return next;
}

/* Makes the better version of one that was taken off the list. */
static void improve(struct mr_variant *first)
{
    struct mr_program *program = first->better.program;
    /* Programs that load and unload modules faster than these are optimised would wait for nothing. */
    if (atomic_load_explicit(&program->references, memory_order_relaxed) > 1)
        replace(first);
    let_go(program);
}

/* Lasts until the list is empty. */
static void *helper_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-tiers");
    for (;;) {
        mr_lock_take(&lock);
        struct mr_variant *first = take_hottest();
        helpers -= first == NULL;
        mr_lock_drop(&lock);
        if (!first)
            return NULL;
        improve(first);
    }
}

/* Has another thread for what is on the list, if the one that stays is busy and the program may have one. */
static void call_helper(const struct mr_program *program)
{
    mr_lock_take(&lock);
    bool start = busy && hot.next != &hot && helpers + 1 < program->settings.threads / 2;
    helpers += start;
    mr_lock_drop(&lock);
    if (!start || mr_thread_start(helper_main, NULL) == 0)
        return;
    mr_lock_take(&lock);
    helpers--;
    mr_lock_drop(&lock);
}

static void *tiers_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-tiers");
    for (;;) {
        uint32_t heard = atomic_load_explicit(&bell, memory_order_relaxed);
        struct mr_variant *first = take_hot();
        if (first) {
            call_helper(first->better.program);
            improve(first);
            continue;
        }
        uint64_t next = look();
        if (next != 0)
            mr_futex_wait(&bell, heard, next);
    }
    return NULL;
}

/* Rings the bell of the thread, which is made if there is none. Without one nothing gets better, which is no reason to
 * fail: the next kernel tries again. */
static void call_thread(void)
{
    mr_lock_take(&lock);
    bool make = !made;
    made = true;
    mr_lock_drop(&lock);
    int error = make ? mr_thread_start(tiers_main, NULL) : 0;
    if (error != 0) {
        mr_log(
            MR_LOG_WARN,
            "cannot start a thread that optimises kernels (errno %d): they go on in their first code, which is slower",
            error);
        mr_lock_take(&lock);
        made = false;
        while (watched.next != &watched)
            stop_watching(MR_CONTAINER(watched.next, struct mr_variant, link));
        mr_lock_drop(&lock);
        for (struct mr_variant *first; (first = take_hot()) != NULL;)
            let_go(first->better.program);
        return;
    }
    atomic_fetch_add_explicit(&bell, 1, memory_order_relaxed);
    mr_futex_wake(&bell, 1);
}

static void is_hot(struct mr_tier *tier)
{
    struct mr_variant *first = MR_CONTAINER(tier, struct mr_variant, tier);
    mr_program_hold(first->better.program);
    mr_lock_take(&lock);
    stop_watching(first);
    put_hot(first);
    mr_lock_drop(&lock);
    call_thread();
    call_helper(first->better.program);
}

static void watch(struct mr_tier *tier)
{
    struct mr_variant *first = MR_CONTAINER(tier, struct mr_variant, tier);
    mr_lock_take(&lock);
    bool new = first->stage == MR_TIER_IDLE && !atomic_exchange_explicit(&tier->watched, true, memory_order_relaxed);
    if (new) {
        first->stage = MR_TIER_WATCHED;
        mr_list_append(&watched, &first->link);
    }
    mr_lock_drop(&lock);
    if (new)
        call_thread();
}

static void ends(struct mr_tier *tier)
{
    mr_lock_take(&lock);
    stop_watching(MR_CONTAINER(tier, struct mr_variant, tier));
    mr_lock_drop(&lock);
}

void mr_tier_begin(struct mr_variant *variant)
{
    if (!variant->better.program)
        return;
    variant->tier.is_hot = is_hot;
    variant->tier.watch = watch;
    variant->tier.ends = ends;
    variant->code.tier = &variant->tier;
}

void mr_tiers_settle(void)
{
    for (uint32_t seen; (seen = atomic_load_explicit(&pending, memory_order_acquire)) != 0;)
        mr_futex_wait(&pending, seen, UINT64_MAX);
}
