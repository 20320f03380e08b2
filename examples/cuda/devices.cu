/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices (MILLRACE_DEVICES=2): each computes its part, one waits for the other's event, and a copy goes from one to the other. */
#include "check.h"

__device__ int seed = 1;

__global__ void fill(int *data, int factor)
{
    data[threadIdx.x] = seed * factor + threadIdx.x;
}

__global__ void add(int *sum, const int *other)
{
    sum[threadIdx.x] += other[threadIdx.x];
}

int main()
{
    int count, *data[2], *copy, result[64];
    cudaStream_t stream[2];
    cudaEvent_t filled;
    CHECK(cudaGetDeviceCount(&count));
    if (count < 2) {
        std::printf("devices: there is one device; MILLRACE_DEVICES=2 makes two\n");
        return 0;
    }
    for (int device = 0; device < 2; device++) {
        int value = 10 * (device + 1);
        cudaDeviceProp properties;
        CHECK(cudaGetDeviceProperties(&properties, device));
        CHECK(cudaSetDevice(device));
        CHECK(cudaMemcpyToSymbol(seed, &value, sizeof value)); /* each device has a variable of its own */
        CHECK(cudaStreamCreate(&stream[device]));
        CHECK(cudaMalloc(&data[device], sizeof result));
        fill<<<1, 64, 0, stream[device]>>>(data[device], 100);
    }
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK(cudaEventRecord(filled, stream[1]));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&copy, sizeof result));
    CHECK(cudaStreamWaitEvent(stream[0], filled, 0));
    CHECK(cudaMemcpyPeerAsync(copy, 0, data[1], 1, sizeof result, stream[0]));
    add<<<1, 64, 0, stream[0]>>>(data[0], copy);
    CHECK(cudaMemcpyAsync(result, data[0], sizeof result, cudaMemcpyDeviceToHost, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    for (int i = 0; i < 64; i++)
        EXPECT(result[i] == 1000 + 2000 + 2 * i);
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaStreamDestroy(stream[device]));
        CHECK(cudaFree(data[device]));
    }
    CHECK(cudaFree(copy));
    std::printf("devices: %d, and their sums are right\n", count);
    return 0;
}
