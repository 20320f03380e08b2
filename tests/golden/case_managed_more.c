/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory, the long list: flags, attaching to streams, advice and
 * prefetching of every kind and to every place, and what the range attributes
 * answer afterwards.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define PAGES (2 * MIB)

static CUmemLocation place(CUmemLocationType type, int id)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = type;
    location.id = id;
    return location;
}

static CUmemLocation here(void)
{
    return place(CU_MEM_LOCATION_TYPE_DEVICE, gold_device());
}

static CUmemLocation host(void)
{
    return place(CU_MEM_LOCATION_TYPE_HOST, 0);
}

static CUdeviceptr managed(size_t size)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static unsigned *words(CUdeviceptr address)
{
    return (unsigned *)(uintptr_t)address;
}

/* The functions as programs of CUDA 12.0 know them: a device number in place of a location. */
static CUresult advise_v1(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device)
{
    CUresult (*function)(CUdeviceptr, size_t, CUmem_advise, CUdevice) = NULL;
    NEED(cuGetProcAddress("cuMemAdvise", (void **)&function, 12000, 0, NULL));
    return function(address, size, advice, device);
}

static CUresult prefetch_v1(CUdeviceptr address, size_t size, CUdevice device, CUstream stream)
{
    CUresult (*function)(CUdeviceptr, size_t, CUdevice, CUstream) = NULL;
    NEED(cuGetProcAddress("cuMemPrefetchAsync", (void **)&function, 12000, 0, NULL));
    return function(address, size, device, stream);
}

/* Says all attributes of a range, the first three devices of "accessed by" among them. */
static void say_range(CUdeviceptr address, size_t size)
{
    static const struct {
        CUmem_range_attribute attribute;
        const char *name;
    } row[] = {
        {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, "mostly"},
        {CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, "preferred"},
        {CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, "type"},
        {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, "last"},
        {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, "type"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int value = 99;
        CUresult status = cuMemRangeGetAttribute(&value, sizeof value, row[i].attribute, address, size);
        if (status != CUDA_SUCCESS)
            say(status);
        say_value(row[i].name, value);
    }
    int by[3] = {99, 99, 99};
    CUresult status = cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, size);
    if (status != CUDA_SUCCESS)
        say(status);
    say_value("by", by[0]);
    say_int(by[1]);
    say_int(by[2]);
}

/* ---- allocation ---- */

CASE(managed, flags)
{
    unsigned flags[] = {0, CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE, 3, 8};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CUdeviceptr address = 0;
        CUresult status = cuMemAllocManaged(&address, 4096, flags[i]);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemFree(address));
    }
}

CASE(managed, sizes)
{
    CUdeviceptr address = 0;
    say(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
    say(cuMemAllocManaged(NULL, 4096, CU_MEM_ATTACH_GLOBAL));
    say(cuMemAllocManaged(&address, 1, CU_MEM_ATTACH_GLOBAL));
    words(address)[0] = 3;
    say(cuMemFree(address));
}

CASE(managed, freed_as_host)
{
    CUdeviceptr address = managed(4096);
    say(cuMemFreeHost((void *)(uintptr_t)address));
    say(cuMemFree(address + 64));
    say(cuMemFree(address));
    say(cuMemFree(address));
}

CASE(managed, host_attached_used_by_host)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_HOST));
    words(address)[5] = 5;
    say_int((int)words(address)[5]);
    say(cuMemsetD32(address, 7, 8));
    NEED(cuCtxSynchronize());
    say_int((int)words(address)[5]);
    NEED(cuMemFree(address));
}

CASE(managed, host_attached_used_by_kernel, .alone = true)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_HOST));
    words(address)[0] = 5;
    gold_add(NULL, address, 2);
    say(cuCtxSynchronize());
    say_int((int)words(address)[0]);
}

CASE(managed, range_of_address)
{
    CUdeviceptr address = managed(10000), base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(&base, &size, address + 9000));
    say_if("start", base == address);
    say_int((long long)size);
    NEED(cuMemFree(address));
}

