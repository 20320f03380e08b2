/* SPDX-License-Identifier: Apache-2.0 */
/* Ends that come while others are at work: a context destroyed under threads that use it, a process that exits under
 * its own kernels. */
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

enum { USERS = 3 };

struct shared {
    CUcontext context;
    CUstream stream;
    CUevent event;
    _Atomic int started;
};

/* What a call may say to a thread that is late to hear of the context's end. */
static bool is_late(CUresult status)
{
    return status == CUDA_ERROR_CONTEXT_IS_DESTROYED || status == CUDA_ERROR_INVALID_HANDLE ||
           status == CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult use_once(struct shared *shared, int step, _Atomic int *count)
{
    CUstream own;
    CUresult status;
    switch (step % 8) {
    case 0:
        return launch(shared->stream, &code_count, 1, count);
    case 1:
        return launch(NULL, &code_count, 1, count);
    case 2:
        return launch(CU_STREAM_PER_THREAD, &code_count, 1, count);
    case 3:
        return cuEventRecord(shared->event, shared->stream);
    case 4:
        return cuStreamWaitEvent(NULL, shared->event, 0);
    case 5:
        return cuStreamSynchronize(shared->stream);
    case 6:
        return cuCtxSynchronize();
    default:
        status = cuStreamCreate(&own, 0);
        return status == CUDA_SUCCESS ? launch(own, &code_count, 1, count) : status;
    }
}

static _Atomic int count_of_all;

static void *use_until_refused(void *data)
{
    struct shared *shared = data;
    CUresult status = cuCtxSetCurrent(shared->context);
    atomic_fetch_add(&shared->started, 1);
    for (int step = 0; status == CUDA_SUCCESS; step++)
        status = use_once(shared, step, &count_of_all);
    return (void *)(uintptr_t)(is_late(status) ? CUDA_SUCCESS : status);
}

static void test_context_in_use(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct shared shared = {0};
        pthread_t threads[USERS];
        OK(cuCtxCreate_v2(&shared.context, 0, 0));
        shared.stream = new_stream(0);
        shared.event = new_event(0);
        for (int i = 0; i < USERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use_until_refused, &shared), 0);
        while (atomic_load(&shared.started) < USERS)
            sched_yield();
        for (int i = 0; i < round; i++)
            sched_yield();
        OK(cuCtxDestroy(shared.context));
        for (int i = 0; i < USERS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            assert_int_equal((uintptr_t)result, CUDA_SUCCESS);
        }
        OK(cuCtxSetCurrent(the_context));
    }
}

/* A context whose streams wait for an event of another context ends once that is complete. */
static void *open_it(void *data)
{
    gate_open(data);
    return NULL;
}

static void test_context_waits_for_its_work(void **state)
{
    (void)state;
    CUcontext context;
    struct gate gate = {0};
    pthread_t thread;
    _Atomic int count = 0;
    CUstream elsewhere = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    gate_put(&gate, elsewhere);
    OK(cuEventRecord(event, elsewhere));
    OK(cuCtxCreate_v2(&context, 0, 0));
    CUstream stream = new_stream(0);
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(launch(stream, &code_count, 1, &count));
    OK(launch(NULL, &code_count, 1, &count));
    OK(cuStreamDestroy(stream));
    assert_int_equal(pthread_create(&thread, NULL, open_it, &gate), 0);
    OK(cuCtxDestroy(context));
    assert_int_equal(count, 2);
    pthread_join(thread, NULL);
    OK(cuCtxSetCurrent(the_context));
    OK(cuStreamDestroy(elsewhere));
    OK(cuEventDestroy(event));
}

struct destroyer {
    CUcontext context;
    _Atomic bool begun, ended;
    CUresult status;
};

static void *destroy(void *data)
{
    struct destroyer *me = data;
    atomic_store(&me->begun, true);
    me->status = cuCtxDestroy(me->context);
    atomic_store(&me->ended, true);
    return NULL;
}

/* The end of a context waits for its kernels, however long they take, as hardware does; the kernel's own stream is
 * heard of as ever, and other contexts work on. */
