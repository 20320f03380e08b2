/* SPDX-License-Identifier: Apache-2.0 */
/* What is linked in the place of NVIDIA's libcudadevrt.a: see device_runtime.h. Compiled to PTX as Millrace is built. */

/* Of the runtime's types, what kernels use. */
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchPendingCountExceeded = 69,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotSupported = 801
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

#include "cuda_device_launches.h"

#define RUNTIME extern "C" __attribute__((device, weak))

/* --- Grids that synchronise ------------------------------------------------------------ */

/* A handle is the address of the grid's workspace, which a cooperative launch leaves in %envreg1 and %envreg2: 0 in
 * another launch. Scope 1 is the grid. */
RUNTIME unsigned long long cudaCGGetIntrinsicHandle(int scope)
{
    unsigned int low, high;
    asm("mov.u32 %0, %%envreg2;\n\tmov.u32 %1, %%envreg1;" : "=r"(low), "=r"(high));
    return scope == 1 ? (unsigned long long)high << 32 | low : 0;
}

/* The barrier is the word at the workspace's offset 4, and is that of cooperative_groups.h: it counts blocks, and what
 * block 0 adds makes the top bit flip when the last one has come. */
RUNTIME cudaError_t cudaCGSynchronizeGrid(unsigned long long handle, unsigned int)
{
    if (!handle)
        return cudaErrorInvalidValue;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        unsigned int *barrier = reinterpret_cast<unsigned int *>(handle) + 1;
        bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
        __threadfence();
        unsigned int before = atomicAdd(barrier, first ? 0x80000001u - gridDim.x * gridDim.y * gridDim.z : 1u);
        while (((*static_cast<volatile unsigned int *>(barrier) ^ before) & 0x80000000u) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
    return cudaSuccess;
}

RUNTIME cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned int flags)
{
    return cudaCGSynchronizeGrid(handle, flags);
}

/* The number of threads and of devices; each pointer may be NULL. */
RUNTIME cudaError_t cudaCGGetSize(unsigned int *threads, unsigned int *devices, unsigned long long handle)
{
    if (!handle)
        return cudaErrorInvalidValue;
    if (threads)
        *threads = gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
    if (devices)
        *devices = 1;
    return cudaSuccess;
}

RUNTIME cudaError_t cudaCGGetRank(unsigned int *thread, unsigned int *device, unsigned long long handle)
{
    if (!handle)
        return cudaErrorInvalidValue;
    unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (thread)
        *thread = ((block * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (device)
        *device = 0;
    return cudaSuccess;
}

/* --- Launches from kernels, and what else they call ------------------------------------- */

/* NVIDIA's compiler calls each function by a name of its own, by itself or from an inline function of that name. */
#define NAMED(name) __cudaCDP2##name

RUNTIME void *NAMED(GetParameterBuffer)(size_t alignment, size_t size) { return cudaGetParameterBuffer(alignment, size); }
RUNTIME void *NAMED(GetParameterBufferV2)(void *kernel, dim3 grid, dim3 block, unsigned int shared)
{
    return cudaGetParameterBufferV2(kernel, grid, block, shared);
}
RUNTIME cudaError_t NAMED(LaunchDevice)(void *kernel, void *buffer, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream)
{
    return cudaLaunchDevice(kernel, buffer, grid, block, shared, stream);
}
RUNTIME cudaError_t NAMED(LaunchDevice_ptsz)(void *kernel, void *buffer, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream)
{
    return cudaLaunchDevice(kernel, buffer, grid, block, shared, stream);
}
RUNTIME cudaError_t NAMED(LaunchDeviceV2)(void *buffer, cudaStream_t stream) { return cudaLaunchDeviceV2(buffer, stream); }
RUNTIME cudaError_t NAMED(LaunchDeviceV2_ptsz)(void *buffer, cudaStream_t stream) { return cudaLaunchDeviceV2(buffer, stream); }
RUNTIME cudaError_t NAMED(GetLastError)() { return cudaGetLastError(); }
RUNTIME cudaError_t NAMED(PeekAtLastError)() { return cudaPeekAtLastError(); }
RUNTIME const char *NAMED(GetErrorName)(cudaError_t error) { return cudaGetErrorName(error); }
RUNTIME const char *NAMED(GetErrorString)(cudaError_t error) { return cudaGetErrorString(error); }
RUNTIME cudaError_t NAMED(StreamCreateWithFlags)(cudaStream_t *stream, unsigned int flags) { return cudaStreamCreateWithFlags(stream, flags); }
RUNTIME cudaError_t NAMED(StreamDestroy)(cudaStream_t stream) { return cudaStreamDestroy(stream); }
RUNTIME cudaError_t NAMED(StreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned int flags) { return cudaStreamWaitEvent(stream, event, flags); }
RUNTIME cudaError_t NAMED(StreamWaitEvent_ptsz)(cudaStream_t stream, cudaEvent_t event, unsigned int flags) { return cudaStreamWaitEvent(stream, event, flags); }
RUNTIME cudaError_t NAMED(EventCreateWithFlags)(cudaEvent_t *event, unsigned int flags) { return cudaEventCreateWithFlags(event, flags); }
RUNTIME cudaError_t NAMED(EventRecord)(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); }
RUNTIME cudaError_t NAMED(EventRecord_ptsz)(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); }
RUNTIME cudaError_t NAMED(EventRecordWithFlags)(cudaEvent_t event, cudaStream_t stream, unsigned int) { return cudaEventRecord(event, stream); }
RUNTIME cudaError_t NAMED(EventRecordWithFlags_ptsz)(cudaEvent_t event, cudaStream_t stream, unsigned int) { return cudaEventRecord(event, stream); }
RUNTIME cudaError_t NAMED(EventDestroy)(cudaEvent_t event) { return cudaEventDestroy(event); }
RUNTIME cudaError_t NAMED(Malloc)(void **memory, size_t size) { return cudaMalloc(memory, size); }
RUNTIME cudaError_t NAMED(Free)(void *memory) { return cudaFree(memory); }

/* 1: the kernels have other names than those of code that includes the header. */
RUNTIME cudaError_t NAMED(MemcpyAsync)(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream)
{
    return mr_device_copy_rows<1>(to, size, from, size, size, 1, stream);
}
RUNTIME cudaError_t NAMED(MemcpyAsync_ptsz)(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream)
{
    return mr_device_copy_rows<1>(to, size, from, size, size, 1, stream);
}
RUNTIME cudaError_t NAMED(Memcpy2DAsync)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream)
{
    return mr_device_copy_rows<1>(to, to_pitch, from, from_pitch, width, height, stream);
}
RUNTIME cudaError_t NAMED(Memcpy2DAsync_ptsz)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind,
                                              cudaStream_t stream)
{
    return mr_device_copy_rows<1>(to, to_pitch, from, from_pitch, width, height, stream);
}
RUNTIME cudaError_t NAMED(MemsetAsync)(void *to, int value, size_t size, cudaStream_t stream)
{
    return mr_device_fill_rows<1>(to, size, value, size, 1, stream);
}
RUNTIME cudaError_t NAMED(MemsetAsync_ptsz)(void *to, int value, size_t size, cudaStream_t stream)
{
    return mr_device_fill_rows<1>(to, size, value, size, 1, stream);
}
RUNTIME cudaError_t NAMED(Memset2DAsync)(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return mr_device_fill_rows<1>(to, pitch, value, width, height, stream);
}
RUNTIME cudaError_t NAMED(Memset2DAsync_ptsz)(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return mr_device_fill_rows<1>(to, pitch, value, width, height, stream);
}
