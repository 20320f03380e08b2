/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread waits: scheduling flags of contexts, blocking events, the
 * synchronisation policy of a stream.  That a wait ends is the same under every
 * policy; that a blocking one takes no processor time is asked of the thread's
 * own clock, which stands still while it sleeps.
 */
#include "gold.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static const unsigned schedules[] = {CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD,
                                     CU_CTX_SCHED_BLOCKING_SYNC};
enum { SCHEDULES = 4 };

static void *open_later(void *data)
{
    gold_sleep_ms(200);
    gold_gate_open(*(struct gold_gate *)data);
    return NULL;
}

/* Processor time that this thread takes in a call which lasts 200 ms. */
static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

enum wait_kind { WAIT_EVENT, WAIT_STREAM, WAIT_CONTEXT };

/* Waits for a kernel that another thread lets go after 200 ms; says status, and whether it took less than a quarter of
 * that on the processor. */
static void wait_and_say(enum wait_kind kind, CUstream stream, unsigned event_flags, bool say_cpu)
{
    CUevent event = gold_event(event_flags);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    pthread_t opener;
    if (pthread_create(&opener, NULL, open_later, &gate))
        gold_stop("pthread_create");
    double begin = cpu_ms();
    CUresult status = kind == WAIT_EVENT    ? cuEventSynchronize(event)
                      : kind == WAIT_STREAM ? cuStreamSynchronize(stream)
                                            : cuCtxSynchronize();
    double took = cpu_ms() - begin;
    pthread_join(opener, NULL);
    say(status);
    say(cuEventQuery(event));
    if (say_cpu)
        say_if("sleeps", took < 50);
}

static void context_with(unsigned flags)
{
    CUcontext context;
    NEED(cuCtxCreate(&context, NULL, flags, gold_device()));
}

/* The gate's kernel belongs to the child's own context: a fresh one has its own module. */
static CUstream gated_stream(struct gold_gate *gate)
{
    static volatile unsigned *flags;
    void *memory;
    CUfunction spin;
    CUdeviceptr address;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 64);
    flags = memory;
    gate->flag = flags;
    NEED(cuModuleGetFunction(&spin, gold_load(gold_ptx), "spin"));
    NEED(cuMemHostGetDevicePointer(&address, memory, 0));
    void *params[] = {&address};
    NEED(gold_launch(spin, 1, stream, params));
    return stream;
}

static void wait_in_context(unsigned flags, enum wait_kind kind, unsigned event_flags, bool say_cpu)
{
    struct gold_gate gate;
    pthread_t opener;
    context_with(flags);
    CUstream stream = gated_stream(&gate);
    CUevent event = gold_event(event_flags);
    NEED(cuEventRecord(event, stream));
    if (pthread_create(&opener, NULL, open_later, &gate))
        gold_stop("pthread_create");
    double begin = cpu_ms();
    CUresult status = kind == WAIT_EVENT    ? cuEventSynchronize(event)
                      : kind == WAIT_STREAM ? cuStreamSynchronize(stream)
                                            : cuCtxSynchronize();
    double took = cpu_ms() - begin;
    pthread_join(opener, NULL);
    say(status);
    if (say_cpu)
        say_if("sleeps", took < 50);
}

CASE(wait_policy, spin_event, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_SPIN, WAIT_EVENT, 0, false);
}

CASE(wait_policy, yield_event, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_YIELD, WAIT_EVENT, 0, false);
}

CASE(wait_policy, auto_event, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_AUTO, WAIT_EVENT, 0, false);
}

CASE(wait_policy, blocking_context_stream, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_BLOCKING_SYNC, WAIT_STREAM, 0, true);
}

CASE(wait_policy, blocking_context_context, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_BLOCKING_SYNC, WAIT_CONTEXT, 0, true);
}

CASE(wait_policy, blocking_context_plain_event, .alone = true,
     .allow = "CUDA_SUCCESS sleeps=yes|CUDA_SUCCESS sleeps=no", .why = "the manual leaves open how it waits")
{
    wait_in_context(CU_CTX_SCHED_BLOCKING_SYNC, WAIT_EVENT, 0, true);
}

CASE(wait_policy, blocking_event_in_spin_context, .alone = true)
{
    wait_in_context(CU_CTX_SCHED_SPIN, WAIT_EVENT, CU_EVENT_BLOCKING_SYNC, true);
}

CASE(wait_policy, blocking_event)
{
    wait_and_say(WAIT_EVENT, gold_stream(CU_STREAM_NON_BLOCKING), CU_EVENT_BLOCKING_SYNC, true);
}

CASE(wait_policy, blocking_event_without_timing)
{
    wait_and_say(WAIT_EVENT, gold_stream(CU_STREAM_NON_BLOCKING), CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING,
                 true);
}

CASE(wait_policy, blocking_event_in_default_stream)
{
    wait_and_say(WAIT_EVENT, NULL, CU_EVENT_BLOCKING_SYNC, true);
}

