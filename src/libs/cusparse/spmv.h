/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times dense vector: y = alpha * op(A) * x + beta * y. */
#ifndef MR_CUSPARSE_SPMV_H
#define MR_CUSPARSE_SPMV_H

#include "libs/cusparse/sparse.h"

struct mr_spmv {
    cusparseOperation_t op;
    const struct cusparseSpMatDescr *a;
    const void *x;
    void *y;
    cudaDataType_t x_type, y_type, compute;
    struct mr_scalar alpha, beta; /* of the compute type */
};

/* Submits the product. `buffer` is as large as cusparseSpMV_bufferSize says, or NULL: then it may be one part. */
cusparseStatus_t mr_cusparse_multiply(const struct mr_form *form, const struct mr_cusparse *sparse,
                                      const struct mr_spmv *call, void *buffer) __attribute__((warn_unused_result));

#endif
