/* SPDX-License-Identifier: Apache-2.0 */
/* SpGEMM and SpGEMMreuse of the generic interface (spgemm.h does the work). */
#include <inttypes.h>

#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"
#include "libs/cusparse/spgemm.h"

cusparseStatus_t mr_cusparse_SpGEMM_createDescr(const struct mr_form *form, cusparseSpGEMMDescr_t *descr)
{
    MR_CHECK(form, descr);
    struct cusparseSpGEMMDescr *made = mr_cusparse_description(MR_KIND_SPGEMM, sizeof *made);
    if (!made)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    *descr = made;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpGEMM_destroyDescr(const struct mr_form *form, cusparseSpGEMMDescr_t descr)
{
    MR_CHECK(form, !descr || mr_cusparse_forget(descr, MR_KIND_SPGEMM));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpGEMM_getNumProducts(const struct mr_form *form, cusparseSpGEMMDescr_t spgemmDescr,
                                                   int64_t *num_prods)
{
    MR_CHECK(form, mr_is(spgemmDescr, MR_KIND_SPGEMM) && num_prods);
    *num_prods = spgemmDescr->total_products;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check(const struct mr_form *form, cusparseOperation_t opA, cusparseOperation_t opB,
                              const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                              const struct cusparseSpMatDescr *c, const struct cusparseSpGEMMDescr *plan)
{
    MR_CHECK(form, mr_is(plan, MR_KIND_SPGEMM));
    MR_CHECK(form, mr_is(a, MR_KIND_SPMAT) && mr_is(b, MR_KIND_SPMAT) && mr_is(c, MR_KIND_SPMAT));
    MR_SUPPORT(form, opA == CUSPARSE_OPERATION_NON_TRANSPOSE && opB == CUSPARSE_OPERATION_NON_TRANSPOSE);
    MR_SUPPORT(form, a->format == CUSPARSE_FORMAT_CSR && b->format == CUSPARSE_FORMAT_CSR &&
                         c->format == CUSPARSE_FORMAT_CSR);
    MR_CHECK(form, a->cols == b->rows && c->rows == a->rows && c->cols == b->cols);
    enum mr_type type = mr_type_for(a->type);
    MR_SUPPORT(form, mr_stored(type) == a->type && b->type == a->type && c->type == a->type);
    MR_SUPPORT(form,
               a->index_type != CUSPARSE_INDEX_16U && b->index_type == a->index_type && c->index_type == a->index_type);
    MR_SUPPORT(form, a->batch_count == 1 && b->batch_count == 1 && c->batch_count == 1);
    return CUSPARSE_STATUS_SUCCESS;
}

static struct mr_spgemm call_of(const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                                const struct cusparseSpMatDescr *c, const struct cusparseSpGEMMDescr *plan)
{
    return (struct mr_spgemm){.a = a,
                              .b = b,
                              .c = c,
                              .products = plan->products,
                              .counts = plan->counts,
                              .total_products = plan->total_products};
}

/* The first step: a size, or what lies in the buffer. */
static cusparseStatus_t products(const struct mr_form *form, const struct mr_cusparse *sparse,
                                 const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                                 const struct cusparseSpMatDescr *c, struct cusparseSpGEMMDescr *plan, size_t *size,
                                 void *buffer)
{
    MR_CHECK(form, size);
    if (!buffer) {
        *size = mr_cusparse_rows_bytes(a);
        return CUSPARSE_STATUS_SUCCESS;
    }
    MR_CHECK(form, *size >= mr_cusparse_rows_bytes(a));
    struct mr_spgemm call = call_of(a, b, c, plan);
    call.products = buffer;
    MR_STEP(mr_cusparse_count_products(form, sparse, &call, &plan->total_products, &plan->least_entries));
    plan->products = buffer;
    plan->rows = a->rows;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Offsets of 32 bits can't name more entries. Hardware, too, answers INSUFFICIENT_RESOURCES to products that are too
 * large for it. */
static cusparseStatus_t check_entries(const struct mr_form *form, const struct cusparseSpMatDescr *c, int64_t entries)
{
    if (c->offset_type == CUSPARSE_INDEX_64I || entries <= INT32_MAX)
        return CUSPARSE_STATUS_SUCCESS;
    return mr_cusparse_bad(form, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES,
                           "the result has %" PRId64 " entries or more, which offsets of 32 bits can't name", entries);
}

/* The second. */
static cusparseStatus_t entries(const struct mr_form *form, const struct mr_cusparse *sparse,
                                const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                                struct cusparseSpMatDescr *c, struct cusparseSpGEMMDescr *plan, size_t *size,
                                void *buffer)
{
    MR_CHECK(form, size);
    if (!buffer) {
        *size = mr_cusparse_rows_bytes(a);
        return CUSPARSE_STATUS_SUCCESS;
    }
    MR_CHECK(form, *size >= mr_cusparse_rows_bytes(a));
    MR_CHECK(form, plan->products && plan->rows == a->rows);
    struct mr_spgemm call = call_of(a, b, c, plan);
    call.counts = buffer;
    MR_STEP(check_entries(form, c, plan->least_entries)); /* before much is counted in vain */
    int64_t count = 0;
    MR_STEP(mr_cusparse_count_entries(form, sparse, &call, &count));
    MR_STEP(check_entries(form, c, count));
    c->nnz = count;
    plan->counts = buffer;
    return CUSPARSE_STATUS_SUCCESS;
}

/* The last. `values` and `structure` as in mr_spgemm. */
static cusparseStatus_t compute(const struct mr_form *form, const struct mr_cusparse *sparse, const void *alpha,
                                const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                                const void *beta, const struct cusparseSpMatDescr *c,
                                const struct cusparseSpGEMMDescr *plan, bool values, bool structure)
{
    MR_CHECK(form, plan->products && plan->counts && plan->rows == a->rows);
    MR_CHECK(form, c->offsets && (c->nnz == 0 || (c->indices && c->values)));
    struct mr_spgemm call = call_of(a, b, c, plan);
    call.values = values;
    call.structure = structure;
    if (values) {
        MR_CHECK(form, alpha && beta);
        call.alpha = mr_cusparse_scalar(sparse, alpha, a->type);
        call.beta = mr_cusparse_scalar(sparse, beta, a->type);
    }
    return mr_cusparse_compute_entries(form, sparse, &call);
}

/* ---- SpGEMM ---- */

/* Alpha, beta and the type: the same in all steps. */
#define CHECK_ALL \
    MR_ENTER(form, handle); \
    MR_CHECK(form, alpha &&beta && (unsigned)alg <= CUSPARSE_SPGEMM_ALG3); \
    MR_STEP(check(form, opA, opB, matA, matB, matC, spgemmDescr)); \
    MR_SUPPORT(form, computeType == matA->type)

cusparseStatus_t mr_cusparse_SpGEMM_workEstimation(const struct mr_form *form, cusparseHandle_t handle,
                                                   cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                                   cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                                   const void *beta, cusparseSpMatDescr_t matC,
                                                   cudaDataType computeType, cusparseSpGEMMAlg_t alg,
                                                   cusparseSpGEMMDescr_t spgemmDescr, size_t *bufferSize1,
                                                   void *externalBuffer1)
{
    CHECK_ALL;
    return products(form, sparse, matA, matB, matC, spgemmDescr, bufferSize1, externalBuffer1);
}

/* No memory beyond that of the second step is needed. */
cusparseStatus_t mr_cusparse_SpGEMM_estimateMemory(const struct mr_form *form, cusparseHandle_t handle,
                                                   cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                                   cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                                   const void *beta, cusparseSpMatDescr_t matC,
                                                   cudaDataType computeType, cusparseSpGEMMAlg_t alg,
                                                   cusparseSpGEMMDescr_t spgemmDescr, float chunk_fraction,
                                                   size_t *bufferSize3, void *externalBuffer3, size_t *bufferSize2)
{
    CHECK_ALL;
    MR_SUPPORT(form, alg == CUSPARSE_SPGEMM_ALG2 || alg == CUSPARSE_SPGEMM_ALG3);
    MR_CHECK(form, bufferSize3 && chunk_fraction > 0 && chunk_fraction <= 1);
    if (!externalBuffer3) {
        *bufferSize3 = 1;
        return CUSPARSE_STATUS_SUCCESS;
    }
    MR_CHECK(form, bufferSize2 && spgemmDescr->products);
    *bufferSize2 = mr_cusparse_rows_bytes(matA);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpGEMM_compute(const struct mr_form *form, cusparseHandle_t handle,
                                            cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                            cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                            const void *beta, cusparseSpMatDescr_t matC, cudaDataType computeType,
                                            cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t spgemmDescr,
                                            size_t *bufferSize2, void *externalBuffer2)
{
    CHECK_ALL;
    return entries(form, sparse, matA, matB, matC, spgemmDescr, bufferSize2, externalBuffer2);
}

cusparseStatus_t mr_cusparse_SpGEMM_copy(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstSpMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
                                         cudaDataType computeType, cusparseSpGEMMAlg_t alg,
                                         cusparseSpGEMMDescr_t spgemmDescr)
{
    CHECK_ALL;
    return compute(form, sparse, alpha, matA, matB, beta, matC, spgemmDescr, true, true);
}

/* ---- SpGEMMreuse ---- */

cusparseStatus_t mr_cusparse_SpGEMMreuse_workEstimation(const struct mr_form *form, cusparseHandle_t handle,
                                                        cusparseOperation_t opA, cusparseOperation_t opB,
                                                        cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                                        cusparseSpMatDescr_t matC, cusparseSpGEMMAlg_t alg,
                                                        cusparseSpGEMMDescr_t spgemmDescr, size_t *bufferSize1,
                                                        void *externalBuffer1)
{
    (void)alg;
    MR_ENTER(form, handle);
    MR_STEP(check(form, opA, opB, matA, matB, matC, spgemmDescr));
    return products(form, sparse, matA, matB, matC, spgemmDescr, bufferSize1, externalBuffer1);
}

/* The products and the entries go into the fourth buffer, which the program keeps until the last computation; the first
 * one may go before. */
cusparseStatus_t mr_cusparse_SpGEMMreuse_nnz(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, cusparseOperation_t opB,
                                             cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                             cusparseSpMatDescr_t matC, cusparseSpGEMMAlg_t alg,
                                             cusparseSpGEMMDescr_t spgemmDescr, size_t *bufferSize2,
                                             void *externalBuffer2, size_t *bufferSize3, void *externalBuffer3,
                                             size_t *bufferSize4, void *externalBuffer4)
{
    (void)alg, (void)externalBuffer2, (void)externalBuffer3;
    MR_ENTER(form, handle);
    MR_STEP(check(form, opA, opB, matA, matB, matC, spgemmDescr));
    MR_CHECK(form, bufferSize2 && bufferSize3 && bufferSize4);
    size_t bytes = mr_cusparse_rows_bytes(matA);
    if (!externalBuffer4) {
        *bufferSize2 = 1;
        *bufferSize3 = 1;
        *bufferSize4 = 2 * bytes;
        return CUSPARSE_STATUS_SUCCESS;
    }
    MR_CHECK(form, *bufferSize4 >= 2 * bytes && spgemmDescr->products);
    size_t size = bytes;
    MR_STEP(products(form, sparse, matA, matB, matC, spgemmDescr, &size, externalBuffer4));
    return entries(form, sparse, matA, matB, matC, spgemmDescr, &size, (char *)externalBuffer4 + bytes);
}

cusparseStatus_t mr_cusparse_SpGEMMreuse_copy(const struct mr_form *form, cusparseHandle_t handle,
                                              cusparseOperation_t opA, cusparseOperation_t opB,
                                              cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                              cusparseSpMatDescr_t matC, cusparseSpGEMMAlg_t alg,
                                              cusparseSpGEMMDescr_t spgemmDescr, size_t *bufferSize5,
                                              void *externalBuffer5)
{
    (void)alg;
    MR_ENTER(form, handle);
    MR_STEP(check(form, opA, opB, matA, matB, matC, spgemmDescr));
    MR_CHECK(form, bufferSize5);
    if (!externalBuffer5) {
        *bufferSize5 = 1;
        return CUSPARSE_STATUS_SUCCESS;
    }
    return compute(form, sparse, NULL, matA, matB, NULL, matC, spgemmDescr, false, true);
}

cusparseStatus_t mr_cusparse_SpGEMMreuse_compute(const struct mr_form *form, cusparseHandle_t handle,
                                                 cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                                 cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                                 const void *beta, cusparseSpMatDescr_t matC, cudaDataType computeType,
                                                 cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t spgemmDescr)
{
    CHECK_ALL;
    return compute(form, sparse, alpha, matA, matB, beta, matC, spgemmDescr, true, false);
}
