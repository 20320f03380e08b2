/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in several streams: a long array goes through two small buffers of the device. One stream copies in, one computes, one copies out; events
 * say when a buffer is full, done, and free again. */
#include <initializer_list>

#include "check.h"

static const int chunk = 1 << 12, chunks = 32, buffers = 2;

__global__ void square(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * data[i] + 1;
}

int main()
{
    enum { IN, COMPUTE, OUT, STREAMS };
    cudaStream_t stream[STREAMS];
    cudaEvent_t full[buffers], done[buffers], unused[buffers];
    int *host, *device[buffers];
    CHECK(cudaHostAlloc(&host, chunks * chunk * sizeof *host, cudaHostAllocDefault));
    for (int i = 0; i < chunks * chunk; i++)
        host[i] = i % 1000;
    for (cudaStream_t &one : stream)
        CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    for (int b = 0; b < buffers; b++) {
        CHECK(cudaMalloc(&device[b], chunk * sizeof *host));
        for (cudaEvent_t *event : { &full[b], &done[b], &unused[b] })
            CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    for (int c = 0; c < chunks; c++) {
        const int b = c % buffers;
        CHECK(cudaStreamWaitEvent(stream[IN], unused[b])); /* the first time there is nothing to wait for */
        CHECK(cudaMemcpyAsync(device[b], host + c * chunk, chunk * sizeof *host, cudaMemcpyHostToDevice, stream[IN]));
        CHECK(cudaEventRecord(full[b], stream[IN]));
        CHECK(cudaStreamWaitEvent(stream[COMPUTE], full[b]));
        square<<<chunk / 256, 256, 0, stream[COMPUTE]>>>(device[b]);
        CHECK(cudaEventRecord(done[b], stream[COMPUTE]));
        CHECK(cudaStreamWaitEvent(stream[OUT], done[b]));
        CHECK(cudaMemcpyAsync(host + c * chunk, device[b], chunk * sizeof *host, cudaMemcpyDeviceToHost, stream[OUT]));
        CHECK(cudaEventRecord(unused[b], stream[OUT]));
    }
    CHECK(cudaStreamSynchronize(stream[OUT]));
    for (int i = 0; i < chunks * chunk; i++)
        EXPECT(host[i] == (i % 1000) * (i % 1000) + 1);
    for (int b = 0; b < buffers; b++) {
        CHECK(cudaFree(device[b]));
        for (cudaEvent_t event : { full[b], done[b], unused[b] })
            CHECK(cudaEventDestroy(event));
    }
    for (cudaStream_t one : stream)
        CHECK(cudaStreamDestroy(one));
    CHECK(cudaFreeHost(host));
    std::printf("pipeline: %d chunks through %d buffers\n", chunks, buffers);
    return 0;
}
