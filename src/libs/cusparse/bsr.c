/* SPDX-License-Identifier: Apache-2.0 */
/* Products and triangular systems of the older interface: of matrices in blocks, and of a dense matrix with a sparse
 * vector. The generic interface's work does them; the values are not copied. */
#include "libs/cusparse/finish.h"
#include "libs/cusparse/info.h"
#include "libs/cusparse/mix.h"
#include "libs/cusparse/older.h"
#include "libs/cusparse/solve.h"
#include "libs/cusparse/spmm.h"
#include "libs/cusparse/spmv.h"

static struct cusparseDnMatDescr by_columns(int64_t rows, int64_t cols, int64_t ld, const void *values,
                                            enum mr_type type)
{
    return (struct cusparseDnMatDescr){.kind = MR_KIND_DNMAT,
                                       .rows = rows,
                                       .cols = cols,
                                       .ld = ld,
                                       .values = (void *)values,
                                       .type = mr_stored(type),
                                       .order = CUSPARSE_ORDER_COL,
                                       .batch_count = 1};
}

static cusparseStatus_t check_blocks(const struct mr_form *form, cusparseDirection_t dir, cusparseOperation_t op,
                                     int64_t mb, int64_t nb, int64_t nnzb, const cusparseMatDescr_t descr,
                                     const void *values, const int *offsets, const int *columns, int64_t block)
{
    MR_CHECK(form, mr_is_direction(dir) && mr_is_op(op) && mb >= 0 && nb >= 0 && nnzb >= 0 && block > 0);
    MR_CHECK(form, mr_is(descr, MR_KIND_MATDESCR));
    MR_CHECK(form, mb == 0 || offsets);
    MR_CHECK(form, nnzb == 0 || (values && columns));
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- products ---- */

cusparseStatus_t mr_cusparse_bsrmv(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                   cusparseOperation_t transA, int64_t mb, int64_t nb, int64_t nnzb, const void *alpha,
                                   const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                   const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, int64_t blockDim,
                                   const void *x, const void *beta, void *y)
{
    MR_ENTER(form, handle);
    MR_STEP(check_blocks(form, dirA, transA, mb, nb, nnzb, descrA, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA,
                         blockDim));
    MR_CHECK(form, alpha && beta && (mb == 0 || y) && (nb == 0 || x));
    MR_SUPPORT(form, transA == CUSPARSE_OPERATION_NON_TRANSPOSE);
    enum mr_type type = mr_type_of(form);
    struct cusparseSpMatDescr a = mr_older_bsr(descrA, dirA, mb, nb, nnzb, bsrSortedValA, bsrSortedRowPtrA,
                                               bsrSortedColIndA, blockDim, blockDim, mr_stored(type));
    struct mr_spmv call = {.op = transA,
                           .a = &a,
                           .x = x,
                           .y = y,
                           .x_type = a.type,
                           .y_type = a.type,
                           .compute = a.type,
                           .alpha = mr_cusparse_scalar(sparse, alpha, a.type),
                           .beta = mr_cusparse_scalar(sparse, beta, a.type)};
    return mr_cusparse_multiply(form, sparse, &call, NULL);
}

cusparseStatus_t mr_cusparse_bsrmm(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                   cusparseOperation_t transA, cusparseOperation_t transB, int64_t mb, int64_t n,
                                   int64_t kb, int64_t nnzb, const void *alpha, const cusparseMatDescr_t descrA,
                                   const void *bsrSortedValA, const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,
                                   const int blockSize, const void *B, const int ldb, const void *beta, void *C,
                                   int64_t ldc)
{
    MR_ENTER(form, handle);
    MR_STEP(check_blocks(form, dirA, transA, mb, kb, nnzb, descrA, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA,
                         blockSize));
    bool is_transposed = transB != CUSPARSE_OPERATION_NON_TRANSPOSE;
    MR_CHECK(form, alpha && beta && n >= 0 && mr_is_op(transB));
    MR_CHECK(form, ldb >= (is_transposed ? n : kb * blockSize) && ldc >= mb * blockSize);
    MR_SUPPORT(form, transA == CUSPARSE_OPERATION_NON_TRANSPOSE);
    enum mr_type type = mr_type_of(form);
    struct cusparseSpMatDescr a = mr_older_bsr(descrA, dirA, mb, kb, nnzb, bsrSortedValA, bsrSortedRowPtrA,
                                               bsrSortedColIndA, blockSize, blockSize, mr_stored(type));
    struct cusparseDnMatDescr b = by_columns(is_transposed ? n : a.cols, is_transposed ? a.cols : n, ldb, B, type),
                              c = by_columns(a.rows, n, ldc, C, type);
    struct mr_spmm call = {.op_a = transA,
                           .op_b = transB,
                           .a = &a,
                           .b = &b,
                           .c = &c,
                           .compute = a.type,
                           .alpha = mr_cusparse_scalar(sparse, alpha, a.type),
                           .beta = mr_cusparse_scalar(sparse, beta, a.type)};
    return mr_cusparse_spmm(form, sparse, &call, NULL);
}

/* ---- bsrxmv: some block rows, whose ends are an array of their own ---- */

struct masked {
    struct cusparseSpMatDescr a;
    const int *mask, *ends;
    int64_t count;
    enum mr_type type;
    const void *x;
    void *y;
    struct mr_scalar alpha, beta;
};

#define MASKED(s, element, real, conjugate) \
    static void masked_##s(const struct masked *r, int64_t which, const struct mr_finish *finish) \
    { \
        int64_t size = r->a.block_rows, base = r->a.base, row = r->mask[which] - base; \
        const element *x = r->x, *values = r->a.values; \
        bool by_row = r->a.block_order == CUSPARSE_ORDER_ROW; \
        for (int64_t i = 0; i < size; i++) { \
            element sum = 0; \
            for (int64_t k = ((const int *)r->a.offsets)[row] - base; k < r->ends[row] - base; k++) { \
                int64_t column = ((const int *)r->a.indices)[k] - base; \
                for (int64_t j = 0; j < size; j++) \
                    sum += values[k * size * size + (by_row ? i * size + j : i + j * size)] * x[column * size + j]; \
            } \
            mr_finish_##s(finish, r->y, row *size + i, sum); \
        } \
    }
MR_FOR_TYPES(MASKED)

static void run_masked(void *data, uint64_t first, uint64_t end)
{
    static void (*const function[])(const struct masked *, int64_t, const struct mr_finish *) = MR_FAMILY(masked);
    const struct masked *r = data;
    struct mr_finish finish = mr_finish_of(r->type, r->a.type, &r->alpha, &r->beta, r->a.type);
    struct mr_span span = mr_span(first, end, 256, r->count);
    for (int64_t i = span.begin; i < span.stop; i++)
        function[r->type](r, i, &finish);
}

cusparseStatus_t mr_cusparse_bsrxmv(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                    cusparseOperation_t transA, int64_t sizeOfMask, int64_t mb, int64_t nb,
                                    int64_t nnzb, const void *alpha, const cusparseMatDescr_t descrA,
                                    const void *bsrSortedValA, const int *bsrSortedMaskPtrA,
                                    const int *bsrSortedRowPtrA, const int *bsrSortedEndPtrA,
                                    const int *bsrSortedColIndA, int64_t blockDim, const void *x, const void *beta,
                                    void *y)
{
    MR_ENTER(form, handle);
    MR_STEP(check_blocks(form, dirA, transA, mb, nb, nnzb, descrA, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA,
                         blockDim));
    MR_CHECK(form, alpha && beta && sizeOfMask >= 0 && sizeOfMask <= mb &&
                       (sizeOfMask == 0 || (bsrSortedMaskPtrA && bsrSortedEndPtrA && x && y)));
    MR_SUPPORT(form, transA == CUSPARSE_OPERATION_NON_TRANSPOSE);
    enum mr_type type = mr_type_of(form);
    struct masked r = {.a = mr_older_bsr(descrA, dirA, mb, nb, nnzb, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA,
                                         blockDim, blockDim, mr_stored(type)),
                       .mask = bsrSortedMaskPtrA,
                       .ends = bsrSortedEndPtrA,
                       .count = sizeOfMask,
                       .type = type,
                       .x = x,
                       .y = y};
    r.alpha = mr_cusparse_scalar(sparse, alpha, r.a.type);
    r.beta = mr_cusparse_scalar(sparse, beta, r.a.type);
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)sizeOfMask, 256), run_masked, &r, sizeof r);
}