CASE(managed, host_writes_while_kernel_runs)
{
    CUdeviceptr address = managed(PAGES);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    words(address)[0] = 4;
    gold_gate_open(gate);
    gold_add(stream, address, 2);
    say(cuStreamSynchronize(stream));
    say_int((int)words(address)[0]);
    NEED(cuMemFree(address));
}

/* ---- attaching ---- */

CASE(managed, attach)
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(0);
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE));
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_HOST));
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_GLOBAL));
    say(cuStreamSynchronize(stream));
    NEED(cuMemFree(address));
}

CASE(managed, attach_lengths)
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(0);
    size_t lengths[] = {0, 1, 4096, 8191, 8192, 8193, 65536};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        say(cuStreamAttachMemAsync(stream, address, lengths[i], CU_MEM_ATTACH_SINGLE));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemFree(address));
}

CASE(managed, attach_inner_address)
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(0);
    say(cuStreamAttachMemAsync(stream, address + 4096, 0, CU_MEM_ATTACH_SINGLE));
    say(cuStreamAttachMemAsync(stream, address + 4096, 4096, CU_MEM_ATTACH_SINGLE));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemFree(address));
}

CASE(managed, attach_default_streams)
{
    CUdeviceptr address = managed(8192);
    CUstream streams[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (size_t i = 0; i < 3; i++) {
        say(cuStreamAttachMemAsync(streams[i], address, 0, CU_MEM_ATTACH_SINGLE));
        say(cuStreamAttachMemAsync(streams[i], address, 0, CU_MEM_ATTACH_GLOBAL));
    }
    NEED(cuCtxSynchronize());
    NEED(cuMemFree(address));
}

CASE(managed, attach_bad, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(0);
    say(cuStreamAttachMemAsync(stream, address, 0, 0));
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE | CU_MEM_ATTACH_GLOBAL));
    say(cuStreamAttachMemAsync(stream, address, 0, 8));
    NEED(cuMemFree(address));
}

CASE(managed, attach_device_memory, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    say(cuStreamAttachMemAsync(gold_stream(0), gold_alloc(8192), 0, CU_MEM_ATTACH_SINGLE));
}

CASE(managed, attach_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    say(cuStreamAttachMemAsync(gold_stream(0), 0, 0, CU_MEM_ATTACH_SINGLE));
}

CASE(managed, attach_wild, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    say(cuStreamAttachMemAsync(gold_stream(0), 0xdead00000000ull, 0, CU_MEM_ATTACH_SINGLE));
}

CASE(managed, attach_pageable)
{
    char *memory = malloc(8192);
    CUstream stream = gold_stream(0);
    say(cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)memory, 8192, CU_MEM_ATTACH_SINGLE));
    say(cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)memory, 0, CU_MEM_ATTACH_GLOBAL));
    NEED(cuStreamSynchronize(stream));
    free(memory);
}

CASE(managed, attach_is_ordered)
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    NEED(cuMemFree(address));
}

CASE(managed, attached_stream_destroyed)
{
    CUdeviceptr address = managed(8192);
    CUstream stream = gold_stream(0);
    words(address)[0] = 1;
    say(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE));
    NEED(cuStreamSynchronize(stream));
    say(cuStreamDestroy(stream));
    gold_add(NULL, address, 4);
    NEED(cuCtxSynchronize());
    say_int((int)words(address)[0]);
    NEED(cuMemFree(address));
}

/* ---- advice, and what is answered back ---- */

