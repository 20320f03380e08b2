/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of sparse matrices. They hold pointers, and own no arrays. */
#include "libs/cusparse/lines.h"

/* A description with what all formats have; NULL, with a status in *status, for what no format allows. */
static struct cusparseSpMatDescr *create(const struct mr_form *form, cusparseStatus_t *status,
                                         struct cusparseSpMatDescr from)
{
    struct cusparseSpMatDescr *made = NULL;
    *status = CUSPARSE_STATUS_INVALID_VALUE;
    if (from.rows < 0 || from.cols < 0 || from.nnz < 0)
        mr_cusparse_bad(form, *status, "%lld rows, %lld columns, %lld entries", (long long)from.rows,
                        (long long)from.cols, (long long)from.nnz);
    else if (!mr_is_index_type(from.offset_type) || !mr_is_index_type(from.index_type) || !mr_is_base(from.base) ||
             mr_type_for(from.type) == MR_TYPES)
        mr_cusparse_bad(form, *status, "a type or the index base is wrong");
    else if (!(made = mr_cusparse_description(MR_KIND_SPMAT, sizeof *made)))
        *status = mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    if (!made)
        return NULL;
    from.kind = MR_KIND_SPMAT;
    from.batch_count = 1;
    *made = from;
    *status = CUSPARSE_STATUS_SUCCESS;
    return made;
}

#define CREATE(result, ...) \
    cusparseStatus_t status; \
    struct cusparseSpMatDescr *made = create(form, &status, (struct cusparseSpMatDescr){__VA_ARGS__}); \
    if (made) \
        *(result) = made; \
    return status

/* ---- making ---- */

cusparseStatus_t mr_cusparse_CreateCsr(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t rows,
                                       int64_t cols, int64_t nnz, void *csrRowOffsets, void *csrColInd, void *csrValues,
                                       cusparseIndexType_t csrRowOffsetsType, cusparseIndexType_t csrColIndType,
                                       cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    MR_CHECK(form, result && nnz <= rows * cols);
    MR_SUPPORT(form, csrRowOffsetsType == csrColIndType || !mr_is_index_type(csrRowOffsetsType) ||
                         !mr_is_index_type(csrColIndType));
    CREATE(result, .format = CUSPARSE_FORMAT_CSR, .rows = rows, .cols = cols, .nnz = nnz, .offsets = csrRowOffsets,
           .indices = csrColInd, .values = csrValues, .offset_type = csrRowOffsetsType, .index_type = csrColIndType,
           .base = idxBase, .type = valueType);
}

cusparseStatus_t mr_cusparse_CreateCsc(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t rows,
                                       int64_t cols, int64_t nnz, void *cscColOffsets, void *cscRowInd, void *cscValues,
                                       cusparseIndexType_t cscColOffsetsType, cusparseIndexType_t cscRowIndType,
                                       cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    MR_CHECK(form, result && nnz <= rows * cols);
    MR_SUPPORT(form, cscColOffsetsType == cscRowIndType || !mr_is_index_type(cscColOffsetsType) ||
                         !mr_is_index_type(cscRowIndType));
    CREATE(result, .format = CUSPARSE_FORMAT_CSC, .rows = rows, .cols = cols, .nnz = nnz, .offsets = cscColOffsets,
           .indices = cscRowInd, .values = cscValues, .offset_type = cscColOffsetsType, .index_type = cscRowIndType,
           .base = idxBase, .type = valueType);
}

cusparseStatus_t mr_cusparse_CreateCoo(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t rows,
                                       int64_t cols, int64_t nnz, void *cooRowInd, void *cooColInd, void *cooValues,
                                       cusparseIndexType_t cooIdxType, cusparseIndexBase_t idxBase,
                                       cudaDataType valueType)
{
    MR_CHECK(form, result && nnz <= rows * cols);
    CREATE(result, .format = CUSPARSE_FORMAT_COO, .rows = rows, .cols = cols, .nnz = nnz, .offsets = cooRowInd,
           .indices = cooColInd, .values = cooValues, .offset_type = cooIdxType, .index_type = cooIdxType,
           .base = idxBase, .type = valueType);
}

