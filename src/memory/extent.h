/* SPDX-License-Identifier: Apache-2.0 */
/* Extents: the pieces of address space that memory pools are made of; private to src/memory.
 *
 * Pools have address space of their own, reserved when the first pool grows and cut into chunks of 32 MiB. An extent is
 * a run of chunks with a hole behind it that faults. Its chunks get and lose their memory one by one (commit,
 * decommit). A table with a word per chunk tells the extent of an address without a lock; extent records are never
 * given back to the system, so a reader that loses a race sees an old record, and looks again under its pool's lock.
 *
 * The memory is private, or that of a file without a name that a shareable pool owns (mempool_share.c). */
#ifndef MR_MEMORY_EXTENT_H
#define MR_MEMORY_EXTENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define MR_EXTENT_CHUNK ((size_t)32 << 20) /* as on an H200 */
#define MR_GRANULE ((size_t)512)           /* blocks are multiples of it and aligned to it */
#define MR_EXTENT_LEVELS 6u

struct mr_block;
struct mr_mempool;

struct mr_extent {
    _Atomic(struct mr_mempool *) pool;     /* NULL while it belongs to none; changes under the pool's lock */
    uintptr_t base;
    size_t size;                           /* bytes; a multiple of MR_EXTENT_CHUNK */
    size_t offset;                         /* in the pool's file */
    bool is_file;                          /* the pages are a file's */
    size_t pages;                          /* bytes of pages of one guarded allocation; 0: not guarded */
    size_t shift;                          /* of it, where the allocation starts */
    bool patterned;                        /* the rest of its pages has the pattern (guard.h) */
    uint64_t source;                       /* imported: what the exporter calls the allocation */
    struct mr_list link;                   /* the pool's extents, or spare ones */

    /* mempool_start.c's, under the pool's lock. */
    struct mr_block **at;                  /* by granule: the block that starts there */
    /* Bit i of level 0: a block starts at granule i. Bit i of level k + 1: word i of level k is not 0. */
    uint64_t *starts[MR_EXTENT_LEVELS];
    unsigned levels;
};

/* Address space of `size` bytes (a multiple of the chunk), inaccessible, belonging to no pool yet. NULL if there is
 * none. */
struct mr_extent *mr_extent_take(size_t size) __attribute__((warn_unused_result));

/* Puts `bytes` of a file, from `offset` on, at the extent's start: accessible, or not yet. False if the system refuses.
 */
bool mr_extent_map(struct mr_extent *extent, int file, size_t offset, size_t bytes, bool accessible)
    __attribute__((warn_unused_result));

/* Makes a range accessible. Contents are undefined. False when memory or mappings are short. */
bool mr_extent_commit(struct mr_extent *extent, size_t start, size_t bytes) __attribute__((warn_unused_result));

/* Makes it inaccessible again. Private pages stay as long as the system doesn't need them; a file's are for its owner
 * to give back. */
void mr_extent_decommit(struct mr_extent *extent, size_t start, size_t bytes);

/* Gives it back, with all its memory. It is in no list. */
void mr_extent_give(struct mr_extent *extent);

/* With MILLRACE_GUARD: remembers, for mr_extents_visit, which allocation is in a guarded extent. */
void mr_extent_note(const struct mr_extent *extent, size_t size);

/* Calls `visit` for each allocation that was noted, and for those that were freed and whose addresses rest. The lock of
 * the extents is held during that. */
void mr_extents_visit(void (*visit)(uintptr_t base, size_t size, bool freed, void *data), void *data);

/* Bounds of the pools' address space; equal while there is none. */
extern _Atomic uintptr_t mr_extents_base, mr_extents_end;

/* Is the address in the pools' address space? Lock-free, async-signal-safe. */
static inline bool mr_extents_have(uintptr_t address)
{
    uintptr_t base = atomic_load_explicit(&mr_extents_base, memory_order_acquire);
    return address - base < atomic_load_explicit(&mr_extents_end, memory_order_relaxed) - base;
}

/* The extent that the address is in, or NULL; for addresses in the pools' space. Lock-free. */
struct mr_extent *mr_extent_at(uintptr_t address);

#endif
