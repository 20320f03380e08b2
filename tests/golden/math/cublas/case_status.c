/* SPDX-License-Identifier: Apache-2.0 */
/* What cuBLAS answers to arguments that are wrong, or ask for nothing. */
#include "bl.h"

#define N CUBLAS_OP_N
#define T CUBLAS_OP_T
#define LOWER CUBLAS_FILL_MODE_LOWER
#define LEFT CUBLAS_SIDE_LEFT
#define UNIT CUBLAS_DIAG_UNIT

/* A case of one call; `b` is the fixture, h the handle. */
#define ONE(title, call, ...) \
    CASE(blas_status, title, __VA_ARGS__) \
    { \
        struct bl fixture = bl_begin('S'), *b = &fixture; \
        cublasHandle_t h = b->h; \
        (void)h; \
        bl(call); \
    }

/* Hardware takes what the manual refuses. */
#define MANUAL(answer) .allow = answer, .why = "the manual's status: hardware takes the argument"

static cublasHandle_t dead(void)
{
    cublasHandle_t handle;
    BL_NEED(cublasCreate(&handle));
    BL_NEED(cublasDestroy(handle));
    return handle;
}

/* ---- handles and settings ---- */
ONE(create_null, cublasCreate(NULL))
ONE(destroy_null, cublasDestroy(NULL))
ONE(version_null_handle, cublasGetVersion(NULL, &(int){0}))
ONE(version_null, cublasGetVersion(h, NULL), .alone = true)
ONE(set_stream_null_handle, cublasSetStream(NULL, NULL))
ONE(get_stream_null, cublasGetStream(h, NULL), .alone = true)
ONE(pointer_mode_wrong, cublasSetPointerMode(h, (cublasPointerMode_t)7))
ONE(get_pointer_mode_null, cublasGetPointerMode(h, NULL), .alone = true)
ONE(math_mode_wrong, cublasSetMathMode(h, (cublasMath_t)77))
ONE(math_mode_tf32, cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH))
ONE(math_mode_flag, cublasSetMathMode(h, (cublasMath_t)(CUBLAS_TF32_TENSOR_OP_MATH | 16)))
ONE(atomics_wrong, cublasSetAtomicsMode(h, (cublasAtomicsMode_t)5))
ONE(sm_count_negative, cublasSetSmCountTarget(h, -1))
ONE(sm_count_large, cublasSetSmCountTarget(h, 100000))
ONE(workspace_null, cublasSetWorkspace(h, NULL, 0))
ONE(workspace_null_size, cublasSetWorkspace(h, NULL, 1024))
ONE(workspace_odd, cublasSetWorkspace(h, (char *)b->a + 8, 1024))
ONE(workspace, cublasSetWorkspace(h, b->a, 1024))
ONE(property_wrong, cublasGetProperty((libraryPropertyType)9, &(int){0}))
ONE(property_null, cublasGetProperty(MAJOR_VERSION, NULL), .alone = true)
ONE(gemm_null_handle, cublasSgemm(NULL, N, N, 2, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))

