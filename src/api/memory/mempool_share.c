/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools between processes: the checks. How it works is told in memory/mempool_share.c. */
#include <stdint.h>

#include "api/memory/mempool_calls.h"
#include "api_impl.h"
#include "base/call.h"
#include "memory/mempool.h"
#include "prepare/check.h"

static CUresult check_type(CUmemAllocationHandleType type, unsigned long long flags)
{
    if (flags)
        return mr_bad_value("flags are %#llx; they must be 0", flags);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return mr_bad_value("handles of type %#x are not file descriptors", (unsigned)type);
    return CUDA_SUCCESS;
}

CUresult mr_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
                                             unsigned long long flags)
{
    struct mr_mempool *found;
    int descriptor;
    if (!handle_out)
        return mr_bad_value("the place for the handle is null");
    CUresult status = mr_mempool_require(pool, &found);
    if (status == CUDA_SUCCESS)
        status = check_type(handleType, flags);
    if (status == CUDA_SUCCESS)
        status = mr_mempool_export(found, &descriptor);
    if (status == CUDA_SUCCESS)
        *(int *)handle_out = descriptor;
    return status;
}

CUresult mr_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                               CUmemAllocationHandleType handleType, unsigned long long flags)
{
    struct mr_mempool *made;
    if (!pool_out)
        return mr_bad_value("the place for the pool is null");
    if (handleType == CU_MEM_HANDLE_TYPE_WIN32 || handleType == CU_MEM_HANDLE_TYPE_WIN32_KMT ||
        handleType == CU_MEM_HANDLE_TYPE_FABRIC) {
        mr_call_log(MR_LOG_INFO, "handles of type %#x are not supported", (unsigned)handleType);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult status = check_type(handleType, flags);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_mempool_import((int)(intptr_t)handle, &made);
    if (status == CUDA_SUCCESS)
        *pool_out = mr_mempool_handle(made);
    return status;
}

CUresult mr_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    if (!shareData_out)
        return mr_bad_value("the place for the data is null");
    return mr_mempool_export_pointer((uintptr_t)ptr, shareData_out);
}

CUresult mr_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
    struct mr_mempool *found;
    uintptr_t address;
    if (!ptr_out || !shareData)
        return mr_bad_value("the data or the place for the address is null");
    CUresult status = mr_mempool_require(pool, &found);
    if (status == CUDA_SUCCESS)
        status = mr_mempool_import_pointer(found, shareData, &address);
    if (status == CUDA_SUCCESS)
        *ptr_out = address;
    return status;
}
