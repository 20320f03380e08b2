/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: registered ones and those of libraries, their attributes, occupancy, and libraries themselves. */
#include "rt.h"

#include <string.h>

/* ---- attributes ---- */

static void say_attributes(const void *kernel)
{
    struct cudaFuncAttributes attributes;
    memset(&attributes, 0x55, sizeof attributes);
    cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
    rt_noted(status);
    if (status != cudaSuccess)
        return;
    say_value("shared", (long long)attributes.sharedSizeBytes);
    say_value("const", (long long)attributes.constSizeBytes);
    say_value("local", (long long)attributes.localSizeBytes);
    say_value("threads", attributes.maxThreadsPerBlock);
    say_value("ptx", attributes.ptxVersion);
    say_value("ca", attributes.cacheModeCA);
    say_value("dynamic", attributes.maxDynamicSharedSizeBytes);
    say_value("carveout", attributes.preferredShmemCarveout);
    say_value("cluster", attributes.clusterDimMustBeSet);
    say_value("width", attributes.requiredClusterWidth);
    say_value("scheduling", attributes.clusterSchedulingPolicyPreference);
    say_value("nonportable", attributes.nonPortableClusterSizeAllowed);
}

CASE(function, attributes_of_library_kernel)
{
    say_attributes(rt_kernel("bounded"));
}

CASE(function, attributes_of_registered_kernel)
{
    say_attributes(&rt_host_bounded);
}

CASE(function, attributes_of_plain_kernel)
{
    say_attributes(&rt_host_store);
}

CASE(function, attributes_unknown)
{
    say_attributes(&rt_host_missing);
    say_attributes(NULL);
    say_attributes(&rt_host_counter);
}

CASE(function, attributes_result_null)
{
    rt_noted(cudaFuncGetAttributes(NULL, &rt_host_store));
}

CASE(function, set_dynamic_shared)
{
    struct cudaFuncAttributes attributes;
    const void *kernel = rt_kernel("rotate");
    rt_noted(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    RT_NEED(cudaFuncGetAttributes(&attributes, kernel));
    say_int(attributes.maxDynamicSharedSizeBytes);
    rt_noted(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24));
    rt_noted(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    RT_NEED(cudaFuncGetAttributes(&attributes, kernel));
    say_int(attributes.maxDynamicSharedSizeBytes);
}

CASE(function, set_carveout)
{
    struct cudaFuncAttributes attributes;
    rt_noted(cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    RT_NEED(cudaFuncGetAttributes(&attributes, &rt_host_store));
    say_int(attributes.preferredShmemCarveout);
    rt_noted(cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    rt_noted(cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    rt_noted(cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
}

CASE(function, set_attribute_bad)
{
    rt_noted(cudaFuncSetAttribute(&rt_host_store, (enum cudaFuncAttribute)0, 1));
    rt_noted(cudaFuncSetAttribute(&rt_host_store, (enum cudaFuncAttribute)99, 1));
    rt_noted(cudaFuncSetAttribute(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    rt_noted(cudaFuncSetAttribute(&rt_host_missing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
}

CASE(function, kernel_attribute_for_device)
{
    cudaKernel_t kernel = rt_kernel_handle("rotate");
    rt_noted(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096, 0));
    rt_noted(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096, -1));
    rt_noted(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096, 1 << 20));
    rt_noted(cudaKernelSetAttributeForDevice(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096, 0));
}

CASE(function, cache_config)
{
    rt_noted(cudaFuncSetCacheConfig(&rt_host_store, cudaFuncCachePreferL1));
    rt_noted(cudaFuncSetCacheConfig(&rt_host_store, (enum cudaFuncCache)9));
    rt_noted(cudaFuncSetCacheConfig(NULL, cudaFuncCachePreferL1));
    rt_noted(cudaFuncSetCacheConfig(&rt_host_missing, cudaFuncCachePreferL1));
    rt_noted(cudaFuncSetSharedMemConfig(&rt_host_store, cudaSharedMemBankSizeFourByte));
}

CASE(function, name)
{
    const char *name = NULL;
    rt_noted(cudaFuncGetName(&name, &rt_host_store));
    say_text(name);
    rt_noted(cudaFuncGetName(&name, rt_kernel("add")));
    say_text(name);
    rt_noted(cudaFuncGetName(NULL, &rt_host_store));
    rt_noted(cudaFuncGetName(&name, NULL));
    rt_noted(cudaFuncGetName(&name, &rt_host_missing));
}

CASE(function, parameters)
{
    const void *kernel = rt_kernel("params");
    for (size_t i = 0; i < 6; i++) {
        size_t offset = 77, size = 77;
        rt_noted(cudaFuncGetParamInfo(kernel, i, &offset, &size));
        say_int((long long)offset);
        say_int((long long)size);
    }
    rt_noted(cudaFuncGetParamInfo(kernel, 0, NULL, NULL));
}

CASE(function, by_symbol)
{
    cudaFunction_t function = NULL;
    cudaKernel_t kernel = NULL;
    rt_noted(cudaGetFuncBySymbol(&function, &rt_host_store));
    say_if("function", function != NULL);
    rt_noted(cudaGetKernel(&kernel, &rt_host_store));
    say_if("kernel", kernel != NULL);
    rt_noted(cudaGetFuncBySymbol(&function, &rt_host_missing));
    rt_noted(cudaGetKernel(&kernel, &rt_host_missing));
    rt_noted(cudaGetFuncBySymbol(NULL, &rt_host_store));
    rt_noted(cudaGetKernel(NULL, &rt_host_store));
    rt_noted(cudaGetFuncBySymbol(&function, NULL));
    rt_noted(cudaGetKernel(&kernel, NULL));
}

/* ---- occupancy ---- */

CASE(occupancy, blocks)
{
    int blocks = -1;
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_empty, 1024, 0));
    say_if("some", blocks > 0);
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_empty, 1025, 0));
    say_int(blocks);
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_empty, 64, 1 << 24));
    say_int(blocks);
}

