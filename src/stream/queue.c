/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's queue: putting commands in, running them, and going on.
 *
 * One thread at a time owns the head of a stream (RUNNING). It takes all that is queued at once, under the lock, and
 * then works through what it took without it: completes records, passes waits that are over, runs one command after the
 * other. It lets go when nothing is left (IDLE), when a wait isn't over (BLOCKED), or when the next command is for
 * somebody else to run (READY); what it took and hasn't done goes back to the front.
 *
 * The last command that the owner has is completed under the lock: its mark, the count of completed commands and the
 * state change in one section, so that a thread that has seen the mark complete and then takes the lock finds the
 * stream idle. Records that trail it, which the default-stream rules put there, are completed in the same section: the
 * program doesn't know of them, and must not find the stream busy with them.
 *
 * When a mark completes, the streams that waited for it are put on a list of this thread (notify takes no lock). They
 * are moved on once the thread holds no lock (event/release.h): a chain of ten thousand streams unrolls in a loop. */
#include <assert.h>
#include <limits.h>

#include "base/chaos.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/gate.h"
#include "engine/tell.h"
#include "engine/transfer.h"
#include "engine/watch.h"
#include "event/release.h"
#include "object/context.h"
#include "observe/hooks.h"
#include "stream/stream_private.h"

#define INLINE_BYTES (64u << 10)
#define QUICK_IN_PASSING 64u     /* quick commands that a thread runs which only came to move the stream on */

static bool work(struct mr_stream *stream, struct mr_command *done, CUresult status, bool (*enough)(void *data),
                 void *data);

/* As `enough` of `work`: the thread completes records and passes waits, and runs no command. */
static bool always(void *data)
{
    (void)data;
    return true;
}

static enum mr_stream_state state_of(struct mr_stream *stream)
{
    return (enum mr_stream_state)atomic_load_explicit(&stream->state, memory_order_relaxed);
}

#ifdef MR_LOCKS_CHECKED
/* The changes of stream_private.h's drawing. RUNNING may follow RUNNING: the owner wants to let go in front of a wait,
 * and the wait turns out to be over. */
static bool may_follow(enum mr_stream_state from, enum mr_stream_state to)
{
    switch (from) {
    case MR_STREAM_IDLE:
        return true;
    case MR_STREAM_READY:
        return to == MR_STREAM_RUNNING;
    case MR_STREAM_RUNNING:
        return true;
    case MR_STREAM_BLOCKED:
        return to == MR_STREAM_RUNNING || to == MR_STREAM_IDLE;
    }
    return false;
}
#endif

static void set_state(struct mr_stream *stream, enum mr_stream_state state)
{
    MR_HELD(&stream->lock);
#ifdef MR_LOCKS_CHECKED
    assert(may_follow(state_of(stream), state));
#endif
    atomic_store_explicit(&stream->state, (int)state, memory_order_release);
}

static void append(struct mr_stream *stream, struct mr_command *command)
{
    MR_HELD(&stream->lock);
    command->next = NULL;
    command->sequence = mr_engine_sequence();
    if (stream->tail)
        stream->tail->next = command;
    else
        stream->head = command;
    stream->tail = command;
}

/* Counts a command as done. Threads may sleep for it: see ring_sleepers. */
static void count_completed(struct mr_stream *stream, const struct mr_command *command)
{
    uint64_t done = atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1;
    if (command->weight)
        atomic_store_explicit(&stream->load_done,
                              atomic_load_explicit(&stream->load_done, memory_order_relaxed) + command->weight,
                              memory_order_relaxed);
    atomic_store(&stream->completed, done);
}

/* After count_completed. True if threads sleep until it moves, which the caller must wake. */
static bool ring_sleepers(struct mr_stream *stream)
{
    if (__builtin_expect(atomic_load(&stream->sleepers) == 0, 1))
        return false;
    atomic_fetch_add_explicit(&stream->pulse, 1, memory_order_release);
    return true;
}

/* Waiter function: runs on the thread that completes the mark, perhaps with a stream's lock held. */
static void notify(struct mr_waiter *waiter)
{
    mr_release_add(&MR_CONTAINER(waiter, struct mr_command, wait.waiter)->wait.stream->release);
}

