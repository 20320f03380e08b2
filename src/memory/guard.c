/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/guard.h"

#include <string.h>

#include "base/log.h"
#include "base/settings.h"

#define PATTERN 0xB5
/* What allocations are aligned to: textures may be bound to any of them. */
#define ALIGNMENT ((size_t)512)
/* Behind the first FEW allocations lies as much as a 32-bit offset can reach; less behind further ones. */
#define GAP_MOST ((size_t)4 << 30)
#define FEW 1024u

size_t mr_guard_alignment;

void mr_guard_init(void)
{
    uint64_t value = mr_setting_number(MR_SETTING_GUARD, 0);
    mr_guard_alignment = value == 1 ? ALIGNMENT : (size_t)value;
}

size_t mr_guard_gap(size_t size, size_t space, size_t others)
{
    size_t gap = space / (4 * FEW) < GAP_MOST ? space / (4 * FEW) : GAP_MOST;
    if (others >= FEW)
        gap /= 16;
    else if (gap < size)
        gap = size;
    return gap > mr_page_size ? gap & ~(mr_page_size - 1) : mr_page_size;
}

size_t mr_guard_shift(size_t mapped, size_t size, bool exact)
{
    return !mr_guard_alignment ? 0 : (mapped - size) & ~((exact ? mr_guard_alignment : ALIGNMENT) - 1);
}

void mr_guard_fill(uintptr_t pages, size_t mapped, size_t shift, size_t size)
{
    if (!mr_guard_alignment)
        return;
    memset((void *)pages, PATTERN, shift);
    memset((void *)(pages + shift + size), PATTERN, mapped - shift - size);
}

size_t mr_guard_place(struct mr_chunk *chunk, enum mr_memory_kind kind, size_t size)
{
    MR_HELD(&mr_memory_lock);
    chunk->guard_tail = 0;
    if (!mr_guard_alignment)
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
    if (!mr_guard_alignment)
        return;
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
    if (!mr_guard_alignment || chunk->sharing)
        return;   /* what others have mapped is theirs to change */
    size_t shift = base - chunk->base;
    mr_guard_compare(chunk->base, chunk->mapped, shift, chunk->mapped - chunk->guard_tail - shift);
}
