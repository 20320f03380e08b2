/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of the generic interface: vectors and dense matrices. They hold pointers, and own no arrays. */
#include "libs/cusparse/lines.h"
#include "libs/math/convert.h"

#define CREATE(description, kind, type) \
    type *made = mr_cusparse_description(kind, sizeof *made); \
    if (!made) \
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short"); \
    *(description) = made

/* ---- sparse vectors ---- */

cusparseStatus_t mr_cusparse_CreateSpVec(const struct mr_form *form, cusparseSpVecDescr_t *spVecDescr, int64_t size,
                                         int64_t nnz, void *indices, void *values, cusparseIndexType_t idxType,
                                         cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    MR_CHECK(form, spVecDescr && size >= 0 && nnz >= 0 && nnz <= size);
    MR_CHECK(form, mr_is_index_type(idxType) && mr_is_base(idxBase));
    MR_CHECK(form, mr_type_for(valueType) != MR_TYPES);
    CREATE(spVecDescr, MR_KIND_SPVEC, struct cusparseSpVecDescr);
    made->size = size;
    made->nnz = nnz;
    made->indices = indices;
    made->values = values;
    made->index_type = idxType;
    made->base = idxBase;
    made->type = valueType;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CreateConstSpVec(const struct mr_form *form, cusparseConstSpVecDescr_t *spVecDescr,
                                              int64_t size, int64_t nnz, const void *indices, const void *values,
                                              cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,
                                              cudaDataType valueType)
{
    return mr_cusparse_CreateSpVec(form, (cusparseSpVecDescr_t *)spVecDescr, size, nnz, (void *)indices, (void *)values,
                                   idxType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_DestroySpVec(const struct mr_form *form, cusparseConstSpVecDescr_t spVecDescr)
{
    MR_CHECK(form, !spVecDescr || mr_cusparse_forget(spVecDescr, MR_KIND_SPVEC));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_ConstSpVecGet(const struct mr_form *form, cusparseConstSpVecDescr_t v, int64_t *size,
                                           int64_t *nnz, const void **indices, const void **values,
                                           cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                           cudaDataType *valueType)
{
    MR_CHECK(form, mr_is(v, MR_KIND_SPVEC));
    MR_CHECK(form, size && nnz && indices && values && idxType && idxBase && valueType);
    *size = v->size;
    *nnz = v->nnz;
    *indices = v->indices;
    *values = v->values;
    *idxType = v->index_type;
    *idxBase = v->base;
    *valueType = v->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpVecGet(const struct mr_form *form, cusparseSpVecDescr_t v, int64_t *size, int64_t *nnz,
                                      void **indices, void **values, cusparseIndexType_t *idxType,
                                      cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return mr_cusparse_ConstSpVecGet(form, v, size, nnz, (const void **)indices, (const void **)values, idxType,
                                     idxBase, valueType);
}

cusparseStatus_t mr_cusparse_SpVecGetIndexBase(const struct mr_form *form, cusparseConstSpVecDescr_t v,
                                               cusparseIndexBase_t *idxBase)
{
    MR_CHECK(form, mr_is(v, MR_KIND_SPVEC) && idxBase);
    *idxBase = v->base;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- where values lie ---- */

#define VALUES(name, kind) \
    cusparseStatus_t mr_cusparse_##name##GetValues(const struct mr_form *form, cusparse##name##Descr_t v, \
                                                   void **values) \
    { \
        MR_CHECK(form, mr_is(v, kind) && values); \
        *values = v->values; \
        return CUSPARSE_STATUS_SUCCESS; \
    } \
    cusparseStatus_t mr_cusparse_Const##name##GetValues(const struct mr_form *form, cusparseConst##name##Descr_t v, \
                                                        const void **values) \
    { \
        MR_CHECK(form, mr_is(v, kind) && values); \
        *values = v->values; \
        return CUSPARSE_STATUS_SUCCESS; \
    } \
    cusparseStatus_t mr_cusparse_##name##SetValues(const struct mr_form *form, cusparse##name##Descr_t v, \
                                                   void *values) \
    { \
        MR_CHECK(form, mr_is(v, kind)); \
        v->values = values; \
        return CUSPARSE_STATUS_SUCCESS; \
    }
/* bodies: SpVecGetValues ConstSpVecGetValues SpVecSetValues DnVecGetValues ConstDnVecGetValues DnVecSetValues
SpMatGetValues ConstSpMatGetValues SpMatSetValues DnMatGetValues ConstDnMatGetValues DnMatSetValues */
VALUES(SpVec, MR_KIND_SPVEC)
VALUES(DnVec, MR_KIND_DNVEC)
VALUES(SpMat, MR_KIND_SPMAT)
VALUES(DnMat, MR_KIND_DNMAT)

/* ---- dense vectors ---- */

cusparseStatus_t mr_cusparse_CreateDnVec(const struct mr_form *form, cusparseDnVecDescr_t *dnVecDescr, int64_t size,
                                         void *values, cudaDataType valueType)
{
    MR_CHECK(form, dnVecDescr && size >= 0);
    MR_CHECK(form, mr_type_for(valueType) != MR_TYPES);
    CREATE(dnVecDescr, MR_KIND_DNVEC, struct cusparseDnVecDescr);
    made->size = size;
    made->values = values;
    made->type = valueType;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CreateConstDnVec(const struct mr_form *form, cusparseConstDnVecDescr_t *dnVecDescr,
                                              int64_t size, const void *values, cudaDataType valueType)
{
    return mr_cusparse_CreateDnVec(form, (cusparseDnVecDescr_t *)dnVecDescr, size, (void *)values, valueType);
}

cusparseStatus_t mr_cusparse_DestroyDnVec(const struct mr_form *form, cusparseConstDnVecDescr_t dnVecDescr)
{
    MR_CHECK(form, !dnVecDescr || mr_cusparse_forget(dnVecDescr, MR_KIND_DNVEC));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_ConstDnVecGet(const struct mr_form *form, cusparseConstDnVecDescr_t v, int64_t *size,
                                           const void **values, cudaDataType *valueType)
{
    MR_CHECK(form, mr_is(v, MR_KIND_DNVEC) && size && values && valueType);
    *size = v->size;
    *values = v->values;
    *valueType = v->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_DnVecGet(const struct mr_form *form, cusparseDnVecDescr_t v, int64_t *size, void **values,
                                      cudaDataType *valueType)
{
    return mr_cusparse_ConstDnVecGet(form, v, size, (const void **)values, valueType);
}

/* ---- dense matrices ---- */

cusparseStatus_t mr_cusparse_CreateDnMat(const struct mr_form *form, cusparseDnMatDescr_t *dnMatDescr, int64_t rows,
                                         int64_t cols, int64_t ld, void *values, cudaDataType valueType,
                                         cusparseOrder_t order)
{
    MR_CHECK(form, dnMatDescr && rows >= 0 && cols >= 0);
    MR_CHECK(form, order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW);
    MR_CHECK(form, ld >= (order == CUSPARSE_ORDER_COL ? rows : cols));
    MR_CHECK(form, mr_type_for(valueType) != MR_TYPES);
    CREATE(dnMatDescr, MR_KIND_DNMAT, struct cusparseDnMatDescr);
    made->rows = rows;
    made->cols = cols;
    made->ld = ld;
    made->values = values;
    made->type = valueType;
    made->order = order;
    made->batch_count = 1;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CreateConstDnMat(const struct mr_form *form, cusparseConstDnMatDescr_t *dnMatDescr,
                                              int64_t rows, int64_t cols, int64_t ld, const void *values,
                                              cudaDataType valueType, cusparseOrder_t order)
{
    return mr_cusparse_CreateDnMat(form, (cusparseDnMatDescr_t *)dnMatDescr, rows, cols, ld, (void *)values, valueType,
                                   order);
}

cusparseStatus_t mr_cusparse_DestroyDnMat(const struct mr_form *form, cusparseConstDnMatDescr_t dnMatDescr)
{
    MR_CHECK(form, !dnMatDescr || mr_cusparse_forget(dnMatDescr, MR_KIND_DNMAT));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_ConstDnMatGet(const struct mr_form *form, cusparseConstDnMatDescr_t m, int64_t *rows,
                                           int64_t *cols, int64_t *ld, const void **values, cudaDataType *type,
                                           cusparseOrder_t *order)
{
    MR_CHECK(form, mr_is(m, MR_KIND_DNMAT));
    MR_CHECK(form, rows && cols && ld && values && type && order);
    *rows = m->rows;
    *cols = m->cols;
    *ld = m->ld;
    *values = m->values;
    *type = m->type;
    *order = m->order;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_DnMatGet(const struct mr_form *form, cusparseDnMatDescr_t m, int64_t *rows, int64_t *cols,
                                      int64_t *ld, void **values, cudaDataType *type, cusparseOrder_t *order)
{
    return mr_cusparse_ConstDnMatGet(form, m, rows, cols, ld, (const void **)values, type, order);
}

cusparseStatus_t mr_cusparse_DnMatSetStridedBatch(const struct mr_form *form, cusparseDnMatDescr_t m,
                                                  int64_t batchCount, int64_t batchStride)
{
    MR_CHECK(form, mr_is(m, MR_KIND_DNMAT) && batchCount > 0);
    MR_CHECK(form, batchStride == 0 || batchStride >= m->ld * (m->order == CUSPARSE_ORDER_COL ? m->cols : m->rows));
    m->batch_count = (int)batchCount;
    m->batch_stride = batchStride;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_DnMatGetStridedBatch(const struct mr_form *form, cusparseConstDnMatDescr_t m,
                                                  int *batchCount, int64_t *batchStride)
{
    MR_CHECK(form, mr_is(m, MR_KIND_DNMAT) && batchCount && batchStride);
    *batchCount = m->batch_count;
    *batchStride = m->batch_stride;
    return CUSPARSE_STATUS_SUCCESS;
}
