/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: threads that run what is ready.
 *
 * A stream with work at its head hands the engine a struct mr_task (ready); a worker takes the task with the lowest
 * key, oldest work first within a priority, and calls its `run`. A thread that waits may take one particular task
 * instead (helping). What several threads may work on together is a struct mr_job: a launch of many blocks, a long
 * copy or fill, or the run of a graph. Every worker that finds an open job claims a part of it. ("Grid" is a kernel's
 * grid and nothing else.)
 *
 * Workers are as many as the processors while work flows. A thread that runs something that only waits
 * (mr_engine_note_waiting), and a worker that has not come free for long (the monitor), are made up for by extra
 * workers, so that independent streams always make progress.
 *
 * The engine knows no streams: a task and a job carry the functions that it calls. docs/locking.md says which locks
 * are held when. */
#ifndef MR_ENGINE_ENGINE_H
#define MR_ENGINE_ENGINE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/abi.h"
#include "base/list.h"
#include "command/command.h"

struct mr_launch;
struct mr_put_back;
struct mr_told;

#define MR_ENGINE_KEY_NONE UINT64_MAX

#define MR_LEVELS (unsigned)(MR_PRIORITY_LEAST - MR_PRIORITY_GREATEST + 1)

/* What a task is sorted by: priority first, then order of submission. Lower runs first; see queue.c for what keeps low
 * priorities from starving. */
static inline uint64_t mr_engine_key(int priority, uint64_t sequence)
{
    return ((uint64_t)(priority - MR_PRIORITY_GREATEST) << 56) | sequence;
}

/* 0 for the highest priority. */
static inline unsigned mr_engine_level(uint64_t key)
{
    return (unsigned)(key >> 56);
}

/* How many commands a worker runs of one stream before others that wait, of whatever priority, are looked at again; and
 * for how long it goes on while older work of the same priority waits. A stream's next command mostly works on what the
 * last one left in the caches. */
#define MR_TURN 32u
#define MR_TURN_NS 4000000u

/* What a worker has done of one stream, or graph, since it took it up. All zero at the start. */
struct mr_turn {
    uint64_t began; /* when older work was first seen waiting; 0: not yet */
    unsigned ran; /* commands */
};

/* Something ready to run. Its owner keeps it in place while it is queued; fields are guarded by the engine's lock. */
struct mr_task {
    void (*run)(struct mr_task *
                    task); /* called on a worker, no lock held, once for each time that the task was queued and taken */
    uint64_t key;
    uint32_t place; /* in the heap, from 1; 0: not queued */
    uint32_t held; /* among the tasks that are held, from 1; 0: not held (gate.h) */
};

/* Makes room for one more task, so that queueing never fails. False when memory is short. Pair with mr_engine_task_end.
 */
bool mr_engine_task_begin(void) __attribute__((warn_unused_result));
void mr_engine_task_end(void);

/* The next number in the order of submission. */
uint64_t mr_engine_sequence(void);

/* Whom queued work makes the engine call: counts of sleepers to wake and workers to start, and whether to wake the
 * monitor. Decided under the engine's lock, carried out with mr_call_make once the caller has let go of its locks. Must
 * not be lost. */
struct mr_call {
    uint32_t ring : 8, spawn : 8, arm : 8; /* one register, not three bytes by way of the stack */
};
void mr_call_make_slow(struct mr_call call);

static inline void mr_call_make(struct mr_call call)
{
    if (__builtin_expect((call.ring | call.spawn | call.arm) != 0, 0))
        mr_call_make_slow(call);
}

static inline struct mr_call mr_call_both(struct mr_call one, struct mr_call two)
{
    return (struct mr_call){(uint8_t)(one.ring + two.ring), (uint8_t)(one.spawn + two.spawn),
                            (uint8_t)(one.arm | two.arm)};
}

/* Queues a task. The caller may hold the task's own lock; it makes the call afterwards. */
struct mr_call mr_engine_push(struct mr_task *task, uint64_t key) __attribute__((warn_unused_result));

