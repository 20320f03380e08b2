/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, cache and bank preferences, the priority range. */
#include "api_support.h"

static size_t limit_of(CUlimit limit)
{
    size_t value = 12345;
    OK(cuCtxGetLimit(&value, limit));
    return value;
}

static void defaults(void **state)
{
    (void)state;
    assert_int_equal(limit_of(CU_LIMIT_STACK_SIZE), 1024);
    assert_int_equal(limit_of(CU_LIMIT_PRINTF_FIFO_SIZE), 8650752);
    assert_int_equal(limit_of(CU_LIMIT_MALLOC_HEAP_SIZE), 8388608);
}

static void values_are_kept(void **state)
{
    (void)state;
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1));
    assert_int_equal(limit_of(CU_LIMIT_PRINTF_FIFO_SIZE), 512 * 1024);
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 600000));
    assert_int_equal(limit_of(CU_LIMIT_PRINTF_FIFO_SIZE), 600064);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    assert_int_equal(limit_of(CU_LIMIT_STACK_SIZE), 4096);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1001));
    assert_int_equal(limit_of(CU_LIMIT_STACK_SIZE), 1008);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    assert_int_equal(limit_of(CU_LIMIT_MALLOC_HEAP_SIZE), 16 << 20);
    OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 20));
    assert_int_equal(limit_of(CU_LIMIT_PERSISTING_L2_CACHE_SIZE), 0);
}

/* As on hardware: fixed by the launch of a kernel that may print, whether it does or not, and not by loading one. */
static void a_launch_fixes_the_printf_buffer(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
        ".func says() { { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
        "call.uni (r), vprintf, (a, b); } ret; }\n"
        ".visible .entry silent() { ret; }\n"
        ".visible .entry prints(.param .u32 n) { .reg .u32 m; .reg .pred p; ld.param.u32 m, [n]; setp.eq.u32 p, m, 0;\n"
        "@p ret; call.uni says; ret; }\n";
    CUmodule module;
    CUfunction silent, prints;
    unsigned none = 0;
    void *params[] = {&none};
    (void)state;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&silent, module, "silent"));
    OK(cuModuleGetFunction(&prints, module, "prints"));
    OK(cuLaunchKernel(silent, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20));
    OK(cuLaunchKernel(prints, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    OK(cuModuleUnload(module));
    FAILS(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(limit_of(CU_LIMIT_PRINTF_FIFO_SIZE), 2 << 20);
}

static void wrong_values(void **state)
{
    size_t value;
    (void)state;
    FAILS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 523728), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 25), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetLimit((CUlimit)99, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetLimit(CU_LIMIT_CIG_ENABLED, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
    FAILS(cuCtxGetLimit(&value, (CUlimit)99), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED), CUDA_ERROR_UNSUPPORTED_LIMIT);
    FAILS(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(limit_of(CU_LIMIT_STACK_SIZE), 1024);
}

static void preferences(void **state)
{
    CUfunc_cache cache = (CUfunc_cache)77;
    CUsharedconfig banks = (CUsharedconfig)77;
    (void)state;
    OK(cuCtxGetCacheConfig(&cache));
    assert_int_equal(cache, CU_FUNC_CACHE_PREFER_NONE);
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
    OK(cuCtxGetCacheConfig(&cache));
    assert_int_equal(cache, CU_FUNC_CACHE_PREFER_SHARED);
    FAILS(cuCtxSetCacheConfig((CUfunc_cache)99), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetCacheConfig(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxGetSharedMemConfig(&banks));
    assert_int_equal(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    FAILS(cuCtxSetSharedMemConfig((CUsharedconfig)9), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetSharedMemConfig(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxResetPersistingL2Cache());
}

static void priorities(void **state)
{
    int least = 9, greatest = 9;
    (void)state;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    assert_int_equal(least, 0);
    assert_true(greatest < 0);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(defaults),     TEST_IN_CONTEXT(values_are_kept),
        TEST_IN_CONTEXT(wrong_values), TEST_IN_CONTEXT(preferences),
        TEST_IN_CONTEXT(priorities),   TEST_IN_CONTEXT(a_launch_fixes_the_printf_buffer),
    };
    return cmocka_run_group_tests_name("cuCtxSetLimit", tests, NULL, NULL);
}
