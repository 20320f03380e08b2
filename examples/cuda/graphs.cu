/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: work of two streams is captured into a graph, which runs several times. */
#include "check.h"

static const int n = 4096;

__global__ void add_to(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void join(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += a[i] * b[i];
}

int main()
{
    int *data, *host;
    cudaStream_t one, two;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    size_t nodes = 0;
    CHECK(cudaMalloc(&data, 3 * n * sizeof(int)));
    CHECK(cudaMemset(data, 0, 3 * n * sizeof(int)));
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));

    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(forked, one));
    CHECK(cudaStreamWaitEvent(two, forked, 0));
    add_to<<<n / 128, 128, 0, one>>>(data, 1);
    add_to<<<n / 128, 128, 0, two>>>(data + n, 2);
    CHECK(cudaEventRecord(joined, two));
    CHECK(cudaStreamWaitEvent(one, joined, 0));
    join<<<n / 128, 128, 0, one>>>(data, data + n, data + 2 * n);
    CHECK(cudaMemcpyAsync(host, data + 2 * n, n * sizeof(int), cudaMemcpyDeviceToHost, one));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 4);
    CHECK(cudaGraphInstantiate(&ready, graph, 0));

    int expected = 0;
    for (int run = 1; run <= 10; run++) {
        CHECK(cudaGraphLaunch(ready, one));
        expected += run * 2 * run;
    }
    CHECK(cudaStreamSynchronize(one));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == expected);
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(two));
    CHECK(cudaFree(data));
    CHECK(cudaFreeHost(host));
    std::printf("graphs: %zu nodes, ten runs\n", nodes);
    return 0;
}
