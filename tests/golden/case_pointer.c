/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer attributes: what the driver knows of an address in device, pinned,
 * registered, managed and plain host memory.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Says context, memory type, device and host pointer, managed, ordinal, mapped of ADDRESS. */
static void facts(CUdeviceptr address)
{
    CUcontext context = NULL;
    unsigned type = 0, ordinal = 99, buffer = 0;
    CUdeviceptr device = 0;
    void *host = NULL;
    bool managed = false, mapped = false;
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    say_if("own_context", context == gold_context());
    CUresult status = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    say(status);
    say_value("type", type);
    status = cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
    say(status);
    say_if("device_same", device == address);
    status = cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    say(status);
    say_if("host_same", host == (void *)(uintptr_t)address);
    status = cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    say(status);
    say_if("managed", managed);
    status = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    say(status);
    say_value("ordinal", (int)ordinal);
    status = cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address);
    say(status);
    say_if("mapped", mapped);
    say(cuPointerGetAttribute(&buffer, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
}

CASE(pointer, facts_device)
{
    facts(gold_alloc(4096));
}

CASE(pointer, facts_device_inner)
{
    facts(gold_alloc(4096) + 100);
}

CASE(pointer, facts_pinned)
{
    void *pinned;
    NEED(cuMemHostAlloc(&pinned, 4096, 0));
    facts((CUdeviceptr)(uintptr_t)pinned + 8);
    NEED(cuMemFreeHost(pinned));
}

CASE(pointer, facts_registered)
{
    void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(cuMemHostRegister(memory, 8192, 0));
    facts((CUdeviceptr)(uintptr_t)memory);
    NEED(cuMemHostUnregister(memory));
}

CASE(pointer, facts_managed)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    facts(address);
    NEED(cuMemFree(address));
}

CASE(pointer, facts_unknown,
     .allow = "CUDA_ERROR_INVALID_VALUE own_context=no CUDA_ERROR_INVALID_VALUE type=0 CUDA_ERROR_INVALID_VALUE "
              "device_same=no CUDA_ERROR_INVALID_VALUE host_same=no CUDA_ERROR_INVALID_VALUE managed=no "
              "CUDA_ERROR_INVALID_VALUE ordinal=* CUDA_ERROR_INVALID_VALUE mapped=no CUDA_ERROR_INVALID_VALUE",
     .why = "hardware that shares the host's page tables knows every host address")
{
    static int local;
    facts((CUdeviceptr)(uintptr_t)&local);
}

CASE(pointer, facts_freed)
{
    CUdeviceptr address = gold_alloc(4 << 20);
    NEED(cuMemFree(address));
    facts(address);
}

CASE(pointer, facts_global)
{
    CUdeviceptr address;
    size_t size;
    NEED(cuModuleGetGlobal(&address, &size, gold_module(), "counter"));
    unsigned type = 0;
    CUdeviceptr device = 0;
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_value("type", type);
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("same", device == address);
}

CASE(pointer, range)
{
    CUdeviceptr address = gold_alloc(5000), start = 0;
    size_t size = 0;
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 77));
    say_if("start", start == address);
    say(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 77));
    say_int((long long)size);
}

CASE(pointer, buffer_ids_differ)
{
    unsigned long long one = 0, inner = 0, two = 0;
    CUdeviceptr a = gold_alloc(1024), b = gold_alloc(1024);
    say(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
    say(cuPointerGetAttribute(&inner, CU_POINTER_ATTRIBUTE_BUFFER_ID, a + 1000));
    say(cuPointerGetAttribute(&two, CU_POINTER_ATTRIBUTE_BUFFER_ID, b));
    say_if("one_allocation_one_id", one == inner);
    say_if("differ", one != two);
}

CASE(pointer, buffer_id_is_not_reused)
{
    unsigned long long one = 0, two = 0;
    CUdeviceptr address = gold_alloc(1 << 20);
    NEED(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    NEED(cuMemFree(address));
    address = gold_alloc(1 << 20);
    NEED(cuPointerGetAttribute(&two, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    say_if("differ", one != two);
}

CASE(pointer, null_address)
{
    unsigned type = 0;
    CUcontext context;
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, 0));
}

CASE(pointer, null_result)
{
    say(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, gold_alloc(16)));
}

CASE(pointer, unknown_attribute)
{
    unsigned long long room[4];
    CUdeviceptr address = gold_alloc(16);
    say(cuPointerGetAttribute(room, (CUpointer_attribute)0, address));
    say(cuPointerGetAttribute(room, (CUpointer_attribute)1000, address));
}

CASE(pointer, sync_memops)
{
    CUdeviceptr address = gold_alloc(16);
    unsigned value = 1, read = 9;
    say(cuPointerGetAttribute(&read, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    say_int(read);
    say(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    say(cuPointerGetAttribute(&read, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    say_int(read);
}

CASE(pointer, set_attribute_bad)
{
    CUdeviceptr address = gold_alloc(16);
    unsigned value = 1;
    say(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    say(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
}

CASE(pointer, several)
{
    CUdeviceptr address = gold_alloc(16), device = 0;
    unsigned type = 0, ordinal = 9;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &device, &ordinal};
    say(cuPointerGetAttributes(3, names, values, address));
    say_int(type);
    say_if("same", device == address);
    say_int(ordinal);
}

CASE(pointer, several_of_unknown)
{
    static int local;
    CUdeviceptr device = 1;
    unsigned type = 9;
    CUcontext context = (CUcontext)(uintptr_t)3;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_CONTEXT};
    void *values[] = {&type, &device, &context};
    say(cuPointerGetAttributes(3, names, values, (CUdeviceptr)(uintptr_t)&local));
    say_int(type);
    say_if("device_null", device == 0);
    say_if("context_null", context == NULL);
}

CASE(pointer, several_bad)
{
    CUdeviceptr address = gold_alloc(16);
    unsigned type = 0;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    CUpointer_attribute unknown[] = {(CUpointer_attribute)1000};
    void *values[] = {&type};
    say(cuPointerGetAttributes(0, names, values, address));
    say(cuPointerGetAttributes(1, NULL, values, address));
    say(cuPointerGetAttributes(1, names, NULL, address));
    say(cuPointerGetAttributes(1, unknown, values, address));
}

CASE(pointer, context_of_other, .alone = true)
{
    CUdeviceptr address = gold_alloc(16);
    CUcontext other = gold_context_new(), context = NULL;
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    say_if("allocating_one", context == gold_context());
    CUdeviceptr second = gold_alloc(16);
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, second));
    say_if("other", context == other);
}

CASE(pointer, without_context, .alone = true)
{
    CUdeviceptr address = gold_alloc(16);
    unsigned type = 0;
    NEED(cuCtxSetCurrent(NULL));
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_int(type);
}
