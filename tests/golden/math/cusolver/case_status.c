/* SPDX-License-Identifier: Apache-2.0 */
/* What cuSOLVER answers to arguments that are wrong, or ask for nothing. */
#include "sv.h"

#define N CUBLAS_OP_N
#define T CUBLAS_OP_T
#define LOWER CUBLAS_FILL_MODE_LOWER
#define UPPER CUBLAS_FILL_MODE_UPPER
#define VECTOR CUSOLVER_EIG_MODE_VECTOR
#define ROOM (1 << 16)

/* A case of one call; `s` is the fixture, h the handle. The info is said as well. */
#define ONE(title, call, ...) \
    CASE(solver_status, title, __VA_ARGS__) \
    { \
        struct sv *s = sv_begin('D', SV_POSITIVE); \
        cusolverDnHandle_t h = s->h; \
        (void)h; \
        sv(call); \
        sv_info(s); \
    }

static cusolverDnHandle_t dead(void)
{
    cusolverDnHandle_t handle;
    SV_NEED(cusolverDnCreate(&handle));
    SV_NEED(cusolverDnDestroy(handle));
    return handle;
}

static cusolverDnParams_t params(void)
{
    cusolverDnParams_t made;
    SV_NEED(cusolverDnCreateParams(&made));
    return made;
}

static syevjInfo_t syevj(void)
{
    syevjInfo_t made;
    SV_NEED(cusolverDnCreateSyevjInfo(&made));
    return made;
}

static gesvdjInfo_t gesvdj(void)
{
    gesvdjInfo_t made;
    SV_NEED(cusolverDnCreateGesvdjInfo(&made));
    return made;
}

/* ---- handles and settings ---- */
ONE(create_null, cusolverDnCreate(NULL), .alone = true)
ONE(destroy_null, cusolverDnDestroy(NULL))
ONE(destroy_dead, cusolverDnDestroy(dead()), RT_CRASHES("NOT_INITIALIZED info=-77"))
ONE(set_stream_null_handle, cusolverDnSetStream(NULL, NULL))
ONE(get_stream_null_handle, cusolverDnGetStream(NULL, &(cudaStream_t){0}))
ONE(get_stream_null, cusolverDnGetStream(h, NULL), .alone = true)
ONE(version_null, cusolverGetVersion(NULL), .alone = true)
ONE(property_null, cusolverGetProperty(MAJOR_VERSION, NULL), .alone = true)
ONE(property_wrong, cusolverGetProperty((libraryPropertyType)9, &(int){0}))
ONE(deterministic_wrong, cusolverDnSetDeterministicMode(h, (cusolverDeterministicMode_t)9))
ONE(deterministic_0, cusolverDnSetDeterministicMode(h, (cusolverDeterministicMode_t)0))
ONE(deterministic_null, cusolverDnGetDeterministicMode(h, NULL), .alone = true)
ONE(math_mode_wrong, cusolverDnSetMathMode(h, (cusolverMathMode_t)9))
ONE(math_mode_null_handle, cusolverDnSetMathMode(NULL, CUSOLVER_DEFAULT_MATH))
ONE(strategy_wrong, cusolverDnSetEmulationStrategy(h, (cudaEmulationStrategy_t)9))
ONE(params_null, cusolverDnCreateParams(NULL), .alone = true)
ONE(params_destroy_null, cusolverDnDestroyParams(NULL))
ONE(options_null, cusolverDnSetAdvOptions(NULL, CUSOLVERDN_GETRF, CUSOLVER_ALG_0), .alone = true)
ONE(options_getrf_1, cusolverDnSetAdvOptions(params(), CUSOLVERDN_GETRF, CUSOLVER_ALG_1))
ONE(options_getrf_2, cusolverDnSetAdvOptions(params(), CUSOLVERDN_GETRF, CUSOLVER_ALG_2))
ONE(options_potrf_1, cusolverDnSetAdvOptions(params(), CUSOLVERDN_POTRF, CUSOLVER_ALG_1))
ONE(options_syevbatched_2, cusolverDnSetAdvOptions(params(), CUSOLVERDN_SYEVBATCHED, CUSOLVER_ALG_2))
ONE(options_function, cusolverDnSetAdvOptions(params(), (cusolverDnFunction_t)9, CUSOLVER_ALG_0))
ONE(options_algorithm, cusolverDnSetAdvOptions(params(), CUSOLVERDN_GETRF, (cusolverAlgMode_t)9))
ONE(syevj_info_null, cusolverDnCreateSyevjInfo(NULL), .alone = true)
ONE(syevj_destroy_null, cusolverDnDestroySyevjInfo(NULL))
ONE(syevj_tolerance_negative, cusolverDnXsyevjSetTolerance(syevj(), -1))
ONE(syevj_tolerance_null, cusolverDnXsyevjSetTolerance(NULL, 1e-7), .alone = true)
ONE(syevj_sweeps_negative, cusolverDnXsyevjSetMaxSweeps(syevj(), -1))
ONE(syevj_sweeps_0, cusolverDnXsyevjSetMaxSweeps(syevj(), 0))
ONE(syevj_sort_5, cusolverDnXsyevjSetSortEig(syevj(), 5))
ONE(syevj_residual_unused, cusolverDnXsyevjGetResidual(h, syevj(), &(double){0}))
ONE(syevj_sweeps_unused, cusolverDnXsyevjGetSweeps(h, syevj(), &(int){0}))
ONE(gesvdj_info_null, cusolverDnCreateGesvdjInfo(NULL), .alone = true)
ONE(gesvdj_tolerance_negative, cusolverDnXgesvdjSetTolerance(gesvdj(), -1))
ONE(gesvdj_sweeps_negative, cusolverDnXgesvdjSetMaxSweeps(gesvdj(), -1))
ONE(gesvdj_sort_5, cusolverDnXgesvdjSetSortEig(gesvdj(), 5))

