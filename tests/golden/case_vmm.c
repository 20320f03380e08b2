/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: reserving addresses, making physical memory, and putting the
 * one behind the other.  Who may do what with mapped memory, and how it travels
 * between processes, is asked in case_vmm_access.c.
 */
#include "gold.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define UNIT (2 * MIB)

static CUmemAllocationProp on_device(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = gold_device();
    return prop;
}

static CUmemGenericAllocationHandle made(size_t size)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    NEED(cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static CUdeviceptr reserved(size_t size)
{
    CUdeviceptr address;
    NEED(cuMemAddressReserve(&address, size, 0, 0, 0));
    return address;
}

static CUresult open_to(CUdeviceptr address, size_t size, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.location.id = gold_device();
    desc.flags = flags;
    return cuMemSetAccess(address, size, &desc, 1);
}

/* ---- granularity ---- */

CASE(vmm, granularity)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 0, best = 0;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say(cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    say_int((long long)least);
    say_int((long long)best);
}

CASE(vmm, granularity_exportable)
{
    CUmemAllocationProp prop = on_device();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    size_t least = 0;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say_int((long long)least);
}

CASE(vmm, granularity_host_numa)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 0, best = 0;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say(cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    say_int((long long)least);
    say_int((long long)best);
}

CASE(vmm, granularity_host)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 7;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    prop.location.id = 0;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say_int((long long)least);
}

CASE(vmm, granularity_numa_current)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 7;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    prop.location.id = 0;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say_int((long long)least);
}

CASE(vmm, granularity_bad)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 7;
    say(cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say(cuMemGetAllocationGranularity(&least, &prop, (CUmemAllocationGranularity_flags)9));
    prop.location.id = 9999;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = on_device();
    prop.location.id = -1;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = on_device();
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = on_device();
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = on_device();
    prop.location.type = (CUmemLocationType)77;
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say_int((long long)least);
}

