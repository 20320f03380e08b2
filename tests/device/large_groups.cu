/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups of several warps, scans that update, clusters: every thread writes what it finds, one row per fact, for test_large_groups.c. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#if __CUDA_ARCH__ >= 700
#include <cuda/atomic>
#endif
namespace cg = cooperative_groups;

/* x -> factor * x + term, in the halves of a word: what comes first is applied first, so order matters. */
struct compose {
    __device__ unsigned operator()(unsigned f, unsigned g) const
    {
        return ((f >> 16) * (g >> 16) & 0xffff) << 16 | (((f & 0xffff) * (g >> 16) + (g & 0xffff)) & 0xffff);
    }
};

static __device__ int ring(const cg::thread_block_tile<64> &tile, volatile int *room, int value)
{
    int rank = (int)tile.thread_rank();
    for (int i = 0; i < 50; i++) {
        room[rank] = value;
        tile.sync();
        value = room[(rank + 1) % 64] + 1;
        tile.sync();
    }
    return value;
}

#if __CUDA_ARCH__ >= 700
extern "C" __global__ void large_groups(int *out, cuda::atomic<int, cuda::thread_scope_device> *totals, const float *in)
{
    __shared__ cg::block_tile_memory<512> memory;
    __shared__ int room[512];
    auto block = cg::this_thread_block(memory);
    int me = (int)block.thread_rank(), n = (int)block.size();
    auto tile64 = cg::tiled_partition<64>(block);
    auto tile128 = cg::tiled_partition<128>(block);
    auto tile256 = cg::tiled_partition<256>(block);
    auto tile512 = cg::tiled_partition<512>(block);
    auto put = [&](int row, int value) { out[row * n + me] = value; };
    put(0, (int)(tile64.thread_rank() + 100 * tile64.meta_group_rank() + 10000 * tile64.meta_group_size()));
    put(1, tile128.shfl(me, 77));
    put(2, tile256.any(me == 300) + 2 * tile256.all(me >= 256) + 4 * tile64.any(me == 70) + 8 * tile64.all(me < 128));
    put(3, cg::reduce(tile64, me, cg::plus<int>()));
    put(4, cg::reduce(tile512, me ^ 21, cg::greater<int>()));
    put(5, cg::inclusive_scan(tile128, me));
    put(6, cg::exclusive_scan(tile256, me % 7 + 1, cg::plus<int>()));
    put(7, (int)(tile64.shfl(me * 0.25, 9) * 4));
    auto quarter = cg::tiled_partition<32>(tile128);
    auto half = cg::tiled_partition<64>(tile128);
    put(8, (int)(quarter.meta_group_rank() + 10 * quarter.meta_group_size() + 100 * half.meta_group_rank() + 1000 * half.meta_group_size()) + 10000 * half.shfl(me, 5));
    cg::thread_block_tile<64> plain = half;
    put(9, (int)(plain.meta_group_rank() + 10 * plain.meta_group_size() + 100 * plain.size()));
    put(10, ring(plain, room + me / 64 * 64, me));
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    put(11, (int)(eight.meta_group_rank() + 10 * eight.meta_group_size() + 100 * warp.meta_group_rank()));
    put(12, cg::inclusive_scan_update(tile64, totals[me / 64], me % 3, cg::plus<int>()));
    put(13, cg::exclusive_scan_update(eight, totals[16 + me / 8], me % 5));
    put(14, (int)cg::inclusive_scan(tile128, (unsigned)((me % 5 + 1) << 16 | me % 7), compose()));
    put(15, cg::reduce(tile128, (long long)me << 33, cg::plus<long long>()) >> 33);
    auto index = cg::this_grid().thread_index();
    put(16, (int)(index.x + 1000 * index.y + 100000 * cg::this_grid().dim_threads().x));
    /* Once more: the tiles' barriers are ready again. */
    auto again = cg::tiled_partition<64>(cg::this_thread_block(memory));
    put(17, cg::reduce(again, me & 1, cg::plus<int>()));
    /* Sums of floats have the bits that they have with NVIDIA's headers. */
    float x = in[me];
    put(18, __float_as_int(cg::reduce(warp, x, cg::plus<float>())));
    put(19, __float_as_int(cg::inclusive_scan(tile128, x)));
    put(20, __float_as_int(cg::reduce(tile512, x, cg::plus<float>())));
    put(21, 0);
    if (me % 3 != 1)
        put(21, __float_as_int(cg::reduce(cg::coalesced_threads(), x, cg::plus<float>())));
}
#endif

