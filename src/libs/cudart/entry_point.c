/* SPDX-License-Identifier: Apache-2.0 */
/* Driver entry points by name. */
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* A name that the driver does not have is no failure of the call: *driverStatus tells, where it is given. */
cudaError_t mr_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                unsigned long long flags,
                                                enum cudaDriverEntryPointQueryResult *driverStatus, bool per_thread)
{
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    if (!symbol || !funcPtr)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaGetDriverEntryPoint: a pointer is NULL");
    if (flags == cudaEnableDefault && per_thread)
        flags = cudaEnablePerThreadDefaultStream;
    CUresult status = mr_driver.cuGetProcAddress_v2(symbol, funcPtr, (int)cudaVersion, flags, &result);
    if (driverStatus && (status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_FOUND))
        *driverStatus = (enum cudaDriverEntryPointQueryResult)result;
    if (status == CUDA_ERROR_NOT_FOUND) {
        *funcPtr = NULL;
        return driverStatus ? cudaSuccess : cudaErrorSymbolNotFound;
    }
    return (cudaError_t)status;
}

cudaError_t mr_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                       enum cudaDriverEntryPointQueryResult *driverStatus, bool per_thread)
{
    return mr_cudaGetDriverEntryPointByVersion(symbol, funcPtr, (unsigned)mr_rt_version, flags, driverStatus,
                                               per_thread);
}
