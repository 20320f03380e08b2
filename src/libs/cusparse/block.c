/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between CSR and matrices in blocks of any shape (gebsr), and among those.
 *
 * All are the same work: a source, in CSR or in blocks, becomes blocks of a shape. The result has a block where the
 * source has an entry. CSR is blocks of 1 x 1. Blocks in CSR keep their zeros. A part is some block rows of the result.
 */
#include "libs/cusparse/older.h"
#include "libs/cusparse/transpose.h"

#include <stdlib.h>

struct blocks {
    struct cusparseSpMatDescr from;
    int64_t rows, each; /* block rows of the result, and of a part */
    int64_t block_rows, block_cols, base;
    bool by_row; /* how a result's block lies */
    unsigned size; /* bytes of an element; 0: the structure alone */
    int *offsets, *columns, *total;
    char *values;
    const char *name;
};

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The block columns of a block row, ascending: their number, or -1 when memory is short. They lie in slot 2. */
static int64_t columns_of(const struct blocks *r, int64_t row, int **columns)
{
    struct mr_reader reader = {.matrix = &r->from, .type = MR_Z, .places = true};
    struct mr_entries e;
    int64_t first = row * r->block_rows, last = first + r->block_rows, count = 0, different = 0;
    last = last < r->from.rows ? last : r->from.rows;
    int64_t most = mr_lines_before(&r->from, last) - mr_lines_before(&r->from, first);
    int *all = mr_math_scratch(2, (size_t)(most > 0 ? most : 0) * sizeof *all);
    *columns = all;
    if (!all)
        return -1;
    for (int64_t i = first; i < last; i++) {
        if (!mr_line(&reader, i, &e))
            return -1;
        for (int64_t k = 0; k < e.count && count < most; k++)
            all[count++] = (int)(e.index[k] / r->block_cols);
    }
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || all[k] != all[k - 1])
            all[different++] = all[k];
    return different;
}

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct blocks *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    int *columns;
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t count = columns_of(r, i, &columns);
        if (count < 0) {
            mr_math_short_of_memory(r->name);
            return;
        }
        r->offsets[i + 1] = (int)count;
    }
}

static void run_offsets(void *data, uint64_t first, uint64_t end)
{
    const struct blocks *r = data;
    (void)first, (void)end;
    r->offsets[0] = (int)r->base;
    for (int64_t i = 0; i < r->rows; i++)
        r->offsets[i + 1] += r->offsets[i];
    if (r->total)
        *r->total = r->offsets[r->rows] - (int)r->base;
}

/* Entries of the source go to their blocks, which are zero before. */
static bool fill_row(const struct blocks *r, int64_t row)
{
    struct mr_reader reader = {.matrix = &r->from, .type = MR_Z, .places = true};
    struct mr_entries e;
    int *columns;
    int64_t count = columns_of(r, row, &columns), at = r->offsets[row] - r->base, area = r->block_rows * r->block_cols;
    if (count < 0)
        return false;
    for (int64_t k = 0; k < count; k++)
        r->columns[at + k] = (int)(columns[k] + r->base);
    if (!r->size)
        return true;
    memset(r->values + at * area * r->size, 0, (size_t)(count * area * r->size));
    for (int64_t i = 0; i < r->block_rows && row * r->block_rows + i < r->from.rows; i++) {
        if (!mr_line(&reader, row * r->block_rows + i, &e))
            return false;
        for (int64_t k = 0; k < e.count; k++) {
            int64_t j = e.index[k] % r->block_cols;
            int64_t block = mr_index_bound(columns, CUSPARSE_INDEX_32I, count, e.index[k] / r->block_cols);
            int64_t place = (at + block) * area + (r->by_row ? i * r->block_cols + j : i + j * r->block_rows);
            memcpy(r->values + place * r->size, (const char *)r->from.values + e.place[k] * r->size, r->size);
        }
    }
    return true;
}

static void run_fill(void *data, uint64_t first, uint64_t end)
{
    const struct blocks *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    for (int64_t i = span.begin; i < span.stop; i++)
        if (!fill_row(r, i)) {
            mr_math_short_of_memory(r->name);
            return;
        }
}

/* What the result is. */
struct result {
    cusparseDirection_t dir;
    int64_t block_rows, block_cols;
    const cusparseMatDescr_t descr;
    void *values;
    int *offsets, *columns;
};

