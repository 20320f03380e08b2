/* SPDX-License-Identifier: Apache-2.0 */
/* Capture: work in two streams that fork and join becomes a graph, which is launched many times, changed in place by a second capture, and used as a
 * child of another. */
#include <initializer_list>

#include "check.h"

static const int n = 1 << 10;

__global__ void add(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void sum(int *to, const int *left, const int *right)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = left[i] + right[i];
}

struct buffers { int *left, *right, *to; };

static cudaGraph_t record(cudaStream_t stream, cudaStream_t side, const buffers &b, int value)
{
    cudaGraph_t graph;
    cudaEvent_t fork, join;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork));
    add<<<n / 128, 128, 0, stream>>>(b.left, value);
    add<<<n / 128, 128, 0, side>>>(b.right, 10 * value);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join));
    sum<<<n / 128, 128, 0, stream>>>(b.to, b.left, b.right);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    return graph;
}

int main()
{
    buffers b;
    cudaStream_t stream, side;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    for (int **buffer : { &b.left, &b.right, &b.to }) {
        CHECK(cudaMalloc(buffer, n * sizeof(int)));
        CHECK(cudaMemsetAsync(*buffer, 0, n * sizeof(int), stream));
    }
    cudaGraph_t graph = record(stream, side, b, 1);
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 3);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 100; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    int back[2];
    CHECK(cudaMemcpyAsync(back, b.to + n - 1, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 100 + 1000);

    /* The same shape with other parameters fits into the graph that is there. */
    cudaGraph_t other = record(stream, side, b, -1);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    for (int i = 0; i < 100; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(back, b.to, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 0);

    /* Twice in a row, as children of a third graph. */
    cudaGraph_t parent;
    cudaGraphNode_t first, second;
    cudaGraphExec_t both;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, parent, nullptr, 0, graph));
    CHECK(cudaGraphAddChildGraphNode(&second, parent, &first, 1, graph));
    CHECK(cudaGraphInstantiate(&both, parent, 0));
    CHECK(cudaGraphLaunch(both, stream));
    CHECK(cudaMemcpyAsync(back, b.to, sizeof back, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 22 && back[1] == 22);
    CHECK(cudaGraphExecDestroy(both));
    CHECK(cudaGraphExecDestroy(exec));
    for (cudaGraph_t one : { graph, other, parent })
        CHECK(cudaGraphDestroy(one));
    for (int *buffer : { b.left, b.right, b.to })
        CHECK(cudaFree(buffer));
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaStreamDestroy(stream));
    std::printf("capture: 202 launches of %d nodes\n", (int)nodes);
    return 0;
}
