/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocation and freeing of all kinds, registration, pitches, managed memory. */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

/* ---- device memory ---- */

CASE(memory, malloc_nothing)
{
    void *address = (void *)(uintptr_t)1;
    rt_noted(cudaMalloc(&address, 0));
    say_if("null", address == NULL);
    rt(cudaFree(address));
}

CASE(memory, malloc_null)
{
    rt_noted(cudaMalloc(NULL, 0));
    rt_noted(cudaMalloc(NULL, 16));
}

CASE(memory, malloc_too_much)
{
    void *address = (void *)(uintptr_t)1;
    rt_noted(cudaMalloc(&address, (size_t)1 << 60));
    say_text(address == NULL ? "null" : address == (void *)(uintptr_t)1 ? "untouched" : "other");
    rt_noted(cudaMalloc(&address, ~(size_t)0));
}

CASE(memory, malloc_alignment)
{
    uintptr_t bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (uintptr_t)rt_alloc(1);
    say_if("256", (bits & 255) == 0);
}

CASE(memory, free_null)
{
    rt_noted(cudaFree(NULL));
}

CASE(memory, free_twice)
{
    void *address = rt_alloc(64);
    rt(cudaFree(address));
    rt_noted(cudaFree(address));
}

CASE(memory, free_inside)
{
    char *address = rt_alloc(1024);
    rt_noted(cudaFree(address + 256));
    rt(cudaFree(address));
}

CASE(memory, free_wild)
{
    rt_noted(cudaFree(GOLD_WILD));
}

CASE(memory, free_host_memory)
{
    void *pinned, *pageable = malloc(64);
    RT_NEED(cudaMallocHost(&pinned, 64));
    rt_noted(cudaFree(pageable));
    rt_noted(cudaFree(pinned));
    rt_noted(cudaFreeHost(pinned));
    free(pageable);
}

CASE(memory, free_with_wrong_function)
{
    void *address = rt_alloc(64);
    rt_noted(cudaFreeHost(address));
    rt_noted(cudaHostUnregister(address));
    rt_noted(cudaFreeArray((cudaArray_t)NULL));
    rt_noted(cudaFreeMipmappedArray(NULL));
    rt(cudaFree(address));
}

CASE(memory, get_info)
{
    size_t available = 0, total = 0;
    rt(cudaMemGetInfo(&available, &total));
    say_if("less", available <= total && available > 0);
    rt_noted(cudaMemGetInfo(&available, NULL));
    rt_noted(cudaMemGetInfo(NULL, &total));
    rt_noted(cudaMemGetInfo(NULL, NULL));
}

/* ---- pitched memory ---- */

CASE(memory, pitch)
{
    void *address = NULL;
    size_t pitch = 0;
    rt(cudaMallocPitch(&address, &pitch, 100, 10));
    say_if("wide enough", pitch >= 100);
    say_value("multiple of 32", pitch % 32 == 0);
    rt(cudaFree(address));
}

CASE(memory, pitch_nothing)
{
    void *address = (void *)(uintptr_t)1;
    size_t pitch = 77;
    rt_noted(cudaMallocPitch(&address, &pitch, 0, 10));
    say_if("null", address == NULL);
    say_int((long long)pitch);
    rt_noted(cudaMallocPitch(&address, &pitch, 10, 0));
    say_if("null", address == NULL);
}

CASE(memory, pitch_null)
{
    void *address = NULL;
    size_t pitch = 77;
    rt_noted(cudaMallocPitch(NULL, &pitch, 10, 10));
    rt_noted(cudaMallocPitch(&address, NULL, 10, 10));
}

CASE(memory, pitch_too_much)
{
    void *address = NULL;
    size_t pitch = 0;
    rt_noted(cudaMallocPitch(&address, &pitch, (size_t)1 << 40, (size_t)1 << 20));
    rt_noted(cudaMallocPitch(&address, &pitch, ~(size_t)0, 2));
}

CASE(memory, box)
{
    struct cudaPitchedPtr box = {NULL, 0, 0, 0};
    struct cudaExtent extent = {100, 10, 4};
    rt(cudaMalloc3D(&box, extent));
    say_if("wide enough", box.pitch >= 100);
    say_value("xsize", (long long)box.xsize);
    say_value("ysize", (long long)box.ysize);
    rt(cudaFree(box.ptr));
}