CASE(managed, nothing_advised)
{
    CUdeviceptr address = managed(PAGES);
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

static void say_advised(CUmem_advise advice, CUmemLocation location)
{
    CUdeviceptr address = managed(PAGES);
    say(cuMemAdvise(address, PAGES, advice, location));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, advised_read_mostly)
{
    say_advised(CU_MEM_ADVISE_SET_READ_MOSTLY, here());
}
CASE(managed, advised_preferred_device)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here());
}
CASE(managed, advised_preferred_host)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host());
}
CASE(managed, advised_preferred_numa)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
}
CASE(managed, advised_preferred_numa_current)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0));
}
CASE(managed, advised_preferred_nowhere)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_INVALID, 0));
}
CASE(managed, advised_preferred_bad_device)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_DEVICE, 999));
}
CASE(managed, advised_preferred_bad_numa)
{
    say_advised(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 9999));
}
CASE(managed, advised_by_device)
{
    say_advised(CU_MEM_ADVISE_SET_ACCESSED_BY, here());
}
CASE(managed, advised_by_host)
{
    say_advised(CU_MEM_ADVISE_SET_ACCESSED_BY, host());
}
CASE(managed, advised_by_numa)
{
    say_advised(CU_MEM_ADVISE_SET_ACCESSED_BY, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
}
CASE(managed, advised_by_bad_device)
{
    say_advised(CU_MEM_ADVISE_SET_ACCESSED_BY, place(CU_MEM_LOCATION_TYPE_DEVICE, -5));
}
CASE(managed, advised_read_mostly_any_location)
{
    say_advised(CU_MEM_ADVISE_SET_READ_MOSTLY, place((CUmemLocationType)77, 9999));
}

CASE(managed, advised_read_mostly_bad_device)
{
    say_advised(CU_MEM_ADVISE_SET_READ_MOSTLY, place(CU_MEM_LOCATION_TYPE_DEVICE, 9999));
}
CASE(managed, advised_read_mostly_nowhere)
{
    say_advised(CU_MEM_ADVISE_SET_READ_MOSTLY, place(CU_MEM_LOCATION_TYPE_INVALID, 0));
}
CASE(managed, advised_read_mostly_numa)
{
    say_advised(CU_MEM_ADVISE_SET_READ_MOSTLY, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
}

CASE(managed, numa_after_device)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, unset_preferred)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host()));
    say_range(address, PAGES);
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, place((CUmemLocationType)77, 9999)));
    NEED(cuMemFree(address));
}

CASE(managed, unset_accessed_by)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, here()));
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, host()));
    say_range(address, PAGES);
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_UNSET_ACCESSED_BY, here()));
    say_range(address, PAGES);
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_UNSET_ACCESSED_BY, here()));
    NEED(cuMemFree(address));
}

CASE(managed, advice_together)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host()));
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, here()));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, advice_part_of_allocation)
{
    CUdeviceptr address = managed(2 * PAGES);
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say_range(address, PAGES);
    say_range(address + PAGES, PAGES);
    say_range(address, 2 * PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, advice_unaligned)
{
    CUdeviceptr address = managed(2 * PAGES);
    say(cuMemAdvise(address + 100, 200, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say_range(address, 4096);
    say_range(address + 65536, 4096);
    NEED(cuMemFree(address));
}

CASE(managed, advice_past_end)
{
    CUdeviceptr address = managed(4096);
    say(cuMemAdvise(address, 4097, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, 65536, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, 4 * PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuMemFree(address));
}

CASE(managed, advice_is_forgotten_with_free)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuMemFree(address));
    CUdeviceptr again = managed(PAGES);
    say_range(again, PAGES);
    NEED(cuMemFree(again));
}

CASE(managed, advise_v1)
{
    CUdeviceptr address = managed(PAGES);
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, gold_device()));
    say_range(address, PAGES);
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    say_range(address, PAGES);
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, advise_v1_bad)
{
    CUdeviceptr address = managed(PAGES);
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 999));
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_INVALID));
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, 999));
    say(advise_v1(address, PAGES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 999));
    say(advise_v1(address, PAGES, (CUmem_advise)0, gold_device()));
    NEED(cuMemFree(address));
}

/* ---- prefetching, and what is answered back ---- */

static void say_prefetched(CUmemLocation location)
{
    CUdeviceptr address = managed(PAGES);
    CUstream stream = gold_stream(0);
    say(cuMemPrefetchAsync(address, PAGES, location, 0, stream));
    NEED(cuStreamSynchronize(stream));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, prefetched_to_device)
{
    say_prefetched(here());
}
CASE(managed, prefetched_to_host)
{
    say_prefetched(host());
}
CASE(managed, prefetched_to_numa)
{
    say_prefetched(place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
}
CASE(managed, prefetched_to_numa_current)
{
    say_prefetched(place(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0));
}
CASE(managed, prefetched_to_bad_numa)
{
    say_prefetched(place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 9999));
}
CASE(managed, prefetched_to_invalid)
{
    say_prefetched(place(CU_MEM_LOCATION_TYPE_INVALID, 0));
}
CASE(managed, prefetched_to_unknown)
{
    say_prefetched(place((CUmemLocationType)77, 0));
}

