/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for streams, events and contexts that are made, recorded, waited for, asked and synchronised with
 * (order_call.h). */
#include "libs/observer/order_call.h"

static void made(CUevent handle, bool untimed)
{
    obs_order_lock();
    struct obs_event *event = obs_event_find((uint64_t)(uintptr_t)handle, true);
    if (event)
        event->untimed = untimed;
    obs_order_unlock();
}

void obs_event_made_leave(struct obs_call *call)
{
    const struct mr_params_cuEventCreate *params = call->call->params;
    made(*params->phEvent, (params->Flags & CU_EVENT_DISABLE_TIMING) != 0);
}

/* Events that processes share take no time. */
void obs_event_opened_leave(struct obs_call *call)
{
    const struct mr_params_cuIpcOpenEventHandle *params = call->call->params;
    made(*params->phEvent, true);
}

/* An event stands for what its latest recording stood for; never recorded, for nothing. */
void obs_record_leave(struct obs_call *call)
{
    if (call->captured)
        return;
    obs_order_lock();
    struct obs_stream *stream = obs_call_stream(call);
    struct obs_event *event = obs_event_find(obs_param_handle(call, call->family->object), true);
    if (stream && event)
        obs_order_record(stream, !event->untimed, &event->point);
    obs_order_unlock();
}

/* A launch whose attributes name events: they are taken for recorded behind it, which is the latest that they can be.
 */
void obs_launch_leave(struct obs_call *call)
{
    const CUlaunchConfig *config = ((const struct mr_params_cuLaunchKernelEx *)call->call->params)->config;
    if (call->captured || !config)
        return;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        bool programmatic = attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        if (!programmatic && attribute->id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            continue;
        CUevent handle =
            programmatic ? attribute->value.programmaticEvent.event : attribute->value.launchCompletionEvent.event;
        obs_order_lock();
        struct obs_stream *stream = obs_call_stream(call);
        struct obs_event *event = obs_event_find((uint64_t)(uintptr_t)handle, true);
        if (stream && event)
            obs_order_record(stream, false, &event->point);
        obs_order_unlock();
    }
}

void obs_wait_leave(struct obs_call *call)
{
    if (call->captured)
        return;
    obs_order_lock();
    struct obs_stream *stream = obs_call_stream(call);
    const struct obs_event *event = obs_event_find(obs_param_handle(call, call->family->object), false);
    if (stream && event)
        obs_order_wait(stream, &event->point);
    obs_order_unlock();
}

/* The context that a call names; a green one stands for a context of its own. Asks the driver, so without the lock. */
static CUcontext named_context(const struct obs_call *call)
{
    CUcontext handle = call->call->context;
    if (call->family->to)
        handle = (CUcontext)obs_param_handle(call, call->family->to);
    if (call->family->from &&
        obs_driver.context_of_green(&handle, (CUgreenCtx)obs_param_handle(call, call->family->from)) != CUDA_SUCCESS)
        return NULL;
    return handle;
}

static struct obs_context *known_context(CUcontext handle)
{
    return handle ? obs_context_find(handle, false) : NULL;
}

void obs_context_record_leave(struct obs_call *call)
{
    CUcontext handle = named_context(call);
    obs_order_lock();
    struct obs_context *context = known_context(handle);
    struct obs_event *event = obs_event_find(obs_param_handle(call, call->family->object), true);
    if (event)
        obs_point_clear(&event->point);
    if (context && event)
        obs_order_record_all(context, &event->point);
    obs_order_unlock();
}

void obs_context_wait_leave(struct obs_call *call)
{
    CUcontext handle = named_context(call);
    obs_order_lock();
    struct obs_context *context = known_context(handle);
    const struct obs_event *event = obs_event_find(obs_param_handle(call, call->family->object), false);
    if (context && event)
        obs_order_wait_all(context, &event->point);
    obs_order_unlock();
}

/* What a call learns is what there was when it began: other threads may go on meanwhile. */
void obs_event_enter(struct obs_call *call)
{
    obs_order_lock();
    const struct obs_event *event = obs_event_find(obs_param_handle(call, call->family->object), false);
    if (event)
        obs_point_set(&call->point, &event->point);
    obs_order_unlock();
}

void obs_stream_enter(struct obs_call *call)
{
    obs_order_lock();
    struct obs_stream *stream = obs_call_stream(call);
    if (stream)
        obs_order_of_stream(stream, &call->point);
    obs_order_unlock();
}

void obs_context_enter(struct obs_call *call)
{
    CUcontext handle = named_context(call);
    obs_order_lock();
    struct obs_context *context = known_context(handle);
    if (context)
        obs_order_of_context(context, &call->point);
    obs_order_unlock();
}

/* Synchronised, or asked with the answer that all is done. */
void obs_known_leave(struct obs_call *call)
{
    bool of_context = !call->has_stream && !call->family->object;
    CUcontext handle = of_context ? named_context(call) : NULL;
    obs_order_lock();
    obs_order_known(&call->point, OBS_EDGES_DOCUMENTED);
    struct obs_stream *stream = call->has_stream ? obs_call_stream(call) : NULL;
    struct obs_context *context = known_context(handle);
    if (stream)
        obs_order_settle_stream(stream);
    if (context)
        obs_order_settle(context);
    obs_order_unlock();
}

/* At enter, before the handle can be another's. */
void obs_event_end_enter(struct obs_call *call)
{
    obs_order_lock();
    obs_event_end(obs_param_handle(call, call->family->object));
    obs_order_unlock();
}

void obs_stream_made_leave(struct obs_call *call)
{
    CUstream handle = *(CUstream *)obs_param_handle(call, call->family->object);
    unsigned long long id = 0;
    unsigned flags = 0;
    CUcontext context = call->call->context;
    obs_driver.stream_id(handle, &id);
    obs_driver.stream_flags(handle, &flags);
    obs_driver.stream_context(handle, &context);
    if (call->family->from)
        obs_driver.context_of_green(&context, (CUgreenCtx)obs_param_handle(call, call->family->from));
    obs_order_lock();
    struct obs_stream *old = obs_stream_find(handle, context, 0);
    if (old)
        obs_stream_end(old);
    obs_stream_made((uintptr_t)handle, id, context, !(flags & CU_STREAM_NON_BLOCKING));
    obs_order_unlock();
}

/* Destroying a stream doesn't wait for its work. The record goes when the call returns, so that calls of other threads
 * which began before are as if they had come before; unless the handle is another stream's by then. */
void obs_stream_end_enter(struct obs_call *call)
{
    CUstream handle = (CUstream)obs_param_handle(call, call->family->object);
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return;
    obs_order_lock();
    const struct obs_stream *stream = obs_stream_find(handle, NULL, 0);
    call->ending = stream ? stream->serial : 0;
    obs_order_unlock();
}

void obs_stream_end_leave(struct obs_call *call)
{
    if (!call->ending)
        return;
    obs_order_lock();
    struct obs_stream *stream = obs_stream_find((CUstream)obs_param_handle(call, call->family->object), NULL, 0);
    if (stream && stream->serial == call->ending)
        obs_stream_end(stream);
    obs_order_unlock();
}

/* A context that ends has waited for its work. */
void obs_context_end_leave(struct obs_call *call)
{
    CUcontext handle = named_context(call);
    obs_order_lock();
    struct obs_context *context = known_context(handle);
    obs_order_known(&call->point, OBS_EDGES_DOCUMENTED);
    if (context)
        obs_context_end(context);
    obs_order_unlock();
}
