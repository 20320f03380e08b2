/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: creation, query, waiting, priorities, attributes, the default streams, host functions and callbacks. */
#include "rt.h"

#include <string.h>

/* What a destroyed handle gets is documented; NVIDIA's library may crash on it. */
#define DESTROYED \
    .alone = true, .allow = "cudaErrorInvalidResourceHandle|cudaErrorInvalidValue|cudaErrorContextIsDestroyed", \
    .why = "a destroyed handle: a crash on hardware; a documented refusal here"

/* ---- creation ---- */

CASE(stream, create)
{
    cudaStream_t stream = NULL;
    unsigned flags = 77;
    int priority = 77;
    rt(cudaStreamCreate(&stream));
    rt(cudaStreamGetFlags(stream, &flags));
    say_hex(flags);
    rt(cudaStreamGetPriority(stream, &priority));
    say_int(priority);
    rt(cudaStreamDestroy(stream));
}

CASE(stream, create_with_flags)
{
    for (unsigned flags = 0; flags < 5; flags++) {
        cudaStream_t stream = NULL;
        unsigned got = 77;
        cudaError_t status = cudaStreamCreateWithFlags(&stream, flags);
        rt_noted(status);
        if (status != cudaSuccess)
            continue;
        rt(cudaStreamGetFlags(stream, &got));
        say_hex(got);
        RT_NEED(cudaStreamDestroy(stream));
    }
}

CASE(stream, create_null)
{
    rt_noted(cudaStreamCreateWithFlags(NULL, 0));
    rt_noted(cudaStreamCreateWithPriority(NULL, 0, 0));
}

CASE(stream, create_with_priority)
{
    static const int wanted[] = {0, -1, 5, -100};
    for (int i = 0; i < 4; i++) {
        cudaStream_t stream = NULL;
        int priority = 77, least, greatest;
        RT_NEED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        rt(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, wanted[i]));
        rt(cudaStreamGetPriority(stream, &priority));
        say_if("greatest", priority == greatest);
        say_if("least", priority == least);
        RT_NEED(cudaStreamDestroy(stream));
    }
}

CASE(stream, create_with_priority_bad_flags)
{
    cudaStream_t stream = NULL;
    rt_noted(cudaStreamCreateWithPriority(&stream, 8, 0));
    say_if("untouched", stream == NULL);
}

CASE(stream, destroy_null)
{
    rt_noted(cudaStreamDestroy(NULL));
}

CASE(stream, destroy_legacy)
{
    rt_noted(cudaStreamDestroy(cudaStreamLegacy));
    rt_noted(cudaStreamDestroy(cudaStreamPerThread));
}

CASE(stream, destroy_busy)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *word = rt_words(1, 0);
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, word, 3);
    rt(cudaStreamDestroy(stream));
    rt_gate_open(gate);
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(stream, destroy_twice, DESTROYED)
{
    cudaStream_t stream = rt_stream(0);
    RT_NEED(cudaStreamDestroy(stream));
    rt(cudaStreamDestroy(stream));
}

CASE(stream, query_destroyed, DESTROYED)
{
    cudaStream_t stream = rt_stream(0);
    RT_NEED(cudaStreamDestroy(stream));
    rt(cudaStreamQuery(stream));
}

CASE(stream, synchronize_destroyed, DESTROYED)
{
    cudaStream_t stream = rt_stream(0);
    RT_NEED(cudaStreamDestroy(stream));
    rt(cudaStreamSynchronize(stream));
}

CASE(stream, launch_in_destroyed, DESTROYED)
{
    cudaStream_t stream = rt_stream(0);
    const void *kernel = rt_kernel("empty");
    RT_NEED(cudaStreamDestroy(stream));
    rt(rt_launch(kernel, 1, stream, NULL));
}

/* ---- state ---- */

CASE(stream, query_states)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt(cudaStreamQuery(stream));
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    rt(cudaStreamQuery(stream));
}

CASE(stream, query_default)
{
    rt(cudaStreamQuery(NULL));
    rt(cudaStreamQuery(cudaStreamLegacy));
    rt(cudaStreamQuery(cudaStreamPerThread));
    rt(cudaStreamSynchronize(NULL));
    rt(cudaStreamSynchronize(cudaStreamLegacy));
    rt(cudaStreamSynchronize(cudaStreamPerThread));
}

CASE(stream, properties_of_default)
{
    unsigned flags = 77;
    int priority = 77, device = 77;
    rt(cudaStreamGetFlags(NULL, &flags));
    say_hex(flags);
    rt(cudaStreamGetPriority(NULL, &priority));
    say_int(priority);
    rt(cudaStreamGetDevice(NULL, &device));
    say_int(device);
    rt(cudaStreamGetFlags(cudaStreamPerThread, &flags));
    say_hex(flags);
}

