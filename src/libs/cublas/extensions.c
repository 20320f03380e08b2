/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions of BLAS that have no sums of many elements: adding and transposing matrices, scaling by a diagonal,
 * packing and unpacking triangles. A part is some columns; of a sum of matrices it is a strip of some columns. */
#include <complex.h>
#include <string.h>

#include "libs/cublas/blas.h"

#define PART_ELEMENTS ((int64_t)1 << 16)
#define TILE 16 /* rows and columns of a tile: what is read across it stays in the nearest cache */
#define LONG 16384 /* columns that are longer are transposed by tiles */

struct extension {
    enum mr_cpu_type type;
    cublasOperation_t transa, transb;
    cublasSideMode_t side;
    bool upper;
    int64_t m, n, lda, ldb, ldc, incx, each;
    int64_t rows, tile; /* of a sum: rows of a part, and of a tile */
    struct mr_scalar alpha, beta;
    const void *a, *b;
    void *c;
};

/* For observers: C = alpha op(A) + beta op(B). */
static void tell_geam(const struct mr_form *form, const struct extension *r)
{
    size_t size = mr_size_of(r->type);
    bool plain_a = r->transa == CUBLAS_OP_N, plain_b = r->transb == CUBLAS_OP_N;
    bool asked = mr_tell_matrix(form->name, r->c, r->m, r->n, r->ldc, size, MR_WRITES);
    if (asked && !mr_scalar_is_0(&r->alpha, size))
        asked = mr_tell_matrix(form->name, r->a, plain_a ? r->m : r->n, plain_a ? r->n : r->m, r->lda, size, MR_READS);
    if (asked && !mr_scalar_is_0(&r->beta, size))
        asked = mr_tell_matrix(form->name, r->b, plain_b ? r->m : r->n, plain_b ? r->n : r->m, r->ldb, size, MR_READS);
    if (asked)
        (void)(mr_tell_scalar(form->name, &r->alpha, size) && mr_tell_scalar(form->name, &r->beta, size));
}

/* C = A times a diagonal. */
static void tell_dgmm(const struct mr_form *form, const struct extension *r)
{
    size_t size = mr_size_of(r->type);
    if (mr_tell_matrix(form->name, r->a, r->m, r->n, r->lda, size, MR_READS))
        (void)(mr_tell_matrix(form->name, r->c, r->m, r->n, r->ldc, size, MR_WRITES) &&
               mr_tell_vector(form->name, r->b, r->side == CUBLAS_SIDE_LEFT ? r->m : r->n, r->incx, size, MR_READS));
}

static cublasStatus_t submit(const struct mr_form *form, const struct mr_cublas *blas, struct extension *r,
                             void (*run)(void *, uint64_t, uint64_t))
{
    if (r->m == 0 || r->n == 0)
        return CUBLAS_STATUS_SUCCESS;
    r->each = PART_ELEMENTS / r->m + 1;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)r->n, (uint64_t)r->each), run, r, sizeof *r);
}

/* The columns of parts first to end - 1. */
#define COLUMNS(r, first, end, j) \
    for (int64_t j = (int64_t)(first) * (r)->each, \
                 j##_end = (int64_t)(end) * (r)->each < (r)->n ? (int64_t)(end) * (r)->each : (r)->n; \
         j < j##_end; j++)

#define SAME(value) (value)

/* Rows begin to stop of column j of C for one type. A matrix whose factor is 0 is not read. */
#define ADD(name, element, conjugate) \
    static void add_##name(const struct extension *r, int64_t j, int64_t begin, int64_t stop) \
    { \
        element alpha, beta, *c = (element *)r->c + j * r->ldc; \
        const element *a = r->a, *b = r->b; \
        memcpy(&alpha, mr_scalar_at(&r->alpha), sizeof alpha); \
        memcpy(&beta, mr_scalar_at(&r->beta), sizeof beta); \
        for (int64_t i = begin; i < stop; i++) { \
            element sum = 0; \
            if (alpha != 0) { \
                element x = r->transa == CUBLAS_OP_N ? a[i + j * r->lda] : a[j + i * r->lda]; \
                sum = alpha * (r->transa == CUBLAS_OP_C ? conjugate(x) : x); \
            } \
            if (beta != 0) { \
                element x = r->transb == CUBLAS_OP_N ? b[i + j * r->ldb] : b[j + i * r->ldb]; \
                sum += beta * (r->transb == CUBLAS_OP_C ? conjugate(x) : x); \
            } \
            c[i] = sum; \
        } \
    }
ADD(s, float, SAME)
ADD(d, double, SAME)
ADD(c, float complex, conjf)
ADD(z, double complex, conj)

static int64_t strips(const struct extension *r)
{
    return (r->m + r->rows - 1) / r->rows;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void run_geam(void *data, uint64_t first, uint64_t end)
{
    static void (*const add[])(const struct extension *, int64_t, int64_t, int64_t) = {add_s, add_d, add_c, add_z};
    const struct extension *r = data;
    for (int64_t part = (int64_t)first; part < (int64_t)end; part++) {
        int64_t left = part / strips(r) * r->each, right = least(left + r->each, r->n);
        int64_t top = part % strips(r) * r->rows, bottom = least(top + r->rows, r->m);
        for (int64_t i = top; i < bottom; i += r->tile)
            for (int64_t j = left; j < right; j++)
                add[r->type](r, j, i, least(i + r->tile, bottom));
    }
}

cublasStatus_t mr_cublas_geam(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const void *alpha, const void *A,
                              int64_t lda, const void *beta, const void *B, int64_t ldb, void *C, int64_t ldc)
{
    struct mr_cublas *blas;
    enum mr_cpu_type type = mr_type_of(form);
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_op(transa) && mr_is_op(transb) && m >= 0 && n >= 0);
    MR_CHECK(form, lda >= mr_at_least_1(transa == CUBLAS_OP_N ? m : n));
    MR_CHECK(form, ldb >= mr_at_least_1(transb == CUBLAS_OP_N ? m : n));
    MR_CHECK(form, ldc >= mr_at_least_1(m));
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha && beta);
    MR_CHECK(form, C != A || (transa == CUBLAS_OP_N && lda == ldc));
    MR_CHECK(form, C != B || (transb == CUBLAS_OP_N && ldb == ldc));
    struct extension r = {.type = type,
                          .transa = transa,
                          .transb = transb,
                          .m = m,
                          .n = n,
                          .lda = lda,
                          .ldb = ldb,
                          .ldc = ldc,
                          .a = A,
                          .b = B,
                          .c = C,
                          .alpha = mr_scalar_take(alpha, mr_size_of(type), mr_cublas_on_device(blas)),
                          .beta = mr_scalar_take(beta, mr_size_of(type), mr_cublas_on_device(blas))};
    tell_geam(form, &r);
    bool tiles = m > LONG && (transa != CUBLAS_OP_N || transb != CUBLAS_OP_N);
    r.each = tiles ? TILE : PART_ELEMENTS / m + 1;
    r.rows = tiles ? LONG : m;
    r.tile = tiles ? TILE : m;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)n, (uint64_t)r.each) * (uint64_t)strips(&r), run_geam, &r,
                            sizeof r);
}

