/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a general matrix and a vector, one and batches of them, in parts: a large one by the elements of the
 * result, a batch by its members. */

#include "libs/cublas/blas.h"

#define PART_ELEMENTS ((int64_t)1 << 18) /* of the matrix, in a part: some tens of microseconds */

struct gemv {
    enum mr_cpu_type type;
    cublasOperation_t trans;
    int m, n, lda, incx, incy;
    int64_t each; /* results, or members of the batch, in a part */
    struct mr_scalar alpha, beta;
    const void *a, *x;
    void *y;
    int64_t stride_a, stride_x, stride_y, batch;
    bool pointers; /* a, x and y are arrays of pointers in device memory */
};

static void gemv(const struct gemv *r, const void *a, const void *x, void *y, int m, int n)
{
    char trans = mr_letter_of_op(r->trans);
    int incx = r->incx, one = 1, count = trans == 'N' ? n : m;
    /* OpenBLAS reads an element beyond a complex x that has gaps. */
    if (mr_is_complex(r->type) && incx != 1) {
        void *packed = mr_math_scratch(2, (size_t)count * mr_size_of(r->type));
        if (!packed) {
            mr_math_short_of_memory("cublas…gemv");
            return;
        }
        mr_cpu.copy[r->type](&count, x, &incx, packed, &one);
        x = packed;
        incx = one;
    }
    mr_cpu.gemv[r->type](&trans, &m, &n, mr_scalar_at(&r->alpha), a, &r->lda, x, &incx, mr_scalar_at(&r->beta), y,
                         &r->incy);
}

/* Results first * each and so on. With a negative increment they stand in y from its end. */
static void run_results(void *data, uint64_t first, uint64_t end)
{
    const struct gemv *r = data;
    bool plain = r->trans == CUBLAS_OP_N;
    int64_t all = plain ? r->m : r->n, from = (int64_t)first * r->each, to = (int64_t)end * r->each;
    size_t size = mr_size_of(r->type);
    if (to > all)
        to = all;
    const void *a = mr_behind(r->a, plain ? from : from * r->lda, size);
    void *y = mr_behind(r->y, r->incy > 0 ? from * r->incy : (all - to) * -(int64_t)r->incy, size);
    gemv(r, a, r->x, y, plain ? (int)(to - from) : r->m, plain ? r->n : (int)(to - from));
}

static void run_members(void *data, uint64_t first, uint64_t end)
{
    const struct gemv *r = data;
    size_t size = mr_size_of(r->type);
    int64_t to = (int64_t)end * r->each < r->batch ? (int64_t)end * r->each : r->batch;
    for (int64_t i = (int64_t)first * r->each; i < to; i++) {
        if (r->pointers)
            gemv(r, ((const void *const *)r->a)[i], ((const void *const *)r->x)[i], ((void *const *)r->y)[i], r->m,
                 r->n);
        else
            gemv(r, mr_behind(r->a, i * r->stride_a, size), mr_behind(r->x, i * r->stride_x, size),
                 mr_behind(r->y, i * r->stride_y, size), r->m, r->n);
    }
}

/* Checks, fills in what all forms have, and enters. *nothing: there is nothing to do. */
static cublasStatus_t prepare(const struct mr_form *form, cublasHandle_t handle, struct mr_cublas **blas,
                              cublasOperation_t trans, int64_t m, int64_t n, const void *alpha, int64_t lda,
                              int64_t incx, const void *beta, int64_t incy, struct gemv *r)
{
    cublasStatus_t status = mr_cublas_enter(form, handle, blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_op(trans) && m >= 0 && n >= 0);
    MR_FITS(form, m);
    MR_FITS(form, n);
    r->m = (int)m;
    r->n = (int)n;
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, lda >= mr_at_least_1(m) && incx != 0 && incy != 0);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    r->type = mr_type_of(form);
    r->trans = trans;
    r->lda = (int)lda;
    r->incx = (int)incx;
    r->incy = (int)incy;
    MR_CHECK(form, alpha && beta);
    r->alpha = mr_scalar_take(alpha, mr_size_of(r->type), mr_cublas_on_device(*blas));
    r->beta = mr_scalar_take(beta, mr_size_of(r->type), mr_cublas_on_device(*blas));
    return CUBLAS_STATUS_SUCCESS;
}

