/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the interface by functions: descriptors, algorithms, workspaces, calls. There is one way to
 * compute each of the three kinds, so every algorithm's name means that one. */
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/conv.h"
#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/pointwise.h"
#include "libs/cudnn/sums.h"

cudnnStatus_t mr_cudnn_CreateConvolutionDescriptor(const struct mr_form *form, cudnnConvolutionDescriptor_t *convDesc)
{
    MR_POINTER(convDesc);
    struct cudnnConvolutionStruct *made = calloc(1, sizeof *made);
    MR_WANT(made, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    made->groups = 1;
    *convDesc = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyConvolutionDescriptor(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc)
{
    (void)form;
    free(convDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetConvolutionMathType(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                              cudnnMathType_t mathType)
{
    MR_POINTER(convDesc);
    MR_WANT(mathType <= CUDNN_FMA_MATH, CUDNN_STATUS_BAD_PARAM, "there is no math type %d", (int)mathType);
    convDesc->math = mathType;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolutionMathType(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                              cudnnMathType_t *mathType)
{
    MR_POINTER(convDesc);
    MR_POINTER(mathType);
    *mathType = convDesc->math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetConvolutionGroupCount(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                int64_t groupCount)
{
    MR_POINTER(convDesc);
    MR_WANT(groupCount >= 1, CUDNN_STATUS_BAD_PARAM, "%lld groups", (long long)groupCount);
    convDesc->groups = (int)groupCount;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolutionGroupCount(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                int *groupCount)
{
    MR_POINTER(convDesc);
    MR_POINTER(groupCount);
    *groupCount = convDesc->groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetConvolutionReorderType(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                 cudnnReorderType_t reorderType)
{
    MR_POINTER(convDesc);
    convDesc->reorder = reorderType;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolutionReorderType(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                 cudnnReorderType_t *reorderType)
{
    MR_POINTER(convDesc);
    MR_POINTER(reorderType);
    *reorderType = convDesc->reorder;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc, int64_t n, const int *pad,
                         const int *stride, const int *dilation, cudnnConvolutionMode_t mode, cudnnDataType_t type)
{
    struct mr_conv_way way = {.space = (int)n, .flip = mode == CUDNN_CONVOLUTION};
    MR_POINTER(convDesc);
    convDesc->way = (struct mr_conv_way){.flip = true};
    convDesc->type = CUDNN_DATA_FLOAT;
    MR_WANT(n >= 1 && n <= CUDNN_DIM_MAX - 2, CUDNN_STATUS_BAD_PARAM, "%lld dimensions", (long long)n);
    MR_WANT(n <= 3, CUDNN_STATUS_NOT_SUPPORTED, "%lld dimensions", (long long)n);
    MR_POINTER(pad);
    MR_POINTER(stride);
    MR_POINTER(dilation);
    MR_WANT(mode <= CUDNN_CROSS_CORRELATION, CUDNN_STATUS_BAD_PARAM, "there is no mode %d", (int)mode);
    MR_WANT(type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_HALF ||
                type == CUDNN_DATA_INT32,
            CUDNN_STATUS_BAD_PARAM, "convolutions are not computed in type %d", (int)type);
    for (int i = 0; i < n; i++) {
        MR_WANT(pad[i] >= 0 && stride[i] >= 1 && dilation[i] >= 1, CUDNN_STATUS_BAD_PARAM,
                "padding %d, stride %d, dilation %d", pad[i], stride[i], dilation[i]);
        way.before[i] = way.after[i] = pad[i];
        way.stride[i] = stride[i];
        way.dilation[i] = dilation[i];
    }
    convDesc->way = way;
    convDesc->type = type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetConvolution2dDescriptor(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                  int64_t pad_h, int64_t pad_w, int64_t u, int64_t v,
                                                  int64_t dilation_h, int64_t dilation_w, cudnnConvolutionMode_t mode,
                                                  cudnnDataType_t computeType)
{
    return set(form, convDesc, 2, (int[]){(int)pad_h, (int)pad_w}, (int[]){(int)u, (int)v},
               (int[]){(int)dilation_h, (int)dilation_w}, mode, computeType);
}

cudnnStatus_t mr_cudnn_SetConvolutionNdDescriptor(const struct mr_form *form, cudnnConvolutionDescriptor_t convDesc,
                                                  int64_t arrayLength, const int padA[], const int filterStrideA[],
                                                  const int dilationA[], cudnnConvolutionMode_t mode,
                                                  cudnnDataType_t computeType)
{
    return set(form, convDesc, arrayLength, padA, filterStrideA, dilationA, mode, computeType);
}

cudnnStatus_t mr_cudnn_GetConvolutionNdDescriptor(const struct mr_form *form,
                                                  const cudnnConvolutionDescriptor_t convDesc,
                                                  int64_t arrayLengthRequested, int *arrayLength, int padA[],
                                                  int strideA[], int dilationA[], cudnnConvolutionMode_t *mode,
                                                  cudnnDataType_t *computeType)
{
    MR_POINTER(convDesc);
    for (int i = 0; i < convDesc->way.space && i < arrayLengthRequested; i++) {
        if (padA)
            padA[i] = (int)convDesc->way.before[i];
        if (strideA)
            strideA[i] = (int)convDesc->way.stride[i];
        if (dilationA)
            dilationA[i] = (int)convDesc->way.dilation[i];
    }
    if (arrayLength)
        *arrayLength = convDesc->way.space;
    if (mode)
        *mode = convDesc->way.flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    if (computeType)
        *computeType = convDesc->type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolution2dDescriptor(const struct mr_form *form,
                                                  const cudnnConvolutionDescriptor_t convDesc, int *pad_h, int *pad_w,
                                                  int *u, int *v, int *dilation_h, int *dilation_w,
                                                  cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType)
{
    int pad[2] = {0}, stride[2] = {0}, dilation[2] = {0};
    MR_POINTER(convDesc);
    MR_WANT(convDesc->way.space == 2 || convDesc->way.space == 0, CUDNN_STATUS_BAD_PARAM, "it has %d dimensions",
            convDesc->way.space);
    MR_STEP(mr_cudnn_GetConvolutionNdDescriptor(form, convDesc, 2, NULL, pad, stride, dilation, mode, computeType));
    int *const to[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
    const int from[] = {pad[0], pad[1], stride[0], stride[1], dilation[0], dilation[1]};
    for (int i = 0; i < 6; i++)
        if (to[i])
            *to[i] = from[i];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolutionNdForwardOutputDim(const struct mr_form *form,
                                                        const cudnnConvolutionDescriptor_t convDesc,
                                                        const cudnnTensorDescriptor_t inputTensorDesc,
                                                        const cudnnFilterDescriptor_t filterDesc, int64_t nbDims,
                                                        int tensorOuputDimA[])
{
    MR_POINTER(convDesc);
    MR_POINTER(inputTensorDesc);
    MR_POINTER(filterDesc);
    MR_POINTER(tensorOuputDimA);
    const struct mr_tensor *x = &inputTensorDesc->t, *w = &filterDesc->t;
    int n = convDesc->way.space + 2;
    bool fits = true;
    for (int i = 0; i < nbDims; i++)
        tensorOuputDimA[i] = 0;
    MR_WANT(x->n == n && w->n == n && nbDims >= n, CUDNN_STATUS_BAD_PARAM, "%d, %d and %lld dimensions, not %d", x->n,
            w->n, (long long)nbDims, n);
    MR_WANT(x->dim[1] == w->dim[1] * convDesc->groups, CUDNN_STATUS_BAD_PARAM, "the channels don't fit the filter's");
    tensorOuputDimA[0] = (int)x->dim[0];
    tensorOuputDimA[1] = (int)w->dim[0];
    for (int i = 0; i < n - 2; i++) {
        int64_t out = mr_conv_way_out(&convDesc->way, i, x->dim[2 + i], w->dim[2 + i]);
        tensorOuputDimA[2 + i] = out > 0 ? (int)out : 0;
        fits = fits && out > 0;
    }
    MR_WANT(fits, CUDNN_STATUS_BAD_PARAM, "the filter is larger than the tensor");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetConvolution2dForwardOutputDim(const struct mr_form *form,
                                                        const cudnnConvolutionDescriptor_t convDesc,
                                                        const cudnnTensorDescriptor_t inputTensorDesc,
                                                        const cudnnFilterDescriptor_t filterDesc, int *n, int *c,
                                                        int *h, int *w)
{
    int dims[4] = {0};
    MR_POINTER(n);
    MR_POINTER(c);
    MR_POINTER(h);
    MR_POINTER(w);
    cudnnStatus_t status =
        mr_cudnn_GetConvolutionNdForwardOutputDim(form, convDesc, inputTensorDesc, filterDesc, 4, dims);
    *n = dims[0];
    *c = dims[1];
    *h = dims[2];
    *w = dims[3];
    return status;
}

/* ---- what a call names, as one convolution ---- */

static cudnnStatus_t take(const struct mr_form *form, enum mr_conv_kind kind, cudnnTensorDescriptor_t x,
                          cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y,
                          struct mr_convolution *c)
{
    MR_POINTER(x);
    MR_POINTER(w);
    MR_POINTER(conv);
    MR_POINTER(y);
    MR_WANT(x->t.n && w->t.n && y->t.n && conv->way.space, CUDNN_STATUS_BAD_PARAM, "a descriptor isn't set");
    MR_WANT(x->t.dim[1] == w->t.dim[1] * conv->groups, CUDNN_STATUS_BAD_PARAM,
            "%lld channels in %d groups, the filter has %lld", (long long)x->t.dim[1], conv->groups,
            (long long)w->t.dim[1]);
    bool fits = x->t.n == y->t.n && x->t.dim[0] == y->t.dim[0] && w->t.dim[0] == y->t.dim[1];
    for (int i = 0; i < conv->way.space && fits; i++)
        fits = y->t.dim[2 + i] == mr_conv_way_out(&conv->way, i, x->t.dim[2 + i], w->t.dim[2 + i]);
    MR_WANT(fits, CUDNN_STATUS_BAD_PARAM, "the result's dimensions don't fit");
    bool wide = x->t.type == CUDNN_DATA_DOUBLE;
    MR_WANT((w->t.type == CUDNN_DATA_DOUBLE) == wide && (y->t.type == CUDNN_DATA_DOUBLE) == wide,
            CUDNN_STATUS_NOT_SUPPORTED, "tensors of type %d and %d with a filter of type %d", (int)x->t.type,
            (int)y->t.type, (int)w->t.type);
    *c = (struct mr_convolution){
        .function = form->name, .kind = kind, .way = conv->way, .x = x->t, .w = w->t, .y = y->t, .alpha = 1};
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t workspace(const struct mr_form *form, cudnnHandle_t handle, enum mr_conv_kind kind,
                               cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
                               cudnnTensorDescriptor_t y, size_t *bytes)
{
    struct mr_convolution c;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(bytes);
    MR_STEP(take(form, kind, x, w, conv, y, &c));
    MR_STEP(mr_convolution_plan(&c));
    *bytes = c.bytes;
    mr_conv_drop(c.conv);
    return CUDNN_STATUS_SUCCESS;
}

#define ALGORITHM(COUNT) \
    MR_WANT((int)algo >= 0 && (int)algo < COUNT, CUDNN_STATUS_NOT_SUPPORTED, "there is no algorithm %d", (int)algo)

cudnnStatus_t mr_cudnn_GetConvolutionForwardWorkspaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                                          const cudnnTensorDescriptor_t xDesc,
                                                          const cudnnFilterDescriptor_t wDesc,
                                                          const cudnnConvolutionDescriptor_t convDesc,
                                                          const cudnnTensorDescriptor_t yDesc,
                                                          cudnnConvolutionFwdAlgo_t algo, size_t *sizeInBytes)
{
    ALGORITHM(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    return workspace(form, handle, MR_CONV_FORWARD, xDesc, wDesc, convDesc, yDesc, sizeInBytes);
}

cudnnStatus_t mr_cudnn_GetConvolutionBackwardDataWorkspaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                                               const cudnnFilterDescriptor_t wDesc,
                                                               const cudnnTensorDescriptor_t dyDesc,
                                                               const cudnnConvolutionDescriptor_t convDesc,
                                                               const cudnnTensorDescriptor_t dxDesc,
                                                               cudnnConvolutionBwdDataAlgo_t algo, size_t *sizeInBytes)
{
    ALGORITHM(CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
    return workspace(form, handle, MR_CONV_DATA, dxDesc, wDesc, convDesc, dyDesc, sizeInBytes);
}

cudnnStatus_t mr_cudnn_GetConvolutionBackwardFilterWorkspaceSize(
    const struct mr_form *form, cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnFilterDescriptor_t gradDesc, cudnnConvolutionBwdFilterAlgo_t algo, size_t *sizeInBytes)
{
    ALGORITHM(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
    return workspace(form, handle, MR_CONV_FILTER, xDesc, gradDesc, convDesc, dyDesc, sizeInBytes);
}

/* ---- algorithms: one, with its workspace ---- */

#define ALGORITHMS(perf_t, ALGO, KIND, MAX_NAME, GET_NAME, FIND_NAME, FIND_EX_NAME, first_t, first, second_t, second, \
                   third_t, third, x, w, y) \
    cudnnStatus_t MAX_NAME(const struct mr_form *form, cudnnHandle_t handle, int *count) \
    { \
        MR_STEP(mr_dnn_enter(form->name, handle)); \
        MR_POINTER(count); \
        *count = 1; \
        return CUDNN_STATUS_SUCCESS; \
    } \
    cudnnStatus_t GET_NAME(const struct mr_form *form, cudnnHandle_t handle, const first_t first, \
                           const second_t second, const cudnnConvolutionDescriptor_t convDesc, const third_t third, \
                           const int requestedAlgoCount, int *returnedAlgoCount, perf_t *perfResults) \
    { \
        size_t bytes; \
        MR_POINTER(returnedAlgoCount); \
        MR_POINTER(perfResults); \
        MR_WANT(requestedAlgoCount >= 0, CUDNN_STATUS_BAD_PARAM, "%d algorithms are asked for", requestedAlgoCount); \
        MR_STEP(workspace(form, handle, KIND, x, w, convDesc, y, &bytes)); \
        *returnedAlgoCount = requestedAlgoCount > 0; \
        if (requestedAlgoCount > 0) \
            *perfResults = (perf_t){.algo = ALGO, .time = -1, .memory = bytes, .determinism = CUDNN_DETERMINISTIC}; \
        return CUDNN_STATUS_SUCCESS; \
    } \
    cudnnStatus_t FIND_NAME(const struct mr_form *form, cudnnHandle_t handle, const first_t first, \
                            const second_t second, const cudnnConvolutionDescriptor_t convDesc, const third_t third, \
                            const int requestedAlgoCount, int *returnedAlgoCount, perf_t *perfResults) \
    { \
        return GET_NAME(form, handle, first, second, convDesc, third, requestedAlgoCount, returnedAlgoCount, \
                        perfResults); \
    } \
    cudnnStatus_t FIND_EX_NAME(const struct mr_form *form, cudnnHandle_t handle, const first_t first, \
                               const void *first_at, const second_t second, const void *second_at, \
                               const cudnnConvolutionDescriptor_t convDesc, const third_t third, void *third_at, \
                               const int requestedAlgoCount, int *returnedAlgoCount, perf_t *perfResults, \
                               void *workSpace, size_t workSpaceSizeInBytes) \
    { \
        (void)first_at, (void)second_at, (void)third_at, (void)workSpace, (void)workSpaceSizeInBytes; \
        return GET_NAME(form, handle, first, second, convDesc, third, requestedAlgoCount, returnedAlgoCount, \
                        perfResults); \
    }

ALGORITHMS(cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, MR_CONV_FORWARD,
           mr_cudnn_GetConvolutionForwardAlgorithmMaxCount, mr_cudnn_GetConvolutionForwardAlgorithm_v7,
           mr_cudnn_FindConvolutionForwardAlgorithm, mr_cudnn_FindConvolutionForwardAlgorithmEx,
           cudnnTensorDescriptor_t, a, cudnnFilterDescriptor_t, b, cudnnTensorDescriptor_t, c, a, b, c)
ALGORITHMS(cudnnConvolutionBwdDataAlgoPerf_t, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, MR_CONV_DATA,
           mr_cudnn_GetConvolutionBackwardDataAlgorithmMaxCount, mr_cudnn_GetConvolutionBackwardDataAlgorithm_v7,
           mr_cudnn_FindConvolutionBackwardDataAlgorithm, mr_cudnn_FindConvolutionBackwardDataAlgorithmEx,
           cudnnFilterDescriptor_t, a, cudnnTensorDescriptor_t, b, cudnnTensorDescriptor_t, c, c, a, b)
ALGORITHMS(cudnnConvolutionBwdFilterAlgoPerf_t, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, MR_CONV_FILTER,
           mr_cudnn_GetConvolutionBackwardFilterAlgorithmMaxCount, mr_cudnn_GetConvolutionBackwardFilterAlgorithm_v7,
           mr_cudnn_FindConvolutionBackwardFilterAlgorithm, mr_cudnn_FindConvolutionBackwardFilterAlgorithmEx,
           cudnnTensorDescriptor_t, a, cudnnTensorDescriptor_t, b, cudnnFilterDescriptor_t, c, a, c, b)

/* ---- calls ---- */

static cudnnStatus_t run(const struct mr_form *form, cudnnHandle_t handle, struct mr_convolution *c, double alpha,
                         double beta, void *space, size_t bytes)
{
    MR_WANT(c->x_at && c->w_at && c->y_at, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    c->alpha = alpha;
    c->beta = beta;
    c->workspace = space;
    cudnnStatus_t status = mr_convolution_plan(c);
    if (status != CUDNN_STATUS_SUCCESS) /* as hardware has it, also where the tensors don't fit */
        return status == CUDNN_STATUS_BAD_PARAM ? CUDNN_STATUS_NOT_SUPPORTED : status;
    /* A workspace that is too small is a fault; none at all is not: there is memory of our own. */
    if (space && bytes < c->bytes)
        status = mr_dnn_bad(form->name, CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                            "the workspace has %zu bytes, %zu are needed", bytes, c->bytes);
    else
        status = mr_convolution_submit(handle, c);
    mr_conv_drop(c->conv);
    return status;
}

cudnnStatus_t mr_cudnn_ConvolutionForward(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                          const cudnnTensorDescriptor_t xDesc, const void *x,
                                          const cudnnFilterDescriptor_t wDesc, const void *w,
                                          const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
                                          void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
                                          const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct mr_convolution c;
    MR_STEP(mr_dnn_enter(form->name, handle));
    ALGORITHM(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    MR_STEP(take(form, MR_CONV_FORWARD, xDesc, wDesc, convDesc, yDesc, &c));
    c.x_at = x;
    c.w_at = w;
    c.y_at = y;
    MR_POINTER(alpha);
    MR_POINTER(beta);
    return run(form, handle, &c, mr_factor(&c.y, alpha), mr_factor(&c.y, beta), workSpace, workSpaceSizeInBytes);
}

cudnnStatus_t mr_cudnn_ConvolutionBackwardData(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                               const cudnnFilterDescriptor_t wDesc, const void *w,
                                               const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                               const cudnnConvolutionDescriptor_t convDesc,
                                               cudnnConvolutionBwdDataAlgo_t algo, void *workSpace,
                                               size_t workSpaceSizeInBytes, const void *beta,
                                               const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    struct mr_convolution c;
    MR_STEP(mr_dnn_enter(form->name, handle));
    ALGORITHM(CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
    MR_STEP(take(form, MR_CONV_DATA, dxDesc, wDesc, convDesc, dyDesc, &c));
    c.x_at = dx;
    c.w_at = w;
    c.y_at = dy;
    MR_POINTER(alpha);
    MR_POINTER(beta);
    return run(form, handle, &c, mr_factor(&c.y, alpha), mr_factor(&c.y, beta), workSpace, workSpaceSizeInBytes);
}

cudnnStatus_t mr_cudnn_ConvolutionBackwardFilter(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                                 const cudnnTensorDescriptor_t xDesc, const void *x,
                                                 const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                                 const cudnnConvolutionDescriptor_t convDesc,
                                                 cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace,
                                                 size_t workSpaceSizeInBytes, const void *beta,
                                                 const cudnnFilterDescriptor_t dwDesc, void *dw)
{
    struct mr_convolution c;
    MR_STEP(mr_dnn_enter(form->name, handle));
    ALGORITHM(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
    MR_STEP(take(form, MR_CONV_FILTER, xDesc, dwDesc, convDesc, dyDesc, &c));
    c.x_at = x;
    c.w_at = dw;
    c.y_at = dy;
    MR_POINTER(alpha);
    MR_POINTER(beta);
    return run(form, handle, &c, mr_factor(&c.y, alpha), mr_factor(&c.y, beta), workSpace, workSpaceSizeInBytes);
}

/* The gradient of a bias: the sum of dy over all but its channels. */
cudnnStatus_t mr_cudnn_ConvolutionBackwardBias(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                               const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
                                               const cudnnTensorDescriptor_t dbDesc, void *db)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(dyDesc);
    MR_POINTER(dbDesc);
    MR_WANT(dy && db, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    struct mr_sums sums = {.op = CUDNN_REDUCE_TENSOR_ADD,
                           .x = dyDesc->t,
                           .y = dbDesc->t,
                           .x_at = dy,
                           .y_at = db,
                           .alpha = mr_factor(&dyDesc->t, alpha),
                           .beta = mr_factor(&dyDesc->t, beta)};
    MR_WANT(mr_tensor_spreads(&sums.y, &sums.x) && sums.y.dim[1] == sums.x.dim[1], CUDNN_STATUS_BAD_PARAM,
            "the bias doesn't fit the tensor");
    return mr_dnn_submit(form->name, handle, mr_sums_prepare(&sums), mr_sums_run, &sums, sizeof sums);
}

/* y = activation(alpha1 conv(x) + alpha2 z + bias), by steps on y. z may be y itself. */
cudnnStatus_t mr_cudnn_ConvolutionBiasActivationForward(
    const struct mr_form *form, cudnnHandle_t handle, const void *alpha1, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes, const void *alpha2,
    const cudnnTensorDescriptor_t zDesc, const void *z, const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct mr_convolution c;
    MR_STEP(mr_dnn_enter(form->name, handle));
    ALGORITHM(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    MR_POINTER(alpha1);
    MR_POINTER(alpha2);
    MR_POINTER(biasDesc);
    MR_POINTER(activationDesc);
    MR_STEP(take(form, MR_CONV_FORWARD, xDesc, wDesc, convDesc, yDesc, &c));
    c.x_at = x;
    c.w_at = w;
    c.y_at = y;
    double factor = mr_factor(&yDesc->t, alpha2);
    MR_WANT(factor == 0 || (zDesc && z && mr_tensor_same(&zDesc->t, &yDesc->t)), CUDNN_STATUS_BAD_PARAM,
            "z doesn't fit the result");
    MR_WANT(activationDesc->mode == CUDNN_ACTIVATION_RELU || activationDesc->mode == CUDNN_ACTIVATION_IDENTITY,
            CUDNN_STATUS_NOT_SUPPORTED, "activation %d behind a convolution", (int)activationDesc->mode);
    MR_WANT(bias && mr_tensor_spreads(&biasDesc->t, &yDesc->t), CUDNN_STATUS_BAD_PARAM,
            "the bias doesn't fit the result");
    if (factor != 0 && z != y) {
        struct mr_pointwise copy = mr_pointwise_of(CUDNN_POINTWISE_IDENTITY);
        copy.x = zDesc->t;
        copy.y = yDesc->t;
        copy.x_at = z;
        copy.y_at = y;
        MR_STEP(mr_dnn_submit(form->name, handle, mr_pointwise_prepare(&copy), mr_pointwise_run, &copy, sizeof copy));
    }
    MR_STEP(run(form, handle, &c, mr_factor(&yDesc->t, alpha1), factor, workSpace, workSpaceSizeInBytes));
    struct mr_pointwise add = mr_pointwise_of(CUDNN_POINTWISE_ADD);
    add.x = add.y = yDesc->t;
    add.b = biasDesc->t;
    add.x_at = add.y_at = y;
    add.b_at = bias;
    MR_STEP(mr_dnn_submit(form->name, handle, mr_pointwise_prepare(&add), mr_pointwise_run, &add, sizeof add));
    struct mr_pointwise act;
    if (activationDesc->mode == CUDNN_ACTIVATION_IDENTITY)
        return CUDNN_STATUS_SUCCESS;
    MR_STEP(mr_activation_take(form->name, activationDesc, false, &act));
    act.x = act.y = yDesc->t;
    act.x_at = act.y_at = y;
    return mr_dnn_submit(form->name, handle, mr_pointwise_prepare(&act), mr_pointwise_run, &act, sizeof act);
}
