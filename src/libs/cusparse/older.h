/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of the older interface: pointers and sizes in the arguments, indices of 32 bits, the rest in a description.
 */
#ifndef MR_CUSPARSE_OLDER_H
#define MR_CUSPARSE_OLDER_H

#include "libs/cusparse/element.h"
#include "libs/cusparse/lines.h"
#include "libs/cusparse/sparse.h"

static inline struct cusparseSpMatDescr mr_older_csr(const struct cusparseMatDescr *descr, int64_t rows, int64_t cols,
                                                     int64_t nnz, const void *values, const int *offsets,
                                                     const int *columns, cudaDataType_t type)
{
    return (struct cusparseSpMatDescr){.kind = MR_KIND_SPMAT,
                                       .format = CUSPARSE_FORMAT_CSR,
                                       .rows = rows,
                                       .cols = cols,
                                       .nnz = nnz,
                                       .offsets = (void *)offsets,
                                       .indices = (void *)columns,
                                       .values = (void *)values,
                                       .offset_type = CUSPARSE_INDEX_32I,
                                       .index_type = CUSPARSE_INDEX_32I,
                                       .base = descr->base,
                                       .type = type,
                                       .fill = descr->fill,
                                       .diag = descr->diag,
                                       .batch_count = 1};
}

/* The sizes are in blocks, each of block_rows x block_cols. */
static inline struct cusparseSpMatDescr mr_older_bsr(const struct cusparseMatDescr *descr, cusparseDirection_t dir,
                                                     int64_t rows, int64_t cols, int64_t nnz, const void *values,
                                                     const int *offsets, const int *columns, int64_t block_rows,
                                                     int64_t block_cols, cudaDataType_t type)
{
    struct cusparseSpMatDescr m = mr_older_csr(descr, rows * block_rows, cols * block_cols,
                                               nnz * block_rows * block_cols, values, offsets, columns, type);
    m.format = CUSPARSE_FORMAT_BSR;
    m.block_rows = block_rows;
    m.block_cols = block_cols;
    m.block_order = dir == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    return m;
}

static inline bool mr_is_direction(cusparseDirection_t dir)
{
    return dir == CUSPARSE_DIRECTION_ROW || dir == CUSPARSE_DIRECTION_COLUMN;
}

/* Where a number goes that work finds out: to the program's pointer, or to `here` until the host has waited for it. */
struct mr_told {
    int here;
    int *to;
};

/* Before the work is submitted. A capture is refused if the number goes to the host. */
static inline cusparseStatus_t mr_told_begin(const struct mr_form *form, const struct mr_cusparse *sparse, int *pointer,
                                             struct mr_told *told)
{
    told->here = 0;
    told->to = mr_on_device(sparse) ? pointer : &told->here;
    return mr_on_device(sparse) ? CUSPARSE_STATUS_SUCCESS : mr_cusparse_wait(form, sparse);
}

/* Behind it. */
static inline cusparseStatus_t mr_told_end(const struct mr_form *form, const struct mr_cusparse *sparse, int *pointer,
                                           const struct mr_told *told)
{
    if (mr_on_device(sparse))
        return CUSPARSE_STATUS_SUCCESS;
    MR_STEP(mr_cusparse_wait(form, sparse));
    *pointer = told->here;
    return CUSPARSE_STATUS_SUCCESS;
}

#endif
