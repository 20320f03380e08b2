/* SPDX-License-Identifier: Apache-2.0 */
/* The host waits for the wrong stream. The synchronous copy after that waits for no non-blocking stream. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *found = (int *)std::malloc(BYTES);
    cudaStream_t stream = new_stream(), other = new_stream();
    set<<<BLOCKS, THREADS, 0, stream>>>(a, 1);
    set<<<BLOCKS, THREADS, 0, other>>>(b, 1);
    CHECK(cudaStreamSynchronize(mended ? stream : other));
    CHECK(cudaMemcpy(found, a, BYTES, cudaMemcpyDeviceToHost));
    int status = verdict(found, 1);
    std::free(found);
    CHECK(cudaDeviceSynchronize());
    return status;
}
