/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a memory pool and of its blocks; what the files mempool*.c share.
 *
 * Lock order: mr_mempools_lock (the list of pools, current pools), a pool's lock, then the leaves: extent.c's lock and
 * mr_memory_lock. */
#ifndef MR_MEMORY_MEMPOOL_PRIVATE_H
#define MR_MEMORY_MEMPOOL_PRIVATE_H

#include "base/list.h"
#include "base/thread.h"
#include "memory/extent.h"
#include "memory/mempool.h"
#include "memory/space.h"
#include "object/device.h"
#include "object/handle.h"

#define MR_MEMPOOL_BINS 128u            /* free blocks by size: four bins for each power of two of granules */
#define MR_MEMPOOL_LANES 64u            /* hash of streams that have waiting blocks */

#define MR_CHUNK_GRANULES ((uint32_t)(MR_EXTENT_CHUNK / MR_GRANULE))

/* EMPTY: addresses without memory, whole chunks. */
enum mr_block_state { MR_BLOCK_EMPTY, MR_BLOCK_FREE, MR_BLOCK_LIVE, MR_BLOCK_WAITING };

/* A piece of an extent. Neighbours are never both free, or both empty. */
struct mr_block {
    struct mr_extent *extent;
    uint32_t start, count;           /* granules */
    struct mr_block *before, *after; /* in the extent, by address */
    enum mr_block_state state;
    bool sync_memops;                /* live */
    struct mr_list link; /* empty: in pool->empties; free: in a bin; waiting: in its stream's lane, oldest free first */
    struct mr_list age; /* waiting: in pool->waiting, oldest free first */
    struct mr_fence fence; /* waiting: the free. Live: the mark that the memory itself waited for, or none */
    size_t size; /* live: bytes asked for */
    uint64_t id; /* live: CU_POINTER_ATTRIBUTE_BUFFER_ID */
};

/* The waiting blocks of one stream. */
struct mr_lane {
    uint64_t stream;
    struct mr_list link; /* in pool->lanes or pool->spare_lanes */
    struct mr_list blocks; /* oldest free first */
};

struct mr_mempool {
    struct mr_object object; /* MR_KIND_MEMPOOL */
    CUmemPoolProps properties;
    CUmemoryPool name; /* the handle, also once it is retired */
    struct mr_device *device; /* NULL: host memory */
    bool is_default, imported;
    bool guarded; /* allocations lie apart (guard.h): each has an extent of its own (mempool_guard.c) */
    struct mr_list all; /* in the list of all pools, under mr_mempools_lock */
    uint32_t rights; /* CUmemAccess_flags of each device, two bits each; under `lock` */

    mr_lock lock; /* guards what follows */
    bool destroyed;
    bool over; /* its end has been decided on */
    bool slack; /* counted in mr_mempools_slack */
    bool reuse_events, reuse_opportunistic, reuse_internal;
    uint64_t threshold;
    size_t reserved, reserved_high, used, used_high; /* bytes */
    struct mr_list extents, empties;
    struct mr_list bins[MR_MEMPOOL_BINS];
    uint64_t filled[MR_MEMPOOL_BINS / 64]; /* bit i: bin i has blocks */
    struct mr_list lanes[MR_MEMPOOL_LANES], spare_lanes, spare_blocks;
    struct mr_list waiting; /* oldest free first */
    size_t live_count, waiting_count;

    struct mr_pool_share *share; /* of shareable and imported pools; mempool_share.c */
};

extern mr_lock mr_mempools_lock;
extern const struct mr_mark_hooks *mr_mark_hooks;

/* True if the fence has been passed. */
static inline bool mr_fence_is_passed(const struct mr_fence *fence)
{
    return !fence->mark || mr_mark_hooks->is_done(fence->mark);
}

/* Where a block's allocation starts, and how many bytes from there on are its own. */
static inline uintptr_t mr_block_address(const struct mr_block *block)
{
    return block->extent->base + block->extent->shift + (uintptr_t)block->start * MR_GRANULE;
}
static inline size_t mr_block_bytes(const struct mr_block *block)
{
    const struct mr_extent *extent = block->extent;
    return extent->pages ? extent->pages - extent->shift : (size_t)block->count * MR_GRANULE;
}

/* mempool_block.c. Lock held for all. */

/* Adds an extent as one empty block; takes it over. False when memory is short: the extent is then still the caller's.
 */
bool mr_blocks_add(struct mr_mempool *pool, struct mr_extent *extent) __attribute__((warn_unused_result));

/* The empty block that makes room for `count` granules with the least memory, together with a free block before it; and
 * how many chunks that takes. NULL if there is none. */
struct mr_block *mr_blocks_find_empty(struct mr_mempool *pool, uint32_t count, uint32_t *chunks);

