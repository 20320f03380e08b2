/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: what the program asks for is checked here, in the order in which hardware does; the work
 * is in memory/vmm.h.
 *
 * None of these calls needs a context. Sizes and addresses are multiples of 2 MiB. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>

#include "api/stub.h"
#include "api_impl.h"
#include "base/call.h"
#include "memory/allocation.h"
#include "memory/vmm.h"
#include "object/context.h"
#include "prepare/check.h"

/* Kinds of handles that CUDA knows and that cannot be made here. */
#define OTHER_HANDLES (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)

static bool is_unit(unsigned long long value)
{
    return value != 0 && value % MR_VMM_UNIT == 0;
}

/* ---- addresses ---- */

CUresult mr_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                unsigned long long flags)
{
    uintptr_t start;
    if (!ptr)
        return mr_bad_value("the place for the address is null");
    if (flags)
        return mr_bad_value("flags are %#llx; they must be 0", flags);
    if (!is_unit(size) || addr % MR_VMM_UNIT)
        return mr_bad_value("the %zu bytes at %#llx are not whole units of 2 MiB", size, (unsigned long long)addr);
    if (alignment & (alignment - 1))
        return mr_bad_value("an alignment of %zu is not a power of two", alignment);
    CUresult status = mr_vmm_reserve(size, alignment, (uintptr_t)addr, &start);
    if (status == CUDA_SUCCESS)
        *ptr = start;
    return status;
}

CUresult mr_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    return mr_vmm_unreserve((uintptr_t)ptr, size);
}

/* ---- memory ---- */

static CUresult check_place(const CUmemLocation *location, struct mr_device **device)
{
    *device = NULL;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return mr_device_require(location->id, device);
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (mr_numa_node_exists(location->id))
            return CUDA_SUCCESS;
        return mr_bad_value("there is no NUMA node %d", location->id);
    default:
        return mr_bad_value("memory cannot be made at location type %d", (int)location->type);
    }
}

static CUresult check_properties(const CUmemAllocationProp *prop, struct mr_device **device)
{
    unsigned handles = (unsigned)prop->requestedHandleTypes;
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return mr_bad_value("the type is %d; memory of this kind is CU_MEM_ALLOCATION_TYPE_PINNED", (int)prop->type);
    if (handles & OTHER_HANDLES || prop->win32HandleMetaData)
        return mr_bad_value("handles of type %#x belong to another system", handles);
    if (prop->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC)
        return mr_bad_value("there is no compression %u", prop->allocFlags.compressionType);
    CUresult status = check_place(&prop->location, device);
    if (status == CUDA_SUCCESS && handles & CU_MEM_HANDLE_TYPE_FABRIC) {
        mr_call_log(MR_LOG_INFO, "there is no fabric to share memory over");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return status;
}

CUresult mr_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                        unsigned long long flags)
{
    struct mr_device *device;
    CUmemGenericAllocationHandle made;
    if (!handle || !prop)
        return mr_bad_value("the properties or the place for the handle is null");
    if (flags)
        return mr_bad_value("flags are %#llx; they must be 0", flags);
    if (!is_unit(size))
        return mr_bad_value("%zu bytes are not a multiple of 2 MiB", size);
    CUresult status = check_properties(prop, &device);
    if (status != CUDA_SUCCESS)
        return status;
    /* Pages of a processor's memory are not compressed: the hint is dropped, and the properties say so. */
    CUmemAllocationProp kept = *prop;
    kept.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    status = mr_vmm_create(device, &kept, size, &made);
    if (status == CUDA_SUCCESS)
        *handle = made;
    return status;
}

CUresult mr_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return mr_vmm_release(handle);
}

/* Hardware looks at nothing in the properties, because the answer is the same for all. */
CUresult mr_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                          CUmemAllocationGranularity_flags option)
{
    if (!granularity || !prop)
        return mr_bad_value("the properties or the place for the answer is null");
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return mr_bad_value("there is no option %d", (int)option);
    *granularity = MR_VMM_UNIT;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    if (!prop)
        return mr_bad_value("the place for the properties is null");
    return mr_vmm_properties(handle, prop);
}

CUresult mr_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    if (!handle)
        return mr_bad_value("the place for the handle is null");
    return mr_vmm_retain((uintptr_t)addr, handle);
}

