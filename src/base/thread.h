/* SPDX-License-Identifier: Apache-2.0 */
/* Small synchronisation: a lock of one word that sleeps on a futex when contended, futex wait and wake, a pause; and
 * the driver's own threads.
 *
 * mr_lock is taken in about 5 ns uncontended, and must not be taken twice by a thread. docs/locking.md gives the order
 * in which locks nest. */
#ifndef MR_BASE_THREAD_H
#define MR_BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A build that checks locks (the option lock_checks) keeps beside each lock what it is and which thread has it. Every
 * other build keeps the word alone. */
typedef struct mr_lock {
    _Atomic uint32_t word;             /* 0 free, 1 held, 2 held with sleepers */
#ifdef MR_LOCKS_CHECKED
    uint32_t rank;                     /* enum mr_lock_rank */
    const void *_Atomic owner;         /* the thread that holds it: an address of its own; NULL when free */
#endif
} mr_lock;

/* Places in the order of docs/locking.md; lock_ranks.def has them with what they mean. 0 is for a lock that was never
 * told its rank: it can't be taken. */
enum mr_lock_rank {
    MR_LOCK_UNRANKED,
#define MR_RANK(name, last, hold, text) MR_LOCK_##name,
#include "base/lock_ranks.def"
#undef MR_RANK
    MR_LOCK_RANKS
};

/* A lock's rank: MR_LOCK_INIT(STREAM) initialises a static one, mr_lock_init(&lock, MR_LOCK_STREAM) one in memory that
 * is zero. */
#ifdef MR_LOCKS_CHECKED
#define MR_LOCK_INIT(name) {.rank = MR_LOCK_##name}
static inline void mr_lock_init(mr_lock *lock, enum mr_lock_rank rank)
{
    lock->rank = rank;
}
#else
#define MR_LOCK_INIT(name) {MR_LOCK_##name * 0}
static inline void mr_lock_init(mr_lock *lock, enum mr_lock_rank rank)
{
    (void)lock, (void)rank;
}
#endif

/* What a build that checks locks looks at (lock_check.c). Each ends the process with a message and a stack when it
 * doesn't hold. Nothing in every other build.
 *
 *   MR_HELD(&lock)   at the head of a function that is called with the lock held: the calling thread has it
 *   MR_MAY_WAIT()    where a thread may sleep, run kernels or the program's code, or make a thread: it holds no
 *                    lock, except for such as may be held long */
#ifdef MR_LOCKS_CHECKED
#define MR_HELD(lock) mr_lock_check_held((lock), #lock)
#define MR_MAY_WAIT() mr_lock_check_wait(__func__)
void mr_lock_check_take(mr_lock *lock);  /* before: may the thread take it now, with what it holds? */
void mr_lock_check_taken(mr_lock *lock); /* after */
void mr_lock_check_drop(mr_lock *lock);
void mr_lock_check_held(const mr_lock *lock, const char *name);
void mr_lock_check_wait(const char *where);
#else
#define MR_HELD(lock) ((void)(lock))
#define MR_MAY_WAIT() ((void)0)
static inline void mr_lock_check_take(mr_lock *lock)
{
    (void)lock;
}
static inline void mr_lock_check_taken(mr_lock *lock)
{
    (void)lock;
}
static inline void mr_lock_check_drop(mr_lock *lock)
{
    (void)lock;
}
#endif

/* Sleeps while *word == expected, until woken or `timeout_ns` has passed (UINT64_MAX: no limit). May return early. */
void mr_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);

/* Wakes at most `count` sleepers of `word`. */
void mr_futex_wake(_Atomic uint32_t *word, int count);

void mr_lock_slow(mr_lock *lock);
void mr_unlock_slow(mr_lock *lock);

static inline void mr_lock_take(mr_lock *lock)
{
    uint32_t idle = 0;
    mr_lock_check_take(lock);
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &idle, 1, memory_order_acquire, memory_order_relaxed))
        mr_lock_slow(lock);
    mr_lock_check_taken(lock);
}

/* Never waits, so it may be called out of order. */
static inline bool mr_lock_try(mr_lock *lock)
{
    uint32_t idle = 0;
    bool taken =
        atomic_compare_exchange_strong_explicit(&lock->word, &idle, 1, memory_order_acquire, memory_order_relaxed);
    if (taken)
        mr_lock_check_taken(lock);
    return taken;
}

static inline void mr_lock_drop(mr_lock *lock)
{
    mr_lock_check_drop(lock);
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        mr_unlock_slow(lock);
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

/* Starts a thread that is not joined. The program's signals are for the program's own threads: all are blocked in this
 * one but those that a fault raises, which go to the thread that caused them. 0, or an errno. */
int mr_thread_start(void *(*run)(void *data), void *data) __attribute__((warn_unused_result));

/* Processors that this process may run on, at least 1. */
unsigned mr_cpu_count(void);

#endif
