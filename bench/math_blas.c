/* SPDX-License-Identifier: Apache-2.0 */
/* Products by cuBLAS beside OpenBLAS. */
#include <cublas_v2.h>

#include <cuda_runtime_api.h>
#include <stdio.h>

#include "math.h"

struct product {
    cublasHandle_t handle;
    int n;
    float *a, *b, *c;
};

static void (*sgemm)(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                     const int *, const float *, const int *, const float *, float *, const int *);

static const float one = 1, zero = 0;

static void ours(void *data)
{
    struct product *p = data;
    if (cublasSgemm(p->handle, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->n, p->n, &one, p->a, p->n, p->b, p->n, &zero, p->c,
                    p->n) != CUBLAS_STATUS_SUCCESS ||
        cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
}

static void direct(void *data)
{
    struct product *p = data;
    sgemm("N", "N", &p->n, &p->n, &p->n, &one, p->a, &p->n, p->b, &p->n, &zero, p->c, &p->n);
}

void math_blas(void)
{
    static const int sizes[] = {64, 256, 1024, 2048};
    static const char library[] = "libopenblas.so.0";
    struct product p;
    void (*set_threads)(int) = (void (*)(int))math_symbol(library, "openblas_set_num_threads");
    *(void **)&sgemm = math_symbol(library, "sgemm_");
    if (cublasCreate(&p.handle) != CUBLAS_STATUS_SUCCESS)
        return;
    if (set_threads)
        set_threads(1);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[40];
        size_t count = (size_t)sizes[i] * (size_t)sizes[i];
        p.n = sizes[i];
        if (cudaMalloc((void **)&p.a, count * 4) || cudaMalloc((void **)&p.b, count * 4) ||
            cudaMalloc((void **)&p.c, count * 4))
            exit(1);
        for (size_t k = 0; k < count; k++)
            p.a[k] = p.b[k] = (float)(k % 7);
        snprintf(name, sizeof name, "sgemm_%d", sizes[i]);
        math_row(name, ours, sgemm ? direct : NULL, &p);
        cudaFree(p.a);
        cudaFree(p.b);
        cudaFree(p.c);
    }
    cublasDestroy(p.handle);
}
