// SPDX-License-Identifier: Apache-2.0
// Many threads: each has its own last error and its own device; all of them use a kernel for the first time at once.
#include <pthread.h>

#include "expect.h"

__global__ void add(int *to, int value)
{
    atomicAdd(to, value);
}

static pthread_barrier_t start;
static int *sums[2];
static int bad;

static void *work(void *number)
{
    int mine = (int)(size_t)number, device = -1;
    pthread_barrier_wait(&start);
    bool good = cudaSetDevice(mine % 2) == cudaSuccess;
    for (int i = 0; i < 50; i++)
        add<<<1, 32>>>(sums[mine % 2], 1);
    good = good && cudaGetLastError() == cudaSuccess;
    good = good && cudaGetDevice(&device) == cudaSuccess && device == mine % 2;
    if (mine % 3 == 0) {
        good = good && cudaSetDevice(99) == cudaErrorInvalidDevice && cudaPeekAtLastError() == cudaErrorInvalidDevice;
    } else {
        good = good && cudaPeekAtLastError() == cudaSuccess;
    }
    good = good && cudaDeviceSynchronize() == cudaSuccess;
    if (!good)
        __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
    return nullptr;
}

int main(int argc, char **argv)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_init(&start, nullptr, THREADS);
        for (int d = 0; d < 2; d++) {
            OK(cudaSetDevice(d));
            OK(cudaMalloc(&sums[d], sizeof(int)));
            OK(cudaMemset(sums[d], 0, sizeof(int)));
            OK(cudaDeviceSynchronize());
        }
        for (int i = 0; i < THREADS; i++)
            HOLDS(pthread_create(&threads[i], nullptr, work, (void *)(size_t)i) == 0);
        for (int i = 0; i < THREADS; i++)
            HOLDS(pthread_join(threads[i], nullptr) == 0);
        HOLDS(bad == 0);
        for (int d = 0; d < 2; d++) {
            int sum = 0;
            OK(cudaMemcpy(&sum, sums[d], sizeof sum, cudaMemcpyDefault));
            HOLDS(sum == THREADS / 2 * 50 * 32);
            OK(cudaFree(sums[d]));
        }
        HOLDS(cudaGetLastError() == cudaSuccess);
        pthread_barrier_destroy(&start);
    }
    return finish();
}
