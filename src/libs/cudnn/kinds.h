/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that have a file of their own: each measures or submits, as mr_operation_go does. */
#ifndef MR_CUDNN_KINDS_H
#define MR_CUDNN_KINDS_H

#include "libs/cudnn/going.h"

cudnnStatus_t mr_operation_norm(struct mr_going *going, const struct mr_descriptor *op)
    __attribute__((warn_unused_result));
cudnnStatus_t mr_operation_resample(struct mr_going *going, const struct mr_descriptor *op)
    __attribute__((warn_unused_result));
cudnnStatus_t mr_operation_matmul(struct mr_going *going, const struct mr_descriptor *op)
    __attribute__((warn_unused_result));

#endif
