/* SPDX-License-Identifier: Apache-2.0 */
/* Says of an address where nothing is which allocation is nearest. It looks at all allocations; nothing in src/memory
 * calls it. */
#include <stdio.h>

#include "memory/extent.h"
#include "memory/space.h"

struct nearest {
    uintptr_t address, base;
    size_t size, distance;
    bool freed, found;
    enum mr_memory_kind kind; /* 0: not known */
};

/* The words for who made it; "" where the program did not. */
static const char *maker(enum mr_memory_kind kind)
{
    switch (kind) {
    case MR_MEMORY_DEVICE:
        return ", made by cuMemAlloc";
    case MR_MEMORY_PINNED:
        return ", made by cuMemHostAlloc";
    case MR_MEMORY_MANAGED:
        return ", made by cuMemAllocManaged";
    case MR_MEMORY_REGISTERED:
        return ", registered by cuMemHostRegister";
    case MR_MEMORY_MODULE:
        return ", a module's variables";
    case MR_MEMORY_MAPPED:
    case MR_MEMORY_MAPPED_HOST:
        return ", mapped by cuMemMap";
    case MR_MEMORY_POOL:
    case MR_MEMORY_HOST_POOL:
        return ", made by cuMemAllocAsync";
    case MR_MEMORY_GRAPH:
        return ", of a graph's allocation node";
    default:
        return "";
    }
}

static void consider(struct nearest *nearest, uintptr_t base, size_t size, bool freed, enum mr_memory_kind kind)
{
    uintptr_t address = nearest->address;
    if (!size)
        return;
    size_t distance = address < base ? base - address : address - base < size ? 0 : address - base - size + 1;
    if (nearest->found && (distance > nearest->distance || (distance == nearest->distance && freed)))
        return;
    *nearest = (struct nearest){address, base, size, distance, freed, true, kind};
}

static void consider_chunk(struct nearest *nearest, struct mr_chunk *chunk)
{
    struct mr_slab *slab = atomic_load_explicit(&chunk->slab, memory_order_relaxed);
    struct mr_allocation found;
    for (unsigned i = 0; slab && i < MR_SLAB_SLOTS; i++)
        if (mr_record_read(&slab->records[i], &found))
            consider(nearest, found.base, found.size, false, found.kind);
    if (!slab && mr_record_read(&chunk->record, &found))
        consider(nearest, found.base, found.size, false, found.kind);
    else if (!slab)
        consider(nearest, chunk->was_base, chunk->was_size, true, 0);
}

/* Looks at every chunk there is: a fault may take its time. */
static void consider_zone(struct nearest *nearest, const struct mr_zone *zone)
{
    struct mr_chunk *last = NULL;
    for (size_t i = 0; i < zone->count; i++) {
        uintptr_t word = atomic_load_explicit(&zone->table[i], memory_order_acquire);
        struct mr_chunk *chunks = (struct mr_chunk *)(word & ~(uintptr_t)63);
        size_t count = (word & 63) == MR_STRIDE_RUN ? 1 : (size_t)1 << (zone->shift - (word & 63));
        if (!word || chunks == last)
            continue;
        last = chunks;
        for (size_t j = 0; j < count && chunks[j].zone; j++)
            consider_chunk(nearest, &chunks[j]);
    }
}

static void consider_pooled(uintptr_t base, size_t size, bool freed, void *nearest)
{
    consider(nearest, base, size, freed, MR_MEMORY_POOL);
}

static void consider_mapped(uintptr_t base, size_t size, bool freed, void *nearest)
{
    consider(nearest, base, size, freed, MR_MEMORY_MAPPED);
}

void mr_memory_describe(uintptr_t address, char *text, size_t room)
{
    struct nearest nearest = {.address = address};
    *text = '\0';
    if (mr_extents_have(address)) {
        mr_extents_visit(consider_pooled, &nearest);
        if (!nearest.found)
            snprintf(text, room, ", where no pool has memory");
    } else if (mr_mapping_record(address)) {
        snprintf(text, room, ", mapped memory without the right to that");
        return;
    } else if (mr_mapping_reserved(address)) {
        mr_mappings_visit(consider_mapped, &nearest);
        if (!nearest.found)
            snprintf(text, room, ", among reserved addresses without memory");
    } else {
        mr_lock_take(&mr_memory_lock);
        const struct mr_zone *zone = mr_zone_of(address);
        if (zone)
            consider_zone(&nearest, zone);
        mr_lock_drop(&mr_memory_lock);
    }
    if (!nearest.found)
        return;
    char where[48] = "inside";
    if (address < nearest.base)
        snprintf(where, sizeof where, "%zu bytes before", nearest.distance);
    else if (nearest.distance)
        snprintf(where, sizeof where, "%zu bytes behind the end of", nearest.distance - 1);
    snprintf(text, room, ", %s an allocation of %zu bytes at %#zx%s%s", where, nearest.size, (size_t)nearest.base,
             nearest.freed ? " that was freed" : "", maker(nearest.kind));
}
