/* SPDX-License-Identifier: Apache-2.0 */
/* Two streams count with atomic additions, which is right. A third one reads the counters without waiting for both. */
#include "race.h"

__global__ void count(int *counters)
{
    atomicAdd(&counters[blockIdx.x * blockDim.x + threadIdx.x], 1);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *counters = new_buffer(), *b = new_buffer();
    cudaStream_t first = new_stream(), second = new_stream(), reader = new_stream();
    cudaEvent_t first_done = new_event(), second_done = new_event();
    count<<<BLOCKS, THREADS, 0, first>>>(counters);
    count<<<BLOCKS, THREADS, 0, second>>>(counters);
    CHECK(cudaEventRecord(first_done, first));
    CHECK(cudaEventRecord(second_done, second));
    CHECK(cudaStreamWaitEvent(reader, first_done));
    if (mended)
        CHECK(cudaStreamWaitEvent(reader, second_done));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, counters, 1);
    return verdict_of_device(b, 3);
}
