/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory pools: taking, freeing, splitting, joining.
 *
 * Free blocks are in bins by size, newest last; a bitmap tells which bins have any, so taking and freeing cost the same
 * however many there are. Waiting blocks are in two lists at once: their stream's lane, where that stream looks first,
 * and the pool's list by age, from which they are freed as their fences are passed. Neighbours that are both free, or
 * both wait for the same stream, are joined. */
#include <assert.h>

#include "base/alloc.h"
#include "base/log.h"
#include "memory/advice.h"
#include "memory/mempool_private.h"

#define BIN_SEARCH 16       /* blocks of the first bin to look at */
#define LANE_SEARCH 64      /* waiting blocks of the own stream to look at */
#define VIEW_SEARCH 512     /* waiting blocks of other streams to look at */
#define REAP_FEW 4

/* ---- records ---- */

static struct mr_block *block_new(struct mr_mempool *pool)
{
    struct mr_block *block;
    if (!mr_list_empty(&pool->spare_blocks)) {
        block = MR_CONTAINER(pool->spare_blocks.prev, struct mr_block, link);
        mr_list_remove(&block->link);
        return block;
    }
    block = mr_calloc(1, sizeof *block);
    if (block) {
        mr_list_init(&block->link);
        mr_list_init(&block->age);
    }
    return block;
}

static void block_spare(struct mr_mempool *pool, struct mr_block *block)
{
    mr_list_append(&pool->spare_blocks, &block->link);
}

static struct mr_list *lane_head(struct mr_mempool *pool, uint64_t stream)
{
    return &pool->lanes[stream % MR_MEMPOOL_LANES];
}

static struct mr_lane *lane_find(struct mr_mempool *pool, uint64_t stream)
{
    struct mr_list *head = lane_head(pool, stream);
    for (struct mr_list *link = head->next; link != head; link = link->next) {
        struct mr_lane *lane = MR_CONTAINER(link, struct mr_lane, link);
        if (lane->stream == stream)
            return lane;
    }
    return NULL;
}

/* The stream's lane, made if there is none; NULL when memory is short. */
static struct mr_lane *lane_provide(struct mr_mempool *pool, uint64_t stream)
{
    struct mr_lane *lane = lane_find(pool, stream);
    if (lane)
        return lane;
    if (!mr_list_empty(&pool->spare_lanes)) {
        lane = MR_CONTAINER(pool->spare_lanes.prev, struct mr_lane, link);
        mr_list_remove(&lane->link);
    } else {
        lane = mr_calloc(1, sizeof *lane);
        if (!lane)
            return NULL;
        mr_list_init(&lane->link);
        mr_list_init(&lane->blocks);
    }
    lane->stream = stream;
    mr_list_append(lane_head(pool, stream), &lane->link);
    return lane;
}

void mr_blocks_end(struct mr_mempool *pool)
{
    while (!mr_list_empty(&pool->spare_blocks)) {
        struct mr_block *block = MR_CONTAINER(pool->spare_blocks.next, struct mr_block, link);
        mr_list_remove(&block->link);
        mr_free(block);
    }
    while (!mr_list_empty(&pool->spare_lanes)) {
        struct mr_lane *lane = MR_CONTAINER(pool->spare_lanes.next, struct mr_lane, link);
        mr_list_remove(&lane->link);
        mr_free(lane);
    }
}

/* ---- free blocks ---- */

static unsigned bin_of(uint32_t count)
{
    unsigned log = 31u - (unsigned)__builtin_clz(count);
    return log < 2 ? count : log * 4 + ((count >> (log - 2)) & 3);
}

static void bin_put(struct mr_mempool *pool, struct mr_block *block)
{
    unsigned bin = bin_of(block->count);
    block->state = MR_BLOCK_FREE;
    mr_list_append(&pool->bins[bin], &block->link);
    pool->filled[bin / 64] |= (uint64_t)1 << (bin % 64);
}

