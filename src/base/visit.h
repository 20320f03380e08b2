/* SPDX-License-Identifier: Apache-2.0 */
/* Visits: what lets records be looked at without a lock and without a reference.
 *
 * Inside a visit, a thread may look at records that other threads may end meanwhile. Every call of the driver is a
 * visit. A record that has ended is put aside. It is used again only when every visit is over that began before its
 * end (mr_visit_now, mr_visit_is_over). So what a visit finds never becomes something else while the visit lasts.
 * (Epochs: Fraser, Practical lock-freedom, 2004.)
 *
 * A visit costs a few instructions and no fence. The thread that puts records aside asks the kernel to have every
 * thread of the process pass a fence (membarrier).
 *
 * A thread that waits for long leaves its visit meanwhile (mr_visit_pause): of what it found, it may then use only what
 * it holds a reference to. A visit can keep some references until its end (mr_visit_keep), so that a call that isn't
 * hurried need not give back what it looks at. */
#ifndef MR_BASE_VISIT_H
#define MR_BASE_VISIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread's epoch says when it isn't the epoch of a visit. */
#define MR_VISIT_OUTSIDE 0u
/* Outside, and each visit takes the slow way: not listed yet, or without help from the kernel. */
#define MR_VISIT_STRANGER UINT64_MAX
/* The thread can't be listed, so its visits are counted: it is ending, or memory is short. */
#define MR_VISIT_COUNTED (UINT64_MAX - 1)

/* One for each thread, in a list of all. */
struct mr_visitor {
    _Atomic uint64_t epoch; /* of its visit, or as above */
    uint32_t kept; /* references that the visit keeps: the last ones of `things` */
    uint32_t kept_all; /* with those of visits that are paused */
    void *things[5];
    struct mr_visitor *next, *previous;
};

extern _Thread_local struct mr_visitor mr_visit_self
    __attribute__((tls_model("initial-exec"), visibility("hidden"), aligned(64)));
extern _Atomic uint64_t mr_visit_epoch __attribute__((visibility("hidden"))); /* from 1 up */

/* A visit that is paused. */
struct mr_visit_paused {
    uint64_t epoch;
    uint32_t kept;
};

uint64_t mr_visit_begin_slow(uint64_t outer);
void mr_visit_end_slow(uint64_t outer);

/* Enters a visit, or does nothing inside of one. The result goes to the mr_visit_end that belongs to it. (There are so
 * many entry points that the compiler would not inline it by itself.) */
static inline __attribute__((always_inline)) uint64_t mr_visit_begin(void)
{
    uint64_t outer = atomic_load_explicit(&mr_visit_self.epoch, memory_order_relaxed);
    if (__builtin_expect(outer != MR_VISIT_OUTSIDE, 0))
        return mr_visit_begin_slow(outer);
    atomic_store_explicit(&mr_visit_self.epoch, atomic_load_explicit(&mr_visit_epoch, memory_order_acquire),
                          memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    return MR_VISIT_OUTSIDE;
}

static inline __attribute__((always_inline)) void mr_visit_end(uint64_t outer)
{
    if (__builtin_expect((outer | mr_visit_self.kept) != 0, 0))
        mr_visit_end_slow(outer);
    else
        atomic_store_explicit(&mr_visit_self.epoch, MR_VISIT_OUTSIDE, memory_order_release);
}

/* Keeps a reference until the visit ends, when `release` gets it; the same function for all. False if the thread is in
 * no visit, or that keeps enough already. */
bool mr_visit_keep(void *thing, void (*release)(void *thing)) __attribute__((warn_unused_result));

/* Leaves the visit that the thread is in, if any, and enters another one, which then keeps what the first one kept. */
struct mr_visit_paused mr_visit_pause(void);
void mr_visit_resume(struct mr_visit_paused paused);

/* The time, for what is put aside now and was made unreachable before. */
uint64_t mr_visit_now(void);

/* Is every visit over that began before `then` (mr_visit_now)? Two loads and a comparison. */
bool mr_visit_is_over(uint64_t then);

/* Moves the time on, if the visits allow: three times are enough for mr_visit_is_over. A system call when other threads
 * visit. Any thread, perhaps in a visit. */
void mr_visit_advance(void);

#endif
