/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: create in all ABI versions, destroy, the per-thread stack, flags,
 * limits, cache configuration, and identity.
 */
#include "gold.h"

#include <pthread.h>

/* Older ABI versions are symbols of their own, whatever cuda.h maps the name to. */
#undef cuCtxCreate
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                                CUdevice dev);

CASE(context, create, .alone = true)
{
    CUcontext context = NULL, current = NULL;
    say(cuCtxCreate_v4(&context, NULL, 0, gold_device()));
    NEED(cuCtxGetCurrent(&current));
    say_if("current", current == context);
    say(cuCtxDestroy(context));
    say(cuCtxGetCurrent(&current));
    say_if("previous", current == gold_context());
}

CASE(context, create_v2, .alone = true)
{
    CUcontext context = NULL;
    unsigned version = 0;
    say(cuCtxCreate_v2(&context, 0, gold_device()));
    say(cuCtxGetApiVersion(context, &version));
    say_int(version);
    say(cuCtxDestroy(context));
}

CASE(context, create_v3, .alone = true)
{
    CUcontext context = NULL;
    unsigned version = 0;
    say(cuCtxCreate_v3(&context, NULL, 0, 0, gold_device()));
    say(cuCtxGetApiVersion(context, &version));
    say_int(version);
    say(cuCtxDestroy(context));
}

CASE(context, create_v4_version, .alone = true)
{
    CUcontext context = NULL;
    unsigned version = 0;
    say(cuCtxCreate_v4(&context, NULL, 0, gold_device()));
    say(cuCtxGetApiVersion(context, &version));
    say_int(version);
}

CASE(context, create_each_schedule, .alone = true)
{
    for (unsigned flags = 0; flags < 9; flags++) {
        CUcontext context = NULL;
        unsigned got = 99;
        CUresult status = cuCtxCreate_v4(&context, NULL, flags, gold_device());
        say(status);
        if (status != CUDA_SUCCESS)
            continue;
        NEED(cuCtxGetFlags(&got));
        say_hex(got);
        NEED(cuCtxDestroy(context));
    }
}

CASE(context, create_bad)
{
    CUcontext context = NULL;
    say(cuCtxCreate_v4(NULL, NULL, 0, gold_device()));
    say(cuCtxCreate_v4(&context, NULL, 0, 9999));
    say(cuCtxCreate_v4(&context, NULL, 0, -1));
    say(cuCtxCreate_v4(&context, NULL, 0x10000, gold_device()));
    say_if("untouched", context == NULL);
}

CASE(context, create_v2_bad)
{
    CUcontext context = NULL;
    say(cuCtxCreate_v2(NULL, 0, gold_device()));
    say(cuCtxCreate_v2(&context, 0, 9999));
    say(cuCtxCreate_v2(&context, 0x10000, gold_device()));
}

CASE(context, create_many, .alone = true)
{
    int made = 0;
    for (int i = 0; i < 8; i++) {
        CUcontext context;
        made += cuCtxCreate_v4(&context, NULL, 0, gold_device()) == CUDA_SUCCESS;
        made -= cuCtxDestroy(context) != CUDA_SUCCESS;
    }
    say_int(made);
}

/* ---- the stack ---- */

CASE(context, stack, .alone = true)
{
    CUcontext own = gold_context(), other = gold_context_new(), got = NULL;
    say(cuCtxPushCurrent(own));
    say(cuCtxGetCurrent(&got));
    say_if("own", got == own);
    say(cuCtxPopCurrent(&got));
    say_if("own", got == own);
    say(cuCtxPopCurrent(&got));
    say_if("other", got == other);
    say(cuCtxPopCurrent(&got));
    say_if("own", got == own);
    say(cuCtxPopCurrent(&got));
    say(cuCtxGetCurrent(&got));
    say_if("none", got == NULL);
}

CASE(context, pop_null_result, .alone = true)
{
    gold_context_new();
    CUcontext got = NULL;
    say(cuCtxPopCurrent(NULL));
    NEED(cuCtxGetCurrent(&got));
    say_if("own", got == gold_context());
}

