/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a kernel's code. The first may have been made in a hurry; once threads have spent enough time in it, a better one is made in the background and takes
 * its place, for launches that are under way too.
 *
 * Who runs blocks asks mr_code_now before each run of them which code to use, uses that to the run's end, and tells mr_code_ran what the run took. Both
 * versions give the same results, so blocks of one launch may have run in either. Any thread may call these at any time while the program lives. */
#ifndef MR_KERNEL_TIER_H
#define MR_KERNEL_TIER_H

#include <stdatomic.h>
#include <stdint.h>

#include "kernel/abi.h"

/* Of a first version. The better one lives as long as the first. */
struct mr_tier {
    _Atomic(const struct mr_code *) better;    /* NULL as long as there is none */
    _Atomic uint64_t spent;                    /* ns that threads have spent in the first version */
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

/* A thread has spent so many nanoseconds in the code, which has a tier. */
static inline void mr_code_ran(const struct mr_code *code, uint64_t ns)
{
    struct mr_tier *tier = code->tier;
    uint64_t before = atomic_fetch_add_explicit(&tier->spent, ns, memory_order_relaxed);
    if (before < tier->enough && before + ns >= tier->enough)
        tier->is_hot(tier);
}

#endif
