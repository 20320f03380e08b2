/* SPDX-License-Identifier: Apache-2.0 */
/* How streams begin and end, and which stream a handle means.
 *
 * A stream's record lives as long as its handle, then until its work is done. It holds its context. The legacy stream
 * is held by its context instead, and goes with the context's record, so that threads which are late to hear of the
 * context's end still find a stream that refuses them. A thread's own default stream in a context is made when the
 * thread first asks for it, and ends with the thread or the context, whichever is first: the thread remembers handles,
 * not records, so a stream that went with its context is simply not found any more. */
#include <pthread.h>

#include "base/alloc.h"
#include "base/hot.h"
#include "base/log.h"
#include "stream/stream_private.h"

static _Atomic uint64_t next_id = 1;

/* The context has so many more streams: what may wait in each of them. order_lock held. */
static void count_streams(struct mr_context *context, int more)
{
    MR_HELD(&context->order_lock);
    context->stream_count += (uint32_t)more;
    uint32_t most = MR_STREAM_MOST, count = context->stream_count + 1; /* with the legacy one */
    if (count > MR_STREAMS_MOST / MR_STREAM_MOST)
        most = MR_STREAMS_MOST / count > MR_STREAM_LEAST ? MR_STREAMS_MOST / count : MR_STREAM_LEAST;
    atomic_store_explicit(&context->stream_most, most, memory_order_relaxed);
}

static void stream_finish(void *object)
{
    struct mr_stream *stream = object;
    struct mr_context *context = stream->context;
    mr_lock_take(&context->order_lock);
    mr_lock_take(&stream->lock); /* a thread that found the stream before its handle ended may still look at it */
    mr_stream_unlist(stream);
    mr_lock_drop(&stream->lock);
    if (!mr_list_empty(&stream->link)) {
        mr_list_remove(&stream->link);
        count_streams(context, -1);
    }
    mr_lock_drop(&context->order_lock);
    if (stream->order_mark)
        mr_mark_drop(stream->order_mark);
    if (stream->is_legacy)
        mr_stream_forget_waits(stream);
    mr_stream_joins_end(stream);
    mr_engine_task_end();
    if (!stream->is_legacy)
        mr_object_drop(context);
}

static struct mr_stream *stream_new(struct mr_context *context, unsigned flags, int priority, bool is_legacy)
{
    if (!mr_engine_task_begin())
        return NULL;
    struct mr_stream *stream = mr_object_new(MR_KIND_STREAM, sizeof *stream, stream_finish);
    if (!stream) {
        mr_engine_task_end();
        return NULL;
    }
    mr_lock_init(&stream->lock, is_legacy ? MR_LOCK_LEGACY : MR_LOCK_STREAM);
    stream->context = context;
    stream->flags = flags;
    atomic_store_explicit(&stream->priority, mr_priority_clamp(priority), memory_order_relaxed);
    stream->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    stream->is_legacy = is_legacy;
    atomic_store_explicit(&stream->sync_policy, MR_SYNC_POLICY_UNSET, memory_order_relaxed);
    stream->task.run = mr_stream_task_run;
    stream->job.resume = mr_stream_job_resume;
    stream->release.go = mr_stream_released;
    mr_list_init(&stream->link);
    mr_list_init(&stream->busy_link);
    mr_list_init(&stream->busy_free);
    mr_list_init(&stream->job.link);
    if (is_legacy)
        return stream;
    mr_object_hold(context);
    mr_lock_take(&context->order_lock);
    bool late = atomic_load_explicit(&context->destroyed, memory_order_relaxed);
    if (!late) {
        mr_list_append(&context->streams, &stream->link);
        count_streams(context, 1);
    }
    bool held = context->legacy->held_count != 0;
    mr_lock_drop(&context->order_lock);
    if (!late && (!held || mr_stream_inherit_waits(stream)))
        return stream;
    if (late) {
        (void)mr_object_retire(stream);
        mr_object_drop(stream);
    } else {
        (void)mr_stream_destroy(stream);
    }
    return NULL;
}

