/* SPDX-License-Identifier: Apache-2.0 */
/* Host threads and their calls, by numbers that are the same in each run of a program: threads from 1 up in the order
 * of their first calls, a thread's calls from 1 up. The observer counts a call before its tools hear of it. */
#ifndef MR_OBSERVER_THREADS_H
#define MR_OBSERVER_THREADS_H

#include <stdint.h>

struct obs_thread {
    uint32_t number; /* 0: the thread has made no call */
    uint64_t calls;  /* the number of the latest one */
    unsigned inside; /* how many calls it is inside of */
};

/* The running thread; valid on it alone. */
const struct obs_thread *obs_thread_here(void);

/* The running thread enters a call, or leaves one. The observer's (observer.c). */
void obs_thread_calls(void);
void obs_thread_leaves(void);

#endif
