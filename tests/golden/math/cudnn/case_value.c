/* SPDX-License-Identifier: Apache-2.0 */
/* Results of cuDNN's operations. A case is a row: types, layouts and options; its answer is a status for each step and
 * what the operation leaves. */
#include "dn.h"

/* ---- convolutions and their gradients ---- */

struct conv {
    char type, layout;
    int n, c, h, w, k, kernel, pad, stride, dilation, groups;
    cudnnConvolutionMode_t mode;
    double alpha, beta;
};

static void conv(const struct gold_case *self)
{
    const struct conv *o = self->data;
    cudnnHandle_t h = dn_begin();
    int out[4];
    char t = o->type;
    struct dn x = dn_tensor(t, o->layout, o->n, o->c, o->h, o->w, 1),
              w = dn_filter(t, o->layout, o->k, o->c / o->groups, o->kernel, o->kernel, 5);
    cudnnConvolutionDescriptor_t d;
    DN_NEED(cudnnCreateConvolutionDescriptor(&d));
    DN_NEED(cudnnSetConvolution2dDescriptor(d, o->pad, o->pad, o->stride, o->stride, o->dilation, o->dilation, o->mode,
                                            t == 'D' ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    DN_NEED(cudnnSetConvolutionGroupCount(d, o->groups));
    DN_NEED(cudnnGetConvolution2dForwardOutputDim(d, x.d, w.f, &out[0], &out[1], &out[2], &out[3]));
    struct dn y = dn_tensor(t, o->layout, out[0], out[1], out[2], out[3], 3),
              dx = dn_tensor(t, o->layout, o->n, o->c, o->h, o->w, 2),
              dw = dn_filter(t, o->layout, o->k, o->c / o->groups, o->kernel, o->kernel, 4);
    const void *alpha = dn_factor(t, o->alpha), *beta = dn_factor(t, o->beta);
    cudnnConvolutionFwdAlgoPerf_t forward;
    cudnnConvolutionBwdDataAlgoPerf_t data;
    cudnnConvolutionBwdFilterAlgoPerf_t weights;
    int found = 0;
    dn(cudnnGetConvolutionForwardAlgorithm_v7(h, x.d, w.f, d, y.d, 1, &found, &forward));
    dn(cudnnConvolutionForward(h, alpha, x.d, x.at, w.f, w.at, d, forward.algo, dn_room(forward.memory + 1),
                               forward.memory, beta, y.d, y.at));
    dn_say(&y);
    dn(cudnnGetConvolutionBackwardDataAlgorithm_v7(h, w.f, y.d, d, x.d, 1, &found, &data));
    struct dn dy = dn_tensor(t, o->layout, out[0], out[1], out[2], out[3], 7);
    dn(cudnnConvolutionBackwardData(h, alpha, w.f, w.at, dy.d, dy.at, d, data.algo, dn_room(data.memory + 1),
                                    data.memory, beta, dx.d, dx.at));
    dn_say(&dx);
    dn(cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, x.d, y.d, d, w.f, 1, &found, &weights));
    dn(cudnnConvolutionBackwardFilter(h, alpha, x.d, x.at, dy.d, dy.at, d, weights.algo, dn_room(weights.memory + 1),
                                      weights.memory, beta, dw.f, dw.at));
    dn_say(&dw);
}

#define X CUDNN_CROSS_CORRELATION
#define F CUDNN_CONVOLUTION
#define CONV(title, ...) \
    { \
        .name = "dnn_value.conv_" #title, .run = conv, .data = &(const struct conv) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case convs[] = {
    CONV(float, 'S', 'c', 2, 3, 6, 7, 4, 3, 0, 1, 1, 1, X, 1, 0),
    CONV(float_flipped, 'S', 'c', 2, 3, 6, 7, 4, 3, 1, 1, 1, 1, F, 1, 0),
    CONV(float_strided, 'S', 'c', 2, 3, 9, 8, 4, 3, 1, 2, 1, 1, X, 1, 0),
    CONV(float_dilated, 'S', 'c', 2, 3, 9, 8, 4, 3, 2, 1, 2, 1, X, 1, 0),
    CONV(float_groups, 'S', 'c', 2, 4, 6, 6, 6, 3, 1, 1, 1, 2, X, 1, 0),
    CONV(float_depthwise, 'S', 'c', 2, 4, 6, 6, 4, 3, 1, 1, 1, 4, X, 1, 0),
    CONV(float_added, 'S', 'c', 2, 3, 6, 7, 4, 3, 0, 1, 1, 1, X, 2, 3),
    CONV(float_one_by_one, 'S', 'c', 2, 4, 6, 7, 8, 1, 0, 1, 1, 1, X, 1, 0),
    CONV(float_last, 'S', 'l', 2, 4, 6, 7, 8, 3, 1, 1, 1, 1, X, 1, 0),
    CONV(double, 'D', 'c', 2, 3, 6, 7, 4, 3, 1, 1, 1, 1, X, 1, 0),
    CONV(double_added, 'D', 'c', 2, 3, 6, 7, 4, 3, 1, 2, 1, 1, X, 2, 1),
    CONV(half, 'H', 'c', 2, 8, 6, 6, 8, 3, 1, 1, 1, 1, X, 1, 0),
    CONV(half_last, 'H', 'l', 2, 8, 6, 6, 8, 3, 1, 1, 1, 1, X, 1, 0),
    CONV(half_last_strided, 'H', 'l', 2, 8, 7, 7, 16, 3, 1, 2, 1, 1, X, 1, 0),
    CONV(bf16_last, 'B', 'l', 2, 8, 6, 6, 8, 1, 0, 1, 1, 1, X, 1, 0),
    CONV(line, 'S', 'c', 2, 3, 1, 20, 4, 1, 0, 1, 1, 1, X, 1, 0),
};

struct space {
    char type;
    int groups;
};

/* Three dimensions, by functions. */
static void space(const struct gold_case *self)
{
    const struct space *o = self->data;
    cudnnHandle_t h = dn_begin();
    int xd[5] = {2, 4, 4, 5, 3}, xs[5] = {240, 60, 15, 3, 1}, wd[5] = {6, 4 / o->groups, 2, 3, 2}, yd[5], ys[5],
        pad[3] = {1, 0, 1}, stride[3] = {1, 2, 1}, dilation[3] = {1, 1, 1};
    struct dn x = dn_tensor(o->type, 'c', 1, 2, 4, 60, 1), w = dn_filter(o->type, 'c', 6, 4 / o->groups, 6, 2, 5);
    DN_NEED(cudnnSetTensorNdDescriptor(x.d, dn_type(o->type), 5, xd, xs));
    DN_NEED(cudnnSetFilterNdDescriptor(w.f, dn_type(o->type), CUDNN_TENSOR_NCHW, 5, wd));
    cudnnConvolutionDescriptor_t d;
    DN_NEED(cudnnCreateConvolutionDescriptor(&d));
    DN_NEED(cudnnSetConvolutionNdDescriptor(d, 3, pad, stride, dilation, X,
                                            o->type == 'D' ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    DN_NEED(cudnnSetConvolutionGroupCount(d, o->groups));
    dn(cudnnGetConvolutionNdForwardOutputDim(d, x.d, w.f, 5, yd));
    for (int i = 4, step = 1; i >= 0; i--) {
        say_int(yd[i]);
        ys[i] = step;
        step *= yd[i];
    }
    struct dn y = dn_tensor(o->type, 'c', yd[0], yd[1], yd[2], yd[3] * yd[4], -1);
    DN_NEED(cudnnSetTensorNdDescriptor(y.d, dn_type(o->type), 5, yd, ys));
    cudnnConvolutionFwdAlgoPerf_t forward;
    int found = 0;
    dn(cudnnGetConvolutionForwardAlgorithm_v7(h, x.d, w.f, d, y.d, 1, &found, &forward));
    dn(cudnnConvolutionForward(h, dn_factor(o->type, 1), x.d, x.at, w.f, w.at, d, forward.algo,
                               dn_room(forward.memory + 1), forward.memory, dn_factor(o->type, 0), y.d, y.at));
    dn_say(&y);
}

#define SPACE(title, ...) \
    { \
        .name = "dnn_value.space_" #title, .run = space, .data = &(const struct space) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case spaces[] = {SPACE(float, 'S', 1), SPACE(double, 'D', 1), SPACE(float_groups, 'S', 2)};

CASE(dnn_value, bias_activation)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 4, 5, 5, 1), w = dn_filter('S', 'c', 4, 4, 3, 3, 2),
              y = dn_tensor('S', 'c', 2, 4, 3, 3, -1), z = dn_tensor('S', 'c', 2, 4, 3, 3, 6),
              b = dn_tensor('S', 'c', 1, 4, 1, 1, 3);
    cudnnConvolutionDescriptor_t d;
    cudnnActivationDescriptor_t a;
    DN_NEED(cudnnCreateConvolutionDescriptor(&d));
    DN_NEED(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, X, CUDNN_DATA_FLOAT));
    DN_NEED(cudnnCreateActivationDescriptor(&a));
    DN_NEED(cudnnSetActivationDescriptor(a, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    dn(cudnnConvolutionBiasActivationForward(h, dn_factor('S', 1), x.d, x.at, w.f, w.at, d,
                                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, dn_room(1 << 20),
                                             1 << 20, dn_factor('S', 2), z.d, z.at, b.d, b.at, a, y.d, y.at));
    dn_say(&y);
    DN_NEED(cudnnSetActivationDescriptor(a, CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0));
    dn(cudnnConvolutionBiasActivationForward(h, dn_factor('S', 1), x.d, x.at, w.f, w.at, d,
                                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, dn_room(1 << 20),
                                             1 << 20, dn_factor('S', 0), z.d, z.at, b.d, b.at, a, y.d, y.at));
    dn_say(&y);
    DN_NEED(cudnnSetActivationDescriptor(a, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
    dn(cudnnConvolutionBiasActivationForward(h, dn_factor('S', 1), x.d, x.at, w.f, w.at, d,
                                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, dn_room(1 << 20),
                                             1 << 20, dn_factor('S', 0), z.d, z.at, b.d, b.at, a, y.d, y.at));
}

CASE(dnn_value, bias_gradient)
{
    cudnnHandle_t h = dn_begin();
    static const char types[] = {'S', 'D', 'H'};
    for (int i = 0; i < 3; i++) {
        struct dn y = dn_tensor(types[i], 'c', 2, 4, 5, 5, 1), b = dn_tensor(types[i], 'c', 1, 4, 1, 1, 3);
        dn(cudnnConvolutionBackwardBias(h, dn_factor(types[i], 2), y.d, y.at, dn_factor(types[i], 1), b.d, b.at));
        dn_say(&b);
    }
}

/* ---- pooling ---- */

struct pool {
    char type, layout;
    cudnnPoolingMode_t mode;
    int window, pad, stride;
    double alpha, beta;
};

static void pool(const struct gold_case *self)
{
    const struct pool *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type;
    int out[4];
    struct dn x = dn_tensor(t, o->layout, 2, 3, 7, 6, 1), dx = dn_tensor(t, o->layout, 2, 3, 7, 6, 4);
    cudnnPoolingDescriptor_t d;
    DN_NEED(cudnnCreatePoolingDescriptor(&d));
    DN_NEED(cudnnSetPooling2dDescriptor(d, o->mode, CUDNN_PROPAGATE_NAN, o->window, o->window, o->pad, o->pad,
                                        o->stride, o->stride));
    DN_NEED(cudnnGetPooling2dForwardOutputDim(d, x.d, &out[0], &out[1], &out[2], &out[3]));
    struct dn y = dn_tensor(t, o->layout, out[0], out[1], out[2], out[3], 2),
              dy = dn_tensor(t, o->layout, out[0], out[1], out[2], out[3], 5);
    const void *alpha = dn_factor(t, o->alpha), *beta = dn_factor(t, o->beta), *one = dn_factor(t, 1),
               *zero = dn_factor(t, 0);
    dn(cudnnPoolingForward(h, d, alpha, x.d, x.at, beta, y.d, y.at));
    dn_say_near(&y);
    dn(cudnnPoolingForward(h, d, one, x.d, x.at, zero, y.d, y.at));
    dn(cudnnPoolingBackward(h, d, alpha, y.d, y.at, dy.d, dy.at, x.d, x.at, beta, dx.d, dx.at));
    dn_say_near(&dx);
}

#define MOST CUDNN_POOLING_MAX
#define STEADY CUDNN_POOLING_MAX_DETERMINISTIC
#define WITH CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
#define WITHOUT CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING
#define POOL(title, ...) \
    { \
        .name = "dnn_value.pool_" #title, .run = pool, .data = &(const struct pool) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case pools[] = {
    POOL(most, 'S', 'c', MOST, 2, 0, 2, 1, 0),
    POOL(most_overlapping, 'S', 'c', MOST, 3, 1, 1, 1, 0),
    POOL(most_last, 'S', 'l', MOST, 3, 1, 2, 1, 0),
    POOL(most_added, 'S', 'c', MOST, 2, 0, 2, 2, 3),
    POOL(most_double, 'D', 'c', MOST, 3, 1, 2, 1, 0),
    POOL(most_half, 'H', 'c', MOST, 3, 1, 2, 1, 0),
    POOL(steady, 'S', 'c', STEADY, 3, 1, 2, 1, 0),
    POOL(with, 'S', 'c', WITH, 2, 1, 2, 1, 0),
    POOL(with_last, 'S', 'l', WITH, 2, 1, 1, 1, 0),
    POOL(without, 'S', 'c', WITHOUT, 4, 2, 2, 1, 0),
    POOL(without_added, 'D', 'c', WITHOUT, 2, 1, 2, 2, 1),
};

/* ---- one by one ---- */

struct act {
    char type;
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient;
};

static void act(const struct gold_case *self)
{
    const struct act *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type;
    struct dn x = dn_tensor(t, 'c', 1, 3, 1, 3, 1), y = dn_tensor(t, 'c', 1, 3, 1, 3, 2),
              dy = dn_tensor(t, 'c', 1, 3, 1, 3, 4), dx = dn_tensor(t, 'c', 1, 3, 1, 3, 3);
    cudnnActivationDescriptor_t d;
    DN_NEED(cudnnCreateActivationDescriptor(&d));
    DN_NEED(cudnnSetActivationDescriptor(d, o->mode, o->nan, o->coefficient));
    dn(cudnnActivationForward(h, d, dn_factor(t, 1), x.d, x.at, dn_factor(t, 0), y.d, y.at));
    dn_say_near(&y);
    dn(cudnnActivationBackward(h, d, dn_factor(t, 2), y.d, y.at, dy.d, dy.at, x.d, x.at, dn_factor(t, 1), dx.d, dx.at));
    dn_say_near(&dx);
}

#define ACT(title, ...) \
    { \
        .name = "dnn_value.act_" #title, .run = act, .data = &(const struct act) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case acts[] = {
    ACT(sigmoid, 'S', CUDNN_ACTIVATION_SIGMOID, CUDNN_PROPAGATE_NAN, 0),
    ACT(relu, 'S', CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0),
    ACT(relu_half, 'H', CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0),
    ACT(tanh, 'D', CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0),
    ACT(clipped, 'S', CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_PROPAGATE_NAN, 2),
    ACT(elu, 'S', CUDNN_ACTIVATION_ELU, CUDNN_PROPAGATE_NAN, 1.5),
    ACT(identity, 'S', CUDNN_ACTIVATION_IDENTITY, CUDNN_PROPAGATE_NAN, 0),
    ACT(swish, 'S', CUDNN_ACTIVATION_SWISH, CUDNN_PROPAGATE_NAN, 0),
    ACT(swish_half, 'H', CUDNN_ACTIVATION_SWISH, CUDNN_PROPAGATE_NAN, 0),
};

struct op {
    char type;
    cudnnOpTensorOp_t op;
    int n, c, h, w; /* of b */
    double alpha, beta, gamma;
};

static void op(const struct gold_case *self)
{
    const struct op *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type;
    bool root = o->op == CUDNN_OP_TENSOR_SQRT;
    struct dn a = root ? dn_filled(t, 2, 3, 2, 2, 6.25f) : dn_tensor(t, 'c', 2, 3, 2, 2, 1),
              b = dn_tensor(t, 'c', o->n, o->c, o->h, o->w, 4), c = dn_tensor(t, 'c', 2, 3, 2, 2, 7);
    cudnnOpTensorDescriptor_t d;
    DN_NEED(cudnnCreateOpTensorDescriptor(&d));
    DN_NEED(cudnnSetOpTensorDescriptor(d, o->op, t == 'D' ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
    dn(cudnnOpTensor(h, d, dn_factor(t, o->alpha), a.d, a.at, dn_factor(t, o->beta), b.d, b.at, dn_factor(t, o->gamma),
                     c.d, c.at));
    dn_say(&c);
}

#define OP(title, ...) \
    { \
        .name = "dnn_value.op_" #title, .run = op, .data = &(const struct op) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case ops[] = {
    OP(add, 'S', CUDNN_OP_TENSOR_ADD, 2, 3, 2, 2, 1, 1, 0),
    OP(add_channels, 'S', CUDNN_OP_TENSOR_ADD, 1, 3, 1, 1, 2, 3, 4),
    OP(add_images, 'D', CUDNN_OP_TENSOR_ADD, 1, 3, 2, 2, 1, 1, 1),
    OP(mul, 'S', CUDNN_OP_TENSOR_MUL, 1, 3, 1, 1, 2, 3, 1),
    OP(min, 'S', CUDNN_OP_TENSOR_MIN, 1, 1, 1, 1, 1, 1, 0),
    OP(max, 'H', CUDNN_OP_TENSOR_MAX, 2, 3, 2, 2, 1, 1, 0),
    OP(sqrt, 'S', CUDNN_OP_TENSOR_SQRT, 2, 3, 2, 2, 1, 0, 0),
    OP(not, 'S', CUDNN_OP_TENSOR_NOT, 2, 3, 2, 2, 1, 0, 0),
};

CASE(dnn_value, add)
{
    cudnnHandle_t h = dn_begin();
    struct dn b = dn_tensor('S', 'c', 1, 3, 1, 1, 4), y = dn_tensor('S', 'c', 2, 3, 2, 2, 1),
              l = dn_tensor('S', 'l', 2, 3, 2, 2, 1);
    dn(cudnnAddTensor(h, dn_factor('S', 2), b.d, b.at, dn_factor('S', 3), y.d, y.at));
    dn_say(&y);
    dn(cudnnAddTensor(h, dn_factor('S', 2), b.d, b.at, dn_factor('S', 3), l.d, l.at));
    dn_say(&l);
}

CASE(dnn_value, set_scale_transform)
{
    cudnnHandle_t h = dn_begin();
    struct dn y = dn_tensor('S', 'c', 2, 3, 2, 2, 1), l = dn_tensor('S', 'l', 2, 3, 2, 2, 5),
              half = dn_tensor('H', 'c', 2, 3, 2, 2, 5);
    float three = 3;
    dn(cudnnTransformTensor(h, dn_factor('S', 2), y.d, y.at, dn_factor('S', 1), l.d, l.at));
    dn_say(&l);
    dn(cudnnTransformTensor(h, dn_factor('S', 1), y.d, y.at, dn_factor('S', 0), half.d, half.at));
    dn(cudnnScaleTensor(h, y.d, y.at, dn_factor('S', 4)));
    dn_say(&y);
    dn(cudnnSetTensor(h, y.d, y.at, &three));
    dn_say(&y);
}

/* ---- softmax, normalisation, reductions ---- */

struct soft {
    char type, layout;
    cudnnSoftmaxAlgorithm_t algorithm;
    cudnnSoftmaxMode_t mode;
    double alpha, beta;
};

static void soft(const struct gold_case *self)
{
    const struct soft *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type;
    struct dn x = dn_tensor(t, o->layout, 1, 4, 1, 2, 1), y = dn_tensor(t, o->layout, 1, 4, 1, 2, 2),
              dy = dn_tensor(t, o->layout, 1, 4, 1, 2, 4), dx = dn_tensor(t, o->layout, 1, 4, 1, 2, 3);
    dn(cudnnSoftmaxForward(h, o->algorithm, o->mode, dn_factor(t, o->alpha), x.d, x.at, dn_factor(t, o->beta), y.d,
                           y.at));
    dn_say_near(&y);
    DN_NEED(cudnnSoftmaxForward(h, o->algorithm, o->mode, dn_factor(t, 1), x.d, x.at, dn_factor(t, 0), y.d, y.at));
    dn(cudnnSoftmaxBackward(h, o->algorithm, o->mode, dn_factor(t, o->alpha), y.d, y.at, dy.d, dy.at,
                            dn_factor(t, o->beta), dx.d, dx.at));
    dn_say_near(&dx);
}

#define CHANNEL CUDNN_SOFTMAX_MODE_CHANNEL
#define INSTANCE CUDNN_SOFTMAX_MODE_INSTANCE
#define SOFT(title, ...) \
    { \
        .name = "dnn_value.softmax_" #title, .run = soft, .data = &(const struct soft) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case softs[] = {
    SOFT(channel, 'S', 'c', CUDNN_SOFTMAX_ACCURATE, CHANNEL, 1, 0),
    SOFT(channel_fast, 'S', 'c', CUDNN_SOFTMAX_FAST, CHANNEL, 1, 0),
    SOFT(channel_log, 'S', 'c', CUDNN_SOFTMAX_LOG, CHANNEL, 1, 0),
    SOFT(instance, 'S', 'c', CUDNN_SOFTMAX_ACCURATE, INSTANCE, 1, 0),
    SOFT(instance_log, 'D', 'c', CUDNN_SOFTMAX_LOG, INSTANCE, 1, 0),
    SOFT(last, 'S', 'l', CUDNN_SOFTMAX_ACCURATE, CHANNEL, 1, 0),
    SOFT(added, 'S', 'c', CUDNN_SOFTMAX_ACCURATE, CHANNEL, 2, 3),
    SOFT(half, 'H', 'c', CUDNN_SOFTMAX_ACCURATE, CHANNEL, 1, 0),
};

struct norm {
    char type, layout;
    cudnnBatchNormMode_t mode;
    double factor, alpha, beta;
};

static void norm(const struct gold_case *self)
{
    const struct norm *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type, p = t == 'H' ? 'S' : t;
    bool each = o->mode == CUDNN_BATCHNORM_PER_ACTIVATION;
    int ph = each ? 2 : 1;
    struct dn x = dn_tensor(t, o->layout, 4, 2, 2, 2, 1), y = dn_tensor(t, o->layout, 4, 2, 2, 2, 2),
              dy = dn_tensor(t, o->layout, 4, 2, 2, 2, 6), dx = dn_tensor(t, o->layout, 4, 2, 2, 2, 3);
    struct dn s[8];
    for (int i = 0; i < 8; i++)
        s[i] = dn_tensor(p, o->layout, 1, 2, ph, ph, i);
    struct dn variance = dn_filled(p, 1, 2, ph, ph, 2.25f);
    dn(cudnnBatchNormalizationForwardTraining(h, o->mode, dn_factor(t, o->alpha), dn_factor(t, o->beta), x.d, x.at, y.d,
                                              y.at, s[0].d, s[0].at, s[1].at, o->factor, s[2].at, variance.at, 0.25,
                                              s[4].at, s[5].at));
    dn_say_near(&y);
    dn_say_near(&s[2]);
    dn_say_near(&variance);
    dn_say_near(&s[4]);
    dn_say_near(&s[5]);
    dn(cudnnBatchNormalizationBackward(h, o->mode, dn_factor(t, o->alpha), dn_factor(t, o->beta), dn_factor(t, 1),
                                       dn_factor(t, 0), x.d, x.at, dy.d, dy.at, dx.d, dx.at, s[0].d, s[0].at, s[6].at,
                                       s[7].at, 0.25, s[4].at, s[5].at));
    dn_say_near(&dx);
    dn_say_near(&s[6]);
    dn_say_near(&s[7]);
    struct dn known = dn_filled(p, 1, 2, ph, ph, 2.0f);
    dn(cudnnBatchNormalizationForwardInference(h, o->mode, dn_factor(t, o->alpha), dn_factor(t, o->beta), x.d, x.at,
                                               y.d, y.at, s[0].d, s[0].at, s[1].at, s[3].at, known.at, 0.25));
    dn_say_near(&y);
}

#define SPATIAL CUDNN_BATCHNORM_SPATIAL
#define NORM(title, ...) \
    { \
        .name = "dnn_value.norm_" #title, .run = norm, .data = &(const struct norm) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case norms[] = {
    NORM(spatial, 'S', 'c', SPATIAL, 1, 1, 0),
    NORM(spatial_running, 'S', 'c', SPATIAL, 0.25, 1, 0),
    NORM(spatial_added, 'S', 'c', SPATIAL, 0.5, 2, 1),
    NORM(spatial_double, 'D', 'c', SPATIAL, 0.5, 1, 0),
    NORM(spatial_last, 'S', 'l', SPATIAL, 0.5, 1, 0),
    NORM(spatial_half_last, 'H', 'l', SPATIAL, 0.5, 1, 0),
    NORM(each, 'S', 'c', CUDNN_BATCHNORM_PER_ACTIVATION, 0.5, 1, 0),
    NORM(persistent, 'S', 'l', CUDNN_BATCHNORM_SPATIAL_PERSISTENT, 0.5, 1, 0),
};

struct red {
    char type;
    cudnnReduceTensorOp_t op;
    int n, c, h, w; /* of the result */
    bool indices;
    double alpha, beta;
};

static void red(const struct gold_case *self)
{
    const struct red *o = self->data;
    cudnnHandle_t h = dn_begin();
    char t = o->type;
    struct dn x = dn_tensor(t, 'c', 2, 3, 2, 3, 1), y = dn_tensor(t, 'c', o->n, o->c, o->h, o->w, 4),
              where = dn_tensor('I', 'c', o->n, o->c, o->h, o->w, -1);
    cudnnReduceTensorDescriptor_t d;
    size_t bytes = 0, places = 0;
    DN_NEED(cudnnCreateReduceTensorDescriptor(&d));
    dn(cudnnSetReduceTensorDescriptor(
        d, o->op, t == 'D' ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
        o->indices ? CUDNN_REDUCE_TENSOR_FLATTENED_INDICES : CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    dn(cudnnGetReductionWorkspaceSize(h, d, x.d, y.d, &bytes));
    dn(cudnnGetReductionIndicesSize(h, d, x.d, y.d, &places));
    say_int((long long)places);
    dn(cudnnReduceTensor(h, d, o->indices ? where.at : NULL, places, dn_room(bytes + 1), bytes, dn_factor(t, o->alpha),
                         x.d, x.at, dn_factor(t, o->beta), y.d, y.at));
    dn_say_near(&y);
    if (o->indices)
        dn_say(&where);
}

#define RED(title, ...) \
    { \
        .name = "dnn_value.reduce_" #title, .run = red, .data = &(const struct red) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case reds[] = {
    RED(add_all, 'S', CUDNN_REDUCE_TENSOR_ADD, 1, 1, 1, 1, false, 1, 0),
    RED(add_images, 'S', CUDNN_REDUCE_TENSOR_ADD, 1, 3, 2, 3, false, 1, 0),
    RED(add_pixels, 'D', CUDNN_REDUCE_TENSOR_ADD, 2, 3, 1, 1, false, 2, 3),
    RED(mul, 'S', CUDNN_REDUCE_TENSOR_MUL, 2, 3, 2, 1, false, 1, 0),
    RED(mul_no_zeros, 'S', CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS, 2, 3, 1, 1, false, 1, 0),
    RED(min, 'S', CUDNN_REDUCE_TENSOR_MIN, 2, 1, 1, 1, true, 1, 0),
    RED(max, 'S', CUDNN_REDUCE_TENSOR_MAX, 1, 3, 1, 1, true, 1, 0),
    RED(max_half, 'H', CUDNN_REDUCE_TENSOR_MAX, 1, 3, 1, 1, false, 1, 0),
    RED(amax, 'S', CUDNN_REDUCE_TENSOR_AMAX, 2, 1, 2, 3, true, 1, 0),
    RED(avg, 'S', CUDNN_REDUCE_TENSOR_AVG, 1, 3, 1, 1, false, 1, 1),
    RED(norm1, 'S', CUDNN_REDUCE_TENSOR_NORM1, 2, 1, 1, 3, false, 1, 0),
    RED(norm2, 'D', CUDNN_REDUCE_TENSOR_NORM2, 2, 1, 1, 3, false, 1, 0),
    RED(not_smaller, 'S', CUDNN_REDUCE_TENSOR_ADD, 2, 3, 2, 3, false, 1, 0),
    RED(misfit, 'S', CUDNN_REDUCE_TENSOR_ADD, 2, 2, 2, 3, false, 1, 0),
};

CASE(dnn_value, lrn)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 1, 7, 1, 2, 1), y = dn_tensor('S', 'c', 1, 7, 1, 2, -1),
              dy = dn_tensor('S', 'c', 1, 7, 1, 2, 5), dx = dn_tensor('S', 'c', 1, 7, 1, 2, -1);
    cudnnLRNDescriptor_t d;
    DN_NEED(cudnnCreateLRNDescriptor(&d));
    DN_NEED(cudnnSetLRNDescriptor(d, 3, 0.5, 0.75, 2.0));
    dn(cudnnLRNCrossChannelForward(h, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, dn_factor('S', 1), x.d, x.at, dn_factor('S', 0),
                                   y.d, y.at));
    dn_say_near(&y);
    dn(cudnnLRNCrossChannelBackward(h, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, dn_factor('S', 1), y.d, y.at, dy.d, dy.at, x.d,
                                    x.at, dn_factor('S', 0), dx.d, dx.at));
    dn_say_near(&dx);
    DN_NEED(cudnnSetLRNDescriptor(d, 4, 0.5, 0.5, 1.0));
    dn(cudnnLRNCrossChannelForward(h, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, dn_factor('S', 1), x.d, x.at, dn_factor('S', 0),
                                   y.d, y.at));
    dn_say_near(&y);
}

/* What falls out comes back as 0, the rest times two; the gradient takes the same places. */
CASE(dnn_value, dropout)
{
    cudnnHandle_t h = dn_begin();
    cudnnDropoutDescriptor_t d;
    size_t states = 0, reserve = 0;
    struct dn x = dn_filled('S', 4, 4, 8, 8, 3), y = dn_tensor('S', 'c', 4, 4, 8, 8, -1),
              dx = dn_tensor('S', 'c', 4, 4, 8, 8, -1);
    static float kept[1024], back[1024];
    int zero = 0, twice = 0, agree = 0;
    DN_NEED(cudnnCreateDropoutDescriptor(&d));
    DN_NEED(cudnnDropoutGetStatesSize(h, &states));
    DN_NEED(cudnnDropoutGetReserveSpaceSize(x.d, &reserve));
    DN_NEED(cudnnSetDropoutDescriptor(d, h, 0.5f, dn_room(states), states, 1));
    void *at = dn_room(reserve);
    dn(cudnnDropoutForward(h, d, x.d, x.at, y.d, y.at, at, reserve));
    dn(cudnnDropoutBackward(h, d, x.d, x.at, dx.d, dx.at, at, reserve));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(kept, y.at, sizeof kept, cudaMemcpyDefault));
    RT_NEED(cudaMemcpy(back, dx.at, sizeof back, cudaMemcpyDefault));
    for (int i = 0; i < 1024; i++) {
        zero += kept[i] == 0;
        twice += kept[i] == 6;
        agree += kept[i] == back[i];
    }
    say_if("all", zero + twice == 1024);
    say_if("half", zero > 400 && zero < 624);
    say_if("agree", agree == 1024);
}

/* ---- recurrent networks ---- */

struct rnn {
    cudnnRNNMode_t mode;
    cudnnRNNBiasMode_t bias;
    cudnnDirectionMode_t direction;
    int layers;
};

/* A forward pass over two sequences of lengths 3 and 2; weights and biases are eighths. */
static void rnn(const struct gold_case *self)
{
    const struct rnn *o = self->data;
    enum { INPUT = 3, HIDDEN = 4, STEPS = 3, BATCH = 2 };
    cudnnHandle_t h = dn_begin();
    int ways = o->direction == CUDNN_BIDIRECTIONAL ? 2 : 1, lengths[BATCH] = {3, 2},
        *on_device = dn_room(sizeof lengths);
    int hd[3] = {o->layers * ways, BATCH, HIDDEN}, hs[3] = {BATCH * HIDDEN, HIDDEN, 1};
    size_t weights = 0, work = 0, reserve = 0;
    float pad = 0, host[1024];
    cudnnRNNDescriptor_t d;
    cudnnRNNDataDescriptor_t xd, yd;
    cudnnTensorDescriptor_t state;
    RT_NEED(cudaMemcpy(on_device, lengths, sizeof lengths, cudaMemcpyHostToDevice));
    DN_NEED(cudnnCreateRNNDescriptor(&d));
    DN_NEED(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, o->mode, o->bias, o->direction, CUDNN_LINEAR_INPUT,
                                     CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, INPUT, HIDDEN, HIDDEN,
                                     o->layers, NULL, CUDNN_RNN_PADDED_IO_ENABLED));
    DN_NEED(cudnnCreateRNNDataDescriptor(&xd));
    DN_NEED(cudnnCreateRNNDataDescriptor(&yd));
    DN_NEED(cudnnSetRNNDataDescriptor(xd, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, STEPS, BATCH,
                                      INPUT, lengths, &pad));
    DN_NEED(cudnnSetRNNDataDescriptor(yd, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, STEPS, BATCH,
                                      HIDDEN * ways, lengths, &pad));
    DN_NEED(cudnnCreateTensorDescriptor(&state));
    DN_NEED(cudnnSetTensorNdDescriptor(state, CUDNN_DATA_FLOAT, 3, hd, hs));
    dn(cudnnGetRNNWeightSpaceSize(h, d, &weights));
    say_int((long long)weights);
    if (weights > sizeof host)
        gold_stop("the weights are too large");
    for (size_t i = 0; i < weights / 4; i++)
        host[i] = (float)((int)(i * 7 + 3) % 9 - 4) / 8;
    void *w = dn_room(weights);
    RT_NEED(cudaMemcpy(w, host, weights, cudaMemcpyHostToDevice));
    dn(cudnnGetRNNTempSpaceSizes(h, d, CUDNN_FWD_MODE_TRAINING, xd, &work, &reserve));
    struct dn x = dn_tensor('S', 'c', STEPS, BATCH, INPUT, 1, 1),
              y = dn_tensor('S', 'c', STEPS, BATCH, HIDDEN * ways, 1, 2),
              hx = dn_tensor('S', 'c', o->layers * ways, BATCH, HIDDEN, 1, -1),
              hy = dn_tensor('S', 'c', o->layers * ways, BATCH, HIDDEN, 1, 2),
              cy = dn_tensor('S', 'c', o->layers * ways, BATCH, HIDDEN, 1, 2);
    bool cells = o->mode == CUDNN_LSTM;
    dn(cudnnRNNForward(h, d, CUDNN_FWD_MODE_TRAINING, on_device, xd, x.at, yd, y.at, state, hx.at, hy.at,
                       cells ? state : NULL, NULL, cells ? cy.at : NULL, weights, w, work, dn_room(work + 1), reserve,
                       dn_room(reserve + 1)));
    dn_say_near(&y);
    dn_say_near(&hy);
    if (cells)
        dn_say_near(&cy);
    for (int part = 0; part < 2; part++) {
        cudnnTensorDescriptor_t md, bd;
        void *m = NULL, *b = NULL;
        DN_NEED(cudnnCreateTensorDescriptor(&md));
        DN_NEED(cudnnCreateTensorDescriptor(&bd));
        dn(cudnnGetRNNWeightParams(h, d, 0, weights, w, part, md, &m, bd, &b));
        say_int(m ? (long long)((char *)m - (char *)w) : -1);
        say_int(b ? (long long)((char *)b - (char *)w) : -1);
    }
}

#define ONE_WAY CUDNN_UNIDIRECTIONAL
#define RNN(title, ...) \
    { \
        .name = "dnn_value.rnn_" #title, .run = rnn, .data = &(const struct rnn) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case rnns[] = {
    RNN(relu, CUDNN_RNN_RELU, CUDNN_RNN_DOUBLE_BIAS, ONE_WAY, 1),
    RNN(tanh, CUDNN_RNN_TANH, CUDNN_RNN_SINGLE_INP_BIAS, ONE_WAY, 1),
    RNN(lstm, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, ONE_WAY, 1),
    RNN(lstm_no_bias, CUDNN_LSTM, CUDNN_RNN_NO_BIAS, ONE_WAY, 1),
    RNN(gru, CUDNN_GRU, CUDNN_RNN_DOUBLE_BIAS, ONE_WAY, 1),
    RNN(gru_recurrent_bias, CUDNN_GRU, CUDNN_RNN_SINGLE_REC_BIAS, ONE_WAY, 1),
    RNN(tanh_both, CUDNN_RNN_TANH, CUDNN_RNN_DOUBLE_BIAS, CUDNN_BIDIRECTIONAL, 1),
    RNN(tanh_two_layers, CUDNN_RNN_TANH, CUDNN_RNN_DOUBLE_BIAS, ONE_WAY, 2),
};

__attribute__((constructor)) static void add(void)
{
#define ALL(table) gold_register_all(table, sizeof table / sizeof *table)
    ALL(convs);
    ALL(spaces);
    ALL(pools);
    ALL(acts);
    ALL(ops);
    ALL(softs);
    ALL(norms);
    ALL(reds);
    ALL(rnns);
}
