/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in graphs: the last two dimensions are the matrices, those before them batches, which an
 * operand may have once for all, or once for each group of the result's.
 *
 * The shared product (libs/math/product.h) goes by columns. C by rows is its transpose by columns, so the operands
 * change places. A matrix whose elements are contiguous in neither dimension is copied into the operation's own space
 * first. */
#include <stdlib.h>

#include "libs/cudnn/kinds.h"
#include "libs/cudnn/pointwise.h"
#include "libs/math/cpu.h"
#include "libs/math/product.h"

static bool cuda_type(cudnnDataType_t type, cudaDataType_t *to)
{
    switch ((int)type) {
    case CUDNN_DATA_FLOAT:
        *to = CUDA_R_32F;
        return true;
    case CUDNN_DATA_DOUBLE:
        *to = CUDA_R_64F;
        return true;
    case CUDNN_DATA_HALF:
        *to = CUDA_R_16F;
        return true;
    case CUDNN_DATA_BFLOAT16:
        *to = CUDA_R_16BF;
        return true;
    case CUDNN_DATA_INT8:
        *to = CUDA_R_8I;
        return true;
    case CUDNN_DATA_INT32:
        *to = CUDA_R_32I;
        return true;
    case CUDNN_DATA_FP8_E4M3:
        *to = CUDA_R_8F_E4M3;
        return true;
    case CUDNN_DATA_FP8_E5M2:
        *to = CUDA_R_8F_E5M2;
        return true;
    default:
        return false;
    }
}

/* A matrix by columns, as the product takes it: rows are t's dimension `row`. */
struct by_columns {
    char letter;
    int64_t ld;
};

static struct by_columns transposed(struct by_columns m)
{
    m.letter = m.letter == 'N' ? 'T' : 'N';
    return m;
}

static bool lies(const struct mr_tensor *t, struct by_columns *m)
{
    int r = t->n - 2, c = t->n - 1;
    /* By rows without gaps in a row: by columns that is the transpose. */
    if (t->stride[c] == 1 || t->dim[c] == 1) {
        *m = (struct by_columns){'N', t->dim[r] > 1 ? t->stride[r] : t->dim[c]};
        return m->ld >= t->dim[c];
    }
    if (t->stride[r] == 1 || t->dim[r] == 1) {
        *m = (struct by_columns){'T', t->stride[c]};
        return m->ld >= t->dim[r];
    }
    return false;
}

/* The operand where the product can take it: a packed copy in the space at *used if need be. */
static cudnnStatus_t straighten(struct mr_going *going, struct mr_tensor *t, void **at, size_t *used,
                                struct by_columns *m)
{
    if (lies(t, m))
        return CUDNN_STATUS_SUCCESS;
    struct mr_pointwise p = mr_pointwise_of(CUDNN_POINTWISE_IDENTITY);
    p.x = *t;
    mr_tensor_pack(t, false);
    size_t begin = *used;
    *used += (mr_tensor_bytes(t) + 63) & ~(size_t)63;
    void *space = mr_going_space(going, *used);
    p.y = *t;
    p.x_at = *at;
    p.y_at = space ? (char *)space + begin : NULL;
    *at = p.y_at;
    (void)lies(t, m);
    return mr_going_submit(going, mr_pointwise_prepare(&p), mr_pointwise_run, &p, sizeof p);
}

/* How far apart an operand's matrices lie along a dimension of the batch: 0 if it has one for all. */
static int64_t step_of(const struct mr_tensor *t, int i)
{
    return t->dim[i] == 1 ? 0 : t->stride[i];
}

/* Whether the operand has one matrix for each group of several of the result's along the dimension, as the keys of
 * attention by groups. */
static bool is_grouped(const struct mr_tensor *t, const struct mr_tensor *c, int i)
{
    return t->dim[i] > 1 && t->dim[i] < c->dim[i];
}

/* Where the operand's matrix is for the result's `index`th along the dimension. */
static int64_t place_along(const struct mr_tensor *t, const struct mr_tensor *c, int i, int64_t index)
{
    return index / (c->dim[i] / t->dim[i]) * step_of(t, i);
}

