/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse systems step by step, the header of cuSOLVER's preview: a matrix is analysed, factorised by QR, Cholesky or
 * LU, its pivots are asked for, and then right sides are solved for, as many as a program likes.
 *
 * What a program holds in between is an *info*. The functions `…Host` get host memory and compute on the calling
 * thread. The others get device memory and compute in stream order; what is queued has references to the info's state,
 * so an info may be destroyed while its work waits. The factorisations allocate as they go: work areas stay unused, and
 * the analysis only checks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libs/cusolver/solver.h"
#include "libs/cusolver/sparse.h"
#include "libs/cusolver/sparse_kernel.h"
#include "libs/math/handles.h"

enum stage { CREATED, ANALYSED, SET_UP, FACTORISED };

/* The factor is replaced in stream order. The lock is for programs that use an info in two streams: what they get then
 * is one factor or the other. */
struct state {
    _Atomic uint32_t references;
    pthread_mutex_t lock;
    struct mr_sparse_factor *factor;
};

struct info {
    enum mr_solver_kind kind;
    enum mr_sparse_method method;
    bool on_host;
    enum stage stage; /* how far the program has asked */
    int m, n;
    struct state *state;
};

static void drop(struct state *state)
{
    if (!state || atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) != 1)
        return;
    mr_sparse_factor_end(state->factor);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static cusolverStatus_t create(const struct mr_form *form, enum mr_solver_kind kind, enum mr_sparse_method method,
                               bool on_host, void **made)
{
    MR_CHECK(form, made);
    struct info *info = calloc(1, sizeof *info);
    struct state *state = calloc(1, sizeof *state);
    if (info && state) {
        *info = (struct info){.kind = kind, .method = method, .on_host = on_host, .state = state};
        atomic_init(&state->references, 1);
        pthread_mutex_init(&state->lock, NULL);
        *made = mr_math_handle_new(info);
        if (*made)
            return CUSOLVER_STATUS_SUCCESS;
    }
    free(info);
    free(state);
    return CUSOLVER_STATUS_ALLOC_FAILED;
}

static cusolverStatus_t destroy(enum mr_solver_kind kind, const void *handle)
{
    struct info *info = mr_solver_end(kind, handle);
    if (info)
        drop(info->state);
    free(info);
    return CUSOLVER_STATUS_SUCCESS;
}

