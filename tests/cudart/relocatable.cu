// SPDX-License-Identifier: Apache-2.0
// Device code in two sources that need each other. By nvcc: -rdc=true.
#include "expect.h"

extern __device__ int offset;
extern __device__ int twice(int value);

__global__ void use(int *out)
{
    *out = twice(20) + offset;
}

int main()
{
    int *memory, back = 0, value = 5;
    OK(cudaMalloc(&memory, sizeof(int)));
    use<<<1, 1>>>(memory);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&back, memory, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back == 42);
    OK(cudaMemcpyToSymbol(offset, &value, sizeof value));
    use<<<1, 1>>>(memory);
    OK(cudaMemcpy(&back, memory, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back == 45);
    OK(cudaFree(memory));
    return finish();
}