static cusparseStatus_t check(const struct mr_form *form, const struct cusparseMatDescr *descr, const struct result *to,
                              int64_t rows, int64_t cols, int64_t block_rows, int64_t block_cols, const int *offsets)
{
    MR_CHECK(form, mr_is(descr, MR_KIND_MATDESCR) && mr_is(to->descr, MR_KIND_MATDESCR) && mr_is_direction(to->dir));
    MR_CHECK(form, rows >= 0 && cols >= 0 && block_rows > 0 && block_cols > 0);
    MR_CHECK(form, to->block_rows > 0 && to->block_cols > 0 && offsets && to->offsets);
    return CUSPARSE_STATUS_SUCCESS;
}

static struct blocks record(const struct mr_form *form, const struct cusparseSpMatDescr *from, const struct result *to)
{
    struct blocks r = {.from = *from,
                       .rows = (int64_t)mr_parts_of((uint64_t)from->rows, (uint64_t)to->block_rows),
                       .block_rows = to->block_rows,
                       .block_cols = to->block_cols,
                       .base = to->descr->base,
                       .by_row = to->dir == CUSPARSE_DIRECTION_ROW,
                       .offsets = to->offsets,
                       .columns = to->columns,
                       .values = to->values,
                       .name = form->name};
    r.each = 1024 / to->block_rows + 1;
    return r;
}

static cusparseStatus_t count_blocks(const struct mr_form *form, const struct mr_cusparse *sparse,
                                     const struct cusparseSpMatDescr *from, const struct result *to, int *total)
{
    struct blocks r = record(form, from, to);
    struct mr_told told = {0};
    if (total)
        MR_STEP(mr_told_begin(form, sparse, total, &told));
    r.total = total ? told.to : NULL;
    MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.rows, (uint64_t)r.each), run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_offsets, &r, sizeof r));
    return total ? mr_told_end(form, sparse, total, &told) : CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t fill_blocks(const struct mr_form *form, const struct mr_cusparse *sparse,
                                    const struct cusparseSpMatDescr *from, const struct result *to, bool has_values)
{
    struct blocks r = record(form, from, to);
    r.size = has_values ? (unsigned)mr_type_size(mr_type_of(form)) : 0;
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.rows, (uint64_t)r.each), run_fill, &r, sizeof r);
}

/* Stands for a source's number of entries, which is in device memory and is not needed here. */
#define UNKNOWN 0

/* ---- CSR to blocks ---- */

cusparseStatus_t mr_cusparse_Xcsr2bsrNnz(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                         int64_t m, int64_t n, const cusparseMatDescr_t descrA,
                                         const int *csrSortedRowPtrA, const int *csrSortedColIndA, int64_t blockDim,
                                         const cusparseMatDescr_t descrC, int *bsrSortedRowPtrC,
                                         int *nnzTotalDevHostPtr)
{
    MR_ENTER(form, handle);
    struct result to = {
        .dir = dirA, .block_rows = blockDim, .block_cols = blockDim, .descr = descrC, .offsets = bsrSortedRowPtrC};
    MR_STEP(check(form, descrA, &to, m, n, 1, 1, csrSortedRowPtrA));
    struct cusparseSpMatDescr from =
        mr_older_csr(descrA, m, n, UNKNOWN, NULL, csrSortedRowPtrA, csrSortedColIndA, CUDA_R_32F);
    return count_blocks(form, sparse, &from, &to, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_csr2bsr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                     int64_t m, int64_t n, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                     const int *csrSortedRowPtrA, const int *csrSortedColIndA, int64_t blockDim,
                                     const cusparseMatDescr_t descrC, void *bsrSortedValC, int *bsrSortedRowPtrC,
                                     int *bsrSortedColIndC)
{
    MR_ENTER(form, handle);
    struct result to = {.dir = dirA,
                        .block_rows = blockDim,
                        .block_cols = blockDim,
                        .descr = descrC,
                        .values = bsrSortedValC,
                        .offsets = bsrSortedRowPtrC,
                        .columns = bsrSortedColIndC};
    MR_STEP(check(form, descrA, &to, m, n, 1, 1, csrSortedRowPtrA));
    struct cusparseSpMatDescr from = mr_older_csr(descrA, m, n, UNKNOWN, csrSortedValA, csrSortedRowPtrA,
                                                  csrSortedColIndA, mr_stored(mr_type_of(form)));
    return fill_blocks(form, sparse, &from, &to, true);
}

#define SIZE(pointer, condition) \
    MR_ENTER(form, handle); \
    (void)sparse; \
    MR_CHECK(form, (condition) && (pointer)); \
    *(pointer) = 1; \
    return CUSPARSE_STATUS_SUCCESS

cusparseStatus_t mr_cusparse_csr2gebsr_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                  cusparseDirection_t dirA, int64_t m, int64_t n,
                                                  const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                                  const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                                  int64_t rowBlockDim, int64_t colBlockDim, int *pBufferSizeInBytes)
{
    (void)csrSortedValA, (void)csrSortedRowPtrA, (void)csrSortedColIndA, (void)descrA;
    SIZE(pBufferSizeInBytes, mr_is_direction(dirA) && m >= 0 && n >= 0 && rowBlockDim > 0 && colBlockDim > 0);
}

