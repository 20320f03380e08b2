/* SPDX-License-Identifier: Apache-2.0 */
/* A constant is changed for the next kernel while the last one may still read it. */
#include "race.h"

__constant__ int step;

__global__ void add_step(int *to)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] += step;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *pinned = new_pinned();
    cudaStream_t kernels = new_stream(), updates = new_stream();
    cudaEvent_t used = new_event();
    pinned[0] = 1;
    pinned[1] = 5;
    CHECK(cudaMemcpyToSymbol(step, &pinned[0], sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    add_step<<<BLOCKS, THREADS, 0, kernels>>>(a);
    CHECK(cudaEventRecord(used, kernels));
    if (mended)
        CHECK(cudaStreamWaitEvent(updates, used));
    CHECK(cudaMemcpyToSymbolAsync(step, &pinned[1], sizeof(int), 0, cudaMemcpyHostToDevice, updates));
    return verdict_of_device(a, 1);
}
