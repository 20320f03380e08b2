/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is inside a module: functions, globals, and the attributes of functions.
 */
#include "gold.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* ---- functions and globals ---- */

CASE(module, get_function)
{
    CUfunction one = NULL, two = NULL;
    say(cuModuleGetFunction(&one, gold_module(), "empty"));
    say(cuModuleGetFunction(&two, gold_module(), "empty"));
    say_if("same", one == two);
}

CASE(module, get_function_bad)
{
    CUfunction function;
    say(cuModuleGetFunction(&function, gold_module(), "missing"));
    say(cuModuleGetFunction(&function, gold_module(), "counter"));
    say(cuModuleGetFunction(&function, gold_module(), ""));
    say(cuModuleGetFunction(&function, gold_module(), NULL));
    say(cuModuleGetFunction(NULL, gold_module(), "empty"));
    say(cuModuleGetFunction(&function, NULL, "empty"));
}

CASE(module, get_global)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    CUmodule module = gold_load(gold_ptx);
    say(cuModuleGetGlobal(&address, &size, module, "counter"));
    say_int((long long)size);
    say_int(gold_word(address));
    say(cuModuleGetGlobal(&address, &size, module, "table"));
    say_int((long long)size);
    say_int(gold_word(address + 60));
    say(cuModuleGetGlobal(&address, &size, module, "constants"));
    say_int((long long)size);
    say_int(gold_word(address + 8));
}

CASE(module, get_global_partial_results)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    say(cuModuleGetGlobal(NULL, &size, gold_module(), "table"));
    say_int((long long)size);
    say(cuModuleGetGlobal(&address, NULL, gold_module(), "table"));
    say_if("found", address != 0);
    say(cuModuleGetGlobal(NULL, NULL, gold_module(), "table"));
}

CASE(module, get_global_bad)
{
    CUdeviceptr address;
    size_t size;
    say(cuModuleGetGlobal(&address, &size, gold_module(), "missing"));
    say(cuModuleGetGlobal(&address, &size, gold_module(), "empty"));
    say(cuModuleGetGlobal(&address, &size, gold_module(), NULL));
    say(cuModuleGetGlobal(&address, &size, NULL, "counter"));
}

CASE(module, get_global_hidden)
{
    CUdeviceptr address;
    size_t size;
    say(cuModuleGetGlobal(&address, &size, gold_module(), "hidden"));
}

CASE(module, global_is_written)
{
    CUdeviceptr address;
    size_t size;
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    NEED(cuModuleGetGlobal(&address, &size, module, "counter"));
    NEED(cuModuleGetFunction(&function, module, "increase"));
    unsigned start = 100;
    say(cuMemcpyHtoD(address, &start, 4));
    say(gold_launch(function, 64, NULL, NULL));
    say_int(gold_word(address));
}

CASE(module, function_list)
{
    CUmodule module = gold_load(HEAD ".visible .entry a() { ret; }\n.visible .entry b() { ret; }\n");
    unsigned count = 99;
    CUfunction functions[4] = {NULL};
    say(cuModuleGetFunctionCount(&count, module));
    say_int(count);
    say(cuModuleEnumerateFunctions(functions, 2, module));
    say_if("both", functions[0] && functions[1] && functions[0] != functions[1]);
    say(cuModuleGetFunctionCount(NULL, module));
    say(cuModuleEnumerateFunctions(NULL, 2, module));
    say(cuModuleEnumerateFunctions(functions, 0, module));
}

CASE(module, function_name_and_module)
{
    const char *name = NULL;
    CUmodule module = NULL;
    CUfunction function = gold_function("store");
    say(cuFuncGetName(&name, function));
    say_text(name);
    say(cuFuncGetModule(&module, function));
    say_if("same", module == gold_module());
    say(cuFuncGetName(NULL, function));
    say(cuFuncGetModule(NULL, function));
}

CASE(module, function_parameters)
{
    CUfunction function = gold_function("params");
    for (size_t i = 0; i < 6; i++) {
        size_t offset = 99, size = 99;
        CUresult status = cuFuncGetParamInfo(function, i, &offset, &size);
        say(status);
        if (status != CUDA_SUCCESS)
            break;
        say_int((long long)offset);
        say_int((long long)size);
    }
}

CASE(module, function_parameters_partial)
{
    CUfunction function = gold_function("params");
    size_t offset = 0;
    say(cuFuncGetParamInfo(function, 1, &offset, NULL));
    say_int((long long)offset);
    say(cuFuncGetParamInfo(function, 1, NULL, &offset));
    say(cuFuncGetParamInfo(gold_function("empty"), 0, &offset, &offset));
}

CASE(module, function_loaded)
{
    CUfunctionLoadingState state = (CUfunctionLoadingState)9;
    CUfunction function = gold_function("store");
    say(cuFuncLoad(function));
    say(cuFuncIsLoaded(&state, function));
    say_int(state);
    say(cuFuncIsLoaded(NULL, function));
}

CASE(module, loading_mode)
{
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)9;
    say(cuModuleGetLoadingMode(&mode));
    say_int(mode);
}

CASE(module, loading_mode_null, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver crashes")
{
    say(cuModuleGetLoadingMode(NULL));
}

/* ---- function attributes ---- */

static void attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -99;
    say(cuFuncGetAttribute(&value, which, function));
    say_int(value);
}

CASE(module, attribute_threads)
{
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attribute(gold_function("bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attribute(gold_function("exactly32"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

CASE(module, attribute_shared)
{
    attribute(gold_function("bounded"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    attribute(gold_function("rotate"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
}

CASE(module, attribute_constant_and_local)
{
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}

CASE(module, attribute_versions)
{
    int value = 0;
    CUfunction function = gold_function("empty");
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
    say_int(value);
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
    int major = 0, minor = 0;
    NEED(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gold_device()));
    NEED(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, gold_device()));
    say_if("of_device", value == 10 * major + minor);
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    say_if("registers", value >= 0 && value <= 255);
}

CASE(module, attribute_dynamic_shared)
{
    CUfunction function = gold_function("store");
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

CASE(module, attribute_carveout)
{
    CUfunction function = gold_function("add");
    attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -2));
}

CASE(module, attribute_read_only)
{
    CUfunction function = gold_function("add");
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 10));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
    say(cuFuncSetAttribute(function, (CUfunction_attribute)99, 10));
}

CASE(module, attribute_bad)
{
    int value;
    say(cuFuncGetAttribute(&value, (CUfunction_attribute)99, gold_function("add")));
    say(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, gold_function("add")));
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
}

CASE(module, cache_config)
{
    CUfunction function = gold_function("add");
    say(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
    say(cuFuncSetCacheConfig(function, (CUfunc_cache)99));
    say(cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_L1));
}
