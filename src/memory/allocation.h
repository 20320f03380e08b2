/* SPDX-License-Identifier: Apache-2.0 */
/* The device address space: one reserved range per process in which device, pinned and managed allocations are placed,
 * the table that finds the allocation of any inner pointer, and registered host ranges.
 *
 * Device pointers are host pointers, so a copy is a copy. Every allocation is aligned to 256 bytes at least, and as a
 * rule has pages of its own with a hole of at least a page before and after it, so that a wild access faults. The
 * exception: the kernel limits how many separate mappings a process has, so a program that holds many thousands of
 * allocations gets further small ones packed side by side (pack.c). A lookup takes no lock.
 *
 * Every function may be called from any thread. How the address space is divided is told in space.h. */
#ifndef MR_MEMORY_ALLOCATION_H
#define MR_MEMORY_ALLOCATION_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_context;
struct mr_device;

enum mr_memory_kind {
    MR_MEMORY_DEVICE = 1,
    MR_MEMORY_PINNED,
    MR_MEMORY_MANAGED,
    MR_MEMORY_REGISTERED,
    MR_MEMORY_MODULE,       /* module globals */
    MR_MEMORY_ARRAY,        /* of arrays: no address that a program gets to know */
    MR_MEMORY_MAPPED,       /* a device's memory that cuMemMap put there; it has no context */
    MR_MEMORY_MAPPED_HOST,  /* the host's, likewise */
    MR_MEMORY_POOL,         /* of a memory pool (mempool.h); it has no context */
    MR_MEMORY_HOST_POOL,    /* of a pool of host memory, likewise */
    MR_MEMORY_GRAPH, /* of a graph's allocation node, while that has given it out: as MR_MEMORY_DEVICE, but freed by
                        src/graph/graph_memory.c */
    MR_MEMORY_GRAPH_RESERVED, /* of a graph's allocation node: an address that nodes may name, but that the program
                                 can't use now */
    MR_MEMORY_PARTING /* this layer's own: freed, but a stream has yet to come there */
};

#define MR_MEMORY_VARIABLE (1u << 31) /* in the flags of managed memory: a variable, which the program cannot free */

/* What is known of an allocation; a copy, not a live record. */
struct mr_allocation {
    enum mr_memory_kind kind;
    uintptr_t base;
    size_t size; /* as asked for, bytes */
    size_t mapped; /* bytes that are accessible from `base` on; at least `size` */
    unsigned flags; /* CU_MEMHOSTALLOC_*, CU_MEMHOSTREGISTER_*, CU_MEM_ATTACH_*; of mapped memory and memory of pools
                       the devices' rights, two bits each */
    uint64_t id; /* unique over the process: CU_POINTER_ATTRIBUTE_BUFFER_ID */
    struct mr_context *context; /* borrowed; NULL for mapped memory, memory of pools, managed variables of libraries */
    struct mr_device *device;
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool imported; /* another process's memory, opened by a handle (export.h) */
};

/* Memory that cuMemMap put there, and what a device may do with it (CUmemAccess_flags). */
static inline bool mr_allocation_is_mapped(const struct mr_allocation *what)
{
    return what->kind == MR_MEMORY_MAPPED || what->kind == MR_MEMORY_MAPPED_HOST;
}

static inline unsigned mr_allocation_right(const struct mr_allocation *what, int ordinal)
{
    return mr_allocation_is_mapped(what) ? what->flags >> ((unsigned)ordinal * 2) & 3 : 3;
}

/* Memory of a pool that a device has no access to (cuMemPoolSetAccess). */
static inline bool mr_allocation_is_closed(const struct mr_allocation *what, int ordinal)
{
    return (what->kind == MR_MEMORY_POOL || what->kind == MR_MEMORY_HOST_POOL) &&
           !(what->flags >> ((unsigned)ordinal * 2) & 3);
}

/* Once per process, at cuInit, after the devices are known; a second call does nothing. False when address space cannot
 * be reserved. */
bool mr_memory_init(void);

/* Allocates `size` > 0 bytes for a context. CUDA_ERROR_OUT_OF_MEMORY beyond the device's memory (for pinned memory:
 * beyond the machine's) or when the host has none; CUDA_ERROR_CONTEXT_IS_DESTROYED when another thread has destroyed
 * the context meanwhile. Contents are undefined for the program (fresh pages are zero, reused ones are not). */
CUresult mr_memory_allocate(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags,
                            uintptr_t *out) __attribute__((warn_unused_result));

/* As mr_memory_allocate, for memory that no context owns: its allocator releases it. */
CUresult mr_memory_allocate_unowned(struct mr_device *device, enum mr_memory_kind kind, size_t size, unsigned flags,
                                    uintptr_t *out) __attribute__((warn_unused_result));

/* As mr_memory_allocate, at an address below 4 GiB, for the entry points of CUDA before 3.2. About a gigabyte in all.
 */
