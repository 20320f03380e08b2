/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the device: a filter's weights in constant memory, a counter in global memory, read and written by name. */
#include <initializer_list>

#include "check.h"

static const int n = 1 << 12, taps = 5;

__constant__ float weights[taps];
__device__ unsigned large;
__device__ float threshold = 1.5f;

__global__ void filter(float *to, const float *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 0;
    for (int t = 0; t < taps; t++) {
        int at = i + t - taps / 2;
        if (at >= 0 && at < n)
            value += weights[t] * from[at];
    }
    to[i] = value;
    if (value > threshold)
        atomicAdd(&large, 1u);
}

static float expect(const float *from, const float *with, int i)
{
    float value = 0;
    for (int t = 0; t < taps; t++)
        if (i + t - taps / 2 >= 0 && i + t - taps / 2 < n)
            value += with[t] * from[i + t - taps / 2];
    return value;
}

int main()
{
    const float smooth[taps] = { 0.125f, 0.25f, 0.25f, 0.25f, 0.125f }, edges[taps] = { 0, -1, 2, -1, 0 };
    static float host[n], back[n];
    float *from, *to, limit = 0;
    size_t size = 0;
    void *address = nullptr;
    for (int i = 0; i < n; i++)
        host[i] = (float)(i % 8);
    CHECK(cudaMalloc(&from, sizeof host));
    CHECK(cudaMalloc(&to, sizeof host));
    CHECK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaGetSymbolSize(&size, weights));
    EXPECT(size == sizeof smooth);
    CHECK(cudaMemcpyFromSymbol(&limit, threshold, sizeof limit));
    EXPECT(limit == 1.5f); /* what the source says */
    for (const float *with : { smooth, edges }) {
        unsigned counted = 0, expected = 0;
        CHECK(cudaMemcpyToSymbol(weights, with, sizeof smooth));
        CHECK(cudaGetSymbolAddress(&address, large));
        CHECK(cudaMemset(address, 0, sizeof counted));
        filter<<<n / 128, 128>>>(to, from);
        CHECK(cudaMemcpy(back, to, sizeof back, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpyFromSymbol(&counted, large, sizeof counted));
        for (int i = 0; i < n; i++) {
            EXPECT(back[i] == expect(host, with, i)); /* exact: eighths of small numbers */
            expected += back[i] > limit;
        }
        EXPECT(counted == expected && counted > 0);
    }
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    std::printf("symbols: two filters of %d weights\n", taps);
    return 0;
}
