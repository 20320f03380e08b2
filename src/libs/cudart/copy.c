/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytes, of rows, to and from symbols, between devices, and in batches.
 *
 * The synchronous functions have a second form for programs whose default stream is the thread's own; `per_thread` says
 * which was called. Boxes are in copy_box.c, arrays in array.c. */
#include "libs/cudart/copy.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

cudaError_t mr_rt_kind_check(enum cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "there is no direction %d of a copy", (int)kind);
    return cudaSuccess;
}

cudaError_t mr_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, bool per_thread)
{
    if (count == 0) /* not even the direction is looked at */
        return cudaSuccess;
    cudaError_t status = mr_rt_kind_check(kind);
    if (status != cudaSuccess)
        return status;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (cudaError_t)(per_thread ? mr_driver.cuMemcpyHtoD_v2_ptds : mr_driver.cuMemcpyHtoD_v2)(MR_PTR(dst), src,
                                                                                                      count);
    case cudaMemcpyDeviceToHost:
        return (cudaError_t)(per_thread ? mr_driver.cuMemcpyDtoH_v2_ptds : mr_driver.cuMemcpyDtoH_v2)(dst, MR_PTR(src),
                                                                                                      count);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)(per_thread ? mr_driver.cuMemcpyDtoD_v2_ptds
                                        : mr_driver.cuMemcpyDtoD_v2)(MR_PTR(dst), MR_PTR(src), count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        break;
    }
    return (cudaError_t)(per_thread ? mr_driver.cuMemcpy_ptds : mr_driver.cuMemcpy)(MR_PTR(dst), MR_PTR(src), count);
}

cudaError_t mr_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t status = mr_rt_kind_check(kind);
    if (status != cudaSuccess)
        return status;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (cudaError_t)mr_driver.cuMemcpyHtoDAsync(MR_PTR(dst), src, count, stream);
    case cudaMemcpyDeviceToHost:
        return (cudaError_t)mr_driver.cuMemcpyDtoHAsync(dst, MR_PTR(src), count, stream);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)mr_driver.cuMemcpyDtoDAsync(MR_PTR(dst), MR_PTR(src), count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        break;
    }
    return (cudaError_t)mr_driver.cuMemcpyAsync(MR_PTR(dst), MR_PTR(src), count, stream);
}

/* Rows for the driver. The pitches of several have to hold a row; that of a single one is the driver's to look at. */
static cudaError_t rows(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                        enum cudaMemcpyKind kind, CUDA_MEMCPY2D *out)
{
    cudaError_t status = mr_rt_kind_check(kind);
    if (status != cudaSuccess)
        return status;
    if (height > 1 && (width > dpitch || width > spitch))
        return mr_rt_bad(cudaErrorInvalidPitchValue, "a row of %zu bytes does not fit in a pitch of %zu", width,
                         dpitch < spitch ? dpitch : spitch);
    *out = (CUDA_MEMCPY2D){.srcPitch = spitch,
                           .dstPitch = dpitch,
                           .WidthInBytes = width,
                           .Height = height,
                           .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = MR_PTR(src),
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = MR_PTR(dst)};
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) {
        out->srcMemoryType = CU_MEMORYTYPE_HOST;
        out->srcHost = src;
    }
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) {
        out->dstMemoryType = CU_MEMORYTYPE_HOST;
        out->dstHost = dst;
    }
    return cudaSuccess;
}

cudaError_t mr_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            enum cudaMemcpyKind kind, bool per_thread)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = rows(dst, dpitch, src, spitch, width, height, kind, &copy);
    if (status != cudaSuccess || width == 0 || height == 0)
        return status;
    return (cudaError_t)(per_thread ? mr_driver.cuMemcpy2DUnaligned_v2_ptds : mr_driver.cuMemcpy2DUnaligned_v2)(&copy);
}

