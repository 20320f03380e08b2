/* SPDX-License-Identifier: Apache-2.0 */
/* The event is recorded in a stream that has nothing to do with the work. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream(), other = new_stream();
    cudaEvent_t written = new_event();
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, mended ? writer : other));
    CHECK(cudaStreamWaitEvent(reader, written));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
