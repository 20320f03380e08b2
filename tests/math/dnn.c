/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's pooling, batch normalisation, softmax, activations and reductions beside loops over floats, in both layouts;
 * and a graph of convolution, bias and activation beside the same by functions. (Convolutions: dnn_conv.c.) */
#include "dnn.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cudnnHandle_t handle;
static const float one = 1, none = 0;

/* n images of c channels of h x w floats, in managed memory. */
struct images {
    int n, c, h, w;
    bool last; /* channels innermost */
    float *at;
    cudnnTensorDescriptor_t d;
};

static size_t count(const struct images *t)
{
    return (size_t)t->n * t->c * t->h * t->w;
}

static size_t place(const struct images *t, int n, int c, int h, int w)
{
    return t->last ? (((size_t)n * t->h + h) * t->w + w) * t->c + c : (((size_t)n * t->c + c) * t->h + h) * t->w + w;
}

static struct images make(int n, int c, int h, int w, bool last)
{
    struct images t = {n, c, h, w, last, NULL, NULL};
    RT(cudaMallocManaged((void **)&t.at, count(&t) * sizeof *t.at, cudaMemAttachGlobal));
    for (size_t i = 0; i < count(&t); i++)
        t.at[i] = (float)(draw(2001) - 1000) / 250;
    OK(cudnnCreateTensorDescriptor(&t.d));
    OK(cudnnSetTensor4dDescriptor(t.d, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
    return t;
}

static void end(struct images *t)
{
    OK(cudnnDestroyTensorDescriptor(t->d));
    RT(cudaFree(t->at));
}

static void near_to(double is, double wanted, int line)
{
    if (!(fabs(is - wanted) <= 2e-5 * (1 + fabs(wanted)))) {
        fprintf(stderr, "line %d: %.8g, not %.8g\n", line, is, wanted);
        exit(1);
    }
}
#define NEAR(is, wanted) near_to(is, wanted, __LINE__)
#define EACH(t) \
    for (int n = 0; n < (t).n; n++) \
        for (int c = 0; c < (t).c; c++) \
            for (int h = 0; h < (t).h; h++) \
                for (int w = 0; w < (t).w; w++)

static void pooling(bool last)
{
    static const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                               CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING};
    cudnnPoolingMode_t mode = modes[draw(3)];
    int window = 1 + draw(3), pad = draw(window), stride = 1 + draw(3), on, oc, oh, ow;
    struct images x = make(1 + draw(3), 1 + draw(5), 4 + draw(9), 4 + draw(9), last),
                  dx = make(x.n, x.c, x.h, x.w, last);
    cudnnPoolingDescriptor_t p;
    OK(cudnnCreatePoolingDescriptor(&p));
    OK(cudnnSetPooling2dDescriptor(p, mode, CUDNN_PROPAGATE_NAN, window, window, pad, pad, stride, stride));
    OK(cudnnGetPooling2dForwardOutputDim(p, x.d, &on, &oc, &oh, &ow));
    CHECK(oh == 1 + (x.h + 2 * pad - window) / stride);
    struct images y = make(on, oc, oh, ow, last), dy = make(on, oc, oh, ow, last);
    double *gradient = calloc(count(&x), sizeof *gradient);
    OK(cudnnPoolingForward(handle, p, &one, x.d, x.at, &none, y.d, y.at));
    OK(cudnnPoolingBackward(handle, p, &one, y.d, y.at, dy.d, dy.at, x.d, x.at, &none, dx.d, dx.at));
    RT(cudaDeviceSynchronize());
    EACH(y)
    {
        double sum = 0, most = -INFINITY;
        int inside = 0, mh = 0, mw = 0;
        for (int turn = 0; turn < 2; turn++) {
            int all = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? window * window : inside;
            for (int i = h * stride - pad; i < h * stride - pad + window; i++)
                for (int j = w * stride - pad; j < w * stride - pad + window; j++) {
                    if (i < 0 || j < 0 || i >= x.h || j >= x.w)
                        continue;
                    if (turn) {
                        if (mode != CUDNN_POOLING_MAX)
                            gradient[place(&x, n, c, i, j)] += (double)dy.at[place(&y, n, c, h, w)] / all;
                        continue;
                    }
                    double value = (double)x.at[place(&x, n, c, i, j)];
                    sum += value;
                    inside++;
                    if (value > most) {
                        most = value;
                        mh = i;
                        mw = j;
                    }
                }
        }
        if (mode == CUDNN_POOLING_MAX) {
            NEAR((double)y.at[place(&y, n, c, h, w)], most);
            gradient[place(&x, n, c, mh, mw)] += (double)dy.at[place(&y, n, c, h, w)];
        } else {
            NEAR((double)y.at[place(&y, n, c, h, w)],
                 sum / (mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? window * window : inside));
        }
    }
    for (size_t i = 0; i < count(&x); i++)
        NEAR((double)dx.at[i], gradient[i]);
    free(gradient);
    OK(cudnnDestroyPoolingDescriptor(p));
    end(&x);
    end(&dx);
    end(&y);
    end(&dy);
}

static void normalisation(bool last, bool by_channel)
{
    struct images x = make(2 + draw(4), 1 + draw(4), 1 + draw(6), 1 + draw(6), last);
    struct images y = make(x.n, x.c, x.h, x.w, last), dy = make(x.n, x.c, x.h, x.w, !last),
                  dx = make(x.n, x.c, x.h, x.w, last);
    struct images s[8]; /* scale, bias, mean, inverse, running mean, running variance, gradients of scale and bias */
    for (int i = 0; i < 8; i++)
        s[i] = make(1, x.c, by_channel ? 1 : x.h, by_channel ? 1 : x.w, false);
    double factor = 0.25, epsilon = 1e-3, members = by_channel ? (double)x.n * x.h * x.w : x.n;
    float *old_mean = malloc(count(&s[4]) * sizeof(float)), *old_variance = malloc(count(&s[4]) * sizeof(float));
    memcpy(old_mean, s[4].at, count(&s[4]) * sizeof(float));
    memcpy(old_variance, s[5].at, count(&s[4]) * sizeof(float));
    cudnnBatchNormMode_t mode = by_channel ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
    OK(cudnnBatchNormalizationForwardTraining(handle, mode, &one, &none, x.d, x.at, y.d, y.at, s[0].d, s[0].at, s[1].at,
                                              factor, s[4].at, s[5].at, epsilon, s[2].at, s[3].at));
    OK(cudnnBatchNormalizationBackward(handle, mode, &one, &none, &one, &none, x.d, x.at, dy.d, dy.at, dx.d, dx.at,
                                       s[0].d, s[0].at, s[6].at, s[7].at, epsilon, s[2].at, s[3].at));
    RT(cudaDeviceSynchronize());
    for (size_t k = 0; k < count(&s[0]); k++) {
#define MINE(c, h, w) ((by_channel ? (size_t)(c) : ((size_t)(c) * x.h + (h)) * x.w + (w)) == k)
        double mean = 0, variance = 0, dscale = 0, dbias = 0;
        EACH(x) mean += MINE(c, h, w) ? (double)x.at[place(&x, n, c, h, w)] / members : 0;
        EACH(x) variance += MINE(c, h, w) ? pow((double)x.at[place(&x, n, c, h, w)] - mean, 2) / members : 0;
        double inverse = 1 / sqrt(variance + epsilon), scale = (double)s[0].at[k];
        NEAR((double)s[2].at[k], mean);
        NEAR((double)s[3].at[k], inverse);
        NEAR((double)s[4].at[k], factor * mean + (1 - factor) * (double)old_mean[k]);
        NEAR((double)s[5].at[k], factor * variance * members / (members - 1) + (1 - factor) * (double)old_variance[k]);
        EACH(x)
        {
            if (!MINE(c, h, w))
                continue;
            double moved = ((double)x.at[place(&x, n, c, h, w)] - mean) * inverse;
            NEAR((double)y.at[place(&y, n, c, h, w)], moved * scale + (double)s[1].at[k]);
            dscale += (double)dy.at[place(&dy, n, c, h, w)] * moved;
            dbias += (double)dy.at[place(&dy, n, c, h, w)];
        }
        NEAR((double)s[6].at[k], dscale);
        NEAR((double)s[7].at[k], dbias);
        EACH(x)
        {
            if (!MINE(c, h, w))
                continue;
            double moved = ((double)x.at[place(&x, n, c, h, w)] - mean) * inverse;
            NEAR((double)dx.at[place(&dx, n, c, h, w)],
                 scale * inverse *
                     ((double)dy.at[place(&dy, n, c, h, w)] - dbias / members - moved * dscale / members));
        }
    }
    for (int i = 0; i < 8; i++)
        end(&s[i]);
    free(old_mean);
    free(old_variance);
    end(&x);
    end(&y);
    end(&dx);
    end(&dy);
}

static void softmax(bool last, bool by_channel, cudnnSoftmaxAlgorithm_t algorithm)
{
    struct images x = make(1 + draw(4), 2 + draw(6), 1 + draw(4), 1 + draw(4), last);
    struct images y = make(x.n, x.c, x.h, x.w, last), dy = make(x.n, x.c, x.h, x.w, last),
                  dx = make(x.n, x.c, x.h, x.w, last);
    cudnnSoftmaxMode_t mode = by_channel ? CUDNN_SOFTMAX_MODE_CHANNEL : CUDNN_SOFTMAX_MODE_INSTANCE;
    OK(cudnnSoftmaxForward(handle, algorithm, mode, &one, x.d, x.at, &none, y.d, y.at));
    OK(cudnnSoftmaxBackward(handle, algorithm, mode, &one, y.d, y.at, dy.d, dy.at, &none, dx.d, dx.at));
    RT(cudaDeviceSynchronize());
    struct images whole = x; /* one of each group */
    whole.c = 1;
    whole.h = by_channel ? x.h : 1;
    whole.w = by_channel ? x.w : 1;
    EACH(whole)
    {
        (void)c;
        double sum = 0, product = 0;
        bool logarithm = algorithm == CUDNN_SOFTMAX_LOG;
        for (int turn = 0; turn < 3; turn++)
            for (int k = 0; k < x.c; k++)
                for (int i = by_channel ? h : 0; i < (by_channel ? h + 1 : x.h); i++)
                    for (int j = by_channel ? w : 0; j < (by_channel ? w + 1 : x.w); j++) {
                        size_t at = place(&x, n, k, i, j);
                        double p = exp((double)x.at[at]), d = (double)dy.at[at];
                        if (turn == 0)
                            sum += p;
                        else if (turn == 1)
                            product += logarithm ? d : d * p / sum;
                        else {
                            NEAR((double)y.at[at], logarithm ? log(p / sum) : p / sum);
                            NEAR((double)dx.at[at], logarithm ? d - p / sum * product : p / sum * (d - product));
                        }
                    }
    }
    end(&x);
    end(&y);
    end(&dx);
    end(&dy);
}

static double activated(cudnnActivationMode_t mode, double x, double coefficient)
{
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case CUDNN_ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case CUDNN_ACTIVATION_TANH:
        return tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU:
        return x < 0 ? 0 : x > coefficient ? coefficient : x;
    case CUDNN_ACTIVATION_ELU:
        return x > 0 ? x : coefficient * expm1(x);
    default:
        return x / (1 + exp(-x));
    }
}

