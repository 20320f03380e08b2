/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's files share: its state, its threads' records, and which thread looks for work. Private to
 * src/engine. */
#ifndef MR_ENGINE_WORKERS_H
#define MR_ENGINE_WORKERS_H

#include "base/thread.h"
#include "engine/engine.h"

#define MR_WORKERS_LIMIT 4096u

/* A thread that runs commands: a worker, or a program's thread that helps. */
struct mr_runner {
    unsigned number;          /* small, unique among runners alive */
    bool is_worker;
    bool noted;               /* counted in engine.waiting: what it runs only waits */
    bool stuck;               /* also: counted in job->stuck, its block having done nothing else lately */
    struct mr_job *job;     /* the job whose block it runs, or NULL */
    struct mr_progress *progress;      /* of its runs of blocks; may be held as long as the runner is listed */
    _Atomic(struct mr_job *)
        running; /* where blocks go that are taken back from its run; NULL: none can be. Stays while the run is held */
    bool cut; /* blocks were taken back; under the engine's lock */
    struct mr_list link; /* of engine.runners; under its lock */
    struct mr_stall_look { /* under the engine's lock; stall.c's own: at the latest look, */
        uint64_t id, begun, spare, waited, moved; /* what its progress was (0: it ran no blocks), */
        uint64_t since, waits_since, waited_at; /* since when that has not changed, and it has done nothing but wait;
                                                   when it last was seen to wait, */
        uint64_t helped, told; /* when blocks were taken back; the launch that was reported */
        bool seen;
    } look;
};

/* The ready tasks of one priority. */
struct mr_heap {
    struct mr_task **at; /* 1-based binary heap by key */
    size_t room;
    uint32_t count;
    uint32_t passed_over; /* how often something of a higher priority was taken while tasks waited here */
};

/* How often a priority is passed over before it is its turn. */
#define MR_PATIENCE 64u

struct mr_engine {
    mr_lock lock; /* guards all that isn't atomic */
    struct mr_heap levels[MR_LEVELS]; /* ready tasks by priority, the highest first */
    size_t tasks; /* that may be queued */
    struct mr_list jobs; /* open jobs */
    unsigned hot_jobs; /* of them, those that workers look for */
    unsigned base; /* workers while work flows; 0 before the first use */
    unsigned workers, spinning, sleeping;
    unsigned woken; /* of the sleepers, how many were told to wake and haven't looked yet */
    unsigned starting; /* workers that were started and haven't looked yet */
    unsigned waiting; /* workers whose work only waits */
    unsigned in_host; /* workers inside a host function */
    unsigned extra_started;
    _Atomic uint32_t bell; /* futex of sleeping workers */
    uint64_t takes; /* tasks and jobs that workers have taken up */
    _Atomic uint64_t goes_on; /* commands that workers went on with while older work waited */
    _Atomic bool stop; /* the process ends */

    struct mr_list runners; /* threads that run commands */
    /* How often launches are looked at; for how long nothing has to move before workers get at blocks that may wait for
     * each other, and at others. Tests hurry. */
    struct mr_stall_pace {
        uint64_t tick_ns, soon_ns, late_ns, turn_ns /* of a warp that gives way to no other */;
    } stall_pace;
    uint64_t taken_back; /* how often blocks were taken back from a thread */
    uint64_t stall_ns; /* a launch that does nothing but wait for so long is reported; 0: never */
    bool monitor_made, monitor_armed;
    _Atomic uint32_t monitor_bell; /* futex of the resting monitor */

    uint64_t numbers[(2 * MR_WORKERS_LIMIT) / 64]; /* taken runner numbers */

    struct mr_gate { /* only with an observer that says what may begin; gate.c */
        struct mr_task **held;
        size_t room, count;
        uint64_t asked; /* how often the observer has wanted to be asked again */
        unsigned busy; /* workers that run something */
        bool changed; /* something has, since the observer was told that the engine rests */
    } gate;

