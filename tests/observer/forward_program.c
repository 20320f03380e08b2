/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the driver API for `millrace check --gpu`: forward_program NAME [mended]. What each one is found guilty
 * of stands in test_forward.py. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_check.h"

enum { BYTES = 65536 };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry _Z4readPiPKi(.param .u64 to, .param .u64 from) { ret; }\n"
                          ".visible .entry plain(.param .u64 to) { ret; }\n";

static bool mended;
static CUstream one, two;
static CUdeviceptr a, b, c;
static char *pinned;

/* The second stream waits for what the first one has, in the mended twin. */
static void order(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(event, one));
    if (mended)
        CHECK(cuStreamWaitEvent(two, event, 0));
    CHECK(cuEventDestroy_v2(event));
}

static void copies(void)
{
    CHECK(cuMemcpyHtoDAsync_v2(a, pinned, 1000, one));
    order();
    CHECK(cuMemcpyDtoDAsync_v2(b, a + 998, 100, two));
}

static void beside(void)
{
    CHECK(cuMemcpyHtoDAsync_v2(a, pinned, 1000, one));
    CHECK(cuMemcpyDtoDAsync_v2(b, a + 1000, 100, two));
}

static void fills(void)
{
    CHECK(cuMemsetD32Async(a, 1, 256, one));
    order();
    CHECK(cuMemsetD16Async(a + 1022, 2, 100, two));
}

/* Two columns of a matrix, which touch in the mended twin's other half. */
static void columns(void)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pinned,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = a,
                          .dstPitch = 256,
                          .WidthInBytes = 16,
                          .Height = 8};
    CHECK(cuMemcpy2DAsync_v2(&copy, one));
    CHECK(cuMemsetD2D8Async(a + (mended ? 16 : 12), 256, 0, 16, 8, two));
}

static void batch(void)
{
    CUdeviceptr to[] = {a, a + 4096}, from[] = {(CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)pinned + 4096};
    size_t sizes[] = {64, 64}, first = 0, fail;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CHECK(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, &fail, one));
    order();
    CHECK(cuMemsetD8Async(a + 4096 + 63, 0, 8, two));
}

static void pool(void)
{
    CUdeviceptr memory;
    CHECK(cuMemAllocAsync(&memory, 4096, one));
    CHECK(cuMemsetD8Async(memory, 0, 4096, one));
    order();
    CHECK(cuMemFreeAsync(memory, two));
}

static void default_stream(void)
{
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    if (mended)
        CHECK(cuStreamSynchronize(one));
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, CU_STREAM_LEGACY));
}

/* The form with per-thread default streams, by an address that the program asks for. */
static void per_thread(void)
{
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUdriverProcAddressQueryResult found;
    CHECK(cuGetProcAddress_v2("cuMemsetD8Async", (void **)&fill, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                              &found));
    CHECK(fill(a, 1, 64, NULL));
    if (mended)
        CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, one));
}

static void launch(const char *name, CUstream stream, CUdeviceptr to, CUdeviceptr from)
{
    static CUmodule module;
    CUfunction function;
    void *params[] = {&to, &from};
    if (!module)
        CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&function, module, name));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

/* Two kernels that read the same memory are in no need of an order; in the other twin one may write it. */
static void kernels(void)
{
    launch("_Z4readPiPKi", one, b, a);
    launch(mended ? "_Z4readPiPKi" : "plain", two, mended ? c : a + 128, a);
}

