/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocation of device and pinned memory, and what is known of a pointer. */
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* No pitch is longer. */
#define LARGEST_ROW (SIZE_MAX / 2)

/* An allocation of no bytes succeeds and gives NULL. The pointer is looked at before a context is made. */
cudaError_t mr_cudaMalloc(void **devPtr, size_t size)
{
    if (!devPtr)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaMalloc: devPtr is NULL");
    cudaError_t status = mr_rt_context();
    if (status != cudaSuccess)
        return status;
    if (size == 0) {
        *devPtr = NULL;
        return cudaSuccess;
    }
    return (cudaError_t)mr_driver.cuMemAlloc((CUdeviceptr *)devPtr, size);
}

cudaError_t mr_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    if (devPtr && size == 0 && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost)) {
        *devPtr = NULL;
        return cudaSuccess;
    }
    return (cudaError_t)mr_driver.cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags);
}

cudaError_t mr_cudaMallocHost(void **ptr, size_t size)
{
    if (!ptr)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaMallocHost: ptr is NULL");
    if (size == 0) {
        *ptr = NULL;
        return cudaSuccess;
    }
    return (cudaError_t)mr_driver.cuMemHostAlloc(ptr, size, CU_MEMHOSTALLOC_DEVICEMAP);
}

cudaError_t mr_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (!devPtr || !pitch)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaMallocPitch: an output is NULL");
    if (width == 0 || height == 0) {
        *devPtr = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    CUresult status = mr_driver.cuMemAllocPitch((CUdeviceptr *)devPtr, pitch, width, height, 4);
    /* Rows that can be had, but not so many or so long ones: there is not that much memory. */
    if (status == CUDA_ERROR_INVALID_VALUE && width <= LARGEST_ROW)
        return mr_rt_bad(cudaErrorMemoryAllocation, "cudaMallocPitch: %zu rows of %zu bytes", height, width);
    return (cudaError_t)status;
}

cudaError_t mr_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    void *pointer;
    size_t pitch, rows;
    if (!pitchedDevPtr)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaMalloc3D: pitchedDevPtr is NULL");
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return mr_rt_bad(cudaErrorMemoryAllocation, "cudaMalloc3D: %zu x %zu rows", extent.height, extent.depth);
    cudaError_t status = mr_cudaMallocPitch(&pointer, &pitch, extent.width, rows);
    if (status == cudaSuccess)
        *pitchedDevPtr =
            (struct cudaPitchedPtr){.ptr = pointer, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    return status;
}

/* NULL frees nothing, but tells what the context has to tell. */
cudaError_t mr_cudaFree(void *devPtr)
{
    CUresult status = mr_driver.cuMemFree(MR_PTR(devPtr));
    if (status == CUDA_SUCCESS && !devPtr)
        status = mr_driver.cuMemGetInfo(NULL, NULL);
    return (cudaError_t)status;
}

cudaError_t mr_cudaFreeHost(void *ptr)
{
    return ptr ? (cudaError_t)mr_driver.cuMemFreeHost(ptr) : cudaSuccess;
}

/* Memory that the driver does not know is ordinary host memory, and that is no error. */
cudaError_t mr_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    unsigned type = 0; /* a CUmemorytype; 0: none */
    int device = 0, managed = 0;
    void *host = NULL, *on_device = NULL;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void *answers[] = {&type, &device, &managed, &host, &on_device};
    if (!attributes)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaPointerGetAttributes: attributes is NULL");
    CUresult status = mr_driver.cuPointerGetAttributes(sizeof asked / sizeof *asked, asked, answers, MR_PTR(ptr));
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    *attributes = (struct cudaPointerAttributes){
        .type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId, .hostPointer = (void *)(uintptr_t)ptr};
    if (managed)
        attributes->type = cudaMemoryTypeManaged;
    else if (type == CU_MEMORYTYPE_HOST)
        attributes->type = cudaMemoryTypeHost;
    else if (type == CU_MEMORYTYPE_DEVICE)
        attributes->type = cudaMemoryTypeDevice;
    else
        return cudaSuccess;
    attributes->device = device;
    attributes->devicePointer = on_device;
    attributes->hostPointer = host;
    return cudaSuccess;
}