cudaError_t mr_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                 enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t status = rows(dst, dpitch, src, spitch, width, height, kind, &copy);
    if (status != cudaSuccess || width == 0 || height == 0)
        return status;
    return (cudaError_t)mr_driver.cuMemcpy2DAsync(&copy, stream);
}

static cudaError_t to_symbol(const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind, void **place)
{
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go to a symbol", (int)kind);
    return mr_rt_symbol_range(symbol, count, offset, place);
}

static cudaError_t from_symbol(const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind, void **place)
{
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not come from a symbol", (int)kind);
    return mr_rt_symbol_range(symbol, count, offset, place);
}

cudaError_t mr_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                  enum cudaMemcpyKind kind, bool per_thread)
{
    void *place;
    cudaError_t status = to_symbol(symbol, count, offset, kind, &place);
    return status == cudaSuccess ? mr_cudaMemcpy(place, src, count, kind, per_thread) : status;
}

cudaError_t mr_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, bool per_thread)
{
    void *place;
    cudaError_t status = from_symbol(symbol, count, offset, kind, &place);
    return status == cudaSuccess ? mr_cudaMemcpy(dst, place, count, kind, per_thread) : status;
}

cudaError_t mr_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *place;
    cudaError_t status = to_symbol(symbol, count, offset, kind, &place);
    return status == cudaSuccess ? mr_cudaMemcpyAsync(place, src, count, kind, stream) : status;
}

cudaError_t mr_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *place;
    cudaError_t status = from_symbol(symbol, count, offset, kind, &place);
    return status == cudaSuccess ? mr_cudaMemcpyAsync(dst, place, count, kind, stream) : status;
}

/* Devices are named by number here and by context in the driver. */
static cudaError_t two_contexts(int dst, int src, CUcontext contexts[2])
{
    cudaError_t status = mr_rt_primary(dst, &contexts[0]);
    return status == cudaSuccess ? mr_rt_primary(src, &contexts[1]) : status;
}

cudaError_t mr_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    CUcontext contexts[2];
    cudaError_t status = two_contexts(dstDevice, srcDevice, contexts);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuMemcpyPeer(MR_PTR(dst), contexts[0], MR_PTR(src), contexts[1], count)
               : status;
}

cudaError_t mr_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                   cudaStream_t stream)
{
    CUcontext contexts[2];
    cudaError_t status = two_contexts(dstDevice, srcDevice, contexts);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuMemcpyPeerAsync(MR_PTR(dst), contexts[0], MR_PTR(src),
                                                                            contexts[1], count, stream)
                                 : status;
}

/* The descriptions of batches have the driver's layout. Version 12 also named the first copy that failed, which nobody
 * knows any more. */
cudaError_t mr_cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                    struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                    cudaStream_t stream)
{
    return (cudaError_t)mr_driver.cuMemcpyBatchAsync_v2((CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
                                                        (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attrs,
                                                        attrsIdxs, numAttrs, stream);
}

cudaError_t mr_cudaMemcpyBatchAsync_12(void **dsts, void **srcs, size_t *sizes, size_t count,
                                       struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                       size_t *failIdx, cudaStream_t stream)
{
    cudaError_t status =
        mr_cudaMemcpyBatchAsync(dsts, (const void *const *)srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream);
    if (status != cudaSuccess && failIdx)
        *failIdx = SIZE_MAX;
    return status;
}

cudaError_t mr_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                                      cudaStream_t stream)
{
    return (cudaError_t)mr_driver.cuMemcpy3DBatchAsync_v2(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, flags, stream);
}

cudaError_t mr_cudaMemcpy3DBatchAsync_12(size_t numOps, struct cudaMemcpy3DBatchOp *opList, size_t *failIdx,
                                         unsigned long long flags, cudaStream_t stream)
{
    cudaError_t status = mr_cudaMemcpy3DBatchAsync(numOps, opList, flags, stream);
    if (status != cudaSuccess && failIdx)
        *failIdx = SIZE_MAX;
    return status;
}
