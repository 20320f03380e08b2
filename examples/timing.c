/* SPDX-License-Identifier: Apache-2.0 */
/* Timing contexts: events that are made first and recorded later, an event pool, and a stream chosen at run time.
 *
 * Making an event and recording it are two steps, so that a timer can be set up ahead of the code it measures, and a
 * pool of events can serve whichever stream needs one next. */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

enum { LENGTH = 1 << 16, STREAMS = 4, POOL = 16 };

/* A timer around a stretch of one stream. */
struct timer {
    CUstream stream;
    CUevent start, end;
};

static void timer_init(struct timer *timer)
{
    CHECK(cuEventCreate(&timer->start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&timer->end, CU_EVENT_DEFAULT));
}

static void timer_enter(struct timer *timer, CUstream stream)
{
    timer->stream = stream;
    CHECK(cuEventRecord(timer->start, stream));
}

/* Milliseconds that the device spent between enter and exit. Waits for the stream. */
static float timer_exit(struct timer *timer)
{
    float milliseconds = -1;
    CHECK(cuEventRecord(timer->end, timer->stream));
    CHECK(cuStreamSynchronize(timer->stream));
    CHECK(cuEventElapsedTime(&milliseconds, timer->start, timer->end));
    return milliseconds;
}

static void timer_destroy(struct timer *timer)
{
    CHECK(cuEventDestroy(timer->start));
    CHECK(cuEventDestroy(timer->end));
}

/* Events that wait for use. Taking from an empty pool ends the program: the example makes as many as it needs. */
struct pool {
    CUevent events[POOL];
    int free;
};

static CUevent pool_take(struct pool *pool)
{
    example_require(pool->free > 0, "the pool has an event left");
    return pool->events[--pool->free];
}

static void pool_give(struct pool *pool, CUevent event)
{
    pool->events[pool->free++] = event;
}

int main(int argc, char **argv)
{
    int chosen = example_option(argc, argv, "--stream", 3) % STREAMS;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction double_and_halve;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, example_kernels));
    CHECK(cuModuleGetFunction(&double_and_halve, module, "double_and_halve"));

    CUstream streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CUdeviceptr array;
    float *host = malloc(LENGTH * sizeof *host), *back = malloc(LENGTH * sizeof *back);
    example_require(host && back, "memory for the arrays");
    example_fill(host, LENGTH, 1);
    CHECK(cuMemAlloc(&array, LENGTH * sizeof *host));
    CHECK(cuMemcpyHtoD(array, host, LENGTH * sizeof *host));

    /* The timer exists before anybody knows which stream it will time. */
    struct timer timer;
    timer_init(&timer);
    timer_enter(&timer, streams[chosen]);
    float empty = timer_exit(&timer);
    example_require(empty >= 0, "an empty stretch takes no negative time");

    int length = LENGTH;
    void *arguments[] = {&array, &length};
    timer_enter(&timer, streams[chosen]);
    CHECK(cuLaunchKernel(double_and_halve, 1, 1, 1, 64, 1, 1, 0, streams[chosen], arguments, NULL));
    float busy = timer_exit(&timer);
    example_require(busy >= 0, "a busy stretch takes no negative time");
    CHECK(cuMemcpyDtoH(back, array, LENGTH * sizeof *back));
    for (int i = 0; i < LENGTH; i++)
        example_require(back[i] == host[i], "doubling and halving gives back the number");

    /* A pool of events without timing, spread over the streams; then all of them are waited for. */
    struct pool pool = {.free = 0};
    for (int i = 0; i < POOL; i++) {
        CUevent event;
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        pool_give(&pool, event);
    }
    CUevent in_use[POOL];
    for (int i = 0; i < POOL; i++) {
        in_use[i] = pool_take(&pool);
        CHECK(cuEventRecord(in_use[i], streams[i % STREAMS]));
    }
    for (int i = 0; i < POOL; i++) {
        CHECK(cuEventSynchronize(in_use[i]));
        CHECK(cuEventQuery(in_use[i]));
        pool_give(&pool, in_use[i]);
    }
    printf("stream %d: nothing %.4f ms, kernel %.3f ms; %d pooled events passed\n", chosen, empty, busy, POOL);

    for (int i = 0; i < POOL; i++)
        CHECK(cuEventDestroy(pool.events[i]));
    timer_destroy(&timer);
    for (int i = 0; i < STREAMS; i++)
        CHECK(cuStreamDestroy(streams[i]));
    CHECK(cuMemFree(array));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    free(host);
    free(back);
    return 0;
}
