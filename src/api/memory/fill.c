/* SPDX-License-Identifier: Apache-2.0 */
/* Fills. Three element sizes, one row or many, synchronous or in a stream: all are one call of mr_transfer_fill, so the
 * functions are written by two macros, one per shape. The forms of CUDA before 3.2 widen their arguments. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api/memory/transfer.h"
#include "api_impl.h"

#define FILL_ROW(bits, type) \
    CUresult mr_cuMemsetD##bits##_v2(CUdeviceptr dstDevice, type value, size_t N, CUstream mr_default) \
    { \
        return mr_transfer_fill(dstDevice, 0, value, sizeof(type), N, 1, mr_default, MR_TRANSFER_SYNC); \
    } \
    CUresult mr_cuMemsetD##bits##Async(CUdeviceptr dstDevice, type value, size_t N, CUstream hStream) \
    { \
        return mr_transfer_fill(dstDevice, 0, value, sizeof(type), N, 1, hStream, MR_TRANSFER_ASYNC); \
    } \
    CUresult mr_cuMemsetD##bits(CUdeviceptr_v1 dstDevice, type value, unsigned int N) \
    { \
        return mr_cuMemsetD##bits##_v2(dstDevice, value, N, CU_STREAM_LEGACY); \
    }

#define FILL_ROWS(bits, type) \
    CUresult mr_cuMemsetD2D##bits##_v2(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width, \
                                       size_t Height, CUstream mr_default) \
    { \
        return mr_transfer_fill(dstDevice, dstPitch, value, sizeof(type), Width, Height, mr_default, \
                                MR_TRANSFER_SYNC); \
    } \
    CUresult mr_cuMemsetD2D##bits##Async(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width, \
                                         size_t Height, CUstream hStream) \
    { \
        return mr_transfer_fill(dstDevice, dstPitch, value, sizeof(type), Width, Height, hStream, MR_TRANSFER_ASYNC); \
    } \
    CUresult mr_cuMemsetD2D##bits(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, type value, unsigned int Width, \
                                  unsigned int Height) \
    { \
        return mr_cuMemsetD2D##bits##_v2(dstDevice, dstPitch, value, Width, Height, CU_STREAM_LEGACY); \
    }

FILL_ROW(8, unsigned char)
FILL_ROW(16, unsigned short)
FILL_ROW(32, unsigned int)
FILL_ROWS(8, unsigned char)
FILL_ROWS(16, unsigned short)
FILL_ROWS(32, unsigned int)
