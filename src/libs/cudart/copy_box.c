/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in three dimensions.
 *
 * cudaMemcpy3DParms names on each side an array or a pitched pointer, and one direction for both. Where an array takes
 * part, widths and positions in it count its elements, and the width of the box does; else they count bytes. The driver
 * always counts bytes. */
#include "libs/cudart/array.h"
#include "libs/cudart/copy.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* Bytes of an element of an array. */
static cudaError_t element_size(cudaArray_t array, size_t *out)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    CUresult status = mr_driver.cuArray3DGetDescriptor(&descriptor, (CUarray)array);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    struct cudaChannelFormatDesc channels;
    cudaError_t known = mr_rt_channels(descriptor.Format, descriptor.NumChannels, &channels);
    if (known == cudaSuccess)
        *out = (size_t)(channels.x + channels.y + channels.z + channels.w) / 8;
    return known;
}

/* Where the box lies on one side. */
struct side {
    CUmemorytype type;
    size_t x, y, z, pitch, height;
    void *pointer;
    CUarray array;
};

static cudaError_t describe(cudaArray_t array, struct cudaPos pos, struct cudaPitchedPtr pointer, bool host,
                            bool unified, size_t *element, struct side *out)
{
    size_t size = 1;
    if (array && pointer.ptr)
        return mr_rt_bad(cudaErrorInvalidValue, "one side of a copy is an array and a pointer");
    if (array) {
        cudaError_t status = element_size(array, &size);
        if (status != cudaSuccess)
            return status;
        if (*element != 1 && *element != size)
            return mr_rt_bad(cudaErrorInvalidValue, "the arrays of a copy have elements of %zu and %zu bytes", *element,
                             size);
        *element = size;
    }
    *out = (struct side){.type = array     ? CU_MEMORYTYPE_ARRAY
                                 : unified ? CU_MEMORYTYPE_UNIFIED
                                 : host    ? CU_MEMORYTYPE_HOST
                                           : CU_MEMORYTYPE_DEVICE,
                         .x = pos.x * size,
                         .y = pos.y,
                         .z = pos.z,
                         .pitch = array ? 0 : pointer.pitch,
                         .height = array ? 0 : pointer.ysize,
                         .pointer = pointer.ptr,
                         .array = (CUarray)array};
    return cudaSuccess;
}

static cudaError_t finish(const struct side *src, const struct side *dst, struct cudaExtent extent, size_t element,
                          CUDA_MEMCPY3D *out)
{
    *out = (CUDA_MEMCPY3D){.srcXInBytes = src->x,
                           .srcY = src->y,
                           .srcZ = src->z,
                           .srcMemoryType = src->type,
                           .srcHost = src->pointer,
                           .srcDevice = MR_PTR(src->pointer),
                           .srcArray = src->array,
                           .srcPitch = src->pitch,
                           .srcHeight = src->height,
                           .dstXInBytes = dst->x,
                           .dstY = dst->y,
                           .dstZ = dst->z,
                           .dstMemoryType = dst->type,
                           .dstHost = dst->pointer,
                           .dstDevice = MR_PTR(dst->pointer),
                           .dstArray = dst->array,
                           .dstPitch = dst->pitch,
                           .dstHeight = dst->height,
                           .WidthInBytes = extent.width * element,
                           .Height = extent.height,
                           .Depth = extent.depth};
    /* A single row, or layer, has no pitch that matters: then it is an invalid value where the driver finds it too
     * small. */
    if ((!src->array && src->pitch < out->WidthInBytes) || (!dst->array && dst->pitch < out->WidthInBytes))
        return mr_rt_bad(extent.height > 1 || extent.depth > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
                         "a row of %zu bytes does not fit in a pitch", out->WidthInBytes);
    if (extent.depth > 1 &&
        ((!src->array && src->height < extent.height) || (!dst->array && dst->height < extent.height)))
        return mr_rt_bad(cudaErrorInvalidPitchValue,
                         "a layer of %zu rows does not fit in the height of a pitched pointer", extent.height);
    if ((src->height && !src->array && src->height < extent.height) ||
        (dst->height && !dst->array && dst->height < extent.height))
        return mr_rt_bad(cudaErrorInvalidValue, "%zu rows do not fit in the height of a pitched pointer",
                         extent.height);
    return cudaSuccess;
}

cudaError_t mr_rt_box(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *out)
{
    struct side src, dst;
    size_t element = 1;
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the description of a copy is NULL");
    cudaError_t status = mr_rt_kind_check(from->kind);
    bool unified = from->kind == cudaMemcpyDefault;
    if (status == cudaSuccess)
        status = describe(from->srcArray, from->srcPos, from->srcPtr,
                          from->kind == cudaMemcpyHostToDevice || from->kind == cudaMemcpyHostToHost, unified, &element,
                          &src);
    if (status == cudaSuccess)
        status = describe(from->dstArray, from->dstPos, from->dstPtr,
                          from->kind == cudaMemcpyDeviceToHost || from->kind == cudaMemcpyHostToHost, unified, &element,
                          &dst);
    return status == cudaSuccess ? finish(&src, &dst, from->extent, element, out) : status;
}

