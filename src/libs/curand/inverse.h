/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse of the normal distribution: one number for one word. It is computed from the nearer end, so that both
 * tails are equally exact. */
#ifndef MR_CURAND_INVERSE_H
#define MR_CURAND_INVERSE_H

#include <stdint.h>

float mr_normal_of(uint32_t x);
double mr_normal_double_of(uint32_t x);
double mr_normal_double_of_53(uint64_t x); /* of 53 bits */

#endif
