/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of pools that lie apart (guard.h): each has an extent of its own, which is one block.
 *
 * Of the extent's addresses, the first pages are accessible. With MILLRACE_GUARD the allocation ends with them. It
 * counts with its pages. A free takes effect when the work before it is complete: then the extent goes, and its
 * addresses rest (extent.c). A waiting block is not given out again unless there is no other memory. */
#include "memory/guard.h"
#include "memory/mempool_private.h"

/* Each takes two mappings of the process (vm.max_map_count); further allocations are not guarded. */
#define MOST 6000u

static _Atomic uint32_t count;

static void place(struct mr_extent *extent, size_t size)
{
    extent->shift = mr_guard_shift(extent->pages, size, true);
    mr_extent_note(extent, size);
}

/* An extent whose first `bytes` are accessible, as one block; NULL when memory or mappings are short. */
static struct mr_block *block_new(struct mr_mempool *pool, size_t bytes)
{
    struct mr_extent *extent = mr_extent_take((bytes + MR_EXTENT_CHUNK - 1) / MR_EXTENT_CHUNK * MR_EXTENT_CHUNK);
    if (!extent)
        return NULL;
    if (!mr_extent_commit(extent, 0, bytes) || !mr_blocks_add(pool, extent)) {
        mr_extent_give(extent);
        return NULL;
    }
    struct mr_block *block = extent->at[0];
    mr_list_remove(&block->link);
    return block;
}

struct mr_block *mr_guarded_take(struct mr_mempool *pool, size_t size)
{
    MR_HELD(&pool->lock);
    size_t bytes = (size + mr_page_size - 1) & ~(mr_page_size - 1);
    if (bytes < size)
        return NULL;
    if (pool->waiting_count && pool->reuse_opportunistic)
        (void)mr_blocks_reap(pool, SIZE_MAX);
    if (atomic_load_explicit(&count, memory_order_relaxed) >= MOST || !mr_mempool_charge(pool, bytes))
        return NULL;
    struct mr_block *block = block_new(pool, bytes);
    if (!block) {
        mr_memory_refund(pool->device, mr_mempool_kind(pool), bytes);
        return NULL;
    }
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    pool->reserved += bytes;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    block->extent->pages = bytes;
    block->extent->patterned = true;
    place(block->extent, size);
    mr_guard_fill(block->extent->base, bytes, block->extent->shift, size);
    return block;
}

void mr_guarded_place_again(struct mr_block *block, size_t size)
{
    block->extent->patterned = false;
    place(block->extent, size);
}

void mr_guarded_end(struct mr_mempool *pool, struct mr_block *block)
{
    MR_HELD(&pool->lock);
    struct mr_extent *extent = block->extent;
    size_t pages = extent->pages;
    if (extent->patterned)
        mr_guard_compare(extent->base, pages, extent->shift, block->size);
    block->state = MR_BLOCK_EMPTY;
    mr_blocks_remove(pool, extent);
    mr_extent_give(extent);
    mr_memory_refund(pool->device, mr_mempool_kind(pool), pages);
    pool->reserved -= pages;
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
}