static void activations(cudnnActivationMode_t mode, bool last)
{
    double coefficient = 1.5, step = 1e-4;
    struct images x = make(2, 3, 5, 4, last), y = make(2, 3, 5, 4, !last), dy = make(2, 3, 5, 4, last),
                  dx = make(2, 3, 5, 4, !last);
    cudnnActivationDescriptor_t a;
    OK(cudnnCreateActivationDescriptor(&a));
    OK(cudnnSetActivationDescriptor(a, mode, CUDNN_PROPAGATE_NAN, coefficient));
    OK(cudnnActivationForward(handle, a, &one, x.d, x.at, &none, y.d, y.at));
    OK(cudnnActivationBackward(handle, a, &one, y.d, y.at, dy.d, dy.at, x.d, x.at, &none, dx.d, dx.at));
    RT(cudaDeviceSynchronize());
    EACH(x)
    {
        double at = (double)x.at[place(&x, n, c, h, w)], d = (double)dy.at[place(&dy, n, c, h, w)];
        double slope = (activated(mode, at + step, coefficient) - activated(mode, at - step, coefficient)) / (2 * step);
        NEAR((double)y.at[place(&y, n, c, h, w)], activated(mode, at, coefficient));
        if (fabs(at) > step && fabs(at - coefficient) > step)
            NEAR((double)dx.at[place(&dx, n, c, h, w)], d * slope);
    }
    OK(cudnnDestroyActivationDescriptor(a));
    end(&x);
    end(&y);
    end(&dx);
    end(&dy);
}

