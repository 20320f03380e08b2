/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: memory that is allocated and freed in stream order (driver API manual, Stream Ordered Memory
 * Allocator).
 *
 * A pool owns extents (extent.h), which are cut into blocks. A block is free, live, or waiting: freed in the order of a
 * stream whose work before the free isn't over. A waiting block may be given out again
 *   - at once in the same stream, where all later work comes after the free;
 *   - in a stream whose next work comes after the free by an event or by the default-stream rules
 * (REUSE_FOLLOW_EVENT_DEPENDENCIES);
 *   - in any stream once the free is complete (REUSE_ALLOW_OPPORTUNISTIC);
 *   - in any stream that is made to wait for the free (REUSE_ALLOW_INTERNAL_DEPENDENCIES).
 *
 * This layer knows neither streams nor marks. A free comes with a *fence*: which stream, how far in it, and an opaque
 * mark that completes when the free does. An allocation comes with the stream's identity and, in a second attempt, with
 * what that stream is known to come after (mr_mempool_view).
 *
 * mempool.c        pools: making, ending, attributes, giving memory back
 * mempool_block.c  blocks: taking, freeing, joining
 * mempool_start.c  where blocks start, and the block of an address
 * mempool_guard.c  allocations with guards
 * mempool_share.c  pools and allocations between processes
 *
 * Pools belong to no context: their memory stays when contexts end. Every function may be called from any thread. */
#ifndef MR_MEMORY_MEMPOOL_H
#define MR_MEMORY_MEMPOOL_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/allocation.h"

struct mr_mempool;

/* A place in a stream's order. `mark` is NULL if the place was passed when the fence was made; counted. */
struct mr_fence {
    uint64_t stream;
    uint32_t sequence;
    void *mark;
};

/* How the memory layer treats marks: set once, by cuInit. `is_done` takes no lock; `drop` may take an allocator's. */
struct mr_mark_hooks {
    bool (*is_done)(void *mark);
    void (*hold)(void *mark);
    void (*drop)(void *mark);
};
void mr_mempool_set_hooks(const struct mr_mark_hooks *hooks);

/* What a stream's next work comes after: everything in the named streams up to a sequence number. */
#define MR_VIEW_MOST 64u
struct mr_mempool_view {
    unsigned count;
    struct {
        uint64_t stream;
        uint32_t sequence;
    } seen[MR_VIEW_MOST];
};

/* ---- pools ---- */

/* A pool with a live handle. The properties were checked; `device` is the one whose memory it is, NULL for the host's.
 * NULL when memory is short. */
struct mr_mempool *mr_mempool_new(const CUmemPoolProps *properties, struct mr_device *device)
    __attribute__((warn_unused_result));

/* The pool behind a handle, or NULL. Valid until the program destroys it: no reference is taken. */
struct mr_mempool *mr_mempool_find(CUmemoryPool handle);

/* Ends the handle. Memory goes when the last allocation is freed and the last free is complete. False if it was
 * destroyed before, or is a default pool. A location whose current pool it was gets its default pool back. */
bool mr_mempool_destroy(struct mr_mempool *pool);

CUmemoryPool mr_mempool_handle(const struct mr_mempool *pool);
const CUmemPoolProps *mr_mempool_properties(const struct mr_mempool *pool);
bool mr_mempool_is_imported(const struct mr_mempool *pool);
bool mr_mempool_is_default(const struct mr_mempool *pool);
struct mr_device *mr_mempool_device(const struct mr_mempool *pool);   /* NULL: host memory */

/* The default and the current pool of a location that was checked, for ordinary or managed memory; made on first use,
 * NULL when memory is short. */
struct mr_mempool *mr_mempool_default(const CUmemLocation *location, CUmemAllocationType type);
struct mr_mempool *mr_mempool_current(const CUmemLocation *location, CUmemAllocationType type);

/* Makes the pool the current one of its location and its kind of memory. */
void mr_mempool_set_current(struct mr_mempool *pool);

/* True if it has live allocations. */
bool mr_mempool_is_in_use(struct mr_mempool *pool);

/* Attributes. The caller has checked that there is such an attribute, and that it can be set. */
uint64_t mr_mempool_get(struct mr_mempool *pool, CUmemPool_attribute attribute);
void mr_mempool_set(struct mr_mempool *pool, CUmemPool_attribute attribute, uint64_t value);

