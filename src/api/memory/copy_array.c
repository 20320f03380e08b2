/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a run of bytes from and to arrays: of two-dimensional ones the first row. Each is a box of one row, so that
 * a captured one shows its array. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api/memory/transfer.h"
#include "api_impl.h"

/* One end: `array` and an offset into it, or host or device memory. */
struct end {
    CUmemorytype type;
    CUarray array;
    size_t offset;
    uintptr_t address;
};

static struct end in_array(CUarray array, size_t offset)
{
    return (struct end){.type = CU_MEMORYTYPE_ARRAY, .array = array, .offset = offset};
}

static struct end in_host(const void *address)
{
    return (struct end){.type = CU_MEMORYTYPE_HOST, .address = (uintptr_t)address};
}

static struct end in_device(CUdeviceptr address)
{
    return (struct end){.type = CU_MEMORYTYPE_DEVICE, .address = (uintptr_t)address};
}

static CUresult copy(struct end to, struct end from, size_t bytes, CUstream stream, enum mr_transfer_mode mode)
{
    CUDA_MEMCPY3D box = {.srcMemoryType = from.type,
                         .srcArray = from.array,
                         .srcXInBytes = from.offset,
                         .dstMemoryType = to.type,
                         .dstArray = to.array,
                         .dstXInBytes = to.offset,
                         .WidthInBytes = bytes,
                         .Height = 1,
                         .Depth = 1};
    if (from.type == CU_MEMORYTYPE_HOST)
        box.srcHost = (const void *)from.address;
    else
        box.srcDevice = from.address;
    if (to.type == CU_MEMORYTYPE_HOST)
        box.dstHost = (void *)to.address;
    else
        box.dstDevice = to.address;
    return mr_transfer_box(&box, stream, mode);
}

CUresult mr_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount,
                            CUstream mr_default)
{
    return copy(in_array(dstArray, dstOffset), in_device(srcDevice), ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyDtoA(CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
    return mr_cuMemcpyDtoA_v2(dstArray, dstOffset, srcDevice, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                            CUstream mr_default)
{
    return copy(in_device(dstDevice), in_array(srcArray, srcOffset), ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyAtoD(CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount)
{
    return mr_cuMemcpyAtoD_v2(dstDevice, srcArray, srcOffset, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                            CUstream mr_default)
{
    return copy(in_array(dstArray, dstOffset), in_host(srcHost), ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyHtoA(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount)
{
    return mr_cuMemcpyHtoA_v2(dstArray, dstOffset, srcHost, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                 CUstream hStream)
{
    return copy(in_array(dstArray, dstOffset), in_host(srcHost), ByteCount, hStream, MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpyHtoAAsync(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount,
                              CUstream hStream)
{
    return mr_cuMemcpyHtoAAsync_v2(dstArray, dstOffset, srcHost, ByteCount, hStream);
}

CUresult mr_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream mr_default)
{
    return copy(in_host(dstHost), in_array(srcArray, srcOffset), ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyAtoH(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount)
{
    return mr_cuMemcpyAtoH_v2(dstHost, srcArray, srcOffset, ByteCount, CU_STREAM_LEGACY);
}

CUresult mr_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
    return copy(in_host(dstHost), in_array(srcArray, srcOffset), ByteCount, hStream, MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount,
                              CUstream hStream)
{
    return mr_cuMemcpyAtoHAsync_v2(dstHost, srcArray, srcOffset, ByteCount, hStream);
}

CUresult mr_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                            CUstream mr_default)
{
    return copy(in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), ByteCount, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpyAtoA(CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset,
                         unsigned int ByteCount)
{
    return mr_cuMemcpyAtoA_v2(dstArray, dstOffset, srcArray, srcOffset, ByteCount, CU_STREAM_LEGACY);
}
