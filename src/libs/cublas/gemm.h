/* SPDX-License-Identifier: Apache-2.0 */
/* What products of matrices share: their checks. */
#ifndef MR_CUBLAS_GEMM_H
#define MR_CUBLAS_GEMM_H

#include "libs/cublas/blas.h"
#include "libs/math/product.h"

/* INVALID_VALUE for wrong operations, sizes and leading dimensions, NOT_SUPPORTED for those beyond 31 bits. */
cublasStatus_t mr_gemm_check(const struct mr_form *form, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
                             int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
    __attribute__((warn_unused_result));

/* Hgemm and its batches: half precision in and out, float between. `pointers`: a, b and c are arrays of pointers. */
cublasStatus_t mr_gemm_half(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                            int64_t lda, int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b,
                            const void *beta, void *c, int64_t ldc, int64_t stride_c, int64_t batch, bool pointers);

#endif
