/* SPDX-License-Identifier: Apache-2.0 */
/* The README's program: a kernel, and two events that time it. */
#include <vector>

#include "check.h"

__global__ void square(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}

int main()
{
    const int n = 1 << 20, block = 256;
    std::vector<float> x(n);
    for (int i = 0; i < n; i++)
        x[i] = (float)(i % 1000);
    float *memory, ms;
    CHECK(cudaMalloc(&memory, n * sizeof(float)));
    CHECK(cudaMemcpy(memory, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    square<<<1, block>>>(memory, 0); /* compiles the kernel, so that the time below is its own */
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaEventRecord(begin));
    square<<<n / block, block>>>(memory, n);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));

    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaMemcpy(x.data(), memory, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(x[i] == (float)((i % 1000) * (i % 1000)));
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("squares: %d numbers squared in %.3f ms on %s\n", n, ms, device.name);
    CHECK(cudaFree(memory));
    return 0;
}
