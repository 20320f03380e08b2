/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait: for a mark, for a stream, for a context.
 *
 * A waiting thread first looks whether it can do what it waits for itself: it takes the stream that will complete the
 * mark out of the engine's queue and runs its commands, one at a time, until the wait is over; if that stream itself
 * waits for another, it goes there. It never runs anything else, for that might not end before the thread goes on: for
 * an event that a node of a graph records it runs nothing, since other nodes of the graph may wait for what the program
 * does next. If somebody else is at work it joins the launch, or waits in the way that the event, the stream or the
 * context asks for.
 * (Driver API manual, CU_CTX_SCHED_*, CU_EVENT_BLOCKING_SYNC.)
 *
 * A program that asks for a blocking wait wants the thread's processor for others, and the thread's own time kept: such
 * a wait doesn't help. It leaves the work to the workers and sleeps, and steps in only where no worker could be
 * started. A synchronous copy is different: there the work is the call's own, and the thread does it, and with it what
 * stands before it, under every policy.
 *
 * What a stream waits for in memory (engine/watch.h) is looked at by the waiting thread as well, while it spins or
 * yields. */
#include <sched.h>

#include "base/chaos.h"
#include "base/clock.h"
#include "base/visit.h"
#include "engine/gate.h"
#include "engine/watch.h"
#include "event/shared.h"
#include "object/context.h"
#include "stream/stream_private.h"

#define SPIN_NS 20000u
#define SLEEP_NS 20000000u      /* then it looks again whether it can help, or the context has failed */
#define HOPS 64
#define GRACE_NS 100000000u     /* for a failed context's work to come to its end */
#define REVIVE_ROUNDS 1024u     /* of a wait that doesn't sleep, between two looks whether there is any worker */

enum policy { POLICY_AUTO, POLICY_SPIN, POLICY_YIELD, POLICY_SLEEP };

struct wait {
    struct mr_mark *mark;       /* what for: a mark, if not NULL; */
    struct mr_stream *stream;   /* else `ticket` commands of a stream */
    uint64_t ticket;
    uint64_t load;              /* or, if not 0, commands of that weight */
    struct mr_mark *hop;        /* on the way there: the mark that a stream in between is blocked on */
    bool stubborn;              /* go on although the context has failed */
    bool own;                   /* for a command of the caller's own */
    struct mr_list link;        /* of `told`, while an observer knows of the wait */
};

static bool is_over(struct wait *wait)
{
    if (wait->mark)
        return mr_mark_is_done(wait->mark);
    if (wait->load)
        return atomic_load_explicit(&wait->stream->load_done, memory_order_acquire) >= wait->load;
    return atomic_load_explicit(&wait->stream->completed, memory_order_acquire) >= wait->ticket;
}

static bool enough(void *data)
{
    struct wait *wait = data;
    return is_over(wait) || (wait->hop && mr_mark_is_done(wait->hop));
}

struct mr_stream *mr_mark_stream(struct mr_mark *mark)
{
    struct mr_stream *stream = mark->stream;
    if (!stream || !mr_object_try_hold(stream))
        return NULL;
    if (!mr_mark_is_done(mark))
        return stream;
    mr_object_drop(stream);
    return NULL;
}

/* The mark that the stream is blocked on, with a reference; NULL if it isn't blocked. */
static struct mr_mark *blocked_on(struct mr_stream *stream)
{
    struct mr_mark *mark = NULL;
    mr_lock_take(&stream->lock);
    if (atomic_load_explicit(&stream->state, memory_order_relaxed) == MR_STREAM_BLOCKED) {
        mark = stream->head->wait.on;
        mr_mark_hold(mark);
    }
    mr_lock_drop(&stream->lock);
    return mark;
}

/* The stream whose commands lead to the mark; the caller's reference. NULL if they are the workers' alone. */
static struct mr_stream *leads_to(struct mr_mark *mark)
{
    return mark->inside && mr_engine_look().workers > 0 ? NULL : mr_mark_stream(mark);
}

