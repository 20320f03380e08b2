/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of kernels: each malloc() in a kernel makes a generation, which a free() in that kernel or another one ends.
 *
 * Both are operations of the kernels' launches. Other kernels may use the memory if they come after the one that has
 * allocated it, and before the one that frees it. Within one launch nothing is compared. The driver tells when the
 * launch has ended; what another kernel has touched until then counts as memory that no call has allocated. */
#ifndef MR_OBSERVER_HEAP_H
#define MR_OBSERVER_HEAP_H

#include "libs/observer/tool.h"

/* Does nothing unless this tool feeds the rules (follow.h). */
void obs_heap_told(const struct obs_tool *tool, const struct mr_observed_work *work,
                   const struct mr_observed_heap *changes, size_t count);

#endif