/* ---- level 1 ---- */
ONE(axpy_n_0, cublasSaxpy(h, 0, b->one, b->a, 1, b->b, 1))
ONE(axpy_n_negative, cublasSaxpy(h, -1, b->one, b->a, 1, b->b, 1))
ONE(axpy_inc_0, cublasSaxpy(h, 4, b->one, b->a, 0, b->b, 0))
ONE(axpy_alpha_null, cublasSaxpy(h, 4, NULL, b->a, 1, b->b, 1), RT_CRASHES("INVALID_VALUE"))
ONE(axpy_n_0_alpha_null, cublasSaxpy(h, 0, NULL, b->a, 1, b->b, 1))
ONE(axpy_n_0_null, cublasSaxpy(h, 0, b->one, NULL, 1, NULL, 1))
ONE(scal_inc_0, cublasSscal(h, 4, b->one, b->a, 0))
ONE(scal_inc_negative, cublasSscal(h, 4, b->two, b->a, -1))
ONE(scal_alpha_null, cublasSscal(h, 4, NULL, b->a, 1), RT_CRASHES("INVALID_VALUE"))
ONE(dot_result_null, cublasSdot(h, 4, b->a, 1, b->b, 1, NULL), .alone = true)
ONE(nrm2_result_null, cublasSnrm2(h, 4, b->a, 1, NULL), .alone = true)
ONE(nrm2_n_0, cublasSnrm2(h, 0, NULL, 1, &(float){0}))
ONE(asum_inc_0, cublasSasum(h, 4, b->a, 0, &(float){0}))
ONE(iamax_n_0, cublasIsamax(h, 0, b->a, 1, &(int){0}))
ONE(iamax_n_negative, cublasIsamax(h, -3, b->a, 1, &(int){0}))
ONE(copy_n_0, cublasScopy(h, 0, NULL, 1, NULL, 1))
ONE(copy_inc_0, cublasScopy(h, 4, b->a, 0, b->b, 1))
ONE(rotg_null, cublasSrotg(h, NULL, NULL, NULL, NULL), RT_CRASHES("INVALID_VALUE"))
ONE(rot_null, cublasSrot(h, 4, b->a, 1, b->b, 1, NULL, NULL), RT_CRASHES("INVALID_VALUE"))

/* ---- level 2 ---- */
ONE(gemv_m_negative, cublasSgemv(h, N, -1, 2, b->one, b->a, 2, b->b, 1, b->zero, b->c, 1), MANUAL("INVALID_VALUE"))
ONE(gemv_lda, cublasSgemv(h, N, 4, 2, b->one, b->a, 3, b->b, 1, b->zero, b->c, 1))
ONE(gemv_lda_0, cublasSgemv(h, N, 0, 2, b->one, b->a, 0, b->b, 1, b->zero, b->c, 1))
ONE(gemv_incx_0, cublasSgemv(h, N, 2, 2, b->one, b->a, 2, b->b, 0, b->zero, b->c, 1), MANUAL("INVALID_VALUE"))
ONE(gemv_incy_0, cublasSgemv(h, N, 2, 2, b->one, b->a, 2, b->b, 1, b->zero, b->c, 0), MANUAL("INVALID_VALUE"))
ONE(gemv_op, cublasSgemv(h, (cublasOperation_t)9, 2, 2, b->one, b->a, 2, b->b, 1, b->zero, b->c, 1),
    MANUAL("INVALID_VALUE"))
ONE(gemv_op_conjg, cublasSgemv(h, CUBLAS_OP_CONJG, 2, 2, b->one, b->a, 2, b->b, 1, b->zero, b->c, 1),
    MANUAL("INVALID_VALUE"))
