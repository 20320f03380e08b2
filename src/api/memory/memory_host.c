/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned and registered host memory. The device reads and writes it at the host's own addresses, so the device pointer
 * of either is the pointer itself, with or without CU_MEMHOSTALLOC_DEVICEMAP. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api_impl.h"
#include "base/call.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

#define HOST_ALLOC_FLAGS (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_FLAGS \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY | \
     CU_MEMHOSTREGISTER_READ_ONLY)

static CUresult allocate(void **pp, size_t size, unsigned flags)
{
    struct mr_context *context;
    uintptr_t address;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pp)
        return mr_bad_value("the place for the address is null");
    if (flags & ~(unsigned)HOST_ALLOC_FLAGS)
        return mr_bad_value("flags %#x are not known", flags & ~(unsigned)HOST_ALLOC_FLAGS);
    if (!size) {
        *pp = NULL;   /* nothing, which cuMemFreeHost takes back */
        return CUDA_SUCCESS;
    }
    /* Pinned memory is always mapped, and cuMemHostGetFlags says so. */
    status = mr_memory_allocate(context, MR_MEMORY_PINNED, size, flags | CU_MEMHOSTALLOC_DEVICEMAP, &address);
    if (status == CUDA_SUCCESS)
        *pp = (void *)address;
    else
        mr_call_log(MR_LOG_INFO, "the system has no %zu bytes of host memory left", size);
    return status;
}

CUresult mr_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return allocate(pp, bytesize, Flags);
}

CUresult mr_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return allocate(pp, bytesize, 0);
}

CUresult mr_cuMemAllocHost(void **pp, unsigned int bytesize)
{
    return allocate(pp, bytesize, 0);
}

/* As for cuMemFree, no context need be current. */
CUresult mr_cuMemFreeHost(void *p)
{
    struct mr_context *context;
    struct mr_allocation found;
    if (mr_in_host_function)
        return mr_context_require_slow(&context);
    if (mr_context_was_destroyed())
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    CUresult status = mr_context_current() ? mr_context_error(mr_context_current()) : CUDA_SUCCESS;
    if (!p || status != CUDA_SUCCESS)
        return status;
    if (!mr_memory_find((uintptr_t)p, &found) || found.kind != MR_MEMORY_PINNED || found.base != (uintptr_t)p)
        return mr_bad_value("%p is not the start of pinned memory", p);
    status = mr_context_synchronize(found.context);
    return status == CUDA_SUCCESS ? mr_memory_release(found.base, MR_MEMORY_PINNED) : status;
}

/* Finds pinned or registered memory. */
static bool find_host(void *p, struct mr_allocation *found)
{
    return mr_memory_find((uintptr_t)p, found) &&
           (found->kind == MR_MEMORY_PINNED || found->kind == MR_MEMORY_REGISTERED);
}

CUresult mr_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct mr_context *context;
    struct mr_allocation found;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pdptr)
        return mr_bad_value("the place for the address is null");
    if (Flags)
        return mr_bad_value("flags are %#x; they must be 0", Flags);
    if (!find_host(p, &found))
        return mr_bad_value("%p is neither pinned nor registered", p);
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags)
{
    CUdeviceptr address;
    CUresult status = mr_cuMemHostGetDevicePointer_v2(pdptr ? &address : NULL, p, Flags);
    if (status != CUDA_SUCCESS)
        return status;
    if (address > UINT32_MAX)
        return mr_bad_value("%p does not fit in the 32 bits of this old entry point", p);
    *pdptr = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct mr_context *context;
    struct mr_allocation found;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pFlags)
        return mr_bad_value("the place for the flags is null");
    if (!find_host(p, &found))
        return mr_bad_value("%p is neither pinned nor registered", p);
    *pFlags = found.flags;
    return CUDA_SUCCESS;
}

CUresult mr_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (Flags & ~(unsigned)REGISTER_FLAGS)
        return mr_bad_value("flags %#x are not known", Flags & ~(unsigned)REGISTER_FLAGS);
    if (Flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return mr_bad_value("%p is not memory of other hardware", p);
    status = mr_memory_register(context, p, bytesize, Flags | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (status == CUDA_ERROR_INVALID_VALUE)
        return mr_bad_value("%zu bytes at %p are null, empty, not mapped, read-only, or the driver's own", bytesize, p);
    if (status == CUDA_ERROR_NOT_SUPPORTED || status == CUDA_ERROR_OUT_OF_MEMORY)
        mr_call_log(MR_LOG_INFO, "%zu bytes at %p are more than a program can have", bytesize, p);
    if (status == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        mr_call_log(MR_LOG_INFO, "%zu bytes at %p overlap registered memory", bytesize, p);
    return status;
}

CUresult mr_cuMemHostUnregister(void *p)
{
    struct mr_context *context;
    struct mr_allocation found;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS && (status != CUDA_ERROR_INVALID_CONTEXT || mr_context_current()))
        return status; /* it needs none, but not one that is of no use */
    if (!p)
        return mr_bad_value("the address is null");
    bool known = mr_memory_find((uintptr_t)p, &found);
    if (known && (found.kind != MR_MEMORY_REGISTERED || found.base != (uintptr_t)p))
        return mr_bad_value("%p is not where a registration starts", p);
    if (!known) {
        mr_call_log(MR_LOG_INFO, "%p is not registered", p);
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    status = mr_context_synchronize(found.context);
    return status == CUDA_SUCCESS ? mr_memory_unregister(p) : status;
}
