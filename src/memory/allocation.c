/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations: making and freeing them, and finding the record of an address.
 *
 * A chunk of address space (zone.c) or a slot of a slab (pack.c) becomes an allocation when its record is filled in,
 * and stops being one when the record's size goes back to zero (record.c). */
#include "memory/allocation.h"

#include <string.h>

#include "base/hot.h"
#include "base/log.h"
#include "base/settings.h"
#include "memory/advice.h"
#include "memory/extent.h"
#include "memory/guard.h"
#include "memory/mempool_private.h"
#include "memory/space.h"
#include "object/context.h"

#define PACK_SMALL ((size_t)64 << 10)     /* packed when there are many mappings */
#define PACK_MIDDLE ((size_t)16 << 20)    /* packed when there are very many */
#define PACK_MIDDLE_CHUNKS 24000u
#define CACHE_MOST ((size_t)2 << 30)
#define LOW_SIZE ((size_t)1 << 30)
#define LOW_LIMIT ((uintptr_t)1 << 32)

static struct mr_zone main_zone, low_zone;
static _Atomic bool main_ready, low_ready;

/* Under mr_memory_lock. */
static size_t cache_limit;
static size_t pack_chunks = 8192;
static size_t live, packed;

bool mr_memory_init(void)
{
    bool ready = true;
    mr_lock_take(&mr_memory_lock);
    if (!atomic_load_explicit(&main_ready, memory_order_relaxed)) {
        mr_guard_init();
        size_t device_total = mr_budget_init();
        cache_limit = device_total / 8 < CACHE_MOST ? device_total / 8 : CACHE_MOST;
        /* Strides round up to powers of two, and a stride's space is not reused for another: be generous. */
        size_t size = (size_t)1 << 36, wanted = device_total > ((size_t)1 << 40) ? (size_t)1 << 45 : device_total * 32;
        while (size < wanted && size < (size_t)1 << 45)
            size *= 2;
        if (mr_guard_on() || *mr_setting_text(MR_SETTING_OBSERVE))
            size = (size_t)1 << 45; /* the observer, which may want allocations far apart, comes later */
        while (size >= (size_t)1 << 30 && !mr_zone_init(&main_zone, size, 0))
            size /= 2;
        ready = size >= (size_t)1 << 30;
        atomic_store_explicit(&main_ready, ready, memory_order_release);
    }
    mr_lock_drop(&mr_memory_lock);
    if (!ready)
        mr_log(MR_LOG_ERROR, "no address space for device memory: is there a limit (ulimit -v)?");
    return ready;
}

static bool zone_has(struct mr_zone *zone, _Atomic bool *ready, uintptr_t address)
{
    return atomic_load_explicit(ready, memory_order_acquire) && address - zone->base < zone->end - zone->base;
}

struct mr_zone *mr_zone_of(uintptr_t address)
{
    if (zone_has(&main_zone, &main_ready, address))
        return &main_zone;
    return zone_has(&low_zone, &low_ready, address) ? &low_zone : NULL;
}

bool mr_memory_is_reserved(uintptr_t address)
{
    return mr_zone_of(address) != NULL || mr_mapping_reserved(address) || mr_extents_have(address);
}

/* Where the record of an address is, if the address belongs to an allocation at all. */
static struct mr_record *record_at(uintptr_t address, struct mr_slab **in)
{
    struct mr_zone *zone = mr_zone_of(address);
    *in = NULL;
    if (!zone)
        return mr_mapping_record(address);
    struct mr_chunk *chunk = mr_chunk_at(zone, address);
    if (!chunk)
        return NULL;
    struct mr_slab *slab = atomic_load_explicit(&chunk->slab, memory_order_acquire);
    if (!slab)
        return &chunk->record;
    size_t slot = atomic_load_explicit(&slab->slot, memory_order_relaxed);
    size_t index = (address - chunk->base) / slot;
    *in = slab;
    return index < MR_SLAB_SLOTS ? &slab->records[index] : NULL;
}

#define LOAD(field) atomic_load_explicit(&record->field, memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&record->field, value, memory_order_relaxed)

static size_t cached(void)
{
    return mr_memory_kept[false].bytes + mr_memory_kept[true].bytes;
}

/* Lock held. */
static void cache_drop(void)
{
    MR_HELD(&mr_memory_lock);
    mr_chunks_trim(false, 0);
    mr_chunks_trim(true, 0);
}

/* Keeps what is cached, together with what is in use, below both limits; of open memory, which the system can't take
 * back, only a quarter. Lock held. */
