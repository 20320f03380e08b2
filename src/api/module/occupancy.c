/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy (driver API manual, Occupancy): how many blocks fit on a multiprocessor (prepare/resident.h).
 *
 * A CPU's processor runs one block at a time; the answers are those of a GPU of this compute capability, because
 * programs turn them into grid and block sizes, and those come out as they would on one. */
#include "api_impl.h"

#include "base/call.h"
#include "prepare/check.h"
#include "prepare/function.h"
#include "prepare/resident.h"

/* The function of a call that answers about the current context; its module is held. */
static CUresult find(CUfunction handle, struct mr_function **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        status = mr_function_find(handle, context, out);
    if (status == CUDA_SUCCESS && !mr_function_hold(*out))
        status = mr_bad_handle("function", handle);
    return status;
}

CUresult mr_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                                 size_t dynamicSMemSize, unsigned int flags)
{
    struct mr_function *function;
    if (!numBlocks || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return mr_bad_value("numBlocks is NULL (%p), or blocks can't have %d threads, or flags %#x are unknown",
                            (void *)numBlocks, blockSize, flags);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    *numBlocks = (int)mr_resident_blocks(function, (unsigned)blockSize, dynamicSMemSize);
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                        size_t dynamicSMemSize)
{
    return mr_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                   CU_OCCUPANCY_DEFAULT);
}

/* Tries every whole number of warps from the largest down, so that of equal occupancies the largest block wins. */
CUresult mr_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                      CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                      size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    struct mr_function *function;
    if (!minGridSize || !blockSize || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE || blockSizeLimit < 0)
        return mr_bad_value("an output is NULL, or flags %#x or the limit %d are wrong", flags, blockSizeLimit);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    unsigned limit = function->info->max_threads;
    if (blockSizeLimit > 0 && (unsigned)blockSizeLimit < limit)
        limit = (unsigned)blockSizeLimit;
    unsigned best_threads = 0, best_blocks = 0;
    const char *call = mr_call_name;
    for (unsigned threads = (limit + MR_WARP - 1) / MR_WARP * MR_WARP; threads > 0; threads -= MR_WARP) {
        unsigned tried = threads < limit ? threads : limit;
        size_t dynamic = dynamicSMemSize;
        if (blockSizeToDynamicSMemSize) {
            dynamic = blockSizeToDynamicSMemSize((int)tried);
            mr_call_name = call; /* it may have made calls */
        }
        unsigned blocks = mr_resident_blocks(function, tried, dynamic);
        if (blocks * tried > best_blocks * best_threads) {
            best_threads = tried;
            best_blocks = blocks;
        }
        if (best_blocks * best_threads == function->module->context->device->capability->threads_per_sm)
            break; /* nothing fills it better; a program's own function is not called more often than it has to */
    }
    *minGridSize = (int)best_blocks * function->module->context->device->multiprocessors;
    *blockSize = (int)best_threads;
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                             CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                             int blockSizeLimit)
{
    return mr_cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                        dynamicSMemSize, blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult mr_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                    int blockSize)
{
    struct mr_function *function;
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
        return mr_bad_value("the output is NULL, or there can't be %d blocks of %d threads", numBlocks, blockSize);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_resident_blocks(function, (unsigned)blockSize, 0) < (unsigned)numBlocks) {
        mr_object_drop(function->module);
        return mr_bad_value("%d blocks of %d threads do not fit on a multiprocessor", numBlocks, blockSize);
    }
    const struct mr_capability *sm = function->module->context->device->capability;
    unsigned taken = sm->shared_reserved + (unsigned)function->info->static_shared;
    unsigned share = sm->shared_per_sm / (unsigned)numBlocks / sm->shared_unit * sm->shared_unit;
    unsigned free_bytes = share > taken ? share - taken : 0;
    unsigned limit = mr_resident_dynamic_limit(function);
    *dynamicSmemSize = free_bytes < limit ? free_bytes : limit;
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

/* Clusters are not supported, so no number of them fits; the configuration is checked all the same. */
static CUresult cluster_query(int *out, CUfunction func, const CUlaunchConfig *config)
{
    struct mr_function *function;
    if (!out || !config)
        return mr_bad_value("the output or config is NULL");
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    mr_object_drop(function->module);
    mr_call_log(MR_LOG_INFO, "clusters of blocks are not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    return cluster_query(clusterSize, func, config);
}

CUresult mr_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    return cluster_query(numClusters, func, config);
}
