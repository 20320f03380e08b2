/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: making and ending them, attributes, access, the default and the current pool of a device or of the
 * host. Allocation is in mempool_alloc.c, sharing in mempool_share.c; the work itself in memory/mempool.h. No context
 * need be current. */
#include "api/memory/mempool_calls.h"

#include <stdbool.h>
#include "api_impl.h"
#include "base/call.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"

#define MOST ((size_t)1 << 46)   /* bytes that no pool can be limited to; more than any address space for pools */

CUresult mr_mempool_require(CUmemoryPool handle, struct mr_mempool **out)
{
    *out = mr_mempool_find(handle);
    return *out ? CUDA_SUCCESS : mr_bad_value("%p is not a live memory pool", (void *)handle);
}

/* ---- places ---- */

/* The device that a pool's location names, NULL for the host. CUDA_ERROR_INVALID_VALUE for a location that does not
 * exist. */
static CUresult check_place(const CUmemLocation *location, CUmemAllocationType type, struct mr_device **device)
{
    *device = NULL;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *device = mr_device_get(location->id);
        return *device ? CUDA_SUCCESS : mr_bad_value("there is no device %d", location->id);
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return mr_numa_node_exists(location->id) ? CUDA_SUCCESS
                                                 : mr_bad_value("there is no NUMA node %d", location->id);
    case CU_MEM_LOCATION_TYPE_NONE:
        if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
            return CUDA_SUCCESS;
        break;
    default:
        break;
    }
    return mr_bad_value("no memory pool is at location type %d", (int)location->type);
}

/* ---- making and ending ---- */

/* Attributes of other systems and the usage are not looked at, as on hardware. */
static CUresult check_properties(const CUmemPoolProps *props, struct mr_device **device)
{
    unsigned handles = (unsigned)props->handleTypes;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED && props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return mr_bad_value("there is no allocation type %d", (int)props->allocType);
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return mr_bad_value("byte %zu of the reserved ones is %u", i, props->reserved[i]);
    CUresult status = check_place(&props->location, props->allocType, device);
    if (status != CUDA_SUCCESS)
        return status;
    if (handles && props->location.type == CU_MEM_LOCATION_TYPE_HOST)
        return mr_bad_value("pools of host memory of no node cannot be shared");
    if (handles == CU_MEM_HANDLE_TYPE_FABRIC) {
        mr_call_log(MR_LOG_INFO, "there is no fabric to share memory over");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (handles & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return mr_bad_value("handles of type %#x cannot be made", handles);
    if (props->maxSize >= MOST) {
        mr_call_log(MR_LOG_INFO, "%zu bytes are more than a pool can have", props->maxSize);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult mr_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    struct mr_device *device;
    if (!pool || !poolProps)
        return mr_bad_value("the properties or the place for the pool is null");
    CUresult status = check_properties(poolProps, &device);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_mempool *made = mr_mempool_new(poolProps, device);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool = mr_mempool_handle(made);
    return CUDA_SUCCESS;
}

CUresult mr_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct mr_mempool *found;
    CUresult status = mr_mempool_require(pool, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_mempool_is_imported(found) && mr_mempool_is_in_use(found))
        return mr_bad_value("allocations that were imported through the pool are not freed");
    return mr_mempool_destroy(found)
               ? CUDA_SUCCESS
               : mr_bad_value("%p is a default pool, or was destroyed by another thread", (void *)pool);
}

CUresult mr_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct mr_mempool *found;
    CUresult status = mr_mempool_require(pool, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_mempool_is_imported(found))
        return mr_bad_value("an imported pool has no memory of its own");
    mr_mempool_trim(found, minBytesToKeep);
    return CUDA_SUCCESS;
}

/* ---- attributes ---- */

static bool is_flag(CUmemPool_attribute attribute)
{
    return attribute == CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
           attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC ||
           attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static bool is_attribute(CUmemPool_attribute attribute)
{
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

static CUresult check_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value,
                                struct mr_mempool **out)
{
    CUresult status = mr_mempool_require(pool, out);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value)
        return mr_bad_value("the value is null");
    if (mr_mempool_is_imported(*out))
        return mr_bad_value("an imported pool has no attributes");
    return is_attribute(attribute) ? CUDA_SUCCESS : mr_bad_value("there is no attribute %d", (int)attribute);
}

CUresult mr_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct mr_mempool *found;
    CUresult status = check_attribute(pool, attr, value, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attr == CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return mr_bad_value("attribute %d cannot be set", (int)attr);
    uint64_t wanted = is_flag(attr) ? (uint64_t)(*(int *)value != 0) : *(cuuint64_t *)value;
    if ((attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH) && wanted)
        return mr_bad_value("a high mark can only be set to 0");
    mr_mempool_set(found, attr, wanted);
    return CUDA_SUCCESS;
}

CUresult mr_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct mr_mempool *found;
    CUresult status = check_attribute(pool, attr, value, &found);
    if (status != CUDA_SUCCESS)
        return status;
    uint64_t now = mr_mempool_get(found, attr);
    if (is_flag(attr))
        *(int *)value = (int)now;
    else
        *(cuuint64_t *)value = now;
    return CUDA_SUCCESS;
}

