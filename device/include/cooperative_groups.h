/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: the block, tiles, coalesced threads, clusters, and the grid.
 *
 * A group below the block is a mask of lanes of one warp. Threads of a tile are neighbours, so its shuffles are the warp's with a width;
 * a coalesced group's go through the lane of the n-th bit. Tiles of several warps are in millrace_large_tiles.h, clusters in millrace_cluster.h;
 * reduce and scan are in headers of their own, as are asynchronous copies. All is in a namespace __v1, as in the toolkit, for NVIDIA's C++ headers (CCCL) name
 * groups there before this header does. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#define MR_MEMBER __attribute__((device, always_inline)) inline

namespace cooperative_groups { namespace __v1 {

MR_DEVICE unsigned int mr_lane() { return __nvvm_read_ptx_sreg_laneid(); }
MR_DEVICE unsigned int mr_block_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
MR_DEVICE unsigned int mr_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
/* The lane of bit number n of a mask. */
MR_DEVICE unsigned int mr_nth_lane(unsigned int mask, unsigned int n)
{
    for (unsigned int i = 0; i < n; i++)
        mask &= mask - 1;
    return (unsigned int)__ffs((int)mask) - 1;
}
/* The value of a lane, of any type: word by word. */
template <class T> MR_DEVICE T mr_from_lane(unsigned int mask, const T &value, unsigned int lane)
{
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    T result;
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++)
        words[i] = __shfl_sync(mask, words[i], (int)lane);
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
}

struct thread_block {
    MR_MEMBER static void sync() { __syncthreads(); }
    MR_MEMBER static unsigned int thread_rank() { return mr_block_rank(); }
    MR_MEMBER static unsigned int size() { return mr_block_size(); }
    MR_MEMBER static unsigned int num_threads() { return mr_block_size(); }
    MR_MEMBER static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    MR_MEMBER static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    MR_MEMBER static dim3 group_dim() { return blockDim; }
    MR_MEMBER static dim3 dim_threads() { return blockDim; }
    /* All that has to be waited for is waited for at the end. */
    struct arrival_token {};
    MR_MEMBER static arrival_token barrier_arrive() { return {}; }
    MR_MEMBER static void barrier_wait(arrival_token &&) { __syncthreads(); }
};
MR_DEVICE thread_block this_thread_block() { return {}; }
/* Memory by which older devices part a block into large tiles. Here it is not needed. */
template <unsigned int MaxBlockSize = 1024> struct __attribute__((aligned(8))) block_tile_memory { char mr_unused[384]; };
template <unsigned int MaxBlockSize> MR_DEVICE thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) { return {}; }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
} using namespace __v1; }   // namespace cooperative_groups
#include "millrace_cluster.h"
namespace cooperative_groups { namespace __v1 {
#endif

/* Where the blocks of a cooperative launch count arrivals at the grid's barrier; NULL in another launch. */
struct mr_grid_workspace { unsigned int size, barrier; };
MR_DEVICE mr_grid_workspace *mr_workspace()
{
    unsigned int high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (mr_grid_workspace *)((unsigned long long)high << 32 | low);
}

/* The barrier's word counts blocks; what block 0 adds makes the top bit flip when the last one has come. */
struct grid_group {
    struct arrival_token { unsigned int mr_before; };
    MR_MEMBER static bool is_valid() { return mr_workspace() != nullptr; }
    MR_MEMBER static arrival_token barrier_arrive()
    {
        arrival_token token = {0};
        __syncthreads();
        if (mr_block_rank() == 0) {
            unsigned int step = block_rank() == 0 ? 0x80000001u - (unsigned int)num_blocks() : 1u;
            __threadfence();
            token.mr_before = atomicAdd(&mr_workspace()->barrier, step);
        }
        return token;
    }
    MR_MEMBER static void barrier_wait(arrival_token &&token)
    {
        if (mr_block_rank() == 0) {
            while ((int)(token.mr_before ^ *(volatile unsigned int *)&mr_workspace()->barrier) >= 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
    MR_MEMBER static void sync() { barrier_wait(barrier_arrive()); }
    MR_MEMBER static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    MR_MEMBER static unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    MR_MEMBER static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    MR_MEMBER static dim3 group_dim() { return gridDim; }
    MR_MEMBER static dim3 dim_blocks() { return gridDim; }
    MR_MEMBER static dim3 dim_threads() { return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z); }
    MR_MEMBER static dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.z * blockDim.z + threadIdx.z);
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    MR_MEMBER static dim3 dim_clusters() { return __clusterGridDimInClusters(); }
    MR_MEMBER static unsigned long long num_clusters() { return (unsigned long long)mr_clusters_x() * mr_clusters_y() * mr_clusters_z(); }
    MR_MEMBER static dim3 cluster_index() { return __clusterIdx(); }
    MR_MEMBER static unsigned long long cluster_rank()
    {
        return ((unsigned long long)mr_cluster_z() * mr_clusters_y() + mr_cluster_y()) * mr_clusters_x() + mr_cluster_x();
    }
#endif
    MR_MEMBER static unsigned long long size() { return num_blocks() * mr_block_size(); }
    MR_MEMBER static unsigned long long num_threads() { return size(); }
    MR_MEMBER static unsigned long long thread_rank() { return block_rank() * mr_block_size() + mr_block_rank(); }
};
MR_DEVICE grid_group this_grid() { return {}; }

/* What groups inside a warp share: `mr_mask` has a bit for each lane of the group. */
class coalesced_group {
public:
    unsigned int mr_mask, mr_number, mr_count;   /* number and count: of the groups that a partition made */
    MR_MEMBER explicit coalesced_group(unsigned int mask, unsigned int number = 0, unsigned int count = 1)
        : mr_mask(mask), mr_number(number), mr_count(count) {}
    MR_MEMBER void sync() const { __syncwarp(mr_mask); }
    MR_MEMBER unsigned int size() const { return (unsigned int)__popc(mr_mask); }
    MR_MEMBER unsigned int num_threads() const { return size(); }
    MR_MEMBER unsigned int thread_rank() const { return (unsigned int)__popc(mr_mask & ((1u << mr_lane()) - 1)); }
    MR_MEMBER unsigned int meta_group_rank() const { return mr_number; }
    MR_MEMBER unsigned int meta_group_size() const { return mr_count; }
    template <class T> MR_MEMBER T shfl(T value, unsigned int rank) const
    {
        return mr_from_lane(mr_mask, value, mr_nth_lane(mr_mask, rank % size()));
    }
    template <class T> MR_MEMBER T shfl_up(T value, unsigned int by) const
    {
        unsigned int rank = thread_rank();
        return mr_from_lane(mr_mask, value, rank < by ? mr_lane() : mr_nth_lane(mr_mask, rank - by));
    }
    template <class T> MR_MEMBER T shfl_down(T value, unsigned int by) const
    {
        unsigned int rank = thread_rank();
        return mr_from_lane(mr_mask, value, rank + by >= size() ? mr_lane() : mr_nth_lane(mr_mask, rank + by));
    }
    MR_MEMBER int any(int p) const { return __any_sync(mr_mask, p); }
    MR_MEMBER int all(int p) const { return __all_sync(mr_mask, p); }
    /* Bits in the order of ranks. */
    MR_MEMBER unsigned int mr_pack(unsigned int lanes) const
    {
        unsigned int packed = 0, rank = 0;
        for (unsigned int left = mr_mask; left; left &= left - 1)
            packed |= (lanes >> (__ffs((int)left) - 1) & 1) << rank++;
        return packed;
    }
    MR_MEMBER unsigned int ballot(int p) const { return mr_pack(__ballot_sync(mr_mask, p)); }
    template <class T> MR_MEMBER unsigned int match_any(T value) const { return mr_pack(__match_any_sync(mr_mask, value)); }
    template <class T> MR_MEMBER unsigned int match_all(T value, int &same) const { return mr_pack(__match_all_sync(mr_mask, value, &same)); }
};
MR_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* What tiles of one size are, whatever they are parts of: within a warp here, of several warps in millrace_large_tiles.h. */
template <unsigned int Size, bool Large = (Size > 32)> class mr_tile {
    static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "tiles are of 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");
public:
    MR_MEMBER static unsigned int mr_lanes() { return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << (mr_lane() & ~(Size - 1)); }
    MR_MEMBER static void sync() { __syncwarp(mr_lanes()); }
    MR_MEMBER static constexpr unsigned int size() { return Size; }
    MR_MEMBER static constexpr unsigned int num_threads() { return Size; }
    MR_MEMBER static unsigned int thread_rank() { return mr_block_rank() % Size; }
    MR_MEMBER static unsigned int mr_first() { return mr_lane() & ~(Size - 1); }
    template <class T> MR_MEMBER T shfl(T value, unsigned int rank) const { return mr_from_lane(mr_lanes(), value, mr_first() + rank % Size); }
    template <class T> MR_MEMBER T shfl_up(T value, unsigned int by) const
    {
        return mr_from_lane(mr_lanes(), value, thread_rank() < by ? mr_lane() : mr_lane() - by);
    }
    template <class T> MR_MEMBER T shfl_down(T value, unsigned int by) const
    {
        return mr_from_lane(mr_lanes(), value, thread_rank() + by >= Size ? mr_lane() : mr_lane() + by);
    }
    template <class T> MR_MEMBER T shfl_xor(T value, unsigned int bits) const
    {
        unsigned int other = thread_rank() ^ bits;
        return mr_from_lane(mr_lanes(), value, other >= Size ? mr_lane() : mr_first() + other);
    }
    MR_MEMBER int any(int p) const { return __any_sync(mr_lanes(), p); }
    MR_MEMBER int all(int p) const { return __all_sync(mr_lanes(), p); }
    MR_MEMBER unsigned int ballot(int p) const { return (__ballot_sync(mr_lanes(), p) & mr_lanes()) >> mr_first(); }
    template <class T> MR_MEMBER unsigned int match_any(T value) const { return __match_any_sync(mr_lanes(), value) >> mr_first(); }
    template <class T> MR_MEMBER unsigned int match_all(T value, int &same) const
    {
        return __match_all_sync(mr_lanes(), value, &same) >> mr_first();
    }
    MR_MEMBER void mr_take(const mr_tile &) {}
};

} using namespace __v1; }   // namespace cooperative_groups
#include "millrace_large_tiles.h"
namespace cooperative_groups { namespace __v1 {

/* Which of its parent's tiles it is: known by the type, or to the tile where that doesn't say. */
template <unsigned int Size, class Parent> class mr_numbered_tile : public mr_tile<Size> {
public:
    MR_MEMBER static unsigned int meta_group_rank() { return Parent::thread_rank() / Size; }
    MR_MEMBER static unsigned int meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};
template <unsigned int Size> class mr_numbered_tile<Size, void> : public mr_tile<Size> {
public:
    unsigned int mr_number = 0, mr_of = 1;
    MR_MEMBER unsigned int meta_group_rank() const { return mr_number; }
    MR_MEMBER unsigned int meta_group_size() const { return mr_of; }
};

template <unsigned int Size, class Parent = void> class thread_block_tile : public mr_numbered_tile<Size, Parent> {
public:
    thread_block_tile() = default;
    MR_MEMBER operator coalesced_group() const { return coalesced_group(this->mr_lanes(), this->meta_group_rank(), this->meta_group_size()); }
};
/* A tile of any parent fits thread_block_tile<Size>, by which most sources call it. */
template <unsigned int Size> class thread_block_tile<Size, void> : public mr_numbered_tile<Size, void> {
public:
    thread_block_tile() = default;
    template <class Other> MR_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &other)
    {
        this->mr_take(other);
        this->mr_number = other.meta_group_rank();
        this->mr_of = other.meta_group_size();
    }
    MR_MEMBER operator coalesced_group() const { return coalesced_group(this->mr_lanes(), this->meta_group_rank(), this->meta_group_size()); }
};
template <unsigned int Size, class Parent> MR_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    thread_block_tile<Size, Parent> tile;
    if constexpr (Size > 32)
        tile.mr_memory = mr_memory_of<Size>(parent);
    return tile;
}
MR_DEVICE thread_block_tile<1> this_thread() { return {}; }

