/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Occupancy: numbers where every device of capability 8 or 9 agrees, and
 * properties where the size of shared memory decides.
 */
#include "gold.h"

static void blocks(CUfunction function, int threads, size_t shared)
{
    int count = -1;
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, threads, shared));
    say_int(count);
}

CASE(occupancy, blocks_by_threads)
{
    CUfunction empty = gold_function("empty");
    static const int threads[] = {1024, 512, 256, 128, 64, 32, 1, 33, 96, 768};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        blocks(empty, threads[i], 0);
}

CASE(occupancy, blocks_bad_threads)
{
    CUfunction empty = gold_function("empty");
    int count = 5;
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, empty, 0, 0));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, empty, -1, 0));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, empty, 1025, 0));
    say_int(count);
}

CASE(occupancy, blocks_beyond_launch_bound)
{
    blocks(gold_function("bounded"), 64, 0);
    blocks(gold_function("bounded"), 65, 0);
}

CASE(occupancy, blocks_by_shared)
{
    CUfunction rotate = gold_function("rotate");
    int none = 0, some = 0, much = 0;
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&none, rotate, 64, 0));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&some, rotate, 64, 16384));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&much, rotate, 64, 49152));
    say_if("falls", none > some && some > much && much >= 1);
}

CASE(occupancy, blocks_too_much_shared)
{
    CUfunction empty = gold_function("empty");
    blocks(empty, 64, 49153);
    blocks(empty, 64, 1 << 30);
}

CASE(occupancy, blocks_bad)
{
    int count;
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, gold_function("empty"), 32, 0));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, NULL, 32, 0));
}

CASE(occupancy, blocks_with_flags)
{
    CUfunction empty = gold_function("empty");
    for (unsigned flags = 0; flags < 3; flags++) {
        int count = -1;
        CUresult status = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, empty, 256, 0, flags);
        say(status);
        if (status == CUDA_SUCCESS)
            say_int(count);
    }
}

CASE(occupancy, best_block)
{
    int grid = 0, block = 0, processors = 0;
    NEED(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, gold_device()));
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, gold_function("empty"), NULL, 0, 0));
    say_int(block);
    say_if("grid_fills_device", grid == 2 * processors);
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, gold_function("bounded"), NULL, 0, 0));
    say_int(block);
}

CASE(occupancy, best_block_limited)
{
    int grid = 0, block = 0;
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, gold_function("empty"), NULL, 0, 200));
    say_if("within", block > 0 && block <= 200);
    say(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, gold_function("empty"), NULL, 0, 0,
                                                  CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
    say_int(block);
}

static size_t CUDA_CB shared_for(int block)
{
    return (size_t)block * 16;
}

CASE(occupancy, best_block_by_callback)
{
    int grid = 0, block = 0;
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, gold_function("rotate"), shared_for, 0, 0));
    say_if("some", grid > 0 && block > 0 && block <= 1024);
}

CASE(occupancy, best_block_bad)
{
    int grid, block;
    say(cuOccupancyMaxPotentialBlockSize(NULL, &block, gold_function("empty"), NULL, 0, 0));
    say(cuOccupancyMaxPotentialBlockSize(&grid, NULL, gold_function("empty"), NULL, 0, 0));
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, NULL, NULL, 0, 0));
    say(cuOccupancyMaxPotentialBlockSize(&grid, &block, gold_function("empty"), NULL, 0, -5));
}

CASE(occupancy, available_shared)
{
    size_t few = 0, many = 0;
    say(cuOccupancyAvailableDynamicSMemPerBlock(&few, gold_function("empty"), 1, 128));
    say(cuOccupancyAvailableDynamicSMemPerBlock(&many, gold_function("empty"), 8, 128));
    say_if("falls", few >= many && many > 0);
}

CASE(occupancy, available_shared_bad, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    size_t few = 0;
    say(cuOccupancyAvailableDynamicSMemPerBlock(NULL, gold_function("empty"), 1, 128));
    say(cuOccupancyAvailableDynamicSMemPerBlock(&few, gold_function("empty"), 0, 128));
    say(cuOccupancyAvailableDynamicSMemPerBlock(&few, gold_function("empty"), 1, 0));
}

CASE(occupancy, takes_kernel_handles)
{
    CUlibrary library;
    CUkernel kernel;
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "empty"));
    blocks((CUfunction)(void *)kernel, 256, 0);
}

CASE(occupancy, without_context, .alone = true)
{
    CUfunction empty = gold_function("empty");
    int count = 0;
    NEED(cuCtxSetCurrent(NULL));
    say(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, empty, 256, 0));
}
