/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind cuDNN's small descriptors. Each belongs to the program; one may be used by several threads while
 * none changes it. */
#ifndef MR_CUDNN_DESCRIPTORS_H
#define MR_CUDNN_DESCRIPTORS_H

#include "libs/cudnn/pointwise.h"
#include "libs/cudnn/tensor.h"

struct cudnnActivationStruct {
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coef, swish_beta;
};

struct cudnnOpTensorStruct {
    cudnnOpTensorOp_t op;
    cudnnDataType_t type;
    cudnnNanPropagation_t nan;
};

struct cudnnReduceTensorStruct {
    cudnnReduceTensorOp_t op;
    cudnnDataType_t type;
    cudnnNanPropagation_t nan;
    cudnnReduceTensorIndices_t indices;
    cudnnIndicesType_t index_type;
};

struct cudnnPoolingStruct {
    cudnnPoolingMode_t mode;
    cudnnNanPropagation_t nan;
    int space; /* 0: it isn't set */
    int64_t window[3], pad[3], stride[3];
};

struct cudnnLRNStruct {
    unsigned n;
    double alpha, beta, k;
};

struct cudnnCTCLossStruct {
    bool is_set;
    cudnnDataType_t type; /* of costs */
    cudnnLossNormalizationMode_t norm;
    cudnnNanPropagation_t nan; /* whether gradients of labels that don't fit are NaN, or 0 */
    cudnnCTCGradMode_t grad;
    int64_t most_labels;
};

struct cudnnTensorTransformStruct {
    int n; /* dimensions; 0: it isn't set */
    cudnnTensorFormat_t format;
    int32_t before[CUDNN_DIM_MAX], after[CUDNN_DIM_MAX]; /* the margin */
    cudnnFoldingDirection_t direction;
};

struct cudnnDropoutStruct {
    float p; /* the probability with which an element is dropped */
    void *states; /* a struct mr_dropout_states (dropout.h) in the program's memory; NULL: nothing can be drawn */
    uint64_t seed;
};

/* A factor that a program gives by host pointer: double for tensors of double, else float. */
double mr_factor(const struct mr_tensor *t, const void *pointer);

/* The activation as an operation element by element; x, y, and their places are the caller's. */
cudnnStatus_t mr_activation_take(const char *function, const struct cudnnActivationStruct *activation, bool backward,
                                 struct mr_pointwise *p) __attribute__((warn_unused_result));

#endif
