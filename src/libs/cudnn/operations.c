/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of graphs: convolutions, element by element, reductions, and what moves tensors. */
#include "libs/cudnn/operations.h"

#include <string.h>

#include "libs/cudnn/conv.h"
#include "libs/cudnn/kinds.h"
#include "libs/cudnn/pointwise.h"
#include "libs/cudnn/sums.h"

bool mr_operation_writes(const struct mr_descriptor *op, cudnnBackendAttributeName_t name)
{
    switch ((int)name) {
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW:
    case CUDNN_ATTR_OPERATION_POINTWISE_YDESC:
    case CUDNN_ATTR_OPERATION_POINTWISE_DXDESC:
    case CUDNN_ATTR_OPERATION_MATMUL_CDESC:
    case CUDNN_ATTR_OPERATION_REDUCTION_YDESC:
    case CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC:
    case CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC:
    case CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC:
    case CUDNN_ATTR_OPERATION_NORM_FWD_YDESC:
    case CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC:
    case CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC:
    case CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC:
    case CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC:
    case CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC:
    case CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC:
    case CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC:
    case CUDNN_ATTR_OPERATION_RESHAPE_YDESC:
    case CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC:
    case CUDNN_ATTR_OPERATION_RNG_YDESC:
        return true;
    case CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC:
    case CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC:
        return mr_attribute_number(op, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, 0) == CUDNN_NORM_FWD_TRAINING;
    default:
        return false;
    }
}

static cudnnStatus_t bad_shape(struct mr_going *going, const char *what)
{
    return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "%s: the tensors don't fit", what);
}

/* ---- convolutions ---- */