/* The first chunks of an empty block have memory now: they are free. False when memory is short; nothing has changed
 * then. */
bool mr_blocks_fill(struct mr_mempool *pool, struct mr_block *empty, uint32_t chunks)
    __attribute__((warn_unused_result));

/* A free block that covers a chunk, or NULL. */
struct mr_block *mr_blocks_find_idle(struct mr_mempool *pool);

/* Makes up to `most` chunks of such a block empty. Their place: *start and the result, in chunks of the block's extent.
 */
uint32_t mr_blocks_drain(struct mr_mempool *pool, struct mr_block *block, uint32_t most, uint32_t *start);

/* True if the extent is one block in that state. */
bool mr_blocks_are_one(const struct mr_extent *extent, enum mr_block_state state);

/* Takes an extent that is one free or empty block, or for good any extent, out of the pool; it is the caller's. */
void mr_blocks_remove(struct mr_mempool *pool, struct mr_extent *extent);

/* Frees waiting blocks whose fence has been passed: looks at `most` of them, oldest first. True if any was. */
bool mr_blocks_reap(struct mr_mempool *pool, size_t most);

/* Makes an imported extent one live block of `size` bytes. False when memory is short. */
bool mr_blocks_add_live(struct mr_mempool *pool, struct mr_extent *extent, size_t size)
    __attribute__((warn_unused_result));

/* Gives a pool's spare records back, at its end. */
void mr_blocks_end(struct mr_mempool *pool);

/* mempool_start.c. Lock held for all. */

/* Makes the extent's tables, in which no block starts; false when memory is short. Gives them back. */
bool mr_starts_new(struct mr_extent *extent) __attribute__((warn_unused_result));
void mr_starts_free(struct mr_extent *extent);

/* A block starts at the granule; none does any more. */
void mr_start_set(struct mr_extent *extent, uint32_t granule, struct mr_block *block);
void mr_start_clear(struct mr_extent *extent, uint32_t granule);

/* The live block that starts at the address, or contains it; NULL if there is none. */
struct mr_block *mr_block_at(struct mr_extent *extent, uintptr_t address);
struct mr_block *mr_block_around(struct mr_extent *extent, uintptr_t address);

/* mempool_guard.c. Lock held. */

/* A block for `size` bytes that is in no list and has an extent of its own; NULL if there is no memory, or there are
 * too many. */
struct mr_block *mr_guarded_take(struct mr_mempool *pool, size_t size);

/* Places another allocation of `size` bytes in the pages of a block whose earlier allocation is in use yet. */
void mr_guarded_place_again(struct mr_block *block, size_t size);

/* A guarded block that is in no list is free: its pages and addresses go. */
void mr_guarded_end(struct mr_mempool *pool, struct mr_block *block);

/* mempool.c */

/* Counts `bytes` more against the pool's most and the memory of its device, not yet as reserved. Lock held. */
bool mr_mempool_charge(struct mr_mempool *pool, size_t bytes) __attribute__((warn_unused_result));

/* The pool of an address with its lock held, and the extent; NULL, and nothing held, if the address is in none. */
struct mr_mempool *mr_mempool_lock_at(uintptr_t address, struct mr_extent **extent);

/* Memory for a free block of `count` granules. Lock held. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_mempool_grow(struct mr_mempool *pool, uint32_t count) __attribute__((warn_unused_result));

/* Counts the pool among those that mr_mempools_settle looks at, if it has something to give back. Lock held. */
void mr_mempool_note_slack(struct mr_mempool *pool);

/* Drops the lock; a destroyed pool that has nothing live or waiting ends. */
void mr_mempool_leave(struct mr_mempool *pool);

/* mempool_share.c */

/* Gives a shareable pool its file. False when there are no more descriptors, or memory is short. */
bool mr_mempool_share_begin(struct mr_mempool *pool) __attribute__((warn_unused_result));
void mr_mempool_share_end(struct mr_mempool *pool);

/* Puts the file's pages under a new extent, inaccessible yet; gives back what a range of it holds. Lock of the pool
 * held. */
bool mr_mempool_share_back(struct mr_mempool *pool, struct mr_extent *extent) __attribute__((warn_unused_result));
void mr_mempool_share_drop(struct mr_mempool *pool, struct mr_extent *extent, size_t start, size_t bytes);

/* Takes imported extents whose allocation was freed out of the pool. Lock of the pool held. */
void mr_mempool_share_tidy(struct mr_mempool *pool);

/* The kind of a pool's memory. */
static inline enum mr_memory_kind mr_mempool_kind(const struct mr_mempool *pool)
{
    return pool->device ? MR_MEMORY_POOL : MR_MEMORY_HOST_POOL;
}

#endif
