/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: descriptions for the driver and back. */
#include <string.h>

#include "libs/cudart/array.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC), "one layout");

static cudaError_t resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *out)
{
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the resource of an object is NULL");
    *out = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)from->resType, .flags = from->flags};
    switch (from->resType) {
    case cudaResourceTypeArray:
        out->res.array.hArray = (CUarray)from->res.array.array;
        return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
        out->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        return cudaSuccess;
    case cudaResourceTypeLinear:
        out->res.linear.devPtr = MR_PTR(from->res.linear.devPtr);
        out->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return mr_rt_format(&from->res.linear.desc, &out->res.linear.format, &out->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        out->res.pitch2D.devPtr = MR_PTR(from->res.pitch2D.devPtr);
        out->res.pitch2D.width = from->res.pitch2D.width;
        out->res.pitch2D.height = from->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return mr_rt_format(&from->res.pitch2D.desc, &out->res.pitch2D.format, &out->res.pitch2D.numChannels);
    }
    return mr_rt_bad(cudaErrorInvalidValue, "there is no kind of resource %d", (int)from->resType);
}

static cudaError_t resource_back(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *out)
{
    struct cudaResourceDesc found;
    cudaError_t status = cudaSuccess;
    memset(&found, 0, sizeof found);
    found.resType = (enum cudaResourceType)from->resType;
    found.flags = from->flags;
    switch (found.resType) {
    case cudaResourceTypeArray:
        found.res.array.array = (cudaArray_t)from->res.array.hArray;
        break;
    case cudaResourceTypeMipmappedArray:
        found.res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    case cudaResourceTypeLinear:
        found.res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
        found.res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        status = mr_rt_channels(from->res.linear.format, from->res.linear.numChannels, &found.res.linear.desc);
        break;
    case cudaResourceTypePitch2D:
        found.res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
        found.res.pitch2D.width = from->res.pitch2D.width;
        found.res.pitch2D.height = from->res.pitch2D.height;
        found.res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        status = mr_rt_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels, &found.res.pitch2D.desc);
        break;
    }
    if (status == cudaSuccess)
        *out = found;
    return status;
}

/* Integers that are read as they are need the driver's flag for it; the runtime says so by the read mode. */
static cudaError_t texture(const struct cudaTextureDesc *from, CUDA_TEXTURE_DESC *out)
{
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the description of a texture is NULL");
    *out = (CUDA_TEXTURE_DESC){.filterMode = (CUfilter_mode)from->filterMode,
                               .maxAnisotropy = from->maxAnisotropy,
                               .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
                               .mipmapLevelBias = from->mipmapLevelBias,
                               .minMipmapLevelClamp = from->minMipmapLevelClamp,
                               .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (CUaddress_mode)from->addressMode[i];
    memcpy(out->borderColor, from->borderColor, sizeof out->borderColor);
    out->flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
                 (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (from->sRGB ? CU_TRSF_SRGB : 0) |
                 (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                 (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    return cudaSuccess;
}

cudaError_t mr_cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                       const struct cudaTextureDesc *pTexDesc,
                                       const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC what;
    CUDA_TEXTURE_DESC how;
    cudaError_t status = resource(pResDesc, &what);
    if (status == cudaSuccess)
        status = texture(pTexDesc, &how);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuTexObjectCreate(
                                       pTexObject, &what, &how, (const CUDA_RESOURCE_VIEW_DESC *)pResViewDesc)
                                 : status;
}

cudaError_t mr_cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC what;
    if (!pResDesc)
        return cudaErrorInvalidValue;
    CUresult status = mr_driver.cuTexObjectGetResourceDesc(&what, texObject);
    return status == CUDA_SUCCESS ? resource_back(&what, pResDesc) : (cudaError_t)status;
}

cudaError_t mr_cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC how;
    if (!pTexDesc)
        return cudaErrorInvalidValue;
    CUresult status = mr_driver.cuTexObjectGetTextureDesc(&how, texObject);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    *pTexDesc = (struct cudaTextureDesc){
        .filterMode = (enum cudaTextureFilterMode)how.filterMode,
        .readMode = how.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
        .sRGB = !!(how.flags & CU_TRSF_SRGB),
        .normalizedCoords = !!(how.flags & CU_TRSF_NORMALIZED_COORDINATES),
        .maxAnisotropy = how.maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)how.mipmapFilterMode,
        .mipmapLevelBias = how.mipmapLevelBias,
        .minMipmapLevelClamp = how.minMipmapLevelClamp,
        .maxMipmapLevelClamp = how.maxMipmapLevelClamp,
        .disableTrilinearOptimization = !!(how.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        .seamlessCubemap = !!(how.flags & CU_TRSF_SEAMLESS_CUBEMAP)};
    for (int i = 0; i < 3; i++)
        pTexDesc->addressMode[i] = (enum cudaTextureAddressMode)how.addressMode[i];
    memcpy(pTexDesc->borderColor, how.borderColor, sizeof how.borderColor);
    return cudaSuccess;
}

cudaError_t mr_cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                    cudaTextureObject_t texObject)
{
    return (cudaError_t)mr_driver.cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)pResViewDesc, texObject);
}

cudaError_t mr_cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC what;
    cudaError_t status = resource(pResDesc, &what);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuSurfObjectCreate(pSurfObject, &what) : status;
}

cudaError_t mr_cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC what;
    if (!pResDesc)
        return cudaErrorInvalidValue;
    CUresult status = mr_driver.cuSurfObjectGetResourceDesc(&what, surfObject);
    return status == CUDA_SUCCESS ? resource_back(&what, pResDesc) : (cudaError_t)status;
}
