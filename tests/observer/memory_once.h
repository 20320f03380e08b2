/* SPDX-License-Identifier: Apache-2.0 */
/* For the test of the rules of order: what shares.h and mappings.h declare, for memory that lies at one address. The
 * file that includes it has the functions of generations. */
#ifndef TESTS_OBSERVER_MEMORY_ONCE_H
#define TESTS_OBSERVER_MEMORY_ONCE_H

#include "libs/observer/generation.h"
#include "libs/observer/mappings.h"
#include "libs/observer/shares.h"

void obs_mapping_created(struct obs_operation *made, uint64_t handle, size_t size)
{
    obs_generation_made(made, MR_ALLOCATION_MAPPED, (uintptr_t)handle, size);
}

void obs_mapping_exported(uint64_t handle, int descriptor)
{
    (void)handle;
    (void)descriptor;
}

void obs_mapping_imported(struct obs_operation *made, uint64_t handle, int descriptor)
{
    (void)made;
    (void)handle;
    (void)descriptor;
}

void obs_mapping_released(uint64_t handle)
{
    (void)handle;
}

void obs_mapping_mapped(struct obs_operation *mapped, uint64_t handle, uintptr_t base, size_t size, size_t offset)
{
    (void)handle;
    (void)offset;
    obs_generation_made(mapped, MR_ALLOCATION_MAPPED, base, size);
}

void obs_mapping_unmapped(struct obs_operation *unmapped, uintptr_t base, size_t size)
{
    (void)size;
    obs_generation_ended(unmapped, base);
}

uint64_t obs_generation_alias(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size,
                              uintptr_t target)
{
    (void)target;
    return obs_generation_made(made, kind, base, size);
}

_Atomic size_t obs_share_exports;

void obs_share_exported(const CUmemPoolPtrExportData *data, uintptr_t base)
{
    (void)data;
    (void)base;
}

void obs_share_freed(uintptr_t base)
{
    (void)base;
}

bool obs_share_imported(struct obs_operation *made, const CUmemPoolPtrExportData *data, uintptr_t base, size_t size)
{
    (void)data;
    return obs_generation_made(made, MR_ALLOCATION_IMPORTED, base, size) != 0;
}

void obs_share_closed(uintptr_t target)
{
    (void)target;
}

#endif
