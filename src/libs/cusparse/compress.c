/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what is not zero, and leaving out what is small: nnz, compression, pruning.
 *
 * A *source* is a dense matrix by columns or one in CSR. An element stays if its magnitude is greater than a threshold.
 * Pruning by percentage finds the threshold first: the magnitude below which that part of the elements lies. */
#include "libs/cusparse/info.h"
#include "libs/cusparse/older.h"
#include "libs/math/hypot.h"

#include <math.h>
#include <stdlib.h>

#define PIECE 16384

struct pruning {
    struct cusparseSpMatDescr csr; /* .values NULL: the source is dense */
    const char *dense;
    int64_t ld, rows, cols, each;
    cudaDataType_t type;
    struct mr_scalar threshold; /* double, where the percentage says it */
    cudaDataType_t threshold_type;
    double part; /* which part of the elements goes */
    double *found; /* where its threshold lies */
    int *counts; /* of each row; one place further where they become offsets */
    int *offsets, *columns, *total;
    int64_t base;
    char *values;
    bool by_column;
    const char *name;
};

/* How many elements the line has, and its k-th one: where it is and its column. */
static int64_t length(const struct pruning *r, int64_t i)
{
    const int *offsets = r->csr.offsets;
    return r->dense ? (r->by_column ? r->rows : r->cols) : offsets[i + 1] - offsets[i];
}

static const char *element_at(const struct pruning *r, int64_t i, int64_t k, int64_t *column)
{
    unsigned size = mr_element_size(r->type);
    if (r->dense) {
        *column = k;
        return r->dense + (r->by_column ? k + i * r->ld : i + k * r->ld) * size;
    }
    int64_t at = ((const int *)r->csr.offsets)[i] - (int64_t)r->csr.base + k;
    *column = ((const int *)r->csr.indices)[at] - (int64_t)r->csr.base;
    return (const char *)r->csr.values + at * size;
}

static double magnitude(const struct pruning *r, const char *at)
{
    double value[2] = {0, 0};
    mr_load(r->type, at, 1, 1, 1, true, value);
    return mr_element_is_complex(r->type) ? mr_hypot(value[0], value[1]) : fabs(value[0]);
}

static double limit_of(const struct pruning *r)
{
    double value[2] = {0, 0};
    if (r->found)
        return *r->found;
    mr_load(r->threshold_type, mr_scalar_at(&r->threshold), 1, 1, 1, true, value);
    return value[0];
}

static bool stays(const struct pruning *r, const char *at, double limit)
{
    return !(magnitude(r, at) <= limit); /* NaN stays */
}

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct pruning *r = data;
    double limit = limit_of(r);
    int64_t column, lines = r->by_column ? r->cols : r->rows;
    struct mr_span span = mr_span(first, end, r->each, lines);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int count = 0;
        for (int64_t k = 0; k < length(r, i); k++)
            count += stays(r, element_at(r, i, k, &column), limit);
        r->counts[i] = count;
    }
}

static void run_total(void *data, uint64_t first, uint64_t end)
{
    const struct pruning *r = data;
    int sum = 0;
    (void)first, (void)end;
    for (int64_t i = 0; i < (r->by_column ? r->cols : r->rows); i++)
        sum += r->counts[i];
    if (r->total)
        *r->total = sum;
}

/* Counts, one place further, become offsets. `counts` may be another array. */
static void run_offsets(void *data, uint64_t first, uint64_t end)
{
    const struct pruning *r = data;
    int at = (int)r->base;
    (void)first, (void)end;
    for (int64_t i = 0; i < r->rows; i++) {
        int count = r->counts[i];
        r->offsets[i] = at; /* counts is offsets + 1, or elsewhere */
        at += count;
    }
    r->offsets[r->rows] = at;
    if (r->total)
        *r->total = at - (int)r->base;
}

