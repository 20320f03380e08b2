/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of ranges of managed memory, one and several at a time: what is
 * asked with which size, over how much, and what is refused.
 */
#include "gold.h"

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

static void ask(CUmem_range_attribute attribute, CUdeviceptr address, size_t size)
{
    int value = 99;
    say(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, size));
    say_int(value);
}

/* Data sizes: which are taken, and what is written. */
static void say_sizes(CUmem_range_attribute attribute)
{
    static const size_t sizes[] = {0, 1, 2, 4, 6, 8, 12, 16};
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, here()));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int values[4] = {99, 99, 99, 99};
        CUresult status = cuMemRangeGetAttribute(values, sizes[i], attribute, address, PAGES);
        say(status);
        if (status == CUDA_SUCCESS)
            for (int j = 0; j < 4; j++)
                say_int(values[j]);
    }
    NEED(cuMemFree(address));
}

CASE(range_attribute, sizes_read_mostly)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
}
CASE(range_attribute, sizes_preferred)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
}
CASE(range_attribute, sizes_preferred_type)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE);
}
CASE(range_attribute, sizes_prefetch)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
}
CASE(range_attribute, sizes_prefetch_type)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE);
}
CASE(range_attribute, sizes_accessed_by)
{
    say_sizes(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
}

CASE(range_attribute, ids)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    NEED(cuMemPrefetchAsync(address, PAGES, here(), 0, NULL));
    NEED(cuCtxSynchronize());
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, address, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, ids_of_nothing)
{
    CUdeviceptr address = managed(PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, address, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, ids_of_numa)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)));
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, address, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, address, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, ids_of_host)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host()));
    NEED(cuMemPrefetchAsync(address, PAGES, place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0), 0, gold_stream(0)));
    NEED(cuCtxSynchronize());
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, address, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, PAGES);
    NEED(cuMemPrefetchAsync(address, PAGES, host(), 0, gold_stream(0)));
    NEED(cuCtxSynchronize());
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, mixed_read_mostly)
{
    CUdeviceptr address = managed(2 * PAGES);
    NEED(cuMemAdvise(address + PAGES, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 2 * PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + PAGES, PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + PAGES - 1, 2);
    NEED(cuMemFree(address));
}

CASE(range_attribute, mixed_preferred)
{
    CUdeviceptr address = managed(2 * PAGES);
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    NEED(cuMemAdvise(address + PAGES, PAGES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host()));
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 2 * PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, address, 2 * PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address + PAGES, PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, mixed_prefetch)
{
    CUdeviceptr address = managed(2 * PAGES);
    NEED(cuMemPrefetchAsync(address, PAGES, here(), 0, NULL));
    NEED(cuCtxSynchronize());
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, 2 * PAGES);
    ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, address, 2 * PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, mixed_accessed_by)
{
    CUdeviceptr address = managed(2 * PAGES);
    NEED(cuMemAdvise(address, 2 * PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, host()));
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, here()));
    int by[3] = {99, 99, 99};
    say(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, 2 * PAGES));
    say_int(by[0]);
    say_int(by[1]);
    say_int(by[2]);
    NEED(cuMemFree(address));
}

CASE(range_attribute, page_that_is_touched)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemAdvise(address, 1, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 1);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 4095, 1);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 4096, 1);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 65535, 1);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 65536, 1);
    NEED(cuMemFree(address));
}

CASE(range_attribute, past_end)
{
    CUdeviceptr address = managed(4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4097);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 65536);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 16 * PAGES);
    NEED(cuMemFree(address));
}

CASE(range_attribute, wraps, .allow = "CUDA_ERROR_INVALID_VALUE 99",
     .why = "hardware's driver takes a range that wraps around")
{
    CUdeviceptr address = managed(4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, ~(size_t)0);
    NEED(cuMemFree(address));
}

CASE(range_attribute, other_memory)
{
    CUdeviceptr plain = gold_alloc(PAGES);
    void *pinned;
    NEED(cuMemHostAlloc(&pinned, 4096, 0));
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)(uintptr_t)pinned, 4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0xdead00000000ull, 4096);
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)(uintptr_t)gold_foreign(), 4096);
    NEED(cuMemFreeHost(pinned));
    NEED(cuMemFree(plain));
}

CASE(range_attribute, freed)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuMemFree(address));
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, PAGES);
}

CASE(range_attribute, without_context)
{
    CUdeviceptr address = managed(PAGES);
    NEED(cuCtxSetCurrent(NULL));
    ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, PAGES);
    say(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuCtxSetCurrent(gold_context()));
    NEED(cuMemFree(address));
}

CASE(range_attribute, several)
{
    CUdeviceptr address = managed(PAGES);
    int mostly = 99, preferred = 99, prefetched = 99, by[2] = {99, 99};
    void *data[] = {&mostly, &preferred, by, &prefetched};
    size_t sizes[] = {4, 4, 8, 4};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                                          CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                          CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuMemAdvise(address, PAGES, CU_MEM_ADVISE_SET_ACCESSED_BY, host()));
    say(cuMemRangeGetAttributes(data, sizes, attributes, 4, address, PAGES));
    say_int(mostly);
    say_int(preferred);
    say_int(by[0]);
    say_int(by[1]);
    say_int(prefetched);
    NEED(cuMemFree(address));
}

CASE(range_attribute, several_bad)
{
    CUdeviceptr address = managed(PAGES);
    int one = 99, two = 99;
    void *data[] = {&one, &two};
    size_t sizes[] = {4, 4}, wrong[] = {4, 3};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                          CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    CUmem_range_attribute unknown[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUmem_range_attribute)99};
    say(cuMemRangeGetAttributes(data, sizes, attributes, 0, address, PAGES));
    say(cuMemRangeGetAttributes(data, wrong, attributes, 2, address, PAGES));
    say_int(one);
    say(cuMemRangeGetAttributes(data, sizes, unknown, 2, address, PAGES));
    say_int(one);
    say(cuMemRangeGetAttributes(data, sizes, attributes, 2, address, 0));
    say(cuMemRangeGetAttributes(NULL, sizes, attributes, 2, address, PAGES));
    say(cuMemRangeGetAttributes(data, NULL, attributes, 2, address, PAGES));
    say(cuMemRangeGetAttributes(data, sizes, NULL, 2, address, PAGES));
    NEED(cuMemFree(address));
}

CASE(range_attribute, several_null_entry)
{
    CUdeviceptr address = managed(PAGES);
    int one = 99;
    void *data[] = {&one, NULL};
    size_t sizes[] = {4, 4};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                          CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    say(cuMemRangeGetAttributes(data, sizes, attributes, 2, address, PAGES));
    say_int(one);
    NEED(cuMemFree(address));
}

CASE(range_attribute, repeated_attribute)
{
    CUdeviceptr address = managed(PAGES);
    int one = 99, two = 99;
    void *data[] = {&one, &two};
    size_t sizes[] = {4, 4};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    say(cuMemRangeGetAttributes(data, sizes, attributes, 2, address, PAGES));
    say_int(one);
    say_int(two);
    NEED(cuMemFree(address));
}

CASE(range_attribute, two_allocations, .allow = "apart", .why = "where allocations stand is the driver's choice")
{
    CUdeviceptr one = managed(PAGES), two = managed(PAGES), low = one < two ? one : two, high = one < two ? two : one;
    if (high == low + PAGES)
        ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, low, 2 * PAGES);
    else
        say_text("apart");
    NEED(cuMemFree(one));
    NEED(cuMemFree(two));
}
