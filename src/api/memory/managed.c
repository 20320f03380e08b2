/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on managed memory, and what was said about a range. Prefetching is in prefetch.c.
 *
 * Managed memory is the machine's own memory and is never moved, so advice is checked, remembered and told back, but
 * causes no work. A range lies within one managed allocation. Kernels can use pageable memory too
 * (CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS), so advice on that is taken as well; it is not remembered, because
 * nobody tells when such memory goes, and range attributes are of managed memory only. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <string.h>

#include "api/memory/managed.h"
#include "api_impl.h"
#include "base/mapped.h"
#include "memory/advice.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "prepare/check.h"

CUresult mr_managed_check(CUdeviceptr address, size_t size, bool *pageable)
{
    struct mr_allocation found;
    *pageable = false;
    if (!size)
        return mr_bad_value("the range is empty");
    if (!mr_memory_find((uintptr_t)address, &found)) {
        *pageable = true;
        if (!mr_memory_is_reserved((uintptr_t)address) && mr_mapped_exists((uintptr_t)address, size))
            return CUDA_SUCCESS;
        return mr_bad_value("%zu bytes at %#llx are neither managed memory nor mapped", size,
                            (unsigned long long)address);
    }
    if (found.kind != MR_MEMORY_MANAGED)
        return mr_bad_value("%#llx is not managed memory", (unsigned long long)address);
    size_t mapped = found.mapped - (size_t)(address - found.base);
    if (size > mapped)
        return mr_bad_value("%zu bytes at %#llx run past the end of the allocation (%zu bytes at %#zx)", size,
                            (unsigned long long)address, found.size, (size_t)found.base);
    return CUDA_SUCCESS;
}

CUresult mr_managed_location(CUdevice device, CUmemLocation *out)
{
    struct mr_device *found;
    *out = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    if (device == CU_DEVICE_CPU)
        return CUDA_SUCCESS;
    *out = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    return mr_device_require(device, &found);
}

CUresult mr_managed_location_check(const CUmemLocation *location)
{
    struct mr_device *found;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return mr_device_require(location->id, &found);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (mr_numa_node_exists(location->id))
            return CUDA_SUCCESS;
        return mr_bad_value("there is no NUMA node %d", location->id);
    default:
        return mr_bad_value("there is no location type %d", (int)location->type);
    }
}

struct change {
    CUmem_advise advice;
    CUmemLocation location;
};

/* Advice with a node of the host is taken, but changes nothing: so says hardware that has no access to the host's page
 * tables. */