CASE(vmm, granularity_null_properties, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    size_t least = 7;
    say(cuMemGetAllocationGranularity(&least, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

CASE(vmm, granularity_without_context)
{
    CUmemAllocationProp prop = on_device();
    size_t least = 0;
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say_int((long long)least);
}

/* ---- reserving addresses ---- */

CASE(vmm, reserve)
{
    CUdeviceptr address = 0;
    say(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say_if("set", address != 0);
    say_if("aligned", address % UNIT == 0);
    say(cuMemAddressFree(address, UNIT));
}

CASE(vmm, reserve_sizes)
{
    size_t sizes[] = {0, 1, 4096, 65536, MIB, UNIT, UNIT + 4096, 3 * MIB, 3 * UNIT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr address = 0;
        CUresult status = cuMemAddressReserve(&address, sizes[i], 0, 0, 0);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemAddressFree(address, sizes[i]));
    }
}

CASE(vmm, reserve_alignments)
{
    size_t alignments[] = {1, 3, 4096, 65536, MIB, UNIT, 4 * UNIT, 3 * UNIT, (size_t)1 << 30};
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        CUdeviceptr address = 0;
        CUresult status = cuMemAddressReserve(&address, UNIT, alignments[i], 0, 0);
        say(status);
        if (status == CUDA_SUCCESS) {
            say_if("aligned", address % alignments[i] == 0);
            NEED(cuMemAddressFree(address, UNIT));
        }
    }
}

CASE(vmm, reserve_alignment_huge)
{
    CUdeviceptr address = 0;
    say(cuMemAddressReserve(&address, UNIT, (size_t)1 << 36, 0, 0));
    say_if("aligned", address % ((size_t)1 << 36) == 0);
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, reserve_much)
{
    CUdeviceptr address = 0;
    say(cuMemAddressReserve(&address, (size_t)1 << 40, 0, 0, 0));
    say(cuMemAddressFree(address, (size_t)1 << 40));
}

CASE(vmm, reserve_too_much)
{
    CUdeviceptr address = 77;
    say(cuMemAddressReserve(&address, (size_t)1 << 60, 0, 0, 0));
    say(cuMemAddressReserve(&address, ~(size_t)0 & ~(UNIT - 1), 0, 0, 0));
    say_int((long long)address);
}

CASE(vmm, reserve_at_hint)
{
    CUdeviceptr first = reserved(4 * UNIT), again = 0;
    NEED(cuMemAddressFree(first, 4 * UNIT));
    say(cuMemAddressReserve(&again, 4 * UNIT, 0, first, 0));
    say_if("there", again == first);
    NEED(cuMemAddressFree(again, 4 * UNIT));
}

CASE(vmm, reserve_at_taken_hint)
{
    CUdeviceptr first = reserved(4 * UNIT), second = 0;
    say(cuMemAddressReserve(&second, 4 * UNIT, 0, first, 0));
    say_if("elsewhere", second != first);
    if (second)
        NEED(cuMemAddressFree(second, 4 * UNIT));
    NEED(cuMemAddressFree(first, 4 * UNIT));
}

CASE(vmm, reserve_at_unaligned_hint)
{
    CUdeviceptr first = reserved(4 * UNIT), again = 0;
    NEED(cuMemAddressFree(first, 4 * UNIT));
    CUresult status = cuMemAddressReserve(&again, UNIT, 0, first + 100, 0);
    say(status);
    if (status == CUDA_SUCCESS) {
        say_if("aligned", again % UNIT == 0);
        NEED(cuMemAddressFree(again, UNIT));
    }
}

CASE(vmm, reserve_next_to_another, .allow = "CUDA_SUCCESS beside=yes",
     .why = "an address is a hint, which may be taken or not")
{
    CUdeviceptr first = reserved(4 * UNIT), low = 0, high = 0;
    NEED(cuMemAddressFree(first, 4 * UNIT));
    NEED(cuMemAddressReserve(&low, 2 * UNIT, 0, first, 0));
    say(cuMemAddressReserve(&high, 2 * UNIT, 0, first + 2 * UNIT, 0));
    say_if("beside", low == first && high == first + 2 * UNIT);
    NEED(cuMemAddressFree(low, 2 * UNIT));
    NEED(cuMemAddressFree(high, 2 * UNIT));
}

CASE(vmm, reserve_bad)
{
    CUdeviceptr address = 77;
    say(cuMemAddressReserve(NULL, UNIT, 0, 0, 0));
    say(cuMemAddressReserve(&address, UNIT, 0, 0, 1));
    say(cuMemAddressReserve(&address, UNIT, 0, 0, ~0ull));
    say_int((long long)address);
}

CASE(vmm, reserve_without_context)
{
    CUdeviceptr address = 0;
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say(cuMemAddressFree(address, UNIT));
}

CASE(vmm, reservation_is_no_memory)
{
    CUdeviceptr address = reserved(2 * UNIT), base = 77;
    size_t size = 77;
    unsigned word = 5;
    int type = 0;
    say(cuMemGetAddressRange(&base, &size, address));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say(cuMemcpyHtoD(address, &word, sizeof word));
    say(cuMemsetD32(address, 1, 1));
    say(cuMemFree(address));
    say(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, address_free_bad)
{
    CUdeviceptr address = reserved(4 * UNIT);
    say(cuMemAddressFree(0, UNIT));
    say(cuMemAddressFree(address, 0));
    say(cuMemAddressFree(address, 2 * UNIT));
    say(cuMemAddressFree(address + UNIT, UNIT));
    say(cuMemAddressFree(address + UNIT, 3 * UNIT));
    say(cuMemAddressFree(address, 8 * UNIT));
    say(cuMemAddressFree(address, 4 * UNIT));
    say(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, address_free_foreign)
{
    CUdeviceptr plain = gold_alloc(UNIT);
    say(cuMemAddressFree(plain, UNIT));
    say(cuMemAddressFree((CUdeviceptr)(uintptr_t)gold_foreign(), 65536));
    say(cuMemAddressFree(0xdead00000000ull, UNIT));
    NEED(cuMemFree(plain));
}

CASE(vmm, address_free_while_mapped)
{
    CUdeviceptr address = reserved(2 * UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(cuMemAddressFree(address, 2 * UNIT));
    say(cuMemUnmap(address, UNIT));
    say(cuMemAddressFree(address, 2 * UNIT));
    NEED(cuMemRelease(handle));
}

/* ---- making memory ---- */

CASE(vmm, create)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle = 0;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    say_if("set", handle != 0);
    say(cuMemRelease(handle));
}

CASE(vmm, create_sizes)
{
    size_t sizes[] = {0, 1, 4096, 65536, MIB, UNIT, UNIT + 65536, 3 * MIB, 5 * UNIT};
    CUmemAllocationProp prop = on_device();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUmemGenericAllocationHandle handle = 0;
        CUresult status = cuMemCreate(&handle, sizes[i], &prop, 0);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemRelease(handle));
    }
}

CASE(vmm, create_too_much)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle = 77;
    say(cuMemCreate(&handle, (size_t)1 << 46, &prop, 0));
    say_if("untouched", handle == 77);
}

CASE(vmm, create_bad)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle = 77;
    say(cuMemCreate(NULL, UNIT, &prop, 0));
    say(cuMemCreate(&handle, UNIT, &prop, 1));
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop.type = (CUmemAllocationType)99;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop = on_device();
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop.location.type = (CUmemLocationType)99;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop = on_device();
    prop.location.id = 9999;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop.location.id = -1;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    say_if("untouched", handle == 77);
}