/* ---- Cholesky ---- */
ONE(potrf_buffer_null_handle, cusolverDnDpotrf_bufferSize(NULL, LOWER, 8, s->a, 8, &s->lwork))
ONE(potrf_buffer_n, cusolverDnDpotrf_bufferSize(h, LOWER, -1, s->a, 8, &s->lwork))
ONE(potrf_buffer_lda, cusolverDnDpotrf_bufferSize(h, LOWER, 8, s->a, 7, &s->lwork))
ONE(potrf_buffer_uplo, cusolverDnDpotrf_bufferSize(h, (cublasFillMode_t)7, 8, s->a, 8, &s->lwork))
ONE(potrf_buffer_full, cusolverDnDpotrf_bufferSize(h, CUBLAS_FILL_MODE_FULL, 8, s->a, 8, &s->lwork))
ONE(potrf_buffer_null, cusolverDnDpotrf_bufferSize(h, LOWER, 8, s->a, 8, NULL), .alone = true)
ONE(potrf_buffer_a_null, cusolverDnDpotrf_bufferSize(h, LOWER, 8, NULL, 8, &s->lwork))
ONE(potrf_null_handle, cusolverDnDpotrf(NULL, LOWER, 8, s->a, 8, s->work, ROOM, s->info))
ONE(potrf_uplo, cusolverDnDpotrf(h, (cublasFillMode_t)7, 8, s->a, 8, s->work, ROOM, s->info))
ONE(potrf_n, cusolverDnDpotrf(h, LOWER, -1, s->a, 8, s->work, ROOM, s->info))
ONE(potrf_n_0, cusolverDnDpotrf(h, LOWER, 0, s->a, 8, s->work, ROOM, s->info))
ONE(potrf_lda, cusolverDnDpotrf(h, LOWER, 8, s->a, 7, s->work, ROOM, s->info))
ONE(potrf_lda_0_n_0, cusolverDnDpotrf(h, LOWER, 0, s->a, 0, s->work, ROOM, s->info))
ONE(potrf_work_null, cusolverDnDpotrf(h, LOWER, 8, s->a, 8, NULL, 0, s->info), .alone = true)
ONE(potrf_lwork_0, cusolverDnDpotrf(h, LOWER, 8, s->a, 8, s->work, 0, s->info))
ONE(potrf_lwork_negative, cusolverDnDpotrf(h, LOWER, 8, s->a, 8, s->work, -1, s->info))
ONE(potrf_info_null, cusolverDnDpotrf(h, LOWER, 8, s->a, 8, s->work, ROOM, NULL), .alone = true)
ONE(potrf_a_null, cusolverDnDpotrf(h, LOWER, 8, NULL, 8, s->work, ROOM, s->info), .alone = true)
ONE(potrs_null_handle, cusolverDnDpotrs(NULL, LOWER, 8, 1, s->a, 8, s->b, 8, s->info))
ONE(potrs_uplo, cusolverDnDpotrs(h, (cublasFillMode_t)7, 8, 1, s->a, 8, s->b, 8, s->info))
ONE(potrs_nrhs, cusolverDnDpotrs(h, LOWER, 8, -1, s->a, 8, s->b, 8, s->info))
ONE(potrs_nrhs_0, cusolverDnDpotrs(h, LOWER, 8, 0, s->a, 8, s->b, 8, s->info))
ONE(potrs_ldb, cusolverDnDpotrs(h, LOWER, 8, 1, s->a, 8, s->b, 7, s->info))
ONE(potrs_info_null, cusolverDnDpotrs(h, LOWER, 8, 1, s->a, 8, s->b, 8, NULL), .alone = true)
ONE(potri_lda, cusolverDnDpotri(h, LOWER, 8, s->a, 7, s->work, ROOM, s->info))
ONE(potri_n_0, cusolverDnDpotri(h, LOWER, 0, s->a, 8, s->work, ROOM, s->info))
ONE(potri_lwork_0, cusolverDnDpotri(h, LOWER, 8, s->a, 8, s->work, 0, s->info))
ONE(potrf_batched_negative, cusolverDnDpotrfBatched(h, LOWER, 8, s->work, 8, s->info, -1))
ONE(potrf_batched_0, cusolverDnDpotrfBatched(h, LOWER, 8, s->work, 8, s->info, 0))
ONE(potrf_batched_n, cusolverDnDpotrfBatched(h, LOWER, -8, s->work, 8, s->info, 1))
ONE(potrf_batched_lda, cusolverDnDpotrfBatched(h, LOWER, 8, s->work, 7, s->info, 1))
ONE(potrs_batched_nrhs_2, cusolverDnDpotrsBatched(h, LOWER, 8, 2, s->work, 8, s->work, 8, s->info, 1))
ONE(potrs_batched_nrhs_0, cusolverDnDpotrsBatched(h, LOWER, 8, 0, s->work, 8, s->work, 8, s->info, 1))
ONE(potrs_batched_0, cusolverDnDpotrsBatched(h, LOWER, 8, 1, s->work, 8, s->work, 8, s->info, 0))

