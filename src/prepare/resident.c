/* SPDX-License-Identifier: Apache-2.0 */
/* What a multiprocessor has room for, from the same numbers that the device's attributes report: threads, blocks,
 * shared memory and registers. How they are shared out is what NVIDIA documents with its occupancy calculator:
 * registers go to whole warps, each in one partition of the multiprocessor; shared memory goes to blocks in units. */
#include "prepare/resident.h"

#include "base/call.h"
#include "prepare/function.h"

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

unsigned mr_resident_dynamic_limit(struct mr_function *function)
{
    unsigned statics = (unsigned)function->info->static_shared,
             limit = mr_function_dynamic_limit(function->info, &function->settings);
    unsigned by_default = statics < MR_SHARED_DEFAULT ? MR_SHARED_DEFAULT - statics : 0;
    return limit > by_default ? limit : by_default;
}

/* Blocks of `warps` warps whose registers a multiprocessor has; 0 if not even one. */
static unsigned blocks_by_registers(const struct mr_capability *sm, unsigned registers, unsigned warps)
{
    unsigned each = round_up(registers * MR_WARP, REGISTER_UNIT);
    if (each == 0)
        return sm->blocks_per_sm;
    if (each * round_up(warps, PARTITIONS_CHECKED) > MR_REGISTERS_PER_SM)
        return 0;
    return MR_REGISTERS_PER_SM / sm->partitions / each * sm->partitions / warps;
}

unsigned mr_resident_blocks(struct mr_function *function, unsigned threads, size_t dynamic)
{
    const struct mr_entry *info = function->info;
    const struct mr_capability *sm = function->module->context->device->capability;
    if (threads > MR_MAX_BLOCK_THREADS || dynamic > mr_resident_dynamic_limit(function))
        return 0;
    unsigned warps = (threads + MR_WARP - 1) / MR_WARP;
    unsigned blocks = least(sm->blocks_per_sm, sm->threads_per_sm / MR_WARP / warps);
    blocks = least(blocks, blocks_by_registers(sm, info->registers, warps));
    unsigned shared = round_up((unsigned)(info->static_shared + dynamic) + sm->shared_reserved, sm->shared_unit);
    return shared ? least(blocks, sm->shared_per_sm / shared) : blocks;
}

/* A launch with no more dynamic memory than it may have; anything else is refused elsewhere. */
CUresult mr_cooperative_check(struct mr_function *function, const unsigned grid[3], const unsigned block[3],
                              size_t dynamic)
{
    const struct mr_device *device = function->module->context->device;
    unsigned threads = block[0] * block[1] * block[2];
    if (dynamic > mr_function_dynamic_limit(function->info, &function->settings))
        return CUDA_SUCCESS;
    uint64_t most = (uint64_t)mr_resident_blocks(function, threads, dynamic) * (unsigned)device->multiprocessors;
    /* The product of three dimensions may need more than 64 bits. */
    if (grid[0] <= most && (uint64_t)grid[0] * grid[1] <= most && (uint64_t)grid[0] * grid[1] * grid[2] <= most)
        return CUDA_SUCCESS;
    mr_call_log(
        MR_LOG_WARN,
        "kernel '%s' is not launched: %ux%ux%u blocks of %u threads; at most %llu can be under way together on %d multiprocessors",
        function->info->name, grid[0], grid[1], grid[2], threads, (unsigned long long)most, device->multiprocessors);
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}
