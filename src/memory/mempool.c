/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: making and ending, attributes, the default and the current pools, growing and giving memory back.
 *
 * A pool gives memory back when the program trims it, when a thread has waited for a stream, an event or a context and
 * the pool holds more than its threshold (mr_mempools_settle), and when memory is short. Only whole extents that
 * nothing uses can go.
 *
 * A destroyed pool lives on until nothing in it is live or waiting. Nobody is told when a fence is passed, so such a
 * pool ends at the next occasion: a wait of some thread, or memory being short. */
#include "memory/mempool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "memory/guard.h"
#include "memory/mempool_private.h"

#define SPACE ((size_t)1 << 30)       /* addresses that a pool gets at a time, if it doesn't need more */
#define NODES 64                      /* of the host, that can have pools of their own */
#define PLACE_HOST MR_DEVICE_LIMIT    /* places: each device, the host, its nodes, nowhere (managed memory) */
#define PLACE_NODE (MR_DEVICE_LIMIT + 1)
#define PLACE_NONE (PLACE_NODE + NODES)
#define PLACES (PLACE_NONE + 1)

mr_lock mr_mempools_lock = MR_LOCK_INIT(MEMPOOLS);
_Atomic uint32_t mr_mempools_slack;
const struct mr_mark_hooks *mr_mark_hooks;

static struct mr_list all = {&all, &all};                               /* under mr_mempools_lock */
static _Atomic(struct mr_mempool *) defaults[PLACES][2], current[PLACES][2];   /* written under mr_mempools_lock */

void mr_mempool_set_hooks(const struct mr_mark_hooks *hooks)
{
    mr_mark_hooks = hooks;
}

/* ---- making and finding ---- */

static void pool_finish(void *object)
{
    (void)object;   /* all is given up before the last reference goes */
}

/* mr_mempools_lock is held. */
static struct mr_mempool *pool_new(const CUmemPoolProps *properties, struct mr_device *device)
{
    MR_HELD(&mr_mempools_lock);
    struct mr_mempool *pool = mr_object_new(MR_KIND_MEMPOOL, sizeof *pool, pool_finish);
    if (!pool)
        return NULL;
    mr_lock_init(&pool->lock, MR_LOCK_MEMPOOL);
    pool->properties = *properties;
    pool->name = mr_object_handle(pool);
    pool->device = device;
    pool->reuse_events = pool->reuse_opportunistic = pool->reuse_internal = true;
    pool->guarded = mr_guard_apart();
    if (device)
        pool->rights = (uint32_t)CU_MEM_ACCESS_FLAGS_PROT_READWRITE << device->ordinal * 2;
    mr_list_init(&pool->extents);
    mr_list_init(&pool->empties);
    mr_list_init(&pool->waiting);
    mr_list_init(&pool->spare_lanes);
    mr_list_init(&pool->spare_blocks);
    for (unsigned i = 0; i < MR_MEMPOOL_BINS; i++)
        mr_list_init(&pool->bins[i]);
    for (unsigned i = 0; i < MR_MEMPOOL_LANES; i++)
        mr_list_init(&pool->lanes[i]);
    mr_list_append(&all, &pool->all);
    return pool;
}

/* Gives up what is left of a pool that has nothing live or waiting, and is in no list of pools any more. */
static void pool_end(struct mr_mempool *pool)
{
    mr_lock_take(&pool->lock);
    while (!mr_list_empty(&pool->extents)) {
        struct mr_extent *extent = MR_CONTAINER(pool->extents.next, struct mr_extent, link);
        mr_blocks_remove(pool, extent);
        mr_extent_give(extent);
    }
    if (pool->reserved)
        mr_memory_refund(pool->device, mr_mempool_kind(pool), pool->reserved);
    pool->reserved = 0;
    mr_blocks_end(pool);
    if (pool->slack)
        atomic_fetch_sub_explicit(&mr_mempools_slack, 1, memory_order_relaxed);
    pool->slack = false;
    mr_mempool_share_end(pool);
    mr_lock_drop(&pool->lock);
    mr_object_drop(pool);
}

struct mr_mempool *mr_mempool_new(const CUmemPoolProps *properties, struct mr_device *device)
{
    mr_lock_take(&mr_mempools_lock);
    struct mr_mempool *pool = pool_new(properties, device);
    mr_lock_drop(&mr_mempools_lock);
    if (pool && properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE && !mr_mempool_share_begin(pool)) {
        (void)mr_mempool_destroy(pool);
        pool = NULL;
    }
    return pool;
}

