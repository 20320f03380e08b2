/* SPDX-License-Identifier: Apache-2.0 */
/* Factorisations by cuSOLVER beside OpenBLAS' LAPACK: LU and Cholesky of 2,000, 10,000 small ones, eigenvalues. Both
 * get a fresh copy of the matrix each time, which is measured along. */
#include <cusolverDn.h>

#include <cuda_runtime_api.h>
#include <string.h>

#include "math.h"

struct problem {
    cusolverDnHandle_t handle;
    int n, batch, *pivots, *infos;
    size_t bytes;
    double *matrix, *copy, **members, *values, *work;
};

static void (*getrf)(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
static void (*potrf)(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
static void (*syevd)(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w,
                     double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);

static void fresh(struct problem *p)
{
    memcpy(p->copy, p->matrix, p->bytes);
}

static void end(cusolverStatus_t status)
{
    if (status != CUSOLVER_STATUS_SUCCESS || cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
}

static void lu_ours(void *data)
{
    struct problem *p = data;
    fresh(p);
    end(cusolverDnDgetrf(p->handle, p->n, p->n, p->copy, p->n, NULL, p->pivots, p->infos));
}

static void lu_direct(void *data)
{
    struct problem *p = data;
    fresh(p);
    getrf(&p->n, &p->n, p->copy, &p->n, p->pivots, p->infos);
}

static void cholesky_ours(void *data)
{
    struct problem *p = data;
    fresh(p);
    end(cusolverDnDpotrf(p->handle, CUBLAS_FILL_MODE_LOWER, p->n, p->copy, p->n, p->work, 1, p->infos));
}

static void cholesky_direct(void *data)
{
    struct problem *p = data;
    fresh(p);
    potrf("L", &p->n, p->copy, &p->n, p->infos, 1);
}

static void batch_ours(void *data)
{
    struct problem *p = data;
    fresh(p);
    end(cusolverDnDpotrfBatched(p->handle, CUBLAS_FILL_MODE_LOWER, p->n, p->members, p->n, p->infos, p->batch));
}

static void batch_direct(void *data)
{
    struct problem *p = data;
    fresh(p);
    for (int i = 0; i < p->batch; i++)
        potrf("L", &p->n, p->members[i], &p->n, &p->infos[i], 1);
}

static void eigen_ours(void *data)
{
    struct problem *p = data;
    fresh(p);
    end(cusolverDnDsyevd(p->handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, p->n, p->copy, p->n, p->values,
                         p->work, 1, p->infos));
}

static void eigen_direct(void *data)
{
    struct problem *p = data;
    int lwork = 1 + 6 * p->n + 2 * p->n * p->n, liwork = 3 + 5 * p->n;
    fresh(p);
    syevd("V", "L", &p->n, p->copy, &p->n, p->values, p->work, &lwork, p->pivots, &liwork, p->infos, 1, 1);
}

static void row(const char *name, int n, int batch, math_operation ours, math_operation direct)
{
    struct problem p = {.n = n, .batch = batch, .bytes = (size_t)n * (size_t)n * (size_t)batch * sizeof(double)};
    size_t count = (size_t)n * (size_t)n, room = (2 * count + 8 * (size_t)n + 64) * sizeof(double);
    p.matrix = malloc(p.bytes);
    if (!p.matrix || cusolverDnCreate(&p.handle) || cudaMalloc((void **)&p.copy, p.bytes) ||
        cudaMalloc((void **)&p.members, (size_t)batch * sizeof *p.members) ||
        cudaMalloc((void **)&p.values, (size_t)n * sizeof(double)) || cudaMalloc((void **)&p.work, room) ||
        cudaMalloc((void **)&p.pivots, (size_t)(6 * n + 64) * sizeof(int)) ||
        cudaMalloc((void **)&p.infos, (size_t)batch * sizeof(int)))
        exit(1);
    for (int k = 0; k < batch; k++) {
        p.members[k] = p.copy + (size_t)k * count;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                p.matrix[(size_t)k * count + (size_t)i + (size_t)j * (size_t)n] =
                    (double)((i * j + i + j) % 13 - 6) + (i == j ? 13.0 * n : 0);
    }
    math_row(name, ours, direct, &p);
    cusolverDnDestroy(p.handle);
    free(p.matrix);
    cudaFree(p.copy);
    cudaFree(p.members);
    cudaFree(p.values);
    cudaFree(p.work);
    cudaFree(p.pivots);
    cudaFree(p.infos);
}

void math_solver(void)
{
    static const char library[] = "libopenblas.so.0";
    *(void **)&getrf = math_symbol(library, "dgetrf_");
    *(void **)&potrf = math_symbol(library, "dpotrf_");
    *(void **)&syevd = math_symbol(library, "dsyevd_");
    row("getrf_2000", 2000, 1, lu_ours, getrf ? lu_direct : NULL);
    row("potrf_2000", 2000, 1, cholesky_ours, potrf ? cholesky_direct : NULL);
    row("potrf_16_10000", 16, 10000, batch_ours, potrf ? batch_direct : NULL);
    row("syevd_500", 500, 1, eigen_ours, syevd ? eigen_direct : NULL);
}
