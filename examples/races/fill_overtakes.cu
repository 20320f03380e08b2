/* SPDX-License-Identifier: Apache-2.0 */
/* The accumulators are cleared in another stream than the one that adds to them. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t fills = new_stream(), kernels = new_stream();
    cudaEvent_t cleared = new_event();
    set<<<BLOCKS, THREADS>>>(a, 9);
    set<<<BLOCKS, THREADS>>>(b, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemsetAsync(a, 0, BYTES, fills));
    CHECK(cudaEventRecord(cleared, fills));
    if (mended)
        CHECK(cudaStreamWaitEvent(kernels, cleared));
    accumulate<<<BLOCKS, THREADS, 0, kernels>>>(a, b);
    return verdict_of_device(a, 1);
}
