/* SPDX-License-Identifier: Apache-2.0 */
/* Small synchronisation: a lock of one word that sleeps on a futex when contended, futex wait and wake, a pause; and the driver's own threads.
 *
 * mr_lock is taken in about 5 ns uncontended, records nothing about its owner, and must not be taken twice by a thread.
 * docs/locking.md gives the order in which locks nest. */
#ifndef MR_BASE_THREAD_H
#define MR_BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mr_lock { _Atomic uint32_t word; /* 0 free, 1 held, 2 held with sleepers */ } mr_lock;

/* Sleeps while *word == expected, until woken or `timeout_ns` has passed (UINT64_MAX: no limit). May return early. */
void mr_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);

/* Wakes at most `count` sleepers of `word`. */
void mr_futex_wake(_Atomic uint32_t *word, int count);

void mr_lock_slow(mr_lock *lock);
void mr_unlock_slow(mr_lock *lock);

static inline void mr_lock_take(mr_lock *lock)
{
    uint32_t idle = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &idle, 1, memory_order_acquire, memory_order_relaxed))
        mr_lock_slow(lock);
}

static inline bool mr_lock_try(mr_lock *lock)
{
    uint32_t idle = 0;
    return atomic_compare_exchange_strong_explicit(&lock->word, &idle, 1, memory_order_acquire, memory_order_relaxed);
}

static inline void mr_lock_drop(mr_lock *lock)
{
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        mr_unlock_slow(lock);
}

/* For assertions in the code that a lock protects: held by somebody. */
static inline bool mr_lock_is_held(mr_lock *lock)
{
    return atomic_load_explicit(&lock->word, memory_order_relaxed) != 0;
}

/* A hint to the processor inside a spin loop. */
static inline void mr_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Starts a thread that nobody waits for. The program's signals are for the program's own threads: all are blocked in this one but those that a fault raises, which go
 * to the thread that caused them. 0, or an errno. */
int mr_thread_start(void *(*run)(void *data), void *data) __attribute__((warn_unused_result));

/* Processors that this process may run on, at least 1. */
unsigned mr_cpu_count(void);

#endif
