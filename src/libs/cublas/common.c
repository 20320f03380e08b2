/* SPDX-License-Identifier: Apache-2.0 */
/* What several kinds of products use: the checks of a general one, a product on this thread, 1 and 0. */
#include "libs/cublas/gemm.h"

const void *mr_one_of(enum mr_cpu_type type)
{
    static const float single[2] = {1, 0};
    static const double two[2] = {1, 0};
    return mr_real_size_of(type) == 4 ? (const void *)single : two;
}

const void *mr_zero_of(enum mr_cpu_type type)
{
    static const double zero[2] = {0, 0};
    (void)type;
    return zero;
}

static bool is_zero(enum mr_cpu_type type, const void *scalar)
{
    const float *single = scalar;
    const double *two = scalar;
    bool is_complex = mr_size_of(type) != mr_real_size_of(type);
    if (mr_real_size_of(type) == 4)
        return single[0] == 0 && (!is_complex || single[1] == 0);
    return two[0] == 0 && (!is_complex || two[1] == 0);
}

/* Where alpha is 0, A and B are not read: the CPU library reads those of some small products. */
void mr_gemm_here(enum mr_cpu_type type, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                  int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  const void *beta, void *c, int64_t ldc)
{
    char ta = mr_letter_of_op(transa), tb = mr_letter_of_op(transb);
    int sizes[] = {(int)m, (int)n, is_zero(type, alpha) ? 0 : (int)k, (int)lda, (int)ldb, (int)ldc};
    mr_cpu.gemm[type](&ta, &tb, &sizes[0], &sizes[1], &sizes[2], alpha, a, &sizes[3], b, &sizes[4], beta, c, &sizes[5]);
}

cublasStatus_t mr_gemm_check(const struct mr_form *form, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
                             int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
    MR_CHECK(form, mr_is_op(transa) && mr_is_op(transb));
    MR_CHECK(form, m >= 0 && n >= 0 && k >= 0);
    MR_CHECK(form, lda >= mr_at_least_1(transa == CUBLAS_OP_N ? m : k));
    MR_CHECK(form, ldb >= mr_at_least_1(transb == CUBLAS_OP_N ? k : n));
    MR_CHECK(form, ldc >= mr_at_least_1(m));
    MR_FITS(form, m);
    MR_FITS(form, n);
    MR_FITS(form, k);
    MR_FITS(form, lda);
    MR_FITS(form, ldb);
    MR_FITS(form, ldc);
    return CUBLAS_STATUS_SUCCESS;
}