/* Tries to get on with it; true if anything was run. */
static bool help(struct wait *wait)
{
    struct mr_stream *stream;
    bool ran = false;
    if (mr_chaos_turn(40))
        return false;
    if (wait->mark) {
        stream = leads_to(wait->mark);
    } else {
        stream = wait->stream;
        mr_object_hold(stream);
    }
    for (int hop = 0; stream && hop < HOPS; hop++) {
        int state = atomic_load_explicit(&stream->state, memory_order_acquire);
        if (state != MR_STREAM_BLOCKED) {
            if (state == MR_STREAM_READY ||
                (state == MR_STREAM_RUNNING && atomic_load_explicit(&stream->job.open, memory_order_relaxed)))
                ran = mr_stream_help(stream, enough, wait);
            break;
        }
        struct mr_mark *mark = blocked_on(stream);
        if (!mark)
            continue;
        mr_object_drop(stream);
        if (wait->hop)
            mr_mark_drop(wait->hop);
        wait->hop = mark;
        stream = leads_to(mark);
    }
    if (stream)
        mr_object_drop(stream);
    if (wait->hop)
        mr_mark_drop(wait->hop);
    wait->hop = NULL;
    return ran;
}

static enum policy choose_policy(const struct mr_context *context, unsigned event_flags, int sync_policy)
{
    if (event_flags & CU_EVENT_BLOCKING_SYNC)
        return POLICY_SLEEP;
    switch (sync_policy) {
    case CU_SYNC_POLICY_SPIN:
        return POLICY_SPIN;
    case CU_SYNC_POLICY_YIELD:
        return POLICY_YIELD;
    case CU_SYNC_POLICY_BLOCKING_SYNC:
        return POLICY_SLEEP;
    default:
        break;
    }
    switch (context->flags & CU_CTX_SCHED_MASK) {
    case CU_CTX_SCHED_SPIN:
        return POLICY_SPIN;
    case CU_CTX_SCHED_YIELD:
        return POLICY_YIELD;
    case CU_CTX_SCHED_BLOCKING_SYNC:
        return POLICY_SLEEP;
    default:
        return POLICY_AUTO;
    }
}

static void sleep_on(struct wait *wait)
{
    mr_engine_revive();
    if (wait->mark) {
        mr_mark_sleep(wait->mark, SLEEP_NS);
        return;
    }
    struct mr_stream *stream = wait->stream;
    atomic_fetch_add(&stream->sleepers, 1);
    uint32_t heard = atomic_load_explicit(&stream->pulse, memory_order_acquire);
    (void)atomic_load(
        &stream->completed); /* whose change follows that of load_done, and comes before a look for sleepers */
    if (!is_over(wait))
        mr_futex_wait(&stream->pulse, heard, SLEEP_NS);
    atomic_fetch_sub_explicit(&stream->sleepers, 1, memory_order_relaxed);
}

/* The context's sticky error ends a wait early, unless it is stubborn; but not while the work would still end by itself
 * soon: blocks that run stop at the next look, commands behind them are left out. The program hears of the failure and
 * tidies up when kernels are at rest. `failed`: when it was seen. */
static bool gives_up(const struct wait *wait, struct mr_context *context, uint64_t *failed)
{
    if (__builtin_expect(mr_context_error(context) == CUDA_SUCCESS, 1) || wait->stubborn)
        return false;
    uint64_t now = mr_clock_ns();
    if (*failed == 0)
        *failed = now;
    return now - *failed > GRACE_NS;
}

/* Where an observer says what may begin, workers alone run works, as long as there are any. */
static bool may_help(const struct wait *wait, enum policy policy)
{
    if (mr_gate_on())
        return mr_engine_look().workers == 0;
    return policy != POLICY_SLEEP || wait->own || mr_engine_look().workers == 0;
}

/* The waits that were told to an observer which says what may begin. */
static mr_lock told_lock = MR_LOCK_INIT(WAITERS);
static struct mr_list told = {&told, &told};

__attribute__((noinline, cold)) static void tell_begin(struct wait *wait)
{
    struct mr_stream *stream = wait->mark ? mr_mark_stream(wait->mark) : wait->stream;
    mr_lock_take(&told_lock);
    mr_list_append(&told, &wait->link);
    mr_lock_drop(&told_lock);
    mr_observer.waits(true, stream ? stream->id : 0);
    if (stream && wait->mark)
        mr_object_drop(stream);
}

