/* SPDX-License-Identifier: Apache-2.0 */
/* The words of spec/math for cuSPARSE: what its descriptions stand for. A description that is not alive tells nothing.
 */
#ifndef MR_CUSPARSE_TOUCH_H
#define MR_CUSPARSE_TOUCH_H

#include "libs/cusparse/sparse.h"
#include "libs/math/touch.h"

/* A sparse matrix: where its entries are, and their values. */
void mr_touch_pattern(const char *function, unsigned how, const struct cusparseSpMatDescr *matrix);
void mr_touch_values(const char *function, unsigned how, const struct cusparseSpMatDescr *matrix);

void mr_touch_dense(const char *function, unsigned how, const struct cusparseDnMatDescr *matrix);
void mr_touch_vector(const char *function, unsigned how, const struct cusparseDnVecDescr *vector);

/* A sparse vector's indices and values, and the elements of a dense one that it names. */
void mr_touch_indices(const char *function, unsigned how, const struct cusparseSpVecDescr *vector);
void mr_touch_entries(const char *function, unsigned how, const struct cusparseSpVecDescr *vector);
void mr_touch_named(const char *function, unsigned how, const struct cusparseDnVecDescr *dense,
                    const struct cusparseSpVecDescr *vector);

/* What lies in device memory only if the handle's pointer mode says so: factors, results. */
#define mr_touch_one(function, how, handle, at) mr_touch_number(function, how, handle, at, sizeof *(at))
#define mr_touch_typed_one(function, how, handle, at, type) \
    mr_touch_number(function, how, handle, at, mr_touch_size(type))
void mr_touch_number(const char *function, unsigned how, cusparseHandle_t handle, const void *at, size_t size);

/* The first index of an older description; the type of a vector's elements. */
static inline int mr_touch_base(const struct cusparseMatDescr *description)
{
    return mr_is(description, MR_KIND_MATDESCR) && description->base == CUSPARSE_INDEX_BASE_ONE;
}

/* How many blocks of `each` rows there are. */
static inline int64_t mr_touch_over(int64_t rows, int64_t each)
{
    return each > 0 ? (rows + each - 1) / each : 0;
}

static inline cudaDataType_t mr_touch_type(const struct cusparseDnVecDescr *vector)
{
    return mr_is(vector, MR_KIND_DNVEC) ? vector->type : CUDA_R_8I;
}

#endif
