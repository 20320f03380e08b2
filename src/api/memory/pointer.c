/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an address: one attribute at a time, where an address that the driver does not know is an error, or
 * several, where such an address gives each attribute's value for "nothing". No context need be current. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <string.h>

#include "api/device/peer.h"
#include "api_impl.h"
#include "base/call.h"
#include "memory/allocation.h"
#include "memory/mempool.h"
#include "memory/vmm.h"
#include "object/context.h"
#include "prepare/check.h"

#define PUT(type, value) (*(type *)data = (type)(value), CUDA_SUCCESS)

/* Boolean attributes have the size of a C bool. */
static CUresult put_flag(void *data, bool value)
{
    return PUT(bool, value);
}

static bool is_host(const struct mr_allocation *found)
{
    return found->kind == MR_MEMORY_PINNED || found->kind == MR_MEMORY_REGISTERED ||
           found->kind == MR_MEMORY_MAPPED_HOST || found->kind == MR_MEMORY_HOST_POOL;
}

/* Can the host use the address? */
static bool has_host_pointer(CUdeviceptr address, const struct mr_allocation *found)
{
    static const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    unsigned right;
    if (mr_allocation_is_mapped(found))
        return mr_vmm_get_access(&host, (uintptr_t)address, &right) && right;
    return is_host(found) || found->kind == MR_MEMORY_MANAGED;
}

/* What any device may do with the memory: mapped memory tells what it was given. */
static unsigned device_right(const struct mr_allocation *found)
{
    return mr_allocation_right(found, found->device->ordinal);
}

static bool is_pool_memory(const struct mr_allocation *found)
{
    return found && mr_mempool_is_address(found->base);
}

static struct mr_mempool_facts pool_facts(CUdeviceptr address, const struct mr_allocation *found)
{
    struct mr_mempool_facts facts = {0};
    if (is_pool_memory(found))
        mr_mempool_facts_get((uintptr_t)address, &facts);
    return facts;
}

/* Pools are not for other devices, and those of host memory for none, until they are given access; the attribute of
 * access flags says otherwise, as on hardware. */
static bool has_device_pointer(const struct mr_allocation *found)
{
    struct mr_context *current = mr_context_current();
    if (current && !mr_peer_may_use(current, found))
        return false;
    return device_right(found) &&
           !mr_allocation_is_closed(found, current ? current->device->ordinal : found->device->ordinal);
}

static unsigned long long handle_types(CUdeviceptr address, const struct mr_allocation *found)
{
    CUmemAllocationProp properties;
    if (found && mr_allocation_is_mapped(found) && mr_vmm_properties_at((uintptr_t)address, &properties))
        return (unsigned long long)properties.requestedHandleTypes;
    return pool_facts(address, found).handle_types;
}

/* Writes one attribute. `found` is NULL for an unknown address: the value is then the one that means nothing. */
static CUresult put_attribute(CUpointer_attribute attribute, CUdeviceptr address, const struct mr_allocation *found,
                              void *data)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return PUT(CUcontext, found && found->context ? found->context->handle : NULL);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return PUT(unsigned, !found ? 0 : is_host(found) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (found && !has_device_pointer(found))
            return mr_bad_value("%#llx, of device %d, may not be used here: access was not given",
                                (unsigned long long)address, found->device->ordinal);
        return PUT(CUdeviceptr, found ? address : 0);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (found && !has_host_pointer(address, found))
            return mr_bad_value("%#llx is device memory, which has no host pointer", (unsigned long long)address);
        return PUT(void *, found ? (uintptr_t)address : 0);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return put_flag(data, found && found->sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return PUT(unsigned long long, found ? found->id : 0);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return put_flag(data, found && found->kind == MR_MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return PUT(int, found ? found->device->ordinal : CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return PUT(CUdeviceptr, found ? found->base : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return PUT(size_t, found ? found->size : 0);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return put_flag(data, found != NULL);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return PUT(unsigned long long, handle_types(address, found));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return put_flag(data, found && found->kind == MR_MEMORY_DEVICE && !found->imported);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return put_flag(data, false);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return PUT(unsigned, found ? device_right(found) : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return PUT(CUmemoryPool, pool_facts(address, found).pool);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return PUT(size_t, is_pool_memory(found) ? pool_facts(address, found).chunk_size : found ? found->mapped : 0);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return PUT(CUdeviceptr, is_pool_memory(found) ? pool_facts(address, found).chunk : found ? found->base : 0);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        mr_call_log(MR_LOG_INFO, "tokens for other hardware's direct access are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return mr_bad_value("there is no attribute %d", (int)attribute);
}

static bool attribute_is_known(CUpointer_attribute attribute)
{
    return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT && attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;
}

CUresult mr_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct mr_allocation found;
    if (!data)
        return mr_bad_value("the place for the value is null");
    if (!attribute_is_known(attribute))
        return mr_bad_value("there is no attribute %d", (int)attribute);
    if (!mr_memory_find_usable((uintptr_t)ptr, &found))
        return mr_bad_value("%#llx is neither in a live allocation nor registered", (unsigned long long)ptr);
    return put_attribute(attribute, ptr, &found, data);
}

CUresult mr_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                   CUdeviceptr ptr)
{
    struct mr_allocation found;
    CUresult status = CUDA_SUCCESS;
    if (!numAttributes || !attributes || !data)
        return mr_bad_value("there are no attributes, or a list is null");
    for (unsigned i = 0; i < numAttributes; i++) {
        if (!data[i])
            return mr_bad_value("the place for value %u is null", i);
        if (!attribute_is_known(attributes[i]))
            return mr_bad_value("there is no attribute %d", (int)attributes[i]);
    }
    bool known = mr_memory_find_usable((uintptr_t)ptr, &found);
    for (unsigned i = 0; i < numAttributes && status == CUDA_SUCCESS; i++) {
        /* A pointer that memory does not have is no failure here. */
        if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && known && !has_host_pointer(ptr, &found))
            *(void **)data[i] = NULL;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && known && !has_device_pointer(&found))
            *(CUdeviceptr *)data[i] = 0;
        else
            status = put_attribute(attributes[i], ptr, known ? &found : NULL, data[i]);
    }
    return status;
}

CUresult mr_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct mr_allocation found;
    if (!value)
        return mr_bad_value("the value is null");
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return mr_bad_value("attribute %d cannot be set", (int)attribute);
    if (!mr_memory_find_usable((uintptr_t)ptr, &found) || is_host(&found))
        return mr_bad_value("%#llx is not device memory", (unsigned long long)ptr);
    if (mr_allocation_is_mapped(&found)) {
        mr_call_log(MR_LOG_INFO, "mapped memory has no such setting");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    /* Programs pass an int or a bool: the first byte tells either. */
    if (!mr_memory_set_sync_memops((uintptr_t)ptr, *(const unsigned char *)value != 0))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