ONE(gemv_alpha_null, cublasSgemv(h, N, 2, 2, NULL, b->a, 2, b->b, 1, b->zero, b->c, 1), RT_CRASHES("INVALID_VALUE"))
ONE(gemv_beta_null, cublasSgemv(h, N, 2, 2, b->one, b->a, 2, b->b, 1, NULL, b->c, 1), RT_CRASHES("INVALID_VALUE"))
ONE(gemv_0_null, cublasSgemv(h, N, 0, 0, b->one, NULL, 1, NULL, 1, b->zero, NULL, 1))
ONE(gemv_0_alpha_null, cublasSgemv(h, N, 0, 0, NULL, NULL, 1, NULL, 1, NULL, NULL, 1))
ONE(gbmv_lda, cublasSgbmv(h, N, 4, 4, 1, 1, b->one, b->a, 2, b->b, 1, b->zero, b->c, 1))
ONE(gbmv_kl, cublasSgbmv(h, N, 4, 4, -1, 1, b->one, b->a, 4, b->b, 1, b->zero, b->c, 1))
ONE(trmv_uplo, cublasStrmv(h, (cublasFillMode_t)5, N, UNIT, 2, b->a, 2, b->b, 1))
ONE(trmv_uplo_full, cublasStrmv(h, CUBLAS_FILL_MODE_FULL, N, UNIT, 2, b->a, 2, b->b, 1))
ONE(trmv_diag, cublasStrmv(h, LOWER, N, (cublasDiagType_t)5, 2, b->a, 2, b->b, 1))
ONE(trmv_n, cublasStrmv(h, LOWER, N, UNIT, -2, b->a, 2, b->b, 1))
ONE(trmv_lda, cublasStrmv(h, LOWER, N, UNIT, 4, b->a, 2, b->b, 1))
ONE(trmv_inc_0, cublasStrmv(h, LOWER, N, UNIT, 4, b->a, 4, b->b, 0))
ONE(tbmv_k, cublasStbmv(h, LOWER, N, UNIT, 4, -1, b->a, 4, b->b, 1))
ONE(tbmv_lda, cublasStbmv(h, LOWER, N, UNIT, 4, 2, b->a, 2, b->b, 1))
ONE(tpsv_inc_0, cublasStpsv(h, LOWER, N, UNIT, 4, b->a, b->b, 0))
ONE(symv_lda, cublasSsymv(h, LOWER, 4, b->one, b->a, 3, b->b, 1, b->zero, b->c, 1))
ONE(symv_n, cublasSsymv(h, LOWER, -4, b->one, b->a, 4, b->b, 1, b->zero, b->c, 1))
ONE(symv_n_0, cublasSsymv(h, LOWER, 0, b->one, b->a, 0, b->b, 1, b->zero, b->c, 1))
ONE(sbmv_k, cublasSsbmv(h, LOWER, 4, -1, b->one, b->a, 4, b->b, 1, b->zero, b->c, 1))
ONE(ger_lda, cublasSger(h, 4, 2, b->one, b->a, 1, b->b, 1, b->c, 3))
ONE(ger_inc_0, cublasSger(h, 4, 2, b->one, b->a, 0, b->b, 1, b->c, 4))
ONE(ger_m, cublasSger(h, -4, 2, b->one, b->a, 1, b->b, 1, b->c, 4))
ONE(syr_lda, cublasSsyr(h, LOWER, 4, b->one, b->a, 1, b->c, 3))
ONE(syr2_inc_0, cublasSsyr2(h, LOWER, 4, b->one, b->a, 1, b->b, 0, b->c, 4))
ONE(spr_n, cublasSspr(h, LOWER, -1, b->one, b->a, 1, b->c))