CASE(context, push_null)
{
    say(cuCtxPushCurrent(NULL));
}

CASE(context, push_same_twice, .alone = true)
{
    CUcontext got = NULL;
    say(cuCtxPushCurrent(gold_context()));
    say(cuCtxPushCurrent(gold_context()));
    for (int i = 0; i < 4; i++)
        say(cuCtxPopCurrent(&got));
}

CASE(context, set_null_pops, .alone = true)
{
    CUcontext got = NULL, other = gold_context_new();
    (void)other;
    say(cuCtxSetCurrent(NULL));
    say(cuCtxGetCurrent(&got));
    say_if("own", got == gold_context());
    say_if("none", got == NULL);
}

CASE(context, set_replaces_top, .alone = true)
{
    CUcontext other = gold_context_new(), got = NULL;
    say(cuCtxSetCurrent(gold_context()));
    say(cuCtxPopCurrent(&got));
    say_if("own", got == gold_context());
    say(cuCtxPopCurrent(&got));
    say_if("own", got == gold_context());
    say(cuCtxSetCurrent(other));
    say(cuCtxPopCurrent(&got));
    say_if("other", got == other);
    say(cuCtxPopCurrent(&got));
}

CASE(context, set_null_on_empty, .alone = true)
{
    CUcontext got;
    NEED(cuCtxPopCurrent(&got));
    say(cuCtxSetCurrent(NULL));
    say(cuCtxPopCurrent(&got));
}

CASE(context, get_current_null)
{
    say(cuCtxGetCurrent(NULL));
}

CASE(context, without_current, .alone = true)
{
    CUcontext got = gold_context();
    CUdevice device;
    unsigned flags;
    size_t limit;
    int low, high;
    CUfunc_cache cache;
    NEED(cuCtxSetCurrent(NULL));
    say(cuCtxGetCurrent(&got));
    say_if("none", got == NULL);
    say(cuCtxGetDevice(&device));
    say(cuCtxGetFlags(&flags));
    say(cuCtxSynchronize());
    say(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    say(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
    say(cuCtxGetStreamPriorityRange(&low, &high));
    say(cuCtxGetCacheConfig(&cache));
    say(cuCtxPopCurrent(&got));
}

static void *in_thread(void *data)
{
    CUcontext *seen = data;
    *seen = gold_context();
    if (cuCtxGetCurrent(seen) != CUDA_SUCCESS)
        *seen = gold_context();
    return NULL;
}

CASE(context, new_thread_has_none)
{
    CUcontext seen = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, &seen))
        gold_stop("pthread_create");
    pthread_join(thread, NULL);
    say_if("none", seen == NULL);
}

static void *use_in_thread(void *data)
{
    CUdeviceptr address = *(CUdeviceptr *)data;
    CUresult *status = data;
    *status = cuCtxSetCurrent(gold_context());
    if (*status == CUDA_SUCCESS)
        *status = cuMemsetD32(address, 6, 1);
    return NULL;
}

CASE(context, shared_by_threads)
{
    CUdeviceptr address = gold_alloc_words(1, 0), data = address;
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_in_thread, &data))
        gold_stop("pthread_create");
    pthread_join(thread, NULL);
    say(*(CUresult *)(void *)&data);
    NEED(cuCtxSynchronize());
    say_int(gold_word(address));
}

/* ---- destroy ---- */

CASE(context, destroy_null)
{
    say(cuCtxDestroy(NULL));
}

CASE(context, destroy_not_current, .alone = true)
{
    CUcontext other = gold_context_new(), got = NULL;
    NEED(cuCtxPopCurrent(&got));
    say(cuCtxDestroy(other));
    NEED(cuCtxGetCurrent(&got));
    say_if("own", got == gold_context());
}

