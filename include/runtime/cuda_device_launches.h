/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which kernels launch kernels. They are here so that sources compile which have such launches beside others, as Thrust and CUB do in
 * relocatable code. A launch from a kernel is not done: the first one of a module prints a line, and each gives cudaErrorNotSupported, which is then
 * the launching function's to report.
 *
 * A buffer for parameters is memory of the device's heap, for its one launch, which frees it; NULL where the heap is full. */
#ifndef MILLRACE_CUDA_DEVICE_LAUNCHES_H
#define MILLRACE_CUDA_DEVICE_LAUNCHES_H

static __device__ inline cudaError_t mr_refuse_device_launch(void *buffer)
{
    static int told;
    free(buffer);
    if (atomicExch(&told, 1) == 0)
        printf("millrace: launches from kernels are not supported\n");
    return cudaErrorNotSupported;
}

/* Waiting for kernels that a kernel launched. */
static __device__ inline cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance() { return cudaErrorNotSupported; }

extern "C" {
static __device__ inline void *cudaGetParameterBuffer(size_t, size_t size) { return malloc(size); }
static __device__ inline void *cudaGetParameterBufferV2(void *, dim3, dim3, unsigned int) { return malloc(4096); } /* as much as a kernel can have */
static __device__ inline cudaError_t cudaLaunchDevice(void *, void *buffer, dim3, dim3, unsigned int, cudaStream_t) { return mr_refuse_device_launch(buffer); }
static __device__ inline cudaError_t cudaLaunchDeviceV2(void *buffer, cudaStream_t) { return mr_refuse_device_launch(buffer); }
static __device__ inline cudaError_t cudaLaunchDevice_ptsz(void *, void *buffer, dim3, dim3, unsigned int, cudaStream_t) { return mr_refuse_device_launch(buffer); }
static __device__ inline cudaError_t cudaLaunchDeviceV2_ptsz(void *buffer, cudaStream_t) { return mr_refuse_device_launch(buffer); }
}

#endif
