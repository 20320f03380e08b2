/* SPDX-License-Identifier: Apache-2.0 */
/* Products of more than one type or size: matrix times vector with short floats, groups of batches, and symmetric
 * products of 8-bit complex integers. */
#include "libs/cublas/gemm.h"

/* ---- matrix times vector, in float (HSH, HSS, TST, TSS: what comes in, the scalars, what goes out) ---- */

struct vectors {
    cudaDataType in, out;
    const void *a, *x;
    void *y;
    int64_t lda, incx, incy, stride_a, stride_x, stride_y, batch;
    bool pointers;
};

/* y as a row: the row x times op(A), turned round. */
static cublasStatus_t gemv(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                           int64_t n, const void *alpha, const void *beta, const struct vectors *v)
{
    struct mr_cublas *blas;
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_op(trans) && m >= 0 && n >= 0);
    MR_FITS(form, m);
    MR_FITS(form, n);
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, v->lda >= m && v->incx != 0 && v->incy != 0);
    MR_FITS(form, v->lda);
    MR_FITS(form, v->incx);
    MR_FITS(form, v->incy);
    MR_CHECK(form, alpha && beta && v->batch >= 0);
    if (v->incx < 0 || v->incy < 0)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "an increment below 0");
    bool is_plain = trans == CUBLAS_OP_N;
    struct mr_product product = {
        .function = form->name,
        .transa = 'N',
        .transb = is_plain ? 'T' : 'N',
        .m = 1,
        .n = is_plain ? m : n,
        .k = is_plain ? n : m,
        .scale_type = CUDA_R_32F,
        .alpha = mr_scalar_take(alpha, sizeof(float), mr_cublas_on_device(blas)),
        .beta = mr_scalar_take(beta, sizeof(float), mr_cublas_on_device(blas)),
        .a = {v->x, v->in, v->incx, v->stride_x},
        .b = {v->a, v->in, v->lda, v->stride_a},
        .c = {v->y, v->out, v->incy, v->stride_y},
        .d = {v->y, v->out, v->incy, v->stride_y},
        .batch = v->batch,
        .pointers = v->pointers,
    };
    mr_product_tell(&product);
    return mr_cublas_submit(form, blas, mr_product_parts(&product), mr_product_run, &product, sizeof product);
}

#define GEMV(name, in, out) \
    cublasStatus_t mr_cublas_##name##Batched( \
        const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, \
        const void *alpha, const void *const *Aarray, int64_t lda, const void *const *xarray, int64_t incx, \
        const void *beta, void *const *yarray, int64_t incy, int64_t batchCount) \
    { \
        struct vectors v = {in, out, Aarray,     xarray, (void *)(uintptr_t)yarray, lda, incx, incy, 0, \
                            0,  0,   batchCount, true}; \
        return gemv(form, handle, trans, m, n, alpha, beta, &v); \
    } \
    cublasStatus_t mr_cublas_##name##StridedBatched( \
        const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, \
        const void *alpha, const void *A, int64_t lda, int64_t strideA, const void *x, int64_t incx, int64_t stridex, \
        const void *beta, void *y, int64_t incy, int64_t stridey, int64_t batchCount) \
    { \
        struct vectors v = {in, out, A, x, y, lda, incx, incy, strideA, stridex, stridey, batchCount, false}; \
        return gemv(form, handle, trans, m, n, alpha, beta, &v); \
    }
GEMV(HSHgemv, CUDA_R_16F, CUDA_R_16F)
GEMV(HSSgemv, CUDA_R_16F, CUDA_R_32F)
GEMV(TSTgemv, CUDA_R_16BF, CUDA_R_16BF)
GEMV(TSSgemv, CUDA_R_16BF, CUDA_R_32F)

/* ---- groups: batches that differ in their sizes, one behind the other in the arrays of pointers ---- */

/* What the groups have, each an array on the host. `sizes` are of 32 bits, or of 64 for the _64 forms. */
struct groups {
    const cublasOperation_t *transa, *transb;
    const void *m, *n, *k, *lda, *ldb, *ldc, *size;
    const char *alpha, *beta;
    const void *const *a, *const *b;
    void *const *c;
    int64_t count;
};

static int64_t size_at(const struct mr_form *form, const void *sizes, int64_t i)
{
    return form->wide ? ((const int64_t *)sizes)[i] : ((const int *)sizes)[i];
}

