/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: names for objects of the driver, which nobody reads (nvToolsExt.h). */
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

NVTX_DECLSPEC void NVTX_API nvtxNameCuDeviceA(CUdevice device, const char *name)
{
    (void)device; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuDeviceW(CUdevice device, const wchar_t *name)
{
    (void)device; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuContextA(CUcontext context, const char *name)
{
    (void)context; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuContextW(CUcontext context, const wchar_t *name)
{
    (void)context; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuStreamA(CUstream stream, const char *name)
{
    (void)stream; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuStreamW(CUstream stream, const wchar_t *name)
{
    (void)stream; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuEventA(CUevent event, const char *name)
{
    (void)event; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCuEventW(CUevent event, const wchar_t *name)
{
    (void)event; (void)name;
}

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
