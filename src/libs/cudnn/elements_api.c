/* SPDX-License-Identifier: Apache-2.0 */
/* The interface's operations element by element, and reductions: activations, sums of tensors, scaling. */
#include <math.h>
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/sums.h"

/* ---- activations ---- */

cudnnStatus_t mr_cudnn_CreateActivationDescriptor(const struct mr_form *form,
                                                  cudnnActivationDescriptor_t *activationDesc)
{
    MR_POINTER(activationDesc);
    *activationDesc = calloc(1, sizeof **activationDesc);
    MR_WANT(*activationDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    (*activationDesc)->swish_beta = 1;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyActivationDescriptor(const struct mr_form *form,
                                                   cudnnActivationDescriptor_t activationDesc)
{
    (void)form;
    free(activationDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetActivationDescriptor(const struct mr_form *form, cudnnActivationDescriptor_t activationDesc,
                                               cudnnActivationMode_t mode, cudnnNanPropagation_t reluNanOpt,
                                               double coef)
{
    MR_POINTER(activationDesc);
    MR_WANT(mode <= CUDNN_ACTIVATION_SWISH && reluNanOpt <= CUDNN_PROPAGATE_NAN, CUDNN_STATUS_BAD_PARAM,
            "there is no mode %d with NaN option %d", (int)mode, (int)reluNanOpt);
    activationDesc->mode = mode;
    activationDesc->nan = reluNanOpt;
    activationDesc->coef = coef;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetActivationDescriptor(const struct mr_form *form,
                                               const cudnnActivationDescriptor_t activationDesc,
                                               cudnnActivationMode_t *mode, cudnnNanPropagation_t *reluNanOpt,
                                               void *coef)
{
    MR_POINTER(activationDesc);
    if (mode)
        *mode = activationDesc->mode;
    if (reluNanOpt)
        *reluNanOpt = activationDesc->nan;
    if (coef)
        *(double *)coef = activationDesc->coef;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetActivationDescriptorSwishBeta(const struct mr_form *form,
                                                        cudnnActivationDescriptor_t activationDesc, double swish_beta)
{
    MR_POINTER(activationDesc);
    activationDesc->swish_beta = swish_beta;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetActivationDescriptorSwishBeta(const struct mr_form *form,
                                                        cudnnActivationDescriptor_t activationDesc, void *swish_beta)
{
    MR_POINTER(activationDesc);
    MR_POINTER(swish_beta);
    *(double *)swish_beta = activationDesc->swish_beta;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_activation_take(const char *function, const struct cudnnActivationStruct *activation, bool backward,
                                 struct mr_pointwise *p)
{
    static const cudnnPointwiseMode_t modes[][2] = {
        [CUDNN_ACTIVATION_SIGMOID] = {CUDNN_POINTWISE_SIGMOID_FWD, CUDNN_POINTWISE_SIGMOID_BWD},
        [CUDNN_ACTIVATION_RELU] = {CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_RELU_BWD},
        [CUDNN_ACTIVATION_TANH] = {CUDNN_POINTWISE_TANH_FWD, CUDNN_POINTWISE_TANH_BWD},
        [CUDNN_ACTIVATION_CLIPPED_RELU] = {CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_RELU_BWD},
        [CUDNN_ACTIVATION_ELU] = {CUDNN_POINTWISE_ELU_FWD, CUDNN_POINTWISE_ELU_BWD},
        [CUDNN_ACTIVATION_SWISH] = {CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_SWISH_BWD},
    };
    if (activation->mode == CUDNN_ACTIVATION_IDENTITY)
        return mr_dnn_bad(function, CUDNN_STATUS_BAD_PARAM, "the identity is no activation of its own");
    *p = mr_pointwise_of(modes[activation->mode][backward]);
    if (activation->mode == CUDNN_ACTIVATION_CLIPPED_RELU)
        p->high = activation->coef;
    p->elu_alpha = activation->coef;
    p->swish_beta = activation->swish_beta;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle, struct mr_pointwise *p)
{
    return mr_dnn_submit(form->name, handle, mr_pointwise_prepare(p), mr_pointwise_run, p, sizeof *p);
}

cudnnStatus_t mr_cudnn_ActivationForward(const struct mr_form *form, cudnnHandle_t handle,
                                         cudnnActivationDescriptor_t activationDesc, const void *alpha,
                                         const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                         const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct mr_pointwise p;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(activationDesc);
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(xDesc);
    MR_POINTER(yDesc);
    MR_WANT(x && y, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    MR_WANT(mr_tensor_same(&xDesc->t, &yDesc->t) && xDesc->t.type == yDesc->t.type, CUDNN_STATUS_BAD_PARAM,
            "the tensors differ");
    MR_STEP(mr_activation_take(form->name, activationDesc, false, &p));
    double factor = mr_factor(&yDesc->t, alpha);
    p.x = xDesc->t;
    p.y = yDesc->t;
    p.x_at = x;
    p.y_at = y;
    p.gamma = factor;
    p.beta = mr_factor(&yDesc->t, beta);
    return submit(form, handle, &p);
}

/* dx = alpha * dy * the activation's slope at x + beta * dx. Where the slope follows from y alone, x may be anything
 * that has the same sign: cuDNN's users give both. */
cudnnStatus_t mr_cudnn_ActivationBackward(const struct mr_form *form, cudnnHandle_t handle,
                                          cudnnActivationDescriptor_t activationDesc, const void *alpha,
                                          const cudnnTensorDescriptor_t yDesc, const void *y,
                                          const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                          const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                          const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    struct mr_pointwise p;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(activationDesc);
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(yDesc);
    MR_POINTER(dyDesc);
    MR_POINTER(xDesc);
    MR_POINTER(dxDesc);
    MR_WANT(x && dx && y && dy, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    MR_WANT(mr_tensor_same(&xDesc->t, &dxDesc->t) && mr_tensor_same(&yDesc->t, &dyDesc->t) &&
                mr_tensor_same(&xDesc->t, &yDesc->t),
            CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    MR_STEP(mr_activation_take(form->name, activationDesc, true, &p));
    p.x = xDesc->t;
    p.b = dyDesc->t;
    p.y = dxDesc->t;
    p.x_at = x;
    p.b_at = dy;
    p.y_at = dx;
    p.gamma = mr_factor(&dxDesc->t, alpha);
    p.beta = mr_factor(&dxDesc->t, beta);
    return submit(form, handle, &p);
}

/* ---- scaling, filling, converting ---- */

/* y = alpha * x + beta * y, for tensors that may differ in type and strides. */
static cudnnStatus_t transform(const struct mr_form *form, cudnnHandle_t handle, const struct mr_tensor *x,
                               const void *x_at, const struct mr_tensor *y, void *y_at, double alpha, double beta)
{
    struct mr_pointwise p = mr_pointwise_of(CUDNN_POINTWISE_IDENTITY);
    MR_WANT(x_at && y_at, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    MR_WANT(x->n && mr_tensor_spreads(x, y), CUDNN_STATUS_BAD_PARAM, "the tensors don't fit");
    p.x = *x;
    p.y = *y;
    p.x_at = x_at;
    p.y_at = y_at;
    p.alpha = alpha;
    p.beta = beta;
    return submit(form, handle, &p);
}

cudnnStatus_t mr_cudnn_TransformTensor(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                       const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                       const cudnnTensorDescriptor_t yDesc, void *y)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(xDesc);
    MR_POINTER(yDesc);
    MR_WANT(mr_tensor_same(&xDesc->t, &yDesc->t), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    return transform(form, handle, &xDesc->t, x, &yDesc->t, y, mr_factor(&yDesc->t, alpha), mr_factor(&yDesc->t, beta));
}

cudnnStatus_t mr_cudnn_AddTensor(const struct mr_form *form, cudnnHandle_t handle, const void *alpha,
                                 const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
                                 const cudnnTensorDescriptor_t cDesc, void *C)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(aDesc);
    MR_POINTER(cDesc);
    MR_WANT(aDesc->t.type == cDesc->t.type, CUDNN_STATUS_BAD_PARAM, "the tensors' types differ");
    return transform(form, handle, &aDesc->t, A, &cDesc->t, C, mr_factor(&cDesc->t, alpha), mr_factor(&cDesc->t, beta));
}

cudnnStatus_t mr_cudnn_ScaleTensor(const struct mr_form *form, cudnnHandle_t handle,
                                   const cudnnTensorDescriptor_t yDesc, void *y, const void *alpha)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(alpha);
    MR_POINTER(yDesc);
    return transform(form, handle, &yDesc->t, y, &yDesc->t, y, mr_factor(&yDesc->t, alpha), 0);
}

/* What is filled in, and with which element. */
struct filling {
    struct mr_tensor t;
    void *at;
    double value;
    struct mr_rows rows;
};

static void run_fill(void *record, uint64_t first, uint64_t end)
{
    const struct filling *f = record;
    double line[MR_LINE];
    int64_t each = mr_rows_each(&f->rows),
            last = (int64_t)end * each < f->rows.count ? (int64_t)end * each : f->rows.count;
    for (int i = 0; i < MR_LINE; i++)
        line[i] = f->value;
    for (int64_t row = (int64_t)first * each; row < last; row++)
        for (int64_t from = 0; from < f->rows.length; from += MR_LINE) {
            int64_t stride = mr_rows_stride(&f->rows, &f->t), left = f->rows.length - from;
            mr_line_store(f->t.type, f->at, mr_rows_at(&f->rows, &f->t, row) + from * stride, stride,
                          left < MR_LINE ? left : MR_LINE, true, line);
        }
}

cudnnStatus_t mr_cudnn_SetTensor(const struct mr_form *form, cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
                                 void *y, const void *valuePtr)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(yDesc);
    MR_POINTER(y);
    MR_POINTER(valuePtr);
    struct filling f = {.t = yDesc->t, .at = y, .rows = mr_rows_of(&yDesc->t, -1)};
    mr_line_load(yDesc->t.type, valuePtr, 0, 1, 1, true, &f.value);
    return mr_dnn_submit(form->name, handle, mr_parts_of((uint64_t)f.rows.count, (uint64_t)mr_rows_each(&f.rows)),
                         run_fill, &f, sizeof f);
}

/* ---- operations of two tensors ---- */

cudnnStatus_t mr_cudnn_CreateOpTensorDescriptor(const struct mr_form *form, cudnnOpTensorDescriptor_t *opTensorDesc)
{
    MR_POINTER(opTensorDesc);
    *opTensorDesc = calloc(1, sizeof **opTensorDesc);
    MR_WANT(*opTensorDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyOpTensorDescriptor(const struct mr_form *form, cudnnOpTensorDescriptor_t opTensorDesc)
{
    (void)form;
    free(opTensorDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetOpTensorDescriptor(const struct mr_form *form, cudnnOpTensorDescriptor_t opTensorDesc,
                                             cudnnOpTensorOp_t opTensorOp, cudnnDataType_t opTensorCompType,
                                             cudnnNanPropagation_t opTensorNanOpt)
{
    MR_POINTER(opTensorDesc);
    MR_WANT(opTensorOp <= CUDNN_OP_TENSOR_NOT && opTensorCompType <= CUDNN_DATA_BFLOAT16, CUDNN_STATUS_BAD_PARAM,
            "there is no operation %d in type %d", (int)opTensorOp, (int)opTensorCompType);
    *opTensorDesc = (struct cudnnOpTensorStruct){opTensorOp, opTensorCompType, opTensorNanOpt};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetOpTensorDescriptor(const struct mr_form *form, const cudnnOpTensorDescriptor_t opTensorDesc,
                                             cudnnOpTensorOp_t *opTensorOp, cudnnDataType_t *opTensorCompType,
                                             cudnnNanPropagation_t *opTensorNanOpt)
{
    MR_POINTER(opTensorDesc);
    if (opTensorOp)
        *opTensorOp = opTensorDesc->op;
    if (opTensorCompType)
        *opTensorCompType = opTensorDesc->type;
    if (opTensorNanOpt)
        *opTensorNanOpt = opTensorDesc->nan;
    return CUDNN_STATUS_SUCCESS;
}

/* C = op(alpha1 A, alpha2 B) + beta C. SQRT takes A alone; NOT gives 1 - A. */
cudnnStatus_t mr_cudnn_OpTensor(const struct mr_form *form, cudnnHandle_t handle,
                                const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
                                const cudnnTensorDescriptor_t aDesc, const void *A, const void *alpha2,
                                const cudnnTensorDescriptor_t bDesc, const void *B, const void *beta,
                                const cudnnTensorDescriptor_t cDesc, void *C)
{
    static const cudnnPointwiseMode_t modes[] = {
        [CUDNN_OP_TENSOR_ADD] = CUDNN_POINTWISE_ADD,   [CUDNN_OP_TENSOR_MUL] = CUDNN_POINTWISE_MUL,
        [CUDNN_OP_TENSOR_MIN] = CUDNN_POINTWISE_MIN,   [CUDNN_OP_TENSOR_MAX] = CUDNN_POINTWISE_MAX,
        [CUDNN_OP_TENSOR_SQRT] = CUDNN_POINTWISE_SQRT, [CUDNN_OP_TENSOR_NOT] = CUDNN_POINTWISE_NEG};
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(opTensorDesc);
    MR_POINTER(alpha1);
    MR_POINTER(beta);
    MR_POINTER(aDesc);
    MR_POINTER(cDesc);
    bool both = opTensorDesc->op <= CUDNN_OP_TENSOR_MAX;
    MR_WANT(A && C && (!both || (B && bDesc && alpha2)), CUDNN_STATUS_BAD_PARAM, "an operand is NULL");
    struct mr_pointwise p = mr_pointwise_of(modes[opTensorDesc->op]);
    p.x = aDesc->t;
    p.y = cDesc->t;
    p.x_at = A;
    p.y_at = C;
    p.alpha = mr_factor(&cDesc->t, alpha1);
    p.beta = mr_factor(&cDesc->t, beta);
    if (both) {
        p.b = bDesc->t;
        p.b_at = B;
        p.alpha_b = mr_factor(&cDesc->t, alpha2);
    }
    p.offset = opTensorDesc->op == CUDNN_OP_TENSOR_NOT ? 1 : 0;
    MR_WANT(mr_tensor_spreads(&p.x, &p.y) && (!both || mr_tensor_spreads(&p.b, &p.y)), CUDNN_STATUS_BAD_PARAM,
            "the tensors don't fit");
    return submit(form, handle, &p);
}

/* ---- reductions ---- */

cudnnStatus_t mr_cudnn_CreateReduceTensorDescriptor(const struct mr_form *form,
                                                    cudnnReduceTensorDescriptor_t *reduceTensorDesc)
{
    MR_POINTER(reduceTensorDesc);
    *reduceTensorDesc = calloc(1, sizeof **reduceTensorDesc);
    MR_WANT(*reduceTensorDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyReduceTensorDescriptor(const struct mr_form *form,
                                                     cudnnReduceTensorDescriptor_t reduceTensorDesc)
{
    (void)form;
    free(reduceTensorDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetReduceTensorDescriptor(
    const struct mr_form *form, cudnnReduceTensorDescriptor_t reduceTensorDesc, cudnnReduceTensorOp_t reduceTensorOp,
    cudnnDataType_t reduceTensorCompType, cudnnNanPropagation_t reduceTensorNanOpt,
    cudnnReduceTensorIndices_t reduceTensorIndices, cudnnIndicesType_t reduceTensorIndicesType)
{
    MR_POINTER(reduceTensorDesc);
    MR_WANT(reduceTensorOp <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS, CUDNN_STATUS_BAD_PARAM, "there is no operation %d",
            (int)reduceTensorOp);
    MR_WANT(reduceTensorCompType <= CUDNN_DATA_HALF && reduceTensorNanOpt <= CUDNN_PROPAGATE_NAN &&
                reduceTensorIndices <= CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
            CUDNN_STATUS_BAD_PARAM, "no reduction has type %d, NaN option %d and indices %d", (int)reduceTensorCompType,
            (int)reduceTensorNanOpt, (int)reduceTensorIndices);
    *reduceTensorDesc = (struct cudnnReduceTensorStruct){reduceTensorOp, reduceTensorCompType, reduceTensorNanOpt,
                                                         reduceTensorIndices, reduceTensorIndicesType};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetReduceTensorDescriptor(const struct mr_form *form,
                                                 const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                 cudnnReduceTensorOp_t *reduceTensorOp,
                                                 cudnnDataType_t *reduceTensorCompType,
                                                 cudnnNanPropagation_t *reduceTensorNanOpt,
                                                 cudnnReduceTensorIndices_t *reduceTensorIndices,
                                                 cudnnIndicesType_t *reduceTensorIndicesType)
{
    MR_POINTER(reduceTensorDesc);
    if (reduceTensorOp)
        *reduceTensorOp = reduceTensorDesc->op;
    if (reduceTensorCompType)
        *reduceTensorCompType = reduceTensorDesc->type;
    if (reduceTensorNanOpt)
        *reduceTensorNanOpt = reduceTensorDesc->nan;
    if (reduceTensorIndices)
        *reduceTensorIndices = reduceTensorDesc->indices;
    if (reduceTensorIndicesType)
        *reduceTensorIndicesType = reduceTensorDesc->index_type;
    return CUDNN_STATUS_SUCCESS;
}

static bool has_indices(const struct cudnnReduceTensorStruct *r)
{
    return r->indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES &&
           (r->op == CUDNN_REDUCE_TENSOR_MIN || r->op == CUDNN_REDUCE_TENSOR_MAX || r->op == CUDNN_REDUCE_TENSOR_AMAX);
}

cudnnStatus_t mr_cudnn_GetReductionIndicesSize(const struct mr_form *form, cudnnHandle_t handle,
                                               const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                               const cudnnTensorDescriptor_t aDesc, const cudnnTensorDescriptor_t cDesc,
                                               size_t *sizeInBytes)
{
    MR_POINTER(handle);
    MR_POINTER(reduceTensorDesc);
    MR_POINTER(aDesc);
    MR_POINTER(cDesc);
    MR_POINTER(sizeInBytes);
    *sizeInBytes = has_indices(reduceTensorDesc) ? (size_t)mr_tensor_count(&cDesc->t) * 4 : 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetReductionWorkspaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                                 const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                 const cudnnTensorDescriptor_t aDesc,
                                                 const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes)
{
    MR_POINTER(handle);
    MR_POINTER(reduceTensorDesc);
    MR_POINTER(aDesc);
    MR_POINTER(cDesc);
    MR_POINTER(sizeInBytes);
    *sizeInBytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_ReduceTensor(const struct mr_form *form, cudnnHandle_t handle,
                                    const cudnnReduceTensorDescriptor_t reduceTensorDesc, void *indices,
                                    size_t indicesSizeInBytes, void *workspace, size_t workspaceSizeInBytes,
                                    const void *alpha, const cudnnTensorDescriptor_t aDesc, const void *A,
                                    const void *beta, const cudnnTensorDescriptor_t cDesc, void *C)
{
    (void)workspace, (void)workspaceSizeInBytes;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(reduceTensorDesc);
    MR_POINTER(alpha);
    MR_POINTER(beta);
    MR_POINTER(aDesc);
    MR_POINTER(cDesc);
    MR_WANT(A && C, CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    MR_WANT(mr_tensor_spreads(&cDesc->t, &aDesc->t), CUDNN_STATUS_BAD_PARAM, "the result's dimensions don't fit");
    MR_WANT(!mr_tensor_same(&cDesc->t, &aDesc->t), CUDNN_STATUS_BAD_PARAM, "nothing is reduced");
    bool wanted = has_indices(reduceTensorDesc);
    MR_WANT(!wanted || reduceTensorDesc->index_type == CUDNN_32BIT_INDICES, CUDNN_STATUS_NOT_SUPPORTED,
            "indices have 32 bits");
    MR_WANT(!wanted || (indices && indicesSizeInBytes >= (size_t)mr_tensor_count(&cDesc->t) * 4),
            CUDNN_STATUS_BAD_PARAM, "there is no room for the indices");
    struct mr_sums sums = {.op = reduceTensorDesc->op,
                           .x = aDesc->t,
                           .y = cDesc->t,
                           .x_at = A,
                           .y_at = C,
                           .alpha = mr_factor(&cDesc->t, alpha),
                           .beta = mr_factor(&cDesc->t, beta),
                           .indices = wanted ? indices : NULL};
    return mr_dnn_submit(form->name, handle, mr_sums_prepare(&sums), mr_sums_run, &sums, sizeof sums);
}
