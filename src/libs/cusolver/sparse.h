/* SPDX-License-Identifier: Apache-2.0 */
/* What the bodies of libcusolver's sparse part share. */
#ifndef MR_CUSOLVER_SPARSE_H
#define MR_CUSOLVER_SPARSE_H

#include "libs/cusolver/solver.h"
#include "libs/cusolver/sparse_kernel.h"

/* Checks and describes a square matrix, or a tall one whose `n` the caller sets. The descriptor is libcusparse's. */
cusolverStatus_t mr_sparse_describe(const struct mr_form *form, int64_t m, int64_t nnz, const cusparseMatDescr_t descr,
                                    const void *values, const int *rows, const int *columns, struct mr_csr *a)
    __attribute__((warn_unused_result));

#endif
