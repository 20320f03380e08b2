/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: names for objects of the driver (nvToolsExt.h). */
#ifndef MILLRACE_NVTOOLSEXTCUDA_H
#define MILLRACE_NVTOOLSEXTCUDA_H

#include <cuda.h>

#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nvtxResourceCUDAType_t {
    NVTX_RESOURCE_TYPE_CUDA_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDA, 1),
    NVTX_RESOURCE_TYPE_CUDA_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 2),
    NVTX_RESOURCE_TYPE_CUDA_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDA, 3),
    NVTX_RESOURCE_TYPE_CUDA_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 4)
} nvtxResourceCUDAType_t;

#ifndef NVTX_NO_IMPL
NVTX_DECLSPEC void NVTX_API nvtxNameCuDeviceA(CUdevice device, const char *name)
{
    MILLRACE_NVTX_DO(CUDA, 1, (CUdevice, const char *), (device, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuDeviceW(CUdevice device, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDA, 2, (CUdevice, const wchar_t *), (device, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuContextA(CUcontext context, const char *name)
{
    MILLRACE_NVTX_DO(CUDA, 3, (CUcontext, const char *), (context, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuContextW(CUcontext context, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDA, 4, (CUcontext, const wchar_t *), (context, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuStreamA(CUstream stream, const char *name)
{
    MILLRACE_NVTX_DO(CUDA, 5, (CUstream, const char *), (stream, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuStreamW(CUstream stream, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDA, 6, (CUstream, const wchar_t *), (stream, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuEventA(CUevent event, const char *name)
{
    MILLRACE_NVTX_DO(CUDA, 7, (CUevent, const char *), (event, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuEventW(CUevent event, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDA, 8, (CUevent, const wchar_t *), (event, name));
}
#endif

#ifdef __cplusplus
}
#endif

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif
