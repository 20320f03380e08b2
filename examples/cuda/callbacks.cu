/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions in a stream, stream priorities, copies in two dimensions, and memory that is allocated in stream order. */
#include <vector>

#include "check.h"

struct step {
    std::vector<int> *order;
    int number;
};

static void note(void *data)
{
    step *what = (step *)data;
    what->order->push_back(what->number);
}

__global__ void transpose(const int *in, size_t in_pitch, int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = ((const int *)((const char *)in + y * in_pitch))[x];
}

int main()
{
    const int width = 100, height = 30;
    int least, greatest, priority, *rows, *turned;
    size_t pitch;
    cudaStream_t stream;
    std::vector<int> order, in(width * height), out(width * height);
    std::vector<step> steps;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(stream, &priority));
    EXPECT(priority == greatest);
    for (int i = 0; i < 5; i++)
        steps.push_back({ &order, i });
    for (int i = 0; i < width * height; i++)
        in[i] = i;
    CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(int), height));
    EXPECT(pitch >= width * sizeof(int));
    CHECK(cudaMallocAsync(&turned, width * height * sizeof(int), stream));
    CHECK(cudaLaunchHostFunc(stream, note, &steps[0]));
    CHECK(cudaMemcpy2DAsync(rows, pitch, in.data(), width * sizeof(int), width * sizeof(int), height, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, note, &steps[1]));
    transpose<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16), 0, stream>>>(rows, pitch, turned, width, height);
    CHECK(cudaLaunchHostFunc(stream, note, &steps[2]));
    CHECK(cudaMemcpyAsync(out.data(), turned, width * height * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(turned, stream));
    CHECK(cudaLaunchHostFunc(stream, note, &steps[3]));
    CHECK(cudaLaunchHostFunc(stream, note, &steps[4]));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(order == std::vector<int>({ 0, 1, 2, 3, 4 }));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(out[x * height + y] == y * width + x);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(rows));
    std::printf("callbacks: %zu host functions in order\n", order.size());
    return 0;
}
