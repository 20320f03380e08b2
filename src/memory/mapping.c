/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and mappings of virtual memory management.
 *
 * A zone of address space is reserved at the first call. It has a table with one word per unit of 2 MiB: the record of
 * the mapping that covers the unit, or zero. So the mapping of an address is one shift and one load, and readers take
 * no lock: records are never freed, and their version tells a reader that it raced (record.c). Reservations are a
 * sorted array; only the calls that change it look there. */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/log.h"
#include "memory/guard.h"
#include "memory/physical.h"
#include "object/device.h"

#define ZONE_MOST ((size_t)1 << 43)
#define ZONE_LEAST ((size_t)1 << 32)
#define RIGHT_BITS 2u
#define REMEMBERED 256u        /* with MILLRACE_GUARD: mappings that are gone */

struct mr_mapping {
    struct mr_record record;       /* flags hold the devices' rights, RIGHT_BITS each */
    struct mr_physical *memory;
    struct mr_mapping *next_free;
    unsigned host_right;           /* CUmemAccess_flags */
};

struct range {
    uintptr_t start, end;
};

/* Under mr_vmm_lock, except for the reads of `zone_ready`, the borders and the table. */
static _Atomic bool zone_ready;
static uintptr_t zone_base, zone_end;
static _Atomic(struct mr_mapping *) *table;
static struct range *reservations;
static size_t reservation_count, reservation_room;
static struct mr_mapping *free_mappings;
static size_t mapping_count;
static uintptr_t next_start;    /* with MILLRACE_GUARD: the search for free addresses goes on from here */
static struct range gone[REMEMBERED];
static size_t gone_count;

/* ---- the zone ---- */

