/* SPDX-License-Identifier: Apache-2.0 */
/* The seed's demonstration by hand: 200 arrays copied in, doubled and halved fifty times, copied out, in C with OpenMP
 * and vectors.
 *
 * A parallel loop over the arrays does the copies and the arithmetic of each, as somebody would who has no device:
 * vectors of 16 floats, four at a time so that their latencies overlap. Without -ffast-math the compiler keeps the
 * hundred multiplications, as it does in the kernel. */
#include <stdlib.h>
#include <string.h>

#include "bench_plain.h"

typedef float vector __attribute__((vector_size(64), aligned(4)));

static void double_and_halve(float *array, int length)
{
    int i = 0;
    for (; i + 64 <= length; i += 64) {
        vector *at = (vector *)(array + i), a = at[0], b = at[1], c = at[2], d = at[3];
        for (int round = 0; round < 50; round++) {
            a *= 2.0f;
            b *= 2.0f;
            c *= 2.0f;
            d *= 2.0f;
            a *= 0.5f;
            b *= 0.5f;
            c *= 0.5f;
            d *= 0.5f;
        }
        at[0] = a;
        at[1] = b;
        at[2] = c;
        at[3] = d;
    }
    for (; i < length; i++)
        for (int round = 0; round < 50; round++)
            array[i] = array[i] * 2.0f * 0.5f;
}

int main(int argc, char **argv)
{
    int arrays = argc > 1 ? atoi(argv[1]) : 200, length = argc > 2 ? atoi(argv[2]) : 1 << 20;
    size_t bytes = (size_t)length * sizeof(float);
    float **in = malloc((size_t)arrays * sizeof *in), **device = malloc((size_t)arrays * sizeof *device),
          **out = malloc((size_t)arrays * sizeof *out);
    for (int k = 0; k < arrays; k++) {
        in[k] = malloc(bytes);
        device[k] = malloc(bytes);
        out[k] = malloc(bytes);
        for (int i = 0; i < length; i++)
            in[k][i] = (float)(i * 7 + k) / 1024.0f;
        memset(device[k], 0, bytes);
        memset(out[k], 0, bytes);
    }
    double best = 1e9, copies = 1e9;
    for (int repeat = 0; repeat < 5; repeat++) {
        double begin = plain_seconds();
#pragma omp parallel for schedule(dynamic)
        for (int k = 0; k < arrays; k++) {
            memcpy(device[k], in[k], bytes);
            double_and_halve(device[k], length);
            memcpy(out[k], device[k], bytes);
        }
        double middle = plain_seconds();
#pragma omp parallel for schedule(dynamic)
        for (int k = 0; k < arrays; k++) {
            memcpy(device[k], in[k], bytes);
            memcpy(out[k], device[k], bytes);
        }
        double end = plain_seconds();
        if (middle - begin < best)
            best = middle - begin;
        if (end - middle < copies)
            copies = end - middle;
    }
    for (int k = 0; k < arrays; k++)
        if (memcmp(in[k], out[k], bytes) != 0)
            return 1;
    printf("demo_openmp_seconds %.4f\ndemo_copies_seconds %.4f\n", best, copies);
    return 0;
}
