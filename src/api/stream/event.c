/* SPDX-License-Identifier: Apache-2.0 */
/* Events: the nine functions of the manual's section (driver API manual, Event Management).
 *
 * An event belongs to the context that was current when it was made, and works whatever is current later. Recording
 * needs a stream of the same context. What an event is made of is in src/event; what recording does to a stream in
 * src/stream. */
#include "api_impl.h"
#include "base/call.h"
#include "base/visit.h"
#include "capture/capture.h"
#include "event/event.h"
#include "event/shared.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

#define EVENT_FLAGS ((unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))

/* The handle is no live event's. */
__attribute__((cold)) static CUresult no_event(CUevent handle)
{
    if (!mr_event_is_orphan(handle, false))
        return mr_bad_handle("event", handle);
    mr_call_log(MR_LOG_INFO, "the context of event %p was destroyed", (void *)handle);
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* The event behind a handle, whether or not its context has an error. CUDA_ERROR_INVALID_HANDLE,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED. For calls that ask what an event has come to: they look at its stamp first and at
 * the context's error then, because a fault sets the error and completes the event after that; in the other order a
 * fault in between would read as success. */
static inline CUresult find_any_event(CUevent handle, struct mr_event **out)
{
    struct mr_event *event = mr_object_find(handle, MR_KIND_EVENT);
    *out = event;
    if (__builtin_expect(!event, 0))
        return no_event(handle);
    if (__builtin_expect(atomic_load_explicit(&event->context->destroyed, memory_order_relaxed), 0)) {
        mr_call_log(MR_LOG_INFO, "the context of event %p was destroyed", (void *)handle);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return CUDA_SUCCESS;
}

/* The same; the sticky error of its context too. */
static inline CUresult find_event(CUevent handle, struct mr_event **out)
{
    CUresult status = find_any_event(handle, out);
    return status == CUDA_SUCCESS ? mr_context_error((*out)->context) : status;
}

/* The event and what it has come to, or the error. */
static inline CUresult find_stamp(CUevent handle, struct mr_event **out, uint64_t *stamp)
{
    CUresult status = find_any_event(handle, out);
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    *stamp = mr_event_stamp(*out);
    return mr_context_error((*out)->context);
}

CUresult mr_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!phEvent)
        return mr_bad_value("phEvent is NULL");
    if (Flags & ~EVENT_FLAGS)
        return mr_bad_value("flags %#x are not a set of CU_EVENT_*", Flags);
    if ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING))
        return mr_bad_value("CU_EVENT_INTERPROCESS needs CU_EVENT_DISABLE_TIMING");
    CUevent event;
    if (!mr_event_new(context, Flags, &event))
        return mr_stream_why_none(context);
    *phEvent = event;
    return CUDA_SUCCESS;
}

/* An event may be destroyed at any time: pending recordings and waits for them go on without it. */
CUresult mr_cuEventDestroy_v2(CUevent hEvent)
{
    struct mr_event *event;
    CUresult status = find_event(hEvent, &event);
    if (!event) {
        (void)mr_event_is_orphan(hEvent, true);
        return status;
    }
    if (!mr_object_retire(event))
        return mr_bad_handle("event", hEvent);
    if (status != CUDA_ERROR_CONTEXT_IS_DESTROYED)
        status = mr_context_error(event->context); /* the event goes all the same */
    mr_object_drop(event);
    return status;
}

static inline CUresult query(CUevent hEvent)
{
    struct mr_event *event;
    uint64_t stamp;
    CUresult status = find_stamp(hEvent, &event, &stamp);
    if (status != CUDA_SUCCESS)
        return status;
    if (__builtin_expect(stamp == MR_STAMP_CAPTURED, 0))
        return mr_capture_refuse_event(event, true);
    status = mr_capture_permit();
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    if (stamp == MR_STAMP_PENDING)
        return CUDA_ERROR_NOT_READY;
    return __builtin_expect(event->flags & CU_EVENT_INTERPROCESS, 0) ? mr_event_lost(event) : CUDA_SUCCESS;
}

/* CUDA_SUCCESS if everything that the event recorded is done, or nothing was ever recorded. Allowed inside host
 * functions. */
