/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative launches on one device: a launch with attribute COOPERATIVE, in a call of its own. All blocks are under
 * way at the same time (kernel/together.c), so that they may wait for each other. Launches over several devices are
 * refused; the device attribute CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH says so too. */
#include "api_impl.h"

#include "api/stream/execution.h"
#include "base/call.h"
#include "object/context.h"
#include "prepare/check.h"

CUresult mr_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                      unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                      unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
    static const CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    struct mr_launch_request request = {
        .function = f,
        .stream = hStream,
        .grid = {gridDimX, gridDimY, gridDimZ},
        .block = {blockDimX, blockDimY, blockDimZ},
        .shared = sharedMemBytes,
        .params = kernelParams,
        .attributes = &attribute,
        .attribute_count = 1,
        .cooperative = true,
    };
    return mr_launch_queue(&request);
}

CUresult mr_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices,
                                                 unsigned int flags)
{
    struct mr_context *context;
    (void)flags;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!launchParamsList || numDevices == 0)
        return mr_bad_value("the list is empty");
    mr_call_log(
        MR_LOG_INFO,
        "cooperative launches over several devices are not supported; launch on each by cuLaunchCooperativeKernel");
    return CUDA_ERROR_NOT_SUPPORTED;
}
