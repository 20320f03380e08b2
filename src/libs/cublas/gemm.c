/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices of one type: one product, cut into tiles of the result, and batches, cut into groups of their
 * members. */
#include "libs/cublas/gemm.h"

struct gemm {
    enum mr_cpu_type type;
    cublasOperation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    struct mr_scalar alpha, beta;
    const void *a, *b;
    void *c;
    struct mr_tiles tiles;
    int64_t stride_a, stride_b, stride_c, batch, each; /* each: members in a part */
    bool pointers; /* a, b and c are arrays of pointers in device memory */
};

static void run_tiles(void *data, uint64_t first, uint64_t end)
{
    const struct gemm *r = data;
    size_t size = mr_size_of(r->type);
    for (uint64_t i = first; i < end; i++) {
        struct mr_tile tile = mr_tile_at(&r->tiles, r->m, r->n, i);
        mr_gemm_here(r->type, r->transa, r->transb, tile.rows, tile.columns, r->k, mr_scalar_at(&r->alpha),
                     mr_behind(r->a, r->transa == CUBLAS_OP_N ? tile.row : tile.row * r->lda, size), r->lda,
                     mr_behind(r->b, r->transb == CUBLAS_OP_N ? tile.column * r->ldb : tile.column, size), r->ldb,
                     mr_scalar_at(&r->beta), mr_behind(r->c, tile.row + tile.column * r->ldc, size), r->ldc);
    }
}

static void run_members(void *data, uint64_t first, uint64_t end)
{
    const struct gemm *r = data;
    size_t size = mr_size_of(r->type);
    int64_t to = (int64_t)end * r->each < r->batch ? (int64_t)end * r->each : r->batch;
    for (int64_t i = (int64_t)first * r->each; i < to; i++) {
        const void *a = r->pointers ? ((const void *const *)r->a)[i] : mr_behind(r->a, i * r->stride_a, size);
        const void *b = r->pointers ? ((const void *const *)r->b)[i] : mr_behind(r->b, i * r->stride_b, size);
        void *c = r->pointers ? ((void *const *)r->c)[i] : mr_behind(r->c, i * r->stride_c, size);
        mr_gemm_here(r->type, r->transa, r->transb, r->m, r->n, r->k, mr_scalar_at(&r->alpha), a, r->lda, b, r->ldb,
                     mr_scalar_at(&r->beta), c, r->ldc);
    }
}

/* Strided members that are large each: tiles of all of them. */
static void run_member_tiles(void *data, uint64_t first, uint64_t end)
{
    const struct gemm *r = data;
    size_t size = mr_size_of(r->type);
    uint64_t tiles = (uint64_t)(r->tiles.down * r->tiles.across);
    for (uint64_t i = first; i < end; i++) {
        int64_t member = (int64_t)(i / tiles);
        struct gemm one = *r;
        one.a = r->pointers ? ((const void *const *)r->a)[member] : mr_behind(r->a, member * r->stride_a, size);
        one.b = r->pointers ? ((const void *const *)r->b)[member] : mr_behind(r->b, member * r->stride_b, size);
        one.c = r->pointers ? ((void *const *)r->c)[member] : mr_behind(r->c, member * r->stride_c, size);
        run_tiles(&one, i % tiles, i % tiles + 1);
    }
}

/* For observers: one product, `member` matrices on, or all of them by their pointers. */
static bool tell(const struct mr_form *form, const struct gemm *r, int64_t member)
{
    size_t size = mr_size_of(r->type);
    int64_t count = r->pointers ? r->batch : 0;
    bool plain_a = r->transa == CUBLAS_OP_N, plain_b = r->transb == CUBLAS_OP_N;
    bool reads = r->k > 0 && !mr_scalar_is_0(&r->alpha, size);
    bool asked = mr_tell_batch(form->name, mr_behind(r->c, member * r->stride_c, size), count, r->m, r->n, r->ldc, size,
                               r->beta.device || mr_scalar_is_0(&r->beta, size) ? MR_WRITES : MR_READS | MR_WRITES);
    if (asked && reads)
        asked = mr_tell_batch(form->name, mr_behind(r->a, member * r->stride_a, size), count, plain_a ? r->m : r->k,
                              plain_a ? r->k : r->m, r->lda, size, MR_READS) &&
                mr_tell_batch(form->name, mr_behind(r->b, member * r->stride_b, size), count, plain_b ? r->k : r->n,
                              plain_b ? r->n : r->k, r->ldb, size, MR_READS);
    return asked && mr_tell_scalar(form->name, &r->alpha, size) && mr_tell_scalar(form->name, &r->beta, size);
}

