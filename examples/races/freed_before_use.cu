/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel is launched with memory that was given back before. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a, *b = new_buffer();
    cudaStream_t owner = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event(), read = new_event();
    CHECK(cudaMallocAsync(&a, BYTES, owner));
    set<<<BLOCKS, THREADS, 0, owner>>>(a, 1);
    CHECK(cudaEventRecord(written, owner));
    CHECK(cudaStreamWaitEvent(reader, written));
    if (!mended)
        CHECK(cudaFreeAsync(a, owner));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    if (mended) {
        CHECK(cudaEventRecord(read, reader));
        CHECK(cudaStreamWaitEvent(owner, read));
        CHECK(cudaFreeAsync(a, owner));
    }
    int *next;
    CHECK(cudaMallocAsync(&next, BYTES, owner));
    set<<<BLOCKS, THREADS, 0, owner>>>(next, 7);
    int status = verdict_of_device(b, 2);
    CHECK(cudaFree(next));
    return status;
}
