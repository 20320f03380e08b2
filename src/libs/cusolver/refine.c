/* SPDX-License-Identifier: Apache-2.0 */
/* Systems and least squares with iterative refinement. Hardware factorises in a lower precision and refines the
 * solution to the precision that was asked for. Here the factorisation is in that precision, so there are no
 * iterations. Settings of solvers, precisions and tolerances are checked, kept and not used. */
#include <stdlib.h>
#include <string.h>

#include "libs/cusolver/dense.h"
#include "libs/cusolver/touch.h"
#include "libs/math/handles.h"

struct irs_params {
    enum mr_solver_kind kind;
    cusolverIRSRefinement_t solver;
    cusolverPrecType_t main, lowest; /* 0: not set */
    double tolerance, inner_tolerance;
    int max_iterations, max_inner_iterations;
    bool fallback;
};

struct irs_infos {
    enum mr_solver_kind kind;
    bool is_used, wants_residual;
    int max_iterations;
};

/* ---- settings ---- */

static cusolverStatus_t keep(void *made, void **handle)
{
    *handle = made ? mr_math_handle_new(made) : NULL;
    if (*handle)
        return CUSOLVER_STATUS_SUCCESS;
    free(made);
    return CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t mr_cusolver_IRSParamsCreate(const struct mr_form *form, cusolverDnIRSParams_t *params_ptr)
{
    MR_CHECK(form, params_ptr);
    struct irs_params *made = calloc(1, sizeof *made);
    if (made)
        *made = (struct irs_params){.kind = MR_SOLVER_IRS_PARAMS,
                                    .solver = CUSOLVER_IRS_REFINE_NOT_SET,
                                    .max_iterations = 50,
                                    .max_inner_iterations = 50,
                                    .fallback = true};
    return keep(made, (void **)params_ptr);
}

static cusolverStatus_t no_params(const struct mr_form *form)
{
    return mr_solver_bad(form, CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED, "params is not a live pointer");
}

#define PARAMS() \
    struct irs_params *object = mr_solver_find(MR_SOLVER_IRS_PARAMS, params); \
    if (!object) \
    return no_params(form)

cusolverStatus_t mr_cusolver_IRSParamsDestroy(const struct mr_form *form, cusolverDnIRSParams_t params)
{
    PARAMS();
    free(mr_solver_end(MR_SOLVER_IRS_PARAMS, params));
    (void)object;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetRefinementSolver(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                          cusolverIRSRefinement_t refinement_solver)
{
    PARAMS();
    MR_CHECK(form, refinement_solver >= CUSOLVER_IRS_REFINE_NOT_SET &&
                       refinement_solver <= CUSOLVER_IRS_REFINE_GMRES_NOPCOND);
    object->solver = refinement_solver;
    return CUSOLVER_STATUS_SUCCESS;
}

static bool is_main(cusolverPrecType_t type)
{
    return type == CUSOLVER_R_64F || type == CUSOLVER_R_32F || type == CUSOLVER_C_64F || type == CUSOLVER_C_32F;
}

static bool is_lowest(cusolverPrecType_t type)
{
    return (type >= CUSOLVER_R_64F && type <= CUSOLVER_R_TF32) || (type >= CUSOLVER_C_64F && type <= CUSOLVER_C_TF32);
}

cusolverStatus_t mr_cusolver_IRSParamsSetSolverMainPrecision(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                             cusolverPrecType_t solver_main_precision)
{
    PARAMS();
    MR_CHECK(form, is_main(solver_main_precision));
    object->main = solver_main_precision;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetSolverLowestPrecision(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                               cusolverPrecType_t solver_lowest_precision)
{
    PARAMS();
    MR_CHECK(form, is_lowest(solver_lowest_precision));
    object->lowest = solver_lowest_precision;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetSolverPrecisions(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                          cusolverPrecType_t solver_main_precision,
                                                          cusolverPrecType_t solver_lowest_precision)
{
    PARAMS();
    MR_CHECK(form, is_main(solver_main_precision) && is_lowest(solver_lowest_precision));
    object->main = solver_main_precision;
    object->lowest = solver_lowest_precision;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetTol(const struct mr_form *form, cusolverDnIRSParams_t params, double val)
{
    PARAMS();
    object->tolerance = val;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetTolInner(const struct mr_form *form, cusolverDnIRSParams_t params, double val)
{
    PARAMS();
    object->inner_tolerance = val;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetMaxIters(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                  cusolver_int_t maxiters)
{
    PARAMS();
    object->max_iterations = maxiters;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsSetMaxItersInner(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                       cusolver_int_t maxiters_inner)
{
    PARAMS();
    object->max_inner_iterations = maxiters_inner;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsGetMaxIters(const struct mr_form *form, cusolverDnIRSParams_t params,
                                                  cusolver_int_t *maxiters)
{
    PARAMS();
    MR_CHECK(form, maxiters);
    *maxiters = object->max_iterations;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsEnableFallback(const struct mr_form *form, cusolverDnIRSParams_t params)
{
    PARAMS();
    object->fallback = true;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSParamsDisableFallback(const struct mr_form *form, cusolverDnIRSParams_t params)
{
    PARAMS();
    object->fallback = false;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- what a solution tells ---- */

cusolverStatus_t mr_cusolver_IRSInfosCreate(const struct mr_form *form, cusolverDnIRSInfos_t *infos_ptr)
{
    MR_CHECK(form, infos_ptr);
    struct irs_infos *made = calloc(1, sizeof *made);
    if (made)
        *made = (struct irs_infos){.kind = MR_SOLVER_IRS_INFOS};
    return keep(made, (void **)infos_ptr);
}

#define INFOS() \
    struct irs_infos *object = mr_solver_find(MR_SOLVER_IRS_INFOS, infos); \
    if (!object) \
    return mr_solver_bad(form, CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED, "infos is not a live pointer")

cusolverStatus_t mr_cusolver_IRSInfosDestroy(const struct mr_form *form, cusolverDnIRSInfos_t infos)
{
    INFOS();
    free(mr_solver_end(MR_SOLVER_IRS_INFOS, infos));
    (void)object;
    return CUSOLVER_STATUS_SUCCESS;
}

/* No iteration is ever needed. */
cusolverStatus_t mr_cusolver_IRSInfosGetNiters(const struct mr_form *form, cusolverDnIRSInfos_t infos,
                                               cusolver_int_t *niters)
{
    INFOS();
    MR_CHECK(form, niters);
    (void)object;
    *niters = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSInfosGetOuterNiters(const struct mr_form *form, cusolverDnIRSInfos_t infos,
                                                    cusolver_int_t *outer_niters)
{
    return mr_cusolver_IRSInfosGetNiters(form, infos, outer_niters);
}

cusolverStatus_t mr_cusolver_IRSInfosRequestResidual(const struct mr_form *form, cusolverDnIRSInfos_t infos)
{
    INFOS();
    object->wants_residual = true;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_IRSInfosGetMaxIters(const struct mr_form *form, cusolverDnIRSInfos_t infos,
                                                 cusolver_int_t *maxiters)
{
    INFOS();
    MR_CHECK(form, maxiters);
    *maxiters = object->max_iterations;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- solutions ---- */

/* A and B are kept, as on hardware. */
static void run_gesv(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    size_t size = mr_size_of(r->type), matrix = (size_t)r->n * (size_t)(r->n + 2) * size + 128,
           rows = (size_t)r->n * sizeof(int);
    int n = (int)r->n, nrhs = (int)r->nrhs, ldx = (int)r->ldc, info = 0;
    struct mr_room room;
    (void)first;
    (void)end;
    if (n == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
    if (!mr_room_open(&room, r->function, MR_ROOM(matrix) + MR_ROOM(rows)))
        return;
    void *a = mr_room_take(&room, matrix);
    int *own = mr_room_take(&room, rows), *pivots = r->pivots ? r->pivots : own;
    mr_dense_copy(r->type, n, n, r->a, r->lda, a, n);
    mr_cpu.getrf[r->type](&n, &n, a, &n, pivots, &info);
    if (info == 0) {
        mr_dense_copy(r->type, n, nrhs, r->b, r->ldb, r->c, r->ldc);
        mr_cpu.getrs[r->type]("N", &n, &nrhs, a, &n, pivots, r->c, &ldx, &info);
    }
    mr_dense_tell(r, 0, info);
}

static cusolverStatus_t gesv(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                             int *iterations)
{
    MR_CHECK(form, r->n >= 0 && r->lda >= mr_at_least_1(r->n));
    MR_CHECK(form, r->nrhs >= 0 && r->ldb >= mr_at_least_1(r->n) && r->ldc >= mr_at_least_1(r->n));
    MR_CHECK(form, iterations && r->info);
    cusolverStatus_t status = mr_dense_submit(form, solver, r, run_gesv);
    if (status == CUSOLVER_STATUS_SUCCESS)
        *iterations = 0;
    return status;
}

static void run_gels(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    size_t size = mr_size_of(r->type), matrix = (size_t)r->m * (size_t)(r->n + 2) * size + 128;
    int m = (int)r->m, n = (int)r->n, nrhs = (int)r->nrhs, info = 0, lwork = -1;
    size_t sides = (size_t)m * (size_t)nrhs * size;
    _Alignas(16) unsigned char answer[16];
    struct mr_room room;
    (void)first;
    (void)end;
    if (n == 0 || nrhs == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
    mr_lapack.gels[r->type]("N", &m, &n, &nrhs, answer, &m, answer, &m, answer, &lwork, &info, 1);
    lwork = mr_lapack_answer(r->type, answer);
    if (!mr_room_open(&room, r->function, MR_ROOM(matrix) + MR_ROOM(sides) + MR_ROOM((size_t)lwork * size)))
        return;
    void *a = mr_room_take(&room, matrix), *b = mr_room_take(&room, sides);
    mr_dense_copy(r->type, m, n, r->a, r->lda, a, m);
    mr_dense_copy(r->type, m, nrhs, r->b, r->ldb, b, m);
    mr_lapack.gels[r->type]("N", &m, &n, &nrhs, a, &m, b, &m, mr_room_take(&room, (size_t)lwork * size), &lwork, &info,
                            1);
    if (info == 0)
        mr_dense_copy(r->type, n, nrhs, b, m, r->c, r->ldc);
    mr_dense_tell(r, 0, info);
}

static cusolverStatus_t gels(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                             int *iterations)
{
    MR_CHECK(form, r->n >= 0 && r->m >= r->n && r->nrhs >= 0);
    MR_CHECK(form, r->lda >= mr_at_least_1(r->m) && r->ldb >= mr_at_least_1(r->m) && r->ldc >= mr_at_least_1(r->n));
    MR_CHECK(form, iterations && r->info);
    cusolverStatus_t status = mr_dense_submit(form, solver, r, run_gels);
    if (status == CUSOLVER_STATUS_SUCCESS)
        *iterations = 0;
    return status;
}

static cusolverStatus_t workspace(const struct mr_form *form, int64_t rows, int64_t columns, size_t *bytes)
{
    size_t none;
    return mr_dense_buffers(form, rows, columns, bytes, &none);
}

cusolverStatus_t mr_cusolver_gesv_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, cusolver_int_t n,
                                             cusolver_int_t nrhs, void *dA, cusolver_int_t ldda, cusolver_int_t *dipiv,
                                             void *dB, cusolver_int_t lddb, void *dX, cusolver_int_t lddx,
                                             void *dWorkspace, size_t *lwork_bytes)
{
    MR_ENTER();
    (void)dA;
    (void)dipiv;
    (void)dB;
    (void)dX;
    (void)dWorkspace;
    MR_CHECK(form, n >= 0 && nrhs >= 0 && ldda >= mr_at_least_1(n) && lddb >= mr_at_least_1(n));
    MR_CHECK(form, lddx >= mr_at_least_1(n));
    return workspace(form, n, nrhs, lwork_bytes);
}

cusolverStatus_t mr_cusolver_gesv(const struct mr_form *form, cusolverDnHandle_t handle, cusolver_int_t n,
                                  cusolver_int_t nrhs, void *dA, cusolver_int_t ldda, cusolver_int_t *dipiv, void *dB,
                                  cusolver_int_t lddb, void *dX, cusolver_int_t lddx, void *dWorkspace,
                                  size_t lwork_bytes, cusolver_int_t *iter, cusolver_int_t *d_info)
{
    MR_ENTER();
    (void)dWorkspace;
    (void)lwork_bytes;
    struct mr_dense r = {.type = mr_type_of(form),
                         .n = n,
                         .nrhs = nrhs,
                         .a = dA,
                         .lda = ldda,
                         .pivots = dipiv,
                         .b = dB,
                         .ldb = lddb,
                         .c = dX,
                         .ldc = lddx,
                         .info = d_info};
    return gesv(form, solver, &r, iter);
}

cusolverStatus_t mr_cusolver_gels_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, cusolver_int_t m,
                                             cusolver_int_t n, cusolver_int_t nrhs, void *dA, cusolver_int_t ldda,
                                             void *dB, cusolver_int_t lddb, void *dX, cusolver_int_t lddx,
                                             void *dWorkspace, size_t *lwork_bytes)
{
    MR_ENTER();
    (void)dA;
    (void)dB;
    (void)dX;
    (void)dWorkspace;
    MR_CHECK(form, n >= 0 && m >= n && nrhs >= 0 && ldda >= mr_at_least_1(m) && lddb >= mr_at_least_1(m));
    MR_CHECK(form, lddx >= mr_at_least_1(n));
    return workspace(form, m, nrhs, lwork_bytes);
}

cusolverStatus_t mr_cusolver_gels(const struct mr_form *form, cusolverDnHandle_t handle, cusolver_int_t m,
                                  cusolver_int_t n, cusolver_int_t nrhs, void *dA, cusolver_int_t ldda, void *dB,
                                  cusolver_int_t lddb, void *dX, cusolver_int_t lddx, void *dWorkspace,
                                  size_t lwork_bytes, cusolver_int_t *iter, cusolver_int_t *d_info)
{
    MR_ENTER();
    (void)dWorkspace;
    (void)lwork_bytes;
    struct mr_dense r = {.type = mr_type_of(form),
                         .m = m,
                         .n = n,
                         .nrhs = nrhs,
                         .a = dA,
                         .lda = ldda,
                         .b = dB,
                         .ldb = lddb,
                         .c = dX,
                         .ldc = lddx,
                         .info = d_info};
    return gels(form, solver, &r, iter);
}

/* The type that the settings name for A, B and X. MR_CPU_TYPES for none. */
static enum mr_cpu_type main_type(const struct irs_params *params)
{
    switch (params->main) {
    case CUSOLVER_R_32F:
        return MR_CPU_S;
    case CUSOLVER_R_64F:
        return MR_CPU_D;
    case CUSOLVER_C_32F:
        return MR_CPU_C;
    case CUSOLVER_C_64F:
        return MR_CPU_Z;
    default:
        return MR_CPU_TYPES;
    }
}

void mr_touch_main(const char *function, unsigned how, const void *at, const void *params, int64_t m, int64_t n,
                   int64_t ld)
{
    const struct irs_params *object = mr_solver_find(MR_SOLVER_IRS_PARAMS, params);
    enum mr_cpu_type type = object ? main_type(object) : MR_CPU_TYPES;
    if (type != MR_CPU_TYPES)
        (void)mr_tell_matrix(function, at, m, n, ld, mr_size_of(type), how);
}

static cusolverStatus_t check_params(const struct mr_form *form, const struct irs_params *params)
{
    if (main_type(params) == MR_CPU_TYPES || !params->lowest)
        return mr_solver_bad(form, CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC, "the precisions are not set");
    if (params->solver == CUSOLVER_IRS_REFINE_NOT_SET)
        return mr_solver_bad(form, CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE, "the refinement's solver is not set");
    return CUSOLVER_STATUS_SUCCESS;
}

#define CHECKED() \
    PARAMS(); \
    cusolverStatus_t status = check_params(form, object); \
    if (status) \
    return status

cusolverStatus_t mr_cusolver_IRSXgesv_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                 cusolverDnIRSParams_t params, cusolver_int_t n, cusolver_int_t nrhs,
                                                 size_t *lwork_bytes)
{
    MR_ENTER();
    CHECKED();
    MR_CHECK(form, n >= 0 && nrhs >= 0);
    return workspace(form, n, nrhs, lwork_bytes);
}

/* Notes that a solution was asked for. */
static void use(cusolverDnIRSInfos_t infos, const struct irs_params *params)
{
    struct irs_infos *object = mr_solver_find(MR_SOLVER_IRS_INFOS, infos);
    if (object) {
        object->is_used = true;
        object->max_iterations = params->max_iterations;
    }
}

cusolverStatus_t mr_cusolver_IRSXgesv(const struct mr_form *form, cusolverDnHandle_t handle,
                                      cusolverDnIRSParams_t params, cusolverDnIRSInfos_t gesv_irs_infos,
                                      cusolver_int_t n, cusolver_int_t nrhs, void *dA, cusolver_int_t ldda, void *dB,
                                      cusolver_int_t lddb, void *dX, cusolver_int_t lddx, void *dWorkspace,
                                      size_t lwork_bytes, cusolver_int_t *niters, cusolver_int_t *d_info)
{
    MR_ENTER();
    (void)dWorkspace;
    (void)lwork_bytes;
    CHECKED();
    use(gesv_irs_infos, object);
    struct mr_dense r = {.type = main_type(object),
                         .n = n,
                         .nrhs = nrhs,
                         .a = dA,
                         .lda = ldda,
                         .b = dB,
                         .ldb = lddb,
                         .c = dX,
                         .ldc = lddx,
                         .info = d_info};
    return gesv(form, solver, &r, niters);
}

cusolverStatus_t mr_cusolver_IRSXgels_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                 cusolverDnIRSParams_t params, cusolver_int_t m, cusolver_int_t n,
                                                 cusolver_int_t nrhs, size_t *lwork_bytes)
{
    MR_ENTER();
    CHECKED();
    MR_CHECK(form, n >= 0 && m >= n && nrhs >= 0);
    return workspace(form, m, nrhs, lwork_bytes);
}

cusolverStatus_t mr_cusolver_IRSXgels(const struct mr_form *form, cusolverDnHandle_t handle,
                                      cusolverDnIRSParams_t params, cusolverDnIRSInfos_t gels_irs_infos,
                                      cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs, void *dA,
                                      cusolver_int_t ldda, void *dB, cusolver_int_t lddb, void *dX, cusolver_int_t lddx,
                                      void *dWorkspace, size_t lwork_bytes, cusolver_int_t *niters,
                                      cusolver_int_t *d_info)
{
    MR_ENTER();
    (void)dWorkspace;
    (void)lwork_bytes;
    CHECKED();
    use(gels_irs_infos, object);
    struct mr_dense r = {.type = main_type(object),
                         .m = m,
                         .n = n,
                         .nrhs = nrhs,
                         .a = dA,
                         .lda = ldda,
                         .b = dB,
                         .ldb = lddb,
                         .c = dX,
                         .ldc = lddx,
                         .info = d_info};
    return gels(form, solver, &r, niters);
}
