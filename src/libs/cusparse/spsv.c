/* SPDX-License-Identifier: Apache-2.0 */
/* SpSV and SpSM of the generic interface (solve.h does the work). */
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"
#include "libs/cusparse/solve.h"

static cusparseStatus_t check(const struct mr_form *form, const struct cusparseSpMatDescr *a, cusparseOperation_t op,
                              cudaDataType compute)
{
    MR_CHECK(form, mr_is(a, MR_KIND_SPMAT) && mr_is_op(op));
    MR_CHECK(form, a->rows == a->cols);
    MR_SUPPORT(form, a->format == CUSPARSE_FORMAT_CSR || a->format == CUSPARSE_FORMAT_COO ||
                         a->format == CUSPARSE_FORMAT_SLICED_ELLPACK);
    MR_CHECK(form, a->format != CUSPARSE_FORMAT_SLICED_ELLPACK || a->slice_size > 0);
    enum mr_type type = mr_type_for(compute);
    MR_SUPPORT(form, type != MR_TYPES && mr_stored(type) == compute && a->type == compute);
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- SpSV ---- */

cusparseStatus_t mr_cusparse_SpSV_createDescr(const struct mr_form *form, cusparseSpSVDescr_t *descr)
{
    MR_CHECK(form, descr);
    struct cusparseSpSVDescr *made = mr_cusparse_description(MR_KIND_SPSV, sizeof *made);
    if (!made)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    *descr = made;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSV_destroyDescr(const struct mr_form *form, cusparseSpSVDescr_t descr)
{
    MR_CHECK(form, !descr || mr_cusparse_forget(descr, MR_KIND_SPSV));
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check_vectors(const struct mr_form *form, const struct cusparseSpMatDescr *a,
                                      cusparseOperation_t op, const void *alpha, const struct cusparseDnVecDescr *x,
                                      const struct cusparseDnVecDescr *y, cudaDataType compute, cusparseSpSVAlg_t alg,
                                      const struct cusparseSpSVDescr *plan)
{
    MR_CHECK(form, alpha && mr_is(plan, MR_KIND_SPSV) && alg == CUSPARSE_SPSV_ALG_DEFAULT);
    MR_CHECK(form, mr_is(x, MR_KIND_DNVEC) && mr_is(y, MR_KIND_DNVEC));
    MR_STEP(check(form, a, op, compute));
    MR_CHECK(form, x->size == a->rows && y->size == a->rows);
    MR_SUPPORT(form, x->type == compute && y->type == compute);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSV_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,
                                             cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                             cudaDataType computeType, cusparseSpSVAlg_t alg,
                                             cusparseSpSVDescr_t spsvDescr, size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, bufferSize);
    MR_STEP(check_vectors(form, matA, opA, alpha, vecX, vecY, computeType, alg, spsvDescr));
    *bufferSize = mr_cusparse_plan_bytes(matA);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSV_analysis(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                           const void *alpha, cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                           cudaDataType computeType, cusparseSpSVAlg_t alg,
                                           cusparseSpSVDescr_t spsvDescr, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_STEP(check_vectors(form, matA, opA, alpha, vecX, vecY, computeType, alg, spsvDescr));
    return mr_cusparse_plan(form, sparse, &spsvDescr->plan, matA, externalBuffer);
}

cusparseStatus_t mr_cusparse_SpSV_solve(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                        const void *alpha, cusparseConstSpMatDescr_t matA,
                                        cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                        cudaDataType computeType, cusparseSpSVAlg_t alg, cusparseSpSVDescr_t spsvDescr)
{
    MR_ENTER(form, handle);
    MR_STEP(check_vectors(form, matA, opA, alpha, vecX, vecY, computeType, alg, spsvDescr));
    if (!spsvDescr->plan.is_analysed)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "there was no analysis");
    struct mr_solve call = {.a = spsvDescr->plan.a, .op_a = opA};
    call.b = (struct cusparseDnMatDescr){.kind = MR_KIND_DNMAT,
                                         .rows = vecX->size,
                                         .cols = 1,
                                         .ld = vecX->size,
                                         .values = vecX->values,
                                         .type = vecX->type,
                                         .order = CUSPARSE_ORDER_COL,
                                         .batch_count = 1};
    call.c = call.b;
    call.c.values = vecY->values;
    call.alpha = mr_cusparse_scalar(sparse, alpha, computeType);
    return mr_cusparse_solve(form, sparse, &call);
}

cusparseStatus_t mr_cusparse_SpSV_updateMatrix(const struct mr_form *form, cusparseHandle_t handle,
                                               cusparseSpSVDescr_t spsvDescr, void *newValues,
                                               cusparseSpSVUpdate_t updatePart)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mr_is(spsvDescr, MR_KIND_SPSV) && (unsigned)updatePart <= CUSPARSE_SPSV_UPDATE_DIAGONAL);
    return mr_cusparse_replan(form, sparse, &spsvDescr->plan, newValues, updatePart == CUSPARSE_SPSV_UPDATE_DIAGONAL);
}

