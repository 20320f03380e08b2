/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks of a function can be under way at the same time (driver API manual, Occupancy). */
#ifndef MR_PREPARE_RESIDENT_H
#define MR_PREPARE_RESIDENT_H

#include <cuda.h>

struct mr_function;

#define MR_WARP 32u

/* Blocks of `threads` threads with `dynamic` bytes of dynamic shared memory that fit on one multiprocessor at a time; 0
 * if not even one does, or if no launch may have that much shared memory. A launch bound that the function states plays
 * no part (nor does it on hardware). The function's module is held. */
unsigned mr_resident_blocks(struct mr_function *function, unsigned threads, size_t dynamic);

/* Most dynamic shared memory, in bytes, that is reckoned with: what the function was given, but not less than it has by
 * default. */
unsigned mr_resident_dynamic_limit(struct mr_function *function);

/* CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE if the device can't have that many blocks of the function under way at the
 * same time. */
CUresult mr_cooperative_check(struct mr_function *function, const unsigned grid[3], const unsigned block[3],
                              size_t dynamic) __attribute__((warn_unused_result));

#endif
