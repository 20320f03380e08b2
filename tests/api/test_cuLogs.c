/* SPDX-License-Identifier: Apache-2.0 */
/* The error log: messages of failures, dumps, callbacks; also from many threads at once. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 25600, THREADS = 4, ROUNDS = 80 }; /* all messages of the threads together fit in the log */

static void miss(void)
{
    FAILS(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
}

static void dump_to_memory(void **state)
{
    static char all[SIZE], part[SIZE];
    CUlogIterator iterator, copy;
    size_t size = sizeof all;
    (void)state;
    OK(cuLogsCurrent(&iterator, 0));
    OK(cuLogsDumpToMemory(&iterator, all, &size, 0));
    assert_int_equal(size, 0);
    copy = iterator;
    miss();
    FAILS(cuEventQuery(WILD(CUevent)), CUDA_ERROR_INVALID_HANDLE);
    size = sizeof all;
    OK(cuLogsDumpToMemory(&iterator, all, &size, 0));
    assert_int_equal(size, strlen(all));
    assert_non_null(strstr(all, "cuMemAlloc"));
    assert_non_null(strstr(all, "cuEventQuery"));
    assert_true(strstr(all, "cuMemAlloc") < strstr(all, "cuEventQuery"));
    assert_int_equal(all[size - 1], '\n');
    assert_int_equal(iterator - copy, 2);
    /* The last one alone, and a word that another is left out. */
    size_t room = size - 1;
    OK(cuLogsDumpToMemory(&copy, part, &room, 0));
    assert_true(room < size && room == strlen(part));
    assert_null(strstr(part, "cuMemAlloc"));
    assert_non_null(strstr(part, "left out"));
    assert_non_null(strstr(part, "cuEventQuery"));
}

static void overflow(void **state)
{
    static char all[SIZE + 100];
    CUlogIterator iterator, last;
    size_t size = sizeof all;
    (void)state;
    OK(cuLogsCurrent(&iterator, 0));
    for (int i = 0; i < 3000; i++)
        miss();
    FAILS(cuEventQuery(WILD(CUevent)), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLogsDumpToMemory(&iterator, all, &size, 0));
    assert_true(size > SIZE / 2 && size <= SIZE + 64);
    assert_int_equal(strncmp(all, "[earlier", 8), 0);
    assert_non_null(strstr(all, "cuEventQuery"));
    OK(cuLogsCurrent(&last, 0));
    assert_int_equal(iterator, last);
    size = 10;
    FAILS(cuLogsDumpToMemory(NULL, all, &size, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(size, 0);
}

static void dump_to_file(void **state)
{
    char path[] = "/tmp/millrace-log-XXXXXX", line[200] = "";
    CUlogIterator iterator;
    (void)state;
    int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    OK(cuLogsCurrent(&iterator, 0));
    miss();
    OK(cuLogsDumpToFile(&iterator, path, 0));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "cuMemAlloc"));
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(path);
    FAILS(cuLogsDumpToFile(NULL, "/no/such/folder/log", 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLogsDumpToFile(NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

struct heard {
    _Atomic int calls;
    CUcontext context;
    CUlogsCallbackHandle end;
    CUresult status;
};

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    struct heard *heard = data;
    CUdeviceptr memory;
    assert_int_equal(length, strlen(message));
    assert_int_equal(level, CU_LOG_LEVEL_ERROR);
    (void)cuCtxGetCurrent(&heard->context);
    heard->status = cuMemAlloc(&memory, 64);
    if (heard->status == CUDA_SUCCESS)
        (void)cuMemFree(memory);
    if (heard->end)
        (void)cuLogsUnregisterCallback(heard->end);
    atomic_fetch_add(&heard->calls, 1);
}

/* Callbacks may be a little late when the machine is busy. */
static void wait_for(struct heard *heard, int calls)
{
    for (int i = 0; i < 20000 && atomic_load(&heard->calls) < calls; i++)
        usleep(500);
    assert_int_equal(atomic_load(&heard->calls), calls);
}

static void callback(void **state)
{
    struct heard heard = {0};
    CUlogsCallbackHandle handle;
    OK(cuLogsRegisterCallback(hear, &heard, &handle));
    miss();
    wait_for(&heard, 1);
    assert_ptr_equal(heard.context, *state); /* that of the thread that failed */
    assert_int_equal(heard.status, CUDA_SUCCESS);
    OK(cuCtxSynchronize());
    OK(cuLogsUnregisterCallback(handle));
    miss();
    assert_int_equal(atomic_load(&heard.calls), 1);
    FAILS(cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLogsUnregisterCallback(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLogsRegisterCallback(NULL, NULL, &handle), CUDA_ERROR_INVALID_VALUE);
}

/* A callback that ends itself is called once. */
static void callback_ends_itself(void **state)
{
    struct heard heard = {0}, other = {0};
    CUlogsCallbackHandle handle;
    (void)state;
    OK(cuLogsRegisterCallback(hear, &heard, &heard.end));
    OK(cuLogsRegisterCallback(hear, &other, &handle));
    miss();
    miss();
    wait_for(&other, 2);
    OK(cuLogsUnregisterCallback(handle)); /* waits for a call that goes on */
    assert_int_equal(atomic_load(&heard.calls), 1);
}

static void CUDA_CB count(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)level, (void)message, (void)length;
    atomic_fetch_add((_Atomic int *)data, 1);
}

static void *fail_often(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++)
        if (cuEventQuery(WILD(CUevent)) != CUDA_ERROR_INVALID_HANDLE)
            abort();
    return NULL;
}

static void *register_often(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        _Atomic int here = 0; /* gone after the round: nobody may call any more */
        CUlogsCallbackHandle handle;
        if (cuLogsRegisterCallback(count, &here, &handle) != CUDA_SUCCESS ||
            cuEventQuery(WILD(CUevent)) != CUDA_ERROR_INVALID_HANDLE ||
            cuLogsUnregisterCallback(handle) != CUDA_SUCCESS)
            abort();
        int calls = atomic_load(&here);
        if (i % 16 == 0)
            usleep(100);
        if (atomic_load(&here) != calls)
            abort();
    }
    return NULL;
}

/* Every message reaches a callback that is there all the time, while others come and go. */
static void many_threads(void **state)
{
    _Atomic int calls = 0;
    CUlogsCallbackHandle handle;
    CUlogIterator before, after;
    pthread_t threads[THREADS];
    (void)state;
    OK(cuLogsRegisterCallback(count, (void *)&calls, &handle));
    OK(cuLogsCurrent(&before, 0));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 ? register_often : fail_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cuLogsCurrent(&after, 0));
    assert_int_equal(after - before, THREADS * ROUNDS);
    for (int i = 0; i < 20000 && atomic_load(&calls) < THREADS * ROUNDS; i++)
        usleep(500);
    OK(cuLogsUnregisterCallback(handle));
    assert_int_equal(atomic_load(&calls), THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(dump_to_memory),       TEST_IN_CONTEXT(overflow),
                                       TEST_IN_CONTEXT(dump_to_file),         TEST_IN_CONTEXT(callback),
                                       TEST_IN_CONTEXT(callback_ends_itself), TEST_IN_CONTEXT(many_threads)};
    return cmocka_run_group_tests_name("cuLogs", tests, NULL, NULL);
}
