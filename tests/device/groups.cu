/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: every thread writes what it finds, one row per fact, for test_groups.c. The block has two dimensions. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/pipeline>
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

static __device__ int sum_of(cg::thread_group group, int *room, int value)
{
    int rank = (int)group.thread_rank();
    for (int i = (int)group.size() / 2; i > 0; i /= 2) {
        room[rank] = value;
        group.sync();
        if (rank < i)
            value += room[rank + i];
        group.sync();
    }
    return value;   /* of the first thread: the sum */
}
/* Groups of which the type does not say what they are, single calls, sums that go to one place. 128 threads. */
extern "C" __global__ void other_groups(int *out, const int *in)
{
    __shared__ int room[128], copy[64], stored[4];
    __shared__ cuda::atomic<int, cuda::thread_scope_block> sum;
    cg::thread_block block = cg::this_thread_block();
    int me = (int)block.thread_rank();
    auto put = [&](int row, int value) { out[row * 128 + me] = value; };
    if (me == 0)
        sum = 5;
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<cg::thread_block::arrival_token &&>(token));
    int all = sum_of(block, room, me);
    put(0, me == 0 ? all : 0);
    cg::thread_group quarter = cg::tiled_partition(block, 8), pair = cg::tiled_partition(quarter, 2);
    put(1, (int)(quarter.thread_rank() + 100 * quarter.size() + 10000 * pair.thread_rank() + 100000 * pair.size()));
    int some = sum_of(quarter, room + me / 8 * 8, 1);
    put(2, quarter.thread_rank() == 0 ? some : 8);
    auto warp = cg::tiled_partition<32>(block);
    put(3, cg::invoke_one_broadcast(warp, [&](int more) { return (int)warp.meta_group_rank() + more; }, 7));
    cg::invoke_one(warp, [&] { stored[warp.meta_group_rank()] = 0; });
    warp.sync();
    cg::reduce_store_async(warp, &stored[me / 32], me, cg::plus<int>());
    cg::reduce_update_async(warp, sum, 1, cg::plus<int>());
    block.sync();
    put(4, stored[3 - me / 32]);
    put(5, sum.load());
    out[6 * 128 + me] = out[7 * 128 + me] = -1;
    if (me % 3 == 0) {
        cg::coalesced_group third = cg::coalesced_threads();
        cg::coalesced_group four = cg::tiled_partition(third, 4);
        put(6, (int)(four.thread_rank() + 10 * four.size() + 100 * four.meta_group_rank() + 1000 * four.meta_group_size()));
        int same;
        put(7, (int)(third.match_all(5, same) == (1u << third.size()) - 1) + 2 * same);
    }
    cg::memcpy_async(block, copy, cuda::aligned_size_t<4>(64), in + 1, 100);
    cg::wait_prior<0>(block);
    put(8, copy[me % 64]);
    put(9, (int)cg::this_thread().size());
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
