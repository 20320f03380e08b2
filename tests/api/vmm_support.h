/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of virtual memory management share: properties, mappings that are ready for use. */
#ifndef TESTS_API_VMM_SUPPORT_H
#define TESTS_API_VMM_SUPPORT_H

#include "memory_support.h"

#define UNIT ((size_t)2 << 20)

static const CUmemLocation on_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static const CUmemLocation on_host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};

static inline CUmemAllocationProp device_memory(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = on_device};
}

static inline CUmemAllocationProp shared_memory(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = on_device};
}

static inline CUmemGenericAllocationHandle memory_of(size_t size, CUmemAllocationProp properties)
{
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, size, &properties, 0));
    return handle;
}

static inline CUdeviceptr addresses(size_t size)
{
    CUdeviceptr address;
    OK(cuMemAddressReserve(&address, size, 0, 0, 0));
    return address;
}

static inline CUresult access_set(CUdeviceptr address, size_t size, CUmemLocation location, CUmemAccess_flags flags)
{
    CUmemAccessDesc description = {.location = location, .flags = flags};
    return cuMemSetAccess(address, size, &description, 1);
}

/* Maps the memory at new addresses and lets device 0 write it. */
static inline CUdeviceptr mapped(CUmemGenericAllocationHandle handle, size_t size)
{
    CUdeviceptr address = addresses(size);
    OK(cuMemMap(address, size, 0, handle, 0));
    OK(access_set(address, size, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    return address;
}

static inline void unmapped(CUdeviceptr address, size_t size)
{
    OK(cuMemUnmap(address, size));
    OK(cuMemAddressFree(address, size));
}

static inline unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cuMemcpyDtoH(&word, address, sizeof word));
    return word;
}

#endif
