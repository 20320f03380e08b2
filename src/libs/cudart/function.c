/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name: attributes, occupancy, names and parameters. */
#include <limits.h>
#include <string.h>

#include "libs/cudart/function.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* The function that a kernel is in the current context. */
static cudaError_t find_function(const void *func, CUfunction *out)
{
    CUkernel kernel;
    cudaError_t status = mr_rt_kernel(func, &kernel);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuKernelGetFunction(out, kernel) : status;
}

cudaError_t mr_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    return kernelPtr ? mr_rt_symbol_kernel(entryFuncAddr, kernelPtr) : cudaErrorInvalidValue;
}

/* The result may be unwanted: then it is only looked up. */
cudaError_t mr_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CUkernel kernel;
    CUfunction function;
    cudaError_t status = mr_rt_symbol_kernel(symbolPtr, &kernel);
    if (status == cudaSuccess)
        status = (cudaError_t)mr_driver.cuKernelGetFunction(&function, kernel);
    if (status == cudaSuccess && functionPtr)
        *functionPtr = function;
    return status;
}

cudaError_t mr_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUfunction function;
    struct cudaFuncAttributes found = {0};
    int shared = 0, constant = 0, local = 0;
    const struct {
        CUfunction_attribute attribute;
        int *into;
    } asked[] = {
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &found.maxThreadsPerBlock},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &found.numRegs},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, &found.ptxVersion},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &found.binaryVersion},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &found.cacheModeCA},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &found.maxDynamicSharedSizeBytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &found.preferredShmemCarveout},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &found.clusterDimMustBeSet},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &found.requiredClusterWidth},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &found.requiredClusterHeight},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &found.requiredClusterDepth},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &found.clusterSchedulingPolicyPreference},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &found.nonPortableClusterSizeAllowed},
    };
    if (!attr)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaFuncGetAttributes: attr is NULL");
    cudaError_t status = find_function(func, &function);
    for (size_t i = 0; status == cudaSuccess && i < sizeof asked / sizeof *asked; i++)
        status = (cudaError_t)mr_driver.cuFuncGetAttribute(asked[i].into, asked[i].attribute, function);
    if (status != cudaSuccess)
        return status;
    found.sharedSizeBytes = (size_t)shared;
    found.constSizeBytes = (size_t)constant;
    found.localSizeBytes = (size_t)local;
    *attr = found;
    return cudaSuccess;
}

/* Attributes that can be set have the driver's numbers. */
cudaError_t mr_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    CUfunction function;
    if ((int)attr < cudaFuncAttributeMaxDynamicSharedMemorySize || (int)attr >= cudaFuncAttributeMax)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaFuncSetAttribute: attribute %d can't be set", (int)attr);
    cudaError_t status = find_function(func, &function);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuFuncSetAttribute(function, (CUfunction_attribute)attr, value)
               : status;
}

cudaError_t mr_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
    if ((int)attr < cudaFuncAttributeMaxDynamicSharedMemorySize || (int)attr >= cudaFuncAttributeMax)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaKernelSetAttributeForDevice: attribute %d can't be set",
                         (int)attr);
    return (cudaError_t)mr_driver.cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, device);
}

cudaError_t mr_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CUfunction function;
    cudaError_t status = find_function(func, &function);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuFuncSetCacheConfig(function, (CUfunc_cache)cacheConfig)
                                 : status;
}

cudaError_t mr_cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CUfunction function;
    cudaError_t status = find_function(func, &function);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuFuncSetSharedMemConfig(function, (CUsharedconfig)config)
                                 : status;
}

cudaError_t mr_cudaFuncGetName(const char **name, const void *func)
{
    CUkernel kernel;
    if (!name)
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_kernel(func, &kernel);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuKernelGetName(name, kernel) : status;
}

cudaError_t mr_cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    CUkernel kernel;
    cudaError_t status = mr_rt_kernel(func, &kernel);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize)
               : status;
}

cudaError_t mr_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                      size_t dynamicSMemSize, unsigned int flags)
{
    CUfunction function;
    cudaError_t status = find_function(func, &function);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                       numBlocks, function, blockSize, dynamicSMemSize, flags)
                                 : status;
}

cudaError_t mr_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                             size_t dynamicSMemSize)
{
    return mr_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                     cudaOccupancyDefault);
}

cudaError_t mr_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                         int blockSize)
{
    CUfunction function;
    cudaError_t status = find_function(func, &function);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuOccupancyAvailableDynamicSMemPerBlock(
                                       dynamicSmemSize, function, numBlocks, blockSize)
                                 : status;
}

static cudaError_t find_with_config(const cudaLaunchConfig_t *config, const void *func, CUfunction *function,
                                    CUlaunchConfig *out)
{
    if (!config || config->dynamicSmemBytes > UINT_MAX)
        return cudaErrorInvalidValue;
    *out = (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = (CUlaunchAttribute *)config->attrs,
                            .numAttrs = config->numAttrs};
    return find_function(func, function);
}

cudaError_t mr_cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                    const cudaLaunchConfig_t *launchConfig)
{
    CUfunction function;
    CUlaunchConfig config;
    cudaError_t status = find_with_config(launchConfig, func, &function, &config);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuOccupancyMaxPotentialClusterSize(clusterSize, function, &config)
               : status;
}

cudaError_t mr_cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                              const cudaLaunchConfig_t *launchConfig)
{
    CUfunction function;
    CUlaunchConfig config;
    cudaError_t status = find_with_config(launchConfig, func, &function, &config);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuOccupancyMaxActiveClusters(numClusters, function, &config)
                                 : status;
}

/* Deprecated: kernels take doubles as they are, so there is nothing to convert. */
cudaError_t mr_cudaSetDouble(double *d)
{
    return d ? cudaSuccess : cudaErrorInvalidValue;
}