struct mr_mempool *mr_mempool_find(CUmemoryPool handle)
{
    return mr_object_find(handle, MR_KIND_MEMPOOL);
}

/* A destroyed pool with nothing in it any more. Lock held. True once. */
static bool is_over(struct mr_mempool *pool)
{
    MR_HELD(&pool->lock);
    if (!pool->destroyed || pool->over || pool->live_count)
        return false;
    (void)mr_blocks_reap(pool, SIZE_MAX);
    pool->over = pool->waiting_count == 0;
    return pool->over;
}

void mr_mempool_leave(struct mr_mempool *pool)
{
    MR_HELD(&pool->lock);
    bool over = __builtin_expect(pool->destroyed, 0) && is_over(pool);
    mr_lock_drop(&pool->lock);
    if (!over)
        return;
    mr_lock_take(&mr_mempools_lock);
    mr_list_remove(&pool->all);
    mr_lock_drop(&mr_mempools_lock);
    pool_end(pool);
}

bool mr_mempool_destroy(struct mr_mempool *pool)
{
    if (pool->is_default || !mr_object_retire(pool))
        return false;
    mr_lock_take(&mr_mempools_lock);
    for (int i = 0; i < PLACES; i++)
        for (int type = 0; type < 2; type++)
            if (atomic_load_explicit(&current[i][type], memory_order_relaxed) == pool)
                atomic_store_explicit(&current[i][type], NULL, memory_order_release);
    mr_lock_drop(&mr_mempools_lock);
    mr_lock_take(&pool->lock);
    pool->destroyed = true;
    mr_mempool_note_slack(pool);
    mr_mempool_leave(pool);
    return true;
}

bool mr_mempool_is_in_use(struct mr_mempool *pool)
{
    mr_lock_take(&pool->lock);
    bool used = pool->live_count != 0;
    mr_lock_drop(&pool->lock);
    return used;
}

CUmemoryPool mr_mempool_handle(const struct mr_mempool *pool)
{
    return pool->name;
}
const CUmemPoolProps *mr_mempool_properties(const struct mr_mempool *pool)
{
    return &pool->properties;
}
bool mr_mempool_is_imported(const struct mr_mempool *pool)
{
    return pool->imported;
}
bool mr_mempool_is_default(const struct mr_mempool *pool)
{
    return pool->is_default;
}
struct mr_device *mr_mempool_device(const struct mr_mempool *pool)
{
    return pool->device;
}

static unsigned place_of(const CUmemLocation *location)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return (unsigned)location->id % MR_DEVICE_LIMIT;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return PLACE_NODE + (unsigned)location->id % NODES;
    case CU_MEM_LOCATION_TYPE_HOST:
        return PLACE_HOST;
    default:
        return PLACE_NONE;
    }
}

static bool is_managed(CUmemAllocationType type)
{
    return type != CU_MEM_ALLOCATION_TYPE_PINNED;
}

struct mr_mempool *mr_mempool_default(const CUmemLocation *location, CUmemAllocationType type)
{
    _Atomic(struct mr_mempool *) *at = &defaults[place_of(location)][is_managed(type)];
    struct mr_mempool *pool = atomic_load_explicit(at, memory_order_acquire);
    if (pool)
        return pool;
    CUmemPoolProps properties = {.allocType = type, .location = *location};
    mr_lock_take(&mr_mempools_lock);
    pool = atomic_load_explicit(at, memory_order_relaxed);
    if (!pool &&
        (pool = pool_new(&properties,
                         location->type == CU_MEM_LOCATION_TYPE_DEVICE ? mr_device_get(location->id) : NULL)) != NULL) {
        pool->is_default = true;
        atomic_store_explicit(at, pool, memory_order_release);
    }
    mr_lock_drop(&mr_mempools_lock);
    return pool;
}

struct mr_mempool *mr_mempool_current(const CUmemLocation *location, CUmemAllocationType type)
{
    struct mr_mempool *pool =
        atomic_load_explicit(&current[place_of(location)][is_managed(type)], memory_order_acquire);
    return pool ? pool : mr_mempool_default(location, type);
}

void mr_mempool_set_current(struct mr_mempool *pool)
{
    const CUmemPoolProps *properties = &pool->properties;
    mr_lock_take(&mr_mempools_lock);
    atomic_store_explicit(&current[place_of(&properties->location)][is_managed(properties->allocType)], pool,
                          memory_order_release);
    mr_lock_drop(&mr_mempools_lock);
}

