/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime API as C++ programs and CUDA C++ sources see it: cuda_runtime_api.h, the vector types, and templates that spare
 * casts. C programs get the first two.
 *
 * A CUDA C++ source is compiled twice by clang, for the host and for the device; both times this file brings the language of kernels
 * along (millrace_device.h), unless the compiler's command line has done so before. */
#ifndef MILLRACE_CUDA_RUNTIME_H
#define MILLRACE_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__

#if defined(__CUDA__) && !defined(MILLRACE_DEVICE_H)
#if !__has_include("millrace_device.h")
#error "clang finds no language of kernels here by itself: compile with Millrace's nvcc, which runs clang 19 (CMake: -DCMAKE_CUDA_COMPILER=nvcc)"
#endif
#include "millrace_device.h"
#endif
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include <utility>
#ifdef __CUDA__
/* Sources written for nvcc have these without asking: its header of the same name brings them. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmath>
#include <cstdlib>
#include <new>
#endif

#include "channel_descriptor.h"

/* What <<<…>>> becomes: the shape is pushed here and popped by the kernel's stub on the host, on the same thread. */
extern "C" unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0, struct CUstream_st *stream = 0);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);

/* Launches: `func` is the kernel itself. */
template <class T>
static inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
/* The arguments are converted to the kernel's parameter types first, as a call would. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), Arguments &&...args)
{
    auto launch = [&](Parameters... converted) {
        void *addresses[sizeof...(Parameters) + 1] = { (void *)&converted... };
        return ::cudaLaunchKernelExC(config, (const void *)kernel, addresses);
    };
    return launch(std::forward<Arguments>(args)...);
}
/* Here they are taken as they are: their types have to be the kernel's. */
template <typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, const cudaKernel_t kernel, Arguments &&...args)
{
    void *addresses[sizeof...(Arguments) + 1] = { (void *)&args... };
    return ::cudaLaunchKernelExC(config, (const void *)kernel, addresses);
}

/* Allocation into pointers of any type. */
template <class T> static inline cudaError_t cudaMalloc(T **devPtr, size_t size) { return ::cudaMalloc((void **)(void *)devPtr, size); }
static inline cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags) { return ::cudaHostAlloc(ptr, size, flags); }
template <class T> static inline cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)pDevice, pHost, flags);
}
template <class T> static inline cudaError_t cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
static inline cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T> static inline cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T> static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0, unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}

/* Batches: pointers of any type, or one attribute for all copies. */
template <class T, class U>
static inline cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs, const size_t *sizes, size_t count, cudaMemcpyAttributes *attrs,
    size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream);
}
template <class T, class U>
static inline cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs, const size_t *sizes, size_t count, cudaMemcpyAttributes attr, cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count, &attr, &first, 1, stream);
}
template <class T>
static inline cudaError_t cudaMemPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count, cudaMemLocation *locations, size_t *indices, size_t locationCount,
    unsigned long long flags, cudaStream_t stream)
{
    return ::cudaMemPrefetchBatchAsync((void **)dptrs, sizes, count, locations, indices, locationCount, flags, stream);
}
template <class T>
static inline cudaError_t cudaMemPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count, cudaMemLocation location, unsigned long long flags, cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemPrefetchBatchAsync((void **)dptrs, sizes, count, &location, &first, 1, flags, stream);
}
template <class T>
static inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count, cudaMemLocation *locations, size_t *indices,
    size_t locationCount, unsigned long long flags, cudaStream_t stream)
{
    return ::cudaMemDiscardAndPrefetchBatchAsync((void **)dptrs, sizes, count, locations, indices, locationCount, flags, stream);
}
template <class T>
static inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count, cudaMemLocation location, unsigned long long flags,
    cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemDiscardAndPrefetchBatchAsync((void **)dptrs, sizes, count, &location, &first, 1, flags, stream);
}

/* Variables of the device by reference. */
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **devPtr, const T &symbol) { return ::cudaGetSymbolAddress(devPtr, (const void *)&symbol); }
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) { return ::cudaGetSymbolSize(size, (const void *)&symbol); }
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0, enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
    enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0, enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t dependencyCount,
    const T &symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, dependencyCount, (const void *)&symbol, src, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t dependencyCount,
    void *dst, const T &symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, dependencyCount, dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol, const void *src, size_t count, size_t offset,
    enum cudaMemcpyKind kind)
{
    return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, src, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const T &symbol, size_t count, size_t offset,
    enum cudaMemcpyKind kind)
{
    return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const T &symbol, const void *src, size_t count,
    size_t offset, enum cudaMemcpyKind kind)
{
    return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void *)&symbol, src, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const T &symbol, size_t count,
    size_t offset, enum cudaMemcpyKind kind)
{
    return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, dst, (const void *)&symbol, count, offset, kind);
}

/* Events and graphs with fewer or older parameters. */
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return ::cudaEventCreateWithFlags(event, flags); }
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *errorNode, char *log, size_t size)
{
    if (errorNode)
        *errorNode = 0;
    if (log && size)
        *log = 0;
    return ::cudaGraphInstantiate(exec, graph, 0);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *errorNode, enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t status = ::cudaGraphExecUpdate(exec, graph, &info);
    if (errorNode)
        *errorNode = info.errorNode;
    if (result)
        *result = info.result;
    return status;
}
/* A user object that is deleted with its last reference. */
template <class T> static inline void mr_delete_object(void *object) { delete (T *)object; }
template <class T> static inline cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, T *target, unsigned int count, unsigned int flags)
{
    return ::cudaUserObjectCreate(object, target, mr_delete_object<T>, count, flags);
}

/* Kernels by name. */
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache config) { return ::cudaFuncSetCacheConfig((const void *)func, config); }
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func)
{
    return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T> static inline cudaError_t cudaFuncGetName(const char **name, T *func) { return ::cudaFuncGetName(name, (const void *)func); }
template <class T> static inline cudaError_t cudaGetKernel(cudaKernel_t *kernel, T *func) { return ::cudaGetKernel(kernel, (const void *)func); }
template <class T> static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *func) { return ::cudaGetFuncBySymbol(function, (const void *)func); }
template <class T> static inline cudaError_t cudaLibraryGetGlobal(T **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return ::cudaLibraryGetGlobal((void **)(void *)dptr, bytes, library, name);
}
template <class T> static inline cudaError_t cudaLibraryGetManaged(T **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return ::cudaLibraryGetManaged((void **)(void *)dptr, bytes, library, name);
}

#include "cuda_occupancy_templates.h"
#if defined(__CUDA__) && __has_include("cuda_device_launches.h")
#include "cuda_device_launches.h"
#endif

#endif
#endif