__attribute__((noinline, cold)) static void tell_end(struct wait *wait)
{
    mr_observer.waits(false, 0);
    mr_lock_take(&told_lock);
    mr_list_remove(&wait->link);
    mr_lock_drop(&told_lock);
    mr_gate_note_change(); /* the engine didn't rest until now */
}

bool mr_stream_wait_is_over(void)
{
    bool found = false;
    mr_lock_take(&told_lock);
    for (struct mr_list *link = told.next; link != &told && !found; link = link->next)
        found = is_over(MR_CONTAINER(link, struct wait, link));
    mr_lock_drop(&told_lock);
    return found;
}

/* The wait itself. The caller holds the context, and the stream that it is for. The thread leaves its visit meanwhile,
 * so what the calls above found without a reference isn't theirs any more. */
static void wait_for(struct wait *wait, struct mr_context *context, enum policy policy)
{
    uint64_t since = 0, failed = 0;
    struct mr_visit_paused visit = mr_visit_pause();
    unsigned rounds = 0;
    bool observed = mr_gate_on();
    if (observed)
        tell_begin(wait);
    while (!is_over(wait) && !gives_up(wait, context, &failed)) {
        if (may_help(wait, policy) && help(wait)) {
            since = 0;
            continue;
        }
        if (++rounds % REVIVE_ROUNDS == 0)
            mr_engine_revive();
        if (policy == POLICY_SLEEP) {
            sleep_on(wait);
        } else if (policy == POLICY_YIELD) {
            mr_watch_ring();
            sched_yield();
        } else {
            mr_watch_ring();
            for (int i = 0; i < 16 && !is_over(wait); i++)
                mr_pause();
            uint64_t now = policy == POLICY_AUTO ? mr_clock_ns() : 0;
            if (since == 0)
                since = now;
            else if (policy == POLICY_AUTO && now - since > SPIN_NS)
                sleep_on(wait);
        }
    }
    if (observed)
        tell_end(wait);
    mr_visit_resume(visit);
}

CUresult mr_mark_wait(struct mr_mark *mark, struct mr_context *context, unsigned event_flags)
{
    CUresult status = mr_context_error(context);
    if (!mr_mark_is_done(mark) && mr_object_try_hold(context)) {
        struct wait wait = {.mark = mark};
        wait_for(&wait, context, choose_policy(context, event_flags, CU_SYNC_POLICY_AUTO));
        status = mr_context_error(context);
        mr_object_drop(context);
    }
    return status;
}

/* The caller holds stream and context. */
static CUresult wait_ticket(struct mr_stream *stream, uint64_t ticket, bool stubborn)
{
    struct mr_context *context = stream->context;
    struct wait wait = {.stream = stream, .ticket = ticket, .stubborn = stubborn};
    if (!is_over(&wait))
        wait_for(&wait, context, choose_policy(context, 0, mr_stream_sync_policy(stream)));
    return mr_context_error(context);
}

__attribute__((noinline, cold)) static void hold_back(struct mr_stream *stream, uint64_t load)
{
    struct mr_context *context = stream->context;
    uint64_t done = atomic_load_explicit(&stream->load_done, memory_order_acquire);
    atomic_store_explicit(&stream->load_seen, done, memory_order_relaxed);
    uint32_t most = atomic_load_explicit(&context->stream_most, memory_order_relaxed);
    if (load <= done + most)
        return;
    if (mr_in_host_function || mr_engine_on_worker() || !mr_object_try_hold(context))
        return;
    if (mr_object_try_hold(stream)) {
        struct wait wait = {.stream = stream, .load = load - most / 2};
        wait_for(&wait, context, choose_policy(context, 0, mr_stream_sync_policy(stream)));
        mr_object_drop(stream);
    }
    mr_object_drop(context);
}