/* ---- attributes ---- */

uint64_t mr_mempool_get(struct mr_mempool *pool, CUmemPool_attribute attribute)
{
    uint64_t value = 0;
    mr_lock_take(&pool->lock);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        value = pool->reuse_events;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        value = pool->reuse_opportunistic;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        value = pool->reuse_internal;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        value = pool->threshold;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        value = pool->reserved;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        value = pool->reserved_high;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        value = pool->used;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        value = pool->used_high;
        break;
    }
    mr_lock_drop(&pool->lock);
    return value;
}

void mr_mempool_set(struct mr_mempool *pool, CUmemPool_attribute attribute, uint64_t value)
{
    mr_lock_take(&pool->lock);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        pool->reuse_events = value != 0;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        pool->reuse_opportunistic = value != 0;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse_internal = value != 0;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->threshold = value;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        pool->reserved_high = pool->reserved;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        pool->used_high = pool->used;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        break;
    }
    mr_mempool_note_slack(pool);
    mr_lock_drop(&pool->lock);
}

unsigned mr_mempool_access(struct mr_mempool *pool, const struct mr_device *device)
{
    mr_lock_take(&pool->lock);
    unsigned flags = pool->rights >> device->ordinal * 2 & CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    mr_lock_drop(&pool->lock);
    return flags;
}

void mr_mempool_set_access(struct mr_mempool *pool, const struct mr_device *device, unsigned flags)
{
    mr_lock_take(&pool->lock);
    pool->rights &= ~((uint32_t)CU_MEM_ACCESS_FLAGS_PROT_READWRITE << device->ordinal * 2);
    pool->rights |= (uint32_t)flags << device->ordinal * 2;
    mr_lock_drop(&pool->lock);
}

/* ---- growing and giving back ---- */

/* Takes memory that nothing uses away until at most `keep` bytes are reserved. Lock held. */
static void release_idle(struct mr_mempool *pool, size_t keep)
{
    MR_HELD(&pool->lock);
    struct mr_block *block;
    while (pool->reserved > keep && (block = mr_blocks_find_idle(pool)) != NULL) {
        struct mr_extent *extent = block->extent;
        size_t wanted = (pool->reserved - keep + MR_EXTENT_CHUNK - 1) / MR_EXTENT_CHUNK;
        uint32_t start,
            chunks = mr_blocks_drain(pool, block, wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX, &start);
        size_t bytes = chunks * MR_EXTENT_CHUNK;
        if (!chunks)
            return;
        mr_extent_decommit(extent, start * MR_EXTENT_CHUNK, bytes);
        if (pool->share)
            mr_mempool_share_drop(pool, extent, start * MR_EXTENT_CHUNK, bytes);
        mr_memory_refund(pool->device, mr_mempool_kind(pool), bytes);
        pool->reserved -= bytes;
        if (mr_blocks_are_one(extent, MR_BLOCK_EMPTY) && pool->extents.next->next != &pool->extents) {
            mr_blocks_remove(pool, extent);
            mr_extent_give(extent);
        }
    }
}

/* True if the pool may reserve that much more. */
static bool has_room(const struct mr_mempool *pool, size_t size)
{
    size_t most = pool->properties.maxSize;
    if (!most)
        return true;
    most = (most + MR_EXTENT_CHUNK - 1) / MR_EXTENT_CHUNK * MR_EXTENT_CHUNK;
    return pool->reserved <= most && size <= most - pool->reserved;
}

/* More addresses, for at least `bytes`. Lock held. */
static bool extend(struct mr_mempool *pool, size_t bytes)
{
    MR_HELD(&pool->lock);
    size_t least = (bytes + MR_EXTENT_CHUNK - 1) / MR_EXTENT_CHUNK * MR_EXTENT_CHUNK;
    struct mr_extent *extent = mr_extent_take(least > SPACE / 2 ? least * 2 : SPACE);
    if (!extent)
        extent = mr_extent_take(least);
    if (extent && (!pool->share || mr_mempool_share_back(pool, extent)) && mr_blocks_add(pool, extent))
        return true;
    if (extent)
        mr_extent_give(extent);
    return false;
}