CASE(occupancy, bad)
{
    int blocks = -1;
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_empty, 0, 0));
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_empty, -1, 0));
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, &rt_host_empty, 64, 0));
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 64, 0));
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &rt_host_missing, 64, 0));
}

CASE(occupancy, with_flags)
{
    int blocks = -1;
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &rt_host_empty, 64, 0,
                                                                    cudaOccupancyDisableCachingOverride));
    say_if("some", blocks > 0);
    rt_noted(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &rt_host_empty, 64, 0, 2));
}

CASE(occupancy, available_shared)
{
    size_t size = 0;
    rt_noted(cudaOccupancyAvailableDynamicSMemPerBlock(&size, &rt_host_empty, 1, 64));
    say_if("some", size > 0);
    rt_noted(cudaOccupancyAvailableDynamicSMemPerBlock(&size, NULL, 1, 64));
    rt_noted(cudaOccupancyAvailableDynamicSMemPerBlock(&size, &rt_host_empty, 0, 64));
    rt_noted(cudaOccupancyAvailableDynamicSMemPerBlock(&size, &rt_host_empty, 1, 0));
}

CASE(occupancy, available_shared_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaOccupancyAvailableDynamicSMemPerBlock(NULL, &rt_host_empty, 1, 64));
}

/* ---- libraries ---- */

static cudaError_t load(cudaLibrary_t *library, const void *code)
{
    return cudaLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0);
}

CASE(library, load_and_unload)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    unsigned count = 0;
    rt(load(&library, gold_ptx));
    rt(cudaLibraryGetKernel(&kernel, library, "empty"));
    rt(rt_launch((const void *)kernel, 1, NULL, NULL));
    rt(cudaLibraryGetKernelCount(&count, library));
    say_int(count);
    rt(cudaDeviceSynchronize());
    rt(cudaLibraryUnload(library));
}

CASE(library, load_bad_text)
{
    static const char bad[4096] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { nonsense; }\n";
    cudaLibrary_t library = (cudaLibrary_t)GOLD_WILD;
    rt_noted(load(&library, bad));
    say_if("untouched", library == (cudaLibrary_t)GOLD_WILD);
}

CASE(library, load_null)
{
    cudaLibrary_t library = NULL;
    rt_noted(load(&library, NULL));
    rt_noted(load(NULL, gold_ptx));
}

