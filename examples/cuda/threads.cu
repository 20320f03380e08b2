/* SPDX-License-Identifier: Apache-2.0 */
/* Several host threads, each with the default stream of its own (--default-stream per-thread), a lambda as a kernel's argument, and errors
 * that one thread makes and no other sees. */
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

template <class F> __global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        f(i);
}

static std::atomic<int> finished;

static void work(int number)
{
    const int n = 2000;
    int *data, device = -1;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    for (int round = 0; round < 10; round++) {
        int factor = number * 100 + round;
        for_each<<<(n + 127) / 128, 128>>>(n, [=] __device__(int i) { data[i] = i * factor; });
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
        for (int i = 0; i < n; i++)
            EXPECT(data[i] == i * factor);
    }
    if (number % 2) {
        EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
        EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
        EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    }
    EXPECT(cudaGetLastError() == cudaSuccess);
    CHECK(cudaGetDevice(&device));
    EXPECT(device == 0);
    CHECK(cudaFree(data));
    finished++;
}

int main()
{
    const int count = 8;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    EXPECT(finished == count);
    std::printf("threads: %d threads, ten rounds each\n", count);
    return 0;
}
