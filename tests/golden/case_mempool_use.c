/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools in use: how much they reserve, when they give it back, what
 * allocation and free refuse, what is known of an address, who may access
 * it.  The pools themselves are in case_mempool.c.
 */
#include "gold.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static CUmemPoolProps props_new(void)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = gold_device();
    return props;
}

static CUmemoryPool pool_new(void)
{
    CUmemPoolProps props = props_new();
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    return pool;
}

static CUmemoryPool default_pool(void)
{
    CUmemoryPool pool;
    NEED(cuDeviceGetDefaultMemPool(&pool, gold_device()));
    return pool;
}

static void say_attribute(CUmemoryPool pool, const char *name, CUmemPool_attribute attribute)
{
    cuuint64_t value = 0x5555555555555555u;
    CUresult status = cuMemPoolGetAttribute(pool, attribute, &value);
    if (status != CUDA_SUCCESS)
        say(status);
    say_value(name, (long long)value);
}

static void say_numbers(CUmemoryPool pool)
{
    say_attribute(pool, "reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    say_attribute(pool, "reserved_high", CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    say_attribute(pool, "used_high", CU_MEMPOOL_ATTR_USED_MEM_HIGH);
}

static CUdeviceptr pool_alloc(CUmemoryPool pool, size_t size, CUstream stream)
{
    CUdeviceptr address;
    NEED(cuMemAllocFromPoolAsync(&address, size, pool, stream));
    return address;
}

static void hold(CUmemoryPool pool)
{
    cuuint64_t all = UINT64_MAX;
    NEED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
}

/* ---- how much is used and reserved ---- */

static void numbers_of(size_t size)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    CUdeviceptr address = 0;
    say(cuMemAllocFromPoolAsync(&address, size, pool, stream));
    say_numbers(pool);
    size_t known = 0, mapping = 0;
    say(cuPointerGetAttribute(&known, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    say_value("range", (long long)known);
    say(cuPointerGetAttribute(&mapping, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address));
    say_value("mapping", (long long)mapping);
    say_if("aligned", address % 512 == 0);
    NEED(cuMemFreeAsync(address, stream));
    NEED(cuStreamSynchronize(stream));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, numbers_1)
{
    numbers_of(1);
}

CASE(mempool, numbers_513)
{
    numbers_of(513);
}

CASE(mempool, numbers_1m)
{
    numbers_of(MIB + 1);
}

CASE(mempool, numbers_32m)
{
    numbers_of(32 * MIB);
}

CASE(mempool, numbers_33m)
{
    numbers_of(33 * MIB + 5);
}

CASE(mempool, numbers_100m)
{
    numbers_of(100 * MIB);
}

CASE(mempool, numbers_many)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    CUdeviceptr addresses[40];
    for (int i = 0; i < 40; i++) {
        addresses[i] = pool_alloc(pool, (size_t)(i + 1) * 1000, stream);
        for (int j = 0; j < i; j++)
            if (addresses[i] < addresses[j] + (size_t)(j + 1) * 1000 &&
                addresses[j] < addresses[i] + (size_t)(i + 1) * 1000)
                say_text("overlap");
    }
    say_numbers(pool);
    for (int i = 0; i < 40; i++)
        NEED(cuMemFreeAsync(addresses[i], stream));
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    NEED(cuStreamSynchronize(stream));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, max_size_enforced)
{
    CUmemPoolProps props = props_new();
    props.maxSize = 64 * MIB;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUstream stream = gold_stream(0);
    CUdeviceptr a = 0, b = 0, c = 0;
    say(cuMemAllocFromPoolAsync(&a, 100 * MIB, pool, stream));
    say(cuMemAllocFromPoolAsync(&a, 40 * MIB, pool, stream));
    say(cuMemAllocFromPoolAsync(&b, 40 * MIB, pool, stream));
    say(cuMemAllocFromPoolAsync(&c, 20 * MIB, pool, stream));
    say_numbers(pool);
    say(cuMemFreeAsync(a, stream));
    say(cuMemAllocFromPoolAsync(&b, 40 * MIB, pool, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, max_size_small)
{
    CUmemPoolProps props = props_new();
    props.maxSize = 4096;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUstream stream = gold_stream(0);
    CUdeviceptr a = 0;
    say(cuMemAllocFromPoolAsync(&a, 4096, pool, stream));
    say(cuMemAllocFromPoolAsync(&a, 8192, pool, stream));
    say_numbers(pool);
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, trim)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    hold(pool);
    CUdeviceptr a = pool_alloc(pool, 100 * MIB, stream), b = pool_alloc(pool, 50 * MIB, stream);
    NEED(cuMemFreeAsync(a, stream));
    NEED(cuStreamSynchronize(stream));
    say_attribute(pool, "reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    say(cuMemPoolTrimTo(pool, 400 * MIB));
    say_attribute(pool, "reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    say(cuMemPoolTrimTo(pool, 1));
    say_attribute(pool, "reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    NEED(cuMemFreeAsync(b, stream));
    say(cuMemPoolTrimTo(pool, 0));
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    NEED(cuStreamSynchronize(stream));
    say(cuMemPoolTrimTo(pool, 0));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, trim_bad)
{
    say(cuMemPoolTrimTo(NULL, 0));
    say(cuMemPoolTrimTo(default_pool(), SIZE_MAX));
}

static void release_at(const char *what, CUresult (*point)(CUstream, CUevent), cuuint64_t threshold)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(0);
    NEED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CUdeviceptr address = pool_alloc(pool, 100 * MIB, stream);
    NEED(cuMemFreeAsync(address, stream));
    NEED(cuEventRecord(event, stream));
    say_attribute(pool, "before", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    NEED(gold_wait_event(event, 2000));
    say_attribute(pool, "done", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    say_text(what);
    say(point(stream, event));
    say_attribute(pool, "after", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    NEED(cuMemPoolDestroy(pool));
}

static CUresult by_stream(CUstream stream, CUevent event)
{
    (void)event;
    return cuStreamSynchronize(stream);
}

static CUresult by_event(CUstream stream, CUevent event)
{
    (void)stream;
    return cuEventSynchronize(event);
}

static CUresult by_context(CUstream stream, CUevent event)
{
    (void)stream;
    (void)event;
    return cuCtxSynchronize();
}

static CUresult by_query(CUstream stream, CUevent event)
{
    (void)event;
    return cuStreamQuery(stream);
}

CASE(mempool, release_stream_synchronize)
{
    release_at("stream", by_stream, 0);
}

CASE(mempool, release_event_synchronize)
{
    release_at("event", by_event, 0);
}

CASE(mempool, release_context_synchronize)
{
    release_at("context", by_context, 0);
}

CASE(mempool, release_query)
{
    release_at("query", by_query, 0);
}

CASE(mempool, release_threshold_held)
{
    release_at("stream", by_stream, 200 * MIB);
}

CASE(mempool, release_threshold_between)
{
    release_at("stream", by_stream, 50 * MIB);
}

/* ---- allocation and free ---- */

CASE(mempool, alloc_free_null_stream)
{
    CUdeviceptr address = 0;
    say(cuMemAllocAsync(&address, 4096, NULL));
    say_if("address", address != 0);
    say(cuMemsetD32Async(address, 5, 1024, NULL));
    say_int(gold_word(address + 4092));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
}

CASE(mempool, alloc_free_each_stream)
{
    CUstream streams[] = {gold_stream(0), gold_stream(CU_STREAM_NON_BLOCKING), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 4; i++) {
        CUdeviceptr address = 0;
        say(cuMemAllocAsync(&address, 64, streams[i]));
        say(cuMemFreeAsync(address, streams[i]));
        say(cuStreamSynchronize(streams[i]));
    }
}

CASE(mempool, alloc_zero)
{
    CUdeviceptr address = 5;
    say(cuMemAllocAsync(&address, 0, NULL));
    say_text(address == 0 ? "null" : address == 5 ? "untouched" : "address");
    say(cuMemFreeAsync(address, NULL));
    CUmemoryPool pool = pool_new();
    address = 5;
    say(cuMemAllocFromPoolAsync(&address, 0, pool, NULL));
    say_text(address == 0 ? "null" : address == 5 ? "untouched" : "address");
    say_attribute(pool, "reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, alloc_null)
{
    say(cuMemAllocAsync(NULL, 16, NULL));
    CUmemoryPool pool = pool_new();
    say(cuMemAllocFromPoolAsync(NULL, 16, pool, NULL));
    CUdeviceptr address = 0;
    say(cuMemAllocFromPoolAsync(&address, 16, NULL, NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, alloc_too_much)
{
    CUdeviceptr address = 5;
    say(cuMemAllocAsync(&address, (size_t)1 << 46, NULL));
    say(cuMemAllocAsync(&address, SIZE_MAX, NULL));
    say(cuMemAllocAsync(&address, SIZE_MAX - 4096, NULL));
    say(cuMemAllocAsync(&address, SIZE_MAX / 2, NULL));
    size_t free_bytes = 0, total = 0;
    NEED(cuMemGetInfo(&free_bytes, &total));
    say(cuMemAllocAsync(&address, total + 1, NULL));
    say(cuCtxSynchronize());
    say(cuMemAllocAsync(&address, 16, NULL));
    say(cuMemFreeAsync(address, NULL));
}

CASE(mempool, alloc_without_context, .alone = true)
{
    CUstream stream = gold_stream(0);
    CUmemoryPool pool = pool_new();
    NEED(cuCtxSetCurrent(NULL));
    CUdeviceptr address = 0;
    say(cuMemAllocAsync(&address, 16, NULL));
    say(cuMemAllocFromPoolAsync(&address, 16, pool, NULL));
    say(cuMemFreeAsync(0, NULL));
    say(cuMemAllocAsync(&address, 16, stream));
    say(cuMemFreeAsync(address, stream));
    say(cuMemAllocFromPoolAsync(&address, 16, pool, stream));
    say(cuMemFreeAsync(address, stream));
    say(cuStreamSynchronize(stream));
}

CASE(mempool, alloc_destroyed_stream, .alone = true,
     .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED|CUDA_ERROR_INVALID_VALUE",
     .why = "hardware may crash on a destroyed stream")
{
    CUstream stream = gold_stream(0);
    NEED(cuStreamDestroy(stream));
    CUdeviceptr address = 0;
    say(cuMemAllocAsync(&address, 16, stream));
}

CASE(mempool, free_null)
{
    say(cuMemFreeAsync(0, NULL));
    CUstream stream = gold_stream(0);
    say(cuMemFreeAsync(0, stream));
}

CASE(mempool, free_twice)
{
    CUstream stream = gold_stream(0);
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 4096, stream);
    say(cuMemFreeAsync(address, stream));
    say(cuMemFreeAsync(address, stream));
    say(cuStreamSynchronize(stream));
    say(cuMemFreeAsync(address, stream));
    say(cuMemFree(address));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, free_twice_gated)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 4096, stream);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemFreeAsync(address, stream));
    say(cuMemFreeAsync(address, stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, free_inner)
{
    CUdeviceptr address = 0;
    NEED(cuMemAllocAsync(&address, 8192, NULL));
    say(cuMemFreeAsync(address + 512, NULL));
    say(cuMemFreeAsync(address + 1, NULL));
    say(cuMemFreeAsync(address, NULL));
}

CASE(mempool, free_foreign)
{
    int local = 0;
    say(cuMemFreeAsync((CUdeviceptr)(uintptr_t)&local, NULL));
    say(cuMemFreeAsync((CUdeviceptr)(uintptr_t)GOLD_WILD, NULL));
    void *pinned = NULL;
    NEED(cuMemHostAlloc(&pinned, 4096, 0));
    say(cuMemFreeAsync((CUdeviceptr)(uintptr_t)pinned, NULL));
    NEED(cuMemFreeHost(pinned));
}

CASE(mempool, free_global)
{
    CUdeviceptr address;
    size_t size;
    NEED(cuModuleGetGlobal(&address, &size, gold_module(), "counter"));
    say(cuMemFreeAsync(address, NULL));
}

CASE(mempool, free_managed)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    CUresult status = cuMemFreeAsync(address, NULL);
    say(status);
    say(cuStreamSynchronize(NULL));
    if (status != CUDA_SUCCESS)
        say(cuMemFree(address));
}

CASE(mempool, free_async_of_mem_alloc)
{
    CUdeviceptr address = gold_alloc(4 << 20);
    CUstream stream = gold_stream(0);
    say(cuMemFreeAsync(address, stream));
    say(cuStreamSynchronize(stream));
    say(cuMemFree(address));
}

CASE(mempool, free_of_pool_memory, .allow = "CUDA_SUCCESS used=0 CUDA_ERROR_INVALID_VALUE",
     .why = "hardware counts it later")
{
    CUstream stream = gold_stream(0);
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 4096, stream);
    say(cuMemFree(address));
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    say(cuMemFree(address));
    NEED(cuMemPoolDestroy(pool));
}

/* Hardware takes the memory away under the work; nobody should rely on that. */
CASE(mempool, free_sync_waits, .alone = true, .allow = "CUDA_SUCCESS CUDA_SUCCESS",
     .why = "here the free waits for the work, as the manual says of cuMemFree")
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = 0;
    NEED(cuMemAllocAsync(&address, 4 * MIB, stream));
    NEED(cuMemsetD32Async(address, 1, MIB, stream));
    say(cuMemFree(address));
    say(cuStreamQuery(stream));
}

CASE(mempool, free_other_stream)
{
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING), b = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = 0;
    say(cuMemAllocAsync(&address, 4096, a));
    NEED(cuStreamSynchronize(a));
    say(cuMemFreeAsync(address, b));
    say(cuStreamSynchronize(b));
}

CASE(mempool, free_after_context_destroyed, .alone = true)
{
    CUcontext other = gold_context_new();
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 4096, NULL);
    NEED(cuStreamSynchronize(NULL));
    say(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    say(cuMemsetD32(address, 3, 16));
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    say_attribute(pool, "used", CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
}

CASE(mempool, free_from_other_context, .alone = true)
{
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 4096, NULL);
    NEED(cuStreamSynchronize(NULL));
    gold_context_new();
    say(cuMemsetD32(address, 9, 16));
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
}

CASE(mempool, free_host_as_pinned)
{
    CUdeviceptr address = 0;
    NEED(cuMemAllocAsync(&address, 4096, NULL));
    say(cuMemFreeHost((void *)(uintptr_t)address));
    say(cuMemFreeAsync(address, NULL));
}

/* ---- what is known of an address ---- */

static void facts(CUdeviceptr address, CUmemoryPool pool, bool with_context)
{
    CUcontext context = (CUcontext)1;
    unsigned type = 0;
    int ordinal = -9;
    CUdeviceptr device = 0;
    void *host = NULL;
    bool managed = true, mapped = false, legacy = true;
    unsigned long long handles = 99, block = 0;
    unsigned access = 99;
    CUmemoryPool of = NULL;
    CUresult status = cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    say(status);
    if (with_context)
        say_text(context == gold_context() ? "own" : context ? "other" : "none");
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_value("type", type);
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    say_value("ordinal", ordinal);
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("device_same", device == address);
    say(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    say_if("host_same", host == (void *)(uintptr_t)address);
    say(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    say_if("managed", managed);
    say(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    say_if("mapped", mapped);
    say(cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
    say_if("legacy_ipc", legacy);
    say(cuPointerGetAttribute(&handles, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
    say_value("handles", (long long)handles);
    say(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    say_value("access", access);
    say(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    say_if("pool", of == pool);
    say(cuPointerGetAttribute(&block, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, address));
    say_if("block", block != 0);
}

CASE(mempool, facts)
{
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 5000, NULL);
    facts(address, pool, true);
    facts(address + 100, pool, true);
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, facts_shareable)
{
    CUmemPoolProps props = props_new();
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = pool_alloc(pool, 5000, NULL);
    facts(address, pool, true);
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, facts_host)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = pool_alloc(pool, 5000, NULL);
    facts(address, pool, true);
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, facts_range)
{
    CUmemoryPool pool = pool_new();
    CUdeviceptr address = pool_alloc(pool, 5000, NULL), start = 0, other = pool_alloc(pool, 64, NULL);
    size_t size = 0;
    say(cuMemGetAddressRange(&start, &size, address + 77));
    say_if("start", start == address);
    say_value("size", (long long)size);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 77));
    say_if("start", start == address);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, address + 77));
    say_if("mapping_start", start == address);
    unsigned long long a = 0, b = 0, inner = 0;
    NEED(cuPointerGetAttribute(&a, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    NEED(cuPointerGetAttribute(&inner, CU_POINTER_ATTRIBUTE_BUFFER_ID, address + 9));
    NEED(cuPointerGetAttribute(&b, CU_POINTER_ATTRIBUTE_BUFFER_ID, other));
    say_if("ids_differ", a != b);
    say_if("inner_same", a == inner);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 5000));
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuMemFreeAsync(other, NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, facts_pool_of_others)
{
    CUmemoryPool pool = (CUmemoryPool)1;
    CUdeviceptr address = gold_alloc(64);
    say(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    say_if("none", pool == NULL);
    void *pinned = NULL;
    NEED(cuMemHostAlloc(&pinned, 64, 0));
    pool = (CUmemoryPool)1;
    say(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, (CUdeviceptr)(uintptr_t)pinned));
    say_if("none", pool == NULL);
    NEED(cuMemFreeHost(pinned));
}

CASE(mempool, sync_memops)
{
    CUdeviceptr address = 0;
    NEED(cuMemAllocAsync(&address, 4096, NULL));
    unsigned on = 1;
    say(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    NEED(cuMemFreeAsync(address, NULL));
}

/* ---- copies and fills ---- */

CASE(mempool, copy_through)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    CUdeviceptr a = pool_alloc(pool, 4096, stream), b = pool_alloc(pool, 4096, stream);
    unsigned values[1024], back[1024];
    for (unsigned i = 0; i < 1024; i++)
        values[i] = i * 2654435761u;
    say(cuMemcpyHtoDAsync(a, values, 4096, stream));
    say(cuMemcpyDtoDAsync(b, a, 4096, stream));
    say(cuMemFreeAsync(a, stream));
    say(cuMemcpyDtoHAsync(back, b, 4096, stream));
    say(cuMemFreeAsync(b, stream));
    say(cuStreamSynchronize(stream));
    say_if("equal", memcmp(values, back, 4096) == 0);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, host_pool_access)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = pool_alloc(pool, 4096, NULL);
    NEED(cuStreamSynchronize(NULL));
    *(volatile unsigned *)(uintptr_t)address = 99;
    say_int(*(volatile unsigned *)(uintptr_t)address);
    say(cuMemFreeAsync(address, NULL));
    say(cuStreamSynchronize(NULL));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, host_pool_numbers)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUdeviceptr address = pool_alloc(pool, 4096, NULL);
    say_numbers(pool);
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuStreamSynchronize(NULL));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

/* ---- access ---- */

CASE(mempool, access_get)
{
    CUmemoryPool pool = pool_new();
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    say(cuMemPoolGetAccess(&flags, pool, &location));
    say_int(flags);
    location.type = CU_MEM_LOCATION_TYPE_HOST;
    flags = (CUmemAccess_flags)99;
    say(cuMemPoolGetAccess(&flags, pool, &location));
    say_int(flags);
    location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    flags = (CUmemAccess_flags)99;
    say(cuMemPoolGetAccess(&flags, pool, &location));
    say_int(flags);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, access_get_bad)
{
    CUmemoryPool pool = pool_new();
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    say(cuMemPoolGetAccess(NULL, pool, &location));
    say(cuMemPoolGetAccess(&flags, NULL, &location));
    say(cuMemPoolGetAccess(&flags, pool, NULL));
    location.id = 999;
    say(cuMemPoolGetAccess(&flags, pool, &location));
    location.id = -1;
    say(cuMemPoolGetAccess(&flags, pool, &location));
    location.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemPoolGetAccess(&flags, pool, &location));
    say_int(flags);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, access_get_host_pool)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    static const CUmemLocation places[] = {
        {CU_MEM_LOCATION_TYPE_HOST, 0}, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    for (int i = 0; i < 3; i++) {
        CUmemAccess_flags flags = (CUmemAccess_flags)99;
        CUmemLocation place = places[i];
        say(cuMemPoolGetAccess(&flags, pool, &place));
        say_int(flags);
    }
    CUmemAccessDesc desc = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, gold_device()},
                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    say(cuMemPoolSetAccess(pool, &desc, 1));
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    say(cuMemPoolGetAccess(&flags, pool, &desc.location));
    say_int(flags);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, access_set_own_device)
{
    static const CUmemAccess_flags flags[] = {CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_ACCESS_FLAGS_PROT_READ,
                                              CU_MEM_ACCESS_FLAGS_PROT_NONE, (CUmemAccess_flags)2,
                                              (CUmemAccess_flags)7};
    for (int i = 0; i < 5; i++) {
        CUmemoryPool pool = pool_new();
        CUmemAccessDesc desc = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, gold_device()}, .flags = flags[i]};
        say(cuMemPoolSetAccess(pool, &desc, 1));
        CUmemAccess_flags now = (CUmemAccess_flags)99;
        say(cuMemPoolGetAccess(&now, pool, &desc.location));
        say_int(now);
        NEED(cuMemPoolDestroy(pool));
    }
}

CASE(mempool, access_set_bad)
{
    CUmemoryPool pool = pool_new();
    CUmemAccessDesc desc = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, gold_device()},
                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    say(cuMemPoolSetAccess(NULL, &desc, 1));
    say(cuMemPoolSetAccess(pool, NULL, 1));
    say(cuMemPoolSetAccess(pool, &desc, 0));
    say(cuMemPoolSetAccess(pool, NULL, 0));
    desc.location.id = 999;
    say(cuMemPoolSetAccess(pool, &desc, 1));
    desc.location.id = -1;
    say(cuMemPoolSetAccess(pool, &desc, 1));
    desc.location.id = gold_device();
    desc.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemPoolSetAccess(pool, &desc, 1));
    desc.location.type = CU_MEM_LOCATION_TYPE_HOST;
    say(cuMemPoolSetAccess(pool, &desc, 1));
    desc.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    desc.location.id = 0;
    say(cuMemPoolSetAccess(pool, &desc, 1));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, access_set_host_pool_host)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    static const CUmemAccess_flags flags[] = {CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_ACCESS_FLAGS_PROT_READ,
                                              CU_MEM_ACCESS_FLAGS_PROT_NONE};
    for (int i = 0; i < 3; i++) {
        CUmemAccessDesc desc = {.location = {CU_MEM_LOCATION_TYPE_HOST, 0}, .flags = flags[i]};
        say(cuMemPoolSetAccess(pool, &desc, 1));
        CUmemAccess_flags now = (CUmemAccess_flags)99;
        say(cuMemPoolGetAccess(&now, pool, &desc.location));
        say_int(now);
    }
    NEED(cuMemPoolDestroy(pool));
}