#define SCALE(name, element) \
    static void scale_##name(const struct extension *r, int64_t j) \
    { \
        bool left = r->side == CUBLAS_SIDE_LEFT; \
        const element *a = (const element *)r->a + j * r->lda, *x = r->b; \
        element *c = (element *)r->c + j * r->ldc; \
        if (r->incx < 0) \
            x -= ((left ? r->m : r->n) - 1) * r->incx; \
        for (int64_t i = 0; i < r->m; i++) \
            c[i] = a[i] * x[(left ? i : j) * r->incx]; \
    }
SCALE(s, float)
SCALE(d, double)
SCALE(c, float complex)
SCALE(z, double complex)

static void run_dgmm(void *data, uint64_t first, uint64_t end)
{
    static void (*const scale[])(const struct extension *, int64_t) = {scale_s, scale_d, scale_c, scale_z};
    const struct extension *r = data;
    COLUMNS(r, first, end, j)
    scale[r->type](r, j);
}

cublasStatus_t mr_cublas_dgmm(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t mode, int64_t m,
                              int64_t n, const void *A, int64_t lda, const void *x, int64_t incx, void *C, int64_t ldc)
{
    struct mr_cublas *blas;
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_side(mode) && m >= 0 && n >= 0);
    MR_CHECK(form, lda >= mr_at_least_1(m) && ldc >= mr_at_least_1(m));
    struct extension r = {.type = mr_type_of(form),
                          .side = mode,
                          .m = m,
                          .n = n,
                          .lda = lda,
                          .ldc = ldc,
                          .incx = incx,
                          .a = A,
                          .b = x,
                          .c = C};
    if (m && n)
        tell_dgmm(form, &r);
    return submit(form, blas, &r, run_dgmm);
}

/* Column j of a packed triangle: where it begins, which rows it has. */
static int64_t packed_column(const struct extension *r, int64_t j, int64_t *from, int64_t *count)
{
    *from = r->upper ? 0 : j;
    *count = r->upper ? j + 1 : r->n - j;
    return r->upper ? j * (j + 1) / 2 : j * r->n - j * (j - 1) / 2;
}

static void run_unpack(void *data, uint64_t first, uint64_t end)
{
    const struct extension *r = data;
    size_t size = mr_size_of(r->type);
    COLUMNS(r, first, end, j)
    {
        int64_t from, count, at = packed_column(r, j, &from, &count);
        memcpy(mr_behind(r->c, from + j * r->ldc, size), mr_behind(r->a, at, size), (size_t)count * size);
    }
}

static void run_pack(void *data, uint64_t first, uint64_t end)
{
    const struct extension *r = data;
    size_t size = mr_size_of(r->type);
    COLUMNS(r, first, end, j)
    {
        int64_t from, count, at = packed_column(r, j, &from, &count);
        memcpy(mr_behind(r->c, at, size), mr_behind(r->a, from + j * r->lda, size), (size_t)count * size);
    }
}

static cublasStatus_t packed(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                             const void *a, int64_t lda, void *c, int64_t ldc, void (*run)(void *, uint64_t, uint64_t))
{
    struct mr_cublas *blas;
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0 && lda >= mr_at_least_1(n) && ldc >= mr_at_least_1(n));
    struct extension r = {.type = mr_type_of(form),
                          .upper = uplo == CUBLAS_FILL_MODE_UPPER,
                          .m = n,
                          .n = n,
                          .lda = lda,
                          .ldc = ldc,
                          .a = a,
                          .c = c};
    return submit(form, blas, &r, run);
}

cublasStatus_t mr_cublas_tpttr(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                               const void *AP, void *A, int64_t lda)
{
    return packed(form, handle, uplo, n, AP, mr_at_least_1(n), A, lda, run_unpack);
}

cublasStatus_t mr_cublas_trttp(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                               const void *A, int64_t lda, void *AP)
{
    return packed(form, handle, uplo, n, A, lda, AP, mr_at_least_1(n), run_pack);
}