/* ---- gemvi: a dense matrix by columns times a sparse vector ---- */

struct gemvi {
    int64_t m, n, lda, nnz, base, rows; /* rows of the result */
    cusparseOperation_t op;
    enum mr_type type;
    const void *a, *x;
    const int *index;
    void *y;
    struct mr_scalar alpha, beta;
};

#define GEMVI(s, element, real, conjugate) \
    static void gemvi_##s(const struct gemvi *r, int64_t begin, int64_t stop, const struct mr_finish *finish) \
    { \
        const element *a = r->a, *x = r->x; \
        for (int64_t i = begin; i < stop; i++) { \
            element sum = 0; \
            for (int64_t k = 0; k < r->nnz; k++) { \
                int64_t j = r->index[k] - r->base; \
                element value = r->op == CUSPARSE_OPERATION_NON_TRANSPOSE ? a[i + j * r->lda] : a[j + i * r->lda]; \
                sum += (r->op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(value) : value) * x[k]; \
            } \
            mr_finish_##s(finish, r->y, i, sum); \
        } \
    }
MR_FOR_TYPES(GEMVI)

static void run_gemvi(void *data, uint64_t first, uint64_t end)
{
    static void (*const function[])(const struct gemvi *, int64_t, int64_t, const struct mr_finish *) =
        MR_FAMILY(gemvi);
    const struct gemvi *r = data;
    struct mr_finish finish = mr_finish_of(r->type, mr_stored(r->type), &r->alpha, &r->beta, mr_stored(r->type));
    struct mr_span span = mr_span(first, end, 512, r->rows);
    function[r->type](r, span.begin, span.stop, &finish);
}

