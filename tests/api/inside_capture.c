/* SPDX-License-Identifier: Apache-2.0 */
/* Captures when the driver's own memory runs out: each allocation of a whole capture, with a fork, a join, kinds of
 * nodes and a change of dependencies, is made to fail in turn. Some call says CUDA_ERROR_OUT_OF_MEMORY, or does
 * without; the capture can be ended; nothing is left behind. */
#include "capture_support.h"

#include "base/alloc.h"

enum { MOST_TRIES = 200 };

static CUdeviceptr memory;

/* One capture; the status of the first call that failed. Ends it whatever happens. */
static CUresult capture_all(CUstream one, CUstream two, CUevent event)
{
    CUgraph graph = NULL;
    CUresult status = cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED), ended;
    if (status != CUDA_SUCCESS)
        return status;
    for (int i = 0; i < 6 && status == CUDA_SUCCESS; i++)
        status = cuLaunchHostFunc(one, do_nothing, NULL);
    if (status == CUDA_SUCCESS)
        status = cuMemsetD8Async(memory, 1, 64, one);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, one);
    if (status == CUDA_SUCCESS)
        status = cuStreamWaitEvent(two, event, 0);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoDAsync(memory, memory + 64, 64, two);
    if (status == CUDA_SUCCESS)
        status = cuEventRecordWithFlags(event, two, CU_EVENT_RECORD_EXTERNAL);
    if (status == CUDA_SUCCESS)
        status = cuStreamWriteValue32(two, memory, 1, 0);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, two);
    if (status == CUDA_SUCCESS)
        status = cuStreamWaitEvent(one, event, 0);
    if (status == CUDA_SUCCESS)
        status = cuLaunchHostFunc(one, do_nothing, NULL);
    if (status == CUDA_SUCCESS)
        status = cuStreamUpdateCaptureDependencies(one, NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    ended = cuStreamEndCapture(one, &graph);
    if (graph)
        OK(cuGraphDestroy(graph));
    return status != CUDA_SUCCESS ? status : ended;
}

static void test_capture(void **state)
{
    (void)state;
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING), two = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING), other = new_event(CU_EVENT_DISABLE_TIMING);
    OK(cuMemAlloc(&memory, 256));
    /* The caches fill, and the event lets go of what it captured. */
    for (int i = 0; i < 4; i++)
        OK(capture_all(one, two, event));
    OK(cuEventRecord(event, two));
    uint64_t before = mr_alloc_live();
    uint64_t failures = 0, tries = 1;
    for (bool reached = true; reached; tries++) {
        assert_true(tries < MOST_TRIES);
        (void)mr_alloc_fail_mine(tries);
        CUresult status = capture_all(one, two, event);
        reached = mr_alloc_fail_mine(0) == 0;
        if (status != CUDA_SUCCESS) {
            FAILS(status, CUDA_ERROR_OUT_OF_MEMORY);
            failures++;
        }
        NOT_CAPTURED(one);
        NOT_CAPTURED(two);
        OK(cuEventRecord(event, two));
        assert_int_equal(mr_alloc_live(), before);
    }
    assert_true(failures > 20);
    OK(capture_all(one, two, event));
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(other));
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
    OK(cuMemFree(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