/* ---- LU ---- */
ONE(getrf_buffer_m, cusolverDnDgetrf_bufferSize(h, -8, 8, s->a, 8, &s->lwork))
ONE(getrf_buffer_lda, cusolverDnDgetrf_bufferSize(h, 8, 8, s->a, 7, &s->lwork))
ONE(getrf_buffer_0, cusolverDnDgetrf_bufferSize(h, 0, 0, s->a, 8, &s->lwork))
ONE(getrf_null_handle, cusolverDnDgetrf(NULL, 8, 8, s->a, 8, s->work, s->pivots, s->info))
ONE(getrf_m, cusolverDnDgetrf(h, -8, 8, s->a, 8, s->work, s->pivots, s->info))
ONE(getrf_n, cusolverDnDgetrf(h, 8, -8, s->a, 8, s->work, s->pivots, s->info))
ONE(getrf_0, cusolverDnDgetrf(h, 0, 0, s->a, 8, s->work, s->pivots, s->info))
ONE(getrf_lda, cusolverDnDgetrf(h, 8, 8, s->a, 7, s->work, s->pivots, s->info))
ONE(getrf_work_null, cusolverDnDgetrf(h, 8, 8, s->a, 8, NULL, s->pivots, s->info), .alone = true)
ONE(getrf_pivots_null, cusolverDnDgetrf(h, 8, 8, s->a, 8, s->work, NULL, s->info))
ONE(getrf_info_null, cusolverDnDgetrf(h, 8, 8, s->a, 8, s->work, s->pivots, NULL), .alone = true)
ONE(getrs_trans, cusolverDnDgetrs(h, (cublasOperation_t)9, 8, 1, s->a, 8, s->pivots, s->b, 8, s->info))
ONE(getrs_n, cusolverDnDgetrs(h, N, -8, 1, s->a, 8, s->pivots, s->b, 8, s->info))
ONE(getrs_nrhs, cusolverDnDgetrs(h, N, 8, -1, s->a, 8, s->pivots, s->b, 8, s->info))
ONE(getrs_nrhs_0, cusolverDnDgetrs(h, N, 8, 0, s->a, 8, s->pivots, s->b, 8, s->info))
ONE(getrs_lda, cusolverDnDgetrs(h, N, 8, 1, s->a, 7, s->pivots, s->b, 8, s->info))
ONE(getrs_ldb, cusolverDnDgetrs(h, N, 8, 1, s->a, 8, s->pivots, s->b, 7, s->info))
ONE(getrs_pivots_null, cusolverDnDgetrs(h, N, 8, 1, s->a, 8, NULL, s->b, 8, s->info), .alone = true)
ONE(laswp_n, cusolverDnDlaswp(h, -8, s->a, 8, 1, 8, s->pivots, 1))
ONE(laswp_k1, cusolverDnDlaswp(h, 8, s->a, 8, 0, 8, s->pivots, 1), .alone = true)
ONE(laswp_inc_0, cusolverDnDlaswp(h, 8, s->a, 8, 1, 8, s->pivots, 0))

