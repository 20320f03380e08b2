/* SPDX-License-Identifier: Apache-2.0 */
/* The demonstration: 200 arrays copied in, put through a kernel and copied out; one after the other, then each on a
 * stream of its own, then with an event on either side of each kernel and the mean and standard deviation of what they
 * measured.
 *
 * `--arrays N` and `--length N` change the size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

struct demo {
    int arrays, length;
    size_t bytes;           /* of one array */
    CUfunction kernel;
    float **in, **out;      /* host memory */
    CUdeviceptr *device;
    CUstream *streams;      /* one an array */
    CUevent *start, *end;   /* one of each an array */
};

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    example_require(memory != NULL, "memory for the arrays");
    return memory;
}

static void demo_init(struct demo *demo)
{
    size_t count = (size_t)demo->arrays;
    demo->bytes = (size_t)demo->length * sizeof(float);
    demo->in = room(count, sizeof *demo->in);
    demo->out = room(count, sizeof *demo->out);
    demo->device = room(count, sizeof *demo->device);
    demo->streams = room(count, sizeof *demo->streams);
    demo->start = room(count, sizeof *demo->start);
    demo->end = room(count, sizeof *demo->end);
    for (int k = 0; k < demo->arrays; k++) {
        CHECK(cuMemAllocHost((void **)&demo->in[k], demo->bytes));
        CHECK(cuMemAllocHost((void **)&demo->out[k], demo->bytes));
        CHECK(cuMemAlloc(&demo->device[k], demo->bytes));
        CHECK(cuStreamCreate(&demo->streams[k], CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&demo->start[k], CU_EVENT_DEFAULT));
        CHECK(cuEventCreate(&demo->end[k], CU_EVENT_DEFAULT));
        example_fill(demo->in[k], (size_t)demo->length, (unsigned)k);
        memset(demo->out[k], 0, demo->bytes);
        CHECK(cuMemsetD8(demo->device[k], 0, demo->bytes));
    }
}

static void demo_end(struct demo *demo)
{
    for (int k = 0; k < demo->arrays; k++) {
        CHECK(cuMemFreeHost(demo->in[k]));
        CHECK(cuMemFreeHost(demo->out[k]));
        CHECK(cuMemFree(demo->device[k]));
        CHECK(cuStreamDestroy(demo->streams[k]));
        CHECK(cuEventDestroy(demo->start[k]));
        CHECK(cuEventDestroy(demo->end[k]));
    }
    void *owned[] = {demo->in, demo->out, demo->device, demo->streams, demo->start, demo->end};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static void launch(struct demo *demo, int k, CUstream stream)
{
    void *arguments[] = {&demo->device[k], &demo->length};
    CHECK(cuLaunchKernel(demo->kernel, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}

/* What happens once only: the kernel becomes machine code. (The memory has been touched already.) */
static void warm_up(struct demo *demo)
{
    launch(demo, 0, NULL);
    CHECK(cuCtxSynchronize());
}

/* Every output equals its input, and is then wiped for the next run. */
static void check_and_clear(struct demo *demo)
{
    for (int k = 0; k < demo->arrays; k++) {
        example_require(memcmp(demo->in[k], demo->out[k], demo->bytes) == 0, "each array comes back as it was");
        memset(demo->out[k], 0, demo->bytes);
    }
}

static double run_serial(struct demo *demo)
{
    double begin = example_seconds();
    for (int k = 0; k < demo->arrays; k++)
        CHECK(cuMemcpyHtoD(demo->device[k], demo->in[k], demo->bytes));
    for (int k = 0; k < demo->arrays; k++)
        launch(demo, k, NULL);
    for (int k = 0; k < demo->arrays; k++)
        CHECK(cuMemcpyDtoH(demo->out[k], demo->device[k], demo->bytes));
    return example_seconds() - begin;
}

static double run_streams(struct demo *demo, int with_events)
{
    double begin = example_seconds();
    for (int k = 0; k < demo->arrays; k++)
        CHECK(cuMemcpyHtoDAsync(demo->device[k], demo->in[k], demo->bytes, demo->streams[k]));
    for (int k = 0; k < demo->arrays; k++) {
        if (with_events)
            CHECK(cuEventRecord(demo->start[k], demo->streams[k]));
        launch(demo, k, demo->streams[k]);
        if (with_events)
            CHECK(cuEventRecord(demo->end[k], demo->streams[k]));
    }
    for (int k = 0; k < demo->arrays; k++)
        CHECK(cuMemcpyDtoHAsync(demo->out[k], demo->device[k], demo->bytes, demo->streams[k]));
    CHECK(cuCtxSynchronize());
    return example_seconds() - begin;
}

static void print_kernel_times(struct demo *demo)
{
    double sum = 0, squares = 0;
    for (int k = 0; k < demo->arrays; k++) {
        float milliseconds = -1;
        CHECK(cuEventElapsedTime(&milliseconds, demo->start[k], demo->end[k]));
        example_require(milliseconds >= 0, "a kernel takes no negative time");
        sum += milliseconds;
        squares += (double)milliseconds * milliseconds;
    }
    double mean = sum / demo->arrays, variance = squares / demo->arrays - mean * mean;
    printf("kernel: mean %.3f ms, standard deviation %.3f ms\n", mean, sqrt(variance > 0 ? variance : 0));
}

int main(int argc, char **argv)
{
    struct demo demo = {.arrays = example_option(argc, argv, "--arrays", 200),
                        .length = example_option(argc, argv, "--length", 1 << 20)};
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, example_kernels));
    CHECK(cuModuleGetFunction(&demo.kernel, module, "double_and_halve"));
    demo_init(&demo);
    warm_up(&demo);

    double serial = run_serial(&demo);
    check_and_clear(&demo);
    double streams = run_streams(&demo, 0);
    check_and_clear(&demo);
    double events = run_streams(&demo, 1);
    check_and_clear(&demo);
    printf("%d arrays of %d floats: serial %.3f s, a stream each %.3f s, with events %.3f s\n", demo.arrays,
           demo.length, serial, streams, events);
    print_kernel_times(&demo);

    demo_end(&demo);
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