/* For observers: one product, `member` matrices and vectors on. */
static bool tell(const struct mr_form *form, const struct gemv *r, int64_t member)
{
    size_t size = mr_size_of(r->type);
    int results = r->trans == CUBLAS_OP_N ? r->m : r->n, length = r->trans == CUBLAS_OP_N ? r->n : r->m;
    int64_t count = r->pointers ? r->batch : 0, incx = r->incx < 0 ? -(int64_t)r->incx : r->incx,
            incy = r->incy < 0 ? -(int64_t)r->incy : r->incy;
    bool asked = mr_tell_batch(form->name, mr_behind(r->y, member * r->stride_y, size), count, 1, results, incy, size,
                               r->beta.device || mr_scalar_is_0(&r->beta, size) ? MR_WRITES : MR_READS | MR_WRITES);
    if (asked && !mr_scalar_is_0(&r->alpha, size))
        asked = mr_tell_batch(form->name, mr_behind(r->a, member * r->stride_a, size), count, r->m, r->n, r->lda, size,
                              MR_READS) &&
                mr_tell_batch(form->name, mr_behind(r->x, member * r->stride_x, size), count, 1, length, incx, size,
                              MR_READS);
    return asked && mr_tell_scalar(form->name, &r->alpha, size) && mr_tell_scalar(form->name, &r->beta, size);
}

cublasStatus_t mr_cublas_gemv(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                              int64_t n, const void *alpha, const void *A, int64_t lda, const void *x, int64_t incx,
                              const void *beta, void *y, int64_t incy)
{
    struct gemv r = {.a = A, .x = x, .y = y};
    struct mr_cublas *blas;
    cublasStatus_t status = prepare(form, handle, &blas, trans, m, n, alpha, lda, incx, beta, incy, &r);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    int64_t results = trans == CUBLAS_OP_N ? m : n, length = trans == CUBLAS_OP_N ? n : m;
    (void)tell(form, &r, 0);
    r.each = (PART_ELEMENTS / length + 1 + 63) & ~(int64_t)63;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)results, (uint64_t)r.each), run_results, &r, sizeof r);
}

static cublasStatus_t submit_batch(const struct mr_form *form, const struct mr_cublas *blas, struct gemv *r,
                                   int64_t batch)
{
    if (r->m == 0 || r->n == 0 || batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    r->batch = batch;
    for (int64_t member = 0; member < (r->pointers ? 1 : batch) && tell(form, r, member); member++)
        continue;
    r->each = PART_ELEMENTS / ((int64_t)r->m * r->n) + 1;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)batch, (uint64_t)r->each), run_members, r, sizeof *r);
}

cublasStatus_t mr_cublas_gemvBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans,
                                     int64_t m, int64_t n, const void *alpha, const void *const *Aarray, int64_t lda,
                                     const void *const *xarray, int64_t incx, const void *beta, void *const *yarray,
                                     int64_t incy, int64_t batchCount)
{
    struct gemv r = {.a = Aarray, .x = xarray, .y = (void *)(uintptr_t)yarray, .pointers = true};
    struct mr_cublas *blas;
    cublasStatus_t status = prepare(form, handle, &blas, trans, m, n, alpha, lda, incx, beta, incy, &r);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, batchCount >= 0);
    return submit_batch(form, blas, &r, batchCount);
}

cublasStatus_t mr_cublas_gemvStridedBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans,
                                            int64_t m, int64_t n, const void *alpha, const void *A, int64_t lda,
                                            int64_t strideA, const void *x, int64_t incx, int64_t stridex,
                                            const void *beta, void *y, int64_t incy, int64_t stridey,
                                            int64_t batchCount)
{
    struct gemv r = {.a = A, .x = x, .y = y, .stride_a = strideA, .stride_x = stridex, .stride_y = stridey};
    struct mr_cublas *blas;
    cublasStatus_t status = prepare(form, handle, &blas, trans, m, n, alpha, lda, incx, beta, incy, &r);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, batchCount >= 0);
    return submit_batch(form, blas, &r, batchCount);
}
