/* SPDX-License-Identifier: Apache-2.0 */
/* Without a driver every call says so, and nothing crashes. */
#include "expect.h"

int main(void)
{
    int value = 7;
    void *memory;
    OK(cudaRuntimeGetVersion(&value));
    OK(cudaDriverGetVersion(&value));
    HOLDS(value == 0);
    GIVES(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
    GIVES(cudaErrorInsufficientDriver, cudaMalloc(&memory, 4));
    GIVES(cudaErrorInsufficientDriver, cudaSetDevice(0));
    GIVES(cudaErrorInsufficientDriver, cudaDeviceSynchronize());
    HOLDS(cudaMalloc(&memory, 4) == cudaErrorInsufficientDriver && cudaGetLastError() == cudaErrorInsufficientDriver);
    HOLDS(cudaGetLastError() == cudaSuccess);
    return finish();
}
