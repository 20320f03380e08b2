/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation and devices: what may be called before cuInit, version,
 * count, names, identifiers, and attributes as properties, since their values
 * are the device's own business.
 */
#include "gold.h"

#include <stdio.h>
#include <string.h>

/* ---- before and at cuInit ---- */

CASE(init, before, .bare = true)
{
    int number = 0;
    CUdevice device;
    CUcontext context;
    CUdeviceptr address;
    CUevent event;
    CUstream stream;
    CUmodule module;
    size_t bytes;
    say(cuDeviceGetCount(&number));
    say(cuDeviceGet(&device, 0));
    say(cuCtxCreate(&context, NULL, 0, 0));
    say(cuCtxGetCurrent(&context));
    say(cuDevicePrimaryCtxRetain(&context, 0));
    say(cuMemAlloc(&address, 16));
    say(cuMemGetInfo(&bytes, &bytes));
    say(cuEventCreate(&event, 0));
    say(cuStreamCreate(&stream, 0));
    say(cuModuleLoadData(&module, gold_ptx));
    say(cuCtxSynchronize());
}

CASE(init, before_with_bad_arguments, .bare = true,
     .allow = "CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED "
              "CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED "
              "CUDA_ERROR_NOT_INITIALIZED",
     .why = "two statuses are right at once for a null event")
{
    say(cuDeviceGetCount(NULL));
    say(cuMemAlloc(NULL, 0));
    say(cuEventQuery(NULL));
    say(cuStreamQuery(NULL));
    say(cuCtxPushCurrent(NULL));
    say(cuMemFree(0));
    say(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

CASE(init, free_calls_before, .bare = true)
{
    int version = 0;
    const char *text = NULL;
    void *function = NULL;
    say(cuDriverGetVersion(&version));
    say_if("at_least_13000", version >= 13000);
    say(cuGetErrorName(CUDA_SUCCESS, &text));
    say_text(text);
    say(cuGetErrorString(CUDA_SUCCESS, &text));
    CUdriverProcAddressQueryResult result = (CUdriverProcAddressQueryResult)9;
    say(cuGetProcAddress("cuInit", &function, 2000, 0, &result));
    say_if("found", function != NULL);
    say_int(result);
}

CASE(init, flags, .bare = true)
{
    say(cuInit(1));
    say(cuInit(0x80000000u));
    say(cuInit(0));
    say(cuInit(0));
    say(cuInit(1));
}

CASE(init, version_null)
{
    say(cuDriverGetVersion(NULL));
}

static CUresult in_child_after_init(void)
{
    int count = 0;
    return cuDeviceGetCount(&count);
}

CASE(init, then_count, .bare = true)
{
    NEED(cuInit(0));
    say(in_child_after_init());
    CUcontext context = (CUcontext)(uintptr_t)1;
    CUdevice device;
    say(cuCtxGetCurrent(&context));
    say_if("none", context == NULL);
    say(cuCtxGetDevice(&device));
    CUdeviceptr address;
    say(cuMemAlloc(&address, 16));
}

/* ---- devices ---- */

CASE(device, count)
{
    int count = 0;
    say(cuDeviceGetCount(&count));
    say_if("some", count > 0);
    say(cuDeviceGetCount(NULL));
}

CASE(device, get)
{
    CUdevice device = -1;
    int count = 0;
    NEED(cuDeviceGetCount(&count));
    say(cuDeviceGet(&device, 0));
    say_int(device);
    say(cuDeviceGet(&device, count));
    say(cuDeviceGet(&device, -1));
    say(cuDeviceGet(&device, 1 << 20));
    say(cuDeviceGet(NULL, 0));
}

CASE(device, name)
{
    char name[256];
    memset(name, 'x', sizeof name);
    say(cuDeviceGetName(name, sizeof name, gold_device()));
    say_if("ended", memchr(name, '\0', sizeof name) != NULL);
    say_if("not_empty", name[0] != '\0');
}

CASE(device, name_short_buffer)
{
    char name[8];
    memset(name, 'x', sizeof name);
    say(cuDeviceGetName(name, 5, gold_device()));
    say_if("ended", memchr(name, '\0', 5) != NULL);
    say_if("within", name[5] == 'x' && name[6] == 'x');
}

CASE(device, name_bad)
{
    char name[64];
    say(cuDeviceGetName(NULL, 64, gold_device()));
    say(cuDeviceGetName(name, 64, 9999));
    say(cuDeviceGetName(name, 64, -1));
}

CASE(device, name_length_zero, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE|CUDA_SUCCESS untouched=yes",
     .why = "hardware's driver may crash")
{
    char name[64] = "x";
    CUresult status = cuDeviceGetName(name, 0, gold_device());
    say(status);
    if (status == CUDA_SUCCESS)
        say_if("untouched", name[0] == 'x');
}

CASE(device, name_length_negative, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    char name[64];
    say(cuDeviceGetName(name, -1, gold_device()));
}

CASE(device, uuid)
{
    CUuuid one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    say(cuDeviceGetUuid(&one, gold_device()));
    say(cuDeviceGetUuid(&two, gold_device()));
    say_if("stable", memcmp(&one, &two, sizeof one) == 0);
    static const CUuuid none;
    say_if("not_zero", memcmp(&one, &none, sizeof one) != 0);
    say(cuDeviceGetUuid(NULL, gold_device()));
    say(cuDeviceGetUuid(&one, 9999));
}

CASE(device, luid)
{
    char luid[16];
    unsigned mask;
    say(cuDeviceGetLuid(luid, &mask, gold_device()));
}

CASE(device, total_memory)
{
    size_t bytes = 0;
    say(cuDeviceTotalMem(&bytes, gold_device()));
    say_if("some", bytes > 0);
    say(cuDeviceTotalMem(NULL, gold_device()));
    say(cuDeviceTotalMem(&bytes, 9999));
    say(cuDeviceTotalMem(&bytes, -1));
}

static int attribute(CUdevice_attribute which)
{
    int value = -12345;
    NEED(cuDeviceGetAttribute(&value, which, gold_device()));
    return value;
}

CASE(device, attribute_bad)
{
    int value;
    say(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, gold_device()));
    say(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9999));
    say(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1));
    say(cuDeviceGetAttribute(&value, (CUdevice_attribute)0, gold_device()));
    say(cuDeviceGetAttribute(&value, (CUdevice_attribute)-1, gold_device()));
    say(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, gold_device()));
}