static void test_context_waits_for_its_kernel(void **state)
{
    (void)state;
    struct gate gate = {0};
    struct destroyer me = {0};
    pthread_t thread;
    _Atomic int count = 0;
    OK(cuCtxCreate_v2(&me.context, 0, 0));
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(launch(stream, &code_spin, 8, &gate));
    OK(launch(stream, &code_count, 1, &count));
    while (!atomic_load(&gate.entered))
        sched_yield();
    OK(cuCtxSetCurrent(the_context));
    assert_int_equal(pthread_create(&thread, NULL, destroy, &me), 0);
    while (!atomic_load(&me.begun))
        sched_yield();
    CUstream elsewhere = new_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 100; i++) {
        OK(launch(elsewhere, &code_count, 1, &count));
        OK(cuStreamSynchronize(elsewhere));
        assert_int_equal(count, i + 1);
        assert_false(atomic_load(&me.ended));
    }
    gate_open(&gate);
    pthread_join(thread, NULL);
    OK(me.status);
    assert_int_equal(count, 101);
    OK(cuStreamDestroy(elsewhere));
}

/* ---- processes that end with work in hand: each mode is run in a process of its own ---- */

static struct gate never;

static void *keep_submitting(void *data)
{
    static _Atomic int count;
    CUresult status = cuCtxSetCurrent(the_context);
    while (status == CUDA_SUCCESS || status == CUDA_ERROR_DEINITIALIZED)
        status = launch(data, &code_count, 1, &count);
    return NULL;
}

static void *keep_waiting(void *data)
{
    (void)cuCtxSetCurrent(the_context);
    (void)cuStreamSynchronize(data);
    return NULL;
}

static void *keep_destroying(void *data)
{
    (void)cuCtxDestroy(data);
    return NULL;
}

/* A thread that destroys the context of a kernel which never ends. */
static int begin_destroying(pthread_t *thread)
{
    CUcontext context;
    CUstream stream;
    return cuCtxCreate_v2(&context, 0, 0) || cuStreamCreate(&stream, 0) || launch(stream, &code_spin_deaf, 1, &never) ||
           pthread_create(thread, NULL, keep_destroying, context);
}

static int child(const char *mode)
{
    CUstream stream, other;
    pthread_t thread;
    bool thread_made = strncmp(mode, "while", 5) == 0;
    alarm(60);
    if (support_begin(NULL) != 0 || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
        cuStreamCreate(&other, CU_STREAM_NON_BLOCKING))
        return 1;
    if (strcmp(mode, "in a kernel") == 0 && launch(stream, &code_spin_deaf, 1, &never))
        return 2;
    if (strcmp(mode, "in a shared kernel") == 0 && launch(stream, &code_spin, 8, &never))
        return 2;
    if (strcmp(mode, "in a host function") == 0 && cuLaunchHostFunc(stream, gate_wait, &never))
        return 2;
    if (strcmp(mode, "while submitting") == 0 &&
        (cuLaunchHostFunc(stream, gate_wait, &never) || pthread_create(&thread, NULL, keep_submitting, other)))
        return 2;
    if (strcmp(mode, "while waiting") == 0 &&
        (cuLaunchHostFunc(stream, gate_wait, &never) || pthread_create(&thread, NULL, keep_waiting, stream)))
        return 2;
    if (strcmp(mode, "while destroying") == 0 && begin_destroying(&thread))
        return 2;
    if (thread_made)
        pthread_detach(thread);
    while (!atomic_load(&never.entered))
        sched_yield();
    exit(7);
}

static void test_exit(void **state)
{
    (void)state;
    static const char *const modes[] = {"in a kernel",      "in a shared kernel", "in a host function",
                                        "while submitting", "while waiting",      "while destroying"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int status;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            execl("/proc/self/exe", "test_stream_teardown", modes[i], (char *)NULL);
            _exit(3);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_context_in_use),
        cmocka_unit_test(test_context_waits_for_its_work),
        cmocka_unit_test(test_context_waits_for_its_kernel),
        cmocka_unit_test(test_exit),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
