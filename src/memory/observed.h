/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as an observer is told of them (observe/observe.h).
 *
 * All memory stands at its own address, except for that of arrays, which programs can't address: its bytes stand at an
 * address that no memory has, made of the array's number and the byte's place in it. So an array that takes the place
 * of one that has gone is never taken for it. */
#ifndef MR_MEMORY_OBSERVED_H
#define MR_MEMORY_OBSERVED_H

#include <stddef.h>

#include "observe/hooks.h"

/* Tells of boxes that a work or step touches; changes them. Call where accesses are observed. */
void mr_memory_tell(const struct mr_observed_work *work, struct mr_access *boxes, size_t count);

#endif
