/* SPDX-License-Identifier: Apache-2.0 */
/* How the reserved address space is divided; private to src/memory.
 *
 * A zone is one reservation, cut into superblocks of equal size. A superblock holds chunks of one stride (a power of
 * two), or is part of a run of superblocks that make up one large chunk. A chunk's accessible pages start at its base
 * and end at least a page before its stride does: that page is the hole between neighbours. Virtual space is cheap, so
 * strides are generous and the chunk of an address is found by a division: superblock by shift, chunk by shift, no
 * search.
 *
 * The table has one word per superblock: the address of its chunk records with the stride's logarithm in the low six
 * bits. Readers take no lock. Chunk records and slabs are never returned to the system, so a reader that races with a
 * free reads an old record, and the record's version tells it so.
 *
 * Lock: mr_memory_lock guards everything except lookups. */
#ifndef MR_MEMORY_SPACE_H
#define MR_MEMORY_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "memory/allocation.h"

#define MR_HUGE ((size_t)2 << 20)
#define MR_STRIDE_MIN 13u            /* 8 KiB: a page and its hole */
#define MR_STRIDE_RUN 63u            /* chunk that spans whole superblocks */
#define MR_STRIDES 64u
#define MR_SLAB_SLOTS 64u

/* One allocation. Readers copy the fields and check `version`: odd while a writer is at work. `size` is 0 when there is
 * no allocation. */
struct mr_record {
    _Atomic uint32_t version;
    _Atomic uint32_t kind;
    _Atomic uint32_t flags;
    _Atomic uint32_t sync_memops;
    _Atomic uint32_t imported;
    _Atomic uintptr_t base;
    _Atomic size_t size, mapped;
    _Atomic uint64_t id;
    _Atomic(struct mr_context *) context;
    _Atomic(struct mr_device *) device;
    struct mr_list link; /* in context->allocations */
};

struct mr_slab;
struct mr_zone;

/* A piece of address space with pages of its own. */
struct mr_chunk {
    struct mr_record record; /* unused when the chunk is a slab */
    _Atomic(struct mr_slab *) slab;
    struct mr_zone *zone;
    uintptr_t base;
    size_t mapped; /* accessible bytes from base on */
    unsigned stride; /* logarithm, or MR_STRIDE_RUN */
    uint32_t run; /* superblocks of a run */
    bool sealed; /* kept, with pages that fault */
    uint32_t guard_tail; /* bytes behind the allocation that have a pattern (guard.h) */
    uintptr_t was_base; /* what the latest allocation was, once it is freed */
    size_t was_size;
    struct mr_sharing *sharing; /* its pages are those of a shared file (export.c); NULL if not */
    struct mr_list same; /* with chunks of its stride: cached or empty */
    struct mr_list age; /* cached chunks by time of release */
};

/* A chunk cut into MR_SLAB_SLOTS equal slots without holes. */
struct mr_slab {
    struct mr_chunk *chunk;
    _Atomic size_t slot; /* bytes, a multiple of 256 */
    uint64_t used; /* a bit per slot */
    struct mr_list link; /* with slabs of its slot size that have room */
    struct mr_record records[MR_SLAB_SLOTS];
};

struct mr_zone {
    uintptr_t base, end;
    unsigned shift; /* logarithm of the superblock size */
    size_t count; /* superblocks; number 0 is never used: the hole before the first */
    _Atomic uintptr_t *table;
    uint8_t *taken; /* by superblock */
    size_t first_free; /* no free superblock before this one */
    struct mr_list cached[MR_STRIDES];
    struct mr_list empty[MR_STRIDES];
    size_t empty_count[MR_STRIDES];
    struct mr_list resting; /* with MILLRACE_GUARD: freed runs, oldest first, and how many superblocks they have */
    size_t resting_blocks;
    struct mr_list spare; /* chunk records of ended runs */
    struct mr_chunk *fresh[MR_STRIDES]; /* chunks of the newest superblock that were never used */
    size_t fresh_left[MR_STRIDES];
};

extern mr_lock mr_memory_lock;
extern size_t mr_page_size; /* the system's; set by mr_zone_init */
extern size_t mr_memory_chunks; /* chunks with pages, kept ones included */

/* Chunks that keep their pages for the next taker: [false] open ones, [true] sealed ones. */
struct mr_kept {
    struct mr_list age; /* oldest first */
    size_t bytes;
};
extern struct mr_kept mr_memory_kept[2];

/* Reserves address space and sets up the zone; `limit` 0 means anywhere, else below that address. False when there is
 * none. */
bool mr_zone_init(struct mr_zone *zone, size_t size, uintptr_t limit);

