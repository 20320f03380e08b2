/* SPDX-License-Identifier: Apache-2.0 */
/* Batch normalisation and its younger names in the interface by functions; normalisation in graphs. */
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/norm.h"
#include "libs/cudnn/kinds.h"

/* The tensor of statistics: by channel, or by place in an image. */
static struct mr_tensor derived(const struct mr_tensor *x, bool by_channel)
{
    struct mr_tensor t = *x;
    t.dim[0] = 1;
    for (int i = 2; i < t.n && by_channel; i++)
        t.dim[i] = 1;
    t.type = x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    mr_tensor_pack(&t, false);
    return t;
}

cudnnStatus_t mr_cudnn_DeriveBNTensorDescriptor(const struct mr_form *form, cudnnTensorDescriptor_t derivedBnDesc,
                                                const cudnnTensorDescriptor_t xDesc, cudnnBatchNormMode_t mode)
{
    MR_POINTER(derivedBnDesc);
    MR_POINTER(xDesc);
    MR_WANT(mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT && xDesc->t.n >= 2, CUDNN_STATUS_BAD_PARAM,
            "mode %d, %d dimensions", (int)mode, xDesc->t.n);
    derivedBnDesc->t = derived(&xDesc->t, mode != CUDNN_BATCHNORM_PER_ACTIVATION);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DeriveNormTensorDescriptor(const struct mr_form *form,
                                                  cudnnTensorDescriptor_t derivedNormScaleBiasDesc,
                                                  cudnnTensorDescriptor_t derivedNormMeanVarDesc,
                                                  const cudnnTensorDescriptor_t xDesc, cudnnNormMode_t mode,
                                                  int64_t groupCnt)
{
    MR_POINTER(derivedNormScaleBiasDesc);
    MR_POINTER(derivedNormMeanVarDesc);
    MR_POINTER(xDesc);
    MR_WANT(mode <= CUDNN_NORM_PER_CHANNEL && xDesc->t.n >= 2 && groupCnt == 1, CUDNN_STATUS_BAD_PARAM,
            "mode %d, %d dimensions, %lld groups", (int)mode, xDesc->t.n, (long long)groupCnt);
    derivedNormScaleBiasDesc->t = derivedNormMeanVarDesc->t = derived(&xDesc->t, mode == CUDNN_NORM_PER_CHANNEL);
    return CUDNN_STATUS_SUCCESS;
}

/* What follows a normalisation: z is added to it, an activation is applied. */
struct follow {
    bool add, activate;
    const struct mr_tensor *z;
    const void *z_at;
    const struct cudnnActivationStruct *activation;
};

static cudnnStatus_t check(const struct mr_form *form, const struct mr_tensor *x, const struct mr_tensor *y,
                           const struct mr_tensor *stats, bool by_channel, double epsilon)
{
    struct mr_tensor wanted = derived(x, by_channel);
    MR_WANT(x->n >= 2 && mr_tensor_same(x, y), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    MR_WANT(mr_tensor_same(&wanted, stats), CUDNN_STATUS_BAD_PARAM, "the statistics don't fit the tensor");
    MR_WANT(epsilon >= 0, CUDNN_STATUS_BAD_PARAM, "epsilon is %g", epsilon);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit_pointwise(const struct mr_form *form, cudnnHandle_t handle, struct mr_pointwise *p)
{
    return mr_dnn_submit(form->name, handle, mr_pointwise_prepare(p), mr_pointwise_run, p, sizeof *p);
}

static cudnnStatus_t forward(const struct mr_form *form, cudnnHandle_t handle, struct mr_norm *norm,
                             const struct follow *follow)
{
    struct mr_tensor y = norm->y;
    norm->function = form->name;
    MR_STEP(mr_dnn_submit(form->name, handle, mr_norm_forward_prepare(norm), mr_norm_forward_run, norm, sizeof *norm));
    if (follow->add) {
        struct mr_pointwise add = mr_pointwise_of(CUDNN_POINTWISE_ADD);
        MR_WANT(follow->z && follow->z_at && mr_tensor_same(follow->z, &y), CUDNN_STATUS_BAD_PARAM, "z doesn't fit");
        add.x = add.y = y;
        add.b = *follow->z;
        add.x_at = add.y_at = norm->y_at;
        add.b_at = follow->z_at;
        MR_STEP(submit_pointwise(form, handle, &add));
    }
    if (follow->activate && follow->activation && follow->activation->mode != CUDNN_ACTIVATION_IDENTITY) {
        struct mr_pointwise act;
        MR_STEP(mr_activation_take(form->name, follow->activation, false, &act));
        act.x = act.y = y;
        act.x_at = act.y_at = norm->y_at;
        MR_STEP(submit_pointwise(form, handle, &act));
    }
    return CUDNN_STATUS_SUCCESS;
}

#define WANT_TENSORS(...) \
    do { \
        const void *const wanted_[] = {__VA_ARGS__}; \
        for (size_t i_ = 0; i_ < sizeof wanted_ / sizeof *wanted_; i_++) \
            MR_WANT(wanted_[i_], CUDNN_STATUS_BAD_PARAM, "one of %s is NULL", #__VA_ARGS__); \
    } while (0)

cudnnStatus_t mr_cudnn_BatchNormalizationForwardInference(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc, void *y,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    const void *estimatedMean, const void *estimatedVariance, double epsilon)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_TENSORS(alpha, beta, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc, bnScale, bnBias, estimatedMean,
                 estimatedVariance);
    MR_STEP(
        check(form, &xDesc->t, &yDesc->t, &bnScaleBiasMeanVarDesc->t, mode != CUDNN_BATCHNORM_PER_ACTIVATION, epsilon));
    struct mr_norm norm = {.inference = true,
                           .x = xDesc->t,
                           .y = yDesc->t,
                           .stats = bnScaleBiasMeanVarDesc->t,
                           .scale = bnScaleBiasMeanVarDesc->t,
                           .x_at = x,
                           .y_at = y,
                           .scale_at = bnScale,
                           .bias_at = bnBias,
                           .mean_at = (void *)estimatedMean,
                           .inverse_at = (void *)estimatedVariance,
                           .epsilon = epsilon,
                           .alpha = mr_factor(&yDesc->t, alpha),
                           .beta = mr_factor(&yDesc->t, beta)};
    return forward(form, handle, &norm, &(struct follow){0});
}

cudnnStatus_t mr_cudnn_BatchNormalizationForwardTrainingEx(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t zDesc, const void *zData, const cudnnTensorDescriptor_t yDesc, void *yData,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon,
    void *resultSaveMean, void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc, void *workspace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    (void)workspace, (void)workSpaceSizeInBytes, (void)reserveSpace, (void)reserveSpaceSizeInBytes;
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_TENSORS(alpha, beta, xDesc, xData, yDesc, yData, bnScaleBiasMeanVarDesc, bnScale, bnBias);
    MR_WANT(bnOps <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION, CUDNN_STATUS_BAD_PARAM, "there is no operation %d",
            (int)bnOps);
    MR_WANT(!resultRunningMean == !resultRunningVariance && !resultSaveMean == !resultSaveInvVariance,
            CUDNN_STATUS_BAD_PARAM, "mean and variance are wanted together");
    MR_STEP(
        check(form, &xDesc->t, &yDesc->t, &bnScaleBiasMeanVarDesc->t, mode != CUDNN_BATCHNORM_PER_ACTIVATION, epsilon));
    struct mr_norm norm = {.x = xDesc->t,
                           .y = yDesc->t,
                           .stats = bnScaleBiasMeanVarDesc->t,
                           .scale = bnScaleBiasMeanVarDesc->t,
                           .x_at = xData,
                           .y_at = yData,
                           .scale_at = bnScale,
                           .bias_at = bnBias,
                           .mean_at = resultSaveMean,
                           .inverse_at = resultSaveInvVariance,
                           .old_mean_at = resultRunningMean,
                           .old_variance_at = resultRunningVariance,
                           .new_mean_at = resultRunningMean,
                           .new_variance_at = resultRunningVariance,
                           .epsilon = epsilon,
                           .factor = exponentialAverageFactor,
                           .alpha = mr_factor(&yDesc->t, alpha),
                           .beta = mr_factor(&yDesc->t, beta)};
    struct follow follow = {bnOps == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION, bnOps != CUDNN_BATCHNORM_OPS_BN,
                            zDesc ? &zDesc->t : NULL, zData, activationDesc};
    return forward(form, handle, &norm, &follow);
}

cudnnStatus_t mr_cudnn_BatchNormalizationForwardTraining(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc, void *y,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon,
    void *resultSaveMean, void *resultSaveInvVariance)
{
    return mr_cudnn_BatchNormalizationForwardTrainingEx(
        form, handle, mode, CUDNN_BATCHNORM_OPS_BN, alpha, beta, xDesc, x, NULL, NULL, yDesc, y, bnScaleBiasMeanVarDesc,
        bnScale, bnBias, exponentialAverageFactor, resultRunningMean, resultRunningVariance, epsilon, resultSaveMean,
        resultSaveInvVariance, NULL, NULL, 0, NULL, 0);
}

/* What an activation lets through of dy: a tensor without holes, in the workspace. */
static size_t passed_bytes(const struct mr_tensor *dy)
{
    struct mr_tensor t = *dy;
    mr_tensor_pack(&t, false);
    return (mr_tensor_bytes(&t) + 63) & ~(size_t)63;
}

static cudnnStatus_t backward(const struct mr_form *form, cudnnHandle_t handle, struct mr_norm *norm)
{
    struct mr_norm second = *norm;
    norm->function = second.function = form->name;
    MR_STEP(mr_dnn_submit(form->name, handle, mr_norm_scale_prepare(norm), mr_norm_scale_run, norm, sizeof *norm));
    return mr_dnn_submit(form->name, handle, mr_norm_data_prepare(&second), mr_norm_data_run, &second, sizeof second);
}

cudnnStatus_t mr_cudnn_BatchNormalizationBackwardEx(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc, const void *yData,
    const cudnnTensorDescriptor_t dyDesc, const void *dyData, const cudnnTensorDescriptor_t dzDesc, void *dzData,
    const cudnnTensorDescriptor_t dxDesc, void *dxData, const cudnnTensorDescriptor_t dBnScaleBiasDesc,
    const void *bnScaleData, const void *bnBiasData, void *dBnScaleData, void *dBnBiasData, double epsilon,
    const void *savedMean, const void *savedInvVariance, cudnnActivationDescriptor_t activationDesc, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    (void)bnBiasData, (void)reserveSpace, (void)reserveSpaceSizeInBytes;
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_TENSORS(alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff, xDesc, xData, dyDesc, dyData, dxDesc,
                 dxData, dBnScaleBiasDesc, bnScaleData, dBnScaleData, dBnBiasData);
    MR_WANT(!savedMean == !savedInvVariance, CUDNN_STATUS_BAD_PARAM, "mean and variance are wanted together");
    MR_WANT(mr_tensor_same(&xDesc->t, &dxDesc->t), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    MR_STEP(check(form, &xDesc->t, &dyDesc->t, &dBnScaleBiasDesc->t, mode != CUDNN_BATCHNORM_PER_ACTIVATION, epsilon));
    struct mr_norm norm = {.x = xDesc->t,
                           .y = dyDesc->t,
                           .dx = dxDesc->t,
                           .stats = dBnScaleBiasDesc->t,
                           .scale = dBnScaleBiasDesc->t,
                           .x_at = xData,
                           .dy_at = dyData,
                           .dx_at = dxData,
                           .scale_at = bnScaleData,
                           .dscale_at = dBnScaleData,
                           .dbias_at = dBnBiasData,
                           .mean_at = (void *)savedMean,
                           .inverse_at = (void *)savedInvVariance,
                           .given_inverse = savedMean,
                           .epsilon = epsilon,
                           .alpha = mr_factor(&dxDesc->t, alphaDataDiff),
                           .beta = mr_factor(&dxDesc->t, betaDataDiff),
                           .alpha_scale = mr_factor(&dxDesc->t, alphaParamDiff),
                           .beta_scale = mr_factor(&dxDesc->t, betaParamDiff)};
    if (bnOps != CUDNN_BATCHNORM_OPS_BN) {
        struct mr_pointwise act;
        bool add = bnOps == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
        WANT_TENSORS(yDesc, yData, activationDesc);
        MR_WANT(activationDesc->mode == CUDNN_ACTIVATION_RELU, CUDNN_STATUS_NOT_SUPPORTED,
                "an activation other than ReLU");
        MR_WANT(add ? dzDesc && dzData : workSpace && workSpaceSizeInBytes >= passed_bytes(&dyDesc->t),
                CUDNN_STATUS_BAD_PARAM, "there is no room for the activation's gradient");
        MR_STEP(mr_activation_take(form->name, activationDesc, true, &act));
        act.x = yDesc->t; /* positive where what went into the activation was */
        act.b = dyDesc->t;
        act.y = add ? dzDesc->t : dyDesc->t;
        if (!add)
            mr_tensor_pack(&act.y, false);
        act.x_at = yData;
        act.b_at = dyData;
        act.y_at = add ? dzData : workSpace;
        norm.y = act.y;
        norm.dy_at = act.y_at;
        MR_STEP(submit_pointwise(form, handle, &act));
    }
    return backward(form, handle, &norm);
}

cudnnStatus_t mr_cudnn_BatchNormalizationBackward(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale,
    void *dBnScaleResult, void *dBnBiasResult, double epsilon, const void *savedMean, const void *savedInvVariance)
{
    return mr_cudnn_BatchNormalizationBackwardEx(
        form, handle, mode, CUDNN_BATCHNORM_OPS_BN, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff, xDesc,
        x, NULL, NULL, dyDesc, dy, NULL, NULL, dxDesc, dx, dBnScaleBiasDesc, bnScale, NULL, dBnScaleResult,
        dBnBiasResult, epsilon, savedMean, savedInvVariance, NULL, NULL, 0, NULL, 0);
}

/* ---- sizes ---- */

cudnnStatus_t mr_cudnn_GetBatchNormalizationForwardTrainingExWorkspaceSize(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const cudnnActivationDescriptor_t activationDesc,
    size_t *sizeInBytes)
{
    (void)mode, (void)bnOps, (void)xDesc, (void)zDesc, (void)yDesc, (void)bnScaleBiasMeanVarDesc, (void)activationDesc;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(sizeInBytes);
    *sizeInBytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetBatchNormalizationBackwardExWorkspaceSize(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const cudnnActivationDescriptor_t activationDesc,
    size_t *sizeInBytes)
{
    (void)mode, (void)xDesc, (void)yDesc, (void)dzDesc, (void)dxDesc, (void)dBnScaleBiasDesc, (void)activationDesc;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(dyDesc);
    MR_POINTER(sizeInBytes);
    *sizeInBytes = bnOps == CUDNN_BATCHNORM_OPS_BN_ACTIVATION ? passed_bytes(&dyDesc->t) : 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetBatchNormalizationTrainingExReserveSpaceSize(
    const struct mr_form *form, cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes)
{
    (void)mode, (void)bnOps, (void)activationDesc, (void)xDesc;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(sizeInBytes);
    *sizeInBytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- graphs ---- */

/* A number that the program gives by value; `otherwise` if the attribute isn't set. */
static cudnnStatus_t number(struct mr_going *going, const struct mr_descriptor *op, cudnnBackendAttributeName_t name,
                            double otherwise, double *to)
{
    *to = otherwise;
    return mr_attribute_of(op, name) ? mr_going_value(going, mr_attribute_descriptor(op, name), to)
                                     : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t take_if(struct mr_going *going, const struct mr_descriptor *op, cudnnBackendAttributeName_t name,
                             struct mr_tensor *t, void **at)
{
    *at = NULL;
    return mr_attribute_of(op, name) ? mr_going_take(going, op, name, t, at) : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit_norm(struct mr_going *going, struct mr_norm *norm, uint64_t (*prepare)(struct mr_norm *),
                                 void (*run)(void *, uint64_t, uint64_t))
{
    struct mr_norm own = *norm;
    uint64_t parts = prepare(&own);
    return mr_going_submit(going, parts, run, &own, sizeof own);
}

static cudnnStatus_t shapes(struct mr_going *going, const struct mr_norm *n)
{
    if (!mr_tensor_same(&n->x, &n->y) || !mr_tensor_spreads(&n->stats, &n->x) || !mr_tensor_spreads(&n->scale, &n->x))
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                          "a normalisation: the tensors don't fit");
    return CUDNN_STATUS_SUCCESS;
}

/* The statistics' dimensions where no tensor of them is named. */
static struct mr_tensor stats_by_mode(const struct mr_tensor *x, int64_t mode)
{
    struct mr_tensor t = *x;
    for (int i = 0; i < t.n; i++)
        if (mode == CUDNN_BATCH_NORM ? i != 1 : mode == CUDNN_INSTANCE_NORM ? i > 1 : i > 0)
            t.dim[i] = 1;
    t.type = CUDNN_DATA_FLOAT;
    mr_tensor_pack(&t, false);
    return t;
}

static cudnnStatus_t forward_of_graph(struct mr_going *going, const struct mr_descriptor *op)
{
    int64_t mode = mr_attribute_number(op, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_BATCH_NORM);
    struct mr_norm n = {.function = going->function, .rms = mode == CUDNN_RMS_NORM, .alpha = 1};
    struct mr_tensor other;
    void *x, *y, *scale, *bias, *old[2], *new[2];
    bool inference = mr_attribute_number(op, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_INFERENCE) ==
                     CUDNN_NORM_FWD_INFERENCE;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, &n.x, &x));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, &n.y, &y));
    n.dx = n.x;
    n.stats = stats_by_mode(&n.x, mode);
    n.scale = n.stats;
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, &n.stats, &n.mean_at));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, &n.stats, &n.inverse_at));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, &n.scale, &scale));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, &other, &bias));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, &other, &old[0]));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, &other, &old[1]));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, &other, &new[0]));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, &other, &new[1]));
    MR_STEP(number(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, 0, &n.epsilon));
    MR_STEP(number(going, op, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, 0, &n.factor));
    MR_STEP(shapes(going, &n));
    n.given_inverse = inference && (mr_attribute_of(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC) ||
                                    mr_attribute_of(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC));
    n.x_at = x;
    n.y_at = y;
    n.scale_at = scale;
    n.bias_at = bias;
    n.old_mean_at = old[0];
    n.old_variance_at = old[1];
    n.new_mean_at = new[0];
    n.new_variance_at = new[1];
    return submit_norm(going, &n, mr_norm_forward_prepare, mr_norm_forward_run);
}

