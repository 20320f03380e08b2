/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals: functions that libnccl exports and does not implement, and the reasons of calls that fail. */
#ifndef MR_NCCL_REFUSE_H
#define MR_NCCL_REFUSE_H

#include <nccl.h>

/* ncclInvalidUsage, which NCCL has for what it doesn't support; a warning in the log names the function. */
ncclResult_t mr_nccl_refuse(const char *function);

/* Gives back `status`, and leaves the reason in the log (level info) and for ncclGetLastError. Any thread. */
ncclResult_t mr_nccl_bad(const char *function, ncclResult_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ncclUnhandledCudaError, with a reason, if the driver's `status` is an error; else ncclSuccess. */
ncclResult_t mr_nccl_driver(const char *function, int status);

#endif
