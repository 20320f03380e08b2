/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on tensors element by element: of one, two or three operands, forward and backward. */
#ifndef MR_CUDNN_POINTWISE_H
#define MR_CUDNN_POINTWISE_H

#include "libs/cudnn/tensor.h"

struct mr_pointwise {
    cudnnPointwiseMode_t mode;
    /* Backward: x is what went into the forward operation, b the gradient of its result, y the gradient of x. Of a
     * selection, t chooses: x where it isn't 0, else b. */
    struct mr_tensor x, b, t, y;
    const void *x_at, *b_at, *t_at;
    void *y_at;
    double alpha, alpha_b; /* factors of x and b */
    double gamma, offset; /* the result is multiplied by gamma, and offset is added */
    double beta; /* y is added to the result so often */
    double low, high, slope; /* of relu: the limits, and the slope below the lower one */
    double elu_alpha, softplus_beta, swish_beta;
    int axis; /* whose index is generated */
    /* Of a softmax's difference and quotient: a row that is masked as a whole has -inf as its largest element and a sum
     * of 0, and its result is 0. */
    bool is_softmax;
    bool wide; /* computed in double; mr_pointwise_prepare sets it */
    struct mr_rows rows; /* by the same */
};

/* How many operands the mode has: 0 for a generated index, 1, 2, 3 for a selection; -1: there is no such mode. */
int mr_pointwise_operands(cudnnPointwiseMode_t mode);
bool mr_pointwise_is_backward(cudnnPointwiseMode_t mode);

/* Cuts the operation; how many parts it has. The tensors have been checked: the operands spread over y. */
uint64_t mr_pointwise_prepare(struct mr_pointwise *p);

/* Runs parts: for mr_dnn_submit, with the operation as the record. */
void mr_pointwise_run(void *record, uint64_t first, uint64_t end);

/* The defaults of all parameters. */
struct mr_pointwise mr_pointwise_of(cudnnPointwiseMode_t mode);

#endif
