/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that hold in a kernel and on the host: expect(good, line) prints the line that is wrong, and remembers the
 * side. */
#ifndef BOTH_SIDES_H
#define BOTH_SIDES_H

#include <cstdio>

static int wrong;
static __managed__ int wrong_there;

static __host__ __device__ void expect(bool good, int line)
{
    if (good)
        return;
    printf("line %d\n", line);
#ifdef __CUDA_ARCH__
    wrong_there = 1;
#else
    wrong = 1;
#endif
}

#endif
