/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: every thread writes what it finds, one row per fact, for test_groups.c. The block has two dimensions. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

struct wide { double sum; int count; };

extern "C" __global__ void groups(int *out, const int *in)
{
    cg::thread_block block = cg::this_thread_block();
    int me = (int)block.thread_rank(), n = (int)block.size();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    auto put = [&](int row, int value) { out[row * n + me] = value; };
    put(0, me);
    put(1, (int)(tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.meta_group_size()));
    put(2, tile.shfl(me, 3));
    put(3, tile.shfl_up(me, 2));
    put(4, tile.shfl_down(me, 2));
    put(5, tile.shfl_xor(me, 5));
    put(6, cg::reduce(tile, me, cg::plus<int>()));
    put(7, cg::reduce(warp, me ^ 21, cg::greater<int>()));
    put(8, cg::inclusive_scan(tile, me));
    put(9, cg::exclusive_scan(warp, 1, cg::plus<int>()));
    put(10, (int)tile.ballot(me % 3 == 0));
    put(11, tile.any(me == 9) + 2 * tile.all(me >= 8));
    wide sum = tile.shfl(wide{me * 0.5, me}, 7);
    put(12, (int)(sum.sum * 2) + sum.count);
    auto same = cg::labeled_partition(warp, me % 3);
    put(13, (int)(same.size() * 100 + same.thread_rank()) + 10000 * (int)same.meta_group_rank());
    put(14, cg::reduce(same, me, cg::plus<int>()));
    auto half = cg::binary_partition(tile, me % 2 == 1);
    put(15, (int)(half.size() * 10 + half.thread_rank()));
    out[16 * n + me] = -1;
    if (me % 4 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        put(16, (int)(some.size() * 100 + some.thread_rank()) + some.shfl(me % 32, 2) * 10000);
    }
    __shared__ int copy[128];
    cg::memcpy_async(block, copy, in, sizeof copy);
    cg::wait(block);
    put(17, copy[(me + 1) % 128]);
    put(18, (int)(cg::this_grid().thread_rank() + 1000 * cg::this_grid().size()));
    cg::sync(tile);
}

/* Each round, a thread writes its word, the grid waits, and it reads another block's. `right` counts the words that were as they must be. */
extern "C" __global__ void grid_rounds(int *words, int *right, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    unsigned int me = (unsigned int)grid.thread_rank(), all = (unsigned int)grid.size(), count = 0;
    for (int i = 0; grid.is_valid() && i < rounds; i++) {
        words[me] = i + (int)me;
        grid.sync();
        unsigned int other = (me + 17 * blockDim.x) % all;
        count += words[other] == i + (int)other;
        if (i % 2)
            cg::sync(grid);
        else
            grid.barrier_wait(grid.barrier_arrive());
    }
    atomicAdd(right, (int)count);
}
