/* SPDX-License-Identifier: Apache-2.0 */
/* cuInit and cuDriverGetVersion: before, twice, from many threads, with wrong flags; a process forked afterwards. */
#include "api_support.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_works_before(void **state)
{
    int number = 0;
    CUcontext context;
    CUmodule module;
    CUdeviceptr address;
    (void)state;
    FAILS(cuDeviceGetCount(&number), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuDeviceGetCount(NULL), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuCtxCreate(&context, NULL, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuCtxPushCurrent(NULL), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuModuleLoadData(&module, PTX_HEAD), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuMemAlloc(&address, 16), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuGraphCreate(NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
}

static void the_version_needs_nothing(void **state)
{
    int version = 0;
    (void)state;
    OK(cuDriverGetVersion(&version));
    assert_int_equal(version, 13000);
    FAILS(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void flags_must_be_zero(void **state)
{
    (void)state;
    FAILS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuInit(0x80000000u), CUDA_ERROR_INVALID_VALUE);
}

static void *init_in_thread(void *data)
{
    int count = 0;
    (void)data;
    CUresult status = cuInit(0);
    if (status == CUDA_SUCCESS)
        status = cuDeviceGetCount(&count);
    return (void *)(uintptr_t)(status != CUDA_SUCCESS || count < 1);
}

static void many_threads_at_once(void **state)
{
    pthread_t threads[8];
    (void)state;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, init_in_thread, NULL), 0);
    for (int i = 0; i < 8; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    OK(cuInit(0));
    FAILS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

/* A child has none of the driver's threads: refused, never hung. */
static void a_forked_child_is_refused(void **state)
{
    int status, count;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0
                                                                                                                : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    OK(cuDeviceGetCount(&count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before),      cmocka_unit_test(the_version_needs_nothing),
        cmocka_unit_test(flags_must_be_zero),        cmocka_unit_test(many_threads_at_once),
        cmocka_unit_test(a_forked_child_is_refused),
    };
    return cmocka_run_group_tests_name("cuInit", tests, NULL, NULL);
}