static void hold_cache_down(void)
{
    MR_HELD(&mr_memory_lock);
    size_t room = mr_budget_room();
    size_t target = room < cache_limit ? room : cache_limit;
    mr_chunks_trim(false, target < cache_limit / 4 ? target : cache_limit / 4);
    size_t open = mr_memory_kept[false].bytes;
    mr_chunks_trim(true, open < target ? target - open : 0);
}

/* Memory of a kind that an observer is told of apart has been given out. */
static atomic_bool apart;

bool mr_memory_any_apart(void)
{
    return atomic_load_explicit(&apart, memory_order_acquire);
}

/* Address space for an allocation: own pages as a rule, a slot of a slab when mappings are many. Lock held. */
static struct mr_record *space_take(struct mr_zone *zone, enum mr_memory_kind kind, size_t size, uintptr_t *base,
                                    size_t *mapped)
{
    MR_HELD(&mr_memory_lock);
    struct mr_record *record;
    if (kind == MR_MEMORY_ARRAY || kind == MR_MEMORY_MODULE)
        atomic_store_explicit(&apart, true, memory_order_release);
    bool many = size <= PACK_SMALL && mr_memory_chunks >= (mr_guard_apart() ? PACK_MIDDLE_CHUNKS : pack_chunks);
    bool very_many = size <= PACK_MIDDLE && mr_memory_chunks >= PACK_MIDDLE_CHUNKS;
    if (!many && !very_many) {
        size_t bytes = (size + mr_page_size - 1) & ~(mr_page_size - 1);
        struct mr_chunk *chunk = mr_chunk_take(zone, bytes);
        if (!chunk && cached()) {
            cache_drop();
            chunk = mr_chunk_take(zone, bytes);
        }
        if (chunk) {
            size_t shift = mr_guard_place(chunk, kind, size);
            *base = chunk->base + shift;
            *mapped = bytes - shift;
            return &chunk->record;
        }
    }
    if (size <= PACK_MIDDLE && mr_slab_take(zone, size, &record, base, mapped)) {
        packed++;
        return record;
    }
    return NULL;
}

/* The record no longer holds an allocation; its space is free. Lock held. */
static void space_give(struct mr_record *record, uintptr_t base, size_t mapped)
{
    MR_HELD(&mr_memory_lock);
    struct mr_slab *slab;
    record_at(base, &slab);
    if (!slab) {
        struct mr_chunk *chunk = MR_CONTAINER(record, struct mr_chunk, record);
        mr_guard_check(chunk, base);
        chunk->was_base = base;
        chunk->was_size = atomic_load_explicit(&record->size, memory_order_relaxed);
    }
    mr_record_write(record, NULL);
    if (slab) {
        packed--;
        mr_slab_give(slab, record);
    } else {
        mr_chunk_give(MR_CONTAINER(record, struct mr_chunk, record), mapped <= cache_limit / 2 && !mr_guard_on());
        hold_cache_down();
    }
}

/* `context` is NULL for memory that no context owns. */
MR_HOT static CUresult allocate(struct mr_zone *zone, struct mr_device *device, struct mr_context *context,
                                enum mr_memory_kind kind, size_t size, unsigned flags, uintptr_t *out)
{
    size_t rounded = (size + mr_page_size - 1) & ~(mr_page_size - 1);
    struct mr_allocation value = {.kind = kind, .size = size, .flags = flags, .context = context, .device = device};
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&mr_memory_lock);
    if (!size) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else if (context && atomic_load_explicit(&context->destroyed, memory_order_acquire)) {
        status =
            CUDA_ERROR_CONTEXT_IS_DESTROYED; /* what the context had may be released already: nobody would free this */
    } else if (rounded >= size && mr_budget_take(device, kind, rounded)) {
        struct mr_record *record = space_take(zone, kind, size, &value.base, &value.mapped);
        if (!record) {
            mr_budget_give(device, kind, rounded);
        } else {
            if (value.mapped < rounded)
                mr_budget_give(device, kind, rounded - value.mapped);
            else if (value.mapped > rounded && !mr_budget_take(device, kind, value.mapped - rounded))
                value.mapped = rounded;
            value.id = mr_memory_next_id();
            mr_record_write(record, &value);
            if (context)
                mr_list_append(&context->allocations, &record->link);
            else
                mr_list_init(&record->link);
            live++;
            if (cached())
                hold_cache_down();
            *out = value.base;
            status = CUDA_SUCCESS;
        }
    }
    mr_lock_drop(&mr_memory_lock);
    return status;
}

CUresult mr_memory_allocate(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags,
                            uintptr_t *out)
{
    return allocate(&main_zone, context->device, context, kind, size, flags, out);
}

CUresult mr_memory_allocate_unowned(struct mr_device *device, enum mr_memory_kind kind, size_t size, unsigned flags,
                                    uintptr_t *out)
{
    return allocate(&main_zone, device, NULL, kind, size, flags, out);
}