CASE(library, load_options)
{
    cudaLibrary_t library = NULL;
    enum cudaLibraryOption keep = cudaLibraryBinaryIsPreserved, unknown = (enum cudaLibraryOption)99;
    enum cudaJitOption optimisation = cudaJitOptimizationLevel;
    void *level = (void *)(uintptr_t)1;
    rt_noted(cudaLibraryLoadData(&library, gold_ptx, &optimisation, &level, 1, NULL, NULL, 0));
    rt_noted(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, &keep, NULL, 1));
    rt_noted(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, &unknown, NULL, 1));
    rt_noted(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 1, NULL, NULL, 0));
}

CASE(library, load_no_file)
{
    cudaLibrary_t library = NULL;
    rt_noted(cudaLibraryLoadFromFile(&library, "/nonexistent/file.ptx", NULL, NULL, 0, NULL, NULL, 0));
    rt_noted(cudaLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
}

CASE(library, kernel_missing)
{
    cudaKernel_t kernel = NULL;
    rt_noted(cudaLibraryGetKernel(&kernel, rt_library(), "nothing"));
    rt_noted(cudaLibraryGetKernel(&kernel, rt_library(), ""));
    rt_noted(cudaLibraryGetKernel(&kernel, rt_library(), NULL));
    rt_noted(cudaLibraryGetKernel(NULL, rt_library(), "empty"));
    rt_noted(cudaLibraryGetKernel(&kernel, NULL, "empty"));
    say_if("untouched", kernel == NULL);
}

CASE(library, global)
{
    void *address = NULL;
    size_t size = 0;
    rt(cudaLibraryGetGlobal(&address, &size, rt_library(), "table"));
    say_int((long long)size);
    say_if("there", address != NULL);
    rt_noted(cudaLibraryGetGlobal(&address, &size, rt_library(), "hidden"));
    rt_noted(cudaLibraryGetGlobal(&address, &size, rt_library(), "nothing"));
    rt_noted(cudaLibraryGetGlobal(&address, NULL, rt_library(), "table"));
    rt_noted(cudaLibraryGetGlobal(NULL, &size, rt_library(), "table"));
    rt_noted(cudaLibraryGetGlobal(NULL, NULL, rt_library(), "table"));
    rt_noted(cudaLibraryGetGlobal(&address, &size, NULL, "table"));
}

CASE(library, managed)
{
    void *address = NULL;
    size_t size = 0;
    rt_noted(cudaLibraryGetManaged(&address, &size, rt_library(), "table"));
    rt_noted(cudaLibraryGetManaged(&address, &size, rt_library(), "nothing"));
}

CASE(library, unified_function)
{
    void *function = NULL;
    rt_noted(cudaLibraryGetUnifiedFunction(&function, rt_library(), "nothing"));
    rt_noted(cudaLibraryGetUnifiedFunction(NULL, rt_library(), "nothing"));
}

CASE(library, enumerate)
{
    cudaKernel_t kernels[64] = {NULL};
    unsigned count = 0;
    rt(cudaLibraryGetKernelCount(&count, rt_library()));
    rt(cudaLibraryEnumerateKernels(kernels, count < 64 ? count : 64, rt_library()));
    unsigned there = 0;
    for (unsigned i = 0; i < 64; i++)
        there += kernels[i] != NULL;
    say_if("all", there == count);
    rt_noted(cudaLibraryEnumerateKernels(kernels, 0, rt_library()));
    rt_noted(cudaLibraryEnumerateKernels(NULL, 1, rt_library()));
    rt_noted(cudaLibraryGetKernelCount(NULL, rt_library()));
    rt_noted(cudaLibraryGetKernelCount(&count, NULL));
}

CASE(library, unload_null)
{
    rt_noted(cudaLibraryUnload(NULL));
}

CASE(library, survives_reset, .alone = true)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    rt(load(&library, gold_ptx));
    rt(cudaLibraryGetKernel(&kernel, library, "empty"));
    rt(rt_launch((const void *)kernel, 1, NULL, NULL));
    rt(cudaDeviceReset());
    rt(rt_launch((const void *)kernel, 1, NULL, NULL));
    rt(cudaDeviceSynchronize());
}
