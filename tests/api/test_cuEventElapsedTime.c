/* SPDX-License-Identifier: Apache-2.0 */
/* cuEventElapsedTime in both ABI versions: which events it takes, signs, what it covers. */
#include "stream_support.h"

#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd);

typedef CUresult CUDAAPI elapsed_function(float *pMilliseconds, CUevent hStart, CUevent hEnd);
static elapsed_function *const versions[] = {cuEventElapsedTime, cuEventElapsedTime_v2};

static void CUDA_CB take_a_while(void *data)
{
    (void)data;
    for (volatile int i = 0; i < 100000; i++)
        ;
}

static void test_values(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        CUevent start = new_event(0), end = new_event(0);
        CUstream stream = new_stream(0);
        float there = -1, back = 1, same = -1;
        OK(cuEventRecord(start, stream));
        OK(cuLaunchHostFunc(stream, take_a_while, NULL));
        OK(cuEventRecord(end, stream));
        OK(cuStreamSynchronize(stream));
        OK(versions[v](&there, start, end));
        OK(versions[v](&back, end, start));
        OK(versions[v](&same, end, end));
        assert_true(there > 0);
        assert_true(back == -there);
        assert_true(same == 0);
        OK(cuEventDestroy(start));
        OK(cuEventDestroy(end));
        OK(cuStreamDestroy(stream));
    }
}

static void test_states(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        CUevent none = new_event(0), done = new_event(0), pending = new_event(0),
                untimed = new_event(CU_EVENT_DISABLE_TIMING);
        struct gate gate = {0};
        float ms = -7;
        OK(cuEventRecord(done, stream));
        OK(cuEventRecord(untimed, stream));
        gate_put(&gate, stream);
        OK(cuEventRecord(pending, stream));
        FAILS(versions[v](&ms, none, done), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, done, none), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, none, none), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, untimed, done), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, done, untimed), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, pending, untimed), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, done, pending), CUDA_ERROR_NOT_READY);
        FAILS(versions[v](&ms, pending, done), CUDA_ERROR_NOT_READY);
        assert_true(ms == -7);
        gate_open(&gate);
        OK(cuEventSynchronize(pending));
        OK(versions[v](&ms, done, pending));
        assert_true(ms > 0);
        CUevent all[] = {none, done, pending, untimed};
        for (int i = 0; i < 4; i++)
            OK(cuEventDestroy(all[i]));
        OK(cuStreamDestroy(stream));
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        CUevent mine = new_event(0);
        float ms = -7;
        OK(cuEventRecord(mine, NULL));
        FAILS(versions[v](NULL, mine, mine), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, NULL, mine), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, mine, NULL), CUDA_ERROR_INVALID_HANDLE);
        FAILS(versions[v](&ms, mine, (CUevent)FOREIGN), CUDA_ERROR_INVALID_HANDLE);
        CUcontext other = new_context();
        CUevent theirs = new_event(0);
        OK(cuEventRecord(theirs, NULL));
        FAILS(versions[v](&ms, mine, theirs), CUDA_ERROR_INVALID_HANDLE);
        OK(cuEventDestroy(theirs));
        end_context(other);
        OK(cuEventDestroy(mine));
        assert_true(ms == -7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
