/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory, what mapped memory may be used for: access rights, what the
 * driver tells of such addresses, copies across mappings, and handles that
 * travel as file descriptors.
 */
#include "gold.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define UNIT (2 * MIB)

static CUmemAllocationProp shareable(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = gold_device();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

static CUmemGenericAllocationHandle made(size_t size)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle;
    NEED(cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static CUmemLocation here(void)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = gold_device();
    return location;
}

static CUmemLocation host(void)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_HOST;
    return location;
}

static CUresult access_set(CUdeviceptr address, size_t size, CUmemLocation location, unsigned flags)
{
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location = location;
    desc.flags = (CUmemAccess_flags)flags;
    return cuMemSetAccess(address, size, &desc, 1);
}

/* A handle's memory at a fresh address, without access. */
struct mapping {
    CUdeviceptr address;
    size_t size;
    CUmemGenericAllocationHandle handle;
};

static struct mapping mapped(size_t size)
{
    struct mapping it = {.size = size, .handle = made(size)};
    NEED(cuMemAddressReserve(&it.address, size, 0, 0, 0));
    NEED(cuMemMap(it.address, size, 0, it.handle, 0));
    return it;
}

static struct mapping opened(size_t size)
{
    struct mapping it = mapped(size);
    NEED(access_set(it.address, size, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    return it;
}

static void gone(struct mapping it)
{
    NEED(cuMemUnmap(it.address, it.size));
    NEED(cuMemRelease(it.handle));
    NEED(cuMemAddressFree(it.address, it.size));
}

static void say_access(CUmemLocation location, CUdeviceptr address)
{
    unsigned long long flags = 77;
    say(cuMemGetAccess(&flags, &location, address));
    say_int((long long)flags);
}

/* ---- rights ---- */

CASE(vmm, access_none_at_first)
{
    struct mapping it = mapped(UNIT);
    say_access(here(), it.address);
    gone(it);
}

CASE(vmm, access_set_and_get)
{
    struct mapping it = mapped(UNIT);
    say(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(here(), it.address);
    say_access(here(), it.address + 5000);
    say(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    say_access(here(), it.address);
    say(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_NONE));
    say_access(here(), it.address);
    gone(it);
}

CASE(vmm, access_bad_flags)
{
    struct mapping it = mapped(UNIT);
    say(access_set(it.address, UNIT, here(), 2));
    say(access_set(it.address, UNIT, here(), 4));
    say(access_set(it.address, UNIT, here(), 0xff));
    gone(it);
}

CASE(vmm, access_bad_location)
{
    struct mapping it = mapped(UNIT);
    CUmemLocation place = here();
    place.id = 9999;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    place.id = -1;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    place = here();
    place.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    place.type = (CUmemLocationType)99;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    gone(it);
}

CASE(vmm, access_host_of_device_memory)
{
    struct mapping it = mapped(UNIT);
    CUmemLocation place = host();
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    say(access_set(it.address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(host(), it.address);
    gone(it);
}

CASE(vmm, access_bad_ranges)
{
    struct mapping it = mapped(2 * UNIT);
    unsigned flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    say(access_set(0, UNIT, here(), flags));
    say(access_set(it.address, 0, here(), flags));
    say(access_set(it.address, 4096, here(), flags));
    say(access_set(it.address + 4096, UNIT, here(), flags));
    say(access_set(it.address, 4 * UNIT, here(), flags));
    say(access_set(0xdead00000000ull, UNIT, here(), flags));
    gone(it);
}

CASE(vmm, access_of_part)
{
    struct mapping it = mapped(2 * UNIT);
    CUresult status = access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    say(status);
    say_access(here(), it.address);
    say_access(here(), it.address + UNIT);
    gone(it);
}

CASE(vmm, access_over_hole)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemAddressReserve(&address, 3 * UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(cuMemMap(address + 2 * UNIT, UNIT, 0, handle, 0));
    say(access_set(address, 3 * UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(here(), address);
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemUnmap(address + 2 * UNIT, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 3 * UNIT));
}

CASE(vmm, access_of_reservation)
{
    CUdeviceptr address;
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(here(), address);
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, access_of_allocation)
{
    CUdeviceptr plain = gold_alloc(2 * UNIT);
    say(access_set((plain + UNIT - 1) / UNIT * UNIT, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(here(), plain);
    NEED(cuMemFree(plain));
}

CASE(vmm, access_several)
{
    struct mapping it = mapped(UNIT);
    CUmemAccessDesc descs[2];
    memset(descs, 0, sizeof descs);
    descs[0].location = descs[1].location = here();
    descs[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    descs[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    say(cuMemSetAccess(it.address, UNIT, descs, 2));
    say_access(here(), it.address);
    say(cuMemSetAccess(it.address, UNIT, descs, 0));
    say(cuMemSetAccess(it.address, UNIT, NULL, 1));
    say(cuMemSetAccess(it.address, UNIT, NULL, 0));
    gone(it);
}

CASE(vmm, access_get_bad)
{
    struct mapping it = opened(UNIT);
    CUmemLocation place = here();
    unsigned long long flags = 77;
    say(cuMemGetAccess(NULL, &place, it.address));
    say(cuMemGetAccess(&flags, &place, 0));
    say(cuMemGetAccess(&flags, &place, 0xdead00000000ull));
    place.id = 9999;
    say(cuMemGetAccess(&flags, &place, it.address));
    place = here();
    place.type = CU_MEM_LOCATION_TYPE_INVALID;
    say(cuMemGetAccess(&flags, &place, it.address));
    say_int((long long)flags);
    gone(it);
}

CASE(vmm, access_get_null_location, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    struct mapping it = opened(UNIT);
    unsigned long long flags = 77;
    say(cuMemGetAccess(&flags, NULL, it.address));
}

CASE(vmm, access_is_the_mappings_own)
{
    struct mapping it = opened(UNIT);
    CUdeviceptr other;
    NEED(cuMemAddressReserve(&other, UNIT, 0, 0, 0));
    NEED(cuMemMap(other, UNIT, 0, it.handle, 0));
    say_access(here(), it.address);
    say_access(here(), other);
    NEED(cuMemUnmap(it.address, UNIT));
    NEED(cuMemMap(it.address, UNIT, 0, it.handle, 0));
    say_access(here(), it.address);
    NEED(cuMemUnmap(other, UNIT));
    NEED(cuMemAddressFree(other, UNIT));
    gone(it);
}

CASE(vmm, kernel_without_access, .alone = true)
{
    struct mapping it = mapped(UNIT);
    gold_store(NULL, it.address, 1);
    say(cuCtxSynchronize());
}

CASE(vmm, kernel_writes_read_only, .alone = true)
{
    struct mapping it = mapped(UNIT);
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    gold_store(NULL, it.address, 1);
    say(cuCtxSynchronize());
}

CASE(vmm, kernel_reads_read_only, .alone = true)
{
    struct mapping it = opened(UNIT);
    CUdeviceptr target = gold_alloc_words(1, 0);
    NEED(cuMemsetD32(it.address, 12, 4));
    NEED(cuCtxSynchronize());
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    void *params[] = {&target, &it.address};
    say(gold_launch(gold_function("copy_word"), 1, NULL, params));
    say(cuCtxSynchronize());
    say_int(gold_word(target));
}

CASE(vmm, kernel_reads_unmapped, .alone = true)
{
    struct mapping it = opened(UNIT);
    CUdeviceptr target = gold_alloc_words(1, 0);
    NEED(cuMemUnmap(it.address, UNIT));
    void *params[] = {&target, &it.address};
    say(gold_launch(gold_function("copy_word"), 1, NULL, params));
    say(cuCtxSynchronize());
}

CASE(vmm, kernel_runs_past_mapping, .alone = true)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle = made(UNIT);
    NEED(cuMemAddressReserve(&address, 2 * UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    gold_store(NULL, address + UNIT - 4, 1);
    say(cuCtxSynchronize());
    gold_store(NULL, address + UNIT, 1);
    say(cuCtxSynchronize());
}

CASE(vmm, copies_without_access, .alone = true)
{
    struct mapping it = mapped(UNIT);
    unsigned word = 3;
    say(cuMemcpyHtoD(it.address, &word, sizeof word));
    say(cuCtxSynchronize());
}

CASE(vmm, read_back_without_access, .alone = true)
{
    struct mapping it = mapped(UNIT);
    unsigned word = 3;
    say(cuMemcpyDtoH(&word, it.address, sizeof word));
    say(cuCtxSynchronize());
}

CASE(vmm, fill_without_access, .alone = true)
{
    struct mapping it = mapped(UNIT);
    say(cuMemsetD32(it.address, 1, 16));
    say(cuCtxSynchronize());
}

CASE(vmm, copies_to_read_only, .alone = true)
{
    struct mapping it = mapped(UNIT);
    unsigned word = 3;
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    say(cuMemcpyDtoH(&word, it.address, sizeof word));
    say(cuMemcpyHtoD(it.address, &word, sizeof word));
    say(cuCtxSynchronize());
}

CASE(vmm, fills_read_only, .alone = true)
{
    struct mapping it = mapped(UNIT);
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    say(cuMemsetD32(it.address, 1, 16));
    say(cuCtxSynchronize());
}

CASE(vmm, copy_into_hole, .alone = true)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle = made(UNIT);
    static char text[8192];
    NEED(cuMemAddressReserve(&address, 2 * UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemcpyHtoD(address + UNIT - 4096, text, sizeof text));
    say(cuCtxSynchronize());
}

CASE(vmm, copy_across_mappings)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle one = made(UNIT), two = made(UNIT);
    unsigned words[2048], back[2048];
    for (unsigned i = 0; i < 2048; i++)
        words[i] = i * 7;
    NEED(cuMemAddressReserve(&address, 2 * UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, one, 0));
    NEED(cuMemMap(address + UNIT, UNIT, 0, two, 0));
    NEED(access_set(address, 2 * UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemcpyHtoD(address + UNIT - 4096, words, sizeof words));
    say(cuMemcpyDtoD(address + 64, address + UNIT - 4096, sizeof words));
    say(cuMemcpyDtoH(back, address + 64, sizeof back));
    say_if("same", memcmp(words, back, sizeof back) == 0);
    say(cuMemsetD8(address + UNIT - 100, 3, 200));
    say_hex(gold_word(address + UNIT - 4));
    say_hex(gold_word(address + UNIT));
    NEED(cuMemUnmap(address, 2 * UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
    NEED(cuMemAddressFree(address, 2 * UNIT));
}

CASE(vmm, copy_async_in_stream)
{
    struct mapping it = opened(UNIT);
    CUstream stream = gold_stream(0);
    CUdeviceptr plain = gold_alloc_words(4, 6);
    say(cuMemcpyDtoDAsync(it.address, plain, 16, stream));
    gold_add(stream, it.address, 5);
    say(cuMemcpyDtoDAsync(plain, it.address, 16, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(plain));
    say_int(gold_word(plain + 4));
    gone(it);
}

/* ---- what the driver tells ---- */

CASE(vmm, address_range)
{
    struct mapping it = opened(2 * UNIT);
    CUdeviceptr base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(&base, &size, it.address + 5000));
    say_if("start", base == it.address);
    say_int((long long)size);
    gone(it);
}

CASE(vmm, address_range_of_neighbours)
{
    CUdeviceptr address, base = 0;
    CUmemGenericAllocationHandle handle = made(UNIT);
    size_t size = 0;
    NEED(cuMemAddressReserve(&address, 4 * UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    NEED(cuMemMap(address + UNIT, UNIT, 0, handle, 0));
    NEED(access_set(address, 2 * UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuMemGetAddressRange(&base, &size, address + UNIT + 64));
    say_value("from", (long long)(base - address));
    say_int((long long)size);
    say(cuMemGetAddressRange(&base, &size, address + 3 * UNIT));
    NEED(cuMemUnmap(address, 2 * UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, address_range_without_access)
{
    struct mapping it = mapped(UNIT);
    CUdeviceptr base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(&base, &size, it.address));
    say_if("start", base == it.address);
    say_int((long long)size);
    gone(it);
}

static void say_facts(CUdeviceptr address)
{
    int type = 9, managed = 9, ordinal = 9, mapped_now = 9, legacy = 9;
    CUcontext context = GOLD_WILD;
    CUdeviceptr device = 0, start = 0;
    void *host_address = NULL;
    size_t size = 0;
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_value("type", type);
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    say_text(context == NULL ? "context=none" : context == gold_context() ? "context=current" : "context=other");
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("device_same", device == address);
    say(cuPointerGetAttribute(&host_address, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    say_if("host_same", (CUdeviceptr)(uintptr_t)host_address == address);
    say(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    say_value("managed", managed);
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    say_value("ordinal", ordinal);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    say_if("start", start != 0 && start <= address);
    say(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    say_value("size", (long long)size);
    say(cuPointerGetAttribute(&mapped_now, CU_POINTER_ATTRIBUTE_MAPPED, address));
    say_value("mapped", (unsigned char)mapped_now);
    say(cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
    say_value("legacy_ipc", (unsigned char)legacy);
}

CASE(vmm, pointer_facts)
{
    struct mapping it = opened(UNIT);
    say_facts(it.address + 8);
    gone(it);
}

CASE(vmm, pointer_facts_without_access)
{
    struct mapping it = mapped(UNIT);
    say_facts(it.address);
    gone(it);
}

CASE(vmm, pointer_facts_of_reservation)
{
    CUdeviceptr address;
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say_facts(address);
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, pointer_facts_of_host_memory)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_facts(address);
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, host_memory_given_to_host_as_such)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUmemLocation current = host();
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    current.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(access_set(address, UNIT, current, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(access_set(address, UNIT, host(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    say_access(host(), address);
    void *pointer = NULL;
    say(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    say_if("same", (CUdeviceptr)(uintptr_t)pointer == address);
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, host_memory_shared_with_host)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUmemLocation place = host();
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = 0;
    place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(access_set(address, UNIT, place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_access(here(), address);
    say_access(place, address);
    NEED(cuMemsetD32(address, 8, 4));
    gold_add(NULL, address, 2);
    NEED(cuCtxSynchronize());
    say_int(*(volatile unsigned *)(uintptr_t)address);
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, buffer_ids)
{
    struct mapping it = opened(UNIT);
    CUdeviceptr other;
    unsigned long long one = 0, two = 0;
    NEED(cuMemAddressReserve(&other, UNIT, 0, 0, 0));
    NEED(cuMemMap(other, UNIT, 0, it.handle, 0));
    say(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, it.address));
    say(cuPointerGetAttribute(&two, CU_POINTER_ATTRIBUTE_BUFFER_ID, other));
    say_if("same", one == two);
    NEED(cuMemUnmap(other, UNIT));
    NEED(cuMemAddressFree(other, UNIT));
    gone(it);
}

CASE(vmm, allowed_handle_types)
{
    struct mapping it = opened(UNIT);
    unsigned long long types = 77;
    CUdeviceptr plain = gold_alloc(64);
    say(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, it.address));
    say_int((long long)types);
    say(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, plain));
    say_int((long long)types);
    gone(it);
    NEED(cuMemFree(plain));
}

CASE(vmm, mapping_facts)
{
    struct mapping it = opened(UNIT);
    size_t size = 77;
    CUdeviceptr base = 0;
    CUresult status = cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, it.address + 64);
    say(status);
    say_int((long long)size);
    say(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, it.address + 64));
    say_if("base", base == it.address);
    gone(it);
}

CASE(vmm, access_flags_of_pointer)
{
    struct mapping it = mapped(UNIT);
    unsigned flags = 77;
    say(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, it.address));
    say_int(flags);
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READ));
    say(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, it.address));
    say_int(flags);
    NEED(access_set(it.address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, it.address));
    say_int(flags);
    gone(it);
}

CASE(vmm, sync_memops_of_mapping)
{
    struct mapping it = opened(UNIT);
    unsigned on = 1, told = 77;
    say(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, it.address));
    say(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, it.address));
    say_int(told);
    gone(it);
}

/* ---- from address to handle ---- */

CASE(vmm, retain)
{
    struct mapping it = opened(UNIT);
    CUmemGenericAllocationHandle again = 0;
    say(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(it.address + 100)));
    say_if("same", again == it.handle);
    say(cuMemRelease(again));
    NEED(cuMemsetD32(it.address, 3, 1));
    say_int(gold_word(it.address));
    gone(it);
}

CASE(vmm, retain_after_release)
{
    struct mapping it = opened(UNIT);
    CUmemGenericAllocationHandle again = 0;
    NEED(cuMemRelease(it.handle));
    say(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)it.address));
    NEED(cuMemUnmap(it.address, UNIT));
    say(cuMemMap(it.address, UNIT, 0, again, 0));
    NEED(cuMemUnmap(it.address, UNIT));
    say(cuMemRelease(again));
    NEED(cuMemAddressFree(it.address, UNIT));
}

CASE(vmm, retain_bad)
{
    struct mapping it = opened(UNIT);
    CUmemGenericAllocationHandle again = 77;
    CUdeviceptr plain = gold_alloc(64);
    say(cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)it.address));
    say(cuMemRetainAllocationHandle(&again, NULL));
    say(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)plain));
    say(cuMemRetainAllocationHandle(&again, &again));
    say_if("untouched", again == 77);
    gone(it);
    NEED(cuMemFree(plain));
}

/* ---- handles as file descriptors ---- */

CASE(vmm, export_and_import)
{
    struct mapping it = opened(UNIT);
    CUmemGenericAllocationHandle other = 0;
    CUdeviceptr address;
    int fd = -1;
    NEED(cuMemsetD32(it.address, 17, 4));
    NEED(cuCtxSynchronize());
    say(cuMemExportToShareableHandle(&fd, it.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    say_if("fd", fd >= 0);
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    say_if("same_handle", other == it.handle);
    say_if("fd_still_open", fcntl(fd, F_GETFD) >= 0);
    close(fd);
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say(cuMemMap(address, UNIT, 0, other, 0));
    say(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_int(gold_word(address + 4));
    gold_add(NULL, address + 4, 3);
    NEED(cuCtxSynchronize());
    say_int(gold_word(it.address + 4));
    say(cuMemUnmap(address, UNIT));
    say(cuMemRelease(other));
    NEED(cuMemAddressFree(address, UNIT));
    gone(it);
}

CASE(vmm, import_outlives_export)
{
    struct mapping it = opened(UNIT);
    CUmemGenericAllocationHandle other = 0;
    CUdeviceptr address;
    int fd = -1;
    NEED(cuMemsetD32(it.address, 17, 4));
    NEED(cuCtxSynchronize());
    NEED(cuMemExportToShareableHandle(&fd, it.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    gone(it);
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    say(cuMemMap(address, UNIT, 0, other, 0));
    say(access_set(address, UNIT, here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    say_int(gold_word(address + 4));
    NEED(cuMemUnmap(address, UNIT));
    NEED(cuMemRelease(other));
    NEED(cuMemAddressFree(address, UNIT));
}

CASE(vmm, import_properties)
{
    CUmemGenericAllocationHandle handle = made(2 * UNIT), other = 0;
    CUmemAllocationProp prop;
    int fd = -1;
    NEED(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    NEED(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    memset(&prop, 0x55, sizeof prop);
    say(cuMemGetAllocationPropertiesFromHandle(&prop, other));
    say_value("type", prop.type);
    say_value("handles", prop.requestedHandleTypes);
    say_value("location", prop.location.type);
    say_value("id", prop.location.id);
    NEED(cuMemRelease(other));
    NEED(cuMemRelease(handle));
}

CASE(vmm, import_map_sizes)
{
    CUmemGenericAllocationHandle handle = made(2 * UNIT), other = 0;
    CUdeviceptr address;
    int fd = -1;
    NEED(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    NEED(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    NEED(cuMemAddressReserve(&address, 4 * UNIT, 0, 0, 0));
    CUresult status = cuMemMap(address, 4 * UNIT, 0, other, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemUnmap(address, 4 * UNIT));
    status = cuMemMap(address, 2 * UNIT, 0, other, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemUnmap(address, 2 * UNIT));
    NEED(cuMemRelease(other));
    NEED(cuMemRelease(handle));
    NEED(cuMemAddressFree(address, 4 * UNIT));
}

CASE(vmm, import_can_export_again)
{
    CUmemGenericAllocationHandle handle = made(UNIT), other = 0;
    int fd = -1, again = -1;
    NEED(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    NEED(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    say(cuMemExportToShareableHandle(&again, other, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    say_if("fds_differ", again != fd);
    close(fd);
    if (again >= 0)
        close(again);
    NEED(cuMemRelease(other));
    NEED(cuMemRelease(handle));
}

CASE(vmm, export_bad)
{
    CUmemAllocationProp prop = shareable();
    CUmemGenericAllocationHandle handle = made(UNIT), closed;
    int fd = -77;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    NEED(cuMemCreate(&closed, UNIT, &prop, 0));
    say(cuMemExportToShareableHandle(&fd, closed, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    say(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    say(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_NONE, 0));
    say(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_WIN32, 0));
    say(cuMemExportToShareableHandle(&fd, handle, (CUmemAllocationHandleType)0x40, 0));
    say_int(fd);
    NEED(cuMemRelease(closed));
    NEED(cuMemRelease(handle));
}

CASE(vmm, export_null_result, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    CUmemGenericAllocationHandle handle = made(UNIT);
    say(cuMemExportToShareableHandle(NULL, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

CASE(vmm, export_null_handle, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    int fd = -77;
    say(cuMemExportToShareableHandle(&fd, 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

CASE(vmm, export_released_handle, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver reads the record of a released handle")
{
    CUmemGenericAllocationHandle handle = made(UNIT);
    int fd = -77;
    NEED(cuMemRelease(handle));
    say(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

CASE(vmm, map_released_handle, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver reads the record of a released handle")
{
    CUmemGenericAllocationHandle handle = made(UNIT);
    CUdeviceptr address;
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemRelease(handle));
    say(cuMemMap(address, UNIT, 0, handle, 0));
}

CASE(vmm, import_bad)
{
    CUmemGenericAllocationHandle handle = made(UNIT), other = 77;
    int fd = -1, ends[2], file = open("/dev/null", O_RDWR);
    NEED(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    say(cuMemImportFromShareableHandle(NULL, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_NONE));
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32));
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)fd, (CUmemAllocationHandleType)0x40));
    say(cuMemImportFromShareableHandle(&other, (void *)(intptr_t)-1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)9999, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (pipe(ends) == 0) {
        say(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)ends[0],
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        close(ends[0]);
        close(ends[1]);
    }
    say_if("untouched", other == 77);
    close(fd);
    close(file);
    NEED(cuMemRelease(handle));
}

CASE(vmm, map_array_refuses_nonsense, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUarrayMapInfo info;
    memset(&info, 0, sizeof info);
    say(cuMemMapArrayAsync(NULL, 1, NULL));
    say(cuMemMapArrayAsync(&info, 0, NULL));
}

/* ---- a range of ordinary memory as a file descriptor ---- */

CASE(vmm, range_handle_of_allocation)
{
    CUdeviceptr plain = gold_alloc(2 * UNIT);
    int fd = -77;
    say(cuMemGetHandleForAddressRange(&fd, plain, 2 * UNIT, (CUmemRangeHandleType)99, 0));
    say(cuMemGetHandleForAddressRange(NULL, plain, 2 * UNIT, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    say(cuMemGetHandleForAddressRange(&fd, 0, 2 * UNIT, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    say(cuMemGetHandleForAddressRange(&fd, plain, 0, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    say_int(fd);
    NEED(cuMemFree(plain));
}
