/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: count, choice, attributes, properties, limits, flags; and the primary context that comes by itself. */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

static int count_of_devices(void)
{
    int count = 0;
    RT_NEED(cudaGetDeviceCount(&count));
    return count;
}

/* ---- choice ---- */

CASE(device, count)
{
    int count = -1;
    rt(cudaGetDeviceCount(&count));
    say_if("some", count > 0);
}

CASE(device, get_first)
{
    int device = -1;
    rt(cudaGetDevice(&device));
    say_int(device);
}

CASE(device, set_out_of_range)
{
    int device = -1;
    rt_noted(cudaSetDevice(count_of_devices()));
    rt_noted(cudaSetDevice(-1));
    rt_noted(cudaSetDevice(1 << 30));
    rt(cudaGetDevice(&device));
    say_int(device);
}

static void device_of_thread(void *argument)
{
    int *device = argument;
    *device = -1;
    cudaGetDevice(device);
}

CASE(device, of_new_thread)
{
    int device;
    rt_thread(device_of_thread, &device);
    say_int(device);
}

CASE(device, choose)
{
    struct cudaDeviceProp properties;
    memset(&properties, 0, sizeof properties);
    int device = -1;
    rt(cudaChooseDevice(&device, &properties));
    say_if("in range", device >= 0 && device < count_of_devices());
}

CASE(device, choose_null)
{
    struct cudaDeviceProp properties;
    memset(&properties, 0, sizeof properties);
    int device = -1;
    rt_noted(cudaChooseDevice(NULL, &properties));
    rt_noted(cudaChooseDevice(&device, NULL));
}

CASE(device, valid_devices)
{
    int list[1] = {0};
    rt_noted(cudaSetValidDevices(list, 1));
    rt_noted(cudaSetValidDevices(list, 0));
    rt_noted(cudaSetValidDevices(NULL, 0));
}

CASE(device, valid_devices_bad, .alone = true)
{
    int list[2] = {-1, 0}, large[1] = {1 << 20};
    rt_noted(cudaSetValidDevices(list, 1));
    rt_noted(cudaSetValidDevices(NULL, 1));
    rt_noted(cudaSetValidDevices(large, 1));
    rt_noted(cudaSetValidDevices(list, -1));
}

/* ---- attributes and properties ---- */

#define ATTRIBUTE(title, attribute) \
    CASE(device, attribute_##title) \
    { \
        int value = -1; \
        rt(cudaDeviceGetAttribute(&value, attribute, 0)); \
        say_int(value); \
    }

ATTRIBUTE(warp_size, cudaDevAttrWarpSize)
ATTRIBUTE(max_threads, cudaDevAttrMaxThreadsPerBlock)
ATTRIBUTE(max_block_z, cudaDevAttrMaxBlockDimZ)
ATTRIBUTE(max_grid_x, cudaDevAttrMaxGridDimX)
ATTRIBUTE(max_grid_y, cudaDevAttrMaxGridDimY)
ATTRIBUTE(shared_per_block, cudaDevAttrMaxSharedMemoryPerBlock)
ATTRIBUTE(constant_memory, cudaDevAttrTotalConstantMemory)
ATTRIBUTE(unified_addressing, cudaDevAttrUnifiedAddressing)
ATTRIBUTE(managed_memory, cudaDevAttrManagedMemory)
ATTRIBUTE(map_host_memory, cudaDevAttrCanMapHostMemory)
ATTRIBUTE(concurrent_kernels, cudaDevAttrConcurrentKernels)
ATTRIBUTE(stream_priorities, cudaDevAttrStreamPrioritiesSupported)
ATTRIBUTE(memory_pools, cudaDevAttrMemoryPoolsSupported)
ATTRIBUTE(compute_preemption, cudaDevAttrComputePreemptionSupported)

CASE(device, attribute_unknown)
{
    int value = -1;
    rt_noted(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)0, 0));
    rt_noted(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr) - 1, 0));
    rt_noted(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)100000, 0));
    say_int(value);
}

CASE(device, attribute_of_no_device)
{
    int value = -1;
    rt_noted(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count_of_devices()));
    rt_noted(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1));
    say_int(value);
}

