/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's queue: putting commands in, running them, and going on.
 *
 * One thread at a time owns the head of a stream (RUNNING). It completes records, passes waits that are over, runs one command after the other,
 * and lets go when the queue is empty (IDLE), when the head waits for a mark (BLOCKED), or when the head is for somebody else to run (READY).
 *
 * A command's mark, the count of completed commands and the state change in one section under the lock, so that a thread that has seen the mark
 * complete and then takes the lock finds the stream idle.
 *
 * When a mark completes, the streams that waited for it are put on a list of this thread (notify takes no lock). They are moved on once the thread
 * holds no lock, by mr_stream_drain_released, which is not entered twice: a chain of ten thousand streams unrolls in a loop. */
#include <limits.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/transfer.h"
#include "object/context.h"
#include "stream/stream_private.h"

#define INLINE_BYTES (64u << 10)

struct released { struct mr_stream *first, *last; bool draining; };
static _Thread_local struct released released __attribute__((tls_model("initial-exec")));

static void set_state(struct mr_stream *stream, enum mr_stream_state state)
{
    atomic_store_explicit(&stream->state, (int)state, memory_order_release);
}

static enum mr_stream_state state_of(struct mr_stream *stream)
{
    return (enum mr_stream_state)atomic_load_explicit(&stream->state, memory_order_relaxed);
}

static void append(struct mr_stream *stream, struct mr_command *command)
{
    command->next = NULL;
    command->sequence = mr_engine_sequence();
    if (stream->tail)
        stream->tail->next = command;
    else
        stream->head = command;
    stream->tail = command;
}

static struct mr_command *pop(struct mr_stream *stream)
{
    struct mr_command *command = stream->head;
    stream->head = command->next;
    if (!stream->head)
        stream->tail = NULL;
    return command;
}

static void count_completed(struct mr_stream *stream)
{
    uint64_t done = atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1;
    atomic_store_explicit(&stream->completed, done, memory_order_release);
}

/* Waiter function: runs on the thread that completes the mark, perhaps with a stream's lock held. */
static void notify(struct mr_waiter *waiter)
{
    struct mr_stream *stream = MR_CONTAINER(waiter, struct mr_command, wait.waiter)->wait.stream;
    stream->next_released = NULL;
    if (released.last)
        released.last->next_released = stream;
    else
        released.first = stream;
    released.last = stream;
}

/* True if the wait is over; else the stream is BLOCKED on it. Lock held; the command stays where it is. */
static bool wait_is_over(struct mr_stream *stream, struct mr_command *command)
{
    if (mr_mark_is_done(command->wait.on) || mr_context_error(stream->context) != CUDA_SUCCESS)
        return true;
    command->wait.stream = stream;
    command->wait.waiter.notify = notify;
    set_state(stream, MR_STREAM_BLOCKED);
    return !mr_mark_watch(command->wait.on, &command->wait.waiter);
}

static void complete_record(struct mr_stream *stream, struct mr_command *command)
{
    if (command->mark)
        mr_mark_complete(command->mark, mr_context_error(stream->context), command->record.timed ? mr_clock_ns() : 0);
    mr_command_free(command);
    count_completed(stream);
}

/* The owner's step over everything that is no work. True: the head is work, and the stream still the caller's. False: IDLE or BLOCKED. Lock held. */
static bool advance(struct mr_stream *stream)
{
    struct mr_command *command;
    while ((command = stream->head)) {
        if (command->kind == MR_COMMAND_RECORD) {
            complete_record(stream, pop(stream));
        } else if (command->kind == MR_COMMAND_WAIT) {
            if (!wait_is_over(stream, command))
                return false;
            set_state(stream, MR_STREAM_RUNNING);
            mr_command_free(pop(stream));
            count_completed(stream);
        } else {
            return true;
        }
    }
    set_state(stream, MR_STREAM_IDLE);
    return false;
}

/* Puts the stream, whose head is work, in the engine's queue. Lock held. */
static struct mr_call make_ready(struct mr_stream *stream)
{
    set_state(stream, MR_STREAM_READY);
    return mr_engine_push(&stream->task, mr_engine_key(mr_stream_priority(stream), stream->head->sequence));
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
    default:
        return false;
    }
}

struct mr_put mr_stream_put(struct mr_stream *stream, struct mr_command *command)
{
    struct mr_put put = { 0 };
    stream->submitted++;
    stream->captured = false;
    if (state_of(stream) != MR_STREAM_IDLE) {
        append(stream, command);
    } else if (command->kind == MR_COMMAND_RECORD) {
        complete_record(stream, command);
    } else if (command->kind == MR_COMMAND_WAIT) {
        append(stream, command);
        advance(stream);
    } else if (is_short(command)) {
        set_state(stream, MR_STREAM_RUNNING);
        stream->running = command;
        put.inlined = true;
    } else {
        append(stream, command);
        put.call = make_ready(stream);
    }
    return put;
}

void mr_stream_leave(struct mr_stream *stream, struct mr_call call, bool nested)
{
    bool over = stream->ended && state_of(stream) == MR_STREAM_IDLE;
    bool wake = stream->sleepers > 0;
    if (wake)
        atomic_fetch_add_explicit(&stream->pulse, 1, memory_order_relaxed);
    mr_lock_drop(&stream->lock);
    if (wake)
        mr_futex_wake(&stream->pulse, INT_MAX);
    mr_call_make(call);
    if (nested)
        return;
    if (over)
        mr_object_drop(stream);
    if (released.first && !released.draining)
        mr_stream_drain_released();
}

