/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, by <<<…>>> and by name.
 *
 * <<<…>>> pushes the shape of the launch and calls the kernel's stub, which pops it and calls cudaLaunchKernel. nvcc 13
 * has the stub ask once for the kernel's handle (__cudaGetKernel) and launch that (__cudaLaunchKernel). */
#include <limits.h>
#include <stdlib.h>

#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* A shape that waits for its stub. Arguments of a launch may launch as well, so there can be several. */
struct shape {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

struct deep_shape {
    struct shape shape;
    struct deep_shape *below;
};

#define NEAR 2

static _Thread_local struct {
    unsigned depth;
    struct shape near[NEAR];
    struct deep_shape *deep; /* those above NEAR */
} pushed __attribute__((tls_model("initial-exec")));

unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, struct CUstream_st *stream)
{
    const struct shape shape = {gridDim, blockDim, sharedMem, stream};
    if (pushed.depth < NEAR) {
        pushed.near[pushed.depth++] = shape;
        return 0;
    }
    struct deep_shape *deep = malloc(sizeof *deep);
    if (!deep) {
        (void)mr_rt_fail(cudaErrorMemoryAllocation, "<<<…>>>");
        return 1;
    }
    *deep = (struct deep_shape){shape, pushed.deep};
    pushed.deep = deep;
    pushed.depth++;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream)
{
    struct shape shape;
    if (pushed.depth == 0)
        return mr_rt_fail(cudaErrorMissingConfiguration, "a kernel that was called like a function");
    pushed.depth--;
    if (pushed.depth < NEAR) {
        shape = pushed.near[pushed.depth];
    } else {
        struct deep_shape *deep = pushed.deep;
        shape = deep->shape;
        pushed.deep = deep->below;
        free(deep);
    }
    *gridDim = shape.grid;
    *blockDim = shape.block;
    *sharedMem = shape.shared;
    *(cudaStream_t *)stream = shape.stream;
    return cudaSuccess;
}

/* Whether a device has room for such a shape at all. */
static bool fits(dim3 grid, dim3 block)
{
    const unsigned sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    static const CUdevice_attribute limits[] = {
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    int device = mr_rt_device(), limit;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] == 0 ||
            (mr_driver.cuDeviceGetAttribute(&limit, limits[i], device) == CUDA_SUCCESS && sizes[i] > (unsigned)limit))
            return false;
    return mr_driver.cuDeviceGetAttribute(&limit, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) != CUDA_SUCCESS ||
           (unsigned long long)block.x * block.y * block.z <= (unsigned)limit;
}

/* The manual names a shape that no device has room for an invalid configuration, and so did version 12. Hardware with
 * version 13 hands on what the driver says, which is an invalid value. */
static inline cudaError_t launch_status(CUresult status, dim3 grid, dim3 block)
{
    if (__builtin_expect(status == CUDA_SUCCESS, 1))
        return cudaSuccess;
    if (status == CUDA_ERROR_INVALID_VALUE && mr_rt_version < 13000 && !fits(grid, block))
        return cudaErrorInvalidConfiguration;
    return (cudaError_t)status;
}

static inline cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                 cudaStream_t stream)
{
    if (shared > UINT_MAX)
        return mr_rt_bad(cudaErrorInvalidValue, "a launch with %zu bytes of dynamic shared memory", shared);
    return launch_status(mr_driver.cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                  (unsigned)shared, stream, args, NULL),
                         grid, block);
}

cudaError_t mr_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t status = mr_rt_launched(func, &kernel);
    return status == cudaSuccess ? launch(kernel, gridDim, blockDim, args, sharedMem, stream) : status;
}

cudaError_t mr_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                           cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t status = mr_rt_launched(func, &kernel);
    if (status == cudaSuccess && sharedMem > UINT_MAX)
        status = cudaErrorInvalidValue;
    if (status != cudaSuccess)
        return status;
    return launch_status(mr_driver.cuLaunchCooperativeKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z,
                                                             blockDim.x, blockDim.y, blockDim.z, (unsigned)sharedMem,
                                                             stream, args),
                         gridDim, blockDim);
}

/* Attributes have the driver's layout. */
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "one layout");

cudaError_t mr_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args, bool per_thread)
{
    CUkernel kernel;
    if (!config)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaLaunchKernelExC: config is NULL");
    cudaError_t status = mr_rt_launched(func, &kernel);
    if (status == cudaSuccess && config->dynamicSmemBytes > UINT_MAX)
        status = cudaErrorInvalidValue;
    if (status != cudaSuccess)
        return status;
    const CUlaunchConfig given = {.gridDimX = config->gridDim.x,
                                  .gridDimY = config->gridDim.y,
                                  .gridDimZ = config->gridDim.z,
                                  .blockDimX = config->blockDim.x,
                                  .blockDimY = config->blockDim.y,
                                  .blockDimZ = config->blockDim.z,
                                  .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                                  .hStream = per_thread ? MR_OWN_STREAM(config->stream) : config->stream,
                                  .attrs = (CUlaunchAttribute *)config->attrs,
                                  .numAttrs = config->numAttrs};
    return launch_status(mr_driver.cuLaunchKernelEx(&given, (CUfunction)kernel, args, NULL), config->gridDim,
                         config->blockDim);
}

/* The stub asks only once. A kernel that can't be had now is asked for again at each launch: the stub then gets the
 * address of the host's function with its highest bit set, which neither an address nor a handle has. */
#define ASK_AGAIN ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1))

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *hostFun)
{
    cudaError_t status = mr_rt_context();
    if (status == cudaSuccess)
        status = mr_rt_symbol_kernel(hostFun, kernel);
    if (status == cudaSuccess)
        return cudaSuccess;
    *kernel = (cudaKernel_t)((uintptr_t)hostFun | ASK_AGAIN);
    return mr_rt_fail(status, "<<<…>>>");
}

cudaError_t mr___cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                  cudaStream_t stream)
{
    cudaError_t status = mr_rt_context();
    if (status == cudaSuccess && (!kernel || ((uintptr_t)kernel & ASK_AGAIN)))
        status = mr_rt_symbol_kernel((const void *)((uintptr_t)kernel & ~ASK_AGAIN), &kernel);
    return status == cudaSuccess ? launch(kernel, gridDim, blockDim, args, sharedMem, stream) : status;
}
