/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse systems on the thread that runs the part: QR, Cholesky, LU, inverse iteration. No CPU
 * library does this: the parts of SuiteSparse that solve as cuSOLVER does are under the GPL (SPQR, CHOLMOD's fast
 * half), or have double alone, and this takes only some hundred lines. Everything is computed in double. */
#ifndef MR_CUSOLVER_SPARSE_KERNEL_H
#define MR_CUSOLVER_SPARSE_KERNEL_H

#include <stdbool.h>

#include "libs/cusolver/order.h"

enum mr_sparse_method { MR_SPARSE_QR, MR_SPARSE_CHOLESKY, MR_SPARSE_LU };

/* Solves A x = b, or for a tall matrix the least squares. *singular: the first pivot that is not larger than `tol`,
 * counted from 0, or -1. `ordered`: the rows and columns are taken in the order of mr_sparse_order first. False when
 * memory is short; x is not written then. */
bool mr_sparse_solve(const struct mr_csr *a, enum mr_sparse_method method, bool ordered, double tol, const void *b,
                     void *x, int *singular);

/* The eigenvalue nearest to *shift and its vector, from the vector x0, by at most `most` steps of inverse iteration,
 * until the value changes by less than `tol` of itself. False when memory is short. */
bool mr_sparse_eigen(const struct mr_csr *a, const void *shift, const void *x0, int most, double tol, void *value,
                     void *x);

/* ---- factors that are kept for right sides that come later ---- */

struct mr_sparse_factor;

/* A deep copy of the matrix, from whose diagonal *shift (an element; NULL: nothing) is taken. NULL when memory is
 * short. A factor is used by one thread at a time. */
struct mr_sparse_factor *mr_sparse_factor_new(const struct mr_csr *a, enum mr_sparse_method method, bool ordered,
                                              const void *shift) __attribute__((warn_unused_result));

/* Factorises it. LU takes the diagonal's element for the pivot if it is not smaller than `threshold` times the largest
 * of its column. False when memory is short. */
bool mr_sparse_factorise(struct mr_sparse_factor *f, double threshold) __attribute__((warn_unused_result));
void mr_sparse_factor_end(struct mr_sparse_factor *f); /* NULL is allowed */

/* What follows wants a factor that is factorised. */

/* As *singular above. */
int mr_sparse_factor_singular(const struct mr_sparse_factor *f, double tol);

/* x, n elements, from b, m elements. NaN where Cholesky's factorisation met a pivot that is not positive. False when
 * memory is short. */
bool mr_sparse_factor_solve(const struct mr_sparse_factor *f, const void *b, void *x)
    __attribute__((warn_unused_result));

/* Of Cholesky: L's diagonal, n real elements; 0 from a pivot on that is not positive. */
void mr_sparse_factor_diagonal(const struct mr_sparse_factor *f, void *diagonal);

/* Of LU, P A Q = L U: how many elements the factors have, L's ones among them; a factor in compressed rows; and which
 * row and column of A stand at each place. Triangle: false when memory is short. */
void mr_sparse_factor_counts(const struct mr_sparse_factor *f, int *lower, int *upper);
bool mr_sparse_factor_triangle(const struct mr_sparse_factor *f, bool upper, int base, int *rows, int *columns,
                               void *values) __attribute__((warn_unused_result));
void mr_sparse_factor_orders(const struct mr_sparse_factor *f, int *p, int *q);

#endif