CUresult mr_cuEventQuery(CUevent hEvent)
{
    uint64_t outer = mr_visit_begin();
    CUresult status = query(hEvent);
    mr_visit_end(outer);
    return status;
}

/* There is something to wait for, or another process knows. The event is kept meanwhile, and with it its context. */
__attribute__((noinline)) static CUresult wait_for(CUevent handle)
{
    struct mr_event *event = mr_object_borrow(handle, MR_KIND_EVENT);
    CUresult status = CUDA_SUCCESS;
    if (!event)
        return mr_bad_handle("event", handle);
    if ((event->flags & CU_EVENT_INTERPROCESS) && !mr_in_host_function && mr_event_wait_remote(event, event->context)) {
        status = mr_context_error(event->context);
        return status == CUDA_SUCCESS ? mr_event_lost(event) : status;
    }
    struct mr_mark *mark = mr_event_mark(event);
    if (!mark) {
        mr_mempools_settle();
        status = mr_event_lost(event);
        return status == CUDA_SUCCESS ? mr_context_error(event->context) : status;
    }
    if (mr_in_host_function) {
        mr_call_log(MR_LOG_INFO, "a host function may not wait");
        status = CUDA_ERROR_NOT_PERMITTED;
    } else {
        status = mr_mark_wait(mark, event->context, event->flags);
        if (event->flags & CU_EVENT_INTERPROCESS)
            (void)mr_event_stamp(event);   /* other processes see it complete before this returns */
    }
    mr_mark_drop(mark);
    mr_mempools_settle();
    return status;
}

static inline CUresult synchronize(CUevent hEvent)
{
    struct mr_event *event;
    uint64_t stamp;
    CUresult status = find_stamp(hEvent, &event, &stamp);
    if (status != CUDA_SUCCESS)
        return status;
    if (__builtin_expect(stamp == MR_STAMP_CAPTURED, 0))
        return mr_capture_refuse_event(event, true);
    status = mr_capture_permit();
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    if (__builtin_expect(event->flags & CU_EVENT_INTERPROCESS, 0) || stamp == MR_STAMP_PENDING)
        return wait_for(hEvent);
    mr_mempools_settle();
    return CUDA_SUCCESS;
}

CUresult mr_cuEventSynchronize(CUevent hEvent)
{
    uint64_t outer = mr_visit_begin();
    CUresult status = synchronize(hEvent);
    mr_visit_end(outer);
    return status;
}

