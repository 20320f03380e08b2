// SPDX-License-Identifier: Apache-2.0
// A kernel that goes wrong: later calls tell, the error stays until the device is reset, and then the device is not to be had any more, while others are.
#include "expect.h"

__global__ void write_to(int *place)
{
    *place = 1;
}

__global__ void stop()
{
    __trap();
}

static void test_works()
{
    int *good, back = 0;
    OK(cudaMalloc(&good, 4));
    write_to<<<1, 1>>>(good);
    OK(cudaMemcpy(&back, good, 4, cudaMemcpyDeviceToHost));
    HOLDS(back == 1);
    OK(cudaFree(good));
}

static void test_fault(int device, void (*launch)(), cudaError_t wanted)
{
    void *memory;
    OK(cudaSetDevice(device));
    test_works();
    OK(cudaDeviceReset()); /* without a fault it gives a device that works */
    test_works();
    launch();
    HOLDS(cudaDeviceSynchronize() == wanted);
    HOLDS(cudaPeekAtLastError() == wanted);
    HOLDS(cudaGetLastError() == wanted);
    HOLDS(cudaGetLastError() == cudaSuccess); /* the next call gives it again */
    HOLDS(cudaMalloc(&memory, 4) == wanted);
    HOLDS(cudaStreamQuery(0) == wanted);
    OK(cudaDeviceReset());
    HOLDS(cudaGetLastError() == wanted); /* a reset leaves it alone */
    HOLDS(cudaGetLastError() == cudaSuccess);
    HOLDS(cudaMalloc(&memory, 4) == cudaErrorDevicesUnavailable);
    OK(cudaDeviceReset());
    HOLDS(cudaSetDevice(device) == cudaErrorDevicesUnavailable);
    HOLDS(cudaGetLastError() == cudaErrorDevicesUnavailable);
    write_to<<<1, 1>>>(nullptr);
    HOLDS(cudaGetLastError() == cudaErrorDevicesUnavailable);
}

int main()
{
    test_fault(0, [] { write_to<<<1, 1>>>((int *)16); }, cudaErrorIllegalAddress);
    test_fault(1, [] { stop<<<1, 1>>>(); }, cudaErrorLaunchFailure);
    return finish();
}
