/* SPDX-License-Identifier: Apache-2.0 */
/* Part of cooperative_groups.h: tiles of 64 to 512 threads, which are several warps of a block.
 *
 * Their warps meet at the block's named barriers and hand values over through shared memory, in which each warp has 8 bytes. A tile knows where that is,
 * so it may go from one source to another. There are 15 barriers beside that of __syncthreads: enough for tiles of all sizes in a block of up to
 * 512 threads, and for tiles of 128 and more in a larger one. There the two warps of a tile of 64 meet in shared memory: each counts how often it came,
 * and waits until the other's count is no less. */
#ifndef MILLRACE_LARGE_TILES_H
#define MILLRACE_LARGE_TILES_H

namespace cooperative_groups { namespace __v1 {

MR_DEVICE unsigned long long *mr_words_of_block()
{
    static __shared__ unsigned long long words[48];   /* the last 16: 32 counts */
    return words;
}

/* Sleeping for no time lets the block's other warps run; older devices have no such instruction. */
MR_DEVICE void mr_give_way()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    asm volatile("nanosleep.u32 0;");
#endif
}

template <unsigned int Size> class mr_tile<Size, true> {
    static_assert(Size <= 512 && (Size & (Size - 1)) == 0, "tiles are of 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");
public:
    unsigned long long *mr_memory;
    static constexpr unsigned int mr_warps = Size / 32;
    MR_MEMBER static constexpr unsigned int size() { return Size; }
    MR_MEMBER static constexpr unsigned int num_threads() { return Size; }
    MR_MEMBER static unsigned int thread_rank() { return mr_block_rank() % Size; }
    MR_MEMBER unsigned long long *mr_words() const { return mr_memory + mr_block_rank() / Size * mr_warps; }
    MR_MEMBER void mr_meet() const
    {
        volatile unsigned int *counts = (volatile unsigned int *)(mr_memory + 32);
        unsigned int warp = mr_block_rank() / 32, count = counts[warp] + 1;
        __syncwarp();
        __threadfence_block();
        if (mr_lane() == 0)
            counts[warp] = count;
        while ((int)(counts[warp ^ 1] - count) < 0)
            mr_give_way();
        __threadfence_block();
        __syncwarp();
    }
    MR_MEMBER void sync() const
    {
        if (Size == 64 && mr_block_size() > 512) {
            mr_meet();
            return;
        }
        unsigned int first = 17 - (mr_block_size() <= 512 ? 1024 : 2048) / Size;
        asm volatile("barrier.sync %0, %1;" : : "r"(first + mr_block_rank() / Size), "n"(Size) : "memory");
    }
    /* In pieces of 8 bytes. */
    template <class T> MR_MEMBER T shfl(T value, unsigned int rank) const
    {
        unsigned long long pieces[(sizeof(T) + 7) / 8] = {};
        __builtin_memcpy(pieces, &value, sizeof(T));
        for (unsigned int i = 0; i < (sizeof(T) + 7) / 8; i++) {
            if (thread_rank() == rank % Size)
                *mr_words() = pieces[i];
            sync();
            pieces[i] = *(volatile unsigned long long *)mr_words();
            sync();
        }
        __builtin_memcpy(&value, pieces, sizeof(T));
        return value;
    }
    /* How many of the tile's warps say yes. */
    MR_MEMBER unsigned int mr_count(bool yes) const
    {
        unsigned int count = 0;
        if (mr_lane() == 0)
            mr_words()[thread_rank() / 32] = yes;
        sync();
        for (unsigned int i = 0; i < mr_warps; i++)
            count += (unsigned int)((volatile unsigned long long *)mr_words())[i];
        sync();
        return count;
    }
    MR_MEMBER int any(int p) const { return mr_count(__any_sync(~0u, p)) != 0; }
    MR_MEMBER int all(int p) const { return mr_count(__all_sync(~0u, p)) == mr_warps; }
    MR_MEMBER void mr_take(const mr_tile &other) { mr_memory = other.mr_memory; }
};

/* A tile of 64 begins with counts of 0: none of the group waits at them before the first barrier, and all have their 0 after the second. */
template <unsigned int Size, class Group> MR_DEVICE unsigned long long *mr_begin(const Group &group, unsigned long long *memory)
{
    if (Size == 64 && mr_block_size() > 512) {
        group.sync();
        ((volatile unsigned int *)(memory + 32))[mr_block_rank() / 32] = 0;
        group.sync();
    }
    return memory;
}
template <unsigned int Size> MR_DEVICE unsigned long long *mr_memory_of(const thread_block &block) { return mr_begin<Size>(block, mr_words_of_block()); }
template <unsigned int Size, unsigned int Of> MR_DEVICE unsigned long long *mr_memory_of(const mr_tile<Of, true> &tile)
{
    static_assert(Size < Of, "a part of a tile is smaller than that");
    return mr_begin<Size>(tile, tile.mr_memory);
}

} using namespace __v1; }   // namespace cooperative_groups
#endif