cusparseStatus_t mr_cusparse_csr2gebsr_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                     cusparseDirection_t dirA, int64_t m, int64_t n,
                                                     const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                                     const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                                     int64_t rowBlockDim, int64_t colBlockDim, size_t *pBufferSize)
{
    (void)csrSortedValA, (void)csrSortedRowPtrA, (void)csrSortedColIndA, (void)descrA;
    SIZE(pBufferSize, mr_is_direction(dirA) && m >= 0 && n >= 0 && rowBlockDim > 0 && colBlockDim > 0);
}

cusparseStatus_t mr_cusparse_Xcsr2gebsrNnz(const struct mr_form *form, cusparseHandle_t handle,
                                           cusparseDirection_t dirA, int64_t m, int64_t n,
                                           const cusparseMatDescr_t descrA, const int *csrSortedRowPtrA,
                                           const int *csrSortedColIndA, const cusparseMatDescr_t descrC,
                                           int *bsrSortedRowPtrC, int64_t rowBlockDim, int64_t colBlockDim,
                                           int *nnzTotalDevHostPtr, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    struct result to = {.dir = dirA,
                        .block_rows = rowBlockDim,
                        .block_cols = colBlockDim,
                        .descr = descrC,
                        .offsets = bsrSortedRowPtrC};
    MR_STEP(check(form, descrA, &to, m, n, 1, 1, csrSortedRowPtrA));
    struct cusparseSpMatDescr from =
        mr_older_csr(descrA, m, n, UNKNOWN, NULL, csrSortedRowPtrA, csrSortedColIndA, CUDA_R_32F);
    return count_blocks(form, sparse, &from, &to, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_csr2gebsr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                       int64_t m, int64_t n, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                       const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                       const cusparseMatDescr_t descrC, void *bsrSortedValC, int *bsrSortedRowPtrC,
                                       int *bsrSortedColIndC, int64_t rowBlockDim, int64_t colBlockDim, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    struct result to = {.dir = dirA,
                        .block_rows = rowBlockDim,
                        .block_cols = colBlockDim,
                        .descr = descrC,
                        .values = bsrSortedValC,
                        .offsets = bsrSortedRowPtrC,
                        .columns = bsrSortedColIndC};
    MR_STEP(check(form, descrA, &to, m, n, 1, 1, csrSortedRowPtrA));
    struct cusparseSpMatDescr from = mr_older_csr(descrA, m, n, UNKNOWN, csrSortedValA, csrSortedRowPtrA,
                                                  csrSortedColIndA, mr_stored(mr_type_of(form)));
    return fill_blocks(form, sparse, &from, &to, true);
}

/* ---- blocks to CSR ---- */

static cusparseStatus_t to_csr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dir, int64_t mb,
                               int64_t nb, const struct cusparseMatDescr *descr, const void *values, const int *offsets,
                               const int *columns, int64_t block_rows, int64_t block_cols, const struct result *to,
                               bool has_values)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, descr, to, mb, nb, block_rows, block_cols, offsets));
    cudaDataType_t type = has_values ? mr_stored(mr_type_of(form)) : CUDA_R_32F;
    struct cusparseSpMatDescr from =
        mr_older_bsr(descr, dir, mb, nb, UNKNOWN, values, offsets, columns, block_rows, block_cols, type);
    MR_STEP(count_blocks(form, sparse, &from, to, NULL));
    return fill_blocks(form, sparse, &from, to, has_values);
}

cusparseStatus_t mr_cusparse_bsr2csr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                     int64_t mb, int64_t nb, const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                     const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, int64_t blockDim,
                                     const cusparseMatDescr_t descrC, void *csrSortedValC, int *csrSortedRowPtrC,
                                     int *csrSortedColIndC)
{
    struct result to = {.dir = dirA,
                        .block_rows = 1,
                        .block_cols = 1,
                        .descr = descrC,
                        .values = csrSortedValC,
                        .offsets = csrSortedRowPtrC,
                        .columns = csrSortedColIndC};
    return to_csr(form, handle, dirA, mb, nb, descrA, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, blockDim,
                  blockDim, &to, true);
}

