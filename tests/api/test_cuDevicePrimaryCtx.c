/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts: counting, state, flags, reset. */
#include "api_support.h"

static int set_up(void **state)
{
    (void)state;
    setenv("MILLRACE_DEVICES", "2", 1);
    return cuInit(0) == CUDA_SUCCESS ? 0 : -1;
}

static void expect_state(unsigned flags, int active)
{
    unsigned got_flags = 99;
    int got_active = 99;
    OK(cuDevicePrimaryCtxGetState(0, &got_flags, &got_active));
    assert_int_equal(got_flags, flags);
    assert_int_equal(got_active, active);
}

static void the_count_decides(void **state)
{
    CUcontext one = NULL, two = NULL, current = NULL;
    (void)state;
    expect_state(0, 0);
    OK(cuDevicePrimaryCtxRetain(&one, 0));
    OK(cuDevicePrimaryCtxRetain(&two, 0));
    assert_ptr_equal(one, two);
    OK(cuCtxGetCurrent(&current));
    assert_null(current); /* retaining makes nothing current */
    OK(cuDevicePrimaryCtxRelease(0));
    expect_state(0, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    expect_state(0, 0);
    FAILS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetCurrent(one), CUDA_ERROR_INVALID_CONTEXT);
}

static void devices_have_their_own(void **state)
{
    CUcontext one = NULL, two = NULL;
    CUdevice device = -1;
    (void)state;
    OK(cuDevicePrimaryCtxRetain(&one, 0));
    OK(cuDevicePrimaryCtxRetain(&two, 1));
    assert_ptr_not_equal(one, two);
    OK(cuCtxSetCurrent(two));
    OK(cuCtxGetDevice(&device));
    assert_int_equal(device, 1);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRelease(1));
}

static void flags_go_to_the_context(void **state)
{
    CUcontext context = NULL;
    unsigned flags = 0;
    (void)state;
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    expect_state(CU_CTX_SCHED_BLOCKING_SYNC, 0);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST);
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    OK(cuCtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST);
    expect_state(CU_CTX_SCHED_YIELD, 1);
    FAILS(cuDevicePrimaryCtxSetFlags(0, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDevicePrimaryCtxSetFlags(0, 0x10000), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxReset(0));
    expect_state(0, 0);
    OK(cuDevicePrimaryCtxRelease(0)); /* the retain is still there to be released */
}

static void reset_ends_what_is_in_it(void **state)
{
    CUcontext context = NULL, again = NULL;
    CUdeviceptr address;
    (void)state;
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&address, 1 << 20));
    OK(cuDevicePrimaryCtxReset(0));
    expect_state(0, 0);
    FAILS(cuMemAlloc(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    OK(cuCtxSetCurrent(again));
    OK(cuMemAlloc(&address, 16));
    expect_state(0, 1);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRelease(0));
}

static void wrong_arguments(void **state)
{
    CUcontext context;
    unsigned flags;
    int active;
    (void)state;
    FAILS(cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDevicePrimaryCtxRetain(&context, 9), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxRetain(&context, -1), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxRelease(9), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxReset(9), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxSetFlags(9, 0), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxGetState(9, &flags, &active), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDevicePrimaryCtxGetState(0, NULL, &active), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDevicePrimaryCtxGetState(0, &flags, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    FAILS(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
    expect_state(0, 1);
    OK(cuDevicePrimaryCtxRelease(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_count_decides),       cmocka_unit_test(devices_have_their_own),
        cmocka_unit_test(flags_go_to_the_context), cmocka_unit_test(reset_ends_what_is_in_it),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("cuDevicePrimaryCtx", tests, set_up, NULL);
}