void mr_stream_hold_back(struct mr_stream *stream)
{
    uint64_t load = atomic_load_explicit(&stream->load, memory_order_relaxed);
    uint32_t most = atomic_load_explicit(&stream->context->stream_most, memory_order_relaxed);
    if (__builtin_expect(load > atomic_load_explicit(&stream->load_seen, memory_order_relaxed) + most, 0))
        hold_back(stream, load);
}

CUresult mr_stream_submit(struct mr_stream *stream, struct mr_command *command)
{
    mr_chaos_point();
    CUresult status = mr_context_error(stream->context), outcome = CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = mr_stream_order(stream, command, &outcome);
    if (status == CUDA_SUCCESS)
        return outcome;
    mr_command_free(command);
    return status;
}

CUresult mr_stream_submit_wait(struct mr_stream *stream, struct mr_command *command)
{
    struct mr_context *context = stream->context;
    if (!command->mark && !(command->mark = mr_mark_new())) {
        mr_command_free(command);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct mr_mark *mark = command->mark;
    mark->stream = stream;
    mr_mark_hold(mark);
    CUresult status = mr_stream_submit(stream, command);
    bool waits = status == CUDA_SUCCESS && !mr_mark_is_done(mark) && mr_object_try_hold(context);
    if (waits) {
        /* To the very end, also in a failed context: another thread may be copying from or to the caller's memory. */
        struct wait wait = {.mark = mark, .stubborn = true, .own = true};
        wait_for(&wait, context, choose_policy(context, 0, CU_SYNC_POLICY_AUTO));
    } else {
        while (status == CUDA_SUCCESS && !mr_mark_is_done(mark))
            mr_pause(); /* the context has just lost its last stream: the mark is about to be complete */
    }
    if (status == CUDA_SUCCESS)
        status = (CUresult)mark->status;
    if (waits)
        mr_object_drop(context);
    mr_mark_drop(mark);
    return status;
}

CUresult mr_stream_record(struct mr_stream *stream, struct mr_event *event)
{
    bool timed = !(event->flags & CU_EVENT_DISABLE_TIMING);
    if (__builtin_expect(mr_stream_quiet(stream), 1)) {
        mr_event_set_stamp(event, timed ? mr_clock_ns() : MR_STAMP_UNTIMED);
        return mr_context_error(stream->context);
    }
    struct mr_ticket ticket;
    struct mr_command *command = mr_command_new(MR_COMMAND_RECORD);
    struct mr_mark *mark = mr_mark_new();
    CUresult status = command && mark ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (mark)
        mark->stream = stream;
    if (status == CUDA_SUCCESS)
        status = mr_event_announce(event, mark, &ticket);
    if (status != CUDA_SUCCESS) {
        if (command)
            mr_command_free(command);
        if (mark)
            mr_mark_drop(mark);
        return status;
    }
    command->record.timed = timed;
    command->mark = mark;
    mr_mark_hold(mark);
    status = mr_stream_submit(stream, command);
    if (status == CUDA_SUCCESS) {
        mr_event_publish(event, mark, ticket);
    } else {
        mr_mark_complete(mark, status, 0); /* what was announced elsewhere is over */
        mr_mark_drop(mark);
    }
    return status;
}

CUresult mr_stream_wait_event(struct mr_stream *stream, struct mr_event *event)
{
    struct mr_mark *mark = mr_event_mark(event);
    if (!mark)
        return mr_context_error(stream->context);
    struct mr_command *command = mark->stream == stream ? NULL : mr_command_new(MR_COMMAND_WAIT);
    if (!command) {
        bool own = mark->stream == stream;
        mr_mark_drop(mark);
        return own ? mr_context_error(stream->context) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    command->wait.on = mark;
    return mr_stream_submit(stream, command);
}

/* A stream that may still have work submitted before `limit`, with a reference, and what to wait for; NULL if there is
 * none. Idle streams are taken off the list on the way. order_lock held. */
static struct mr_stream *find_busy(struct mr_list *list, uint64_t limit, uint64_t *ticket)
{
    struct mr_stream *found = NULL;
    for (struct mr_list *link = list->next, *next; link != list && !found; link = next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_stream, busy_link);
        MR_HELD(&stream->context->order_lock);
        next = link->next;
        mr_lock_take(&stream->lock);
        if (mr_stream_idle(stream)) {
            mr_stream_unlist(stream);
        } else if (atomic_load_explicit(&stream->oldest, memory_order_relaxed) < limit && mr_object_try_hold(stream)) {
            *ticket = stream->submitted;
            found = stream;
        }
        mr_lock_drop(&stream->lock);
    }
    return found;
}

bool mr_stream_is_done(struct mr_stream *stream)
{
    bool idle = mr_stream_idle(stream);
    if (!idle) {
        mr_lock_take(&stream->lock);
        idle = mr_stream_idle(stream);
        mr_lock_drop(&stream->lock);
    }
    if (!stream->is_legacy || !idle || atomic_load_explicit(&stream->listed_blocking, memory_order_acquire) == 0)
        return idle;
    uint64_t ticket;
    struct mr_context *context = stream->context;
    mr_lock_take(&context->order_lock);
    struct mr_stream *busy = find_busy(&context->busy_blocking, UINT64_MAX, &ticket);
    mr_lock_drop(&context->order_lock);
    if (busy)
        mr_object_drop(busy);
    return !busy;
}

/* Waits for all work submitted before `limit` on the listed streams. */
static CUresult drain_lists(struct mr_context *context, bool also_free, bool stubborn)
{
    uint64_t limit = mr_engine_sequence(), ticket;
    for (;;) {
        mr_lock_take(&context->order_lock);
        struct mr_stream *stream = find_busy(&context->busy_blocking, limit, &ticket);
        if (!stream && also_free)
            stream = find_busy(&context->legacy->busy_free, limit, &ticket);
        mr_lock_drop(&context->order_lock);
        if (!stream)
            return mr_context_error(context);
        CUresult status = wait_ticket(stream, ticket, stubborn);
        mr_object_drop(stream);
        if (status != CUDA_SUCCESS && !stubborn)
            return status;
    }
}

/* Waits for what the stream itself has now. */
static CUresult drain_queue(struct mr_stream *stream, bool stubborn)
{
    mr_lock_take(&stream->lock);
    uint64_t ticket = stream->submitted;
    mr_lock_drop(&stream->lock);
    return wait_ticket(stream, ticket, stubborn);
}

static bool has_listed(struct mr_stream *stream)
{
    return stream->is_legacy && atomic_load_explicit(&stream->listed_blocking, memory_order_acquire) != 0;
}

CUresult mr_stream_synchronize(struct mr_stream *stream)
{
    struct mr_context *context = stream->context;
    if (mr_stream_idle(stream) && !has_listed(stream))
        return mr_context_error(context);
    /* A stream that has gone since it was found has no work left. */
    if (!mr_object_try_hold(context))
        return mr_context_error(context);
    CUresult status = CUDA_SUCCESS;
    if (mr_object_try_hold(stream)) {
        status = drain_queue(stream, false);
        if (status == CUDA_SUCCESS && has_listed(stream))
            status = drain_lists(context, false, false);
        mr_object_drop(stream);
    }
    if (status == CUDA_SUCCESS)
        status = mr_context_error(context);
    mr_object_drop(context);
    return status;
}

static CUresult synchronize(struct mr_context *context, bool stubborn)
{
    struct mr_stream *legacy = context->legacy;
    if (!mr_stream_idle(legacy)) {
        CUresult status = drain_queue(legacy, stubborn);
        if (status != CUDA_SUCCESS && !stubborn)
            return status;
    }
    if (atomic_load_explicit(&legacy->listed_blocking, memory_order_acquire) != 0 ||
        atomic_load_explicit(&legacy->listed_free, memory_order_acquire) != 0)
        return drain_lists(context, true, stubborn);
    return mr_context_error(context);
}

CUresult mr_context_synchronize(struct mr_context *context)
{
    if (!mr_object_try_hold(context))
        return mr_context_error(context);
    CUresult status = synchronize(context, false);
    mr_object_drop(context);
    return status;
}

void mr_context_drain(struct mr_context *context)
{
    (void)synchronize(context, true);
}