/* The direction that two kinds of memory amount to. Arrays are on the device. */
static enum cudaMemcpyKind kind_of(CUmemorytype src, CUmemorytype dst)
{
    if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (src == CU_MEMORYTYPE_HOST)
        return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

void mr_rt_box_back(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *out)
{
    size_t element = 1;
    cudaArray_t src = from->srcMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)from->srcArray : NULL;
    cudaArray_t dst = from->dstMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)from->dstArray : NULL;
    if ((src || dst) && element_size(src ? src : dst, &element) != cudaSuccess)
        element = 1;
    *out = (struct cudaMemcpy3DParms){.srcArray = src,
                                      .srcPos = {from->srcXInBytes / (src ? element : 1), from->srcY, from->srcZ},
                                      .dstArray = dst,
                                      .dstPos = {from->dstXInBytes / (dst ? element : 1), from->dstY, from->dstZ},
                                      .extent = {from->WidthInBytes / element, from->Height, from->Depth},
                                      .kind = kind_of(from->srcMemoryType, from->dstMemoryType)};
    if (!src)
        out->srcPtr = (struct cudaPitchedPtr){.pitch = from->srcPitch,
                                              .xsize = from->WidthInBytes,
                                              .ysize = from->srcHeight,
                                              .ptr = from->srcMemoryType == CU_MEMORYTYPE_HOST
                                                         ? (void *)(uintptr_t)from->srcHost
                                                         : (void *)(uintptr_t)from->srcDevice};
    if (!dst)
        out->dstPtr = (struct cudaPitchedPtr){
            .pitch = from->dstPitch,
            .xsize = from->WidthInBytes,
            .ysize = from->dstHeight,
            .ptr = from->dstMemoryType == CU_MEMORYTYPE_HOST ? from->dstHost : (void *)(uintptr_t)from->dstDevice};
}

cudaError_t mr_rt_line(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out)
{
    const struct cudaMemcpy3DParms box = {.srcPtr = {(void *)(uintptr_t)src, count, count, 1},
                                          .dstPtr = {dst, count, count, 1},
                                          .extent = {count, 1, 1},
                                          .kind = kind};
    return mr_rt_box(&box, out);
}

static bool is_empty(const CUDA_MEMCPY3D *box)
{
    return box->WidthInBytes == 0 || box->Height == 0 || box->Depth == 0;
}

cudaError_t mr_cudaMemcpy3D(const struct cudaMemcpy3DParms *p, bool per_thread)
{
    CUDA_MEMCPY3D box;
    cudaError_t status = mr_rt_box(p, &box);
    if (status != cudaSuccess || is_empty(&box))
        return status;
    return (cudaError_t)(per_thread ? mr_driver.cuMemcpy3D_v2_ptds : mr_driver.cuMemcpy3D_v2)(&box);
}

cudaError_t mr_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D box;
    cudaError_t status = mr_rt_box(p, &box);
    if (status != cudaSuccess || is_empty(&box))
        return status;
    return (cudaError_t)mr_driver.cuMemcpy3DAsync(&box, stream);
}

/* The same between devices, which are named by number. */
static cudaError_t peer_box(const struct cudaMemcpy3DPeerParms *from, CUDA_MEMCPY3D_PEER *out)
{
    CUDA_MEMCPY3D box;
    CUcontext src, dst;
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the description of a copy is NULL");
    const struct cudaMemcpy3DParms plain = {.srcArray = from->srcArray,
                                            .srcPos = from->srcPos,
                                            .srcPtr = from->srcPtr,
                                            .dstArray = from->dstArray,
                                            .dstPos = from->dstPos,
                                            .dstPtr = from->dstPtr,
                                            .extent = from->extent,
                                            .kind = cudaMemcpyDeviceToDevice};
    cudaError_t status = mr_rt_box(&plain, &box);
    if (status == cudaSuccess)
        status = mr_rt_primary(from->srcDevice, &src);
    if (status == cudaSuccess)
        status = mr_rt_primary(from->dstDevice, &dst);
    if (status != cudaSuccess)
        return status;
    *out = (CUDA_MEMCPY3D_PEER){.srcXInBytes = box.srcXInBytes,
                                .srcY = box.srcY,
                                .srcZ = box.srcZ,
                                .srcMemoryType = box.srcMemoryType,
                                .srcDevice = box.srcDevice,
                                .srcArray = box.srcArray,
                                .srcContext = src,
                                .srcPitch = box.srcPitch,
                                .srcHeight = box.srcHeight,
                                .dstXInBytes = box.dstXInBytes,
                                .dstY = box.dstY,
                                .dstZ = box.dstZ,
                                .dstMemoryType = box.dstMemoryType,
                                .dstDevice = box.dstDevice,
                                .dstArray = box.dstArray,
                                .dstContext = dst,
                                .dstPitch = box.dstPitch,
                                .dstHeight = box.dstHeight,
                                .WidthInBytes = box.WidthInBytes,
                                .Height = box.Height,
                                .Depth = box.Depth};
    return cudaSuccess;
}

cudaError_t mr_cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p, bool per_thread)
{
    CUDA_MEMCPY3D_PEER box;
    cudaError_t status = peer_box(p, &box);
    return status == cudaSuccess
               ? (cudaError_t)(per_thread ? mr_driver.cuMemcpy3DPeer_ptds : mr_driver.cuMemcpy3DPeer)(&box)
               : status;
}

cudaError_t mr_cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER box;
    cudaError_t status = peer_box(p, &box);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuMemcpy3DPeerAsync(&box, stream) : status;
}
