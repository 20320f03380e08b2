/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: names for objects of the runtime (nvToolsExt.h). */
#ifndef MILLRACE_NVTOOLSEXTCUDART_H
#define MILLRACE_NVTOOLSEXTCUDART_H

#include <cuda_runtime_api.h>

#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDART 5

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nvtxResourceCUDARTType_t {
    NVTX_RESOURCE_TYPE_CUDART_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDART, 0),
    NVTX_RESOURCE_TYPE_CUDART_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDART, 1),
    NVTX_RESOURCE_TYPE_CUDART_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDART, 2)
} nvtxResourceCUDARTType_t;

#ifndef NVTX_NO_IMPL
NVTX_DECLSPEC void NVTX_API nvtxNameCudaDeviceA(int device, const char *name)
{
    MILLRACE_NVTX_DO(CUDART, 1, (int, const char *), (device, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaDeviceW(int device, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDART, 2, (int, const wchar_t *), (device, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaStreamA(cudaStream_t stream, const char *name)
{
    MILLRACE_NVTX_DO(CUDART, 3, (cudaStream_t, const char *), (stream, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDART, 4, (cudaStream_t, const wchar_t *), (stream, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaEventA(cudaEvent_t event, const char *name)
{
    MILLRACE_NVTX_DO(CUDART, 5, (cudaEvent_t, const char *), (event, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CUDART, 6, (cudaEvent_t, const wchar_t *), (event, name));
}
#endif

#ifdef __cplusplus
}
#endif

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
