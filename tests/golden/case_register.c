/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registering host memory that the driver did not allocate: of every origin,
 * at any address and size, with every flag, and what happens where ranges
 * touch, are not there, or go away.
 */
#include "gold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static char *mapped(size_t size, int protection)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        gold_stop("mmap");
    memset(memory, 0, size);
    mprotect(memory, size, protection);
    return memory;
}

static char *pages(size_t count)
{
    return mapped(count * PAGE, PROT_READ | PROT_WRITE);
}

/* Registers, lets a kernel add to a word in the range, unregisters. */
static void say_use(char *start, size_t size, unsigned flags, size_t word)
{
    CUdeviceptr device = 0;
    CUresult status = cuMemHostRegister(start, size, flags);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    status = cuMemHostGetDevicePointer(&device, start, 0);
    say(status);
    if (status == CUDA_SUCCESS) {
        say_if("same", device == (CUdeviceptr)(uintptr_t)start);
        gold_add(NULL, device + word, 4);
        say(cuCtxSynchronize());
        unsigned value;
        memcpy(&value, start + word, sizeof value);
        say_int(value);
    }
    say(cuMemHostUnregister(start));
}

CASE(register, heap)
{
    char *memory = calloc(1, 100000);
    char *aligned = memory + (64 - (uintptr_t)memory % 64);
    say_use(aligned, 80000, CU_MEMHOSTREGISTER_DEVICEMAP, 40000);
    free(memory);
}

CASE(register, small_heap_block)
{
    char *memory = calloc(1, 256);
    say_use(memory, 256, CU_MEMHOSTREGISTER_DEVICEMAP, 16);
    free(memory);
}

CASE(register, one_byte)
{
    char *memory = pages(1);
    say(cuMemHostRegister(memory + 17, 1, 0));
    say(cuMemHostUnregister(memory + 17));
    munmap(memory, PAGE);
}

CASE(register, stack)
{
    unsigned local[4096];
    memset(local, 0, sizeof local);
    say_use((char *)local, sizeof local, CU_MEMHOSTREGISTER_DEVICEMAP, 8000);
}

static unsigned in_data[4096] = {1};

CASE(register, program_data)
{
    in_data[2000] = 1;
    say_use((char *)in_data, sizeof in_data, CU_MEMHOSTREGISTER_DEVICEMAP, 8000);
}

static const unsigned in_constants[4096] = {7};

CASE(register, program_constants)
{
    CUresult status = cuMemHostRegister((void *)(uintptr_t)in_constants, sizeof in_constants, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister((void *)(uintptr_t)in_constants));
}

CASE(register, program_code)
{
    uintptr_t code = (uintptr_t)&gold_run & ~(uintptr_t)(PAGE - 1);
    CUresult status = cuMemHostRegister((void *)code, PAGE, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister((void *)code));
}

static char *file_mapped(int protection, int flags)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), 4 * (off_t)PAGE) != 0)
        gold_stop("tmpfile");
    char *memory = mmap(NULL, 4 * PAGE, protection, flags, fileno(file), 0);
    fclose(file);
    if (memory == MAP_FAILED)
        gold_stop("mmap");
    return memory;
}

CASE(register, shared_file)
{
    char *memory = file_mapped(PROT_READ | PROT_WRITE, MAP_SHARED);
    CUresult status = cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP);
    say_if("taken_or_refused",
           status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_OPERATING_SYSTEM);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, private_file)
{
    char *memory = file_mapped(PROT_READ | PROT_WRITE, MAP_PRIVATE);
    say_use(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP, PAGE);
    munmap(memory, 4 * PAGE);
}

CASE(register, shared_anonymous)
{
    char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say_use(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP, PAGE);
    munmap(memory, 4 * PAGE);
}

CASE(register, never_touched)
{
    char *memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say_use(memory, 16 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP, 9 * PAGE);
    munmap(memory, 16 * PAGE);
}

CASE(register, read_only_without_flag)
{
    char *memory = mapped(4 * PAGE, PROT_READ);
    CUresult status = cuMemHostRegister(memory, 4 * PAGE, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, read_only_with_flag)
{
    char *memory = pages(4);
    *(unsigned *)(void *)(memory + PAGE) = 23;
    mprotect(memory, 4 * PAGE, PROT_READ);
    CUdeviceptr target = gold_alloc_words(1, 0), device = 0;
    CUresult status = cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_DEVICEMAP);
    say(status);
    if (status == CUDA_SUCCESS) {
        say(cuMemHostGetDevicePointer(&device, memory, 0));
        device += PAGE;
        void *params[] = {&target, &device};
        say(gold_launch(gold_function("copy_word"), 1, NULL, params));
        say(cuCtxSynchronize());
        say_int(gold_word(target));
        say(cuMemHostUnregister(memory));
    }
    munmap(memory, 4 * PAGE);
}