static void bin_take(struct mr_mempool *pool, struct mr_block *block)
{
    unsigned bin = bin_of(block->count);
    mr_list_remove(&block->link);
    if (mr_list_empty(&pool->bins[bin]))
        pool->filled[bin / 64] &= ~((uint64_t)1 << (bin % 64));
}

/* Makes `gone`, which follows `block`, part of it. The record is spare then; it is in no list. */
static void absorb(struct mr_mempool *pool, struct mr_block *block, struct mr_block *gone)
{
    mr_start_clear(gone->extent, gone->start);
    block->count += gone->count;
    block->after = gone->after;
    if (gone->after)
        gone->after->before = block;
    block_spare(pool, gone);
}

/* A block that is in no list becomes free. */
static void make_free(struct mr_mempool *pool, struct mr_block *block)
{
    if (__builtin_expect(block->extent->pages != 0, 0)) {
        mr_guarded_end(pool, block);
        return;
    }
    if (block->after && block->after->state == MR_BLOCK_FREE) {
        bin_take(pool, block->after);
        absorb(pool, block, block->after);
    }
    if (block->before && block->before->state == MR_BLOCK_FREE) {
        struct mr_block *before = block->before;
        bin_take(pool, before);
        absorb(pool, before, block);
        block = before;
    }
    bin_put(pool, block);
}

/* A free block of at least `count` granules, out of its bin; NULL if there is none. */
static struct mr_block *take_free(struct mr_mempool *pool, uint32_t count)
{
    unsigned bin = bin_of(count);
    struct mr_block *found = NULL;
    int looked = 0;
    for (struct mr_list *link = pool->bins[bin].prev; link != &pool->bins[bin] && looked < BIN_SEARCH;
         link = link->prev, looked++) {
        struct mr_block *block = MR_CONTAINER(link, struct mr_block, link);
        if (block->count >= count && (!found || block->count < found->count))
            found = block;
        if (block->count == count)
            break;
    }
    for (unsigned next = bin + 1; !found && next < MR_MEMPOOL_BINS; next = (next / 64 + 1) * 64) {
        uint64_t word = pool->filled[next / 64] & (~(uint64_t)0 << (next % 64));
        if (word) {
            next = next / 64 * 64 + (unsigned)__builtin_ctzll(word);
            found = MR_CONTAINER(pool->bins[next].prev, struct mr_block, link);
        }
    }
    if (found)
        bin_take(pool, found);
    return found;
}

/* Cuts what is more than `count` off a block that is in no list; the rest, or NULL if there is none, or memory is
 * short. */
static struct mr_block *cut(struct mr_mempool *pool, struct mr_block *block, uint32_t count)
{
    struct mr_block *rest = block->count > count ? block_new(pool) : NULL;
    if (!rest)
        return NULL;
    rest->extent = block->extent;
    rest->start = block->start + count;
    rest->count = block->count - count;
    rest->before = block;
    rest->after = block->after;
    rest->fence = (struct mr_fence){0};
    if (block->after)
        block->after->before = rest;
    block->after = rest;
    block->count = count;
    mr_start_set(rest->extent, rest->start, rest);
    return rest;
}

/* ---- waiting blocks ---- */

static void fence_drop(struct mr_fence *fence)
{
    if (fence->mark)
        mr_mark_hooks->drop(fence->mark);
    *fence = (struct mr_fence){0};
}

static bool is_later(uint32_t one, uint32_t other)
{
    return (int32_t)(one - other) > 0;
}

/* Takes a waiting block out of its lists; it keeps its fence. */
static void unlist(struct mr_mempool *pool, struct mr_block *block)
{
    struct mr_list *neighbour = block->link.next;
    mr_list_remove(&block->link);
    mr_list_remove(&block->age);
    pool->waiting_count--;
    if (neighbour->next == neighbour && neighbour != &block->link) {
        struct mr_lane *lane = MR_CONTAINER(neighbour, struct mr_lane, blocks);
        mr_list_remove(&lane->link);
        mr_list_append(&pool->spare_lanes, &lane->link);
    }
}