cusparseStatus_t mr_cusparse_gemvi_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                              cusparseOperation_t transA, int64_t m, int64_t n, int64_t nnz,
                                              int *pBufferSize)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mr_is_op(transA) && m >= 0 && n >= 0 && nnz >= 0 && pBufferSize);
    *pBufferSize = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_gemvi(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t transA,
                                   int64_t m, int64_t n, const void *alpha, const void *A, int64_t lda, int64_t nnz,
                                   const void *xVal, const int *xInd, const void *beta, void *y,
                                   cusparseIndexBase_t idxBase, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, mr_is_op(transA) && m >= 0 && n >= 0 && nnz >= 0 && lda >= m && mr_is_base(idxBase));
    MR_CHECK(form, alpha && beta && (nnz == 0 || (A && xVal && xInd)));
    enum mr_type type = mr_type_of(form);
    struct gemvi r = {.m = m,
                      .n = n,
                      .lda = lda,
                      .nnz = nnz,
                      .base = idxBase,
                      .rows = transA == CUSPARSE_OPERATION_NON_TRANSPOSE ? m : n,
                      .op = transA,
                      .type = type,
                      .a = A,
                      .x = xVal,
                      .index = xInd,
                      .y = y,
                      .alpha = mr_cusparse_scalar(sparse, alpha, mr_stored(type)),
                      .beta = mr_cusparse_scalar(sparse, beta, mr_stored(type))};
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.rows, 512), run_gemvi, &r, sizeof r);
}

/* ---- triangular systems ---- */

struct diagonal {
    struct cusparseSpMatDescr a;
    struct mr_found *found;
    const char *name;
};

