/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: formats, allocation, copies of rows to and from them. */
#include "libs/cudart/array.h"
#include "libs/cudart/copy.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* Formats of which a channel descriptor and the driver have the same idea: kind, bits of a channel. */
static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
} formats[] = {
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};
#define FORMATS (sizeof formats / sizeof *formats)

cudaError_t mr_rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format, unsigned *channels)
{
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    unsigned count = 0;
    while (count < 4 && bits[count] != 0)
        count++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < count ? desc->x : 0))
            count = 0;
    for (size_t i = 0; count > 0 && count != 3 && i < FORMATS; i++)
        if (formats[i].kind == desc->f && formats[i].bits == desc->x) {
            *format = formats[i].format;
            *channels = count;
            return cudaSuccess;
        }
    return mr_rt_bad(cudaErrorInvalidChannelDescriptor, "no array has channels of %d, %d, %d and %d bits of kind %d",
                     desc->x, desc->y, desc->z, desc->w, (int)desc->f);
}

cudaError_t mr_rt_channels(CUarray_format format, unsigned channels, struct cudaChannelFormatDesc *out)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format == format) {
            int bits = formats[i].bits;
            *out = (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                                  channels > 3 ? bits : 0, formats[i].kind};
            return cudaSuccess;
        }
    return mr_rt_bad(cudaErrorNotSupported, "format %d has no channel descriptor here", (int)format);
}

struct cudaChannelFormatDesc mr_cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

static cudaError_t describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *out)
{
    *out = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (!desc)
        return mr_rt_bad(cudaErrorInvalidValue, "the channel descriptor is NULL");
    return mr_rt_format(desc, &out->Format, &out->NumChannels);
}

cudaError_t mr_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                 unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t status = describe(desc, extent, flags, &descriptor);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuArray3DCreate((CUarray *)array, &descriptor) : status;
}

cudaError_t mr_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                               size_t height, unsigned int flags)
{
    return mr_cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t mr_cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                        struct cudaExtent extent, unsigned int numLevels, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    cudaError_t status = describe(desc, extent, flags, &descriptor);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuMipmappedArrayCreate((CUmipmappedArray *)mipmappedArray,
                                                                                 &descriptor, numLevels)
                                 : status;
}

/* Nothing is freed where there is nothing. */
cudaError_t mr_cudaFreeArray(cudaArray_t array)
{
    return array ? (cudaError_t)mr_driver.cuArrayDestroy((CUarray)array) : cudaSuccess;
}

cudaError_t mr_cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    return mipmappedArray ? (cudaError_t)mr_driver.cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray)
                          : cudaSuccess;
}

cudaError_t mr_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                                cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR found;
    struct cudaChannelFormatDesc channels;
    cudaError_t status = (cudaError_t)mr_driver.cuArray3DGetDescriptor(&found, (CUarray)array);
    if (status == cudaSuccess)
        status = mr_rt_channels(found.Format, found.NumChannels, &channels);
    if (status != cudaSuccess)
        return status;
    if (desc)
        *desc = channels;
    if (extent)
        *extent = (struct cudaExtent){found.Width, found.Height, found.Depth};
    if (flags)
        *flags = found.Flags;
    return cudaSuccess;
}

cudaError_t mr_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return desc ? mr_cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array) : cudaErrorInvalidValue;
}

/* Rows to an array and back. Offsets and widths are in bytes, as the driver's. */

static cudaError_t linear_side(const void *pointer, bool host, bool unified, size_t pitch, size_t width,
                               CUmemorytype *type)
{
    (void)pointer;
    if (width > pitch)
        return mr_rt_bad(cudaErrorInvalidPitchValue, "a row of %zu bytes does not fit in a pitch of %zu", width, pitch);
    *type = unified ? CU_MEMORYTYPE_UNIFIED : host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return cudaSuccess;
}

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                            size_t height, enum cudaMemcpyKind kind, CUDA_MEMCPY2D *out)
{
    if (!dst)
        return mr_rt_bad(cudaErrorInvalidResourceHandle, "a copy to an array that is NULL");
    *out = (CUDA_MEMCPY2D){.srcHost = src,
                           .srcDevice = MR_PTR(src),
                           .srcPitch = pitch,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = (CUarray)dst,
                           .dstXInBytes = x,
                           .dstY = y,
                           .WidthInBytes = width,
                           .Height = height};
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go to an array", (int)kind);
    return linear_side(src, kind == cudaMemcpyHostToDevice, kind == cudaMemcpyDefault, pitch, width,
                       &out->srcMemoryType);
}

static cudaError_t from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                              size_t height, enum cudaMemcpyKind kind, CUDA_MEMCPY2D *out)
{
    if (!src)
        return mr_rt_bad(cudaErrorInvalidResourceHandle, "a copy from an array that is NULL");
    *out = (CUDA_MEMCPY2D){.dstHost = dst,
                           .dstDevice = MR_PTR(dst),
                           .dstPitch = pitch,
                           .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = (CUarray)(uintptr_t)src,
                           .srcXInBytes = x,
                           .srcY = y,
                           .WidthInBytes = width,
                           .Height = height};
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not come from an array", (int)kind);
    return linear_side(dst, kind == cudaMemcpyDeviceToHost, kind == cudaMemcpyDefault, pitch, width,
                       &out->dstMemoryType);
}

static cudaError_t copy_rows(cudaError_t status, const CUDA_MEMCPY2D *copy, bool per_thread)
{
    if (status != cudaSuccess || copy->WidthInBytes == 0 || copy->Height == 0)
        return status;
    return (cudaError_t)(per_thread ? mr_driver.cuMemcpy2DUnaligned_v2_ptds : mr_driver.cuMemcpy2DUnaligned_v2)(copy);
}

static cudaError_t copy_rows_in(cudaError_t status, const CUDA_MEMCPY2D *copy, cudaStream_t stream)
{
    if (status != cudaSuccess || copy->WidthInBytes == 0 || copy->Height == 0)
        return status;
    return (cudaError_t)mr_driver.cuMemcpy2DAsync(copy, stream);
}

cudaError_t mr_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind, bool per_thread)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, &copy);
    return copy_rows(status, &copy, per_thread);
}

cudaError_t mr_cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                        size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, &copy);
    return copy_rows_in(status, &copy, stream);
}

cudaError_t mr_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                     size_t width, size_t height, enum cudaMemcpyKind kind, bool per_thread)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, &copy);
    return copy_rows(status, &copy, per_thread);
}

cudaError_t mr_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                          size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, &copy);
    return copy_rows_in(status, &copy, stream);
}

cudaError_t mr_cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                        size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                        enum cudaMemcpyKind kind, bool per_thread)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = (CUarray)(uintptr_t)src,
                                .srcXInBytes = wOffsetSrc,
                                .srcY = hOffsetSrc,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = (CUarray)dst,
                                .dstXInBytes = wOffsetDst,
                                .dstY = hOffsetDst,
                                .WidthInBytes = width,
                                .Height = height};
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go from array to array", (int)kind);
    return copy_rows(cudaSuccess, &copy, per_thread);
}