CASE(context, destroy_below_top, .alone = true)
{
    CUcontext other = gold_context_new(), got = NULL;
    NEED(cuCtxPushCurrent(gold_context()));
    say(cuCtxDestroy(other));
    NEED(cuCtxGetCurrent(&got));
    say_if("own", got == gold_context());
    say(cuCtxPopCurrent(&got));
    got = NULL;
    say(cuCtxGetCurrent(&got));
    say_if("destroyed", got == other);
    say_if("own", got == gold_context());
}

CASE(context, destroy_busy, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr address = gold_alloc(1 << 20);
    NEED(cuMemsetD32Async(address, 1, 1 << 18, NULL));
    say(cuCtxDestroy(other));
    say(cuCtxSynchronize());
}

static pthread_barrier_t meet;

static void *hold_current(void *data)
{
    CUcontext other = *(CUcontext *)data;
    CUresult *status = data;
    CUresult set = cuCtxSetCurrent(other);
    pthread_barrier_wait(&meet); /* current here */
    pthread_barrier_wait(&meet); /* destroyed there */
    CUdeviceptr address;
    *status = set == CUDA_SUCCESS ? cuMemAlloc(&address, 16) : set;
    return NULL;
}

CASE(context, destroy_while_current_elsewhere, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_ERROR_CONTEXT_IS_DESTROYED|CUDA_SUCCESS CUDA_ERROR_INVALID_CONTEXT",
     .why = "the manual says CONTEXT_IS_DESTROYED")
{
    CUcontext other = gold_context_new(), popped, data = other;
    NEED(cuCtxPopCurrent(&popped));
    pthread_barrier_init(&meet, NULL, 2);
    pthread_t thread;
    if (pthread_create(&thread, NULL, hold_current, &data))
        gold_stop("pthread_create");
    pthread_barrier_wait(&meet);
    say(cuCtxDestroy(other));
    pthread_barrier_wait(&meet);
    pthread_join(thread, NULL);
    say(*(CUresult *)(void *)&data);
}

#define STALE_CONTEXT \
    .alone = true, \
    .allow = "CUDA_ERROR_INVALID_CONTEXT|CUDA_ERROR_CONTEXT_IS_DESTROYED|CUDA_ERROR_INVALID_HANDLE|" \
             "CUDA_ERROR_INVALID_VALUE", \
    .why = "undefined on hardware: it may crash or take the handle for a live one"

static CUcontext stale_context(void)
{
    CUcontext other = gold_context_new();
    NEED(cuCtxDestroy(other));
    return other;
}

CASE(context, destroy_twice, STALE_CONTEXT)
{
    say(cuCtxDestroy(stale_context()));
}

CASE(context, push_destroyed, STALE_CONTEXT)
{
    say(cuCtxPushCurrent(stale_context()));
}

CASE(context, set_destroyed, STALE_CONTEXT)
{
    say(cuCtxSetCurrent(stale_context()));
}

CASE(context, version_of_destroyed, STALE_CONTEXT)
{
    unsigned version;
    say(cuCtxGetApiVersion(stale_context(), &version));
}

CASE(context, push_foreign, STALE_CONTEXT)
{
    say(cuCtxPushCurrent(gold_foreign()));
}

CASE(context, set_foreign, STALE_CONTEXT)
{
    say(cuCtxSetCurrent(gold_foreign()));
}

CASE(context, destroy_foreign, STALE_CONTEXT)
{
    say(cuCtxDestroy(gold_foreign()));
}

CASE(context, set_stream_as_context, STALE_CONTEXT)
{
    say(cuCtxSetCurrent((CUcontext)(void *)gold_stream(0)));
}

/* ---- what a context knows ---- */

CASE(context, device)
{
    CUdevice device = -4;
    say(cuCtxGetDevice(&device));
    say_if("own", device == gold_device());
    say(cuCtxGetDevice(NULL));
}

CASE(context, device_v2)
{
    CUdevice device = -4;
    say(cuCtxGetDevice_v2(&device, gold_context()));
    say_if("own", device == gold_device());
}

CASE(context, flags, .alone = true)
{
    unsigned flags = 99;
    say(cuCtxGetFlags(&flags));
    say_hex(flags);
    say(cuCtxGetFlags(NULL));
}

