/* SPDX-License-Identifier: Apache-2.0 */
/* Large factorisations of real matrices on several threads. */
#ifndef MR_CUSOLVER_BLOCKED_H
#define MR_CUSOLVER_BLOCKED_H

#include "libs/cusolver/dense.h"

enum mr_blocked_kind { MR_BLOCKED_LU, MR_BLOCKED_CHOLESKY, MR_BLOCKED_QR };

/* Whether a checked problem is large enough to be cut. */
bool mr_is_blocked(const struct mr_dense *r, enum mr_blocked_kind kind);

/* Submits it, as mr_dense_submit would. */
cusolverStatus_t mr_blocked_submit(const struct mr_form *form, const struct mr_solver *solver, const struct mr_dense *r,
                                   enum mr_blocked_kind kind) __attribute__((warn_unused_result));

#endif
