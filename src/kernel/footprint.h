/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints: which bytes of global memory a launch reads and writes, exactly, where an observer asks for that.
 *
 * The launch's code makes notes (abi/note.h), which become a set of bytes for each site (touched.h). Every thread that
 * runs blocks of the launch has a *part* to itself, with notes and sets, so nothing is shared while blocks run. A part
 * belongs to the launch and outlives the thread's run of blocks. When all blocks have ended, mr_footprint_give joins
 * the parts.
 *
 * Code makes notes if the process observes accesses when its program is loaded; it has mr_code.sites then. */
#ifndef MR_KERNEL_FOOTPRINT_H
#define MR_KERNEL_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/observe.h"

struct mr_launch;

/* Calls `give` with the boxes that the launch has touched, some hundreds at a time, which it may change, and forgets
 * them. For every launch
 * whose blocks may have run, when they have ended, also after a fault; from any thread, with no lock held. A launch of
 * code that makes no notes costs a load. */
void mr_footprint_give(const struct mr_launch *launch, void (*give)(void *data, struct mr_access *boxes, size_t count),
                       void *data);

#endif
