/* SPDX-License-Identifier: Apache-2.0 */
/* Destroying a stream doesn't wait for its work. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream();
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    if (mended)
        CHECK(cudaStreamSynchronize(writer));
    CHECK(cudaStreamDestroy(writer));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
