/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing first versions of kernels' code, made in a hurry, by optimised ones.
 *
 * Whoever runs a first version counts the time (kernel/tier.h), and the one that finds the kernel hot puts it on a list here. A thread of our own, made when that
 * first happens, makes the better versions one after the other and lets them take the place: a launch under way goes on with it at its next run of blocks. The
 * first version stays as long as its program, for records of launches have its address.
 *
 * Of a module that has been unloaded meanwhile nothing is made. A version that cannot be made leaves the first one in its place, and is not tried again. */
#include <pthread.h>

#include "base/log.h"
#include "base/memory.h"
#include "compile/program.h"

static mr_lock lock; /* held while a version is put on the list or taken off */
static struct mr_list hot = { &hot, &hot }; /* first versions, each with a reference to its program */
static bool made; /* the thread is there, or somebody is making it */
static _Atomic uint32_t bell; /* rung when something is on the list */
static _Atomic uint32_t pending; /* versions on the list, and the one that is being replaced */

static struct mr_variant *take_hot(void)
{
    struct mr_variant *first = NULL;
    mr_lock_take(&lock);
    if (hot.next != &hot) {
        first = MR_CONTAINER(hot.next, struct mr_variant, link);
        mr_list_remove(&first->link);
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

/* Gives back what the list had. */
static void let_go(struct mr_program *program)
{
    mr_program_drop(program);
    if (atomic_fetch_sub_explicit(&pending, 1, memory_order_release) == 1)
        mr_futex_wake(&pending, INT32_MAX);
}

static void *tiers_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-tiers");
    for (;;) {
        uint32_t heard = atomic_load_explicit(&bell, memory_order_relaxed);
        struct mr_variant *first = take_hot();
        if (first) {
            struct mr_program *program = first->better.program;
            /* Programs that load and unload modules faster than these are optimised would wait for nothing. */
            if (atomic_load_explicit(&program->references, memory_order_relaxed) > 1)
                replace(first);
            let_go(program);
        } else {
            mr_futex_wait(&bell, heard, UINT64_MAX);
        }
    }
    return NULL;
}

/* Without a thread nothing gets better, which is no reason to fail. */
static bool start(void)
{
    int error = mr_thread_start(tiers_main, NULL);
    if (error != 0)
        mr_log(MR_LOG_WARN, "cannot start a thread that optimises kernels (errno %d): they go on in their first code, which is slower", error);
    return error == 0;
}

static void is_hot(struct mr_tier *tier)
{
    struct mr_variant *first = MR_CONTAINER(tier, struct mr_variant, tier);
    atomic_fetch_add_explicit(&pending, 1, memory_order_relaxed);
    mr_program_hold(first->better.program);
    mr_lock_take(&lock);
    mr_list_append(&hot, &first->link);
    bool make = !made;
    made = true;
    mr_lock_drop(&lock);
    if (make && !start()) {
        /* The next one tries again. */
        mr_lock_take(&lock);
        made = false;
        mr_lock_drop(&lock);
        while ((first = take_hot()) != NULL)
            let_go(first->better.program);
        return;
    }
    atomic_fetch_add_explicit(&bell, 1, memory_order_relaxed);
    mr_futex_wake(&bell, 1);
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
    for (uint32_t seen; (seen = atomic_load_explicit(&pending, memory_order_acquire)) != 0;)
        mr_futex_wait(&pending, seen, UINT64_MAX);
}
