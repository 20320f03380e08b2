/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative launches: checked, then refused, because blocks of a grid cannot wait for each other yet.
 * The device attribute CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH says so too. */
#include "api_impl.h"

#include "api/check.h"
#include "api/function.h"
#include "base/log.h"
#include "stream/stream.h"

CUresult mr_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                      unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                      unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
    static const char entry[] = "cuLaunchCooperativeKernel";
    struct mr_context *context;
    struct mr_stream *stream;
    struct mr_function *function;
    (void)kernelParams;
    (void)sharedMemBytes;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        status = mr_stream_resolve(hStream, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_function_find(entry, f, context, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!gridDimX || !gridDimY || !gridDimZ || !blockDimX || !blockDimY || !blockDimZ)
        return mr_bad_value(entry, "a dimension is 0");
    mr_log(MR_LOG_INFO, "%s: cooperative launches are not supported", entry);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices, unsigned int flags)
{
    static const char entry[] = "cuLaunchCooperativeKernelMultiDevice";
    struct mr_context *context;
    (void)flags;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!launchParamsList || numDevices == 0)
        return mr_bad_value(entry, "the list is empty");
    mr_log(MR_LOG_INFO, "%s: cooperative launches are not supported", entry);
    return CUDA_ERROR_NOT_SUPPORTED;
}