static void run_fill(void *data, uint64_t first, uint64_t end)
{
    const struct pruning *r = data;
    unsigned size = mr_element_size(r->type);
    double limit = limit_of(r);
    int64_t column;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t at = r->offsets[i] - r->base;
        for (int64_t k = 0; k < length(r, i); k++) {
            const char *from = element_at(r, i, k, &column);
            if (!stays(r, from, limit))
                continue;
            r->columns[at] = (int)(column + r->base);
            memcpy(r->values + at++ * size, from, size);
        }
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The threshold of a percentage. */
static void run_threshold(void *data, uint64_t first, uint64_t end)
{
    const struct pruning *r = data;
    int64_t count = 0, column, all = r->dense ? r->rows * r->cols : r->csr.nnz;
    (void)first, (void)end;
    double *sizes = mr_math_scratch(0, (size_t)all * sizeof *sizes);
    if (!sizes) {
        mr_math_short_of_memory(r->name);
        return;
    }
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t k = 0; k < length(r, i) && count < all; k++)
            sizes[count++] = magnitude(r, element_at(r, i, k, &column));
    qsort(sizes, (size_t)count, sizeof *sizes, compare);
    int64_t at = (int64_t)ceil((double)count * r->part) - 1;
    at = at < 0 ? 0 : at >= count ? count - 1 : at;
    *r->found = count ? sizes[at] : 0;
}

static uint64_t parts(struct pruning *r, int64_t all)
{
    int64_t lines = r->by_column ? r->cols : r->rows;
    r->each = PIECE / (all / (lines + 1) + 1) + 1;
    return mr_parts_of((uint64_t)lines, (uint64_t)r->each);
}

static cudaDataType_t type_of(const struct mr_form *form)
{
    return form->type == 'H' ? CUDA_R_16F : mr_stored(mr_type_of(form));
}

/* ---- nnz ---- */

cusparseStatus_t mr_cusparse_nnz(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                 int64_t m, int64_t n, const cusparseMatDescr_t descrA, const void *A, int64_t lda,
                                 int *nnzPerRowCol, int *nnzTotalDevHostPtr)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && mr_is_direction(dirA) && mr_is(descrA, MR_KIND_MATDESCR) && nnzTotalDevHostPtr);
    MR_CHECK(form, lda >= m && (m == 0 || n == 0 || (A && nnzPerRowCol)));
    struct mr_told told;
    MR_STEP(mr_told_begin(form, sparse, nnzTotalDevHostPtr, &told));
    struct pruning r = {.dense = A,
                        .ld = lda,
                        .rows = m,
                        .cols = n,
                        .type = type_of(form),
                        .threshold_type = CUDA_R_64F,
                        .counts = nnzPerRowCol,
                        .total = told.to,
                        .by_column = dirA == CUSPARSE_DIRECTION_COLUMN,
                        .name = form->name};
    uint64_t count = parts(&r, m * n);
    MR_STEP(mr_cusparse_submit(form, sparse, m && n ? count : 0, run_count, &r, sizeof r));
    if (m == 0 || n == 0)
        r.rows = r.cols = 0;
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_total, &r, sizeof r));
    return mr_told_end(form, sparse, nnzTotalDevHostPtr, &told);
}

/* ---- compression ---- */

cusparseStatus_t mr_cusparse_nnz_compress(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                          const cusparseMatDescr_t descr, const void *csrSortedValA,
                                          const int *csrSortedRowPtrA, int *nnzPerRow, int *nnzC, const void *tol)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && mr_is(descr, MR_KIND_MATDESCR) && csrSortedRowPtrA && nnzPerRow && nnzC);
    struct mr_told told;
    MR_STEP(mr_told_begin(form, sparse, nnzC, &told));
    cudaDataType_t type = type_of(form);
    struct pruning r = {.csr = mr_older_csr(descr, m, 0, 0, csrSortedValA, csrSortedRowPtrA, csrSortedRowPtrA, type),
                        .rows = m,
                        .type = type,
                        .threshold = mr_scalar_take(tol, mr_element_size(type), false),
                        .threshold_type = type,
                        .counts = nnzPerRow,
                        .total = told.to,
                        .name = form->name};
    MR_STEP(mr_cusparse_submit(form, sparse, parts(&r, 8 * m), run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_total, &r, sizeof r));
    return mr_told_end(form, sparse, nnzC, &told);
}

