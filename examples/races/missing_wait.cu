/* SPDX-License-Identifier: Apache-2.0 */
/* One stream reads what another one writes, and doesn't wait for it. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, writer));
    if (mended)
        CHECK(cudaStreamWaitEvent(reader, written));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
