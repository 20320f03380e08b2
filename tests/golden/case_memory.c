/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation: device, pitched, pinned, registered and managed memory, and
 * what each refuses.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- device memory ---- */

CASE(memory, alloc_and_free)
{
    CUdeviceptr address = 0;
    say(cuMemAlloc(&address, 1000));
    say_if("not_null", address != 0);
    say_if("aligned_256", address % 256 == 0);
    say(cuMemFree(address));
}

CASE(memory, alloc_zero, .allow = "CUDA_ERROR_INVALID_VALUE untouched=*", .why = "an output after a failure")
{
    CUdeviceptr address = 5;
    say(cuMemAlloc(&address, 0));
    say_if("untouched", address == 5);
}

CASE(memory, alloc_null)
{
    say(cuMemAlloc(NULL, 16));
}

CASE(memory, alloc_too_much, .allow = "CUDA_ERROR_OUT_OF_MEMORY untouched=*", .why = "an output after a failure")
{
    CUdeviceptr address = 5;
    say(cuMemAlloc(&address, (size_t)1 << 46));
    say_if("untouched", address == 5);
}

CASE(memory, alloc_max_size)
{
    CUdeviceptr address = 5;
    say(cuMemAlloc(&address, SIZE_MAX));
    say(cuMemAlloc(&address, SIZE_MAX - 255));
    say(cuMemAlloc(&address, SIZE_MAX / 2));
}

CASE(memory, alloc_total)
{
    size_t free_bytes, total;
    NEED(cuMemGetInfo(&free_bytes, &total));
    CUdeviceptr address;
    say(cuMemAlloc(&address, total + 1));
}

CASE(memory, alloc_aligned_each)
{
    CUdeviceptr addresses[20];
    bool aligned = true, apart = true;
    for (int i = 0; i < 20; i++) {
        NEED(cuMemAlloc(&addresses[i], (size_t)(1 + 37 * i)));
        aligned = aligned && addresses[i] % 256 == 0;
        for (int j = 0; j < i; j++)
            apart = apart && (addresses[i] >= addresses[j] + 1 + 37 * (unsigned)j ||
                              addresses[j] >= addresses[i] + 1 + 37 * (unsigned)i);
    }
    say_if("aligned", aligned);
    say_if("apart", apart);
    for (int i = 0; i < 20; i++)
        NEED(cuMemFree(addresses[i]));
}

CASE(memory, free_null)
{
    say(cuMemFree(0));
}

CASE(memory, free_twice)
{
    CUdeviceptr address = gold_alloc(1 << 20);
    say(cuMemFree(address));
    say(cuMemFree(address));
}

CASE(memory, free_inner)
{
    CUdeviceptr address = gold_alloc(4096);
    say(cuMemFree(address + 256));
    say(cuMemFree(address));
}

CASE(memory, free_host_pointer)
{
    int local = 0;
    say(cuMemFree((CUdeviceptr)(uintptr_t)&local));
}

CASE(memory, free_pinned_as_device)
{
    void *pinned;
    NEED(cuMemHostAlloc(&pinned, 4096, 0));
    say(cuMemFree((CUdeviceptr)(uintptr_t)pinned));
    say(cuMemFreeHost(pinned));
}

CASE(memory, free_waits_for_work)
{
    CUdeviceptr address = gold_alloc_words(1 << 16, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemsetD32Async(address, 1, 1 << 16, stream));
    say(cuMemFree(address));
    say(cuStreamSynchronize(stream));
}

CASE(memory, alloc_without_context, .alone = true)
{
    CUdeviceptr address;
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemAlloc(&address, 16));
}

CASE(memory, free_without_context, .alone = true)
{
    CUdeviceptr address = gold_alloc(16);
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemFree(address));
}

CASE(memory, free_from_other_context, .alone = true)
{
    CUdeviceptr address = gold_alloc(16);
    gold_context_new();
    say(cuMemFree(address));
}

CASE(memory, free_after_context_destroyed, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr address = gold_alloc(16);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuMemFree(address));
}

/* ---- pitch ---- */

CASE(memory, pitch)
{
    CUdeviceptr address;
    size_t pitch = 0;
    say(cuMemAllocPitch(&address, &pitch, 100, 7, 4));
    say_int((long long)pitch);
    say(cuMemAllocPitch(&address, &pitch, 513, 3, 16));
    say_int((long long)pitch);
    say(cuMemAllocPitch(&address, &pitch, 1, 1, 8));
    say_int((long long)pitch);
}