CASE(managed, prefetch_v1)
{
    CUdeviceptr address = managed(PAGES);
    CUstream stream = gold_stream(0);
    say(prefetch_v1(address, PAGES, gold_device(), stream));
    say_range(address, PAGES);
    say(prefetch_v1(address, PAGES, CU_DEVICE_CPU, stream));
    say_range(address, PAGES);
    say(prefetch_v1(address, PAGES, 999, stream));
    say(prefetch_v1(address, PAGES, CU_DEVICE_INVALID, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemFree(address));
}

CASE(managed, prefetch_is_told_before_it_happened)
{
    CUdeviceptr address = managed(PAGES);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemPrefetchAsync(address, PAGES, here(), 0, stream));
    say_range(address, PAGES);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
    say_range(address, PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, prefetch_parts)
{
    CUdeviceptr address = managed(2 * PAGES);
    say(cuMemPrefetchAsync(address, PAGES, here(), 0, NULL));
    say(cuMemPrefetchAsync(address + PAGES, PAGES, host(), 0, NULL));
    NEED(cuCtxSynchronize());
    say_range(address, PAGES);
    say_range(address + PAGES, PAGES);
    say_range(address, 2 * PAGES);
    NEED(cuMemFree(address));
}

CASE(managed, prefetch_past_end)
{
    CUdeviceptr address = managed(4096);
    say(cuMemPrefetchAsync(address, 4097, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, 65536, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, 4 * PAGES, here(), 0, NULL));
    say(cuMemPrefetchAsync(address + 4000, 96, here(), 0, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemFree(address));
}

CASE(managed, prefetch_keeps_contents)
{
    CUdeviceptr address = managed(PAGES);
    unsigned wrong = 0;
    for (unsigned i = 0; i < PAGES / 4; i++)
        words(address)[i] = i * 3;
    say(cuMemPrefetchAsync(address, PAGES, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, PAGES, host(), 0, NULL));
    NEED(cuCtxSynchronize());
    for (unsigned i = 0; i < PAGES / 4; i++)
        wrong += words(address)[i] != i * 3;
    say_int(wrong);
    NEED(cuMemFree(address));
}

/* ---- in batches ---- */

CASE(managed, prefetch_batch)
{
    CUdeviceptr both[2] = {managed(PAGES), managed(PAGES)};
    size_t sizes[2] = {PAGES, PAGES}, starts[2] = {0, 1};
    CUmemLocation locations[2] = {here(), host()};
    CUstream stream = gold_stream(0);
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 0, stream));
    NEED(cuStreamSynchronize(stream));
    say_range(both[0], PAGES);
    say_range(both[1], PAGES);
    starts[0] = 0;
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 1, 0, stream));
    NEED(cuStreamSynchronize(stream));
    say_range(both[1], PAGES);
    NEED(cuMemFree(both[0]));
    NEED(cuMemFree(both[1]));
}

CASE(managed, prefetch_batch_bad, .alone = true)
{
    CUdeviceptr both[2] = {managed(PAGES), managed(PAGES)};
    size_t sizes[2] = {PAGES, PAGES}, starts[2] = {0, 1}, wrong[2] = {1, 0}, late[2] = {0, 2}, same[2] = {0, 0};
    CUmemLocation locations[2] = {here(), host()};
    CUstream stream = gold_stream(0);
    say(cuMemPrefetchBatchAsync(both, sizes, 0, locations, starts, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(NULL, sizes, 2, locations, starts, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, NULL, 2, locations, starts, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, NULL, starts, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, NULL, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 0, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 3, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, wrong, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, late, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, same, 2, 0, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 1, stream));
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 0, NULL));
    sizes[1] = 0;
    say(cuMemPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 0, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemFree(both[0]));
    NEED(cuMemFree(both[1]));
}

