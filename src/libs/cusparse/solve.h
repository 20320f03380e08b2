/* SPDX-License-Identifier: Apache-2.0 */
/* Triangular systems, and the plans of SpSV and SpSM: a plan has the analysed matrix, whose values are a copy in the
 * program's buffer. */
#ifndef MR_CUSPARSE_SOLVE_H
#define MR_CUSPARSE_SOLVE_H

#include "libs/cusparse/sparse.h"

struct mr_plan {
    struct cusparseSpMatDescr a;
    bool is_analysed;
};

struct cusparseSpSVDescr {
    enum mr_kind kind;
    struct mr_plan plan;
};

struct cusparseSpSMDescr {
    enum mr_kind kind;
    struct mr_plan plan;
};
_Static_assert(sizeof(struct cusparseSpSVDescr) <= MR_DESCRIPTION_SIZE, "a plan fits a description");

struct mr_solve {
    struct cusparseSpMatDescr a; /* its fill mode and diagonal type count */
    cusparseOperation_t op_a, op_b;
    struct cusparseDnMatDescr b, c; /* of the matrix's type */
    struct mr_scalar alpha; /* of that type */
};

/* Bytes of the buffer that an analysis needs. */
size_t mr_cusparse_plan_bytes(const struct cusparseSpMatDescr *a);

/* Submits the copying of the values to `buffer`, and fills in the plan. */
cusparseStatus_t mr_cusparse_plan(const struct mr_form *form, const struct mr_cusparse *sparse, struct mr_plan *plan,
                                  const struct cusparseSpMatDescr *a, void *buffer) __attribute__((warn_unused_result));

/* Submits an update: all values in the matrix's order, or those of the diagonal. */
cusparseStatus_t mr_cusparse_replan(const struct mr_form *form, const struct mr_cusparse *sparse,
                                    const struct mr_plan *plan, const void *values, bool is_diagonal)
    __attribute__((warn_unused_result));

/* Submits op(A) * C = alpha * op(B). */
cusparseStatus_t mr_cusparse_solve(const struct mr_form *form, const struct mr_cusparse *sparse,
                                   const struct mr_solve *call) __attribute__((warn_unused_result));

#endif