/* ---- access ---- */

/* Pools of device memory are for devices, those of host memory for the host and devices. */
static CUresult check_access(const struct mr_mempool *pool, const CUmemAccessDesc *desc, struct mr_device **device)
{
    unsigned flags = (unsigned)desc->flags;
    bool host = desc->location.type == CU_MEM_LOCATION_TYPE_HOST && !mr_mempool_device(pool);
    *device = NULL;
    if (!host && desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        mr_call_log(MR_LOG_INFO, "access cannot be set for location type %d", (int)desc->location.type);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult status = host ? CUDA_SUCCESS : mr_device_require(desc->location.id, device);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return mr_bad_value("there is no right %#x", flags);
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READ || (host && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
        mr_call_log(MR_LOG_INFO, "pools have no right %#x", flags);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (*device && *device == mr_mempool_device(pool) && flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
        mr_call_log(MR_LOG_INFO, "a device keeps its access to its own memory");
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}

CUresult mr_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    struct mr_mempool *found;
    struct mr_device *device;
    CUresult status = mr_mempool_require(pool, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (!map)
        return mr_bad_value("the list of descriptions is null");
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = check_access(found, &map[i], &device);
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            mr_mempool_set_access(found, mr_device_get(map[i].location.id), (unsigned)map[i].flags);
    return status;
}

CUresult mr_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    struct mr_mempool *found;
    struct mr_device *device;
    CUresult status = mr_mempool_require(memPool, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (!flags || !location)
        return mr_bad_value("the location or the place for the answer is null");
    status = check_place(location, CU_MEM_ALLOCATION_TYPE_PINNED, &device);
    if (status != CUDA_SUCCESS)
        return status;
    unsigned right = mr_mempool_device(found) ? CU_MEM_ACCESS_FLAGS_PROT_NONE : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    *flags = (CUmemAccess_flags)(device ? mr_mempool_access(found, device) : right);
    return CUDA_SUCCESS;
}

/* ---- the default and the current pool ---- */

static CUresult put_pool(CUmemoryPool *out, const struct mr_mempool *pool)
{
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = mr_mempool_handle(pool);
    return CUDA_SUCCESS;
}

CUresult mr_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    struct mr_device *device;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev};
    if (!pool_out)
        return mr_bad_value("the place for the pool is null");
    CUresult status = mr_device_require(dev, &device);
    return status == CUDA_SUCCESS ? put_pool(pool_out, mr_mempool_default(&location, CU_MEM_ALLOCATION_TYPE_PINNED))
                                  : status;
}

CUresult mr_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev};
    return mr_cuMemGetMemPool(pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult mr_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev};
    return mr_cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
}

/* The place that a location and an allocation type name. */
static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type)
{
    struct mr_device *device;
    if (!location)
        return mr_bad_value("the location is null");
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return mr_bad_value("there is no allocation type %d", (int)type);
    if (location->type < CU_MEM_LOCATION_TYPE_NONE || location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA) {
        mr_call_log(MR_LOG_INFO, "there are no pools for location type %d", (int)location->type);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return check_place(location, type, &device);
}

CUresult mr_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    if (!pool_out)
        return mr_bad_value("the place for the pool is null");
    CUresult status = check_location(location, type);
    return status == CUDA_SUCCESS ? put_pool(pool_out, mr_mempool_default(location, type)) : status;
}

CUresult mr_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    if (!pool)
        return mr_bad_value("the place for the pool is null");
    CUresult status = check_location(location, type);
    return status == CUDA_SUCCESS ? put_pool(pool, mr_mempool_current(location, type)) : status;
}

/* Every host pool is at the same place, whatever number its location has. */
static bool is_same_place(const CUmemLocation *one, const CUmemLocation *other)
{
    return one->type == other->type &&
           (one->id == other->id || one->type == CU_MEM_LOCATION_TYPE_HOST || one->type == CU_MEM_LOCATION_TYPE_NONE);
}

CUresult mr_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    struct mr_mempool *found;
    CUresult status = check_location(location, type);
    if (status == CUDA_SUCCESS)
        status = mr_mempool_require(pool, &found);
    if (status != CUDA_SUCCESS)
        return status;
    const CUmemPoolProps *properties = mr_mempool_properties(found);
    if (properties->allocType != type || !is_same_place(&properties->location, location))
        return mr_bad_value("the pool is at another location, or has another kind of memory");
    if (mr_mempool_is_imported(found))
        return mr_bad_value("nothing can be allocated from an imported pool");
    mr_mempool_set_current(found);
    return CUDA_SUCCESS;
}
