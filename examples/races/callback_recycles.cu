/* SPDX-License-Identifier: Apache-2.0 */
/* A host function gives a buffer back to the program's own pool when one stream is done with it. Another stream still
 * reads it. */
#include "race.h"

#include <atomic>

static std::atomic<bool> is_free;

static void give_back(void *)
{
    is_free = true;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t owner = new_stream(), reader = new_stream(), next = new_stream();
    cudaEvent_t written = new_event(), read = new_event();
    set<<<BLOCKS, THREADS, 0, owner>>>(a, 1);
    CHECK(cudaEventRecord(written, owner));
    CHECK(cudaStreamWaitEvent(reader, written));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    CHECK(cudaEventRecord(read, reader));
    if (mended)
        CHECK(cudaStreamWaitEvent(owner, read));
    CHECK(cudaLaunchHostFunc(owner, give_back, nullptr));
    while (!is_free) {
    }
    if (mended)
        CHECK(cudaEventSynchronize(read));
    set<<<BLOCKS, THREADS, 0, next>>>(a, 7);
    return verdict_of_device(b, 2);
}
