/* SPDX-License-Identifier: Apache-2.0 */
/* The host fills a pinned buffer again before the copy out of it is over. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *pinned = new_pinned();
    cudaStream_t stream = new_stream();
    set<<<BLOCKS, THREADS, 0, stream>>>(b, 1);
    for (int i = 0; i < N; i++)
        pinned[i] = 1;
    CHECK(cudaMemcpyAsync(a, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    if (mended)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        pinned[i] = 2;
    CHECK(cudaMemcpyAsync(b, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    return verdict_of_device(a, 1);
}