/* A chunk with exactly `bytes` accessible bytes (a multiple of mr_page_size), or NULL. Lock held. */
struct mr_chunk *mr_chunk_take(struct mr_zone *zone, size_t bytes) __attribute__((warn_unused_result));

/* Keeps the chunk for reuse, sealed if it is large, or returns its pages at once. Lock held. */
void mr_chunk_give(struct mr_chunk *chunk, bool keep);

/* Returns the pages of kept chunks, sealed or open ones, oldest first, until at most `target` bytes of these are kept.
 * Lock held. */
void mr_chunks_trim(bool sealed, size_t target);

/* The chunk whose stride covers the address, or NULL. Lock-free. */
static inline struct mr_chunk *mr_chunk_at(const struct mr_zone *zone, uintptr_t address)
{
    uintptr_t offset = address - zone->base;
    uintptr_t word = atomic_load_explicit(&zone->table[offset >> zone->shift], memory_order_acquire);
    if (!word)
        return NULL;
    unsigned stride = word & 63;
    size_t index = stride == MR_STRIDE_RUN ? 0 : (offset & (((uintptr_t)1 << zone->shift) - 1)) >> stride;
    return (struct mr_chunk *)(word & ~(uintptr_t)63) + index;
}

/* Slabs (pack.c). A free slot for `size` bytes; its record and address. False when memory is short. Lock held. */
bool mr_slab_take(struct mr_zone *zone, size_t size, struct mr_record **record, uintptr_t *address, size_t *slot)
    __attribute__((warn_unused_result));
void mr_slab_give(struct mr_slab *slab, struct mr_record *record);

/* Registered host ranges (registered.c). */
bool mr_registered_find(uintptr_t address, struct mr_allocation *out);
bool mr_registered_any(void);
void mr_registered_release_context(struct mr_context *context);

/* The zone that an address is in, or NULL. Lock-free. */
struct mr_zone *mr_zone_of(uintptr_t address);

/* For export.c: the record of an address, and the zone of ordinary allocations. */
struct mr_record *mr_record_at(uintptr_t address, struct mr_slab **in);
struct mr_zone *mr_zone_main(void);

/* For export.c: makes a chunk that is not in any list an allocation that its context owns; nothing is charged. Lock
 * held. */
void mr_record_begin_foreign(struct mr_record *record, struct mr_allocation *value);

/* Frees an imported allocation as mr_memory_release does. Lock held. */
void mr_record_release(struct mr_record *record, const struct mr_allocation *what);

/* A consistent copy of a record, without a lock; false if it holds no allocation. */
bool mr_record_read(struct mr_record *record, struct mr_allocation *out);

/* Fills a record, or with a NULL value empties it. Writers exclude one another. */
void mr_record_write(struct mr_record *record, const struct mr_allocation *value);

/* What memory there is (budget.c); mr_memory_lock is held for these. mr_memory_charge and mr_memory_refund are the same
 * for callers that don't hold it. */

/* Learns what the devices and the machine have: once. Bytes of all devices. */
size_t mr_budget_init(void);

/* Bytes of all devices that are not in use. */
size_t mr_budget_room(void);

/* Takes bytes from the device's total, or the machine's when the kind is the host's (`device` is then not looked at);
 * false if they aren't there. Gives them back. */
bool mr_budget_take(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
    __attribute__((warn_unused_result));
void mr_budget_give(struct mr_device *device, enum mr_memory_kind kind, size_t bytes);

/* Takes bytes from what a device has, or the machine when the kind is the host's (`device` is then not looked at), and
 * gives them back. Any thread; mr_memory_lock is taken. */
bool mr_memory_charge(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
    __attribute__((warn_unused_result));
void mr_memory_refund(struct mr_device *device, enum mr_memory_kind kind, size_t bytes);

/* Virtual memory management (mapping.c): is the address in its zone, does a range touch it, and the record of what is
 * mapped at an address of the zone, or NULL. Lock-free. */
bool mr_mapping_reserved(uintptr_t address);
bool mr_mapping_touches(uintptr_t start, size_t size);
struct mr_record *mr_mapping_record(uintptr_t address);

/* Calls `visit` for each mapping, and with MILLRACE_GUARD for the latest ones that are gone. mr_vmm_lock is held during
 * that. */
void mr_mappings_visit(void (*visit)(uintptr_t base, size_t size, bool freed, void *data), void *data);

/* The next value of mr_allocation.id. */
uint64_t mr_memory_next_id(void);

/* True if any allocation touches [start, start + size). */
bool mr_memory_touches_space(uintptr_t start, size_t size);

#endif
