/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's statuses: what is refused, in which order, and what descriptors say of themselves. */
#include "dn.h"

#include <string.h>

static cudnnTensorDescriptor_t tensor(void)
{
    cudnnTensorDescriptor_t d;
    DN_NEED(cudnnCreateTensorDescriptor(&d));
    return d;
}

static cudnnFilterDescriptor_t filter(void)
{
    cudnnFilterDescriptor_t d;
    DN_NEED(cudnnCreateFilterDescriptor(&d));
    return d;
}

static cudnnConvolutionDescriptor_t convolution(void)
{
    cudnnConvolutionDescriptor_t d;
    DN_NEED(cudnnCreateConvolutionDescriptor(&d));
    return d;
}

static cudnnPoolingDescriptor_t pooling(void)
{
    cudnnPoolingDescriptor_t d;
    DN_NEED(cudnnCreatePoolingDescriptor(&d));
    return d;
}

static cudnnActivationDescriptor_t activation(void)
{
    cudnnActivationDescriptor_t d;
    DN_NEED(cudnnCreateActivationDescriptor(&d));
    return d;
}

/* ---- the library and its handles ---- */

CASE(dnn_status, version)
{
    int major = 0, minor = 0, patch = 0;
    say_value("major", (long long)cudnnGetVersion() / 10000);
    say_value("cudart", (long long)cudnnGetCudartVersion() / 1000);
    dn(cudnnGetProperty(MAJOR_VERSION, &major));
    dn(cudnnGetProperty(MINOR_VERSION, &minor));
    dn(cudnnGetProperty(PATCH_LEVEL, &patch));
    say_value("major", major);
    say_if("adds_up", (size_t)(major * 10000 + minor * 100 + patch) == cudnnGetVersion());
}

CASE(dnn_status, names)
{
    static const int numbers[] = {0,    1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 2000, 2001, 2002,
                                  2003, 2004, 2005, 2006, 2007, 3000, 3001, 3002, 3003, 3004, 3005, 3006,
                                  3007, 3008, 3009, 3010, 3011, 3012, 4000, 4001, 4002, 4003, 4004, 4005,
                                  5000, 5001, 5002, 5003, 5004, 5005, 1,    -1,   99};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        say_text(cudnnGetErrorString((cudnnStatus_t)numbers[i]));
}

CASE(dnn_status, create_null, .alone = true)
{
    dn(cudnnCreate(NULL));
}

CASE(dnn_status, destroy_null, .alone = true)
{
    dn(cudnnDestroy(NULL));
}

CASE(dnn_status, stream)
{
    cudnnHandle_t h = dn_begin();
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking), is = NULL;
    dn(cudnnGetStream(h, &is));
    say_if("default", is == NULL);
    dn(cudnnSetStream(h, stream));
    dn(cudnnGetStream(h, &is));
    say_if("same", is == stream);
}

CASE(dnn_status, stream_null_handle, .alone = true)
{
    dn(cudnnSetStream(NULL, NULL));
}

CASE(dnn_status, stream_null_place, RT_CRASHES("BAD_PARAM"))
{
    dn(cudnnGetStream(dn_begin(), NULL));
}

CASE(dnn_status, versions_agree)
{
    dn(cudnnOpsVersionCheck());
    dn(cudnnCnnVersionCheck());
    dn(cudnnAdvVersionCheck());
    dn(cudnnGraphVersionCheck());
}

CASE(dnn_status, last_error)
{
    char why[200] = "x";
    cudnnHandle_t h = dn_begin();
    cudnnGetLastErrorString(why, sizeof why);
    dn(cudnnSetTensor4dDescriptor(tensor(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1));
    cudnnGetLastErrorString(why, sizeof why);
    say_if("told", why[0] != 0);
    cudnnGetLastErrorString(why, sizeof why);
    say_if("again", why[0] != 0);
    (void)h;
}

CASE(dnn_status, query_runtime)
{
    cudnnStatus_t inner = CUDNN_STATUS_SUCCESS;
    cudnnHandle_t h = dn_begin();
    dn(cudnnQueryRuntimeError(h, &inner, CUDNN_ERRQUERY_RAWCODE, NULL));
    dn(inner);
    dn(cudnnQueryRuntimeError(h, &inner, CUDNN_ERRQUERY_BLOCKING, NULL));
    dn(inner);
}

CASE(dnn_status, query_runtime_null, RT_CRASHES("BAD_PARAM"))
{
    dn(cudnnQueryRuntimeError(dn_begin(), NULL, CUDNN_ERRQUERY_RAWCODE, NULL));
}

/* ---- tensors ---- */

struct shape {
    int format, type, n, c, h, w;
};

static void shape(const struct gold_case *self)
{
    const struct shape *s = self->data;
    cudnnDataType_t type = (cudnnDataType_t)99;
    int is[8] = {0};
    cudnnTensorDescriptor_t d = tensor();
    dn(cudnnSetTensor4dDescriptor(d, (cudnnTensorFormat_t)s->format, (cudnnDataType_t)s->type, s->n, s->c, s->h, s->w));
    dn(cudnnGetTensor4dDescriptor(d, &type, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5], &is[6], &is[7]));
    say_int(type);
    for (int i = 0; i < 8; i++)
        say_int(is[i]);
    size_t bytes = 0;
    dn(cudnnGetTensorSizeInBytes(d, &bytes));
    say_int((long long)bytes);
}

