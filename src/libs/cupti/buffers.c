/* SPDX-License-Identifier: Apache-2.0 */
/* Records go into buffers that the program gives, and gets back when they are full, when it asks, or after the period
 * that it has set.
 *
 * A thread of the library's own, the deliverer, gives back what is full. The program's functions run on whatever thread
 * needs a buffer, on the deliverer, and on threads that ask for a flush; with no lock held. What they do is not told
 * of: a thread inside of one is busy. */
#include "libs/cupti/cupti.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"

struct buffer {
    struct buffer *next;
    uint8_t *data;
    size_t size, used, records, most; /* most: records; 0: any number */
};

/* Guards all below. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER; /* something is full, or the period has changed */
static struct buffer *current;
static struct buffer *full, **full_end = &full;
static bool has_deliverer;
static unsigned giving; /* buffers that threads are giving back */
static pthread_cond_t given = PTHREAD_COND_INITIALIZER; /* there are none of these */
static uint32_t period; /* milliseconds; 0: none */
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static size_t dropped; /* since cuptiActivityGetNumDroppedRecords was called */

static _Thread_local bool busy;

bool mr_cupti_is_busy(void)
{
    return busy;
}

/* ---- records ---- */

size_t mr_cupti_record_bytes(CUpti_ActivityKind kind)
{
    /* The last members came with version 13. */
    const size_t kernel =
        MR_CUPTI_MAJOR == 12 ? offsetof(CUpti_ActivityKernel10, isDeviceLaunched) : sizeof(CUpti_ActivityKernel10);
    const size_t pool =
        MR_CUPTI_MAJOR == 12 ? offsetof(CUpti_ActivityMemoryPool3, isManagedPool) : sizeof(CUpti_ActivityMemoryPool3);
    const size_t data =
        MR_CUPTI_MAJOR == 12 ? offsetof(CUpti_ActivityMarkerData2, cuptiDomainId) : sizeof(CUpti_ActivityMarkerData2);
    switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_NAME:
        return sizeof(CUpti_ActivityName);
    case CUPTI_ACTIVITY_KIND_MARKER:
        return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
        return data;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return kernel;
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        return sizeof(CUpti_ActivityCudaEvent2);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
        return pool;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return sizeof(CUpti_ActivityGraphTrace2);
    default:
        return 0;
    }
}

static size_t room_for(size_t bytes)
{
    return (bytes + ACTIVITY_RECORD_ALIGNMENT - 1) & ~(size_t)(ACTIVITY_RECORD_ALIGNMENT - 1);
}

/* With the lock. */
static void put_in_full(struct buffer *buffer)
{
    buffer->next = NULL;
    *full_end = buffer;
    full_end = &buffer->next;
    pthread_cond_signal(&more);
}

/* With the lock, which is given up meanwhile: a new buffer of the program's becomes the current one, unless another
 * thread has got one. False: there is none. */
static bool get_buffer(uint64_t *took)
{
    CUpti_BuffersCallbackRequestFunc ask = request;
    struct buffer *made = ask ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return false;
    pthread_mutex_unlock(&lock);
    uint64_t from = mr_cupti_now();
    busy = true;
    ask(&made->data, &made->size, &made->most);
    busy = false;
    *took = mr_cupti_now() - from;
    pthread_mutex_lock(&lock);
    if (!made->data || !made->size) {
        free(made);
        return current != NULL;
    }
    if (current)
        put_in_full(made); /* back to the program, empty */
    else
        current = made;
    return true;
}

/* With the lock. Gives a current buffer that has no room for so much back. */
static bool has_room(size_t bytes)
{
    if (current && current->used + bytes <= current->size && (!current->most || current->records < current->most))
        return true;
    if (current) {
        put_in_full(current);
        current = NULL;
    }
    return false;
}

/* With the lock; there is room. */
static void append(const void *record, size_t bytes)
{
    size_t room = room_for(bytes);
    memset(current->data + current->used, 0, room);
    memcpy(current->data + current->used, record, bytes);
    current->used += room;
    current->records++;
}

/* With the lock. The buffer was got in so much time. */
static void put_overhead(uint64_t took)
{
    uint64_t now = mr_cupti_now();
    CUpti_ActivityOverhead3 record = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                      .overheadKind = CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST,
                                      .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                      .start = now - took,
                                      .end = now};
    record.objectId.pt.processId = (uint32_t)getpid();
    record.objectId.pt.threadId = mr_cupti_thread();
    if (mr_cupti_wants(CUPTI_ACTIVITY_KIND_OVERHEAD) && has_room(sizeof record))
        append(&record, sizeof record);
}

