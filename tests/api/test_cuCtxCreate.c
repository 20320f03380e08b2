/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: every creating version, the thread's stack, destruction, and what a context knows of itself. */
#define __CUDA_API_VERSION_INTERNAL /* plain names are the oldest versions here */
#include "api_support.h"

#include <pthread.h>

static int init(void **state)
{
    (void)state;
    return cuInit(0) == CUDA_SUCCESS ? 0 : -1;
}

static CUcontext current(void)
{
    CUcontext context = WILD(CUcontext);
    OK(cuCtxGetCurrent(&context));
    return context;
}

static CUcontext make(void)
{
    CUcontext context = NULL;
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    assert_ptr_equal(current(), context);
    return context;
}

static void every_version_creates(void **state)
{
    CUcontext context = NULL;
    CUctxCreateParams none = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        switch (i) {
        case 0:
            OK(cuCtxCreate(&context, 0, 0));
            break;
        case 1:
            OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN, 0));
            break;
        case 2:
            OK(cuCtxCreate_v3(&context, NULL, 0, CU_CTX_MAP_HOST, 0));
            break;
        case 3:
            OK(cuCtxCreate_v4(&context, NULL, CU_CTX_SCHED_YIELD, 0));
            break;
        default:
            OK(cuCtxCreate_v4(&context, &none, 0, 0));
            break;
        }
        static const unsigned expected[] = {0, CU_CTX_SCHED_SPIN, CU_CTX_MAP_HOST, CU_CTX_SCHED_YIELD, 0};
        unsigned flags = 99, version = 0;
        OK(cuCtxGetFlags(&flags));
        assert_int_equal(flags, expected[i]);
        OK(cuCtxGetApiVersion(context, &version));
        assert_int_equal(version, i ? 3020 : 3010); /* as on hardware */
        OK(cuCtxDestroy_v2(context));
        assert_null(current());
    }
}

