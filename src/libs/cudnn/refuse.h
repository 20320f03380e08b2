/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcudnn exports and does not have. */
#ifndef MR_CUDNN_REFUSE_H
#define MR_CUDNN_REFUSE_H

#include <cudnn.h>

/* CUDNN_STATUS_NOT_SUPPORTED; a warning in the log names the function. */
cudnnStatus_t mr_cudnn_refuse(const char *function);

#endif