cusparseStatus_t mr_cusparse_Xgebsr2csr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                        int64_t mb, int64_t nb, const cusparseMatDescr_t descrA,
                                        const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, int64_t rowBlockDim,
                                        int64_t colBlockDim, const cusparseMatDescr_t descrC, int *csrSortedRowPtrC,
                                        int *csrSortedColIndC)
{
    struct result to = {.dir = dirA,
                        .block_rows = 1,
                        .block_cols = 1,
                        .descr = descrC,
                        .offsets = csrSortedRowPtrC,
                        .columns = csrSortedColIndC};
    return to_csr(form, handle, dirA, mb, nb, descrA, NULL, bsrSortedRowPtrA, bsrSortedColIndA, rowBlockDim,
                  colBlockDim, &to, false);
}

cusparseStatus_t mr_cusparse_gebsr2csr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                       int64_t mb, int64_t nb, const cusparseMatDescr_t descrA,
                                       const void *bsrSortedValA, const int *bsrSortedRowPtrA,
                                       const int *bsrSortedColIndA, int64_t rowBlockDim, int64_t colBlockDim,
                                       const cusparseMatDescr_t descrC, void *csrSortedValC, int *csrSortedRowPtrC,
                                       int *csrSortedColIndC)
{
    struct result to = {.dir = dirA,
                        .block_rows = 1,
                        .block_cols = 1,
                        .descr = descrC,
                        .values = csrSortedValC,
                        .offsets = csrSortedRowPtrC,
                        .columns = csrSortedColIndC};
    return to_csr(form, handle, dirA, mb, nb, descrA, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, rowBlockDim,
                  colBlockDim, &to, true);
}

/* ---- blocks to blocks ---- */

cusparseStatus_t mr_cusparse_gebsr2gebsr_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                    cusparseDirection_t dirA, int64_t mb, int64_t nb, int64_t nnzb,
                                                    const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                                    const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,
                                                    int64_t rowBlockDimA, int64_t colBlockDimA, int64_t rowBlockDimC,
                                                    int64_t colBlockDimC, int *pBufferSizeInBytes)
{
    (void)bsrSortedValA, (void)bsrSortedRowPtrA, (void)bsrSortedColIndA, (void)descrA, (void)nnzb;
    SIZE(pBufferSizeInBytes, mr_is_direction(dirA) && mb >= 0 && nb >= 0 && rowBlockDimA > 0 && colBlockDimA > 0 &&
                                 rowBlockDimC > 0 && colBlockDimC > 0);
}

cusparseStatus_t mr_cusparse_gebsr2gebsr_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                       cusparseDirection_t dirA, int64_t mb, int64_t nb, int64_t nnzb,
                                                       const cusparseMatDescr_t descrA, const void *bsrSortedValA,
                                                       const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,
                                                       int64_t rowBlockDimA, int64_t colBlockDimA, int64_t rowBlockDimC,
                                                       int64_t colBlockDimC, size_t *pBufferSize)
{
    (void)bsrSortedValA, (void)bsrSortedRowPtrA, (void)bsrSortedColIndA, (void)descrA, (void)nnzb;
    SIZE(pBufferSize, mr_is_direction(dirA) && mb >= 0 && nb >= 0 && rowBlockDimA > 0 && colBlockDimA > 0 &&
                          rowBlockDimC > 0 && colBlockDimC > 0);
}

cusparseStatus_t mr_cusparse_Xgebsr2gebsrNnz(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseDirection_t dirA, int64_t mb, int64_t nb, int64_t nnzb,
                                             const cusparseMatDescr_t descrA, const int *bsrSortedRowPtrA,
                                             const int *bsrSortedColIndA, int64_t rowBlockDimA, int64_t colBlockDimA,
                                             const cusparseMatDescr_t descrC, int *bsrSortedRowPtrC,
                                             int64_t rowBlockDimC, int64_t colBlockDimC, int *nnzTotalDevHostPtr,
                                             void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    struct result to = {.dir = dirA,
                        .block_rows = rowBlockDimC,
                        .block_cols = colBlockDimC,
                        .descr = descrC,
                        .offsets = bsrSortedRowPtrC};
    MR_STEP(check(form, descrA, &to, mb, nb, rowBlockDimA, colBlockDimA, bsrSortedRowPtrA));
    struct cusparseSpMatDescr from = mr_older_bsr(descrA, dirA, mb, nb, nnzb, NULL, bsrSortedRowPtrA, bsrSortedColIndA,
                                                  rowBlockDimA, colBlockDimA, CUDA_R_32F);
    return count_blocks(form, sparse, &from, &to, nnzTotalDevHostPtr);
}

