/* SPDX-License-Identifier: Apache-2.0 */
/* The seed's demonstration through the driver API: serial, and with a stream each; best of several runs, and the mean
 * time of a kernel. */
#include <math.h>
#include <string.h>

#include "bench.h"

extern const char bench_kernels[];

int main(int argc, char **argv)
{
    int arrays = argc > 1 ? atoi(argv[1]) : 200, length = argc > 2 ? atoi(argv[2]) : 1 << 20;
    size_t bytes = (size_t)length * sizeof(float), count = (size_t)arrays;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_kernels));
    CHECK(cuModuleGetFunction(&kernel, module, "double_and_halve"));
    float **in = malloc(count * sizeof *in), **out = malloc(count * sizeof *out);
    CUdeviceptr *memory = malloc(count * sizeof *memory);
    CUstream *streams = malloc(count * sizeof *streams);
    CUevent *start = malloc(count * sizeof *start), *end = malloc(count * sizeof *end);
    for (int k = 0; k < arrays; k++) {
        CHECK(cuMemAllocHost((void **)&in[k], bytes));
        CHECK(cuMemAllocHost((void **)&out[k], bytes));
        CHECK(cuMemAlloc(&memory[k], bytes));
        CHECK(cuStreamCreate(&streams[k], CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&start[k], 0));
        CHECK(cuEventCreate(&end[k], 0));
        for (int i = 0; i < length; i++)
            in[k][i] = (float)(i * 7 + k) / 1024.0f;
        memset(out[k], 0, bytes);
    }
    double best[2] = {1e9, 1e9};
    for (int repeat = 0; repeat < 10; repeat++) {
        int streamed = repeat % 2;
        double begin = bench_seconds();
        for (int k = 0; k < arrays; k++)
            CHECK(cuMemcpyHtoDAsync(memory[k], in[k], bytes, streamed ? streams[k] : NULL));
        for (int k = 0; k < arrays; k++) {
            void *arguments[] = {&memory[k], &length};
            CHECK(cuEventRecord(start[k], streamed ? streams[k] : NULL));
            CHECK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, streamed ? streams[k] : NULL, arguments, NULL));
            CHECK(cuEventRecord(end[k], streamed ? streams[k] : NULL));
        }
        for (int k = 0; k < arrays; k++)
            CHECK(cuMemcpyDtoHAsync(out[k], memory[k], bytes, streamed ? streams[k] : NULL));
        CHECK(cuCtxSynchronize());
        double seconds = bench_seconds() - begin;
        if (seconds < best[streamed])
            best[streamed] = seconds;
        for (int k = 0; k < arrays; k++)
            if (memcmp(in[k], out[k], bytes) != 0) {
                fprintf(stderr, "array %d differs\n", k);
                return 1;
            }
    }
    double sum = 0;
    for (int k = 0; k < arrays; k++) {
        float ms;
        CHECK(cuEventElapsedTime(&ms, start[k], end[k]));
        sum += ms;
    }
    printf("demo_serial_seconds %.4f\ndemo_streams_seconds %.4f\ndemo_kernel_ms %.3f\n", best[0], best[1],
           sum / arrays);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
