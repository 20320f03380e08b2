/* SPDX-License-Identifier: Apache-2.0 */
/* Products whose matrices have types of their own (GemmEx and its kin): which combinations there are, and the way to
 * libs/math/product.h, which computes them. */
#include "libs/cublas/gemm.h"
#include "libs/math/convert.h"

/* A combination that the manual lists: what is computed in, the scalars, A and B, C. */
struct combination {
    cublasComputeType_t compute; /* the plain one, for which the others that compute in the same way stand too */
    cudaDataType scale, ab, c;
};

static const struct combination combinations[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_8I, CUDA_C_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
};

static cublasComputeType_t plain_compute(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUBLAS_COMPUTE_32I;
    default:
        return compute;
    }
}

static const struct combination *find(cublasComputeType_t compute, cudaDataType a, cudaDataType b, cudaDataType c)
{
    for (unsigned i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].compute == plain_compute(compute) && combinations[i].ab == a && a == b &&
            combinations[i].c == c)
            return &combinations[i];
    return NULL;
}

/* Whether any combination has the type. A type that none has is wrong, not merely refused. */
static bool is_known(cudaDataType type)
{
    for (unsigned i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].ab == type || combinations[i].c == type)
            return true;
    return false;
}

static bool is_algorithm(cublasGemmAlgo_t algo)
{
    return (algo >= CUBLAS_GEMM_DEFAULT && algo <= CUBLAS_GEMM_ALGO23) ||
           (algo >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algo <= CUBLAS_GEMM_ALGO15_TENSOR_OP) ||
           algo == CUBLAS_GEMM_AUTOTUNE;
}

/* All that the callers differ in. */
struct call {
    cublasOperation_t transa, transb;
    int64_t m, n, k;
    const void *alpha, *beta;
    struct mr_matrix a, b, c;
    int64_t batch;
    bool pointers;
    const struct combination *types;
};

static cublasStatus_t submit(const struct mr_form *form, cublasHandle_t handle, const struct call *call)
{
    struct mr_cublas *blas;
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = mr_gemm_check(form, call->transa, call->transb, call->m, call->n, call->k, call->a.ld, call->b.ld,
                               call->c.ld);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, call->batch >= 0);
    const struct combination *types = call->types;
    MR_CHECK(form, is_known(call->a.type) && is_known(call->b.type) && is_known(call->c.type));
    if (!types)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED,
                             "no product has elements of types %d, %d and %d with this type of computation",
                             (int)call->a.type, (int)call->b.type, (int)call->c.type);
    if (call->m == 0 || call->n == 0 || call->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, call->alpha && call->beta);
    unsigned size = mr_element_size(types->scale);
    struct mr_product product = {
        .function = form->name,
        .transa = mr_letter_of_op(call->transa),
        .transb = mr_letter_of_op(call->transb),
        .m = call->m,
        .n = call->n,
        .k = call->k,
        /* Sums of products of integers are exact in double. */
        .wide = types->compute == CUBLAS_COMPUTE_64F || types->compute == CUBLAS_COMPUTE_32I,
        .complex = mr_element_is_complex(types->scale),
        .scale_type = types->scale,
        .alpha = mr_scalar_take(call->alpha, size, mr_cublas_on_device(blas)),
        .beta = mr_scalar_take(call->beta, size, mr_cublas_on_device(blas)),
        .a = call->a,
        .b = call->b,
        .c = call->c,
        .d = call->c,
        .batch = call->batch,
        .pointers = call->pointers,
    };
    mr_product_tell(&product);
    return mr_cublas_submit(form, blas, mr_product_parts(&product), mr_product_run, &product, sizeof product);
}

