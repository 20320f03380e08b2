/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is made first and mapped later (cuMemCreate, cuMemMap).
 *
 * The same memory can be mapped at several addresses. Its bytes have a made-up range, which is the generation that is
 * compared, and each mapping is an alias of a part of it (generation.h). The memory lives until its handle has been
 * released as often as it was given and no mapping is left.
 *
 * Threads: any number. A lock is taken, and the lock of generations below it. */
#ifndef MR_OBSERVER_MAPPINGS_H
#define MR_OBSERVER_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "libs/observer/operation.h"

/* The program has a handle (cuMemCreate), or has it once more (cuMemRetainAllocationHandle): `size` is then not looked
 * at. */
void obs_mapping_created(struct obs_operation *made, uint64_t handle, size_t size);

/* A descriptor stands for the memory (cuMemExportToShareableHandle). */
void obs_mapping_exported(uint64_t handle, int descriptor);

/* The program has a handle of the memory that a descriptor stands for (cuMemImportFromShareableHandle). It is the same
 * memory as that of all other handles whose descriptors are of the same file. Of a descriptor that is no file nothing
 * is known: each mapping of it is taken to be memory of its own. */
void obs_mapping_imported(struct obs_operation *made, uint64_t handle, int descriptor);
void obs_mapping_released(uint64_t handle);

/* size bytes of the memory, from `offset` on, lie at `base` from now on. Memory whose handle is not known, or not known
 * to be so large, is taken to be mapped here alone. */
void obs_mapping_mapped(struct obs_operation *mapped, uint64_t handle, uintptr_t base, size_t size, size_t offset);

/* Ends all mappings that lie in size bytes from `base` on. */
void obs_mapping_unmapped(struct obs_operation *unmapped, uintptr_t base, size_t size);

#endif