cusparseStatus_t mr_cusparse_CreateBsr(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t brows,
                                       int64_t bcols, int64_t bnnz, int64_t rowBlockSize, int64_t colBlockSize,
                                       void *bsrRowOffsets, void *bsrColInd, void *bsrValues,
                                       cusparseIndexType_t bsrRowOffsetsType, cusparseIndexType_t bsrColIndType,
                                       cusparseIndexBase_t idxBase, cudaDataType valueType, cusparseOrder_t order)
{
    MR_CHECK(form, result && rowBlockSize > 0 && colBlockSize > 0 && bnnz <= brows * bcols);
    MR_CHECK(form, order == CUSPARSE_ORDER_ROW || order == CUSPARSE_ORDER_COL);
    CREATE(result, .format = CUSPARSE_FORMAT_BSR, .rows = brows * rowBlockSize, .cols = bcols * colBlockSize,
           .nnz = bnnz * rowBlockSize * colBlockSize, .offsets = bsrRowOffsets, .indices = bsrColInd,
           .values = bsrValues, .offset_type = bsrRowOffsetsType, .index_type = bsrColIndType, .base = idxBase,
           .type = valueType, .block_rows = rowBlockSize, .block_cols = colBlockSize, .block_order = order);
}

cusparseStatus_t mr_cusparse_CreateBlockedEll(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t rows,
                                              int64_t cols, int64_t ellBlockSize, int64_t ellCols, void *ellColInd,
                                              void *ellValue, cusparseIndexType_t ellIdxType,
                                              cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    MR_CHECK(form, result && ellBlockSize > 0 && ellCols >= 0 && ellCols <= cols && ellCols % ellBlockSize == 0);
    MR_CHECK(form, rows % ellBlockSize == 0 && cols % ellBlockSize == 0);
    CREATE(result, .format = CUSPARSE_FORMAT_BLOCKED_ELL, .rows = rows, .cols = cols, .nnz = rows * ellCols,
           .indices = ellColInd, .values = ellValue, .offset_type = ellIdxType, .index_type = ellIdxType,
           .base = idxBase, .type = valueType, .block_rows = ellBlockSize, .block_cols = ellBlockSize,
           .ell_cols = ellCols);
}

cusparseStatus_t mr_cusparse_CreateSlicedEll(const struct mr_form *form, cusparseSpMatDescr_t *result, int64_t rows,
                                             int64_t cols, int64_t nnz, int64_t sellValuesSize, int64_t sliceSize,
                                             void *sellSliceOffsets, void *sellColInd, void *sellValues,
                                             cusparseIndexType_t sellSliceOffsetsType,
                                             cusparseIndexType_t sellColIndType, cusparseIndexBase_t idxBase,
                                             cudaDataType valueType)
{
    MR_CHECK(form, result && nnz <= rows * cols && sliceSize >= 0 && sellValuesSize >= nnz);
    CREATE(result, .format = CUSPARSE_FORMAT_SLICED_ELLPACK, .rows = rows, .cols = cols, .nnz = nnz,
           .offsets = sellSliceOffsets, .indices = sellColInd, .values = sellValues,
           .offset_type = sellSliceOffsetsType, .index_type = sellColIndType, .base = idxBase, .type = valueType,
           .slice_size = sliceSize, .values_size = sellValuesSize);
}

/* The same for programs that may not write the arrays. */
cusparseStatus_t mr_cusparse_CreateConstCsr(const struct mr_form *form, cusparseConstSpMatDescr_t *result, int64_t rows,
                                            int64_t cols, int64_t nnz, const void *csrRowOffsets, const void *csrColInd,
                                            const void *csrValues, cusparseIndexType_t csrRowOffsetsType,
                                            cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase,
                                            cudaDataType valueType)
{
    return mr_cusparse_CreateCsr(form, (cusparseSpMatDescr_t *)result, rows, cols, nnz, (void *)csrRowOffsets,
                                 (void *)csrColInd, (void *)csrValues, csrRowOffsetsType, csrColIndType, idxBase,
                                 valueType);
}

