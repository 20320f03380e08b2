/* SPDX-License-Identifier: Apache-2.0 */
/* Batch normalisation under its younger names, cudnnNormalization*. They are cudnnBatchNormalization*Ex with other
 * modes, with tensors of statistics apart from those of scale and bias, and an inference with what follows it. */
#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

static cudnnBatchNormMode_t older(cudnnNormMode_t mode)
{
    return mode == CUDNN_NORM_PER_CHANNEL ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
}

static cudnnStatus_t check(const struct mr_form *form, cudnnNormMode_t mode, cudnnNormOps_t ops, cudnnNormAlgo_t algo,
                           int64_t groups)
{
    MR_WANT(
        mode <= CUDNN_NORM_PER_CHANNEL && ops <= CUDNN_NORM_OPS_NORM_ADD_ACTIVATION && algo <= CUDNN_NORM_ALGO_PERSIST,
        CUDNN_STATUS_BAD_PARAM, "there is no mode %d, operation %d or algorithm %d", (int)mode, (int)ops, (int)algo);
    MR_WANT(groups == 1, CUDNN_STATUS_BAD_PARAM, "%lld groups", (long long)groups);
    return CUDNN_STATUS_SUCCESS;
}

/* Scale and statistics have one tensor in the older functions. */
static cudnnStatus_t check_same(const struct mr_form *form, const cudnnTensorDescriptor_t scale,
                                const cudnnTensorDescriptor_t stats)
{
    MR_POINTER(scale);
    MR_POINTER(stats);
    MR_WANT(mr_tensor_same(&scale->t, &stats->t), CUDNN_STATUS_BAD_PARAM, "scale and statistics differ in dimensions");
    for (int i = 0; i < scale->t.n; i++)
        MR_WANT(scale->t.type == stats->t.type && (scale->t.dim[i] == 1 || scale->t.stride[i] == stats->t.stride[i]),
                CUDNN_STATUS_NOT_SUPPORTED, "scale and statistics differ in type or strides");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_NormalizationForwardInference(
    const struct mr_form *form, cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void *estimatedMean, const void *estimatedVariance,
    const cudnnTensorDescriptor_t zDesc, const void *z, cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t yDesc, void *y, double epsilon, int64_t groupCnt)
{
    const bool adds = normOps == CUDNN_NORM_OPS_NORM_ADD_ACTIVATION;
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    MR_STEP(check_same(form, normScaleBiasDesc, normMeanVarDesc));
    MR_POINTER(yDesc);
    MR_WANT(!adds || (zDesc && z && mr_tensor_same(&zDesc->t, &yDesc->t)), CUDNN_STATUS_BAD_PARAM, "z doesn't fit");
    MR_WANT(normOps == CUDNN_NORM_OPS_NORM || activationDesc, CUDNN_STATUS_BAD_PARAM, "there is no activation");
    MR_STEP(mr_cudnn_BatchNormalizationForwardInference(form, handle, older(mode), alpha, beta, xDesc, x, yDesc, y,
                                                        normScaleBiasDesc, normScale, normBias, estimatedMean,
                                                        estimatedVariance, epsilon));
    bool wide = yDesc->t.type == CUDNN_DATA_DOUBLE;
    const double ones[] = {1, 0};
    const float narrow[] = {1, 0};
    const void *one = wide ? (const void *)ones : narrow, *none = wide ? (const void *)(ones + 1) : narrow + 1;
    if (adds)
        MR_STEP(mr_cudnn_AddTensor(form, handle, one, zDesc, z, one, yDesc, y));
    if (normOps == CUDNN_NORM_OPS_NORM || activationDesc->mode == CUDNN_ACTIVATION_IDENTITY)
        return CUDNN_STATUS_SUCCESS;
    return mr_cudnn_ActivationForward(form, handle, activationDesc, one, yDesc, y, none, yDesc, y);
}

cudnnStatus_t mr_cudnn_NormalizationForwardTraining(
    const struct mr_form *form, cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias,
    double exponentialAverageFactor, const cudnnTensorDescriptor_t normMeanVarDesc, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean, void *resultSaveInvVariance,
    cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t zDesc, const void *zData,
    const cudnnTensorDescriptor_t yDesc, void *yData, void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes, int64_t groupCnt)
{
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    MR_STEP(check_same(form, normScaleBiasDesc, normMeanVarDesc));
    return mr_cudnn_BatchNormalizationForwardTrainingEx(
        form, handle, older(mode), (cudnnBatchNormOps_t)normOps, alpha, beta, xDesc, xData, zDesc, zData, yDesc, yData,
        normScaleBiasDesc, normScale, normBias, exponentialAverageFactor, resultRunningMean, resultRunningVariance,
        epsilon, resultSaveMean, resultSaveInvVariance, activationDesc, workspace, workSpaceSizeInBytes, reserveSpace,
        reserveSpaceSizeInBytes);
}

cudnnStatus_t mr_cudnn_NormalizationBackward(
    const struct mr_form *form, cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff,
    const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t yDesc, const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData,
    const cudnnTensorDescriptor_t dzDesc, void *dzData, const cudnnTensorDescriptor_t dxDesc, void *dxData,
    const cudnnTensorDescriptor_t dNormScaleBiasDesc, const void *normScaleData, const void *normBiasData,
    void *dNormScaleData, void *dNormBiasData, double epsilon, const cudnnTensorDescriptor_t normMeanVarDesc,
    const void *savedMean, const void *savedInvVariance, cudnnActivationDescriptor_t activationDesc, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes, int64_t groupCnt)
{
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    MR_STEP(check_same(form, dNormScaleBiasDesc, normMeanVarDesc));
    return mr_cudnn_BatchNormalizationBackwardEx(
        form, handle, older(mode), (cudnnBatchNormOps_t)normOps, alphaDataDiff, betaDataDiff, alphaParamDiff,
        betaParamDiff, xDesc, xData, yDesc, yData, dyDesc, dyData, dzDesc, dzData, dxDesc, dxData, dNormScaleBiasDesc,
        normScaleData, normBiasData, dNormScaleData, dNormBiasData, epsilon, savedMean, savedInvVariance,
        activationDesc, workSpace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes);
}

cudnnStatus_t mr_cudnn_GetNormalizationForwardTrainingWorkspaceSize(
    const struct mr_form *form, cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t normScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t normMeanVarDesc,
    size_t *sizeInBytes, int64_t groupCnt)
{
    (void)normMeanVarDesc;
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    return mr_cudnn_GetBatchNormalizationForwardTrainingExWorkspaceSize(
        form, handle, older(mode), (cudnnBatchNormOps_t)normOps, xDesc, zDesc, yDesc, normScaleBiasDesc, activationDesc,
        sizeInBytes);
}

cudnnStatus_t mr_cudnn_GetNormalizationBackwardWorkspaceSize(
    const struct mr_form *form, cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dNormScaleBiasDesc, const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t normMeanVarDesc, size_t *sizeInBytes, int64_t groupCnt)
{
    (void)normMeanVarDesc;
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    return mr_cudnn_GetBatchNormalizationBackwardExWorkspaceSize(
        form, handle, older(mode), (cudnnBatchNormOps_t)normOps, xDesc, yDesc, dyDesc, dzDesc, dxDesc,
        dNormScaleBiasDesc, activationDesc, sizeInBytes);
}

cudnnStatus_t mr_cudnn_GetNormalizationTrainingReserveSpaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                                                cudnnNormMode_t mode, cudnnNormOps_t normOps,
                                                                cudnnNormAlgo_t algo,
                                                                const cudnnActivationDescriptor_t activationDesc,
                                                                const cudnnTensorDescriptor_t xDesc,
                                                                size_t *sizeInBytes, int64_t groupCnt)
{
    MR_STEP(check(form, mode, normOps, algo, groupCnt));
    return mr_cudnn_GetBatchNormalizationTrainingExReserveSpaceSize(
        form, handle, older(mode), (cudnnBatchNormOps_t)normOps, activationDesc, xDesc, sizeInBytes);
}
