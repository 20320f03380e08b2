/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that run.c and run_graph.c make of the driver, made of the runtime API instead: the same programs, through
 * the other interface.
 *
 * Included with RANDOM_RUNTIME. Streams, events and graphs are the same handles in both, and statuses the same numbers.
 * A context stands for its device, a module for a library, a function for a kernel. What the runtime has no function
 * for (writes and waits of values, fills of wider elements in streams) is not offered by probe(), so that no program
 * has it. Only what the two files use is here, and only the parameters that they use are looked at. */
#ifndef RANDOM_BY_RUNTIME_H
#define RANDOM_BY_RUNTIME_H

#include <cuda_runtime_api.h>
#include <string.h>

#define BY(name) by_runtime_##name
#define TO(pointer) ((void *)(uintptr_t)(pointer))

/* ---- start, devices, kernels ---- */

static inline CUresult BY(init)(void)
{
    return (CUresult)cudaFree(NULL);
}
#undef cuInit
#define cuInit(flags) BY(init)()
#undef cuDeviceGetCount
#define cuDeviceGetCount(count) ((CUresult)cudaGetDeviceCount(count))
#undef cuDeviceGet
#define cuDeviceGet(device, number) (*(device) = (number), CUDA_SUCCESS)
#undef cuDeviceGetAttribute
#define cuDeviceGetAttribute(value, attribute, device) \
    ((CUresult)cudaDeviceGetAttribute((value), (enum cudaDeviceAttr)(attribute), (device)))
#undef cuDeviceCanAccessPeer
#define cuDeviceCanAccessPeer(can, device, peer) ((CUresult)cudaDeviceCanAccessPeer((can), (device), (peer)))
#undef cuDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRetain(context, device) (*(context) = (CUcontext)TO((device) + 1), CUDA_SUCCESS)
#undef cuCtxSetCurrent
#define cuCtxSetCurrent(context) ((CUresult)cudaSetDevice((int)(uintptr_t)(context) - 1))
#undef cuCtxSynchronize
#define cuCtxSynchronize() ((CUresult)cudaDeviceSynchronize())
#undef cuCtxGetStreamPriorityRange
#define cuCtxGetStreamPriorityRange(least, greatest) ((CUresult)cudaDeviceGetStreamPriorityRange((least), (greatest)))
#undef cuGetErrorName
#define cuGetErrorName(status, name) (*(name) = cudaGetErrorName((cudaError_t)(status)), CUDA_SUCCESS)

static inline CUresult BY(load)(CUmodule *module, const void *text)
{
    return (CUresult)cudaLibraryLoadData((cudaLibrary_t *)module, text, NULL, NULL, 0, NULL, NULL, 0);
}
#undef cuModuleLoadData
#define cuModuleLoadData BY(load)

static inline CUresult BY(kernel)(CUfunction *function, CUmodule module, const char *name)
{
    return (CUresult)cudaLibraryGetKernel((cudaKernel_t *)function, (cudaLibrary_t)module, name);
}
#undef cuModuleGetFunction
#define cuModuleGetFunction BY(kernel)

static inline CUresult BY(launch)(CUfunction function, unsigned grid, unsigned block, CUstream stream, void **params)
{
    const dim3 blocks = {grid, 1, 1}, threads = {block, 1, 1};
    return (CUresult)cudaLaunchKernel((const void *)function, blocks, threads, params, 0, stream);
}
#undef cuLaunchKernel
#define cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra) \
    BY(launch)((function), (gx), (bx), (stream), (params))
#undef cuLaunchHostFunc
#define cuLaunchHostFunc(stream, function, data) ((CUresult)cudaLaunchHostFunc((stream), (function), (data)))

/* ---- memory ---- */