/* True if the wait is over; else the stream is BLOCKED on it. Lock held; the command is the stream's head. */
static bool wait_is_over(struct mr_stream *stream, struct mr_command *command)
{
    MR_HELD(&stream->lock);
    if (mr_mark_is_done(command->wait.on) || mr_context_error(stream->context) != CUDA_SUCCESS)
        return true;
    command->wait.stream = stream;
    command->wait.waiter.notify = notify;
    set_state(stream, MR_STREAM_BLOCKED);
    return !mr_mark_watch(command->wait.on, &command->wait.waiter);
}

/* Completes a command's mark and counts it. The caller frees it, once it holds no lock. */
static void finish(struct mr_stream *stream, struct mr_command *command, CUresult status)
{
    if (command->mark) {
        if (command->kind == MR_COMMAND_RECORD)
            mr_mark_complete(command->mark, mr_context_error(stream->context),
                             command->record.timed ? mr_clock_ns() : 0);
        else
            mr_mark_complete(command->mark, status, 0);
    }
    count_completed(stream, command);
}

/* The owner takes all that is queued. False if that is nothing. Lock held. */
static bool take_queued(struct mr_stream *stream)
{
    MR_HELD(&stream->lock);
    stream->mine = stream->head;
    stream->mine_tail = stream->tail;
    stream->head = stream->tail = NULL;
    return stream->mine != NULL;
}

/* The caller becomes the owner. Lock held. */
static void own(struct mr_stream *stream)
{
    MR_HELD(&stream->lock);
    set_state(stream, MR_STREAM_RUNNING);
    stream->turn = (struct mr_turn){0};
    (void)take_queued(stream);
}

/* What the owner took and hasn't done goes back to the front. Lock held. */
static void give_back(struct mr_stream *stream)
{
    MR_HELD(&stream->lock);
    if (!stream->mine)
        return;
    stream->mine_tail->next = stream->head;
    if (!stream->head)
        stream->tail = stream->mine_tail;
    stream->head = stream->mine;
    stream->mine = NULL;
}

static uint64_t key_of(struct mr_stream *stream, const struct mr_command *command)
{
    return mr_engine_key(__builtin_expect(command->has_priority, 0) ? command->priority : mr_stream_priority(stream),
                         command->sequence);
}

/* Puts the stream, whose head is work, in the engine's queue. Lock held. */
static struct mr_call make_ready(struct mr_stream *stream)
{
    MR_HELD(&stream->lock);
    set_state(stream, MR_STREAM_READY);
    return mr_engine_push(&stream->task, key_of(stream, stream->head));
}

static bool for_worker(const struct mr_command *command)
{
    return command->kind == MR_COMMAND_HOST || command->kind == MR_COMMAND_CALLBACK;
}

static bool is_short(const struct mr_command *command)
{
    size_t most = INLINE_BYTES;
    switch (command->kind) {
    case MR_COMMAND_COPY:
        return command->copy.width <= most && command->copy.height <= most && command->copy.depth <= most &&
               command->copy.width * command->copy.height * command->copy.depth <= most;
    case MR_COMMAND_FILL:
        return command->fill.width <= most && command->fill.height <= most &&
               command->fill.width * command->fill.height * command->fill.element <= most;
    case MR_COMMAND_RELEASE:
        return true;
    case MR_COMMAND_ASYNC:
        return command->async.quick;
    default:
        return false;
    }
}

/* Lock held. */
__attribute__((noinline, cold)) static void tell_bind(struct mr_stream *stream, const struct mr_command *command)
{
    MR_HELD(&stream->lock);
    struct mr_observed_work work;
    if (command->kind == MR_COMMAND_RECORD || command->kind == MR_COMMAND_WAIT)
        return;
    mr_tell_describe(command, stream->id, stream->context, &work);
    mr_observer.bind(&work);
}