/* Enters, checks, and fills in all but the matrices. */
static cublasStatus_t prepare(const struct mr_form *form, cublasHandle_t handle, struct mr_cublas **blas,
                              cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                              const void *alpha, int64_t lda, int64_t ldb, const void *beta, int64_t ldc,
                              struct gemm *r)
{
    cublasStatus_t status = mr_cublas_enter(form, handle, blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = mr_gemm_check(form, transa, transb, m, n, k, lda, ldb, ldc);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    *r = (struct gemm){.type = mr_type_of(form),
                       .transa = transa,
                       .transb = transb,
                       .m = m,
                       .n = n,
                       .k = k,
                       .lda = lda,
                       .ldb = ldb,
                       .ldc = ldc};
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha && beta);
    r->alpha = mr_scalar_take(alpha, mr_size_of(r->type), mr_cublas_on_device(*blas));
    r->beta = mr_scalar_take(beta, mr_size_of(r->type), mr_cublas_on_device(*blas));
    r->tiles = mr_tiles_of(m, n, mr_is_complex(r->type) ? 4 * k : k);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_gemm(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                              const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta, void *C,
                              int64_t ldc)
{
    if (form->type == 'H')
        return mr_gemm_half(form, handle, transa, transb, m, n, k, alpha, A, lda, 0, B, ldb, 0, beta, C, ldc, 0, 1,
                            false);
    struct mr_cublas *blas;
    struct gemm r;
    cublasStatus_t status = prepare(form, handle, &blas, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, &r);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    MR_CHECK(form, C);
    r.a = A;
    r.b = B;
    r.c = C;
    (void)tell(form, &r, 0);
    return mr_cublas_submit(form, blas, (uint64_t)(r.tiles.down * r.tiles.across), run_tiles, &r, sizeof r);
}

/* Hardware needs fewer multiplications for complex products; here they are products like all others. */
cublasStatus_t mr_cublas_gemm3m(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta, void *C,
                                int64_t ldc)
{
    return mr_cublas_gemm(form, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

static cublasStatus_t submit_batch(const struct mr_form *form, const struct mr_cublas *blas, struct gemm *r,
                                   int64_t batch)
{
    r->batch = batch;
    for (int64_t member = 0; member < (r->pointers ? 1 : batch) && tell(form, r, member); member++)
        continue;
    uint64_t tiles = (uint64_t)(r->tiles.down * r->tiles.across);
    if (tiles > 1)
        return mr_cublas_submit(form, blas, tiles * (uint64_t)batch, run_member_tiles, r, sizeof *r);
    double work = 2.0 * (double)r->m * (double)r->n * (double)mr_at_least_1(r->k) * (mr_is_complex(r->type) ? 4 : 1);
    r->each = (int64_t)(2e6 / (work + 1e3)) + 1;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)batch, (uint64_t)r->each), run_members, r, sizeof *r);
}

cublasStatus_t mr_cublas_gemmBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                     const void *const *Aarray, int64_t lda, const void *const *Barray, int64_t ldb,
                                     const void *beta, void *const *Carray, int64_t ldc, int64_t batchCount)
{
    if (form->type == 'H')
        return mr_gemm_half(form, handle, transa, transb, m, n, k, alpha, Aarray, lda, 0, Barray, ldb, 0, beta,
                            (void *)(uintptr_t)Carray, ldc, 0, batchCount, true);
    struct mr_cublas *blas;
    struct gemm r;
    cublasStatus_t status = prepare(form, handle, &blas, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, &r);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, batchCount >= 0);
    if (m == 0 || n == 0 || batchCount == 0)
        return CUBLAS_STATUS_SUCCESS;
    r.a = Aarray;
    r.b = Barray;
    r.c = (void *)(uintptr_t)Carray;
    r.pointers = true;
    return submit_batch(form, blas, &r, batchCount);
}

cublasStatus_t mr_cublas_gemm3mBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                       cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                       const void *const *Aarray, int64_t lda, const void *const *Barray, int64_t ldb,
                                       const void *beta, void *const *Carray, int64_t ldc, int64_t batchCount)
{
    return mr_cublas_gemmBatched(form, handle, transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray,
                                 ldc, batchCount);
}

cublasStatus_t mr_cublas_gemmStridedBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                            const void *alpha, const void *A, int64_t lda, int64_t strideA,
                                            const void *B, int64_t ldb, int64_t strideB, const void *beta, void *C,
                                            int64_t ldc, int64_t strideC, int64_t batchCount)
{
    if (form->type == 'H')
        return mr_gemm_half(form, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C,
                            ldc, strideC, batchCount, false);
    struct mr_cublas *blas;
    struct gemm r;
    cublasStatus_t status = prepare(form, handle, &blas, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, &r);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, batchCount >= 0);
    if (m == 0 || n == 0 || batchCount == 0)
        return CUBLAS_STATUS_SUCCESS;
    r.a = A;
    r.b = B;
    r.c = C;
    r.stride_a = strideA;
    r.stride_b = strideB;
    r.stride_c = strideC;
    return submit_batch(form, blas, &r, batchCount);
}

cublasStatus_t mr_cublas_gemm3mStridedBatched(const struct mr_form *form, cublasHandle_t handle,
                                              cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                                              int64_t k, const void *alpha, const void *A, int64_t lda, int64_t strideA,
                                              const void *B, int64_t ldb, int64_t strideB, const void *beta, void *C,
                                              int64_t ldc, int64_t strideC, int64_t batchCount)
{
    return mr_cublas_gemmStridedBatched(form, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB,
                                        beta, C, ldc, strideC, batchCount);
}