cublasStatus_t mr_gemm_half(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                            int64_t lda, int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b,
                            const void *beta, void *c, int64_t ldc, int64_t stride_c, int64_t batch, bool pointers)
{
    struct call call = {transa,
                        transb,
                        m,
                        n,
                        k,
                        alpha,
                        beta,
                        {a, CUDA_R_16F, lda, stride_a},
                        {b, CUDA_R_16F, ldb, stride_b},
                        {c, CUDA_R_16F, ldc, stride_c},
                        batch,
                        pointers,
                        &combinations[0]};
    return submit(form, handle, &call);
}

cublasStatus_t mr_cublas_GemmEx(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                const void *A, cudaDataType Atype, int64_t lda, const void *B, cudaDataType Btype,
                                int64_t ldb, const void *beta, void *C, cudaDataType Ctype, int64_t ldc,
                                cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
    MR_CHECK(form, is_algorithm(algo));
    struct call call = {transa,
                        transb,
                        m,
                        n,
                        k,
                        alpha,
                        beta,
                        {A, Atype, lda, 0},
                        {B, Btype, ldb, 0},
                        {C, Ctype, ldc, 0},
                        1,
                        false,
                        find(computeType, Atype, Btype, Ctype)};
    return submit(form, handle, &call);
}

cublasStatus_t mr_cublas_GemmBatchedEx(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                       cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                       const void *const *Aarray, cudaDataType Atype, int64_t lda,
                                       const void *const *Barray, cudaDataType Btype, int64_t ldb, const void *beta,
                                       void *const *Carray, cudaDataType Ctype, int64_t ldc, int64_t batchCount,
                                       cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
    MR_CHECK(form, is_algorithm(algo));
    struct call call = {transa,
                        transb,
                        m,
                        n,
                        k,
                        alpha,
                        beta,
                        {Aarray, Atype, lda, 0},
                        {Barray, Btype, ldb, 0},
                        {Carray, Ctype, ldc, 0},
                        batchCount,
                        true,
                        find(computeType, Atype, Btype, Ctype)};
    return submit(form, handle, &call);
}

cublasStatus_t mr_cublas_GemmStridedBatchedEx(const struct mr_form *form, cublasHandle_t handle,
                                              cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                                              int64_t k, const void *alpha, const void *A, cudaDataType Atype,
                                              int64_t lda, int64_t strideA, const void *B, cudaDataType Btype,
                                              int64_t ldb, int64_t strideB, const void *beta, void *C,
                                              cudaDataType Ctype, int64_t ldc, int64_t strideC, int64_t batchCount,
                                              cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
    MR_CHECK(form, is_algorithm(algo));
    struct call call = {transa,
                        transb,
                        m,
                        n,
                        k,
                        alpha,
                        beta,
                        {A, Atype, lda, strideA},
                        {B, Btype, ldb, strideB},
                        {C, Ctype, ldc, strideC},
                        batchCount,
                        false,
                        find(computeType, Atype, Btype, Ctype)};
    return submit(form, handle, &call);
}

/* SgemmEx and CgemmEx: computed in float; the types are those of the combinations with a float's scalars. */
cublasStatus_t mr_cublas_gemmEx(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                const void *A, cudaDataType Atype, int64_t lda, const void *B, cudaDataType Btype,
                                int64_t ldb, const void *beta, void *C, cudaDataType Ctype, int64_t ldc)
{
    const struct combination *types = find(CUBLAS_COMPUTE_32F, Atype, Btype, Ctype);
    if (types && types->scale != (form->type == 'C' ? CUDA_C_32F : CUDA_R_32F))
        types = NULL;
    struct call call = {
        transa, transb, m,    n, k, alpha, beta, {A, Atype, lda, 0}, {B, Btype, ldb, 0}, {C, Ctype, ldc, 0},
        1,      false,  types};
    return submit(form, handle, &call);
}

cublasStatus_t mr_cublas_gemm3mEx(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                  const void *A, cudaDataType Atype, int64_t lda, const void *B, cudaDataType Btype,
                                  int64_t ldb, const void *beta, void *C, cudaDataType Ctype, int64_t ldc)
{
    return mr_cublas_gemmEx(form, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype,
                            ldc);
}
