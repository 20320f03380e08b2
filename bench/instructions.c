/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes each call of the table in instructions.py ROUNDS times, from one thread. valgrind counts their instructions.
 *
 *     bench_instructions ROUNDS
 */
#include "bench.h"

static const char empty_kernel[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty(.param .u64 p) { ret; }\n";

int main(int count, char **arguments)
{
    int rounds = count == 2 ? atoi(arguments[1]) : 0;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction empty;
    CUstream stream, other;
    CUevent timed, untimed, event;
    CUdeviceptr memory;
    float ms;

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, empty_kernel));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(timed, stream));
    memory = 0;
    void *parameters[] = {&memory};
    /* The first launch compiles. */
    CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamSynchronize(stream));

    for (int round = 0; round < rounds; round++) {
        CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
        CHECK(cuEventDestroy(event));
        CHECK(cuEventRecord(untimed, stream));
        CHECK(cuEventQuery(untimed));
        CHECK(cuStreamWaitEvent(other, untimed, 0));
        CHECK(cuEventSynchronize(untimed));
        CHECK(cuEventElapsedTime(&ms, timed, timed));
        CHECK(cuMemAlloc(&memory, 1 << 20));
        CHECK(cuMemFree(memory));
        CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        CHECK(cuStreamSynchronize(stream));
    }
    return 0;
}
