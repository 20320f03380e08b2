/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, for reference programs that know nothing of CUDA. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <stdio.h>
#include <time.h>

static inline double plain_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