static cudnnStatus_t convolution(struct mr_going *going, const struct mr_descriptor *op)
{
    static const struct {
        enum mr_conv_kind kind;
        int conv, x, w, y, alpha, beta;
    } kinds[] = {
        {MR_CONV_FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {MR_CONV_FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
        {MR_CONV_DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    };
    int k = (int)op->type - CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    struct mr_convolution c = {.function = going->function, .kind = kinds[k].kind};
    const struct mr_descriptor *conv = mr_attribute_descriptor(op, (cudnnBackendAttributeName_t)kinds[k].conv);
    void *x, *w, *y;
    MR_STEP(mr_going_take(going, op, (cudnnBackendAttributeName_t)kinds[k].x, &c.x, &x));
    MR_STEP(mr_going_take(going, op, (cudnnBackendAttributeName_t)kinds[k].w, &c.w, &w));
    MR_STEP(mr_going_take(going, op, (cudnnBackendAttributeName_t)kinds[k].y, &c.y, &y));
    c.x_at = x;
    c.w_at = w;
    c.y_at = y;
    c.alpha = mr_attribute_factor(op, (cudnnBackendAttributeName_t)kinds[k].alpha, 1);
    c.beta = mr_attribute_factor(op, (cudnnBackendAttributeName_t)kinds[k].beta, 0);
    c.way.space = (int)mr_attribute_number(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
    c.way.flip =
        mr_attribute_number(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
    mr_going_integers(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 3, 0, c.way.before);
    mr_going_integers(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 3, 0, c.way.after);
    mr_going_integers(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 3, 1, c.way.stride);
    mr_going_integers(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, 3, 1, c.way.dilation);
    MR_STEP(mr_convolution_plan(&c));
    c.workspace = mr_going_space(going, c.bytes);
    c.block = going->block;
    cudnnStatus_t status = going->pack ? mr_convolution_submit(going->handle, &c) : CUDNN_STATUS_SUCCESS;
    mr_conv_drop(c.conv);
    return status;
}

/* ---- element by element ---- */

static int64_t uid_of(const struct mr_descriptor *op, cudnnBackendAttributeName_t name)
{
    return mr_attribute_number(mr_attribute_descriptor(op, name), CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
}

/* The elements along the last dimension; 0 if there is no such tensor. */
static int64_t row_ends(const struct mr_descriptor *op, cudnnBackendAttributeName_t name)
{
    const struct mr_attribute *dims = mr_attribute_of(mr_attribute_descriptor(op, name), CUDNN_ATTR_TENSOR_DIMENSIONS);
    return dims ? ((const int64_t *)dims->elements)[dims->count - 1] : 0;
}

/* Whether the operation takes the largest element of its operand from it, or divides the operand by its sum, as a
 * softmax of single operations does; or whether a power is taken of its difference to one number a row, as the gradient
 * does with the softmax's statistics. */
static bool is_of_softmax(const struct mr_going *going, const struct mr_descriptor *op, cudnnPointwiseMode_t mode)
{
    int64_t x = uid_of(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC), b = uid_of(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    cudnnReduceTensorOp_t wanted = mode == CUDNN_POINTWISE_SUB ? CUDNN_REDUCE_TENSOR_MAX : CUDNN_REDUCE_TENSOR_ADD;
    if (mode != CUDNN_POINTWISE_SUB && mode != CUDNN_POINTWISE_DIV)
        return false;
    for (int64_t i = 0; i < going->plan->count; i++) {
        const struct mr_descriptor *other = going->plan->operations[i];
        if (other->type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR &&
            uid_of(other, CUDNN_ATTR_OPERATION_REDUCTION_XDESC) == x &&
            uid_of(other, CUDNN_ATTR_OPERATION_REDUCTION_YDESC) == b)
            return mr_attribute_number(mr_attribute_descriptor(other, CUDNN_ATTR_OPERATION_REDUCTION_DESC),
                                       CUDNN_ATTR_REDUCTION_OPERATOR, -1) == (int64_t)wanted;
        if (mode == CUDNN_POINTWISE_SUB && other->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR &&
            uid_of(other, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) == uid_of(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC) &&
            mr_attribute_number(mr_attribute_descriptor(other, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
                                CUDNN_ATTR_POINTWISE_MODE, -1) == CUDNN_POINTWISE_EXP)
            return row_ends(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) == 1 &&
                   row_ends(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) > 1;
    }
    return false;
}

static cudnnStatus_t pointwise(struct mr_going *going, const struct mr_descriptor *op)
{
    const struct mr_descriptor *d = mr_attribute_descriptor(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    struct mr_pointwise p = mr_pointwise_of((cudnnPointwiseMode_t)mr_attribute_number(d, CUDNN_ATTR_POINTWISE_MODE, 0));
    int operands = mr_pointwise_operands(p.mode);
    bool backward = mr_pointwise_is_backward(p.mode);
    void *x = NULL, *b = NULL, *t = NULL, *y = NULL;
    if (operands < 0)
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "there is no mode %d", (int)p.mode);
    p.low = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, p.low);
    p.high = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, p.high);
    p.slope = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, p.slope);
    p.elu_alpha = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_ELU_ALPHA, p.elu_alpha);
    p.softplus_beta = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, p.softplus_beta);
    p.swish_beta = mr_attribute_factor(d, CUDNN_ATTR_POINTWISE_SWISH_BETA, p.swish_beta);
    p.axis = (int)mr_attribute_number(d, CUDNN_ATTR_POINTWISE_AXIS, -1);
    p.is_softmax = is_of_softmax(going, op, p.mode);
    p.alpha = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
    p.alpha_b = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    /* A summand whose factor is 0 need not be in the variant pack. */
    if (p.mode == CUDNN_POINTWISE_ADD && p.alpha_b == 0) {
        p.mode = CUDNN_POINTWISE_IDENTITY;
        operands = 1;
    }
    if (operands >= 1)
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &p.x, &x));
    if (operands >= 2)
        MR_STEP(mr_going_take(going, op,
                              backward ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC : CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                              &p.b, &b));
    if (operands >= 3)
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, &p.t, &t));
    MR_STEP(mr_going_take(
        going, op, backward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC : CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &p.y, &y));
    if ((operands >= 1 && !mr_tensor_spreads(&p.x, &p.y)) || (operands >= 2 && !mr_tensor_spreads(&p.b, &p.y)) ||
        (operands >= 3 && !mr_tensor_spreads(&p.t, &p.y)))
        return bad_shape(going, "an operation element by element");
    p.x_at = x;
    p.b_at = b;
    p.t_at = t;
    p.y_at = y;
    return mr_going_submit(going, mr_pointwise_prepare(&p), mr_pointwise_run, &p, sizeof p);
}

