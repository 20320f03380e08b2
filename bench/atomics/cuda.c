/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose threads meet at atomic operations: each launch from its call to the end of the synchronisation, of code
 * that is as good as it gets, and a number from the results for a comparison with openmp.c. */
#include <string.h>

#include "../bench.h"
#include "../kernels/kernels.h"
#include "../kernels/load.h"
#undef BINS
#include "atomics.h"

extern const char bench_atomics[];

static CUmodule module;
static CUdeviceptr x, byte, place, out;
static int results[COUNT + 1];

enum number { WHOLE, FLOAT, DOUBLE };

static double sum_of(enum number kind, size_t first, size_t count)
{
    double sum = 0;
    CHECK(cuMemcpyDtoH(results, out, sizeof results));
    if (kind == DOUBLE)
        memcpy(&sum, results, sizeof sum);
    for (size_t i = first; i < first + count && kind != DOUBLE; i++) {
        float real;
        memcpy(&real, &results[i], sizeof real);
        sum += kind == FLOAT ? (double)real : (double)results[i];
    }
    return sum;
}

/* The sum of `count` results behind the first. */
static void measure(const char *name, unsigned threads, enum number kind, size_t first, size_t count)
{
    CUfunction kernel;
    double best = 1e9;
    void *params[] = {&x, &byte, &place, &out};
    CHECK(cuModuleGetFunction(&kernel, module, name));
    for (int round = 0; round < 8; round++) {
        CHECK(cuMemsetD8(out, 0, sizeof results));
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, threads / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        best = took < best && round ? took : best;
    }
    kernels_print(name, best, sum_of(kind, first, count));
}

int main(void)
{
    module = kernels_load(bench_atomics);
    float *reals = malloc(COUNT * sizeof *reals);
    uint32_t *places = malloc(COUNT * sizeof *places);
    uint8_t *bytes = malloc(COUNT);
    kernels_fill(reals, COUNT, 1);
    kernels_fill_bytes(bytes, COUNT, 2);
    for (uint32_t i = 0, seed = 3; i < COUNT; i++)
        places[i] = (seed = seed * 1664525u + 1013904223u) >> 12;
    CHECK(cuMemAlloc(&x, COUNT * sizeof *reals));
    CHECK(cuMemAlloc(&byte, COUNT));
    CHECK(cuMemAlloc(&place, COUNT * sizeof *places));
    CHECK(cuMemAlloc(&out, sizeof results));
    CHECK(cuMemcpyHtoD(x, reals, COUNT * sizeof *reals));
    CHECK(cuMemcpyHtoD(byte, bytes, COUNT));
    CHECK(cuMemcpyHtoD(place, places, COUNT * sizeof *places));
    measure("count", COUNT, WHOLE, 0, 1);
    measure("append", COUNT, FLOAT, 1, COUNT);
    measure("sum_float", COUNT, FLOAT, 0, 1);
    measure("sum_double", COUNT, DOUBLE, 0, 1);
    measure("largest", COUNT, WHOLE, 0, 1);
    measure("few", COUNT, WHOLE, 0, FEW);
    measure("few_float", COUNT, FLOAT, 0, FEW);
    measure("bins", COUNT, WHOLE, 0, BINS / 2);
    measure("scatter", COUNT, FLOAT, 0, PLACES / 2);
    measure("own", OWN, WHOLE, 0, OWN);
    measure("own_plain", OWN, WHOLE, 0, OWN);
    measure("own_float", OWN, FLOAT, 0, OWN);
    return 0;
}