/* The first block row whose diagonal block is missing, or whose diagonal has a zero. */
static void run_diagonal(void *data, uint64_t first, uint64_t end)
{
    const struct diagonal *r = data;
    struct mr_reader reader = {.matrix = &r->a, .type = MR_Z};
    struct mr_entries e;
    (void)first, (void)end;
    r->found->pivot = -1;
    for (int64_t i = 0; i < r->a.rows; i++) {
        bool is_right = false;
        if (!mr_line(&reader, i, &e)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < e.count; k++)
            if (e.index[k] == i)
                is_right = r->a.diag == CUSPARSE_DIAG_TYPE_UNIT || ((const double complex *)e.value)[k] != 0;
        if (!is_right) {
            r->found->pivot = (int)(i / r->a.block_rows + r->a.base);
            return;
        }
    }
}

static cusparseStatus_t analyse(const struct mr_form *form, cusparseHandle_t handle, void *info, enum mr_info_kind kind,
                                const struct cusparseSpMatDescr *a)
{
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, kind);
    MR_CHECK(form, known);
    known->used = true;
    known->analysed = true;
    struct diagonal r = {.a = *a, .found = known->found, .name = form->name};
    return mr_cusparse_submit(form, sparse, 1, run_diagonal, &r, sizeof r);
}

static cusparseStatus_t solve(const struct mr_form *form, cusparseHandle_t handle, void *info, enum mr_info_kind kind,
                              struct mr_solve *call, const void *alpha)
{
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, kind);
    MR_CHECK(form, known && known->analysed && alpha);
    struct diagonal r = {.a = call->a, .found = known->found, .name = form->name};
    call->alpha = mr_cusparse_scalar(sparse, alpha, call->a.type);
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_diagonal, &r, sizeof r));
    return mr_cusparse_solve(form, sparse, call);
}

#define BLOCKS(values, offsets, columns, block) \
    MR_STEP(check_blocks(form, dirA, transA, mb, mb, nnzb, descrA, values, offsets, columns, block)); \
    struct cusparseSpMatDescr a = \
        mr_older_bsr(descrA, dirA, mb, mb, nnzb, values, offsets, columns, block, block, mr_stored(mr_type_of(form)))

#define SIZE(of, info_kind, ...) \
    MR_ENTER(form, handle); \
    (void)sparse; \
    MR_CHECK(form, (of) && mr_cusparse_info(info, info_kind)); \
    BLOCKS(__VA_ARGS__); \
    (void)a; \
    *(of) = 0; \
    return CUSPARSE_STATUS_SUCCESS

cusparseStatus_t mr_cusparse_Xbsrsv2_zeroPivot(const struct mr_form *form, cusparseHandle_t handle, bsrsv2Info_t info,
                                               int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_BSRSV, position);
}

cusparseStatus_t mr_cusparse_bsrsv2_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                               cusparseDirection_t dirA, cusparseOperation_t transA, int64_t mb,
                                               int64_t nnzb, const cusparseMatDescr_t descrA, void *bsrSortedValA,
                                               const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,
                                               int64_t blockDim, bsrsv2Info_t info, int *pBufferSizeInBytes)
{
    SIZE(pBufferSizeInBytes, MR_INFO_BSRSV, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, blockDim);
}

cusparseStatus_t mr_cusparse_bsrsv2_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                  cusparseDirection_t dirA, cusparseOperation_t transA, int64_t mb,
                                                  int64_t nnzb, const cusparseMatDescr_t descrA, void *bsrSortedValA,
                                                  const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,
                                                  int64_t blockSize, bsrsv2Info_t info, size_t *pBufferSize)
{
    SIZE(pBufferSize, MR_INFO_BSRSV, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, blockSize);
}

cusparseStatus_t mr_cusparse_bsrsv2_analysis(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseDirection_t dirA, cusparseOperation_t transA, int64_t mb,
                                             int64_t nnzb, const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                             const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, int64_t blockDim,
                                             bsrsv2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy, (void)pBuffer;
    BLOCKS(bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, blockDim);
    return analyse(form, handle, info, MR_INFO_BSRSV, &a);
}

