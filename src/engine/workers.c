/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: how many there are, how they look for work, how they sleep and are woken.
 *
 * A worker with nothing to do polls for some microseconds, then sleeps. A thread that queues work wakes a sleeper only
 * if nobody polls and nobody is on the way; a worker that takes something up while more is ready passes the call on. So
 * a burst of work wakes one thread after the other, and a single stream of small commands wakes nobody. A job that is
 * known to have work for many calls some at a time, and so does each that comes.
 *
 * When nobody can be woken and the workers are all busy, the monitor is told to watch. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/share.h"
#include "engine/tell.h"
#include "engine/workers.h"
#include "kernel/launch.h"
#include "kernel/progress.h"
#include "observe/hooks.h"

#define POLL_NS 40000u                 /* how long an idle worker polls before it sleeps */
#define PAUSES 4                       /* between two looks: about a quarter of a microsecond */
#define HOLD_LOOKS 4u                  /* how many looks a task is left to the thread that queued it */
#define BUSY_LOOKS 64u                 /* after so many a worker takes what there is, though it is never the same */
#define FAN \
    4u /* how many sleepers one thread wakes for a job: each call to the kernel takes it a microsecond or more */
#define EXTRA_IDLE_NS 100000000u /* how long an extra worker sleeps before it ends */

/* The thread's record, and a pointer to it once it has a number. */
static _Thread_local struct mr_runner runner_record __attribute__((tls_model("initial-exec")));
static _Thread_local struct mr_runner *runner_self __attribute__((tls_model("initial-exec")));
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

/* A runner number that nobody has; the last one is shared if all are taken. Lock held. */
static unsigned take_number(void)
{
    MR_HELD(&mr_engine.lock);
    for (unsigned word = 0; word < sizeof mr_engine.numbers / sizeof *mr_engine.numbers; word++) {
        if (~mr_engine.numbers[word]) {
            unsigned bit = (unsigned)__builtin_ctzll(~mr_engine.numbers[word]);
            mr_engine.numbers[word] |= UINT64_C(1) << bit;
            return word * 64 + bit;
        }
    }
    return 2 * MR_WORKERS_LIMIT;
}

static void end_of_runner(void *data)
{
    struct mr_runner *self = data;
    runner_self = NULL;
    mr_lock_take(&mr_engine.lock);
    mr_list_remove(&self->link);
    if (self->number < 2 * MR_WORKERS_LIMIT)
        mr_engine.numbers[self->number / 64] &= ~(UINT64_C(1) << (self->number % 64));
    mr_lock_drop(&mr_engine.lock);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_of_runner) == 0;
}

struct mr_runner *mr_runner_self(void)
{
    if (__builtin_expect(runner_self != NULL, 1))
        return runner_self;
    pthread_once(&key_once, make_key);
    struct mr_runner *self = &runner_record;
    *self = (struct mr_runner){.number = 2 * MR_WORKERS_LIMIT, .progress = mr_progress_self()};
    /* A number is given back when the thread ends: without a way to hear of that, the thread shares the last one. */
    if (key_made && pthread_setspecific(key, self) == 0) {
        mr_lock_take(&mr_engine.lock);
        self->number = take_number();
        mr_list_append(&mr_engine.runners, &self->link);
        mr_lock_drop(&mr_engine.lock);
    }
    mr_tell_worker = self->number;
    return runner_self = self;
}

bool mr_engine_on_worker(void)
{
    return runner_self && runner_self->is_worker;
}

/* How many workers there should be now: one for each processor, and one more for each that only waits. Lock held. */
static unsigned wanted_workers(void)
{
    MR_HELD(&mr_engine.lock);
    unsigned wanted = mr_engine.base + mr_engine.waiting;
    return wanted < MR_WORKERS_LIMIT ? wanted : MR_WORKERS_LIMIT;
}

static void set_base(void)
{
    struct mr_share share = mr_share_of_machine();
    uint64_t wanted = mr_setting_number(MR_SETTING_WORKERS, share.processors);
    mr_engine.base = wanted < 1 ? 1 : wanted > MR_WORKERS_LIMIT ? MR_WORKERS_LIMIT : (unsigned)wanted;
    mr_engine.stall_ns = mr_setting_number(MR_SETTING_STALL, 0) * 1000000u;
    mr_engine_note_waiting = mr_engine_takeover;
    mr_progress_watch = mr_stall_watch;
}