/* The driver waits for the context's work before it unloads a module. The next module's variable has the same place. */
static void reload(bool library)
{
    static const char variable[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                   ".visible .global .align 256 .b8 table[65536];\n";
    for (int i = 0; i < 2; i++) {
        CUmodule module;
        CUlibrary all;
        CUdeviceptr table;
        CUstream stream = i ? two : one;
        size_t size = 0;
        if (library)
            CHECK(cuLibraryLoadData(&all, variable, NULL, NULL, 0, NULL, NULL, 0));
        else
            CHECK(cuModuleLoadData(&module, variable));
        if (library)
            CHECK(cuLibraryGetGlobal(&table, &size, all, "table"));
        else
            CHECK(cuModuleGetGlobal_v2(&table, i ? &size : NULL, module, "table"));
        CHECK(cuMemsetD8Async(table, 1, BYTES, stream));
        if (mended)
            launch("plain", stream, table, 0);
        if (library)
            CHECK(cuLibraryUnload(all));
        else
            CHECK(cuModuleUnload(module));
    }
}

static void module_again(void)
{
    reload(false);
}

static void library_again(void)
{
    reload(true);
}

/* A kernel of a library, and parameters in a buffer. `early`: a thread without a context asks for the kernel. */
static void launch_of_library(bool early)
{
    CUcontext context;
    CUlibrary library;
    CUkernel kernel;
    CUdeviceptr words[] = {b, a};
    size_t size = sizeof words;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, words, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuCtxGetCurrent(&context));
    if (early)
        CHECK(cuCtxSetCurrent(NULL));
    CHECK(cuLibraryGetKernel(&kernel, library, "_Z4readPiPKi"));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, one, NULL, extra));
    order();
    CHECK(cuMemcpyHtoDAsync_v2(a, pinned, 64, two));
}

static void library(void)
{
    launch_of_library(false);
}

static void library_early(void)
{
    launch_of_library(true);
}

/* A kernel may write what a fill writes; the copy races with the fill for certain. */
static void certain(void)
{
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    launch("plain", one, a, 0);
    order();
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, two));
}

static _Atomic bool told;

static void CUDA_CB tell(void *data)
{
    *(char *)data = 1;
    told = true;
}

/* What the host knows when a host function has begun is in order. So it begins when `release` says so: when the copy
 * has been asked for, unless that waits for the function. */
static uint32_t *word_of_hold(void)
{
    return (uint32_t *)(pinned + 4096);
}

static void hold(void)
{
    __atomic_store_n(word_of_hold(), 0, __ATOMIC_RELEASE);
    CHECK(cuStreamWaitValue32_v2(one, (CUdeviceptr)word_of_hold(), 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void release(void)
{
    __atomic_store_n(word_of_hold(), 1, __ATOMIC_RELEASE);
}

static void copy_beside(void)
{
    if (mended)
        release();
    while (mended && !told)
        sched_yield();
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, two));
    release();
}

/* What a host function tells the host is in order. */
static void host_function(void)
{
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    hold();
    CHECK(cuLaunchHostFunc(one, tell, pinned));
    copy_beside();
}

static void CUDA_CB tell_status(CUstream stream, CUresult status, void *data)
{
    if (stream == one && status == CUDA_SUCCESS)
        tell(data);
}

static void callback(void)
{
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    hold();
    CHECK(cuStreamAddCallback(one, tell_status, pinned, 0));
    copy_beside();
}

/* A stream waits for a value that another one writes later, or for one that is written too early. */
static void values(void)
{
    CHECK(cuStreamWaitValue32_v2(two, b + 4096, 7, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, two));
    if (!mended)
        CHECK(cuStreamWriteValue32_v2(one, b + 4096, 7, 0));
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    if (mended)
        CHECK(cuStreamWriteValue32_v2(one, b + 4096, 7, 0));
}

/* Calls of another thread, and a free that comes too early. */
static void *other_thread(void *context)
{
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, two));
    return NULL;
}

static void threads(void)
{
    CUcontext context;
    pthread_t thread;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    if (mended)
        CHECK(cuCtxSynchronize());
    if (pthread_create(&thread, NULL, other_thread, context) != 0)
        exit(2);
    pthread_join(thread, NULL);
}

