/* SPDX-License-Identifier: Apache-2.0 */
/* Device and managed memory: allocate, free, how much there is, which allocation an address is in.
 *
 * The forms of CUDA before 3.2 have 32-bit device addresses, so their allocations are placed below 4 GiB. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <limits.h>

#include "api/graph/graph_calls.h"
#include "api/memory/mempool_calls.h"
#include "api/stub.h"
#include "api_impl.h"
#include "base/call.h"
#include "base/hot.h"
#include "memory/allocation.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

#define PITCH_STEP ((size_t)512)
#define NOT_WRITTEN UINTPTR_MAX   /* an address that no allocation has */

typedef CUresult (*allocator)(struct mr_context *context, enum mr_memory_kind kind, size_t size, unsigned flags,
                              uintptr_t *out);

MR_HOT static CUresult allocate(enum mr_memory_kind kind, size_t size, unsigned flags, allocator how, uintptr_t *out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!out)
        return mr_bad_value("the place for the address is null");
    *out = 0;   /* hardware clears the result of a failed call */
    if (!size)
        return mr_bad_value("the size is 0");
    status = how(context, kind, size, flags, out);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && mr_mempools_trim_all())
        status = how(context, kind, size, flags, out);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        mr_call_log(MR_LOG_INFO, "there are no %zu bytes left (%zu of %zu are in use)", size,
                    atomic_load_explicit(&context->device->used_memory, memory_order_relaxed),
                    context->device->total_memory);
    return status;
}

MR_HOT CUresult mr_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    uintptr_t address = NOT_WRITTEN;
    CUresult status = allocate(MR_MEMORY_DEVICE, bytesize, 0, mr_memory_allocate, dptr ? &address : NULL);
    if (address != NOT_WRITTEN)
        *dptr = address;
    return status;
}

MR_HOT CUresult mr_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    uintptr_t address = NOT_WRITTEN;
    CUresult status = allocate(MR_MEMORY_DEVICE, bytesize, 0, mr_memory_allocate_low, dptr ? &address : NULL);
    if (address != NOT_WRITTEN)
        *dptr = (CUdeviceptr_v1)address;
    return status;
}

/* Pitched allocation; `out` and `pitch` are written on success only. */
static CUresult allocate_pitch(size_t width, size_t height, unsigned element, allocator how, uintptr_t *out,
                               size_t *pitch)
{
    struct mr_context *context;
    size_t row, total;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!out || !pitch)
        return mr_bad_value("the place for the address or the pitch is null");
    if (element != 4 && element != 8 && element != 16)
        return mr_bad_value("the element size is %u bytes; it may be 4, 8 or 16", element);
    if (!width || !height)
        return mr_bad_value("a size of %zu x %zu bytes is empty", width, height);
    if (width > INT_MAX - PITCH_STEP)
        return mr_bad_value("rows of %zu bytes are above the device's limit", width);
    row = (width + PITCH_STEP - 1) & ~(PITCH_STEP - 1);
    if (__builtin_mul_overflow(row, height, &total)) {
        mr_call_log(MR_LOG_INFO, "%zu x %zu bytes do not fit in memory", width, height);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    status = allocate(MR_MEMORY_DEVICE, total, 0, how, out);
    if (status == CUDA_SUCCESS)
        *pitch = row;
    return status;
}

CUresult mr_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                               unsigned int ElementSizeBytes)
{
    uintptr_t address;
    CUresult status =
        allocate_pitch(WidthInBytes, Height, ElementSizeBytes, mr_memory_allocate, dptr ? &address : NULL, pPitch);
    if (status == CUDA_SUCCESS)
        *dptr = address;
    return status;
}

CUresult mr_cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes, unsigned int Height,
                            unsigned int ElementSizeBytes)
{
    uintptr_t address;
    size_t pitch;
    CUresult status = allocate_pitch(WidthInBytes, Height, ElementSizeBytes, mr_memory_allocate_low,
                                     dptr ? &address : NULL, pPitch ? &pitch : NULL);
    if (status == CUDA_SUCCESS) {
        *dptr = (CUdeviceptr_v1)address;
        *pPitch = (unsigned)pitch;
    }
    return status;
}