#define SHAPE(title, ...) \
    { \
        .name = "dnn_status.tensor_" #title, .run = shape, .data = &(const struct shape) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case shapes[] = {
    SHAPE(nchw, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 4, 5),
    SHAPE(nhwc, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 3, 4, 5),
    SHAPE(nhwc_one, CUDNN_TENSOR_NHWC, CUDNN_DATA_DOUBLE, 1, 1, 4, 5),
    SHAPE(bf16, CUDNN_TENSOR_NCHW, CUDNN_DATA_BFLOAT16, 1, 8, 1, 1),
    SHAPE(int8, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8, 2, 4, 3, 3),
    SHAPE(int32, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT32, 2, 4, 3, 3),
    SHAPE(int64, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT64, 2, 4, 3, 3),
    SHAPE(boolean, CUDNN_TENSOR_NCHW, CUDNN_DATA_BOOLEAN, 2, 4, 3, 3),
    SHAPE(fp8, CUDNN_TENSOR_NCHW, CUDNN_DATA_FP8_E4M3, 2, 4, 3, 3),
    SHAPE(zero, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 3, 4, 5),
    SHAPE(zero_width, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 4, 0),
    SHAPE(negative, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, -3, 4, 5),
    SHAPE(no_format, 7, CUDNN_DATA_FLOAT, 2, 3, 4, 5),
    SHAPE(no_type, CUDNN_TENSOR_NCHW, 99, 2, 3, 4, 5),
    SHAPE(vect_float, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT, 2, 4, 4, 5),
    SHAPE(large, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 65536, 256, 256, 1),
    SHAPE(too_large, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 65536, 65536, 65536, 65536),
};

struct strided {
    int dims, dim[9], stride[9];
};

static void strided(const struct gold_case *self)
{
    const struct strided *s = self->data;
    cudnnDataType_t type = (cudnnDataType_t)99;
    int dims = 0, dim[9] = {0}, stride[9] = {0};
    cudnnTensorDescriptor_t d = tensor();
    dn(cudnnSetTensorNdDescriptor(d, CUDNN_DATA_FLOAT, s->dims, s->dim, s->stride));
    dn(cudnnGetTensorNdDescriptor(d, 8, &type, &dims, dim, stride));
    say_int(dims);
    for (int i = 0; i < dims && i < 8; i++) {
        say_int(dim[i]);
        say_int(stride[i]);
    }
    size_t bytes = 0;
    dn(cudnnGetTensorSizeInBytes(d, &bytes));
    say_int((long long)bytes);
}

#define STRIDED(title, ...) \
    { \
        .name = "dnn_status.strided_" #title, .run = strided, .data = &(const struct strided) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case strideds[] = {
    STRIDED(four, 4, {2, 3, 4, 5}, {60, 20, 5, 1}),
    STRIDED(five, 5, {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}),
    STRIDED(eight, 8, {1, 1, 2, 1, 2, 1, 2, 2}, {16, 16, 8, 8, 4, 4, 2, 1}),
    STRIDED(nine, 9, {1, 1, 2, 1, 2, 1, 2, 2, 1}, {16, 16, 8, 8, 4, 4, 2, 1, 1}),
    STRIDED(three, 3, {2, 3, 4}, {12, 4, 1}),
    STRIDED(two, 2, {2, 3}, {3, 1}),
    STRIDED(none, 0, {1}, {1}),
    STRIDED(gaps, 4, {2, 3, 4, 5}, {480, 80, 10, 2}),
    STRIDED(overlapping, 4, {2, 3, 4, 5}, {1, 1, 1, 1}),
    STRIDED(zero_stride, 4, {2, 3, 4, 5}, {60, 20, 5, 0}),
    STRIDED(negative_stride, 4, {2, 3, 4, 5}, {60, 20, 5, -1}),
    STRIDED(zero_dim, 4, {2, 0, 4, 5}, {60, 20, 5, 1}),
};

CASE(dnn_status, tensor_unset)
{
    size_t bytes = 5;
    cudnnDataType_t type = (cudnnDataType_t)99;
    int dims = 7, dim[4] = {0}, stride[4] = {0};
    cudnnTensorDescriptor_t d = tensor();
    dn(cudnnGetTensorNdDescriptor(d, 4, &type, &dims, dim, stride));
    say_int(type);
    say_int(dims);
    dn(cudnnGetTensorSizeInBytes(d, &bytes));
    say_int((long long)bytes);
}

