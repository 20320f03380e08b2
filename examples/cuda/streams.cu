/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: four streams each copy in, compute and copy out; one more waits for all of them by events and adds their results. */
#include "check.h"

static const int streams = 4, n = 1 << 14;

__global__ void scale(float *data, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * by + 1.0f;
}

__global__ void add_up(const float *data, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int s = 0; s < streams; s++)
        sum += data[s * n + i];
    sums[i] = sum;
}

int main()
{
    cudaStream_t stream[streams], last;
    cudaEvent_t done[streams], begin, end;
    float *host, *device, *sums, ms = -1;
    CHECK(cudaMallocHost(&host, (streams + 1) * n * sizeof(float)));
    CHECK(cudaMalloc(&device, streams * n * sizeof(float)));
    CHECK(cudaMalloc(&sums, n * sizeof(float)));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
    CHECK(cudaEventRecord(begin, last));
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
        float *part = host + s * n, *on_device = device + s * n;
        for (int i = 0; i < n; i++)
            part[i] = (float)(i % 100);
        CHECK(cudaMemcpyAsync(on_device, part, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
        scale<<<n / 128, 128, 0, stream[s]>>>(on_device, (float)(s + 1));
        CHECK(cudaMemcpyAsync(part, on_device, n * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
        CHECK(cudaEventRecord(done[s], stream[s]));
        CHECK(cudaStreamWaitEvent(last, done[s], 0));
    }
    add_up<<<n / 128, 128, 0, last>>>(device, sums);
    CHECK(cudaMemcpyAsync(host + streams * n, sums, n * sizeof(float), cudaMemcpyDeviceToHost, last));
    CHECK(cudaEventRecord(end, last));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0);
    for (int s = 0; s < streams; s++) {
        EXPECT(cudaEventQuery(done[s]) == cudaSuccess && cudaStreamQuery(stream[s]) == cudaSuccess);
        for (int i = 0; i < n; i++)
            EXPECT(host[s * n + i] == (float)(i % 100) * (s + 1) + 1.0f);
        CHECK(cudaStreamDestroy(stream[s]));
        CHECK(cudaEventDestroy(done[s]));
    }
    for (int i = 0; i < n; i++)
        EXPECT(host[streams * n + i] == (float)(i % 100) * 10 + streams);
    CHECK(cudaStreamDestroy(last));
    CHECK(cudaFree(device));
    CHECK(cudaFree(sums));
    CHECK(cudaFreeHost(host));
    std::printf("streams: %d streams in %.3f ms\n", streams, ms);
    return 0;
}
