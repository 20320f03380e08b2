/* SPDX-License-Identifier: Apache-2.0 */
/* Linear copies, in all their forms: host to device and back, within the device, unified, between contexts.
 *
 * The forms of CUDA before 3.2 take 32-bit addresses and sizes; they widen them and use the default stream. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api/memory/transfer.h"
#include "api_impl.h"

static CUresult linear(uintptr_t to, enum mr_side_kind to_kind, uintptr_t from, enum mr_side_kind from_kind,
                       size_t bytes, CUstream stream, enum mr_transfer_mode mode)
{
    struct mr_side destination = {.address = to, .kind = to_kind}, source = {.address = from, .kind = from_kind};
    return mr_transfer_copy(&destination, &source, bytes, 1, 1, stream, mode);
}

/* Unified: what the operands are is told by their addresses. */

CUresult mr_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream mr_default)
{
    return linear((uintptr_t)dst, MR_SIDE_UNIFIED, (uintptr_t)src, MR_SIDE_UNIFIED, ByteCount, mr_default,
                  MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return linear((uintptr_t)dst, MR_SIDE_UNIFIED, (uintptr_t)src, MR_SIDE_UNIFIED, ByteCount, hStream,
                  MR_TRANSFER_ASYNC);
}

/* Between contexts. */

static CUresult peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                     CUstream stream, enum mr_transfer_mode mode)
{
    struct mr_side destination = {.address = (uintptr_t)to, .kind = MR_SIDE_DEVICE};
    struct mr_side source = {.address = (uintptr_t)from, .kind = MR_SIDE_DEVICE};
    CUresult status = mr_transfer_peer(to_context, &destination.by);
    if (status == CUDA_SUCCESS)
        status = mr_transfer_peer(from_context, &source.by);
    return status == CUDA_SUCCESS ? mr_transfer_copy(&destination, &source, bytes, 1, 1, stream, mode) : status;
}

CUresult mr_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                         size_t ByteCount, CUstream mr_default)
{
    return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                              size_t ByteCount, CUstream hStream)
{
    CUresult status = mr_transfer_refuse_captured(hStream);
    return status != CUDA_SUCCESS
               ? status
               : peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, MR_TRANSFER_ASYNC);
}

/* Host to device. */

CUresult mr_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream mr_default)
{
    return linear((uintptr_t)dstDevice, MR_SIDE_DEVICE, (uintptr_t)srcHost, MR_SIDE_HOST, ByteCount, mr_default,
                  MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return linear((uintptr_t)dstDevice, MR_SIDE_DEVICE, (uintptr_t)srcHost, MR_SIDE_HOST, ByteCount, hStream,
                  MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpyHtoD(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount)
{
    return mr_cuMemcpyHtoD_v2(dstDevice, srcHost, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyHtoDAsync(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount, CUstream hStream)
{
    return mr_cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount, hStream);
}

/* Device to host. */

CUresult mr_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream mr_default)
{
    return linear((uintptr_t)dstHost, MR_SIDE_HOST, (uintptr_t)srcDevice, MR_SIDE_DEVICE, ByteCount, mr_default,
                  MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear((uintptr_t)dstHost, MR_SIDE_HOST, (uintptr_t)srcDevice, MR_SIDE_DEVICE, ByteCount, hStream,
                  MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpyDtoH(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
    return mr_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream)
{
    return mr_cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount, hStream);
}

/* Within device memory. */

CUresult mr_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream mr_default)
{
    return linear((uintptr_t)dstDevice, MR_SIDE_DEVICE, (uintptr_t)srcDevice, MR_SIDE_DEVICE, ByteCount, mr_default,
                  MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear((uintptr_t)dstDevice, MR_SIDE_DEVICE, (uintptr_t)srcDevice, MR_SIDE_DEVICE, ByteCount, hStream,
                  MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpyDtoD(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
    return mr_cuMemcpyDtoD_v2(dstDevice, srcDevice, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyDtoDAsync(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount,
                              CUstream hStream)
{
    return mr_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream);
}
