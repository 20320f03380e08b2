/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler control. Start and stop bracket what an attached profiler collects; with none attached there is nothing to
 * do, which is what the manual says and hardware does. */
#include "api_impl.h"
#include "base/call.h"
#include "object/context.h"

/* The configuration-file profiler is gone since CUDA 11; current drivers refuse it as well. */
CUresult mr_cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode outputMode)
{
    (void)configFile;
    (void)outputFile;
    (void)outputMode;
    mr_call_log(MR_LOG_INFO, "this is not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuProfilerStart(void)
{
    struct mr_context *context;
    return mr_context_require(&context);
}

CUresult mr_cuProfilerStop(void)
{
    struct mr_context *context;
    return mr_context_require(&context);
}
