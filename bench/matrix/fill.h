/* SPDX-License-Identifier: Apache-2.0 */
/* The factors: whole numbers from -4 to 3, which all formats have, so that each order of sums gives the same. */
#ifndef BENCH_MATRIX_FILL_H
#define BENCH_MATRIX_FILL_H

#include <string.h>

#include "../kernels/kernels.h"

static inline void matrix_fill(int8_t *to, size_t count, uint32_t seed)
{
    kernels_fill_bytes((uint8_t *)to, count, seed);
    for (size_t i = 0; i < count; i++)
        to[i] = (int8_t)((to[i] & 7) - 4);
}

static inline uint16_t matrix_bfloat(int8_t value)
{
    float real = value;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static inline uint16_t matrix_half(int8_t value)
{
    static const uint16_t halves[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    return halves[value + 4];
}

/* A sum that tells where a number stands. */
static inline double matrix_sum(const void *values, size_t count, int whole)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum +=
            (double)(i % 127 + 1) * (whole ? (double)((const int32_t *)values)[i] : (double)((const float *)values)[i]);
    return sum;
}

#endif
