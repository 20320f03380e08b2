/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling, forward and backward: an image's channel, a plane, at a time. */
#ifndef MR_CUDNN_POOL_H
#define MR_CUDNN_POOL_H

#include "libs/cudnn/tensor.h"

enum mr_pool_mode { MR_POOL_MAX, MR_POOL_AVERAGE_ALL, MR_POOL_AVERAGE_INSIDE };

struct mr_pool {
    const char *function; /* for messages */
    enum mr_pool_mode mode;
    int space; /* dimensions, 1 to 3 */
    int64_t window[3], before[3], after[3], stride[3];
    struct mr_tensor x, y, dx; /* y: also dy */
    const void *x_at, *dy_at; /* x_at: backward of averages doesn't need it */
    void *y_at, *dx_at; /* dx_at: backward */
    double alpha, beta;
};

/* Planes are parts, some of them together. */
uint64_t mr_pool_parts(const struct mr_pool *pool);
void mr_pool_run(void *record, uint64_t first, uint64_t end);

#endif
