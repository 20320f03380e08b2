/* SPDX-License-Identifier: Apache-2.0 */
/* How much local memory a thread has at once: that of the functions along a chain of calls. */
#ifndef MR_COMPILE_FRAMES_H
#define MR_COMPILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "compile/reach.h"

/* Puts into deepest[], by function->index, the most bytes of .local variables of a function and what it calls by name,
 * and they call, at any one time. Functions that may call themselves, directly or in a ring, count nothing, since
 * its depth is not known. A call through a pointer counts as one of whichever function whose address is taken
 * has the most, except for the calls through pointers in that. NVIDIA's assembler counts in the same way. Takes time by
 * the length of the module. `reach` has been begun. False when memory is short. */
bool mr_frames_find(const struct mr_reach *reach, uint64_t *deepest) __attribute__((warn_unused_result));

#endif
