/* SPDX-License-Identifier: Apache-2.0 */
/* Launches (driver API manual, Execution Control).
 *
 * The path from cuLaunchKernel to the stream takes no lock. What can be wrong with a launch is checked while it is
 * prepared (prepare/launch_request.h); what goes wrong while it runs is the engine's. */
#include "api/stream/execution.h"

#include <string.h>

#include "api_impl.h"
#include "base/call.h"
#include "base/hot.h"
#include "base/visit.h"
#include "capture/capture.h"
#include "command/command.h"
#include "event/event.h"
#include "kernel/launch.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/function.h"
#include "prepare/work.h"
#include "stream/stream.h"

/* Attributes of one launch that a capture keeps; there are fewer kinds. */
#define MOST_ATTRIBUTES 32

/* A launch in a captured stream becomes a node. The stream's priority, if it has one, becomes the node's. */
__attribute__((cold)) static CUresult launch_captured(const struct mr_launch_request *request, struct mr_stream *stream)
{
    CUlaunchAttribute all[MOST_ATTRIBUTES + 1];
    struct mr_work *work;
    size_t count = request->attribute_count;
    int priority = mr_stream_priority(stream);
    if (count > MOST_ATTRIBUTES)
        return mr_bad_value("%zu attributes; a launch has at most %d", count, MOST_ATTRIBUTES);
    if (count)
        memcpy(all, request->attributes, count * sizeof *all);
    if (!request->has_priority && priority != MR_PRIORITY_LEAST) {
        memset(&all[count], 0, sizeof all[count]);
        all[count].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        all[count++].value.priority = priority;
    }
    bool overlaps = false;
    for (size_t i = 0; i < count; i++)
        if (all[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            overlaps = all[i].value.programmaticStreamSerializationAllowed != 0;
    CUresult status = mr_work_from_launch(request, mr_stream_context(stream), all, count, &work);
    if (status == CUDA_SUCCESS)
        return (overlaps ? mr_capture_add_overlapping : mr_capture_add)(stream, work);
    /* Hardware finds a wrong shape when it makes the node, which spoils the capture; other mistakes don't. */
    struct mr_function *function;
    if (status == CUDA_ERROR_INVALID_VALUE &&
        mr_function_find(request->function, mr_stream_context(stream), &function) == CUDA_SUCCESS &&
        !mr_launch_fits(request, function))
        mr_capture_spoil(stream, "a launch of a shape that the kernel can't have");
    return status;
}

MR_HOT CUresult mr_launch_queue(const struct mr_launch_request *request)
{
    struct mr_stream *stream;
    struct mr_launch *launch;
    const struct mr_entry *info;
    CUresult status = mr_stream_resolve(request->stream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (__builtin_expect(status != CUDA_SUCCESS || captured, 0))
        return captured ? launch_captured(request, stream) : status;
    /* The stream says where a kernel of a library runs; a function belongs to one context, and the stream has to as
     * well. */
    status = mr_launch_prepare(request, mr_stream_context(stream), &launch, &info);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_command *command = mr_command_new(MR_COMMAND_LAUNCH);
    if (!command) {
        mr_launch_free(launch);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    command->launch = launch;
    if (__builtin_expect(info->prints, 0))
        atomic_store_explicit(&launch->context->has_printed, true, memory_order_relaxed);
    command->has_priority = request->has_priority;
    command->priority = (int8_t)request->priority;
    mr_command_weigh(command, launch->param_bytes);
    status = mr_stream_submit(stream, command);
    mr_stream_hold_back(stream);
    return status;
}

/* Parameters that can't be read are complained of after the context and the function. */
__attribute__((cold)) static CUresult not_read(const struct mr_launch_request *request, CUresult status)
{
    CUresult first = mr_stream_default_missing(request->stream);
    if (first != CUDA_SUCCESS)
        return first;
    return request->function ? status : mr_bad_handle("function", request->function);
}

static CUresult queue_with(struct mr_launch_request *request, void **extra)
{
    CUresult status = mr_launch_read_extra(request, extra);
    return status == CUDA_SUCCESS ? mr_launch_queue(request) : not_read(request, status);
}

MR_HOT CUresult mr_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                  unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                  unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    struct mr_launch_request request = {
        .function = f,
        .stream = hStream,
        .grid = {gridDimX, gridDimY, gridDimZ},
        .block = {blockDimX, blockDimY, blockDimZ},
        .shared = sharedMemBytes,
        .params = kernelParams,
    };
    uint64_t outer = mr_visit_begin();
    CUresult status = queue_with(&request, extra);
    mr_visit_end(outer);
    return status;
}

/* The event that an attribute has the launch record, if it is such an attribute. */
static bool names_event(const CUlaunchAttribute *attribute, CUevent *event, int *flags)
{
    switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        *event = attribute->value.programmaticEvent.event;
        *flags = attribute->value.programmaticEvent.flags;
        return true;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        *event = attribute->value.launchCompletionEvent.event;
        *flags = attribute->value.launchCompletionEvent.flags;
        return true;
    default:
        return false;
    }
}

/* What can be wrong with it, before anything is launched. Statuses are hardware's. */
static CUresult check_event(const CUlaunchAttribute *attribute, CUevent handle, int flags, CUstream hStream)
{
    struct mr_stream *stream;
    const struct mr_event *event = mr_object_find(handle, MR_KIND_EVENT);
    if (!event)
        return mr_bad_handle("event", handle);
    if (flags & ~CU_EVENT_RECORD_EXTERNAL)
        return mr_bad_value("flags %#x of a launch's event are not 0", (unsigned)flags);
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags) {
        bool captured;
        status = mr_capture_route(stream, &captured);
        if (status != CUDA_SUCCESS)
            return status;
        mr_call_log(MR_LOG_INFO, "a launch's event can't be recorded with CU_EVENT_RECORD_EXTERNAL");
        return captured ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_ILLEGAL_STATE;
    }
    bool sleeps = attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT && event->flags & CU_EVENT_BLOCKING_SYNC;
    if (!(event->flags & CU_EVENT_DISABLE_TIMING) || event->flags & CU_EVENT_INTERPROCESS || sleeps) {
        mr_call_log(MR_LOG_INFO, "the event of a launch needs CU_EVENT_DISABLE_TIMING, without CU_EVENT_INTERPROCESS, "
                                 "and without CU_EVENT_BLOCKING_SYNC if it is that of the launch's completion");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return mr_stream_context(stream) == event->context ? CUDA_SUCCESS
                                                       : mr_bad_handle("event of the stream's context", handle);
}

static CUresult launch_plain(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    struct mr_launch_request request = {
        .function = f,
        .stream = config->hStream,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared = config->sharedMemBytes,
        .params = kernelParams,
        .attributes = config->attrs,
        .attribute_count = config->numAttrs,
        .cooperative = mr_attributes_cooperative(config->attrs, config->numAttrs),
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
            request.has_priority = true;
            request.priority = mr_priority_clamp(config->attrs[i].value.priority);
        }
    }
    return queue_with(&request, extra);
}

/* The events of a launch are recorded behind it, so they are complete when the kernel is. On hardware that of the
 * launch's completion is once all blocks have begun (conformance cases launch_event.*). It is never the later one of
 * two different events, whatever the order of the attributes: a programmatic event comes when blocks say so or end. */
__attribute__((noinline)) static CUresult launch_with_events(const CUlaunchConfig *config, CUfunction f,
                                                             void **kernelParams, void **extra)
{
    CUlaunchAttribute others[MOST_ATTRIBUTES];
    CUevent events[MOST_ATTRIBUTES];
    CUlaunchAttributeID kinds[MOST_ATTRIBUTES];
    unsigned count = 0;
    int flags;
    if (config->numAttrs > MOST_ATTRIBUTES)
        return mr_bad_value("%u attributes; a launch has at most %d", config->numAttrs, MOST_ATTRIBUTES);
    CUlaunchConfig plain = *config;
    plain.attrs = others;
    plain.numAttrs = 0;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (!names_event(&config->attrs[i], &events[count], &flags)) {
            others[plain.numAttrs++] = config->attrs[i];
            continue;
        }
        kinds[count] = config->attrs[i].id;
        CUresult status = check_event(&config->attrs[i], events[count++], flags, config->hStream);
        if (status != CUDA_SUCCESS)
            return status;
    }
    CUresult status = launch_plain(&plain, f, kernelParams, extra);
    for (int later = 0; later < 2; later++)
        for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++)
            if ((kinds[i] != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) == later)
                status = mr_cuEventRecord(events[i], config->hStream);
    return status;
}

CUresult mr_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    bool records = false;
    if (!config || (config->numAttrs > 0 && !config->attrs))
        return mr_bad_value("config or its attributes are NULL");
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUevent event;
        int flags;
        bool is_event = names_event(&config->attrs[i], &event, &flags);
        CUresult status = is_event ? CUDA_SUCCESS : mr_launch_attribute_check(&config->attrs[i]);
        if (status != CUDA_SUCCESS)
            return status;
        records |= is_event;
    }
    return records ? launch_with_events(config, f, kernelParams, extra) : launch_plain(config, f, kernelParams, extra);
}
