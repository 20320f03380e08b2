/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/guard.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "memory/extent.h"

#define PATTERN 0xB5
/* What allocations are aligned to: textures may be bound to any of them. */
#define ALIGNMENT ((size_t)512)

static size_t alignment;   /* 0: the setting is off */

void mr_guard_init(void)
{
    uint64_t value = mr_setting_number(MR_SETTING_GUARD, 0);
    alignment = 0;
    if (value > ALIGNMENT || (value & (value - 1)))
        mr_log(MR_LOG_WARN, "MILLRACE_GUARD is 0, 1, or an alignment: a power of two up to %zu; taken as 1", ALIGNMENT);
    if (value)
        alignment = value == 1 || value > ALIGNMENT || (value & (value - 1)) ? ALIGNMENT : (size_t)value;
}

bool mr_guard_on(void)
{
    return alignment != 0;
}

size_t mr_guard_shift(size_t mapped, size_t size, bool exact)
{
    return (mapped - size) & ~((exact ? alignment : ALIGNMENT) - 1);
}

void mr_guard_fill(uintptr_t pages, size_t mapped, size_t shift, size_t size)
{
    memset((void *)pages, PATTERN, shift);
    memset((void *)(pages + shift + size), PATTERN, mapped - shift - size);
}

size_t mr_guard_place(struct mr_chunk *chunk, enum mr_memory_kind kind, size_t size)
{
    MR_HELD(&mr_memory_lock);
    chunk->guard_tail = 0;
    if (!alignment)
        return 0;
    bool exact = kind == MR_MEMORY_DEVICE || kind == MR_MEMORY_MANAGED || kind == MR_MEMORY_PINNED;
    size_t shift = mr_guard_shift(chunk->mapped, size, exact);
    chunk->guard_tail = (uint32_t)(chunk->mapped - size - shift);
    mr_guard_fill(chunk->base, chunk->mapped, shift, size);
    return shift;
}

/* How many bytes at `start` are not the pattern; the first of them. */
static size_t changed(uintptr_t start, size_t size, size_t *first)
{
    const unsigned char *bytes = (const unsigned char *)start;
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != PATTERN && !count++)
            *first = i;
    return count;
}

void mr_guard_compare(uintptr_t pages, size_t mapped, size_t shift, size_t size)
{
    uintptr_t base = pages + shift;
    size_t first = 0, count = changed(base + size, mapped - shift - size, &first);
    if (count)
        mr_log(MR_LOG_WARN,
               "%zu bytes behind the allocation of %zu bytes at %#zx were written to, "
               "the first %zu bytes behind its end; seen when it was freed",
               count, size, (size_t)base, first);
    count = changed(pages, shift, &first);
    if (count)
        mr_log(MR_LOG_WARN,
               "%zu bytes before the allocation of %zu bytes at %#zx were written to, "
               "the first %zu bytes before it; seen when it was freed",
               count, size, (size_t)base, shift - first);
}

void mr_guard_check(const struct mr_chunk *chunk, uintptr_t base)
{
    MR_HELD(&mr_memory_lock);
    if (!alignment || chunk->sharing)
        return;   /* what others have mapped is theirs to change */
    size_t shift = base - chunk->base;
    mr_guard_compare(chunk->base, chunk->mapped, shift, chunk->mapped - chunk->guard_tail - shift);
}

/* ---- where an address is ---- */

struct nearest {
    uintptr_t address, base;
    size_t size, distance;
    bool freed, found;
};

static void consider(struct nearest *nearest, uintptr_t base, size_t size, bool freed)
{
    uintptr_t address = nearest->address;
    if (!size)
        return;
    size_t distance = address < base ? base - address : address - base < size ? 0 : address - base - size + 1;
    if (nearest->found && (distance > nearest->distance || (distance == nearest->distance && freed)))
        return;
    *nearest = (struct nearest){address, base, size, distance, freed, true};
}

static void consider_chunk(struct nearest *nearest, struct mr_chunk *chunk)
{
    struct mr_slab *slab = atomic_load_explicit(&chunk->slab, memory_order_relaxed);
    struct mr_allocation found;
    for (unsigned i = 0; slab && i < MR_SLAB_SLOTS; i++)
        if (mr_record_read(&slab->records[i], &found))
            consider(nearest, found.base, found.size, false);
    if (!slab && mr_record_read(&chunk->record, &found))
        consider(nearest, found.base, found.size, false);
    else if (!slab)
        consider(nearest, chunk->was_base, chunk->was_size, true);
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

static void consider_visited(uintptr_t base, size_t size, bool freed, void *nearest)
{
    consider(nearest, base, size, freed);
}

void mr_memory_describe(uintptr_t address, char *text, size_t room)
{
    struct nearest nearest = {.address = address};
    *text = '\0';
    if (mr_extents_have(address)) {
        mr_extents_visit(consider_visited, &nearest);
        if (!nearest.found)
            snprintf(text, room, ", where no pool has memory");
    } else if (mr_mapping_record(address)) {
        snprintf(text, room, ", mapped memory without the right to that");
        return;
    } else if (mr_mapping_reserved(address)) {
        mr_mappings_visit(consider_visited, &nearest);
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
    snprintf(text, room, ", %s an allocation of %zu bytes at %#zx%s", where, nearest.size, (size_t)nearest.base,
             nearest.freed ? " that was freed" : "");
}
