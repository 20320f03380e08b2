/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a call, in nanoseconds: the rows of the table in docs/benchmarks.md. Builds against any driver's cuda.h.
 */
#include <sched.h>
#include <stdatomic.h>

#include "bench.h"

struct state {
    CUcontext context;
    CUstream stream, other;
    CUevent timed, untimed, start;
    CUfunction empty;
    CUdeviceptr device;
    void *pinned;
};

static void event_create_destroy(void *data)
{
    CUevent event;
    (void)data;
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuEventDestroy(event));
}

static void record_timed(void *data)
{
    struct state *s = data;
    CHECK(cuEventRecord(s->timed, s->stream));
}

static void record_untimed(void *data)
{
    struct state *s = data;
    CHECK(cuEventRecord(s->untimed, s->stream));
}

static void query(void *data)
{
    struct state *s = data;
    CHECK(cuEventQuery(s->timed));
}

static void synchronize_event(void *data)
{
    struct state *s = data;
    CHECK(cuEventSynchronize(s->timed));
}

static void elapsed(void *data)
{
    struct state *s = data;
    float ms;
    CHECK(cuEventElapsedTime(&ms, s->start, s->timed));
}

static void wait_event(void *data)
{
    struct state *s = data;
    CHECK(cuStreamWaitEvent(s->other, s->timed, 0));
}

static void stream_create_destroy(void *data)
{
    CUstream stream;
    (void)data;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamDestroy(stream));
}

static void record_synchronize(void *data)
{
    struct state *s = data;
    CHECK(cuEventRecord(s->untimed, s->stream));
    CHECK(cuEventSynchronize(s->untimed));
}

static void launch(void *data)
{
    struct state *s = data;
    CHECK(cuLaunchKernel(s->empty, 1, 1, 1, 32, 1, 1, 0, s->stream, NULL, NULL));
}

static void drain(void *data)
{
    struct state *s = data;
    CHECK(cuStreamSynchronize(s->stream));
    CHECK(cuStreamSynchronize(s->other));
}

static void launch_synchronize(void *data)
{
    struct state *s = data;
    launch(s);
    CHECK(cuStreamSynchronize(s->stream));
}

static void chain(void *data)
{
    struct state *s = data;
    CHECK(cuLaunchKernel(s->empty, 1, 1, 1, 32, 1, 1, 0, s->stream, NULL, NULL));
    CHECK(cuEventRecord(s->untimed, s->stream));
    CHECK(cuStreamWaitEvent(s->other, s->untimed, 0));
    CHECK(cuLaunchKernel(s->empty, 1, 1, 1, 32, 1, 1, 0, s->other, NULL, NULL));
    CHECK(cuStreamSynchronize(s->other));
}

static void copy_synchronize(void *data)
{
    struct state *s = data;
    CHECK(cuMemcpyHtoDAsync(s->device, s->pinned, 4, s->stream));
    CHECK(cuStreamSynchronize(s->stream));
}

static void alloc_free(void *data)
{
    CUdeviceptr pointer;
    (void)data;
    CHECK(cuMemAlloc(&pointer, 1 << 20));
    CHECK(cuMemFree(pointer));
}

static void pool_alloc_free(void *data)
{
    struct state *s = data;
    CUdeviceptr pointer;
    CHECK(cuMemAllocAsync(&pointer, 1 << 20, s->stream));
    CHECK(cuMemFreeAsync(pointer, s->stream));
}

static atomic_int pool_gate;

static void CUDA_CB pool_hold(void *data)
{
    (void)data;
    while (atomic_load(&pool_gate))
        sched_yield();
}

/* The same with work pending in the stream: the first call of a stretch holds it up, `pool_drain` lets it go. */
static void pool_alloc_free_busy(void *data)
{
    struct state *s = data;
    if (!atomic_load(&pool_gate)) {
        atomic_store(&pool_gate, 1);
        CHECK(cuLaunchHostFunc(s->stream, pool_hold, NULL));
    }
    pool_alloc_free(data);
}

static void pool_drain(void *data)
{
    atomic_store(&pool_gate, 0);
    drain(data);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*body)(void *);
        void (*after)(void *);
        int rounds;
    } rows[] = {
        {"event_create_destroy", event_create_destroy, NULL, 20000},
        {"record_timed", record_timed, drain, 20000},
        {"record_untimed", record_untimed, drain, 20000},
        {"query", query, NULL, 50000},
        {"event_synchronize", synchronize_event, NULL, 50000},
        {"elapsed_time", elapsed, NULL, 50000},
        {"stream_wait_event", wait_event, drain, 20000},
        {"stream_create_destroy", stream_create_destroy, NULL, 2000},
        {"record_synchronize", record_synchronize, NULL, 5000},
        {"launch", launch, drain, 500},
        {"launch_synchronize", launch_synchronize, NULL, 2000},
        {"launch_record_wait_launch_synchronize", chain, drain, 1000},
        {"copy_4_bytes_synchronize", copy_synchronize, NULL, 2000},
        {"alloc_free_1_mib", alloc_free, NULL, 2000},
        {"pool_alloc_free", pool_alloc_free, NULL, 2000},
        {"pool_alloc_free_busy", pool_alloc_free_busy, pool_drain, 2000},
    };
    struct state s;
    CUdevice device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&s.context, device));
    CHECK(cuCtxSetCurrent(s.context));
    CHECK(cuModuleLoadData(&module, bench_empty_ptx));
    CHECK(cuModuleGetFunction(&s.empty, module, "empty"));
    CHECK(cuStreamCreate(&s.stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&s.other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&s.start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&s.timed, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&s.untimed, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&s.device, 4096));
    CHECK(cuMemAllocHost(&s.pinned, 4096));
    CHECK(cuEventRecord(s.start, s.stream));
    CHECK(cuEventRecord(s.timed, s.stream));
    /* Memory that is freed stays with its pool, so that the stretches find it warm. */
    CUmemoryPool pool;
    cuuint64_t all = UINT64_MAX;
    CHECK(cuDeviceGetDefaultMemPool(&pool, device));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    launch_synchronize(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%s %.1f\n", rows[i].name, bench_median_ns(rows[i].body, rows[i].after, &s, rows[i].rounds, 31));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