cusparseStatus_t mr_cusparse_csr2csr_compress(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                              const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                              const int *csrSortedColIndA, const int *csrSortedRowPtrA, int64_t nnzA,
                                              const int *nnzPerRow, void *csrSortedValC, int *csrSortedColIndC,
                                              int *csrSortedRowPtrC, const void *tol)
{
    MR_ENTER(form, handle);
    MR_CHECK(form,
             m >= 0 && n >= 0 && nnzA >= 0 && mr_is(descrA, MR_KIND_MATDESCR) && csrSortedRowPtrA && csrSortedRowPtrC);
    MR_CHECK(form, m == 0 || nnzPerRow);
    cudaDataType_t type = type_of(form);
    struct pruning r = {.csr =
                            mr_older_csr(descrA, m, n, nnzA, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA, type),
                        .rows = m,
                        .cols = n,
                        .type = type,
                        .threshold = mr_scalar_take(tol, mr_element_size(type), false),
                        .threshold_type = type,
                        .counts = (int *)nnzPerRow,
                        .offsets = csrSortedRowPtrC,
                        .columns = csrSortedColIndC,
                        .values = csrSortedValC,
                        .base = descrA->base,
                        .name = form->name};
    uint64_t count = parts(&r, nnzA);
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_offsets, &r, sizeof r));
    return mr_cusparse_submit(form, sparse, nnzA ? count : 0, run_fill, &r, sizeof r);
}

/* ---- pruning: the source, then one step for all of it ---- */

static struct pruning of_dense(const struct mr_form *form, int64_t m, int64_t n, const void *A, int64_t lda,
                               const cusparseMatDescr_t descrC)
{
    return (struct pruning){.dense = A,
                            .ld = lda,
                            .rows = m,
                            .cols = n,
                            .type = type_of(form),
                            .threshold_type = type_of(form),
                            .base = descrC->base,
                            .name = form->name};
}

static struct pruning of_csr(const struct mr_form *form, int64_t m, int64_t n, int64_t nnz,
                             const cusparseMatDescr_t descrA, const void *values, const int *offsets,
                             const int *columns, const cusparseMatDescr_t descrC)
{
    struct pruning r = of_dense(form, m, n, NULL, 0, descrC);
    r.csr = mr_older_csr(descrA, m, n, nnz, values, offsets, columns, r.type);
    return r;
}

static int64_t elements(const struct pruning *r)
{
    return r->dense ? r->rows * r->cols : r->csr.nnz;
}

/* The program gives the threshold; or (NULL) the first step finds that of a percentage, and puts it into the buffer. */
static cusparseStatus_t limit(const struct mr_form *form, const struct mr_cusparse *sparse, struct pruning *r,
                              const void *given, float percentage, void *buffer)
{
    if (given) {
        r->threshold = mr_scalar_take(given, mr_element_size(r->type), mr_on_device(sparse));
        return CUSPARSE_STATUS_SUCCESS;
    }
    MR_CHECK(form, percentage >= 0 && percentage <= 100 && buffer);
    r->part = (double)percentage / 100;
    r->found = buffer;
    return mr_cusparse_submit(form, sparse, 1, run_threshold, r, sizeof *r);
}

static cusparseStatus_t count_all(const struct mr_form *form, const struct mr_cusparse *sparse, struct pruning r,
                                  const void *given, float percentage, void *buffer, int *offsets, int *total)
{
    MR_CHECK(form, offsets && total);
    struct mr_told told;
    MR_STEP(mr_told_begin(form, sparse, total, &told));
    MR_STEP(limit(form, sparse, &r, given, percentage, buffer));
    r.offsets = offsets;
    r.counts = offsets + 1;
    r.total = told.to;
    MR_STEP(mr_cusparse_submit(form, sparse, parts(&r, elements(&r)), run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_offsets, &r, sizeof r));
    return mr_told_end(form, sparse, total, &told);
}

static cusparseStatus_t fill_all(const struct mr_form *form, const struct mr_cusparse *sparse, struct pruning r,
                                 const void *given, float percentage, void *buffer, const int *offsets, int *columns,
                                 void *values)
{
    MR_CHECK(form, offsets);
    MR_STEP(limit(form, sparse, &r, given, percentage, buffer));
    r.offsets = (int *)offsets;
    r.columns = columns;
    r.values = values;
    uint64_t count = parts(&r, elements(&r));
    return mr_cusparse_submit(form, sparse, elements(&r) ? count : 0, run_fill, &r, sizeof r);
}

