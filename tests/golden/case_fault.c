/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: what a kernel's crime gives, to whom, and what still works after.
 *
 * Every case has a process of its own, because the context dies with it.
 */
#include "gold.h"

#include <stdatomic.h>

static const char crimes[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".shared .align 4 .b8 room[64];\n"
    ".visible .entry trap_at_once()\n"
    "{\n    trap;\n    ret;\n}\n"
    ".visible .entry trap_in_one_lane()\n"
    "{\n    .reg .pred %p<2>;\n    .reg .b32 %r<2>;\n    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p0, %r0, 17;\n"
    "    @%p0 trap;\n    ret;\n}\n"
    ".visible .entry poke(.param .u64 target)\n"
    "{\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n    st.volatile.global.u32 [%rd0], 1;\n    ret;\n}\n"
    ".visible .entry peek(.param .u64 target)\n"
    "{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n"
    "    ld.volatile.global.u32 %r0, [%rd0];\n    ret;\n}\n"
    ".visible .entry peek_generic(.param .u64 target)\n"
    "{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n    ld.volatile.u32 %r0, [%rd0];\n"
    "    ret;\n}\n"
    ".visible .entry add_atomically(.param .u64 target)\n"
    "{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n"
    "    atom.global.add.u32 %r0, [%rd0], 1;\n    ret;\n}\n"
    ".visible .entry poke_vector(.param .u64 target)\n"
    "{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n    mov.u32 %r0, 1;\n"
    "    st.volatile.global.v4.u32 [%rd0], {%r0, %r0, %r0, %r0};\n    ret;\n}\n"
    ".visible .entry poke_shared(.param .u32 offset)\n"
    "{\n    .reg .b32 %r<4>;\n    ld.param.u32 %r0, [offset];\n    mov.u32 %r1, room;\n    add.u32 %r2, %r0, %r1;\n"
    "    st.volatile.shared.u32 [%r2], 1;\n    ret;\n}\n"
    ".visible .func (.reg .b32 %out) sink(.reg .b32 %n, .reg .b64 %where)\n"
    "{\n    .local .align 8 .b8 frame[512];\n    .reg .b32 %r<4>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<2>;\n"
    "    mov.u64 %rd0, frame;\n    st.local.u32 [%rd0], %n;\n    add.u32 %r0, %n, 1;\n"
    "    ld.volatile.global.u32 %r2, [%where];\n    setp.eq.u32 %p0, %r2, %n;\n    mov.u32 %out, 0;\n    @%p0 bra done;\n"
    "    call (%r1), sink, (%r0, %where);\n    ld.local.u32 %r3, [%rd0];\n    add.u32 %out, %r1, %r3;\n"
    "done:\n    ret;\n}\n"
    ".visible .entry recurse(.param .u64 target)\n"
    "{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [target];\n    mov.u32 %r0, 1;\n"
    "    call (%r1), sink, (%r0, %rd0);\n    st.volatile.global.u32 [%rd0], %r1;\n    ret;\n}\n";

static CUfunction crime(const char *name)
{
    CUfunction function;
    NEED(cuModuleGetFunction(&function, gold_load(crimes), name));
    return function;
}

/* Commits a crime with one parameter and says what the next synchronisation gives. */
static void commit(const char *name, uint64_t parameter, unsigned threads)
{
    void *params[] = {&parameter};
    CUfunction function = crime(name);
    say(gold_launch(function, threads, NULL, params));
    say(cuCtxSynchronize());
}

#define NOWHERE 0x123456789000ull

/* ---- the crimes ---- */

CASE(fault, null_store, .alone = true)
{
    commit("poke", 0, 1);
}

CASE(fault, null_load, .alone = true)
{
    commit("peek", 0, 1);
}

CASE(fault, wild_store, .alone = true)
{
    commit("poke", NOWHERE, 32);
}

CASE(fault, wild_load, .alone = true)
{
    commit("peek", NOWHERE, 64);
}

CASE(fault, wild_generic_load, .alone = true)
{
    commit("peek_generic", NOWHERE, 1);
}

CASE(fault, wild_atomic, .alone = true)
{
    commit("add_atomically", NOWHERE, 1);
}

CASE(fault, non_canonical_store, .alone = true)
{
    commit("poke", 0xf123456789000000ull, 1);
}

CASE(fault, misaligned_load, .alone = true)
{
    commit("peek", gold_alloc_words(4, 0) + 1, 1);
}

CASE(fault, misaligned_store, .alone = true)
{
    commit("poke", gold_alloc_words(4, 0) + 2, 1);
}

CASE(fault, misaligned_atomic, .alone = true)
{
    commit("add_atomically", gold_alloc_words(4, 0) + 2, 1);
}

CASE(fault, misaligned_vector, .alone = true)
{
    commit("poke_vector", gold_alloc_words(16, 0) + 8, 1);
}

CASE(fault, freed_memory, .alone = true)
{
    CUdeviceptr address = gold_alloc((size_t)256 << 20);
    NEED(cuMemFree(address));
    commit("poke", address + 4096, 1);
}

CASE(fault, past_large_allocation, .alone = true)
{
    size_t size = (size_t)256 << 20;
    commit("poke", gold_alloc(size) + size + ((uint64_t)1 << 40), 1);
}

CASE(fault, shared_past_the_end, .alone = true)
{
    commit("poke_shared", 1 << 20, 1);
}

CASE(fault, trap, .alone = true)
{
    commit("trap_at_once", 0, 1);
}

CASE(fault, trap_in_one_lane, .alone = true)
{
    commit("trap_in_one_lane", 0, 64);
}

CASE(fault, endless_recursion, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_ERROR_ILLEGAL_ADDRESS|CUDA_SUCCESS CUDA_ERROR_HARDWARE_STACK_ERROR|"
              "CUDA_SUCCESS CUDA_ERROR_LAUNCH_FAILED",
     .why = "the manual names no status for a stack that is too small")
{
    commit("recurse", gold_alloc_words(1, 0), 1);
}

CASE(fault, assertion, .alone = true)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
        ".global .align 1 .b8 message[6] = {120, 32, 60, 32, 121, 0};\n"
        ".visible .entry fail()\n{\n    .reg .b64 %rd<3>;\n    mov.u64 %rd0, message;\n"
        "    cvta.global.u64 %rd1, %rd0;\n    {\n    .param .b64 p0;\n    .param .b64 p1;\n    .param .b32 p2;\n"
        "    .param .b64 p3;\n    .param .b64 p4;\n    st.param.b64 [p0], %rd1;\n    st.param.b64 [p1], %rd1;\n"
        "    st.param.b32 [p2], 7;\n    st.param.b64 [p3], %rd1;\n    st.param.b64 [p4], 1;\n"
        "    call.uni __assertfail, (p0, p1, p2, p3, p4);\n    }\n    ret;\n}\n";
    CUfunction function;
    NEED(cuModuleGetFunction(&function, gold_load(text), "fail"));
    say(gold_launch(function, 1, NULL, NULL));
    say(cuCtxSynchronize());
}

