/* SPDX-License-Identifier: Apache-2.0 */
/* Fills: every byte gets the low byte of `value`. */
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

cudaError_t mr_cudaMemset(void *devPtr, int value, size_t count, bool per_thread)
{
    if (count == 0)
        return cudaSuccess;
    return (cudaError_t)(per_thread ? mr_driver.cuMemsetD8_v2_ptds
                                    : mr_driver.cuMemsetD8_v2)(MR_PTR(devPtr), (unsigned char)value, count);
}

cudaError_t mr_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return (cudaError_t)mr_driver.cuMemsetD8Async(MR_PTR(devPtr), (unsigned char)value, count, stream);
}

cudaError_t mr_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height, bool per_thread)
{
    if (width == 0 || height == 0)
        return cudaSuccess;
    return (cudaError_t)(per_thread ? mr_driver.cuMemsetD2D8_v2_ptds : mr_driver.cuMemsetD2D8_v2)(
        MR_PTR(devPtr), pitch, (unsigned char)value, width, height);
}

cudaError_t mr_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream)
{
    return (cudaError_t)mr_driver.cuMemsetD2D8Async(MR_PTR(devPtr), pitch, (unsigned char)value, width, height, stream);
}

/* A box of rows whose slices lie without gaps is one fill of rows; else there is one per slice. */
static cudaError_t check_box(struct cudaPitchedPtr box, struct cudaExtent extent)
{
    if (extent.width > box.pitch || (extent.depth > 1 && extent.height > box.ysize))
        return mr_rt_bad(cudaErrorInvalidValue, "a box of %zu x %zu does not fit in memory of %zu x %zu", extent.width,
                         extent.height, box.pitch, box.ysize);
    return cudaSuccess;
}

/* Where a slice begins. The address is the program's and may be anything. */
static void *slice(struct cudaPitchedPtr box, size_t z)
{
    return (void *)((uintptr_t)box.ptr + z * box.pitch * box.ysize);
}

cudaError_t mr_cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent, bool per_thread)
{
    cudaError_t status = check_box(pitchedDevPtr, extent);
    if (status == cudaSuccess && extent.height == pitchedDevPtr.ysize)
        return mr_cudaMemset2D(pitchedDevPtr.ptr, pitchedDevPtr.pitch, value, extent.width,
                               extent.height * extent.depth, per_thread);
    for (size_t z = 0; status == cudaSuccess && z < extent.depth; z++)
        status = mr_cudaMemset2D(slice(pitchedDevPtr, z), pitchedDevPtr.pitch, value, extent.width, extent.height,
                                 per_thread);
    return status;
}

cudaError_t mr_cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                 cudaStream_t stream)
{
    cudaError_t status = check_box(pitchedDevPtr, extent);
    if (status == cudaSuccess && extent.height == pitchedDevPtr.ysize)
        return mr_cudaMemset2DAsync(pitchedDevPtr.ptr, pitchedDevPtr.pitch, value, extent.width,
                                    extent.height * extent.depth, stream);
    for (size_t z = 0; status == cudaSuccess && z < extent.depth; z++)
        status = mr_cudaMemset2DAsync(slice(pitchedDevPtr, z), pitchedDevPtr.pitch, value, extent.width, extent.height,
                                      stream);
    return status;
}
