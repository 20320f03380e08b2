/* SPDX-License-Identifier: Apache-2.0 */
/* The default-stream rules: what the legacy stream and the blocking streams of its context owe each other, at a cost
 * that doesn't grow with idle streams. (Driver API manual, Stream synchronization behavior.)
 *
 * Work on the legacy stream waits for everything earlier on the context's blocking streams. So that it needn't look at
 * them all, a blocking stream is on a list (`listed`) from its first command on, until somebody finds it idle there and
 * takes it off: each command pays for at most one visit. A busy stream gets a record behind what it has, and the legacy
 * stream a wait for that (`legacy_waits` saves the pair if nothing came since).
 *
 * Work on a blocking stream waits for everything earlier on the legacy stream. `gate` is 1 from the first legacy
 * command on until a blocking stream finds the legacy stream idle: while it is 0, a listed stream takes work under its
 * own lock alone. Otherwise it puts a record in the legacy stream and a wait for it in itself; `legacy_seen` and
 * `order_mark` keep several of those from piling up.
 *
 * All waits are collected before anything is published, with order_lock held, so two streams never wait for each other.
 * Calls that no thread has put in order come in either order, but never overlap: a listed stream looks at the gate
 * under its own lock, under which a wait for it is collected, and is listed under the legacy stream's lock, under which
 * that looks at the list.
 *
 * The thread that finds the gate at 0, or the list empty, need not be the one that saw the streams idle. So both are
 * stored with release and loaded with acquire: what those streams did is there for it as well.
 *
 * Non-blocking streams are listed too, on a list of their own, for cuCtxSynchronize only. */
#include "base/clock.h"
#include "base/log.h"
#include "object/context.h"
#include "stream/stream_private.h"

void mr_stream_unlist(struct mr_stream *stream)
{
    MR_HELD(&stream->context->order_lock);
    MR_HELD(&stream->lock);
    if (!stream->listed)
        return;
    struct mr_stream *legacy = stream->context->legacy;
    stream->listed = false;
    mr_list_remove(&stream->busy_link);
    atomic_fetch_sub_explicit(mr_stream_blocking(stream) ? &legacy->listed_blocking : &legacy->listed_free, 1,
                              memory_order_release);
}

static void enlist(struct mr_stream *stream)
{
    MR_HELD(&stream->context->order_lock);
    MR_HELD(&stream->lock);
    if (stream->listed || stream->is_legacy)
        return;
    struct mr_stream *legacy = stream->context->legacy;
    stream->listed = true;
    mr_list_append(mr_stream_blocking(stream) ? &stream->context->busy_blocking : &legacy->busy_free,
                   &stream->busy_link);
    atomic_fetch_add_explicit(mr_stream_blocking(stream) ? &legacy->listed_blocking : &legacy->listed_free, 1,
                              memory_order_release);
}

bool mr_stream_quiet(struct mr_stream *stream)
{
    if (!mr_stream_idle(stream))
        return false;
    if (stream->is_legacy)
        return atomic_load_explicit(&stream->listed_blocking, memory_order_acquire) == 0;
    struct mr_stream *legacy = stream->context->legacy;
    return !mr_stream_blocking(stream) || atomic_load_explicit(&legacy->gate, memory_order_acquire) == 0 ||
           mr_stream_idle(legacy);
}

bool mr_stream_make_pair(struct mr_stream *recorded, struct mr_mark *old, struct mr_command **record,
                         struct mr_command **wait)
{
    *record = NULL;
    *wait = mr_command_new(MR_COMMAND_WAIT);
    if (!*wait)
        return false;
    if (old) {
        mr_mark_hold(old);
        (*wait)->wait.on = old;
        return true;
    }
    struct mr_mark *mark = (*wait)->wait.on = mr_mark_new();
    *record = mark ? mr_command_new(MR_COMMAND_RECORD) : NULL;
    if (!*record) {
        mr_command_free(*wait);
        return false;
    }
    mark->stream = recorded;
    mr_mark_hold(mark);
    (*record)->mark = mark;
    (*record)->trails = true;
    return true;
}

/* Finishes what putting a command left to do, all locks dropped. */
static void conclude(struct mr_stream *stream, struct mr_command *command, struct mr_put put, CUresult *status)
{
    if (put.inlined)
        *status = mr_stream_run_inline(stream, command);
    mr_stream_drain_released();
}

/* Makes `stream` wait for what the legacy stream has; legacy's lock and order_lock held. The wait goes to *wait, NULL
 * if none is needed. */
static bool wait_for_legacy(struct mr_stream *stream, struct mr_stream *legacy, struct mr_command **wait)
{
    MR_HELD(&legacy->context->order_lock);
    MR_HELD(&legacy->lock);
    *wait = NULL;
    if (atomic_load_explicit(&legacy->gate, memory_order_relaxed) == 0)
        return true;
    if (mr_stream_idle(legacy)) {
        atomic_store_explicit(&legacy->gate, 0, memory_order_release);
        return true;
    }
    if (stream->legacy_seen == legacy->work)
        return true;
    bool reuse = legacy->order_mark && legacy->order_work == legacy->work;
    struct mr_command *record;
    if (!mr_stream_make_pair(legacy, reuse ? legacy->order_mark : NULL, &record, wait))
        return false;
    if (record) {
        if (legacy->order_mark)
            mr_mark_drop(legacy->order_mark);
        legacy->order_mark = record->mark;
        mr_mark_hold(record->mark);
        legacy->order_work = legacy->work;
        struct mr_put put = mr_stream_put(legacy, record);
        mr_call_make(put.call);
    }
    return true;
}