static void reductions(cudnnReduceTensorOp_t op, bool last)
{
    struct images x = make(1 + draw(3), 1 + draw(4), 1 + draw(5), 1 + draw(5), last);
    struct images y = make(draw(2) ? x.n : 1, draw(2) ? x.c : 1, draw(2) ? x.h : 1, draw(2) ? x.w : 1, !last);
    cudnnReduceTensorDescriptor_t r;
    double members = (double)(count(&x) / count(&y));
    float *before = malloc(count(&y) * sizeof *before), beta = 0.5f;
    memcpy(before, y.at, count(&y) * sizeof *before);
    OK(cudnnCreateReduceTensorDescriptor(&r));
    OK(cudnnSetReduceTensorDescriptor(r, op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
                                      CUDNN_32BIT_INDICES));
    cudnnStatus_t status = cudnnReduceTensor(handle, r, NULL, 0, NULL, 0, &one, x.d, x.at, &beta, y.d, y.at);
    CHECK(status == (count(&x) == count(&y) ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS)); /* nothing is reduced */
    RT(cudaDeviceSynchronize());
    struct images outer = y;
    for (int a = 0; status == CUDNN_STATUS_SUCCESS && a < outer.n; a++)
        for (int b = 0; b < outer.c; b++)
            for (int i = 0; i < outer.h; i++)
                for (int j = 0; j < outer.w; j++) {
                    double sum = 0, squares = 0, absolute = 0, most = -INFINITY, least = INFINITY, product = 1;
                    EACH(x)
                    {
                        if ((y.n > 1 && n != a) || (y.c > 1 && c != b) || (y.h > 1 && h != i) || (y.w > 1 && w != j))
                            continue;
                        double value = (double)x.at[place(&x, n, c, h, w)];
                        sum += value;
                        squares += value * value;
                        absolute += fabs(value);
                        most = value > most ? value : most;
                        least = value < least ? value : least;
                        product *= value;
                    }
                    double wanted = op == CUDNN_REDUCE_TENSOR_ADD     ? sum
                                    : op == CUDNN_REDUCE_TENSOR_MUL   ? product
                                    : op == CUDNN_REDUCE_TENSOR_MIN   ? least
                                    : op == CUDNN_REDUCE_TENSOR_MAX   ? most
                                    : op == CUDNN_REDUCE_TENSOR_AMAX  ? fmax(most, -least)
                                    : op == CUDNN_REDUCE_TENSOR_AVG   ? sum / members
                                    : op == CUDNN_REDUCE_TENSOR_NORM1 ? absolute
                                                                      : sqrt(squares);
                    NEAR((double)y.at[place(&y, a, b, i, j)], wanted + 0.5 * (double)before[place(&y, a, b, i, j)]);
                }
    free(before);
    OK(cudnnDestroyReduceTensorDescriptor(r));
    end(&x);
    end(&y);
}

