/* SPDX-License-Identifier: Apache-2.0 */
/* libcusolver: what its bodies share: handles, the checks of arguments, the way into the stream. Read this first.
 *
 * The library has two halves. The *dense* one (dense.h) is LAPACK under cuSOLVER's names: linear.c and refine.c
 * systems, orthogonal.c QR, singular.c and eigen.c decompositions; a *problem* is one of these, described by one record
 * whatever its types are called. The *sparse* one (sparse.h) factorises matrices in compressed rows by code of ours
 * (sparse_kernel.h), after an *order* (order.h) has been chosen that keeps the factors small; refactor.h has patterns
 * that are factorised again and again. An *info* is the number by which a problem says how it ended; the work writes it
 * to device memory.
 *
 * A body takes the handle (mr_solver_enter), checks its arguments (MR_CHECK), fills in a record and submits it with the
 * function that carries it out (libs/math/work.h). A factorisation is one part, whatever its size: LAPACK does it on
 * one thread. Batches are cut into members. */
#ifndef MR_CUSOLVER_SOLVER_H
#define MR_CUSOLVER_SOLVER_H

#include <limits.h>
#include <stdint.h>

#include "cusolver_impl.h"
#include "libs/cusolver/lapack.h"
#include "libs/math/letters.h"
#include "libs/math/work.h"

/* What a pointer that a program holds stands for. All begin with their kind. */
enum mr_solver_kind {
    MR_SOLVER_DENSE = 1,
    MR_SOLVER_PARAMS,
    MR_SOLVER_SYEVJ,
    MR_SOLVER_GESVDJ,
    MR_SOLVER_IRS_PARAMS,
    MR_SOLVER_IRS_INFOS,
    MR_SOLVER_SPARSE,
    MR_SOLVER_CSRQR,
    MR_SOLVER_STEPS, /* of the preview's functions: analyses and factors */
    MR_SOLVER_REFACTOR,
};

/* Behind a handle of the dense or the sparse part. Settings are changed without a lock: the manual asks programs not to
 * do so from two threads. */
struct mr_solver {
    enum mr_solver_kind kind;
    CUcontext context; /* current when the handle was made */
    CUstream stream;
    cusolverDeterministicMode_t deterministic; /* this one and what follows: kept for the program, and never used */
    cusolverMathMode_t math_mode;
    cudaEmulationStrategy_t strategy;
};

/* The object of the kind behind a pointer, or NULL. */
void *mr_solver_find(enum mr_solver_kind kind, const void *handle);
/* Ends it; the caller frees what is returned. */
void *mr_solver_end(enum mr_solver_kind kind, const void *handle);

/* A handle of the dense or the sparse part: NOT_INITIALIZED without a driver, a context or LAPACK. */
cusolverStatus_t mr_solver_create(const struct mr_form *form, enum mr_solver_kind kind, void **handle);
cusolverStatus_t mr_solver_destroy(const struct mr_form *form, enum mr_solver_kind kind, const void *handle);

/* The record of a handle in *solver, and a current context in the thread. NOT_INITIALIZED, with a line in the log, for
 * a handle that is not live. */
cusolverStatus_t mr_solver_enter(const struct mr_form *form, enum mr_solver_kind kind, const void *handle,
                                 struct mr_solver **solver) __attribute__((warn_unused_result));

/* Says in the log why a call is refused, and returns the status. */
cusolverStatus_t mr_solver_bad(const struct mr_form *form, cusolverStatus_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns INVALID_VALUE from a body unless the condition holds; the log names the condition. */
#define MR_CHECK(form, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) \
            return mr_solver_bad(form, CUSOLVER_STATUS_INVALID_VALUE, "%s does not hold", #condition); \
    } while (0)

/* Returns NOT_SUPPORTED from a body unless the size fits LAPACK. */
#define MR_FITS(form, size) \
    do { \
        if (__builtin_expect((size) > INT_MAX, 0)) \
            return mr_solver_bad(form, CUSOLVER_STATUS_NOT_SUPPORTED, "%s is beyond 31 bits", #size); \
    } while (0)

/* Enters, and returns from the body if that fails. */
#define MR_ENTER() \
    struct mr_solver *solver; \
    cusolverStatus_t entered = mr_solver_enter(form, MR_SOLVER_DENSE, handle, &solver); \
    if (entered != CUSOLVER_STATUS_SUCCESS) \
    return entered

/* The status of a call whose work the driver took or refused. */
cusolverStatus_t mr_solver_status(const struct mr_form *form, CUresult result);

/* Submits on the handle's stream. */
cusolverStatus_t mr_solver_submit(const struct mr_form *form, const struct mr_solver *solver, uint64_t parts,
                                  void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                  size_t size) __attribute__((warn_unused_result));

/* Waits for the stream, for a call that gives a result to the host. In a capture: an error, and the capture is
 * invalid. */
cusolverStatus_t mr_solver_wait(const struct mr_form *form, const struct mr_solver *solver)
    __attribute__((warn_unused_result));

static inline bool mr_is_jobz(cusolverEigMode_t jobz)
{
    return jobz == CUSOLVER_EIG_MODE_NOVECTOR || jobz == CUSOLVER_EIG_MODE_VECTOR;
}

static inline char mr_letter_of_jobz(cusolverEigMode_t jobz)
{
    return jobz == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}

#endif
