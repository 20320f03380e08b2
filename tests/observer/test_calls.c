/* SPDX-License-Identifier: Apache-2.0 */
/* What observers know of calls compiles alone, and has the parameters as the driver takes them. */
#include <stddef.h>
#include <stdio.h>

#include "observe/calls.h"

#define HAS(call, member, type) \
    _Generic(((struct mr_params_##call *)NULL)->member, type: 1, default: 0) ? 0 : (puts(#call ": " #member), 1)

int main(void)
{
    int wrong = HAS(cuMemAlloc_v2, dptr, CUdeviceptr *) + HAS(cuMemAlloc_v2, bytesize, size_t) +
                HAS(cuMemcpyHtoD_v2, mr_default, CUstream) + HAS(cuMemcpyHtoDAsync_v2, hStream, CUstream) +
                HAS(cuLaunchKernel, kernelParams, void **) + HAS(cuLaunchKernelEx, config, const CUlaunchConfig *) +
                HAS(cuCtxSynchronize, mr_none, char) + HAS(cuEventDestroy_v2, hEvent, CUevent);
    return wrong || MR_CALL_NONE != 0 || MR_CALL_cuMemAlloc == MR_CALL_cuMemAlloc_v2 || MR_CALL_COUNT < 500;
}
