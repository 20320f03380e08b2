/* SPDX-License-Identifier: Apache-2.0 */
/* cusolverRf: the handle, its settings and its calls. A single matrix is a batch of one. The functions get no stream:
 * each waits for the legacy default stream, in which the program has made its device memory ready, and its work is done
 * when it returns. */
#include "libs/cusolver/refactor.h"

#include <stdlib.h>
#include <string.h>

#include "libs/math/driver.h"
#include "libs/math/handles.h"

#define ENTER(condition) \
    struct mr_refactor *r = mr_solver_find(MR_SOLVER_REFACTOR, handle); \
    if (!r || !mr_math_context(r->context)) \
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle); \
    MR_CHECK(form, condition)

cusolverStatus_t mr_cusolver_RfCreate(const struct mr_form *form, cusolverRfHandle_t *handle)
{
    MR_CHECK(form, handle);
    CUcontext context;
    if (!mr_math_driver_open() || !(context = mr_math_context(NULL)))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct mr_refactor *r = calloc(1, sizeof *r);
    if (!r)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    r->kind = MR_SOLVER_REFACTOR;
    r->context = context;
    r->solve_alg = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
    *handle = mr_math_handle_new(r);
    if (*handle)
        return CUSOLVER_STATUS_SUCCESS;
    free(r);
    return mr_solver_bad(form, CUSOLVER_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

cusolverStatus_t mr_cusolver_RfDestroy(const struct mr_form *form, cusolverRfHandle_t handle)
{
    ENTER(true);
    (void)mr_solver_end(MR_SOLVER_REFACTOR, handle);
    mr_refactor_clear(r);
    free(r);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- settings ---- */

cusolverStatus_t mr_cusolver_RfGetMatrixFormat(const struct mr_form *form, cusolverRfHandle_t handle,
                                               cusolverRfMatrixFormat_t *format, cusolverRfUnitDiagonal_t *diag)
{
    ENTER(format && diag);
    *format = r->format;
    *diag = r->unit;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Before the set-up: the pattern depends on it. */
cusolverStatus_t mr_cusolver_RfSetMatrixFormat(const struct mr_form *form, cusolverRfHandle_t handle,
                                               cusolverRfMatrixFormat_t format, cusolverRfUnitDiagonal_t diag)
{
    ENTER(format <= CUSOLVERRF_MATRIX_FORMAT_CSC && diag <= CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U && r->members == 0);
    r->format = format;
    r->unit = diag;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfSetNumericProperties(const struct mr_form *form, cusolverRfHandle_t handle, double zero,
                                                    double boost)
{
    ENTER(true);
    r->zero = zero;
    r->boost = boost;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfGetNumericProperties(const struct mr_form *form, cusolverRfHandle_t handle, void *zero,
                                                    void *boost)
{
    ENTER(zero && boost);
    *(double *)zero = r->zero;
    *(double *)boost = r->boost;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfGetNumericBoostReport(const struct mr_form *form, cusolverRfHandle_t handle,
                                                     cusolverRfNumericBoostReport_t *report)
{
    ENTER(report);
    *report = CUSOLVERRF_NUMERIC_BOOST_NOT_USED;
    for (int m = 0; m < r->members; m++)
        if (r->boosted[m])
            *report = CUSOLVERRF_NUMERIC_BOOST_USED;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Kept for the program: there is one way to factorise and one to solve. */
cusolverStatus_t mr_cusolver_RfSetAlgs(const struct mr_form *form, cusolverRfHandle_t handle,
                                       cusolverRfFactorization_t factAlg, cusolverRfTriangularSolve_t solveAlg)
{
    ENTER(factAlg <= CUSOLVERRF_FACTORIZATION_ALG2 && solveAlg >= CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 &&
          solveAlg <= CUSOLVERRF_TRIANGULAR_SOLVE_ALG3);
    r->factor_alg = factAlg;
    r->solve_alg = solveAlg;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfGetAlgs(const struct mr_form *form, cusolverRfHandle_t handle,
                                       cusolverRfFactorization_t *factAlg, cusolverRfTriangularSolve_t *solveAlg)
{
    ENTER(factAlg && solveAlg);
    *factAlg = r->factor_alg;
    *solveAlg = r->solve_alg;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfGetResetValuesFastMode(const struct mr_form *form, cusolverRfHandle_t handle,
                                                      cusolverRfResetValuesFastMode_t *fastMode)
{
    ENTER(fastMode);
    *fastMode = r->fast;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfSetResetValuesFastMode(const struct mr_form *form, cusolverRfHandle_t handle,
                                                      cusolverRfResetValuesFastMode_t fastMode)
{
    ENTER(fastMode <= CUSOLVERRF_RESET_VALUES_FAST_MODE_ON);
    r->fast = fastMode;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- set-up ---- */

static cusolverStatus_t wait(const struct mr_form *form)
{
    return mr_solver_status(form, mr_math_driver.cuStreamSynchronize(NULL));
}

static int *copy_of(const int *from, int count)
{
    int *to = malloc((size_t)count * sizeof *to);
    if (to)
        memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

/* Copies A's values of each member. */
static void take_values(struct mr_refactor *r, void *const *values)
{
    for (int m = 0; m < r->members; m++)
        memcpy(r->a + (int64_t)m * r->nnz_a, values[m], (size_t)r->nnz_a * sizeof *r->a);
}

/* Anew: what was set up before is gone. `values` has A's values of each member. */
static cusolverStatus_t set_up(const struct mr_form *form, cusolverRfHandle_t handle, int64_t members, int64_t n,
                               const struct mr_refactor_part *a, void *const *values, const struct mr_refactor_part *l,
                               const struct mr_refactor_part *u, const int *p, const int *q)
{
    ENTER(members > 0 && members <= INT_MAX && n > 0 && n < INT_MAX && values && p && q);
    MR_CHECK(form, a->starts && a->inner && l->starts && l->inner && l->values && u->starts && u->inner && u->values);
    MR_CHECK(form, mr_refactor_is_part((int)n, a) && mr_refactor_is_part((int)n, l) && mr_refactor_is_part((int)n, u));
    MR_CHECK(form, mr_refactor_is_order((int)n, p) && mr_refactor_is_order((int)n, q));
    for (int64_t m = 0; m < members; m++)
        MR_CHECK(form, values[m]);
    mr_refactor_clear(r);
    r->n = (int)n;
    r->nnz_a = a->nnz;
    r->p = copy_of(p, r->n);
    r->q = copy_of(q, r->n);
    cusolverStatus_t status = CUSOLVER_STATUS_ALLOC_FAILED;
    if (r->p && r->q) {
        r->members = (int)members;
        status = mr_refactor_build(r, a, l, u);
    }
    if (status == CUSOLVER_STATUS_SUCCESS) {
        take_values(r, values);
        return status;
    }
    mr_refactor_clear(r);
    return mr_solver_bad(form, status, "%s",
                         status == CUSOLVER_STATUS_INVALID_VALUE ? "A has an element that L and U have not"
                                                                 : "memory is short");
}

#define PARTS(A, L, U) \
    const struct mr_refactor_part a = {(int)nnzA, A##RowPtrA, A##ColIndA, NULL}, \
                                  l = {(int)nnzL, L##RowPtrL, L##ColIndL, L##ValL}, \
                                  u = {(int)nnzU, U##RowPtrU, U##ColIndU, U##ValU}

cusolverStatus_t mr_cusolver_RfSetupHost(const struct mr_form *form, int64_t n, int64_t nnzA, int *h_csrRowPtrA,
                                         int *h_csrColIndA, void *h_csrValA, int64_t nnzL, int *h_csrRowPtrL,
                                         int *h_csrColIndL, void *h_csrValL, int64_t nnzU, int *h_csrRowPtrU,
                                         int *h_csrColIndU, void *h_csrValU, int *h_P, int *h_Q,
                                         cusolverRfHandle_t handle)
{
    PARTS(h_csr, h_csr, h_csr);
    return set_up(form, handle, 1, n, &a, &h_csrValA, &l, &u, h_P, h_Q);
}

cusolverStatus_t mr_cusolver_RfSetupDevice(const struct mr_form *form, int64_t n, int64_t nnzA, int *csrRowPtrA,
                                           int *csrColIndA, void *csrValA, int64_t nnzL, int *csrRowPtrL,
                                           int *csrColIndL, void *csrValL, int64_t nnzU, int *csrRowPtrU,
                                           int *csrColIndU, void *csrValU, int *P, int *Q, cusolverRfHandle_t handle)
{
    PARTS(csr, csr, csr);
    ENTER(true);
    cusolverStatus_t status = wait(form);
    return status != CUSOLVER_STATUS_SUCCESS ? status : set_up(form, handle, 1, n, &a, &csrValA, &l, &u, P, Q);
}

cusolverStatus_t mr_cusolver_RfBatchSetupHost(const struct mr_form *form, int64_t batchSize, int64_t n, int64_t nnzA,
                                              int *h_csrRowPtrA, int *h_csrColIndA, void *const *h_csrValA_array,
                                              int64_t nnzL, int *h_csrRowPtrL, int *h_csrColIndL, void *h_csrValL,
                                              int64_t nnzU, int *h_csrRowPtrU, int *h_csrColIndU, void *h_csrValU,
                                              int *h_P, int *h_Q, cusolverRfHandle_t handle)
{
    PARTS(h_csr, h_csr, h_csr);
    return set_up(form, handle, batchSize, n, &a, h_csrValA_array, &l, &u, h_P, h_Q);
}

static cusolverStatus_t reset(const struct mr_form *form, cusolverRfHandle_t handle, int64_t members, int64_t n,
                              int64_t nnz, void *const *values)
{
    ENTER(r->members > 0 && r->members == members && r->n == n && r->nnz_a == nnz && values);
    for (int64_t m = 0; m < members; m++)
        MR_CHECK(form, values[m]);
    cusolverStatus_t status = wait(form);
    if (status == CUSOLVER_STATUS_SUCCESS)
        take_values(r, values);
    return status;
}

/* The pattern is the set-up's, so its arrays are not read again. */
cusolverStatus_t mr_cusolver_RfResetValues(const struct mr_form *form, int64_t n, int64_t nnzA, int *csrRowPtrA,
                                           int *csrColIndA, void *csrValA, int *P, int *Q, cusolverRfHandle_t handle)
{
    MR_CHECK(form, csrRowPtrA && csrColIndA && P && Q);
    return reset(form, handle, 1, n, nnzA, &csrValA);
}

cusolverStatus_t mr_cusolver_RfBatchResetValues(const struct mr_form *form, int64_t batchSize, int64_t n, int64_t nnzA,
                                                int *csrRowPtrA, int *csrColIndA, void *const *csrValA_array, int *P,
                                                int *Q, cusolverRfHandle_t handle)
{
    MR_CHECK(form, csrRowPtrA && csrColIndA && P && Q);
    return reset(form, handle, batchSize, n, nnzA, csrValA_array);
}

/* ---- factorisation and solution: a part for each member ---- */

/* The set-up has found the pattern already. */
cusolverStatus_t mr_cusolver_RfAnalyze(const struct mr_form *form, cusolverRfHandle_t handle)
{
    ENTER(r->members > 0);
    r->is_analyzed = true;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfBatchAnalyze(const struct mr_form *form, cusolverRfHandle_t handle)
{
    return mr_cusolver_RfAnalyze(form, handle);
}

struct work {
    const char *function;
    struct mr_refactor *r;
    const int *p, *q;
    int sides, ld;
    double *x; /* of the only member */
    void *const *each; /* or of each */
};

static void run_factorise(void *data, uint64_t first, uint64_t end)
{
    const struct work *w = data;
    size_t n = (size_t)w->r->n;
    double *row = mr_math_scratch(0, n * sizeof *row);
    int *mark = mr_math_scratch(1, n * sizeof *mark);
    if (!row || !mark) {
        mr_math_short_of_memory(w->function);
        return;
    }
    for (uint64_t m = first; m < end; m++) {
        memset(mark, -1, n * sizeof *mark);
        mr_refactor_factorise(w->r, (int)m, row, mark);
    }
}

static void run_solve(void *data, uint64_t first, uint64_t end)
{
    const struct work *w = data;
    double *row = mr_math_scratch(0, (size_t)w->r->n * sizeof *row);
    if (!row) {
        mr_math_short_of_memory(w->function);
        return;
    }
    for (uint64_t m = first; m < end; m++) {
        double *x = w->each ? w->each[m] : w->x;
        for (int side = 0; side < w->sides; side++)
            mr_refactor_solve(w->r, (int)m, w->p, w->q, x + (int64_t)side * w->ld, row);
    }
}

static cusolverStatus_t carry_out(const struct mr_form *form, const struct work *w,
                                  void (*run)(void *data, uint64_t first, uint64_t end))
{
    cusolverStatus_t status = mr_solver_status(form, mr_math_submit(NULL, (uint64_t)w->r->members, run, w, sizeof *w));
    return status != CUSOLVER_STATUS_SUCCESS ? status : wait(form);
}

/* ZERO_PIVOT if a member has a pivot that is 0, or below the least and not to be replaced. */
cusolverStatus_t mr_cusolver_RfBatchRefactor(const struct mr_form *form, cusolverRfHandle_t handle)
{
    ENTER(r->is_analyzed);
    const struct work w = {.function = form->name, .r = r};
    cusolverStatus_t status = carry_out(form, &w, run_factorise);
    for (int m = 0; status == CUSOLVER_STATUS_SUCCESS && m < r->members; m++)
        if (r->pivot[m] >= 0)
            status =
                mr_solver_bad(form, CUSOLVER_STATUS_ZERO_PIVOT, "matrix %d has no pivot in row %d", m, r->pivot[m]);
    return status;
}

cusolverStatus_t mr_cusolver_RfRefactor(const struct mr_form *form, cusolverRfHandle_t handle)
{
    return mr_cusolver_RfBatchRefactor(form, handle);
}

cusolverStatus_t mr_cusolver_RfBatchZeroPivot(const struct mr_form *form, cusolverRfHandle_t handle, int *position)
{
    ENTER(position && r->members > 0);
    memcpy(position, r->pivot, (size_t)r->members * sizeof *position);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t solve(const struct mr_form *form, cusolverRfHandle_t handle, const int *p, const int *q,
                              int64_t sides, int64_t ldt, double *x, void *const *each, int64_t ld)
{
    ENTER(r->is_analyzed && p && q && (x || each) && sides > 0 && sides <= INT_MAX && ld >= r->n && ld <= INT_MAX);
    MR_CHECK(form, ldt >= r->n); /* of memory that is not needed: checked as on hardware */
    cusolverStatus_t status = wait(form); /* for the orders */
    if (status != CUSOLVER_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_refactor_is_order(r->n, p) && mr_refactor_is_order(r->n, q));
    const struct work w = {form->name, r, p, q, (int)sides, (int)ld, x, each};
    return carry_out(form, &w, run_solve);
}

/* Takes no temporary memory of the program's. */
cusolverStatus_t mr_cusolver_RfSolve(const struct mr_form *form, cusolverRfHandle_t handle, int *P, int *Q,
                                     int64_t nrhs, void *Temp, int64_t ldt, void *XF, int64_t ldxf)
{
    (void)Temp;
    return solve(form, handle, P, Q, nrhs, ldt, XF, NULL, ldxf);
}

cusolverStatus_t mr_cusolver_RfBatchSolve(const struct mr_form *form, cusolverRfHandle_t handle, int *P, int *Q,
                                          int64_t nrhs, void *Temp, int64_t ldt, void *const *XF_array, int64_t ldxf)
{
    (void)Temp;
    return solve(form, handle, P, Q, nrhs, ldt, NULL, XF_array, ldxf);
}

/* ---- the factors ---- */

cusolverStatus_t mr_cusolver_RfAccessBundledFactorsDevice(const struct mr_form *form, cusolverRfHandle_t handle,
                                                          int *nnzM, int **Mp, int **Mi, double **Mx)
{
    ENTER(r->is_analyzed && nnzM && Mp && Mi && Mx);
    *nnzM = r->nnz;
    *Mp = r->rows;
    *Mi = r->columns;
    *Mx = r->values;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Which elements of the bundle a matrix that is given out has, and what stands on its diagonal. */
enum pick { PICK_ALL, PICK_LOWER, PICK_UPPER };

static bool has(enum pick pick, int row, int column, bool stored)
{
    if (row == column)
        return stored;
    return pick == PICK_ALL || (pick == PICK_LOWER) == (row > column);
}

/* The first member's, in memory that the program frees. By rows, also where the program gave columns. */
static cusolverStatus_t give_out(const struct mr_refactor *r, enum pick pick, int *count, int **starts, int **inner,
                                 double **values)
{
    bool is_unit = pick != PICK_ALL && (pick == PICK_UPPER) == mr_refactor_has_unit_u(r);
    bool stored = !is_unit || r->unit <= CUSOLVERRF_UNIT_DIAGONAL_STORED_U;
    int *to_starts = malloc(((size_t)r->n + 1) * sizeof *to_starts), *to = malloc((size_t)r->nnz * sizeof *to), at = 0;
    double *numbers = malloc((size_t)r->nnz * sizeof *numbers);
    if (!to_starts || !to || !numbers) {
        free(to_starts);
        free(to);
        free(numbers);
        return CUSOLVER_STATUS_ALLOC_FAILED;
    }
    for (int i = 0; i < r->n; i++) {
        to_starts[i] = at;
        for (int k = r->rows[i]; k < r->rows[i + 1]; k++)
            if (has(pick, i, r->columns[k], stored)) {
                to[at] = r->columns[k];
                numbers[at++] = is_unit && r->columns[k] == i ? 1 : r->values[k];
            }
    }
    to_starts[r->n] = at;
    *count = at;
    *starts = to_starts;
    *inner = to;
    *values = numbers;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_RfExtractBundledFactorsHost(const struct mr_form *form, cusolverRfHandle_t handle,
                                                         int *h_nnzM, int **h_Mp, int **h_Mi, double **h_Mx)
{
    ENTER(r->is_analyzed && h_nnzM && h_Mp && h_Mi && h_Mx);
    return give_out(r, PICK_ALL, h_nnzM, h_Mp, h_Mi, h_Mx);
}

cusolverStatus_t mr_cusolver_RfExtractSplitFactorsHost(const struct mr_form *form, cusolverRfHandle_t handle,
                                                       int *h_nnzL, int **h_csrRowPtrL, int **h_csrColIndL,
                                                       double **h_csrValL, int *h_nnzU, int **h_csrRowPtrU,
                                                       int **h_csrColIndU, double **h_csrValU)
{
    ENTER(r->is_analyzed && h_nnzL && h_csrRowPtrL && h_csrColIndL && h_csrValL);
    MR_CHECK(form, h_nnzU && h_csrRowPtrU && h_csrColIndU && h_csrValU);
    cusolverStatus_t status = give_out(r, PICK_LOWER, h_nnzL, h_csrRowPtrL, h_csrColIndL, h_csrValL);
    if (status != CUSOLVER_STATUS_SUCCESS)
        return status;
    status = give_out(r, PICK_UPPER, h_nnzU, h_csrRowPtrU, h_csrColIndU, h_csrValU);
    if (status != CUSOLVER_STATUS_SUCCESS) {
        free(*h_csrRowPtrL);
        free(*h_csrColIndL);
        free(*h_csrValL);
    }
    return status;
}