CASE(dnn_status, tensor_ex_vect)
{
    int dim[4] = {2, 4, 3, 3}, dims = 0, is[4] = {0}, stride[4] = {0};
    cudnnDataType_t type = (cudnnDataType_t)99;
    cudnnTensorDescriptor_t d = tensor();
    dn(cudnnSetTensorNdDescriptorEx(d, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 4, dim));
    dn(cudnnGetTensorNdDescriptor(d, 4, &type, &dims, is, stride));
    for (int i = 0; i < 4; i++)
        say_int(stride[i]);
    dn(cudnnSetTensorNdDescriptorEx(d, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 9, dim));
    dn(cudnnSetTensorNdDescriptorEx(d, (cudnnTensorFormat_t)5, CUDNN_DATA_FLOAT, 4, dim));
}

CASE(dnn_status, tensor_fewer_asked)
{
    cudnnDataType_t type = (cudnnDataType_t)99;
    int dims = 0, dim[4] = {0}, stride[4] = {0}, of[5] = {2, 3, 4, 5, 6}, by[5] = {360, 120, 30, 6, 1};
    cudnnTensorDescriptor_t d = tensor();
    dn(cudnnSetTensorNdDescriptor(d, CUDNN_DATA_FLOAT, 5, of, by));
    dn(cudnnGetTensorNdDescriptor(d, 3, &type, &dims, dim, stride));
    say_int(dims);
    for (int i = 0; i < 4; i++)
        say_int(dim[i]);
    dn(cudnnGetTensorNdDescriptor(d, 0, &type, &dims, dim, stride));
    say_int(dims);
}

#define NULLS(title, expr) \
    CASE(dnn_status, title, .alone = true) \
    { \
        dn(expr); \
    }
NULLS(tensor_create_null, cudnnCreateTensorDescriptor(NULL))
NULLS(tensor_set_null, cudnnSetTensor4dDescriptor(NULL, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1))
NULLS(tensor_destroy_null, cudnnDestroyTensorDescriptor(NULL))
NULLS(filter_destroy_null, cudnnDestroyFilterDescriptor(NULL))
NULLS(convolution_destroy_null, cudnnDestroyConvolutionDescriptor(NULL))
NULLS(pooling_destroy_null, cudnnDestroyPoolingDescriptor(NULL))
NULLS(activation_destroy_null, cudnnDestroyActivationDescriptor(NULL))
NULLS(dropout_destroy_null, cudnnDestroyDropoutDescriptor(NULL))
NULLS(rnn_destroy_null, cudnnDestroyRNNDescriptor(NULL))
NULLS(filter_create_null, cudnnCreateFilterDescriptor(NULL))
NULLS(convolution_create_null, cudnnCreateConvolutionDescriptor(NULL))
NULLS(reduce_create_null, cudnnCreateReduceTensorDescriptor(NULL))

/* ---- filters, convolutions, pooling, activations ---- */

CASE(dnn_status, filter)
{
    int dim[4] = {0};
    size_t bytes = 0;
    cudnnDataType_t type = (cudnnDataType_t)9;
    cudnnTensorFormat_t format = (cudnnTensorFormat_t)9;
    cudnnFilterDescriptor_t d = filter();
    dn(cudnnSetFilter4dDescriptor(d, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 4, 3, 2, 1));
    dn(cudnnGetFilter4dDescriptor(d, &type, &format, &dim[0], &dim[1], &dim[2], &dim[3]));
    say_int(type);
    say_int(format);
    for (int i = 0; i < 4; i++)
        say_int(dim[i]);
    dn(cudnnGetFilterSizeInBytes(d, &bytes));
    say_int((long long)bytes);
    dn(cudnnSetFilter4dDescriptor(d, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 0, 3, 2, 1));
    dn(cudnnSetFilter4dDescriptor(d, CUDNN_DATA_HALF, (cudnnTensorFormat_t)8, 1, 3, 2, 1));
    dn(cudnnSetFilter4dDescriptor(d, (cudnnDataType_t)88, CUDNN_TENSOR_NCHW, 1, 3, 2, 1));
    int two[2] = {3, 4}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    dn(cudnnSetFilterNdDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 2, two));
    dn(cudnnSetFilterNdDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 9, nine));
    dn(cudnnSetFilterNdDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, nine));
}

struct conv {
    int pad, stride, dilation, mode, type;
};

static void conv(const struct gold_case *self)
{
    const struct conv *c = self->data;
    int is[6] = {0};
    cudnnConvolutionMode_t mode = (cudnnConvolutionMode_t)9;
    cudnnDataType_t type = (cudnnDataType_t)99;
    cudnnConvolutionDescriptor_t d = convolution();
    dn(cudnnSetConvolution2dDescriptor(d, c->pad, c->pad, c->stride, c->stride, c->dilation, c->dilation,
                                       (cudnnConvolutionMode_t)c->mode, (cudnnDataType_t)c->type));
    dn(cudnnGetConvolution2dDescriptor(d, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5], &mode, &type));
    for (int i = 0; i < 6; i++)
        say_int(is[i]);
    say_int(mode);
    say_int(type);
}

