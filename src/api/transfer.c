/* SPDX-License-Identifier: Apache-2.0 */
/* Checking and submitting copies and fills; see transfer.h.
 *
 * What a call waits for follows the manual's page on synchronisation:
 *   - synchronous copies wait, unless both sides are device memory; synchronous fills wait if the memory is pinned or registered;
 *   - asynchronous copies to pageable memory wait, so that the bytes are there on return; copies from pageable memory to the device
 *     read it before they return: up to STAGE_MOST bytes are set aside in a buffer of the driver, more is waited for;
 *   - copies between two pieces of host memory wait in any case;
 *   - an allocation with CU_POINTER_ATTRIBUTE_SYNC_MEMOPS makes every operation on it wait.
 * Pageable memory is touched at both ends first, so that a pointer to nothing is a bad value and not a fault in the context.
 * A thread that waits does the work itself if nothing is before it in the stream. */
#include "api/transfer.h"

#include <stdbool.h>

#include "api/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "command/command.h"
#include "engine/transfer.h"
#include "kernel/fault.h"
#include "memory/memory.h"
#include "object/context.h"
#include "stream/stream.h"

#define STAGE_MOST ((size_t)64 << 10)

/* What the check of an operand found. */
struct place {
    bool pageable;
    bool host;       /* pageable, pinned or registered: the processor's own memory in the manual's sense */
    bool sync;       /* SYNC_MEMOPS */
};

/* Bytes from the first to the last of a box; false if that does not fit in a size. */
static bool box_extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t *out)
{
    size_t rows, slices;
    return !__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_mul_overflow(depth - 1, slice, &slices) &&
           !__builtin_add_overflow(rows, slices, out) && !__builtin_add_overflow(*out, width, out);
}

struct probe { const volatile char *first, *last; };

static void probe_touch(void *data)
{
    const struct probe *probe = data;
    (void)*probe->first;
    (void)*probe->last;
}

/* Can the ends of a range of pageable memory be read? Pointers that lead nowhere are found out here, before they can fail the context. */
static bool is_readable(uintptr_t address, size_t extent)
{
    struct probe probe = { (const volatile char *)address, (const volatile char *)address + extent - 1 };
    return mr_fault_guard(probe_touch, &probe) == CUDA_SUCCESS;
}

/* Checks that `extent` bytes from `address` on are one operand; fills *out. */
static CUresult place_check(const char *name, const char *role, uintptr_t address, size_t extent, enum mr_side_kind kind,
    struct place *out)
{
    struct mr_allocation found;
    uintptr_t end;
    if (__builtin_expect(mr_memory_find(address, &found), 1)) {
        if (extent > found.size - (address - found.base))
            return mr_bad_value(name, "%zu bytes of %s at %#zx run past the end of the allocation (%zu bytes at %#zx)", extent, role,
                (size_t)address, found.size, (size_t)found.base);
        out->pageable = false;
        out->host = found.kind == MR_MEMORY_PINNED || found.kind == MR_MEMORY_REGISTERED;
        out->sync = found.sync_memops || (found.context && (found.context->flags & CU_CTX_SYNC_MEMOPS));
        return CUDA_SUCCESS;
    }
    if (!address)
        return mr_bad_value(name, "the %s is null", role);
    if (mr_memory_is_reserved(address))
        return mr_bad_value(name, "the %s at %#zx is in no live allocation", role, (size_t)address);
    if (kind == MR_SIDE_DEVICE)
        return mr_bad_value(name, "the %s at %#zx is not device memory", role, (size_t)address);
    if (__builtin_add_overflow(address, extent, &end))
        return mr_bad_value(name, "%zu bytes of %s at %#zx wrap around", extent, role, (size_t)address);
    if (!is_readable(address, extent))
        return mr_bad_value(name, "%zu bytes of %s at %#zx are not mapped", extent, role, (size_t)address);
    *out = (struct place){ .pageable = true, .host = true };
    return CUDA_SUCCESS;
}

static void copy_touch(void *data)
{
    mr_copy_execute(data);
}

/* Puts a copy of the source, without gaps, in its place. CUDA_ERROR_OUT_OF_MEMORY when memory is short, CUDA_ERROR_INVALID_VALUE when the
 * source cannot be read: nothing has changed then. */
