/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and filters moved into others with other strides and, by a transform's descriptor, with a margin around: so
 * many elements before and behind each dimension, which are 0 where nothing comes to lie; a negative margin cuts off.
 * Folding of space into channels is refused. */
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

struct moving {
    struct mr_tensor x, y;
    const void *x_at;
    void *y_at;
    int64_t before[CUDNN_DIM_MAX];
    double alpha, beta;
    struct mr_rows rows; /* of y */
};

/* Where a row of y begins in x, not counting the place along the row; false if x has nothing for it. */
static bool find(const struct moving *m, int64_t row, int64_t *at)
{
    bool inside = true;
    *at = 0;
    for (int i = m->rows.n - 1; i >= 0; i--)
        if (i != m->rows.inner) {
            int64_t index = row % m->rows.dim[i] - m->before[i];
            row /= m->rows.dim[i];
            inside = inside && index >= 0 && index < m->x.dim[i];
            *at += index * m->x.stride[i];
        }
    return inside;
}

/* `count` elements of y from `from` of a row on, as x has them. */
static void gather(const struct moving *m, bool inside, int64_t at, int64_t from, int64_t count, double *line)
{
    int inner = m->rows.inner;
    int64_t first = from - m->before[inner], last = first + count; /* in x */
    int64_t begin = first > 0 ? first : 0, end = last < m->x.dim[inner] ? last : m->x.dim[inner];
    for (int64_t i = 0; i < count; i++)
        line[i] = 0;
    if (inside && begin < end)
        mr_line_load(m->x.type, m->x_at, at + begin * m->x.stride[inner], m->x.stride[inner], end - begin, true,
                     line + (begin - first));
}

static void run(void *record, uint64_t first, uint64_t end)
{
    const struct moving *m = record;
    double line[MR_LINE], old[MR_LINE];
    int64_t each = mr_rows_each(&m->rows), stride = mr_rows_stride(&m->rows, &m->y);
    int64_t last = (int64_t)end * each < m->rows.count ? (int64_t)end * each : m->rows.count;
    for (int64_t row = (int64_t)first * each; row < last; row++) {
        int64_t at;
        bool inside = find(m, row, &at);
        for (int64_t from = 0; from < m->rows.length; from += MR_LINE) {
            int64_t count = m->rows.length - from < MR_LINE ? m->rows.length - from : MR_LINE;
            int64_t to = mr_rows_at(&m->rows, &m->y, row) + from * stride;
            gather(m, inside, at, from, count, line);
            for (int64_t i = 0; i < count; i++)
                line[i] *= m->alpha;
            if (m->beta != 0) {
                mr_line_load(m->y.type, m->y_at, to, stride, count, true, old);
                for (int64_t i = 0; i < count; i++)
                    line[i] += m->beta * old[i];
            }
            mr_line_store(m->y.type, m->y_at, to, stride, count, true, line);
        }
    }
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle,
                            const struct cudnnTensorTransformStruct *by, const void *alpha, const void *beta,
                            struct moving *m)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(by && alpha && beta && m->x_at && m->y_at, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    MR_WANT(by->n && by->n == m->x.n && by->n == m->y.n, CUDNN_STATUS_BAD_PARAM,
            "the transform has %d dimensions, the tensors %d and %d", by->n, m->x.n, m->y.n);
    for (int i = 0; i < by->n; i++) {
        MR_WANT(m->x.dim[i] + by->before[i] + by->after[i] == m->y.dim[i], CUDNN_STATUS_BAD_PARAM,
                "dimension %d is %lld, which doesn't fit", i, (long long)m->y.dim[i]);
        m->before[i] = by->before[i];
    }
    m->alpha = mr_factor(&m->y, alpha);
    m->beta = mr_factor(&m->y, beta);
    m->rows = mr_rows_of(&m->y, -1);
    return mr_dnn_submit(form->name, handle, mr_parts_of((uint64_t)m->rows.count, (uint64_t)mr_rows_each(&m->rows)),
                         run, m, sizeof *m);
}

cudnnStatus_t mr_cudnn_TransformTensorEx(const struct mr_form *form, cudnnHandle_t handle,
                                         const cudnnTensorTransformDescriptor_t transDesc, const void *alpha,
                                         const cudnnTensorDescriptor_t srcDesc, const void *srcData, const void *beta,
                                         const cudnnTensorDescriptor_t destDesc, void *destData)
{
    MR_POINTER(srcDesc);
    MR_POINTER(destDesc);
    struct moving m = {.x = srcDesc->t, .y = destDesc->t, .x_at = srcData, .y_at = destData};
    return submit(form, handle, transDesc, alpha, beta, &m);
}