struct mr_call mr_engine_call_one(unsigned most_workers)
{
    MR_HELD(&mr_engine.lock);
    struct mr_call call = {0};
    if (mr_engine.sleeping > mr_engine.woken) {
        mr_engine.woken++;
        atomic_fetch_add_explicit(&mr_engine.bell, 1, memory_order_relaxed);
        call.ring = 1;
    } else if (mr_engine.workers < most_workers) {
        mr_engine.workers++;
        mr_engine.starting++;
        call.spawn = 1;
    }
    return call;
}

struct mr_call mr_engine_call(void)
{
    MR_HELD(&mr_engine.lock);
    struct mr_call call = {0};
    if (__builtin_expect(mr_engine.base == 0, 0))
        set_base();
    if (mr_engine.spinning + mr_engine.woken + mr_engine.starting > 0)
        return call;
    call = mr_engine_call_one(wanted_workers());
    if (!call.ring && !call.spawn && !mr_engine.monitor_armed) {
        mr_engine.monitor_armed = true;
        call.arm = 1;
    }
    return call;
}

struct mr_call mr_engine_call_for(struct mr_job *job)
{
    MR_HELD(&mr_engine.lock);
    unsigned sleeping = mr_engine.sleeping - mr_engine.woken, count = job->helpers < sleeping ? job->helpers : sleeping;
    count = count < FAN ? count : FAN;
    if (count == 0)
        return mr_engine_call();
    job->helpers -= count;
    mr_engine.woken += count;
    atomic_fetch_add_explicit(&mr_engine.bell, 1, memory_order_relaxed);
    return (struct mr_call){.ring = (uint8_t)count};
}

void mr_call_make_slow(struct mr_call call)
{
    if (call.ring)
        mr_futex_wake(&mr_engine.bell, call.ring);
    for (; call.spawn; call.spawn--)
        mr_worker_start();
    if (call.arm)
        mr_monitor_wake();
}

/* What a polling worker has seen. */
struct look {
    uint64_t first;
    unsigned same, busy;
};

/* One look at the polled words. True if there is something to take up now: a job, or a task that has been first in
 * line for a while, or anything at all if it has been busy for long. */
static bool is_due(struct look *look)
{
    if (!atomic_load_explicit(&mr_engine.ready, memory_order_relaxed)) {
        *look = (struct look){0};
        return false;
    }
    uint64_t first = atomic_load_explicit(&mr_engine.top_key, memory_order_relaxed);
    look->same = first == look->first ? look->same + 1 : 0;
    look->first = first;
    return first == MR_ENGINE_KEY_NONE || look->same >= HOLD_LOOKS || ++look->busy >= BUSY_LOOKS;
}

/* Polls for work with the lock let go. What has just been queued is left alone for a moment: the thread that queued it
 * may queue more, which is then taken together, or wait for it, and is better placed to do it itself. */
static void poll(void)
{
    mr_engine.spinning++;
    mr_lock_drop(&mr_engine.lock);
    if (mr_engine.base > 1) {
        uint64_t end = mr_clock_ns() + POLL_NS;
        struct look look = {0};
        while (!is_due(&look)) {
            for (int i = 0; i < PAUSES; i++)
                mr_pause();
            uint64_t now = mr_clock_ns();
            if (look.busy > 0)
                end = now + POLL_NS;
            else if (now >= end)
                break;
        }
    } else {
        sched_yield();
    }
    mr_lock_take(&mr_engine.lock);
    mr_engine.spinning--;
}

/* Sleeps until called, with the lock let go. False if the worker is one too many and shall end. */
static bool rest(void)
{
    bool extra = mr_engine.workers > mr_engine.base;
    uint32_t heard = atomic_load_explicit(&mr_engine.bell, memory_order_relaxed);
    mr_engine.sleeping++;
    mr_lock_drop(&mr_engine.lock);
    mr_futex_wait(&mr_engine.bell, heard, extra ? EXTRA_IDLE_NS : UINT64_MAX);
    mr_lock_take(&mr_engine.lock);
    mr_engine.sleeping--;
    if (mr_engine.woken > 0) {
        mr_engine.woken--;
        return true;
    }
    return !(extra && mr_engine.workers > mr_engine.base &&
             atomic_load_explicit(&mr_engine.bell, memory_order_relaxed) == heard);
}