CASE(memory, pitch_element_sizes)
{
    CUdeviceptr address;
    size_t pitch;
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 8, 12, 16, 32};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        say(cuMemAllocPitch(&address, &pitch, 64, 2, sizes[i]));
}

CASE(memory, pitch_zero)
{
    CUdeviceptr address;
    size_t pitch;
    say(cuMemAllocPitch(&address, &pitch, 0, 2, 4));
    say(cuMemAllocPitch(&address, &pitch, 64, 0, 4));
}

CASE(memory, pitch_null)
{
    CUdeviceptr address;
    size_t pitch;
    say(cuMemAllocPitch(NULL, &pitch, 64, 2, 4));
    say(cuMemAllocPitch(&address, NULL, 64, 2, 4));
}

CASE(memory, pitch_huge)
{
    CUdeviceptr address;
    size_t pitch;
    say(cuMemAllocPitch(&address, &pitch, (size_t)1 << 40, (size_t)1 << 40, 4));
    say(cuMemAllocPitch(&address, &pitch, SIZE_MAX, 2, 4));
    say(cuMemAllocPitch(&address, &pitch, 64, SIZE_MAX, 4));
}

/* ---- information ---- */

CASE(memory, info)
{
    size_t free_bytes = 0, total = 0, device_total = 0;
    say(cuMemGetInfo(&free_bytes, &total));
    say_if("free<=total", free_bytes <= total);
    say_if("free>0", free_bytes > 0);
    NEED(cuDeviceTotalMem(&device_total, gold_device()));
    say_if("total_is_device_total", total == device_total);
}

CASE(memory, info_null)
{
    size_t bytes;
    say(cuMemGetInfo(NULL, &bytes));
    say(cuMemGetInfo(&bytes, NULL));
    say(cuMemGetInfo(NULL, NULL));
}

CASE(memory, info_without_context, .alone = true)
{
    size_t free_bytes, total;
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemGetInfo(&free_bytes, &total));
}

CASE(memory, info_falls_with_allocation, .alone = true)
{
    size_t before, after, total;
    NEED(cuMemGetInfo(&before, &total));
    gold_alloc((size_t)64 << 20);
    NEED(cuMemGetInfo(&after, &total));
    say_if("fell", before - after >= (size_t)64 << 20);
}

CASE(memory, address_range)
{
    CUdeviceptr address = gold_alloc(1000), base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(&base, &size, address + 999));
    say_if("base", base == address);
    say_int((long long)size);
    say(cuMemGetAddressRange(&base, &size, address + 1000));
}

CASE(memory, address_range_partial_results)
{
    CUdeviceptr address = gold_alloc(512), base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(NULL, &size, address));
    say_int((long long)size);
    say(cuMemGetAddressRange(&base, NULL, address));
    say_if("base", base == address);
    say(cuMemGetAddressRange(NULL, NULL, address));
}

CASE(memory, address_range_bad)
{
    CUdeviceptr base;
    size_t size;
    int local;
    say(cuMemGetAddressRange(&base, &size, 0));
    say(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)&local));
    CUdeviceptr address = gold_alloc(512);
    NEED(cuMemFree(address));
    say(cuMemGetAddressRange(&base, &size, address));
}

CASE(memory, address_range_of_pinned)
{
    void *pinned;
    CUdeviceptr base = 0;
    size_t size = 0;
    NEED(cuMemHostAlloc(&pinned, 5000, 0));
    say(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)pinned + 100));
    say_if("base", base == (CUdeviceptr)(uintptr_t)pinned);
    say_int((long long)size);
    NEED(cuMemFreeHost(pinned));
}

/* ---- pinned host memory ---- */

CASE(memory, host_alloc)
{
    void *pinned = NULL;
    say(cuMemAllocHost(&pinned, 100));
    memset(pinned, 1, 100);
    say(cuMemFreeHost(pinned));
}

CASE(memory, host_alloc_each_flag)
{
    for (unsigned flags = 0; flags < 10; flags++) {
        void *pinned = NULL;
        CUresult status = cuMemHostAlloc(&pinned, 4096, flags);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuMemFreeHost(pinned));
    }
}

