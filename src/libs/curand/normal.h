/* SPDX-License-Identifier: Apache-2.0 */
/* Normal floats of the device, many at once. */
#ifndef MR_CURAND_NORMAL_H
#define MR_CURAND_NORMAL_H

#include <stdint.h>

#define MR_NORMAL_MOST 64u /* pairs in one call */

/* Two numbers of mean 0 and deviation 1 from each fraction x, 2^-33 to 1, and angle y, 0 to 2 pi. */
void mr_rand_normal_floats(const float *x, const float *y, unsigned count, float *out);

/* Each number times the deviation, plus the mean, rounded once. */
void mr_rand_move_floats(float *at, unsigned count, float mean, float deviation);

#endif
