/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors by lines and rows. */
#include "libs/cudnn/tensor.h"

#include <string.h>

#include "libs/math/convert.h"
#include "libs/math/half.h"

#define ELEMENTS_MOST (INT64_MAX / 16) /* of a tensor: an element has at most 8 bytes */

static cudaDataType_t cuda_type(cudnnDataType_t type)
{
    switch ((int)type) {
    case CUDNN_DATA_FLOAT:
        return CUDA_R_32F;
    case CUDNN_DATA_DOUBLE:
        return CUDA_R_64F;
    case CUDNN_DATA_HALF:
        return CUDA_R_16F;
    case CUDNN_DATA_BFLOAT16:
        return CUDA_R_16BF;
    case CUDNN_DATA_INT8:
        return CUDA_R_8I;
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
        return CUDA_R_8U;
    case CUDNN_DATA_INT32:
        return CUDA_R_32I;
    case CUDNN_DATA_FP8_E4M3:
        return CUDA_R_8F_E4M3;
    case CUDNN_DATA_FP8_E5M2:
        return CUDA_R_8F_E5M2;
    default:
        return (cudaDataType_t)-1;
    }
}

size_t mr_dnn_size(cudnnDataType_t type)
{
    return type == CUDNN_DATA_INT64 ? 8 : mr_element_size(cuda_type(type));
}

bool mr_dnn_is_wide(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64;
}

bool mr_tensor_fits(const struct mr_tensor *t)
{
    int64_t count = 1, last = 0, step;
    for (int i = 0; i < t->n; i++)
        if (__builtin_mul_overflow(count, t->dim[i], &count) ||
            __builtin_mul_overflow(t->dim[i] - 1, t->stride[i], &step) || __builtin_add_overflow(last, step, &last))
            return false;
    return count <= ELEMENTS_MOST && last < ELEMENTS_MOST && last > -ELEMENTS_MOST;
}

int64_t mr_tensor_count(const struct mr_tensor *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->n; i++)
        count *= t->dim[i];
    return count;
}

size_t mr_tensor_bytes(const struct mr_tensor *t)
{
    int64_t last = 0;
    for (int i = 0; i < t->n; i++)
        last += (t->dim[i] - 1) * t->stride[i];
    return (size_t)(last + 1) * mr_dnn_size(t->type);
}