CASE(memory, host_alloc_bad)
{
    void *pinned;
    say(cuMemAllocHost(NULL, 16));
    say(cuMemAllocHost(&pinned, 0));
    say(cuMemHostAlloc(NULL, 16, 0));
    say(cuMemHostAlloc(&pinned, 0, 0));
    say(cuMemHostAlloc(&pinned, 16, 0x100));
}

CASE(memory, host_alloc_too_much)
{
    void *pinned;
    say(cuMemHostAlloc(&pinned, (size_t)1 << 46, 0));
    say(cuMemAllocHost(&pinned, SIZE_MAX));
}

CASE(memory, host_flags,
     .allow = "CUDA_SUCCESS 2 CUDA_SUCCESS 3 CUDA_SUCCESS 2 CUDA_SUCCESS 6 CUDA_SUCCESS 7|"
              "CUDA_SUCCESS 3 CUDA_SUCCESS 3 CUDA_SUCCESS 3 CUDA_SUCCESS 6 CUDA_SUCCESS 7",
     .why = "hardware's driver says portable or not, from one run to the next")
{
    static const unsigned wanted[] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP,
                                      CU_MEMHOSTALLOC_WRITECOMBINED, 7};
    for (int i = 0; i < 5; i++) {
        void *pinned;
        unsigned flags = 99;
        NEED(cuMemHostAlloc(&pinned, 4096, wanted[i]));
        say(cuMemHostGetFlags(&flags, pinned));
        say_int(flags);
        NEED(cuMemFreeHost(pinned));
    }
}

