/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, the look-up of the driver's functions, profiler and logs. */
#include "rt.h"

#include <cuda_profiler_api.h>

CASE(version, runtime)
{
    int version = 0;
    rt(cudaRuntimeGetVersion(&version));
    say_int(version);
}

CASE(version, driver)
{
    int version = 0, driver = 0;
    rt(cudaDriverGetVersion(&version));
    NEED(cuDriverGetVersion(&driver));
    say_if("same", version == driver);
}

static void look_up(const char *name, unsigned version, unsigned long long flags)
{
    void *function = (void *)(uintptr_t)1;
    enum cudaDriverEntryPointQueryResult found = (enum cudaDriverEntryPointQueryResult)77;
    rt_noted(cudaGetDriverEntryPointByVersion(name, &function, version, flags, &found));
    say_value("found", found);
    say_text(function == NULL ? "null" : function == (void *)(uintptr_t)1 ? "untouched" : "function");
}

CASE(entry, by_version)
{
    look_up("cuMemAlloc", 13000, cudaEnableDefault);
}

CASE(entry, by_old_version)
{
    look_up("cuMemAlloc", 3000, cudaEnableDefault);
}

CASE(entry, version_too_old)
{
    look_up("cuMemAllocAsync", 4000, cudaEnableDefault);
}

CASE(entry, version_zero)
{
    look_up("cuMemAlloc", 0, cudaEnableDefault);
}

CASE(entry, version_future)
{
    look_up("cuMemAlloc", 99000, cudaEnableDefault);
}

CASE(entry, unknown_name)
{
    look_up("cuNoSuchFunction", 13000, cudaEnableDefault);
}

CASE(entry, suffixed_name)
{
    look_up("cuMemAlloc_v2", 13000, cudaEnableDefault);
}

CASE(entry, runtime_name)
{
    look_up("cudaMalloc", 13000, cudaEnableDefault);
}

CASE(entry, empty_name)
{
    look_up("", 13000, cudaEnableDefault);
}

CASE(entry, null_name, RT_CRASHES("cudaErrorInvalidValue found=77 untouched"))
{
    look_up(NULL, 13000, cudaEnableDefault);
}

CASE(entry, unknown_flags)
{
    look_up("cuMemAlloc", 13000, 0x40);
}

CASE(entry, both_stream_flags)
{
    look_up("cuMemcpyHtoDAsync", 13000, cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream);
}

CASE(entry, null_place, RT_CRASHES("cudaErrorInvalidValue"))
{
    enum cudaDriverEntryPointQueryResult found;
    rt_noted(cudaGetDriverEntryPointByVersion("cuMemAlloc", NULL, 13000, 0, &found));
}

CASE(entry, null_results)
{
    void *function = NULL;
    rt_noted(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, 0, NULL));
    say_if("function", function != NULL);
    rt_noted(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, 0, NULL));
    say_if("function", function != NULL);
}

CASE(entry, streams_differ)
{
    void *legacy = NULL, *own = NULL;
    rt(cudaGetDriverEntryPointByVersion("cuMemcpyHtoDAsync", &legacy, 13000, cudaEnableLegacyStream, NULL));
    rt(cudaGetDriverEntryPointByVersion("cuMemcpyHtoDAsync", &own, 13000, cudaEnablePerThreadDefaultStream, NULL));
    say_if("differ", legacy != own);
}

CASE(entry, old_function)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found = (enum cudaDriverEntryPointQueryResult)77;
    rt_noted(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, &found));
    say_value("found", found);
    say_if("function", function != NULL);
    rt_noted(cudaGetDriverEntryPoint("cuNoSuchFunction", &function, cudaEnableDefault, &found));
    say_value("found", found);
    say_if("function", function != NULL);
}

CASE(entry, old_function_null_name, RT_CRASHES("cudaErrorInvalidValue"))
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    rt_noted(cudaGetDriverEntryPoint(NULL, &function, cudaEnableDefault, &found));
}

CASE(entry, old_function_null_place, RT_CRASHES("cudaErrorInvalidValue"))
{
    enum cudaDriverEntryPointQueryResult found;
    rt_noted(cudaGetDriverEntryPoint("cuMemAlloc", NULL, cudaEnableDefault, &found));
}

CASE(entry, works)
{
    void *function = NULL;
    RT_NEED(cudaGetDriverEntryPointByVersion("cuDriverGetVersion", &function, 13000, 0, NULL));
    int version = 0, expected = 0;
    say(((CUresult(*)(int *))(uintptr_t)function)(&version));
    RT_NEED(cudaDriverGetVersion(&expected));
    say_if("same", version == expected);
}

CASE(profiler, start_and_stop)
{
    rt(cudaProfilerStart());
    rt(cudaProfilerStop());
    rt(cudaProfilerStop());
}

CASE(logs, bad_arguments)
{
    rt_noted(cudaLogsRegisterCallback(NULL, NULL, NULL));
    rt_noted(cudaLogsCurrent(NULL, 0));
}

CASE(logs, current)
{
    cudaLogIterator iterator = 77;
    rt(cudaLogsCurrent(&iterator, 0));
    rt_noted(cudaLogsCurrent(&iterator, 1));
}
