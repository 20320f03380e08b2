/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's errors in words. */
#include <cuda.h>
#include <stdarg.h>
#include <stdio.h>

#include "libs/math/refusal.h"
#include "libs/nccl/refuse.h"
#include "nccl_impl.h"

static _Thread_local char last_error[512];

ncclResult_t mr_nccl_bad(const char *function, ncclResult_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(function, false, reason, format, arguments);
    va_end(arguments);
    snprintf(last_error, sizeof last_error, "%s: %s", function, reason);
    return status;
}

ncclResult_t mr_nccl_refuse(const char *function)
{
    mr_math_refuse_function(function);
    snprintf(last_error, sizeof last_error, "%s: it is not implemented", function);
    return ncclInvalidUsage;
}

ncclResult_t mr_nccl_driver(const char *function, int status)
{
    return status == CUDA_SUCCESS ? ncclSuccess
                                  : mr_nccl_bad(function, ncclUnhandledCudaError, "the driver answers %d", status);
}

const char *mr_nccl_GetErrorString(const struct mr_form *form, ncclResult_t result)
{
    (void)form;
    switch ((int)result) {
    case ncclSuccess:
        return "no error";
    case ncclUnhandledCudaError:
        return "unhandled cuda error (run with MILLRACE_LOG=info for details)";
    case ncclSystemError:
        return "unhandled system error (run with MILLRACE_LOG=info for details)";
    case ncclInternalError:
        return "internal error";
    case ncclInvalidArgument:
        return "invalid argument (run with MILLRACE_LOG=info for details)";
    case ncclInvalidUsage:
        return "invalid usage (run with MILLRACE_LOG=info for details)";
    case ncclRemoteError:
        return "remote process exited or a rank has failed";
    case ncclInProgress:
        return "operation in progress";
    default:
        return "unknown result code";
    }
}

const char *mr_nccl_GetLastError(const struct mr_form *form, ncclComm_t comm)
{
    (void)form;
    (void)comm;
    return last_error;
}

/* NCCL reads its logging's environment again; Millrace's log has none that changes. */
void mr_nccl_ResetDebugInit(const struct mr_form *form)
{
    (void)form;
}
