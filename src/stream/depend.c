/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream's work comes after: fences, and the streams that a stream has waited for.
 *
 * Memory pools hand memory that was freed in one stream to another when the other's next work comes after the free
 * anyhow. To know that, a stream remembers the pending marks that it has been made to wait for (joins), each with its
 * own place in the stream. From there the search goes to the stream that each mark belongs to, up to the mark's place
 * there, and on. A join whose mark has completed says nothing any more: what came before it is complete too. Joins are
 * kept from the first pool allocation of the process on; programs without pools pay a load for each wait. */
#include "base/alloc.h"
#include "memory/mempool.h"
#include "stream/stream_private.h"

_Atomic bool mr_stream_joins_kept;

void mr_stream_keep_joins(void)
{
    if (!atomic_load_explicit(&mr_stream_joins_kept, memory_order_relaxed))
        atomic_store_explicit(&mr_stream_joins_kept, true, memory_order_relaxed);
}

/* Forgets joins whose marks are complete. Lock held. */
static void prune(struct mr_stream *stream)
{
    MR_HELD(&stream->lock);
    size_t kept = 0;
    for (size_t i = 0; i < stream->join_count; i++) {
        if (mr_mark_is_done(stream->joins[i].mark))
            mr_mark_drop(stream->joins[i].mark);
        else
            stream->joins[kept++] = stream->joins[i];
    }
    stream->join_count = kept;
}

void mr_stream_join(struct mr_stream *stream, const struct mr_command *wait)
{
    MR_HELD(&stream->lock);
    if (stream->join_count == stream->join_room) {
        prune(stream);
        size_t wanted = stream->join_count + 1;
        if (wanted * 2 > stream->join_room &&
            !mr_array_reserve((void **)&stream->joins, &stream->join_room, wanted * 2, sizeof *stream->joins) &&
            wanted > stream->join_room)
            return;   /* a missing join costs memory, not order */
    }
    mr_mark_hold(wait->wait.on);
    stream->joins[stream->join_count++] = (struct mr_join){.mark = wait->wait.on, .sequence = (uint32_t)wait->sequence};
}

void mr_stream_joins_end(struct mr_stream *stream)
{
    for (size_t i = 0; i < stream->join_count; i++)
        mr_mark_drop(stream->joins[i].mark);
    mr_free(stream->joins);
    stream->joins = NULL;
    stream->join_count = stream->join_room = 0;
}

/* ---- the search ---- */

/* What the search has found, with a reference to each stream, in the order in which it looks there. */
struct search {
    struct mr_mempool_view *view;
    struct mr_stream *streams[MR_VIEW_MOST];
};

static bool is_later(uint32_t one, uint32_t other)
{
    return (int32_t)(one - other) > 0;
}

/* The work of `stream` up to `sequence` comes before. Takes over the reference. */
static void add(struct search *search, struct mr_stream *stream, uint32_t sequence)
{
    struct mr_mempool_view *view = search->view;
    for (unsigned i = 0; i < view->count; i++) {
        if (view->seen[i].stream == stream->id && !is_later(sequence, view->seen[i].sequence)) {
            mr_object_drop(stream);
            return;
        }
    }
    if (view->count == MR_VIEW_MOST) {
        mr_object_drop(stream);
        return;
    }
    view->seen[view->count].stream = stream->id;
    view->seen[view->count].sequence = sequence;
    search->streams[view->count++] = stream;
}

/* Adds what the stream has waited for up to a place in it. */
static void visit(struct search *search, struct mr_stream *stream, uint32_t sequence)
{
    struct mr_mark *marks[MR_VIEW_MOST];
    unsigned count = 0;
    mr_lock_take(&stream->lock);
    for (size_t i = stream->join_count; i-- > 0 && count < MR_VIEW_MOST;) {
        struct mr_join *join = &stream->joins[i];
        if (is_later(join->sequence, sequence) || mr_mark_is_done(join->mark))
            continue;
        mr_mark_hold(join->mark);
        marks[count++] = join->mark;
    }
    mr_lock_drop(&stream->lock);
    for (unsigned i = 0; i < count; i++) {
        struct mr_stream *source = mr_mark_stream(marks[i]);
        if (source)
            add(search, source, atomic_load_explicit(&marks[i]->sequence, memory_order_relaxed));
        mr_mark_drop(marks[i]);
    }
}

/* By the default-stream rules: the next work of the legacy stream comes after all blocking streams, and theirs after
 * the legacy stream's. */
static void visit_default(struct search *search, struct mr_stream *stream, uint32_t now)
{
    struct mr_context *context = stream->context;
    if (!stream->is_legacy) {
        if (mr_stream_blocking(stream) && mr_object_try_hold(context->legacy))
            add(search, context->legacy, now);
        return;
    }
    mr_lock_take(&context->order_lock);
    for (struct mr_list *link = context->busy_blocking.next; link != &context->busy_blocking; link = link->next) {
        struct mr_stream *busy = MR_CONTAINER(link, struct mr_stream, busy_link);
        if (search->view->count < MR_VIEW_MOST / 2 && mr_object_try_hold(busy))
            add(search, busy, now);
    }
    mr_lock_drop(&context->order_lock);
}

void mr_stream_view(struct mr_stream *stream, struct mr_mempool_view *view)
{
    struct search search = {.view = view};
    uint32_t now = (uint32_t)mr_engine_sequence();
    view->count = 0;
    if (!mr_object_try_hold(stream))    /* destroyed by another thread: nothing comes after anything there */
        return;
    add(&search, stream, now);
    visit_default(&search, stream, now);
    for (unsigned i = 0; i < view->count; i++)
        visit(&search, search.streams[i], view->seen[i].sequence);
    for (unsigned i = 0; i < view->count; i++)
        mr_object_drop(search.streams[i]);
}

/* ---- fences ---- */

CUresult mr_stream_fence(struct mr_stream *stream, struct mr_fence *out)
{
    *out = (struct mr_fence){.stream = stream->id};
    if (__builtin_expect(mr_stream_quiet(stream), 1))
        return mr_context_error(stream->context);
    struct mr_command *command = mr_command_new(MR_COMMAND_RECORD);
    struct mr_mark *mark = mr_mark_new();
    if (!command || !mark) {
        if (command)
            mr_command_free(command);
        if (mark)
            mr_mark_drop(mark);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    command->mark = mark;
    mark->stream = stream;
    mr_mark_hold(mark);
    CUresult status = mr_stream_submit(stream, command);
    if (status != CUDA_SUCCESS) {
        mr_mark_drop(mark);
        return status;
    }
    out->sequence = atomic_load_explicit(&mark->sequence, memory_order_relaxed);
    out->mark = mark;
    return CUDA_SUCCESS;
}

CUresult mr_stream_wait_mark(struct mr_stream *stream, struct mr_mark *mark)
{
    struct mr_command *command = mr_mark_is_done(mark) ? NULL : mr_command_new(MR_COMMAND_WAIT);
    if (!command) {
        CUresult status = mr_mark_is_done(mark) ? mr_context_error(stream->context) : CUDA_ERROR_OUT_OF_MEMORY;
        mr_mark_drop(mark);
        return status;
    }
    command->wait.on = mark;
    return mr_stream_submit(stream, command);
}
