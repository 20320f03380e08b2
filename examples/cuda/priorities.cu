/* SPDX-License-Identifier: Apache-2.0 */
/* Stream priorities: the same work in a stream of the least and one of the greatest priority, while a third stream keeps the device busy. Which of the two
 * ends first is up to the device; that both see their own results is not. */
#include "check.h"

static const int n = 1 << 12, rounds = 8;

__global__ void step(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * 1664525u + 1013904223u;
}

int main()
{
    int least = 1, greatest = 1;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least && least <= 0); /* smaller numbers go first */
    const int wanted[3] = { least, greatest, 0 };
    cudaStream_t stream[3];
    cudaEvent_t begin[3], end[3];
    unsigned *data[3], *back;
    CHECK(cudaMallocHost(&back, 3 * n * sizeof *back));
    for (int s = 0; s < 3; s++) {
        int priority = 77;
        CHECK(cudaStreamCreateWithPriority(&stream[s], cudaStreamNonBlocking, wanted[s]));
        CHECK(cudaStreamGetPriority(stream[s], &priority));
        EXPECT(priority == wanted[s]);
        CHECK(cudaEventCreate(&begin[s]));
        CHECK(cudaEventCreate(&end[s]));
        CHECK(cudaMalloc(&data[s], n * sizeof *data[s]));
        CHECK(cudaMemsetAsync(data[s], 0, n * sizeof *data[s], stream[s]));
    }
    /* A priority out of range is moved into it. */
    cudaStream_t other;
    int priority = 77;
    CHECK(cudaStreamCreateWithPriority(&other, cudaStreamDefault, greatest - 100));
    CHECK(cudaStreamGetPriority(other, &priority));
    EXPECT(priority == greatest);
    CHECK(cudaStreamDestroy(other));

    for (int s = 2; s >= 0; s--)
        CHECK(cudaEventRecord(begin[s], stream[s]));
    for (int round = 0; round < rounds; round++)
        for (int s = 2; s >= 0; s--)
            step<<<n / 128, 128, 0, stream[s]>>>(data[s]);
    for (int s = 2; s >= 0; s--) {
        CHECK(cudaEventRecord(end[s], stream[s]));
        CHECK(cudaMemcpyAsync(back + s * n, data[s], n * sizeof *back, cudaMemcpyDeviceToHost, stream[s]));
    }
    CHECK(cudaDeviceSynchronize());
    unsigned expected = 0;
    for (int round = 0; round < rounds; round++)
        expected = expected * 1664525u + 1013904223u;
    for (int s = 0; s < 3; s++) {
        float ms = -1;
        CHECK(cudaEventElapsedTime(&ms, begin[s], end[s]));
        EXPECT(ms >= 0);
        for (int i = 0; i < n; i++)
            EXPECT(back[s * n + i] == expected);
        CHECK(cudaFree(data[s]));
        CHECK(cudaEventDestroy(begin[s]));
        CHECK(cudaEventDestroy(end[s]));
        CHECK(cudaStreamDestroy(stream[s]));
    }
    CHECK(cudaFreeHost(back));
    std::printf("priorities: from %d to %d, all three streams are right\n", least, greatest);
    return 0;
}