struct mr_stream *mr_stream_new(struct mr_context *context, unsigned flags, int priority)
{
    return stream_new(context, flags, priority, false);
}

CUresult mr_stream_why_none(struct mr_context *context)
{
    return atomic_load_explicit(&context->destroyed, memory_order_relaxed) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                           : CUDA_ERROR_OUT_OF_MEMORY;
}

static void (*seat_hook)(struct mr_stream *stream);

void mr_stream_set_seat_hook(void (*ended)(struct mr_stream *stream))
{
    seat_hook = ended;
}

_Atomic(struct mr_seat *) *mr_stream_seat(struct mr_stream *stream)
{
    return &stream->seat;
}

bool mr_stream_destroy(struct mr_stream *stream)
{
    if (!mr_object_retire(stream))
        return false;
    if (__builtin_expect(atomic_load(&stream->seat) != NULL, 0))
        seat_hook(stream);
    mr_lock_take(&stream->lock);
    stream->ended = true;
    mr_stream_leave(stream, (struct mr_call){0}, false);
    return true;
}

struct mr_context *mr_stream_context(struct mr_stream *stream)
{
    return stream->context;
}
unsigned mr_stream_flags(const struct mr_stream *stream)
{
    return stream->flags;
}
uint64_t mr_stream_id(const struct mr_stream *stream)
{
    return stream->id;
}
bool mr_stream_is_legacy(const struct mr_stream *stream)
{
    return stream->is_legacy;
}
bool mr_stream_is_default(const struct mr_stream *stream)
{
    return stream->is_legacy || stream->is_per_thread;
}

int mr_stream_priority(struct mr_stream *stream)
{
    return atomic_load_explicit(&stream->priority, memory_order_relaxed);
}

void mr_stream_set_priority(struct mr_stream *stream, int priority)
{
    atomic_store_explicit(&stream->priority, mr_priority_clamp(priority), memory_order_relaxed);
}

int mr_stream_sync_policy(struct mr_stream *stream)
{
    return atomic_load_explicit(&stream->sync_policy, memory_order_relaxed);
}

void mr_stream_set_sync_policy(struct mr_stream *stream, int policy)
{
    atomic_store_explicit(&stream->sync_policy, policy, memory_order_relaxed);
}

/* The calling thread's own default streams: the context's number and the stream's handle. */
struct own_stream {
    unsigned long long context;
    CUstream handle;
};
struct own_streams {
    size_t count, room;
    struct own_stream *entries;
};

static _Thread_local struct own_streams *own __attribute__((tls_model("initial-exec")));
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void end_of_thread(void *data)
{
    struct own_streams *mine = data;
    own = NULL;
    for (size_t i = 0; i < mine->count; i++) {
        struct mr_stream *stream = mr_object_acquire(mine->entries[i].handle, MR_KIND_STREAM);
        if (stream) {
            (void)mr_stream_destroy(stream);
            mr_object_drop(stream);
        }
    }
    mr_free(mine->entries);
    mr_free(mine);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_of_thread) == 0;
}

/* The thread's list with room for one more entry; stale entries make room first. NULL when memory is short. */
static struct own_streams *provide_own(void)
{
    pthread_once(&key_once, make_key);
    if (!own) {
        struct own_streams *made = key_made ? mr_calloc(1, sizeof *made) : NULL;
        if (!made || pthread_setspecific(key, made) != 0) {
            mr_free(made);
            return NULL;
        }
        own = made;
    }
    size_t kept = 0;
    for (size_t i = 0; i < own->count; i++)
        if (mr_object_find(own->entries[i].handle, MR_KIND_STREAM))
            own->entries[kept++] = own->entries[i];
    own->count = kept;
    if (!mr_array_reserve((void **)&own->entries, &own->room, own->count + 1, sizeof *own->entries))
        return NULL;
    return own;
}

