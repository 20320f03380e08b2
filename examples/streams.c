/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: copy and sum on a stream of one's own, keep track of the current stream, go back to the default stream.
 *
 * The driver API takes the stream as an argument of each call. Libraries that have a "current stream" keep it per
 * thread themselves; `use_stream` and `current_stream` below show how little that takes. */
#include <stdio.h>

#include "example.h"

enum { LENGTH = 1000 };

static _Thread_local CUstream current;

static CUstream current_stream(void)
{
    return current;
}

/* Makes `stream` current and returns the one before it, so that a caller can put it back. */
static CUstream use_stream(CUstream stream)
{
    CUstream before = current;
    current = stream;
    return before;
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction sum;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, example_kernels));
    CHECK(cuModuleGetFunction(&sum, module, "sum"));

    /* Copies to and from pinned memory are asynchronous; from ordinary memory the driver may have to wait. */
    long *values;
    unsigned long long *total;
    CUdeviceptr device_values, device_total;
    CHECK(cuMemAllocHost((void **)&values, LENGTH * sizeof *values));
    CHECK(cuMemAllocHost((void **)&total, sizeof *total));
    CHECK(cuMemAlloc(&device_values, LENGTH * sizeof *values));
    CHECK(cuMemAlloc(&device_total, sizeof *total));
    for (int i = 0; i < LENGTH; i++)
        values[i] = i;

    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CUstream before = use_stream(stream);
    example_require(current_stream() == stream, "the stream in use is the one just chosen");

    int length = LENGTH;
    void *arguments[] = {&device_values, &length, &device_total};
    CHECK(cuMemcpyHtoDAsync(device_values, values, LENGTH * sizeof *values, current_stream()));
    CHECK(cuMemsetD8Async(device_total, 0, sizeof *total, current_stream()));
    CHECK(cuLaunchKernel(sum, 2, 1, 1, 256, 1, 1, 0, current_stream(), arguments, NULL));
    CHECK(cuMemcpyDtoHAsync(total, device_total, sizeof *total, current_stream()));
    CHECK(cuStreamSynchronize(current_stream()));
    example_require(*total == (unsigned long long)LENGTH * (LENGTH - 1) / 2, "the sum of 0 to 999");

    /* Back to the default stream: the handle differs, the work goes on. */
    use_stream(before);
    example_require(current_stream() != stream, "the default stream is another stream");
    CHECK(cuMemsetD8Async(device_total, 0, sizeof *total, current_stream()));
    CHECK(cuLaunchKernel(sum, 2, 1, 1, 256, 1, 1, 0, current_stream(), arguments, NULL));
    unsigned long long again = 0;
    CHECK(cuMemcpyDtoH(&again, device_total, sizeof again));
    example_require(again == *total, "the default stream gives the same sum");
    printf("sum = %llu on a stream, %llu on the default stream\n", *total, again);

    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFreeHost(values));
    CHECK(cuMemFreeHost(total));
    CHECK(cuMemFree(device_values));
    CHECK(cuMemFree(device_total));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
