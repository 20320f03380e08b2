/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, forward, with statistics of x or given
 * ones, and backward. Which elements share statistics, and which share scale and bias, follows from the dimensions of
 * those tensors: so batch, layer, instance and per-activation normalisation are the same here. RMS normalisation has a
 * mean of 0. */
#ifndef MR_CUDNN_NORM_H
#define MR_CUDNN_NORM_H

#include "libs/cudnn/tensor.h"

struct mr_norm {
    const char *function; /* for messages */
    bool rms;
    bool inference; /* statistics are given: mean, and variance in place of its inverse root */
    bool given_inverse; /* they are mean and inverse root */
    struct mr_tensor x, y, dx; /* y: also dy */
    struct mr_tensor stats, scale; /* of mean and inverse; of scale and bias */
    const void *x_at, *dy_at, *scale_at, *bias_at; /* bias: NULL for none */
    void *y_at, *dx_at, *mean_at, *inverse_at; /* mean_at and inverse_at may be NULL: then they aren't kept */
    void *dscale_at, *dbias_at;
    /* Running statistics: new = factor * of x + (1 - factor) * old; NULL for none. */
    const void *old_mean_at, *old_variance_at;
    void *new_mean_at, *new_variance_at;
    double epsilon, factor;
    double alpha, beta; /* of y, or dx */
    double alpha_scale, beta_scale; /* of the gradients of scale and bias */
    struct mr_groups groups, scales; /* set by the functions below */
};

/* Forward: one stage. */
uint64_t mr_norm_forward_prepare(struct mr_norm *norm);
void mr_norm_forward_run(void *record, uint64_t first, uint64_t end);

/* Backward: first the gradients of scale and bias, then that of x. Without given statistics scale has their dimensions.
 */
uint64_t mr_norm_scale_prepare(struct mr_norm *norm);
void mr_norm_scale_run(void *record, uint64_t first, uint64_t end);
uint64_t mr_norm_data_prepare(struct mr_norm *norm);
void mr_norm_data_run(void *record, uint64_t first, uint64_t end);

#endif