#undef cuMemAlloc
#define cuMemAlloc(out, bytes) ((CUresult)cudaMalloc((void **)(out), (bytes)))
#undef cuMemAllocHost
#define cuMemAllocHost(out, bytes) ((CUresult)cudaMallocHost((out), (bytes)))
#undef cuMemHostAlloc
#define cuMemHostAlloc(out, bytes, flags) ((CUresult)cudaHostAlloc((out), (bytes), cudaHostAllocPortable))
#undef cuMemAllocManaged
#define cuMemAllocManaged(out, bytes, flags) ((CUresult)cudaMallocManaged((void **)(out), (bytes), cudaMemAttachGlobal))
#undef cuMemAllocAsync
#define cuMemAllocAsync(out, bytes, stream) ((CUresult)cudaMallocAsync((void **)(out), (bytes), (stream)))
#undef cuMemFree
#define cuMemFree(pointer) ((CUresult)cudaFree(TO(pointer)))
#undef cuMemFreeHost
#define cuMemFreeHost(pointer) ((CUresult)cudaFreeHost(pointer))
#undef cuMemFreeAsync
#define cuMemFreeAsync(pointer, stream) ((CUresult)cudaFreeAsync(TO(pointer), (stream)))

#undef cuMemcpy
#define cuMemcpy(to, from, bytes) ((CUresult)cudaMemcpy(TO(to), TO(from), (bytes), cudaMemcpyDefault))
#undef cuMemcpyHtoD
#define cuMemcpyHtoD(to, from, bytes) ((CUresult)cudaMemcpy(TO(to), (from), (bytes), cudaMemcpyHostToDevice))
#undef cuMemcpyDtoH
#define cuMemcpyDtoH(to, from, bytes) ((CUresult)cudaMemcpy((to), TO(from), (bytes), cudaMemcpyDeviceToHost))
#undef cuMemcpyDtoD
#define cuMemcpyDtoD(to, from, bytes) ((CUresult)cudaMemcpy(TO(to), TO(from), (bytes), cudaMemcpyDeviceToDevice))
#undef cuMemcpyAsync
#define cuMemcpyAsync(to, from, bytes, stream) \
    ((CUresult)cudaMemcpyAsync(TO(to), TO(from), (bytes), cudaMemcpyDefault, (stream)))
#undef cuMemcpyHtoDAsync
#define cuMemcpyHtoDAsync(to, from, bytes, stream) \
    ((CUresult)cudaMemcpyAsync(TO(to), (from), (bytes), cudaMemcpyHostToDevice, (stream)))
#undef cuMemcpyDtoHAsync
#define cuMemcpyDtoHAsync(to, from, bytes, stream) \
    ((CUresult)cudaMemcpyAsync((to), TO(from), (bytes), cudaMemcpyDeviceToHost, (stream)))
#undef cuMemcpyDtoDAsync
#define cuMemcpyDtoDAsync(to, from, bytes, stream) \
    ((CUresult)cudaMemcpyAsync(TO(to), TO(from), (bytes), cudaMemcpyDeviceToDevice, (stream)))

static inline CUresult BY(copy_2d)(const CUDA_MEMCPY2D *box, CUstream stream)
{
    return (CUresult)cudaMemcpy2DAsync(TO(box->dstDevice), box->dstPitch, TO(box->srcDevice), box->srcPitch,
                                       box->WidthInBytes, box->Height, cudaMemcpyDefault, stream);
}
#undef cuMemcpy2DAsync
#define cuMemcpy2DAsync BY(copy_2d)
#undef cuMemcpyPeerAsync
#define cuMemcpyPeerAsync(to, there, from, here, bytes, stream) \
    ((CUresult)cudaMemcpyPeerAsync(TO(to), (int)(uintptr_t)(there) - 1, TO(from), (int)(uintptr_t)(here) - 1, (bytes), \
                                   (stream)))

#undef cuMemsetD8Async
#define cuMemsetD8Async(to, value, count, stream) ((CUresult)cudaMemsetAsync(TO(to), (value), (count), (stream)))
#undef cuMemsetD2D8Async
#define cuMemsetD2D8Async(to, pitch, value, width, height, stream) \
    ((CUresult)cudaMemset2DAsync(TO(to), (pitch), (value), (width), (height), (stream)))