struct mr_put mr_stream_put(struct mr_stream *stream, struct mr_command *command)
{
    MR_HELD(&stream->lock);
    struct mr_put put = {0};
    stream->submitted++;
    if (command->weight)
        atomic_store_explicit(&stream->load,
                              atomic_load_explicit(&stream->load, memory_order_relaxed) + command->weight,
                              memory_order_relaxed);
    stream->legacy_waits = false;
    append(stream, command);
    if (command->kind == MR_COMMAND_RECORD && command->mark)
        atomic_store_explicit(&command->mark->sequence, (uint32_t)command->sequence, memory_order_relaxed);
    else if (command->kind == MR_COMMAND_WAIT && atomic_load_explicit(&mr_stream_joins_kept, memory_order_relaxed) &&
             !mr_mark_is_done(command->wait.on))
        mr_stream_join(stream, command);
    if (mr_observes(MR_OBSERVE_CALLS))
        tell_bind(stream, command);
    if (state_of(stream) != MR_STREAM_IDLE)
        return put;
    atomic_store_explicit(&stream->oldest, command->sequence, memory_order_relaxed);
    if (command->kind == MR_COMMAND_RECORD || (command->kind == MR_COMMAND_WAIT && wait_is_over(stream, command))) {
        stream->head = stream->tail = NULL;
        finish(stream, command, CUDA_SUCCESS);
        set_state(stream, MR_STREAM_IDLE);
        mr_command_free(command);
    } else if (is_short(command) && !mr_chaos_turn(30) && !mr_gate_on()) {
        stream->head = stream->tail = NULL;
        stream->running = command;
        set_state(stream, MR_STREAM_RUNNING);
        put.inlined = true;
    } else if (command->kind != MR_COMMAND_WAIT) {
        put.call = make_ready(stream);
    }
    return put;
}

void mr_stream_leave(struct mr_stream *stream, struct mr_call call, bool nested)
{
    MR_HELD(&stream->lock);
    bool over = stream->ended && !stream->is_legacy && state_of(stream) == MR_STREAM_IDLE;
    mr_lock_drop(&stream->lock);
    mr_call_make(call);
    if (nested)
        return;
    if (over)
        mr_object_drop(stream);
    mr_release_all();
}

void mr_stream_released(struct mr_release *release)
{
    struct mr_stream *stream = MR_CONTAINER(release, struct mr_stream, release);
    mr_chaos_point();
    mr_lock_take(&stream->lock);
    own(stream);
    mr_lock_drop(&stream->lock);
    (void)work(stream, NULL, CUDA_SUCCESS, always, NULL);
}

void mr_stream_drain_released(void)
{
    mr_release_all();
}

/* Runs the command, or leaves it if the context has failed. False: its end comes later, from other threads, and the
 * stream is theirs. No lock held. */
static inline __attribute__((always_inline)) bool carry_out(struct mr_stream *stream, struct mr_command *command,
                                                            CUresult *status)
{
    MR_MAY_WAIT();
    mr_chaos_point();
    *status = mr_context_error(stream->context);
    if (*status != CUDA_SUCCESS && command->kind != MR_COMMAND_CALLBACK && command->kind != MR_COMMAND_RELEASE &&
        !(command->kind == MR_COMMAND_ASYNC && command->async.always))
        return true;
    if (command->kind == MR_COMMAND_LAUNCH)
        return mr_job_run(&stream->job, command->launch, key_of(stream, command), status);
    if (command->kind == MR_COMMAND_ASYNC)
        return command->async.begin(command->async.data, key_of(stream, command), &stream->job, status);
    uint64_t pieces = mr_transfer_pieces(command);
    if (pieces > 1)
        return mr_job_run_pieces(&stream->job, command, pieces, key_of(stream, command), status);
    CUresult before = *status;
    *status = mr_command_execute(command, before);
    return true;
}

/* The stream's command has ended, and nobody has learnt of that. */
static void tell_end(struct mr_stream *stream, const struct mr_command *command, CUresult status)
{
    struct mr_told *told = stream->job.told;
    stream->job.told = NULL;
    mr_tell_command(told, command, status);
    mr_tell_end(told, status);
}

__attribute__((noinline, cold)) static bool execute_told(struct mr_stream *stream, struct mr_command *command,
                                                         CUresult *status)
{
    struct mr_observed_work work;
    mr_tell_describe(command, stream->id, stream->context, &work);
    stream->job.told = mr_tell_begin(&work);
    if (!carry_out(stream, command, status))
        return false;
    tell_end(stream, command, *status);
    return true;
}