/* ---- mappings ---- */

CUresult mr_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                     unsigned long long flags)
{
    if (flags)
        return mr_bad_value("flags are %#llx; they must be 0", flags);
    if (!is_unit(ptr) || !size)
        return mr_bad_value("%zu bytes at %#llx do not begin a unit of 2 MiB", size, (unsigned long long)ptr);
    return mr_vmm_map((uintptr_t)ptr, size, offset, handle);
}

CUresult mr_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    return mr_vmm_unmap((uintptr_t)ptr, size);
}

static CUresult check_access(const CUmemAccessDesc *desc)
{
    const CUmemLocation *place = &desc->location;
    if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return mr_bad_value("access %#x is not one of CU_MEM_ACCESS_FLAGS_PROT_*", (unsigned)desc->flags);
    switch (place->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (mr_device_get(place->id))
            return CUDA_SUCCESS;
        return mr_bad_value("there is no device %d", place->id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_SUCCESS;
    default:
        return mr_bad_value("location type %d cannot be given access", (int)place->type);
    }
}

CUresult mr_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    if (!desc || !count)
        return mr_bad_value("there are no descriptions");
    for (size_t i = 0; i < count; i++) {
        CUresult status = check_access(&desc[i]);
        if (status != CUDA_SUCCESS)
            return status;
    }
    return mr_vmm_set_access((uintptr_t)ptr, size, desc, count);
}

/* Memory of other kinds is not an error: nothing was set for it. */
CUresult mr_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    struct mr_allocation found;
    unsigned right = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!flags || !location || !ptr)
        return mr_bad_value("the address, the location or the place for the answer is null");
    *flags = 0;
    bool known = location->type == CU_MEM_LOCATION_TYPE_HOST || location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                 (location->type == CU_MEM_LOCATION_TYPE_DEVICE && mr_device_get(location->id));
    if (!known) {
        mr_call_log(MR_LOG_INFO, "there is no location of type %d with number %d", (int)location->type, location->id);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (!mr_vmm_get_access(location, (uintptr_t)ptr, &right) && !mr_memory_find((uintptr_t)ptr, &found))
        return mr_bad_value("there is no memory at %#llx", (unsigned long long)ptr);
    *flags = right;
    return CUDA_SUCCESS;
}

/* ---- between processes ---- */

CUresult mr_cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                         CUmemAllocationHandleType handleType, unsigned long long flags)
{
    int descriptor;
    if (!shareableHandle)
        return mr_bad_value("the place for the handle is null");
    if (flags)
        return mr_bad_value("flags are %#llx; they must be 0", flags);
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return mr_bad_value("handles of type %#x cannot be made", (unsigned)handleType);
    CUresult status = mr_vmm_export(handle, &descriptor);
    if (status == CUDA_SUCCESS)
        *(int *)shareableHandle = descriptor;
    return status;
}

CUresult mr_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                           CUmemAllocationHandleType shHandleType)
{
    if (!handle)
        return mr_bad_value("the place for the handle is null");
    if ((unsigned)shHandleType & (OTHER_HANDLES | CU_MEM_HANDLE_TYPE_FABRIC)) {
        mr_call_log(MR_LOG_INFO, "handles of type %#x belong to another system", (unsigned)shHandleType);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return mr_bad_value("there is no handle type %#x", (unsigned)shHandleType);
    return mr_vmm_import((int)(intptr_t)osHandle, handle);
}

/* ---- what is refused ---- */

CUresult mr_cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream)
{
    (void)hStream;
    if (!mapInfoList || !count)
        return mr_bad_value("there is nothing to map");
    return mr_stub_refuse(mr_call_name);
}

/* A handle that other drivers could use for direct access; there is no hardware that would use it. */
CUresult mr_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType,
                                          unsigned long long flags)
{
    struct mr_context *context;
    struct mr_allocation found;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!handle || flags || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
        return mr_bad_value("the place for the handle is null, flags are not 0, or the type %d is not known",
                            (int)handleType);
    if (!size || !mr_memory_find((uintptr_t)dptr, &found) || size > found.mapped - (size_t)(dptr - found.base))
        return mr_bad_value("%zu bytes at %#llx are not within one allocation", size, (unsigned long long)dptr);
    return mr_stub_refuse(mr_call_name);
}
