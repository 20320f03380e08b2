/* SPDX-License-Identifier: Apache-2.0 */
/* Events and whole contexts: an event that stands for all work of a context, and an event that all work to come waits
 * for.
 *
 * To record, every busy stream gets a record behind what it has, and a stream made for the purpose waits for all of
 * them and then records the event. The records are put in without the default-stream rules: what they stand behind is
 * what the streams have, and nothing later waits for anything.
 *
 * To hold a context up, every stream it has gets a wait, and so does every stream that is made while the event is
 * pending: its legacy stream's record keeps the marks. (Driver API manual, cuCtxRecordEvent, cuCtxWaitEvent.) */
#include "base/alloc.h"
#include "base/log.h"
#include "object/context.h"
#include "stream/stream_private.h"

/* Puts a record in the stream unless it is idle; the wait that goes with it is added to the chain at *end. False when
 * memory is short. */
static bool capture(struct mr_stream *stream, struct mr_command ***end)
{
    struct mr_command *record, *wait;
    bool done = true;
    mr_lock_take(&stream->lock);
    if (!mr_stream_idle(stream)) {
        done = mr_stream_make_pair(stream, NULL, &record, &wait);
        if (done) {
            struct mr_put put = mr_stream_put(stream, record);
            mr_call_make(put.call);
            wait->next = NULL;
            **end = wait;
            *end = &wait->next;
        }
    }
    mr_lock_drop(&stream->lock);
    return done;
}

/* Submits the waits of a chain; frees them all, whatever happens. */
static CUresult submit_chain(struct mr_stream *stream, struct mr_command *chain, CUresult status)
{
    while (chain) {
        struct mr_command *wait = chain;
        chain = wait->next;
        if (status == CUDA_SUCCESS)
            status = mr_stream_submit(stream, wait);
        else
            mr_command_free(wait);
    }
    return status;
}

CUresult mr_context_record(struct mr_context *context, struct mr_event *event)
{
    struct mr_command *waits = NULL, **end = &waits;
    struct mr_stream *joint = mr_stream_new(context, CU_STREAM_NON_BLOCKING, MR_PRIORITY_GREATEST);
    if (!joint)
        return mr_stream_why_none(context);
    mr_lock_take(&context->order_lock);
    bool done = capture(context->legacy, &end);
    for (struct mr_list *link = context->streams.next; done && link != &context->streams; link = link->next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_stream, link);
        done = stream == joint || capture(stream, &end);
    }
    mr_lock_drop(&context->order_lock);
    CUresult status = submit_chain(joint, waits, done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
    if (status == CUDA_SUCCESS)
        status = mr_stream_record(joint, event);
    (void)mr_stream_destroy(joint);
    return status;
}

/* Drops the marks that are complete. order_lock held. */
static void prune(struct mr_stream *legacy)
{
    MR_HELD(&legacy->context->order_lock);
    size_t kept = 0;
    for (size_t i = 0; i < legacy->held_count; i++)
        if (mr_mark_is_done(legacy->held_by[i]))
            mr_mark_drop(legacy->held_by[i]);
        else
            legacy->held_by[kept++] = legacy->held_by[i];
    legacy->held_count = kept;
}

void mr_stream_forget_waits(struct mr_stream *legacy)
{
    for (size_t i = 0; i < legacy->held_count; i++)
        mr_mark_drop(legacy->held_by[i]);
    mr_free(legacy->held_by);
    legacy->held_by = NULL;
    legacy->held_count = legacy->held_room = 0;
}

bool mr_stream_inherit_waits(struct mr_stream *stream)
{
    struct mr_stream *legacy = stream->context->legacy;
    struct mr_command *waits = NULL, *wait, *record;
    bool done = true;
    mr_lock_take(&stream->context->order_lock);
    prune(legacy);
    for (size_t i = 0; i < legacy->held_count && done; i++) {
        done = mr_stream_make_pair(NULL, legacy->held_by[i], &record, &wait);
        if (done) {
            wait->next = waits;
            waits = wait;
        }
    }
    mr_lock_drop(&stream->context->order_lock);
    CUresult status = submit_chain(stream, waits, done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
    return status != CUDA_ERROR_OUT_OF_MEMORY;
}

/* References to the streams of a context, in an array that is the caller's to free. False when memory is short;
 * order_lock held. */
static bool hold_streams(struct mr_context *context, struct mr_stream ***streams, size_t *count)
{
    MR_HELD(&context->order_lock);
    size_t room = 0;
    *streams = NULL;
    *count = 0;
    for (struct mr_list *link = context->streams.next; link != &context->streams; link = link->next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_stream, link);
        if (!mr_array_reserve((void **)streams, &room, *count + 1, sizeof **streams))
            return false;
        if (mr_object_handle(stream) && mr_object_try_hold(stream))
            (*streams)[(*count)++] = stream;
    }
    return true;
}

CUresult mr_context_wait_event(struct mr_context *context, struct mr_event *event)
{
    struct mr_stream *legacy = context->legacy, **streams;
    size_t count;
    CUresult status = CUDA_SUCCESS;
    struct mr_mark *mark = mr_event_mark(event);
    mr_lock_take(&context->order_lock);
    prune(legacy);
    if (mark && !mr_array_reserve((void **)&legacy->held_by, &legacy->held_room, legacy->held_count + 1,
                                  sizeof *legacy->held_by))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    else if (mark)
        legacy->held_by[legacy->held_count++] = mark;
    if (status != CUDA_SUCCESS)
        mr_mark_drop(mark);
    if (!hold_streams(context, &streams, &count))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_drop(&context->order_lock);
    for (size_t i = 0; i < count; i++) {
        if (status == CUDA_SUCCESS)
            status = mr_stream_wait_event(streams[i], event);
        if (status == CUDA_ERROR_INVALID_HANDLE)
            status = CUDA_SUCCESS; /* the stream was destroyed meanwhile */
        mr_object_drop(streams[i]);
    }
    mr_free(streams);
    return status == CUDA_SUCCESS ? mr_stream_wait_event(legacy, event) : status;
}