/* As carry_out; an observer is told. */
static bool execute(struct mr_stream *stream, struct mr_command *command, CUresult *status)
{
    return mr_tells() ? execute_told(stream, command, status) : carry_out(stream, command, status);
}

/* A command that failed on its own, away from the call that submitted it, fails the context. */
static void note_failure(struct mr_stream *stream, const struct mr_command *command, CUresult status)
{
    if (status == CUDA_SUCCESS || mr_context_error(stream->context) != CUDA_SUCCESS)
        return;
    mr_log(MR_LOG_INFO, "%s in stream %llu failed with status %d", mr_command_name(command->kind),
           (unsigned long long)stream->id, (int)status);
    mr_context_fail(stream->context, status);
}

/* True if nothing but records that trail is left of what the owner took. */
static bool only_trails(const struct mr_stream *stream)
{
    const struct mr_command *command = stream->mine;
    while (command && command->trails)
        command = command->next;
    return !command;
}

/* Completes the trailing records that the owner has, puts them on the list, for the caller to free, and returns it.
 * Lock held. */
static struct mr_command *finish_trails(struct mr_stream *stream, struct mr_command *list)
{
    MR_HELD(&stream->lock);
    while (stream->mine) {
        struct mr_command *command = stream->mine;
        stream->mine = command->next;
        finish(stream, command, CUDA_SUCCESS);
        command->next = list;
        list = command;
    }
    return list;
}

/* Ends the section that completes the last command the owner had, except for records that trail it: takes what was
 * queued meanwhile, or goes idle. False if it is idle, and not the caller's any more. No lock held. */
static bool refill(struct mr_stream *stream, struct mr_command *done, CUresult status)
{
    MR_MAY_WAIT();
    mr_lock_take(&stream->lock);
    if (done)
        finish(stream, done, status);
    struct mr_command *trails = finish_trails(stream, NULL);
    bool more = take_queued(stream);
    if (__builtin_expect(more && only_trails(stream), 0)) {
        trails = finish_trails(stream, trails);
        more = false;
    }
    bool wake = ring_sleepers(stream);
    if (!more)
        set_state(stream, MR_STREAM_IDLE);
    mr_stream_leave(stream, (struct mr_call){0}, false);
    if (wake)
        mr_futex_wake(&stream->pulse, INT_MAX); /* a word that stays readable, though the stream may have ended */
    while (trails) {
        struct mr_command *command = trails;
        trails = command->next;
        mr_command_free(command);
    }
    return more;
}

/* Completes a command that isn't the last one the owner has: without the lock. */
static void finish_inner(struct mr_stream *stream, struct mr_command *done, CUresult status)
{
    finish(stream, done, status);
    if (ring_sleepers(stream))
        mr_futex_wake(&stream->pulse, INT_MAX);
    mr_release_all();
}

/* May the command begin? mr_gate_ask's answer. */
__attribute__((noinline, cold)) static uint64_t ask(struct mr_stream *stream, const struct mr_command *command)
{
    struct mr_observed_work work;
    mr_tell_describe(command, stream->id, stream->context, &work);
    return mr_gate_ask(&work);
}

/* The owner lets go in front of a command that is work (for another thread, or with a ticket of the gate, for later) or
 * a wait that isn't over. False if that wait is over after all, and the stream still the caller's. */
static bool let_go(struct mr_stream *stream, const struct mr_command *command, uint64_t ticket)
{
    struct mr_call call = {0};
    mr_lock_take(&stream->lock);
    give_back(stream);
    if (ticket) {
        set_state(stream, MR_STREAM_READY);
        call = mr_gate_hold(&stream->task, key_of(stream, command), ticket);
    } else if (command->kind != MR_COMMAND_WAIT) {
        call = make_ready(stream);
    } else if (wait_is_over(stream, stream->head)) {
        own(stream);
        mr_lock_drop(&stream->lock);
        return false;
    }
    mr_stream_leave(stream, call, false);
    return true;
}

static bool is_passed(const struct mr_stream *stream, const struct mr_command *command)
{
    return command->kind == MR_COMMAND_RECORD ||
           (command->kind == MR_COMMAND_WAIT &&
            (mr_mark_is_done(command->wait.on) || mr_context_error(stream->context) != CUDA_SUCCESS));
}