bool mr_mempool_charge(struct mr_mempool *pool, size_t bytes)
{
    MR_HELD(&pool->lock);
    return has_room(pool, bytes) && mr_memory_charge(pool->device, mr_mempool_kind(pool), bytes);
}

CUresult mr_mempool_grow(struct mr_mempool *pool, uint32_t count)
{
    MR_HELD(&pool->lock);
    uint32_t chunks;
    struct mr_block *empty = mr_blocks_find_empty(pool, count, &chunks);
    if (!empty && extend(pool, (size_t)count * MR_GRANULE))
        empty = mr_blocks_find_empty(pool, count, &chunks);
    if (!empty)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t bytes = chunks * MR_EXTENT_CHUNK;
    if (!mr_mempool_charge(pool, bytes)) {
        /* What is idle in other places makes room; that may join this block with others. */
        release_idle(pool, 0);
        empty = mr_blocks_find_empty(pool, count, &chunks);
        bytes = chunks * MR_EXTENT_CHUNK;
        if (!empty || !mr_mempool_charge(pool, bytes)) {
            mr_log(MR_LOG_INFO, "a memory pool that has %zu bytes (at most %zu, 0: no limit) cannot grow by %zu",
                   pool->reserved, pool->properties.maxSize, bytes);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    struct mr_extent *extent = empty->extent;
    size_t start = (size_t)empty->start * MR_GRANULE;
    bool committed = mr_extent_commit(extent, start, bytes);
    if (!committed || !mr_blocks_fill(pool, empty, chunks)) {
        if (committed)
            mr_extent_decommit(extent, start, bytes);
        mr_memory_refund(pool->device, mr_mempool_kind(pool), bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->reserved += bytes;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return CUDA_SUCCESS;
}

void mr_mempool_note_slack(struct mr_mempool *pool)
{
    MR_HELD(&pool->lock);
    bool slack = pool->waiting_count ? pool->reserved > pool->threshold || pool->destroyed || pool->imported ||
                                           !pool->reuse_opportunistic || pool->guarded
                                     : pool->reserved > pool->threshold && !pool->imported && mr_blocks_find_idle(pool);
    if (slack == pool->slack)
        return;
    pool->slack = slack;
    if (slack)
        atomic_fetch_add_explicit(&mr_mempools_slack, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&mr_mempools_slack, 1, memory_order_relaxed);
}

void mr_mempool_trim(struct mr_mempool *pool, size_t keep)
{
    mr_lock_take(&pool->lock);
    (void)mr_blocks_reap(pool, SIZE_MAX);
    release_idle(pool, keep);
    mr_mempool_note_slack(pool);
    mr_lock_drop(&pool->lock);
}

/* Gives back what each pool holds above its threshold, or all that is unused; ends destroyed pools that are over. */
static bool settle(bool everything)
{
    struct mr_list over;
    bool any = false;
    mr_list_init(&over);
    mr_lock_take(&mr_mempools_lock);
    for (struct mr_list *link = all.next, *next; link != &all; link = next) {
        struct mr_mempool *pool = MR_CONTAINER(link, struct mr_mempool, all);
        next = link->next;
        mr_lock_take(&pool->lock);
        if (pool->slack || (everything && pool->reserved)) {
            size_t before = pool->reserved;
            (void)mr_blocks_reap(pool, SIZE_MAX);
            if (pool->imported)
                mr_mempool_share_tidy(pool);
            else
                release_idle(pool, everything ? 0 : pool->threshold);
            any |= pool->reserved < before;
            mr_mempool_note_slack(pool);
        }
        if (is_over(pool)) {
            mr_list_remove(&pool->all);
            mr_list_append(&over, &pool->all);
        }
        mr_lock_drop(&pool->lock);
    }
    mr_lock_drop(&mr_mempools_lock);
    while (!mr_list_empty(&over)) {
        struct mr_mempool *pool = MR_CONTAINER(over.next, struct mr_mempool, all);
        mr_list_remove(&pool->all);
        any |= pool->reserved != 0;
        pool_end(pool);
    }
    return any;
}

void mr_mempools_settle_slow(void)
{
    (void)settle(false);
}

bool mr_mempools_trim_all(void)
{
    return settle(true);
}

/* ---- looking up addresses ---- */

struct mr_mempool *mr_mempool_lock_at(uintptr_t address, struct mr_extent **extent)
{
    *extent = mr_extents_have(address) ? mr_extent_at(address) : NULL;
    if (!*extent)
        return NULL;
    struct mr_mempool *pool = atomic_load_explicit(&(*extent)->pool, memory_order_acquire);
    if (!pool)
        return NULL;
    mr_lock_take(&pool->lock);
    if (atomic_load_explicit(&(*extent)->pool, memory_order_relaxed) == pool &&
        address - (*extent)->base < (*extent)->size)
        return pool;
    mr_lock_drop(&pool->lock);
    return NULL;
}

bool mr_mempool_is_address(uintptr_t address)
{
    return mr_extents_have(address);
}

bool mr_mempool_allocation(uintptr_t address, struct mr_allocation *out)
{
    struct mr_extent *extent;
    struct mr_mempool *pool = mr_mempool_lock_at(address, &extent);
    struct mr_block *block = pool ? mr_block_around(extent, address) : NULL;
    bool managed = block && is_managed(pool->properties.allocType);
    if (block)
        *out = (struct mr_allocation){
            .kind = managed ? MR_MEMORY_MANAGED : mr_mempool_kind(pool),
            .base = mr_block_address(block),
            .size = block->size,
            .mapped = mr_block_bytes(block),
            .flags = managed ? (unsigned)CU_MEM_ATTACH_GLOBAL : pool->rights,
            .id = block->id,
            .device = pool->device ? pool->device : mr_device_get(0),
            .sync_memops = block->sync_memops,
        };
    if (pool)
        mr_lock_drop(&pool->lock);
    return block != NULL;
}

bool mr_mempool_set_sync_memops(uintptr_t address, bool on)
{
    struct mr_extent *extent;
    struct mr_mempool *pool = mr_mempool_lock_at(address, &extent);
    struct mr_block *block = pool ? mr_block_around(extent, address) : NULL;
    if (block)
        block->sync_memops = on;
    if (pool)
        mr_lock_drop(&pool->lock);
    return block != NULL;
}

void mr_mempool_facts_get(uintptr_t address, struct mr_mempool_facts *out)
{
    struct mr_extent *extent;
    struct mr_mempool *pool = mr_mempool_lock_at(address, &extent);
    struct mr_block *block = pool ? mr_block_around(extent, address) : NULL;
    *out = (struct mr_mempool_facts){0};
    if (block) {
        out->pool = pool->name;
        out->handle_types = pool->imported ? CU_MEM_HANDLE_TYPE_NONE : pool->properties.handleTypes;
        out->chunk = extent->base + (uintptr_t)block->start * MR_GRANULE / MR_EXTENT_CHUNK * MR_EXTENT_CHUNK;
        out->chunk_size = MR_EXTENT_CHUNK;
    }
    if (pool)
        mr_lock_drop(&pool->lock);
}

/* ---- for tests ---- */

void mr_mempool_statistics_get(struct mr_mempool *pool, struct mr_mempool_statistics *out)
{
    size_t waiting = 0, live = 0, used = 0, reserved = 0;
    *out = (struct mr_mempool_statistics){0};
    mr_lock_take(&pool->lock);
    for (struct mr_list *link = pool->extents.next; link != &pool->extents; link = link->next) {
        struct mr_extent *extent = MR_CONTAINER(link, struct mr_extent, link);
        uint32_t at = 0;
        out->extents++;
        for (struct mr_block *block = extent->at[0], *before = NULL; block; before = block, block = block->after) {
            if (block->start != at || block->before != before || extent->at[at] != block || block->extent != extent)
                abort();
            if (before && before->state == block->state &&
                (block->state == MR_BLOCK_FREE || block->state == MR_BLOCK_EMPTY))
                abort();
            if (block->state == MR_BLOCK_EMPTY &&
                (block->start % MR_CHUNK_GRANULES || block->count % MR_CHUNK_GRANULES))
                abort();
            at += block->count;
            used += block->state == MR_BLOCK_LIVE ? block->size : 0;
            reserved += block->state == MR_BLOCK_EMPTY ? 0 : mr_block_bytes(block) + extent->shift;
            live += block->state == MR_BLOCK_LIVE;
            waiting += block->state == MR_BLOCK_WAITING;
        }
        if (at != extent->size / MR_GRANULE)
            abort();
    }
    if (live != pool->live_count || waiting != pool->waiting_count || used != pool->used ||
        (reserved != pool->reserved && !pool->imported))
        abort();
    out->live = live;
    out->waiting = waiting;
    mr_lock_drop(&pool->lock);
}