CUresult mr_memory_allocate_low(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags,
                                uintptr_t *out)
{
    bool ready;
    mr_lock_take(&mr_memory_lock);
    ready = atomic_load_explicit(&low_ready, memory_order_relaxed);
    for (size_t space = LOW_SIZE; !ready && space >= LOW_SIZE / 16; space /= 2)
        ready = mr_zone_init(&low_zone, space, LOW_LIMIT);
    atomic_store_explicit(&low_ready, ready, memory_order_release);
    mr_lock_drop(&mr_memory_lock);
    return ready ? allocate(&low_zone, context->device, context, kind, size, flags, out) : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Lock held. */
MR_HOT static void release(struct mr_record *record, const struct mr_allocation *what)
{
    MR_HELD(&mr_memory_lock);
    mr_list_remove(&record->link);
    if (what->kind == MR_MEMORY_MANAGED)
        mr_advice_forget(what->base, what->mapped);
    if (!what->imported)
        mr_budget_give(what->device, what->kind, what->mapped);
    live--;
    space_give(record, what->base, what->mapped);
}

MR_HOT static CUresult release_at(uintptr_t base, enum mr_memory_kind kind, const struct mr_context *owner)
{
    struct mr_allocation found;
    struct mr_slab *slab;
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    mr_lock_take(&mr_memory_lock);
    struct mr_record *record = record_at(base, &slab);
    if (record && mr_record_read(record, &found) && found.base == base && found.kind == kind &&
        (!owner || found.context == owner)) {
        release(record, &found);
        status = CUDA_SUCCESS;
    }
    mr_lock_drop(&mr_memory_lock);
    return status;
}

CUresult mr_memory_release(uintptr_t base, enum mr_memory_kind kind)
{
    return release_at(base, kind, NULL);
}

CUresult mr_memory_release_of(const struct mr_context *owner, uintptr_t base, enum mr_memory_kind kind)
{
    return release_at(base, kind, owner);
}

/* Changes the kind of the allocation with that base, identity and kind. False if there is none. */
static bool change_kind(uintptr_t base, uint64_t id, enum mr_memory_kind from, enum mr_memory_kind to)
{
    struct mr_allocation found;
    struct mr_slab *slab;
    mr_lock_take(&mr_memory_lock);
    struct mr_record *record = record_at(base, &slab);
    bool done = record && mr_record_read(record, &found) && found.base == base && found.id == id && found.kind == from;
    if (done)
        STORE(kind, (uint32_t)to);
    mr_lock_drop(&mr_memory_lock);
    return done;
}

bool mr_memory_part(uintptr_t base, uint64_t id)
{
    return change_kind(base, id, MR_MEMORY_DEVICE, MR_MEMORY_PARTING);
}

void mr_memory_stay(uintptr_t base, uint64_t id)
{
    (void)change_kind(base, id, MR_MEMORY_PARTING, MR_MEMORY_DEVICE);
}

CUresult mr_memory_graph_reserve(struct mr_context *context, size_t size, uintptr_t *base, uint64_t *id)
{
    struct mr_allocation found;
    CUresult status = mr_memory_allocate(context, MR_MEMORY_DEVICE, size, 0, base);
    if (status != CUDA_SUCCESS)
        return status;
    /* Nobody else knows the address yet; the context may end all the same. */
    if (!mr_memory_find(*base, &found) || !change_kind(*base, found.id, MR_MEMORY_DEVICE, MR_MEMORY_GRAPH_RESERVED))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *id = found.id;
    return CUDA_SUCCESS;
}

void mr_memory_graph_resize(uintptr_t base, uint64_t id, size_t size)
{
    struct mr_slab *slab;
    mr_lock_take(&mr_memory_lock);
    struct mr_record *record = record_at(base, &slab);
    if (record && LOAD(base) == base && LOAD(id) == id)
        STORE(size, size);
    mr_lock_drop(&mr_memory_lock);
}

void mr_memory_graph_lend(uintptr_t base, uint64_t id, bool out, size_t size)
{
    if (change_kind(base, id, out ? MR_MEMORY_GRAPH_RESERVED : MR_MEMORY_GRAPH,
                    out ? MR_MEMORY_GRAPH : MR_MEMORY_GRAPH_RESERVED))
        mr_memory_graph_resize(base, id, size);
}

void mr_memory_graph_release(uintptr_t base, uint64_t id)
{
    (void)change_kind(base, id, MR_MEMORY_GRAPH, MR_MEMORY_GRAPH_RESERVED);
    if (change_kind(base, id, MR_MEMORY_GRAPH_RESERVED, MR_MEMORY_DEVICE))
        (void)mr_memory_release(base, MR_MEMORY_DEVICE);
}

void mr_memory_release_parting(uintptr_t base, uint64_t id)
{
    /* A context that ended has freed it already, and the addresses may be somebody else's: hence the identity. */
    if (change_kind(base, id, MR_MEMORY_PARTING, MR_MEMORY_DEVICE))
        (void)mr_memory_release(base, MR_MEMORY_DEVICE);
}

void mr_memory_release_context(struct mr_context *context)
{
    mr_registered_release_context(context);
    mr_lock_take(&mr_memory_lock);
    while (!mr_list_empty(&context->allocations)) {
        struct mr_record *record = MR_CONTAINER(context->allocations.next, struct mr_record, link);
        struct mr_allocation found;
        mr_record_read(record, &found);
        release(record, &found);
    }
    if (!live)
        cache_drop();
    mr_lock_drop(&mr_memory_lock);
}

bool mr_memory_find(uintptr_t address, struct mr_allocation *out)
{
    struct mr_slab *slab;
    if (!mr_memory_is_reserved(address))
        return mr_registered_any() && mr_registered_find(address, out);
    if (mr_extents_have(address))
        return mr_mempool_allocation(address, out);
    struct mr_record *record = record_at(address, &slab);
    return record && mr_record_read(record, out) && address - out->base < out->size && out->kind != MR_MEMORY_PARTING;
}

bool mr_memory_is_known(uintptr_t address)
{
    struct mr_slab *slab;
    if (!mr_memory_is_reserved(address)) {
        struct mr_allocation found;
        return mr_registered_any() && mr_registered_find(address, &found);
    }
    if (mr_extents_have(address)) {
        struct mr_allocation found;
        return mr_mempool_allocation(address, &found);
    }
    struct mr_record *record = record_at(address, &slab);
    return record && address - LOAD(base) < LOAD(size) && LOAD(kind) != MR_MEMORY_PARTING;
}

bool mr_memory_set_sync_memops(uintptr_t address, bool on)
{
    struct mr_allocation found;
    struct mr_slab *slab;
    bool done = false;
    if (mr_extents_have(address))
        return mr_mempool_set_sync_memops(address, on);
    mr_lock_take(&mr_memory_lock);
    struct mr_record *record = record_at(address, &slab);
    if (record && mr_record_read(record, &found) && address - found.base < found.size &&
        !mr_allocation_is_mapped(&found)) {
        STORE(sync_memops, on);
        done = true;
    }
    mr_lock_drop(&mr_memory_lock);
    return done;
}

bool mr_memory_touches_space(uintptr_t start, size_t size)
{
    struct mr_zone *zones[] = {&main_zone, &low_zone};
    _Atomic bool *ready[] = {&main_ready, &low_ready};
    for (int i = 0; i < 2; i++)
        if (atomic_load_explicit(ready[i], memory_order_acquire) && start < zones[i]->end &&
            zones[i]->base - start < size)
            return true;
    uintptr_t base = atomic_load_explicit(&mr_extents_base, memory_order_acquire);
    uintptr_t end = atomic_load_explicit(&mr_extents_end, memory_order_relaxed);
    if (base != end && start < end && (start >= base || base - start < size))
        return true;
    return mr_zone_of(start) != NULL || mr_mapping_touches(start, size);
}

size_t mr_memory_page(void)
{
    return mr_page_size;
}

void mr_memory_trim(void)
{
    mr_lock_take(&mr_memory_lock);
    cache_drop();
    mr_lock_drop(&mr_memory_lock);
}

void mr_memory_statistics_get(struct mr_memory_statistics *out)
{
    mr_lock_take(&mr_memory_lock);
    *out = (struct mr_memory_statistics){cached(), live, packed};
    mr_lock_drop(&mr_memory_lock);
}

void mr_memory_pack_after(size_t chunks)
{
    mr_lock_take(&mr_memory_lock);
    pack_chunks = chunks;
    mr_lock_drop(&mr_memory_lock);
}

struct mr_record *mr_record_at(uintptr_t address, struct mr_slab **in)
{
    return record_at(address, in);
}

struct mr_zone *mr_zone_main(void)
{
    return &main_zone;
}

void mr_record_begin_foreign(struct mr_record *record, struct mr_allocation *value)
{
    MR_HELD(&mr_memory_lock);
    value->id = mr_memory_next_id();
    value->imported = true;
    mr_record_write(record, value);
    mr_list_append(&value->context->allocations, &record->link);
    live++;
}

void mr_record_release(struct mr_record *record, const struct mr_allocation *what)
{
    MR_HELD(&mr_memory_lock);
    release(record, what);
}