/* ---- QR ---- */
ONE(geqrf_buffer_n, cusolverDnDgeqrf_bufferSize(h, 8, -8, s->a, 8, &s->lwork))
ONE(geqrf_m, cusolverDnDgeqrf(h, -8, 8, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(geqrf_lda, cusolverDnDgeqrf(h, 8, 8, s->a, 7, s->tau, s->work, ROOM, s->info))
ONE(geqrf_lwork_0, cusolverDnDgeqrf(h, 8, 8, s->a, 8, s->tau, s->work, 0, s->info))
ONE(geqrf_0, cusolverDnDgeqrf(h, 0, 0, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(orgqr_m_n, cusolverDnDorgqr(h, 4, 8, 4, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(orgqr_k, cusolverDnDorgqr(h, 8, 4, 8, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(orgqr_k_0, cusolverDnDorgqr(h, 8, 8, 0, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(orgqr_lwork_0, cusolverDnDorgqr(h, 8, 8, 8, s->a, 8, s->tau, s->work, 0, s->info))
ONE(ormqr_side, cusolverDnDormqr(h, (cublasSideMode_t)7, N, 8, 8, 8, s->a, 8, s->tau, s->c, 8, s->work, ROOM, s->info))
ONE(ormqr_trans, cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, (cublasOperation_t)9, 8, 8, 8, s->a, 8, s->tau, s->c, 8, s->work,
                                  ROOM, s->info))
ONE(ormqr_trans_c,
    cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, 8, 8, 8, s->a, 8, s->tau, s->c, 8, s->work, ROOM, s->info))
ONE(unmqr_trans_t, cusolverDnZunmqr(h, CUBLAS_SIDE_LEFT, T, 4, 4, 4, s->a, 4, s->tau, s->c, 4, s->work, ROOM, s->info))
ONE(ormqr_k, cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, N, 4, 8, 8, s->a, 8, s->tau, s->c, 8, s->work, ROOM, s->info))
ONE(ormqr_ldc, cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, N, 8, 8, 8, s->a, 8, s->tau, s->c, 7, s->work, ROOM, s->info))

/* ---- symmetric, to two diagonals ---- */
ONE(sytrf_uplo, cusolverDnDsytrf(h, (cublasFillMode_t)7, 8, s->a, 8, s->pivots, s->work, ROOM, s->info))
ONE(sytrf_lda, cusolverDnDsytrf(h, LOWER, 8, s->a, 7, s->pivots, s->work, ROOM, s->info))
ONE(sytrf_n_0, cusolverDnDsytrf(h, LOWER, 0, s->a, 8, s->pivots, s->work, ROOM, s->info))
ONE(sytrf_pivots_null, cusolverDnDsytrf(h, LOWER, 8, s->a, 8, NULL, s->work, ROOM, s->info), .alone = true)
ONE(gebrd_m_less, cusolverDnDgebrd(h, 4, 8, s->a, 8, s->w, s->u, s->tau, s->v, s->work, ROOM, s->info))
ONE(gebrd_lda, cusolverDnDgebrd(h, 8, 8, s->a, 7, s->w, s->u, s->tau, s->v, s->work, ROOM, s->info))
ONE(orgbr_side, cusolverDnDorgbr(h, (cublasSideMode_t)7, 8, 8, 8, s->a, 8, s->tau, s->work, ROOM, s->info))
ONE(sytrd_uplo, cusolverDnDsytrd(h, (cublasFillMode_t)7, 8, s->a, 8, s->w, s->u, s->tau, s->work, ROOM, s->info))
ONE(orgtr_lda, cusolverDnDorgtr(h, LOWER, 8, s->a, 7, s->tau, s->work, ROOM, s->info))
ONE(ormtr_side,
    cusolverDnDormtr(h, (cublasSideMode_t)7, LOWER, N, 8, 8, s->a, 8, s->tau, s->c, 8, s->work, ROOM, s->info))

/* ---- singular values ---- */
ONE(gesvd_buffer_m_less, cusolverDnDgesvd_bufferSize(h, 4, 8, &s->lwork))
ONE(gesvd_buffer_negative, cusolverDnDgesvd_bufferSize(h, -4, 8, &s->lwork))
ONE(gesvd_m_less, cusolverDnDgesvd(h, 'A', 'A', 4, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_jobu, cusolverDnDgesvd(h, 'X', 'A', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_jobvt, cusolverDnDgesvd(h, 'A', 'X', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_both_o, cusolverDnDgesvd(h, 'O', 'O', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_jobu_small,
    cusolverDnDgesvd(h, 'a', 'A', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_ldu, cusolverDnDgesvd(h, 'A', 'A', 8, 8, s->a, 8, s->w, s->u, 7, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvd_ldvt, cusolverDnDgesvd(h, 'A', 'A', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 7, s->work, ROOM, NULL, s->info))
ONE(gesvd_ldu_n, cusolverDnDgesvd(h, 'N', 'N', 8, 8, s->a, 8, s->w, NULL, 1, NULL, 1, s->work, ROOM, NULL, s->info))
ONE(gesvd_lwork_0, cusolverDnDgesvd(h, 'A', 'A', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, 0, NULL, s->info))
ONE(gesvd_0, cusolverDnDgesvd(h, 'A', 'A', 0, 0, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info))
ONE(gesvdj_jobz, cusolverDnDgesvdj(h, (cusolverEigMode_t)7, 0, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM,
                                   s->info, gesvdj()))
ONE(gesvdj_econ,
    cusolverDnDgesvdj(h, VECTOR, 7, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, s->info, gesvdj()))
ONE(gesvdj_m, cusolverDnDgesvdj(h, VECTOR, 0, -8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, s->info, gesvdj()))
ONE(gesvdj_params_null,
    cusolverDnDgesvdj(h, VECTOR, 0, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, s->info, NULL), .alone = true)
ONE(gesvdj_lwork_0,
    cusolverDnDgesvdj(h, VECTOR, 0, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, 0, s->info, gesvdj()))
ONE(gesvdj_batched_33,
    cusolverDnDgesvdjBatched_bufferSize(h, VECTOR, 33, 33, s->a, 33, s->w, s->u, 33, s->v, 33, &s->lwork, gesvdj(), 1))
ONE(gesvdj_batched_ldv,
    cusolverDnDgesvdjBatched_bufferSize(h, VECTOR, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 7, &s->lwork, gesvdj(), 1))
ONE(gesvda_m_less, cusolverDnDgesvdaStridedBatched_bufferSize(h, VECTOR, 4, 4, 8, s->a, 8, 64, s->w, 8, s->u, 8, 64,
                                                              s->v, 8, 64, &s->lwork, 1))
ONE(gesvda_rank, cusolverDnDgesvdaStridedBatched_bufferSize(h, VECTOR, 9, 8, 8, s->a, 8, 64, s->w, 8, s->u, 8, 64, s->v,
                                                            8, 64, &s->lwork, 1))

/* ---- eigenvalues ---- */
ONE(syevd_buffer_jobz, cusolverDnDsyevd_bufferSize(h, (cusolverEigMode_t)7, LOWER, 8, s->a, 8, s->w, &s->lwork))
ONE(syevd_buffer_w_null, cusolverDnDsyevd_bufferSize(h, VECTOR, LOWER, 8, s->a, 8, NULL, &s->lwork))
ONE(syevd_jobz, cusolverDnDsyevd(h, (cusolverEigMode_t)7, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info))
ONE(syevd_uplo, cusolverDnDsyevd(h, VECTOR, (cublasFillMode_t)7, 8, s->a, 8, s->w, s->work, ROOM, s->info))
ONE(syevd_n, cusolverDnDsyevd(h, VECTOR, LOWER, -8, s->a, 8, s->w, s->work, ROOM, s->info))
ONE(syevd_n_0, cusolverDnDsyevd(h, VECTOR, LOWER, 0, s->a, 8, s->w, s->work, ROOM, s->info))
ONE(syevd_lda, cusolverDnDsyevd(h, VECTOR, LOWER, 8, s->a, 7, s->w, s->work, ROOM, s->info))
ONE(syevd_lwork_0, cusolverDnDsyevd(h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, 0, s->info))
ONE(syevdx_range, cusolverDnDsyevdx(h, VECTOR, (cusolverEigRange_t)7, LOWER, 8, s->a, 8, 0, 1, 1, 1, &(int){0}, s->w,
                                    s->work, ROOM, s->info))
ONE(syevdx_il, cusolverDnDsyevdx(h, VECTOR, CUSOLVER_EIG_RANGE_I, LOWER, 8, s->a, 8, 0, 0, 0, 3, &(int){0}, s->w,
                                 s->work, ROOM, s->info))
ONE(syevdx_iu, cusolverDnDsyevdx(h, VECTOR, CUSOLVER_EIG_RANGE_I, LOWER, 8, s->a, 8, 0, 0, 3, 9, &(int){0}, s->w,
                                 s->work, ROOM, s->info))
ONE(syevdx_vl_vu, cusolverDnDsyevdx(h, VECTOR, CUSOLVER_EIG_RANGE_V, LOWER, 8, s->a, 8, 5, 3, 0, 0, &(int){0}, s->w,
                                    s->work, ROOM, s->info))
ONE(syevdx_meig_null,
    cusolverDnDsyevdx(h, VECTOR, CUSOLVER_EIG_RANGE_ALL, LOWER, 8, s->a, 8, 0, 0, 0, 0, NULL, s->w, s->work, ROOM,
                      s->info),
    .alone = true)
ONE(syevj_params_null, cusolverDnDsyevj(h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info, NULL),
    .alone = true)
ONE(syevj_lwork_0, cusolverDnDsyevj(h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, 0, s->info, syevj()))
ONE(syevj_batched_negative,
    cusolverDnDsyevjBatched(h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info, syevj(), -1))
ONE(sygvd_itype,
    cusolverDnDsygvd(h, (cusolverEigType_t)4, VECTOR, LOWER, 8, s->a, 8, s->c, 8, s->w, s->work, ROOM, s->info))
ONE(sygvd_ldb,
    cusolverDnDsygvd(h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, 8, s->a, 8, s->c, 7, s->w, s->work, ROOM, s->info))

/* ---- sizes of workspaces, with leading dimensions that are too small ---- */
ONE(geqrf_buffer_lda, cusolverDnDgeqrf_bufferSize(h, 8, 4, s->a, 4, &s->lwork))
ONE(orgqr_buffer_lda, cusolverDnDorgqr_bufferSize(h, 8, 4, 4, s->a, 4, s->tau, &s->lwork))
ONE(ormqr_buffer_lda, cusolverDnDormqr_bufferSize(h, CUBLAS_SIDE_LEFT, N, 8, 8, 8, s->a, 7, s->tau, s->c, 8, &s->lwork))
ONE(ormqr_buffer_ldc, cusolverDnDormqr_bufferSize(h, CUBLAS_SIDE_LEFT, N, 8, 8, 8, s->a, 8, s->tau, s->c, 7, &s->lwork))
ONE(potri_buffer_lda, cusolverDnDpotri_bufferSize(h, LOWER, 8, s->a, 7, &s->lwork))
ONE(sytrf_buffer_lda, cusolverDnDsytrf_bufferSize(h, 8, s->a, 7, &s->lwork))
ONE(sytri_buffer_lda, cusolverDnDsytri_bufferSize(h, LOWER, 8, s->a, 7, s->pivots, &s->lwork))
ONE(gebrd_buffer_m_less, cusolverDnDgebrd_bufferSize(h, 4, 8, &s->lwork))
ONE(orgbr_buffer_lda, cusolverDnDorgbr_bufferSize(h, CUBLAS_SIDE_LEFT, 8, 8, 8, s->a, 7, s->tau, &s->lwork))
ONE(sytrd_buffer_lda, cusolverDnDsytrd_bufferSize(h, LOWER, 8, s->a, 7, s->w, s->u, s->tau, &s->lwork))
ONE(orgtr_buffer_lda, cusolverDnDorgtr_bufferSize(h, LOWER, 8, s->a, 7, s->tau, &s->lwork))
ONE(ormtr_buffer_lda,
    cusolverDnDormtr_bufferSize(h, CUBLAS_SIDE_LEFT, LOWER, N, 8, 8, s->a, 7, s->tau, s->c, 8, &s->lwork))
ONE(syevd_buffer_lda, cusolverDnDsyevd_bufferSize(h, VECTOR, LOWER, 8, s->a, 7, s->w, &s->lwork))
ONE(syevj_buffer_lda, cusolverDnDsyevj_bufferSize(h, VECTOR, LOWER, 8, s->a, 7, s->w, &s->lwork, syevj()))
ONE(syevj_batched_buffer_lda,
    cusolverDnDsyevjBatched_bufferSize(h, VECTOR, LOWER, 8, s->a, 7, s->w, &s->lwork, syevj(), 2))
ONE(syevdx_buffer_lda, cusolverDnDsyevdx_bufferSize(h, VECTOR, CUSOLVER_EIG_RANGE_ALL, LOWER, 8, s->a, 7, 0, 0, 0, 0,
                                                    &(int){0}, s->w, &s->lwork))
ONE(sygvd_buffer_lda,
    cusolverDnDsygvd_bufferSize(h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, 8, s->a, 7, s->c, 8, s->w, &s->lwork))
ONE(sygvd_buffer_ldb,
    cusolverDnDsygvd_bufferSize(h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, 8, s->a, 8, s->c, 7, s->w, &s->lwork))
ONE(gesvdj_buffer_lda,
    cusolverDnDgesvdj_bufferSize(h, VECTOR, 0, 8, 8, s->a, 7, s->w, s->u, 8, s->v, 8, &s->lwork, gesvdj()))
ONE(gesvdj_buffer_ldv,
    cusolverDnDgesvdj_bufferSize(h, VECTOR, 0, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 7, &s->lwork, gesvdj()))

/* ---- the 64-bit interface ---- */
static size_t on_device, on_host;
#define D64 CUDA_R_64F
#define HOST (char[1 << 16]){0}, 1 << 16
ONE(xgetrf_buffer, cusolverDnXgetrf_bufferSize(h, params(), 8, 8, D64, s->a, 8, D64, &on_device, &on_host))
ONE(xgetrf_buffer_params_null, cusolverDnXgetrf_bufferSize(h, NULL, 8, 8, D64, s->a, 8, D64, &on_device, &on_host))
ONE(xgetrf_buffer_half,
    cusolverDnXgetrf_bufferSize(h, params(), 8, 8, CUDA_R_16F, s->a, 8, CUDA_R_16F, &on_device, &on_host))
ONE(xgetrf_buffer_mixed, cusolverDnXgetrf_bufferSize(h, params(), 8, 8, D64, s->a, 8, CUDA_R_32F, &on_device, &on_host))
ONE(xgetrf_buffer_n, cusolverDnXgetrf_bufferSize(h, params(), 8, -8, D64, s->a, 8, D64, &on_device, &on_host))
ONE(xgetrf_buffer_null, cusolverDnXgetrf_bufferSize(h, params(), 8, 8, D64, s->a, 8, D64, NULL, &on_host),
    .alone = true)
ONE(xpotrf_buffer_lda, cusolverDnXpotrf_bufferSize(h, params(), LOWER, 8, D64, s->a, 7, D64, &on_device, &on_host))
ONE(xgetrf_buffer_lda, cusolverDnXgetrf_bufferSize(h, params(), 8, 8, D64, s->a, 7, D64, &on_device, &on_host))
ONE(xgeqrf_buffer_lda,
    cusolverDnXgeqrf_bufferSize(h, params(), 8, 4, D64, s->a, 4, D64, s->tau, D64, &on_device, &on_host))
ONE(xsyevd_buffer_lda,
    cusolverDnXsyevd_bufferSize(h, params(), VECTOR, LOWER, 8, D64, s->a, 7, D64, s->w, D64, &on_device, &on_host))
ONE(xgesvd_buffer_lda, cusolverDnXgesvd_bufferSize(h, params(), 'A', 'A', 8, 8, D64, s->a, 7, D64, s->w, D64, s->u, 8,
                                                   D64, s->v, 8, D64, &on_device, &on_host))
ONE(xgetrf_small, cusolverDnXgetrf(h, params(), 8, 8, D64, s->a, 8, (int64_t *)s->v, D64, s->work, 0, HOST, s->info))
ONE(xgetrf, cusolverDnXgetrf(h, params(), 8, 8, D64, s->a, 8, (int64_t *)s->v, D64, s->work, SV_ROOM, HOST, s->info))
ONE(xgetrf_pivots_null, cusolverDnXgetrf(h, params(), 8, 8, D64, s->a, 8, NULL, D64, s->work, SV_ROOM, HOST, s->info))
ONE(xgetrf_mixed,
    cusolverDnXgetrf(h, params(), 8, 8, D64, s->a, 8, (int64_t *)s->v, CUDA_R_32F, s->work, SV_ROOM, HOST, s->info))
ONE(xpotrf_uplo,
    cusolverDnXpotrf(h, params(), (cublasFillMode_t)7, 8, D64, s->a, 8, D64, s->work, SV_ROOM, HOST, s->info))
ONE(xpotrs_types, cusolverDnXpotrs(h, params(), LOWER, 8, 1, D64, s->a, 8, CUDA_R_32F, s->b, 8, s->info))
ONE(xgeqrf_tau,
    cusolverDnXgeqrf(h, params(), 8, 8, D64, s->a, 8, CUDA_R_32F, s->tau, D64, s->work, SV_ROOM, HOST, s->info))
ONE(xsyevd_w_type, cusolverDnXsyevd(h, params(), VECTOR, LOWER, 8, CUDA_C_64F, s->a, 8, CUDA_C_64F, s->w, CUDA_C_64F,
                                    s->work, SV_ROOM, HOST, s->info))
ONE(xgesvd_m_less, cusolverDnXgesvd_bufferSize(h, params(), 'A', 'A', 4, 8, D64, s->a, 8, D64, s->w, D64, s->u, 8, D64,
                                               s->v, 8, D64, &on_device, &on_host))
ONE(xgesvdp_econ, cusolverDnXgesvdp_bufferSize(h, params(), VECTOR, 7, 8, 8, D64, s->a, 8, D64, s->w, D64, s->u, 8, D64,
                                               s->v, 8, D64, &on_device, &on_host))
ONE(xgesvdr_k, cusolverDnXgesvdr_bufferSize(h, params(), 'S', 'S', 8, 8, 9, 2, 2, D64, s->a, 8, D64, s->w, D64, s->u, 8,
                                            D64, s->v, 8, D64, &on_device, &on_host))
ONE(xgesvdr_p, cusolverDnXgesvdr_bufferSize(h, params(), 'S', 'S', 8, 8, 4, 6, 2, D64, s->a, 8, D64, s->w, D64, s->u, 8,
                                            D64, s->v, 8, D64, &on_device, &on_host))
ONE(xgeev_left, cusolverDnXgeev_bufferSize(h, params(), VECTOR, VECTOR, 8, D64, s->a, 8, CUDA_C_64F, s->w, D64, s->u, 8,
                                           D64, s->v, 8, D64, &on_device, &on_host))
ONE(xgeev_w_real, cusolverDnXgeev_bufferSize(h, params(), CUSOLVER_EIG_MODE_NOVECTOR, VECTOR, 8, D64, s->a, 8, D64,
                                             s->w, D64, s->u, 8, D64, s->v, 8, D64, &on_device, &on_host))
ONE(xtrtri_diag, cusolverDnXtrtri_bufferSize(h, LOWER, (cublasDiagType_t)7, 8, D64, s->a, 8, &on_device, &on_host))
ONE(xsytrs_ldb,
    cusolverDnXsytrs_bufferSize(h, LOWER, 8, 1, D64, s->a, 8, (int64_t *)s->v, D64, s->b, 7, &on_device, &on_host))
ONE(xlarft_backward, cusolverDnXlarft_bufferSize(h, params(), CUBLAS_DIRECT_BACKWARD, CUBLAS_STOREV_COLUMNWISE, 8, 8,
                                                 D64, s->a, 8, D64, s->tau, D64, s->c, 8, D64, &on_device, &on_host))
ONE(xlarft_rowwise, cusolverDnXlarft_bufferSize(h, params(), CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_ROWWISE, 8, 8, D64,
                                                s->a, 8, D64, s->tau, D64, s->c, 8, D64, &on_device, &on_host))

/* ---- refinement ---- */
static cusolverDnIRSParams_t irs(void)
{
    cusolverDnIRSParams_t made;
    SV_NEED(cusolverDnIRSParamsCreate(&made));
    return made;
}

static cusolverDnIRSInfos_t infos(void)
{
    cusolverDnIRSInfos_t made;
    SV_NEED(cusolverDnIRSInfosCreate(&made));
    return made;
}

ONE(irs_params_null, cusolverDnIRSParamsCreate(NULL), .alone = true)
ONE(irs_destroy_null, cusolverDnIRSParamsDestroy(NULL))
ONE(irs_set_null, cusolverDnIRSParamsSetTol(NULL, 1e-8))
ONE(irs_solver_wrong, cusolverDnIRSParamsSetRefinementSolver(irs(), (cusolverIRSRefinement_t)7))
ONE(irs_solver_gmres, cusolverDnIRSParamsSetRefinementSolver(irs(), CUSOLVER_IRS_REFINE_GMRES))
ONE(irs_main_half, cusolverDnIRSParamsSetSolverMainPrecision(irs(), CUSOLVER_R_16F))
ONE(irs_main_wrong, cusolverDnIRSParamsSetSolverMainPrecision(irs(), (cusolverPrecType_t)7))
ONE(irs_main_double, cusolverDnIRSParamsSetSolverMainPrecision(irs(), CUSOLVER_R_64F))
ONE(irs_lowest_half, cusolverDnIRSParamsSetSolverLowestPrecision(irs(), CUSOLVER_R_16F))
ONE(irs_lowest_integer, cusolverDnIRSParamsSetSolverLowestPrecision(irs(), CUSOLVER_R_8I))
ONE(irs_max_iters_0, cusolverDnIRSParamsSetMaxIters(irs(), 0))
ONE(irs_max_iters_negative, cusolverDnIRSParamsSetMaxIters(irs(), -1))
ONE(irs_max_inner_0, cusolverDnIRSParamsSetMaxItersInner(irs(), 0))
ONE(irs_max_inner_300, cusolverDnIRSParamsSetMaxItersInner(irs(), 300))
ONE(irs_tol_negative, cusolverDnIRSParamsSetTol(irs(), -1))
ONE(irs_infos_null, cusolverDnIRSInfosCreate(NULL), .alone = true)
ONE(irs_infos_destroy_null, cusolverDnIRSInfosDestroy(NULL))
ONE(irs_infos_unused_niters, cusolverDnIRSInfosGetNiters(infos(), &(int){0}))
ONE(irs_infos_unused_history, cusolverDnIRSInfosGetResidualHistory(infos(), &(void *){0}))
ONE(irs_infos_request, cusolverDnIRSInfosRequestResidual(infos()))
ONE(gesv_n, cusolverDnDDgesv(h, -8, 1, s->a, 8, s->pivots, s->b, 8, s->c, 8, s->work, SV_ROOM, &(int){0}, s->info))
ONE(gesv_ldx, cusolverDnDDgesv(h, 8, 1, s->a, 8, s->pivots, s->b, 8, s->c, 7, s->work, SV_ROOM, &(int){0}, s->info))
ONE(gesv_small, cusolverDnDDgesv(h, 8, 1, s->a, 8, s->pivots, s->b, 8, s->c, 8, s->work, 0, &(int){0}, s->info))
ONE(gesv_iter_null, cusolverDnDDgesv(h, 8, 1, s->a, 8, s->pivots, s->b, 8, s->c, 8, s->work, SV_ROOM, NULL, s->info),
    .alone = true)
ONE(gesv_x_is_b, cusolverDnDDgesv(h, 8, 1, s->a, 8, s->pivots, s->b, 8, s->b, 8, s->work, SV_ROOM, &(int){0}, s->info))
ONE(gels_m_less, cusolverDnDDgels(h, 4, 8, 1, s->a, 8, s->b, 8, s->c, 8, s->work, SV_ROOM, &(int){0}, s->info))

CASE(solver_status, defaults)
{
    struct sv *s = sv_begin('D', SV_POSITIVE);
    cusolverDnHandle_t fresh;
    cusolverDeterministicMode_t mode = 77;
    cusolverMathMode_t math = 77;
    cudaEmulationStrategy_t strategy = 77;
    int major = 0, iters = 0;
    SV_NEED(cusolverDnCreate(&fresh));
    sv(cusolverDnGetDeterministicMode(fresh, &mode));
    sv(cusolverDnGetMathMode(fresh, &math));
    sv(cusolverDnGetEmulationStrategy(fresh, &strategy));
    sv(cusolverDnIRSParamsGetMaxIters(irs(), &iters));
    sv(cusolverGetProperty(MAJOR_VERSION, &major));
    say_int(mode);
    say_int(math);
    say_int(strategy);
    say_int(iters);
    say_int(major);
    sv(cusolverDnDestroy(fresh));
    (void)s;
}