CASE(memory, box_nothing)
{
    struct cudaPitchedPtr box = {(void *)(uintptr_t)1, 77, 77, 77};
    rt_noted(cudaMalloc3D(&box, (struct cudaExtent){0, 10, 4}));
    say_if("null", box.ptr == NULL);
    rt_noted(cudaMalloc3D(&box, (struct cudaExtent){100, 10, 0}));
    say_if("null", box.ptr == NULL);
    rt_noted(cudaMalloc3D(NULL, (struct cudaExtent){100, 10, 4}));
}

/* ---- host memory ---- */

CASE(memory, host_alloc_each_flag)
{
    for (unsigned flags = 0; flags < 9; flags++) {
        void *address = NULL;
        cudaError_t status = cudaHostAlloc(&address, 64, flags);
        rt_noted(status);
        if (status == cudaSuccess)
            RT_NEED(cudaFreeHost(address));
    }
}

CASE(memory, host_alloc_unknown_flags)
{
    void *address = NULL;
    rt_noted(cudaHostAlloc(&address, 64, 0x100));
    rt_noted(cudaHostAlloc(&address, 64, 0x80000000u));
    rt_noted(cudaHostAlloc(NULL, 64, 0));
    say_if("untouched", address == NULL);
}

CASE(memory, host_alloc_nothing)
{
    void *address = (void *)(uintptr_t)1;
    rt_noted(cudaHostAlloc(&address, 0, 0));
    say_if("null", address == NULL);
    rt_noted(cudaMallocHost(&address, 0));
    say_if("null", address == NULL);
    rt_noted(cudaMallocHost(NULL, 0));
    rt_noted(cudaMallocHost(NULL, 8));
}

CASE(memory, host_flags)
{
    void *plain, *combined;
    unsigned flags = 77;
    RT_NEED(cudaMallocHost(&plain, 64));
    RT_NEED(cudaHostAlloc(&combined, 64, cudaHostAllocWriteCombined | cudaHostAllocPortable));
    rt(cudaHostGetFlags(&flags, plain));
    say_hex(flags);
    rt(cudaHostGetFlags(&flags, combined));
    say_hex(flags);
    rt_noted(cudaHostGetFlags(NULL, plain));
    rt_noted(cudaHostGetFlags(&flags, NULL));
    rt_noted(cudaHostGetFlags(&flags, &flags));
    rt_noted(cudaHostGetFlags(&flags, rt_alloc(4)));
    RT_NEED(cudaFreeHost(plain));
    RT_NEED(cudaFreeHost(combined));
}

CASE(memory, host_device_pointer)
{
    char *host;
    void *device = NULL;
    RT_NEED(cudaHostAlloc((void **)&host, 64, cudaHostAllocMapped));
    rt(cudaHostGetDevicePointer(&device, host, 0));
    say_if("same", device == host);
    rt(cudaHostGetDevicePointer(&device, host + 16, 0));
    say_if("inside", device == host + 16);
    rt_noted(cudaHostGetDevicePointer(&device, host, 1));
    rt_noted(cudaHostGetDevicePointer(NULL, host, 0));
    rt_noted(cudaHostGetDevicePointer(&device, NULL, 0));
    RT_NEED(cudaFreeHost(host));
    rt_noted(cudaHostGetDevicePointer(&device, host, 0));
}

CASE(memory, free_host_null)
{
    rt_noted(cudaFreeHost(NULL));
}

CASE(memory, free_host_twice)
{
    void *address;
    RT_NEED(cudaMallocHost(&address, 64));
    rt(cudaFreeHost(address));
    rt_noted(cudaFreeHost(address));
}

CASE(memory, free_host_pageable)
{
    void *address = malloc(64);
    rt_noted(cudaFreeHost(address));
    free(address);
}

CASE(memory, host_too_much)
{
    void *address = NULL;
    rt_noted(cudaMallocHost(&address, (size_t)1 << 60));
}

/* ---- registered memory ---- */

CASE(memory, register)
{
    void *memory = gold_foreign();
    void *device = NULL;
    unsigned flags = 77;
    rt(cudaHostRegister(memory, 65536, cudaHostRegisterMapped));
    rt(cudaHostGetDevicePointer(&device, memory, 0));
    say_if("device", device != NULL);
    rt(cudaHostGetFlags(&flags, memory));
    say_hex(flags);
    rt_noted(cudaHostRegister(memory, 65536, 0));
    rt_noted(cudaFreeHost(memory));
    rt_noted(cudaHostUnregister((char *)memory + 4096));
    rt(cudaHostUnregister(memory));
    rt_noted(cudaHostUnregister(memory));
}

