/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares whose matrix may lack rank (csrlsqvqr, on the host): QR with columns exchanged, A P = Q R, so that the
 * diagonal of R shrinks. The rank is how many of its elements are beyond the tolerance; unknowns of other columns are
 * 0. The matrix is spread out and computed in double, by LAPACK, on the calling thread. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "libs/cusolver/sparse.h"
#include "libs/math/hypot.h"

/* A problem in double; complex elements are two doubles. */
struct least {
    int m, n, most, *exchange; /* most: the larger of m and n */
    bool is_complex;
    double *a, *tau, *b, *x, *norms, *work; /* one block of memory, which begins at `a` */
};

static double complex get(const double *at, int64_t i, bool is_complex)
{
    return is_complex ? at[2 * i] + at[2 * i + 1] * I : at[i];
}

static void put(double *at, int64_t i, bool is_complex, double complex value)
{
    at[is_complex ? 2 * i : i] = creal(value);
    if (is_complex)
        at[2 * i + 1] = cimag(value);
}

static double complex load(cudaDataType_t type, const void *from, int64_t i)
{
    if (type == CUDA_R_32F || type == CUDA_C_32F) {
        const float *at = from;
        return type == CUDA_R_32F ? at[i] : at[2 * i] + at[2 * i + 1] * I;
    }
    return get(from, i, type == CUDA_C_64F);
}

static void store(cudaDataType_t type, void *to, int64_t i, double complex value)
{
    float *single = to;
    if (type == CUDA_R_64F || type == CUDA_C_64F) {
        put(to, i, type == CUDA_C_64F, value);
    } else if (type == CUDA_R_32F) {
        single[i] = (float)creal(value);
    } else {
        single[2 * i] = (float)creal(value);
        single[2 * i + 1] = (float)cimag(value);
    }
}

/* Memory for the problem and `work` doubles of workspace. */
static bool open_least(struct least *l, size_t work)
{
    size_t width = l->is_complex ? 2 : 1, most = (size_t)l->most, cells;
    if (__builtin_mul_overflow((size_t)l->m * width, (size_t)l->n, &cells) || cells > SIZE_MAX / 16)
        return false;
    l->a = calloc(cells + most * width * 3 + 2 * (size_t)l->n + work, sizeof *l->a);
    l->exchange = calloc((size_t)l->n, sizeof *l->exchange);
    if (!l->a || !l->exchange) {
        free(l->a);
        free(l->exchange);
        return false;
    }
    l->tau = l->a + cells;
    l->b = l->tau + most * width;
    l->x = l->b + most * width;
    l->norms = l->x + most * width;
    l->work = l->norms + 2 * (size_t)l->n;
    return true;
}

static void close_least(struct least *l)
{
    free(l->a);
    free(l->exchange);
}

/* QR, and Q^H b in place of b; -1 for the size of the workspace asks for it. */
static void factorise(struct least *l, int size)
{
    int one = 1, info, k = l->m < l->n ? l->m : l->n, m = l->m, n = l->n;
    char left = 'L', turned = l->is_complex ? 'C' : 'T';
    enum mr_cpu_type type = l->is_complex ? MR_CPU_Z : MR_CPU_D;
    double asked = 0;
    if (l->is_complex)
        mr_lapack.geqp3_complex[type](&m, &n, l->a, &m, l->exchange, l->tau, l->work, &size, l->norms, &info);
    else
        mr_lapack.geqp3_real[type](&m, &n, l->a, &m, l->exchange, l->tau, l->work, &size, &info);
    if (size == -1)
        asked = l->work[0];
    mr_lapack.ormqr[type](&left, &turned, &m, &one, &k, l->a, &m, l->tau, l->b, &m, l->work, &size, &info, 1, 1);
    if (size == -1 && asked > l->work[0])
        l->work[0] = asked;
}

