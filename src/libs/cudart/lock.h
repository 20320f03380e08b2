/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of the runtime library. It lies inside of programs, and where these are checked for the order of their threads
 * (`millrace check --host-threads=strict`) its own locks say nothing of that: libmillrace-threads.so, which is there
 * then, is told to look away. */
#ifndef MR_CUDART_LOCK_H
#define MR_CUDART_LOCK_H

#include <pthread.h>
#include <stdbool.h>

extern void millrace_threads_pause(bool on) __attribute__((weak));

static inline void mr_rt_lock(pthread_mutex_t *mutex)
{
    if (millrace_threads_pause)
        millrace_threads_pause(true);
    pthread_mutex_lock(mutex);
}

static inline void mr_rt_unlock(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    if (millrace_threads_pause)
        millrace_threads_pause(false);
}

#endif