CASE(device, properties)
{
    struct cudaDeviceProp properties;
    rt(cudaGetDeviceProperties(&properties, 0));
    say_value("warp", properties.warpSize);
    say_value("threads", properties.maxThreadsPerBlock);
    say_value("block_z", properties.maxThreadsDim[2]);
    say_value("grid_x", properties.maxGridSize[0]);
    say_value("grid_z", properties.maxGridSize[2]);
    say_value("constant", (long long)properties.totalConstMem);
    say_value("shared", (long long)properties.sharedMemPerBlock);
    say_value("unified", properties.unifiedAddressing);
    say_value("managed", properties.managedMemory);
    say_if("name", properties.name[0] != '\0');
    say_if("memory", properties.totalGlobalMem > 0);
}

CASE(device, properties_agree)
{
    static const struct {
        enum cudaDeviceAttr attribute;
        size_t offset;
    } members[] = {
        {cudaDevAttrMultiProcessorCount, offsetof(struct cudaDeviceProp, multiProcessorCount)},
        {cudaDevAttrComputeCapabilityMajor, offsetof(struct cudaDeviceProp, major)},
        {cudaDevAttrComputeCapabilityMinor, offsetof(struct cudaDeviceProp, minor)},
        {cudaDevAttrL2CacheSize, offsetof(struct cudaDeviceProp, l2CacheSize)},
        {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(struct cudaDeviceProp, maxThreadsPerMultiProcessor)},
        {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(struct cudaDeviceProp, maxBlocksPerMultiProcessor)},
        {cudaDevAttrPciBusId, offsetof(struct cudaDeviceProp, pciBusID)},
        {cudaDevAttrPciDeviceId, offsetof(struct cudaDeviceProp, pciDeviceID)},
        {cudaDevAttrMaxRegistersPerBlock, offsetof(struct cudaDeviceProp, regsPerBlock)},
        {cudaDevAttrAsyncEngineCount, offsetof(struct cudaDeviceProp, asyncEngineCount)},
        {cudaDevAttrCooperativeLaunch, offsetof(struct cudaDeviceProp, cooperativeLaunch)},
        {cudaDevAttrHostRegisterSupported, offsetof(struct cudaDeviceProp, hostRegisterSupported)},
    };
    struct cudaDeviceProp properties;
    RT_NEED(cudaGetDeviceProperties(&properties, 0));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        int value, member;
        RT_NEED(cudaDeviceGetAttribute(&value, members[i].attribute, 0));
        memcpy(&member, (const char *)&properties + members[i].offset, sizeof member);
        if (value != member)
            say_value("differs", (long long)i);
    }
    say_text("end");
}

CASE(device, properties_of_no_device)
{
    struct cudaDeviceProp properties;
    rt_noted(cudaGetDeviceProperties(&properties, -1));
    rt_noted(cudaGetDeviceProperties(&properties, count_of_devices()));
}

CASE(device, pci_bus_id)
{
    char name[32] = "", small[4] = "";
    int device = -1;
    rt(cudaDeviceGetPCIBusId(name, sizeof name, 0));
    say_value("length", (long long)strlen(name));
    rt(cudaDeviceGetByPCIBusId(&device, name));
    say_int(device);
    rt_noted(cudaDeviceGetPCIBusId(NULL, sizeof name, 0));
    rt_noted(cudaDeviceGetPCIBusId(name, 0, 0));
    rt_noted(cudaDeviceGetPCIBusId(name, sizeof name, -1));
    rt_noted(cudaDeviceGetPCIBusId(small, sizeof small, 0));
}

CASE(device, by_pci_bus_id_bad)
{
    int device = -1;
    rt_noted(cudaDeviceGetByPCIBusId(&device, "nonsense"));
    rt_noted(cudaDeviceGetByPCIBusId(&device, ""));
    rt_noted(cudaDeviceGetByPCIBusId(&device, NULL));
    rt_noted(cudaDeviceGetByPCIBusId(NULL, "0000:00:00.0"));
    say_int(device);
}

/* ---- limits, caches, priorities ---- */