cusparseStatus_t mr_cusparse_gebsr2gebsr(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                         int64_t mb, int64_t nb, int64_t nnzb, const cusparseMatDescr_t descrA,
                                         const void *bsrSortedValA, const int *bsrSortedRowPtrA,
                                         const int *bsrSortedColIndA, int64_t rowBlockDimA, int64_t colBlockDimA,
                                         const cusparseMatDescr_t descrC, void *bsrSortedValC, int *bsrSortedRowPtrC,
                                         int *bsrSortedColIndC, int64_t rowBlockDimC, int64_t colBlockDimC,
                                         void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    struct result to = {.dir = dirA,
                        .block_rows = rowBlockDimC,
                        .block_cols = colBlockDimC,
                        .descr = descrC,
                        .values = bsrSortedValC,
                        .offsets = bsrSortedRowPtrC,
                        .columns = bsrSortedColIndC};
    MR_STEP(check(form, descrA, &to, mb, nb, rowBlockDimA, colBlockDimA, bsrSortedRowPtrA));
    struct cusparseSpMatDescr from =
        mr_older_bsr(descrA, dirA, mb, nb, nnzb, bsrSortedValA, bsrSortedRowPtrA, bsrSortedColIndA, rowBlockDimA,
                     colBlockDimA, mr_stored(mr_type_of(form)));
    return fill_blocks(form, sparse, &from, &to, true);
}

/* ---- transposing the order of blocks, each as one entry ---- */

cusparseStatus_t mr_cusparse_gebsr2gebsc_bufferSize(const struct mr_form *form, cusparseHandle_t handle, int64_t mb,
                                                    int64_t nb, int64_t nnzb, const void *bsrSortedVal,
                                                    const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                    int64_t rowBlockDim, int64_t colBlockDim, int *pBufferSizeInBytes)
{
    (void)bsrSortedVal, (void)bsrSortedRowPtr, (void)bsrSortedColInd;
    MR_ENTER(form, handle);
    (void)sparse;
    MR_CHECK(form, mb >= 0 && nb >= 0 && nnzb >= 0 && rowBlockDim > 0 && colBlockDim > 0 && pBufferSizeInBytes);
    *pBufferSizeInBytes = (int)mr_cusparse_transpose_bytes(mb, nb, nnzb);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_gebsr2gebsc_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t mb,
                                                       int64_t nb, int64_t nnzb, const void *bsrSortedVal,
                                                       const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                       int64_t rowBlockDim, int64_t colBlockDim, size_t *pBufferSize)
{
    (void)bsrSortedVal, (void)bsrSortedRowPtr, (void)bsrSortedColInd;
    MR_ENTER(form, handle);
    (void)sparse;
    MR_CHECK(form, mb >= 0 && nb >= 0 && nnzb >= 0 && rowBlockDim > 0 && colBlockDim > 0 && pBufferSize);
    *pBufferSize = mr_cusparse_transpose_bytes(mb, nb, nnzb);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_gebsr2gebsc(const struct mr_form *form, cusparseHandle_t handle, int64_t mb, int64_t nb,
                                         int64_t nnzb, const void *bsrSortedVal, const int *bsrSortedRowPtr,
                                         const int *bsrSortedColInd, int64_t rowBlockDim, int64_t colBlockDim,
                                         void *bscVal, int *bscRowInd, int *bscColPtr, cusparseAction_t copyValues,
                                         cusparseIndexBase_t idxBase, void *pBuffer)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mb >= 0 && nb >= 0 && nnzb >= 0 && rowBlockDim > 0 && colBlockDim > 0 && mr_is_base(idxBase));
    MR_CHECK(form, bsrSortedRowPtr && bscColPtr && pBuffer);
    struct mr_transpose call = {.values = bsrSortedVal,
                                .offsets = bsrSortedRowPtr,
                                .columns = bsrSortedColInd,
                                .to = copyValues == CUSPARSE_ACTION_NUMERIC ? bscVal : NULL,
                                .to_offsets = bscColPtr,
                                .to_rows = bscRowInd,
                                .rows = mb,
                                .cols = nb,
                                .nnz = nnzb,
                                .base = idxBase,
                                .size = rowBlockDim * colBlockDim * (int64_t)mr_type_size(mr_type_of(form))};
    return mr_cusparse_transpose(form, sparse, &call, pBuffer);
}
