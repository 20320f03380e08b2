/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of shared pools, which one process may have at several addresses.
 *
 * The 64 bytes that a process hands on (cuMemPoolExportPointer) say which memory it is. What is imported by the same
 * bytes is an alias of one range (generation.h): of the allocation, if this process has exported it, else of a made-up
 * range, which lives as long as an import of it.
 *
 * Threads: any number. A lock is taken, and the lock of generations below it. */
#ifndef MR_OBSERVER_SHARES_H
#define MR_OBSERVER_SHARES_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/operation.h"

/* The program has exported its allocation at `base`. */
void obs_share_exported(const CUmemPoolPtrExportData *data, uintptr_t base);

/* The allocation at `base` is about to be freed: nothing that is imported later is a part of it. */
void obs_share_freed(uintptr_t base);

/* Of what the two functions before it tell: how many. */
extern _Atomic size_t obs_share_exports;

/* The program has imported size bytes, which lie at `base`. An import that is there already stays as it is. False:
 * memory is short, and nothing has been noted. */
bool obs_share_imported(struct obs_operation *made, const CUmemPoolPtrExportData *data, uintptr_t base, size_t size);

/* An import has been freed whose bytes are at `target` (struct obs_generation_view). */
void obs_share_closed(uintptr_t target);

#endif