#define CONV(title, ...) \
    { \
        .name = "dnn_status.conv_" #title, .run = conv, .data = &(const struct conv) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case convs[] = {
    CONV(plain, 1, 2, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
    CONV(flipped, 0, 1, 3, CUDNN_CONVOLUTION, CUDNN_DATA_DOUBLE),
    CONV(half, 0, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_HALF),
    CONV(int32, 0, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_INT32),
    CONV(int8, 0, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_INT8),
    CONV(bf16, 0, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_BFLOAT16),
    CONV(negative_pad, -1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT),
    CONV(no_stride, 0, 0, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT),
    CONV(no_dilation, 0, 1, 0, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT),
    CONV(no_mode, 0, 1, 1, 4, CUDNN_DATA_FLOAT),
    CONV(no_type, 0, 1, 1, CUDNN_CONVOLUTION, 77),
};

CASE(dnn_status, conv_unset)
{
    int is[6] = {0};
    cudnnConvolutionMode_t mode = (cudnnConvolutionMode_t)9;
    cudnnDataType_t type = (cudnnDataType_t)99;
    cudnnMathType_t math = (cudnnMathType_t)9;
    int groups = 9;
    cudnnConvolutionDescriptor_t d = convolution();
    dn(cudnnGetConvolution2dDescriptor(d, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5], &mode, &type));
    dn(cudnnGetConvolutionMathType(d, &math));
    say_int(math);
    dn(cudnnGetConvolutionGroupCount(d, &groups));
    say_int(groups);
}

CASE(dnn_status, conv_settings)
{
    cudnnMathType_t math = (cudnnMathType_t)9;
    cudnnReorderType_t reorder = (cudnnReorderType_t)9;
    int groups = 9;
    cudnnConvolutionDescriptor_t d = convolution();
    dn(cudnnSetConvolutionMathType(d, CUDNN_FMA_MATH));
    dn(cudnnGetConvolutionMathType(d, &math));
    say_int(math);
    dn(cudnnSetConvolutionMathType(d, (cudnnMathType_t)17));
    dn(cudnnSetConvolutionGroupCount(d, 3));
    dn(cudnnGetConvolutionGroupCount(d, &groups));
    say_int(groups);
    dn(cudnnSetConvolutionGroupCount(d, 0));
    dn(cudnnSetConvolutionGroupCount(d, -1));
    dn(cudnnSetConvolutionReorderType(d, CUDNN_NO_REORDER));
    dn(cudnnGetConvolutionReorderType(d, &reorder));
    say_int(reorder);
}

struct outcome {
    int n, c, h, w, k, kc, kh, kw, pad, stride, dilation, groups;
};

static void outcome(const struct gold_case *self)
{
    const struct outcome *o = self->data;
    int is[4] = {-5, -5, -5, -5};
    cudnnConvolutionDescriptor_t d = convolution();
    dn_begin();
    struct dn x = dn_tensor('S', 'c', o->n, o->c, o->h, o->w, -1),
              w = dn_filter('S', 'c', o->k, o->kc, o->kh, o->kw, -1);
    DN_NEED(cudnnSetConvolution2dDescriptor(d, o->pad, o->pad, o->stride, o->stride, o->dilation, o->dilation,
                                            CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DN_NEED(cudnnSetConvolutionGroupCount(d, o->groups));
    dn(cudnnGetConvolution2dForwardOutputDim(d, x.d, w.f, &is[0], &is[1], &is[2], &is[3]));
    for (int i = 0; i < 4; i++)
        say_int(is[i]);
    dn(cudnnGetConvolutionNdForwardOutputDim(d, x.d, w.f, 4, is));
    for (int i = 0; i < 4; i++)
        say_int(is[i]);
}

#define OUTCOME(title, ...) \
    { \
        .name = "dnn_status.outcome_" #title, .run = outcome, .data = &(const struct outcome) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case outcomes[] = {
    OUTCOME(plain, 2, 3, 8, 9, 4, 3, 3, 2, 0, 1, 1, 1),
    OUTCOME(padded, 2, 3, 8, 9, 4, 3, 3, 3, 2, 2, 1, 1),
    OUTCOME(dilated, 2, 3, 8, 9, 4, 3, 3, 3, 1, 1, 3, 1),
    OUTCOME(groups, 1, 6, 5, 5, 4, 3, 2, 2, 0, 1, 1, 2),
    OUTCOME(channels_differ, 2, 3, 8, 9, 4, 2, 3, 3, 0, 1, 1, 1),
    OUTCOME(groups_differ, 2, 6, 8, 9, 4, 6, 3, 3, 0, 1, 1, 2),
    OUTCOME(groups_of_outputs, 2, 6, 8, 9, 5, 3, 3, 3, 0, 1, 1, 2),
    OUTCOME(filter_too_large, 2, 3, 4, 4, 4, 3, 7, 7, 0, 1, 1, 1),
    OUTCOME(filter_just_fits, 2, 3, 4, 4, 4, 3, 6, 6, 1, 1, 1, 1),
};

struct pool {
    int mode, window, pad, stride, nan;
};

static void pool(const struct gold_case *self)
{
    const struct pool *p = self->data;
    int is[6] = {0}, out[4] = {-5, -5, -5, -5};
    cudnnPoolingMode_t mode = (cudnnPoolingMode_t)9;
    cudnnNanPropagation_t nan = (cudnnNanPropagation_t)9;
    cudnnPoolingDescriptor_t d = pooling();
    dn(cudnnSetPooling2dDescriptor(d, (cudnnPoolingMode_t)p->mode, (cudnnNanPropagation_t)p->nan, p->window, p->window,
                                   p->pad, p->pad, p->stride, p->stride));
    dn(cudnnGetPooling2dDescriptor(d, &mode, &nan, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5]));
    say_int(mode);
    for (int i = 0; i < 6; i++)
        say_int(is[i]);
    dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 7, 8, -1);
    dn(cudnnGetPooling2dForwardOutputDim(d, x.d, &out[0], &out[1], &out[2], &out[3]));
    for (int i = 0; i < 4; i++)
        say_int(out[i]);
}

