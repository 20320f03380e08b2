/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools and two devices: who may use memory of the other one's pools,
 * and which stream may allocate from them.
 */
#include "gold.h"

#include <string.h>

static CUmemoryPool pool_on(int device)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = device;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    return pool;
}

static void say_access(CUmemoryPool pool, int device)
{
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    say(cuMemPoolGetAccess(&flags, pool, &location));
    say_int(flags);
}

static CUresult set_access(CUmemoryPool pool, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, device}, .flags = flags};
    return cuMemPoolSetAccess(pool, &desc, 1);
}

/* Memory of a pool of device 1, allocated in a stream of device 0, which is current. */
static CUdeviceptr foreign(CUmemoryPool pool)
{
    CUdeviceptr address;
    NEED(cuMemAllocFromPoolAsync(&address, 4096, pool, NULL));
    NEED(cuStreamSynchronize(NULL));
    return address;
}

CASE(mempool_peer, access, .alone = true, .devices = 2)
{
    CUmemoryPool pool = pool_on(1);
    say_access(pool, 0);
    say_access(pool, 1);
    say(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(pool, 0);
    say(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
    say_access(pool, 0);
    say(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    say_access(pool, 0);
    say(set_access(pool, 1, CU_MEM_ACCESS_FLAGS_PROT_NONE));
}

CASE(mempool_peer, access_changed_with_allocations, .alone = true, .devices = 2)
{
    CUmemoryPool pool = pool_on(1);
    CUdeviceptr address = foreign(pool);
    say(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemsetD32(address, 3, 4));
    say(cuCtxSynchronize());
    say(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    say_access(pool, 0);
    say(cuMemsetD32(address, 4, 4));
    say(cuCtxSynchronize());
}

CASE(mempool_peer, fill_without_access, .alone = true, .devices = 2)
{
    CUdeviceptr address = foreign(pool_on(1));
    say(cuMemsetD32(address, 3, 4));
    say(cuMemsetD32Async(address, 3, 4, NULL));
    say(cuCtxSynchronize());
}

CASE(mempool_peer, copy_without_access, .alone = true, .devices = 2)
{
    CUdeviceptr address = foreign(pool_on(1)), own = gold_alloc_words(4, 6);
    unsigned word = 5;
    say(cuMemcpyHtoD(address, &word, 4));
    say(cuMemcpyDtoD(address + 4, own, 4));
    say(cuCtxSynchronize());
    word = 0;
    say(cuMemcpyDtoH(&word, address + 4, 4));
    say_int(word);
}

CASE(mempool_peer, fill_with_access, .alone = true, .devices = 2)
{
    CUmemoryPool pool = pool_on(1);
    NEED(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    CUdeviceptr address = foreign(pool);
    say(cuMemsetD32(address, 3, 4));
    gold_add(NULL, address, 4);
    say(cuCtxSynchronize());
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
}

CASE(mempool_peer, facts_without_access, .alone = true, .devices = 2)
{
    CUmemoryPool pool = pool_on(1);
    CUdeviceptr address = foreign(pool), device = 0;
    int ordinal = -1;
    unsigned access = 99;
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    say_int(ordinal);
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("same", device == address);
    say(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    say_int(access);
    NEED(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("same", device == address);
    say(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    say_int(access);
}

CASE(mempool_peer, peer_access_of_contexts_does_not_count, .alone = true, .devices = 2)
{
    CUcontext other;
    CUmemoryPool pool = pool_on(1);
    CUdeviceptr address = foreign(pool);
    NEED(cuCtxCreate(&other, NULL, 0, 1));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuCtxEnablePeerAccess(other, 0));
    say(cuMemsetD32(address, 3, 4));
    say_access(pool, 0);
}

CASE(mempool_peer, current_pool_of_each, .alone = true, .devices = 2)
{
    CUmemoryPool first = NULL, second = NULL, pool = pool_on(1);
    NEED(cuDeviceGetDefaultMemPool(&first, 0));
    NEED(cuDeviceGetDefaultMemPool(&second, 1));
    say_if("differ", first != second);
    say(cuDeviceSetMemPool(0, pool));
    say(cuDeviceSetMemPool(1, pool));
    say(cuDeviceSetMemPool(0, second));
}

CASE(mempool_peer, host_pool_without_access, .alone = true)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = foreign(pool);
    say(cuMemsetD32(address, 3, 4));
    say(cuCtxSynchronize());
    unsigned word = 0;
    say(cuMemcpyDtoH(&word, address, 4));
    say_int(word);
}

CASE(mempool_peer, host_pool_with_access, .alone = true)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    NEED(set_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    CUdeviceptr address = foreign(pool), device = 0;
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("same", device == address);
    say(cuMemsetD32(address, 3, 4));
    gold_add(NULL, address, 4);
    say(cuCtxSynchronize());
    say_int(*(volatile unsigned *)(uintptr_t)address);
}

CASE(mempool_peer, managed_pool, .alone = true)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = (CUmemAllocationType)2; /* managed */
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = foreign(pool), device = 0;
    void *host = NULL;
    bool managed = false;
    unsigned type = 0;
    say(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    say_if("managed", managed);
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_value("type", type);
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("device_same", device == address);
    say(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    say_if("host_same", host == (void *)(uintptr_t)address);
    say(cuMemsetD32(address, 3, 4));
    say(cuCtxSynchronize());
    say_int(*(volatile unsigned *)(uintptr_t)address);
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    say(cuMemPrefetchAsync(address, 4096, here, 0, NULL));
    say(cuMemAdvise(address, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
}