CASE(stream, results_null)
{
    cudaStream_t stream = rt_stream(0);
    rt_noted(cudaStreamGetFlags(stream, NULL));
    rt_noted(cudaStreamGetPriority(stream, NULL));
    rt_noted(cudaStreamGetId(stream, NULL));
}

#define RESULT_NULL(title, call) \
    CASE(stream, title, RT_CRASHES("cudaErrorInvalidValue")) \
    { \
        cudaStream_t stream = rt_stream(0); \
        rt_noted(call); \
    }

RESULT_NULL(device_null, cudaStreamGetDevice(stream, NULL))
RESULT_NULL(attribute_null, cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, NULL))
RESULT_NULL(set_attribute_null, cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, NULL))

CASE(stream, ids)
{
    cudaStream_t first = rt_stream(0), second = rt_stream(0);
    unsigned long long one = 0, two = 0, legacy = 0, null = 77, own = 0;
    rt(cudaStreamGetId(first, &one));
    rt(cudaStreamGetId(second, &two));
    rt(cudaStreamGetId(NULL, &null));
    rt(cudaStreamGetId(cudaStreamLegacy, &legacy));
    rt(cudaStreamGetId(cudaStreamPerThread, &own));
    say_if("differ", one != two);
    say_value("null is", null == legacy);
    say_value("own is legacy", own == legacy);
}

CASE(stream, device_of)
{
    int device = 77;
    rt(cudaStreamGetDevice(rt_stream(0), &device));
    say_int(device);
}

/* ---- waiting for events ---- */

CASE(stream, wait_orders)
{
    cudaStream_t first = rt_stream(cudaStreamNonBlocking), second = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    unsigned *word = rt_words(1, 0);
    struct rt_gate gate = rt_gate_close(first);
    rt_store(first, word, 5);
    RT_NEED(cudaEventRecord(event, first));
    rt(cudaStreamWaitEvent(second, event, 0));
    rt_add(second, word, 2);
    rt(cudaStreamQuery(second));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(second));
    say_int(rt_word(word));
}

CASE(stream, wait_unrecorded)
{
    rt(cudaStreamWaitEvent(rt_stream(0), rt_event(0), 0));
    rt(cudaStreamWaitEvent(NULL, rt_event(0), 0));
}

CASE(stream, wait_null)
{
    rt_noted(cudaStreamWaitEvent(rt_stream(0), NULL, 0));
    rt_noted(cudaStreamWaitEvent(NULL, NULL, 0));
}

CASE(stream, wait_bad_flags)
{
    rt_noted(cudaStreamWaitEvent(rt_stream(0), rt_event(0), 2));
    rt_noted(cudaStreamWaitEvent(rt_stream(0), rt_event(0), 0x100));
}

CASE(stream, wait_external_outside_capture)
{
    rt_noted(cudaStreamWaitEvent(rt_stream(0), rt_event(0), cudaEventWaitExternal));
}

/* ---- default-stream rules ---- */

CASE(stream, legacy_waits_for_blocking)
{
    cudaStream_t stream = rt_stream(cudaStreamDefault);
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(rt_launch(rt_kernel("empty"), 1, NULL, NULL));
    rt(cudaStreamQuery(NULL));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(NULL));
    rt(cudaStreamQuery(stream));
}

CASE(stream, legacy_passes_nonblocking)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(rt_launch(rt_kernel("empty"), 1, NULL, NULL));
    rt(cudaStreamSynchronize(NULL));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
}

CASE(stream, per_thread_waits_for_legacy)
{
    struct rt_gate gate = rt_gate_close(cudaStreamLegacy);
    RT_NEED(rt_launch(rt_kernel("empty"), 1, cudaStreamPerThread, NULL));
    rt(cudaStreamQuery(cudaStreamPerThread));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(cudaStreamPerThread));
}

/* ---- attributes ---- */