#define POOL(title, ...) \
    { \
        .name = "dnn_status.pool_" #title, .run = pool, .data = &(const struct pool) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case pools[] = {
    POOL(most, CUDNN_POOLING_MAX, 2, 0, 2, CUDNN_PROPAGATE_NAN),
    POOL(average, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, 3, 1, 2, CUDNN_NOT_PROPAGATE_NAN),
    POOL(no_window, CUDNN_POOLING_MAX, 0, 0, 2, CUDNN_PROPAGATE_NAN),
    POOL(no_stride, CUDNN_POOLING_MAX, 2, 0, 0, CUDNN_PROPAGATE_NAN),
    POOL(pad_negative, CUDNN_POOLING_MAX, 2, -1, 1, CUDNN_PROPAGATE_NAN),
    POOL(pad_as_window, CUDNN_POOLING_MAX, 2, 2, 1, CUDNN_PROPAGATE_NAN),
    POOL(no_mode, 9, 2, 0, 1, CUDNN_PROPAGATE_NAN),
    POOL(no_nan, CUDNN_POOLING_MAX, 2, 0, 1, 5),
    POOL(window_too_large, CUDNN_POOLING_MAX, 20, 0, 1, CUDNN_PROPAGATE_NAN),
};

CASE(dnn_status, activations)
{
    cudnnActivationMode_t mode = (cudnnActivationMode_t)9;
    cudnnNanPropagation_t nan = (cudnnNanPropagation_t)9;
    double coefficient = 5, beta = 5;
    cudnnActivationDescriptor_t d = activation();
    dn(cudnnSetActivationDescriptor(d, CUDNN_ACTIVATION_ELU, CUDNN_NOT_PROPAGATE_NAN, 1.5));
    dn(cudnnGetActivationDescriptor(d, &mode, &nan, &coefficient));
    say_int(mode);
    say_if("one and a half", coefficient == 1.5);
    dn(cudnnSetActivationDescriptorSwishBeta(d, 2.0));
    dn(cudnnGetActivationDescriptorSwishBeta(d, &beta));
    say_if("two", beta == 2.0);
    dn(cudnnSetActivationDescriptor(d, (cudnnActivationMode_t)44, CUDNN_NOT_PROPAGATE_NAN, 1.5));
    dn(cudnnSetActivationDescriptor(d, CUDNN_ACTIVATION_ELU, (cudnnNanPropagation_t)4, 1.5));
    dn(cudnnSetActivationDescriptor(d, CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_PROPAGATE_NAN, -1.5));
}

/* ---- operations whose arguments don't agree ---- */

CASE(dnn_status, forward_agrees)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 6, 6, 1), w = dn_filter('S', 'c', 4, 3, 3, 3, 2),
              y = dn_tensor('S', 'c', 2, 4, 4, 4, -1), small = dn_tensor('S', 'c', 2, 4, 4, 3, -1),
              other = dn_tensor('D', 'c', 2, 4, 4, 4, -1);
    cudnnConvolutionDescriptor_t d = convolution();
    DN_NEED(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    cudnnConvolutionFwdAlgo_t a = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    const void *one = dn_factor('S', 1), *zero = dn_factor('S', 0);
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, w.at, d, a, NULL, 0, zero, small.d, small.at));
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, w.at, d, a, NULL, 0, zero, other.d, other.at));
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, w.at, d, (cudnnConvolutionFwdAlgo_t)55, NULL, 0, zero, y.d,
                               y.at));
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, w.at, d, a, NULL, 0, zero, y.d, y.at));
}

CASE(dnn_status, forward_null_data, .alone = true)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 6, 6, 1), w = dn_filter('S', 'c', 4, 3, 3, 3, 2),
              y = dn_tensor('S', 'c', 2, 4, 4, 4, -1);
    cudnnConvolutionDescriptor_t d = convolution();
    DN_NEED(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    cudnnConvolutionFwdAlgo_t a = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    const void *one = dn_factor('S', 1), *zero = dn_factor('S', 0);
    dn(cudnnConvolutionForward(h, one, x.d, NULL, w.f, w.at, d, a, NULL, 0, zero, y.d, y.at));
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, NULL, d, a, NULL, 0, zero, y.d, y.at));
    dn(cudnnConvolutionForward(h, one, x.d, x.at, w.f, w.at, d, a, NULL, 0, zero, y.d, NULL));
    dn(cudnnConvolutionForward(NULL, one, x.d, x.at, w.f, w.at, d, a, NULL, 0, zero, y.d, y.at));
}