CUresult mr_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    uintptr_t address;
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return mr_bad_value("flags are %#x; they may be CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST", flags);
    status = allocate(MR_MEMORY_MANAGED, bytesize, flags, mr_memory_allocate, dptr ? &address : NULL);
    if (status == CUDA_SUCCESS)
        *dptr = address;
    return status;
}

/* Work that was submitted before may still use the memory: freeing waits for the context that owns it, as hardware
 * does. That context need not be current. */
MR_HOT CUresult mr_cuMemFree_v2(CUdeviceptr dptr)
{
    struct mr_context *context;
    struct mr_allocation found;
    if (mr_in_host_function)
        return mr_context_require_slow(&context);
    if (mr_context_was_destroyed())
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!dptr)
        return mr_context_current() ? mr_context_error(mr_context_current()) : CUDA_SUCCESS;
    if (!mr_memory_find((uintptr_t)dptr, &found))
        return mr_bad_value("%#llx is in no live allocation", (unsigned long long)dptr);
    if (found.base != dptr)
        return mr_bad_value("%#llx is %llu bytes into the allocation at %#zx", (unsigned long long)dptr,
                            (unsigned long long)(dptr - found.base), (size_t)found.base);
    if (mr_mempool_is_address((uintptr_t)dptr))
        return mr_mempool_free_now(dptr, &found);
    if (found.kind == MR_MEMORY_GRAPH)
        return mr_graph_memory_free_now(dptr, found.context);
    if (found.kind != MR_MEMORY_DEVICE && found.kind != MR_MEMORY_MANAGED)
        return mr_bad_value("%#llx is %s", (unsigned long long)dptr,
                            found.kind == MR_MEMORY_MODULE    ? "a module's variable"
                            : mr_allocation_is_mapped(&found) ? "mapped: cuMemUnmap ends that"
                                                              : "host memory");
    if (found.kind == MR_MEMORY_MANAGED && found.flags & MR_MEMORY_VARIABLE)
        return mr_bad_value("%#llx is a managed variable", (unsigned long long)dptr);
    if (found.imported)
        return mr_bad_value("%#llx is another process's memory; cuIpcCloseMemHandle closes it",
                            (unsigned long long)dptr);
    CUresult status = mr_context_synchronize(found.context);
    return status == CUDA_SUCCESS ? mr_memory_release((uintptr_t)dptr, found.kind) : status;
}

MR_HOT CUresult mr_cuMemFree(CUdeviceptr_v1 dptr)
{
    return mr_cuMemFree_v2(dptr);
}

/* Either result may be unwanted. */
CUresult mr_cuMemGetInfo_v2(size_t *free, size_t *total)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    size_t all = context->device->total_memory,
           used = atomic_load_explicit(&context->device->used_memory, memory_order_relaxed);
    if (total)
        *total = all;
    if (free)
        *free = all > used ? all - used : 0;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemGetInfo(unsigned int *free, unsigned int *total)
{
    size_t free_bytes, total_bytes;
    CUresult status = mr_cuMemGetInfo_v2(&free_bytes, &total_bytes);
    if (status == CUDA_SUCCESS && free)
        *free = free_bytes < UINT_MAX ? (unsigned)free_bytes : UINT_MAX;
    if (status == CUDA_SUCCESS && total)
        *total = total_bytes < UINT_MAX ? (unsigned)total_bytes : UINT_MAX;
    return status;
}

/* Either result may be unwanted. */
CUresult mr_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct mr_context *context;
    struct mr_allocation found;
    if (!pbase && !psize)
        return CUDA_SUCCESS;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!mr_memory_find_usable((uintptr_t)dptr, &found) || !mr_allocation_right(&found, context->device->ordinal)) {
        mr_call_log(MR_LOG_INFO, "%#llx is in no live allocation that the device may use", (unsigned long long)dptr);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (pbase)
        *pbase = found.base;
    if (psize)
        *psize = found.size;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
    CUdeviceptr base;
    size_t size;
    if (!pbase && !psize)
        return CUDA_SUCCESS;
    if (!mr_stub_first_interface())
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult status = mr_cuMemGetAddressRange_v2(&base, &size, dptr);
    if (status == CUDA_SUCCESS && pbase)
        *pbase = (CUdeviceptr_v1)base;
    if (status == CUDA_SUCCESS && psize)
        *psize = (unsigned)size;
    return status;
}
