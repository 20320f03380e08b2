/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor: sees to it that ready work doesn't wait behind commands that don't end.
 *
 * It rests until somebody queues work that no worker is free for. Then it looks every millisecond: when work is ready
 * and no worker has taken anything up for two milliseconds, neither a task, nor a command, nor blocks of an open job,
 * it starts one more worker, and waits twice as long before the next one, up to a limit. Progress brings that back by
 * half: a job of slow blocks must not gather worker after worker. If workers are known to be waiting or inside host
 * functions, they use no processor, and it doesn't slow down. With nothing ready for a while it rests again.
 *
 * If no more workers can be started, the log says so once. */
#include <limits.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/shares.h"
#include "engine/workers.h"
#include "kernel/progress.h"

#define TICK_NS 1000000u
#define STALL_TICKS 2u
#define STALL_TICKS_MOST 64u
#define CALM_TICKS 50u

struct watch {
    uint64_t progress;
    unsigned stalled, patience, calm;
    bool full; /* one more worker was wanted, and there are as many as there can be */
};

/* A number that changes whenever a worker takes something up. Lock held. */
static uint64_t progress_now(void)
{
    MR_HELD(&mr_engine.lock);
    uint64_t sum = mr_engine.takes + atomic_load_explicit(&mr_engine.goes_on, memory_order_relaxed);
    for (struct mr_list *link = mr_engine.jobs.next; link != &mr_engine.jobs; link = link->next) {
        struct mr_job *job = MR_CONTAINER(link, struct mr_job, link);
        sum += atomic_load_explicit(&job->next, memory_order_relaxed) +
               (job->shares ? mr_shares_progress(job->shares) : 0);
    }
    return sum;
}

/* One look. Lock held. */
static struct mr_call look(struct watch *watch)
{
    MR_HELD(&mr_engine.lock);
    struct mr_call call = {0};
    uint64_t progress = progress_now();
    if (!atomic_load_explicit(&mr_engine.ready, memory_order_relaxed)) {
        watch->stalled = 0;
        watch->patience = STALL_TICKS;
        if (++watch->calm >= CALM_TICKS)
            mr_engine.monitor_armed = false;
        return call;
    }
    watch->calm = 0;
    if (progress != watch->progress) {
        watch->progress = progress;
        watch->stalled = 0;
        if (watch->patience > STALL_TICKS)
            watch->patience /= 2;
        return call;
    }
    bool idle_processors = mr_engine.waiting + mr_engine.in_host > 0;
    if (++watch->stalled < (idle_processors ? STALL_TICKS : watch->patience))
        return call;
    watch->stalled = 0;
    if (watch->patience < STALL_TICKS_MOST)
        watch->patience *= 2;
    call = mr_engine_call_one(MR_WORKERS_LIMIT);
    mr_engine.extra_started += call.spawn;
    watch->full = mr_engine.workers == MR_WORKERS_LIMIT && !call.ring && !call.spawn;
    return call;
}

static void tell_full(const struct watch *watch)
{
    static bool told;
    if (!watch->full || told)
        return;
    told = true;
    mr_log(
        MR_LOG_WARN,
        "all %u threads are busy, there can't be more, and other work can't begin. If the busy blocks wait for it, they "
        "wait for ever: launch no more blocks that wait for each other than can run at once",
        MR_WORKERS_LIMIT);
}

static void *monitor_main(void *data)
{
    struct watch watch = {.patience = STALL_TICKS};
    uint64_t next = 0;
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-watch");
    while (!atomic_load_explicit(&mr_engine.stop, memory_order_relaxed)) {
        uint32_t heard = atomic_load_explicit(&mr_engine.monitor_bell, memory_order_relaxed);
        uint64_t now = mr_clock_ns(), rest = UINT64_MAX;
        if (atomic_load_explicit(&mr_progress_watched, memory_order_relaxed)) {
            if (now >= next)
                next = now + mr_stall_look();
            if (atomic_load_explicit(&mr_progress_watched, memory_order_relaxed))
                rest = next > now ? next - now : 1;
        }
        mr_lock_take(&mr_engine.lock);
        struct mr_call call = look(&watch);
        bool armed = mr_engine.monitor_armed;
        mr_lock_drop(&mr_engine.lock);
        mr_call_make(call);
        tell_full(&watch);
        if (!armed)
            watch.calm = 0;
        mr_futex_wait(&mr_engine.monitor_bell, heard, armed && rest > TICK_NS ? TICK_NS : rest);
    }
    return NULL;
}

void mr_monitor_wake(void)
{
    MR_MAY_WAIT();
    mr_lock_take(&mr_engine.lock);
    bool make = !mr_engine.monitor_made;
    mr_engine.monitor_made = true;
    mr_lock_drop(&mr_engine.lock);
    if (!make) {
        atomic_fetch_add_explicit(&mr_engine.monitor_bell, 1, memory_order_relaxed);
        mr_futex_wake(&mr_engine.monitor_bell, 1);
        return;
    }
    int error = mr_thread_start(monitor_main, NULL);
    if (error == 0)
        return;
    mr_log(MR_LOG_WARN,
           "cannot start the monitor thread (errno %d); kernels that wait for each other may not make progress", error);
    mr_lock_take(&mr_engine.lock);
    mr_engine.monitor_made = mr_engine.monitor_armed = false;
    mr_lock_drop(&mr_engine.lock);
}
