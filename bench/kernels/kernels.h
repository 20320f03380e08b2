/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, inputs and how results are printed: the same for the kernels and for their twins in C, so that times and sums
 * can be compared. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#define VECTOR_LENGTH (1 << 24)
#define STENCIL_SIDE 4096
#define MATRIX_SIDE 1024
#define BODIES 16384
#define FRACTAL_SIDE 2048
#define FRACTAL_ROUNDS 256
#define OPTIONS (1 << 22)
#define BINS 256

#ifndef BENCH_DEVICE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds, from any start: of the clock on the wall, or with BENCH_PROCESSOR_TIME in the environment of all processors
 * that worked for this process, which hardly sees what else runs on the machine. */
static inline double kernels_seconds(void)
{
    struct timespec now;
    clock_gettime(getenv("BENCH_PROCESSOR_TIME") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Numbers in [0, 1), the same everywhere. */
static inline void kernels_fill(float *to, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)(seed >> 8) / 16777216.0f;
    }
}

static inline void kernels_fill_bytes(uint8_t *to, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (uint8_t)(seed >> 24);
    }
}

/* Best time in milliseconds, and a sum of the results that both sides must agree about. */
static inline void kernels_print(const char *name, double milliseconds, double sum)
{
    printf("%s_ms %.4f\n%s_sum %.6f\n", name, milliseconds, name, sum);
    fflush(stdout);
}

static inline double kernels_sum(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}
#endif
#endif
