/* SPDX-License-Identifier: Apache-2.0 */
/* Work of Millrace's libraries of mathematics in stream order (command/parts.h). */
#include "command/parts.h"

#include <string.h>

#include "api/observed.h"
#include "base/alloc.h"
#include "capture/capture.h"
#include "observe/calls.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

/* Takes over the record, also on failure. */
static CUresult put(struct mr_stream *stream, struct mr_parts *parts)
{
    struct mr_command *command = mr_command_new(MR_COMMAND_PARTS);
    if (!command) {
        mr_parts_drop(parts);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    command->parts = parts;
    return mr_stream_submit(stream, command);
}

/* The same for a stream that is captured. */
static CUresult put_node(struct mr_stream *stream, struct mr_parts *parts)
{
    struct mr_work *work;
    CUresult status = mr_work_from_parts(parts, &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

static CUresult submit(CUstream handle, uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                       void (*release)(void *data), void *data, struct mr_parts_told *told)
{
    struct mr_stream *stream;
    bool captured;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!run || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    /* The data is the caller's until nothing can fail any more: until then the record releases nothing. */
    struct mr_parts *parts = mr_parts_new(count, run, NULL, data);
    if (!parts)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_parts_hold(parts);
    parts->told = *told;
    *told = (struct mr_parts_told){.function = NULL};
    status = captured ? put_node(stream, parts) : put(stream, parts);
    if (status == CUDA_SUCCESS)
        parts->release = release;
    mr_parts_drop(parts);
    return status;
}

/* An observer is told of it as of a call with the name of the library's function, whose parameter is the stream. */
CUresult millrace_submit_parts(CUstream handle, uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                               void (*release)(void *data), void *data)
{
    struct mr_parts_told told = mr_parts_take_told();
    bool observed = mr_observed_outer();
    struct mr_observed_call call = {
        .call = MR_CALL_NONE, .name = told.function ? told.function : "a function of a library", .params = &handle};
    if (observed)
        mr_observed_enter(&call);
    CUresult status = submit(handle, count, run, release, data, &told);
    if (observed)
        mr_observed_leave(&call, status);
    mr_free(told.touches);
    return status;
}

/* What is touched concerns those alone that look at accesses; a timeline has names. */
static bool tell(const char *function, const struct mr_parts_tells *tells, bool only_name)
{
    bool asked = mr_observes(MR_OBSERVE_ACCESS);
    if (asked && !only_name)
        mr_parts_tell(function, tells);
    else if (function && mr_observes(MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS))
        mr_parts_name(function);
    return asked;
}

bool millrace_touch_part(const char *function, const void *first, size_t width, size_t rows, size_t pitch, unsigned how)
{
    const struct mr_parts_tells tells = {.touch = {(uintptr_t)first, width, rows, pitch, how}};
    return tell(function, &tells, how == MR_PARTS_NAME);
}

bool millrace_touch_late(const char *function, mr_parts_late *late, const int64_t *given)
{
    struct mr_parts_tells tells = {.late = late};
    memcpy(tells.given, given, sizeof tells.given);
    return tell(function, &tells, false);
}
