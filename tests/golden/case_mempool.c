/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools: making and ending them, their properties and attributes, the
 * default and the current pool, and what allocation and free refuse.  What
 * depends on the order of streams is in case_mempool_order.c, sharing between
 * processes in case_mempool_share.c.
 *
 * Cases that count bytes use a pool of their own, since the default pool
 * serves all cases of a process.
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

/* Says the status of making a pool with these properties, and ends the pool. */
static void try_create(const CUmemPoolProps *props)
{
    CUmemoryPool pool = NULL;
    CUresult status = cuMemPoolCreate(&pool, props);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuMemPoolDestroy(pool));
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

static void say_flag(CUmemoryPool pool, const char *name, CUmemPool_attribute attribute)
{
    int value = -7;
    say(cuMemPoolGetAttribute(pool, attribute, &value));
    say_value(name, value);
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

/* ---- making and ending ---- */

CASE(mempool, create_destroy)
{
    CUmemPoolProps props = props_new();
    CUmemoryPool pool = NULL;
    say(cuMemPoolCreate(&pool, &props));
    say_if("handle", pool != NULL);
    say(cuMemPoolDestroy(pool));
}

CASE(mempool, create_nulls)
{
    CUmemPoolProps props = props_new();
    CUmemoryPool pool = NULL;
    say(cuMemPoolCreate(NULL, &props));
    say(cuMemPoolCreate(&pool, NULL));
    say_if("untouched", pool == NULL);
}

CASE(mempool, create_alloc_type)
{
    static const int types[] = {0, 2, 3, 0x7fffffff};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        CUmemPoolProps props = props_new();
        props.allocType = (CUmemAllocationType)types[i];
        try_create(&props);
    }
}

CASE(mempool, create_managed)
{
    CUmemPoolProps props = props_new();
    props.allocType = (CUmemAllocationType)2; /* managed, in CUDA 13 */
    CUmemoryPool pool = NULL;
    say(cuMemPoolCreate(&pool, &props));
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    try_create(&props);
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    try_create(&props);
}

CASE(mempool, create_handle_types,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE "
              "CUDA_ERROR_NOT_SUPPORTED CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "whether there is a fabric is the machine's matter")
{
    static const unsigned types[] = {1, 2, 4, 3, 8, 16, 0x100};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        CUmemPoolProps props = props_new();
        props.handleTypes = (CUmemAllocationHandleType)types[i];
        try_create(&props);
    }
}

CASE(mempool, create_win32_attributes)
{
    CUmemPoolProps props = props_new();
    int something = 0;
    props.win32SecurityAttributes = &something;
    try_create(&props);
}

CASE(mempool, create_location_types)
{
    for (int type = 0; type < 6; type++) {
        CUmemPoolProps props = props_new();
        props.location.type = (CUmemLocationType)type;
        props.location.id = 0;
        try_create(&props);
    }
}

CASE(mempool, create_location_ids)
{
    static const int ids[] = {-1, 64, 9999, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CUmemPoolProps props = props_new();
        props.location.id = ids[i];
        try_create(&props);
    }
}

CASE(mempool, create_host_ids)
{
    static const int ids[] = {-1, 0, 5, 1000};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CUmemPoolProps props = props_new();
        props.location.type = CU_MEM_LOCATION_TYPE_HOST;
        props.location.id = ids[i];
        try_create(&props);
    }
}

CASE(mempool, create_numa_ids)
{
    static const int ids[] = {0, -1, 1000, INT_MAX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CUmemPoolProps props = props_new();
        props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        props.location.id = ids[i];
        try_create(&props);
    }
}

CASE(mempool, create_host_shareable)
{
    CUmemPoolProps props = props_new();
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    try_create(&props);
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    props.location.id = 0;
    try_create(&props);
}

CASE(mempool, create_reserved)
{
    CUmemPoolProps props = props_new();
    props.reserved[0] = 1;
    try_create(&props);
    props = props_new();
    props.reserved[53] = 1;
    try_create(&props);
}

CASE(mempool, create_usage)
{
    static const unsigned short usages[] = {1, 2, 3, 4, 0x8000};
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        CUmemPoolProps props = props_new();
        props.usage = usages[i];
        CUmemoryPool pool = NULL;
        CUresult status = cuMemPoolCreate(&pool, &props);
        if (i != 1) /* whether the device can decompress is its own matter */
            say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemPoolDestroy(pool));
    }
}

CASE(mempool, create_max_size)
{
    static const size_t sizes[] = {1,       4096, (size_t)1 << 20, (size_t)32 << 20, (size_t)1 << 40, (size_t)1 << 47,
                                   SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CUmemPoolProps props = props_new();
        props.maxSize = sizes[i];
        try_create(&props);
    }
}

CASE(mempool, create_without_context, .alone = true)
{
    CUmemPoolProps props = props_new();
    NEED(cuCtxSetCurrent(NULL));
    CUmemoryPool pool = NULL;
    say(cuMemPoolCreate(&pool, &props));
    say_numbers(pool);
    say(cuMemPoolTrimTo(pool, 0));
    say(cuMemPoolDestroy(pool));
}

