/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has linear algebra and Fourier transforms of its own, as programs do that link or carry another
 * OpenBLAS, MKL or FFTW: it exports functions of those names, which the dynamic loader finds before all others. What
 * Millrace's libraries compute must not come to them. */
#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

#define OWN(name) \
    __attribute__((visibility("default"))) void name(void); \
    void name(void) \
    { \
        fprintf(stderr, "%s of the program was called\n", #name); \
        exit(1); \
    }

OWN(blas_memory_alloc)
OWN(dgemm_)
OWN(dgetrf_)
OWN(dgetrs_)
OWN(dlamch_)
OWN(dtrsm_)
OWN(fftw_mksolver)
OWN(fftw_mktensor)
OWN(fftw_planner_destroy)
OWN(fftwf_mksolver)
OWN(fftwf_mktensor)

/* OpenBLAS's table of functions for the processor. */
__attribute__((visibility("default"))) extern void *gotoblas;
void *gotoblas;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* What a kernel could do as well: a matrix whose products and systems are known. */
static void product_and_system(void)
{
    static double a[N * N], b[N], c[N], x[N];
    for (int i = 0; i < N; i++) {
        b[i] = i + 1;
        for (int j = 0; j < N; j++)
            a[i + j * N] = i == j ? 2 * N : (i * 7 + j * 3) % 5;
    }
    double *device_a, *device_b, *device_c, *work, one = 1, zero = 0;
    int *pivots, *info, size, failed;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    CHECK(!cudaMalloc((void **)&device_a, sizeof a) && !cudaMalloc((void **)&device_b, sizeof b));
    CHECK(!cudaMalloc((void **)&device_c, sizeof c) && !cudaMalloc((void **)&pivots, N * sizeof(int)));
    CHECK(!cudaMalloc((void **)&info, sizeof *info) && !cublasCreate(&blas) && !cusolverDnCreate(&solver));
    CHECK(!cudaMemcpy(device_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(!cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice));
    CHECK(!cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, 1, N, &one, device_a, N, device_b, N, &zero, device_c, N));
    CHECK(!cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += a[i + j * N] * b[j];
        CHECK(fabs(c[i] - sum) < 1e-9);
    }
    CHECK(!cusolverDnDgetrf_bufferSize(solver, N, N, device_a, N, &size));
    CHECK(!cudaMalloc((void **)&work, (size_t)size * sizeof *work));
    CHECK(!cusolverDnDgetrf(solver, N, N, device_a, N, work, pivots, info));
    CHECK(!cusolverDnDgetrs(solver, CUBLAS_OP_N, N, 1, device_a, N, pivots, device_c, N, info));
    CHECK(!cudaMemcpy(x, device_c, sizeof x, cudaMemcpyDeviceToHost));
    CHECK(!cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDeviceToHost) && !failed);
    for (int i = 0; i < N; i++)
        CHECK(fabs(x[i] - b[i]) < 1e-9);
}

/* Of numbers that are all 1 the transform is N and zeros. */
static void transform(void)
{
    static double wide[2 * N];
    static float narrow[2 * N];
    void *device;
    cufftHandle plan;
    for (int i = 0; i < N; i++)
        narrow[2 * i] = 1, wide[2 * i] = 1;
    CHECK(!cudaMalloc(&device, sizeof wide));
    CHECK(!cufftPlan1d(&plan, N, CUFFT_Z2Z, 1) && !cudaMemcpy(device, wide, sizeof wide, cudaMemcpyHostToDevice));
    CHECK(!cufftExecZ2Z(plan, device, device, CUFFT_FORWARD));
    CHECK(!cudaMemcpy(wide, device, sizeof wide, cudaMemcpyDeviceToHost));
    CHECK(!cufftPlan1d(&plan, N, CUFFT_C2C, 1) && !cudaMemcpy(device, narrow, sizeof narrow, cudaMemcpyHostToDevice));
    CHECK(!cufftExecC2C(plan, device, device, CUFFT_FORWARD));
    CHECK(!cudaMemcpy(narrow, device, sizeof narrow, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * N; i++)
        CHECK(fabs(wide[i] - (i ? 0 : N)) < 1e-9 && fabsf(narrow[i] - (i ? 0 : N)) < 1e-4f);
}

int main(void)
{
    product_and_system();
    transform();
    return 0;
}