CASE(stream, attribute_priority)
{
    cudaStream_t stream = rt_stream(0);
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    rt(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
    say_int(value.priority);
    value.priority = -1;
    rt(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
    rt(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
    say_int(value.priority);
}

CASE(stream, attribute_policy)
{
    cudaStream_t stream = rt_stream(0);
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    rt(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    say_int(value.syncPolicy);
    value.syncPolicy = cudaSyncPolicySpin;
    rt(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    rt(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    say_int(value.syncPolicy);
}

CASE(stream, attribute_bad)
{
    cudaStream_t stream = rt_stream(0);
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    rt_noted(cudaStreamGetAttribute(stream, cudaLaunchAttributeCooperative, &value));
    rt_noted(cudaStreamSetAttribute(stream, cudaLaunchAttributeClusterDimension, &value));
    rt_noted(cudaStreamGetAttribute(stream, (cudaLaunchAttributeID)100, &value));
}

CASE(stream, copy_attributes)
{
    cudaStream_t to = rt_stream(0), from = rt_stream(0);
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = cudaSyncPolicyYield;
    RT_NEED(cudaStreamSetAttribute(from, cudaLaunchAttributeSynchronizationPolicy, &value));
    rt(cudaStreamCopyAttributes(to, from));
    rt(cudaStreamGetAttribute(to, cudaLaunchAttributeSynchronizationPolicy, &value));
    say_int(value.syncPolicy);
}

/* ---- memory attached to streams ---- */

CASE(stream, attach_managed)
{
    cudaStream_t stream = rt_stream(0);
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    rt(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    rt(cudaStreamSynchronize(stream));
    rt(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachHost));
    rt(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachGlobal));
    rt(cudaStreamSynchronize(stream));
    rt(cudaFree(memory));
}

#define ATTACH_BAD(title, length, flags, ...) \
    CASE(stream, title, __VA_ARGS__) \
    { \
        void *memory; \
        RT_NEED(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal)); \
        rt_noted(cudaStreamAttachMemAsync(rt_stream(0), memory, length, flags)); \
    }

ATTACH_BAD(attach_no_flags, 0, 0, RT_CRASHES("cudaErrorInvalidValue"))
ATTACH_BAD(attach_unknown_flags, 0, 8, .allow = NULL)
ATTACH_BAD(attach_part, 32, cudaMemAttachSingle, .allow = NULL)

CASE(stream, attach_managed_to_default)
{
    void *memory;
    RT_NEED(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    rt_noted(cudaStreamAttachMemAsync(NULL, memory, 0, cudaMemAttachSingle));
    rt_noted(cudaStreamAttachMemAsync(NULL, memory, 0, cudaMemAttachGlobal));
    rt(cudaDeviceSynchronize());
    rt(cudaFree(memory));
}

CASE(stream, attach_other_memory)
{
    rt_noted(cudaStreamAttachMemAsync(rt_stream(0), rt_alloc(64), 0, cudaMemAttachSingle));
}

CASE(stream, attach_bad)
{
    cudaStream_t stream = rt_stream(0);
    rt_noted(cudaStreamAttachMemAsync(stream, NULL, 0, cudaMemAttachSingle));
    rt_noted(cudaStreamAttachMemAsync(stream, rt_alloc(64), 0, cudaMemAttachSingle));
}

CASE(stream, reset_l2)
{
    rt(cudaCtxResetPersistingL2Cache());
}

/* ---- host functions ---- */

static void store_seven(void *data)
{
    *(volatile int *)data = 7;
}

CASE(host_func, runs)
{
    static volatile int value;
    cudaStream_t stream = rt_stream(0);
    value = 0;
    rt(cudaLaunchHostFunc(stream, store_seven, (void *)(uintptr_t)&value));
    rt(cudaStreamSynchronize(stream));
    say_int(value);
}

CASE(host_func, default_stream)
{
    static volatile int value;
    value = 0;
    rt(cudaLaunchHostFunc(NULL, store_seven, (void *)(uintptr_t)&value));
    rt(cudaStreamSynchronize(NULL));
    say_int(value);
}

CASE(host_func, null)
{
    rt_noted(cudaLaunchHostFunc(rt_stream(0), NULL, NULL));
}

static cudaError_t inside[6];

static void call_inside(void *data)
{
    void *memory;
    int device;
    (void)data;
    inside[0] = cudaMalloc(&memory, 4);
    inside[1] = cudaPeekAtLastError();
    inside[2] = cudaStreamQuery(NULL);
    inside[3] = cudaGetLastError();
    inside[4] = cudaGetLastError();
    inside[5] = cudaGetDevice(&device);
}

CASE(host_func, calls_inside, .alone = true)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt(cudaLaunchHostFunc(stream, call_inside, NULL));
    rt(cudaStreamSynchronize(stream));
    for (int i = 0; i < 6; i++)
        rt(inside[i]);
    rt_last();
}

static struct {
    cudaStream_t stream;
    cudaError_t status;
    void *data;
} seen;

static void callback(cudaStream_t stream, cudaError_t status, void *data)
{
    seen.stream = stream;
    seen.status = status;
    seen.data = data;
}

CASE(callback, runs)
{
    cudaStream_t stream = rt_stream(0);
    rt(cudaStreamAddCallback(stream, callback, &seen, 0));
    rt(cudaStreamSynchronize(stream));
    say_if("stream", seen.stream == stream);
    rt(seen.status);
    say_if("data", seen.data == &seen);
}

CASE(callback, default_stream)
{
    seen.stream = (cudaStream_t)GOLD_WILD;
    rt(cudaStreamAddCallback(NULL, callback, NULL, 0));
    rt(cudaStreamSynchronize(NULL));
    say_if("null", seen.stream == NULL);
    say_if("legacy", seen.stream == cudaStreamLegacy);
}

CASE(callback, bad)
{
    rt_noted(cudaStreamAddCallback(rt_stream(0), NULL, NULL, 0));
    rt_noted(cudaStreamAddCallback(rt_stream(0), callback, NULL, 1));
}
