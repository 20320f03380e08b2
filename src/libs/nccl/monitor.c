/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's thread. */
#define _GNU_SOURCE
#include "libs/nccl/monitor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/thread.h"

#define NAP_MS 20
#define IDLE_ROUNDS 50 /* without a launch that waits, before it sleeps */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static bool started, rung;
static bool (*look)(void); /* set before the thread starts */
static _Atomic bool asleep;

static void nap(bool for_good)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    atomic_store(&asleep, for_good);
    if (!rung && for_good)
        (void)pthread_cond_wait(&bell, &lock);
    else if (!rung)
        (void)pthread_cond_timedwait(&bell, &lock, &until);
    rung = false;
    atomic_store(&asleep, false);
    pthread_mutex_unlock(&lock);
}

static void *monitor_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-nccl");
    for (unsigned idle = 0;;) {
        bool any = look();
        idle = any ? 0 : idle + 1;
        nap(idle > IDLE_ROUNDS);
    }
    return NULL;
}

bool mr_monitor_begin(bool (*each)(void))
{
    pthread_mutex_lock(&lock);
    if (!started) {
        look = each;
        started = mr_thread_start(monitor_main, NULL) == 0;
    }
    bool good = started;
    pthread_mutex_unlock(&lock);
    return good;
}

void mr_monitor_wake(void)
{
    pthread_mutex_lock(&lock);
    rung = true;
    pthread_cond_signal(&bell);
    pthread_mutex_unlock(&lock);
}

void mr_monitor_look(void)
{
    if (atomic_load(&asleep))
        mr_monitor_wake();
}
