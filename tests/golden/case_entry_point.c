/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: which symbol a name gives at a version, with either
 * default stream, and what it answers for names that are none.
 *
 * An address is compared with the exported symbols, so the answer names the
 * symbol; "other" means that it is none of those that are tried.
 */
#define _GNU_SOURCE
#include "gold.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Says which suffixed form of NAME lies at ADDRESS. */
static void say_symbol(const char *name, void *address)
{
    static const char *const suffixes[] = {"",      "_v2",      "_v3",      "_v4",      "_ptsz",
                                           "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz", "_v3_ptds"};
    char text[128];
    if (!address) {
        say_text("none");
        return;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(text, sizeof text, "%s%s", name, suffixes[i]);
        if (dlsym(RTLD_DEFAULT, text) == address) {
            say_text(text);
            return;
        }
    }
    say_text("other");
}

static void look(const char *name, int version, cuuint64_t flags)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult result = (CUdriverProcAddressQueryResult)9;
    say(cuGetProcAddress_v2(name, &address, version, flags, &result));
    say_symbol(name, address);
    say_int(result);
}

CASE(entry_point, context_create)
{
    look("cuCtxCreate", 2000, 0);
    look("cuCtxCreate", 3020, 0);
    look("cuCtxCreate", 11040, 0);
    look("cuCtxCreate", 12050, 0);
    look("cuCtxCreate", 13000, 0);
}

CASE(entry_point, elapsed_time)
{
    look("cuEventElapsedTime", 2000, 0);
    look("cuEventElapsedTime", 12070, 0);
    look("cuEventElapsedTime", 12080, 0);
    look("cuEventElapsedTime", 13000, 0);
}

CASE(entry_point, context_device)
{
    look("cuCtxGetDevice", 2000, 0);
    look("cuCtxGetDevice", 12090, 0);
    look("cuCtxGetDevice", 13000, 0);
}

CASE(entry_point, memory_copy)
{
    look("cuMemcpyDtoH", 2000, 0);
    look("cuMemcpyDtoH", 3020, 0);
    look("cuMemcpyDtoH", 7000, 0);
    look("cuMemcpyDtoH", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    look("cuMemcpyDtoH", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

CASE(entry_point, launch)
{
    look("cuLaunchKernel", 3020, 0);
    look("cuLaunchKernel", 4000, 0);
    look("cuLaunchKernel", 4000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    look("cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    look("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
}

CASE(entry_point, no_per_thread_form)
{
    look("cuMemAlloc", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    look("cuEventQuery", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

CASE(entry_point, itself)
{
    look("cuGetProcAddress", 11030, 0);
    look("cuGetProcAddress", 12000, 0);
    look("cuGetProcAddress", 13000, 0);
}

CASE(entry_point, suffixed_names)
{
    look("cuMemAlloc_v2", 13000, 0);
    look("cuCtxCreate_v2", 13000, 0);
    look("cuStreamQuery_ptsz", 13000, 0);
}

CASE(entry_point, version_too_old)
{
    look("cuGraphCreate", 9000, 0);
    look("cuLaunchKernelEx", 11000, 0);
    look("cuMemAllocAsync", 11010, 0);
}

CASE(entry_point, version_from_the_future)
{
    look("cuInit", 99000, 0);
}

CASE(entry_point, version_odd)
{
    look("cuInit", 0, 0);
    look("cuInit", -1, 0);
    look("cuInit", 1999, 0);
    look("cuInit", 2000, 0);
}

CASE(entry_point, unknown_name)
{
    look("cuNothingLikeThis", 13000, 0);
    look("", 13000, 0);
    look("malloc", 13000, 0);
}

CASE(entry_point, unknown_name_without_result)
{
    void *address = (void *)(uintptr_t)7;
    say(cuGetProcAddress_v2("cuNothingLikeThis", &address, 13000, 0, NULL));
    say_if("null", address == NULL);
}

CASE(entry_point, null_name, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    void *address;
    CUdriverProcAddressQueryResult result;
    say(cuGetProcAddress_v2(NULL, &address, 13000, 0, &result));
}

CASE(entry_point, null_address, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver may crash")
{
    CUdriverProcAddressQueryResult result;
    say(cuGetProcAddress_v2("cuInit", NULL, 13000, 0, &result));
}

CASE(entry_point, flags_unknown)
{
    void *address;
    CUdriverProcAddressQueryResult result;
    say(cuGetProcAddress_v2("cuInit", &address, 13000, 4, &result));
    say(cuGetProcAddress_v2("cuInit", &address, 13000, 3, &result));
    say(cuGetProcAddress_v2("cuInit", &address, 13000, 0x100, &result));
}

CASE(entry_point, before_init, .bare = true)
{
    look("cuStreamCreate", 13000, 0);
    look("cuMemFree", 13000, 0);
}

/* The first ABI has no result parameter; cuda.h declares only the second. */
CASE(entry_point, first_abi)
{
    void *address = NULL;
    CUresult (*old)(const char *, void **, int, cuuint64_t);
    *(void **)&old = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
    if (!old)
        gold_stop("no symbol");
    say(old("cuMemAlloc", &address, 12000, 0));
    say_symbol("cuMemAlloc", address);
    say(old("cuNothingLikeThis", &address, 12000, 0));
    say_if("null", address == NULL);
    say(old("cuLaunchKernelEx", &address, 11000, 0));
}

CASE(entry_point, called_through)
{
    CUresult (*version)(int *) = NULL;
    CUdriverProcAddressQueryResult result;
    int value = 0;
    say(cuGetProcAddress_v2("cuDriverGetVersion", (void **)(uintptr_t)&version, 13000, 0, &result));
    say(version(&value));
    say_if("at_least_13000", value >= 13000);
}

CASE(entry_point, export_table)
{
    static const CUuuid id = {{1, 2, 3, 4}};
    const void *table = &id;
    say(cuGetExportTable(&table, &id));
}