bool mr_tensor_same(const struct mr_tensor *a, const struct mr_tensor *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

bool mr_tensor_spreads(const struct mr_tensor *t, const struct mr_tensor *to)
{
    if (t->n != to->n)
        return false;
    for (int i = 0; i < t->n; i++)
        if (t->dim[i] != to->dim[i] && t->dim[i] != 1)
            return false;
    return true;
}

void mr_tensor_pack(struct mr_tensor *t, bool channels_last)
{
    int64_t step = 1;
    if (channels_last && t->n > 1) {
        t->stride[1] = 1;
        step = t->dim[1];
    }
    for (int i = t->n - 1; i >= 0; i--) {
        if (channels_last && i == 1)
            continue;
        t->stride[i] = step;
        step *= t->dim[i];
    }
}

bool mr_tensor_is_packed(const struct mr_tensor *t)
{
    struct mr_tensor packed = *t;
    mr_tensor_pack(&packed, false);
    for (int i = 0; i < t->n; i++)
        if (t->dim[i] != 1 && t->stride[i] != packed.stride[i])
            return false;
    return true;
}

/* Whether dimensions i and i + 1 of the tensor can be gone through as one. */
static bool joins(const struct mr_tensor *all, const struct mr_tensor *t, int i)
{
    if (all->dim[i] == 1 || all->dim[i + 1] == 1)
        return true;
    if (t->dim[i] == 1 || t->dim[i + 1] == 1)
        return t->dim[i] == t->dim[i + 1];
    return t->stride[i] == t->dim[i + 1] * t->stride[i + 1];
}

void mr_tensor_cut(struct mr_tensor *t, int i, int64_t outer)
{
    int64_t dim = t->dim[i], inner = dim % outer == 0 ? dim / outer : 1;
    for (int k = t->n++; k > i; k--) {
        t->dim[k] = t->dim[k - 1];
        t->stride[k] = t->stride[k - 1];
    }
    t->dim[i] = dim == 1 ? 1 : outer;
    t->dim[i + 1] = dim == 1 ? 1 : inner;
    t->stride[i] = t->stride[i + 1] * t->dim[i + 1];
}

void mr_tensors_join(struct mr_tensor *const *tensors, int count)
{
    for (int i = tensors[0]->n - 2; i >= 0; i--) {
        bool all = true;
        for (int k = 0; k < count && all; k++)
            all = joins(tensors[0], tensors[k], i);
        for (int k = count - 1; k >= 0 && all; k--) {
            struct mr_tensor *t = tensors[k];
            if (tensors[0]->dim[i + 1] == 1)
                t->stride[i + 1] = t->stride[i];
            t->dim[i + 1] *= t->dim[i];
            for (int j = i; j < t->n - 1; j++) {
                t->dim[j] = t->dim[j + 1];
                t->stride[j] = t->stride[j + 1];
            }
            t->n--;
        }
    }
}

/* ---- lines ---- */

#define SPREAD(type, count, to) \
    for (int64_t i = 1; i < (count); i++) \
        ((type *)(to))[i] = ((type *)(to))[0];

/* The types in which most tensors are: strides at once. */
static bool load_strided(cudnnDataType_t type, const void *base, int64_t at, int64_t stride, int64_t count, float *to)
{
    const float *f = (const float *)base + at;
    const uint16_t *h = (const uint16_t *)base + at;
    if (type == CUDNN_DATA_FLOAT)
        for (int64_t i = 0; i < count; i++)
            to[i] = f[i * stride];
    else if (type == CUDNN_DATA_HALF)
        for (int64_t i = 0; i < count; i++)
            to[i] = mr_half_to_float(h[i * stride]);
    else if (type == CUDNN_DATA_BFLOAT16)
        for (int64_t i = 0; i < count; i++)
            to[i] = mr_bfloat_to_float(h[i * stride]);
    else
        return false;
    return true;
}

static bool store_strided(cudnnDataType_t type, void *base, int64_t at, int64_t stride, int64_t count,
                          const float *from)
{
    float *f = (float *)base + at;
    uint16_t *h = (uint16_t *)base + at;
    if (type == CUDNN_DATA_FLOAT)
        for (int64_t i = 0; i < count; i++)
            f[i * stride] = from[i];
    else if (type == CUDNN_DATA_HALF)
        for (int64_t i = 0; i < count; i++)
            h[i * stride] = mr_float_to_half(from[i]);
    else if (type == CUDNN_DATA_BFLOAT16)
        for (int64_t i = 0; i < count; i++)
            h[i * stride] = mr_float_to_bfloat(from[i]);
    else
        return false;
    return true;
}

static void load_int64(const int64_t *from, int64_t stride, int64_t count, bool wide, void *to)
{
    for (int64_t i = 0; i < count; i++)
        if (wide)
            ((double *)to)[i] = (double)from[i * stride];
        else
            ((float *)to)[i] = (float)from[i * stride];
}

void mr_line_load(cudnnDataType_t type, const void *base, int64_t at, int64_t stride, int64_t count, bool wide,
                  void *to)
{
    int64_t wanted = stride == 0 && count > 0 ? 1 : count;
    size_t size = mr_dnn_size(type);
    const char *from = (const char *)base + at * (int64_t)size;
    if (type == CUDNN_DATA_INT64)
        load_int64((const int64_t *)base + at, stride, wanted, wide, to);
    else if (stride == 1 || wanted == 1)
        mr_load(cuda_type(type), from, wanted, wanted, 1, wide, to);
    else if (wide || !load_strided(type, base, at, stride, wanted, to))
        mr_load(cuda_type(type), from, stride, 1, wanted, wide, to);
    if (wanted != count) {
        if (wide)
            SPREAD(double, count, to)
        else
            SPREAD(float, count, to)
    }
}

void mr_line_store(cudnnDataType_t type, void *base, int64_t at, int64_t stride, int64_t count, bool wide,
                   const void *from)
{
    char *to = (char *)base + at * (int64_t)mr_dnn_size(type);
    if (type == CUDNN_DATA_INT64)
        for (int64_t i = 0; i < count; i++)
            ((int64_t *)base)[at + i * stride] =
                wide ? (int64_t)((const double *)from)[i] : (int64_t)((const float *)from)[i];
    else if (stride == 1)
        mr_store(cuda_type(type), to, count, count, 1, wide, from);
    else if (wide || !store_strided(type, base, at, stride, count, from))
        mr_store(cuda_type(type), to, stride, 1, count, wide, from);
}

/* ---- rows ---- */

struct mr_rows mr_rows_of(const struct mr_tensor *t, int inner)
{
    struct mr_rows rows = {.n = t->n, .inner = inner, .count = 1};
    for (int i = 0; i < t->n && inner < 0; i++)
        if (t->dim[i] > 1 && (rows.inner < 0 || t->stride[i] <= t->stride[rows.inner]))
            rows.inner = i;
    if (rows.inner < 0)
        rows.inner = t->n - 1;
    for (int i = 0; i < t->n; i++) {
        rows.dim[i] = t->dim[i];
        if (i != rows.inner)
            rows.count *= t->dim[i];
    }
    rows.length = t->dim[rows.inner];
    if (rows.length == 0)
        rows.count = 0;
    return rows;
}

int64_t mr_rows_at(const struct mr_rows *rows, const struct mr_tensor *t, int64_t row)
{
    int64_t at = 0;
    for (int i = rows->n - 1; i >= 0; i--)
        if (i != rows->inner) {
            int64_t index = row % rows->dim[i];
            row /= rows->dim[i];
            if (t->dim[i] != 1)
                at += index * t->stride[i];
        }
    return at;
}

int64_t mr_rows_stride(const struct mr_rows *rows, const struct mr_tensor *t)
{
    return t->dim[rows->inner] == 1 ? 0 : t->stride[rows->inner];
}

/* ---- groups ---- */

struct mr_groups mr_groups_of(const struct mr_tensor *all, const struct mr_tensor *of)
{
    struct mr_groups groups = {.of = *of, .count = mr_tensor_count(of)};
    struct mr_tensor over = *all;
    for (int i = 0; i < all->n; i++)
        if (of->dim[i] != 1)
            over.dim[i] = 1;
    groups.over = mr_rows_of(&over, -1);
    groups.size = mr_tensor_count(&over);
    groups.together = (1 << 15) / (groups.size ? groups.size : 1);
    if (groups.together < 1)
        groups.together = 1;
    return groups;
}

int64_t mr_groups_at(const struct mr_groups *groups, const struct mr_tensor *t, int64_t group)
{
    int64_t at = 0;
    for (int i = groups->of.n - 1; i >= 0; i--) {
        if (t->dim[i] != 1)
            at += group % groups->of.dim[i] * t->stride[i];
        group /= groups->of.dim[i];
    }
    return at;
}
