/* SPDX-License-Identifier: Apache-2.0 */
/* The seed's four PyCUDA programs in C, as bench_pycuda.py has them in Python: arrays in one stream, a stream each, a
 * stream each with events around the kernels, and a context in a thread each. Memory is ordinary, not pinned, and
 * allocated while the clock runs, as PyCUDA does it. Best of some rounds, in seconds by the clock, or with
 * BENCH_PROCESSOR_TIME of all processors that worked for this process. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

#define ROUNDS 2
#define THREADS 10
#define HUGE_PAGE ((size_t)2 << 20)

enum form { SERIAL, STREAMS, EVENTS };

struct one {
    float *in, *out;
    CUdeviceptr memory;
    CUstream stream;
    CUevent start, end;
};

extern const char bench_pycuda_kernel[];
static int length;
static size_t bytes;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(getenv("BENCH_PROCESSOR_TIME") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* For free(), never NULL. NumPy asks for huge pages, which halve what the copies cost; so do we. */
static void *take(size_t size)
{
    void *memory;
    if (posix_memalign(&memory, HUGE_PAGE, size) != 0) {
        fprintf(stderr, "pycuda.c: no memory left\n");
        exit(1);
    }
    (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

/* Compares the result with what went in, and gives all back that a round has made. */
static void finish(struct one *one)
{
    if (memcmp(one->in, one->out, bytes) != 0) {
        fprintf(stderr, "pycuda.c: an array differs\n");
        exit(1);
    }
    free(one->out);
    CHECK(cuMemFree(one->memory));
}

static void launch(struct one *one, CUfunction kernel, CUstream stream)
{
    void *arguments[] = {&one->memory, &length};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}

static double run_arrays(enum form form, struct one *arrays, int count, CUfunction kernel)
{
    double begin = seconds();
    for (int k = 0; k < count; k++) {
        CHECK(cuMemAlloc(&arrays[k].memory, bytes));
        if (form == SERIAL)
            CHECK(cuMemcpyHtoD(arrays[k].memory, arrays[k].in, bytes));
        else
            CHECK(cuMemcpyHtoDAsync(arrays[k].memory, arrays[k].in, bytes, arrays[k].stream));
    }
    for (int k = 0; k < count; k++) {
        if (form == EVENTS)
            CHECK(cuEventRecord(arrays[k].start, arrays[k].stream));
        launch(&arrays[k], kernel, form == SERIAL ? NULL : arrays[k].stream);
    }
    for (int k = 0; k < count && form == EVENTS; k++)
        CHECK(cuEventRecord(arrays[k].end, arrays[k].stream));
    /* A copy to ordinary memory has ended when its call returns. */
    for (int k = 0; k < count; k++) {
        arrays[k].out = take(bytes);
        if (form == SERIAL)
            CHECK(cuMemcpyDtoH(arrays[k].out, arrays[k].memory, bytes));
        else
            CHECK(cuMemcpyDtoHAsync(arrays[k].out, arrays[k].memory, bytes, arrays[k].stream));
    }
    double took = seconds() - begin;
    for (int k = 0; k < count; k++)
        finish(&arrays[k]);
    return took;
}

/* A thread of the fourth program: a context, a module and an array of its own. */
static void *run_thread(void *data)
{
    struct one *one = data;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v4(&context, NULL, 0, device));
    CHECK(cuModuleLoadData(&module, bench_pycuda_kernel));
    CHECK(cuModuleGetFunction(&kernel, module, "double_and_halve"));
    CHECK(cuMemAlloc(&one->memory, bytes));
    CHECK(cuMemcpyHtoD(one->memory, one->in, bytes));
    launch(one, kernel, NULL);
    one->out = take(bytes);
    CHECK(cuMemcpyDtoH(one->out, one->memory, bytes));
    finish(one);
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return NULL;
}

static double run_threads(struct one *arrays)
{
    pthread_t threads[THREADS];
    double begin = seconds();
    for (int k = 0; k < THREADS; k++)
        if (pthread_create(&threads[k], NULL, run_thread, &arrays[k]) != 0)
            exit(1);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    return seconds() - begin;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"serial", "streams", "events"};
    int count = argc > 1 ? atoi(argv[1]) : 200;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    if (count < THREADS)
        count = THREADS;
    length = argc > 2 ? atoi(argv[2]) : 1 << 20;
    bytes = (size_t)length * sizeof(float);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v4(&context, NULL, 0, device));
    CHECK(cuModuleLoadData(&module, bench_pycuda_kernel));
    CHECK(cuModuleGetFunction(&kernel, module, "double_and_halve"));
    struct one *arrays = take((size_t)count * sizeof *arrays);
    for (int k = 0; k < count; k++) {
        arrays[k].in = take(bytes);
        for (int i = 0; i < length; i++)
            arrays[k].in[i] = (float)(i * 7 + k) / 1024.0f;
        CHECK(cuStreamCreate(&arrays[k].stream, 0));
        CHECK(cuEventCreate(&arrays[k].start, 0));
        CHECK(cuEventCreate(&arrays[k].end, 0));
    }
    double best[] = {1e9, 1e9, 1e9, 1e9}, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (enum form form = SERIAL; form <= EVENTS; form++) {
            double took = run_arrays(form, arrays, count, kernel);
            best[form] = took < best[form] ? took : best[form];
        }
        double took = run_threads(arrays);
        best[3] = took < best[3] ? took : best[3];
    }
    for (int k = 0; k < count; k++) {
        float ms;
        CHECK(cuEventElapsedTime(&ms, arrays[k].start, arrays[k].end));
        sum += ms;
    }
    for (enum form form = SERIAL; form <= EVENTS; form++)
        printf("pycuda_%s_seconds %.4f\n", names[form], best[form]);
    printf("pycuda_threads_seconds %.4f\npycuda_kernel_ms %.3f\n", best[3], sum / count);
    CHECK(cuCtxDestroy(context));
    return 0;
}