static void wrong_arguments_create_nothing(void **state)
{
    CUcontext context = NULL;
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 1};
    CUctxCigParam graphics = {0};
    CUctxCreateParams one = {.execAffinityParams = &affinity, .numExecAffinityParams = 1}, both = one, only = {0};
    (void)state;
    both.cigParams = only.cigParams = &graphics;
    FAILS(cuCtxCreate_v4(NULL, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxCreate_v4(&context, NULL, 0, 99), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuCtxCreate_v4(&context, NULL, 0, -1), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuCtxCreate_v4(&context, NULL, 0x10000, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxCreate_v4(&context, NULL, 3, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxCreate_v4(&context, &one, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    FAILS(cuCtxCreate_v4(&context, &both, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxCreate_v4(&context, &only, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuCtxCreate_v3(&context, NULL, 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxCreate_v3(&context, &affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    FAILS(cuCtxCreate_v2(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_null(context);
    assert_null(current());
}

static void without_a_context(void **state)
{
    CUdevice device;
    unsigned flags;
    unsigned long long id;
    size_t limit;
    int least, greatest;
    CUfunc_cache cache;
    CUcontext context;
    (void)state;
    assert_null(current());
    FAILS(cuCtxGetCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetFlags(0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetId(NULL, &id), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetApiVersion(NULL, &flags), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetCacheConfig(&cache), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxResetPersistingL2Cache(), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxPopCurrent_v2(&context), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxAttach(&context, 0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(NULL));
}

static void the_stack(void **state)
{
    CUcontext a = make(), b = make(), got;
    (void)state;
    OK(cuCtxPushCurrent_v2(a)); /* a b a */
    assert_ptr_equal(current(), a);
    OK(cuCtxPopCurrent_v2(NULL));
    assert_ptr_equal(current(), b);
    OK(cuCtxSetCurrent(a)); /* a a */
    OK(cuCtxPopCurrent_v2(&got));
    assert_ptr_equal(got, a);
    OK(cuCtxSetCurrent(NULL));
    assert_null(current());
    FAILS(cuCtxPushCurrent_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxPushCurrent_v2(WILD(CUcontext)), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetCurrent(WILD(CUcontext)), CUDA_ERROR_INVALID_CONTEXT);
    assert_null(current());
    OK(cuCtxDestroy_v2(b));
    OK(cuCtxDestroy_v2(a));
    FAILS(cuCtxPushCurrent_v2(a), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxDestroy_v2(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_context_destroyed_below_the_top(void **state)
{
    CUcontext below = make(), top = make(), got;
    CUdevice device = -1;
    CUdeviceptr address;
    (void)state;
    OK(cuCtxDestroy_v2(below));
    assert_ptr_equal(current(), top);
    OK(cuCtxPopCurrent_v2(&got));
    assert_ptr_equal(current(), below); /* still there, but of no use */
    FAILS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxGetDevice(&device)); /* as on hardware */
    assert_int_equal(device, 0);
    FAILS(cuMemAlloc_v2(&address, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent_v2(&got));
    assert_ptr_equal(got, below);
    assert_null(current());
    OK(cuCtxDestroy_v2(top));
}

static pthread_barrier_t meet;

static void *use_after_destroy(void *data)
{
    CUdeviceptr address;
    CUresult set = cuCtxSetCurrent(data);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    CUresult status = set == CUDA_SUCCESS ? cuMemAlloc_v2(&address, 16) : set;
    return (void *)(uintptr_t)status;
}

static void a_context_destroyed_while_current_elsewhere(void **state)
{
    CUcontext context = make();
    pthread_t thread;
    void *status;
    (void)state;
    pthread_barrier_init(&meet, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, use_after_destroy, context), 0);
    pthread_barrier_wait(&meet);
    OK(cuCtxDestroy_v2(context));
    pthread_barrier_wait(&meet);
    pthread_join(thread, &status);
    assert_int_equal((uintptr_t)status, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    pthread_barrier_destroy(&meet);
}

static void identity(void **state)
{
    CUcontext a = make(), b = make();
    unsigned long long one = 0, two = 0, now = 0;
    CUdevice device = -1;
    (void)state;
    OK(cuCtxGetId(a, &one));
    OK(cuCtxGetId(b, &two));
    OK(cuCtxGetId(NULL, &now));
    assert_int_not_equal(one, two);
    assert_int_equal(now, two);
    FAILS(cuCtxGetId(a, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetId(WILD(CUcontext), &one), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    OK(cuCtxGetDevice_v2(&device, a));
    FAILS(cuCtxGetDevice(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetDevice_v2(&device, WILD(CUcontext)), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxGetApiVersion(a, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
    OK(cuCtxSynchronize_v2(a));
    FAILS(cuCtxSynchronize_v2(WILD(CUcontext)), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy_v2(b));
    OK(cuCtxDestroy_v2(a));
}

static void flags_can_change(void **state)
{
    CUcontext context = make();
    unsigned flags = 99;
    (void)state;
    OK(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
    OK(cuCtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
    OK(cuCtxSetFlags(CU_CTX_MAP_HOST));
    OK(cuCtxGetFlags(&flags));
    assert_int_equal(flags, 0);
    FAILS(cuCtxSetFlags(3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxSetFlags(0x1000), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxGetFlags(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxDestroy_v2(context));
}

static void attach_counts(void **state)
{
    CUcontext context = make(), again = NULL;
    (void)state;
    OK(cuCtxAttach(&again, 0));
    assert_ptr_equal(again, context);
    FAILS(cuCtxAttach(&again, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxAttach(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuCtxDetach(NULL), CUDA_ERROR_INVALID_CONTEXT); /* NULL isn't the current one here */
    assert_ptr_equal(current(), context);
    OK(cuCtxDetach(context));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(context)); /* the last one destroys */
    assert_null(current());
    FAILS(cuCtxDestroy_v2(context), CUDA_ERROR_INVALID_CONTEXT);
}

static void many_contexts(void **state)
{
    CUcontext contexts[300];
    (void)state;
    for (int i = 0; i < 300; i++)
        contexts[i] = make();
    for (int i = 0; i < 300; i += 2)
        OK(cuCtxDestroy_v2(contexts[i]));
    for (int i = 1; i < 300; i += 2)
        OK(cuCtxDestroy_v2(contexts[i]));
    while (cuCtxPopCurrent_v2(NULL) == CUDA_SUCCESS)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_creates),
        cmocka_unit_test(wrong_arguments_create_nothing),
        cmocka_unit_test(without_a_context),
        cmocka_unit_test(the_stack),
        cmocka_unit_test(a_context_destroyed_below_the_top),
        cmocka_unit_test(a_context_destroyed_while_current_elsewhere),
        cmocka_unit_test(identity),
        cmocka_unit_test(flags_can_change),
        cmocka_unit_test(attach_counts),
        cmocka_unit_test(many_contexts),
    };
    return cmocka_run_group_tests_name("cuCtxCreate", tests, init, NULL);
}
