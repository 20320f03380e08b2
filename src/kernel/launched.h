/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that kernels make (CUDA C++ programming guide, CUDA Dynamic Parallelism).
 *
 * A thread of a kernel asks for one, which is noted with the launch that the thread belongs to. When the blocks of that
 * have ended, the engine runs what was noted, one after the other, and what those have launched before the next. Tail
 * launches come last. So each order holds that streams and events inside kernels can ask for, whichever stream a launch
 * names; and a launch has ended when all have that came from it. Kernels can't wait for what they launched. */
#ifndef MR_KERNEL_LAUNCHED_H
#define MR_KERNEL_LAUNCHED_H

#include <cuda.h>
#include <stdint.h>

#include "kernel/launch.h"

struct mr_block;
struct mr_launched; /* a launch that is noted, and those behind it; NULL: none */

/* The service behind __millrace_launch: record[l] is the address of a struct mr_launch_record, which the parameters
 * follow; result[l] gets a cudaError_t. */
void mr_launched_note(struct mr_block *block, uint32_t mask, const uint64_t *record, const uint64_t *stream,
                      uint32_t *result);

/* All that was noted with a launch whose blocks have ended, in the order in which it runs. The caller owns it. */
struct mr_launched *mr_launched_take(const struct mr_launch *launch) __attribute__((warn_unused_result));

/* Puts the list in front of another. */
void mr_launched_before(struct mr_launched *first, struct mr_launched **list);

/* Takes the first one off the list and makes a launch of it, for the module and context of `root`. The caller owns it.
 * CUDA_ERROR_OUT_OF_MEMORY, or what making its code fails with. */
CUresult mr_launched_begin(struct mr_launched **list, const struct mr_launch *root, struct mr_launch **out)
    __attribute__((warn_unused_result));

void mr_launched_free(struct mr_launched *list);

#endif