CASE(managed, discard_batch)
{
    CUdeviceptr both[2] = {managed(PAGES), managed(PAGES)};
    size_t sizes[2] = {PAGES, PAGES};
    CUstream stream = gold_stream(0);
    words(both[0])[0] = 5;
    say(cuMemDiscardBatchAsync(both, sizes, 2, 0, stream));
    say(cuStreamSynchronize(stream));
    words(both[0])[0] = 6;
    gold_add(stream, both[0], 2);
    NEED(cuStreamSynchronize(stream));
    say_int((int)words(both[0])[0]);
    NEED(cuMemFree(both[0]));
    NEED(cuMemFree(both[1]));
}

CASE(managed, discard_batch_bad, .alone = true)
{
    CUdeviceptr both[2] = {managed(PAGES), managed(PAGES)}, plain = gold_alloc(PAGES);
    size_t sizes[2] = {PAGES, PAGES};
    CUstream stream = gold_stream(0);
    say(cuMemDiscardBatchAsync(both, sizes, 0, 0, stream));
    say(cuMemDiscardBatchAsync(NULL, sizes, 2, 0, stream));
    say(cuMemDiscardBatchAsync(both, NULL, 2, 0, stream));
    say(cuMemDiscardBatchAsync(both, sizes, 2, 1, stream));
    say(cuMemDiscardBatchAsync(both, sizes, 2, 0, NULL));
    say(cuMemDiscardBatchAsync(&plain, sizes, 1, 0, stream));
    sizes[0] = 2 * PAGES;
    say(cuMemDiscardBatchAsync(both, sizes, 1, 0, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemFree(plain));
    NEED(cuMemFree(both[0]));
    NEED(cuMemFree(both[1]));
}

CASE(managed, discard_and_prefetch_batch)
{
    CUdeviceptr both[2] = {managed(PAGES), managed(PAGES)};
    size_t sizes[2] = {PAGES, PAGES}, starts[2] = {0, 1};
    CUmemLocation locations[2] = {here(), host()};
    CUstream stream = gold_stream(0);
    say(cuMemDiscardAndPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 0, stream));
    NEED(cuStreamSynchronize(stream));
    say_range(both[0], PAGES);
    say_range(both[1], PAGES);
    say(cuMemDiscardAndPrefetchBatchAsync(both, sizes, 2, locations, starts, 2, 1, stream));
    say(cuMemDiscardAndPrefetchBatchAsync(both, sizes, 0, locations, starts, 2, 0, stream));
    NEED(cuMemFree(both[0]));
    NEED(cuMemFree(both[1]));
}

/* ---- pageable memory ---- */

CASE(managed, device_says)
{
    static const CUdevice_attribute row[] = {
        CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int value = 99;
        if (row[i] == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID || row[i] == CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) {
            say(cuDeviceGetAttribute(&value, row[i], gold_device()));
            continue;
        }
        NEED(cuDeviceGetAttribute(&value, row[i], gold_device()));
        say_int(value);
    }
}

CASE(managed, pageable_advice, .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS",
     .why = "the device says that it can use pageable memory, which the H200 cannot")
{
    char *memory = aligned_alloc(65536, PAGES);
    memset(memory, 1, PAGES);
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host()));
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, here()));
    free(memory);
}

CASE(managed, pageable_prefetch, .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE mostly=99*",
     .why = "the device says that it can use pageable memory, which the H200 cannot")
{
    char *memory = aligned_alloc(65536, PAGES);
    memset(memory, 1, PAGES);
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    say(cuMemPrefetchAsync(address, PAGES, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, PAGES, host(), 0, NULL));
    NEED(cuCtxSynchronize());
    say_range(address, PAGES);
    free(memory);
}

CASE(managed, pageable_attributes)
{
    char *memory = aligned_alloc(65536, PAGES);
    memset(memory, 1, PAGES);
    say_range((CUdeviceptr)(uintptr_t)memory, PAGES);
    free(memory);
}