/* Takes the task out of the queue for the caller to run; false if it isn't there (any more). */
bool mr_engine_take(struct mr_task *task);

/* True if a worker that goes on with something of this key should let go: something of a higher priority is queued, or
 * it has had its turn and others wait. Two loads, and a look at the clock if something older waits. */
bool mr_engine_turn_is_over(uint64_t key, struct mr_turn *turn);

/* What threads may work on together: a launch or a long copy or fill in progress, whose blocks or pieces are shared
 * out; or work of several steps, which ends with a call of `resume` (a graph's run, a batch of memory operations) and
 * offers a task of it. A stream embeds one, and so does each step of a graph's run that needs it. */
struct mr_job {
    void (*resume)(struct mr_job *job); /* called by the last thread to leave, if that isn't the one that began it; no
                                             lock held */
    struct mr_launch *launch; /* NULL for a copy or fill */
    const struct mr_command *command; /* the copy or fill */
    struct mr_offspring *offspring; /* what the launch's kernel has launched, while that runs; else NULL */
    struct mr_told *told; /* what an observer is told of it, as long as it runs; else NULL */
    struct mr_grid_workspace workspace; /* of a cooperative launch */
    uint64_t key, total, grain; /* grain: blocks per claim, a starting value; see job.c */
    struct mr_shares *shares; /* of the blocks, or NULL: claimed in order */
    _Atomic uint64_t next; /* first block that is not claimed; with shares, 0 until none is left, then total */
    _Atomic(struct mr_put_back *)
        put_back; /* changed under the engine's lock: blocks that were claimed and came back */
    _Atomic uint32_t inside; /* threads that claim or run blocks */
    _Atomic uint32_t stuck; /* those of them whose blocks do nothing but wait; not of cooperative launches */
    _Atomic int status; /* CUresult; the first fault */
    _Atomic bool open; /* changed under the engine's lock: others may come in */
    bool hot; /* under the engine's lock: workers look for it */
    unsigned helpers; /* under the engine's lock: how many more shall be called all at once */
    struct mr_task *task; /* under the engine's lock: for work of several steps, a task of it that a waiting thread may
                             take (open is set) */
    struct mr_list link; /* under the engine's lock */
};

/* Runs the launch on the calling thread and on threads that join. True when it is complete: *status holds the outcome.
 * False when other threads are still inside: the last of them calls job->resume, and the outcome is in job->status.
 */
bool mr_job_run(struct mr_job *job, struct mr_launch *launch, uint64_t key, CUresult *status)
    __attribute__((warn_unused_result));

/* The same for a copy or fill of more than one piece (mr_transfer_pieces). */
bool mr_job_run_pieces(struct mr_job *job, const struct mr_command *command, uint64_t pieces, uint64_t key,
                       CUresult *status) __attribute__((warn_unused_result));

/* Work of several steps offers a task, queued or not, to threads that wait for the job, or (NULL) takes that back:
 * before the task goes. */
void mr_job_offer(struct mr_job *job, struct mr_task *task);

/* Helps with a job: joins if it is open, runs blocks until none are left, or the task that is offered. False if there
 * was nothing to do. */
bool mr_job_join(struct mr_job *job);

/* Runs a command that is neither a launch nor a record nor a wait nor an async. Faults come back as the status; host
 * functions see mr_in_host_function set. `status` is what a callback is told. */
CUresult mr_command_execute(struct mr_command *command, CUresult status) __attribute__((warn_unused_result));

/* True on the engine's own threads, where host functions may run. */
bool mr_engine_on_worker(void);

/* For threads that wait and cannot do the work themselves: if no worker could be started, tries again. */
void mr_engine_revive(void);

/* Numbers for tests and benchmarks: workers alive, workers beyond the usual number started so far. */
struct mr_engine_numbers {
    unsigned workers, base, extra_started;
};
struct mr_engine_numbers mr_engine_look(void);

#endif
