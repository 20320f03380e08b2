/* SPDX-License-Identifier: Apache-2.0 */
/* A program of which a timeline is made (test_trace.py, which knows what it does): kernels, copies and fills in two
 * streams that wait for each other, host functions, a graph, threads. Its argument says how it ends. */
#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) \
    do { \
        CUresult status = (call); \
        if (status != CUDA_SUCCESS) { \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)status); \
            exit(9); \
        } \
    } while (0)

enum { ROUNDS = 8, COUNT = 1 << 16, THREADS = 3 };

static const char text[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry _Z3addPjj(.param .u64 p, .param .u32 n) {\n"
                           ".reg .u64 %a<3>;\n.reg .u32 %r<7>;\n"
                           "ld.param.u64 %a1, [p];\nld.param.u32 %r5, [n];\n"
                           "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                           "mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                           "mul.wide.u32 %a2, %r4, 4;\nadd.u64 %a1, %a1, %a2;\n"
                           "ld.global.u32 %r6, [%a1];\nadd.u32 %r6, %r6, %r5;\n"
                           "st.global.u32 [%a1], %r6;\nret;\n}\n"
                           ".visible .entry other() { ret; }\n";

static CUcontext context;
static CUfunction add, other;

static void host(void *data)
{
    ++*(int *)data;
}

static void launch(CUfunction function, CUstream stream, CUdeviceptr memory)
{
    unsigned one = 1;
    void *params[] = {&memory, &one};
    OK(cuLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, params, NULL));
}

/* The second stream's kernel waits for the first one's, and the host for the second. */
static void streams(int *calls)
{
    CUstream a, b;
    CUevent event, done;
    CUdeviceptr memory;
    unsigned *pinned;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&memory, COUNT * sizeof *pinned));
    OK(cuMemAllocHost((void **)&pinned, COUNT * sizeof *pinned));
    OK(cuMemsetD32Async(memory, 0, COUNT, a));
    for (int i = 0; i < ROUNDS; i++) {
        launch(add, a, memory);
        OK(cuEventRecord(event, a));
        OK(cuStreamWaitEvent(b, event, 0));
        launch(add, b, memory);
        OK(cuLaunchHostFunc(b, host, calls));
        OK(cuMemcpyDtoHAsync(pinned, memory, COUNT * sizeof *pinned, b));
        OK(cuEventRecord(done, b));
        OK(cuEventSynchronize(done));
    }
    OK(cuStreamSynchronize(a));
    if (pinned[COUNT - 1] != 2 * ROUNDS || *calls != ROUNDS)
        exit(9);
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(done));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(memory));
    OK(cuMemFreeHost(pinned));
}

/* Two branches that meet again, launched twice. Records and waits inside a capture are no arrows. */
static void graph(void)
{
    CUstream stream, beside;
    CUevent fork, join;
    CUgraph made;
    CUgraphExec run;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(beside, fork, 0));
    launch(other, stream, 0);
    launch(other, beside, 0);
    OK(cuEventRecord(join, beside));
    OK(cuStreamWaitEvent(stream, join, 0));
    launch(other, stream, 0);
    OK(cuStreamEndCapture(stream, &made));
    OK(cuGraphInstantiate(&run, made, 0));
    OK(cuGraphLaunch(run, stream));
    OK(cuGraphLaunch(run, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(run));
    OK(cuGraphDestroy(made));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(beside));
}

/* Waits that no event tells of: those of the legacy default stream, of a synchronous copy, of a value. */
static void more(void)
{
    CUstream blocking, writes, waits;
    CUdeviceptr memory, flag;
    unsigned seen[4];
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&writes, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, COUNT * sizeof *seen));
    OK(cuMemAlloc(&flag, 4));
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuMemsetD32(memory, 0, COUNT));
    launch(add, blocking, memory);
    launch(other, waits, 0); /* which the rules of the default stream leave alone */
    launch(add, CU_STREAM_LEGACY, memory);
    launch(add, blocking, memory);
    OK(cuStreamSynchronize(waits));
    OK(cuStreamSynchronize(blocking));
    OK(cuMemcpyDtoH(seen, memory, sizeof seen));
    if (seen[0] != 3)
        exit(9);
    OK(cuStreamWaitValue32(waits, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    launch(other, waits, 0);
    OK(cuStreamWriteValue32(writes, flag, 1, 0));
    while (cuStreamQuery(waits) == CUDA_ERROR_NOT_READY)
        sched_yield();
}

/* Two kernels that nothing orders. */
static void race(void)
{
    CUstream a, b;
    CUdeviceptr memory;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, COUNT * sizeof(unsigned)));
    OK(cuMemsetD32(memory, 0, COUNT));
    OK(cuCtxSynchronize());
    launch(add, a, memory);
    launch(add, b, memory);
    OK(cuCtxSynchronize());
}

static void *thread(void *data)
{
    CUdeviceptr memory;
    (void)data;
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, 4096));
    OK(cuMemsetD8(memory, 1, 4096));
    OK(cuMemFree(memory));
    return NULL;
}

int main(int count, char **names)
{
    const char *how = count > 1 ? names[1] : "exit";
    int calls = 0;
    CUdevice device;
    CUmodule module;
    pthread_t threads[THREADS];
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&add, module, "_Z3addPjj"));
    OK(cuModuleGetFunction(&other, module, "other"));
    streams(&calls);
    graph();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (strcmp(how, "more") == 0)
        more();
    if (strcmp(how, "race") == 0)
        race();
    if (strcmp(how, "many") == 0)
        for (int i = 0; i < 20000; i++)
            OK(cuCtxGetCurrent(&context));
    if (strcmp(how, "threads") == 0)
        for (int i = 0; i < 2000; i++)
            if (pthread_create(&threads[0], NULL, thread, NULL) == 0)
                pthread_join(threads[0], NULL);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0)
        raise(SIGABRT);
    if (strcmp(how, "again") == 0)
        execl(names[0], names[0], "exit", NULL);
    return strcmp(how, "fail") == 0 ? 3 : 0;
}