/* A stream that isn't listed, or has to look at the legacy stream. */
static CUresult order_slow(struct mr_stream *stream, struct mr_command *command, CUresult *status)
{
    struct mr_context *context = stream->context;
    struct mr_stream *legacy = context->legacy;
    struct mr_command *wait = NULL;
    struct mr_put put = {0};
    CUresult result = CUDA_SUCCESS;
    bool blocking = mr_stream_blocking(stream);
    if (stream == legacy) /* another thread has ended the stream meanwhile, and its record was taken for this */
        return CUDA_ERROR_INVALID_HANDLE;
    mr_lock_take(&context->order_lock);
    if (blocking)
        mr_lock_take(&legacy->lock);
    mr_lock_take(&stream->lock);
    if (stream->ended || stream->context != context) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (blocking && !wait_for_legacy(stream, legacy, &wait)) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        enlist(stream);
        if (wait) {
            stream->legacy_seen = legacy->work;
            put = mr_stream_put(stream, wait);
        }
        struct mr_put last = mr_stream_put(stream, command);
        put.inlined = last.inlined;
        put.call = mr_call_both(put.call, last.call);
    }
    mr_stream_leave(stream, (struct mr_call){0}, true);
    if (blocking)
        mr_stream_leave(legacy, (struct mr_call){0}, true);
    mr_lock_drop(&context->order_lock);
    mr_call_make(put.call);
    if (result == CUDA_SUCCESS)
        conclude(stream, command, put, status);
    return result;
}

/* Takes idle streams off the list of blocking streams and collects, for each busy one, a wait for what it has.
 * order_lock held. */
static CUresult collect_waits(struct mr_context *context, struct mr_command **waits)
{
    MR_HELD(&context->order_lock);
    struct mr_command **end = waits;
    CUresult result = CUDA_SUCCESS;
    *waits = NULL;
    for (struct mr_list *link = context->busy_blocking.next, *next; link != &context->busy_blocking; link = next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_stream, busy_link);
        next = link->next;
        mr_lock_take(&stream->lock);
        if (mr_stream_idle(stream)) {
            mr_stream_unlist(stream);
        } else if (!stream->legacy_waits) {
            struct mr_command *record;
            if (!mr_stream_make_pair(stream, NULL, &record, end)) {
                *end = NULL;
                result = CUDA_ERROR_OUT_OF_MEMORY;
            } else {
                struct mr_put put = mr_stream_put(stream, record);
                mr_call_make(put.call);
                stream->legacy_waits = true;
                end = &(*end)->next;
                *end = NULL;
            }
        }
        mr_lock_drop(&stream->lock);
        if (result != CUDA_SUCCESS)
            break;
    }
    return result;
}

static CUresult order_legacy(struct mr_stream *legacy, struct mr_command *command, CUresult *status)
{
    struct mr_context *context = legacy->context;
    struct mr_put put = {0};
    mr_lock_take(&legacy->lock);
    if (legacy->ended) {
        mr_lock_drop(&legacy->lock);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (atomic_load_explicit(&legacy->gate, memory_order_relaxed) &&
        atomic_load_explicit(&legacy->listed_blocking, memory_order_acquire) == 0) {
        legacy->work++;
        put = mr_stream_put(legacy, command);
        mr_stream_leave(legacy, put.call, false);
        conclude(legacy, command, put, status);
        return CUDA_SUCCESS;
    }
    mr_lock_drop(&legacy->lock);

    struct mr_command *waits;
    mr_lock_take(&context->order_lock);
    atomic_store_explicit(&legacy->gate, 1, memory_order_release);
    CUresult result = collect_waits(context, &waits);
    mr_lock_take(&legacy->lock);
    /* The context may have ended while no lock was held: its streams are drained then, and its memory is somebody
     * else's. */
    if (legacy->ended)
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    while (waits) {
        struct mr_command *wait = waits;
        waits = wait->next;
        if (legacy->ended) {
            mr_command_free(wait);
            continue;
        }
        put = mr_stream_put(legacy, wait);
        mr_call_make(put.call);
    }
    put = (struct mr_put){0};
    if (result == CUDA_SUCCESS) {
        legacy->work++;
        put = mr_stream_put(legacy, command);
    }
    mr_stream_leave(legacy, (struct mr_call){0}, true);
    mr_lock_drop(&context->order_lock);
    mr_call_make(put.call);
    if (result == CUDA_SUCCESS)
        conclude(legacy, command, put, status);
    else
        mr_stream_drain_released();
    return result;
}

CUresult mr_stream_order(struct mr_stream *stream, struct mr_command *command, CUresult *status)
{
    *status = CUDA_SUCCESS;
    if (stream->is_legacy)
        return order_legacy(stream, command, status);
    mr_lock_take(&stream->lock);
    if (__builtin_expect(stream->listed && !stream->ended &&
                             (!mr_stream_blocking(stream) ||
                              atomic_load_explicit(&stream->context->legacy->gate, memory_order_acquire) == 0),
                         1)) {
        struct mr_put put = mr_stream_put(stream, command);
        mr_stream_leave(stream, put.call, false);
        if (put.inlined)
            *status = mr_stream_run_inline(stream, command);
        return CUDA_SUCCESS;
    }
    mr_lock_drop(&stream->lock);
    return order_slow(stream, command, status);
}
