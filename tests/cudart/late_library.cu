// SPDX-License-Identifier: Apache-2.0
// A library with a kernel and a variable of its own, opened and closed by late.c.
#include <cuda_runtime.h>

__device__ int calls;

__global__ void call(int *out)
{
    *out = 40 + ++calls;
}

extern "C" __attribute__((visibility("default"))) int late_call()
{
    int *memory, back = -1;
    if (cudaMalloc(&memory, sizeof(int)) != cudaSuccess)
        return -2;
    call<<<1, 1>>>(memory);
    if (cudaGetLastError() != cudaSuccess || cudaMemcpy(&back, memory, sizeof back, cudaMemcpyDeviceToHost) != cudaSuccess)
        return -3;
    (void)cudaFree(memory);
    return back;
}
