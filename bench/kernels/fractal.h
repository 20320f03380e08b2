/* SPDX-License-Identifier: Apache-2.0 */
/* Mandelbrot's set as the plain programs compute it: sixteen points at once, in vectors. */
#ifndef BENCH_KERNELS_FRACTAL_H
#define BENCH_KERNELS_FRACTAL_H

typedef float fractal_vector __attribute__((vector_size(64)));
typedef int fractal_counts __attribute__((vector_size(64)));

/* How many rounds each of sixteen points of a row stays inside, up to `rounds`. */
static inline fractal_counts fractal_sixteen(fractal_vector cx, float cy, int rounds)
{
    fractal_vector x = {0}, y = {0};
    fractal_counts count = {0}, inside;
    for (int k = 0; k < rounds; k++) {
        fractal_vector xx = x * x, yy = y * y;
        inside = xx + yy < 4.0f;
        int any = 0;
        for (int j = 0; j < 16; j++)
            any |= inside[j];
        if (!any)
            break;
        count -= inside;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
    }
    return count;
}

#endif