cusparseStatus_t mr_cusparse_bsrsv2_solve(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                          cusparseOperation_t transA, int64_t mb, int64_t nnzb, const void *alpha,
                                          const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                          const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, int64_t blockDim,
                                          bsrsv2Info_t info, const void *f, void *x, cusparseSolvePolicy_t policy,
                                          void *pBuffer)
{
    (void)policy, (void)pBuffer;
    BLOCKS(bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, blockDim);
    struct mr_solve call = {.a = a,
                            .op_a = transA,
                            .b = by_columns(a.rows, 1, a.rows, f, mr_type_of(form)),
                            .c = by_columns(a.rows, 1, a.rows, x, mr_type_of(form))};
    return solve(form, handle, info, MR_INFO_BSRSV, &call, alpha);
}

cusparseStatus_t mr_cusparse_Xbsrsm2_zeroPivot(const struct mr_form *form, cusparseHandle_t handle, bsrsm2Info_t info,
                                               int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_BSRSM, position);
}

cusparseStatus_t mr_cusparse_bsrsm2_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                               cusparseDirection_t dirA, cusparseOperation_t transA,
                                               cusparseOperation_t transXY, int64_t mb, int64_t n, int64_t nnzb,
                                               const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                               const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                               int64_t blockSize, bsrsm2Info_t info, int *pBufferSizeInBytes)
{
    (void)transXY, (void)n;
    SIZE(pBufferSizeInBytes, MR_INFO_BSRSM, bsrSortedVal, bsrSortedRowPtr, bsrSortedColInd, blockSize);
}

cusparseStatus_t mr_cusparse_bsrsm2_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                  cusparseDirection_t dirA, cusparseOperation_t transA,
                                                  cusparseOperation_t transB, int64_t mb, int64_t n, int64_t nnzb,
                                                  const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                                  const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                  int64_t blockSize, bsrsm2Info_t info, size_t *pBufferSize)
{
    (void)transB, (void)n;
    SIZE(pBufferSize, MR_INFO_BSRSM, bsrSortedVal, bsrSortedRowPtr, bsrSortedColInd, blockSize);
}

cusparseStatus_t mr_cusparse_bsrsm2_analysis(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseDirection_t dirA, cusparseOperation_t transA,
                                             cusparseOperation_t transXY, int64_t mb, int64_t n, int64_t nnzb,
                                             const cusparseMatDescr_t descrA, const void *bsrSortedVal,
                                             const int *bsrSortedRowPtr, const int *bsrSortedColInd, int64_t blockSize,
                                             bsrsm2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy, (void)pBuffer, (void)transXY, (void)n;
    BLOCKS(bsrSortedVal, bsrSortedRowPtr, bsrSortedColInd, blockSize);
    return analyse(form, handle, info, MR_INFO_BSRSM, &a);
}

/* op(A) * op(X) = alpha * op(B): with a transposed X the solution's columns are rows of memory. */
cusparseStatus_t mr_cusparse_bsrsm2_solve(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                          cusparseOperation_t transA, cusparseOperation_t transXY, int64_t mb,
                                          int64_t n, int64_t nnzb, const void *alpha, const cusparseMatDescr_t descrA,
                                          const void *bsrSortedVal, const int *bsrSortedRowPtr,
                                          const int *bsrSortedColInd, int64_t blockSize, bsrsm2Info_t info,
                                          const void *B, int64_t ldb, void *X, int64_t ldx,
                                          cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy, (void)pBuffer;
    BLOCKS(bsrSortedVal, bsrSortedRowPtr, bsrSortedColInd, blockSize);
    bool is_transposed = transXY != CUSPARSE_OPERATION_NON_TRANSPOSE;
    MR_CHECK(form,
             mr_is_op(transXY) && n >= 0 && ldb >= (is_transposed ? n : a.rows) && ldx >= (is_transposed ? n : a.rows));
    MR_SUPPORT(form, transXY != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
    struct mr_solve call = {
        .a = a,
        .op_a = transA,
        .b = by_columns(a.rows, n, ldb, B, mr_type_of(form)),
        .c = by_columns(a.rows, n, ldx, X, mr_type_of(form))
    };
    if (is_transposed)
        call.b.order = call.c.order = CUSPARSE_ORDER_ROW;
    return solve(form, handle, info, MR_INFO_BSRSM, &call, alpha);
}
