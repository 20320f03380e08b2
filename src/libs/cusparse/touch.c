/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptions stand for, for observers (touch.h). */
#include "libs/cusparse/touch.h"

#include "libs/cusparse/lines.h"
#include "libs/math/handles.h"

/* How many there are of each array of one matrix, in elements; strides for batches. */
struct arrays {
    int64_t offsets, indices, values;
};

static int64_t over(int64_t all, int64_t each)
{
    return each > 0 ? (all + each - 1) / each : 0;
}

static struct arrays arrays_of(const struct cusparseSpMatDescr *a)
{
    int64_t block = a->block_rows * a->block_cols;
    switch (a->format) {
    case CUSPARSE_FORMAT_COO:
        return (struct arrays){a->nnz, a->nnz, a->nnz};
    case CUSPARSE_FORMAT_CSC:
        return (struct arrays){a->cols + 1, a->nnz, a->nnz};
    case CUSPARSE_FORMAT_BSR:
        return (struct arrays){over(a->rows, a->block_rows) + 1, over(a->nnz, block), a->nnz};
    case CUSPARSE_FORMAT_BLOCKED_ELL:
        return (struct arrays){0, over(a->rows, a->block_rows) * over(a->ell_cols, a->block_cols),
                               a->rows * a->ell_cols};
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
        return (struct arrays){over(a->rows, a->slice_size) + 1, a->values_size, a->values_size};
    default:
        return (struct arrays){a->rows + 1, a->nnz, a->nnz};
    }
}

static void tell(const char *function, unsigned how, const void *at, int64_t count, size_t size, int members,
                 int64_t stride)
{
    if (count > 0)
        (void)mr_tell_rows(function, at, (size_t)count * size, members > 1 && stride ? (size_t)members : 1,
                           (size_t)stride * size, how);
}

void mr_touch_pattern(const char *function, unsigned how, const struct cusparseSpMatDescr *matrix)
{
    if (!mr_is(matrix, MR_KIND_SPMAT))
        return;
    struct arrays arrays = arrays_of(matrix);
    size_t index = mr_index_size(matrix->index_type);
    bool is_coo = matrix->format == CUSPARSE_FORMAT_COO;
    tell(function, how, matrix->offsets, arrays.offsets, is_coo ? index : mr_index_size(matrix->offset_type),
         matrix->batch_count, matrix->offsets_stride);
    tell(function, how, matrix->indices, arrays.indices, index, matrix->batch_count, matrix->columns_stride);
}

void mr_touch_values(const char *function, unsigned how, const struct cusparseSpMatDescr *matrix)
{
    if (mr_is(matrix, MR_KIND_SPMAT))
        tell(function, how, matrix->values, arrays_of(matrix).values, mr_element_size(matrix->type),
             matrix->batch_count, matrix->values_stride);
}

void mr_touch_dense(const char *function, unsigned how, const struct cusparseDnMatDescr *matrix)
{
    if (!mr_is(matrix, MR_KIND_DNMAT))
        return;
    size_t size = mr_element_size(matrix->type);
    bool by_rows = matrix->order == CUSPARSE_ORDER_ROW;
    int64_t lines = by_rows ? matrix->rows : matrix->cols, length = by_rows ? matrix->cols : matrix->rows;
    int members = matrix->batch_count > 1 && matrix->batch_stride ? matrix->batch_count : 1;
    for (int i = 0; i < members; i++)
        (void)mr_tell_matrix(function, (const char *)matrix->values + (size_t)(i * matrix->batch_stride) * size, length,
                             lines, matrix->ld, size, how);
}

void mr_touch_vector(const char *function, unsigned how, const struct cusparseDnVecDescr *vector)
{
    if (mr_is(vector, MR_KIND_DNVEC))
        tell(function, how, vector->values, vector->size, mr_element_size(vector->type), 1, 0);
}

void mr_touch_indices(const char *function, unsigned how, const struct cusparseSpVecDescr *vector)
{
    if (mr_is(vector, MR_KIND_SPVEC))
        tell(function, how, vector->indices, vector->nnz, mr_index_size(vector->index_type), 1, 0);
}

void mr_touch_entries(const char *function, unsigned how, const struct cusparseSpVecDescr *vector)
{
    if (mr_is(vector, MR_KIND_SPVEC))
        tell(function, how, vector->values, vector->nnz, mr_element_size(vector->type), 1, 0);
}

void mr_touch_named(const char *function, unsigned how, const struct cusparseDnVecDescr *dense,
                    const struct cusparseSpVecDescr *vector)
{
    if (mr_is(vector, MR_KIND_SPVEC) && mr_is(dense, MR_KIND_DNVEC))
        (void)mr_tell_indexed(function, dense->values, mr_element_size(dense->type), vector->indices,
                              mr_index_size(vector->index_type), vector->base == CUSPARSE_INDEX_BASE_ONE, vector->nnz,
                              how);
}

void mr_touch_number(const char *function, unsigned how, cusparseHandle_t handle, const void *at, size_t size)
{
    const struct mr_cusparse *sparse = mr_math_handle_find(handle);
    if (sparse && mr_on_device(sparse))
        (void)mr_tell_rows(function, at, size, 1, 0, how);
}
