/* SPDX-License-Identifier: Apache-2.0 */
/* The old interface: functions of matrices. Letters say what a matrix is, as in Fortran, small or large; any other
 * letter becomes a value that no body takes. */
#include "libs/cublas/old.h"

#define NO_SUCH 99

static cublasOperation_t op_of(char letter)
{
    switch (letter) {
    case 'N':
    case 'n':
        return CUBLAS_OP_N;
    case 'T':
    case 't':
        return CUBLAS_OP_T;
    case 'C':
    case 'c':
        return CUBLAS_OP_C;
    default:
        return (cublasOperation_t)NO_SUCH;
    }
}

/* `one` for its letter, `other` for its; letters are small here. */
static int letter_of(char letter, char first, int one, char second, int other)
{
    int small = letter | 0x20;
    if (small == first)
        return one;
    return small == second ? other : NO_SUCH;
}

static cublasFillMode_t uplo_of(char letter)
{
    return (cublasFillMode_t)letter_of(letter, 'l', CUBLAS_FILL_MODE_LOWER, 'u', CUBLAS_FILL_MODE_UPPER);
}

static cublasSideMode_t side_of(char letter)
{
    return (cublasSideMode_t)letter_of(letter, 'l', CUBLAS_SIDE_LEFT, 'r', CUBLAS_SIDE_RIGHT);
}

static cublasDiagType_t diag_of(char letter)
{
    return (cublasDiagType_t)letter_of(letter, 'n', CUBLAS_DIAG_NON_UNIT, 'u', CUBLAS_DIAG_UNIT);
}

void mr_cublas_old_gemv(const struct mr_form *form, char trans, int64_t m, int64_t n, const void *alpha, const void *A,
                        int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(gemv, op_of(trans), m, n, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_gbmv(const struct mr_form *form, char trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
                        const void *alpha, const void *A, int64_t lda, const void *x, int64_t incx, const void *beta,
                        void *y, int64_t incy)
{
    MR_OLD(gbmv, op_of(trans), m, n, kl, ku, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_trmv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, const void *A,
                        int64_t lda, void *x, int64_t incx)
{
    MR_OLD(trmv, uplo_of(uplo), op_of(trans), diag_of(diag), n, A, lda, x, incx);
}

void mr_cublas_old_tbmv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, int64_t k,
                        const void *A, int64_t lda, void *x, int64_t incx)
{
    MR_OLD(tbmv, uplo_of(uplo), op_of(trans), diag_of(diag), n, k, A, lda, x, incx);
}

void mr_cublas_old_tpmv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, const void *AP,
                        void *x, int64_t incx)
{
    MR_OLD(tpmv, uplo_of(uplo), op_of(trans), diag_of(diag), n, AP, x, incx);
}

void mr_cublas_old_trsv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, const void *A,
                        int64_t lda, void *x, int64_t incx)
{
    MR_OLD(trsv, uplo_of(uplo), op_of(trans), diag_of(diag), n, A, lda, x, incx);
}

void mr_cublas_old_tpsv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, const void *AP,
                        void *x, int64_t incx)
{
    MR_OLD(tpsv, uplo_of(uplo), op_of(trans), diag_of(diag), n, AP, x, incx);
}

void mr_cublas_old_tbsv(const struct mr_form *form, char uplo, char trans, char diag, int64_t n, int64_t k,
                        const void *A, int64_t lda, void *x, int64_t incx)
{
    MR_OLD(tbsv, uplo_of(uplo), op_of(trans), diag_of(diag), n, k, A, lda, x, incx);
}

