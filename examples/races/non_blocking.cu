/* SPDX-License-Identifier: Apache-2.0 */
/* A non-blocking stream doesn't wait for the default stream. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, mended ? cudaStreamDefault : cudaStreamNonBlocking));
    set<<<BLOCKS, THREADS>>>(a, 1);
    add<<<BLOCKS, THREADS, 0, stream>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
