/* SPDX-License-Identifier: Apache-2.0 */
/* Where the blocks of a pool's extent start, and which block an address is in.
 *
 * An extent has a table of its blocks by granule, and a bitmap of the granules where blocks start, with summaries above
 * it. The block of an inner address is found by walking back in these to the last granule where a block starts. */
#include <sys/mman.h>

#include "base/alloc.h"
#include "memory/mempool_private.h"

#define AT_PAGES ((size_t)1 << 20) /* bytes from which a table is pages of its own */

/* Bytes of extent->at. Fresh pages where they are many: those that no block starts in are never touched. */
static size_t at_size(const struct mr_extent *extent)
{
    return extent->size / MR_GRANULE * sizeof(struct mr_block *);
}

static struct mr_block **at_new(const struct mr_extent *extent)
{
    if (at_size(extent) < AT_PAGES)
        return mr_calloc(1, at_size(extent));
    void *pages = mmap(NULL, at_size(extent), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void at_free(struct mr_extent *extent)
{
    if (extent->at && at_size(extent) >= AT_PAGES)
        munmap(extent->at, at_size(extent));
    else
        mr_free(extent->at);
    extent->at = NULL;
}

bool mr_starts_new(struct mr_extent *extent)
{
    size_t bits = extent->size / MR_GRANULE, total = 0, words[MR_EXTENT_LEVELS];
    unsigned levels = 0;
    do {
        bits = (bits + 63) / 64;
        words[levels++] = bits;
        total += bits;
    } while (bits > 1 && levels < MR_EXTENT_LEVELS);
    extent->at = at_new(extent);
    uint64_t *memory = mr_calloc(total, sizeof(uint64_t));
    if (!extent->at || !memory) {
        at_free(extent);
        mr_free(memory);
        return false;
    }
    extent->levels = levels;
    for (unsigned i = 0; i < levels; i++) {
        extent->starts[i] = memory;
        memory += words[i];
    }
    return true;
}

void mr_starts_free(struct mr_extent *extent)
{
    at_free(extent);
    mr_free(extent->starts[0]);
    extent->starts[0] = NULL;
    extent->levels = 0;
}

void mr_start_set(struct mr_extent *extent, uint32_t granule, struct mr_block *block)
{
    extent->at[granule] = block;
    size_t i = granule;
    for (unsigned level = 0; level < extent->levels; level++, i >>= 6)
        extent->starts[level][i >> 6] |= (uint64_t)1 << (i & 63);
}

void mr_start_clear(struct mr_extent *extent, uint32_t granule)
{
    extent->at[granule] = NULL;
    size_t i = granule;
    for (unsigned level = 0; level < extent->levels; level++, i >>= 6) {
        extent->starts[level][i >> 6] &= ~((uint64_t)1 << (i & 63));
        if (extent->starts[level][i >> 6])
            break;
    }
}

/* The last start at or before a granule. There always is one: granule 0. */
static size_t start_before(const struct mr_extent *extent, size_t granule)
{
    size_t i = granule;
    unsigned level = 0;
    for (;;) {
        uint64_t word = extent->starts[level][i >> 6] & (~(uint64_t)0 >> (63 - (i & 63)));
        if (word) {
            i = (i & ~(size_t)63) + (63 - (size_t)__builtin_clzll(word));
            break;
        }
        if ((i >> 6) == 0)
            return 0;
        i = (i >> 6) - 1;     /* the words before this one */
        level++;
    }
    while (level-- > 0)
        i = (i << 6) + (63 - (size_t)__builtin_clzll(extent->starts[level][i]));
    return i;
}

struct mr_block *mr_block_at(struct mr_extent *extent, uintptr_t address)
{
    uintptr_t offset = address - extent->base - extent->shift;
    struct mr_block *block =
        offset >= extent->size || offset % MR_GRANULE || !extent->at ? NULL : extent->at[offset / MR_GRANULE];
    return block && block->state == MR_BLOCK_LIVE ? block : NULL;
}

struct mr_block *mr_block_around(struct mr_extent *extent, uintptr_t address)
{
    if (!extent->at)
        return NULL;
    uintptr_t offset = address - extent->base - extent->shift;
    if (offset >= extent->size)
        return NULL;
    struct mr_block *block = extent->at[start_before(extent, offset / MR_GRANULE)];
    if (block->state != MR_BLOCK_LIVE || offset - (uintptr_t)block->start * MR_GRANULE >= block->size)
        return NULL;
    return block;
}