static CUresult stage_source(struct mr_copy *copy)
{
    struct mr_copy pack = *copy;
    void *staged = mr_alloc(copy->width * copy->height * copy->depth);
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
static bool copy_waits(const struct place *to, const struct place *from, enum mr_transfer_mode mode)
{
    if (to->sync || from->sync)
        return true;
    if (mode == MR_TRANSFER_SYNC)
        return to->host || from->host;
    if (mode == MR_TRANSFER_STREAM_ORDER)
        return false;
    return to->pageable || (to->host && from->host);
}

CUresult mr_transfer_copy(const char *name, const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
    size_t depth, CUstream handle, enum mr_transfer_mode mode)
{
    struct mr_stream *stream;
    struct place to_place, from_place;
    size_t to_extent = width, from_extent = width;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!width || !height || !depth)
        return CUDA_SUCCESS;
    if ((height > 1 || depth > 1) && (!box_extent(width, height, depth, to->pitch, to->slice, &to_extent) ||
                                      !box_extent(width, height, depth, from->pitch, from->slice, &from_extent)))
        return mr_bad_value(name, "%zu x %zu x %zu bytes do not fit in memory", width, height, depth);
    status = place_check(name, "destination", to->address, to_extent, to->kind, &to_place);
    if (status != CUDA_SUCCESS)
        return status;
    status = place_check(name, "source", from->address, from_extent, from->kind, &from_place);
    if (status != CUDA_SUCCESS)
        return status;

    struct mr_command *command = mr_command_new(MR_COMMAND_COPY);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct mr_copy *copy = &command->copy;
    copy->destination = (void *)to->address;
    copy->source = (const void *)from->address;
    copy->width = width;
    copy->height = height;
    copy->depth = depth;
    copy->destination_pitch = to->pitch;
    copy->source_pitch = from->pitch;
    copy->destination_slice = to->slice;
    copy->source_slice = from->slice;
    copy->owns_source = false;
    bool wait = copy_waits(&to_place, &from_place, mode);
    if (!wait && from_place.pageable && mode != MR_TRANSFER_STREAM_ORDER) {
        status = is_small(copy) ? stage_source(copy) : CUDA_ERROR_OUT_OF_MEMORY;
        if (status == CUDA_ERROR_INVALID_VALUE) {
            mr_command_free(command);
            return mr_bad_value(name, "the source at %#zx cannot be read", (size_t)from->address);
        }
        wait = status != CUDA_SUCCESS;
    }
    return wait ? mr_stream_submit_wait(stream, command) : mr_stream_submit(stream, command);
}

CUresult mr_transfer_fill(const char *name, CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
    size_t height, CUstream handle, enum mr_transfer_mode mode)
{
    struct mr_stream *stream;
    struct place place;
    size_t row, extent;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!width || !height)
        return CUDA_SUCCESS;
    if (address % element || (height > 1 && pitch % element))
        return mr_bad_value(name, "address %#llx and pitch %zu are not multiples of the element's %u bytes",
            (unsigned long long)address, pitch, element);
    if (__builtin_mul_overflow(width, (size_t)element, &row) || !box_extent(row, height, 1, pitch, 0, &extent))
        return mr_bad_value(name, "%zu x %zu elements do not fit in memory", width, height);
    if (height > 1 && pitch < row)
        return mr_bad_value(name, "a pitch of %zu bytes is less than a row of %zu", pitch, row);
    status = place_check(name, "destination", (uintptr_t)address, extent, MR_SIDE_DEVICE, &place);
    if (status != CUDA_SUCCESS)
        return status;

    struct mr_command *command = mr_command_new(MR_COMMAND_FILL);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    command->fill = (struct mr_fill){ .destination = (void *)(uintptr_t)address, .pitch = height > 1 ? pitch : row, .width = width,
        .height = height, .value = value, .element = (uint8_t)element };
    bool wait = place.sync || (mode == MR_TRANSFER_SYNC && place.host);
    return wait ? mr_stream_submit_wait(stream, command) : mr_stream_submit(stream, command);
}

CUresult mr_transfer_check_context(const char *name, CUcontext context)
{
    if (!context || mr_object_find(context, MR_KIND_CONTEXT))
        return CUDA_SUCCESS;
    mr_log(MR_LOG_INFO, "%s: %p is not a live context", name, (void *)context);
    return CUDA_ERROR_INVALID_CONTEXT;
}