CASE(device, attribute_all_known)
{
    int known = 0, value;
    for (int i = 1; i <= 140; i++)
        known += cuDeviceGetAttribute(&value, (CUdevice_attribute)i, gold_device()) == CUDA_SUCCESS;
    say_int(known);
}

CASE(device, attributes_same_everywhere)
{
    static const CUdevice_attribute which[] = {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,   CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,         CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,   CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,       CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++)
        say_int(attribute(which[i]));
}

CASE(device, attributes_positive)
{
    say_if("multiprocessors", attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
    say_if("major_7_or_later", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 7);
    say_if("minor", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) >= 0);
    say_if("clock", attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) > 0);
    say_if("memory_clock", attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) > 0);
    say_if("bus", attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) > 0);
    say_if("cache", attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) > 0);
    say_if("shared", attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) > 0);
    say_if("optin", attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) >= 49152);
    say_if("threads", attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) >= 1024);
}

CASE(device, attributes_yes)
{
    say_if("overlap", attribute(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP) == 1);
    say_if("map_host", attribute(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) == 1);
    say_if("concurrent", attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) == 1);
    say_if("engines", attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT) >= 1);
    say_if("priorities", attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED) == 1);
    say_if("managed", attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) == 1);
    say_if("default_mode", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_DEFAULT);
    say_if("registered", attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) == 1);
    say_if("same_pointer", attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) == 1);
    say_if("no_timeout", attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) == 0);
}

CASE(device, bus_id)
{
    char id[32] = {0};
    CUdevice device = -1;
    say(cuDeviceGetPCIBusId(id, sizeof id, gold_device()));
    say_if("form", strlen(id) == 12 && id[4] == ':' && id[7] == ':' && id[10] == '.');
    say(cuDeviceGetByPCIBusId(&device, id));
    say_if("same", device == gold_device());
}

CASE(device, bus_id_bad)
{
    char id[32];
    CUdevice device;
    say(cuDeviceGetPCIBusId(NULL, 32, gold_device()));
    say(cuDeviceGetPCIBusId(id, 32, 9999));
    say(cuDeviceGetByPCIBusId(&device, "nonsense"));
    say(cuDeviceGetByPCIBusId(&device, "ffff:ff:1f.7"));
    say(cuDeviceGetByPCIBusId(&device, NULL));
    say(cuDeviceGetByPCIBusId(NULL, "0000:00:00.0"));
}

CASE(device, bus_id_short)
{
    char id[32];
    memset(id, 'x', sizeof id);
    say(cuDeviceGetPCIBusId(id, 4, gold_device()));
}

CASE(device, peer_with_itself)
{
    int can = 9;
    say(cuDeviceCanAccessPeer(&can, gold_device(), gold_device()));
    say_int(can);
    say(cuDeviceCanAccessPeer(NULL, gold_device(), gold_device()));
    say(cuDeviceCanAccessPeer(&can, gold_device(), 9999));
}

CASE(device, old_properties)
{
    CUdevprop properties;
    memset(&properties, 0, sizeof properties);
    say(cuDeviceGetProperties(&properties, gold_device()));
    say_int(properties.maxThreadsPerBlock);
    say_int(properties.SIMDWidth);
    say_int(properties.totalConstantMemory);
    say(cuDeviceGetProperties(NULL, gold_device()));
    say(cuDeviceGetProperties(&properties, 9999));
}

CASE(device, old_capability)
{
    int major = -1, minor = -1;
    say(cuDeviceComputeCapability(&major, &minor, gold_device()));
    say_if("same", major == attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) &&
                       minor == attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    say(cuDeviceComputeCapability(NULL, &minor, gold_device()));
    say(cuDeviceComputeCapability(&major, &minor, 9999));
}

CASE(device, affinity)
{
    int supported = 9;
    say(cuDeviceGetExecAffinitySupport(&supported, (CUexecAffinityType)99, gold_device()));
    say(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, gold_device()));
}
