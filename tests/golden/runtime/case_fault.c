/* SPDX-License-Identifier: Apache-2.0 */
/* After a fault: what the process may still do, and what cudaDeviceReset gives back. Each case has a process of its
 * own. */
#include "rt.h"

/* Ends the context by a store to address 0, and clears the last error. */
static void spoil(void)
{
    void *nowhere = NULL;
    unsigned value = 1;
    void *params[] = {&nowhere, &value};
    RT_NEED(rt_launch(&rt_host_store, 1, NULL, params));
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        gold_stop("there was no fault");
    cudaGetLastError();
}

static void spoil_and_reset(void)
{
    spoil();
    RT_NEED(cudaDeviceReset());
    cudaGetLastError();
}

/* ---- without a reset ---- */

CASE(fault_after, destroy, .alone = true)
{
    cudaStream_t stream = rt_stream(0);
    cudaEvent_t event = rt_event(0);
    void *memory = rt_alloc(64), *host = NULL;
    RT_NEED(cudaMallocHost(&host, 64));
    spoil();
    rt_noted(cudaFree(memory));
    rt_noted(cudaFreeHost(host));
    rt_noted(cudaEventDestroy(event));
    rt_noted(cudaStreamDestroy(stream));
}

CASE(fault_after, questions, .alone = true)
{
    static struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes about;
    size_t size = 0, total = 0;
    int value = 0;
    void *memory = rt_alloc(64);
    spoil();
    rt_noted(cudaMemGetInfo(&size, &total));
    rt_noted(cudaGetDeviceProperties(&properties, 0));
    rt_noted(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    rt_noted(cudaFuncGetAttributes(&attributes, &rt_host_store));
    rt_noted(cudaPointerGetAttributes(&about, memory));
    rt_noted(cudaDriverGetVersion(&value));
    rt_noted(cudaDeviceGetStreamPriorityRange(&value, &value));
    rt_noted(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    rt_noted(cudaGetSymbolSize(&size, &rt_host_counter));
}

CASE(fault_after, launch_is_noted, .alone = true)
{
    spoil();
    rt_noted(rt_launch(&rt_host_empty, 1, NULL, NULL));
    rt_last();
}

CASE(fault_after, set_device, .alone = true)
{
    void *memory = NULL;
    spoil();
    rt_noted(cudaSetDevice(0));
    rt_noted(cudaInitDevice(0, 0, 0));
    rt_noted(cudaMalloc(&memory, 4));
}

/* ---- with one ---- */

CASE(fault_reset, malloc, .alone = true)
{
    void *memory = NULL;
    spoil_and_reset();
    rt(cudaMalloc(&memory, 4));
    rt(cudaPeekAtLastError());
    rt_last();
    rt_last();
    rt(cudaMalloc(&memory, 4));
    rt_last();
}

CASE(fault_reset, free_nothing, .alone = true)
{
    spoil_and_reset();
    rt_noted(cudaFree(NULL));
    rt_noted(cudaFree(NULL));
}

CASE(fault_reset, set_device, .alone = true)
{
    spoil_and_reset();
    rt_noted(cudaSetDevice(0));
    rt_noted(cudaSetDevice(0));
}

CASE(fault_reset, init_device, .alone = true)
{
    spoil_and_reset();
    rt_noted(cudaInitDevice(0, 0, 0));
}

CASE(fault_reset, synchronize, .alone = true)
{
    spoil_and_reset();
    rt_noted(cudaDeviceSynchronize());
    rt_noted(cudaStreamSynchronize(NULL));
    rt_noted(cudaStreamQuery(NULL));
}

CASE(fault_reset, launch, .alone = true)
{
    spoil_and_reset();
    rt_noted(rt_launch(&rt_host_empty, 1, NULL, NULL));
    rt_last();
}

CASE(fault_reset, stub_launch, .alone = true)
{
    dim3 one = {1, 1, 1};
    spoil_and_reset();
    rt(rt_stub_launch(one, one, 0));
    rt_last();
}

CASE(fault_reset, streams_and_events, .alone = true)
{
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    spoil_and_reset();
    rt_noted(cudaStreamCreate(&stream));
    rt_noted(cudaEventCreate(&event));
    rt_noted(cudaEventRecord(NULL, NULL));
}

CASE(fault_reset, copies, .alone = true)
{
    unsigned value = 0;
    void *memory = rt_alloc(64);
    spoil_and_reset();
    rt_noted(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(&value, &value, 0, cudaMemcpyHostToHost));
    rt_noted(cudaMemset(memory, 0, 4));
    rt_noted(cudaFree(memory));
}

CASE(fault_reset, questions, .alone = true)
{
    static struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;
    size_t size = 0, total = 0;
    int value = 0;
    unsigned flags = 0;
    spoil_and_reset();
    rt_noted(cudaGetDevice(&value));
    rt_noted(cudaGetDeviceCount(&value));
    rt_noted(cudaGetDeviceFlags(&flags));
    rt_noted(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    rt_noted(cudaGetDeviceProperties(&properties, 0));
    rt_noted(cudaDriverGetVersion(&value));
    rt_noted(cudaRuntimeGetVersion(&value));
    rt_noted(cudaMemGetInfo(&size, &total));
    rt_noted(cudaFuncGetAttributes(&attributes, &rt_host_store));
    rt_noted(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    rt_noted(cudaDeviceGetStreamPriorityRange(&value, &value));
    rt_noted(cudaGetSymbolSize(&size, &rt_host_counter));
}

CASE(fault_reset, host_memory, .alone = true)
{
    static char some[8192];
    void *memory = NULL;
    spoil_and_reset();
    rt_noted(cudaMallocHost(&memory, 64));
    rt_noted(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    rt_noted(cudaHostRegister(some, sizeof some, 0));
    rt_noted(cudaFreeHost(NULL));
}

CASE(fault_reset, graph, .alone = true)
{
    cudaGraph_t graph = NULL;
    spoil_and_reset();
    rt_noted(cudaGraphCreate(&graph, 0));
}

CASE(fault_reset, again, .alone = true)
{
    void *memory = NULL;
    spoil_and_reset();
    rt_noted(cudaDeviceReset());
    rt_noted(cudaMalloc(&memory, 4));
    rt_noted(cudaDeviceReset());
    rt_noted(cudaMalloc(&memory, 4));
}

static void use_device(void *argument)
{
    void *memory = NULL;
    cudaError_t *errors = argument;
    errors[0] = cudaMalloc(&memory, 4);
    errors[1] = cudaGetLastError();
}

CASE(fault_reset, other_thread, .alone = true)
{
    cudaError_t errors[2];
    void *memory = NULL;
    spoil_and_reset();
    rt_thread(use_device, errors);
    rt(errors[0]);
    rt(errors[1]);
    rt_noted(cudaMalloc(&memory, 4));
}

/* The reset comes first, and nobody has asked what became of the kernel. */
CASE(fault_reset, unasked, .alone = true)
{
    void *nowhere = NULL, *memory = NULL;
    unsigned value = 1;
    void *params[] = {&nowhere, &value};
    RT_NEED(rt_launch(&rt_host_store, 1, NULL, params));
    rt_noted(cudaDeviceReset());
    rt_noted(cudaMalloc(&memory, 4));
}

static const char crimes[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry trap_at_once()\n"
    "{\n    trap;\n    ret;\n}\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".global .align 1 .b8 text[8] = {111, 110, 101, 0};\n"
    ".visible .entry fail_at_once()\n"
    "{\n    .reg .b64 %rd<4>;\n    .reg .b32 %r<2>;\n    mov.u64 %rd0, text;\n    cvta.global.u64 %rd1, %rd0;\n"
    "    mov.u64 %rd2, 1;\n    mov.u32 %r0, 1;\n    {\n    .param .b64 a;\n    .param .b64 b;\n    .param .b32 c;\n"
    "    .param .b64 d;\n    .param .b64 e;\n    st.param.b64 [a], %rd1;\n    st.param.b64 [b], %rd1;\n"
    "    st.param.b32 [c], %r0;\n    st.param.b64 [d], %rd1;\n    st.param.b64 [e], %rd2;\n"
    "    call.uni __assertfail, (a, b, c, d, e);\n    }\n    ret;\n}\n";

/* Commits a crime, resets, and says what the next use gives. */
static void commit(const char *name)
{
    cudaLibrary_t library;
    cudaKernel_t kernel = NULL;
    void *memory = NULL;
    RT_NEED(cudaLibraryLoadData(&library, crimes, NULL, NULL, 0, NULL, NULL, 0));
    RT_NEED(cudaLibraryGetKernel(&kernel, library, name));
    RT_NEED(rt_launch((const void *)kernel, 1, NULL, NULL));
    rt(cudaDeviceSynchronize());
    rt_noted(cudaMalloc(&memory, 4));
    rt(cudaDeviceReset());
    rt_last();
    rt_noted(cudaMalloc(&memory, 4));
}

CASE(fault_reset, trap, .alone = true)
{
    commit("trap_at_once");
}

CASE(fault_reset, assertion, .alone = true)
{
    commit("fail_at_once");
}

/* The driver's side of the same. */
CASE(fault_reset, driver, .alone = true)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    CUdeviceptr address = 0;
    spoil_and_reset();
    say(cuDeviceGet(&device, 0));
    say(cuCtxGetCurrent(&context));
    say_if("none", context == NULL);
    say(cuDevicePrimaryCtxRetain(&context, 0));
    say(cuCtxSetCurrent(context));
    say(cuMemAlloc(&address, 4));
}

CASE(fault_reset, driver_then_runtime, .alone = true)
{
    void *memory = NULL;
    spoil();
    say(cuDevicePrimaryCtxReset(0));
    rt_noted(cudaMalloc(&memory, 4));
    rt_noted(cudaDeviceReset());
    rt_noted(cudaMalloc(&memory, 4));
}

/* A reset without a fault gives a device that works. */
CASE(fault_reset, none, .alone = true)
{
    rt_noted(cudaDeviceReset());
    rt_store(NULL, rt_words(1, 3), 5);
    rt_noted(cudaDeviceSynchronize());
}

CASE(fault_reset, none_questions, .alone = true)
{
    struct cudaFuncAttributes attributes;
    size_t size = 0, total = 0;
    int value = -1;
    unsigned flags = 99;
    RT_NEED(cudaDeviceReset());
    rt_noted(cudaGetDeviceFlags(&flags));
    say_int(flags);
    rt_noted(cudaGetDevice(&value));
    say_int(value);
    rt_noted(cudaMemGetInfo(&size, &total));
    rt_noted(cudaDeviceReset());
    rt_noted(cudaFuncGetAttributes(&attributes, &rt_host_store));
    rt_noted(cudaDeviceReset());
    rt_noted(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    rt_noted(cudaGetDeviceFlags(&flags));
    say_int(flags);
}