/* ---- SpSM ---- */

cusparseStatus_t mr_cusparse_SpSM_createDescr(const struct mr_form *form, cusparseSpSMDescr_t *descr)
{
    MR_CHECK(form, descr);
    struct cusparseSpSMDescr *made = mr_cusparse_description(MR_KIND_SPSM, sizeof *made);
    if (!made)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    *descr = made;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSM_destroyDescr(const struct mr_form *form, cusparseSpSMDescr_t descr)
{
    MR_CHECK(form, !descr || mr_cusparse_forget(descr, MR_KIND_SPSM));
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check_matrices(const struct mr_form *form, const struct cusparseSpMatDescr *a,
                                       cusparseOperation_t op, cusparseOperation_t op_b, const void *alpha,
                                       const struct cusparseDnMatDescr *b, const struct cusparseDnMatDescr *c,
                                       cudaDataType compute, cusparseSpSMAlg_t alg,
                                       const struct cusparseSpSMDescr *plan)
{
    MR_CHECK(form, alpha && mr_is(plan, MR_KIND_SPSM) && alg == CUSPARSE_SPSM_ALG_DEFAULT);
    MR_CHECK(form, mr_is(b, MR_KIND_DNMAT) && mr_is(c, MR_KIND_DNMAT) && mr_is_op(op_b));
    MR_STEP(check(form, a, op, compute));
    MR_SUPPORT(form, a->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
    bool is_transposed = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
    MR_CHECK(form, c->rows == a->rows && (is_transposed ? b->cols : b->rows) == c->rows);
    MR_CHECK(form, (is_transposed ? b->rows : b->cols) == c->cols);
    MR_SUPPORT(form, b->type == compute && c->type == compute && b->batch_count == 1 && c->batch_count == 1);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSM_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                             cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                             cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpSMAlg_t alg,
                                             cusparseSpSMDescr_t spsmDescr, size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, bufferSize);
    MR_STEP(check_matrices(form, matA, opA, opB, alpha, matB, matC, computeType, alg, spsmDescr));
    *bufferSize = mr_cusparse_plan_bytes(matA);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpSM_analysis(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                           cusparseOperation_t opB, const void *alpha, cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                           cudaDataType computeType, cusparseSpSMAlg_t alg,
                                           cusparseSpSMDescr_t spsmDescr, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_STEP(check_matrices(form, matA, opA, opB, alpha, matB, matC, computeType, alg, spsmDescr));
    return mr_cusparse_plan(form, sparse, &spsmDescr->plan, matA, externalBuffer);
}

cusparseStatus_t mr_cusparse_SpSM_solve(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                        cusparseOperation_t opB, const void *alpha, cusparseConstSpMatDescr_t matA,
                                        cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                        cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr)
{
    MR_ENTER(form, handle);
    MR_STEP(check_matrices(form, matA, opA, opB, alpha, matB, matC, computeType, alg, spsmDescr));
    if (!spsmDescr->plan.is_analysed)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "there was no analysis");
    struct mr_solve call = {.a = spsmDescr->plan.a,
                            .op_a = opA,
                            .op_b = opB,
                            .b = *matB,
                            .c = *matC,
                            .alpha = mr_cusparse_scalar(sparse, alpha, computeType)};
    return mr_cusparse_solve(form, sparse, &call);
}

cusparseStatus_t mr_cusparse_SpSM_updateMatrix(const struct mr_form *form, cusparseHandle_t handle,
                                               cusparseSpSMDescr_t spsmDescr, void *newValues,
                                               cusparseSpSMUpdate_t updatePart)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mr_is(spsmDescr, MR_KIND_SPSM) && (unsigned)updatePart <= CUSPARSE_SPSM_UPDATE_DIAGONAL);
    return mr_cusparse_replan(form, sparse, &spsmDescr->plan, newValues, updatePart == CUSPARSE_SPSM_UPDATE_DIAGONAL);
}
