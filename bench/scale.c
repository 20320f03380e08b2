/* SPDX-License-Identifier: Apache-2.0 */
/* What things weigh and how costs grow: bytes of the process per event, stream, queued command, context and module;
 * nanoseconds of a record, a wait and a launch while 1 to 10,000 streams exist; allocations from one pool by 1 to 64
 * threads. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "bench.h"

static CUstream streams[10000];
static CUevent events[10000];
static CUfunction empty;

/* Resident bytes of this process. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return (double)pages * 4096.0;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB hold(void *data)
{
    (void)data;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void weigh(CUdevice device)
{
    enum { COUNT = 10000, CONTEXTS = 500 };
    CUcontext contexts[CONTEXTS];
    double before = resident();
    for (int i = 0; i < CONTEXTS; i++) {
#if CUDA_VERSION >= 13000
        CHECK(cuCtxCreate(&contexts[i], NULL, 0, device));
#else
        CHECK(cuCtxCreate(&contexts[i], 0, device));
#endif
    }
    printf("bytes_context %.0f\n", (resident() - before) / CONTEXTS);
    for (int i = CONTEXTS - 1; i >= 0; i--)
        CHECK(cuCtxDestroy(contexts[i]));

    before = resident();
    for (int i = 0; i < COUNT; i++) {
        CHECK(cuEventCreate(&events[i], CU_EVENT_DEFAULT));
        CHECK(cuEventRecord(events[i], NULL));
    }
    printf("bytes_event %.0f\n", (resident() - before) / COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(cuEventDestroy(events[i]));

    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pthread_mutex_lock(&gate);
    CHECK(cuLaunchHostFunc(stream, hold, NULL));
    before = resident();
    for (int i = 0; i < 100000; i++)
        CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    printf("bytes_queued_launch %.0f\n", (resident() - before) / 100000);
    pthread_mutex_unlock(&gate);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));

    before = resident();
    for (int i = 0; i < COUNT; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    printf("bytes_stream %.0f\n", (resident() - before) / COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(cuStreamDestroy(streams[i]));
}

/* Modules that differ in a number, each with one kernel, before its first launch and after. */
static void weigh_modules(void)
{
    enum { COUNT = 500 };
    static CUmodule modules[COUNT];
    CUdeviceptr counter;
    void *parameters[] = {&counter};
    CHECK(cuMemAlloc(&counter, 128));
    double before = resident();
    for (int i = 0; i < COUNT; i++) {
        char text[800];
        snprintf(
            text, sizeof text,
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
            ".reg .u32 %%r<3>; .reg .u64 %%rd<3>;\nld.param.u64 %%rd0, [p];\ncvta.to.global.u64 %%rd0, %%rd0;\nmov.u32 %%r0, %%tid.x;\n"
            "mul.wide.u32 %%rd1, %%r0, 4;\nadd.u64 %%rd0, %%rd0, %%rd1;\nld.global.u32 %%r1, [%%rd0];\nadd.u32 %%r1, %%r1, %d;\n"
            "st.global.u32 [%%rd0], %%r1;\nret;\n}\n",
            1000 + i);
        CHECK(cuModuleLoadData(&modules[i], text));
    }
    printf("bytes_module %.0f\n", (resident() - before) / COUNT);
    for (int i = 0; i < COUNT; i++) {
        CUfunction function;
        CHECK(cuModuleGetFunction(&function, modules[i], "k"));
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    }
    CHECK(cuCtxSynchronize());
    printf("bytes_module_launched %.0f\n", (resident() - before) / COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(cuModuleUnload(modules[i]));
    CHECK(cuMemFree(counter));
}

/* One record, one wait and one launch on each of `count` streams in turn, `rounds` times over; the mean cost of each.
 */
static void grow(int count)
{
    int rounds = 20000 / count + 1;
    double record = 0, wait = 0, launch = 0;
    for (int i = 0; i < count; i++) {
        CHECK(cuStreamCreate(&streams[i], i % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    for (int round = 0; round < rounds; round++) {
        double begin = bench_seconds();
        for (int i = 0; i < count; i++)
            CHECK(cuEventRecord(events[i], streams[i]));
        double recorded = bench_seconds();
        for (int i = 0; i < count; i++)
            CHECK(cuStreamWaitEvent(streams[i], events[(i + 1) % count], 0));
        double waited = bench_seconds();
        for (int i = 0; i < count; i++)
            CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, streams[i], NULL, NULL));
        double launched = bench_seconds();
        record += recorded - begin;
        wait += waited - recorded;
        launch += launched - waited;
        CHECK(cuCtxSynchronize());
    }
    double calls = (double)rounds * count / 1e9;
    printf("record_%d %.1f\nwait_%d %.1f\nlaunch_%d %.1f\n", count, record / calls, count, wait / calls, count,
           launch / calls);
    for (int i = 0; i < count; i++) {
        CHECK(cuStreamDestroy(streams[i]));
        CHECK(cuEventDestroy(events[i]));
    }
}

#define PAIRS 200000

static atomic_int waiting;
static CUcontext shared_context;

/* Allocates and frees in a stream of its own. */
static void *pairs(void *data)
{
    int rounds = *(int *)data;
    CUstream stream;
    CUdeviceptr pointer;
    CHECK(cuCtxSetCurrent(shared_context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    atomic_fetch_sub(&waiting, 1);
    while (atomic_load(&waiting))
        sched_yield();
    for (int i = 0; i < rounds; i++) {
        CHECK(cuMemAllocAsync(&pointer, 4096u << i % 5, stream));
        CHECK(cuMemFreeAsync(pointer, stream));
    }
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

/* Threads that share the default pool: the wall time over the number of pairs. */
static void share_pool(int count)
{
    static pthread_t threads[64];
    int rounds = PAIRS / count;
    atomic_store(&waiting, count + 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, pairs, &rounds) != 0)
            exit(1);
    while (atomic_load(&waiting) > 1)
        sched_yield();
    double begin = bench_seconds();
    atomic_store(&waiting, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("pool_threads_%d %.1f\n", count, (bench_seconds() - begin) * 1e9 / (rounds * count));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_empty_ptx));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuCtxSynchronize());
    weigh_modules();
    weigh(device);
    for (int count = 1; count <= 10000; count *= 10)
        grow(count);
    shared_context = context;
    CUmemoryPool pool;
    cuuint64_t all = UINT64_MAX;
    CHECK(cuDeviceGetDefaultMemPool(&pool, device));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    for (int count = 1; count <= 64; count *= count == 1 ? 2 : count == 2 ? 4 : 8)
        share_pool(count);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
