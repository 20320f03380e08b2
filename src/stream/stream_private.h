/* SPDX-License-Identifier: Apache-2.0 */
/* The stream's record and what the stream layer's files share.
 *
 * life.c     creation, destruction, default streams, resolving handles
 * queue.c    the queue: submitting, running, going on when a mark completes
 * order.c    what the legacy default stream and the blocking streams owe each other
 * wait.c     threads that wait, and help meanwhile
 * whole.c    events that stand for, or hold up, all of a context
 * depend.c   what a stream's work comes after, for memory pools
 *
 * A stream's state says which thread may touch the head of its queue:
 *   IDLE     nothing queued, no thread runs
 *   READY    the head is work; the task is in the engine's queue, or a thread has just taken it from there
 *   RUNNING  one thread owns the head (or a job does, until its last thread leaves)
 *   BLOCKED  the head waits for a mark, whose completion will move the stream on
 * It changes under the stream's lock only; reading it without the lock answers "was it idle at some moment during this
 * call".
 *
 *     .----------------------- 8 ------------------------.
 *     v                                                  |
 *   IDLE ---------------------- 2 -----------------> RUNNING
 *    | |                                             ^ |  ^ |
 *    | '-------- 1 -------> READY -------- 3 --------' |  | |
 *    |                        ^----------- 5 ----------'  | |
 *    |                                                    | |
 *    '---------- 4 -------> BLOCKED ------ 7 -------------' |
 *                             ^----------- 6 ---------------'
 *
 *   1  mr_stream_put        work is put into an idle stream: the engine gets its task (make_ready)
 *   2  mr_stream_put        short work, which the thread that submits runs itself (mr_stream_run_inline)
 *   3  mr_stream_task_run   a worker takes the task, or in mr_stream_help a thread that waits (own)
 *   4  mr_stream_put        a wait whose mark is pending is put into an idle stream (wait_is_over)
 *   5  let_go               the owner lets go in front of work for another thread, or its turn is over (make_ready)
 *   6  let_go               the owner comes to a wait whose mark is pending (wait_is_over)
 *   7  mr_stream_released   the mark is complete: the thread that completed it becomes the owner (own)
 *   8  refill               the owner has completed its last command, and nothing was queued meanwhile
 *
 * Where the mark of 4 or 6 completes at that very moment, the stream goes back to IDLE or RUNNING in the same section.
 * A record, or a wait whose mark is complete, that is put into an idle stream ends there and then: the stream stays
 * IDLE (mr_stream_put). While a job owns the stream it stays RUNNING; the job's last thread goes on as the owner
 * (mr_stream_job_resume). A build that checks locks looks at each change (set_state in queue.c).
 *
 * Lock order: context->order_lock, legacy stream's lock, other streams' locks, engine's lock (docs/locking.md). */
#ifndef MR_STREAM_PRIVATE_H
#define MR_STREAM_PRIVATE_H

#include <cuda.h>

#include "engine/engine.h"
#include "event/release.h"
#include "stream/stream.h"

enum mr_stream_state { MR_STREAM_IDLE, MR_STREAM_READY, MR_STREAM_RUNNING, MR_STREAM_BLOCKED };

struct mr_stream {
    struct mr_object object;
    struct mr_context *context;        /* counted, except by the legacy stream */
    unsigned flags;                    /* CU_STREAM_NON_BLOCKING or 0 */
    _Atomic int priority;
    uint64_t id;                       /* cuStreamGetId */
    bool is_legacy, is_per_thread;
    _Atomic int sync_policy;           /* CUsynchronizationPolicy */
    _Atomic(struct mr_seat *) seat;    /* while it is captured */
    struct mr_list link;               /* in context->streams, under order_lock */

    mr_lock lock;                      /* guards what follows, except for atomics that are read without it */
    _Atomic int state;                 /* enum mr_stream_state */
    struct mr_command *head, *tail;    /* queued commands, oldest first */
    uint64_t submitted;                /* commands that were put in, ever */
    _Atomic uint64_t load;             /* their weights; changed under `lock` */
    /* What load_done was when a submitter looked last: it looks again only where that isn't enough. */
    _Atomic uint64_t load_seen;
    bool ended; /* destroyed: accepts nothing more; the handle's reference goes when the work is done */
    bool legacy_waits; /* the legacy stream already waits for all that is queued here */
    bool listed; /* in context->busy_blocking or legacy->busy_free; changed under order_lock and `lock` */

    /* The owner's, while the stream is RUNNING; others may read the atomics. A cache line away from what submitters
     * write. */
    _Alignas(64) struct mr_command *mine, *mine_tail; /* taken off the queue, not yet run; oldest first */
    struct mr_command *running; /* what is being run */
    struct mr_turn turn; /* of the worker, while it is one that owns the stream */
    /* Sequence of the first command that isn't done, or of an earlier one; meaningless when IDLE. */
    _Atomic uint64_t oldest;
    _Atomic uint64_t completed; /* commands that are done, of those that were submitted */
    _Atomic uint64_t load_done; /* the weights of these */
    _Atomic uint32_t pulse; /* futex of threads that sleep until `completed` moves */
    _Atomic uint32_t sleepers; /* threads that do, or are about to */