void mr_stream_drain_released(void)
{
    if (released.draining)
        return;
    released.draining = true;
    while (released.first) {
        struct mr_stream *stream = released.first;
        struct mr_call call = { 0 };
        released.first = stream->next_released;
        if (!released.first)
            released.last = NULL;
        mr_lock_take(&stream->lock);
        set_state(stream, MR_STREAM_RUNNING);
        mr_command_free(pop(stream));
        count_completed(stream);
        if (advance(stream))
            call = make_ready(stream);
        mr_stream_leave(stream, call, false);
    }
    released.draining = false;
}

/* Runs the command, or leaves it if the context has failed. False: a grid that other threads are still in. No lock held. */
static bool execute(struct mr_stream *stream, struct mr_command *command, CUresult *status)
{
    *status = mr_context_error(stream->context);
    if (*status != CUDA_SUCCESS && command->kind != MR_COMMAND_CALLBACK && command->kind != MR_COMMAND_RELEASE)
        return true;
    if (command->kind == MR_COMMAND_LAUNCH)
        return mr_grid_run(&stream->grid, command->launch, mr_engine_key(mr_stream_priority(stream), command->sequence), status);
    uint64_t pieces = mr_transfer_pieces(command);
    if (pieces > 1)
        return mr_grid_run_pieces(&stream->grid, command, pieces, mr_engine_key(mr_stream_priority(stream), command->sequence), status);
    CUresult before = *status;
    *status = mr_command_execute(command, before);
    return true;
}

/* Counts the command as done, and its mark complete. Lock held; the caller frees the command later, without the lock. */
static void finish(struct mr_stream *stream, struct mr_command *command, CUresult status)
{
    stream->running = NULL;
    if (command->mark)
        mr_mark_complete(command->mark, status, 0);
    count_completed(stream);
}

/* A command that failed on its own, away from the call that submitted it, fails the context. */
static void note_failure(struct mr_stream *stream, const struct mr_command *command, CUresult status)
{
    if (status == CUDA_SUCCESS || mr_context_error(stream->context) != CUDA_SUCCESS)
        return;
    mr_log(MR_LOG_INFO, "%s in stream %llu failed with status %d", mr_command_name(command->kind), (unsigned long long)stream->id, (int)status);
    mr_context_fail(stream->context, status);
}

/* The owner's loop. Lock held and dropped; the stream is RUNNING. Goes on until nothing is left to do here, `enough` says so, or (on a worker) older work
 * is waiting. True if a command was run. */
static bool work(struct mr_stream *stream, bool (*enough)(void *data), void *data)
{
    bool ran = false, worker = mr_engine_on_worker();
    struct mr_command *done = NULL;
    for (;;) {
        struct mr_call call = { 0 };
        struct mr_command *command = NULL;
        if (advance(stream)) {
            command = stream->head;
            uint64_t key = mr_engine_key(mr_stream_priority(stream), command->sequence);
            if ((for_worker(command) && !worker) || (enough ? enough(data) : ran && mr_engine_has_older(key))) {
                call = make_ready(stream);
                command = NULL;
            } else {
                pop(stream);
                stream->running = command;
            }
        }
        mr_stream_leave(stream, call, false);
        if (done)
            mr_command_free(done);
        if (!command)
            return ran;
        CUresult status;
        ran = true;
        if (!execute(stream, command, &status))
            return true;
        note_failure(stream, command, status);
        mr_lock_take(&stream->lock);
        finish(stream, command, status);
        done = command;
    }
}

void mr_stream_task_run(struct mr_task *task)
{
    struct mr_stream *stream = MR_CONTAINER(task, struct mr_stream, task);
    mr_lock_take(&stream->lock);
    set_state(stream, MR_STREAM_RUNNING);
    work(stream, NULL, NULL);
}

void mr_stream_grid_resume(struct mr_grid *grid)
{
    struct mr_stream *stream = MR_CONTAINER(grid, struct mr_stream, grid);
    struct mr_command *command = stream->running;
    struct mr_call call = { 0 };
    CUresult status = (CUresult)atomic_load(&grid->status);
    note_failure(stream, command, status);
    mr_lock_take(&stream->lock);
    finish(stream, command, status);
    if (advance(stream))
        call = make_ready(stream);
    mr_stream_leave(stream, call, false);
    mr_command_free(command);
}

CUresult mr_stream_run_inline(struct mr_stream *stream, struct mr_command *command)
{
    CUresult status;
    struct mr_call call = { 0 };
    (void)execute(stream, command, &status);
    mr_lock_take(&stream->lock);
    finish(stream, command, status);
    if (advance(stream))
        call = make_ready(stream);
    mr_stream_leave(stream, call, false);
    mr_command_free(command);
    return status;
}

bool mr_stream_help(struct mr_stream *stream, bool (*enough)(void *data), void *data)
{
    bool ran = false;
    mr_lock_take(&stream->lock);
    switch (state_of(stream)) {
    case MR_STREAM_READY:
        if (!for_worker(stream->head) && !enough(data) && mr_engine_take(&stream->task)) {
            set_state(stream, MR_STREAM_RUNNING);
            return work(stream, enough, data);
        }
        break;
    case MR_STREAM_RUNNING:
        mr_lock_drop(&stream->lock);
        return mr_grid_join(&stream->grid);
    case MR_STREAM_IDLE:
    case MR_STREAM_BLOCKED:
        break;
    }
    mr_lock_drop(&stream->lock);
    return ran;
}
