/* SPDX-License-Identifier: Apache-2.0 */
/* The device address space: one reserved range per process in which device, pinned and managed allocations are placed, the table
 * that finds the allocation of any inner pointer, and registered host ranges.
 *
 * Device pointers are host pointers, so a copy is a copy. Every allocation is aligned to 256 bytes at least and followed by
 * a hole of at least a page, so that a wild access faults. A lookup takes no lock on the hot path. */
#ifndef MR_MEMORY_MEMORY_H
#define MR_MEMORY_MEMORY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_context;
struct mr_device;

enum mr_memory_kind { MR_MEMORY_DEVICE = 1, MR_MEMORY_PINNED, MR_MEMORY_MANAGED, MR_MEMORY_REGISTERED, MR_MEMORY_MODULE /* module globals */ };

/* What is known of an allocation; a copy, not a live record. */
struct mr_allocation {
    enum mr_memory_kind kind;
    uintptr_t base;
    size_t size;                /* as asked for, bytes */
    unsigned flags;             /* CU_MEMHOSTALLOC_*, CU_MEMHOSTREGISTER_*, CU_MEM_ATTACH_* */
    uint64_t id;                /* unique over the process: CU_POINTER_ATTRIBUTE_BUFFER_ID */
    struct mr_context *context; /* borrowed */
    struct mr_device *device;
    bool sync_memops;           /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
};

/* Once per process, at cuInit. False when address space cannot be reserved. */
bool mr_memory_init(void);

/* Allocates `size` > 0 bytes for a context. CUDA_ERROR_OUT_OF_MEMORY beyond the device's memory or when the host has none. Contents are undefined
 * for the program (fresh pages are zero, reused ones are not). */
CUresult mr_memory_allocate(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags, uintptr_t *out);

/* Frees the allocation that starts at `base`, of that kind. CUDA_ERROR_INVALID_VALUE if there is none. The caller has seen to outstanding work. */
CUresult mr_memory_release(uintptr_t base, enum mr_memory_kind kind);

/* Registers a host range; CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED if it overlaps one. */
CUresult mr_memory_register(struct mr_context *context, void *start, size_t size, unsigned flags);
CUresult mr_memory_unregister(struct mr_context *context, void *start);

/* The allocation that contains `address`; false if none. */
bool mr_memory_find(uintptr_t address, struct mr_allocation *out);

/* True if the driver knows the address (device, pinned, managed or registered): then copies to or from it are asynchronous. Pageable memory is false.
 * A few nanoseconds. */
bool mr_memory_is_known(uintptr_t address);

/* Frees everything that a context owns (context destruction). */
void mr_memory_release_context(struct mr_context *context);

/* Is the address inside the driver's reserved range (so that a fault there is a kernel's or a program's wild access to device memory)? */
bool mr_memory_is_reserved(uintptr_t address);

#endif