/* ---- a graph: y = relu(conv(x, w) + bias), with two tensors that pass between the operations ---- */

static cudnnBackendDescriptor_t descriptor(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d;
    OK(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

#define SET(d, name, type, count, ...) OK(cudnnBackendSetAttribute(d, name, type, count, (__VA_ARGS__)))

static cudnnBackendDescriptor_t strided_tensor(int64_t uid, const int64_t *dim, const int64_t *stride, bool is_virtual)
{
    cudnnBackendDescriptor_t d = descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t alignment = 4;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    SET(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    SET(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    SET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim);
    SET(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride);
    SET(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    OK(cudnnBackendFinalize(d));
    return d;
}

static cudnnBackendDescriptor_t graph_tensor(int64_t uid, const int64_t *dim, bool is_virtual)
{
    int64_t stride[4] = {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    return strided_tensor(uid, dim, stride, is_virtual);
}

static cudnnBackendDescriptor_t element_by_element(cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                                   cudnnBackendDescriptor_t b, cudnnBackendDescriptor_t y)
{
    cudnnBackendDescriptor_t p = descriptor(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    cudnnBackendDescriptor_t op = descriptor(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    SET(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    SET(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
    OK(cudnnBackendFinalize(p));
    SET(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &p);
    SET(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    if (b)
        SET(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &b);
    SET(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    OK(cudnnBackendFinalize(op));
    OK(cudnnBackendDestroyDescriptor(p));
    return op;
}

static cudnnBackendDescriptor_t convolution(const cudnnBackendDescriptor_t *x, const cudnnBackendDescriptor_t *w,
                                            const cudnnBackendDescriptor_t *y)
{
    cudnnBackendDescriptor_t conv = descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnBackendDescriptor_t op = descriptor(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    int64_t space = 2, zeros[2] = {0}, ones[2] = {1, 1};
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    SET(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &space);
    SET(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    SET(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    SET(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, zeros);
    SET(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, zeros);
    SET(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones);
    SET(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
    OK(cudnnBackendFinalize(conv));
    SET(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, x);
    SET(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, w);
    SET(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, y);
    SET(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv);
    OK(cudnnBackendFinalize(op));
    OK(cudnnBackendDestroyDescriptor(conv));
    return op;
}

/* The plan for operations; nothing else holds on to what it is made of. */
static cudnnBackendDescriptor_t planned(const cudnnBackendDescriptor_t *ops, int64_t count)
{
    cudnnBackendDescriptor_t whole = descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    cudnnBackendDescriptor_t engine = descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t config = descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    cudnnBackendDescriptor_t plan = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t first = 0, bytes = -1;
    SET(whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, ops);
    CHECK(cudnnBackendSetAttribute(whole, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &first) ==
          CUDNN_STATUS_BAD_PARAM);
    OK(cudnnBackendFinalize(whole));
    SET(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &whole);
    SET(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &first);
    OK(cudnnBackendFinalize(engine));
    SET(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    OK(cudnnBackendFinalize(config));
    SET(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    SET(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    CHECK(cudnnBackendExecute(handle, plan, plan) != CUDNN_STATUS_SUCCESS);
    OK(cudnnBackendFinalize(plan));
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &first, &bytes));
    CHECK(first == 1 && bytes == 0);
    OK(cudnnBackendDestroyDescriptor(whole));
    OK(cudnnBackendDestroyDescriptor(engine));
    OK(cudnnBackendDestroyDescriptor(config));
    return plan;
}

/* A plan's text whose first attribute of a name has another digit, `at` behind the first, is refused. */
static void refused(const char *text, int64_t length, cudnnBackendAttributeName_t name, int at, char digit)
{
    cudnnBackendDescriptor_t bad = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    char *changed = malloc((size_t)length), word[32];
    CHECK(changed);
    memcpy(changed, text, (size_t)length);
    snprintf(word, sizeof word, "[%d,", (int)name);
    char *found = strstr(changed, word);
    CHECK(found);
    strchr(found, '"')[1 + at] = digit;
    SET(bad, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, changed);
    CHECK(cudnnBackendFinalize(bad) == CUDNN_STATUS_BAD_PARAM);
    OK(cudnnBackendDestroyDescriptor(bad));
    free(changed);
}

/* The same plan, by way of its text; the first one ends. Broken texts make no plan, or one that can be ended. */
static cudnnBackendDescriptor_t by_text(cudnnBackendDescriptor_t plan)
{
    static const cudnnBackendAttributeName_t name = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
    cudnnBackendDescriptor_t again = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t length = 0, given = 0;
    OK(cudnnBackendGetAttribute(plan, name, CUDNN_TYPE_CHAR, 0, &length, NULL));
    CHECK(length > 100);
    char *text = malloc((size_t)length), *broken = malloc((size_t)length);
    CHECK(text && broken);
    OK(cudnnBackendGetAttribute(plan, name, CUDNN_TYPE_CHAR, length, &given, text));
    CHECK(given == length && !strncmp(text, "{\"", 2));
    CHECK(cudnnBackendGetAttribute(plan, name, CUDNN_TYPE_INT64, 1, &given, text) != CUDNN_STATUS_SUCCESS);
    OK(cudnnBackendDestroyDescriptor(plan));
    for (int turn = 0; turn < 5000; turn++) {
        cudnnBackendDescriptor_t bad = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        int64_t kept = turn < 100 ? draw((int)length - 1) : length;
        memcpy(broken, text, (size_t)length);
        for (int i = 0; turn >= 100 && i <= turn % 3; i++)
            broken[draw((int)length)] = "0123456789af,[]\""[draw(16)];
        SET(bad, name, CUDNN_TYPE_CHAR, kept, broken);
        cudnnStatus_t status = cudnnBackendFinalize(bad);
        CHECK(turn >= 100 || kept == length - 1 || status == CUDNN_STATUS_BAD_PARAM);
        OK(cudnnBackendDestroyDescriptor(bad));
    }
    refused(text, length, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1, '0'); /* a stride of 0 */
    refused(text, length, CUDNN_ATTR_CONVOLUTION_DILATIONS, 14, '6'); /* beyond what can be calculated with */
    refused(text, length, CUDNN_ATTR_TENSOR_DIMENSIONS, 14, '2');
    refused(text, length, CUDNN_ATTR_TENSOR_STRIDES, 14, '6');
    SET(again, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    SET(again, name, CUDNN_TYPE_CHAR, length, text);
    OK(cudnnBackendFinalize(again));
    free(text);
    free(broken);
    return again;
}

static void graph(void)
{
    int64_t xd[4] = {2, 3, 6, 5}, wd[4] = {4, 3, 3, 3}, yd[4] = {2, 4, 4, 3}, bd[4] = {1, 4, 1, 1},
            uids[] = {1, 2, 3, 4};
    struct images x = make(2, 3, 6, 5, false), filter = make(4, 3, 3, 3, false), y = make(2, 4, 4, 3, false),
                  b = make(1, 4, 1, 1, false);
    cudnnBackendDescriptor_t t[] = {graph_tensor(1, xd, false), graph_tensor(2, wd, false), graph_tensor(3, bd, false),
                                    graph_tensor(4, yd, false), graph_tensor(5, yd, true),  graph_tensor(6, yd, true)};
    /* In an order in which none could run: the plan finds the right one. */
    cudnnBackendDescriptor_t ops[] = {element_by_element(CUDNN_POINTWISE_RELU_FWD, t[5], NULL, t[3]),
                                      element_by_element(CUDNN_POINTWISE_ADD, t[4], t[2], t[5]),
                                      convolution(&t[0], &t[1], &t[4])};
    cudnnBackendDescriptor_t plan = planned(ops, 3), pack = descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    for (int i = 0; i < 6; i++)
        OK(cudnnBackendDestroyDescriptor(t[i]));
    for (int i = 0; i < 3; i++)
        OK(cudnnBackendDestroyDescriptor(ops[i]));
    plan = by_text(plan);
    void *pointers[] = {x.at, filter.at, b.at, y.at};
    SET(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 4, pointers);
    SET(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 4, uids);
    OK(cudnnBackendFinalize(pack));
    /* Captured, and launched twice: the memory between the operations lives as long as the graph. */
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t launched;
    RT(cudaStreamCreate(&stream));
    OK(cudnnSetStream(handle, stream));
    RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudnnBackendExecute(handle, plan, pack));
    RT(cudaStreamEndCapture(stream, &captured));
    RT(cudaGraphInstantiate(&launched, captured, 0));
    OK(cudnnBackendDestroyDescriptor(plan));
    OK(cudnnBackendDestroyDescriptor(pack));
    for (int turn = 0; turn < 2; turn++) {
        x.at[0] += 1;
        RT(cudaGraphLaunch(launched, stream));
        RT(cudaStreamSynchronize(stream));
        EACH(y)
        {
            double sum = (double)b.at[c];
            for (int k = 0; k < 3; k++)
                for (int f = 0; f < 9; f++)
                    sum += (double)x.at[place(&x, n, k, h + f / 3, w + f % 3)] *
                           (double)filter.at[place(&filter, c, k, f / 3, f % 3)];
            NEAR((double)y.at[place(&y, n, c, h, w)], sum > 0 ? sum : 0);
        }
    }
    RT(cudaGraphExecDestroy(launched));
    RT(cudaGraphDestroy(captured));
    OK(cudnnSetStream(handle, NULL));
    RT(cudaStreamDestroy(stream));
    end(&x);
    end(&filter);
    end(&y);
    end(&b);
}

/* What attention's gradients do: a tensor between operations whose strides would put two elements into one place, a
 * reshape that transposes, a product whose second operand has one matrix for two of the result's. */
static void attention_parts(void)
{
    enum { HEADS = 4, ROWS = 2, COLUMNS = 3, INNER = 5 };
    int64_t xd[4] = {1, HEADS / 2, COLUMNS, INNER}, td[4] = {1, HEADS / 2, INNER, COLUMNS},
            ad[4] = {1, HEADS, ROWS, INNER}, cd[4] = {1, HEADS, ROWS, COLUMNS}, uids[] = {1, 2, 3},
            overlapping[4] = {30, 4, 5, 1}, turned[4] = {30, 15, 1, 5};
    struct images x = make(1, HEADS / 2, COLUMNS, INNER, false), a = make(1, HEADS, ROWS, INNER, false),
                  c = make(1, HEADS, ROWS, COLUMNS, false);
    cudnnBackendDescriptor_t t[] = {graph_tensor(1, xd, false), graph_tensor(2, ad, false), graph_tensor(3, cd, false),
                                    strided_tensor(4, xd, overlapping, true), strided_tensor(5, td, turned, true)};
    cudnnBackendDescriptor_t reshape = descriptor(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    cudnnBackendDescriptor_t matmul = descriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    cudnnBackendDescriptor_t product = descriptor(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    SET(reshape, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[3]);
    SET(reshape, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[4]);
    OK(cudnnBackendFinalize(reshape));
    SET(matmul, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    OK(cudnnBackendFinalize(matmul));
    SET(product, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &matmul);
    SET(product, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[1]);
    SET(product, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[4]);
    SET(product, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[2]);
    OK(cudnnBackendFinalize(product));
    cudnnBackendDescriptor_t ops[] = {element_by_element(CUDNN_POINTWISE_IDENTITY, t[0], NULL, t[3]), reshape, product};
    cudnnBackendDescriptor_t plan = planned(ops, 3), pack = descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    void *pointers[] = {x.at, a.at, c.at};
    SET(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    SET(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
    OK(cudnnBackendFinalize(pack));
    OK(cudnnBackendExecute(handle, plan, pack));
    RT(cudaDeviceSynchronize());
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (int k = 0; k < INNER; k++)
                    sum += (double)a.at[(h * ROWS + i) * INNER + k] * (double)x.at[(h / 2 * COLUMNS + j) * INNER + k];
                NEAR((double)c.at[(h * ROWS + i) * COLUMNS + j], sum);
            }
    cudnnBackendDescriptor_t all[] = {t[0], t[1], t[2], t[3], t[4], ops[0], reshape, matmul, product, plan, pack};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        OK(cudnnBackendDestroyDescriptor(all[i]));
    end(&x);
    end(&a);
    end(&c);
}

static unsigned heard;

static void hear(cudnnSeverity_t severity, void *data, const cudnnDebug_t *debug, const char *message)
{
    CHECK(severity == CUDNN_SEV_ERROR && data == &heard && debug->cudnnStatus == CUDNN_STATUS_BAD_PARAM);
    CHECK(strstr(message, "cudnnSetStream"));
    heard++;
}

/* The program's callback hears of calls that fail, if its mask has errors. */
static void callbacks(void)
{
    OK(cudnnSetCallback(CUDNN_SEV_ERROR_EN, &heard, hear));
    CHECK(cudnnSetStream(NULL, NULL) == CUDNN_STATUS_BAD_PARAM && heard == 1);
    OK(cudnnSetCallback(CUDNN_SEV_WARNING_EN, &heard, hear));
    CHECK(cudnnSetStream(NULL, NULL) == CUDNN_STATUS_BAD_PARAM && heard == 1);
    OK(cudnnSetCallback(0, NULL, NULL));
}

int main(void)
{
    static const cudnnActivationMode_t modes[] = {CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU,
                                                  CUDNN_ACTIVATION_TANH,    CUDNN_ACTIVATION_CLIPPED_RELU,
                                                  CUDNN_ACTIVATION_ELU,     CUDNN_ACTIVATION_SWISH};
    OK(cudnnCreate(&handle));
    CHECK(cudnnGetVersion() == CUDNN_VERSION);
    for (int round = 0; round < 20; round++) {
        pooling(round % 2);
        normalisation(round % 2, round % 3);
        softmax(round % 2, round % 3, (cudnnSoftmaxAlgorithm_t)(round % 3));
        reductions((cudnnReduceTensorOp_t)(round % 8), round % 3 == 0);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        activations(modes[i], i % 2);
    graph();
    attention_parts();
    callbacks();
    OK(cudnnDestroy(handle));
    return 0;
}
