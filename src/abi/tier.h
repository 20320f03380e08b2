/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a kernel's code. The first may have been made in a hurry; once threads have spent enough time in it, a
 * better one is made in the background and takes its place, for launches that are under way too.
 *
 * A thread that runs blocks asks mr_code_now before each run of them which code to use, uses that to the run's end, and
 * calls mr_code_begins and mr_code_ends around it. Both versions give the same results, so blocks of one launch may
 * have run in either. A run that takes long is noticed while it goes on: what is made of it then serves the blocks that
 * come later, or the next process. Any thread may call these at any time while the program lives. */
#ifndef MR_ABI_TIER_H
#define MR_ABI_TIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/abi.h"
#include "base/clock.h"

/* Of a first version. The better one lives as long as the first. */
struct mr_tier {
    _Atomic(const struct mr_code *) better;    /* NULL as long as there is none */
    _Atomic uint64_t spent;                    /* ns that threads have spent in the first version */
    _Atomic bool brief;                        /* the latest run that was timed took less than MR_TIER_BRIEF_NS */
    _Atomic uint64_t
        since; /* when the run began that may become a long one; 0: there is none, or another one is timed */
    _Atomic bool watched; /* somebody looks at `since` now and then, or the kernel is hot */
    uint64_t enough; /* the kernel is hot after so many ns: */
    void (*is_hot)(
        struct mr_tier *tier); /* called once then, by the thread that has found out; takes no time to speak of */
    void (*watch)(
        struct mr_tier *tier); /* called at the beginning of a run of a version that isn't watched; the same */
    void (*ends)(struct mr_tier *tier); /* called before the version is freed: nobody looks at it any more */
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

/* A run begins. What it returns goes to mr_code_ends: when that was, or 0 if the run isn't timed. `turn` counts the
 * thread's runs that may not be. */
static inline uint64_t mr_code_begins(const struct mr_code *code, unsigned *turn)
{
    struct mr_tier *tier = code->tier;
    if (__builtin_expect(!tier, 1))
        return 0;
    bool brief = atomic_load_explicit(&tier->brief, memory_order_relaxed);
    if (brief && ++*turn % MR_TIER_STANDS_FOR != 0)
        return 0;
    uint64_t now = mr_clock_ns();
    if (!brief && atomic_load_explicit(&tier->since, memory_order_relaxed) == 0) {
        atomic_store_explicit(&tier->since, now, memory_order_relaxed);
        if (!atomic_load_explicit(&tier->watched, memory_order_relaxed))
            tier->watch(tier);
    }
    return now;
}

/* A first version has run for so much longer. True if that makes it hot. */
static inline bool mr_tier_add(struct mr_tier *tier, uint64_t ns)
{
    uint64_t before = atomic_fetch_add_explicit(&tier->spent, ns, memory_order_relaxed);
    return before < tier->enough && ns >= tier->enough - before;
}

/* A run that was timed has taken so many nanoseconds. */
static inline void mr_code_ran(const struct mr_code *code, uint64_t ns)
{
    struct mr_tier *tier = code->tier;
    uint64_t spent = atomic_load_explicit(&tier->brief, memory_order_relaxed) ? ns * MR_TIER_STANDS_FOR : ns;
    atomic_store_explicit(&tier->brief, ns < MR_TIER_BRIEF_NS, memory_order_relaxed);
    if (mr_tier_add(tier, spent))
        tier->is_hot(tier);
}

/* The run that began then has ended. */
static inline void mr_code_ends(const struct mr_code *code, uint64_t begin)
{
    if (__builtin_expect(begin == 0, 1))
        return;
    if (atomic_load_explicit(&code->tier->since, memory_order_relaxed) == begin)
        atomic_store_explicit(&code->tier->since, 0, memory_order_relaxed);
    mr_code_ran(code, mr_clock_ns() - begin);
}

#endif