CASE(register, read_only_flag_on_writable)
{
    char *memory = pages(4);
    CUresult status = cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, no_access)
{
    char *memory = mapped(4 * PAGE, PROT_NONE);
    say(cuMemHostRegister(memory, 4 * PAGE, 0));
    say(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
    munmap(memory, 4 * PAGE);
}

CASE(register, io_memory)
{
    char *memory = pages(4);
    CUresult status = cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_IOMEMORY);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, every_flag)
{
    char *memory = pages(4);
    for (unsigned flags = 0; flags < 32; flags++) {
        if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
            continue;
        CUresult status = cuMemHostRegister(memory, 4 * PAGE, flags);
        if (status == CUDA_SUCCESS)
            NEED(cuMemHostUnregister(memory));
        say_value("flags", flags);
        say(status);
    }
    munmap(memory, 4 * PAGE);
}

CASE(register, flags_told)
{
    char *memory = pages(4);
    unsigned asked[] = {0, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP, 3};
    for (size_t i = 0; i < 4; i++) {
        unsigned flags = 77;
        NEED(cuMemHostRegister(memory, 4 * PAGE, asked[i]));
        say(cuMemHostGetFlags(&flags, memory));
        say_int(flags);
        NEED(cuMemHostUnregister(memory));
    }
    munmap(memory, 4 * PAGE);
}

CASE(register, partly_unmapped)
{
    char *memory = pages(8);
    munmap(memory + 4 * PAGE, PAGE);
    say(cuMemHostRegister(memory, 8 * PAGE, 0));
    say(cuMemHostRegister(memory, 4 * PAGE, 0));
    say(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
    munmap(memory + 5 * PAGE, 3 * PAGE);
}

CASE(register, after_munmap)
{
    char *memory = pages(4);
    munmap(memory, 4 * PAGE);
    say(cuMemHostRegister(memory, 4 * PAGE, 0));
}

CASE(register, munmap_before_unregister)
{
    char *memory = pages(4);
    NEED(cuMemHostRegister(memory, 4 * PAGE, 0));
    munmap(memory, 4 * PAGE);
    say(cuMemHostUnregister(memory));
    say(cuMemHostUnregister(memory));
}

CASE(register, wild)
{
    say(cuMemHostRegister((void *)(uintptr_t)0x10000, PAGE, 0));
    say(cuMemHostRegister(GOLD_WILD, PAGE, 0));
    say(cuMemHostRegister((void *)(uintptr_t)0xffff800000000000ull, PAGE, 0));
}

CASE(register, wraps)
{
    char *memory = pages(4);
    say(cuMemHostRegister(memory, ~(size_t)0, 0));
    say(cuMemHostRegister(memory, ~(uintptr_t)0 - (uintptr_t)memory, 0));
    say(cuMemHostRegister(memory, (size_t)1 << 46, 0));
    munmap(memory, 4 * PAGE);
}

CASE(register, unaligned_use)
{
    char *memory = pages(4);
    say_use(memory + 100, 5000, CU_MEMHOSTREGISTER_DEVICEMAP, 4000);
    munmap(memory, 4 * PAGE);
}

CASE(register, neighbours)
{
    char *memory = pages(4);
    say(cuMemHostRegister(memory, PAGE, 0));
    say(cuMemHostRegister(memory + PAGE, PAGE, 0));
    say(cuMemHostRegister(memory + 2 * PAGE, 2 * PAGE, 0));
    say(cuMemHostUnregister(memory + PAGE));
    say(cuMemHostUnregister(memory));
    say(cuMemHostUnregister(memory + 2 * PAGE));
    munmap(memory, 4 * PAGE);
}

CASE(register, two_in_one_page)
{
    char *memory = pages(2);
    say(cuMemHostRegister(memory, 100, 0));
    CUresult status = cuMemHostRegister(memory + 200, 100, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuMemHostUnregister(memory + 200));
    say(cuMemHostUnregister(memory));
    munmap(memory, 2 * PAGE);
}

CASE(register, share_a_page_at_the_edge)
{
    char *memory = pages(4);
    say(cuMemHostRegister(memory, PAGE + 100, 0));
    CUresult status = cuMemHostRegister(memory + PAGE + 200, PAGE, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuMemHostUnregister(memory + PAGE + 200));
    say(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, inside_and_around)
{
    char *memory = pages(8);
    say(cuMemHostRegister(memory + 2 * PAGE, 2 * PAGE, 0));
    say(cuMemHostRegister(memory, 8 * PAGE, 0));
    say(cuMemHostRegister(memory + 3 * PAGE, PAGE, 0));
    say(cuMemHostRegister(memory + 3 * PAGE, 3 * PAGE, 0));
    say(cuMemHostRegister(memory + PAGE, 2 * PAGE, 0));
    say(cuMemHostUnregister(memory + 2 * PAGE));
    munmap(memory, 8 * PAGE);
}

CASE(register, unregister_inner)
{
    char *memory = pages(4);
    NEED(cuMemHostRegister(memory + 64, 2 * PAGE, 0));
    say(cuMemHostUnregister(memory));
    say(cuMemHostUnregister(memory + 65));
    say(cuMemHostUnregister(memory + PAGE));
    say(cuMemHostUnregister(memory + 64));
    munmap(memory, 4 * PAGE);
}

CASE(register, driver_memory)
{
    void *pinned;
    CUdeviceptr managed, plain = gold_alloc(PAGE);
    NEED(cuMemHostAlloc(&pinned, PAGE, 0));
    NEED(cuMemAllocManaged(&managed, PAGE, CU_MEM_ATTACH_GLOBAL));
    say(cuMemHostRegister(pinned, PAGE, 0));
    say(cuMemHostRegister((void *)(uintptr_t)managed, PAGE, 0));
    say(cuMemHostRegister((void *)(uintptr_t)plain, PAGE, 0));
    say(cuMemHostUnregister((void *)(uintptr_t)managed));
    say(cuMemHostUnregister((void *)(uintptr_t)plain));
    NEED(cuMemFreeHost(pinned));
    NEED(cuMemFree(managed));
    NEED(cuMemFree(plain));
}

CASE(register, freed_as_pinned)
{
    char *memory = pages(4);
    NEED(cuMemHostRegister(memory, 4 * PAGE, 0));
    say(cuMemFreeHost(memory));
    say(cuMemFree((CUdeviceptr)(uintptr_t)memory));
    say(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, range_told)
{
    char *memory = pages(4);
    CUdeviceptr base = 0, start = 0;
    size_t size = 0, told = 0;
    NEED(cuMemHostRegister(memory + 100, 5000, CU_MEMHOSTREGISTER_DEVICEMAP));
    CUdeviceptr inner = (CUdeviceptr)(uintptr_t)(memory + 200);
    say(cuMemGetAddressRange(&base, &size, inner));
    say_value("base", (long long)(base - (CUdeviceptr)(uintptr_t)memory));
    say_value("size", (long long)size);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inner));
    say_value("start", (long long)(start - (CUdeviceptr)(uintptr_t)memory));
    say(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inner));
    say_value("size", (long long)told);
    NEED(cuMemHostUnregister(memory + 100));
    munmap(memory, 4 * PAGE);
}

