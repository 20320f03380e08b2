/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting copies and fills; see transfer.h. The checks of their operands are in prepare/side.c.
 *
 * What a call waits for follows the manual's page on synchronisation:
 *   - synchronous copies wait, unless both sides are device memory; synchronous fills wait if the memory is pinned or
 * registered;
 *   - asynchronous copies to pageable memory wait, so that the bytes are there on return; copies from pageable memory
 * to the device read it before they return: up to STAGE_MOST bytes are set aside in a buffer of the driver, more is
 * waited for (where an observer holds work back, all is set aside: no manual promises that the bytes have arrived);
 *   - copies between two pieces of host memory wait in any case;
 *   - an allocation with CU_POINTER_ATTRIBUTE_SYNC_MEMOPS makes every operation on it wait.
 * A copy in the default stream that concerns memory of another context is in order with that context's default stream,
 * too, as on hardware. A thread that waits does the work itself if nothing is before it in the stream. */
#include "api/memory/transfer.h"

#include <stdbool.h>

#include "api/device/peer.h"
#include "base/alloc.h"
#include "base/call.h"
#include "capture/capture.h"
#include "command/command.h"
#include "engine/gate.h"
#include "engine/transfer.h"
#include "kernel/fault.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

#define STAGE_MOST ((size_t)64 << 10)

static void copy_touch(void *data)
{
    mr_copy_execute(data);
}

/* Puts a copy of the source, without gaps, in its place. CUDA_ERROR_OUT_OF_MEMORY when memory is short,
 * CUDA_ERROR_INVALID_VALUE when the source cannot be read: nothing has changed then. */
static CUresult stage_source(struct mr_copy *copy)
{
    struct mr_copy pack = *copy;
    void *staged = mr_copy_stage(copy);
    if (!staged)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pack.destination = staged;
    pack.destination_pitch = copy->width;
    pack.destination_slice = copy->width * copy->height;
    if (mr_fault_guard(copy_touch, &pack) != CUDA_SUCCESS) {
        mr_free(staged);
        return CUDA_ERROR_INVALID_VALUE;
    }
    copy->source = staged;
    copy->source_pitch = pack.destination_pitch;
    copy->source_slice = pack.destination_slice;
    copy->owns_source = true;
    return CUDA_SUCCESS;
}

static bool is_small(const struct mr_copy *copy)
{
    return copy->width <= STAGE_MOST && copy->height <= STAGE_MOST && copy->depth <= STAGE_MOST &&
           copy->width * copy->height * copy->depth <= STAGE_MOST;
}

/* Must the calling thread wait for the copy? */
static bool copy_waits(const struct mr_place *to, const struct mr_place *from, enum mr_transfer_mode mode)
{
    if (to->sync || from->sync)
        return true;
    if (mode == MR_TRANSFER_SYNC)
        return to->host || from->host;
    if (mode == MR_TRANSFER_STREAM_ORDER)
        return false;
    return to->pageable || (to->host && from->host);
}

