/* SPDX-License-Identifier: Apache-2.0 */
/* What `millrace check` costs: run.py runs this program with it and without it, by turns.
 *
 * Two kernels of kernels/kernels.cu, milliseconds from the launch to the end of the synchronisation, best of some
 * rounds: an addition of vectors, which streams, and a matrix product in tiles, which reads memory many
 * times. And calls, nanoseconds of the thread that makes them, medians of some stretches: what they ask for is waited
 * for between the stretches.
 *
 * All is done twice, and the second figures count: kernels' first code is made in a hurry, and replaced when it has run
 * for some milliseconds.
 *
 * With BENCH_PROCESSOR_TIME in the environment, kernels' times are of all processors that worked for the process, and
 * calls' of the thread's. */
#include <stdbool.h>

#include "bench.h"
#include "kernels/kernels.h"

enum { STRETCHES = 31 };

extern const char bench_more_kernels[];

static bool by_processor;
static CUmodule module;
static CUstream stream, other;
static CUevent event;
static CUfunction empty;
static CUdeviceptr small;
static void *pinned;

/* Best time of a launch in milliseconds; the first, which compiles, doesn't count. */
static double kernel_ms(const char *name, const unsigned *grid, const unsigned *block, int repeats, void **params)
{
    CUfunction kernel;
    double best = 1e9;
    CHECK(cuModuleGetFunction(&kernel, module, name));
    for (int round = -1; round < repeats; round++) {
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, grid[0], grid[1], 1, block[0], block[1], 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        if (round >= 0 && took < best)
            best = took;
    }
    return best;
}

static CUdeviceptr floats(size_t count, uint32_t seed)
{
    CUdeviceptr made;
    float *values = malloc(count * sizeof *values);
    kernels_fill(values, count, seed);
    CHECK(cuMemAlloc(&made, count * sizeof *values));
    CHECK(cuMemcpyHtoD(made, values, count * sizeof *values));
    free(values);
    return made;
}

static void kernel(const char *name, int length, size_t count, const unsigned *grid, const unsigned *block, int repeats)
{
    CUdeviceptr a = floats(count, 1), b = floats(count, 2), c = floats(count, 3);
    double took = kernel_ms(name, grid, block, repeats, (void *[]){&a, &b, &c, &length});
    printf("check_%s_ms %.4f\n", name, took);
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
    CHECK(cuMemFree(c));
}

static void launch(void)
{
    CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void record(void)
{
    CHECK(cuEventRecord(event, stream));
}

static void wait(void)
{
    CHECK(cuStreamWaitEvent(other, event, 0));
}

static void query(void)
{
    CHECK(cuEventQuery(event));
}

static void copy(void)
{
    CHECK(cuMemcpyHtoDAsync(small, pinned, 4, stream));
}

static void allocate(void)
{
    CUdeviceptr pointer;
    CHECK(cuMemAllocAsync(&pointer, 1 << 20, stream));
    CHECK(cuMemFreeAsync(pointer, stream));
}

static void record_and_wait(void)
{
    record();
    wait();
}

static void drain(void)
{
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamSynchronize(other));
}

static double call_seconds(void)
{
    struct timespec now;
    clock_gettime(by_processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double call_ns(void (*call)(void), int rounds)
{
    double taken[STRETCHES];
    for (int stretch = -1; stretch < STRETCHES; stretch++) {
        double begin = call_seconds();
        for (int round = 0; round < rounds; round++)
            call();
        if (stretch >= 0)
            taken[stretch] = (call_seconds() - begin) * 1e9 / rounds;
        drain();
    }
    return bench_median(taken, STRETCHES);
}

static void calls(void)
{
    static const struct {
        const char *name;
        void (*call)(void);
        int rounds;
    } rows[] = {{"launch", launch, 500},
                {"record", record, 5000},
                {"wait", wait, 5000},
                {"query", query, 5000},
                {"record_wait", record_and_wait, 2000},
                {"copy", copy, 500},
                {"allocate", allocate, 500}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("check_%s_ns %.1f\n", rows[i].name, call_ns(rows[i].call, rows[i].rounds));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule smallest;
    by_processor = getenv("BENCH_PROCESSOR_TIME") != NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_more_kernels));
    CHECK(cuModuleLoadData(&smallest, bench_empty_ptx));
    CHECK(cuModuleGetFunction(&empty, smallest, "empty"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&small, 4096));
    CHECK(cuMemAllocHost(&pinned, 4096));
    for (int pass = 0; pass < 2; pass++) {
        kernel("vector_add", VECTOR_LENGTH, VECTOR_LENGTH, (unsigned[]){VECTOR_LENGTH / 256, 1}, (unsigned[]){256, 1},
               10);
        kernel("matrix", MATRIX_SIDE, (size_t)MATRIX_SIDE * MATRIX_SIDE,
               (unsigned[]){MATRIX_SIDE / 16, MATRIX_SIDE / 16}, (unsigned[]){16, 16}, 5);
        calls();
    }
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
