/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that several rows of the table share. */
#ifndef MR_CUDART_FUNCTION_H
#define MR_CUDART_FUNCTION_H

#include "libs/cudart/runtime.h"

/* cudaSetDoubleForDevice and cudaSetDoubleForHost, which only version 12 has. */
cudaError_t mr_cudaSetDouble(double *d);

#endif