/* In blocks of up to 1024 threads a block's named barriers are too few for tiles of 64: in turns with the block's barrier and with larger tiles, made twice,
 * and made of a tile. */
extern "C" __global__ void large_blocks(int *out)
{
    __shared__ cg::block_tile_memory<1024> memory;
    __shared__ int room[1024];
    auto block = cg::this_thread_block(memory);
    int me = (int)block.thread_rank(), n = (int)block.size();
    auto tile = cg::tiled_partition<64>(block);
    auto larger = cg::tiled_partition<128>(block);
    auto put = [&](int row, int value) { out[row * n + me] = value; };
    put(0, ring(tile, room + me / 64 * 64, me));
    put(1, cg::reduce(tile, me, cg::plus<int>()));
    auto half = cg::tiled_partition<64>(larger);
    put(2, ring(half, room + me / 64 * 64, me));
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        sum += tile.shfl(me, i) + larger.shfl(me, 2 * i);
        if (me / 64 % 3 == 0)   /* tiles don't wait for each other */
            tile.sync();
        block.sync();
    }
    put(3, sum);
    auto again = cg::tiled_partition<64>(block);
    put(4, cg::inclusive_scan(again, me));
    for (int i = 0; i < me / 64; i++)
        sum = again.shfl(sum + 1, i);
    put(5, sum);
}

extern "C" __global__ void grid_meets(int *rooms, int *out)
{
    auto grid = cg::this_grid();
    int me = (int)grid.thread_rank(), n = (int)grid.size(), value = me;
    for (int i = 0; i < 10; i++) {
        rooms[me] = value;
        grid.sync();
        value = rooms[(me + 33) % n] + 1;
        auto token = grid.barrier_arrive();
        grid.barrier_wait(static_cast<decltype(token) &&>(token));
    }
    out[me] = value;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void clusters(unsigned *out)
{
    __shared__ unsigned word;
    auto cluster = cg::this_cluster();
    auto grid = cg::this_grid();
    unsigned values[] = { cluster.block_rank(), cluster.num_blocks(), cluster.thread_rank(), cluster.num_threads(), cluster.size(), cluster.block_index().x,
        cluster.dim_blocks().x, cluster.thread_index().x, cluster.dim_threads().x, (unsigned)grid.cluster_rank(), (unsigned)grid.num_clusters(),
        grid.cluster_index().x, grid.dim_clusters().x, cluster.query_shared_rank(&word), 0, 0 };
    if (threadIdx.x == 0)
        *cluster.map_shared_rank(&word, 0) = 1000 + blockIdx.x;
    cluster.sync();
    values[14] = word;
    auto token = cluster.barrier_arrive();
    values[15] = *cluster.map_shared_rank(&word, (int)cluster.block_rank());
    cluster.barrier_wait(static_cast<decltype(token) &&>(token));
    for (int i = 0; i < 16; i++)
        out[i * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x] = values[i];
}

/* The same by the functions of the language, which stand without a header. */
extern "C" __global__ void cluster_words(unsigned *out)
{
    __shared__ unsigned word;
    unsigned local = 0;
    if (threadIdx.x == 0)
        *(unsigned *)__cluster_map_shared_rank(&word, 0) = 1000 + blockIdx.x;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    unsigned values[] = { __clusterRelativeBlockRank(), __clusterSizeInBlocks(), __clusterDim().x, __clusterRelativeBlockIdx().x, __clusterIdx().x,
        __clusterGridDimInClusters().x, __clusterDimIsSpecified(), __cluster_query_shared_rank(&word), word, __isCtaShared(&word), __isClusterShared(&word),
        __isCtaShared(out), __isClusterShared(&local), __cluster_map_shared_multicast(&word, 5).x - (unsigned)__cvta_generic_to_shared(&word),
        __cluster_map_shared_multicast(&word, 5).y, __clusterDim().z };
    __threadfence_cluster();
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    for (int i = 0; i < 16; i++)
        out[i * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x] = values[i];
}
#endif
