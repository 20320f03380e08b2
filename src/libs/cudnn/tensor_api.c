/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensors and filters. */
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

double mr_factor(const struct mr_tensor *t, const void *pointer)
{
    return t->type == CUDNN_DATA_DOUBLE ? *(const double *)pointer : (double)*(const float *)pointer;
}

cudnnStatus_t mr_cudnn_CreateTensorDescriptor(const struct mr_form *form, cudnnTensorDescriptor_t *tensorDesc)
{
    MR_POINTER(tensorDesc);
    *tensorDesc = calloc(1, sizeof **tensorDesc);
    MR_WANT(*tensorDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyTensorDescriptor(const struct mr_form *form, cudnnTensorDescriptor_t tensorDesc)
{
    (void)form;
    free(tensorDesc);
    return CUDNN_STATUS_SUCCESS;
}

/* The types that these descriptors take: those of cuDNN before its graphs. */
static bool has_type(cudnnDataType_t type)
{
    return type <= CUDNN_DATA_BFLOAT16;
}

static bool is_vector(cudnnDataType_t type)
{
    return type == CUDNN_DATA_INT8x4 || type == CUDNN_DATA_UINT8x4 || type == CUDNN_DATA_INT8x32;
}

/* The tensor of those dimensions; strides by the format where there are none. After a failure it is not set; but one
 * of more elements than cuDNN's operations take is. */
static cudnnStatus_t fill(const struct mr_form *form, struct mr_tensor *t, cudnnDataType_t type, int64_t n,
                          const int *dim, const int *stride, cudnnTensorFormat_t format)
{
    struct mr_tensor made = {.type = type, .n = (int)n};
    *t = (struct mr_tensor){0};
    MR_WANT(n >= 1 && n <= CUDNN_DIM_MAX, n < 1 ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_NOT_SUPPORTED,
            "%lld dimensions", (long long)n);
    MR_POINTER(dim);
    MR_WANT(has_type(type), CUDNN_STATUS_BAD_PARAM, "descriptors have no type %d", (int)type);
    MR_WANT(is_vector(type) == (format == CUDNN_TENSOR_NCHW_VECT_C), CUDNN_STATUS_BAD_PARAM,
            "type %d and format %d don't go together", (int)type, (int)format);
    MR_WANT(mr_dnn_size(type), CUDNN_STATUS_NOT_SUPPORTED, "tensors of type %d are not supported", (int)type);
    MR_WANT(format <= CUDNN_TENSOR_NCHW_VECT_C, CUDNN_STATUS_BAD_PARAM, "there is no format %d", (int)format);
    for (int i = 0; i < n; i++) {
        MR_WANT(dim[i] > 0, CUDNN_STATUS_BAD_PARAM, "dimension %d is %d", i, dim[i]);
        MR_WANT(!stride || stride[i] > 0, CUDNN_STATUS_BAD_PARAM, "stride %d is %d", i, stride[i]);
        made.dim[i] = dim[i];
        made.stride[i] = stride ? stride[i] : 0;
    }
    MR_WANT(mr_tensor_fits(&made), CUDNN_STATUS_BAD_PARAM, "the dimensions are too large");
    if (!stride)
        mr_tensor_pack(&made, format == CUDNN_TENSOR_NHWC);
    for (int i = 0; i < n; i++)
        MR_WANT(made.stride[i] <= INT32_MAX, CUDNN_STATUS_BAD_PARAM, "stride %d is %lld", i, (long long)made.stride[i]);
    *t = made;
    int64_t elements = (int64_t)(mr_tensor_bytes(t) / mr_dnn_size(type));
    MR_WANT(elements <= INT32_MAX, CUDNN_STATUS_NOT_SUPPORTED, "%lld elements", (long long)elements);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetTensor4dDescriptor(const struct mr_form *form, cudnnTensorDescriptor_t tensorDesc,
                                             cudnnTensorFormat_t format, cudnnDataType_t dataType, int64_t n, int64_t c,
                                             int64_t h, int64_t w)
{
    MR_POINTER(tensorDesc);
    return fill(form, &tensorDesc->t, dataType, 4, (int[]){(int)n, (int)c, (int)h, (int)w}, NULL, format);
}

cudnnStatus_t mr_cudnn_SetTensor4dDescriptorEx(const struct mr_form *form, cudnnTensorDescriptor_t tensorDesc,
                                               cudnnDataType_t dataType, int64_t n, int64_t c, int64_t h, int64_t w,
                                               int64_t nStride, int64_t cStride, int64_t hStride, int64_t wStride)
{
    MR_POINTER(tensorDesc);
    return fill(form, &tensorDesc->t, dataType, 4, (int[]){(int)n, (int)c, (int)h, (int)w},
                (int[]){(int)nStride, (int)cStride, (int)hStride, (int)wStride}, CUDNN_TENSOR_NCHW);
}

cudnnStatus_t mr_cudnn_SetTensorNdDescriptor(const struct mr_form *form, cudnnTensorDescriptor_t tensorDesc,
                                             cudnnDataType_t dataType, int64_t nbDims, const int dimA[],
                                             const int strideA[])
{
    MR_POINTER(tensorDesc);
    MR_POINTER(strideA);
    return fill(form, &tensorDesc->t, dataType, nbDims, dimA, strideA, CUDNN_TENSOR_NCHW);
}

cudnnStatus_t mr_cudnn_SetTensorNdDescriptorEx(const struct mr_form *form, cudnnTensorDescriptor_t tensorDesc,
                                               cudnnTensorFormat_t format, cudnnDataType_t dataType, int64_t nbDims,
                                               const int dimA[])
{
    MR_POINTER(tensorDesc);
    return fill(form, &tensorDesc->t, dataType, nbDims, dimA, NULL, format);
}

cudnnStatus_t mr_cudnn_GetTensorNdDescriptor(const struct mr_form *form, const cudnnTensorDescriptor_t tensorDesc,
                                             int64_t nbDimsRequested, cudnnDataType_t *dataType, int *nbDims,
                                             int dimA[], int strideA[])
{
    MR_POINTER(tensorDesc);
    for (int i = 0; i < tensorDesc->t.n && i < nbDimsRequested; i++) {
        if (dimA)
            dimA[i] = (int)tensorDesc->t.dim[i];
        if (strideA)
            strideA[i] = (int)tensorDesc->t.stride[i];
    }
    if (dataType)
        *dataType = tensorDesc->t.type;
    if (nbDims)
        *nbDims = tensorDesc->t.n;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetTensor4dDescriptor(const struct mr_form *form, const cudnnTensorDescriptor_t tensorDesc,
                                             cudnnDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride,
                                             int *cStride, int *hStride, int *wStride)
{
    MR_POINTER(tensorDesc);
    MR_WANT(tensorDesc->t.n == 4 || tensorDesc->t.n == 0, CUDNN_STATUS_NOT_SUPPORTED, "it has %d dimensions",
            tensorDesc->t.n);
    int *const dims[] = {n, c, h, w}, *const strides[] = {nStride, cStride, hStride, wStride};
    for (int i = 0; i < 4; i++) {
        if (dims[i])
            *dims[i] = (int)tensorDesc->t.dim[i];
        if (strides[i])
            *strides[i] = (int)tensorDesc->t.stride[i];
    }
    if (dataType)
        *dataType = tensorDesc->t.type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetTensorSizeInBytes(const struct mr_form *form, const cudnnTensorDescriptor_t tensorDesc,
                                            size_t *size)
{
    MR_POINTER(tensorDesc);
    MR_POINTER(size);
    *size = tensorDesc->t.n ? mr_tensor_bytes(&tensorDesc->t) : 0;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- filters ---- */

cudnnStatus_t mr_cudnn_CreateFilterDescriptor(const struct mr_form *form, cudnnFilterDescriptor_t *filterDesc)
{
    MR_POINTER(filterDesc);
    *filterDesc = calloc(1, sizeof **filterDesc);
    MR_WANT(*filterDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyFilterDescriptor(const struct mr_form *form, cudnnFilterDescriptor_t filterDesc)
{
    (void)form;
    free(filterDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetFilterNdDescriptor(const struct mr_form *form, cudnnFilterDescriptor_t filterDesc,
                                             cudnnDataType_t dataType, cudnnTensorFormat_t format, int64_t nbDims,
                                             const int filterDimA[])
{
    MR_POINTER(filterDesc);
    MR_WANT(nbDims >= 3, CUDNN_STATUS_BAD_PARAM, "%lld dimensions", (long long)nbDims);
    MR_STEP(fill(form, &filterDesc->t, dataType, nbDims, filterDimA, NULL, format));
    filterDesc->format = format;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetFilter4dDescriptor(const struct mr_form *form, cudnnFilterDescriptor_t filterDesc,
                                             cudnnDataType_t dataType, cudnnTensorFormat_t format, int64_t k, int64_t c,
                                             int64_t h, int64_t w)
{
    return mr_cudnn_SetFilterNdDescriptor(form, filterDesc, dataType, format, 4,
                                          (int[]){(int)k, (int)c, (int)h, (int)w});
}

cudnnStatus_t mr_cudnn_GetFilterNdDescriptor(const struct mr_form *form, const cudnnFilterDescriptor_t filterDesc,
                                             int64_t nbDimsRequested, cudnnDataType_t *dataType,
                                             cudnnTensorFormat_t *format, int *nbDims, int filterDimA[])
{
    MR_POINTER(filterDesc);
    for (int i = 0; i < filterDesc->t.n && i < nbDimsRequested; i++)
        if (filterDimA)
            filterDimA[i] = (int)filterDesc->t.dim[i];
    if (dataType)
        *dataType = filterDesc->t.type;
    if (format)
        *format = filterDesc->format;
    if (nbDims)
        *nbDims = filterDesc->t.n;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetFilter4dDescriptor(const struct mr_form *form, const cudnnFilterDescriptor_t filterDesc,
                                             cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *k, int *c,
                                             int *h, int *w)
{
    MR_POINTER(filterDesc);
    MR_WANT(filterDesc->t.n == 4, CUDNN_STATUS_NOT_SUPPORTED, "it has %d dimensions", filterDesc->t.n);
    int dims[4], *const to[] = {k, c, h, w};
    MR_STEP(mr_cudnn_GetFilterNdDescriptor(form, filterDesc, 4, dataType, format, NULL, dims));
    for (int i = 0; i < 4; i++)
        if (to[i])
            *to[i] = dims[i];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetFilterSizeInBytes(const struct mr_form *form, const cudnnFilterDescriptor_t filterDesc,
                                            size_t *size)
{
    MR_POINTER(filterDesc);
    MR_POINTER(size);
    *size = filterDesc->t.n ? mr_tensor_bytes(&filterDesc->t) : 0;
    return CUDNN_STATUS_SUCCESS;
}
