/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a kernel's code. The first may have been made in a hurry; once threads have spent enough time in it, a better one is made in the background and takes
 * its place, for launches that are under way too.
 *
 * Who runs blocks asks mr_code_now before each run of them which code to use, uses that to the run's end, and, if mr_code_is_timed says so beforehand, tells mr_code_ran
 * what the run took. Both versions give the same results, so blocks of one launch may have run in either. Any thread may call these at any time while the
 * program lives. */
#ifndef MR_KERNEL_TIER_H
#define MR_KERNEL_TIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"

/* Of a first version. The better one lives as long as the first. */
struct mr_tier {
    _Atomic(const struct mr_code *) better;    /* NULL as long as there is none */
    _Atomic uint64_t spent;                    /* ns that threads have spent in the first version */
    _Atomic bool brief;                        /* the latest run that was timed took less than MR_TIER_BRIEF_NS */
    uint64_t enough;                           /* so many make the kernel hot: */
    void (*is_hot)(struct mr_tier *tier);      /* called once then, by the thread that has found out; takes no time to speak of */
};

/* The version to run blocks with. */
static inline const struct mr_code *mr_code_now(const struct mr_code *code)
{
    if (__builtin_expect(!code->tier, 1))
        return code;
    const struct mr_code *better = atomic_load_explicit(&code->tier->better, memory_order_acquire);
    return better ? better : code;
}

/* Reading the clock twice is a tenth of the time of a launch of next to nothing, so one in some stands for all. */
#define MR_TIER_BRIEF_NS 4000u
#define MR_TIER_STANDS_FOR 8u

/* Whether to time the run that begins. `turn` counts the thread's runs of this kind. */
static inline bool mr_code_is_timed(const struct mr_code *code, unsigned *turn)
{
    return code->tier && (!atomic_load_explicit(&code->tier->brief, memory_order_relaxed) || ++*turn % MR_TIER_STANDS_FOR == 0);
}

/* Such a run has taken so many nanoseconds. */
static inline void mr_code_ran(const struct mr_code *code, uint64_t ns)
{
    struct mr_tier *tier = code->tier;
    uint64_t spent = atomic_load_explicit(&tier->brief, memory_order_relaxed) ? ns * MR_TIER_STANDS_FOR : ns;
    uint64_t before = atomic_fetch_add_explicit(&tier->spent, spent, memory_order_relaxed);
    atomic_store_explicit(&tier->brief, ns < MR_TIER_BRIEF_NS, memory_order_relaxed);
    if (before < tier->enough && before + spent >= tier->enough)
        tier->is_hot(tier);
}

#endif
