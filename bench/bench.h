/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks share. Every program prints lines of `name value`; run.py puts them side by side. */
#ifndef BENCH_H
#define BENCH_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call) \
    do { \
        CUresult bench_status = (call); \
        if (bench_status != CUDA_SUCCESS) { \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)bench_status); \
            exit(1); \
        } \
    } while (0)

static inline double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; sorts them. */
static inline double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_ascending);
    return values[count / 2];
}

/* Nanoseconds of one round of `body`, in one stretch of `rounds`. */
static inline double bench_stretch_ns(void (*body)(void *), void *data, int rounds)
{
    double begin = bench_seconds();
    for (int round = 0; round < rounds; round++)
        body(data);
    return (bench_seconds() - begin) * 1e9 / rounds;
}

/* The median of `samples` such stretches, after one that is not counted. `after` runs between the stretches, outside of
 * the clock (may be NULL). */
static inline double bench_median_ns(void (*body)(void *), void (*after)(void *), void *data, int rounds, int samples)
{
    double taken[64];
    if (samples > 64)
        samples = 64;
    for (int sample = -1; sample < samples; sample++) {
        double one = bench_stretch_ns(body, data, rounds);
        if (sample >= 0)
            taken[sample] = one;
        if (after)
            after(data);
    }
    return bench_median(taken, samples);
}

/* A module with a kernel `empty` that takes nothing. */
static const char bench_empty_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n";

#endif
