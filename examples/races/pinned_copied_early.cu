/* SPDX-License-Identifier: Apache-2.0 */
/* Results go through a pinned buffer on the way to another stream, which doesn't wait for the first half of the way. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *pinned = new_pinned();
    cudaStream_t out = new_stream(), in = new_stream();
    cudaEvent_t arrived = new_event();
    set<<<BLOCKS, THREADS, 0, out>>>(a, 1);
    CHECK(cudaMemcpyAsync(pinned, a, BYTES, cudaMemcpyDeviceToHost, out));
    CHECK(cudaEventRecord(arrived, out));
    if (mended)
        CHECK(cudaStreamWaitEvent(in, arrived));
    CHECK(cudaMemcpyAsync(b, pinned, BYTES, cudaMemcpyHostToDevice, in));
    return verdict_of_device(b, 1);
}