/* The rank by the diagonal of R, and x, in the order of A's columns. */
static int substitute(struct least *l, double tol)
{
    int rank = 0, most = l->m < l->n ? l->m : l->n;
    while (rank < most && cabs(get(l->a, (int64_t)rank * l->m + rank, l->is_complex)) > tol)
        rank++;
    for (int i = rank - 1; i >= 0; i--) {
        double complex sum = get(l->b, i, l->is_complex);
        for (int j = i + 1; j < rank; j++)
            sum -= get(l->a, (int64_t)j * l->m + i, l->is_complex) * get(l->x, l->exchange[j] - 1, l->is_complex);
        put(l->x, l->exchange[i] - 1, l->is_complex, sum / get(l->a, (int64_t)i * l->m + i, l->is_complex));
    }
    return rank;
}

/* The norm of A x - b. */
static double residual(const struct least *l, const struct mr_csr *a, const void *b)
{
    double norm = 0;
    for (int i = 0; i < a->m; i++) {
        double complex sum = -load(a->type, b, i);
        for (int k = a->rows[i] - a->base; k < a->rows[i + 1] - a->base; k++)
            sum += load(a->type, a->values, k) * get(l->x, a->columns[k] - a->base, l->is_complex);
        norm = mr_hypot(norm, cabs(sum));
    }
    return norm;
}

/* Whether offsets and columns are within the matrix. */
static bool is_sound(const struct mr_csr *a, int64_t nnz)
{
    if (a->rows[0] != a->base || a->rows[a->m] - a->base != nnz)
        return false;
    for (int i = 0; i < a->m; i++)
        if (a->rows[i] > a->rows[i + 1])
            return false;
    for (int64_t k = 0; k < nnz; k++)
        if (a->columns[k] < a->base || a->columns[k] - a->base >= a->n)
            return false;
    return true;
}

/* Spreads the matrix and the right side out. */
static void spread(struct least *l, const struct mr_csr *a, const void *b)
{
    for (int i = 0; i < a->m; i++) {
        for (int k = a->rows[i] - a->base; k < a->rows[i + 1] - a->base; k++) {
            int64_t at = (int64_t)(a->columns[k] - a->base) * a->m + i;
            put(l->a, at, l->is_complex, get(l->a, at, l->is_complex) + load(a->type, a->values, k));
        }
        put(l->b, i, l->is_complex, load(a->type, b, i));
    }
}

cusolverStatus_t mr_cusolver_SpcsrlsqvqrHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                             int64_t n, int64_t nnz, const cusparseMatDescr_t descrA,
                                             const void *csrValA, const int *csrRowPtrA, const int *csrColIndA,
                                             const void *b, double tol, int *rankA, void *x, int *p, void *min_norm)
{
    struct mr_solver *solver;
    struct mr_csr a;
    cusolverStatus_t status = mr_solver_enter(form, MR_SOLVER_SPARSE, handle, &solver);
    if (status == CUSOLVER_STATUS_SUCCESS)
        status = mr_sparse_describe(form, m, nnz, descrA, csrValA, csrRowPtrA, csrColIndA, &a);
    if (status != CUSOLVER_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, m > 0 && n > 0 && csrValA && b && rankA && x && p && min_norm);
    a.n = (int)n;
    MR_CHECK(form, is_sound(&a, nnz));
    double answer[2];
    struct least l = {.m = a.m,
                      .n = a.n,
                      .most = a.m > a.n ? a.m : a.n,
                      .is_complex = a.type == CUDA_C_32F || a.type == CUDA_C_64F,
                      .work = answer};
    factorise(&l, -1);
    size_t size = (size_t)answer[0];
    if (!open_least(&l, size * (l.is_complex ? 2 : 1)))
        return mr_solver_bad(form, CUSOLVER_STATUS_ALLOC_FAILED, "memory for %d by %d elements is short", a.m, a.n);
    spread(&l, &a, b);
    factorise(&l, (int)size);
    *rankA = substitute(&l, tol);
    double norm = residual(&l, &a, b);
    for (int i = 0; i < a.n; i++) {
        store(a.type, x, i, get(l.x, i, l.is_complex));
        p[i] = l.exchange[i] - 1;
    }
    if (a.type == CUDA_R_32F || a.type == CUDA_C_32F)
        *(float *)min_norm = (float)norm;
    else
        *(double *)min_norm = norm;
    close_least(&l);
    return CUSOLVER_STATUS_SUCCESS;
}
