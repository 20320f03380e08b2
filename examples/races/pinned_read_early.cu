/* SPDX-License-Identifier: Apache-2.0 */
/* The host reads pinned memory while a copy into it is under way. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *pinned = new_pinned();
    cudaStream_t stream = new_stream();
    set<<<BLOCKS, THREADS, 0, stream>>>(a, 1);
    CHECK(cudaMemcpyAsync(pinned, a, BYTES, cudaMemcpyDeviceToHost, stream));
    if (mended)
        CHECK(cudaStreamSynchronize(stream));
    int status = verdict(pinned, 1);
    CHECK(cudaDeviceSynchronize());
    return status;
}
