/* SPDX-License-Identifier: Apache-2.0 */
/* Looking functions up by name: cuGetProcAddress in both versions, before cuInit. What a look-up
 * finds is compared with what the dynamic linker finds under the full symbol name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LEGACY CU_GET_PROC_ADDRESS_LEGACY_STREAM
#define PER_THREAD CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

/* Checks that `name` at `version` with `flags` is the exported symbol `elf`. */
static void expect_symbol(const char *name, int version, cuuint64_t flags, const char *elf)
{
    void *found = (void *)(uintptr_t)1;
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    assert_int_equal(cuGetProcAddress_v2(name, &found, version, flags, &result), CUDA_SUCCESS);
    assert_int_equal(result, CU_GET_PROC_ADDRESS_SUCCESS);
    assert_non_null(found);
    assert_ptr_equal(found, dlsym(RTLD_DEFAULT, elf));
    found = NULL;
    assert_int_equal(cuGetProcAddress(name, &found, version, flags), CUDA_SUCCESS);
    assert_ptr_equal(found, dlsym(RTLD_DEFAULT, elf));
}

/* Checks that the look-up ends with `wanted` and a null pointer. */
static void expect_nothing(const char *name, int version, CUdriverProcAddressQueryResult wanted)
{
    void *found = (void *)(uintptr_t)1;
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    assert_int_equal(cuGetProcAddress_v2(name, &found, version, 0, &result), CUDA_SUCCESS);
    assert_int_equal(result, wanted);
    assert_null(found);
    found = (void *)(uintptr_t)1;
    assert_int_equal(cuGetProcAddress(name, &found, version, 0), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(found, (void *)(uintptr_t)1);
}

static void versions_choose_the_interface(void **state)
{
    (void)state;
    expect_symbol("cuMemAlloc", 2000, 0, "cuMemAlloc");
    expect_symbol("cuMemAlloc", 3010, 0, "cuMemAlloc");
    expect_symbol("cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
    expect_symbol("cuMemAlloc", 13000, 0, "cuMemAlloc_v2");
    expect_symbol("cuCtxGetDevice", 2000, 0, "cuCtxGetDevice");
    expect_symbol("cuCtxGetDevice", 12090, 0, "cuCtxGetDevice");
    expect_symbol("cuCtxGetDevice", 13000, 0, "cuCtxGetDevice_v2");
    expect_symbol("cuEventElapsedTime", 12070, 0, "cuEventElapsedTime");
    expect_symbol("cuEventElapsedTime", 12080, 0, "cuEventElapsedTime_v2");
    expect_symbol("cuCtxCreate", 2000, 0, "cuCtxCreate");
    expect_symbol("cuCtxCreate", 3020, 0, "cuCtxCreate_v2");
    expect_symbol("cuCtxCreate", 11040, 0, "cuCtxCreate_v3");
    expect_symbol("cuCtxCreate", 12050, 0, "cuCtxCreate_v4");
    expect_symbol("cuGetProcAddress", 11030, 0, "cuGetProcAddress");
    expect_symbol("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
    expect_symbol("cuGraphInstantiate", 11000, 0, "cuGraphInstantiate_v2");
    expect_symbol("cuInit", -1, 0, "cuInit");
}

static void flags_choose_the_default_stream(void **state)
{
    (void)state;
    expect_symbol("cuMemcpyHtoD", 7000, LEGACY, "cuMemcpyHtoD_v2");
    expect_symbol("cuMemcpyHtoD", 7000, PER_THREAD, "cuMemcpyHtoD_v2_ptds");
    expect_symbol("cuEventRecord", 13000, 0, "cuEventRecord");
    expect_symbol("cuEventRecord", 13000, PER_THREAD, "cuEventRecord_ptsz");
    expect_symbol("cuLaunchKernelEx", 11060, PER_THREAD, "cuLaunchKernelEx_ptsz");
    expect_symbol("cuStreamGetCtx", 12050, PER_THREAD, "cuStreamGetCtx_v2_ptsz");
    expect_symbol("cuEventCreate", 13000, PER_THREAD, "cuEventCreate");
}

/* Where a function has per-thread forms, older callers who ask for them find nothing. */
static void per_thread_forms_have_a_version(void **state)
{
    (void)state;
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    void *found = (void *)(uintptr_t)1;
    assert_int_equal(cuGetProcAddress_v2("cuMemcpyHtoD", &found, 6050, PER_THREAD, &result), CUDA_SUCCESS);
    assert_int_equal(result, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_null(found);
}

static void suffixed_names_are_not_names(void **state)
{
    (void)state;
    expect_nothing("cuMemAlloc_v2", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    expect_nothing("cuStreamGetCtx_v2", 12050, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    expect_nothing("cuStreamQuery_ptsz", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void nothing_found(void **state)
{
    (void)state;
    expect_nothing("cuNoSuchFunction", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    expect_nothing("", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    expect_nothing("cumemalloc", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    expect_nothing("cuLaunchKernelEx", 11050, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    expect_nothing("cuMemAlloc", 1000, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

static void bad_arguments(void **state)
{
    (void)state;
    void *found = (void *)(uintptr_t)1;
    assert_int_equal(cuGetProcAddress_v2(NULL, &found, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", NULL, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 13000, 64, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 99000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(found, (void *)(uintptr_t)1);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 13000, 0, NULL), CUDA_SUCCESS);
    assert_non_null(found);
}

static void private_tables_are_refused(void **state)
{
    (void)state;
    const CUuuid id = {{1}};
    const void *table = &id;
    assert_int_equal(cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
    assert_null(table);
    assert_int_equal(cuGetExportTable(NULL, &id), CUDA_ERROR_INVALID_VALUE);
}

static void calls_before_initialisation(void **state)
{
    (void)state;
    CUevent event = NULL;
    int count = 0;
    assert_int_equal(cuEventCreate(&event, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuGraphCreate(NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuEventRecord_ptsz(NULL, NULL), CUDA_ERROR_NOT_INITIALIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_choose_the_interface),
        cmocka_unit_test(flags_choose_the_default_stream),
        cmocka_unit_test(per_thread_forms_have_a_version),
        cmocka_unit_test(suffixed_names_are_not_names),
        cmocka_unit_test(nothing_found),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(private_tables_are_refused),
        cmocka_unit_test(calls_before_initialisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
