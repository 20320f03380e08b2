/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls may not be made while something is captured.
 *
 * Some calls (an allocation, a synchronous copy) may wait for the device or change what captured work means. A capture
 * forbids them by its mode: a global one to all threads, a thread-local one to the thread that began it, a relaxed one
 * to nobody; and a thread's own mode says how much of that it heeds. A call that is forbidden invalidates the captures
 * that forbid it.
 *
 * The legacy stream waits for the blocking streams of its context and they for it: while one of them is captured, work
 * on it is refused. */
#include "base/call.h"
#include "capture/capture_private.h"
#include "object/context.h"
#include "stream/stream.h"

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static _Thread_local uint64_t thread_number;
static _Atomic uint64_t last_thread;

uint64_t mr_capture_thread(void)
{
    if (!thread_number)
        thread_number = atomic_fetch_add_explicit(&last_thread, 1, memory_order_relaxed) + 1;
    return thread_number;
}

CUstreamCaptureMode mr_capture_exchange_mode(CUstreamCaptureMode mode)
{
    CUstreamCaptureMode old = thread_mode;
    thread_mode = mode;
    return old;
}

static bool forbids(const struct mr_capture *capture)
{
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == mr_capture_thread())
        return true;
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
}

CUresult mr_capture_permit_slow(void)
{
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    for (struct mr_list *link = mr_capture_list.next; link != &mr_capture_list; link = link->next) {
        struct mr_capture *capture = MR_CONTAINER(link, struct mr_capture, link);
        if (forbids(capture)) {
            mr_capture_invalidate(capture, "the call is not permitted while a capture of its mode is open");
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    mr_lock_drop(&mr_capture_lock);
    return status;
}

void mr_capture_spoil(struct mr_stream *stream, const char *why)
{
    if (!mr_capture_open())
        return;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    if (seat)
        mr_capture_invalidate(seat->capture, why);
    mr_lock_drop(&mr_capture_lock);
}

/* ---- the legacy stream, and the context as a whole ---- */

/* Does the capture have a stream of the context? `blocking`: one that the legacy stream waits for. */
static bool concerns_context(const struct mr_capture *capture, const struct mr_context *context, bool blocking)
{
    for (struct mr_list *link = capture->seats.next; link != &capture->seats; link = link->next) {
        struct mr_stream *stream = MR_CONTAINER(link, struct mr_seat, link)->stream;
        if (stream && mr_stream_context(stream) == context &&
            (!blocking || !(mr_stream_flags(stream) & CU_STREAM_NON_BLOCKING)))
            return true;
    }
    return false;
}

bool mr_capture_blocks_legacy(struct mr_context *context)
{
    MR_HELD(&mr_capture_lock);
    for (struct mr_list *link = mr_capture_list.next; link != &mr_capture_list; link = link->next)
        if (concerns_context(MR_CONTAINER(link, struct mr_capture, link), context, true))
            return true;
    return false;
}

/* Invalidates the context's captures; true if there is one. */
static bool spoil(struct mr_context *context, bool blocking, const char *why)
{
    MR_HELD(&mr_capture_lock);
    bool any = false;
    for (struct mr_list *link = mr_capture_list.next; link != &mr_capture_list; link = link->next) {
        struct mr_capture *capture = MR_CONTAINER(link, struct mr_capture, link);
        if (concerns_context(capture, context, blocking)) {
            mr_capture_invalidate(capture, why);
            any = true;
        }
    }
    return any;
}

CUresult mr_capture_check_legacy(struct mr_stream *stream)
{
    MR_HELD(&mr_capture_lock);
    if (!mr_stream_is_legacy(stream) ||
        !spoil(mr_stream_context(stream), true, "the legacy stream was used, which would wait for a stream of it"))
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO,
                "the legacy stream can't be used while a blocking stream of its context is being captured");
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult mr_capture_route_slow(struct mr_stream *stream, bool *captured)
{
    if (!mr_seat_of(stream) && !mr_stream_is_legacy(stream))
        return CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    CUresult status = seat ? CUDA_SUCCESS : mr_capture_check_legacy(stream);
    if (seat && seat->capture->invalidated) {
        mr_call_log(MR_LOG_INFO, "capture %llu was invalidated", (unsigned long long)seat->capture->id);
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    *captured = seat != NULL && status == CUDA_SUCCESS;
    mr_lock_drop(&mr_capture_lock);
    return status;
}

CUresult mr_capture_refuse_slow(struct mr_stream *stream)
{
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    CUresult status = CUDA_SUCCESS;
    if (seat) {
        mr_capture_invalidate(seat->capture, "the call can't be captured");
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else {
        status = mr_capture_check_legacy(stream);
    }
    mr_lock_drop(&mr_capture_lock);
    return status;
}

CUresult mr_capture_refuse_context_slow(struct mr_context *context)
{
    mr_lock_take(&mr_capture_lock);
    bool any = spoil(context, false, "the call would wait for the whole context");
    mr_lock_drop(&mr_capture_lock);
    return any ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}