    struct mr_task task;
    struct mr_job job;
    struct mr_release release; /* puts the stream on a thread's list when the mark that it waits for completes */

    /* What it has been made to wait for, oldest first; under `lock`; see depend.c. */
    struct mr_join {
        struct mr_mark *mark; /* counted */
        uint32_t sequence; /* of the wait */
    } *joins;
    size_t join_count, join_room;

    /* Default-stream rules; see order.c. */
    struct mr_list busy_link; /* of the list that `listed` tells; under order_lock */
    uint64_t legacy_seen; /* this stream already waits for the legacy stream's work up to this count */

    /* The legacy stream only. */
    _Atomic uint32_t gate; /* 1: blocking streams must look at the legacy stream before they take work */
    _Atomic uint32_t listed_blocking, listed_free; /* lengths of the two lists; changed under order_lock */
    struct mr_list busy_free; /* non-blocking streams that may have work; under order_lock */
    uint64_t work; /* count of the legacy stream's own submissions */
    uint64_t order_work; /* order_mark stands for the work up to this count */
    struct mr_mark *order_mark; /* completes when that work has; counted */
    struct mr_mark **held_by; /* what new streams of the context wait for (cuCtxWaitEvent); counted, under order_lock */
    size_t held_count, held_room;
};

static inline bool mr_stream_idle(struct mr_stream *stream)
{
    return atomic_load_explicit(&stream->state, memory_order_acquire) == MR_STREAM_IDLE;
}

static inline bool mr_stream_blocking(const struct mr_stream *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

/* What is left to do when all locks are dropped: `inlined` says that the command is the caller's to run
 * (mr_stream_run_inline). */
struct mr_put {
    bool inlined;
    struct mr_call call;
};

/* Puts a command in the stream; lock held. Records and waits may end here and now. */
struct mr_put mr_stream_put(struct mr_stream *stream, struct mr_command *command) __attribute__((warn_unused_result));

/* Drops the stream's lock and does what must follow: wakes sleeping threads, makes the call, gives up the last
 * reference of a destroyed stream, moves on the streams that waited for marks completed meanwhile (unless the caller
 * holds other locks: `nested`; it then calls mr_stream_drain_released later). */
void mr_stream_leave(struct mr_stream *stream, struct mr_call call, bool nested);

/* Runs a command that mr_stream_put left to the caller. Returns its own status. No lock held. */
CUresult mr_stream_run_inline(struct mr_stream *stream, struct mr_command *command) __attribute__((warn_unused_result));

/* The stream that has to complete a pending mark, with a reference; NULL if the mark is complete (then the stream may
 * be gone). */
struct mr_stream *mr_mark_stream(struct mr_mark *mark) __attribute__((warn_unused_result));

/* Remembers a wait that was put in the stream; lock held. */
extern _Atomic bool mr_stream_joins_kept;
void mr_stream_join(struct mr_stream *stream, const struct mr_command *wait);
void mr_stream_joins_end(struct mr_stream *stream);

/* The task's, the job's and the release's functions. */
void mr_stream_released(struct mr_release *release);
void mr_stream_task_run(struct mr_task *task);
void mr_stream_job_resume(struct mr_job *job);

/* Puts a command in with the default-stream rules, and does it if it is to be done inline (then *status is its
 * outcome). On failure nothing was queued, and the command is still the caller's. */
CUresult mr_stream_order(struct mr_stream *stream, struct mr_command *command, CUresult *status)
    __attribute__((warn_unused_result));

/* True if nothing that the stream's work depends on by the default-stream rules is pending: a record made now is
 * complete now. No lock. */
bool mr_stream_quiet(struct mr_stream *stream);

/* A wait for a new mark (or `old`, if not NULL), and, for a new mark, the record that completes it once put into
 * `recorded`. False when memory is short. */
bool mr_stream_make_pair(struct mr_stream *recorded, struct mr_mark *old, struct mr_command **record,
                         struct mr_command **wait) __attribute__((warn_unused_result));

/* Makes a new stream wait for what its context waits for (cuCtxWaitEvent). Nobody else has the stream yet. False when
 * memory is short. */
bool mr_stream_inherit_waits(struct mr_stream *stream) __attribute__((warn_unused_result));

/* Forgets all that a context waits for; its legacy stream's record goes. */
void mr_stream_forget_waits(struct mr_stream *legacy);

/* Takes the stream out of the busy lists; order_lock and the stream's lock held. */
void mr_stream_unlist(struct mr_stream *stream);

/* Helping: runs commands of `stream` on the calling thread for as long as `enough(data)` is false and the head may run
 * here. True if anything was run. No lock held. */
bool mr_stream_help(struct mr_stream *stream, bool (*enough)(void *data), void *data);

/* Waits until no work of the context is left, even if it has failed. */
void mr_context_drain(struct mr_context *context);

#endif
