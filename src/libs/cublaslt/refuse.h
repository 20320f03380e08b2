/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcublasLt exports and cannot do. */
#ifndef MR_CUBLASLT_REFUSE_H
#define MR_CUBLASLT_REFUSE_H

#include <cublas_api.h>

/* CUBLAS_STATUS_NOT_SUPPORTED; a warning in the log names the function. */
cublasStatus_t mr_cublaslt_refuse(const char *function);

#endif