/* An event that can't be recorded: what the stream's capture has to say comes first. */
__attribute__((cold)) static CUresult record_nothing(CUstream hStream, CUresult status)
{
    struct mr_stream *stream;
    bool captured;
    CUresult first = mr_capture_open() ? mr_stream_resolve(hStream, &stream) : CUDA_ERROR_NOT_FOUND;
    if (first == CUDA_SUCCESS)
        first = mr_capture_route(stream, &captured);
    if (first == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || first == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return first;
    first = mr_stream_default_missing(hStream);
    return first == CUDA_SUCCESS ? status : first;
}

static inline CUresult record(CUevent hEvent, CUstream hStream)
{
    struct mr_event *event;
    struct mr_stream *stream;
    CUresult status = find_event(hEvent, &event);
    if (status != CUDA_SUCCESS)
        return record_nothing(hStream, status);
    status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (__builtin_expect(mr_stream_context(stream) != event->context, 0)) {
        mr_call_log(MR_LOG_INFO, "event %p and stream %p belong to different contexts", (void *)hEvent,
                    (void *)hStream);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (__builtin_expect(status != CUDA_SUCCESS || captured, 0))
        return captured ? mr_capture_record(stream, event) : status;
    return mr_stream_record(stream, event);
}

CUresult mr_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    uint64_t outer = mr_visit_begin();
    CUresult status = record(hEvent, hStream);
    mr_visit_end(outer);
    return status;
}

/* A record that is a node of the captured graph: it happens when the graph runs. As on hardware, it is refused outside
 * of a capture. */
static CUresult record_external(CUevent hEvent, CUstream hStream)
{
    struct mr_stream *stream;
    struct mr_work *work;
    bool captured;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (!captured) {
        mr_call_log(MR_LOG_INFO, "CU_EVENT_RECORD_EXTERNAL outside of a capture");
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    status = mr_work_from_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, hEvent, &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

CUresult mr_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    struct mr_event *event;
    CUresult status = find_event(hEvent, &event);
    if (status != CUDA_SUCCESS)
        return record_nothing(hStream, status);
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return mr_bad_value("flags %#x are not CU_EVENT_RECORD_*", flags);
    if (flags & CU_EVENT_RECORD_EXTERNAL)
        return record_external(hEvent, hStream);
    return record(hEvent, hStream);
}

/* CUDA_ERROR_INVALID_HANDLE for an event without timing or never recorded, CUDA_ERROR_NOT_READY if one is pending. */
static CUresult check_stamps(struct mr_event *const events[2], const uint64_t stamps[2])
{
    for (int i = 0; i < 2; i++) {
        if (events[i]->flags & CU_EVENT_DISABLE_TIMING) {
            mr_call_log(MR_LOG_INFO, "event %p was made with CU_EVENT_DISABLE_TIMING", mr_object_handle(events[i]));
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (__builtin_expect(stamps[i] > MR_STAMP_CAPTURED, 1) || stamps[i] == MR_STAMP_PENDING)
            continue;
        if (stamps[i] == MR_STAMP_CAPTURED)
            return mr_capture_refuse_event(events[i], false);
        mr_call_log(MR_LOG_INFO, "event %p was never recorded", mr_object_handle(events[i]));
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return stamps[0] == MR_STAMP_PENDING || stamps[1] == MR_STAMP_PENDING ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static inline CUresult elapsed(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    struct mr_event *events[2];
    uint64_t stamps[2];
    CUresult status = find_stamp(hStart, &events[0], &stamps[0]);
    if (status == CUDA_SUCCESS)
        status = find_stamp(hEnd, &events[1], &stamps[1]);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pMilliseconds || events[0]->context != events[1]->context) {
        mr_call_log(MR_LOG_INFO, "%s",
                    pMilliseconds ? "the events belong to different contexts" : "pMilliseconds is NULL");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    status = check_stamps(events, stamps);
    if (status == CUDA_SUCCESS)
        *pMilliseconds = (float)((double)(int64_t)(stamps[1] - stamps[0]) * 1e-6);
    return status;
}

/* Milliseconds from one event to the other, to the nanosecond as far as a float can hold it. Hardware answers
 * INVALID_HANDLE to a NULL result as well. */
CUresult mr_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    uint64_t outer = mr_visit_begin();
    CUresult status = elapsed(pMilliseconds, hStart, hEnd);
    mr_visit_end(outer);
    return status;
}

/* ---- a whole context ---- */

/* The context and the event of a call that names both. */
static CUresult find_both(CUcontext hCtx, CUevent hEvent, struct mr_context **context, struct mr_event **event)
{
    *context = mr_object_borrow(hCtx, MR_KIND_CONTEXT);
    if (!*context) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)hCtx);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult status = mr_in_host_function ? mr_context_require_slow(context) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = find_event(hEvent, event);
    return status == CUDA_SUCCESS ? mr_context_error(*context) : status;
}

CUresult mr_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct mr_context *context;
    struct mr_event *event;
    CUresult status = find_both(hCtx, hEvent, &context, &event);
    if (status != CUDA_SUCCESS)
        return status;
    if (event->context != context) {
        mr_call_log(MR_LOG_INFO, "event %p belongs to another context", (void *)hEvent);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    status = mr_capture_refuse_context(context);
    return status == CUDA_SUCCESS ? mr_context_record(context, event) : status;
}

CUresult mr_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct mr_context *context;
    struct mr_event *event;
    CUresult status = find_both(hCtx, hEvent, &context, &event);
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse_context(context);
    if (status == CUDA_SUCCESS && mr_event_is_captured(event))
        status = mr_capture_refuse_event(event, false);
    return status == CUDA_SUCCESS ? mr_context_wait_event(context, event) : status;
}