/* The size of a group that is a tile; 0: it is none. */
template <class Group> constexpr unsigned int mr_tile_size = 0;
template <unsigned int Size, class Parent> constexpr unsigned int mr_tile_size<thread_block_tile<Size, Parent>> = Size;
template <class Group> constexpr bool mr_is_large = mr_tile_size<Group> > 32;

/* A group of which only the running kernel knows whether it is the block or some lanes of a warp. */
class thread_group {
    unsigned int mr_mask;   /* 0: the block */
public:
    MR_MEMBER thread_group(thread_block) : mr_mask(0) {}
    MR_MEMBER thread_group(const coalesced_group &group) : mr_mask(group.mr_mask) {}
    template <unsigned int Size, class Parent> MR_MEMBER thread_group(const thread_block_tile<Size, Parent> &) : mr_mask(thread_block_tile<Size>::mr_lanes()) {}
    MR_MEMBER bool mr_is_block() const { return mr_mask == 0; }
    MR_MEMBER coalesced_group mr_lanes() const { return coalesced_group(mr_mask); }
    MR_MEMBER void sync() const
    {
        if (mr_is_block())
            __syncthreads();
        else
            __syncwarp(mr_mask);
    }
    MR_MEMBER unsigned int size() const { return mr_is_block() ? mr_block_size() : mr_lanes().size(); }
    MR_MEMBER unsigned int num_threads() const { return size(); }
    MR_MEMBER unsigned int thread_rank() const { return mr_is_block() ? mr_block_rank() : mr_lanes().thread_rank(); }
};