CASE(memory, register_overlap)
{
    char *memory = gold_foreign();
    rt(cudaHostRegister(memory, 8192, 0));
    rt_noted(cudaHostRegister(memory + 4096, 8192, 0));
    rt(cudaHostUnregister(memory));
}

CASE(memory, register_bad)
{
    void *memory = gold_foreign();
    rt_noted(cudaHostRegister(NULL, 4096, 0));
    rt_noted(cudaHostRegister(memory, 0, 0));
    rt_noted(cudaHostRegister(memory, 4096, 0x100));
    rt_noted(cudaHostRegister(memory, 4096, 0x80000000u));
}

CASE(memory, register_pinned)
{
    void *memory;
    RT_NEED(cudaMallocHost(&memory, 4096));
    rt_noted(cudaHostRegister(memory, 4096, 0));
    rt_noted(cudaHostUnregister(memory));
    RT_NEED(cudaFreeHost(memory));
}

CASE(memory, unregister_pageable)
{
    rt_noted(cudaHostUnregister(gold_foreign()));
}

/* ---- managed memory ---- */

CASE(managed, malloc)
{
    unsigned *memory = NULL;
    rt(cudaMallocManaged((void **)&memory, 4, cudaMemAttachGlobal));
    *memory = 4;
    rt_add(NULL, memory, 3);
    rt(cudaDeviceSynchronize());
    say_int(*memory);
    rt(cudaFree(memory));
}

CASE(managed, malloc_bad)
{
    void *memory = (void *)(uintptr_t)1;
    rt_noted(cudaMallocManaged(&memory, 0, cudaMemAttachGlobal));
    say_text(memory == NULL ? "null" : memory == (void *)(uintptr_t)1 ? "untouched" : "other");
    rt_noted(cudaMallocManaged(&memory, 64, 0));
    rt_noted(cudaMallocManaged(&memory, 64, cudaMemAttachSingle));
    rt_noted(cudaMallocManaged(&memory, 64, 8));
    rt_noted(cudaMallocManaged(NULL, 64, cudaMemAttachGlobal));
}

CASE(managed, malloc_for_host)
{
    void *memory = NULL;
    rt(cudaMallocManaged(&memory, 64, cudaMemAttachHost));
    rt(cudaFree(memory));
}

static const struct cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};
static const struct cudaMemLocation on_host = {cudaMemLocationTypeHost, 0};
static const struct cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 1 << 20};

CASE(managed, advise)
{
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 65536, cudaMemAttachGlobal));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseSetReadMostly, on_device));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseUnsetReadMostly, on_device));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseSetPreferredLocation, on_device));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseSetPreferredLocation, on_host));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseUnsetPreferredLocation, on_host));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseSetAccessedBy, on_device));
    rt(cudaMemAdvise(memory, 65536, cudaMemAdviseUnsetAccessedBy, on_device));
    RT_NEED(cudaFree(memory));
}

CASE(managed, advise_bad)
{
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 65536, cudaMemAttachGlobal));
    rt_noted(cudaMemAdvise(memory, 65536, (enum cudaMemoryAdvise)99, on_device));
    rt_noted(cudaMemAdvise(memory, 65536, cudaMemAdviseSetPreferredLocation, nowhere));
    rt_noted(cudaMemAdvise(memory, 0, cudaMemAdviseSetReadMostly, on_device));
    rt_noted(cudaMemAdvise(NULL, 65536, cudaMemAdviseSetReadMostly, on_device));
    rt_noted(cudaMemAdvise(rt_alloc(64), 64, cudaMemAdviseSetReadMostly, on_device));
    RT_NEED(cudaFree(memory));
}

CASE(managed, prefetch)
{
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 65536, cudaMemAttachGlobal));
    rt(cudaMemPrefetchAsync(memory, 65536, on_device, 0, NULL));
    rt(cudaMemPrefetchAsync(memory, 65536, on_host, 0, NULL));
    rt(cudaDeviceSynchronize());
    rt_noted(cudaMemPrefetchAsync(memory, 65536, on_device, 1, NULL));
    rt_noted(cudaMemPrefetchAsync(memory, 65536, nowhere, 0, NULL));
    rt_noted(cudaMemPrefetchAsync(memory, 0, on_device, 0, NULL));
    rt_noted(cudaMemPrefetchAsync(NULL, 64, on_device, 0, NULL));
    rt_noted(cudaMemPrefetchAsync(rt_alloc(64), 64, on_device, 0, NULL));
    RT_NEED(cudaFree(memory));
}