/* Tells the observer that the engine rests, with the lock let go, if it does and something has changed: true then. */
static bool tell_rest(void)
{
    MR_HELD(&mr_engine.lock);
    if (!mr_engine.gate.changed || !mr_engine_is_calm())
        return false;
    mr_engine.gate.changed = false;
    mr_engine_publish();
    mr_lock_drop(&mr_engine.lock);
    mr_observer.rest();
    mr_lock_take(&mr_engine.lock);
    return true;
}

static void *worker_main(void *data)
{
    struct mr_runner *self = mr_runner_self();
    (void)data;
    mr_lock_take(&mr_engine.lock);
    mr_engine.starting--;
    self->is_worker = true;
    mr_progress_thread_begin();
    char name[16];
    snprintf(name, sizeof name, "millrace-%u", self->number);
    pthread_setname_np(pthread_self(), name);
    while (!atomic_load_explicit(&mr_engine.stop, memory_order_relaxed)) {
        struct mr_task *task;
        struct mr_job *job;
        if (mr_engine_pick(&task, &job)) {
            struct mr_call call = {0};
            if (atomic_load_explicit(&mr_engine.ready, memory_order_relaxed))
                call = job ? mr_engine_call_for(job) : mr_engine_call();
            if (mr_observes(MR_OBSERVE_ORDER))
                mr_engine.gate.busy++;
            mr_lock_drop(&mr_engine.lock);
            mr_call_make(call);
            if (task)
                task->run(task);
            else
                mr_job_work(job, self);
            mr_lock_take(&mr_engine.lock);
            if (mr_observes(MR_OBSERVE_ORDER)) {
                mr_engine.gate.busy--;
                mr_engine_note_change();
            }
            continue;
        }
        if (mr_observes(MR_OBSERVE_ORDER) && tell_rest())
            continue;
        poll();
        if (!atomic_load_explicit(&mr_engine.ready, memory_order_relaxed) && !rest())
            break;
    }
    mr_engine.workers--;
    mr_lock_drop(&mr_engine.lock);
    return NULL;
}

void mr_worker_start(void)
{
    MR_MAY_WAIT();
    int error = mr_thread_start(worker_main, NULL);
    if (error == 0)
        return;
    mr_lock_take(&mr_engine.lock);
    mr_engine.workers--;
    mr_engine.starting--;
    unsigned left = mr_engine.workers;
    mr_lock_drop(&mr_engine.lock);
    mr_log(left ? MR_LOG_INFO : MR_LOG_WARN, "cannot start a worker thread (errno %d); %u are running", error, left);
}

void mr_engine_revive(void)
{
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    if (mr_engine.workers == 0 && atomic_load_explicit(&mr_engine.ready, memory_order_relaxed))
        call = mr_engine_call();
    mr_lock_drop(&mr_engine.lock);
    mr_call_make(call);
}

void mr_engine_takeover(bool left)
{
    struct mr_runner *self = runner_self;
    if (!self)
        return;
    struct mr_job *job = self->job;
    bool wants = job && mr_job_is_stuck(job, self, left);
    if (self->noted && !wants)
        return;
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    if (self->is_worker && !self->noted)
        mr_engine.waiting++;
    self->noted = true;
    if (mr_observes(MR_OBSERVE_ORDER))
        mr_engine_note_change();
    if (wants && atomic_load_explicit(&job->open, memory_order_relaxed))
        mr_job_heat(job);
    if (atomic_load_explicit(&mr_engine.ready, memory_order_relaxed))
        call = mr_engine_call();
    mr_lock_drop(&mr_engine.lock);
    mr_call_make(call);
}

void mr_runner_settle(struct mr_runner *self)
{
    self->noted = false;
    if (self->stuck)
        (void)mr_job_is_stuck(self->job, self, true);
    if (!self->is_worker)
        return;
    mr_lock_take(&mr_engine.lock);
    mr_engine.waiting--;
    mr_lock_drop(&mr_engine.lock);
}

struct mr_engine_numbers mr_engine_look(void)
{
    mr_lock_take(&mr_engine.lock);
    struct mr_engine_numbers numbers = {mr_engine.workers, mr_engine.base, mr_engine.extra_started};
    mr_lock_drop(&mr_engine.lock);
    return numbers;
}

/* The process ends: no worker takes up anything new. Nobody is waited for: what runs is cut off with the process. */
__attribute__((destructor)) static void end_of_process(void)
{
    atomic_store(&mr_engine.stop, true);
    atomic_fetch_add(&mr_engine.bell, 1);
    mr_futex_wake(&mr_engine.bell, INT_MAX);
}
