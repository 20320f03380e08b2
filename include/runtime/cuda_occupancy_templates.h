/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy of a kernel by name, and the block size that fills a multiprocessor best. Included by cuda_runtime.h. */
#ifndef MILLRACE_CUDA_OCCUPANCY_TEMPLATES_H
#define MILLRACE_CUDA_OCCUPANCY_TEMPLATES_H

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int blockSize, size_t dynamicSMemSize)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, blockSize, dynamicSMemSize);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, blockSize, dynamicSMemSize, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, T *func, int blocks, int blockSize)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(size, (const void *)func, blocks, blockSize);
}
template <class T> static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, T *func, const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void *)func, config);
}
template <class T> static inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, T *func, const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxActiveClusters(clusters, (const void *)func, config);
}

/* The block size that keeps the most threads of a multiprocessor busy, the largest of several, and the grid that fills the device.
 * `blockSizeToDynamicSMemSize` gives the bytes of dynamic shared memory of a block of so many threads; a limit of 0 is none. */
template <class Sizes, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize, T func, Sizes blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0, unsigned int flags = 0)
{
    struct cudaFuncAttributes attributes;
    int device, processors, threads, warp, most = 0;
    cudaError_t status;
    if (!minGridSize || !blockSize || !func)
        return cudaErrorInvalidValue;
    if ((status = ::cudaGetDevice(&device)) != cudaSuccess ||
        (status = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
        (status = ::cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device)) != cudaSuccess ||
        (status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) != cudaSuccess ||
        (status = ::cudaFuncGetAttributes(&attributes, (const void *)func)) != cudaSuccess)
        return status;
    int limit = attributes.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < limit)
        limit = blockSizeLimit;
    *minGridSize = *blockSize = 0;
    /* From the largest whole number of warps downwards; the limit itself need not be one. */
    for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
        int tried = size < limit ? size : limit, blocks;
        status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)func, tried, blockSizeToDynamicSMemSize(tried), flags);
        if (status != cudaSuccess)
            return status;
        if (blocks * tried > most) {
            most = blocks * tried;
            *blockSize = tried;
            *minGridSize = blocks * processors;
        }
        if (most == threads)
            break;
    }
    return cudaSuccess;
}
template <class Sizes, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, T func, Sizes blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, T func, size_t dynamicSMemSize = 0,
    int blockSizeLimit = 0, unsigned int flags = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, [=](int) { return dynamicSMemSize; }, blockSizeLimit, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func, size_t dynamicSMemSize = 0, int blockSizeLimit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit);
}

#endif
