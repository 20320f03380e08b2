/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the operands of a copy or fill may be used. Pageable memory is touched at both ends, so that a pointer to
 * nothing is a bad value and not a fault in the context. */
#include "prepare/side.h"

#include "engine/transfer.h"
#include "kernel/fault.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "prepare/check.h"

/* The device that uses an operand, and what it must be allowed to do with it if the memory is mapped
 * (CUmemAccess_flags). */
struct who {
    int device;
    unsigned right;
};

/* Bytes from the first to the last of a box; false if that does not fit in a size. */
static bool box_extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t *out)
{
    size_t rows, slices;
    return !__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_mul_overflow(depth - 1, slice, &slices) &&
           !__builtin_add_overflow(rows, slices, out) && !__builtin_add_overflow(*out, width, out);
}

struct probe {
    const volatile char *first, *last;
};

static void probe_touch(void *data)
{
    const struct probe *probe = data;
    (void)*probe->first;
    (void)*probe->last;
}

/* Can the ends of a range of pageable memory be read? Pointers that lead nowhere are found out here, before they can
 * fail the context. */
static bool is_readable(uintptr_t address, size_t extent)
{
    struct probe probe = {(const volatile char *)address, (const volatile char *)address + extent - 1};
    return mr_fault_guard(probe_touch, &probe) == CUDA_SUCCESS;
}

/* An operand in mapped memory may cross from one mapping into the next, and needs the device's right to each. */
static CUresult mapped_check(const char *role, uintptr_t address, size_t extent, const struct who *who)
{
    uintptr_t end;
    if (__builtin_add_overflow(address, extent, &end))
        return mr_bad_value("%zu bytes of %s at %#zx wrap around", extent, role, (size_t)address);
    for (uintptr_t at = address; at < end;) {
        struct mr_allocation found;
        if (!mr_memory_find(at, &found) || !mr_allocation_is_mapped(&found))
            return mr_bad_value("nothing is mapped at %#zx, within the %zu bytes of %s at %#zx", (size_t)at, extent,
                                role, (size_t)address);
        if ((mr_allocation_right(&found, who->device) & who->right) != who->right)
            return mr_bad_value("device %d may not %s the %s at %#zx: cuMemSetAccess says so", who->device,
                                who->right == CU_MEM_ACCESS_FLAGS_PROT_READ ? "read" : "write", role, (size_t)at);
        at = found.base + found.size;
    }
    return CUDA_SUCCESS;
}

/* Checks that `extent` bytes from `address` on are one operand; fills *out. */
static CUresult place_check(const char *role, uintptr_t address, size_t extent, enum mr_side_kind kind,
                            const struct who *who, struct mr_place *out)
{
    struct mr_allocation found;
    uintptr_t end;
    if (__builtin_expect(mr_memory_find(address, &found), 1)) {
        if (__builtin_expect(mr_allocation_is_mapped(&found), 0)) {
            *out = (struct mr_place){.host = found.kind == MR_MEMORY_MAPPED_HOST};
            return mapped_check(role, address, extent, who);
        }
        if (extent > found.size - (address - found.base))
            return mr_bad_value("%zu bytes of %s at %#zx run past the end of the allocation (%zu bytes at %#zx)",
                                extent, role, (size_t)address, found.size, (size_t)found.base);
        if (__builtin_expect(found.kind == MR_MEMORY_POOL && mr_allocation_is_closed(&found, who->device), 0))
            return mr_bad_value("device %d may not use the %s at %#zx, memory of a pool: cuMemPoolSetAccess says so",
                                who->device, role, (size_t)address);
        out->pageable = false;
        out->host =
            found.kind == MR_MEMORY_PINNED || found.kind == MR_MEMORY_REGISTERED || found.kind == MR_MEMORY_HOST_POOL;
        out->owner = out->host ? NULL : found.context;
        out->sync = found.sync_memops || (found.context && (found.context->flags & CU_CTX_SYNC_MEMOPS));
        return CUDA_SUCCESS;
    }
    if (!address)
        return mr_bad_value("the %s is null", role);
    if (mr_memory_is_reserved(address))
        return mr_bad_value("the %s at %#zx is in no live allocation", role, (size_t)address);
    if (kind == MR_SIDE_DEVICE)
        return mr_bad_value("the %s at %#zx is not device memory", role, (size_t)address);
    if (__builtin_add_overflow(address, extent, &end))
        return mr_bad_value("%zu bytes of %s at %#zx wrap around", extent, role, (size_t)address);
    if (!is_readable(address, extent))
        return mr_bad_value("%zu bytes of %s at %#zx are not mapped", extent, role, (size_t)address);
    *out = (struct mr_place){.pageable = true, .host = true};
    return CUDA_SUCCESS;
}

CUresult mr_copy_prepare(int device, const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                         size_t depth, struct mr_place *to_place, struct mr_place *from_place, struct mr_copy *copy)
{
    size_t to_extent = width, from_extent = width;
    if ((height > 1 || depth > 1) && (!box_extent(width, height, depth, to->pitch, to->slice, &to_extent) ||
                                      !box_extent(width, height, depth, from->pitch, from->slice, &from_extent)))
        return mr_bad_value("%zu x %zu x %zu bytes do not fit in memory", width, height, depth);
    const struct who writer = {to->by ? to->by - 1 : device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                     reader = {from->by ? from->by - 1 : device, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUresult status = place_check("destination", to->address, to_extent, to->kind, &writer, to_place);
    if (status != CUDA_SUCCESS)
        return status;
    status = place_check("source", from->address, from_extent, from->kind, &reader, from_place);
    if (status != CUDA_SUCCESS)
        return status;
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
    return CUDA_SUCCESS;
}

CUresult mr_fill_prepare(int device, CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
                         size_t height, struct mr_place *place, struct mr_fill *out)
{
    size_t row, extent;
    if (address % element || (height > 1 && pitch % element))
        return mr_bad_value("address %#llx and pitch %zu are not multiples of the element's %u bytes",
                            (unsigned long long)address, pitch, element);
    if (__builtin_mul_overflow(width, (size_t)element, &row) || !box_extent(row, height, 1, pitch, 0, &extent))
        return mr_bad_value("%zu x %zu elements do not fit in memory", width, height);
    if (height > 1 && pitch < row)
        return mr_bad_value("a pitch of %zu bytes is less than a row of %zu", pitch, row);
    const struct who writer = {device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult status = place_check("destination", (uintptr_t)address, extent, MR_SIDE_DEVICE, &writer, place);
    if (status == CUDA_SUCCESS)
        *out = (struct mr_fill){.destination = (void *)(uintptr_t)address,
                                .pitch = height > 1 ? pitch : row,
                                .width = width,
                                .height = height,
                                .value = value,
                                .element = (uint8_t)element};
    return status;
}
