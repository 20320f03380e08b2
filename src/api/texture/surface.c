/* SPDX-License-Identifier: Apache-2.0 */
/* Surface objects (driver API manual, Surface Object Management). */
#include "api/stub.h"
#include "api/texture/texture.h"
#include "api_impl.h"
#include "object/context.h"
#include "prepare/array_side.h"
#include "prepare/check.h"
#include "stream/stream.h"

CUresult mr_surface_make(struct mr_context *context, const CUDA_RESOURCE_DESC *resource, struct mr_texture **out)
{
    struct mr_array *array;
    if (resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return mr_bad_value("a surface of resource type %d; it has to be an array", (int)resource->resType);
    if (resource->flags)
        return mr_bad_value("the resource's flags %#x are not 0", resource->flags);
    array = mr_object_acquire(resource->res.array.hArray, MR_KIND_ARRAY);
    if (!array)
        return mr_bad_value("%p is not a live array", (void *)resource->res.array.hArray);
    CUresult status = CUDA_SUCCESS;
    struct mr_texture *surface = NULL;
    if (!(surface = mr_texture_new(MR_KIND_SURFACE, context, array)))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (surface) {
        mr_texture_take_array(surface, &array->desc, &array->format);
        surface->levels[0] = array->texels;
        surface->level_count = 1;
        surface->resource = *resource;
        *out = surface;
    }
    mr_object_drop(array);
    return status;
}

CUresult mr_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    struct mr_context *context;
    struct mr_texture *surface;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pSurfObject || !pResDesc)
        return mr_bad_value("an argument is NULL");
    status = mr_surface_make(context, pResDesc, &surface);
    if (status == CUDA_SUCCESS)
        *pSurfObject = (CUsurfObject)(uintptr_t)mr_object_handle(surface);
    return status;
}

/* Kernels in flight look the handle up as they go: it ends after them. */
CUresult mr_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    struct mr_texture *surface;
    if (!surfObject)
        return mr_stub_context_missing();
    CUresult status = mr_texture_require(MR_KIND_SURFACE, surfObject, &surface);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_context_synchronize(surface->context);
    if (status == CUDA_SUCCESS && !mr_texture_end(surface))
        status = mr_bad_value("%#llx is not a live surface object", surfObject);
    mr_object_drop(surface);
    return status;
}

CUresult mr_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
    struct mr_texture *surface;
    CUresult status = mr_texture_require(MR_KIND_SURFACE, surfObject, &surface);
    if (status != CUDA_SUCCESS)
        return status;
    if (pResDesc)
        *pResDesc = surface->resource;
    else
        status = mr_bad_value("the result's place is NULL");
    mr_object_drop(surface);
    return status;
}