static bool is_numa(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA || location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* The location's bit in accessed_by. The location exists: it was checked. */
static uint32_t accessor(const CUmemLocation *location)
{
    return UINT32_C(1) << (location->type == CU_MEM_LOCATION_TYPE_DEVICE ? (unsigned)location->id : MR_ADVICE_CPU);
}

static void apply(struct mr_advice *to, const void *data)
{
    const struct change *change = data;
    switch (change->advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
        to->read_mostly = true;
        break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        to->read_mostly = false;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        to->preferred = change->location;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        to->preferred = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        to->accessed_by |= accessor(&change->location);
        break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        to->accessed_by &= ~accessor(&change->location);
        break;
    }
}

static bool advice_has_location(CUmem_advise advice)
{
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
           advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

static CUresult advise(CUdeviceptr address, size_t size, CUmem_advise advice, const CUmemLocation *location)
{
    struct mr_context *context;
    struct change change = {.advice = advice, .location = *location};
    bool pageable;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return mr_bad_value("there is no advice %d", (int)advice);
    status = mr_managed_check(address, size, &pageable);
    if (status == CUDA_SUCCESS &&
        (advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY) && is_numa(location))
        status = mr_bad_value("accesses are by a device or the host, not by location type %d", (int)location->type);
    if (status != CUDA_SUCCESS || pageable || is_numa(location))
        return status;
    return mr_advice_update((uintptr_t)address, size, apply, &change) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The location's type has to be one that exists, whatever the advice; its number, where the advice is about it. */
CUresult mr_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    struct mr_context *context;
    CUmemLocation checked = location;
    CUresult usable = mr_context_require(&context);
    if (usable != CUDA_SUCCESS)
        return usable;
    if (!advice_has_location(advice))
        checked.id = 0;
    if (mr_managed_location_check(&checked) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE; /* for a device too, where a prefetch says INVALID_DEVICE */
    return advise(devPtr, count, advice, &location);
}

/* The device is looked at only where the advice is about one. */
CUresult mr_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CUresult status = advice_has_location(advice) ? mr_managed_location(device, &location) : CUDA_SUCCESS;
    return status == CUDA_SUCCESS ? advise(devPtr, count, advice, &location) : status;
}

/* What all pages of a range have in common. */
struct summary {
    bool any;
    bool read_mostly, same_preferred, same_prefetched;
    CUmemLocation preferred, prefetched;
    uint32_t accessed_by;
};

static bool same_location(const CUmemLocation *one, const CUmemLocation *two)
{
    return one->type == two->type && one->id == two->id;
}

static void summarise(const struct mr_advice *advice, void *data)
{
    struct summary *all = data;
    if (!all->any) {
        *all = (struct summary){
            true, advice->read_mostly, true, true, advice->preferred, advice->prefetched, advice->accessed_by};
        return;
    }
    all->read_mostly = all->read_mostly && advice->read_mostly;
    all->same_preferred = all->same_preferred && same_location(&all->preferred, &advice->preferred);
    all->same_prefetched = all->same_prefetched && same_location(&all->prefetched, &advice->prefetched);
    all->accessed_by &= advice->accessed_by;
}

/* A location as a device number: the ordinal, CU_DEVICE_CPU, or CU_DEVICE_INVALID. */
static int device_number(bool same, const CUmemLocation *location)
{
    if (!same || location->type == CU_MEM_LOCATION_TYPE_INVALID)
        return CU_DEVICE_INVALID;
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : CU_DEVICE_CPU;
}

/* The number that goes with a location's type, or CU_DEVICE_INVALID. */
static int location_number(bool same, const CUmemLocation *location)
{
    if (!same || location->type == CU_MEM_LOCATION_TYPE_INVALID)
        return CU_DEVICE_INVALID;
    return location->type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU : location->id;
}

static void put_accessed_by(uint32_t bits, int *out, size_t room)
{
    size_t used = 0;
    for (unsigned bit = 0; bit < 32 && used < room; bit++)
        if (bits & UINT32_C(1) << bit)
            out[used++] = bit == MR_ADVICE_CPU ? CU_DEVICE_CPU : (int)bit;
    while (used < room)
        out[used++] = CU_DEVICE_INVALID;
}

static CUresult check_attribute(void *data, size_t size, CUmem_range_attribute attribute)
{
    if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY || attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return mr_bad_value("there is no attribute %d", (int)attribute);
    if (!data)
        return mr_bad_value("the place for the value is null");
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? !size || size % 4 : size != 4)
        return mr_bad_value("%zu bytes are not the size of attribute %d", size, (int)attribute);
    return CUDA_SUCCESS;
}

static void put_attribute(const struct summary *all, CUmem_range_attribute attribute, int *out, size_t size)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *out = all->read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *out = device_number(all->same_preferred, &all->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        put_accessed_by(all->accessed_by, out, size / 4);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *out = device_number(all->same_prefetched, &all->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *out = all->same_preferred ? (int)all->preferred.type : CU_MEM_LOCATION_TYPE_INVALID;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *out = location_number(all->same_preferred, &all->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *out = all->same_prefetched ? (int)all->prefetched.type : CU_MEM_LOCATION_TYPE_INVALID;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *out = location_number(all->same_prefetched, &all->prefetched);
        break;
    }
}

CUresult mr_cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                    size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
    struct summary all = {0};
    struct mr_context *context;
    bool pageable;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!data || !dataSizes || !attributes || !numAttributes)
        return mr_bad_value("there are no attributes, or a list is null");
    for (size_t i = 0; i < numAttributes; i++) {
        status = check_attribute(data[i], dataSizes[i], attributes[i]);
        if (status != CUDA_SUCCESS)
            return status;
    }
    status = mr_managed_check(devPtr, count, &pageable);
    if (status == CUDA_SUCCESS && pageable)
        status = mr_bad_value("%#llx is not managed memory", (unsigned long long)devPtr);
    if (status != CUDA_SUCCESS)
        return status;
    mr_advice_visit((uintptr_t)devPtr, count, summarise, &all);
    for (size_t i = 0; i < numAttributes; i++)
        put_attribute(&all, attributes[i], data[i], dataSizes[i]);
    return CUDA_SUCCESS;
}

CUresult mr_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                   size_t count)
{
    return mr_cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}
