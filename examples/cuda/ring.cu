/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices: a value goes round a ring of them, each adds its number and hands the array on; events order work across devices. */
#include "check.h"

static const int n = 1 << 10, rounds = 3, most = 8;

__global__ void add(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main()
{
    int devices = 0, *buffer[most], back[n];
    cudaStream_t stream[most];
    cudaEvent_t sent[most];
    CHECK(cudaGetDeviceCount(&devices));
    devices = devices < most ? devices : most;
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming));
        CHECK(cudaMalloc(&buffer[d], sizeof back));
        CHECK(cudaMemsetAsync(buffer[d], 0, sizeof back, stream[d]));
        CHECK(cudaStreamSynchronize(stream[d])); /* the neighbour writes here */
        const int next = (d + 1) % devices;
        int can = 0;
        if (next != d)
            CHECK(cudaDeviceCanAccessPeer(&can, d, next));
        if (can)
            CHECK(cudaDeviceEnablePeerAccess(next, 0));
    }
    for (int round = 0; round < rounds; round++)
        for (int d = 0; d < devices; d++) {
            const int next = (d + 1) % devices, before = (d + devices - 1) % devices;
            CHECK(cudaSetDevice(d));
            if (round + d > 0)
                CHECK(cudaStreamWaitEvent(stream[d], sent[before])); /* an event of another device */
            add<<<n / 128, 128, 0, stream[d]>>>(buffer[d], d + 1);
            if (next != d)
                CHECK(cudaMemcpyPeerAsync(buffer[next], next, buffer[d], d, sizeof back, stream[d]));
            CHECK(cudaEventRecord(sent[d], stream[d]));
        }
    CHECK(cudaEventSynchronize(sent[devices - 1]));
    CHECK(cudaMemcpy(back, buffer[0], sizeof back, cudaMemcpyDefault));
    for (int i = 0; i < n; i++)
        EXPECT(back[i] == rounds * devices * (devices + 1) / 2);
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(buffer[d]));
        CHECK(cudaEventDestroy(sent[d]));
        CHECK(cudaStreamDestroy(stream[d]));
    }
    std::printf("ring: %d devices: %d\n", devices, back[0]);
    return 0;
}
