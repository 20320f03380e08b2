/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libnccl exports and cannot do; what is said of calls that fail. */
#ifndef MR_NCCL_REFUSE_H
#define MR_NCCL_REFUSE_H

#include <nccl.h>

/* ncclInvalidUsage, which NCCL has for what it doesn't support; a warning in the log names the function. */
ncclResult_t mr_nccl_refuse(const char *function);

/* Gives back `status`, and leaves the reason in the log (level info) and for ncclGetLastError. Any thread. */
ncclResult_t mr_nccl_bad(const char *function, ncclResult_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says so if the driver's call failed: ncclUnhandledCudaError. */
ncclResult_t mr_nccl_driver(const char *function, int status);

#endif