CASE(vmm, create_null_properties, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUmemGenericAllocationHandle handle = 77;
    say(cuMemCreate(&handle, UNIT, NULL, 0));
}

CASE(vmm, create_managed_type)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle = 77;
    prop.type = (CUmemAllocationType)2; /* managed: for pools only */
    say(cuMemCreate(&handle, UNIT, &prop, 0));
}

CASE(vmm, create_handle_types)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    unsigned types[] = {CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_WIN32,
                        CU_MEM_HANDLE_TYPE_WIN32_KMT, 0x40, 0x1000};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        prop.requestedHandleTypes = (CUmemAllocationHandleType)types[i];
        CUresult status = cuMemCreate(&handle, UNIT, &prop, 0);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemRelease(handle));
    }
}

CASE(vmm, create_alloc_flags)
{
    CUmemAllocationProp prop = on_device(), told;
    CUmemGenericAllocationHandle handle;
    prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    CUresult status = cuMemCreate(&handle, UNIT, &prop, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemRelease(handle));
    prop = on_device();
    prop.allocFlags.gpuDirectRDMACapable = 1;
    status = cuMemCreate(&handle, UNIT, &prop, 0);
    say(status);
    if (status == CUDA_SUCCESS) {
        NEED(cuMemGetAllocationPropertiesFromHandle(&told, handle));
        say_int(told.allocFlags.gpuDirectRDMACapable);
        NEED(cuMemRelease(handle));
    }
    prop = on_device();
    prop.allocFlags.compressionType = 9;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop = on_device();
    prop.allocFlags.usage = 0x8000;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
}

CASE(vmm, create_tile_pool)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    CUresult status = cuMemCreate(&handle, UNIT, &prop, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemRelease(handle));
}

CASE(vmm, create_win32_data)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    prop.win32HandleMetaData = &prop;
    CUresult status = cuMemCreate(&handle, UNIT, &prop, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemRelease(handle));
}

CASE(vmm, create_host)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    CUmemLocationType types[] = {CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA,
                                 CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT};
    for (size_t i = 0; i < 3; i++) {
        prop.location.type = types[i];
        prop.location.id = 0;
        CUresult status = cuMemCreate(&handle, UNIT, &prop, 0);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemRelease(handle));
    }
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 9999;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    prop.location.id = -1;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
}

CASE(vmm, create_host_sizes)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    size_t sizes[] = {4096, 65536, MIB, UNIT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUresult status = cuMemCreate(&handle, sizes[i], &prop, 0);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemRelease(handle));
    }
}

CASE(vmm, create_without_context)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    say(cuMemRelease(handle));
}

