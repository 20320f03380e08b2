/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times dense matrix: C = alpha * op(A) * op(B) + beta * C, for each member of C's batch. */
#ifndef MR_CUSPARSE_SPMM_H
#define MR_CUSPARSE_SPMM_H

#include "libs/cusparse/sparse.h"

struct mr_spmm {
    cusparseOperation_t op_a, op_b;
    const struct cusparseSpMatDescr *a;
    const struct cusparseDnMatDescr *b, *c;
    cudaDataType_t compute;
    struct mr_scalar alpha, beta; /* of the compute type */
};

/* Bytes of the buffer. */
size_t mr_cusparse_spmm_bytes(const struct mr_spmm *call);

/* Submits the product. `buffer` is that large, or NULL: then it may be one part. */
cusparseStatus_t mr_cusparse_spmm(const struct mr_form *form, const struct mr_cusparse *sparse,
                                  const struct mr_spmm *call, void *buffer) __attribute__((warn_unused_result));

#endif