/* ---- reductions ---- */

static cudnnStatus_t submit_sums(struct mr_going *going, struct mr_sums *s, const void *x, void *y)
{
    /* Heads of queries that share a key: neighbours are summed into one element of y. */
    for (int i = 0; s->x.n == s->y.n && i < s->y.n && s->y.n < CUDNN_DIM_MAX; i++) {
        int64_t of_x = s->x.dim[i], of_y = s->y.dim[i];
        if (of_y > 1 && of_y < of_x && of_x % of_y == 0) {
            mr_tensor_cut(&s->x, i, of_y);
            mr_tensor_cut(&s->y, i++, of_y);
        }
    }
    if (!mr_tensor_spreads(&s->y, &s->x))
        return bad_shape(going, "a reduction");
    s->x_at = x;
    s->y_at = y;
    s->alpha = 1;
    return mr_going_submit(going, mr_sums_prepare(s), mr_sums_run, s, sizeof *s);
}

static cudnnStatus_t reduction(struct mr_going *going, const struct mr_descriptor *op)
{
    const struct mr_descriptor *d = mr_attribute_descriptor(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    struct mr_sums s = {.op = (cudnnReduceTensorOp_t)mr_attribute_number(d, CUDNN_ATTR_REDUCTION_OPERATOR, 0)};
    void *x, *y;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &s.x, &x));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &s.y, &y));
    return submit_sums(going, &s, x, y);
}

/* Sums, and sums of squares, over all but the channels. */
static cudnnStatus_t statistics(struct mr_going *going, const struct mr_descriptor *op)
{
    struct mr_sums s = {.op = CUDNN_REDUCE_TENSOR_ADD};
    void *x, *y;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, &s.x, &x));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, &s.y, &y));
    MR_STEP(submit_sums(going, &s, x, y));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, &s.y, &y));
    s.squares = true;
    return submit_sums(going, &s, x, y);
}

/* ---- moving ---- */

static cudnnStatus_t submit_copy(struct mr_going *going, const struct mr_tensor *x, const void *x_at,
                                 const struct mr_tensor *y, void *y_at)
{
    struct mr_pointwise p = mr_pointwise_of(CUDNN_POINTWISE_IDENTITY);
    p.x = *x;
    p.y = *y;
    p.x_at = x_at;
    p.y_at = y_at;
    return mr_going_submit(going, mr_pointwise_prepare(&p), mr_pointwise_run, &p, sizeof p);
}

/* Reshapes. cuDNN's give the same memory other dimensions and strides, so that attention's graphs transpose with them:
 * an element keeps its distance from the beginning. Where the two tensors don't cover the same memory, both are gone
 * through in the order of their dimensions. */
struct reshape {
    struct mr_tensor x, y;
    const void *x_at;
    void *y_at;
};

static int64_t nth(const struct mr_tensor *t, int64_t index)
{
    int64_t at = 0;
    for (int i = t->n - 1; i >= 0; i--) {
        at += index % t->dim[i] * t->stride[i];
        index /= t->dim[i];
    }
    return at;
}

#define MOVED 4096 /* elements of a part */

static void run_reshape(void *record, uint64_t first, uint64_t end)
{
    const struct reshape *r = record;
    int64_t all = mr_tensor_count(&r->y), last = (int64_t)end * MOVED < all ? (int64_t)end * MOVED : all;
    for (int64_t i = (int64_t)first * MOVED; i < last; i++) {
        double value;
        mr_line_load(r->x.type, r->x_at, nth(&r->x, i), 1, 1, true, &value);
        mr_line_store(r->y.type, r->y_at, nth(&r->y, i), 1, 1, true, &value);
    }
}