/* What has failed, and what a stream captures, has queued nothing. */
static void nothing(void)
{
    CUgraph graph;
    CHECK(cuMemsetD8Async(a, 1, 64, one));
    if (cuMemsetD32Async(a + 1, 1, 16, two) == CUDA_SUCCESS)
        exit(2);
    CHECK(cuStreamBeginCapture_v2(two, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemsetD8Async(a, 1, 64, two));
    CHECK(cuStreamEndCapture(two, &graph));
    CHECK(cuGraphDestroy(graph));
}

/* Ends the process before anything has waited for the work that is there. */
static void end_here(void)
{
    printf("done\n");
    exit(0);
}

/* For a timeline: works of each kind, a capture that forbids calls which might wait, more works than are looked at one
 * by one, and some that nobody waits for. */
static void times(void)
{
    enum { MANY = 200 };
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuMemsetD8Async(a, 1, BYTES, one));
    mended = true;
    order();
    CHECK(cuMemcpyDtoDAsync_v2(b, a, BYTES, two));
    CHECK(cuLaunchHostFunc(two, tell, pinned));
    CHECK(cuMemcpyDtoDAsync_v2(b, a, 64, two));
    CHECK(cuStreamSynchronize(two));
    CHECK(cuMemsetD8Async(a, 1, BYTES, one));
    CHECK(cuStreamBeginCapture_v2(two, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD8Async(b, 1, 64, two));
    CHECK(cuMemsetD8Async(b, 2, 64, two));
    for (int i = 0; i < MANY; i++)
        CHECK(cuMemsetD8Async(c, 1, 64, one));
    CHECK(cuStreamEndCapture(two, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, two));
    batch();
    CHECK(cuMemcpyDtoH_v2(pinned, a, 64));
    launch("plain", CU_STREAM_PER_THREAD, a, 0);
    if (cuMemsetD32Async(a + 1, 1, 16, one) == CUDA_SUCCESS || cuMemcpy2DAsync_v2(NULL, one) == CUDA_SUCCESS)
        exit(2);
    end_here();
}

/* Contexts that end while their works run: a program's own, and the device's. */
static void contexts(void)
{
    CUcontext context;
    CUdeviceptr memory;
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuMemAlloc_v2(&memory, BYTES));
    CHECK(cuMemsetD8Async(memory, 1, BYTES, CU_STREAM_LEGACY));
    CHECK(cuMemsetD8Async(memory, 2, BYTES, CU_STREAM_LEGACY));
    CHECK(cuCtxDestroy_v2(context));
    CHECK(cuMemsetD8Async(a, 3, BYTES, one));
    CHECK(cuDevicePrimaryCtxReset_v2(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&memory, BYTES));
    CHECK(cuMemsetD8Async(memory, 4, BYTES, CU_STREAM_LEGACY));
    end_here();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {{"copies", copies},
                    {"beside", beside},
                    {"fills", fills},
                    {"columns", columns},
                    {"batch", batch},
                    {"pool", pool},
                    {"default_stream", default_stream},
                    {"per_thread", per_thread},
                    {"kernels", kernels},
                    {"library", library},
                    {"library_early", library_early},
                    {"module_again", module_again},
                    {"library_again", library_again},
                    {"certain", certain},
                    {"host_function", host_function},
                    {"callback", callback},
                    {"values", values},
                    {"threads", threads},
                    {"nothing", nothing},
                    {"times", times},
                    {"contexts", contexts}};
    CUdevice device;
    CUcontext context;
    mended = argc > 2 && strcmp(argv[2], "mended") == 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc_v2(&a, BYTES));
    CHECK(cuMemAlloc_v2(&b, BYTES));
    CHECK(cuMemAlloc_v2(&c, BYTES));
    CHECK(cuMemAllocHost_v2((void **)&pinned, BYTES));
    CHECK(cuCtxSynchronize());
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, argv[1]) == 0) {
            programs[i].run();
            CHECK(cuCtxSynchronize());
            printf("done\n");
            return 0;
        }
    return 2;
}