CASE(device, limit_stack)
{
    size_t value = 0;
    rt(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    say_if("some", value > 0);
    rt(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    rt(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    say_int((long long)value);
}

CASE(device, limit_printf_and_heap)
{
    size_t value = 0;
    rt(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
    say_if("some", value > 0);
    rt(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    say_int((long long)value);
}

CASE(device, limit_unknown)
{
    size_t value = 77;
    rt_noted(cudaDeviceGetLimit(&value, (enum cudaLimit)100));
    rt_noted(cudaDeviceSetLimit((enum cudaLimit)100, 1));
    rt_noted(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    say_int((long long)value);
}

CASE(device, cache_config)
{
    enum cudaFuncCache config = cudaFuncCachePreferEqual;
    rt(cudaDeviceGetCacheConfig(&config));
    say_int(config);
    rt(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    rt(cudaDeviceGetCacheConfig(&config));
    say_int(config);
    rt(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    rt_noted(cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
    rt_noted(cudaDeviceGetCacheConfig(NULL));
}

CASE(device, shared_config)
{
    enum cudaSharedMemConfig config = cudaSharedMemBankSizeDefault;
    rt(cudaDeviceGetSharedMemConfig(&config));
    say_int(config);
    rt(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    rt_noted(cudaDeviceGetSharedMemConfig(NULL));
}

CASE(device, priority_range)
{
    int least = 77, greatest = 77;
    rt(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    say_value("least", least);
    say_if("some", greatest < 0);
    rt(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    rt(cudaDeviceGetStreamPriorityRange(&least, NULL));
}

/* ---- flags ---- */

CASE(device, flags_in_use, .alone = true)
{
    unsigned flags = 77;
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
    rt_noted(cudaGetDeviceFlags(NULL));
}

CASE(device, set_flags)
{
    unsigned flags = 77;
    rt_noted(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
    rt_noted(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
}

CASE(device, set_flags_bad)
{
    rt_noted(cudaSetDeviceFlags(3));
    rt_noted(cudaSetDeviceFlags(0x100));
    rt_noted(cudaSetDeviceFlags(0x80000000u));
}

CASE(device, flags_fresh, .bare = true)
{
    unsigned flags = 77;
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
}

CASE(device, set_flags_fresh, .bare = true)
{
    unsigned flags = 77;
    rt(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    rt(cudaFree(NULL));
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
}

CASE(device, init_device, .bare = true)
{
    CUcontext context = NULL;
    int device = -1, active = -1;
    unsigned flags;
    rt(cudaInitDevice(0, 0, 0));
    say(cuCtxGetCurrent(&context));
    say_if("current", context != NULL);
    say(cuDevicePrimaryCtxGetState(0, &flags, &active));
    say_int(active);
    rt(cudaGetDevice(&device));
    say_int(device);
}

CASE(device, init_device_bad)
{
    rt_noted(cudaInitDevice(-1, 0, 0));
    rt_noted(cudaInitDevice(1 << 20, 0, 0));
    rt_noted(cudaInitDevice(0, 0, 2));
    rt_noted(cudaInitDevice(0, 0x80000000u, cudaInitDeviceFlagsAreValid));
    rt_noted(cudaInitDevice(0, cudaDeviceScheduleAuto, cudaInitDeviceFlagsAreValid));
}

/* ---- the primary context ---- */

static void say_context(void)
{
    CUcontext context = NULL, primary = NULL;
    CUresult status = cuCtxGetCurrent(&context);
    if (status != CUDA_SUCCESS) {
        say(status);
        return;
    }
    if (!context) {
        say_text("none");
        return;
    }
    NEED(cuDevicePrimaryCtxRetain(&primary, 0));
    say_text(context == primary ? "primary" : "other");
    NEED(cuDevicePrimaryCtxRelease(0));
}

static void say_active(void)
{
    unsigned flags;
    int active = -1;
    say(cuDevicePrimaryCtxGetState(0, &flags, &active));
    say_value("active", active);
}

#define LAZY(title, call) \
    CASE(lazy, title, .bare = true) \
    { \
        rt(call); \
        say_context(); \
    }

static int some_int;
static size_t some_size;
static void *some_pointer;
static cudaStream_t some_stream;
static cudaEvent_t some_event;
static struct cudaDeviceProp some_properties;
static struct cudaPointerAttributes some_attributes;
static cudaGraph_t some_graph;
static cudaLibrary_t some_library;
static cudaMemPool_t some_pool;
static enum cudaFuncCache some_cache;

LAZY(get_last_error, cudaGetLastError())
LAZY(get_device, cudaGetDevice(&some_int))
LAZY(get_device_count, cudaGetDeviceCount(&some_int))
LAZY(get_attribute, cudaDeviceGetAttribute(&some_int, cudaDevAttrWarpSize, 0))
LAZY(get_properties, cudaGetDeviceProperties(&some_properties, 0))
LAZY(driver_version, cudaDriverGetVersion(&some_int))
LAZY(runtime_version, cudaRuntimeGetVersion(&some_int))
LAZY(set_device, cudaSetDevice(0))
LAZY(set_device_bad, cudaSetDevice(-1))
LAZY(set_flags, cudaSetDeviceFlags(0))
LAZY(free_null, cudaFree(NULL))
LAZY(malloc, cudaMalloc(&some_pointer, 4))
LAZY(malloc_null, cudaMalloc(NULL, 4))
LAZY(malloc_managed, cudaMallocManaged(&some_pointer, 4, cudaMemAttachGlobal))
LAZY(malloc_host, cudaMallocHost(&some_pointer, 4))
LAZY(free_host_null, cudaFreeHost(NULL))
LAZY(synchronize, cudaDeviceSynchronize())
LAZY(stream_create, cudaStreamCreate(&some_stream))
LAZY(stream_query, cudaStreamQuery(NULL))
LAZY(stream_synchronize, cudaStreamSynchronize(NULL))
LAZY(event_create, cudaEventCreate(&some_event))
LAZY(get_limit, cudaDeviceGetLimit(&some_size, cudaLimitStackSize))
LAZY(get_cache, cudaDeviceGetCacheConfig(&some_cache))
LAZY(mem_get_info, cudaMemGetInfo(&some_size, &some_size))
LAZY(pointer_attributes, cudaPointerGetAttributes(&some_attributes, &some_int))
LAZY(graph_create, cudaGraphCreate(&some_graph, 0))
LAZY(load_library, cudaLibraryLoadData(&some_library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0))
LAZY(default_pool, cudaDeviceGetDefaultMemPool(&some_pool, 0))
LAZY(symbol_address, cudaGetSymbolAddress(&some_pointer, &rt_host_counter))
LAZY(device_reset, cudaDeviceReset())
LAZY(priority_range, cudaDeviceGetStreamPriorityRange(&some_int, &some_int))

CASE(primary, used_by_the_runtime)
{
    say_context();
    say_active();
}

CASE(primary, current_driver_context_is_used, .bare = true)
{
    CUcontext context, current;
    void *address;
    CUcontext owner = NULL;
    NEED(cuInit(0));
    NEED(cuCtxCreate(&context, NULL, 0, 0));
    rt(cudaMalloc(&address, 64));
    NEED(cuCtxGetCurrent(&current));
    say_if("same", current == context);
    NEED(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)address));
    say_if("owner", owner == context);
    say_active();
}

CASE(primary, set_device_over_driver_context, .alone = true)
{
    CUcontext context;
    NEED(cuCtxCreate(&context, NULL, 0, 0));
    say_context();
    rt(cudaSetDevice(0));
    say_context();
}

CASE(primary, none_current_after_use, .alone = true)
{
    NEED(cuCtxSetCurrent(NULL));
    say_context();
    void *address;
    rt(cudaMalloc(&address, 4));
    say_context();
}

static void context_of_thread(void *argument)
{
    int *answers = argument;
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    answers[0] = context != NULL;
    answers[1] = (int)cudaFree(NULL);
    cuCtxGetCurrent(&context);
    answers[2] = context != NULL;
}

CASE(primary, of_new_thread)
{
    int answers[3];
    rt_thread(context_of_thread, answers);
    say_if("before", answers[0]);
    rt((cudaError_t)answers[1]);
    say_if("after", answers[2]);
}

CASE(primary, reset, .alone = true)
{
    say_active();
    rt(cudaDeviceReset());
    say_active();
    say_context();
    rt(cudaFree(NULL));
    say_active();
}

CASE(primary, reset_frees_memory, .alone = true)
{
    struct cudaPointerAttributes attributes;
    void *address = rt_alloc(64);
    rt(cudaDeviceReset());
    rt(cudaPointerGetAttributes(&attributes, address));
    say_int(attributes.type);
}

CASE(primary, reset_clears_last_error, .alone = true)
{
    rt(cudaMalloc(NULL, 4));
    rt(cudaDeviceReset());
    rt_last();
}

CASE(primary, reset_twice, .alone = true)
{
    rt(cudaDeviceReset());
    rt(cudaDeviceReset());
    rt(cudaDeviceSynchronize());
    rt(cudaDeviceReset());
}

CASE(primary, symbols_after_reset, .alone = true)
{
    unsigned value = 5, back = 0;
    rt(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyHostToDevice));
    rt(cudaDeviceReset());
    rt(cudaMemcpyFromSymbol(&back, &rt_host_counter, 4, 0, cudaMemcpyDeviceToHost));
    say_int(back);
}

CASE(primary, destroyed_by_driver, .alone = true)
{
    NEED(cuDevicePrimaryCtxReset(0));
    rt_noted(cudaSetDevice(0));
    rt_noted(cudaFree(NULL));
    say_active();
}