cusparseStatus_t mr_cusparse_CreateConstCsc(const struct mr_form *form, cusparseConstSpMatDescr_t *result, int64_t rows,
                                            int64_t cols, int64_t nnz, const void *cscColOffsets, const void *cscRowInd,
                                            const void *cscValues, cusparseIndexType_t cscColOffsetsType,
                                            cusparseIndexType_t cscRowIndType, cusparseIndexBase_t idxBase,
                                            cudaDataType valueType)
{
    return mr_cusparse_CreateCsc(form, (cusparseSpMatDescr_t *)result, rows, cols, nnz, (void *)cscColOffsets,
                                 (void *)cscRowInd, (void *)cscValues, cscColOffsetsType, cscRowIndType, idxBase,
                                 valueType);
}

cusparseStatus_t mr_cusparse_CreateConstCoo(const struct mr_form *form, cusparseConstSpMatDescr_t *result, int64_t rows,
                                            int64_t cols, int64_t nnz, const void *cooRowInd, const void *cooColInd,
                                            const void *cooValues, cusparseIndexType_t cooIdxType,
                                            cusparseIndexBase_t idxBase, cudaDataType valueType)
{
    return mr_cusparse_CreateCoo(form, (cusparseSpMatDescr_t *)result, rows, cols, nnz, (void *)cooRowInd,
                                 (void *)cooColInd, (void *)cooValues, cooIdxType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_CreateConstBsr(const struct mr_form *form, cusparseConstSpMatDescr_t *result,
                                            int64_t brows, int64_t bcols, int64_t bnnz, int64_t rowBlockDim,
                                            int64_t colBlockDim, const void *bsrRowOffsets, const void *bsrColInd,
                                            const void *bsrValues, cusparseIndexType_t bsrRowOffsetsType,
                                            cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,
                                            cudaDataType valueType, cusparseOrder_t order)
{
    return mr_cusparse_CreateBsr(form, (cusparseSpMatDescr_t *)result, brows, bcols, bnnz, rowBlockDim, colBlockDim,
                                 (void *)bsrRowOffsets, (void *)bsrColInd, (void *)bsrValues, bsrRowOffsetsType,
                                 bsrColIndType, idxBase, valueType, order);
}

cusparseStatus_t mr_cusparse_CreateConstBlockedEll(const struct mr_form *form, cusparseConstSpMatDescr_t *result,
                                                   int64_t rows, int64_t cols, int64_t ellBlockSize, int64_t ellCols,
                                                   const void *ellColInd, const void *ellValue,
                                                   cusparseIndexType_t ellIdxType, cusparseIndexBase_t idxBase,
                                                   cudaDataType valueType)
{
    return mr_cusparse_CreateBlockedEll(form, (cusparseSpMatDescr_t *)result, rows, cols, ellBlockSize, ellCols,
                                        (void *)ellColInd, (void *)ellValue, ellIdxType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_CreateConstSlicedEll(const struct mr_form *form, cusparseConstSpMatDescr_t *result,
                                                  int64_t rows, int64_t cols, int64_t nnz, int64_t sellValuesSize,
                                                  int64_t sliceSize, const void *sellSliceOffsets,
                                                  const void *sellColInd, const void *sellValues,
                                                  cusparseIndexType_t sellSliceOffsetsType,
                                                  cusparseIndexType_t sellColIndType, cusparseIndexBase_t idxBase,
                                                  cudaDataType valueType)
{
    return mr_cusparse_CreateSlicedEll(form, (cusparseSpMatDescr_t *)result, rows, cols, nnz, sellValuesSize, sliceSize,
                                       (void *)sellSliceOffsets, (void *)sellColInd, (void *)sellValues,
                                       sellSliceOffsetsType, sellColIndType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_DestroySpMat(const struct mr_form *form, cusparseConstSpMatDescr_t spMatDescr)
{
    MR_CHECK(form, !spMatDescr || mr_cusparse_forget(spMatDescr, MR_KIND_SPMAT));
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- asking ---- */

#define IS(m, wanted) (mr_is(m, MR_KIND_SPMAT) && (m)->format == (wanted))

/* What the two compressed formats have, by rows or by columns. */
static cusparseStatus_t get_compressed(const struct mr_form *form, cusparseConstSpMatDescr_t m, cusparseFormat_t format,
                                       int64_t *rows, int64_t *cols, int64_t *nnz, const void **offsets,
                                       const void **indices, const void **values, cusparseIndexType_t *offset_type,
                                       cusparseIndexType_t *index_type, cusparseIndexBase_t *base, cudaDataType *type)
{
    MR_CHECK(form, IS(m, format));
    MR_CHECK(form, rows && cols && nnz && offsets && indices && values && offset_type && index_type && base && type);
    *rows = m->rows;
    *cols = m->cols;
    *nnz = m->nnz;
    *offsets = m->offsets;
    *indices = m->indices;
    *values = m->values;
    *offset_type = m->offset_type;
    *index_type = m->index_type;
    *base = m->base;
    *type = m->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_ConstCsrGet(const struct mr_form *form, cusparseConstSpMatDescr_t m, int64_t *rows,
                                         int64_t *cols, int64_t *nnz, const void **csrRowOffsets,
                                         const void **csrColInd, const void **csrValues,
                                         cusparseIndexType_t *csrRowOffsetsType, cusparseIndexType_t *csrColIndType,
                                         cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return get_compressed(form, m, CUSPARSE_FORMAT_CSR, rows, cols, nnz, csrRowOffsets, csrColInd, csrValues,
                          csrRowOffsetsType, csrColIndType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_CsrGet(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                    int64_t *nnz, void **csrRowOffsets, void **csrColInd, void **csrValues,
                                    cusparseIndexType_t *csrRowOffsetsType, cusparseIndexType_t *csrColIndType,
                                    cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return mr_cusparse_ConstCsrGet(form, m, rows, cols, nnz, (const void **)csrRowOffsets, (const void **)csrColInd,
                                   (const void **)csrValues, csrRowOffsetsType, csrColIndType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_ConstCscGet(const struct mr_form *form, cusparseConstSpMatDescr_t m, int64_t *rows,
                                         int64_t *cols, int64_t *nnz, const void **cscColOffsets,
                                         const void **cscRowInd, const void **cscValues,
                                         cusparseIndexType_t *cscColOffsetsType, cusparseIndexType_t *cscRowIndType,
                                         cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return get_compressed(form, m, CUSPARSE_FORMAT_CSC, rows, cols, nnz, cscColOffsets, cscRowInd, cscValues,
                          cscColOffsetsType, cscRowIndType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_CscGet(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                    int64_t *nnz, void **cscColOffsets, void **cscRowInd, void **cscValues,
                                    cusparseIndexType_t *cscColOffsetsType, cusparseIndexType_t *cscRowIndType,
                                    cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return mr_cusparse_ConstCscGet(form, m, rows, cols, nnz, (const void **)cscColOffsets, (const void **)cscRowInd,
                                   (const void **)cscValues, cscColOffsetsType, cscRowIndType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_ConstCooGet(const struct mr_form *form, cusparseConstSpMatDescr_t m, int64_t *rows,
                                         int64_t *cols, int64_t *nnz, const void **cooRowInd, const void **cooColInd,
                                         const void **cooValues, cusparseIndexType_t *idxType,
                                         cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    MR_CHECK(form, IS(m, CUSPARSE_FORMAT_COO));
    MR_CHECK(form, rows && cols && nnz && cooRowInd && cooColInd && cooValues && idxType && idxBase && valueType);
    *rows = m->rows;
    *cols = m->cols;
    *nnz = m->nnz;
    *cooRowInd = m->offsets;
    *cooColInd = m->indices;
    *cooValues = m->values;
    *idxType = m->index_type;
    *idxBase = m->base;
    *valueType = m->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CooGet(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                    int64_t *nnz, void **cooRowInd, void **cooColInd, void **cooValues,
                                    cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return mr_cusparse_ConstCooGet(form, m, rows, cols, nnz, (const void **)cooRowInd, (const void **)cooColInd,
                                   (const void **)cooValues, idxType, idxBase, valueType);
}

cusparseStatus_t mr_cusparse_ConstBlockedEllGet(const struct mr_form *form, cusparseConstSpMatDescr_t m, int64_t *rows,
                                                int64_t *cols, int64_t *ellBlockSize, int64_t *ellCols,
                                                const void **ellColInd, const void **ellValue,
                                                cusparseIndexType_t *ellIdxType, cusparseIndexBase_t *idxBase,
                                                cudaDataType *valueType)
{
    MR_CHECK(form, IS(m, CUSPARSE_FORMAT_BLOCKED_ELL));
    MR_CHECK(form,
             rows && cols && ellBlockSize && ellCols && ellColInd && ellValue && ellIdxType && idxBase && valueType);
    *rows = m->rows;
    *cols = m->cols;
    *ellBlockSize = m->block_rows;
    *ellCols = m->ell_cols;
    *ellColInd = m->indices;
    *ellValue = m->values;
    *ellIdxType = m->index_type;
    *idxBase = m->base;
    *valueType = m->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_BlockedEllGet(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t *rows,
                                           int64_t *cols, int64_t *ellBlockSize, int64_t *ellCols, void **ellColInd,
                                           void **ellValue, cusparseIndexType_t *ellIdxType,
                                           cusparseIndexBase_t *idxBase, cudaDataType *valueType)
{
    return mr_cusparse_ConstBlockedEllGet(form, m, rows, cols, ellBlockSize, ellCols, (const void **)ellColInd,
                                          (const void **)ellValue, ellIdxType, idxBase, valueType);
}

static cusparseStatus_t set_pointers(const struct mr_form *form, cusparseSpMatDescr_t m, cusparseFormat_t format,
                                     void *offsets, void *indices, void *values)
{
    MR_CHECK(form, IS(m, format));
    m->offsets = offsets;
    m->indices = indices;
    m->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CsrSetPointers(const struct mr_form *form, cusparseSpMatDescr_t m, void *csrRowOffsets,
                                            void *csrColInd, void *csrValues)
{
    return set_pointers(form, m, CUSPARSE_FORMAT_CSR, csrRowOffsets, csrColInd, csrValues);
}

cusparseStatus_t mr_cusparse_CscSetPointers(const struct mr_form *form, cusparseSpMatDescr_t m, void *cscColOffsets,
                                            void *cscRowInd, void *cscValues)
{
    return set_pointers(form, m, CUSPARSE_FORMAT_CSC, cscColOffsets, cscRowInd, cscValues);
}

cusparseStatus_t mr_cusparse_CooSetPointers(const struct mr_form *form, cusparseSpMatDescr_t m, void *cooRows,
                                            void *cooColumns, void *cooValues)
{
    return set_pointers(form, m, CUSPARSE_FORMAT_COO, cooRows, cooColumns, cooValues);
}

cusparseStatus_t mr_cusparse_SpMatGetFormat(const struct mr_form *form, cusparseConstSpMatDescr_t m,
                                            cusparseFormat_t *format)
{
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && format);
    *format = m->format;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpMatGetIndexBase(const struct mr_form *form, cusparseConstSpMatDescr_t m,
                                               cusparseIndexBase_t *idxBase)
{
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && idxBase);
    *idxBase = m->base;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Of blocked ELL hardware says the number of entries times the rows of a block. */
cusparseStatus_t mr_cusparse_SpMatGetSize(const struct mr_form *form, cusparseConstSpMatDescr_t m, int64_t *rows,
                                          int64_t *cols, int64_t *nnz)
{
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && rows && cols && nnz);
    *rows = m->rows;
    *cols = m->cols;
    *nnz = m->format == CUSPARSE_FORMAT_BLOCKED_ELL ? m->nnz * m->block_rows : m->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- batches and attributes ---- */

cusparseStatus_t mr_cusparse_SpMatGetStridedBatch(const struct mr_form *form, cusparseConstSpMatDescr_t m,
                                                  int *batchCount)
{
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && batchCount);
    *batchCount = m->batch_count;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t set_batch(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t count, int64_t offsets,
                                  int64_t columns, int64_t values)
{
    MR_CHECK(form, count > 0 && offsets >= 0 && columns >= 0 && values >= 0);
    m->batch_count = (int)count;
    m->offsets_stride = offsets;
    m->columns_stride = columns;
    m->values_stride = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_CooSetStridedBatch(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t batchCount,
                                                int64_t batchStride)
{
    MR_CHECK(form, IS(m, CUSPARSE_FORMAT_COO));
    MR_CHECK(form, batchStride == 0 || batchStride >= m->nnz);
    return set_batch(form, m, batchCount, batchStride, batchStride, batchStride);
}

cusparseStatus_t mr_cusparse_CsrSetStridedBatch(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t batchCount,
                                                int64_t offsetsBatchStride, int64_t columnsValuesBatchStride)
{
    MR_CHECK(form, IS(m, CUSPARSE_FORMAT_CSR));
    MR_CHECK(form, offsetsBatchStride == 0 || offsetsBatchStride >= m->rows + 1);
    MR_CHECK(form, columnsValuesBatchStride == 0 || columnsValuesBatchStride >= m->nnz);
    return set_batch(form, m, batchCount, offsetsBatchStride, columnsValuesBatchStride, columnsValuesBatchStride);
}

cusparseStatus_t mr_cusparse_BsrSetStridedBatch(const struct mr_form *form, cusparseSpMatDescr_t m, int64_t batchCount,
                                                int64_t offsetsBatchStride, int64_t columnsBatchStride,
                                                int64_t ValuesBatchStride)
{
    MR_CHECK(form, IS(m, CUSPARSE_FORMAT_BSR));
    return set_batch(form, m, batchCount, offsetsBatchStride, columnsBatchStride, ValuesBatchStride);
}

cusparseStatus_t mr_cusparse_SpMatGetAttribute(const struct mr_form *form, cusparseConstSpMatDescr_t m,
                                               cusparseSpMatAttribute_t attribute, void *data, size_t dataSize)
{
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && data);
    MR_CHECK(form, attribute == CUSPARSE_SPMAT_FILL_MODE || attribute == CUSPARSE_SPMAT_DIAG_TYPE);
    MR_CHECK(form, dataSize == sizeof(int));
    int value = attribute == CUSPARSE_SPMAT_FILL_MODE ? (int)m->fill : (int)m->diag;
    memcpy(data, &value, sizeof value);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpMatSetAttribute(const struct mr_form *form, cusparseSpMatDescr_t m,
                                               cusparseSpMatAttribute_t attribute, void *data, size_t dataSize)
{
    int value;
    MR_CHECK(form, mr_is(m, MR_KIND_SPMAT) && data);
    MR_CHECK(form, attribute == CUSPARSE_SPMAT_FILL_MODE || attribute == CUSPARSE_SPMAT_DIAG_TYPE);
    MR_CHECK(form, dataSize == sizeof value);
    memcpy(&value, data, sizeof value);
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        m->fill = (cusparseFillMode_t)value;
    else
        m->diag = (cusparseDiagType_t)value;
    return CUSPARSE_STATUS_SUCCESS;
}