/* The info behind a handle, if it is of the function's sort and has come as far as `stage`. */
static cusolverStatus_t find(const struct mr_form *form, enum mr_solver_kind kind, enum mr_sparse_method method,
                             bool on_host, const void *handle, enum stage stage, struct info **info)
{
    *info = mr_solver_find(kind, handle);
    if (!*info || (*info)->method != method || (*info)->on_host != on_host)
        return mr_solver_bad(form, CUSOLVER_STATUS_INVALID_VALUE, "info is not a live one for this function");
    if ((*info)->stage < stage)
        return mr_solver_bad(form, CUSOLVER_STATUS_INVALID_VALUE, "a step before this one is missing: %s",
                             (*info)->stage == CREATED    ? "the analysis"
                             : (*info)->stage == ANALYSED ? "the set-up or the factorisation"
                                                          : "the factorisation");
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- the work ---- */

enum action { LOAD, FACTORISE, LOAD_AND_FACTORISE, SOLVE };

struct step {
    const char *function;
    struct state *state;
    enum action action;
    enum mr_sparse_method method;
    struct mr_csr a;
    double threshold;
    bool is_shifted;
    _Alignas(16) unsigned char shift[16];
    const void *b;
    void *x;
};

static bool carry_out(const struct step *s)
{
    bool fine = true;
    pthread_mutex_lock(&s->state->lock);
    if (s->action == LOAD || s->action == LOAD_AND_FACTORISE) {
        mr_sparse_factor_end(s->state->factor);
        s->state->factor = mr_sparse_factor_new(&s->a, s->method, false, s->is_shifted ? s->shift : NULL);
        fine = s->state->factor;
    }
    if (fine && (s->action == FACTORISE || s->action == LOAD_AND_FACTORISE))
        fine = mr_sparse_factorise(s->state->factor, s->threshold);
    if (fine && s->x)
        fine = mr_sparse_factor_solve(s->state->factor, s->b, s->x);
    pthread_mutex_unlock(&s->state->lock);
    return fine;
}

static void run(void *record, uint64_t first, uint64_t end)
{
    const struct step *s = record;
    (void)first;
    (void)end;
    if (!carry_out(s))
        mr_math_short_of_memory(s->function);
}

static void release(void *record)
{
    struct step *s = record;
    drop(s->state);
    free(s);
}

static cusolverStatus_t submit(const struct mr_form *form, const struct mr_solver *solver, const struct info *info,
                               struct step *step)
{
    step->function = form->name;
    step->state = info->state;
    step->method = info->method;
    if (info->on_host)
        return carry_out(step) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
    struct step *record = malloc(sizeof *record);
    if (!record)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    *record = *step;
    atomic_fetch_add_explicit(&info->state->references, 1, memory_order_relaxed);
    CUresult result = mr_math_submit_own(solver->stream, 1, run, release, record);
    if (result != CUDA_SUCCESS)
        release(record);
    return mr_solver_status(form, result);
}

#define ENTER(stage) \
    struct mr_solver *solver; \
    struct info *info; \
    cusolverStatus_t entered = mr_solver_enter(form, MR_SOLVER_SPARSE, handle, &solver); \
    if (entered == CUSOLVER_STATUS_SUCCESS) \
        entered = find(form, kind, method, on_host, held, stage, &info); \
    if (entered != CUSOLVER_STATUS_SUCCESS) \
    return entered

/* A matrix that is analysed, or has the analysis's size. */
static cusolverStatus_t check_matrix(const struct mr_form *form, const struct info *info, int64_t m, int64_t n,
                                     int64_t nnz, const cusparseMatDescr_t descr, const void *values, const int *rows,
                                     const int *columns, struct mr_csr *a)
{
    cusolverStatus_t status = mr_sparse_describe(form, m, nnz, descr, values, rows, columns, a);
    if (status)
        return status;
    MR_CHECK(form, n >= 0 && m >= n);
    MR_CHECK(form, info->stage == CREATED || (info->m == m && info->n == n));
    a->n = (int)n;
    return CUSOLVER_STATUS_SUCCESS;
}

/* What all functions of a kind of info have in common: `at` says which. */
#define AT enum mr_solver_kind kind, enum mr_sparse_method method, bool on_host

static cusolverStatus_t analyse(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t m, int64_t n,
                                int64_t nnz, const cusparseMatDescr_t descr, const int *rows, const int *columns,
                                const void *held)
{
    ENTER(CREATED);
    struct mr_csr a;
    info->stage = CREATED;
    cusolverStatus_t status = check_matrix(form, info, m, n, nnz, descr, NULL, rows, columns, &a);
    if (status)
        return status;
    info->m = (int)m;
    info->n = (int)n;
    info->stage = ANALYSED;
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t tell_sizes(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t m, int64_t n,
                                   int64_t nnz, const cusparseMatDescr_t descr, const void *values, const int *rows,
                                   const int *columns, const void *held, size_t *internal, size_t *work)
{
    ENTER(ANALYSED);
    struct mr_csr a;
    cusolverStatus_t status = check_matrix(form, info, m, n, nnz, descr, values, rows, columns, &a);
    if (status)
        return status;
    MR_CHECK(form, internal && work);
    *internal = 0;
    *work = 16; /* none is needed; programs want one that is not empty */
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t factorise(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t n, int64_t nnz,
                                  const cusparseMatDescr_t descr, const void *values, const int *rows,
                                  const int *columns, const void *held, double threshold)
{
    ENTER(ANALYSED);
    struct step step = {.action = LOAD_AND_FACTORISE, .threshold = threshold};
    cusolverStatus_t status = check_matrix(form, info, n, n, nnz, descr, values, rows, columns, &step.a);
    if (status)
        return status;
    MR_CHECK(form, values || nnz == 0);
    MR_CHECK(form, threshold >= 0 && threshold <= 1);
    status = submit(form, solver, info, &step);
    if (status == CUSOLVER_STATUS_SUCCESS)
        info->stage = FACTORISED;
    return status;
}

static cusolverStatus_t tell_pivot(const struct mr_form *form, AT, cusolverSpHandle_t handle, const void *held,
                                   double tol, int *position)
{
    ENTER(FACTORISED);
    MR_CHECK(form, position && tol >= 0);
    cusolverStatus_t status = on_host ? CUSOLVER_STATUS_SUCCESS : mr_solver_wait(form, solver);
    if (status)
        return status;
    pthread_mutex_lock(&info->state->lock);
    *position = info->state->factor ? mr_sparse_factor_singular(info->state->factor, tol) : -1;
    pthread_mutex_unlock(&info->state->lock);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t solve(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t m, int64_t n,
                              const void *b, void *x, const void *held)
{
    ENTER(FACTORISED);
    MR_CHECK(form, m == info->m && n == info->n);
    if (m == 0 || n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    MR_CHECK(form, b && x);
    struct step step = {.action = SOLVE, .b = b, .x = x};
    return submit(form, solver, info, &step);
}

/* ---- Cholesky and LU ---- */

#define INFO(name, host, kind, method, at) \
    cusolverStatus_t mr_cusolver_SpCreate##name##Info##host(const struct mr_form *form, at *info) \
    { \
        return create(form, kind, method, sizeof #host > 1, (void **)info); \
    } \
    cusolverStatus_t mr_cusolver_SpDestroy##name##Info##host(const struct mr_form *form, at info) \
    { \
        (void)form; \
        return destroy(kind, info); \
    }

#define SQUARE(name, host, kind, method, at) \
    cusolverStatus_t mr_cusolver_SpX##name##Analysis##host(const struct mr_form *form, cusolverSpHandle_t handle, \
                                                           int64_t n, int64_t nnz, const cusparseMatDescr_t descr, \
                                                           const int *rows, const int *columns, at info) \
    { \
        return analyse(form, kind, method, sizeof #host > 1, handle, n, n, nnz, descr, rows, columns, info); \
    } \
    cusolverStatus_t mr_cusolver_Sp##name##BufferInfo##host( \
        const struct mr_form *form, cusolverSpHandle_t handle, int64_t n, int64_t nnz, const cusparseMatDescr_t descr, \
        const void *values, const int *rows, const int *columns, at info, size_t *internal, size_t *work) \
    { \
        return tell_sizes(form, kind, method, sizeof #host > 1, handle, n, n, nnz, descr, values, rows, columns, info, \
                          internal, work); \
    } \
    cusolverStatus_t mr_cusolver_Sp##name##Solve##host(const struct mr_form *form, cusolverSpHandle_t handle, \
                                                       int64_t n, const void *b, void *x, at info, void *pBuffer) \
    { \
        (void)pBuffer; \
        return solve(form, kind, method, sizeof #host > 1, handle, n, n, b, x, info); \
    }

#define PIVOT(name, host, kind, method, at) \
    cusolverStatus_t mr_cusolver_Sp##name##ZeroPivot##host(const struct mr_form *form, cusolverSpHandle_t handle, \
                                                           at info, double tol, int *position) \
    { \
        return tell_pivot(form, kind, method, sizeof #host > 1, handle, info, tol, position); \
    }

#define CHOLESKY(host, at) \
    INFO(Csrchol, host, MR_SOLVER_STEPS, MR_SPARSE_CHOLESKY, at) \
    SQUARE(csrchol, host, MR_SOLVER_STEPS, MR_SPARSE_CHOLESKY, at) \
    PIVOT(csrchol, host, MR_SOLVER_STEPS, MR_SPARSE_CHOLESKY, at) \
    cusolverStatus_t mr_cusolver_SpcsrcholFactor##host( \
        const struct mr_form *form, cusolverSpHandle_t handle, int64_t n, int64_t nnz, const cusparseMatDescr_t descr, \
        const void *values, const int *rows, const int *columns, at info, void *pBuffer) \
    { \
        (void)pBuffer; \
        return factorise(form, MR_SOLVER_STEPS, MR_SPARSE_CHOLESKY, sizeof #host > 1, handle, n, nnz, descr, values, \
                         rows, columns, info, 1); \
    }

CHOLESKY(Host, csrcholInfoHost_t)
CHOLESKY(, csrcholInfo_t)

INFO(Csrlu, Host, MR_SOLVER_STEPS, MR_SPARSE_LU, csrluInfoHost_t)
SQUARE(csrlu, Host, MR_SOLVER_STEPS, MR_SPARSE_LU, csrluInfoHost_t)
PIVOT(csrlu, Host, MR_SOLVER_STEPS, MR_SPARSE_LU, csrluInfoHost_t)

cusolverStatus_t mr_cusolver_SpcsrluFactorHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t n,
                                               int64_t nnz, const cusparseMatDescr_t descr, const void *values,
                                               const int *rows, const int *columns, csrluInfoHost_t info,
                                               double pivot_threshold, void *pBuffer)
{
    (void)pBuffer;
    return factorise(form, MR_SOLVER_STEPS, MR_SPARSE_LU, true, handle, n, nnz, descr, values, rows, columns, info,
                     pivot_threshold);
}

/* The diagonal of L, in device memory. */
cusolverStatus_t mr_cusolver_SpcsrcholDiag(const struct mr_form *form, cusolverSpHandle_t handle, csrcholInfo_t held,
                                           void *diag)
{
    const enum mr_solver_kind kind = MR_SOLVER_STEPS;
    const enum mr_sparse_method method = MR_SPARSE_CHOLESKY;
    const bool on_host = false;
    ENTER(FACTORISED);
    MR_CHECK(form, diag || info->n == 0);
    cusolverStatus_t status = mr_solver_wait(form, solver);
    if (status)
        return status;
    pthread_mutex_lock(&info->state->lock);
    if (info->state->factor)
        mr_sparse_factor_diagonal(info->state->factor, diag);
    pthread_mutex_unlock(&info->state->lock);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- LU's factors ---- */

static cusolverStatus_t find_lu(const struct mr_form *form, cusolverSpHandle_t handle, const void *held,
                                struct info **info)
{
    struct mr_solver *solver;
    cusolverStatus_t status = mr_solver_enter(form, MR_SOLVER_SPARSE, handle, &solver);
    return status ? status : find(form, MR_SOLVER_STEPS, MR_SPARSE_LU, true, held, FACTORISED, info);
}

cusolverStatus_t mr_cusolver_SpXcsrluNnzHost(const struct mr_form *form, cusolverSpHandle_t handle, int *nnzLRef,
                                             int *nnzURef, csrluInfoHost_t held)
{
    struct info *info;
    cusolverStatus_t status = find_lu(form, handle, held, &info);
    if (status)
        return status;
    MR_CHECK(form, nnzLRef && nnzURef);
    mr_sparse_factor_counts(info->state->factor, nnzLRef, nnzURef);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_SpcsrluExtractHost(const struct mr_form *form, cusolverSpHandle_t handle, int *P, int *Q,
                                                const cusparseMatDescr_t descrL, void *csrValL, int *csrRowPtrL,
                                                int *csrColIndL, const cusparseMatDescr_t descrU, void *csrValU,
                                                int *csrRowPtrU, int *csrColIndU, csrluInfoHost_t held, void *pBuffer)
{
    struct info *info;
    struct mr_csr l, u;
    cusolverStatus_t status = find_lu(form, handle, held, &info);
    (void)pBuffer;
    if (status == CUSOLVER_STATUS_SUCCESS)
        status = mr_sparse_describe(form, info->n, 0, descrL, csrValL, csrRowPtrL, csrColIndL, &l);
    if (status == CUSOLVER_STATUS_SUCCESS)
        status = mr_sparse_describe(form, info->n, 0, descrU, csrValU, csrRowPtrU, csrColIndU, &u);
    if (status)
        return status;
    MR_CHECK(form, P && Q && (info->n == 0 || (csrValL && csrValU)));
    bool fine = mr_sparse_factor_triangle(info->state->factor, false, l.base, csrRowPtrL, csrColIndL, csrValL) &&
                mr_sparse_factor_triangle(info->state->factor, true, u.base, csrRowPtrU, csrColIndU, csrValU);
    if (fine)
        mr_sparse_factor_orders(info->state->factor, P, Q);
    return fine ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

/* ---- QR, whose matrix is given when it is set up, and may be tall ---- */

static cusolverStatus_t set_up(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t m, int64_t n,
                               int64_t nnz, const cusparseMatDescr_t descr, const void *values, const int *rows,
                               const int *columns, const void *mu, const void *held)
{
    ENTER(ANALYSED);
    struct step step = {.action = LOAD, .is_shifted = true};
    cusolverStatus_t status = check_matrix(form, info, m, n, nnz, descr, values, rows, columns, &step.a);
    if (status)
        return status;
    MR_CHECK(form, values || nnz == 0);
    memcpy(step.shift, mu, mr_size_of(mr_type_of(form)));
    status = submit(form, solver, info, &step);
    if (status == CUSOLVER_STATUS_SUCCESS)
        info->stage = SET_UP;
    return status;
}

static cusolverStatus_t factorise_set_up(const struct mr_form *form, AT, cusolverSpHandle_t handle, int64_t m,
                                         int64_t n, const void *b, void *x, const void *held)
{
    ENTER(SET_UP);
    MR_CHECK(form, m == info->m && n == info->n);
    struct step step = {.action = FACTORISE, .b = b, .x = b ? x : NULL};
    cusolverStatus_t status = submit(form, solver, info, &step);
    if (status == CUSOLVER_STATUS_SUCCESS)
        info->stage = FACTORISED;
    return status;
}

#define QR(host, kind, at) \
    INFO(Csrqr, host, kind, MR_SPARSE_QR, at) \
    PIVOT(csrqr, host, kind, MR_SPARSE_QR, at) \
    cusolverStatus_t mr_cusolver_SpXcsrqrAnalysis##host( \
        const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, int64_t n, int64_t nnz, \
        const cusparseMatDescr_t descr, const int *rows, const int *columns, at info) \
    { \
        return analyse(form, kind, MR_SPARSE_QR, sizeof #host > 1, handle, m, n, nnz, descr, rows, columns, info); \
    } \
    cusolverStatus_t mr_cusolver_SpcsrqrBufferInfo##host( \
        const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, int64_t n, int64_t nnz, \
        const cusparseMatDescr_t descr, const void *values, const int *rows, const int *columns, at info, \
        size_t *internal, size_t *work) \
    { \
        return tell_sizes(form, kind, MR_SPARSE_QR, sizeof #host > 1, handle, m, n, nnz, descr, values, rows, columns, \
                          info, internal, work); \
    } \
    cusolverStatus_t mr_cusolver_SpcsrqrSetup##host(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, \
                                                    int64_t n, int64_t nnz, const cusparseMatDescr_t descr, \
                                                    const void *values, const int *rows, const int *columns, \
                                                    const void *mu, at info) \
    { \
        return set_up(form, kind, MR_SPARSE_QR, sizeof #host > 1, handle, m, n, nnz, descr, values, rows, columns, mu, \
                      info); \
    } \
    cusolverStatus_t mr_cusolver_SpcsrqrFactor##host(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, \
                                                     int64_t n, int64_t nnz, void *b, void *x, at info, void *pBuffer) \
    { \
        (void)pBuffer; \
        (void)nnz; \
        return factorise_set_up(form, kind, MR_SPARSE_QR, sizeof #host > 1, handle, m, n, b, x, info); \
    } \
    cusolverStatus_t mr_cusolver_SpcsrqrSolve##host(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, \
                                                    int64_t n, void *b, void *x, at info, void *pBuffer) \
    { \
        (void)pBuffer; \
        return solve(form, kind, MR_SPARSE_QR, sizeof #host > 1, handle, m, n, b, x, info); \
    }

QR(Host, MR_SOLVER_STEPS, csrqrInfoHost_t)
QR(, MR_SOLVER_CSRQR, csrqrInfo_t)
