/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcublas exports and cannot do. */
#ifndef MR_CUBLAS_REFUSE_H
#define MR_CUBLAS_REFUSE_H

#include <cublas_api.h>

/* CUBLAS_STATUS_NOT_SUPPORTED; a warning in the log names the function. */
cublasStatus_t mr_cublas_refuse(const char *function);

#endif
