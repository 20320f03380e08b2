/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime library as they were before CUDA 13, by which samples of 12.5 call them. */
#pragma once
#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda_runtime.h>

static inline cudaMemLocation samples_location(int device)
{
    cudaMemLocation location;
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t size, int device, cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(p, size, samples_location(device), 0u, stream);
}

template <class T> static inline cudaError_t cudaMemAdvise(T *p, size_t size, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise((const void *)p, size, advice, samples_location(device));
}

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                           size_t count, cudaGraphNodeParams *parameters)
{
    return cudaGraphAddNode(node, graph, after, NULL, count, parameters);
}

static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                   unsigned long long *id, cudaGraph_t *graph,
                                                   const cudaGraphNode_t **nodes, size_t *count)
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, count);
}

static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                              size_t count, unsigned flags)
{
    return cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags);
}
#endif
