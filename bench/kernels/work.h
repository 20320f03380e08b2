/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch of each kernel has to do by its definition, whoever does it: bytes that must come from memory or go
 * there, and operations on floats.
 *
 * Each input counts once and each output once, however often a kernel asks for it: the stencil's neighbours and the
 * matrices' tiles are assumed to come from caches, and that a cache reads what is about to be overwritten is not
 * counted. An addition, a multiplication, a division, a root, an exponential and a logarithm count as one operation
 * each, a fused multiply-add as two; what C writes twice in one expression counts once, and comparisons, conversions
 * and integers not at all. */
#ifndef BENCH_KERNELS_WORK_H
#define BENCH_KERNELS_WORK_H

#include <string.h>

#include "kernels.h"

#define FLOATS(count) (4.0 * (count))

static const struct kernels_work {
    const char *name;
    double bytes, operations;
    double operations_of_sum; /* for each one in the sum of the results, where the work depends on the data */
} kernels_work[] = {
    {"vector_add", FLOATS(3.0 * VECTOR_LENGTH), VECTOR_LENGTH, 0},
    {"saxpy", FLOATS(3.0 * VECTOR_LENGTH), 2.0 * VECTOR_LENGTH, 0},
    {"stencil", FLOATS(2.0 * STENCIL_SIDE * STENCIL_SIDE), 5.0 * STENCIL_SIDE *STENCIL_SIDE, 0},
    {"reduce", FLOATS(VECTOR_LENGTH), VECTOR_LENGTH, 0},
    {"scan", FLOATS(2.0 * VECTOR_LENGTH), VECTOR_LENGTH, 0},
    {"matrix", FLOATS(3.0 * MATRIX_SIDE * MATRIX_SIDE), 2.0 * MATRIX_SIDE *MATRIX_SIDE *MATRIX_SIDE, 0},
    {"transpose", FLOATS(2.0 * STENCIL_SIDE * STENCIL_SIDE), 0, 0},
    /* A pair: 3 distances, 6 for their squares' sum, the root, 3 for the force, 6 to add its parts. */
    {"bodies", FLOATS(8.0 * BODIES), 19.0 * BODIES *BODIES, 0},
    /* A round: 2 squares, their sum, 2 for x, 3 for y. The results are the numbers of rounds. */
    {"fractal", FLOATS((double)FRACTAL_SIDE *FRACTAL_SIDE), 0, 8},
    /* 6 to scale the inputs, 8 for d1 and d2, 18 for each of their normal distributions, 2 for the discount, 9 for the
       two prices. */
    {"options", FLOATS(5.0 * OPTIONS), 61.0 * OPTIONS, 0},
    {"histogram", VECTOR_LENGTH, 0, 0},
};

/* Prints what was measured, and beside it what there was to do. */
static inline void kernels_print_with_work(const char *name, double milliseconds, double sum)
{
    kernels_print(name, milliseconds, sum);
    for (size_t i = 0; i < sizeof kernels_work / sizeof *kernels_work; i++)
        if (strcmp(name, kernels_work[i].name) == 0)
            printf("%s_bytes %.0f\n%s_operations %.0f\n", name, kernels_work[i].bytes, name,
                   kernels_work[i].operations + kernels_work[i].operations_of_sum * sum);
}

#endif
