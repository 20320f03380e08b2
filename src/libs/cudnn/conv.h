/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and their gradients, on tensors. */
#ifndef MR_CUDNN_CONV_H
#define MR_CUDNN_CONV_H

#include "libs/cudnn/block.h"
#include "libs/cudnn/dnnl.h"
#include "libs/cudnn/tensor.h"

/* How a filter is moved over images. */
struct mr_conv_way {
    int space; /* dimensions of it: 1 to 3 */
    int64_t before[3], after[3], stride[3], dilation[3];
    bool flip; /* the filter is mirrored */
};

struct cudnnConvolutionStruct {
    struct mr_conv_way way;
    int groups;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;
    cudnnDataType_t type; /* that is computed in */
};

/* y is made of x and w; or x or w of the other two, then they are gradients. */
struct mr_convolution {
    const char *function; /* for messages */
    enum mr_conv_kind kind;
    struct mr_conv_way way;
    struct mr_tensor x, w, y;
    const void *x_at, *w_at, *y_at; /* one of them is written: the result, by the kind */
    double alpha, beta;
    void *workspace; /* of the size that mr_convolution_plan says; NULL: memory of our own */
    struct mr_block *block; /* in which workspace or tensors lie; or NULL. Borrowed from the caller */
    /* Set by mr_convolution_plan. */
    bool doubles; /* computed by loops, in double */
    bool plain_filter; /* the filter is as oneDNN's plain one: nothing has to be loaded */
    int64_t groups, chunk; /* images of a part */
    int64_t slices; /* of a filter's gradient: sums of their own */
    size_t bytes; /* of the workspace */
    struct mr_conv *conv;
};

/* Checks the tensors against each other, and plans the convolution: sets what is named above. The caller drops c->conv.
 */
cudnnStatus_t mr_convolution_plan(struct mr_convolution *c) __attribute__((warn_unused_result));

/* Submits what was planned to the handle's stream. */
cudnnStatus_t mr_convolution_submit(cudnnHandle_t handle, const struct mr_convolution *c)
    __attribute__((warn_unused_result));

/* The size of the result along dimension i of space. */
int64_t mr_conv_way_out(const struct mr_conv_way *way, int i, int64_t in, int64_t kernel);

#endif
