/* SPDX-License-Identifier: Apache-2.0 */
/* Packing: many allocations of one size side by side in one chunk, without holes between them.
 *
 * Only used when the process already has so many mappings that the kernel's limit on them (vm.max_map_count, 65,530 by
 * default) is in sight. A slab has 64 slots, so packing divides the number of mappings by 64. Slab records are never
 * freed: readers take no lock. */
#include "memory/space.h"

#include "base/alloc.h"

#define GRAIN ((size_t)256)
#define CLASSES 128u

/* Slabs with a free slot, by class of slot size and zone; and records of slabs that ended. Under mr_memory_lock. */
static struct {
    struct mr_zone *zone;
    struct mr_list classes[CLASSES];
} rooms[2];
static struct mr_list spare = {&spare, &spare};

/* Slot sizes rise by quarters of a power of two, in multiples of 256 bytes. */
static size_t slot_size(size_t size, unsigned *class)
{
    size_t grains = (size + GRAIN - 1) / GRAIN;
    if (grains <= 8) {
        *class = (unsigned)grains;
        return grains * GRAIN;
    }
    unsigned log = 63 - (unsigned)__builtin_clzll(grains - 1);
    size_t step = (size_t)1 << (log - 2);
    size_t steps = (grains - 1 - ((size_t)1 << log)) / step + 1;
    *class = 8 + (log - 3) * 4 + (unsigned)steps;
    return (((size_t)1 << log) + steps * step) * GRAIN;
}

static struct mr_list *room_for(struct mr_zone *zone, unsigned class)
{
    for (unsigned i = 0; i < 2; i++) {
        if (!rooms[i].zone) {
            rooms[i].zone = zone;
            for (unsigned j = 0; j < CLASSES; j++)
                mr_list_init(&rooms[i].classes[j]);
        }
        if (rooms[i].zone == zone)
            return &rooms[i].classes[class];
    }
    return NULL;
}

static struct mr_slab *slab_new(struct mr_zone *zone, size_t slot)
{
    struct mr_slab *slab;
    if (mr_list_empty(&spare)) {
        slab = mr_calloc(1, sizeof *slab);
        if (!slab)
            return NULL;
        mr_list_init(&slab->link);
    } else {
        slab = MR_CONTAINER(spare.next, struct mr_slab, link);
        mr_list_remove(&slab->link);
    }
    size_t bytes = (slot * MR_SLAB_SLOTS + mr_page_size - 1) & ~(mr_page_size - 1);
    slab->chunk = mr_chunk_take(zone, bytes);
    if (!slab->chunk) {
        mr_list_append(&spare, &slab->link);
        return NULL;
    }
    slab->used = 0;
    atomic_store_explicit(&slab->slot, slot, memory_order_relaxed);
    atomic_store_explicit(&slab->chunk->slab, slab, memory_order_release);
    return slab;
}

bool mr_slab_take(struct mr_zone *zone, size_t size, struct mr_record **record, uintptr_t *address, size_t *slot)
{
    MR_HELD(&mr_memory_lock);
    unsigned class;
    *slot = slot_size(size, &class);
    struct mr_list *room = class < CLASSES ? room_for(zone, class) : NULL;
    if (!room)
        return false;
    struct mr_slab *slab;
    if (mr_list_empty(room)) {
        slab = slab_new(zone, *slot);
        if (!slab)
            return false;
        mr_list_append(room, &slab->link);
    } else {
        slab = MR_CONTAINER(room->next, struct mr_slab, link);
    }
    unsigned index = (unsigned)__builtin_ctzll(~slab->used);
    slab->used |= UINT64_C(1) << index;
    if (slab->used == UINT64_MAX)
        mr_list_remove(&slab->link);
    *record = &slab->records[index];
    *address = slab->chunk->base + index * *slot;
    return true;
}

void mr_slab_give(struct mr_slab *slab, struct mr_record *record)
{
    MR_HELD(&mr_memory_lock);
    unsigned index = (unsigned)(record - slab->records), class;
    bool was_full = slab->used == UINT64_MAX;
    slab->used &= ~(UINT64_C(1) << index);
    if (slab->used == 0) {
        if (!was_full)
            mr_list_remove(&slab->link);
        atomic_store_explicit(&slab->chunk->slab, NULL, memory_order_release);
        mr_chunk_give(slab->chunk, false);
        mr_list_append(&spare, &slab->link);
    } else if (was_full) {
        slot_size(atomic_load_explicit(&slab->slot, memory_order_relaxed), &class);
        mr_list_append(room_for(slab->chunk->zone, class), &slab->link);
    }
}
