/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: tiles reduce within a warp, blocks through shared memory, and the whole grid meets at a barrier. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sum_all(const int *data, int n, int *parts, int *result)
{
    __shared__ int of_tile[8];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += data[i];
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0)
        of_tile[block.thread_rank() / 32] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (unsigned i = 0; i < block.size() / 32; i++)
            sum += of_tile[i];
        parts[blockIdx.x] = sum;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
        sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            sum += parts[i];
        *result = sum;
    }
}

int main()
{
    int n = 100000, per_processor = 0, processors = 0, able = 0, *data, *parts, *result;
    CHECK(cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, sum_all, 256, 0));
    int blocks = processors * per_processor;
    EXPECT(able && blocks > 0);
    if (blocks > 64)
        blocks = 64;
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    CHECK(cudaMalloc(&parts, blocks * sizeof(int)));
    CHECK(cudaMallocManaged(&result, sizeof(int)));
    for (int i = 0; i < n; i++)
        data[i] = i % 7;
    void *arguments[] = { &data, &n, &parts, &result };
    CHECK(cudaLaunchCooperativeKernel(sum_all, dim3(blocks), dim3(256), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    int expected = 0;
    for (int i = 0; i < n; i++)
        expected += i % 7;
    EXPECT(*result == expected);
    CHECK(cudaFree(data));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(result));
    std::printf("cooperative: %d blocks add up to %d\n", blocks, expected);
    return 0;
}
