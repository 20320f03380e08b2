/* SPDX-License-Identifier: Apache-2.0 */
/* Products of cuBLASLt, and the one algorithm that there is for each. */
#include "libs/cublaslt/matmul.h"

#include <string.h>

#include "libs/math/convert.h"
#include "libs/math/driver.h"

#define SUMS 64 /* in a part */

static cublasStatus_t answer(const struct mr_form *form, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return CUBLAS_STATUS_SUCCESS;
    return mr_lt_bad(form,
                     result == CUDA_ERROR_OUT_OF_MEMORY ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_EXECUTION_FAILED,
                     "the driver answers %d", (int)result);
}

/* Adds `count` elements at `from`, one after the other in memory, to sums[0] and so on, or all to sums[0]. */
static void add(cudaDataType_t type, const char *from, int64_t count, bool apart, double *sums)
{
    double values[SUMS];
    for (int64_t at = 0; at < count; at += SUMS) {
        int64_t here = count - at < SUMS ? count - at : SUMS;
        mr_load(type, from + at * (int64_t)mr_element_size(type), here, here, 1, true, values);
        for (int64_t i = 0; i < here; i++)
            sums[apart ? at + i : 0] += values[i];
    }
}

static void run_sums(void *data, uint64_t first, uint64_t end)
{
    const struct mr_sums *r = data;
    int64_t results = r->of_rows ? r->rows : r->columns;
    uint64_t parts = mr_parts_of((uint64_t)results, SUMS);
    int64_t size = mr_element_size(r->from.type), out = mr_element_size(r->to.type);
    for (uint64_t part = first; part < end; part++) {
        int64_t member = (int64_t)(part / parts), from = (int64_t)(part % parts) * SUMS;
        int64_t count = results - from < SUMS ? results - from : SUMS;
        const char *matrix = (const char *)r->from.at + member * r->from.stride * size;
        double sums[SUMS] = {0};
        if (r->of_rows)
            for (int64_t j = 0; j < r->columns; j++)
                add(r->from.type, matrix + (from + j * r->from.ld) * size, count, true, sums);
        else
            for (int64_t j = 0; j < count; j++)
                add(r->from.type, matrix + (from + j) * r->from.ld * size, r->rows, false, &sums[j]);
        mr_store(r->to.type, (char *)(uintptr_t)r->to.at + (member * r->to.stride + from) * out, count, count, 1, true,
                 sums);
    }
}

static bool is_ours(const cublasLtMatmulAlgo_t *algo)
{
    return ((const struct mr_algorithm *)(const void *)algo)->mark == MR_ALGORITHM_MARK;
}

