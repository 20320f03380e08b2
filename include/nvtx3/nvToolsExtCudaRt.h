/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: names for objects of the runtime library, which nobody reads (nvToolsExt.h). */
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

NVTX_DECLSPEC void NVTX_API nvtxNameCudaDeviceA(int device, const char *name)
{
    (void)device; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaDeviceW(int device, const wchar_t *name)
{
    (void)device; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaStreamA(cudaStream_t stream, const char *name)
{
    (void)stream; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name)
{
    (void)stream; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaEventA(cudaEvent_t event, const char *name)
{
    (void)event; (void)name;
}

NVTX_DECLSPEC void NVTX_API nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name)
{
    (void)event; (void)name;
}

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
