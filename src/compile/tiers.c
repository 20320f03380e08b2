/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing first versions of kernels' code, made in a hurry, by optimised ones.
 *
 * Whoever runs a first version counts the time (kernel/tier.h), and the one that finds the kernel hot puts it on a list here. A thread of our own, which is there
 * as long as the list has something, makes the better versions one after the other and lets them take the place: a launch under way goes on with
 * it at its next run of blocks. The first version stays as long as its program, for records of launches have its address.
 *
 * A version that cannot be made leaves the first one in its place, and is not tried again. */
#include <pthread.h>
#include <signal.h>

#include "base/log.h"
#include "base/memory.h"
#include "compile/program.h"

static mr_lock lock; /* held while a version is put on the list or taken off */
static struct mr_list hot = { &hot, &hot }; /* first versions, each with a reference to its program */
static bool works; /* the thread is there */
static _Atomic uint32_t rests; /* raised each time that it ends */

static struct mr_variant *take_hot(void)
{
    struct mr_variant *first = NULL;
    mr_lock_take(&lock);
    if (hot.next != &hot) {
        first = MR_CONTAINER(hot.next, struct mr_variant, link);
        mr_list_remove(&first->link);
    } else {
        works = false;
        atomic_fetch_add_explicit(&rests, 1, memory_order_relaxed);
    }
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
        mr_log(MR_LOG_WARN, "kernel '%s' could not be optimised (status %d); it goes on in its first code, which is slower", name, (int)status);
        return;
    }
    better->first = first;
    atomic_store_explicit(&wanted->program->code[wanted->entry].variants[wanted->shape], better, memory_order_release);
    atomic_store_explicit(&first->tier.better, &better->code, memory_order_release);
    mr_log(MR_LOG_DEBUG, "kernel '%s' is hot, and has optimised code from now on", name);
}

static void *tiers_main(void *data)
{
    struct mr_variant *first;
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-tiers");
    while ((first = take_hot()) != NULL) {
        struct mr_program *program = first->better.program;
        replace(first);
        mr_program_drop(program);
    }
    mr_futex_wake(&rests, INT32_MAX);
    return NULL;
}

/* Without a thread nothing gets better, which is no reason to fail. */
static void start(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, tiers_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_detach(thread);
        return;
    }
    mr_log(MR_LOG_WARN, "cannot start a thread that optimises kernels (errno %d): they go on in their first code, which is slower", error);
    for (struct mr_variant *first; (first = take_hot()) != NULL;)
        mr_program_drop(first->better.program);
}

static void is_hot(struct mr_tier *tier)
{
    struct mr_variant *first = MR_CONTAINER(tier, struct mr_variant, tier);
    mr_program_hold(first->better.program);
    mr_lock_take(&lock);
    mr_list_append(&hot, &first->link);
    bool idle = !works;
    works = true;
    mr_lock_drop(&lock);
    if (idle)
        start();
}

void mr_tier_begin(struct mr_variant *variant, const struct mr_wanted *better, uint64_t enough)
{
    variant->better = *better;
    variant->tier.enough = enough;
    variant->tier.is_hot = is_hot;
    variant->code.tier = &variant->tier;
}

void mr_tiers_settle(void)
{
    for (;;) {
        mr_lock_take(&lock);
        uint32_t seen = atomic_load_explicit(&rests, memory_order_relaxed);
        bool busy = works;
        mr_lock_drop(&lock);
        if (!busy)
            return;
        mr_futex_wait(&rests, seen, UINT64_MAX);
    }
}
