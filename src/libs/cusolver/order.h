/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of rows and columns that keep the factors of a sparse matrix small. Each works on the pattern of A + A^T of a
 * square matrix, fills p so that p[i] is the row that becomes the i-th, and returns false when memory is short. */
#ifndef MR_CUSOLVER_ORDER_H
#define MR_CUSOLVER_ORDER_H

#include <library_types.h>
#include <stdbool.h>

/* A square or tall matrix in compressed rows, whose columns may be in any order; `base` is 0 or 1. */
struct mr_csr {
    cudaDataType_t type; /* CUDA_R_32F, R_64F, C_32F or C_64F: of all arrays of elements below */
    int m, n, base;
    const int *rows, *columns;
    const void *values;
};

/* Reverse Cuthill and McKee's: a narrow band. */
bool mr_sparse_order(const struct mr_csr *a, int *p);

/* Approximate minimum degree (Amestoy, Davis and Duff): the row with the fewest neighbours goes next. */
bool mr_sparse_minimum_degree(const struct mr_csr *a, int *p);

/* Nested dissection (George): a set of rows that parts the others in two goes last, and so on in each part. */
bool mr_sparse_dissection(const struct mr_csr *a, int *p);

#endif
