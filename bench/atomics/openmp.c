/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as atomics.cu, as somebody writes it in C who has cores and no device: reductions where OpenMP has
 * them, bins of each thread's own, atomic operations where the places are many. */
#include <stdbool.h>
#include <string.h>

#include "../kernels/kernels.h"
#undef BINS
#include "atomics.h"

static float *x;
static uint8_t *byte;
static uint32_t *place;
static int out[COUNT + 1];

#define BEFORE_ROUND memset(out, 0, sizeof out)
#include "../kernels/rounds.h"

#define REALS ((float *)out)

static double sum_of(size_t first, size_t count, bool reals)
{
    double sum = 0;
    for (size_t i = first; i < first + count; i++)
        sum += reals ? (double)REALS[i] : (double)out[i];
    return sum;
}

static void one_place(void)
{
    int counted = 0, largest = 0;
    float sum = 0;
    double wide = 0;
    REPEAT(8)
    {
        counted = 0;
#pragma omp parallel for simd reduction(+ : counted)
        for (int i = 0; i < COUNT; i++)
            counted += x[i] < 0.5f;
    }
    kernels_print("count", timing.best, counted);
    REPEAT(8)
    {
#pragma omp parallel for
        for (int i = 0; i < COUNT; i++)
            if (x[i] < 0.5f) {
                int at;
#pragma omp atomic capture
                at = out[0]++;
                REALS[1 + at] = x[i];
            }
    }
    kernels_print("append", timing.best, sum_of(1, COUNT, true));
    REPEAT(8)
    {
        sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
        for (int i = 0; i < COUNT; i++)
            sum += x[i];
    }
    kernels_print("sum_float", timing.best, (double)sum);
    REPEAT(8)
    {
        wide = 0;
#pragma omp parallel for simd reduction(+ : wide)
        for (int i = 0; i < COUNT; i++)
            wide += (double)x[i];
    }
    kernels_print("sum_double", timing.best, wide);
    REPEAT(8)
    {
        largest = 0;
#pragma omp parallel for simd reduction(max : largest)
        for (int i = 0; i < COUNT; i++)
            largest = ((int *)x)[i] > largest ? ((int *)x)[i] : largest;
    }
    kernels_print("largest", timing.best, largest);
}

static void several_places(void)
{
    REPEAT(8)
    {
#pragma omp parallel
        {
            int mine[FEW] = {0};
#pragma omp for
            for (int i = 0; i < COUNT; i += FEW)
                for (int k = 0; k < FEW; k++)
                    mine[k] += byte[i + k];
#pragma omp critical
            for (int k = 0; k < FEW; k++)
                out[k] += mine[k];
        }
    }
    kernels_print("few", timing.best, sum_of(0, FEW, false));
    REPEAT(8)
    {
#pragma omp parallel
        {
            float mine[FEW] = {0};
#pragma omp for
            for (int i = 0; i < COUNT; i += FEW)
                for (int k = 0; k < FEW; k++)
                    mine[k] += x[i + k];
#pragma omp critical
            for (int k = 0; k < FEW; k++)
                REALS[k] += mine[k];
        }
    }
    kernels_print("few_float", timing.best, sum_of(0, FEW, true));
    REPEAT(8)
    {
#pragma omp parallel
        {
            int mine[4][BINS] = {{0}};
#pragma omp for
            for (int i = 0; i < COUNT; i += 4)
                for (int k = 0; k < 4; k++)
                    mine[k][byte[i + k]]++;
#pragma omp critical
            for (int k = 0; k < BINS; k++)
                out[k] += mine[0][k] + mine[1][k] + mine[2][k] + mine[3][k];
        }
    }
    kernels_print("bins", timing.best, sum_of(0, BINS / 2, false));
    REPEAT(8)
    {
#pragma omp parallel for
        for (int i = 0; i < COUNT; i++)
#pragma omp atomic
            REALS[place[i]] += x[i];
    }
    kernels_print("scatter", timing.best, sum_of(0, PLACES / 2, true));
}

static void own_places(void)
{
    REPEAT(8)
    {
#pragma omp parallel for
        for (int i = 0; i < OWN; i++)
            for (int k = 0; k < ROUNDS; k++)
                out[i] += byte[i + k];
    }
    kernels_print("own", timing.best, sum_of(0, OWN, false));
    kernels_print("own_plain", timing.best, sum_of(0, OWN, false));
    REPEAT(8)
    {
#pragma omp parallel for
        for (int i = 0; i < OWN; i++)
            for (int k = 0; k < ROUNDS; k++)
                REALS[i] += x[i + k];
    }
    kernels_print("own_float", timing.best, sum_of(0, OWN, true));
}

int main(void)
{
    x = aligned_alloc(64, COUNT * sizeof *x);
    byte = aligned_alloc(64, COUNT);
    place = aligned_alloc(64, COUNT * sizeof *place);
    kernels_fill(x, COUNT, 1);
    kernels_fill_bytes(byte, COUNT, 2);
    for (uint32_t i = 0, seed = 3; i < COUNT; i++)
        place[i] = (seed = seed * 1664525u + 1013904223u) >> 12;
    one_place();
    several_places();
    own_places();
    return 0;
}
