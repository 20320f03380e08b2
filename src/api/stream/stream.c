/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: creation, waiting, functions of the host in stream order (driver API manual, Stream Management).
 * Attributes and other things to ask a stream are in stream_attribute.c. */
#include "api_impl.h"
#include "base/call.h"
#include "base/visit.h"
#include "capture/capture.h"
#include "event/event.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!out)
        return mr_bad_value("phStream is NULL");
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return mr_bad_value("flags %#x are not CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING", flags);
    struct mr_stream *stream = mr_stream_new(context, flags, priority);
    if (!stream)
        return mr_stream_why_none(context);
    *out = mr_object_handle(stream);
    return CUDA_SUCCESS;
}

CUresult mr_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(phStream, Flags, 0);
}

/* A priority outside of the range is moved to its nearer end. */
CUresult mr_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    return create(phStream, flags, priority);
}

/* Returns at once; the stream's work still ends, and then its resources go. A default stream cannot be destroyed. */
CUresult mr_cuStreamDestroy_v2(CUstream hStream)
{
    struct mr_stream *stream = mr_object_find(hStream, MR_KIND_STREAM);
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!stream || mr_stream_is_default(stream))
        return mr_bad_handle("stream that can be destroyed", hStream);
    CUresult status = mr_context_error(mr_stream_context(stream)); /* the stream goes all the same */
    if (!mr_stream_destroy(stream))
        return mr_bad_handle("stream that can be destroyed", hStream);
    return status;
}

/* Allowed inside host functions, as on hardware. */
CUresult mr_cuStreamQuery(CUstream hStream)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_find(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_capture_refuse(stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_permit();
    if (status != CUDA_SUCCESS)
        return status;
    /* Asked in this order: a fault may have ended the work since the stream was found. */
    return mr_stream_is_done(stream) ? mr_context_error(mr_stream_context(stream)) : CUDA_ERROR_NOT_READY;
}

CUresult mr_cuStreamSynchronize(CUstream hStream)
{
    struct mr_stream *stream = NULL;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS &&
        stream) /* of a context that has failed: its kernels may still be coming to their end */
        return mr_context_synchronize(mr_stream_context(stream));
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse(stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_permit();
    if (status == CUDA_SUCCESS)
        status = mr_stream_synchronize(stream);
    mr_mempools_settle();
    return status;
}

/* A wait that is a node of the captured graph: for what the event has recorded when the graph runs. Refused outside of
 * a capture. */
static CUresult wait_external(struct mr_stream *stream, CUevent event)
{
    struct mr_work *work;
    bool captured;
    CUresult status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (!captured) {
        mr_call_log(MR_LOG_INFO, "CU_EVENT_WAIT_EXTERNAL outside of a capture");
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    status = mr_work_from_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

/* A value that is no event spoils the capture of a stream that would wait for it, as on hardware. */
__attribute__((cold)) static CUresult wait_for_nothing(CUstream handle, CUevent event, unsigned flags)
{
    struct mr_stream *stream;
    bool captured;
    if (mr_capture_open() && mr_stream_resolve(handle, &stream) == CUDA_SUCCESS) {
        CUresult status = mr_capture_route(stream, &captured);
        if (status != CUDA_SUCCESS)
            return status;
        if (captured)
            mr_capture_spoil(stream, "it would depend on an event that does not exist");
    }
    CUresult first = mr_stream_default_missing(handle);
    if (first != CUDA_SUCCESS)
        return first;
    if (mr_event_is_orphan(event, false))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return mr_bad_value("flags %#x are not CU_EVENT_WAIT_*", flags);
    return mr_bad_handle("event", event);
}

static inline CUresult wait_event(CUstream hStream, CUevent hEvent, unsigned Flags)
{
    struct mr_stream *stream;
    struct mr_event *event = mr_object_find(hEvent, MR_KIND_EVENT);
    if (!event)
        return wait_for_nothing(hStream, hEvent, Flags);
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (__builtin_expect(Flags != CU_EVENT_WAIT_DEFAULT, 0)) {
        if (Flags != CU_EVENT_WAIT_EXTERNAL)
            return mr_bad_value("flags %#x are not CU_EVENT_WAIT_*", Flags);
        return wait_external(stream, hEvent);
    }
    if (__builtin_expect(atomic_load_explicit(&event->context->destroyed, memory_order_relaxed), 0))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (mr_capture_open() || mr_event_is_captured(event)) {
        bool plain;
        status = mr_capture_wait(stream, event, &plain);
        if (!plain)
            return status;
    }
    return mr_stream_wait_event(stream, event);
}

CUresult mr_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    uint64_t outer = mr_visit_begin();
    CUresult status = wait_event(hStream, hEvent, Flags);
    mr_visit_end(outer);
    return status;
}

CUresult mr_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!fn)
        return mr_bad_value("fn is NULL");
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (captured) {
        struct mr_work *work;
        status = mr_work_from_host(fn, userData, &work);
        return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
    }
    struct mr_command *command = mr_command_new(MR_COMMAND_HOST);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    command->host.function = fn;
    command->host.data = userData;
    return mr_stream_submit(stream, command);
}

/* The callback gets the stream as the caller named it, and the status of the context when its turn comes. */
CUresult mr_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!callback)
        return mr_bad_value("callback is NULL");
    if (flags)
        return mr_bad_value("flags are %#x and must be 0", flags);
    status = mr_capture_refuse(stream);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_command *command = mr_command_new(MR_COMMAND_CALLBACK);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    command->callback.function = callback;
    command->callback.data = userData;
    command->callback.stream = hStream;
    return mr_stream_submit(stream, command);
}