cudnnStatus_t mr_cudnn_TransformFilter(const struct mr_form *form, cudnnHandle_t handle,
                                       const cudnnTensorTransformDescriptor_t transDesc, const void *alpha,
                                       const cudnnFilterDescriptor_t srcDesc, const void *srcData, const void *beta,
                                       const cudnnFilterDescriptor_t destDesc, void *destData)
{
    MR_POINTER(srcDesc);
    MR_POINTER(destDesc);
    struct moving m = {.x = srcDesc->t, .y = destDesc->t, .x_at = srcData, .y_at = destData};
    return submit(form, handle, transDesc, alpha, beta, &m);
}

/* ---- descriptors ---- */

cudnnStatus_t mr_cudnn_InitTransformDest(const struct mr_form *form,
                                         const cudnnTensorTransformDescriptor_t transformDesc,
                                         const cudnnTensorDescriptor_t srcDesc, cudnnTensorDescriptor_t destDesc,
                                         size_t *destSizeInBytes)
{
    MR_WANT(transformDesc && srcDesc && destDesc && destSizeInBytes, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    struct mr_tensor made = srcDesc->t;
    MR_WANT(made.n && made.n == transformDesc->n, CUDNN_STATUS_BAD_PARAM, "the transform has %d dimensions, not %d",
            transformDesc->n, made.n);
    for (int i = 0; i < made.n; i++) {
        made.dim[i] += (int64_t)transformDesc->before[i] + transformDesc->after[i];
        MR_WANT(made.dim[i] > 0, CUDNN_STATUS_BAD_PARAM, "nothing is left of dimension %d", i);
    }
    mr_tensor_pack(&made, transformDesc->format == CUDNN_TENSOR_NHWC);
    destDesc->t = made;
    *destSizeInBytes = mr_tensor_bytes(&made);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_CreateTensorTransformDescriptor(const struct mr_form *form,
                                                       cudnnTensorTransformDescriptor_t *transformDesc)
{
    MR_POINTER(transformDesc);
    *transformDesc = calloc(1, sizeof **transformDesc);
    MR_WANT(*transformDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyTensorTransformDescriptor(const struct mr_form *form,
                                                        cudnnTensorTransformDescriptor_t transformDesc)
{
    (void)form;
    free(transformDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetTensorTransformDescriptor(const struct mr_form *form,
                                                    cudnnTensorTransformDescriptor_t transformDesc,
                                                    const uint32_t nbDims, const cudnnTensorFormat_t destFormat,
                                                    const int32_t padBeforeA[], const int32_t padAfterA[],
                                                    const uint32_t foldA[], const cudnnFoldingDirection_t direction)
{
    struct cudnnTensorTransformStruct made = {.n = (int)nbDims, .format = destFormat, .direction = direction};
    MR_POINTER(transformDesc);
    MR_WANT(nbDims > 2 && nbDims <= CUDNN_DIM_MAX, CUDNN_STATUS_BAD_PARAM, "%u dimensions", nbDims);
    MR_WANT(destFormat <= CUDNN_TENSOR_NCHW_VECT_C && direction <= CUDNN_TRANSFORM_UNFOLD, CUDNN_STATUS_BAD_PARAM,
            "there is no format %d, or no direction %d", (int)destFormat, (int)direction);
    MR_WANT(destFormat != CUDNN_TENSOR_NCHW_VECT_C, CUDNN_STATUS_NOT_SUPPORTED, "vectors of channels");
    for (uint32_t i = 0; i < nbDims; i++) {
        made.before[i] = padBeforeA ? padBeforeA[i] : 0;
        made.after[i] = padAfterA ? padAfterA[i] : 0;
    }
    for (uint32_t i = 0; foldA && i < nbDims - 2; i++)
        MR_WANT(foldA[i] <= 1, CUDNN_STATUS_NOT_SUPPORTED, "dimension %u is folded by %u", i + 2, foldA[i]);
    *transformDesc = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetTensorTransformDescriptor(const struct mr_form *form,
                                                    cudnnTensorTransformDescriptor_t transformDesc,
                                                    uint32_t nbDimsRequested, cudnnTensorFormat_t *destFormat,
                                                    int32_t padBeforeA[], int32_t padAfterA[], uint32_t foldA[],
                                                    cudnnFoldingDirection_t *direction)
{
    MR_POINTER(transformDesc);
    for (int i = 0; i < transformDesc->n && i < (int64_t)nbDimsRequested; i++) {
        if (padBeforeA)
            padBeforeA[i] = transformDesc->before[i];
        if (padAfterA)
            padAfterA[i] = transformDesc->after[i];
        if (foldA && i < transformDesc->n - 2)
            foldA[i] = 1;
    }
    if (destFormat)
        *destFormat = transformDesc->format;
    if (direction)
        *direction = transformDesc->direction;
    return CUDNN_STATUS_SUCCESS;
}
