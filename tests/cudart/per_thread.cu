// SPDX-License-Identifier: Apache-2.0
// Compiled for per-thread default streams: <<<…>>> and stream 0 mean the thread's own stream, which does not wait for that of others.
#include <pthread.h>

#include "expect.h"

__global__ void wait_for(volatile int *gate, int *out)
{
    while (*gate == 0)
        ;
    *out = 1;
}

__global__ void mark(int *out)
{
    *out = 2;
}

static int *gate, *first, *second;

/* Were the streams of both threads one, this would wait for the kernel that waits for us. */
static void *other_thread(void *)
{
    int back = 0;
    mark<<<1, 1>>>(second);
    OK(cudaMemcpy(&back, second, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back == 2);
    OK(cudaMemset(second, 0, sizeof(int)));
    OK(cudaStreamSynchronize(0));
    OK(cudaStreamQuery(cudaStreamPerThread));
    *(volatile int *)gate = 1;
    return nullptr;
}

int main()
{
    pthread_t thread;
    int back = 0;
    OK(cudaHostAlloc(&gate, sizeof(int), cudaHostAllocMapped));
    *gate = 0;
    OK(cudaMalloc(&first, sizeof(int)));
    OK(cudaMalloc(&second, sizeof(int)));
    wait_for<<<1, 1>>>(gate, first);
    HOLDS(cudaStreamQuery(0) == cudaErrorNotReady);
    HOLDS(cudaStreamQuery(cudaStreamPerThread) == cudaErrorNotReady);
    (void)cudaGetLastError();
    HOLDS(pthread_create(&thread, nullptr, other_thread, nullptr) == 0);
    HOLDS(pthread_join(thread, nullptr) == 0);
    OK(cudaMemcpy(&back, first, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back == 1);
    OK(cudaFree(first));
    OK(cudaFree(second));
    OK(cudaFreeHost(gate));
    return finish();
}