/* A copy in a captured stream: nothing is read or staged now, the node names the addresses. */
static CUresult copy_captured(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                              size_t depth, struct mr_stream *stream, enum mr_transfer_mode mode)
{
    struct mr_work *work;
    if (mode == MR_TRANSFER_SYNC)
        return mr_capture_refuse(stream);
    if (!width || !height || !depth)
        return CUDA_SUCCESS;
    CUresult status = mr_work_from_sides(to, from, width, height, depth, mr_stream_context(stream), &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

/* What is given to one stream from now on waits for all that another has now, by the default-stream rules. */
static CUresult put_behind(struct mr_stream *later, struct mr_stream *earlier)
{
    struct mr_fence fence;
    CUresult status = mr_stream_fence(earlier, &fence);
    if (fence.mark)
        return mr_stream_wait_mark(later, fence.mark);
    return status == CUDA_ERROR_OUT_OF_MEMORY ? status
                                              : CUDA_SUCCESS; /* the other context's failure is not this call's */
}

static CUresult submit(struct mr_stream *stream, struct mr_command *command, bool wait)
{
    const struct mr_copy *copy = command->kind == MR_COMMAND_COPY ? &command->copy : NULL;
    mr_command_weigh(command, copy && copy->owns_source ? copy->width * copy->height * copy->depth : 0);
    return wait ? mr_stream_submit_wait(stream, command) : mr_stream_submit(stream, command);
}

/* Submits a copy that concerns the memory of other contexts, behind what their default streams have, and before what
 * these will be given. */
__attribute__((noinline)) static CUresult submit_across(struct mr_stream *stream, struct mr_command *command, bool wait,
                                                        struct mr_context *const owners[2])
{
    struct mr_context *others[2];
    unsigned count = 0;
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < 2; i++)
        if (owners[i] && owners[i] != mr_stream_context(stream) && !(i && owners[1] == owners[0]) &&
            mr_object_try_hold(owners[i]))
            others[count++] = owners[i];
    for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = put_behind(stream, others[i]->legacy);
    if (status == CUDA_SUCCESS)
        status = submit(stream, command, wait);
    else
        mr_command_free(command);
    for (unsigned i = 0; i < count; i++) {
        if (status == CUDA_SUCCESS && !wait)
            status = put_behind(others[i]->legacy, stream);
        mr_object_drop(others[i]);
    }
    return status;
}

CUresult mr_transfer_copy(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                          size_t depth, CUstream handle, enum mr_transfer_mode mode)
{
    struct mr_stream *stream;
    struct mr_place to_place, from_place;
    struct mr_copy checked;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (__builtin_expect(status != CUDA_SUCCESS || captured, 0))
        return captured ? copy_captured(to, from, width, height, depth, stream, mode) : status;
    if (!width || !height || !depth)
        return CUDA_SUCCESS;
    status = mr_copy_prepare(mr_stream_context(stream)->device->ordinal, to, from, width, height, depth, &to_place,
                             &from_place, &checked);
    if (status != CUDA_SUCCESS)
        return status;

    struct mr_command *command = mr_command_new(MR_COMMAND_COPY);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    command->copy = checked;
    bool wait = copy_waits(&to_place, &from_place, mode);
    if (!wait && from_place.pageable && mode != MR_TRANSFER_STREAM_ORDER) {
        status = is_small(&checked) || mr_gate_on() ? stage_source(&command->copy) : CUDA_ERROR_OUT_OF_MEMORY;
        if (status == CUDA_ERROR_INVALID_VALUE) {
            mr_command_free(command);
            return mr_bad_value("the source at %#zx cannot be read", (size_t)from->address);
        }
        wait = status != CUDA_SUCCESS;
    }
    struct mr_context *const context = mr_stream_context(stream), *const owners[2] = {to_place.owner, from_place.owner};
    if (__builtin_expect((owners[0] && owners[0] != context) || (owners[1] && owners[1] != context), 0) &&
        mr_stream_is_legacy(stream))
        status = submit_across(stream, command, wait, owners);
    else
        status = submit(stream, command, wait);
    mr_stream_hold_back(stream);
    return status;
}

static CUresult fill_captured(const CUDA_MEMSET_NODE_PARAMS *params, struct mr_stream *stream,
                              enum mr_transfer_mode mode)
{
    struct mr_work *work;
    if (mode == MR_TRANSFER_SYNC)
        return mr_capture_refuse(stream);
    if (!params->width || !params->height)
        return CUDA_SUCCESS;
    CUresult status = mr_work_from_fill(params, mr_stream_context(stream), &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

/* A fill, unlike a copy, needs peer access to memory of another device. */
static CUresult peer_check(struct mr_stream *stream, CUdeviceptr address)
{
    struct mr_allocation found;
    if (!mr_memory_find((uintptr_t)address, &found) || mr_peer_may_use(mr_stream_context(stream), &found))
        return CUDA_SUCCESS;
    return mr_bad_value(
        "%#llx is memory of device %d, and the stream's context has no access to it (cuCtxEnablePeerAccess)",
        (unsigned long long)address, found.device->ordinal);
}

CUresult mr_transfer_fill(CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
                          size_t height, CUstream handle, enum mr_transfer_mode mode)
{
    struct mr_stream *stream;
    struct mr_place place;
    struct mr_fill fill;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (__builtin_expect(status != CUDA_SUCCESS || captured, 0)) {
        const CUDA_MEMSET_NODE_PARAMS params = {
            .dst = address, .pitch = pitch, .value = value, .elementSize = element, .width = width, .height = height};
        return captured ? fill_captured(&params, stream, mode) : status;
    }
    if (!width || !height)
        return CUDA_SUCCESS;
    status = mr_fill_prepare(mr_stream_context(stream)->device->ordinal, address, pitch, value, element, width, height,
                             &place, &fill);
    if (status == CUDA_SUCCESS && __builtin_expect(mr_device_count() > 1, 0))
        status = peer_check(stream, address);
    if (status != CUDA_SUCCESS)
        return status;

    struct mr_command *command = mr_command_new(MR_COMMAND_FILL);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    command->fill = fill;
    status = submit(stream, command, place.sync || (mode == MR_TRANSFER_SYNC && place.host));
    mr_stream_hold_back(stream);
    return status;
}

CUresult mr_transfer_refuse_captured(CUstream handle)
{
    struct mr_stream *stream;
    return mr_capture_open() && mr_stream_resolve(handle, &stream) == CUDA_SUCCESS ? mr_capture_refuse(stream)
                                                                                   : CUDA_SUCCESS;
}

CUresult mr_transfer_peer(CUcontext context, int *by)
{
    const struct mr_context *found = context ? mr_object_find(context, MR_KIND_CONTEXT) : NULL;
    *by = found ? found->device->ordinal + 1 : 0;
    if (!context || found)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)context);
    return CUDA_ERROR_INVALID_CONTEXT;
}