CASE(dnn_status, softmax_differs)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 2, 2, 1), y = dn_tensor('S', 'c', 2, 3, 2, 1, -1),
              z = dn_tensor('D', 'c', 2, 3, 2, 2, -1);
    const void *one = dn_factor('S', 1), *zero = dn_factor('S', 0);
    dn(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, one, x.d, x.at, zero, y.d, y.at));
    dn(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, one, x.d, x.at, zero, z.d, z.at));
    dn(cudnnSoftmaxForward(h, (cudnnSoftmaxAlgorithm_t)5, CUDNN_SOFTMAX_MODE_CHANNEL, one, x.d, x.at, zero, x.d, x.at));
    dn(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_FAST, (cudnnSoftmaxMode_t)5, one, x.d, x.at, zero, x.d, x.at));
    dn(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, one, x.d, x.at, zero, x.d, x.at));
}

CASE(dnn_status, pooling_differs)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 4, 4, 1), y = dn_tensor('S', 'c', 2, 3, 2, 3, -1),
              z = dn_tensor('S', 'c', 2, 2, 2, 2, -1), t = dn_tensor('D', 'c', 2, 3, 2, 2, -1);
    cudnnPoolingDescriptor_t d = pooling();
    DN_NEED(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    const void *one = dn_factor('S', 1), *zero = dn_factor('S', 0);
    dn(cudnnPoolingForward(h, d, one, x.d, x.at, zero, y.d, y.at));
    dn(cudnnPoolingForward(h, d, one, x.d, x.at, zero, z.d, z.at));
    dn(cudnnPoolingForward(h, d, one, x.d, x.at, zero, t.d, t.at));
}

CASE(dnn_status, add_differs)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 1, 2, 1, 1, 1), y = dn_tensor('S', 'c', 2, 3, 2, 3, -1),
              t = dn_tensor('H', 'c', 1, 3, 1, 1, 1);
    const void *one = dn_factor('S', 1);
    dn(cudnnAddTensor(h, one, x.d, x.at, one, y.d, y.at));
    dn(cudnnAddTensor(h, one, t.d, t.at, one, y.d, y.at));
    dn(cudnnAddTensor(h, one, y.d, y.at, one, x.d, x.at));
}

CASE(dnn_status, derive_norm)
{
    cudnnHandle_t h = dn_begin();
    static const cudnnBatchNormMode_t modes[] = {CUDNN_BATCHNORM_PER_ACTIVATION, CUDNN_BATCHNORM_SPATIAL,
                                                 CUDNN_BATCHNORM_SPATIAL_PERSISTENT, (cudnnBatchNormMode_t)7};
    static const char types[] = {'S', 'D', 'H', 'B'};
    (void)h;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            cudnnDataType_t type = (cudnnDataType_t)99;
            int is[8] = {0};
            cudnnTensorDescriptor_t d = tensor();
            struct dn x = dn_tensor(types[j], 'c', 2, 3, 4, 5, -1);
            dn(cudnnDeriveBNTensorDescriptor(d, x.d, modes[i]));
            if (i == 3)
                continue;
            dn(cudnnGetTensor4dDescriptor(d, &type, &is[0], &is[1], &is[2], &is[3], &is[4], &is[5], &is[6], &is[7]));
            say_int(type);
            for (int k = 0; k < 4; k++)
                say_int(is[k]);
        }
}

CASE(dnn_status, norm_bad_arguments)
{
    cudnnHandle_t h = dn_begin();
    struct dn x = dn_tensor('S', 'c', 2, 3, 2, 2, 1), y = dn_tensor('S', 'c', 2, 3, 2, 2, -1),
              s = dn_tensor('S', 'c', 1, 3, 1, 1, 3), odd = dn_tensor('S', 'c', 1, 2, 1, 1, 3);
    cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
    const void *one = dn_factor('S', 1), *zero = dn_factor('S', 0);
    dn(cudnnBatchNormalizationForwardInference(h, mode, one, zero, x.d, x.at, y.d, y.at, odd.d, s.at, s.at, s.at, s.at,
                                               1e-5));
    dn(cudnnBatchNormalizationForwardInference(h, mode, one, zero, x.d, x.at, y.d, y.at, s.d, s.at, s.at, s.at, s.at,
                                               -1.0));
    dn(cudnnBatchNormalizationForwardTraining(h, mode, one, zero, x.d, x.at, y.d, y.at, s.d, s.at, s.at, 0.5, s.at,
                                              NULL, 1e-5, NULL, NULL));
    dn(cudnnBatchNormalizationForwardTraining(h, mode, one, zero, x.d, x.at, y.d, y.at, s.d, s.at, s.at, 0.5, NULL,
                                              NULL, 1e-5, s.at, NULL));
}

