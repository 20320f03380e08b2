/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries and kernels: modules that belong to no context.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static CUlibrary library(void)
{
    CUlibrary loaded;
    NEED(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return loaded;
}

static CUkernel kernel(const char *name)
{
    CUkernel found;
    NEED(cuLibraryGetKernel(&found, library(), name));
    return found;
}

CASE(library, load_and_unload)
{
    CUlibrary loaded = NULL;
    say(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    say(cuLibraryUnload(loaded));
}

CASE(library, load_without_context, .alone = true)
{
    CUlibrary loaded = NULL;
    CUkernel found = NULL;
    NEED(cuCtxSetCurrent(NULL));
    say(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    say(cuLibraryGetKernel(&found, loaded, "empty"));
    say(cuLibraryUnload(loaded));
}

CASE(library, load_bad)
{
    CUlibrary loaded;
    say(cuLibraryLoadData(NULL, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    say(cuLibraryLoadData(&loaded, NULL, NULL, NULL, 0, NULL, NULL, 0));
}

/* Whether broken code is found at the load or at the first use is the loader's choice. */
CASE(library, load_broken,
     .allow = "CUDA_ERROR_INVALID_PTX|CUDA_ERROR_INVALID_IMAGE|CUDA_SUCCESS CUDA_ERROR_INVALID_PTX|"
              "CUDA_SUCCESS CUDA_ERROR_NOT_FOUND",
     .why = "loading may be put off to the first use")
{
    CUlibrary loaded;
    CUkernel found;
    CUresult status = cuLibraryLoadData(&loaded, ".version 7.0\n.target sm_75\n.address_size 64\nnonsense\n", NULL,
                                        NULL, 0, NULL, NULL, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuLibraryGetKernel(&found, loaded, "empty"));
}

CASE(library, load_not_an_image,
     .allow = "CUDA_ERROR_INVALID_IMAGE|CUDA_ERROR_INVALID_PTX|CUDA_ERROR_NO_BINARY_FOR_GPU",
     .why = "which refusal depends on how far the loader reads")
{
    CUlibrary loaded;
    say(cuLibraryLoadData(&loaded, "hello", NULL, NULL, 0, NULL, NULL, 0));
}

CASE(library, load_options)
{
    char log[512];
    memset(log, 'x', sizeof log);
    CUjit_option names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUlibraryOption options[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
    void *option_values[] = {(void *)(uintptr_t)0};
    CUlibrary loaded;
    say(cuLibraryLoadData(&loaded, gold_ptx, names, values, 2, NULL, NULL, 0));
    say(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 0, options, option_values, 1));
}

CASE(library, load_options_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUlibrary loaded;
    say(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 2, NULL, NULL, 0));
    say(cuLibraryLoadData(&loaded, gold_ptx, NULL, NULL, 0, NULL, NULL, 1));
}

CASE(library, load_file)
{
    char path[] = "/tmp/goldenXXXXXX";
    int fd = mkstemp(path);
    size_t size = strlen(gold_ptx);
    if (fd < 0 || write(fd, gold_ptx, size) != (ssize_t)size)
        gold_stop("mkstemp");
    close(fd);
    CUlibrary loaded;
    CUkernel found;
    CUresult status = cuLibraryLoadFromFile(&loaded, path, NULL, NULL, 0, NULL, NULL, 0);
    unlink(path);
    say(status);
    say(cuLibraryGetKernel(&found, loaded, "empty"));
}

CASE(library, load_file_bad)
{
    CUlibrary loaded;
    say(cuLibraryLoadFromFile(&loaded, "/nowhere/nothing.ptx", NULL, NULL, 0, NULL, NULL, 0));
    say(cuLibraryLoadFromFile(&loaded, NULL, NULL, NULL, 0, NULL, NULL, 0));
    say(cuLibraryLoadFromFile(NULL, "/nowhere/nothing.ptx", NULL, NULL, 0, NULL, NULL, 0));
}

CASE(library, get_kernel)
{
    CUlibrary loaded = library();
    CUkernel one = NULL, two = NULL;
    say(cuLibraryGetKernel(&one, loaded, "empty"));
    say(cuLibraryGetKernel(&two, loaded, "empty"));
    say_if("same", one == two);
}

CASE(library, get_kernel_bad)
{
    CUlibrary loaded = library();
    CUkernel found;
    say(cuLibraryGetKernel(&found, loaded, "missing"));
    say(cuLibraryGetKernel(&found, loaded, ""));
    say(cuLibraryGetKernel(&found, loaded, NULL));
    say(cuLibraryGetKernel(NULL, loaded, "empty"));
    say(cuLibraryGetKernel(&found, NULL, "empty"));
}

CASE(library, launch_kernel_handle)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 12;
    void *params[] = {&word, &value};
    say(gold_launch((CUfunction)(void *)kernel("store"), 1, NULL, params));
    say_int(gold_word(word));
}

CASE(library, launch_kernel_handle_ex)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 13;
    void *params[] = {&word, &value};
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    say(cuLaunchKernelEx(&config, (CUfunction)(void *)kernel("store"), params, NULL));
    say_int(gold_word(word));
}

CASE(library, launch_kernel_handle_elsewhere, .alone = true)
{
    CUkernel store = kernel("store");
    gold_context_new();
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 14;
    void *params[] = {&word, &value};
    say(gold_launch((CUfunction)(void *)store, 1, NULL, params));
    say_int(gold_word(word));
}

CASE(library, kernel_function)
{
    CUkernel store = kernel("store");
    CUfunction one = NULL, two = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 15;
    void *params[] = {&word, &value};
    say(cuKernelGetFunction(&one, store));
    say(cuKernelGetFunction(&two, store));
    say_if("same", one == two);
    say(gold_launch(one, 1, NULL, params));
    say_int(gold_word(word));
    say(cuKernelGetFunction(NULL, store));
    say(cuKernelGetFunction(&one, NULL));
}

CASE(library, kernel_function_without_context, .alone = true)
{
    CUkernel store = kernel("store");
    CUfunction function;
    NEED(cuCtxSetCurrent(NULL));
    say(cuKernelGetFunction(&function, store));
}

/* What may be asked of a kernel in a thread that has no context, before any context has the kernel and after. */
CASE(library, kernel_asked_without_context, .alone = true)
{
    CUkernel params = kernel("params"), bounded = kernel("bounded");
    CUcontext context;
    CUfunction function;
    CUlibrary library;
    const char *name = NULL;
    int value = 0;
    NEED(cuCtxGetCurrent(&context));
    for (int loaded = 0; loaded < 2; loaded++) {
        size_t offset = 99, size = 99;
        NEED(cuCtxSetCurrent(NULL));
        say(cuKernelGetParamInfo(params, 0, &offset, &size));
        say_int((long long)size);
        say(cuKernelGetParamInfo(params, 99, &offset, &size));
        say(cuKernelGetName(&name, params));
        say(cuKernelGetLibrary(&library, params));
        say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded, gold_device()));
        say(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100, bounded, gold_device()));
        say(cuKernelSetCacheConfig(bounded, CU_FUNC_CACHE_PREFER_L1, gold_device()));
        NEED(cuCtxSetCurrent(context));
        NEED(cuKernelGetFunction(&function, params));
        if (loaded) {
            NEED(cuCtxSetCurrent(NULL));
            say(cuFuncGetParamInfo(function, 0, &offset, &size));
            say(cuFuncGetName(&name, function));
            NEED(cuCtxSetCurrent(context));
        }
    }
}