CASE(vmm, create_counts_as_used, .allow = "taken_MiB=64 back=1",
     .why = "what hardware's driver keeps beside the memory changes the count")
{
    size_t before, during, after, total;
    CUdeviceptr plain = gold_alloc(64);
    NEED(cuMemGetInfo(&before, &total));
    CUmemGenericAllocationHandle handle = made(64 * MIB);
    NEED(cuMemGetInfo(&during, &total));
    say_value("taken_MiB", (long long)((before - during) / MIB));
    NEED(cuMemRelease(handle));
    NEED(cuMemGetInfo(&after, &total));
    say_value("back", after == before);
    NEED(cuMemFree(plain));
}

CASE(vmm, create_counts_while_mapped, .allow = "taken_MiB=64 back=1",
     .why = "what hardware's driver keeps beside the memory changes the count")
{
    size_t before, during, after, total;
    CUdeviceptr address = reserved(64 * MIB);
    NEED(cuMemGetInfo(&before, &total));
    CUmemGenericAllocationHandle handle = made(64 * MIB);
    NEED(cuMemMap(address, 64 * MIB, 0, handle, 0));
    NEED(cuMemRelease(handle));
    NEED(cuMemGetInfo(&during, &total));
    say_value("taken_MiB", (long long)((before - during) / MIB));
    NEED(cuMemUnmap(address, 64 * MIB));
    NEED(cuMemGetInfo(&after, &total));
    say_value("back", after == before);
    NEED(cuMemAddressFree(address, 64 * MIB));
}

CASE(vmm, release_bad)
{
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemRelease(0));
    say(cuMemRelease(handle));
    say(cuMemRelease(handle));
}

CASE(vmm, release_wild, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    say(cuMemRelease((CUmemGenericAllocationHandle)(uintptr_t)gold_foreign()));
    say(cuMemRelease((CUmemGenericAllocationHandle)(uintptr_t)GOLD_WILD));
}

CASE(vmm, properties)
{
    CUmemAllocationProp prop;
    memset(&prop, 0x55, sizeof prop);
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    say_value("type", prop.type);
    say_value("handles", prop.requestedHandleTypes);
    say_value("location", prop.location.type);
    say_value("id", prop.location.id);
    say_if("win32", prop.win32HandleMetaData != NULL);
    say_value("compression", prop.allocFlags.compressionType);
    say_value("rdma", prop.allocFlags.gpuDirectRDMACapable);
    say_value("usage", prop.allocFlags.usage);
    NEED(cuMemRelease(handle));
}

CASE(vmm, properties_exportable)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    memset(&prop, 0x55, sizeof prop);
    say(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    say_value("handles", prop.requestedHandleTypes);
    NEED(cuMemRelease(handle));
}