CASE(memory, host_flags_inner)
{
    void *pinned;
    unsigned flags = 99;
    NEED(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
    say(cuMemHostGetFlags(&flags, (char *)pinned + 8));
    NEED(cuMemFreeHost(pinned));
}

CASE(memory, host_flags_bad)
{
    unsigned flags;
    int local;
    void *pinned;
    NEED(cuMemAllocHost(&pinned, 16));
    say(cuMemHostGetFlags(&flags, &local));
    say(cuMemHostGetFlags(NULL, pinned));
    say(cuMemHostGetFlags(&flags, NULL));
    NEED(cuMemFreeHost(pinned));
}

CASE(memory, host_device_pointer)
{
    void *pinned;
    CUdeviceptr address = 0;
    NEED(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    say(cuMemHostGetDevicePointer(&address, pinned, 0));
    say_if("same", address == (CUdeviceptr)(uintptr_t)pinned);
    say(cuMemHostGetDevicePointer(&address, (char *)pinned + 12, 0));
    say_if("same", address == (CUdeviceptr)(uintptr_t)pinned + 12);
    NEED(cuMemFreeHost(pinned));
}

CASE(memory, host_device_pointer_bad)
{
    int local;
    void *pinned;
    CUdeviceptr address;
    NEED(cuMemAllocHost(&pinned, 16));
    say(cuMemHostGetDevicePointer(&address, &local, 0));
    say(cuMemHostGetDevicePointer(&address, pinned, 1));
    say(cuMemHostGetDevicePointer(NULL, pinned, 0));
    say(cuMemHostGetDevicePointer(&address, NULL, 0));
    NEED(cuMemFreeHost(pinned));
}

CASE(memory, host_free_bad)
{
    int local;
    void *pinned;
    say(cuMemFreeHost(NULL));
    say(cuMemFreeHost(&local));
    NEED(cuMemAllocHost(&pinned, 4096));
    say(cuMemFreeHost((char *)pinned + 16));
    say(cuMemFreeHost(pinned));
    say(cuMemFreeHost(pinned));
}

CASE(memory, host_free_device_memory)
{
    CUdeviceptr address = gold_alloc(4096);
    say(cuMemFreeHost((void *)(uintptr_t)address));
    say(cuMemFree(address));
}

CASE(memory, kernel_writes_pinned)
{
    unsigned *pinned;
    NEED(cuMemHostAlloc((void **)&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    *pinned = 1;
    gold_add(NULL, (CUdeviceptr)(uintptr_t)pinned, 4);
    say(cuCtxSynchronize());
    say_int(*pinned);
    NEED(cuMemFreeHost(pinned));
}

/* ---- registered host memory ---- */

static char *pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        gold_stop("mmap");
    return memory;
}

CASE(memory, register_pages)
{
    char *memory = pages(16384);
    CUdeviceptr address = 0;
    unsigned flags = 99;
    say(cuMemHostRegister(memory, 16384, CU_MEMHOSTREGISTER_PORTABLE));
    say(cuMemHostGetDevicePointer(&address, memory + 4096, 0));
    say_if("same", address == (CUdeviceptr)(uintptr_t)memory + 4096);
    say(cuMemHostGetFlags(&flags, memory));
    say_int(flags);
    say(cuMemHostUnregister(memory));
}

CASE(memory, register_unaligned)
{
    char *memory = pages(16384);
    say(cuMemHostRegister(memory + 100, 5000, 0));
    say(cuMemHostUnregister(memory + 100));
}

CASE(memory, register_kernel_writes)
{
    char *memory = pages(8192);
    CUdeviceptr address;
    NEED(cuMemHostRegister(memory, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
    NEED(cuMemHostGetDevicePointer(&address, memory + 64, 0));
    gold_store(NULL, address, 31);
    say(cuCtxSynchronize());
    say_int(*(unsigned *)(void *)(memory + 64));
    say(cuMemHostUnregister(memory));
}

CASE(memory, register_twice)
{
    char *memory = pages(8192);
    say(cuMemHostRegister(memory, 8192, 0));
    say(cuMemHostRegister(memory, 8192, 0));
    say(cuMemHostRegister(memory + 4096, 4096, 0));
    say(cuMemHostUnregister(memory));
    say(cuMemHostUnregister(memory));
}

CASE(memory, register_overlapping)
{
    char *memory = pages(16384);
    say(cuMemHostRegister(memory, 8192, 0));
    say(cuMemHostRegister(memory + 4096, 8192, 0));
    say(cuMemHostUnregister(memory));
}

CASE(memory, register_bad)
{
    char *memory = pages(4096);
    say(cuMemHostRegister(NULL, 4096, 0));
    say(cuMemHostRegister(memory, 0, 0));
    say(cuMemHostRegister(memory, 4096, 0x100));
}

CASE(memory, register_unmapped)
{
    char *memory = pages(8192);
    munmap(memory, 8192);
    say(cuMemHostRegister(memory, 8192, 0));
}

CASE(memory, unregister_bad)
{
    char *memory = pages(4096);
    say(cuMemHostUnregister(memory));
    say(cuMemHostUnregister(NULL));
    NEED(cuMemHostRegister(memory, 4096, 0));
    say(cuMemHostUnregister(memory + 64));
    say(cuMemHostUnregister(memory));
}

CASE(memory, unregister_allocated)
{
    void *pinned;
    NEED(cuMemAllocHost(&pinned, 4096));
    say(cuMemHostUnregister(pinned));
    say(cuMemFreeHost(pinned));
}

CASE(memory, free_registered)
{
    char *memory = pages(4096);
    NEED(cuMemHostRegister(memory, 4096, 0));
    say(cuMemFreeHost(memory));
    say(cuMemHostUnregister(memory));
}

CASE(memory, register_allocated)
{
    void *pinned;
    NEED(cuMemAllocHost(&pinned, 4096));
    say(cuMemHostRegister(pinned, 4096, 0));
    say(cuMemFreeHost(pinned));
}

/* ---- managed memory ---- */

CASE(memory, managed)
{
    CUdeviceptr address = 0;
    say(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    volatile unsigned *word = (volatile unsigned *)(uintptr_t)address;
    *word = 20;
    gold_add(NULL, address, 2);
    say(cuCtxSynchronize());
    say_int(*word);
    say(cuMemFree(address));
}

CASE(memory, managed_attach_host)
{
    CUdeviceptr address = 0;
    say(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_HOST));
    say(cuMemFree(address));
}

CASE(memory, managed_bad)
{
    CUdeviceptr address = 0;
    say(cuMemAllocManaged(&address, 4096, 0));
    say(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_SINGLE));
    say(cuMemAllocManaged(&address, 4096, 3));
    say(cuMemAllocManaged(&address, 4096, 0x10));
    say(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
    say(cuMemAllocManaged(NULL, 4096, CU_MEM_ATTACH_GLOBAL));
}

CASE(memory, managed_free_twice)
{
    CUdeviceptr address = 0;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    say(cuMemFree(address));
    say(cuMemFree(address));
}