/* ---- the device's word on it ---- */

CASE(mempool, device_attributes)
{
    static const CUdevice_attribute attributes[] = {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                                    CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES};
    for (int i = 0; i < 2; i++) {
        int value = -1;
        say(cuDeviceGetAttribute(&value, attributes[i], gold_device()));
        say_if("posix", (value & 1) != 0);
    }
}

CASE(mempool, info_counts, .alone = true, .allow = "taken=yes held=yes returned=yes",
     .why = "other processes may use the device meanwhile")
{
    CUmemoryPool pool = pool_new();
    size_t before = 0, during = 0, after = 0, total = 0;
    hold(pool);
    NEED(cuCtxSynchronize());
    NEED(cuMemGetInfo(&before, &total));
    CUdeviceptr address = pool_alloc(pool, 512 * MIB, NULL);
    NEED(cuStreamSynchronize(NULL));
    NEED(cuMemGetInfo(&during, &total));
    say_if("taken", before - during >= 512 * MIB);
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuStreamSynchronize(NULL));
    NEED(cuMemGetInfo(&after, &total));
    say_if("held", before - after >= 512 * MIB);
    NEED(cuMemPoolTrimTo(pool, 0));
    NEED(cuMemGetInfo(&after, &total));
    say_if("returned", before <= after + 64 * MIB);
}

CASE(mempool, plain_alloc_takes_held_memory, .alone = true)
{
    CUmemoryPool pool = pool_new();
    size_t available = 0, total = 0;
    hold(pool);
    NEED(cuMemGetInfo(&available, &total));
    size_t most = available / 4 * 3 / (64 * MIB) * (64 * MIB);
    CUdeviceptr address = pool_alloc(pool, most, NULL), plain = 0;
    NEED(cuMemFreeAsync(address, NULL));
    NEED(cuStreamSynchronize(NULL));
    cuuint64_t held = 0;
    NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
    say_if("held", held >= most);
    say(cuMemAlloc(&plain, most));
    NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
    say_if("released", held < most);
}