/* ---- who is told ---- */

/* Leaves the own context in a fault. */
static void spoil(void)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    NEED(gold_launch(crime("poke"), 1, NULL, params));
    if (cuCtxSynchronize() == CUDA_SUCCESS)
        gold_stop("no fault");
}

CASE(fault, stream_synchronize_tells, .alone = true)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_launch(crime("poke"), 1, stream, params));
    say(cuStreamSynchronize(stream));
    say(cuStreamQuery(stream));
}

CASE(fault, event_tells, .alone = true)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    NEED(gold_launch(crime("poke"), 1, stream, params));
    CUresult recorded = cuEventRecord(event, stream);
    if (recorded != CUDA_SUCCESS && recorded != CUDA_ERROR_ILLEGAL_ADDRESS)
        say(recorded);
    say(cuEventSynchronize(event));
    say(cuEventQuery(event));
}

CASE(fault, copy_tells, .alone = true)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value;
    NEED(gold_launch(crime("poke"), 1, NULL, params));
    say(cuMemcpyDtoH(&value, word, 4));
}

CASE(fault, everything_after, .alone = true)
{
    CUstream stream = gold_stream(0), made;
    CUevent event = gold_event(0), other;
    CUfunction empty = gold_function("empty");
    CUdeviceptr word = gold_alloc_words(1, 0), address;
    CUmodule module;
    size_t free_bytes, total;
    unsigned value = 1;
    spoil();
    say(cuCtxSynchronize());
    say(cuStreamSynchronize(stream));
    say(cuStreamQuery(stream));
    say(cuStreamQuery(NULL));
    say(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    say(cuMemAlloc(&address, 16));
    say(cuMemFree(word));
    say(cuMemcpyHtoD(word, &value, 4));
    say(cuMemsetD8(word, 0, 4));
    say(gold_launch(empty, 1, stream, NULL));
    say(cuStreamCreate(&made, 0));
    say(cuEventCreate(&other, 0));
    say(cuModuleLoadData(&module, gold_ptx));
    say(cuMemGetInfo(&free_bytes, &total));
}

CASE(fault, what_needs_no_device_after, .alone = true)
{
    CUcontext context;
    CUdevice device;
    unsigned flags;
    int value;
    spoil();
    say(cuCtxGetCurrent(&context));
    say(cuCtxGetDevice(&device));
    say(cuCtxGetFlags(&flags));
    say(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, gold_device()));
    say(cuCtxPopCurrent(&context));
    say(cuCtxPushCurrent(context));
}

