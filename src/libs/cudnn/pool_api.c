/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of the interface by functions, and of graphs. */
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/kinds.h"
#include "libs/cudnn/pool.h"

cudnnStatus_t mr_cudnn_CreatePoolingDescriptor(const struct mr_form *form, cudnnPoolingDescriptor_t *poolingDesc)
{
    MR_POINTER(poolingDesc);
    *poolingDesc = calloc(1, sizeof **poolingDesc);
    MR_WANT(*poolingDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyPoolingDescriptor(const struct mr_form *form, cudnnPoolingDescriptor_t poolingDesc)
{
    (void)form;
    free(poolingDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetPoolingNdDescriptor(const struct mr_form *form, cudnnPoolingDescriptor_t poolingDesc,
                                              const cudnnPoolingMode_t mode,
                                              const cudnnNanPropagation_t maxpoolingNanOpt, int64_t nbDims,
                                              const int windowDimA[], const int paddingA[], const int strideA[])
{
    MR_POINTER(poolingDesc);
    *poolingDesc = (struct cudnnPoolingStruct){.space = 0};
    MR_WANT(mode <= CUDNN_POOLING_MAX_DETERMINISTIC && maxpoolingNanOpt <= CUDNN_PROPAGATE_NAN, CUDNN_STATUS_BAD_PARAM,
            "there is no mode %d with NaN option %d", (int)mode, (int)maxpoolingNanOpt);
    MR_WANT(nbDims >= 1, CUDNN_STATUS_BAD_PARAM, "%lld dimensions", (long long)nbDims);
    MR_WANT(nbDims <= 3, CUDNN_STATUS_NOT_SUPPORTED, "%lld dimensions", (long long)nbDims);
    MR_WANT(windowDimA && paddingA && strideA, CUDNN_STATUS_BAD_PARAM, "an array is NULL");
    struct cudnnPoolingStruct made = {.mode = mode, .nan = maxpoolingNanOpt, .space = (int)nbDims};
    for (int i = 0; i < nbDims; i++) {
        MR_WANT(windowDimA[i] >= 1 && paddingA[i] >= 0 && strideA[i] >= 1, CUDNN_STATUS_BAD_PARAM,
                "window %d, padding %d, stride %d", windowDimA[i], paddingA[i], strideA[i]);
        made.window[i] = windowDimA[i];
        made.pad[i] = paddingA[i];
        made.stride[i] = strideA[i];
    }
    *poolingDesc = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetPooling2dDescriptor(const struct mr_form *form, cudnnPoolingDescriptor_t poolingDesc,
                                              cudnnPoolingMode_t mode, cudnnNanPropagation_t maxpoolingNanOpt,
                                              int64_t windowHeight, int64_t windowWidth, int64_t verticalPadding,
                                              int64_t horizontalPadding, int64_t verticalStride,
                                              int64_t horizontalStride)
{
    return mr_cudnn_SetPoolingNdDescriptor(
        form, poolingDesc, mode, maxpoolingNanOpt, 2, (int[]){(int)windowHeight, (int)windowWidth},
        (int[]){(int)verticalPadding, (int)horizontalPadding}, (int[]){(int)verticalStride, (int)horizontalStride});
}

cudnnStatus_t mr_cudnn_GetPoolingNdDescriptor(const struct mr_form *form, const cudnnPoolingDescriptor_t poolingDesc,
                                              int64_t nbDimsRequested, cudnnPoolingMode_t *mode,
                                              cudnnNanPropagation_t *maxpoolingNanOpt, int *nbDims, int windowDimA[],
                                              int paddingA[], int strideA[])
{
    MR_POINTER(poolingDesc);
    for (int i = 0; i < poolingDesc->space && i < nbDimsRequested; i++) {
        if (windowDimA)
            windowDimA[i] = (int)poolingDesc->window[i];
        if (paddingA)
            paddingA[i] = (int)poolingDesc->pad[i];
        if (strideA)
            strideA[i] = (int)poolingDesc->stride[i];
    }
    if (mode)
        *mode = poolingDesc->mode;
    if (maxpoolingNanOpt)
        *maxpoolingNanOpt = poolingDesc->nan;
    if (nbDims)
        *nbDims = poolingDesc->space;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetPooling2dDescriptor(const struct mr_form *form, const cudnnPoolingDescriptor_t poolingDesc,
                                              cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt,
                                              int *windowHeight, int *windowWidth, int *verticalPadding,
                                              int *horizontalPadding, int *verticalStride, int *horizontalStride)
{
    MR_POINTER(poolingDesc);
    MR_WANT(poolingDesc->space == 2 || poolingDesc->space == 0, CUDNN_STATUS_BAD_PARAM, "it has %d dimensions",
            poolingDesc->space);
    const struct cudnnPoolingStruct *p = poolingDesc;
    int *const to[] = {windowHeight, windowWidth, verticalPadding, horizontalPadding, verticalStride, horizontalStride};
    const int64_t from[] = {p->window[0], p->window[1], p->pad[0], p->pad[1], p->stride[0], p->stride[1]};
    for (int i = 0; i < 6; i++)
        if (to[i])
            *to[i] = (int)from[i];
    if (mode)
        *mode = p->mode;
    if (maxpoolingNanOpt)
        *maxpoolingNanOpt = p->nan;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetPoolingNdForwardOutputDim(const struct mr_form *form,
                                                    const cudnnPoolingDescriptor_t poolingDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc, int64_t nbDims,
                                                    int outputTensorDimA[])
{
    MR_POINTER(poolingDesc);
    MR_POINTER(inputTensorDesc);
    MR_POINTER(outputTensorDimA);
    const struct cudnnPoolingStruct *p = poolingDesc;
    bool fits = true;
    for (int i = 0; i < nbDims; i++)
        outputTensorDimA[i] = 0;
    MR_WANT(p->space && inputTensorDesc->t.n == p->space + 2 && nbDims == inputTensorDesc->t.n, CUDNN_STATUS_BAD_PARAM,
            "the tensor has %d dimensions", inputTensorDesc->t.n);
    outputTensorDimA[0] = (int)inputTensorDesc->t.dim[0];
    outputTensorDimA[1] = (int)inputTensorDesc->t.dim[1];
    for (int i = 0; i < p->space; i++) {
        int64_t more = inputTensorDesc->t.dim[2 + i] + 2 * p->pad[i] - p->window[i];
        outputTensorDimA[2 + i] = more < 0 ? 0 : (int)(1 + more / p->stride[i]);
        fits = fits && more >= 0;
    }
    MR_WANT(fits, CUDNN_STATUS_BAD_PARAM, "the window is larger than the tensor");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetPooling2dForwardOutputDim(const struct mr_form *form,
                                                    const cudnnPoolingDescriptor_t poolingDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc, int *n, int *c,
                                                    int *h, int *w)
{
    int dims[4] = {0};
    MR_WANT(n && c && h && w, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    cudnnStatus_t status = mr_cudnn_GetPoolingNdForwardOutputDim(form, poolingDesc, inputTensorDesc, 4, dims);
    *n = dims[0];
    *c = dims[1];
    *h = dims[2];
    *w = dims[3];
    return status;
}

static cudnnStatus_t take(const struct mr_form *form, const struct cudnnPoolingStruct *d, cudnnTensorDescriptor_t x,
                          cudnnTensorDescriptor_t y, struct mr_pool *p)
{
    MR_POINTER(d);
    MR_POINTER(x);
    MR_POINTER(y);
    *p = (struct mr_pool){.function = form->name, .space = d->space, .x = x->t, .y = y->t, .dx = x->t};
    p->mode = d->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING   ? MR_POOL_AVERAGE_ALL
              : d->mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? MR_POOL_AVERAGE_INSIDE
                                                                       : MR_POOL_MAX;
    MR_WANT(d->space && x->t.n == d->space + 2 && y->t.n == x->t.n && x->t.dim[0] == y->t.dim[0] &&
                x->t.dim[1] == y->t.dim[1] && x->t.type == y->t.type,
            CUDNN_STATUS_BAD_PARAM, "the tensors don't fit");
    for (int i = 0; i < d->space; i++) {
        p->window[i] = d->window[i];
        p->before[i] = p->after[i] = d->pad[i];
        p->stride[i] = d->stride[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_PoolingForward(const struct mr_form *form, cudnnHandle_t handle,
                                      const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
                                      const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                      const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct mr_pool p;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_STEP(take(form, poolingDesc, xDesc, yDesc, &p));
    MR_WANT(alpha && beta && x && y, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    p.x_at = x;
    p.y_at = y;
    p.alpha = mr_factor(&yDesc->t, alpha);
    p.beta = mr_factor(&yDesc->t, beta);
    return mr_dnn_submit(form->name, handle, mr_pool_parts(&p), mr_pool_run, &p, sizeof p);
}

cudnnStatus_t mr_cudnn_PoolingBackward(const struct mr_form *form, cudnnHandle_t handle,
                                       const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
                                       const cudnnTensorDescriptor_t yDesc, const void *y,
                                       const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                       const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                       const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    struct mr_pool p;
    (void)y;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_STEP(take(form, poolingDesc, xDesc, dyDesc, &p));
    MR_POINTER(yDesc);
    MR_POINTER(dxDesc);
    MR_WANT(alpha && beta && dy && dx && (x || p.mode != MR_POOL_MAX), CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    MR_WANT(mr_tensor_same(&xDesc->t, &dxDesc->t) && mr_tensor_same(&yDesc->t, &dyDesc->t), CUDNN_STATUS_BAD_PARAM,
            "the tensors differ");
    p.dx = dxDesc->t;
    p.x_at = x;
    p.dy_at = dy;
    p.dx_at = dx;
    p.alpha = mr_factor(&dxDesc->t, alpha);
    p.beta = mr_factor(&dxDesc->t, beta);
    return mr_dnn_submit(form->name, handle, mr_pool_parts(&p), mr_pool_run, &p, sizeof p);
}

/* ---- graphs ---- */

/* A fraction of the descriptor's, which has to be a whole number of at most 31 bits; integers are taken, too. */
static bool whole(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, int i, int64_t *to)
{
    const struct mr_attribute *a = mr_attribute_of(d, name);
    if (!a || i >= a->count)
        return false;
    if (a->type == CUDNN_TYPE_FRACTION) {
        cudnnFraction_t f = ((const cudnnFraction_t *)a->elements)[i];
        if (f.denominator <= 0 || f.numerator % f.denominator != 0)
            return false;
        *to = f.numerator / f.denominator;
    } else if (a->type == CUDNN_TYPE_INT64) {
        *to = ((const int64_t *)a->elements)[i];
    } else {
        return false;
    }
    return *to >= -INT32_MAX && *to <= INT32_MAX;
}

cudnnStatus_t mr_operation_resample(struct mr_going *going, const struct mr_descriptor *op)
{
    bool back = op->type == CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR;
    const struct mr_descriptor *d = mr_attribute_descriptor(op, back ? CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC
                                                                     : CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC);
    int64_t mode = mr_attribute_number(d, CUDNN_ATTR_RESAMPLE_MODE, -1);
    struct mr_pool p = {.function = going->function,
                        .space = (int)mr_attribute_number(d, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, 0)};
    void *x = NULL, *y;
    p.mode = mode == CUDNN_RESAMPLE_MAXPOOL                   ? MR_POOL_MAX
             : mode == CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING ? MR_POOL_AVERAGE_INSIDE
                                                              : MR_POOL_AVERAGE_ALL;
    if (mode == CUDNN_RESAMPLE_NEAREST || mode == CUDNN_RESAMPLE_BILINEAR || mode < 0)
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "resampling by mode %d", (int)mode);
    for (int i = 0; i < p.space && i < 3; i++)
        if (!whole(d, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, i, &p.window[i]) ||
            !whole(d, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, i, &p.before[i]) ||
            !whole(d, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, i, &p.after[i]) ||
            !whole(d, CUDNN_ATTR_RESAMPLE_STRIDES, i, &p.stride[i]))
            return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "resampling by fractions");
    if (back) {
        void *dx;
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, &p.dx, &dx));
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, &p.y, &y));
        p.x = p.dx;
        if (p.mode == MR_POOL_MAX && !mr_attribute_of(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC))
            return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED,
                              "a gradient of the largest element without x");
        if (p.mode == MR_POOL_MAX)
            MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, &p.x, &x));
        p.dy_at = y;
        p.dx_at = dx;
        p.alpha = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, 1);
        p.beta = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, 0);
    } else {
        if (mr_attribute_of(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC))
            return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "indices of the largest elements");
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, &p.x, &x));
        MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, &p.y, &y));
        p.dx = p.x;
        p.y_at = y;
        p.alpha = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, 1);
        p.beta = mr_attribute_factor(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, 0);
    }
    p.x_at = x;
    bool fits = p.space >= 1 && p.space <= 3 && p.x.n == p.space + 2 && p.y.n == p.x.n && p.x.dim[0] == p.y.dim[0] &&
                p.x.dim[1] == p.y.dim[1];
    for (int i = 2; fits && i < p.x.n; i++)
        fits = p.x.dim[i] <= INT32_MAX && p.y.dim[i] <= INT32_MAX && p.stride[i - 2] > 0;
    if (!fits)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "resampling: the tensors don't fit");
    return mr_going_submit(going, mr_pool_parts(&p), mr_pool_run, &p, sizeof p);
}