    /* What threads poll, on a cache line of its own. */
    _Alignas(64) _Atomic uint32_t ready; /* queued + hot_jobs + 1 if the observer is to be told of rest */
    _Atomic uint32_t queued; /* tasks in all heaps */
    _Atomic uint64_t top_key; /* of the task that goes first, or MR_ENGINE_KEY_NONE */
};

extern struct mr_engine mr_engine;

/* With the lock held: calls one more worker, asleep or new, if there may be one. */
struct mr_call mr_engine_call_one(unsigned most_workers);
/* With the lock held: decides which thread looks at ready work, if none does already. */
struct mr_call mr_engine_call(void);
/* The same for a job that has been opened or that the caller has been counted into: as many at once as it still wants.
 * Lock held. */
struct mr_call mr_engine_call_for(struct mr_job *job);

/* Recomputes the polled words. Lock held. */
void mr_engine_publish(void);

/* Puts a task with a key into the heap and calls for a worker. Lock held. */
struct mr_call mr_engine_queue(struct mr_task *task) __attribute__((warn_unused_result));

/* Takes a task out of the heap; false if it isn't there. Lock held. */
bool mr_engine_remove(struct mr_task *task);

/* What a worker does next, if there is anything: a task taken off the heap, or a job into which the caller is counted.
 * Lock held. */
bool mr_engine_pick(struct mr_task **task, struct mr_job **job);

/* The calling thread's record. */
struct mr_runner *mr_runner_self(void);

/* Called by a thread whose block can only wait (through mr_engine_note_waiting): other work gets another thread, and so
 * do the job's other blocks if all blocks under way can only wait. */
void mr_engine_takeover(bool left);
/* Takes that back when the command or chunk has ended; only if self->noted. */
void mr_runner_settle(struct mr_runner *self);

/* Jobs, lock held: the open hot job with unclaimed blocks that goes first, or NULL. */
struct mr_job *mr_job_best(void);
/* Makes an open job one that workers look for. Lock held. */
void mr_job_heat(struct mr_job *job);
/* The caller's block can only wait; `left`: since the latest call, lanes of it have left a loop that waits. Whether
 * another thread shall come in: where blocks may need one another, if all blocks that are under way wait, and none lets
 * lanes go on. (What they wait for is then a block that has not begun. Another thread would only get into the way of
 * those that get on.) A block that changes memory while it waits, and no more, does not get on: it may say that it is
 * alive. */
bool mr_job_is_stuck(struct mr_job *job, struct mr_runner *self, bool left);
/* Counts the caller into a hot job. Workers look for it no longer if that makes as many threads as there are
 * processors. Lock held. */
void mr_job_enter(struct mr_job *job);
/* Runs blocks of a job that the caller has been counted into; leaves, and resumes its stream if it is the last. No
 * lock held. */
void mr_job_work(struct mr_job *job, struct mr_runner *self);

/* Starts the thread that watches for stalled work (monitor.c), or makes it look again. Lock not held. */
void mr_monitor_wake(void);

/* stall.c, on that thread, lock not held, while mr_progress_watched is set: a look at the runs of blocks; how long
 * until the next one. The flag is off when there have been none for a while: a run that begins then calls
 * mr_stall_watch. */
uint64_t mr_stall_look(void);
void mr_stall_watch(void);

/* Blocks first to end - 1 of a job come back from a thread that is inside, for the next that comes in. False when
 * memory is short: then they don't. Lock held. */
bool mr_job_put_back(struct mr_job *job, uint64_t first, uint64_t end) __attribute__((warn_unused_result));
/* Whether there are blocks that are not claimed; whether blocks may wait for each other, as far as is known. */
bool mr_job_has_more(const struct mr_job *job);
bool mr_job_may_wait(const struct mr_job *job);

/* For an observer that says what may begin (gate.h), lock held: something has changed, of which it hears when the
 * engine rests; and whether nothing runs that could change something. */
void mr_engine_note_change(void);
bool mr_engine_is_calm(void);

/* Starts a worker that was counted under the lock (workers.c). Lock not held. */
void mr_worker_start(void);

#endif
