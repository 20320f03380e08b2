/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a graph, each from its descriptor to the work that does it. */
#ifndef MR_CUDNN_OPERATIONS_H
#define MR_CUDNN_OPERATIONS_H

#include "libs/cudnn/going.h"

/* Whether the operation writes the tensors of that attribute. */
bool mr_operation_writes(const struct mr_descriptor *op, cudnnBackendAttributeName_t name);

/* Measures the operation, or submits it. NOT_SUPPORTED for what can't be done. */
cudnnStatus_t mr_operation_go(struct mr_going *going, const struct mr_descriptor *op)
    __attribute__((warn_unused_result));

#endif
