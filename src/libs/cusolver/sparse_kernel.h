/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse systems on the thread that runs the part: QR, Cholesky, inverse iteration; an order of rows that keeps factors
 * small. No CPU library does this: the parts of SuiteSparse that solve as cuSOLVER does are under the GPL (SPQR,
 * CHOLMOD's fast half), or have double alone, and this takes only some hundred lines. Everything is computed in
 * double. */
#ifndef MR_CUSOLVER_SPARSE_KERNEL_H
#define MR_CUSOLVER_SPARSE_KERNEL_H

#include <library_types.h>
#include <stdbool.h>

/* A square or tall matrix in compressed rows, whose columns may be in any order; `base` is 0 or 1. */
struct mr_csr {
    cudaDataType_t type; /* CUDA_R_32F, R_64F, C_32F or C_64F: of all arrays of elements below */
    int m, n, base;
    const int *rows, *columns;
    const void *values;
};

enum mr_sparse_method { MR_SPARSE_QR, MR_SPARSE_CHOLESKY };

/* Solves A x = b, or for a tall matrix the least squares. *singular: the first pivot that is not larger than `tol`,
 * counted from 0, or -1. `ordered`: the rows and columns are taken in the order of mr_sparse_order first. False when
 * memory is short; x is not written then. */
bool mr_sparse_solve(const struct mr_csr *a, enum mr_sparse_method method, bool ordered, double tol, const void *b,
                     void *x, int *singular);

/* The eigenvalue nearest to *shift and its vector, from the vector x0, by at most `most` steps of inverse iteration,
 * until the value changes by less than `tol` of itself. False when memory is short. */
bool mr_sparse_eigen(const struct mr_csr *a, const void *shift, const void *x0, int most, double tol, void *value,
                     void *x);

/* Reverse Cuthill and McKee's order of the pattern of A + A^T: p[i] is the row that becomes the i-th. False when memory
 * is short. */
bool mr_sparse_order(const struct mr_csr *a, int *p);

#endif