CASE(context, set_flags, .alone = true)
{
    static const unsigned wanted[] = {CU_CTX_SCHED_SPIN,
                                      CU_CTX_SCHED_BLOCKING_SYNC,
                                      CU_CTX_MAP_HOST,
                                      CU_CTX_LMEM_RESIZE_TO_MAX,
                                      CU_CTX_SYNC_MEMOPS,
                                      3,
                                      0x1000};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        unsigned flags = 99;
        say(cuCtxSetFlags(wanted[i]));
        NEED(cuCtxGetFlags(&flags));
        say_hex(flags);
    }
}

CASE(context, ids_differ, .alone = true)
{
    unsigned long long one = 0, two = 0, current = 0;
    say(cuCtxGetId(gold_context(), &one));
    CUcontext other = gold_context_new();
    say(cuCtxGetId(other, &two));
    say(cuCtxGetId(NULL, &current));
    say_if("differ", one != two);
    say_if("null_is_current", current == two);
    say(cuCtxGetId(other, NULL));
}

CASE(context, api_version)
{
    unsigned version = 0;
    say(cuCtxGetApiVersion(NULL, &version));
    say(cuCtxGetApiVersion(gold_context(), &version));
    say_int(version);
    say(cuCtxGetApiVersion(gold_context(), NULL));
}

CASE(context, priority_range)
{
    int low = 99, high = 99;
    say(cuCtxGetStreamPriorityRange(&low, &high));
    say_int(low);
    say_if("high_below_zero", high < 0);
    say(cuCtxGetStreamPriorityRange(NULL, &high));
    say(cuCtxGetStreamPriorityRange(&low, NULL));
    say(cuCtxGetStreamPriorityRange(NULL, NULL));
}

CASE(context, cache_config, .alone = true)
{
    CUfunc_cache cache = (CUfunc_cache)99;
    say(cuCtxGetCacheConfig(&cache));
    say_int(cache);
    say(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
    say(cuCtxGetCacheConfig(&cache));
    say_if("known", cache <= CU_FUNC_CACHE_PREFER_EQUAL);
    say(cuCtxSetCacheConfig((CUfunc_cache)99));
    say(cuCtxGetCacheConfig(NULL));
    say(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
}

CASE(context, limits_defaults, .alone = true)
{
    static const CUlimit limits[] = {CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE};
    for (int i = 0; i < 3; i++) {
        size_t value = 0;
        say(cuCtxGetLimit(&value, limits[i]));
        say_int((long long)value);
    }
}

CASE(context, limits_set)
{
    size_t value = 0;
    say(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    NEED(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    say_int((long long)value);
    say(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
    say(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40));
    NEED(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    say_if("bounded", value <= 1 << 24);
}

CASE(context, limits_bad)
{
    size_t value = 0;
    say(cuCtxGetLimit(&value, (CUlimit)99));
    say(cuCtxSetLimit((CUlimit)99, 1));
    say(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
}

CASE(context, limits_heap_after_launch, .alone = true)
{
    say(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    size_t value = 0;
    NEED(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    say_int((long long)value);
    gold_launch(gold_function("empty"), 1, NULL, NULL);
    NEED(cuCtxSynchronize());
    say(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20));
}

CASE(context, reset_persisting_cache)
{
    say(cuCtxResetPersistingL2Cache());
}

CASE(context, synchronize_idle)
{
    say(cuCtxSynchronize());
}

CASE(context, peer_with_itself)
{
    say(cuCtxEnablePeerAccess(gold_context(), 0));
    say(cuCtxEnablePeerAccess(NULL, 0));
    say(cuCtxEnablePeerAccess(gold_context(), 1));
    say(cuCtxDisablePeerAccess(gold_context()));
    say(cuCtxDisablePeerAccess(NULL));
}

CASE(context, attach_and_detach, .alone = true)
{
    CUcontext context = NULL;
    say(cuCtxAttach(&context, 0));
    say_if("own", context == gold_context());
    say(cuCtxDetach(context));
    say(cuCtxAttach(&context, 1));
}
