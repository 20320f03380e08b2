/* SPDX-License-Identifier: Apache-2.0 */
/* How streams end: with their handle, their work, their thread, their context; and what a forked child may do. */
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

static void count_visit(void *object, void *data)
{
    (void)object;
    ++*(int *)data;
}

static int live(enum mr_kind kind)
{
    int count = 0;
    mr_object_each(kind, count_visit, &count);
    return count;
}

static void test_destroy_while_busy(void **state)
{
    (void)state;
    struct gate gate = {0};
    _Atomic int count = 0;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    struct mr_stream *record = inside(stream);
    mr_object_hold(record);
    gate_put(&gate, stream);
    for (int i = 0; i < 10; i++)
        OK(launch(stream, &code_count, 2, &count));
    OK(cuStreamDestroy(stream));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(count, 0);
    gate_open(&gate);
    OK(cuCtxSynchronize());
    assert_int_equal(count, 20);
    while (atomic_load(&((struct mr_object *)record)->references) > 1)
        sched_yield();
    mr_object_drop(record);
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    int streams = live(MR_KIND_STREAM), events = live(MR_KIND_EVENT), contexts = live(MR_KIND_CONTEXT);
    CUcontext context;
    _Atomic int count = 0;
    OK(cuCtxCreate_v2(&context, 0, 0));
    for (int i = 0; i < 50; i++) {
        CUstream stream = new_stream(i % 2);
        CUevent event = new_event(0);
        OK(launch(stream, &code_count, 1, &count));
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(NULL, event, 0));
        OK(cuEventDestroy(event));
        if (i % 2)
            OK(cuStreamDestroy(stream));
    }
    OK(launch(CU_STREAM_PER_THREAD, &code_count, 1, &count));
    OK(cuCtxDestroy(context));
    assert_int_equal(count, 51);
    assert_int_equal(live(MR_KIND_STREAM), streams);
    assert_int_equal(live(MR_KIND_EVENT), events);
    assert_int_equal(live(MR_KIND_CONTEXT), contexts);
    OK(cuCtxSetCurrent(the_context));
}

/* A thread's own default stream ends with the thread, after its work. */
static void *use_own_stream(void *data)
{
    unsigned long long id = 0, again = 0;
    if (cuCtxSetCurrent(the_context) || cuStreamGetId(CU_STREAM_PER_THREAD, &id) ||
        launch(CU_STREAM_PER_THREAD, &code_count, 1, data) || cuStreamGetId(CU_STREAM_PER_THREAD, &again) ||
        id != again)
        return NULL;
    return (void *)(uintptr_t)id;
}

static void test_per_thread_streams(void **state)
{
    (void)state;
    int before = live(MR_KIND_STREAM);
    unsigned long long mine;
    _Atomic int count = 0;
    uintptr_t ids[8];
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        void *id;
        assert_int_equal(pthread_create(&thread, NULL, use_own_stream, &count), 0);
        pthread_join(thread, &id);
        ids[i] = (uintptr_t)id;
        assert_int_not_equal(ids[i], 0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(ids[j], ids[i]);
    }
    OK(cuCtxSynchronize());
    assert_int_equal(count, 8);
    assert_int_equal(live(MR_KIND_STREAM), before);
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    assert_int_equal(live(MR_KIND_STREAM), before + 1);
    /* In a context of its own the thread has another one, and the first is still there afterwards. */
    CUcontext other;
    unsigned long long there, back;
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &there));
    assert_int_not_equal(there, mine);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(the_context));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &back));
    assert_int_equal(back, mine);
}

/* A child has none of the driver's threads: its calls are refused and none of them hangs. */
static void test_fork(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent event = new_event(0);
    _Atomic int count = 0;
    struct gate gate = {0};
    gate_put(&gate, stream);
    OK(launch(stream, &code_count, 1, &count));
    OK(cuEventRecord(event, stream));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        bool refused = cuStreamSynchronize(stream) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuEventQuery(event) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuEventRecord(event, NULL) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED &&
                       cuStreamDestroy(stream) == CUDA_ERROR_NOT_INITIALIZED;
        _exit(refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(count, 1);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

/* A process may end with work queued and running. */
static void test_exit_with_work(void **state)
{
    (void)state;
    static struct gate never;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        execl("/proc/self/exe", "test_stream_life", "exit-with-work", (char *)NULL);
        _exit(3);
    }
    int status;
    (void)never;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static int exit_with_work(void)
{
    static struct gate never;
    if (support_begin(NULL) != 0)
        return 1;
    for (int i = 0; i < 10; i++) {
        CUstream stream;
        if (cuStreamCreate(&stream, 0) || cuLaunchHostFunc(stream, gate_wait, &never))
            return 2;
    }
    while (!atomic_load(&never.entered))
        sched_yield();
    exit(7);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exit-with-work") == 0)
        return exit_with_work();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_destroy_while_busy), cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_per_thread_streams), cmocka_unit_test(test_fork),
        cmocka_unit_test(test_exit_with_work),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