CASE(managed, range_attribute)
{
    void *memory;
    int value = 77;
    RT_NEED(cudaMallocManaged(&memory, 65536, cudaMemAttachGlobal));
    rt(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, memory, 65536));
    say_int(value);
    RT_NEED(cudaMemAdvise(memory, 65536, cudaMemAdviseSetReadMostly, on_device));
    rt(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, memory, 65536));
    say_int(value);
    rt(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, memory, 65536));
    say_int(value);
    rt(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeLastPrefetchLocation, memory, 65536));
    say_int(value);
    rt_noted(cudaMemRangeGetAttribute(&value, 8, cudaMemRangeAttributeReadMostly, memory, 65536));
    rt_noted(cudaMemRangeGetAttribute(NULL, 4, cudaMemRangeAttributeReadMostly, memory, 65536));
    rt_noted(cudaMemRangeGetAttribute(&value, 4, (enum cudaMemRangeAttribute)99, memory, 65536));
    RT_NEED(cudaFree(memory));
}

CASE(managed, range_attributes)
{
    void *memory;
    int values[2] = {77, 77};
    void *places[] = {&values[0], &values[1]};
    size_t sizes[] = {4, 4};
    enum cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
    RT_NEED(cudaMallocManaged(&memory, 65536, cudaMemAttachGlobal));
    rt(cudaMemRangeGetAttributes(places, sizes, attributes, 2, memory, 65536));
    say_int(values[0]);
    say_int(values[1]);
    rt_noted(cudaMemRangeGetAttributes(places, sizes, attributes, 0, memory, 65536));
    rt_noted(cudaMemRangeGetAttributes(NULL, sizes, attributes, 2, memory, 65536));
    RT_NEED(cudaFree(memory));
}

/* ---- what an address is ---- */

static void say_pointer(const void *address)
{
    struct cudaPointerAttributes attributes;
    memset(&attributes, 0x55, sizeof attributes);
    rt_noted(cudaPointerGetAttributes(&attributes, address));
    static const char *const types[] = {"unregistered", "host", "device", "managed"};
    say_text((unsigned)attributes.type < 4 ? types[attributes.type] : "other");
    say_value("device", attributes.device);
    say_text(attributes.devicePointer == NULL ? "d:null" : attributes.devicePointer == address ? "d:same" : "d:other");
    say_text(attributes.hostPointer == NULL ? "h:null" : attributes.hostPointer == address ? "h:same" : "h:other");
}

CASE(pointer, device)
{
    say_pointer(rt_alloc(64));
}

CASE(pointer, device_inside)
{
    say_pointer((char *)rt_alloc(64) + 17);
}

CASE(pointer, pinned)
{
    void *memory;
    RT_NEED(cudaMallocHost(&memory, 64));
    say_pointer(memory);
    RT_NEED(cudaFreeHost(memory));
    say_pointer(memory);
}

CASE(pointer, managed)
{
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    say_pointer(memory);
    RT_NEED(cudaFree(memory));
}

CASE(pointer, pageable)
{
    int local = 0;
    say_pointer(&local);
}

CASE(pointer, registered)
{
    void *memory = gold_foreign();
    RT_NEED(cudaHostRegister(memory, 65536, cudaHostRegisterMapped));
    say_pointer(memory);
    say_pointer((char *)memory + 100);
    RT_NEED(cudaHostUnregister(memory));
    say_pointer(memory);
}

CASE(pointer, null)
{
    say_pointer(NULL);
}

CASE(pointer, wild)
{
    say_pointer(GOLD_WILD);
}

CASE(pointer, freed)
{
    void *memory = rt_alloc((size_t)64 << 20);
    RT_NEED(cudaFree(memory));
    say_pointer(memory);
}

CASE(pointer, symbol)
{
    void *address;
    RT_NEED(cudaGetSymbolAddress(&address, &rt_host_counter));
    say_pointer(address);
}

CASE(pointer, result_null)
{
    rt_noted(cudaPointerGetAttributes(NULL, rt_alloc(4)));
}
