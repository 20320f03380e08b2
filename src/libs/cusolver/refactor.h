/* SPDX-License-Identifier: Apache-2.0 */
/* cusolverRf: one pattern is factorised again and again with other values. A' = L U, A'(i, j) = A(P(i), Q(j)), without
 * exchanges: the program has chosen P and Q, and gives the pattern of L and U. Everything is double.
 *
 * The *bundle* is both factors in one matrix in compressed rows, sorted, with each row's diagonal; of the two diagonals
 * it has the one that is not all ones. A *member* is one of a batch of matrices with the same pattern: each has values
 * of A and of the bundle. refactor.c has the handle and the calls, refactor_kernel.c the pattern and the arithmetic. */
#ifndef MR_CUSOLVER_REFACTOR_H
#define MR_CUSOLVER_REFACTOR_H

#include <stdbool.h>

#include "libs/cusolver/solver.h"

struct mr_refactor {
    enum mr_solver_kind kind;
    CUcontext context;
    cusolverRfMatrixFormat_t format;
    cusolverRfUnitDiagonal_t unit;
    cusolverRfFactorization_t factor_alg;
    cusolverRfTriangularSolve_t solve_alg;
    cusolverRfResetValuesFastMode_t fast;
    double zero, boost; /* pivots below the one become the other */
    int members, n, nnz_a, nnz; /* nnz: of the bundle; members is 0 before the set-up */
    bool is_analyzed;
    int *rows, *columns; /* the bundle's, in device memory */
    double *values; /* nnz for each member, in device memory */
    int *diagonal, *place; /* where a row's diagonal is; where an element of A goes */
    int *p, *q;
    double *a; /* nnz_a for each member */
    int *pivot, *boosted; /* of each member: the first pivot that is 0, or -1; whether one was replaced */
};

/* A factor or a matrix as a program gives it: by rows, or by columns (CSC). */
struct mr_refactor_part {
    int nnz;
    const int *starts, *inner;
    const double *values;
};

/* Whether the starts, indices and orders are those of matrices of order n. */
bool mr_refactor_is_part(int n, const struct mr_refactor_part *part);
bool mr_refactor_is_order(int n, const int *order);

/* Fills the pattern and the factors' values in, from what the program gives; the record has n, format, unit, p, q and
 * the counts, and no memory yet. SUCCESS, ALLOC_FAILED, or INVALID_VALUE if A has an element that the factors have not.
 * The caller ends the record's memory in any case. */
cusolverStatus_t mr_refactor_build(struct mr_refactor *r, const struct mr_refactor_part *a,
                                   const struct mr_refactor_part *l, const struct mr_refactor_part *u);

/* Frees what build allocated. */
void mr_refactor_clear(struct mr_refactor *r);

/* Factorises a member. `row` is memory for n numbers, `mark` for n that are -1 before. */
void mr_refactor_factorise(struct mr_refactor *r, int member, double *row, int *mark);

/* Solves for one right side in place; `row` is memory for n numbers. */
void mr_refactor_solve(const struct mr_refactor *r, int member, const int *p, const int *q, double *x, double *row);

/* Whether U's diagonal is all ones, and L's in the bundle. */
static inline bool mr_refactor_has_unit_u(const struct mr_refactor *r)
{
    return r->unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_U || r->unit == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U;
}

#endif
