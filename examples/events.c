/* SPDX-License-Identifier: Apache-2.0 */
/* Events: time an element-wise operation, order one stream after another, wait on the host.
 *
 * An event marks a point in a stream. Two of them around a piece of work tell how long the device took for it; a stream
 * that is told to wait for one starts its next command only when everything before the mark is done. */
#include <stdio.h>

#include "example.h"

enum { LENGTH = 10 };

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction multiply_add;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, example_kernels));
    CHECK(cuModuleGetFunction(&multiply_add, module, "multiply_add"));

    long a[LENGTH], b[LENGTH], out[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        a[i] = b[i] = i;
    CUdeviceptr device_a, device_b, device_out;
    CHECK(cuMemAlloc(&device_a, sizeof a));
    CHECK(cuMemAlloc(&device_b, sizeof b));
    CHECK(cuMemAlloc(&device_out, sizeof out));
    CHECK(cuMemcpyHtoD(device_a, a, sizeof a));
    CHECK(cuMemcpyHtoD(device_b, b, sizeof b));
    /* A copy from pageable memory may still be on its way when the call returns, and the streams made below don't wait
     * for it: they are non-blocking. */
    CHECK(cuCtxSynchronize());

    CUstream work, after;
    CUevent before_work, after_work;
    CHECK(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&after, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&before_work, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&after_work, CU_EVENT_DEFAULT));

    /* The operation, between two events. */
    long addend = 8;
    int length = LENGTH;
    void *arguments[] = {&device_a, &device_b, &addend, &device_out, &length};
    CHECK(cuEventRecord(before_work, work));
    CHECK(cuLaunchKernel(multiply_add, 1, 1, 1, 32, 1, 1, 0, work, arguments, NULL));
    CHECK(cuEventRecord(after_work, work));

    /* A second stream may read the result once the event has passed; the host need not wait in between. */
    CHECK(cuStreamWaitEvent(after, after_work, CU_EVENT_WAIT_DEFAULT));
    CHECK(cuMemcpyDtoHAsync(out, device_out, sizeof out, after));
    CHECK(cuStreamSynchronize(after));
    for (int i = 0; i < LENGTH; i++)
        example_require(out[i] == (long)i * i + 8, "out[i] must be a[i] * b[i] + 8");

    float milliseconds = -1;
    CHECK(cuEventSynchronize(after_work));
    CHECK(cuEventQuery(after_work));
    CHECK(cuEventElapsedTime(&milliseconds, before_work, after_work));
    example_require(milliseconds >= 0, "time does not run backwards");
    printf("out[9] = %ld, kernel %.3f ms\n", out[9], milliseconds);

    CHECK(cuEventDestroy(before_work));
    CHECK(cuEventDestroy(after_work));
    CHECK(cuStreamDestroy(work));
    CHECK(cuStreamDestroy(after));
    CHECK(cuMemFree(device_a));
    CHECK(cuMemFree(device_b));
    CHECK(cuMemFree(device_out));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