/* The owner's loop. No lock held; the stream is RUNNING; `done` is a command of it that was just carried out, with
 * `status`, or NULL. Goes on until nothing is left to do here, `enough` says so, or (on a worker, if `enough` is NULL)
 * its turn is over. True if a command was run. */
static bool work(struct mr_stream *stream, struct mr_command *done, CUresult status, bool (*enough)(void *data),
                 void *data)
{
    MR_MAY_WAIT();
    bool worker = mr_engine_on_worker();
    bool ran = false;
    unsigned quick = enough == always && !mr_gate_on() ? QUICK_IN_PASSING : 0;
    for (;;) {
        bool more = true;
        if (only_trails(stream))
            more = refill(stream, done, status);
        else if (done)
            finish_inner(stream, done, status);
        if (done)
            mr_command_free(done);
        if (!more)
            return ran;
        struct mr_command *command = stream->mine;
        done = NULL;
        atomic_store_explicit(&stream->oldest, command->sequence, memory_order_relaxed);
        if (quick > 0 && command->kind == MR_COMMAND_ASYNC && command->async.quick) {
            quick--;
        } else if (!is_passed(stream, command)) {
            uint64_t key = key_of(stream, command), ticket = 0;
            if (command->kind == MR_COMMAND_WAIT || (for_worker(command) && !worker) ||
                (enough ? enough(data)
                        : stream->turn.ran > 0 && (mr_engine_turn_is_over(key, &stream->turn) || mr_chaos_turn(30))) ||
                (mr_gate_on() && (ticket = ask(stream, command)) != 0)) {
                if (let_go(stream, command, ticket))
                    return ran;
                continue;
            }
        }
        stream->mine = command->next;
        done = command;
        if (command->kind == MR_COMMAND_RECORD || command->kind == MR_COMMAND_WAIT)
            continue;
        ran = true;
        stream->turn.ran++;
        stream->running = command;
        if (!execute(stream, command, &status))
            return true;
        mr_chaos_point();
        mr_watch_ring();
        note_failure(stream, command, status);
    }
}

void mr_stream_task_run(struct mr_task *task)
{
    struct mr_stream *stream = MR_CONTAINER(task, struct mr_stream, task);
    mr_lock_take(&stream->lock);
    own(stream);
    mr_lock_drop(&stream->lock);
    (void)work(stream, NULL, CUDA_SUCCESS, NULL, NULL);
}

void mr_stream_job_resume(struct mr_job *job)
{
    struct mr_stream *stream = MR_CONTAINER(job, struct mr_stream, job);
    CUresult status = (CUresult)atomic_load(&job->status);
    if (mr_tells() || __builtin_expect(job->told != NULL, 0))
        tell_end(stream, stream->running, status);
    mr_watch_ring();
    note_failure(stream, stream->running, status);
    /* A worker that left a job last goes on with the stream. Work of several steps ends inside of one of them, on a
     * thread that has other steps to go on with. */
    bool goes_on = mr_engine_on_worker() && stream->running->kind != MR_COMMAND_ASYNC;
    (void)work(stream, stream->running, status, goes_on ? NULL : always, NULL);
}

CUresult mr_stream_run_inline(struct mr_stream *stream, struct mr_command *command)
{
    MR_MAY_WAIT();
    CUresult status;
    if (!execute(stream, command, &status))
        return CUDA_SUCCESS;
    mr_watch_ring();
    (void)work(stream, command, status, always, NULL);
    return status;
}

bool mr_stream_help(struct mr_stream *stream, bool (*enough)(void *data), void *data)
{
    MR_MAY_WAIT();
    mr_lock_take(&stream->lock);
    enum mr_stream_state state = state_of(stream);
    bool mine = state == MR_STREAM_READY && !for_worker(stream->head) && !enough(data) && mr_engine_take(&stream->task);
    if (mine)
        own(stream);
    mr_lock_drop(&stream->lock);
    if (mine)
        return work(stream, NULL, CUDA_SUCCESS, enough, data);
    return state == MR_STREAM_RUNNING && mr_job_join(&stream->job);
}