#define SIZE \
    MR_ENTER(form, handle); \
    MR_CHECK(form, m >= 0 && n >= 0 && pBufferSizeInBytes && mr_is(descrC, MR_KIND_MATDESCR)); \
    *pBufferSizeInBytes = sizeof(double); \
    return CUSPARSE_STATUS_SUCCESS

#define BEGIN_DENSE \
    MR_ENTER(form, handle); \
    MR_CHECK(form, m >= 0 && n >= 0 && lda >= m && mr_is(descrC, MR_KIND_MATDESCR)); \
    MR_CHECK(form, m == 0 || n == 0 || A); \
    struct pruning r = of_dense(form, m, n, A, lda, descrC)

#define BEGIN_CSR \
    MR_ENTER(form, handle); \
    MR_CHECK(form, \
             m >= 0 && n >= 0 && nnzA >= 0 && mr_is(descrA, MR_KIND_MATDESCR) && mr_is(descrC, MR_KIND_MATDESCR)); \
    MR_CHECK(form, csrSortedRowPtrA && (nnzA == 0 || (csrSortedValA && csrSortedColIndA))); \
    struct pruning r = of_csr(form, m, n, nnzA, descrA, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA, descrC)

cusparseStatus_t mr_cusparse_pruneDense2csr_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                          int64_t m, int64_t n, const void *A, int64_t lda,
                                                          const void *threshold, const cusparseMatDescr_t descrC,
                                                          const void *csrSortedValC, const int *csrSortedRowPtrC,
                                                          const int *csrSortedColIndC, size_t *pBufferSizeInBytes)
{
    (void)A, (void)lda, (void)threshold, (void)csrSortedValC, (void)csrSortedRowPtrC, (void)csrSortedColIndC;
    SIZE;
}

