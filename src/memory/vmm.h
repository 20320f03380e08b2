/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: addresses without memory, memory without an address, and mappings that bring the two
 * together.
 *
 * Addresses come from one zone that is reserved at the first call, cut into units of 2 MiB as on hardware. Physical
 * memory is a shared mapping of its own that no access leads to (its home); each mapping is a second view of the same
 * pages, so a piece of memory may be mapped at several addresses at once. Memory that may be exported stands behind a
 * descriptor, whose last page says what it is; the size is sealed, so no holder of the descriptor can take pages away
 * from the others.
 *
 * All devices are the same processor, so the pages get the widest right that any device or the host was given; what was
 * asked for is remembered per location and told back. Every function may be called from any thread. They log what is
 * wrong. */
#ifndef MR_MEMORY_VMM_H
#define MR_MEMORY_VMM_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/allocation.h"

#define MR_VMM_UNIT ((size_t)2 << 20)     /* granularity of addresses, memory and mappings, in bytes */

/* Reserves `size` bytes of addresses, a multiple of the unit, at `hint` if that is free and part of the zone.
 * `alignment` is 0 or a power of two. CUDA_ERROR_OUT_OF_MEMORY when no such range is free. */
CUresult mr_vmm_reserve(size_t size, size_t alignment, uintptr_t hint, uintptr_t *out)
    __attribute__((warn_unused_result));

/* Gives a whole reservation back. CUDA_ERROR_INVALID_VALUE unless exactly this range was reserved and nothing is mapped
 * in it. */
CUresult mr_vmm_unreserve(uintptr_t start, size_t size);

/* Makes memory of a size that is a multiple of the unit. The properties were checked; `device` is the one they name,
 * NULL for host memory. The handle counts as one use. Contents are zero. */
CUresult mr_vmm_create(struct mr_device *device, const CUmemAllocationProp *properties, size_t size,
                       CUmemGenericAllocationHandle *out) __attribute__((warn_unused_result));

/* Takes one use of the handle away; after the last the handle is dead, and the memory goes with its last mapping. */
CUresult mr_vmm_release(CUmemGenericAllocationHandle handle);

CUresult mr_vmm_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out);

/* The handle of the memory that is mapped at an address, with one use more (a new handle if the old one is dead). */
CUresult mr_vmm_retain(uintptr_t address, CUmemGenericAllocationHandle *out);

/* Maps memory as a whole: CUDA_ERROR_NOT_SUPPORTED for an offset or another size, as on hardware.
 * CUDA_ERROR_INVALID_VALUE for a dead handle and for a range that is not reserved or not free. Nobody has access at
 * first. */
CUresult mr_vmm_map(uintptr_t start, size_t size, size_t offset, CUmemGenericAllocationHandle handle);

/* Takes away every mapping in a reserved range, which must not begin or end within one. Work that uses it faults from
 * then on. */
CUresult mr_vmm_unmap(uintptr_t start, size_t size);

/* Gives each of `count` locations the right that it names, to what is mapped in a reserved range; holes don't matter,
 * but something must be mapped. The locations are known to exist. CUDA_ERROR_NOT_SUPPORTED for the host's access to a
 * device's memory. */
CUresult mr_vmm_set_access(uintptr_t start, size_t size, const CUmemAccessDesc *descriptions, size_t count);

/* The right (CUmemAccess_flags) that an existing location has at an address, and the properties of what is mapped
 * there; false if nothing is. */
bool mr_vmm_get_access(const CUmemLocation *location, uintptr_t address, unsigned *out);
bool mr_vmm_properties_at(uintptr_t address, CUmemAllocationProp *out);

/* A new descriptor for the memory, closed on exec; the caller's. CUDA_ERROR_INVALID_VALUE if the memory was not made
 * for that. */
CUresult mr_vmm_export(CUmemGenericAllocationHandle handle, int *out);

/* Memory from a descriptor that mr_vmm_export made, in this process or in another. The descriptor stays the caller's.
 * CUDA_ERROR_UNKNOWN, as on hardware, for any other descriptor. */
CUresult mr_vmm_import(int descriptor, CUmemGenericAllocationHandle *out);

/* Tests: live pieces of memory, mappings and reservations. */
struct mr_vmm_statistics {
    size_t memories, mappings, reservations;
};
void mr_vmm_statistics_get(struct mr_vmm_statistics *out);

#endif