/* The dimensions of more than one element, by their strides, the widest first. How many. */
static int by_stride(const struct mr_tensor *t, int64_t (*sorted)[2])
{
    int count = 0;
    for (int i = 0; i < t->n; i++) {
        int at = count;
        if (t->dim[i] == 1)
            continue;
        for (count++; at > 0 && sorted[at - 1][0] < t->stride[i]; at--)
            memcpy(sorted[at], sorted[at - 1], sizeof *sorted);
        sorted[at][0] = t->stride[i];
        sorted[at][1] = t->dim[i];
    }
    return count;
}

static bool has_no_gaps(int64_t (*sorted)[2], int count)
{
    int64_t next = 1;
    for (int i = count - 1; i >= 0; i--) {
        if (sorted[i][0] != next)
            return false;
        next *= sorted[i][1];
    }
    return true;
}

/* Whether tensors of as many elements reach the same memory: without gaps, or with the same dimensions in another
 * order. */
static bool covers_the_same(const struct mr_tensor *x, const struct mr_tensor *y)
{
    int64_t a[CUDNN_DIM_MAX][2], b[CUDNN_DIM_MAX][2];
    int of_x = by_stride(x, a), of_y = by_stride(y, b);
    if (of_x == of_y && memcmp(a, b, (size_t)of_x * sizeof *a) == 0)
        return true;
    return has_no_gaps(a, of_x) && has_no_gaps(b, of_y);
}

static cudnnStatus_t reshape(struct mr_going *going, const struct mr_descriptor *op)
{
    struct reshape r;
    void *x, *y;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &r.x, &x));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &r.y, &y));
    if (mr_tensor_count(&r.x) != mr_tensor_count(&r.y))
        return bad_shape(going, "a reshape");
    if (covers_the_same(&r.x, &r.y)) {
        struct mr_tensor seen = r.y;
        seen.type = r.x.type;
        return submit_copy(going, &seen, x, &r.y, y);
    }
    r.x_at = x;
    r.y_at = y;
    return mr_going_submit(going, mr_parts_of((uint64_t)mr_tensor_count(&r.y), MOVED), run_reshape, &r, sizeof r);
}

static cudnnStatus_t concatenation(struct mr_going *going, const struct mr_descriptor *op)
{
    const struct mr_attribute *inputs = mr_attribute_of(op, CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS);
    int64_t axis = mr_attribute_number(op, CUDNN_ATTR_OPERATION_CONCAT_AXIS, -1), begin = 0;
    int64_t in_place = mr_attribute_number(op, CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX, -1);
    struct mr_tensor x, y;
    void *from, *to;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, &y, &to));
    if (!inputs || axis < 0 || axis >= y.n)
        return bad_shape(going, "a concatenation");
    for (int64_t i = 0; i < inputs->count; i++) {
        struct mr_tensor part = y;
        MR_STEP(mr_going_tensor(going, ((struct mr_descriptor *const *)inputs->elements)[i], &x, &from));
        part.dim[axis] = x.n == y.n ? x.dim[axis] : 0;
        if (!mr_tensor_same(&x, &part) || begin + x.dim[axis] > y.dim[axis])
            return bad_shape(going, "a concatenation");
        char *at = going->pack ? (char *)to + (size_t)(begin * y.stride[axis]) * mr_dnn_size(y.type) : NULL;
        begin += x.dim[axis];
        if (i != in_place || at != from)
            MR_STEP(submit_copy(going, &x, from, &part, at));
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_operation_go(struct mr_going *going, const struct mr_descriptor *op)
{
    switch ((int)op->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return convolution(going, op);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return pointwise(going, op);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
        return mr_operation_matmul(going, op);
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
        return mr_operation_resample(going, op);
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
        return mr_operation_norm(going, op);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
        return reduction(going, op);
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
        return statistics(going, op);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
        return reshape(going, op);
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
        return concatenation(going, op);
    default:
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "operations of type %d are not supported",
                          (int)op->type);
    }
}