CASE(dnn_status, reduce_settings)
{
    cudnnReduceTensorDescriptor_t d;
    cudnnReduceTensorOp_t op = (cudnnReduceTensorOp_t)99;
    cudnnDataType_t type = (cudnnDataType_t)99;
    cudnnNanPropagation_t nan = (cudnnNanPropagation_t)9;
    cudnnReduceTensorIndices_t indices = (cudnnReduceTensorIndices_t)9;
    cudnnIndicesType_t wide = (cudnnIndicesType_t)9;
    DN_NEED(cudnnCreateReduceTensorDescriptor(&d));
    dn(cudnnSetReduceTensorDescriptor(d, CUDNN_REDUCE_TENSOR_AMAX, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                      CUDNN_REDUCE_TENSOR_FLATTENED_INDICES, CUDNN_32BIT_INDICES));
    dn(cudnnGetReduceTensorDescriptor(d, &op, &type, &nan, &indices, &wide));
    say_int(op);
    say_int(indices);
    dn(cudnnSetReduceTensorDescriptor(d, (cudnnReduceTensorOp_t)33, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                      CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    dn(cudnnSetReduceTensorDescriptor(d, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_INT8, CUDNN_PROPAGATE_NAN,
                                      CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    dn(cudnnSetReduceTensorDescriptor(d, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT, (cudnnNanPropagation_t)4,
                                      CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    dn(cudnnSetReduceTensorDescriptor(d, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                      (cudnnReduceTensorIndices_t)6, CUDNN_32BIT_INDICES));
}

CASE(dnn_status, optensor_settings)
{
    cudnnOpTensorDescriptor_t d;
    cudnnOpTensorOp_t op = (cudnnOpTensorOp_t)99;
    cudnnDataType_t type = (cudnnDataType_t)99;
    cudnnNanPropagation_t nan = (cudnnNanPropagation_t)9;
    DN_NEED(cudnnCreateOpTensorDescriptor(&d));
    dn(cudnnSetOpTensorDescriptor(d, CUDNN_OP_TENSOR_MAX, CUDNN_DATA_DOUBLE, CUDNN_NOT_PROPAGATE_NAN));
    dn(cudnnGetOpTensorDescriptor(d, &op, &type, &nan));
    say_int(op);
    say_int(type);
    dn(cudnnSetOpTensorDescriptor(d, (cudnnOpTensorOp_t)44, CUDNN_DATA_DOUBLE, CUDNN_NOT_PROPAGATE_NAN));
    dn(cudnnSetOpTensorDescriptor(d, CUDNN_OP_TENSOR_ADD, CUDNN_DATA_HALF, CUDNN_NOT_PROPAGATE_NAN));
    dn(cudnnSetOpTensorDescriptor(d, CUDNN_OP_TENSOR_ADD, (cudnnDataType_t)99, CUDNN_NOT_PROPAGATE_NAN));
}

CASE(dnn_status, lrn_settings)
{
    cudnnLRNDescriptor_t d;
    unsigned n = 0;
    double alpha = 0, beta = 0, k = 0;
    DN_NEED(cudnnCreateLRNDescriptor(&d));
    dn(cudnnSetLRNDescriptor(d, 5, 1e-4, 0.75, 2.0));
    dn(cudnnGetLRNDescriptor(d, &n, &alpha, &beta, &k));
    say_int(n);
    dn(cudnnSetLRNDescriptor(d, 0, 1e-4, 0.75, 2.0));
    dn(cudnnSetLRNDescriptor(d, 17, 1e-4, 0.75, 2.0));
    dn(cudnnSetLRNDescriptor(d, 16, 1e-4, 0.75, 2.0));
    dn(cudnnSetLRNDescriptor(d, 5, 1e-4, 0.001, 2.0));
    dn(cudnnSetLRNDescriptor(d, 5, 1e-4, 0.75, 1e-7));
}

CASE(dnn_status, dropout)
{
    cudnnHandle_t h = dn_begin();
    cudnnDropoutDescriptor_t d;
    size_t states = 0, reserve = 0;
    struct dn x = dn_tensor('S', 'c', 2, 3, 4, 5, 1);
    DN_NEED(cudnnCreateDropoutDescriptor(&d));
    dn(cudnnDropoutGetStatesSize(h, &states));
    say_if("some", states > 0);
    dn(cudnnDropoutGetReserveSpaceSize(x.d, &reserve));
    say_if("enough", reserve >= 15);
    void *at = dn_room(states);
    dn(cudnnSetDropoutDescriptor(d, h, 0.5f, at, states - 1, 1));
    dn(cudnnSetDropoutDescriptor(d, h, -0.5f, at, states, 1));
    dn(cudnnSetDropoutDescriptor(d, h, 1.5f, at, states, 1));
    dn(cudnnSetDropoutDescriptor(d, h, 0.5f, NULL, 0, 1));
    dn(cudnnSetDropoutDescriptor(d, h, 0.5f, at, states, 1));
    dn(cudnnDropoutForward(h, d, x.d, x.at, x.d, x.at, dn_room(reserve), reserve - 1));
    dn(cudnnDropoutForward(h, d, x.d, x.at, x.d, x.at, dn_room(reserve), reserve));
}

/* ---- graphs ---- */

static cudnnBackendDescriptor_t part(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d;
    DN_NEED(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

CASE(dnn_status, backend_create)
{
    cudnnBackendDescriptor_t d = NULL;
    dn(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d));
    dn(cudnnBackendDestroyDescriptor(d));
}

CASE(dnn_status, backend_create_unknown, .alone = true)
{
    cudnnBackendDescriptor_t d = NULL;
    dn(cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)999, &d));
}

CASE(dnn_status, backend_create_null, RT_CRASHES("BAD_PARAM"))
{
    dn(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, NULL));
}

NULLS(backend_destroy_null, cudnnBackendDestroyDescriptor(NULL))
NULLS(backend_finalize_null, cudnnBackendFinalize(NULL))

CASE(dnn_status, backend_tensor)
{
    cudnnBackendDescriptor_t d = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t uid = 1, alignment = 16, dim[4] = {2, 3, 4, 5}, stride[4] = {60, 20, 5, 1}, is[4] = {0}, count = -1;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim));
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendGetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, &count, is));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride));
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendGetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, &count, is));
    say_int(count);
    dn(cudnnBackendGetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, &count, NULL));
    say_int(count);
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid));
    dn(cudnnBackendFinalize(d));
}