CASE(library, kernel_library_and_name)
{
    CUlibrary loaded = library(), got = NULL;
    CUkernel found;
    const char *name = NULL;
    NEED(cuLibraryGetKernel(&found, loaded, "store"));
    say(cuKernelGetLibrary(&got, found));
    say_if("same", got == loaded);
    say(cuKernelGetName(&name, found));
    say_text(name);
    say(cuKernelGetName(NULL, found));
    say(cuKernelGetLibrary(NULL, found));
}

CASE(library, module_of)
{
    CUlibrary loaded = library();
    CUmodule one = NULL, two = NULL;
    CUfunction function;
    say(cuLibraryGetModule(&one, loaded));
    say(cuLibraryGetModule(&two, loaded));
    say_if("same", one == two);
    say(cuModuleGetFunction(&function, one, "empty"));
    say(cuLibraryGetModule(NULL, loaded));
    say(cuLibraryGetModule(&one, NULL));
}

CASE(library, unload_its_module, .alone = true)
{
    CUmodule module = NULL;
    NEED(cuLibraryGetModule(&module, library()));
    say(cuModuleUnload(module));
}

CASE(library, global)
{
    CUlibrary loaded = library();
    CUdeviceptr address = 0;
    size_t size = 0;
    say(cuLibraryGetGlobal(&address, &size, loaded, "counter"));
    say_int((long long)size);
    say_int(gold_word(address));
    say(cuLibraryGetGlobal(&address, &size, loaded, "missing"));
    say(cuLibraryGetGlobal(&address, &size, loaded, NULL));
    say(cuLibraryGetGlobal(NULL, &size, loaded, "counter"));
    say(cuLibraryGetGlobal(&address, NULL, loaded, "counter"));
    say(cuLibraryGetGlobal(&address, &size, NULL, "counter"));
}

