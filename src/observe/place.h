/* SPDX-License-Identifier: Apache-2.0 */
/* The places of kernels' accesses: what mr_access.place numbers. */
#ifndef MR_OBSERVE_PLACE_H
#define MR_OBSERVE_PLACE_H

#include "observe/observe.h"

/* The number of a place in a kernel, the same for the same place: mr_access.place. `file` may be NULL. The texts are
 * copied. 0 when memory is short. Any thread. */
uint32_t mr_place_number(const char *kernel, const char *file, uint32_t line, uint32_t ptx_line);

/* Names the place of that number; false if there is no such number. mr_observed_driver.place. Any thread. */
bool mr_place_tell(uint32_t place, struct mr_observed_place *out);

#endif
