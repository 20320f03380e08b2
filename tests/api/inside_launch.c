/* SPDX-License-Identifier: Apache-2.0 */
/* Short memory: in contexts, loading and launching, each allocation fails in turn. The status is right, nothing is
 * lost, and the same call succeeds afterwards. */
#include "api_support.h"

#include <stdio.h>

#include "each_failure.h"

#define PTX PTX_HEAD PTX_COUNTER PTX_STORE PTX_EMPTY

static CUmodule module;
static CUfunction function;
static CUdeviceptr word;

static CUresult make_context(void)
{
    CUcontext context;
    CUresult status = cuCtxCreate(&context, NULL, 0, 0);
    if (status == CUDA_SUCCESS)
        status = cuCtxDestroy(context);
    return status;
}

static CUresult push_often(void)
{
    CUcontext context;
    CUresult status = cuCtxGetCurrent(&context);
    int pushed = 0;
    for (; status == CUDA_SUCCESS && pushed < 40; pushed++)
        status = cuCtxPushCurrent(context);
    pushed -= status != CUDA_SUCCESS;
    while (pushed-- > 0)
        cuCtxPopCurrent(NULL);
    return status;
}

static CUresult load(void)
{
    CUmodule loaded;
    CUresult status = cuModuleLoadData(&loaded, PTX);
    if (status != CUDA_SUCCESS)
        return status;
    CUfunction found;
    status = cuModuleGetFunction(&found, loaded, "store");
    CUresult unloaded = cuModuleUnload(loaded);
    return status != CUDA_SUCCESS ? status : unloaded;
}

static CUresult load_library(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction found;
    CUresult status = cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0);
    if (status != CUDA_SUCCESS)
        return status;
    status = cuLibraryGetKernel(&kernel, library, "store");
    if (status == CUDA_SUCCESS)
        status = cuKernelGetFunction(&found, kernel);
    CUresult unloaded = cuLibraryUnload(library);
    return status != CUDA_SUCCESS ? status : unloaded;
}

static CUresult launch(void)
{
    unsigned value = 5;
    void *params[] = {&word, &value};
    CUresult status = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    return status != CUDA_SUCCESS ? status : cuCtxSynchronize();
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static CUresult launch_the_old_way(void)
{
    CUresult status = cuFuncSetBlockShape(function, 1, 1, 1);
    if (status == CUDA_SUCCESS)
        status = cuParamSetv(function, 0, &word, sizeof word);
    if (status == CUDA_SUCCESS)
        status = cuParamSetSize(function, 12);
    if (status == CUDA_SUCCESS)
        status = cuLaunch(function);
    return status != CUDA_SUCCESS ? status : cuCtxSynchronize();
}

/* Ends when the call has succeeded eight times in a row: a cache that a failed attempt had warmed may save one
 * allocation. */
static void every_allocation_fails(CUresult (*call)(void))
{
    unsigned successes = 0;
    for (unsigned n = 1; successes < 8; n++) {
        assert_in_range(n, 1, 5000);
        (void)mr_alloc_fail_mine(n);
        CUresult status = call();
        (void)mr_alloc_fail_mine(0);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        successes = status == CUDA_SUCCESS ? successes + 1 : 0;
    }
    assert_int_equal(call(), CUDA_SUCCESS);
    uint64_t live = live_at_rest();
    for (int i = 0; i < 10; i++)
        assert_int_equal(call(), CUDA_SUCCESS);
    assert_in_range(live_once_settled(live + 16), 0,
                    live + 16); /* pools may still grow a little; a leak would be ten times its size */
}

#define SWEEP(name) \
    static void name##_sweep(void **state) \
    { \
        (void)state; \
        every_allocation_fails(name); \
    }
SWEEP(make_context)
SWEEP(push_often)
SWEEP(load)
SWEEP(load_library)
SWEEP(launch)
SWEEP(launch_the_old_way)

static int set_up(void **state)
{
    if (begin_context(state) != 0 || cuModuleLoadData(&module, PTX) != CUDA_SUCCESS ||
        cuModuleGetFunction(&function, module, "store") != CUDA_SUCCESS)
        return -1;
    return cuMemAlloc(&word, 16) == CUDA_SUCCESS ? 0 : -1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, end_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(make_context_sweep), TEST(push_often_sweep), TEST(load_sweep),
        TEST(load_library_sweep), TEST(launch_sweep),     TEST(launch_the_old_way_sweep),
    };
    return cmocka_run_group_tests_name("short memory: contexts, loading, launching", tests, set_up, end_context);
}
