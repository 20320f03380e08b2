/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventCreate: every set of flags, and what is refused. */
#include "stream_support.h"

static void test_flags(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 32; flags++) {
        CUevent event = NULL;
        bool good = flags < 8 && (!(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING));
        FAILS(cuEventCreate(&event, flags), good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        if (good)
            OK(cuEventDestroy(event));
        else
            assert_null(event);
    }
    CUevent event = NULL;
    FAILS(cuEventCreate(&event, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    assert_null(event);
}

static void test_bad(void **state)
{
    (void)state;
    FAILS(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CUevent event = NULL;
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static CUevent events[MANY];
    for (int i = 0; i < MANY; i++)
        OK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i + 1 < MANY; i++)
        assert_ptr_not_equal(events[i], events[i + 1]);
    for (int i = 0; i < MANY; i++)
        OK(cuEventDestroy(events[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