cudnnStatus_t mr_operation_matmul(struct mr_going *going, const struct mr_descriptor *op)
{
    struct mr_tensor a, b, c;
    void *a_at, *b_at, *c_at;
    struct by_columns am, bm, cm;
    size_t used = 0;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &a, &a_at));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &b, &b_at));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &c, &c_at));
    int n = c.n, r = n - 2, q = n - 1;
    bool fits = n >= 2 && a.n == n && b.n == n && a.dim[r] == c.dim[r] && b.dim[q] == c.dim[q] && a.dim[q] == b.dim[r];
    for (int i = 0; i < r && fits; i++)
        fits = c.dim[i] % a.dim[i] == 0 && c.dim[i] % b.dim[i] == 0;
    if (!fits)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product: the matrices don't fit");
    struct mr_product p = {.function = going->function,
                           .m = c.dim[q],
                           .n = c.dim[r],
                           .k = a.dim[q],
                           .wide = mr_dnn_is_wide(c.type) || mr_dnn_is_wide(a.type),
                           .batch = 1};
    if (!cuda_type(a.type, &p.b.type) || !cuda_type(b.type, &p.a.type) || !cuda_type(c.type, &p.c.type) ||
        !mr_cpu_open())
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "a product of types %d and %d", (int)a.type,
                          (int)b.type);
    MR_STEP(straighten(going, &a, &a_at, &used, &am));
    MR_STEP(straighten(going, &b, &b_at, &used, &bm));
    if (!lies(&c, &cm))
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED_LAYOUT,
                          "a product: the result has gaps in its rows");
    p.scale_type = p.wide ? CUDA_R_64F : CUDA_R_32F;
    double one = 1, zero = 0;
    float one_f = 1, zero_f = 0;
    p.alpha = p.wide ? mr_scalar_take(&one, sizeof one, false) : mr_scalar_take(&one_f, sizeof one_f, false);
    p.beta = p.wide ? mr_scalar_take(&zero, sizeof zero, false) : mr_scalar_take(&zero_f, sizeof zero_f, false);
    bool turned = cm.letter == 'T'; /* C lies by columns: then A and B stay in their places */
    if (turned) {
        cudaDataType_t type = p.a.type;
        p.m = c.dim[r];
        p.n = c.dim[q];
        p.a.type = p.b.type;
        p.b.type = type;
    }
    struct by_columns first = turned ? transposed(am) : bm, second = turned ? transposed(bm) : am;
    p.transa = first.letter;
    p.transb = second.letter;
    p.a.ld = first.ld;
    p.b.ld = second.ld;
    p.c.ld = cm.ld;
    const struct mr_tensor *left = turned ? &a : &b, *right = turned ? &b : &a;
    const char *left_at = turned ? a_at : b_at, *right_at = turned ? b_at : a_at;
    int64_t outer = 1;
    int loops = r; /* dimensions of the batch that are gone through one by one; the last is not if its steps are even */
    if (n >= 3 && !is_grouped(&a, &c, r - 1) && !is_grouped(&b, &c, r - 1)) {
        loops = r - 1;
        p.batch = c.dim[r - 1];
        p.a.stride = step_of(left, r - 1);
        p.b.stride = step_of(right, r - 1);
        p.c.stride = c.stride[r - 1];
    }
    for (int i = 0; i < loops; i++)
        outer *= c.dim[i];
    for (int64_t o = 0; o < outer && going->pack; o++) {
        int64_t rest = o, la = 0, ra = 0, ca = 0;
        for (int i = loops - 1; i >= 0; i--) {
            int64_t index = rest % c.dim[i];
            rest /= c.dim[i];
            la += place_along(left, &c, i, index);
            ra += place_along(right, &c, i, index);
            ca += index * c.stride[i];
        }
        p.a.at = left_at + la * (int64_t)mr_dnn_size(left->type);
        p.b.at = right_at + ra * (int64_t)mr_dnn_size(right->type);
        p.c.at = (char *)c_at + ca * (int64_t)mr_dnn_size(c.type);
        p.d = p.c;
        MR_STEP(mr_going_submit(going, mr_product_parts(&p), mr_product_run, &p, sizeof p));
    }
    return CUDNN_STATUS_SUCCESS;
}
