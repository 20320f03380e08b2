/* SPDX-License-Identifier: Apache-2.0 */
/* The futex lock's slow paths, and the futex calls themselves; starting threads.
 *
 * The lock is the three-state mutex of Drepper's "Futexes are tricky": a waiter marks the word 2 before it sleeps, and
 * the holder that finds 2 when it lets go wakes one. A waiter spins a little first, since sections are short. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MR_LOCKS_CHECKED
_Static_assert(sizeof(mr_lock) == sizeof(uint32_t), "a lock is one word, unless locks are checked");
#endif

void mr_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec limit = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == UINT64_MAX ? NULL : &limit, NULL, 0);
}

void mr_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void mr_lock_slow(mr_lock *lock)
{
    for (int spin = 0; spin < 100; spin++) {
        uint32_t idle = 0;
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&lock->word, &idle, 1, memory_order_acquire, memory_order_relaxed))
            return;
        mr_pause();
    }
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        mr_futex_wait(&lock->word, 2, UINT64_MAX);
}

void mr_unlock_slow(mr_lock *lock)
{
    mr_futex_wake(&lock->word, 1);
}

int mr_thread_start(void *(*run)(void *data), void *data)
{
    MR_MAY_WAIT();
    static const int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t detached;
    int error = pthread_attr_init(&detached);
    if (error != 0)
        return error;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    for (unsigned i = 0; i < sizeof of_faults / sizeof *of_faults; i++)
        sigdelset(&all, of_faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &detached, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return error;
}

unsigned mr_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}