/* ---- level 3 ---- */
ONE(gemm_m, cublasSgemm(h, N, N, -1, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(gemm_k, cublasSgemm(h, N, N, 2, 2, -1, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(gemm_lda, cublasSgemm(h, N, N, 4, 2, 2, b->one, b->a, 3, b->b, 2, b->zero, b->c, 4))
ONE(gemm_lda_t, cublasSgemm(h, T, N, 4, 2, 2, b->one, b->a, 1, b->b, 2, b->zero, b->c, 4))
ONE(gemm_ldb, cublasSgemm(h, N, N, 4, 2, 3, b->one, b->a, 4, b->b, 2, b->zero, b->c, 4))
ONE(gemm_ldc, cublasSgemm(h, N, N, 4, 2, 2, b->one, b->a, 4, b->b, 2, b->zero, b->c, 3))
ONE(gemm_ld_0, cublasSgemm(h, N, N, 0, 0, 0, b->one, b->a, 0, b->b, 0, b->zero, b->c, 0))
ONE(gemm_ld_1_empty, cublasSgemm(h, N, N, 0, 0, 0, b->one, b->a, 1, b->b, 1, b->zero, b->c, 1))
ONE(gemm_op, cublasSgemm(h, (cublasOperation_t)9, N, 2, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(gemm_op_conjg, cublasSgemm(h, CUBLAS_OP_CONJG, N, 2, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(gemm_alpha_null, cublasSgemm(h, N, N, 2, 2, 2, NULL, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(gemm_beta_null, cublasSgemm(h, N, N, 2, 2, 2, b->one, b->a, 2, b->b, 2, NULL, b->c, 2))
ONE(gemm_empty_null, cublasSgemm(h, N, N, 0, 2, 2, NULL, NULL, 1, NULL, 2, NULL, NULL, 1))
ONE(gemm_k_0, cublasSgemm(h, N, N, 2, 2, 0, b->one, NULL, 2, NULL, 1, b->zero, b->c, 2))
ONE(gemm_a_null, cublasSgemm(h, N, N, 2, 2, 2, b->zero, NULL, 2, NULL, 2, b->zero, b->c, 2))
ONE(gemm_c_null_beta_0, cublasSgemm(h, N, N, 2, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, NULL, 2), .alone = true)
ONE(syrk_trans, cublasSsyrk(h, LOWER, (cublasOperation_t)9, 2, 2, b->one, b->a, 2, b->zero, b->c, 2))
ONE(syrk_trans_c, cublasSsyrk(h, LOWER, CUBLAS_OP_C, 2, 2, b->one, b->a, 2, b->zero, b->c, 2))
ONE(csyrk_trans_c, cublasCsyrk(h, LOWER, CUBLAS_OP_C, 2, 2, b->one, b->a, 2, b->zero, b->c, 2), MANUAL("INVALID_VALUE"))
ONE(cherk_trans_t, cublasCherk(h, LOWER, T, 2, 2, (float *)b->one, b->a, 2, (float *)b->zero, b->c, 2),
    MANUAL("INVALID_VALUE"))
ONE(syrk_ldc, cublasSsyrk(h, LOWER, N, 4, 2, b->one, b->a, 4, b->zero, b->c, 3))
ONE(syrk_n, cublasSsyrk(h, LOWER, N, -4, 2, b->one, b->a, 4, b->zero, b->c, 3))
ONE(symm_side, cublasSsymm(h, (cublasSideMode_t)5, LOWER, 2, 2, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(symm_lda_right, cublasSsymm(h, CUBLAS_SIDE_RIGHT, LOWER, 2, 4, b->one, b->a, 2, b->b, 2, b->zero, b->c, 2))
ONE(trsm_side, cublasStrsm(h, (cublasSideMode_t)5, LOWER, N, UNIT, 2, 2, b->one, b->a, 2, b->b, 2))
ONE(trsm_lda, cublasStrsm(h, LEFT, LOWER, N, UNIT, 4, 2, b->one, b->a, 3, b->b, 4))
ONE(trsm_ldb, cublasStrsm(h, LEFT, LOWER, N, UNIT, 4, 2, b->one, b->a, 4, b->b, 3))
ONE(trsm_alpha_null, cublasStrsm(h, LEFT, LOWER, N, UNIT, 4, 2, NULL, b->a, 4, b->b, 4))
ONE(trsm_empty, cublasStrsm(h, LEFT, LOWER, N, UNIT, 0, 2, b->one, NULL, 1, NULL, 1))
ONE(trmm_ldc, cublasStrmm(h, LEFT, LOWER, N, UNIT, 4, 2, b->one, b->a, 4, b->b, 4, b->c, 3))
ONE(trmm_in_place_ld, cublasStrmm(h, LEFT, LOWER, N, UNIT, 4, 2, b->one, b->a, 4, b->b, 4, b->b, 5),
    MANUAL("INVALID_VALUE"))

/* ---- batches, mixed types, extensions ---- */
ONE(batched_negative, cublasSgemmBatched(h, N, N, 2, 2, 2, b->one, NULL, 2, NULL, 2, b->zero, NULL, 2, -1))
ONE(batched_0, cublasSgemmBatched(h, N, N, 2, 2, 2, b->one, NULL, 2, NULL, 2, b->zero, NULL, 2, 0))
ONE(strided_negative,
    cublasSgemmStridedBatched(h, N, N, 2, 2, 2, b->one, b->a, 2, 4, b->b, 2, 4, b->zero, b->c, 2, 4, -1))
ONE(strided_0, cublasSgemmStridedBatched(h, N, N, 2, 2, 2, b->one, b->a, 2, 4, b->b, 2, 4, b->zero, b->c, 2, 4, 0))
ONE(strided_stride_0,
    cublasSgemmStridedBatched(h, N, N, 2, 2, 2, b->one, b->a, 2, 0, b->b, 2, 0, b->zero, b->c, 2, 4, 2))
ONE(strided_stride_negative,
    cublasSgemmStridedBatched(h, N, N, 2, 2, 2, b->one, b->a, 2, -4, b->b, 2, 4, b->zero, b->c, 2, 4, 1))
#define EX(title, at, bt, ct, compute) \
    ONE(ex_##title, cublasGemmEx(h, N, N, 4, 4, 4, b->zero, b->a, at, 4, b->b, bt, 4, b->zero, b->c, ct, 4, compute, \
                                 CUBLAS_GEMM_DEFAULT))
EX(f32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F)
EX(f32_pedantic, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC)
EX(f32_tf32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32)
EX(f32_in_64, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_64F)
EX(f32_in_16, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_16F)
EX(f64, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F)
EX(f64_in_32, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F)
EX(f16, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F)
EX(f16_in_32, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F)
EX(f16_to_32, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F)
EX(f16_to_32_in_16, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F)
EX(bf16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F)
EX(bf16_to_32, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F)
EX(bf16_in_16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_16F)
EX(f16_bf16, CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F)
EX(i8, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I)
EX(i8_to_f32, CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F)
EX(i8_to_i8, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I)
EX(c32, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F)
EX(c64, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F)
EX(c8, CUDA_C_8I, CUDA_C_8I, CUDA_C_32F, CUBLAS_COMPUTE_32F)
EX(fp8, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16F, CUBLAS_COMPUTE_32F)
EX(unknown, (cudaDataType)99, (cudaDataType)99, (cudaDataType)99, CUBLAS_COMPUTE_32F)
EX(compute_unknown, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, (cublasComputeType_t)99)
ONE(ex_algo, cublasGemmEx(h, N, N, 4, 4, 4, b->zero, b->a, CUDA_R_32F, 4, b->b, CUDA_R_32F, 4, b->zero, b->c,
                          CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, (cublasGemmAlgo_t)500))
ONE(ex_algo_7, cublasGemmEx(h, N, N, 4, 4, 4, b->zero, b->a, CUDA_R_32F, 4, b->b, CUDA_R_32F, 4, b->zero, b->c,
                            CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_ALGO7))
ONE(geam_ldc, cublasSgeam(h, N, N, 4, 2, b->one, b->a, 4, b->zero, b->b, 4, b->c, 3))
ONE(geam_in_place_t, cublasSgeam(h, T, N, 4, 4, b->one, b->c, 4, b->zero, b->b, 4, b->c, 4))
ONE(geam_in_place_ld, cublasSgeam(h, N, N, 4, 4, b->one, b->c, 5, b->zero, b->b, 4, b->c, 4))
ONE(geam_in_place, cublasSgeam(h, N, N, 4, 4, b->one, b->c, 4, b->zero, b->b, 4, b->c, 4))
ONE(geam_b_null, cublasSgeam(h, N, N, 4, 4, b->one, b->a, 4, b->zero, NULL, 4, b->c, 4))
ONE(dgmm_lda, cublasSdgmm(h, LEFT, 4, 2, b->a, 3, b->b, 1, b->c, 4))
ONE(dgmm_inc_0, cublasSdgmm(h, LEFT, 4, 2, b->a, 4, b->b, 0, b->c, 4))
ONE(dgmm_mode, cublasSdgmm(h, (cublasSideMode_t)5, 4, 2, b->a, 4, b->b, 1, b->c, 4))
ONE(getrf_n, cublasSgetrfBatched(h, -1, NULL, 1, NULL, b->a, 1))
ONE(getrf_lda, cublasSgetrfBatched(h, 4, b->a, 3, NULL, b->a, 1))
ONE(getrf_0, cublasSgetrfBatched(h, 4, b->a, 4, NULL, b->a, 0))
ONE(matinv_33, cublasSmatinvBatched(h, 33, b->a, 33, b->a, 33, b->b, 0))
ONE(matinv_33_one, cublasSmatinvBatched(h, 33, (const float *const *)b->a, 33, b->b, 33, b->c, 1), .alone = true)
ONE(tpttr_lda, cublasStpttr(h, LOWER, 4, b->a, b->c, 3))

CASE(blas_status, getrs_info)
{
    struct bl f = bl_begin('S');
    int info = 77;
    bl(cublasSgetrsBatched(f.h, N, -1, 1, f.a, 1, NULL, f.b, 1, &info, 1));
    say_int(info);
    bl(cublasSgetrsBatched(f.h, N, 4, 1, f.a, 3, NULL, f.b, 4, &info, 1));
    say_int(info);
    bl(cublasSgetrsBatched(f.h, N, 4, 1, f.a, 4, NULL, f.b, 3, &info, 1));
    say_int(info);
    bl(cublasSgetrsBatched(f.h, N, 4, 1, f.a, 4, NULL, f.b, 4, &info, -1));
    say_int(info);
}

/* ---- copies ---- */
ONE(set_vector_inc_0, cublasSetVector(4, 4, b->one, 0, b->a, 1))
ONE(set_vector_size_0, cublasSetVector(4, 0, b->one, 1, b->a, 1))
ONE(set_vector_n_0, cublasSetVector(0, 4, b->one, 1, b->a, 1))
ONE(set_vector_n_negative, cublasSetVector(-1, 4, b->one, 1, b->a, 1))
ONE(set_matrix_lda, cublasSetMatrix(4, 2, 4, b->one, 3, b->a, 4))
ONE(set_matrix_rows, cublasSetMatrix(-4, 2, 4, b->one, 4, b->a, 4))
ONE(set_matrix_0, cublasSetMatrix(0, 0, 4, b->one, 1, b->a, 1))

CASE(blas_status, dead_handle, .alone = true, .allow = "NOT_INITIALIZED",
     .why = "the manual leaves open what becomes of a handle that was destroyed")
{
    bl(cublasSetPointerMode(dead(), CUBLAS_POINTER_MODE_HOST));
}

CASE(blas_handle, settings)
{
    struct bl f = bl_begin('S');
    cublasPointerMode_t pointer = (cublasPointerMode_t)9;
    cublasAtomicsMode_t atomics = (cublasAtomicsMode_t)9;
    cublasMath_t math = (cublasMath_t)99;
    cudaStream_t stream = (cudaStream_t)f.a;
    int count = 77;
    bl(cublasGetPointerMode(f.h, &pointer));
    say_int(pointer);
    bl(cublasGetAtomicsMode(f.h, &atomics));
    say_int(atomics);
    bl(cublasGetMathMode(f.h, &math));
    say_int(math);
    bl(cublasGetStream(f.h, &stream));
    say_if("none", stream == NULL);
    bl(cublasGetSmCountTarget(f.h, &count));
    say_int(count);
    bl(cublasSetMathMode(f.h, (cublasMath_t)(CUBLAS_PEDANTIC_MATH | 16)));
    bl(cublasGetMathMode(f.h, &math));
    say_int(math);
}