static bool zone_make(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    for (size_t size = ZONE_MOST; size >= ZONE_LEAST; size /= 2) {
        void *space = mmap(NULL, size, PROT_NONE, flags, -1, 0);
        if (space == MAP_FAILED)
            continue;
        uintptr_t base = ((uintptr_t)space + MR_VMM_UNIT - 1) & ~(MR_VMM_UNIT - 1);
        size_t units = (size - (base - (uintptr_t)space)) / MR_VMM_UNIT;
        void *words = mmap(NULL, units * sizeof *table, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (words == MAP_FAILED) {
            munmap(space, size);
            continue;
        }
        zone_base = base;
        zone_end = base + units * MR_VMM_UNIT;
        table = words;
        atomic_store_explicit(&zone_ready, true, memory_order_release);
        return true;
    }
    mr_log(MR_LOG_ERROR, "no address space for cuMemAddressReserve: is there a limit (ulimit -v)?");
    return false;
}

bool mr_mapping_reserved(uintptr_t address)
{
    return atomic_load_explicit(&zone_ready, memory_order_acquire) && address - zone_base < zone_end - zone_base;
}

bool mr_mapping_touches(uintptr_t start, size_t size)
{
    return atomic_load_explicit(&zone_ready, memory_order_acquire) && start < zone_end &&
           (start >= zone_base || zone_base - start < size);
}

static _Atomic(struct mr_mapping *) *word_of(uintptr_t address)
{
    return &table[(address - zone_base) / MR_VMM_UNIT];
}

static struct mr_mapping *mapping_at(uintptr_t address)
{
    return mr_mapping_reserved(address) ? atomic_load_explicit(word_of(address), memory_order_acquire) : NULL;
}

struct mr_record *mr_mapping_record(uintptr_t address)
{
    struct mr_mapping *mapping = mapping_at(address);
    return mapping ? &mapping->record : NULL;
}

/* ---- reservations ---- */

/* Index of the first reservation that ends after `address`. */
static size_t position(uintptr_t address)
{
    size_t low = 0, high = reservation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (reservations[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Is every address of the range reserved? Several reservations side by side will do, as on hardware. */
static bool is_covered(uintptr_t start, size_t size)
{
    uintptr_t from = start, end;
    if (__builtin_add_overflow(start, size, &end))
        return false;
    for (size_t i = position(start); i < reservation_count && reservations[i].start <= from; i++) {
        from = reservations[i].end;
        if (from >= end)
            return true;
    }
    return false;
}

static bool is_free(uintptr_t start, size_t size)
{
    if (start < zone_base || start >= zone_end || size > zone_end - start)
        return false;
    size_t at = position(start);
    return at == reservation_count || reservations[at].start >= start + size;
}

/* The lowest free range, from `low` on, of that size and alignment, or 0. `hole` bytes before and behind it are free,
 * too. */
static uintptr_t find_free_from(uintptr_t low, size_t size, size_t alignment, size_t hole)
{
    uintptr_t from = zone_base + hole;
    for (size_t i = 0; i <= reservation_count; i++) {
        uintptr_t start = ((from > low ? from : low) + alignment - 1) & ~(alignment - 1),
                  end = i < reservation_count ? reservations[i].start : zone_end;
        if (start >= from && start <= end && hole <= end - start && size <= end - start - hole)
            return start;
        if (i < reservation_count)
            from = reservations[i].end + hole;
    }
    return 0;
}

/* If allocations lie apart (guard.h), there are holes around it, and addresses that were given back rest until the
 * search has come round. */
static uintptr_t find_free(size_t size, size_t alignment)
{
    if (!mr_guard_apart())
        return find_free_from(zone_base, size, alignment, 0);
    size_t hole = mr_guard_gap(size, zone_end - zone_base, reservation_count) / MR_VMM_UNIT * MR_VMM_UNIT;
    hole = hole ? hole : MR_VMM_UNIT;
    uintptr_t start = next_start ? find_free_from(next_start, size, alignment, hole) : 0;
    if (!start)
        start = find_free_from(zone_base, size, alignment, hole);
    if (!start)
        start = find_free_from(zone_base, size, alignment, MR_VMM_UNIT);
    if (start)
        next_start = start + size;
    return start;
}

CUresult mr_vmm_reserve(size_t size, size_t alignment, uintptr_t hint, uintptr_t *out)
{
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (alignment < MR_VMM_UNIT)
        alignment = MR_VMM_UNIT;
    mr_lock_take(&mr_vmm_lock);
    if ((zone_ready || zone_make()) &&
        mr_array_reserve((void **)&reservations, &reservation_room, reservation_count + 1, sizeof *reservations)) {
        bool at_hint = hint && hint % alignment == 0 && is_free(hint, size);
        uintptr_t start = at_hint ? hint : find_free(size, alignment);
        if (start) {
            size_t at = position(start);
            memmove(reservations + at + 1, reservations + at, (reservation_count - at) * sizeof *reservations);
            reservations[at] = (struct range){start, start + size};
            reservation_count++;
            *out = start;
            status = CUDA_SUCCESS;
        }
    }
    mr_lock_drop(&mr_vmm_lock);
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_INFO, "there are no %zu bytes of addresses left", size);
    return status;
}

static bool any_mapping(uintptr_t start, uintptr_t end)
{
    for (uintptr_t address = start; address < end; address += MR_VMM_UNIT)
        if (mapping_at(address))
            return true;
    return false;
}

CUresult mr_vmm_unreserve(uintptr_t start, size_t size)
{
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    mr_lock_take(&mr_vmm_lock);
    size_t at = position(start);
    if (at == reservation_count || reservations[at].start != start || reservations[at].end - start != size) {
        mr_call_log(MR_LOG_INFO, "%zu bytes at %#zx are not what cuMemAddressReserve gave", size, (size_t)start);
    } else if (any_mapping(start, start + size)) {
        mr_call_log(MR_LOG_INFO, "there is memory mapped in the %zu bytes at %#zx", size, (size_t)start);
    } else {
        memmove(reservations + at, reservations + at + 1, (reservation_count - at - 1) * sizeof *reservations);
        reservation_count--;
        if (!reservation_count) {
            mr_free(reservations);
            reservations = NULL;
            reservation_room = 0;
        }
        status = CUDA_SUCCESS;
    }
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

/* ---- mappings ---- */

static struct mr_mapping *mapping_new(void)
{
    struct mr_mapping *mapping = free_mappings;
    if (mapping)
        free_mappings = mapping->next_free;
    else
        mapping = mr_calloc(1, sizeof *mapping);
    if (mapping)
        mapping_count++;
    return mapping;
}

static void mapping_free(struct mr_mapping *mapping)
{
    mapping->memory = NULL;
    mapping->next_free = free_mappings;
    free_mappings = mapping;
    mapping_count--;
}

static void table_set(uintptr_t start, size_t size, struct mr_mapping *mapping)
{
    for (uintptr_t address = start; address < start + size; address += MR_VMM_UNIT)
        atomic_store_explicit(word_of(address), mapping, memory_order_release);
}

static CUresult refuse(const char *why, uintptr_t start, size_t size)
{
    mr_call_log(MR_LOG_INFO, "%zu bytes at %#zx: %s", size, (size_t)start, why);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Lock held. */
static CUresult map(uintptr_t start, size_t size, size_t offset, CUmemGenericAllocationHandle handle)
{
    MR_HELD(&mr_vmm_lock);
    struct mr_physical *memory = mr_physical_find(handle);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    if (offset || size != memory->size) {
        mr_call_log(MR_LOG_INFO, "%zu bytes from %zu on; memory is mapped as a whole, which is %zu bytes", size, offset,
                    memory->size);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!is_covered(start, size))
        return refuse("this is not reserved", start, size);
    if (any_mapping(start, start + size))
        return refuse("something is mapped there", start, size);
    struct mr_mapping *mapping = mapping_new();
    if (!mapping)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!mr_physical_view(memory, start)) {
        mapping_free(mapping);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory->uses++;
    mapping->memory = memory;
    mapping->host_right = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    struct mr_allocation value = {.kind = memory->device ? MR_MEMORY_MAPPED : MR_MEMORY_MAPPED_HOST,
                                  .base = start,
                                  .size = size,
                                  .mapped = size,
                                  .id = mr_memory_next_id(),
                                  .device = memory->device ? memory->device : mr_device_get(0)};
    mr_record_write(&mapping->record, &value);
    table_set(start, size, mapping);
    return CUDA_SUCCESS;
}

CUresult mr_vmm_map(uintptr_t start, size_t size, size_t offset, CUmemGenericAllocationHandle handle)
{
    mr_lock_take(&mr_vmm_lock);
    CUresult status = map(start, size, offset, handle);
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

/* Calls `visit` for each mapping in a reserved range, and counts them. CUDA_ERROR_INVALID_VALUE, before any call,
 * unless the range consists of whole mappings and holes. Lock held. */
static CUresult each_mapping(uintptr_t start, size_t size, CUresult (*visit)(struct mr_mapping *mapping, void *data),
                             void *data, size_t *count)
{
    MR_HELD(&mr_vmm_lock);
    CUresult status = CUDA_SUCCESS;
    *count = 0;
    if (!size || start % MR_VMM_UNIT || size % MR_VMM_UNIT || !is_covered(start, size))
        return refuse("these are not reserved units of 2 MiB", start, size);
    uintptr_t end = start + size;
    for (uintptr_t address = start; address < end;) {
        struct mr_mapping *mapping = mapping_at(address);
        if (mapping && (mapping->record.base != address || mapping->record.size > end - address))
            return refuse("the range begins or ends within a mapping", start, size);
        address += mapping ? mapping->record.size : MR_VMM_UNIT;
    }
    for (uintptr_t address = start; address < end && status == CUDA_SUCCESS;) {
        struct mr_mapping *mapping = mapping_at(address);
        address += mapping ? mapping->record.size : MR_VMM_UNIT;
        if (mapping) {
            ++*count;
            status = visit(mapping, data);
        }
    }
    return status;
}

static CUresult unmap_one(struct mr_mapping *mapping, void *data)
{
    (void)data;
    uintptr_t start = mapping->record.base;
    size_t size = mapping->record.size;
    void *at = mmap((void *)start, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (mr_guard_on())
        gone[gone_count++ % REMEMBERED] = (struct range){start, start + size};
    table_set(start, size, NULL);
    mr_record_write(&mapping->record, NULL);
    mr_physical_drop(mapping->memory);
    mapping_free(mapping);
    return CUDA_SUCCESS;
}

CUresult mr_vmm_unmap(uintptr_t start, size_t size)
{
    size_t count;
    mr_lock_take(&mr_vmm_lock);
    CUresult status = each_mapping(start, size, unmap_one, NULL, &count);
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

CUresult mr_vmm_retain(uintptr_t address, CUmemGenericAllocationHandle *out)
{
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    mr_lock_take(&mr_vmm_lock);
    struct mr_mapping *mapping = mapping_at(address);
    if (mapping) {
        CUmemGenericAllocationHandle handle = mr_physical_handle_use(mapping->memory);
        status = handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        if (handle)
            *out = handle;
    } else {
        mr_call_log(MR_LOG_INFO, "no memory is mapped at %#zx", (size_t)address);
    }
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

void mr_mappings_visit(void (*visit)(uintptr_t base, size_t size, bool freed, void *data), void *data)
{
    mr_lock_take(&mr_vmm_lock);
    for (size_t i = 0; i < reservation_count; i++)
        for (uintptr_t at = reservations[i].start; at < reservations[i].end; at += MR_VMM_UNIT) {
            struct mr_mapping *mapping = mapping_at(at);
            if (mapping && mapping->record.base == at)
                visit(at, mapping->record.size, false, data);
        }
    for (size_t i = 0; i < gone_count && i < REMEMBERED; i++)
        visit(gone[i].start, gone[i].end - gone[i].start, true, data);
    mr_lock_drop(&mr_vmm_lock);
}

/* ---- rights ---- */

static bool is_host(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST || location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static unsigned right_of(const struct mr_mapping *mapping, const CUmemLocation *location)
{
    if (is_host(location))
        return mapping->host_right;
    return mapping->record.flags >> ((unsigned)location->id * RIGHT_BITS) & CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static void right_set(struct mr_mapping *mapping, const CUmemAccessDesc *description)
{
    unsigned shift = (unsigned)description->location.id * RIGHT_BITS, flags = (unsigned)description->flags;
    if (is_host(&description->location)) {
        mapping->host_right = flags;
        return;
    }
    uint32_t rest = mapping->record.flags & ~((uint32_t)CU_MEM_ACCESS_FLAGS_PROT_READWRITE << shift);
    atomic_store_explicit(&mapping->record.flags, rest | (uint32_t)flags << shift, memory_order_relaxed);
}

/* The widest right that anybody has, as mprotect's bits. */
static int protection_of(const struct mr_mapping *mapping)
{
    unsigned all = mapping->host_right;
    for (uint32_t rights = mapping->record.flags; rights; rights >>= RIGHT_BITS)
        all |= rights & CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if ((all & CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return PROT_READ | PROT_WRITE;
    return all ? PROT_READ : PROT_NONE;
}

struct wish {
    const CUmemAccessDesc *descriptions;
    size_t count;
};

static CUresult access_one(struct mr_mapping *mapping, void *data)
{
    const struct wish *wish = data;
    uint32_t flags = mapping->record.flags;
    unsigned host_right = mapping->host_right;
    int before = protection_of(mapping);
    for (size_t i = 0; i < wish->count; i++)
        right_set(mapping, &wish->descriptions[i]);
    int wanted = protection_of(mapping);
    if (wanted == before || mprotect((void *)mapping->record.base, mapping->record.size, wanted) == 0)
        return CUDA_SUCCESS;
    atomic_store_explicit(&mapping->record.flags, flags, memory_order_relaxed);
    mapping->host_right = host_right;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Can this location have a right to that memory? */
static CUresult check_right(const struct mr_mapping *mapping, const CUmemLocation *location)
{
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE || !mapping->memory->device)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "the host is given no access to memory of device %d", mapping->memory->device->ordinal);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult check_one(struct mr_mapping *mapping, void *data)
{
    const struct wish *wish = data;
    CUresult status = CUDA_SUCCESS;
    for (size_t i = 0; i < wish->count && status == CUDA_SUCCESS; i++)
        status = check_right(mapping, &wish->descriptions[i].location);
    return status;
}

/* Looks at the whole range before anything is changed. Lock held. */
static CUresult check_rights(uintptr_t start, size_t size, struct wish *wish)
{
    MR_HELD(&mr_vmm_lock);
    size_t count;
    CUresult status = each_mapping(start, size, check_one, wish, &count);
    return status == CUDA_SUCCESS && !count ? refuse("nothing is mapped there", start, size) : status;
}

CUresult mr_vmm_set_access(uintptr_t start, size_t size, const CUmemAccessDesc *descriptions, size_t count)
{
    struct wish wish = {descriptions, count};
    size_t mappings;
    mr_lock_take(&mr_vmm_lock);
    CUresult status = check_rights(start, size, &wish);
    if (status == CUDA_SUCCESS)
        status = each_mapping(start, size, access_one, &wish, &mappings);
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

bool mr_vmm_get_access(const CUmemLocation *location, uintptr_t address, unsigned *out)
{
    mr_lock_take(&mr_vmm_lock);
    struct mr_mapping *mapping = mapping_at(address);
    if (mapping)
        *out = right_of(mapping, location);
    mr_lock_drop(&mr_vmm_lock);
    return mapping != NULL;
}

bool mr_vmm_properties_at(uintptr_t address, CUmemAllocationProp *out)
{
    mr_lock_take(&mr_vmm_lock);
    struct mr_mapping *mapping = mapping_at(address);
    if (mapping)
        *out = mapping->memory->properties;
    mr_lock_drop(&mr_vmm_lock);
    return mapping != NULL;
}

void mr_vmm_statistics_get(struct mr_vmm_statistics *out)
{
    mr_lock_take(&mr_vmm_lock);
    *out = (struct mr_vmm_statistics){mr_physical_count(), mapping_count, reservation_count};
    mr_lock_drop(&mr_vmm_lock);
}
