/* SPDX-License-Identifier: Apache-2.0 */
/* Several host threads at once: contexts, a shared library in many contexts, modules that come and go, launches of one
 * kernel from everywhere. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS 25
#define PTX PTX_HEAD PTX_COUNTER PTX_STORE

static CUcontext shared_context;
static CUlibrary library;
static CUkernel increase;

/* assert_* may not be used off the main thread: steps are counted instead. */
static _Atomic int wrong;
#define STEP(call) ((call) == CUDA_SUCCESS ? (void)0 : (void)atomic_fetch_add(&wrong, 1))

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    atomic_store(&wrong, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* A context of its own in each round, in which the shared library is loaded anew. */
static void *own_contexts(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        CUcontext context = NULL;
        CUdeviceptr counter = 0;
        unsigned value = 0;
        STEP(cuCtxCreate(&context, NULL, 0, 0));
        STEP(cuLaunchKernel((CUfunction)increase, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        STEP(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
        STEP(cuMemcpyDtoH(&value, counter, sizeof value));
        if (value != 7 + 64)
            atomic_fetch_add(&wrong, 1);
        STEP(cuCtxDestroy(context));
    }
    return NULL;
}

static void *one_context(void *data)
{
    (void)data;
    STEP(cuCtxSetCurrent(shared_context));
    for (int i = 0; i < ROUNDS; i++)
        STEP(cuLaunchKernel((CUfunction)increase, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
    STEP(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void *modules_come_and_go(void *data)
{
    unsigned value = (unsigned)(uintptr_t)data, got = 0;
    CUdeviceptr to = 0;
    STEP(cuCtxSetCurrent(shared_context));
    STEP(cuMemAlloc(&to, 16));
    for (int i = 0; i < ROUNDS; i++) {
        CUmodule module = NULL;
        CUfunction function = NULL;
        void *params[] = {&to, &value};
        STEP(cuModuleLoadData(&module, PTX));
        STEP(cuModuleGetFunction(&function, module, "store"));
        STEP(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, params, NULL));
        STEP(cuModuleUnload(module));
        STEP(cuMemcpyDtoH(&got, to, sizeof got));
        if (got != value)
            atomic_fetch_add(&wrong, 1);
        value += THREADS;
    }
    STEP(cuMemFree(to));
    return NULL;
}

static void *primary_contexts(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        CUcontext context = NULL;
        CUdeviceptr address = 0;
        STEP(cuDevicePrimaryCtxRetain(&context, 0));
        STEP(cuCtxPushCurrent(context));
        STEP(cuMemAlloc(&address, 1000));
        STEP(cuMemFree(address));
        STEP(cuCtxPopCurrent(NULL));
        STEP(cuDevicePrimaryCtxRelease(0));
    }
    return NULL;
}

static void each_its_own_contexts(void **state)
{
    (void)state;
    run(own_contexts);
}

static void all_in_one_context(void **state)
{
    CUdeviceptr counter;
    (void)state;
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    run(one_context);
    assert_int_equal(read_word(counter), 7 + THREADS * ROUNDS);
}

static void modules(void **state)
{
    (void)state;
    run(modules_come_and_go);
}

static void primaries(void **state)
{
    int active = 9;
    unsigned flags;
    (void)state;
    run(primary_contexts);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
}

static int set_up(void **state)
{
    if (begin_context(state) != 0)
        return -1;
    shared_context = *state;
    return cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS &&
                   cuLibraryGetKernel(&increase, library, "increase") == CUDA_SUCCESS
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    return cuLibraryUnload(library) == CUDA_SUCCESS ? end_context(state) : -1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(each_its_own_contexts), TEST(all_in_one_context), TEST(modules),
                                       TEST(primaries)};
    return cmocka_run_group_tests_name("launches from several threads", tests, NULL, NULL);
}
