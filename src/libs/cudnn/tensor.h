/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, and walking over them by rows.
 *
 * A tensor is a type, up to eight dimensions and a stride in elements for each. A row is what lies along one dimension,
 * the inner one; work is cut into rows. A line is a row's elements in float, or in double (`wide`), contiguous, in
 * memory of the part's own. */
#ifndef MR_CUDNN_TENSOR_H
#define MR_CUDNN_TENSOR_H

#include "libs/cudnn/dnn.h"

struct mr_tensor {
    cudnnDataType_t type;
    int n; /* dimensions; 0: the tensor isn't set */
    int64_t dim[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX];
};

struct cudnnTensorStruct {
    struct mr_tensor t;
};

/* Dimensions K, C, and space: with the strides that the format gives them. */
struct cudnnFilterStruct {
    struct mr_tensor t;
    cudnnTensorFormat_t format;
};

/* Bytes of an element; 0 for types that are not supported here. */
size_t mr_dnn_size(cudnnDataType_t type);

/* Whether numbers of the type have to be computed in double to be exact. */
bool mr_dnn_is_wide(cudnnDataType_t type);

/* Whether the elements, and the bytes from the first to behind the last, can be counted: what follows must not be asked
 * of a tensor of which this is false. Dimensions are at least 1. */
bool mr_tensor_fits(const struct mr_tensor *t);

int64_t mr_tensor_count(const struct mr_tensor *t);

/* From the first byte to behind the last. */
size_t mr_tensor_bytes(const struct mr_tensor *t);

/* Whether the dimensions are the same. */
bool mr_tensor_same(const struct mr_tensor *a, const struct mr_tensor *b);

/* Whether it can be read for each element of `to`: each dimension is the same, or 1. */
bool mr_tensor_spreads(const struct mr_tensor *t, const struct mr_tensor *to);

/* Without holes, the last dimension innermost. */
bool mr_tensor_is_packed(const struct mr_tensor *t);

/* Strides of a packed tensor: in the order of dimensions, or (`channels_last`) with dimension 1 innermost. */
void mr_tensor_pack(struct mr_tensor *t, bool channels_last);

/* Cuts dimension i in two: the outer one has `outer` elements. It has a multiple of `outer` elements, `outer` elements,
 * of which each then stands for all of the inner one, or 1. There is room for one dimension more. */
void mr_tensor_cut(struct mr_tensor *t, int i, int64_t outer);

/* Joins dimensions that lie one behind the other in every tensor of the list, so that rows are long. The first tensor
 * has all dimensions, the others spread over it. */
void mr_tensors_join(struct mr_tensor *const *tensors, int count);

/* ---- lines ---- */

#define MR_LINE 1024 /* elements of a line at most */

/* `count` elements, `stride` apart, from element `at` behind `base`, into floats or doubles, and back. A stride of 0
 * reads one element for all. */
void mr_line_load(cudnnDataType_t type, const void *base, int64_t at, int64_t stride, int64_t count, bool wide,
                  void *to);
void mr_line_store(cudnnDataType_t type, void *base, int64_t at, int64_t stride, int64_t count, bool wide,
                   const void *from);

/* ---- rows ---- */

struct mr_rows {
    int n, inner; /* inner: the dimension along a row */
    int64_t dim[CUDNN_DIM_MAX];
    int64_t count, length; /* rows, and the elements of one */
};

/* The rows of a tensor, along the dimension whose elements lie closest; `inner` chooses one unless it is -1. */
struct mr_rows mr_rows_of(const struct mr_tensor *t, int inner);

/* Where row `row` begins in a tensor that has the dimensions of the rows or spreads over them: in elements. */
int64_t mr_rows_at(const struct mr_rows *rows, const struct mr_tensor *t, int64_t row);

/* The distance of a row's elements in that tensor: 0 where it spreads. */
int64_t mr_rows_stride(const struct mr_rows *rows, const struct mr_tensor *t);

/* How rows are cut into parts: at least so many rows to a part, by the sizes alone. */
static inline int64_t mr_rows_each(const struct mr_rows *rows)
{
    int64_t each = (1 << 15) / (rows->length ? rows->length : 1);
    return each < 1 ? 1 : each;
}

/* ---- groups: what is summed into one element ---- */

/* An element of a tensor `of`, whose dimensions are those of another or 1, belongs to all elements of the other that
 * have its place in the dimensions that `of` has: its group. */
struct mr_groups {
    struct mr_tensor of; /* strides have no meaning */
    struct mr_rows over; /* the rows of a group */
    int64_t count, size; /* groups, and the elements of each */
    int64_t together; /* groups of a part */
};

struct mr_groups mr_groups_of(const struct mr_tensor *all, const struct mr_tensor *of);

/* Where group `group` begins in a tensor that has the dimensions of either: rows are found behind it by mr_rows_at. */
int64_t mr_groups_at(const struct mr_groups *groups, const struct mr_tensor *t, int64_t group);

static inline uint64_t mr_groups_parts(const struct mr_groups *groups)
{
    return mr_parts_of((uint64_t)groups->count, (uint64_t)groups->together);
}

/* The groups of parts [first, end). */
static inline int64_t mr_groups_first(const struct mr_groups *groups, uint64_t part)
{
    int64_t group = (int64_t)part * groups->together;
    return group < groups->count ? group : groups->count;
}

#endif
