/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on managed memory, prefetching, and what was said about a range.
 *
 * Managed memory is the machine's own memory and is never moved, so that advice and prefetches are checked and remembered, and
 * told back, but cause no work. A range lies within one managed allocation. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <string.h>

#include "api/check.h"
#include "api_impl.h"
#include "base/log.h"
#include "memory/advice.h"
#include "memory/memory.h"
#include "object/context.h"
#include "stream/stream.h"

static CUresult check_range(const char *name, CUdeviceptr address, size_t size)
{
    struct mr_allocation found;
    if (!size)
        return mr_bad_value(name, "the range is empty");
    if (!mr_memory_find((uintptr_t)address, &found) || found.kind != MR_MEMORY_MANAGED)
        return mr_bad_value(name, "%#llx is not managed memory", (unsigned long long)address);
    size_t mapped = found.mapped - (size_t)(address - found.base);
    if (size > mapped)
        return mr_bad_value(name, "%zu bytes at %#llx run past the end of the allocation (%zu bytes at %#zx)", size,
            (unsigned long long)address, found.size, (size_t)found.base);
    return CUDA_SUCCESS;
}

/* A device's ordinal or CU_DEVICE_CPU, as a location. */
static CUresult location_of(const char *name, CUdevice device, CUmemLocation *out)
{
    struct mr_device *found;
    *out = (CUmemLocation){ .type = CU_MEM_LOCATION_TYPE_HOST, .id = 0 };
    if (device == CU_DEVICE_CPU)
        return CUDA_SUCCESS;
    *out = (CUmemLocation){ .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device };
    return mr_device_require(name, device, &found);
}

static CUresult check_location(const char *name, const CUmemLocation *location)
{
    struct mr_device *found;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return mr_device_require(name, location->id, &found);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (location->id >= 0)
            return CUDA_SUCCESS;
        return mr_bad_value(name, "there is no NUMA node %d", location->id);
    default:
        return mr_bad_value(name, "there is no location type %d", (int)location->type);
    }
}

struct change { CUmem_advise advice; CUmemLocation location; };

static void apply(struct mr_advice *to, const void *data)
{
    const struct change *change = data;
    uint32_t bit = UINT32_C(1) << (change->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? (unsigned)change->location.id : MR_ADVICE_CPU);
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
        to->preferred = (CUmemLocation){ .type = CU_MEM_LOCATION_TYPE_INVALID };
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        to->accessed_by |= bit;
        break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        to->accessed_by &= ~bit;
        break;
    }
}

static void apply_prefetch(struct mr_advice *to, const void *data)
{
    to->prefetched = *(const CUmemLocation *)data;
}

static bool advice_has_location(CUmem_advise advice)
{
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
           advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

static CUresult advise(CUdeviceptr address, size_t size, CUmem_advise advice, const CUmemLocation *location)
{
    static const char name[] = "cuMemAdvise";
    struct change change = { .advice = advice, .location = { .type = CU_MEM_LOCATION_TYPE_HOST } };
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return mr_bad_value(name, "there is no advice %d", (int)advice);
    CUresult status = check_range(name, address, size);
    if (status == CUDA_SUCCESS && advice_has_location(advice)) {
        change.location = *location;
        status = check_location(name, location);
        if (status == CUDA_SUCCESS && advice != CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
            location->type != CU_MEM_LOCATION_TYPE_DEVICE && location->type != CU_MEM_LOCATION_TYPE_HOST)
            status = mr_bad_value(name, "accesses are by a device or the host, not by location type %d", (int)location->type);
    }
    if (status != CUDA_SUCCESS)
        return status;
    return mr_advice_update((uintptr_t)address, size, apply, &change) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    return advise(devPtr, count, advice, &location);
}

CUresult mr_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    CUmemLocation location = { 0 };
    CUresult status = advice_has_location(advice) ? location_of("cuMemAdvise", device, &location) : CUDA_SUCCESS;
    return status == CUDA_SUCCESS ? advise(devPtr, count, advice, &location) : status;
}

static CUresult prefetch(CUdeviceptr address, size_t size, const CUmemLocation *location, unsigned flags, CUstream handle)
{
    static const char name[] = "cuMemPrefetchAsync";
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status == CUDA_SUCCESS && flags)
        status = mr_bad_value(name, "flags are %#x; they must be 0", flags);
    if (status == CUDA_SUCCESS)
        status = check_range(name, address, size);
    if (status == CUDA_SUCCESS)
        status = check_location(name, location);
    if (status != CUDA_SUCCESS)
        return status;
    return mr_advice_update((uintptr_t)address, size, apply_prefetch, location) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream)
{
    return prefetch(devPtr, count, &location, flags, hStream);
}

CUresult mr_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    CUmemLocation location;
    CUresult status = location_of("cuMemPrefetchAsync", dstDevice, &location);
    return status == CUDA_SUCCESS ? prefetch(devPtr, count, &location, 0, hStream) : status;
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
        *all = (struct summary){ true, advice->read_mostly, true, true, advice->preferred, advice->prefetched, advice->accessed_by };
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

static void put_accessed_by(uint32_t bits, int *out, size_t room)
{
    size_t used = 0;
    for (unsigned bit = 0; bit < 32 && used < room; bit++)
        if (bits & UINT32_C(1) << bit)
            out[used++] = bit == MR_ADVICE_CPU ? CU_DEVICE_CPU : (int)bit;
    while (used < room)
        out[used++] = CU_DEVICE_INVALID;
}

static CUresult check_attribute(const char *name, void *data, size_t size, CUmem_range_attribute attribute)
{
    if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY || attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return mr_bad_value(name, "there is no attribute %d", (int)attribute);
    if (!data)
        return mr_bad_value(name, "the place for the value is null");
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? !size || size % 4 : size != 4)
        return mr_bad_value(name, "%zu bytes are not the size of attribute %d", size, (int)attribute);
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
        *out = all->same_preferred ? all->preferred.id : 0;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *out = all->same_prefetched ? (int)all->prefetched.type : CU_MEM_LOCATION_TYPE_INVALID;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *out = all->same_prefetched ? all->prefetched.id : 0;
        break;
    }
}

CUresult mr_cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes,
    CUdeviceptr devPtr, size_t count)
{
    static const char name[] = "cuMemRangeGetAttributes";
    struct summary all = { 0 };
    if (!data || !dataSizes || !attributes || !numAttributes)
        return mr_bad_value(name, "there are no attributes, or a list is null");
    for (size_t i = 0; i < numAttributes; i++) {
        CUresult status = check_attribute(name, data[i], dataSizes[i], attributes[i]);
        if (status != CUDA_SUCCESS)
            return status;
    }
    CUresult status = check_range(name, devPtr, count);
    if (status != CUDA_SUCCESS)
        return status;
    mr_advice_visit((uintptr_t)devPtr, count, summarise, &all);
    for (size_t i = 0; i < numAttributes; i++)
        put_attribute(&all, attributes[i], data[i], dataSizes[i]);
    return CUDA_SUCCESS;
}

CUresult mr_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count)
{
    return mr_cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}