/* No program has these, and probe() finds them missing. */
#undef cuMemsetD16Async
#define cuMemsetD16Async(...) CUDA_ERROR_NOT_SUPPORTED
#undef cuMemsetD32Async
#define cuMemsetD32Async(...) CUDA_ERROR_NOT_SUPPORTED
#undef cuMemsetD2D16Async
#define cuMemsetD2D16Async(...) CUDA_ERROR_NOT_SUPPORTED
#undef cuMemsetD2D32Async
#define cuMemsetD2D32Async(...) CUDA_ERROR_NOT_SUPPORTED
#undef cuStreamWriteValue32
#define cuStreamWriteValue32(...) CUDA_ERROR_NOT_SUPPORTED
#undef cuStreamWaitValue32
#define cuStreamWaitValue32(...) CUDA_ERROR_NOT_SUPPORTED

/* ---- streams and events ---- */

#undef cuStreamCreate
#define cuStreamCreate(stream, flags) ((CUresult)cudaStreamCreateWithFlags((stream), (flags)))
#undef cuStreamCreateWithPriority
#define cuStreamCreateWithPriority(stream, flags, priority) \
    ((CUresult)cudaStreamCreateWithPriority((stream), (flags), (priority)))
#undef cuStreamDestroy
#define cuStreamDestroy(stream) ((CUresult)cudaStreamDestroy(stream))
#undef cuStreamQuery
#define cuStreamQuery(stream) ((CUresult)cudaStreamQuery(stream))
#undef cuStreamSynchronize
#define cuStreamSynchronize(stream) ((CUresult)cudaStreamSynchronize(stream))
#undef cuStreamWaitEvent
#define cuStreamWaitEvent(stream, event, flags) ((CUresult)cudaStreamWaitEvent((stream), (event), (flags)))
#undef cuStreamBeginCapture
#define cuStreamBeginCapture(stream, mode) \
    ((CUresult)cudaStreamBeginCapture((stream), (enum cudaStreamCaptureMode)(mode)))
#undef cuStreamEndCapture
#define cuStreamEndCapture(stream, graph) ((CUresult)cudaStreamEndCapture((stream), (graph)))

#undef cuEventCreate
#define cuEventCreate(event, flags) ((CUresult)cudaEventCreateWithFlags((event), (flags)))
#undef cuEventDestroy
#define cuEventDestroy(event) ((CUresult)cudaEventDestroy(event))
#undef cuEventQuery
#define cuEventQuery(event) ((CUresult)cudaEventQuery(event))
#undef cuEventRecord
#define cuEventRecord(event, stream) ((CUresult)cudaEventRecord((event), (stream)))
#undef cuEventSynchronize
#define cuEventSynchronize(event) ((CUresult)cudaEventSynchronize(event))

/* ---- graphs ---- */

#undef cuGraphCreate
#define cuGraphCreate(graph, flags) ((CUresult)cudaGraphCreate((graph), (flags)))
#undef cuGraphDestroy
#define cuGraphDestroy(graph) ((CUresult)cudaGraphDestroy(graph))
#undef cuGraphInstantiateWithFlags
#define cuGraphInstantiateWithFlags(exec, graph, flags) \
    ((CUresult)cudaGraphInstantiateWithFlags((exec), (graph), (flags)))
#undef cuGraphExecDestroy
#define cuGraphExecDestroy(exec) ((CUresult)cudaGraphExecDestroy(exec))
#undef cuGraphLaunch
#define cuGraphLaunch(exec, stream) ((CUresult)cudaGraphLaunch((exec), (stream)))
#undef cuGraphAddHostNode
#define cuGraphAddHostNode(node, graph, after, count, params) \
    ((CUresult)cudaGraphAddHostNode((node), (graph), (after), (count), \
                                    (const struct cudaHostNodeParams *)(const void *)(params)))