cusparseStatus_t mr_cusparse_pruneDense2csrNnz(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                               int64_t n, const void *A, int64_t lda, const void *threshold,
                                               const cusparseMatDescr_t descrC, int *csrRowPtrC,
                                               int *nnzTotalDevHostPtr, void *pBuffer)
{
    BEGIN_DENSE;
    MR_CHECK(form, threshold);
    return count_all(form, sparse, r, threshold, 0, pBuffer, csrRowPtrC, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_pruneDense2csr(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                            const void *A, int64_t lda, const void *threshold,
                                            const cusparseMatDescr_t descrC, void *csrSortedValC,
                                            const int *csrSortedRowPtrC, int *csrSortedColIndC, void *pBuffer)
{
    BEGIN_DENSE;
    MR_CHECK(form, threshold);
    return fill_all(form, sparse, r, threshold, 0, pBuffer, csrSortedRowPtrC, csrSortedColIndC, csrSortedValC);
}

cusparseStatus_t mr_cusparse_pruneCsr2csr_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                        int64_t n, int64_t nnzA, const cusparseMatDescr_t descrA,
                                                        const void *csrSortedValA, const int *csrSortedRowPtrA,
                                                        const int *csrSortedColIndA, const void *threshold,
                                                        const cusparseMatDescr_t descrC, const void *csrSortedValC,
                                                        const int *csrSortedRowPtrC, const int *csrSortedColIndC,
                                                        size_t *pBufferSizeInBytes)
{
    (void)nnzA, (void)descrA, (void)csrSortedValA, (void)csrSortedRowPtrA, (void)csrSortedColIndA, (void)threshold,
        (void)csrSortedValC, (void)csrSortedRowPtrC, (void)csrSortedColIndC;
    SIZE;
}

cusparseStatus_t mr_cusparse_pruneCsr2csrNnz(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                             int64_t nnzA, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                             const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                             const void *threshold, const cusparseMatDescr_t descrC,
                                             int *csrSortedRowPtrC, int *nnzTotalDevHostPtr, void *pBuffer)
{
    BEGIN_CSR;
    MR_CHECK(form, threshold);
    return count_all(form, sparse, r, threshold, 0, pBuffer, csrSortedRowPtrC, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_pruneCsr2csr(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                          int64_t nnzA, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                          const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                          const void *threshold, const cusparseMatDescr_t descrC, void *csrSortedValC,
                                          const int *csrSortedRowPtrC, int *csrSortedColIndC, void *pBuffer)
{
    BEGIN_CSR;
    MR_CHECK(form, threshold);
    return fill_all(form, sparse, r, threshold, 0, pBuffer, csrSortedRowPtrC, csrSortedColIndC, csrSortedValC);
}

cusparseStatus_t mr_cusparse_pruneDense2csrByPercentage_bufferSizeExt(
    const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n, const void *A, int64_t lda,
    float percentage, const cusparseMatDescr_t descrC, const void *csrSortedValC, const int *csrSortedRowPtrC,
    const int *csrSortedColIndC, pruneInfo_t info, size_t *pBufferSizeInBytes)
{
    (void)A, (void)lda, (void)percentage, (void)csrSortedValC, (void)csrSortedRowPtrC, (void)csrSortedColIndC,
        (void)info;
    SIZE;
}

cusparseStatus_t mr_cusparse_pruneDense2csrNnzByPercentage(const struct mr_form *form, cusparseHandle_t handle,
                                                           int64_t m, int64_t n, const void *A, int64_t lda,
                                                           float percentage, const cusparseMatDescr_t descrC,
                                                           int *csrRowPtrC, int *nnzTotalDevHostPtr, pruneInfo_t info,
                                                           void *pBuffer)
{
    BEGIN_DENSE;
    MR_CHECK(form, mr_cusparse_info(info, MR_INFO_PRUNE));
    return count_all(form, sparse, r, NULL, percentage, pBuffer, csrRowPtrC, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_pruneDense2csrByPercentage(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                        int64_t n, const void *A, int64_t lda, float percentage,
                                                        const cusparseMatDescr_t descrC, void *csrSortedValC,
                                                        const int *csrSortedRowPtrC, int *csrSortedColIndC,
                                                        pruneInfo_t info, void *pBuffer)
{
    BEGIN_DENSE;
    MR_CHECK(form, mr_cusparse_info(info, MR_INFO_PRUNE));
    return fill_all(form, sparse, r, NULL, percentage, pBuffer, csrSortedRowPtrC, csrSortedColIndC, csrSortedValC);
}

cusparseStatus_t mr_cusparse_pruneCsr2csrByPercentage_bufferSizeExt(
    const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n, int64_t nnzA,
    const cusparseMatDescr_t descrA, const void *csrSortedValA, const int *csrSortedRowPtrA,
    const int *csrSortedColIndA, float percentage, const cusparseMatDescr_t descrC, const void *csrSortedValC,
    const int *csrSortedRowPtrC, const int *csrSortedColIndC, pruneInfo_t info, size_t *pBufferSizeInBytes)
{
    (void)nnzA, (void)descrA, (void)csrSortedValA, (void)csrSortedRowPtrA, (void)csrSortedColIndA, (void)percentage,
        (void)csrSortedValC, (void)csrSortedRowPtrC, (void)csrSortedColIndC, (void)info;
    SIZE;
}

cusparseStatus_t mr_cusparse_pruneCsr2csrNnzByPercentage(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                         int64_t n, int64_t nnzA, const cusparseMatDescr_t descrA,
                                                         const void *csrSortedValA, const int *csrSortedRowPtrA,
                                                         const int *csrSortedColIndA, float percentage,
                                                         const cusparseMatDescr_t descrC, int *csrSortedRowPtrC,
                                                         int *nnzTotalDevHostPtr, pruneInfo_t info, void *pBuffer)
{
    BEGIN_CSR;
    MR_CHECK(form, mr_cusparse_info(info, MR_INFO_PRUNE));
    return count_all(form, sparse, r, NULL, percentage, pBuffer, csrSortedRowPtrC, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_pruneCsr2csrByPercentage(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                      int64_t n, int64_t nnzA, const cusparseMatDescr_t descrA,
                                                      const void *csrSortedValA, const int *csrSortedRowPtrA,
                                                      const int *csrSortedColIndA, float percentage,
                                                      const cusparseMatDescr_t descrC, void *csrSortedValC,
                                                      const int *csrSortedRowPtrC, int *csrSortedColIndC,
                                                      pruneInfo_t info, void *pBuffer)
{
    BEGIN_CSR;
    MR_CHECK(form, mr_cusparse_info(info, MR_INFO_PRUNE));
    return fill_all(form, sparse, r, NULL, percentage, pBuffer, csrSortedRowPtrC, csrSortedColIndC, csrSortedValC);
}