void mr_cupti_put(const void *record, size_t bytes)
{
    uint64_t took = 0;
    bool good = true;
    if (busy)
        return;
    pthread_mutex_lock(&lock);
    while (!has_room(room_for(bytes)) && good) {
        good = get_buffer(&took);
        if (good && current && current->used == 0 && took)
            put_overhead(took);
        if (good && current && current->size < room_for(bytes)) {
            put_in_full(current);
            current = NULL;
            good = false; /* it can hold no record at all */
        }
    }
    if (good && current)
        append(record, bytes);
    else
        dropped++;
    pthread_mutex_unlock(&lock);
}

CUptiResult mr_cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    size_t at = 0;
    if (*record) {
        size_t bytes = mr_cupti_record_bytes((*record)->kind);
        if (!bytes)
            return CUPTI_ERROR_INVALID_KIND;
        at = (size_t)((uint8_t *)*record - buffer) + room_for(bytes);
    }
    if (at >= validBufferSizeBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    CUpti_Activity *next = (CUpti_Activity *)(void *)(buffer + at);
    size_t bytes = mr_cupti_record_bytes(next->kind);
    if (!bytes || at + bytes > validBufferSizeBytes)
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    return CUPTI_SUCCESS;
}

/* ---- back to the program ---- */

/* With the lock, which is given up meanwhile: all that is full; with `all` the current one as well if it has records.
 */
static void deliver(bool all)
{
    if (all && current && current->records) {
        put_in_full(current);
        current = NULL;
    }
    while (full) {
        struct buffer *buffer = full;
        CUpti_BuffersCallbackCompleteFunc give = complete;
        full = buffer->next;
        if (!full)
            full_end = &full;
        giving++;
        pthread_mutex_unlock(&lock);
        busy = true;
        if (give)
            give(NULL, 0, buffer->data, buffer->size, buffer->used);
        busy = false;
        free(buffer);
        pthread_mutex_lock(&lock);
        if (--giving == 0)
            pthread_cond_broadcast(&given);
    }
}

void mr_cupti_flush(void)
{
    if (busy)
        return;
    uint64_t from = mr_cupti_now();
    pthread_mutex_lock(&lock);
    bool any = full || (current && current->records);
    deliver(true);
    while (giving)
        pthread_cond_wait(&given, &lock);
    pthread_mutex_unlock(&lock);
    CUpti_ActivityOverhead3 record = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                      .overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH,
                                      .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                      .start = from};
    record.objectId.pt.processId = (uint32_t)getpid();
    record.objectId.pt.threadId = mr_cupti_thread();
    record.end = mr_cupti_now();
    if (any && mr_cupti_wants(CUPTI_ACTIVITY_KIND_OVERHEAD))
        mr_cupti_put(&record, sizeof record);
}

static void wait_for_more(void)
{
    struct timespec until;
    if (!period) {
        pthread_cond_wait(&more, &lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += period / 1000;
    until.tv_nsec += (long)(period % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    if (pthread_cond_timedwait(&more, &lock, &until) == ETIMEDOUT)
        deliver(true);
}

static void *deliverer(void *nothing)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        deliver(false);
        if (!full)
            wait_for_more();
    }
    return nothing;
}

/* With the lock. */
static bool start_deliverer(void)
{
    if (!has_deliverer)
        has_deliverer = mr_thread_start(deliverer, NULL) == 0;
    return has_deliverer;
}

CUptiResult mr_cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                              CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
    if (!funcBufferRequested || !funcBufferCompleted)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    bool good = start_deliverer();
    if (good) {
        request = funcBufferRequested;
        complete = funcBufferCompleted;
    }
    pthread_mutex_unlock(&lock);
    return good ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* A work's record is in its buffer before anything learns of the work's end. So what is waited for is buffers that
 * another thread is giving back, and there is nothing more to force. */
CUptiResult mr_cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    mr_cupti_flush();
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
    (void)context, (void)streamId;
    return mr_cuptiActivityFlushAll(flag);
}

CUptiResult mr_cuptiActivityFlushPeriod(uint32_t time)
{
    pthread_mutex_lock(&lock);
    period = time;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *count)
{
    (void)context, (void)streamId;
    if (!count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    *count = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}
