/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed context does to its streams, and what every failing allocation does to a call. */
#include "support.h"

#include "base/alloc.h"
#include "stream/stream_private.h"

static _Atomic int host_calls, callback_calls, callback_status;

static void CUDA_CB count_host(void *data)
{
    (void)data;
    atomic_fetch_add(&host_calls, 1);
}

static void CUDA_CB note_callback(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)data;
    atomic_store(&callback_status, (int)status);
    atomic_fetch_add(&callback_calls, 1);
}

static void kernel_fail(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    mr_context_fail(kernel_data(block), CUDA_ERROR_LAUNCH_FAILED);
}

static const struct mr_code code_fail = {.function = kernel_fail, .stack_bytes = 16384};

static void count_release(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

/* The stream behind a handle, though its context has failed. */
static struct mr_stream *inside_any(CUstream handle)
{
    struct mr_stream *stream = NULL;
    CUresult status = mr_stream_find(handle, &stream);
    assert_int_not_equal(status, CUDA_ERROR_INVALID_HANDLE);
    assert_non_null(stream);
    return stream;
}

static CUresult release(CUstream handle, _Atomic int *count)
{
    struct mr_command *command = mr_command_new(MR_COMMAND_RELEASE);
    assert_non_null(command);
    command->release.function = count_release;
    command->release.data = count;
    return mr_stream_submit(inside(handle), command);
}

/* Commands behind a fault are not carried out: marks complete, callbacks hear of it, host functions aren't called, what
 * the driver has to release is released; other contexts go on. */
static void test_rest_is_drained(void **state)
{
    (void)state;
    CUcontext context;
    struct gate gate = {0};
    _Atomic int count = 0, released = 0;
    OK(cuCtxCreate_v2(&context, 0, 0));
    CUstream stream = new_stream(0), second = new_stream(0);
    CUevent event = new_event(0);
    atomic_store(&callback_calls, 0);
    gate_put(&gate, stream);
    OK(launch(stream, &code_fail, 1, mr_context_current()));
    OK(launch(stream, &code_count, 1, &count));
    OK(cuLaunchHostFunc(stream, count_host, NULL));
    OK(cuStreamAddCallback(stream, note_callback, NULL, 0));
    OK(release(stream, &released));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(launch(second, &code_count, 1, &count));
    gate_open(&gate);
    FAILS(cuEventSynchronize(event), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamSynchronize(second), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamQuery(second), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuEventQuery(event), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuEventRecord(event, stream), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamCreate(&second, 0), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(launch(NULL, &code_count, 1, &count), CUDA_ERROR_LAUNCH_FAILED);
    (void)cuCtxDestroy(context);
    assert_int_equal(count, 0);
    assert_int_equal(host_calls, 0);
    assert_int_equal(callback_calls, 1);
    assert_int_equal(released, 1);
    assert_int_equal(callback_status, CUDA_ERROR_LAUNCH_FAILED);

    OK(cuCtxSetCurrent(the_context));
    OK(launch(NULL, &code_count, 1, &count));
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(count, 1);
}

/* A fault ends waits for values in memory, in the middle of a batch too; what stands behind them is not carried out,
 * and the context can go. */
static void test_memory_waits_end(void **state)
{
    (void)state;
    CUcontext context;
    CUdeviceptr words;
    CUstreamBatchMemOpParams ops[3];
    uint32_t *pinned;
    struct gate gate = {0};
    OK(cuCtxCreate_v2(&context, 0, 0));
    CUstream waiting = new_stream(CU_STREAM_NON_BLOCKING), batch = new_stream(CU_STREAM_NON_BLOCKING),
             failing = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemHostAlloc((void **)&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(pinned, 0, 64);
    OK(cuMemHostGetDevicePointer(&words, pinned, 0));
    memset(ops, 0, sizeof ops);
    for (unsigned i = 0; i < 3; i++) {
        ops[i].writeValue.operation = i == 1 ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = words + 4 * i;
        ops[i].writeValue.value = 1;
    }
    gate_put(&gate, failing);
    OK(launch(failing, &code_fail, 1, mr_context_current()));
    OK(cuStreamWaitValue32(waiting, words + 16, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(waiting, words + 20, 1, 0));
    OK(cuStreamBatchMemOp(batch, 3, ops, 0));
    gate_open(&gate);
    FAILS(cuStreamSynchronize(waiting), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamSynchronize(batch), CUDA_ERROR_LAUNCH_FAILED);
    FAILS(cuStreamWriteValue32(batch, words, 2, 0), CUDA_ERROR_LAUNCH_FAILED);
    while (!mr_stream_idle(inside_any(waiting)) || !mr_stream_idle(inside_any(batch)))
        sched_yield();
    assert_int_equal(pinned[0], 1);
    assert_int_equal(pinned[2], 0);
    assert_int_equal(pinned[5], 0);
    (void)cuCtxDestroy(context);
    OK(cuCtxSetCurrent(the_context));
}

/* A thread that sleeps for work that never ends gets the code when the context fails elsewhere. */
static void *wait_for_stream(void *data)
{
    return (void *)(uintptr_t)cuStreamSynchronize(data);
}

static void test_waiting_threads_hear_of_it(void **state)
{
    (void)state;
    CUcontext context;
    struct gate gate = {0};
    pthread_t thread;
    void *result;
    OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_BLOCKING_SYNC, 0));
    CUstream stuck = new_stream(CU_STREAM_NON_BLOCKING), failing = new_stream(CU_STREAM_NON_BLOCKING);
    gate_put(&gate, stuck);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_stream, stuck), 0);
    OK(launch(failing, &code_fail, 1, mr_context_current()));
    FAILS(cuStreamSynchronize(failing), CUDA_ERROR_LAUNCH_FAILED);
    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, CUDA_ERROR_LAUNCH_FAILED);
    gate_open(&gate);
    (void)cuCtxDestroy(context);
    OK(cuCtxSetCurrent(the_context));
}

