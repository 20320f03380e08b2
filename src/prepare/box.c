/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of detail and reserved fields are not looked at, as on hardware; a pitch of 0 means rows without gaps, and a
 * height of 0 slices without gaps. */
#include "prepare/box.h"

#include <limits.h>

#include "memory/allocation.h"
#include "prepare/array_side.h"
#include "prepare/check.h"

/* One operand of a descriptor. */
struct operand {
    const char *role;
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

/* base + z * slice + y * pitch + x, false if that wraps. */
static bool first_byte(uintptr_t base, const struct operand *from, size_t pitch, size_t slice, uintptr_t *out)
{
    size_t rows, slices, offset;
    return !__builtin_mul_overflow(from->y, pitch, &rows) && !__builtin_mul_overflow(from->z, slice, &slices) &&
           !__builtin_add_overflow(rows, slices, &offset) && !__builtin_add_overflow(offset, from->x, &offset) &&
           !__builtin_add_overflow(base, offset, out);
}

/* The offsets of a descriptor stay within the allocation that its address names. */
static bool same_allocation(uintptr_t base, uintptr_t first)
{
    struct mr_allocation one, two;
    if (base == first || !mr_memory_find(base, &one))
        return true;
    return mr_memory_find(first, &two) && one.id == two.id;
}

/* Checks the shape of an operand and fills *side. */
static CUresult side_of(const struct operand *from, size_t width, size_t height, size_t depth, struct mr_side *side)
{
    uintptr_t base;
    size_t row, rows, slice = 0;
    *side = (struct mr_side){0};
    switch (from->type) {
    case CU_MEMORYTYPE_HOST:
        side->kind = MR_SIDE_HOST;
        base = (uintptr_t)from->host;
        break;
    case CU_MEMORYTYPE_DEVICE:
        side->kind = MR_SIDE_DEVICE;
        base = (uintptr_t)from->device;
        break;
    case CU_MEMORYTYPE_UNIFIED:
        side->kind = MR_SIDE_UNIFIED;
        base = (uintptr_t)from->device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        return mr_array_side(from->role, from->array, from->x, from->y, from->z, width, height, depth, side);
    default:
        return mr_bad_value("the %s has the unknown memory type %d", from->role, (int)from->type);
    }
    if (__builtin_add_overflow(from->x, width, &row))
        return mr_bad_value("the %s's rows of %zu bytes from %zu on wrap", from->role, width, from->x);
    size_t pitch = from->pitch ? from->pitch : row;
    if (row > pitch)
        return mr_bad_value("the %s's rows of %zu bytes from %zu on are longer than its pitch of %zu", from->role,
                            width, from->x, pitch);
    if ((height > 1 || depth > 1) && pitch > INT_MAX)
        return mr_bad_value("the %s's pitch of %zu bytes is above the device's limit", from->role, pitch);
    if (__builtin_add_overflow(from->y, height, &rows))
        return mr_bad_value("the %s's %zu rows from %zu on wrap", from->role, height, from->y);
    size_t slice_rows = from->height ? from->height : rows;
    if (depth > 1 && rows > slice_rows)
        return mr_bad_value("the %s's %zu rows from %zu on are more than its height of %zu", from->role, height,
                            from->y, from->height);
    side->pitch = pitch;
    if ((depth > 1 || from->z) && __builtin_mul_overflow(pitch, slice_rows, &slice))
        return mr_bad_value("the %s's slices of %zu rows of %zu bytes wrap", from->role, from->height, pitch);
    side->slice = slice;
    if (!first_byte(base, from, pitch, slice, &side->address) || !same_allocation(base, side->address))
        return mr_bad_value("the %s's offset (%zu, %zu, %zu) leaves its allocation", from->role, from->x, from->y,
                            from->z);
    if (!base)
        side->address = 0;
    return CUDA_SUCCESS;
}

CUresult mr_box_sides(const CUDA_MEMCPY3D *box, struct mr_side *to, struct mr_side *from)
{
    const struct operand source = {"source",         box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray,
                                   box->srcXInBytes, box->srcY,          box->srcZ,    box->srcPitch,  box->srcHeight};
    const struct operand destination = {"destination", box->dstMemoryType, box->dstHost, box->dstDevice,
                                        box->dstArray, box->dstXInBytes,   box->dstY,    box->dstZ,
                                        box->dstPitch, box->dstHeight};
    CUresult status = side_of(&source, box->WidthInBytes, box->Height, box->Depth, from);
    return status == CUDA_SUCCESS ? side_of(&destination, box->WidthInBytes, box->Height, box->Depth, to) : status;
}