/* The right (CUmemAccess_flags) of each device, and of the host. */
unsigned mr_mempool_access(struct mr_mempool *pool, const struct mr_device *device);
void mr_mempool_set_access(struct mr_mempool *pool, const struct mr_device *device, unsigned flags);

/* Gives back memory that nothing uses until at most `keep` bytes are reserved. */
void mr_mempool_trim(struct mr_mempool *pool, size_t keep);

/* A thread has waited for a stream, an event or a context: pools that hold more than their threshold give back what
 * nothing uses, and destroyed pools whose frees are complete end. A load when there is nothing to do. */
extern _Atomic uint32_t mr_mempools_slack;
void mr_mempools_settle_slow(void);
static inline void mr_mempools_settle(void)
{
    if (__builtin_expect(atomic_load_explicit(&mr_mempools_slack, memory_order_relaxed) != 0, 0))
        mr_mempools_settle_slow();
}

/* Memory is short: gives back what no pool's allocation uses. True if that was anything. */
bool mr_mempools_trim_all(void);

/* ---- allocations ---- */

/* What an allocation got besides its address. */
struct mr_mempool_grant {
    uintptr_t address;
    void *wait; /* the stream must be made to wait for this mark before its next work; counted, the caller's; NULL:
                   nothing to wait for */
};

/* How hard to try: the first attempt looks no further than the stream itself and what is free; the second has a view
 * and may grow the pool. */
enum mr_mempool_effort { MR_MEMPOOL_QUICK, MR_MEMPOOL_FULL };

/* Allocates `size` > 0 bytes for the stream with this identity. CUDA_ERROR_NOT_FOUND: not to be had by a quick attempt.
 * CUDA_ERROR_OUT_OF_MEMORY: the pool's most, the device's memory or the host's is used up. */
CUresult mr_mempool_allocate(struct mr_mempool *pool, size_t size, uint64_t stream, enum mr_mempool_effort effort,
                             const struct mr_mempool_view *view, struct mr_mempool_grant *out)
    __attribute__((warn_unused_result));

/* Frees an allocation: its memory may be used again after the fence. Takes over the fence's mark, also on failure.
 * CUDA_ERROR_INVALID_VALUE if no live allocation starts at the address. CUDA_ERROR_NOT_READY, if `birth` is not NULL,
 * when the allocation itself waits for a mark in another stream than the fence's: *birth is that mark, counted; the
 * freeing stream must wait for it, and then free with a new fence. */
CUresult mr_mempool_free(uintptr_t address, struct mr_fence fence, void **birth);

/* Is the address in the pools' space, whether anything is there or not? */
bool mr_mempool_is_address(uintptr_t address);

/* The live allocation that contains an address of the pools' space; false if there is none. Used by mr_memory_find. */
bool mr_mempool_allocation(uintptr_t address, struct mr_allocation *out);
bool mr_mempool_set_sync_memops(uintptr_t address, bool on);

/* What pointer attributes tell of the allocation at an address of the pools' space. */
struct mr_mempool_facts {
    CUmemoryPool pool; /* NULL: no allocation is there */
    CUmemAllocationHandleType handle_types;
    uintptr_t chunk; /* the piece of memory that its first byte is in */
    size_t chunk_size;
};
void mr_mempool_facts_get(uintptr_t address, struct mr_mempool_facts *out);

/* ---- between processes ---- */

/* A new descriptor for the pool, the caller's. CUDA_ERROR_INVALID_VALUE unless the pool was made for that. */
CUresult mr_mempool_export(struct mr_mempool *pool, int *out) __attribute__((warn_unused_result));

/* A pool from a descriptor; the descriptor stays the caller's. CUDA_ERROR_INVALID_VALUE for any other descriptor. */
CUresult mr_mempool_import(int descriptor, struct mr_mempool **out) __attribute__((warn_unused_result));

CUresult mr_mempool_export_pointer(uintptr_t address, CUmemPoolPtrExportData *out) __attribute__((warn_unused_result));
CUresult mr_mempool_import_pointer(struct mr_mempool *pool, const CUmemPoolPtrExportData *data, uintptr_t *out)
    __attribute__((warn_unused_result));

/* Tests: live allocations, waiting blocks and extents of a pool; aborts if its blocks don't add up. */
struct mr_mempool_statistics {
    size_t live, waiting, extents;
};
void mr_mempool_statistics_get(struct mr_mempool *pool, struct mr_mempool_statistics *out);

#endif
