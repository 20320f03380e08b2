/* SPDX-License-Identifier: Apache-2.0 */
/* The words of spec/math for cuSOLVER's objects. Handles may be dead, and then stand for nothing. */
#ifndef MR_CUSOLVER_TOUCH_H
#define MR_CUSOLVER_TOUCH_H

#include "libs/cusolver/refactor.h"
#include "libs/cusolver/solver.h"
#include "libs/math/touch.h"

/* n columns of m elements, of the main type of a solver with refinement. */
void mr_touch_main(const char *function, unsigned how, const void *at, const void *params, int64_t m, int64_t n,
                   int64_t ld);

/* The order of the matrices that are refactored, and how many there are. */
static inline int64_t mr_touch_order(cusolverRfHandle_t handle)
{
    const struct mr_refactor *r = mr_solver_find(MR_SOLVER_REFACTOR, handle);
    return r ? r->n : 0;
}

static inline int64_t mr_touch_count(cusolverRfHandle_t handle)
{
    const struct mr_refactor *r = mr_solver_find(MR_SOLVER_REFACTOR, handle);
    return r ? r->members : 0;
}

/* The factors in device memory, which a program may ask for. */
static inline void mr_touch_bundle(const char *function, unsigned how, cusolverRfHandle_t handle)
{
    const struct mr_refactor *r = mr_solver_find(MR_SOLVER_REFACTOR, handle);
    if (r)
        mr_touch_bytes(function, how, r->values, (size_t)r->nnz * (size_t)r->members * sizeof *r->values);
}

/* Matrices by an array of pointers in host memory. */
static inline void mr_touch_each(const char *function, unsigned how, double *const *at, int64_t m, int64_t n,
                                 int64_t ld, int64_t count)
{
    for (int64_t i = 0; at && i < count; i++)
        (void)mr_tell_matrix(function, at[i], m, n, ld, sizeof **at, how);
}

#endif
