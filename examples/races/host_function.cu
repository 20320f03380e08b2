/* SPDX-License-Identifier: Apache-2.0 */
/* A host function in one stream writes what a kernel in another one reads. */
#include "race.h"

#include <atomic>

static std::atomic<bool> launched(false);

/* Takes its time: until the kernel that reads its bytes has been asked for. */
static void fill(void *data)
{
    while (!launched)
        ;
    for (int i = 0; i < N; i++)
        ((int *)data)[i] = 1;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *pinned = new_pinned(), *b = new_buffer();
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t filled = new_event();
    CHECK(cudaLaunchHostFunc(stream, fill, pinned));
    CHECK(cudaEventRecord(filled, stream));
    if (mended)
        CHECK(cudaStreamWaitEvent(other, filled));
    add<<<BLOCKS, THREADS, 0, other>>>(b, pinned, 1);
    launched = true;
    return verdict_of_device(b, 2);
}