/* Joins two neighbours of which `gone`, the second, is in no list; the later fence stays. */
static void join_waiting(struct mr_mempool *pool, struct mr_block *block, struct mr_block *gone)
{
    if (is_later(gone->fence.sequence, block->fence.sequence)) {
        struct mr_fence later = gone->fence;
        gone->fence = block->fence;
        block->fence = later;
    }
    fence_drop(&gone->fence);
    absorb(pool, block, gone);
}

static bool waits_alike(const struct mr_block *one, const struct mr_block *other)
{
    return other && other->state == MR_BLOCK_WAITING && other->fence.stream == one->fence.stream;
}

/* A block that is in no list and has its fence becomes a waiting one. */
static void make_waiting(struct mr_mempool *pool, struct mr_block *block)
{
    if (waits_alike(block, block->after)) {
        struct mr_block *after = block->after;
        unlist(pool, after);
        join_waiting(pool, block, after);
    }
    if (waits_alike(block, block->before)) {
        struct mr_block *before = block->before;
        unlist(pool, before);
        join_waiting(pool, before, block);
        block = before;
    }
    struct mr_lane *lane = block->extent->pages ? NULL : lane_provide(pool, block->fence.stream);
    block->state = MR_BLOCK_WAITING;
    if (lane) /* without it, as guarded ones are, the block is found by age only */
        mr_list_append(&lane->blocks, &block->link);
    mr_list_append(&pool->waiting, &block->age);
    pool->waiting_count++;
}

/* Takes a block for `count` granules out of the waiting ones; the rest goes on waiting. */
static void take_waiting(struct mr_mempool *pool, struct mr_block *block, uint32_t count)
{
    unlist(pool, block);
    struct mr_block *rest = cut(pool, block, count);
    if (!rest)
        return;
    rest->fence = block->fence;
    if (rest->fence.mark)
        mr_mark_hooks->hold(rest->fence.mark);
    block->state = MR_BLOCK_LIVE; /* so that the rest isn't joined with it again */
    make_waiting(pool, rest);
}

bool mr_blocks_reap(struct mr_mempool *pool, size_t most)
{
    MR_HELD(&pool->lock);
    bool any = false;
    struct mr_list *next;
    for (struct mr_list *link = pool->waiting.next; link != &pool->waiting && most > 0; link = next, most--) {
        struct mr_block *block = MR_CONTAINER(link, struct mr_block, age);
        next = link->next;
        if (!mr_fence_is_passed(&block->fence))
            continue;
        unlist(pool, block);
        fence_drop(&block->fence);
        make_free(pool, block);
        any = true;
    }
    return any;
}

static struct mr_block *better(struct mr_block *found, struct mr_block *block, uint32_t count)
{
    return block->count >= count && (!found || block->count < found->count) ? block : found;
}

/* The best of the stream's own waiting blocks. */
static struct mr_block *find_own(struct mr_mempool *pool, uint64_t stream, uint32_t count)
{
    struct mr_lane *lane = pool->waiting_count ? lane_find(pool, stream) : NULL;
    struct mr_block *found = NULL;
    int looked = 0;
    if (!lane)
        return NULL;
    for (struct mr_list *link = lane->blocks.prev; link != &lane->blocks && looked < LANE_SEARCH;
         link = link->prev, looked++) {
        found = better(found, MR_CONTAINER(link, struct mr_block, link), count);
        if (found && found->count == count)
            break;
    }
    return found;
}

static bool has_seen(const struct mr_mempool_view *view, const struct mr_fence *fence)
{
    for (unsigned i = 0; i < view->count; i++)
        if (view->seen[i].stream == fence->stream && !is_later(fence->sequence, view->seen[i].sequence))
            return true;
    return false;
}