CASE(wait_policy, each_stream_policy)
{
    static const CUsynchronizationPolicy policies[] = {CU_SYNC_POLICY_AUTO, CU_SYNC_POLICY_SPIN, CU_SYNC_POLICY_YIELD,
                                                       CU_SYNC_POLICY_BLOCKING_SYNC};
    for (int i = 0; i < 4; i++) {
        CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
        CUstreamAttrValue value;
        memset(&value, 0, sizeof value);
        value.syncPolicy = policies[i];
        say(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        wait_and_say(WAIT_STREAM, stream, 0, policies[i] == CU_SYNC_POLICY_BLOCKING_SYNC);
    }
}

CASE(wait_policy, stream_policy_reads_back)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamAttrValue value;
    for (int policy = -1; policy <= 6; policy++) {
        memset(&value, 0, sizeof value);
        value.syncPolicy = (CUsynchronizationPolicy)policy;
        say(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        memset(&value, 0, sizeof value);
        NEED(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        say_int((int)value.syncPolicy);
    }
}

CASE(wait_policy, default_streams_policy)
{
    CUstream streams[3] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 3; i++) {
        CUstreamAttrValue value;
        memset(&value, 0, sizeof value);
        value.syncPolicy = CU_SYNC_POLICY_YIELD;
        say(cuStreamSetAttribute(streams[i], CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        memset(&value, 0, sizeof value);
        say(cuStreamGetAttribute(streams[i], CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        say_int((int)value.syncPolicy);
    }
}

CASE(wait_policy, context_flags_read_back, .alone = true)
{
    for (int i = 0; i < SCHEDULES; i++) {
        unsigned flags = 99;
        context_with(schedules[i]);
        NEED(cuCtxGetFlags(&flags));
        say_hex(flags);
    }
    unsigned flags = 99;
    context_with(CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX);
    NEED(cuCtxGetFlags(&flags));
    say_hex(flags);
}

CASE(wait_policy, context_flags_set, .alone = true)
{
    for (int i = 0; i < SCHEDULES; i++) {
        unsigned flags = 99;
        say(cuCtxSetFlags(schedules[i]));
        NEED(cuCtxGetFlags(&flags));
        say_hex(flags);
    }
}

CASE(wait_policy, context_flags_set_each, .alone = true)
{
    for (unsigned flags = 0; flags < 0x100; flags++) {
        unsigned now = 99;
        if (flags & (CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE))
            continue;
        CUresult status = cuCtxSetFlags(flags);
        NEED(cuCtxGetFlags(&now));
        say_value(status == CUDA_SUCCESS ? "ok" : status == CUDA_ERROR_INVALID_VALUE ? "bad" : "other", now);
    }
}

CASE(wait_policy, context_flags_core_dumps, .alone = true)
{
    static const unsigned bits[] = {CU_CTX_COREDUMP_ENABLE, CU_CTX_USER_COREDUMP_ENABLE};
    for (int i = 0; i < 2; i++) {
        unsigned now = 99;
        say(cuCtxSetFlags(bits[i]));
        NEED(cuCtxGetFlags(&now));
        say_hex(now);
    }
}

CASE(wait_policy, context_flags_set_high, .alone = true)
{
    for (unsigned bit = 8; bit < 32; bit++) {
        CUresult status = cuCtxSetFlags(1u << bit);
        say_text(status == CUDA_SUCCESS ? "ok" : status == CUDA_ERROR_INVALID_VALUE ? "bad" : "other");
    }
}

CASE(wait_policy, context_flags_set_takes_effect, .alone = true)
{
    say(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
    wait_and_say(WAIT_STREAM, gold_stream(CU_STREAM_NON_BLOCKING), 0, true);
    say(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    wait_and_say(WAIT_STREAM, gold_stream(CU_STREAM_NON_BLOCKING), 0, false);
}

CASE(wait_policy, context_flags_without_context, .alone = true)
{
    unsigned flags;
    NEED(cuCtxSetCurrent(NULL));
    say(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    say(cuCtxGetFlags(&flags));
    say(cuCtxSetFlags(0x40000000));
}

CASE(wait_policy, create_with_each_schedule, .alone = true)
{
    for (unsigned flags = 0; flags < 8; flags++) {
        CUcontext context = NULL;
        CUresult status = cuCtxCreate(&context, NULL, flags, gold_device());
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuCtxDestroy(context));
    }
}

CASE(wait_policy, primary_flags, .alone = true)
{
    CUcontext context;
    unsigned flags = 99;
    int active = 9;
    say(cuDevicePrimaryCtxSetFlags(gold_device(), CU_CTX_SCHED_BLOCKING_SYNC));
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    NEED(cuCtxSetCurrent(context));
    NEED(cuCtxGetFlags(&flags));
    say_hex(flags);
    say(cuDevicePrimaryCtxSetFlags(gold_device(), CU_CTX_SCHED_YIELD));
    NEED(cuCtxGetFlags(&flags));
    say_hex(flags);
    say(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    NEED(cuCtxGetFlags(&flags));
    say_hex(flags);
    NEED(cuDevicePrimaryCtxGetState(gold_device(), &flags, &active));
    say_hex(flags);
    say_int(active);
}

CASE(wait_policy, memory_wait_sleeps, .alone = true)
{
    void *memory;
    CUdeviceptr address;
    struct gold_gate gate;
    pthread_t opener;
    NEED(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
    NEED(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 64);
    NEED(cuMemHostGetDevicePointer(&address, memory, 0));
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ));
    gate.flag = memory;
    if (pthread_create(&opener, NULL, open_later, &gate))
        gold_stop("pthread_create");
    double begin = cpu_ms();
    say(cuStreamSynchronize(stream));
    say_if("sleeps", cpu_ms() - begin < 50);
    pthread_join(opener, NULL);
}

CASE(wait_policy, query_never_waits)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_BLOCKING_SYNC);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
    say(cuEventQuery(event));
}

CASE(wait_policy, event_flags_each)
{
    for (unsigned flags = 0; flags < 16; flags++) {
        CUevent event = NULL;
        CUresult status = cuEventCreate(&event, flags);
        say(status);
        if (status == CUDA_SUCCESS)
            NEED(cuEventDestroy(event));
    }
}
