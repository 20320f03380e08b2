/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcurand exports and cannot do. */
#ifndef MR_CURAND_REFUSE_H
#define MR_CURAND_REFUSE_H

#include <curand.h>

/* CURAND_STATUS_INTERNAL_ERROR, the nearest that cuRAND has; a warning in the log names the function. */
curandStatus_t mr_curand_refuse(const char *function);

#endif
