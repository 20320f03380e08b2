/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcusolver exports and cannot do. */
#ifndef MR_CUSOLVER_REFUSE_H
#define MR_CUSOLVER_REFUSE_H

#include <cusolver_common.h>

/* CUSOLVER_STATUS_NOT_SUPPORTED; a warning in the log names the function. */
cusolverStatus_t mr_cusolver_refuse(const char *function);

#endif