void mr_cublas_old_symv(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *A, int64_t lda,
                        const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(symv, uplo_of(uplo), n, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_hemv(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *A, int64_t lda,
                        const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(hemv, uplo_of(uplo), n, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_sbmv(const struct mr_form *form, char uplo, int64_t n, int64_t k, const void *alpha, const void *A,
                        int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(sbmv, uplo_of(uplo), n, k, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_hbmv(const struct mr_form *form, char uplo, int64_t n, int64_t k, const void *alpha, const void *A,
                        int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(hbmv, uplo_of(uplo), n, k, alpha, A, lda, x, incx, beta, y, incy);
}

void mr_cublas_old_spmv(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *AP,
                        const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(spmv, uplo_of(uplo), n, alpha, AP, x, incx, beta, y, incy);
}

void mr_cublas_old_hpmv(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *AP,
                        const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    MR_OLD(hpmv, uplo_of(uplo), n, alpha, AP, x, incx, beta, y, incy);
}

void mr_cublas_old_ger(const struct mr_form *form, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
                       const void *y, int64_t incy, void *A, int64_t lda)
{
    MR_OLD(ger, m, n, alpha, x, incx, y, incy, A, lda);
}

void mr_cublas_old_geru(const struct mr_form *form, int64_t m, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *A, int64_t lda)
{
    MR_OLD(geru, m, n, alpha, x, incx, y, incy, A, lda);
}

void mr_cublas_old_gerc(const struct mr_form *form, int64_t m, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *A, int64_t lda)
{
    MR_OLD(gerc, m, n, alpha, x, incx, y, incy, A, lda);
}

void mr_cublas_old_syr(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
                       void *A, int64_t lda)
{
    MR_OLD(syr, uplo_of(uplo), n, alpha, x, incx, A, lda);
}

void mr_cublas_old_her(const struct mr_form *form, char uplo, int64_t n, double alpha, const void *x, int64_t incx,
                       void *A, int64_t lda)
{
    MR_OLD(her, uplo_of(uplo), n, MR_OLD_REAL(alpha), x, incx, A, lda);
}

void mr_cublas_old_spr(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
                       void *AP)
{
    MR_OLD(spr, uplo_of(uplo), n, alpha, x, incx, AP);
}

void mr_cublas_old_hpr(const struct mr_form *form, char uplo, int64_t n, double alpha, const void *x, int64_t incx,
                       void *AP)
{
    MR_OLD(hpr, uplo_of(uplo), n, MR_OLD_REAL(alpha), x, incx, AP);
}

void mr_cublas_old_syr2(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *A, int64_t lda)
{
    MR_OLD(syr2, uplo_of(uplo), n, alpha, x, incx, y, incy, A, lda);
}

void mr_cublas_old_her2(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *A, int64_t lda)
{
    MR_OLD(her2, uplo_of(uplo), n, alpha, x, incx, y, incy, A, lda);
}

void mr_cublas_old_spr2(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *AP)
{
    MR_OLD(spr2, uplo_of(uplo), n, alpha, x, incx, y, incy, AP);
}

void mr_cublas_old_hpr2(const struct mr_form *form, char uplo, int64_t n, const void *alpha, const void *x,
                        int64_t incx, const void *y, int64_t incy, void *AP)
{
    MR_OLD(hpr2, uplo_of(uplo), n, alpha, x, incx, y, incy, AP);
}

void mr_cublas_old_gemm(const struct mr_form *form, char transa, char transb, int64_t m, int64_t n, int64_t k,
                        const void *alpha, const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta,
                        void *C, int64_t ldc)
{
    MR_OLD(gemm, op_of(transa), op_of(transb), m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void mr_cublas_old_syrk(const struct mr_form *form, char uplo, char trans, int64_t n, int64_t k, const void *alpha,
                        const void *A, int64_t lda, const void *beta, void *C, int64_t ldc)
{
    MR_OLD(syrk, uplo_of(uplo), op_of(trans), n, k, alpha, A, lda, beta, C, ldc);
}

void mr_cublas_old_herk(const struct mr_form *form, char uplo, char trans, int64_t n, int64_t k, double alpha,
                        const void *A, int64_t lda, double beta, void *C, int64_t ldc)
{
    MR_OLD(herk, uplo_of(uplo), op_of(trans), n, k, MR_OLD_REAL(alpha), A, lda, MR_OLD_REAL(beta), C, ldc);
}

void mr_cublas_old_syr2k(const struct mr_form *form, char uplo, char trans, int64_t n, int64_t k, const void *alpha,
                         const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc)
{
    MR_OLD(syr2k, uplo_of(uplo), op_of(trans), n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void mr_cublas_old_her2k(const struct mr_form *form, char uplo, char trans, int64_t n, int64_t k, const void *alpha,
                         const void *A, int64_t lda, const void *B, int64_t ldb, double beta, void *C, int64_t ldc)
{
    MR_OLD(her2k, uplo_of(uplo), op_of(trans), n, k, alpha, A, lda, B, ldb, MR_OLD_REAL(beta), C, ldc);
}

void mr_cublas_old_symm(const struct mr_form *form, char side, char uplo, int64_t m, int64_t n, const void *alpha,
                        const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc)
{
    MR_OLD(symm, side_of(side), uplo_of(uplo), m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void mr_cublas_old_hemm(const struct mr_form *form, char side, char uplo, int64_t m, int64_t n, const void *alpha,
                        const void *A, int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc)
{
    MR_OLD(hemm, side_of(side), uplo_of(uplo), m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void mr_cublas_old_trsm(const struct mr_form *form, char side, char uplo, char trans, char diag, int64_t m, int64_t n,
                        const void *alpha, const void *A, int64_t lda, void *B, int64_t ldb)
{
    MR_OLD(trsm, side_of(side), uplo_of(uplo), op_of(trans), diag_of(diag), m, n, alpha, A, lda, B, ldb);
}

void mr_cublas_old_trmm(const struct mr_form *form, char side, char uplo, char trans, char diag, int64_t m, int64_t n,
                        const void *alpha, const void *A, int64_t lda, void *B, int64_t ldb)
{
    MR_OLD(trmm, side_of(side), uplo_of(uplo), op_of(trans), diag_of(diag), m, n, alpha, A, lda, B, ldb, B, ldb);
}