static cudnnStatus_t backward_of_graph(struct mr_going *going, const struct mr_descriptor *op)
{
    int64_t mode = mr_attribute_number(op, CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_BATCH_NORM);
    struct mr_norm n = {.function = going->function, .rms = mode == CUDNN_RMS_NORM, .alpha = 1, .alpha_scale = 1};
    struct mr_tensor other;
    void *x, *dy, *scale;
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, &n.x, &x));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, &n.y, &dy));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, &n.dx, &n.dx_at));
    n.stats = stats_by_mode(&n.x, mode);
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, &n.stats, &n.mean_at));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, &n.stats, &n.inverse_at));
    MR_STEP(mr_going_take(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, &n.scale, &scale));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, &other, &n.dscale_at));
    MR_STEP(take_if(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, &other, &n.dbias_at));
    MR_STEP(number(going, op, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, 0, &n.epsilon));
    MR_STEP(shapes(going, &n));
    n.given_inverse = mr_attribute_of(op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC);
    if (!n.given_inverse && !mr_tensor_same(&n.stats, &n.scale))
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED,
                          "a normalisation's gradient without its statistics");
    n.x_at = x;
    n.dy_at = dy;
    n.scale_at = scale;
    MR_STEP(submit_norm(going, &n, mr_norm_scale_prepare, mr_norm_scale_run));
    return submit_norm(going, &n, mr_norm_data_prepare, mr_norm_data_run);
}

cudnnStatus_t mr_operation_norm(struct mr_going *going, const struct mr_descriptor *op)
{
    return op->type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR ? forward_of_graph(going, op)
                                                                       : backward_of_graph(going, op);
}
