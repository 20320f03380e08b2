/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program: a kernel that prints, and one that adds vectors. */
#include <vector>

#include "check.h"

__global__ void hello()
{
    printf("hello from thread %u of block %u\n", threadIdx.x, blockIdx.x);
}

__global__ void add(const float *a, const float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

int main()
{
    const int n = 1000;
    std::vector<float> a(n), b(n), sum(n);
    float *memory;
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * i;
    }
    hello<<<2, 2>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMalloc(&memory, 3 * n * sizeof(float)));
    CHECK(cudaMemcpy(memory, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(memory + n, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(memory, memory + n, memory + 2 * n, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sum.data(), memory + 2 * n, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(sum[i] == 1.5f * i);
    CHECK(cudaFree(memory));
    std::printf("hello: %d sums are right\n", n);
    return 0;
}