CASE(vmm, properties_host_numa)
{
    CUmemAllocationProp prop = on_device();
    CUmemGenericAllocationHandle handle;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    memset(&prop, 0x55, sizeof prop);
    say(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    say_value("location", prop.location.type);
    say_value("id", prop.location.id);
    NEED(cuMemRelease(handle));
}

CASE(vmm, properties_bad, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver reads the record of a released handle")
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemGetAllocationPropertiesFromHandle(NULL, handle));
    say(cuMemGetAllocationPropertiesFromHandle(&prop, 0));
    NEED(cuMemRelease(handle));
    say(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
}

/* ---- mapping ---- */

CASE(vmm, map_and_compute)
{
    CUdeviceptr address = reserved(UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemMap(address, UNIT, 0, handle, 0));
    say(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(address, 5, UNIT / 4));
    gold_add(NULL, address + UNIT - 4, 2);
    say_int(gold_word(address));
    say_int(gold_word(address + UNIT - 4));
    say(cuMemUnmap(address, UNIT));
    say(cuMemRelease(handle));
    say(cuMemAddressFree(address, UNIT));
}

CASE(vmm, map_twice_same_memory)
{
    CUdeviceptr one = reserved(UNIT), two = reserved(UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemMap(one, UNIT, 0, handle, 0));
    say(cuMemMap(two, UNIT, 0, handle, 0));
    NEED(open_to(one, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(open_to(two, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(one, 5, UNIT / 4));
    NEED(cuCtxSynchronize());
    say_int(gold_word(two + 400));
    gold_add(NULL, two + 400, 3);
    NEED(cuCtxSynchronize());
    say_int(gold_word(one + 400));
    NEED(cuMemUnmap(one, UNIT));
    say_int(gold_word(two + 400));
    NEED(cuMemUnmap(two, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(one, UNIT));
    NEED(cuMemAddressFree(two, UNIT));
}

CASE(vmm, map_over_mapping)
{
    CUdeviceptr address = reserved(2 * UNIT);
    CUmemGenericAllocationHandle one = made(UNIT), two = made(2 * UNIT);
    NEED(cuMemMap(address, UNIT, 0, one, 0));
    say(cuMemMap(address, UNIT, 0, one, 0));
    say(cuMemMap(address, 2 * UNIT, 0, two, 0));
    say(cuMemMap(address + UNIT, UNIT, 0, one, 0));
    NEED(cuMemUnmap(address, 2 * UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
    NEED(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, map_several_handles)
{
    CUdeviceptr address = reserved(3 * UNIT);
    CUmemGenericAllocationHandle handles[3];
    for (unsigned i = 0; i < 3; i++) {
        handles[i] = made(UNIT);
        NEED(cuMemMap(address + i * UNIT, UNIT, 0, handles[i], 0));
    }
    say(open_to(address, 3 * UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemsetD32(address, 9, 3 * UNIT / 4));
    gold_add(NULL, address + UNIT, 1);
    NEED(cuCtxSynchronize());
    say_int(gold_word(address + UNIT - 4));
    say_int(gold_word(address + UNIT));
    say_int(gold_word(address + 3 * UNIT - 4));
    say(cuMemUnmap(address, 3 * UNIT));
    for (unsigned i = 0; i < 3; i++)
        NEED(cuMemRelease(handles[i]));
    NEED(cuMemAddressFree(address, 3 * UNIT));
}

CASE(vmm, map_grows)
{
    CUdeviceptr address = reserved(8 * UNIT);
    CUmemGenericAllocationHandle one = made(UNIT), two = made(2 * UNIT);
    NEED(cuMemMap(address, UNIT, 0, one, 0));
    NEED(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(address, 4, UNIT / 4));
    say(cuMemMap(address + UNIT, 2 * UNIT, 0, two, 0));
    say(open_to(address + UNIT, 2 * UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemcpyDtoD(address + 2 * UNIT, address, UNIT));
    NEED(cuCtxSynchronize());
    say_int(gold_word(address + 3 * UNIT - 4));
    say_int(gold_word(address));
    NEED(cuMemUnmap(address, 3 * UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
    NEED(cuMemAddressFree(address, 8 * UNIT));
}

CASE(vmm, map_offset)
{
    CUdeviceptr address = reserved(2 * UNIT);
    CUmemGenericAllocationHandle handle = made(2 * UNIT);
    CUresult status = cuMemMap(address, UNIT, UNIT, handle, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, map_part)
{
    CUdeviceptr address = reserved(4 * UNIT);
    CUmemGenericAllocationHandle handle = made(4 * UNIT);
    CUresult status = cuMemMap(address, UNIT, 0, handle, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, map_bad)
{
    CUdeviceptr address = reserved(4 * UNIT);
    CUmemGenericAllocationHandle handle = made(2 * UNIT);
    say(cuMemMap(0, 2 * UNIT, 0, handle, 0));
    say(cuMemMap(address, 0, 0, handle, 0));
    say(cuMemMap(address, 2 * UNIT, 0, 0, 0));
    say(cuMemMap(address, 2 * UNIT, 0, handle, 1));
    say(cuMemMap(address + 4096, 2 * UNIT, 0, handle, 0));
    say(cuMemMap(address + MIB, 2 * UNIT, 0, handle, 0));
    say(cuMemMap(address, 2 * UNIT, 4096, handle, 0));
    say(cuMemMap(address, 4 * UNIT, 0, handle, 0));
    say(cuMemMap(address, UNIT + 4096, 0, handle, 0));
    say(cuMemMap(0xdead00000000ull, 2 * UNIT, 0, handle, 0));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, map_across_reservations)
{
    CUdeviceptr first = reserved(4 * UNIT), low = 0, high = 0;
    CUmemGenericAllocationHandle handle = made(2 * UNIT);
    NEED(cuMemAddressFree(first, 4 * UNIT));
    NEED(cuMemAddressReserve(&low, 2 * UNIT, 0, first, 0));
    NEED(cuMemAddressReserve(&high, 2 * UNIT, 0, first + 2 * UNIT, 0));
    say_if("beside", high == low + 2 * UNIT);
    CUresult status = cuMemMap(low + UNIT, 2 * UNIT, 0, handle, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuMemUnmap(low + UNIT, 2 * UNIT));
    NEED(cuMemAddressFree(low, 2 * UNIT));
    NEED(cuMemAddressFree(high, 2 * UNIT));
    NEED(cuMemRelease(handle));
}

CASE(vmm, map_allocated_memory)
{
    CUdeviceptr plain = gold_alloc(2 * UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemMap((plain + UNIT - 1) / UNIT * UNIT, UNIT, 0, handle, 0));
    say(cuMemUnmap((plain + UNIT - 1) / UNIT * UNIT, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemFree(plain));
}

CASE(vmm, unmap_parts)
{
    CUdeviceptr address = reserved(4 * UNIT);
    CUmemGenericAllocationHandle one = made(2 * UNIT), two = made(UNIT);
    NEED(cuMemMap(address, 2 * UNIT, 0, one, 0));
    NEED(cuMemMap(address + 2 * UNIT, UNIT, 0, two, 0));
    say(cuMemUnmap(address, UNIT));
    say(cuMemUnmap(address + UNIT, UNIT));
    say(cuMemUnmap(address + UNIT, 2 * UNIT));
    say(cuMemUnmap(address, 2 * UNIT));
    say(cuMemUnmap(address, 2 * UNIT));
    say(cuMemUnmap(address + 2 * UNIT, 2 * UNIT));
    say(cuMemUnmap(address + 2 * UNIT, UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
    NEED(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, unmap_with_holes)
{
    CUdeviceptr address = reserved(4 * UNIT);
    CUmemGenericAllocationHandle one = made(UNIT), two = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, one, 0));
    NEED(cuMemMap(address + 2 * UNIT, UNIT, 0, two, 0));
    CUresult status = cuMemUnmap(address, 4 * UNIT);
    say(status);
    say(cuMemUnmap(address, UNIT));
    say(cuMemUnmap(address + 2 * UNIT, UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
    say(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, unmap_bad)
{
    CUdeviceptr address = reserved(2 * UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(cuMemUnmap(0, UNIT));
    say(cuMemUnmap(address, 0));
    say(cuMemUnmap(address, 4096));
    say(cuMemUnmap(address + 4096, UNIT));
    say(cuMemUnmap(0xdead00000000ull, UNIT));
    say(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, release_before_unmap)
{
    CUdeviceptr address = reserved(UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(cuMemRelease(handle));
    say(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(address, 5, 4));
    say_int(gold_word(address + 4));
    say(cuMemRelease(handle));
    say(cuMemUnmap(address, UNIT));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, memory_stays_over_unmap)
{
    CUdeviceptr address = reserved(2 * UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(address, 41, 4));
    NEED(cuCtxSynchronize());
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemMap(address + UNIT, UNIT, 0, handle, 0));
    NEED(open_to(address + UNIT, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_int(gold_word(address + UNIT + 4));
    NEED(cuMemUnmap(address + UNIT, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, free_refused)
{
    CUdeviceptr address = reserved(UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemFree(address));
    say(cuMemFreeHost((void *)(uintptr_t)address));
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, survives_its_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr address = reserved(UNIT);
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(open_to(address, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    NEED(cuMemsetD32(address, 6, 4));
    NEED(cuCtxSynchronize());
    say(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say_int(gold_word(address));
    say(cuMemUnmap(address, UNIT));
    say(cuMemRelease(handle));
    say(cuMemAddressFree(address, UNIT));
}