/* A synchronous copy doesn't come back before it is done or given up, even if its context fails: it uses the caller's
 * memory. */
struct copier {
    CUcontext context;
    CUdeviceptr memory;
    struct gate gate;
    int was_open;
};

static void *copy_to_device(void *data)
{
    struct copier *copier = data;
    char bytes[256] = {0};
    CUresult status = cuCtxSetCurrent(copier->context);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyHtoD(copier->memory, bytes, sizeof bytes);
    copier->was_open = atomic_load(&copier->gate.open);
    return (void *)(uintptr_t)status;
}

static void test_synchronous_copy_is_not_abandoned(void **state)
{
    (void)state;
    struct copier copier = {0};
    pthread_t thread;
    void *result;
    OK(cuCtxCreate_v2(&copier.context, 0, 0));
    OK(cuMemAlloc(&copier.memory, 4096));
    CUstream stuck = new_stream(0), failing = new_stream(CU_STREAM_NON_BLOCKING);
    gate_put(&copier.gate, stuck);
    assert_int_equal(pthread_create(&thread, NULL, copy_to_device, &copier), 0);
    /* Until the copy is in its stream, behind the gate: a query tells of the stream that is stuck as well. */
    while (mr_stream_idle(mr_context_current()->legacy) || !atomic_load(&copier.gate.entered))
        sched_yield();
    OK(launch(failing, &code_fail, 1, mr_context_current()));
    FAILS(cuStreamSynchronize(failing), CUDA_ERROR_LAUNCH_FAILED);
    for (int i = 0; i < 100; i++)
        sched_yield();
    gate_open(&copier.gate);
    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(copier.was_open, 1);
    (void)cuCtxDestroy(copier.context);
    OK(cuCtxSetCurrent(the_context));
}

struct attempt {
    CUcontext context;
    struct gate gate;
    _Atomic int count;
};

/* One session with streams, events and every kind of command, each step allowed to run out of memory. */
static CUresult session(struct attempt *attempt)
{
    CUstream stream = NULL, second = NULL;
    CUevent event = NULL;
    CUresult status = cuStreamCreate(&stream, 0);
    if (status == CUDA_SUCCESS)
        status = cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, -1);
    if (status == CUDA_SUCCESS)
        status = cuEventCreate(&event, 0);
    if (status == CUDA_SUCCESS)
        status = cuLaunchHostFunc(stream, gate_wait, &attempt->gate);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, stream);
    if (status == CUDA_SUCCESS)
        status = cuStreamWaitEvent(second, event, 0);
    if (status == CUDA_SUCCESS)
        status = launch(second, &code_count, 1, &attempt->count);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, NULL);
    if (status == CUDA_SUCCESS)
        status = cuStreamAddCallback(CU_STREAM_PER_THREAD, note_callback, NULL, 0);
    gate_open(&attempt->gate);
    /* Destroying tells of a failed context as well. */
    CUresult ends[4] = {cuCtxSynchronize()};
    if (event)
        ends[1] = cuEventDestroy(event);
    if (second)
        ends[2] = cuStreamDestroy(second);
    if (stream)
        ends[3] = cuStreamDestroy(stream);
    for (int i = 0; i < 4 && status == CUDA_SUCCESS; i++)
        status = ends[i];
    return status;
}

static void *session_thread(void *data)
{
    struct attempt *attempt = data;
    CUresult status = cuCtxSetCurrent(attempt->context);
    return (void *)(uintptr_t)(status == CUDA_SUCCESS ? session(attempt) : status);
}

/* A fresh thread has empty caches, so its calls do allocate. Where a worker runs out of memory, the context fails with
 * the code, so each attempt has a context of its own. */
static void test_memory_short(void **state)
{
    (void)state;
    for (int n = 1; n < 30; n++) {
        pthread_t thread;
        void *result;
        struct attempt attempt = {0};
        OK(cuCtxCreate_v2(&attempt.context, 0, 0));
        mr_alloc_fail_after((uint64_t)n);
        assert_int_equal(pthread_create(&thread, NULL, session_thread, &attempt), 0);
        pthread_join(thread, &result);
        mr_alloc_fail_after(0);
        CUresult status = (CUresult)(uintptr_t)result;
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        if (status == CUDA_SUCCESS)
            assert_int_equal(attempt.count, 1);
        (void)cuCtxDestroy(attempt.context);
        OK(cuCtxSetCurrent(the_context));
    }
    struct attempt last = {0};
    OK(session(&last));
    assert_int_equal(last.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_is_drained),
        cmocka_unit_test(test_memory_waits_end),
        cmocka_unit_test(test_waiting_threads_hear_of_it),
        cmocka_unit_test(test_synchronous_copy_is_not_abandoned),
        cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
