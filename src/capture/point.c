/* SPDX-License-Identifier: Apache-2.0 */
/* Events in captures: what an event remembers of a captured stream, and how streams come into a capture and together
 * again through it.
 *
 * The point outlives its capture: an event stays captured until it is recorded again or destroyed. It holds the
 * capture's record, not its graph. */
#include "base/alloc.h"
#include "base/call.h"
#include "capture/capture_private.h"
#include "event/event.h"
#include "object/handle.h"
#include "stream/stream.h"

static void point_release(struct mr_event_point *point)
{
    if (atomic_fetch_sub_explicit(&point->references, 1, memory_order_acq_rel) != 1)
        return;
    mr_capture_drop(point->capture);
    mr_points_free(&point->points);
    mr_free(point);
}

/* The event's point, held for the caller; NULL if its latest recording was not captured. */
static struct mr_event_point *point_of(struct mr_event *event)
{
    MR_HELD(&mr_capture_lock);
    mr_lock_take(&event->lock);
    struct mr_event_point *point = mr_event_point(event);
    if (point)
        atomic_fetch_add_explicit(&point->references, 1, memory_order_relaxed);
    mr_lock_drop(&event->lock);
    return point;
}

/* An event between processes can be recorded by a node (CU_EVENT_RECORD_EXTERNAL), but stands for no point of a
 * capture; the capture goes on. */
CUresult mr_capture_record(struct mr_stream *stream, struct mr_event *event)
{
    if (event->flags & CU_EVENT_INTERPROCESS) {
        mr_call_log(MR_LOG_INFO, "event %p is shared between processes, and can't be captured",
                    mr_object_handle(event));
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    struct mr_event_point *point = mr_calloc(1, sizeof *point);
    if (!point)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    CUresult status = CUDA_SUCCESS;
    if (!seat || seat->capture->invalidated)
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!mr_points_set(&point->points, seat->points.nodes, seat->points.data, seat->points.count))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS) {
        atomic_store_explicit(&point->references, 1, memory_order_relaxed);
        point->capture = seat->capture;
        mr_capture_hold(point->capture);
        mr_event_set_point(event, point, point_release);
    }
    mr_lock_drop(&mr_capture_lock);
    if (status != CUDA_SUCCESS) {
        mr_call_log(MR_LOG_INFO, "event %p is not recorded in the captured stream: status %d", mr_object_handle(event),
                    (int)status);
        mr_points_free(&point->points);
        mr_free(point);
    }
    return status;
}

/* Puts the point's nodes before what comes next in the stream, which joins the capture if it is in none. */
static CUresult join(struct mr_stream *stream, const struct mr_event_point *point)
{
    MR_HELD(&mr_capture_lock);
    struct mr_capture *capture = point->capture;
    struct mr_seat *seat = mr_seat_of(stream);
    if (!capture->open || capture->invalidated) {
        mr_call_log(MR_LOG_INFO, "the capture that the event was recorded in %s",
                    capture->open ? "was invalidated" : "has ended");
        if (seat)
            mr_capture_invalidate(seat->capture, "it would depend on a capture that is over");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (mr_stream_is_legacy(stream)) {
        mr_capture_invalidate(capture, "the legacy stream would have to join it");
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (seat && seat->capture != capture) {
        mr_capture_invalidate(capture, "a stream of another capture would join it");
        mr_capture_invalidate(seat->capture, "a stream of it would join another capture");
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!seat) {
        seat = mr_seat_new(capture, stream);
        if (!seat)
            return mr_object_handle(stream) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_HANDLE;
    }
    return mr_points_add(&seat->points, point->points.nodes, point->points.data, point->points.count)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_capture_wait(struct mr_stream *stream, struct mr_event *event, bool *plain)
{
    CUresult status = CUDA_SUCCESS;
    *plain = false;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    struct mr_event_point *point = point_of(event);
    if (seat && seat->capture->invalidated) {
        mr_call_log(MR_LOG_INFO, "capture %llu was invalidated", (unsigned long long)seat->capture->id);
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else if (seat && (event->flags & CU_EVENT_INTERPROCESS)) {
        mr_capture_invalidate(seat->capture, "it would depend on an event between processes");
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (point) {
        status = join(stream, point);
    } else if (seat && atomic_load_explicit(&event->stamp, memory_order_acquire) == MR_STAMP_NONE) {
        /* Never recorded: there is nothing to wait for, in a capture as elsewhere. */
    } else if (seat) {
        mr_capture_invalidate(seat->capture, "it would depend on an event recorded outside of it");
        status = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    } else {
        status = mr_capture_check_legacy(stream);
        *plain = status == CUDA_SUCCESS;
    }
    if (point)
        point_release(point);
    mr_lock_drop(&mr_capture_lock);
    return status;
}

CUresult mr_capture_refuse_event(struct mr_event *event, bool spoils)
{
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    struct mr_event_point *point = point_of(event);
    if (point) {
        bool over = !point->capture->open || point->capture->invalidated;
        status = over ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_CAPTURED_EVENT;
        mr_call_log(MR_LOG_INFO, "event %p was recorded last in a captured stream", mr_object_handle(event));
        if (!over && spoils)
            mr_capture_invalidate(point->capture, "an event of it was asked or waited for");
        point_release(point);
    }
    mr_lock_drop(&mr_capture_lock);
    return status;
}