/* Parts of `size` threads with neighbouring ranks; size is a power of two up to 32, and the last part of coalesced threads may be smaller. */
MR_DEVICE coalesced_group tiled_partition(const coalesced_group &group, unsigned int size)
{
    unsigned int mask = 0, rank = 0, mine = group.thread_rank() / size;
    for (unsigned int left = group.mr_mask; left; left &= left - 1, rank++)
        mask |= rank / size == mine ? left & (0 - left) : 0;
    return coalesced_group(mask, mine, (group.size() + size - 1) / size);
}
MR_DEVICE thread_group tiled_partition(const thread_block &, unsigned int size)
{
    unsigned int first = mr_lane() & ~(size - 1), here = mr_block_size() - (mr_block_rank() - mr_lane());
    unsigned int lanes = (size >= 32 ? ~0u : (1u << size) - 1) << first;
    return coalesced_group(here >= 32 ? lanes : lanes & ((1u << here) - 1));
}
MR_DEVICE thread_group tiled_partition(const thread_group &group, unsigned int size)
{
    return group.mr_is_block() ? tiled_partition(thread_block(), size) : thread_group(tiled_partition(group.mr_lanes(), size));
}

/* One thread of the group, which need not be the first, calls; the broadcast hands its result to all. */
template <class Group, class Function, class... Arguments>
MR_DEVICE void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        function(static_cast<Arguments &&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
MR_DEVICE auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments) -> decltype(function(static_cast<Arguments &&>(arguments)...))
{
    decltype(function(static_cast<Arguments &&>(arguments)...)) result{};
    if (group.thread_rank() == 0)
        result = function(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

/* The groups of a warp whose members gave the same label. */
template <class Group, class T> MR_DEVICE coalesced_group labeled_partition(const Group &group, T label)
{
    unsigned int all = coalesced_group(group).mr_mask, mine = __match_any_sync(all, label), number = 0, count = 0;
    unsigned int first = (unsigned int)__ffs((int)mine) - 1;
    unsigned int firsts = __ballot_sync(all, mr_lane() == first);
    number = (unsigned int)__popc(firsts & ((1u << first) - 1));
    count = (unsigned int)__popc(firsts);
    return coalesced_group(mine, number, count);
}
template <class Group> MR_DEVICE coalesced_group binary_partition(const Group &group, bool label)
{
    unsigned int all = coalesced_group(group).mr_mask, yes = __ballot_sync(all, label) & all;
    return coalesced_group(label ? yes : all & ~yes, label, 2);
}

template <class Group> MR_DEVICE void sync(const Group &group) { group.sync(); }
template <class Group> MR_DEVICE auto thread_rank(const Group &group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group> MR_DEVICE auto group_size(const Group &group) -> decltype(group.size()) { return group.size(); }

} using namespace __v1; }   // namespace cooperative_groups

#undef MR_MEMBER
#endif
