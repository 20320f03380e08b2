/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of a tensor: y has its dimensions, or 1 where it is reduced. */
#ifndef MR_CUDNN_SUMS_H
#define MR_CUDNN_SUMS_H

#include "libs/cudnn/tensor.h"

struct mr_sums {
    cudnnReduceTensorOp_t op;
    struct mr_tensor x, y;
    const void *x_at;
    void *y_at;
    double alpha, beta; /* y = alpha * result + beta * y */
    bool squares; /* the elements are squared first */
    uint32_t *indices; /* of MIN, MAX and AMAX: where the result was found, counted over what is reduced; or NULL */
    struct mr_groups groups; /* set by mr_sums_prepare: what is reduced */
};

/* Cuts it; how many parts. The tensors have been checked: y spreads over x. */
uint64_t mr_sums_prepare(struct mr_sums *sums);
void mr_sums_run(void *record, uint64_t first, uint64_t end);

#endif