CASE(register, pointers_beside_the_range)
{
    char *memory = pages(4);
    int type = 0;
    NEED(cuMemHostRegister(memory + 100, 5000, CU_MEMHOSTREGISTER_DEVICEMAP));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(memory + 99)));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(memory + 100)));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(memory + 5099)));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(memory + 5100)));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(memory + 2 * PAGE)));
    NEED(cuMemHostUnregister(memory + 100));
    munmap(memory, 4 * PAGE);
}

CASE(register, device_pointer_bad)
{
    char *memory = pages(4);
    CUdeviceptr device = 77;
    say(cuMemHostGetDevicePointer(&device, memory, 0));
    NEED(cuMemHostRegister(memory, 4 * PAGE, 0));
    say(cuMemHostGetDevicePointer(&device, memory, 1));
    say(cuMemHostGetDevicePointer(NULL, memory, 0));
    say(cuMemHostGetDevicePointer(&device, memory + 123, 0));
    say_value("inner", (long long)(device - (CUdeviceptr)(uintptr_t)memory));
    say(cuMemHostUnregister(memory));
    say(cuMemHostGetDevicePointer(&device, memory, 0));
    munmap(memory, 4 * PAGE);
}

CASE(register, in_another_context, .alone = true)
{
    char *memory = pages(4);
    NEED(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP));
    CUcontext other = gold_context_new();
    CUdeviceptr device = 0;
    say(cuMemHostGetDevicePointer(&device, memory, 0));
    say(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP));
    say(cuMemHostUnregister(memory));
    NEED(cuCtxDestroy(other));
}

CASE(register, ends_with_its_context, .alone = true)
{
    char *memory = pages(4);
    CUcontext other = gold_context_new();
    NEED(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP));
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuMemHostUnregister(memory));
    say(cuMemHostRegister(memory, 4 * PAGE, CU_MEMHOSTREGISTER_DEVICEMAP));
    say(cuMemHostUnregister(memory));
}

CASE(register, copies_are_asynchronous)
{
    char *memory = pages(4);
    CUdeviceptr plain = gold_alloc_words(64, 9);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemHostRegister(memory, 4 * PAGE, 0));
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemcpyDtoHAsync(memory, plain, 256, stream));
    say(cuStreamQuery(stream));
    say_int(*(volatile unsigned *)(void *)memory);
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
    say_int(*(volatile unsigned *)(void *)memory);
    NEED(cuMemHostUnregister(memory));
    munmap(memory, 4 * PAGE);
}

CASE(register, unregister_waits_for_copy)
{
    char *memory = pages(4);
    CUdeviceptr plain = gold_alloc_words(1024, 9);
    NEED(cuMemHostRegister(memory, 4 * PAGE, 0));
    say(cuMemcpyDtoHAsync(memory, plain, 4096, NULL));
    say(cuMemHostUnregister(memory));
    say_int(*(volatile unsigned *)(void *)(memory + 4092));
    munmap(memory, 4 * PAGE);
}