CUresult mr_memory_allocate_low(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags,
                                uintptr_t *out) __attribute__((warn_unused_result));

/* Frees the allocation that starts at `base`, of that kind. CUDA_ERROR_INVALID_VALUE if there is none. The caller has
 * seen to outstanding work. */
CUresult mr_memory_release(uintptr_t base, enum mr_memory_kind kind);

/* The same, if it is still `owner`'s: memory of a context that has ended may be somebody else's by now. */
CUresult mr_memory_release_of(const struct mr_context *owner, uintptr_t base, enum mr_memory_kind kind);

/* Frees in stream order. The allocation with that base and identity is no longer the program's: look-ups don't find it,
 * and it cannot be freed. False if there is none. Its memory stays until mr_memory_release_parting, or until
 * mr_memory_stay makes it the program's again. */
bool mr_memory_part(uintptr_t base, uint64_t id) __attribute__((warn_unused_result));
void mr_memory_stay(uintptr_t base, uint64_t id);
void mr_memory_release_parting(uintptr_t base, uint64_t id);

/* Memory of allocation nodes: an address with pages behind it, reserved first; lent out and taken back; freed in the
 * end, whichever it is. Lending and resizing set the size that look-ups tell, which is at most what was reserved.
 * CUDA_ERROR_OUT_OF_MEMORY and CUDA_ERROR_CONTEXT_IS_DESTROYED as above. */
CUresult mr_memory_graph_reserve(struct mr_context *context, size_t size, uintptr_t *base, uint64_t *id)
    __attribute__((warn_unused_result));
void mr_memory_graph_lend(uintptr_t base, uint64_t id, bool out, size_t size);
void mr_memory_graph_resize(uintptr_t base, uint64_t id, size_t size);
void mr_memory_graph_release(uintptr_t base, uint64_t id);

/* Registers a host range, whose pages are made present. CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED if it overlaps a
 * registered one; CUDA_ERROR_INVALID_VALUE if it is empty, wraps, is memory that the driver allocated, or can't be
 * written (with CU_MEMHOSTREGISTER_READ_ONLY: read) by the program as a whole; CUDA_ERROR_NOT_SUPPORTED above what a
 * program can have, CUDA_ERROR_OUT_OF_MEMORY for more than the machine has. */
CUresult mr_memory_register(struct mr_context *context, void *start, size_t size, unsigned flags)
    __attribute__((warn_unused_result));

/* Ends the registration that starts at `start`; CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED if there is none. */
CUresult mr_memory_unregister(void *start);

/* The allocation or registration that contains `address`; false if none. Lock-free unless host ranges are registered.
 */
bool mr_memory_find(uintptr_t address, struct mr_allocation *out);

/* Has there been memory of modules or of arrays at all? */
bool mr_memory_any_apart(void);

/* As mr_memory_find, but what a graph has merely reserved isn't found. */
static inline bool mr_memory_find_usable(uintptr_t address, struct mr_allocation *out)
{
    return mr_memory_find(address, out) && out->kind != MR_MEMORY_GRAPH_RESERVED;
}

/* True if the driver knows the address (device, pinned, managed or registered): then copies to or from it are
 * asynchronous. Pageable memory is false. A few nanoseconds. */
bool mr_memory_is_known(uintptr_t address);

/* Sets CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of the allocation that contains the address; false if there is none
 * (registrations and mapped memory have no such attribute). */
bool mr_memory_set_sync_memops(uintptr_t address, bool on);

/* Frees everything that a context owns (context destruction). */
void mr_memory_release_context(struct mr_context *context);

/* Is the address inside the driver's reserved range (so that a fault there is a kernel's or a program's wild access to
 * device memory)? Lock-free, async-signal-safe. */
bool mr_memory_is_reserved(uintptr_t address);

/* Makes an allocation zero that was just made and that no other thread knows, without touching its whole pages if it is
 * large. Not for pages that are shared with another process or mapped from a file. */
void mr_memory_clear(uintptr_t base, size_t size);

/* What is at or near an address where a kernel faulted, as the end of a sentence that begins with a comma (", 96 bytes
 * behind the end of an allocation of 4000 bytes at 0x7f…"); an empty text if nothing is known. Takes mr_memory_lock and
 * looks at every allocation. */
void mr_memory_describe(uintptr_t address, char *text, size_t room);

/* The system's page size, bytes. */
size_t mr_memory_page(void);

/* Gives memory that is kept for reuse back to the system. For tests, and for a program under pressure. */
void mr_memory_trim(void);

/* Tests and `millrace info`: bytes kept for reuse, live allocations, and those among them that share pages with others.
 */
struct mr_memory_statistics {
    size_t cached, live, packed;
};
void mr_memory_statistics_get(struct mr_memory_statistics *out);

/* Tests only: how many separate mappings may exist before allocations of at most 64 KiB are packed. */
void mr_memory_pack_after(size_t chunks);

#endif