cublasStatus_t mr_cublaslt_Matmul(const struct mr_form *form, cublasLtHandle_t lightHandle,
                                  cublasLtMatmulDesc_t computeDesc, const void *alpha, const void *A,
                                  cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc,
                                  const void *beta, const void *C, cublasLtMatrixLayout_t Cdesc, void *D,
                                  cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo, void *workspace,
                                  size_t workspaceSizeInBytes, cudaStream_t stream)
{
    struct mr_matmul matmul;
    const struct mr_matmul_desc *desc = (const void *)computeDesc;
    (void)workspace, (void)workspaceSizeInBytes;
    cublasStatus_t status = mr_lt_enter(form, lightHandle);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_LT_CHECK(form, !algo || is_ours(algo));
    status = mr_lt_describe(form, desc, (const void *)Adesc, (const void *)Bdesc, (const void *)Cdesc,
                            (const void *)Ddesc, &matmul);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    struct mr_product *p = &matmul.product;
    if (p->m == 0 || p->n == 0 || p->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_LT_CHECK(form, alpha && beta && A && B && D);
    MR_LT_CHECK(form, !(p->epilogue.steps & MR_EPILOGUE_BIAS) || desc->bias);
    MR_LT_CHECK(form, p->epilogue.aux_ld == 0 || p->epilogue.aux ||
                          !(p->epilogue.steps & (MR_EPILOGUE_AUX | MR_EPILOGUE_RELU_BACK | MR_EPILOGUE_GELU_BACK)));
    bool device = desc->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    p->alpha = mr_scalar_take(alpha, mr_element_size(p->scale_type), device);
    p->beta = mr_scalar_take(beta, mr_element_size(p->scale_type), device);
    p->a.at = matmul.swapped ? B : A;
    p->b.at = matmul.swapped ? A : B;
    p->c.at = C;
    p->d.at = D;
    uint64_t parts = mr_product_parts(p);
    mr_product_tell(p);
    status = answer(form, mr_math_submit(stream, parts, mr_product_run, p, sizeof *p));
    if (status != CUBLAS_STATUS_SUCCESS || !matmul.has_sums)
        return status;
    MR_LT_CHECK(form, desc->bias);
    struct mr_sums *sums = &matmul.sums;
    sums->from.at = matmul.sums_a ? A : matmul.sums_b ? B : D;
    sums->to.at = desc->bias;
    parts = mr_parts_of((uint64_t)(sums->of_rows ? sums->rows : sums->columns), SUMS) * (uint64_t)sums->batch;
    return answer(form, mr_math_submit(stream, parts, run_sums, sums, sizeof *sums));
}

/* ---- the algorithm ---- */

static void make_algorithm(cublasLtMatmulAlgo_t *algo)
{
    struct mr_algorithm values = {.mark = MR_ALGORITHM_MARK};
    memset(algo, 0, sizeof *algo);
    memcpy(algo, &values, sizeof values);
}

cublasStatus_t mr_cublaslt_MatmulAlgoGetHeuristic(const struct mr_form *form, cublasLtHandle_t lightHandle,
                                                  cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
                                                  cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc,
                                                  cublasLtMatrixLayout_t Ddesc, cublasLtMatmulPreference_t preference,
                                                  int64_t requestedAlgoCount,
                                                  cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                                  int *returnAlgoCount)
{
    struct mr_matmul matmul = {.has_sums = false};
    cublasStatus_t status = mr_lt_enter(form, lightHandle);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_LT_CHECK(form, returnAlgoCount && heuristicResultsArray && preference && requestedAlgoCount >= 1);
    status = mr_lt_describe(form, (const void *)operationDesc, (const void *)Adesc, (const void *)Bdesc,
                            (const void *)Cdesc, (const void *)Ddesc, &matmul);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED && matmul.product.function)
        *returnAlgoCount = 0; /* the descriptors are right, and nothing was found, as hardware says it */
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    memset(heuristicResultsArray, 0, sizeof *heuristicResultsArray);
    make_algorithm(&heuristicResultsArray->algo);
    heuristicResultsArray->state = CUBLAS_STATUS_SUCCESS;
    heuristicResultsArray->wavesCount = 1;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulAlgoGetIds(const struct mr_form *form, cublasLtHandle_t lightHandle,
                                            cublasComputeType_t computeType, cudaDataType_t scaleType,
                                            cudaDataType_t Atype, cudaDataType_t Btype, cudaDataType_t Ctype,
                                            cudaDataType_t Dtype, int64_t requestedAlgoCount, int algoIdsArray[],
                                            int *returnAlgoCount)
{
    cublasStatus_t status = mr_lt_enter(form, lightHandle);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_LT_CHECK(form, returnAlgoCount && algoIdsArray && requestedAlgoCount >= 1);
    *returnAlgoCount = 0;
    if (!mr_lt_has_types(computeType, scaleType, Atype, Btype, Ctype, Dtype))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "no product has these types");
    algoIdsArray[0] = 0;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulAlgoInit(const struct mr_form *form, cublasLtHandle_t lightHandle,
                                          cublasComputeType_t computeType, cudaDataType_t scaleType,
                                          cudaDataType_t Atype, cudaDataType_t Btype, cudaDataType_t Ctype,
                                          cudaDataType_t Dtype, int64_t algoId, cublasLtMatmulAlgo_t *algo)
{
    cublasStatus_t status = mr_lt_enter(form, lightHandle);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_LT_CHECK(form, algo && algoId == 0);
    if (!mr_lt_has_types(computeType, scaleType, Atype, Btype, Ctype, Dtype))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "no product has these types");
    make_algorithm(algo);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulAlgoCheck(const struct mr_form *form, cublasLtHandle_t lightHandle,
                                           cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
                                           cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc,
                                           cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo,
                                           cublasLtMatmulHeuristicResult_t *result)
{
    struct mr_matmul matmul;
    cublasStatus_t status = mr_lt_enter(form, lightHandle);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_LT_CHECK(form, algo && result && is_ours(algo));
    status = mr_lt_describe(form, (const void *)operationDesc, (const void *)Adesc, (const void *)Bdesc,
                            (const void *)Cdesc, (const void *)Ddesc, &matmul);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    memset(result, 0, sizeof *result);
    result->algo = *algo;
    result->state = CUBLAS_STATUS_SUCCESS;
    result->wavesCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* What the algorithm can do, as a number of `size` bytes; false for an attribute that does not exist. */
static bool ability(cublasLtMatmulAlgoCapAttributes_t attribute, uint64_t *value, size_t *size)
{
    *size = sizeof(int32_t);
    *value = 0;
    switch (attribute) {
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
        *value = 1;
        return true;
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
        *value = CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE;
        return true;
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
        *value = 1023;
        return true;
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
        *value = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
        *size = sizeof(uint64_t);
        return true;
    case CUBLASLT_ALGO_CAP_TILE_IDS: /* arrays with one entry, which means "undefined" */
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
        return true;
    default:
        return false;
    }
}

cublasStatus_t mr_cublaslt_MatmulAlgoCapGetAttribute(const struct mr_form *form, const cublasLtMatmulAlgo_t *algo,
                                                     cublasLtMatmulAlgoCapAttributes_t attr, void *buf,
                                                     size_t sizeInBytes, size_t *sizeWritten)
{
    uint64_t value;
    size_t size;
    MR_LT_CHECK(form, algo && is_ours(algo) && ability(attr, &value, &size));
    MR_LT_CHECK(form, sizeInBytes == 0 ? sizeWritten != NULL : buf != NULL && sizeInBytes >= size);
    if (sizeInBytes > 0)
        memcpy(buf, &value, size); /* little end first, as all that Millrace runs on */
    if (sizeWritten)
        *sizeWritten = size;
    return CUBLAS_STATUS_SUCCESS;
}

/* The setting's bytes: the inner shape and the cluster's have 16 bits, the others 32. NULL if there is none. */
static void *setting(cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attribute, size_t *size)
{
    struct mr_algorithm *values = (void *)algo;
    *size = attribute == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID || attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID
                ? sizeof(uint16_t)
                : sizeof(uint32_t);
    if (attribute == CUBLASLT_ALGO_CONFIG_ID)
        return &values->id;
    return (unsigned)attribute <= CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID ? &values->settings[attribute] : NULL;
}

cublasStatus_t mr_cublaslt_MatmulAlgoConfigSetAttribute(const struct mr_form *form, cublasLtMatmulAlgo_t *algo,
                                                        cublasLtMatmulAlgoConfigAttributes_t attr, const void *buf,
                                                        size_t sizeInBytes)
{
    size_t size;
    MR_LT_CHECK(form, algo && buf && is_ours(algo));
    void *at = setting(algo, attr, &size);
    MR_LT_CHECK(form, at && attr != CUBLASLT_ALGO_CONFIG_ID && sizeInBytes == size);
    memcpy(at, buf, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulAlgoConfigGetAttribute(const struct mr_form *form, const cublasLtMatmulAlgo_t *algo,
                                                        cublasLtMatmulAlgoConfigAttributes_t attr, void *buf,
                                                        size_t sizeInBytes, size_t *sizeWritten)
{
    size_t size;
    MR_LT_CHECK(form, algo && is_ours(algo));
    void *at = setting((cublasLtMatmulAlgo_t *)(uintptr_t)algo, attr, &size);
    MR_LT_CHECK(form, at && (sizeInBytes == 0 ? sizeWritten != NULL : buf != NULL && sizeInBytes >= size));
    if (sizeInBytes > 0)
        memcpy(buf, at, size);
    if (sizeWritten)
        *sizeWritten = size;
    return CUBLAS_STATUS_SUCCESS;
}
