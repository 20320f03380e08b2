/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamCreate and cuStreamCreateWithPriority, and what can be asked of a stream afterwards. */
#include "stream_support.h"

static void test_flags(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 5; flags++) {
        CUstream stream = (CUstream)WILD, second = (CUstream)WILD;
        FAILS(cuStreamCreate(&stream, flags), flags < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        FAILS(cuStreamCreateWithPriority(&second, flags, 0), flags < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        if (flags >= 2) {
            assert_ptr_equal(stream, WILD);
            continue;
        }
        unsigned got = 99;
        OK(cuStreamGetFlags(stream, &got));
        assert_int_equal(got, flags);
        OK(cuStreamGetFlags(second, &got));
        assert_int_equal(got, flags);
        OK(cuStreamDestroy(stream));
        OK(cuStreamDestroy(second));
    }
}

static void test_priorities(void **state)
{
    (void)state;
    int least, greatest;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    assert_true(least == 0 && greatest <= -1);
    for (int wanted = least + 2; wanted >= greatest - 2; wanted--) {
        CUstream stream;
        int got = 99;
        OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, wanted));
        OK(cuStreamGetPriority(stream, &got));
        assert_int_equal(got, wanted > least ? least : wanted < greatest ? greatest : wanted);
        OK(cuStreamDestroy(stream));
    }
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream;
    FAILS(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamCreateWithPriority(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuStreamCreateWithPriority(&stream, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
}

static void test_questions(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), all[] = {stream, NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    unsigned long long ids[4];
    CUdevice device = -1, current;
    OK(cuCtxGetDevice(&current));
    for (int i = 0; i < 4; i++) {
        CUcontext context = NULL;
        CUgreenCtx green = (CUgreenCtx)WILD;
        unsigned flags = 99;
        int priority = 99;
        OK(cuStreamGetCtx(all[i], &context));
        assert_ptr_equal(context, the_context);
        context = NULL;
        OK(cuStreamGetCtx_v2(all[i], &context, &green));
        assert_ptr_equal(context, the_context);
        assert_null(green);
        OK(cuStreamGetFlags(all[i], &flags));
        assert_int_equal(flags, 0);
        OK(cuStreamGetPriority(all[i], &priority));
        assert_int_equal(priority, 0);
        OK(cuStreamGetDevice(all[i], &device));
        assert_int_equal(device, current);
        OK(cuStreamGetId(all[i], &ids[i]));
    }
    assert_int_equal(ids[1], ids[2]);
    assert_true(ids[0] != ids[1] && ids[0] != ids[3] && ids[1] != ids[3]);
    FAILS(cuStreamGetCtx(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetFlags(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetPriority(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetId(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamGetDevice(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    /* A stream names its context, whatever is current. */
    CUcontext other = new_context(), context = NULL;
    OK(cuStreamGetCtx(stream, &context));
    assert_ptr_equal(context, the_context);
    OK(cuStreamGetCtx(NULL, &context));
    assert_ptr_equal(context, other);
    end_context(other);
    OK(cuStreamDestroy(stream));
    unsigned flags;
    FAILS(cuStreamGetFlags(stream, &flags), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamGetId((CUstream)FOREIGN, ids), CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
