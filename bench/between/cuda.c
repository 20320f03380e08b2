/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose blocks wait for each other: each launch from its call to the end of the synchronisation, of code that
 * is as good as it gets, and a number from the results for a comparison with openmp.c. */
#include <string.h>

#include "../bench.h"
#include "../kernels/kernels.h"
#include "../kernels/load.h"
#include "between.h"

extern const char bench_between[];

static CUmodule module;
static CUdeviceptr in, out, state;
static int results[SCANNED];

static double measure(const char *name, unsigned blocks, unsigned threads, unsigned rounds)
{
    CUfunction kernel;
    double best = 1e9;
    void *params[] = {&in, &out, &state};
    CHECK(cuModuleGetFunction(&kernel, module, name));
    for (unsigned round = 0; round < rounds; round++) {
        CHECK(cuMemsetD8(out, 0, sizeof results));
        CHECK(cuMemsetD8(state, 0, SCANNED));
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        best = took < best && round ? took : best;
    }
    CHECK(cuMemcpyDtoH(results, out, sizeof results));
    return best;
}

int main(void)
{
    module = kernels_load(bench_between);
    float *reals = malloc(SCANNED * sizeof *reals);
    kernels_fill(reals, SCANNED, 1);
    CHECK(cuMemAlloc(&in, SCANNED * sizeof *reals));
    CHECK(cuMemAlloc(&out, sizeof results));
    CHECK(cuMemAlloc(&state, SCANNED));
    CHECK(cuMemcpyHtoD(in, reals, SCANNED * sizeof *reals));
    double took = measure("scan", SCANNED / SCAN_THREADS / SCAN_EACH, SCAN_THREADS, 12);
    kernels_print("scan", took, kernels_sum((const float *)results, SCANNED));
    took = measure("lock", LOCKED / 128, 128, 6);
    kernels_print("lock", took, results[1]);
    took = measure("append", APPENDED / 128, 128, 6);
    double sum = 0;
    for (int i = 0; i < APPENDED; i++)
        sum += results[4 + CHUNKS + i];
    kernels_print("append", took, sum);
    return 0;
}
