/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays by their handles, and their parts as operands of copies. */
#include "prepare/array_side.h"

#include <stdbool.h>

#include "object/context.h"
#include "prepare/check.h"

/* An object of a context that ended on another thread a moment ago. */
static CUresult check_owner(const struct mr_context *context)
{
    return atomic_load_explicit(&context->destroyed, memory_order_acquire) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                           : CUDA_SUCCESS;
}

CUresult mr_array_require(CUarray handle, struct mr_array **out)
{
    *out = mr_object_acquire(handle, MR_KIND_ARRAY);
    if (!*out)
        return mr_bad_handle("array", handle);
    CUresult status = check_owner((*out)->context);
    if (status != CUDA_SUCCESS)
        mr_object_drop(*out);
    return status;
}

CUresult mr_mipmap_require(CUmipmappedArray handle, struct mr_mipmap **out)
{
    *out = mr_object_acquire(handle, MR_KIND_MIPMAP);
    if (!*out)
        return mr_bad_handle("mipmapped array", handle);
    CUresult status = check_owner((*out)->context);
    if (status != CUDA_SUCCESS)
        mr_object_drop(*out);
    return status;
}

static bool inside(size_t from, size_t length, size_t size)
{
    return from <= size && length <= size - from;
}

CUresult mr_array_side(const char *role, CUarray handle, size_t x, size_t y, size_t z, size_t width, size_t height,
                       size_t depth, struct mr_side *out)
{
    struct mr_array *array;
    if (!handle)
        return mr_bad_value("the %s is a NULL array", role);
    CUresult status = mr_array_require(handle, &array);
    if (status != CUDA_SUCCESS)
        return status;
    const struct mr_texels *texels = &array->texels;
    if (!width || !height || !depth)
        *out = (struct mr_side){
            .address = texels->base, .kind = MR_SIDE_DEVICE, .pitch = texels->pitch, .slice = texels->slice};
    else if (!inside(x, width, texels->pitch) || !inside(y, height, texels->height) || !inside(z, depth, texels->depth))
        status =
            mr_bad_value("%zu bytes x %zu x %zu from (%zu, %zu, %zu) on leave the %s, an array of %zu bytes x %u x %u",
                         width, height, depth, x, y, z, role, texels->pitch, texels->height, texels->depth);
    else
        *out = (struct mr_side){.address = texels->base + z * texels->slice + y * texels->pitch + x,
                                .kind = MR_SIDE_DEVICE,
                                .pitch = texels->pitch,
                                .slice = texels->slice};
    mr_object_drop(array);
    return status;
}
