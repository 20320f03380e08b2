/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy (driver API manual, Occupancy): how many blocks fit on a multiprocessor, from the same numbers that the device's attributes
 * report: threads, blocks, shared memory and registers of a multiprocessor. How they are shared out is what NVIDIA documents with its occupancy
 * calculator: registers go to whole warps, each in one partition of the multiprocessor; shared memory goes to blocks in units.
 *
 * A CPU's processor runs one block at a time; the answers are those of a GPU of this compute capability, because programs turn them into grid and block
 * sizes, and those come out as they would on one. */
#include "api_impl.h"

#include "api/check.h"
#include "api/execution.h"
#include "api/function.h"
#include "base/call.h"

#define WARP 32u
#define REGISTER_UNIT 256u      /* registers are given to a warp in multiples of this */
/* A block's registers are checked as if every partition gave registers for as many warps as the fullest one. */
#define PARTITIONS_CHECKED 4u

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Most dynamic shared memory that is reckoned with: what the function was given, but not less than it has by default. */
static unsigned dynamic_limit(struct mr_function *function)
{
    unsigned statics = (unsigned)function->info->static_shared, limit = mr_function_dynamic_limit(function->info, &function->settings);
    unsigned by_default = statics < MR_SHARED_DEFAULT ? MR_SHARED_DEFAULT - statics : 0;
    return limit > by_default ? limit : by_default;
}

/* Blocks of `warps` warps whose registers a multiprocessor has; 0 if not even one. */
static unsigned blocks_by_registers(const struct mr_capability *sm, unsigned registers, unsigned warps)
{
    unsigned each = round_up(registers * WARP, REGISTER_UNIT);
    if (each == 0)
        return sm->blocks_per_sm;
    if (each * round_up(warps, PARTITIONS_CHECKED) > MR_REGISTERS_PER_SM)
        return 0;
    return MR_REGISTERS_PER_SM / sm->partitions / each * sm->partitions / warps;
}

/* Blocks of `threads` threads with `dynamic` bytes that fit on one multiprocessor at a time; 0 if not even one does, or if no launch may have that
 * much shared memory. A launch bound that the function states plays no part (nor does it on hardware). */
static unsigned blocks_per_sm(struct mr_function *function, unsigned threads, size_t dynamic)
{
    const struct mr_entry *info = function->info;
    const struct mr_capability *sm = function->module->context->device->capability;
    if (threads > MR_MAX_BLOCK_THREADS || dynamic > dynamic_limit(function))
        return 0;
    unsigned warps = (threads + WARP - 1) / WARP;
    unsigned blocks = least(sm->blocks_per_sm, sm->threads_per_sm / WARP / warps);
    blocks = least(blocks, blocks_by_registers(sm, info->registers, warps));
    unsigned shared = round_up((unsigned)(info->static_shared + dynamic) + sm->shared_reserved, sm->shared_unit);
    return shared ? least(blocks, sm->shared_per_sm / shared) : blocks;
}

/* A launch with no more dynamic memory than it may have; anything else is refused elsewhere. */
CUresult mr_cooperative_check(struct mr_function *function, const unsigned grid[3], const unsigned block[3], size_t dynamic)
{
    const struct mr_device *device = function->module->context->device;
    unsigned threads = block[0] * block[1] * block[2];
    if (dynamic > mr_function_dynamic_limit(function->info, &function->settings))
        return CUDA_SUCCESS;
    uint64_t most = (uint64_t)blocks_per_sm(function, threads, dynamic) * (unsigned)device->multiprocessors;
    /* The product of three dimensions may need more than 64 bits. */
    if (grid[0] <= most && (uint64_t)grid[0] * grid[1] <= most && (uint64_t)grid[0] * grid[1] * grid[2] <= most)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "kernel '%s': %ux%ux%u blocks of %u threads; at most %llu can be under way together on %d multiprocessors",
           function->info->name, grid[0], grid[1], grid[2], threads, (unsigned long long)most, device->multiprocessors);
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

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
        return mr_bad_value("numBlocks %p, a block of %d threads, flags %#x", (void *)numBlocks, blockSize, flags);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    *numBlocks = (int)blocks_per_sm(function, (unsigned)blockSize, dynamicSMemSize);
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
    return mr_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                   CU_OCCUPANCY_DEFAULT);
}

/* Tries every whole number of warps from the largest down, so that of equal occupancies the largest block wins. */
CUresult mr_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                      CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                                      int blockSizeLimit, unsigned int flags)
{
    struct mr_function *function;
    if (!minGridSize || !blockSize || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE || blockSizeLimit < 0)
        return mr_bad_value("an output is NULL, flags %#x or the limit %d are wrong", flags, blockSizeLimit);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    unsigned limit = function->info->max_threads;
    if (blockSizeLimit > 0)
        limit = least(limit, (unsigned)blockSizeLimit);
    unsigned best_threads = 0, best_blocks = 0;
    const char *call = mr_call_name;
    for (unsigned threads = round_up(limit, WARP); threads > 0; threads -= WARP) {
        unsigned tried = least(threads, limit);
        size_t dynamic = dynamicSMemSize;
        if (blockSizeToDynamicSMemSize) {
            dynamic = blockSizeToDynamicSMemSize((int)tried);
            mr_call_name = call; /* it may have made calls */
        }
        unsigned blocks = blocks_per_sm(function, tried, dynamic);
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
    return mr_cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                        blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult mr_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize)
{
    struct mr_function *function;
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
        return mr_bad_value("the output is NULL, or %d blocks of %d threads", numBlocks, blockSize);
    CUresult status = find(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (blocks_per_sm(function, (unsigned)blockSize, 0) < (unsigned)numBlocks) {
        mr_object_drop(function->module);
        return mr_bad_value("%d blocks of %d threads do not fit on a multiprocessor", numBlocks, blockSize);
    }
    const struct mr_capability *sm = function->module->context->device->capability;
    unsigned taken = sm->shared_reserved + (unsigned)function->info->static_shared;
    unsigned share = sm->shared_per_sm / (unsigned)numBlocks / sm->shared_unit * sm->shared_unit;
    unsigned free_bytes = share > taken ? share - taken : 0;
    *dynamicSmemSize = least(free_bytes, dynamic_limit(function));
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