/* The best block whose free the stream's next work comes after; with no view, the one that was freed first. */
static struct mr_block *find_waiting(struct mr_mempool *pool, uint32_t count, const struct mr_mempool_view *view)
{
    struct mr_block *found = NULL;
    int looked = 0;
    for (struct mr_list *link = pool->waiting.next; link != &pool->waiting && looked < VIEW_SEARCH;
         link = link->next, looked++) {
        struct mr_block *block = MR_CONTAINER(link, struct mr_block, age);
        if (block->count < count || block->extent->pages)
            continue;
        if (!view)
            return block;
        if (has_seen(view, &block->fence))
            found = better(found, block, count);
    }
    return found;
}

/* The guarded block that was freed first, with pages for `size` bytes: out of its lists, as a whole. */
static struct mr_block *from_guarded(struct mr_mempool *pool, size_t size)
{
    for (struct mr_list *link = pool->waiting.next; link != &pool->waiting; link = link->next) {
        struct mr_block *block = MR_CONTAINER(link, struct mr_block, age);
        if (block->extent->pages < size)
            continue;
        unlist(pool, block);
        mr_guarded_place_again(block, size);
        return block;
    }
    return NULL;
}

/* ---- allocations ---- */

/* Makes a block that is in no list an allocation. */
static void make_live(struct mr_mempool *pool, struct mr_block *block, size_t size)
{
    block->state = MR_BLOCK_LIVE;
    block->size = size;
    block->sync_memops = false;
    block->id = mr_memory_next_id();
    pool->live_count++;
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

static struct mr_block *from_free(struct mr_mempool *pool, uint32_t count)
{
    struct mr_block *block = take_free(pool, count);
    struct mr_block *rest = block ? cut(pool, block, count) : NULL;
    if (rest)
        bin_put(pool, rest);
    return block;
}

static struct mr_block *from_waiting(struct mr_mempool *pool, struct mr_block *block, uint32_t count)
{
    if (block)
        take_waiting(pool, block, count);
    return block;
}

/* What an attempt finds without more memory. */
static struct mr_block *find(struct mr_mempool *pool, uint32_t count, uint64_t stream,
                             const struct mr_mempool_view *view, bool thorough)
{
    struct mr_block *block = from_waiting(pool, find_own(pool, stream, count), count);
    if (!block && pool->waiting_count && pool->reuse_opportunistic)
        (void)mr_blocks_reap(pool, thorough ? SIZE_MAX : REAP_FEW);
    if (!block)
        block = from_free(pool, count);
    if (!block && view && pool->reuse_events)
        block = from_waiting(pool, find_waiting(pool, count, view), count);
    return block;
}

CUresult mr_mempool_allocate(struct mr_mempool *pool, size_t size, uint64_t stream, enum mr_mempool_effort effort,
                             const struct mr_mempool_view *view, struct mr_mempool_grant *out)
{
    size_t unit = pool->share ? mr_page_size : MR_GRANULE;
    size_t granules = (size / unit + (size % unit != 0)) * (unit / MR_GRANULE);
    CUresult status = CUDA_SUCCESS;
    if (granules > UINT32_MAX / 2)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint32_t count = (uint32_t)granules;
    *out = (struct mr_mempool_grant){0};
    mr_lock_take(&pool->lock);
    if (pool->destroyed) {
        mr_lock_drop(&pool->lock);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct mr_block *block = __builtin_expect(pool->guarded, 0) ? mr_guarded_take(pool, size) : NULL;
    if (!block)
        block = find(pool, count, stream, view, effort == MR_MEMPOOL_FULL);
    if (!block && effort == MR_MEMPOOL_QUICK && pool->waiting_count) {
        status = CUDA_ERROR_NOT_FOUND;
    } else if (!block) {
        status = mr_mempool_grow(pool, count);
        if (status == CUDA_SUCCESS)
            block = from_free(pool, count);
        else if (pool->reuse_internal)
            block = from_waiting(pool, find_waiting(pool, count, NULL), count);
        if (!block && status != CUDA_SUCCESS && pool->reuse_internal && pool->guarded)
            block = from_guarded(pool, size);
        if (block)
            status = CUDA_SUCCESS;
        if (block && block->fence.mark && block->fence.stream != stream) {
            out->wait = block->fence.mark;
            mr_mark_hooks->hold(out->wait);
        }
    }
    if (block) {
        make_live(pool, block, size);
        out->address = mr_block_address(block);
    }
    mr_lock_drop(&pool->lock);
    return status;
}

/* What the allocation itself waited for, if that is still ahead and the freeing stream may not know of it. */
static bool is_born_later(const struct mr_block *block, const struct mr_fence *fence)
{
    return block->fence.mark && block->fence.stream != fence->stream && !mr_fence_is_passed(&block->fence);
}

CUresult mr_mempool_free(uintptr_t address, struct mr_fence fence, void **birth)
{
    struct mr_extent *extent;
    struct mr_mempool *pool = mr_mempool_lock_at(address, &extent);
    struct mr_block *block = pool ? mr_block_at(extent, address) : NULL;
    if (!block) {
        if (pool)
            mr_lock_drop(&pool->lock);
        fence_drop(&fence);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (__builtin_expect(birth && is_born_later(block, &fence), 0)) {
        *birth = block->fence.mark;
        mr_mark_hooks->hold(*birth);
        mr_lock_drop(&pool->lock);
        fence_drop(&fence);
        return CUDA_ERROR_NOT_READY;
    }
    if (pool->properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
        mr_advice_forget(address, mr_block_bytes(block));
    pool->used -= block->size;
    pool->live_count--;
    fence_drop(&block->fence);
    if ((!fence.stream && !fence.mark) || (pool->reuse_opportunistic && mr_fence_is_passed(&fence))) {
        fence_drop(&fence);
        make_free(pool, block);
    } else {
        block->fence = fence;
        make_waiting(pool, block);
    }
    if (pool->imported)
        mr_mempool_share_tidy(pool);
    mr_mempool_note_slack(pool);
    mr_mempool_leave(pool);
    return CUDA_SUCCESS;
}

/* ---- extents ---- */

static void empty_put(struct mr_mempool *pool, struct mr_block *block)
{
    block->state = MR_BLOCK_EMPTY;
    mr_list_append(&pool->empties, &block->link);
}

/* A block that is in no list becomes an empty one. */
static void make_empty(struct mr_mempool *pool, struct mr_block *block)
{
    if (block->after && block->after->state == MR_BLOCK_EMPTY) {
        mr_list_remove(&block->after->link);
        absorb(pool, block, block->after);
    }
    if (block->before && block->before->state == MR_BLOCK_EMPTY) {
        struct mr_block *before = block->before;
        mr_list_remove(&before->link);
        absorb(pool, before, block);
        block = before;
    }
    empty_put(pool, block);
}

static bool add(struct mr_mempool *pool, struct mr_extent *extent, struct mr_block **out)
{
    struct mr_block *block = block_new(pool);
    if (!block || !mr_starts_new(extent)) {
        if (block)
            block_spare(pool, block);
        return false;
    }
    block->extent = extent;
    block->start = 0;
    block->count = (uint32_t)(extent->size / MR_GRANULE);
    block->before = block->after = NULL;
    block->fence = (struct mr_fence){0};
    mr_start_set(extent, 0, block);
    mr_list_append(&pool->extents, &extent->link);
    atomic_store_explicit(&extent->pool, pool, memory_order_release);
    *out = block;
    return true;
}

bool mr_blocks_add(struct mr_mempool *pool, struct mr_extent *extent)
{
    MR_HELD(&pool->lock);
    struct mr_block *block;
    if (!add(pool, extent, &block))
        return false;
    empty_put(pool, block);
    return true;
}

bool mr_blocks_add_live(struct mr_mempool *pool, struct mr_extent *extent, size_t size)
{
    MR_HELD(&pool->lock);
    struct mr_block *block;
    if (!add(pool, extent, &block))
        return false;
    make_live(pool, block, size);
    return true;
}

struct mr_block *mr_blocks_find_empty(struct mr_mempool *pool, uint32_t count, uint32_t *chunks)
{
    MR_HELD(&pool->lock);
    struct mr_block *found = NULL;
    for (struct mr_list *link = pool->empties.next; link != &pool->empties; link = link->next) {
        struct mr_block *block = MR_CONTAINER(link, struct mr_block, link);
        uint32_t have = block->before && block->before->state == MR_BLOCK_FREE ? block->before->count : 0;
        uint32_t need = count > have ? (count - have + MR_CHUNK_GRANULES - 1) / MR_CHUNK_GRANULES : 1;
        if (block->count / MR_CHUNK_GRANULES >= need && (!found || need < *chunks)) {
            found = block;
            *chunks = need;
        }
    }
    return found;
}

bool mr_blocks_fill(struct mr_mempool *pool, struct mr_block *empty, uint32_t chunks)
{
    MR_HELD(&pool->lock);
    mr_list_remove(&empty->link);
    struct mr_block *rest = cut(pool, empty, chunks * MR_CHUNK_GRANULES);
    if (rest) {
        empty_put(pool, rest);
    } else if (empty->count != chunks * MR_CHUNK_GRANULES) {
        empty_put(pool, empty);
        return false;
    }
    make_free(pool, empty);
    return true;
}

struct mr_block *mr_blocks_find_idle(struct mr_mempool *pool)
{
    MR_HELD(&pool->lock);
    for (unsigned bin = bin_of(MR_CHUNK_GRANULES); bin < MR_MEMPOOL_BINS; bin = (bin / 64 + 1) * 64) {
        for (uint64_t word = pool->filled[bin / 64] & (~(uint64_t)0 << (bin % 64)); word; word &= word - 1) {
            struct mr_list *head = &pool->bins[bin / 64 * 64 + (unsigned)__builtin_ctzll(word)];
            for (struct mr_list *link = head->prev; link != head; link = link->prev) {
                struct mr_block *block = MR_CONTAINER(link, struct mr_block, link);
                uint32_t first = (block->start + MR_CHUNK_GRANULES - 1) / MR_CHUNK_GRANULES;
                if (first < (block->start + block->count) / MR_CHUNK_GRANULES)
                    return block;
            }
        }
    }
    return NULL;
}

uint32_t mr_blocks_drain(struct mr_mempool *pool, struct mr_block *block, uint32_t most, uint32_t *start)
{
    MR_HELD(&pool->lock);
    uint32_t first = (block->start + MR_CHUNK_GRANULES - 1) / MR_CHUNK_GRANULES,
             end = (block->start + block->count) / MR_CHUNK_GRANULES;
    if (end - first > most)
        first = end - most;
    bin_take(pool, block);
    struct mr_block *middle = block, *rest;
    if (first * MR_CHUNK_GRANULES > block->start) {
        middle = cut(pool, block, first * MR_CHUNK_GRANULES - block->start);
        bin_put(pool, block);
        if (!middle)
            return 0;   /* no record to be had for the parts */
    }
    if (middle->start + middle->count > end * MR_CHUNK_GRANULES) {
        rest = cut(pool, middle, end * MR_CHUNK_GRANULES - middle->start);
        if (!rest) {
            make_free(pool, middle);
            return 0;
        }
        bin_put(pool, rest);
    }
    make_empty(pool, middle);
    *start = first;
    return end - first;
}

bool mr_blocks_are_one(const struct mr_extent *extent, enum mr_block_state state)
{
    const struct mr_block *block = extent->at[0];
    return !block->after && block->state == state;
}

void mr_blocks_remove(struct mr_mempool *pool, struct mr_extent *extent)
{
    MR_HELD(&pool->lock);
    for (struct mr_block *block = extent->at[0], *after; block; block = after) {
        after = block->after;
        assert(block->state == MR_BLOCK_FREE || block->state == MR_BLOCK_EMPTY);
        if (block->state == MR_BLOCK_FREE)
            bin_take(pool, block);
        else
            mr_list_remove(&block->link);
        block_spare(pool, block);
    }
    mr_starts_free(extent);
    mr_list_remove(&extent->link);
    atomic_store_explicit(&extent->pool, NULL, memory_order_release);
}