CASE(dnn_status, backend_wrong_types)
{
    cudnnBackendDescriptor_t d = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t uid = 1, dim[9] = {2, 3, 4, 5, 1, 1, 1, 1, 1};
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &uid));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, dim));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_INT64, 1, &uid));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 9, dim));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, dim));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, -1, dim));
}

CASE(dnn_status, backend_pointwise)
{
    cudnnBackendDescriptor_t d = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD, is = (cudnnPointwiseMode_t)77;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t count = -1;
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode));
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type));
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendGetAttribute(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &count, &is));
    say_int(is);
}

CASE(dnn_status, backend_empty_graph)
{
    cudnnHandle_t h = dn_begin();
    cudnnBackendDescriptor_t d = part(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR),
                             e = part(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t index = 0;
    dn(cudnnBackendSetAttribute(d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &h));
    dn(cudnnBackendFinalize(d));
    dn(cudnnBackendSetAttribute(e, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d));
    dn(cudnnBackendSetAttribute(e, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index));
    dn(cudnnBackendFinalize(e));
}

CASE(dnn_status, backend_execute_unready)
{
    cudnnHandle_t h = dn_begin();
    cudnnBackendDescriptor_t plan = part(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
                             pack = part(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    dn(cudnnBackendFinalize(plan));
    dn(cudnnBackendFinalize(pack));
    dn(cudnnBackendExecute(h, plan, pack));
}

/* ---- recurrent networks ---- */

CASE(dnn_status, rnn_settings)
{
    cudnnHandle_t h = dn_begin();
    cudnnRNNDescriptor_t d;
    size_t bytes = 0;
    DN_NEED(cudnnCreateRNNDescriptor(&d));
    dn(cudnnGetRNNWeightSpaceSize(h, d, &bytes));
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 5, 7, 7, 2,
                                NULL, 0));
    dn(cudnnGetRNNWeightSpaceSize(h, d, &bytes));
    say_int((long long)bytes);
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, CUDNN_GRU, CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_BIDIRECTIONAL,
                                CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 5, 7, 7, 2,
                                NULL, 0));
    dn(cudnnGetRNNWeightSpaceSize(h, d, &bytes));
    say_int((long long)bytes);
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 5, 0, 7, 2,
                                NULL, 0));
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 5, 7, 9, 2,
                                NULL, 0));
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                CUDNN_SKIP_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 5, 7, 7, 2, NULL,
                                0));
    dn(cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, (cudnnRNNMode_t)9, CUDNN_RNN_DOUBLE_BIAS,
                                CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                                CUDNN_FMA_MATH, 5, 7, 7, 2, NULL, 0));
}

CASE(dnn_status, rnn_data)
{
    cudnnRNNDataDescriptor_t d;
    int lengths[3] = {4, 3, 1}, zero[3] = {4, 0, 1}, long_one[3] = {5, 1, 1};
    float pad = 0;
    DN_NEED(cudnnCreateRNNDataDescriptor(&d));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 4, 3, 5, lengths,
                                 &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 4, 3, 5, lengths, &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 4, 3, 5, zero, &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 4, 3, 5, long_one,
                                 &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 0, 3, 5, lengths,
                                 &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_INT8, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 4, 3, 5, lengths, &pad));
    dn(cudnnSetRNNDataDescriptor(d, CUDNN_DATA_FLOAT, (cudnnRNNDataLayout_t)7, 4, 3, 5, lengths, &pad));
}

__attribute__((constructor)) static void add(void)
{
#define ALL(table) gold_register_all(table, sizeof table / sizeof *table)
    ALL(shapes);
    ALL(strideds);
    ALL(convs);
    ALL(outcomes);
    ALL(pools);
}