#undef cuGraphExecHostNodeSetParams
#define cuGraphExecHostNodeSetParams(exec, node, params) \
    ((CUresult)cudaGraphExecHostNodeSetParams((exec), (node), \
                                              (const struct cudaHostNodeParams *)(const void *)(params)))

static inline struct cudaMemsetParams BY(fill)(const CUDA_MEMSET_NODE_PARAMS *from)
{
    const struct cudaMemsetParams params = {TO(from->dst),     from->pitch, from->value,
                                            from->elementSize, from->width, from->height};
    return params;
}

static inline CUresult BY(add_fill)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                    const CUDA_MEMSET_NODE_PARAMS *from)
{
    const struct cudaMemsetParams params = BY(fill)(from);
    return (CUresult)cudaGraphAddMemsetNode(node, graph, after, count, &params);
}
#undef cuGraphAddMemsetNode
#define cuGraphAddMemsetNode(node, graph, after, count, params, context) \
    BY(add_fill)((node), (graph), (after), (count), (params))

static inline CUresult BY(set_fill)(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *from)
{
    const struct cudaMemsetParams params = BY(fill)(from);
    return (CUresult)cudaGraphExecMemsetNodeSetParams(exec, node, &params);
}
#undef cuGraphExecMemsetNodeSetParams
#define cuGraphExecMemsetNodeSetParams(exec, node, params, context) BY(set_fill)((exec), (node), (params))

static inline struct cudaKernelNodeParams BY(kernel_params)(const CUDA_KERNEL_NODE_PARAMS *from)
{
    const struct cudaKernelNodeParams params = {.func = (void *)from->func,
                                                .gridDim = {from->gridDimX, from->gridDimY, from->gridDimZ},
                                                .blockDim = {from->blockDimX, from->blockDimY, from->blockDimZ},
                                                .kernelParams = from->kernelParams};
    return params;
}

static inline CUresult BY(add_kernel)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS *from)
{
    const struct cudaKernelNodeParams params = BY(kernel_params)(from);
    return (CUresult)cudaGraphAddKernelNode(node, graph, after, count, &params);
}
#undef cuGraphAddKernelNode
#define cuGraphAddKernelNode BY(add_kernel)

static inline CUresult BY(set_kernel)(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *from)
{
    const struct cudaKernelNodeParams params = BY(kernel_params)(from);
    return (CUresult)cudaGraphExecKernelNodeSetParams(exec, node, &params);
}
#undef cuGraphExecKernelNodeSetParams
#define cuGraphExecKernelNodeSetParams BY(set_kernel)

static inline CUresult BY(add_copy)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                    const CUDA_MEMCPY3D *from)
{
    struct cudaMemcpy3DParms params;
    memset(&params, 0, sizeof params);
    params.srcPtr = (struct cudaPitchedPtr){TO(from->srcDevice), from->srcPitch, from->WidthInBytes, from->srcHeight};
    params.dstPtr = (struct cudaPitchedPtr){TO(from->dstDevice), from->dstPitch, from->WidthInBytes, from->dstHeight};
    params.extent = (struct cudaExtent){from->WidthInBytes, from->Height, from->Depth};
    params.kind = cudaMemcpyDefault;
    return (CUresult)cudaGraphAddMemcpyNode(node, graph, after, count, &params);
}
#undef cuGraphAddMemcpyNode
#define cuGraphAddMemcpyNode(node, graph, after, count, params, context) \
    BY(add_copy)((node), (graph), (after), (count), (params))

static inline CUresult BY(update)(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    cudaGraphExecUpdateResultInfo found;
    memset(&found, 0, sizeof found);
    cudaError_t status = cudaGraphExecUpdate(exec, graph, &found);
    info->result = (CUgraphExecUpdateResult)found.result;
    return (CUresult)status;
}
#undef cuGraphExecUpdate
#define cuGraphExecUpdate BY(update)

#endif