static CUresult per_thread_stream(struct mr_context *context, struct mr_stream **out)
{
    for (size_t i = 0; own && i < own->count; i++) {
        if (own->entries[i].context == context->id) {
            *out = mr_object_find(own->entries[i].handle, MR_KIND_STREAM);
            if (*out)
                return CUDA_SUCCESS;
        }
    }
    struct own_streams *mine = provide_own();
    struct mr_stream *stream = mine ? stream_new(context, CU_STREAM_DEFAULT, 0, false) : NULL;
    if (!stream)
        return mr_stream_why_none(context);
    stream->is_per_thread = true;
    mine->entries[mine->count++] = (struct own_stream){context->id, mr_object_handle(stream)};
    *out = stream;
    return CUDA_SUCCESS;
}

MR_HOT CUresult mr_stream_find(CUstream handle, struct mr_stream **out)
{
    if (__builtin_expect((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD, 1)) {
        struct mr_stream *stream = mr_object_find(handle, MR_KIND_STREAM);
        if (__builtin_expect(stream == NULL, 0)) {
            mr_log(MR_LOG_INFO, "%p is not a live stream", (void *)handle);
            return mr_object_is_orphan(handle, MR_KIND_STREAM) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                               : CUDA_ERROR_INVALID_HANDLE;
        }
        *out = stream;
        return mr_context_error(stream->context);
    }
    struct mr_context *context = NULL;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS) {
        *out = context ? context->legacy : NULL;
        return status;
    }
    if (handle == CU_STREAM_PER_THREAD)
        return per_thread_stream(context, out);
    *out = context->legacy;
    return CUDA_SUCCESS;
}

CUresult mr_stream_default_missing(CUstream handle)
{
    struct mr_context *context;
    if ((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD || mr_in_host_function)
        return CUDA_SUCCESS;
    return mr_context_require(&context);
}

CUresult mr_stream_resolve(CUstream handle, struct mr_stream **out)
{
    if (__builtin_expect(mr_in_host_function, 0)) {
        mr_log(MR_LOG_INFO, "a host function called the driver, which is not permitted");
        return CUDA_ERROR_NOT_PERMITTED;
    }
    return mr_stream_find(handle, out);
}

bool mr_context_streams_init(struct mr_context *context)
{
    context->legacy = stream_new(context, CU_STREAM_DEFAULT, 0, true);
    mr_lock_take(&context->order_lock);
    count_streams(context, 0);
    mr_lock_drop(&context->order_lock);
    return context->legacy != NULL;
}

/* A reference to a stream of the context whose handle is still live, or NULL. */
static struct mr_stream *any_live_stream(struct mr_context *context)
{
    struct mr_stream *found = NULL;
    mr_lock_take(&context->order_lock);
    for (struct mr_list *link = context->streams.next; link != &context->streams && !found; link = link->next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_stream, link);
        if (mr_object_handle(stream) && mr_object_try_hold(stream))
            found = stream;
    }
    if (found) {
        /* Moves it to the end, so that the next search, for a stream that is still live, comes to it last. */
        mr_list_remove(&found->link);
        mr_list_append(&context->streams, &found->link);
    }
    mr_lock_drop(&context->order_lock);
    return found;
}

void mr_context_streams_end(struct mr_context *context)
{
    struct mr_stream *stream;
    mr_lock_take(&context->legacy->lock);
    context->legacy->ended = true;
    mr_lock_drop(&context->legacy->lock);
    while ((stream = any_live_stream(context))) {
        mr_object_orphan(stream);
        (void)mr_stream_destroy(stream);
        mr_object_drop(stream);
    }
    mr_context_drain(context);
    (void)mr_object_retire(context->legacy);
}

void mr_context_streams_release(struct mr_context *context)
{
    /* The thread that ran the last command may still hold the lock. */
    mr_lock_take(&context->legacy->lock);
    mr_lock_drop(&context->legacy->lock);
    mr_object_drop(context->legacy);
}
