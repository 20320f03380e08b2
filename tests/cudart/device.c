/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, their properties and attributes, contexts that come by themselves, the last error, versions. Runs with two
 * devices. */
#include <cuda.h>
#include <string.h>

#include "expect.h"

static void test_before_anything(void)
{
    int device = -1, version = 0;
    HOLDS(cudaGetLastError() == cudaSuccess);
    OK(cudaGetDevice(&device));
    HOLDS(device == 0);
    OK(cudaRuntimeGetVersion(&version));
    HOLDS(version == CUDART_VERSION);
    OK(cudaDriverGetVersion(&version));
    HOLDS(version >= CUDART_VERSION);
    GIVES(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
    GIVES(cudaErrorInvalidValue, cudaDriverGetVersion(NULL));
    CUcontext current = (CUcontext)1;
    HOLDS(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == NULL);
}

static void test_choice(void)
{
    int count = 0, device = -1;
    OK(cudaGetDeviceCount(&count));
    HOLDS(count == 2);
    GIVES(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    HOLDS(device == 1);
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(2));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(-1));
    OK(cudaGetDevice(&device));
    HOLDS(device == 1);
    OK(cudaSetDevice(0));
    OK(cudaInitDevice(1, 0, 0));
    OK(cudaGetDevice(&device));
    HOLDS(device == 0);
    OK(cudaInitDevice(1, 0, 8)); /* hardware does not look at them either */
    GIVES(cudaErrorInvalidDevice, cudaInitDevice(7, 0, 0));
    int valid[] = {1, 0};
    OK(cudaSetValidDevices(valid, 2));
    OK(cudaSetValidDevices(NULL, 0));
    GIVES(cudaErrorInvalidValue, cudaSetValidDevices(NULL, 1));
    struct cudaDeviceProp wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.major = 7;
    OK(cudaChooseDevice(&device, &wanted));
    HOLDS(device == 0);
}

static void test_properties(void)
{
    struct cudaDeviceProp found;
    int value = 0;
    OK(cudaGetDeviceProperties(&found, 0));
    HOLDS(strlen(found.name) > 0);
    HOLDS(found.warpSize == 32 && found.maxThreadsPerBlock == 1024 && found.maxThreadsDim[2] == 64);
    HOLDS(found.unifiedAddressing == 1 && found.managedMemory == 1);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    HOLDS(value == found.multiProcessorCount && value > 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    HOLDS((size_t)value == found.sharedMemPerBlockOptin);
    size_t total = 0, free_now = 0;
    OK(cudaMemGetInfo(&free_now, &total));
    HOLDS(total == found.totalGlobalMem && free_now <= total);
    GIVES(cudaErrorInvalidDevice, cudaGetDeviceProperties(&found, 5));
    GIVES(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 5));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)100000, 0));
    char bus[32];
    int same = -1;
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cudaDeviceGetByPCIBusId(&same, bus));
    HOLDS(same == 1);
    int least = -1, greatest = 1;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    HOLDS(least == 0 && greatest < 0);
}

static void test_limits(void)
{
    size_t value = 0;
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    HOLDS(value >= 4096);
    GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(&value, (enum cudaLimit)99));
    enum cudaFuncCache config;
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaDeviceGetCacheConfig(&config));
}

static void test_flags(void)
{
    unsigned flags = 0;
    OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    OK(cudaGetDeviceFlags(&flags));
    HOLDS((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
    HOLDS(flags & cudaDeviceMapHost);
    GIVES(cudaErrorInvalidValue, cudaSetDeviceFlags(0x1000));
}

static void test_last_error(void)
{
    HOLDS(cudaGetLastError() == cudaSuccess);
    HOLDS(cudaSetDevice(77) == cudaErrorInvalidDevice);
    HOLDS(cudaMalloc(NULL, 4) == cudaErrorInvalidValue);
    OK(cudaDeviceSynchronize()); /* success changes nothing */
    HOLDS(cudaPeekAtLastError() == cudaErrorInvalidValue);
    HOLDS(cudaPeekAtLastError() == cudaErrorInvalidValue);
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    HOLDS(cudaGetLastError() == cudaSuccess);
    HOLDS(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    HOLDS(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    HOLDS(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    HOLDS(strcmp(cudaGetErrorName((cudaError_t)4711), "unrecognized error code") == 0);
    HOLDS(strcmp(cudaGetErrorString((cudaError_t)4711), "unrecognized error code") == 0);
}

static void test_reset(void)
{
    void *memory = NULL;
    int value = 0;
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&memory, 1024));
    OK(cudaDeviceReset());
    OK(cudaGetDevice(&value));
    HOLDS(value == 1);
    GIVES(cudaErrorInvalidValue, cudaFree(memory));
    OK(cudaMalloc(&memory, 1024));
    OK(cudaMemset(memory, 1, 1024));
    OK(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
    HOLDS(value == 0x01010101);
    OK(cudaFree(memory));
    OK(cudaSetDevice(0));
}

/* A context that the program made itself is used as it is. */
static void test_own_context(void)
{
    CUcontext own, current;
    int device = -1;
    void *memory;
    HOLDS(cuCtxCreate_v4(&own, NULL, 0, 1) == CUDA_SUCCESS);
    OK(cudaMalloc(&memory, 64));
    OK(cudaGetDevice(&device));
    HOLDS(device == 1);
    HOLDS(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == own);
    struct cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, memory));
    HOLDS(attributes.type == cudaMemoryTypeDevice && attributes.device == 1);
    OK(cudaFree(memory));
    HOLDS(cuCtxDestroy(own) == CUDA_SUCCESS);
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&memory, 64));
    OK(cudaFree(memory));
}

static void test_entry_points(void)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult result;
    OK(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, &result));
    HOLDS(result == cudaDriverEntryPointSuccess && function != NULL);
    OK(cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 12050, cudaEnableDefault, &result));
    HOLDS(result == cudaDriverEntryPointSuccess && function == (void *)cuCtxCreate_v4);
    OK(cudaGetDriverEntryPoint("cuNoSuchThing", &function, cudaEnableDefault, &result));
    HOLDS(result == cudaDriverEntryPointSymbolNotFound && function == NULL);
    OK(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &function, 5000, cudaEnableDefault, &result));
    HOLDS(result == cudaDriverEntryPointVersionNotSufficent);
    GIVES(cudaErrorInvalidValue, cudaGetDriverEntryPoint(NULL, &function, cudaEnableDefault, &result));
    const void *table;
    GIVES(cudaErrorNotSupported, cudaGetExportTable(&table, NULL));
}

static void test_peer(void)
{
    int can = 0;
    void *here, *there;
    int value = 42, back = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    OK(cudaMalloc(&here, 4));
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&there, 4));
    OK(cudaSetDevice(0));
    OK(cudaMemcpy(here, &value, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(there, 1, here, 0, 4));
    OK(cudaMemcpy(&back, there, 4, cudaMemcpyDefault));
    HOLDS(back == 42);
    if (can) {
        OK(cudaDeviceEnablePeerAccess(1, 0));
        GIVES(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
        OK(cudaDeviceDisablePeerAccess(1));
        GIVES(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    }
    GIVES(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    GIVES(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
    GIVES(cudaErrorInvalidDevice, cudaMemcpyPeer(there, 9, here, 0, 4));
    OK(cudaFree(here));
    OK(cudaFree(there));
}

int main(void)
{
    test_before_anything();
    test_choice();
    test_properties();
    test_limits();
    test_flags();
    test_last_error();
    test_reset();
    test_own_context();
    test_entry_points();
    test_peer();
    return finish();
}