CASE(fault, destroy_after, .alone = true)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(0);
    spoil();
    say(cuEventDestroy(event));
    say(cuStreamDestroy(stream));
}

CASE(fault, new_context_after, .alone = true)
{
    spoil();
    say(cuCtxDestroy(gold_context()));
    CUcontext fresh;
    CUresult status = cuCtxCreate(&fresh, NULL, 0, gold_device());
    say(status);
    if (status == CUDA_SUCCESS) {
        CUdeviceptr address = 0;
        say(cuMemAlloc(&address, 16));
        say(cuMemsetD32(address, 5, 4));
        say(cuCtxSynchronize());
    }
}

CASE(fault, primary_context_reset_after, .alone = true)
{
    CUcontext context;
    CUdeviceptr address = 0;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    NEED(cuCtxSetCurrent(context));
    spoil();
    say(cuDevicePrimaryCtxReset(gold_device()));
    CUresult status = cuDevicePrimaryCtxRetain(&context, gold_device());
    say(status);
    say(cuCtxSetCurrent(context));
    say(cuMemAlloc(&address, 16));
}

CASE(fault, other_context_goes_on, .alone = true)
{
    CUcontext other = gold_context_new(), popped;
    CUdeviceptr address = gold_alloc_words(4, 3);
    NEED(cuCtxPopCurrent(&popped));
    spoil();
    NEED(cuCtxSetCurrent(other));
    say(cuMemsetD32(address, 4, 4));
    say(cuCtxSynchronize());
    unsigned value = 0;
    say(cuMemcpyDtoH(&value, address, 4));
    say_int(value);
}

static atomic_int host_calls;
static CUresult callback_status;

static void host_call(void *data)
{
    (void)data;
    atomic_fetch_add(&host_calls, 1);
}

static void CUDA_CB callback(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    callback_status = status;
    atomic_fetch_add((atomic_int *)data, 1);
}

CASE(fault, host_function_behind_it, .alone = true)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUfunction poke = crime("poke");
    struct gold_gate gate = gold_gate_close(stream);
    NEED(gold_launch(poke, 1, stream, params));
    NEED(cuLaunchHostFunc(stream, host_call, NULL));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(atomic_load(&host_calls));
}

CASE(fault, callback_behind_it, .alone = true)
{
    static atomic_int calls;
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUfunction poke = crime("poke");
    struct gold_gate gate = gold_gate_close(stream);
    NEED(gold_launch(poke, 1, stream, params));
    NEED(cuStreamAddCallback(stream, callback, &calls, 0));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    for (int i = 0; i < 2000 && atomic_load(&calls) == 0; i++)
        gold_sleep_ms(1);
    say_int(atomic_load(&calls));
    say(callback_status);
}

CASE(fault, work_in_other_stream, .alone = true)
{
    uint64_t parameter = NOWHERE;
    void *params[] = {&parameter};
    CUstream bad = gold_stream(CU_STREAM_NON_BLOCKING), good = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_launch(crime("poke"), 1, bad, params));
    say(cuStreamSynchronize(bad));
    say(cuStreamSynchronize(good));
}