CASE(library, global_per_context, .alone = true)
{
    CUlibrary loaded = library();
    CUdeviceptr one, two;
    size_t size;
    NEED(cuLibraryGetGlobal(&one, &size, loaded, "counter"));
    gold_context_new();
    NEED(cuLibraryGetGlobal(&two, &size, loaded, "counter"));
    say_if("differ", one != two);
}

CASE(library, managed_missing)
{
    CUdeviceptr address;
    size_t size;
    say(cuLibraryGetManaged(&address, &size, library(), "counter"));
    say(cuLibraryGetManaged(&address, &size, library(), "missing"));
}

CASE(library, unified_function_missing)
{
    void *function;
    say(cuLibraryGetUnifiedFunction(&function, library(), "missing"));
}

CASE(library, kernel_list)
{
    CUlibrary loaded;
    NEED(cuLibraryLoadData(&loaded,
                           ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry a() { ret; }\n"
                           ".visible .entry b() { ret; }\n",
                           NULL, NULL, 0, NULL, NULL, 0));
    unsigned count = 9;
    CUkernel kernels[4] = {NULL};
    say(cuLibraryGetKernelCount(&count, loaded));
    say_int(count);
    say(cuLibraryEnumerateKernels(kernels, 2, loaded));
    say_if("both", kernels[0] && kernels[1] && kernels[0] != kernels[1]);
    say(cuLibraryGetKernelCount(NULL, loaded));
    say(cuLibraryEnumerateKernels(NULL, 2, loaded));
    say(cuLibraryEnumerateKernels(kernels, 0, loaded));
}

CASE(library, kernel_attributes)
{
    CUkernel bounded = kernel("bounded");
    int value = -9;
    say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded, gold_device()));
    say_int(value);
    say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, bounded, gold_device()));
    say_int(value);
    say(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, bounded, gold_device()));
    say(cuKernelGetAttribute(&value, (CUfunction_attribute)99, bounded, gold_device()));
    say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, bounded, 9999));
    say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, NULL, gold_device()));
}

CASE(library, kernel_set_attribute)
{
    CUkernel rotate = kernel("rotate");
    int value = -9;
    say(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, rotate, gold_device()));
    say(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rotate, gold_device()));
    say_int(value);
    say(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, rotate, gold_device()));
    say(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, rotate, 9999));
    say(cuKernelSetCacheConfig(rotate, CU_FUNC_CACHE_PREFER_L1, gold_device()));
}

CASE(library, kernel_parameters)
{
    CUkernel params = kernel("params");
    for (size_t i = 0; i < 6; i++) {
        size_t offset = 99, size = 99;
        CUresult status = cuKernelGetParamInfo(params, i, &offset, &size);
        say(status);
        if (status != CUDA_SUCCESS)
            break;
        say_int((long long)offset);
        say_int((long long)size);
    }
}

CASE(library, function_calls_take_kernels)
{
    CUfunction function = (CUfunction)(void *)kernel("bounded");
    int value = 0;
    const char *name = NULL;
    CUmodule module;
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    say_int(value);
    say(cuFuncGetName(&name, function));
    say_text(name);
    say(cuFuncGetModule(&module, function));
}

CASE(library, unload_null)
{
    say(cuLibraryUnload(NULL));
}

#define STALE_LIBRARY .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE", .why = "undefined on hardware: it may crash"

CASE(library, unload_twice, STALE_LIBRARY)
{
    CUlibrary loaded = library();
    NEED(cuLibraryUnload(loaded));
    say(cuLibraryUnload(loaded));
}

CASE(library, get_kernel_of_unloaded, STALE_LIBRARY)
{
    CUlibrary loaded = library();
    CUkernel found;
    NEED(cuLibraryUnload(loaded));
    say(cuLibraryGetKernel(&found, loaded, "empty"));
}

CASE(library, launch_of_unloaded, STALE_LIBRARY)
{
    CUlibrary loaded = library();
    CUkernel found;
    NEED(cuLibraryGetKernel(&found, loaded, "empty"));
    NEED(cuLibraryUnload(loaded));
    say(gold_launch((CUfunction)(void *)found, 1, NULL, NULL));
}

CASE(library, unload_foreign, STALE_LIBRARY)
{
    say(cuLibraryUnload(gold_foreign()));
}