CASE(mempool, create_before_init, .bare = true)
{
    CUmemPoolProps props = props_new();
    CUmemoryPool pool = NULL;
    say(cuMemPoolCreate(&pool, &props));
    say(cuDeviceGetDefaultMemPool(&pool, 0));
    say(cuMemPoolDestroy(NULL));
    CUdeviceptr address = 0;
    say(cuMemAllocAsync(&address, 16, NULL));
    say(cuMemFreeAsync(0, NULL));
}

CASE(mempool, destroy_null)
{
    say(cuMemPoolDestroy(NULL));
}

CASE(mempool, destroy_default)
{
    say(cuMemPoolDestroy(default_pool()));
}

CASE(mempool, destroy_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware may crash on a handle of a destroyed pool")
{
    CUmemoryPool pool = pool_new();
    say(cuMemPoolDestroy(pool));
    say(cuMemPoolDestroy(pool));
}

CASE(mempool, destroy_foreign, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware may crash on a handle that is none")
{
    say(cuMemPoolDestroy(gold_foreign()));
}

CASE(mempool, destroy_live_allocation, .alone = true)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    CUdeviceptr address = pool_alloc(pool, 4096, stream);
    say(cuMemPoolDestroy(pool));
    say(cuMemsetD32Async(address, 77, 1024, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(address));
    say(cuMemFreeAsync(address, stream));
    say(cuStreamSynchronize(stream));
}

CASE(mempool, destroy_current)
{
    CUmemoryPool pool = pool_new(), now = NULL;
    say(cuDeviceSetMemPool(gold_device(), pool));
    say(cuDeviceGetMemPool(&now, gold_device()));
    say_if("set", now == pool);
    say(cuMemPoolDestroy(pool));
    say(cuDeviceGetMemPool(&now, gold_device()));
    say_if("default_again", now == default_pool());
}

/* ---- default and current ---- */

CASE(mempool, default_pool)
{
    CUmemoryPool one = NULL, two = NULL, now = NULL;
    say(cuDeviceGetDefaultMemPool(&one, gold_device()));
    say(cuDeviceGetDefaultMemPool(&two, gold_device()));
    say(cuDeviceGetMemPool(&now, gold_device()));
    say_if("same", one && one == two && one == now);
}

CASE(mempool, default_bad)
{
    CUmemoryPool pool = NULL;
    say(cuDeviceGetDefaultMemPool(NULL, gold_device()));
    say(cuDeviceGetDefaultMemPool(&pool, -1));
    say(cuDeviceGetDefaultMemPool(&pool, 999));
    say(cuDeviceGetMemPool(NULL, gold_device()));
    say(cuDeviceGetMemPool(&pool, -1));
    say(cuDeviceGetMemPool(&pool, 999));
}

CASE(mempool, set_current_bad)
{
    CUmemoryPool pool = pool_new();
    say(cuDeviceSetMemPool(gold_device(), NULL));
    say(cuDeviceSetMemPool(-1, pool));
    say(cuDeviceSetMemPool(999, pool));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, set_current_host_pool)
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    say(cuDeviceSetMemPool(gold_device(), pool));
    NEED(cuDeviceSetMemPool(gold_device(), default_pool()));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, current_serves_alloc)
{
    CUmemoryPool pool = pool_new(), of = NULL;
    CUdeviceptr address = 0;
    NEED(cuDeviceSetMemPool(gold_device(), pool));
    say(cuMemAllocAsync(&address, 1000, NULL));
    say(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    say_if("from_it", of == pool);
    say(cuMemFreeAsync(address, NULL));
    say(cuDeviceSetMemPool(gold_device(), default_pool()));
    say(cuMemPoolDestroy(pool));
}

CASE(mempool, location_default)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    CUmemoryPool pool = NULL;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("devices", pool == default_pool());
    CUmemoryPool now = NULL;
    say(cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("current", pool == now);
}

CASE(mempool, location_host)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    CUmemoryPool one = NULL, two = NULL, now = NULL;
    say(cuMemGetDefaultMemPool(&one, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.id = 3;
    say(cuMemGetDefaultMemPool(&two, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("same", one && one == two && one == now);
    say_if("devices", one == default_pool());
    say(cuMemPoolDestroy(one));
}

CASE(mempool, location_numa)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0},
                  host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    CUmemoryPool numa = NULL, any = NULL;
    say(cuMemGetDefaultMemPool(&numa, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetDefaultMemPool(&any, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("same", numa && numa == any);
    location.id = 1000;
    say(cuMemGetDefaultMemPool(&numa, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.id = -1;
    say(cuMemGetDefaultMemPool(&numa, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
}

CASE(mempool, location_bad)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    CUmemoryPool pool = NULL;
    say(cuMemGetDefaultMemPool(NULL, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetDefaultMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetDefaultMemPool(&pool, &location, (CUmemAllocationType)0));
    say(cuMemGetDefaultMemPool(&pool, &location, (CUmemAllocationType)9));
    location.id = 999;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.id = -1;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.id = 0;
    location.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    location.type = (CUmemLocationType)77;
    say(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
}

CASE(mempool, location_managed)
{
    static const CUmemLocation locations[] = {{CU_MEM_LOCATION_TYPE_INVALID, 0},
                                              {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                              {CU_MEM_LOCATION_TYPE_HOST, 0},
                                              {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    for (int i = 0; i < 4; i++) {
        CUmemLocation location = locations[i];
        CUmemoryPool pool = NULL;
        say(cuMemGetDefaultMemPool(&pool, &location, (CUmemAllocationType)2));
        say_if("pool", pool != NULL);
    }
}

CASE(mempool, location_set)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    CUmemoryPool pool = pool_new(), now = NULL;
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    say(cuDeviceGetMemPool(&now, gold_device()));
    say_if("set", now == pool);
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, default_pool()));
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, NULL));
    say(cuMemSetMemPool(NULL, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    say(cuMemSetMemPool(&location, (CUmemAllocationType)2, pool));
    location.type = CU_MEM_LOCATION_TYPE_HOST;
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = 999;
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, location_set_host,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS set=yes CUDA_SUCCESS CUDA_SUCCESS default_again=yes",
     .why = "hardware goes on naming the destroyed pool, against its documentation")
{
    CUmemPoolProps props = props_new();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    props.location.id = 0;
    CUmemoryPool pool = NULL, now = NULL, first = NULL;
    NEED(cuMemPoolCreate(&pool, &props));
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    NEED(cuMemGetDefaultMemPool(&first, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    say(cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("set", now == pool);
    say(cuMemPoolDestroy(pool));
    say(cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
    say_if("default_again", now == first);
}

/* ---- attributes ---- */

CASE(mempool, attribute_defaults)
{
    CUmemoryPool pool = pool_new();
    say_flag(pool, "events", CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES);
    say_flag(pool, "opportunistic", CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
    say_flag(pool, "internal", CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
    say_attribute(pool, "threshold", CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_defaults_default_pool, .alone = true)
{
    CUmemoryPool pool = default_pool();
    say_flag(pool, "events", CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES);
    say_flag(pool, "opportunistic", CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
    say_flag(pool, "internal", CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
    say_attribute(pool, "threshold", CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    say_numbers(pool);
}

CASE(mempool, attribute_unknown)
{
    CUmemoryPool pool = pool_new();
    cuuint64_t value = 0;
    static const int attributes[] = {0, 9, 14, 15, 100, -1};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        say(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attributes[i], &value));
        say(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attributes[i], &value));
    }
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_get_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware may crash")
{
    say(cuMemPoolGetAttribute(pool_new(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
}

CASE(mempool, attribute_set_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware may crash")
{
    say(cuMemPoolSetAttribute(pool_new(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
}

CASE(mempool, attribute_no_pool, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware may crash")
{
    int value = 1;
    say(cuMemPoolGetAttribute(NULL, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value));
    say(cuMemPoolSetAttribute(NULL, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value));
}

CASE(mempool, attribute_flags_set)
{
    CUmemoryPool pool = pool_new();
    static const int values[] = {0, 1, 2, -1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int value = values[i];
        say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value));
        say_flag(pool, "now", CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
    }
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_each_flag)
{
    CUmemoryPool pool = pool_new();
    for (int attribute = 1; attribute <= 3; attribute++) {
        int off = 0;
        say(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &off));
        for (int other = 1; other <= 3; other++)
            say_flag(pool, "f", (CUmemPool_attribute)other);
    }
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_threshold)
{
    CUmemoryPool pool = pool_new();
    static const cuuint64_t values[] = {1, 4096, (cuuint64_t)1 << 40, UINT64_MAX, 0};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cuuint64_t value = values[i];
        say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
        say_attribute(pool, "now", CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    }
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_set_current)
{
    CUmemoryPool pool = pool_new();
    cuuint64_t value = 0;
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, attribute_high_nonzero)
{
    CUmemoryPool pool = pool_new();
    cuuint64_t value = 5;
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &value));
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool, high_marks_reset)
{
    CUmemoryPool pool = pool_new();
    CUstream stream = gold_stream(0);
    cuuint64_t zero = 0;
    hold(pool);
    CUdeviceptr a = pool_alloc(pool, 1 * MIB, stream), b = pool_alloc(pool, 2 * MIB, stream);
    NEED(cuMemFreeAsync(a, stream));
    NEED(cuStreamSynchronize(stream));
    say_numbers(pool);
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    say(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
    say_numbers(pool);
    a = pool_alloc(pool, 1024, stream);
    say_numbers(pool);
    NEED(cuMemFreeAsync(a, stream));
    NEED(cuMemFreeAsync(b, stream));
    NEED(cuStreamSynchronize(stream));
    say_numbers(pool);
    NEED(cuMemPoolDestroy(pool));
}
