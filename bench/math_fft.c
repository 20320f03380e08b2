/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms by cuFFT beside FFTW, which plans with FFTW_MEASURE here, and so takes seconds for a plan that cuFFT
 * has in a millisecond. */
#include <cufft.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "math.h"

struct transform {
    cufftHandle plan;
    void *direct; /* FFTW's plan */
    cufftComplex *in, *out;
};

static void *(*plan_many)(int rank, const int *n, int howmany, void *in, const int *inembed, int istride, int idist,
                          void *out, const int *onembed, int ostride, int odist, int sign, unsigned flags);
static void (*execute)(void *plan);

static void ours(void *data)
{
    struct transform *t = data;
    if (cufftExecC2C(t->plan, t->in, t->out, CUFFT_FORWARD) != CUFFT_SUCCESS || cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
}

static void direct(void *data)
{
    struct transform *t = data;
    execute(t->direct);
}

static void row(const char *name, int rank, int *n, int batch)
{
    struct transform t = {0};
    int size = 1;
    for (int i = 0; i < rank; i++)
        size *= n[i];
    size_t bytes = (size_t)size * (size_t)batch * sizeof *t.in;
    if (cudaMalloc((void **)&t.in, bytes) || cudaMalloc((void **)&t.out, bytes) ||
        cufftPlanMany(&t.plan, rank, n, NULL, 1, size, NULL, 1, size, CUFFT_C2C, batch) != CUFFT_SUCCESS)
        exit(1);
    if (plan_many && execute)
        t.direct = plan_many(rank, n, batch, t.in, NULL, 1, size, t.out, NULL, 1, size, -1, 0);
    for (size_t i = 0; i < bytes / sizeof *t.in; i++) {
        t.in[i].x = (float)(i % 11);
        t.in[i].y = (float)(i % 7);
    }
    math_row(name, ours, t.direct ? direct : NULL, &t);
    cufftDestroy(t.plan);
    cudaFree(t.in);
    cudaFree(t.out);
}

void math_fft(void)
{
    static const char library[] = "libfftw3f.so.3";
    *(void **)&plan_many = math_symbol(library, "fftwf_plan_many_dft");
    *(void **)&execute = math_symbol(library, "fftwf_execute");
    row("fft_1048576", 1, (int[]){1 << 20}, 1);
    row("fft_512x512x64", 3, (int[]){512, 512, 64}, 1);
    row("fft_64_10000", 1, (int[]){64}, 10000);
    row("fft_1000_1000", 1, (int[]){1000}, 1000);
    row("fft_16x16_10000", 2, (int[]){16, 16}, 10000);
}