static cublasStatus_t grouped(const struct mr_form *form, cublasHandle_t handle, const struct groups *g,
                              cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cublasComputeType_t compute,
                              size_t scalar)
{
    struct mr_cublas *blas;
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, g->count >= 0);
    if (g->count == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, g->transa && g->transb && g->m && g->n && g->k && g->lda && g->ldb && g->ldc && g->size);
    MR_CHECK(form, g->alpha && g->beta && g->a && g->b && g->c);
    for (int64_t i = 0; i < g->count; i++) {
        MR_CHECK(form, size_at(form, g->size, i) >= 0);
        status = mr_gemm_check(form, g->transa[i], g->transb[i], size_at(form, g->m, i), size_at(form, g->n, i),
                               size_at(form, g->k, i), size_at(form, g->lda, i), size_at(form, g->ldb, i),
                               size_at(form, g->ldc, i));
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
    }
    int64_t member = 0;
    for (int64_t i = 0; i < g->count && status == CUBLAS_STATUS_SUCCESS; i++) {
        int64_t size = size_at(form, g->size, i);
        status = mr_cublas_GemmBatchedEx(form, handle, g->transa[i], g->transb[i], size_at(form, g->m, i),
                                         size_at(form, g->n, i), size_at(form, g->k, i), g->alpha + (size_t)i * scalar,
                                         g->a + member, a, size_at(form, g->lda, i), g->b + member, b,
                                         size_at(form, g->ldb, i), g->beta + (size_t)i * scalar, g->c + member, c,
                                         size_at(form, g->ldc, i), size, compute, CUBLAS_GEMM_DEFAULT);
        member += size;
    }
    return status;
}

cublasStatus_t mr_cublas_gemmGroupedBatched(const struct mr_form *form, cublasHandle_t handle,
                                            const cublasOperation_t transa_array[],
                                            const cublasOperation_t transb_array[], const void *m_array,
                                            const void *n_array, const void *k_array, const void *alpha_array,
                                            const void *const *Aarray, const void *lda_array, const void *const *Barray,
                                            const void *ldb_array, const void *beta_array, void *const *Carray,
                                            const void *ldc_array, int64_t group_count, const void *group_size)
{
    bool is_single = form->type == 'S';
    cudaDataType_t type = is_single ? CUDA_R_32F : CUDA_R_64F;
    struct groups g = {transa_array, transb_array, m_array,    n_array, k_array, lda_array, ldb_array,  ldc_array,
                       group_size,   alpha_array,  beta_array, Aarray,  Barray,  Carray,    group_count};
    return grouped(form, handle, &g, type, type, type, is_single ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F,
                   is_single ? sizeof(float) : sizeof(double));
}

cublasStatus_t mr_cublas_GemmGroupedBatchedEx(const struct mr_form *form, cublasHandle_t handle,
                                              const cublasOperation_t transa_array[],
                                              const cublasOperation_t transb_array[], const void *m_array,
                                              const void *n_array, const void *k_array, const void *alpha_array,
                                              const void *const *Aarray, cudaDataType_t Atype, const void *lda_array,
                                              const void *const *Barray, cudaDataType_t Btype, const void *ldb_array,
                                              const void *beta_array, void *const *Carray, cudaDataType_t Ctype,
                                              const void *ldc_array, int64_t group_count, const void *group_size,
                                              cublasComputeType_t computeType)
{
    bool is_short = Atype == CUDA_R_16F || Atype == CUDA_R_16BF;
    bool is_single =
        computeType == CUBLAS_COMPUTE_32F ||
        (!is_short && (computeType == CUBLAS_COMPUTE_32F_PEDANTIC || computeType == CUBLAS_COMPUTE_32F_FAST_TF32));
    if (Atype != Btype || Atype != Ctype || !(Atype == CUDA_R_64F ? computeType == CUBLAS_COMPUTE_64F : is_single))
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "the manual lists no such combination of types");
    struct groups g = {transa_array, transb_array, m_array,    n_array, k_array, lda_array, ldb_array,  ldc_array,
                       group_size,   alpha_array,  beta_array, Aarray,  Barray,  Carray,    group_count};
    return grouped(form, handle, &g, Atype, Btype, Ctype, computeType,
                   Atype == CUDA_R_64F ? sizeof(double) : sizeof(float));
}

/* ---- C = alpha A op(A) + beta C of complex floats; hardware refuses A of 8-bit integers, too ---- */

static cublasStatus_t rank(const struct mr_form *form, cudaDataType a, cudaDataType c)
{
    if (a == CUDA_C_32F && c == CUDA_C_32F)
        return CUBLAS_STATUS_SUCCESS;
    return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "only complex floats");
}

#define RANK(name, plain) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    cublasOperation_t trans, int64_t n, int64_t k, const void *alpha, const void *A, \
                                    cudaDataType Atype, int64_t lda, const void *beta, void *C, cudaDataType Ctype, \
                                    int64_t ldc) \
    { \
        cublasStatus_t status = rank(form, Atype, Ctype); \
        return status != CUBLAS_STATUS_SUCCESS \
                   ? status \
                   : mr_cublas_##plain(form, handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc); \
    }
RANK(syrkEx, syrk)
RANK(syrk3mEx, syrk)
RANK(herkEx, herk)
RANK(herk3mEx, herk)
