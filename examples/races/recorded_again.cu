/* SPDX-License-Identifier: Apache-2.0 */
/* One event serves two streams: the second recording takes the place of the first before anybody waits for that. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *c = new_buffer();
    cudaStream_t first = new_stream(), second = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event(), also_written = new_event();
    set<<<BLOCKS, THREADS, 0, first>>>(a, 1);
    CHECK(cudaEventRecord(written, first));
    set<<<BLOCKS, THREADS, 0, second>>>(b, 1);
    CHECK(cudaEventRecord(mended ? also_written : written, second));
    CHECK(cudaStreamWaitEvent(reader, written));
    if (mended)
        CHECK(cudaStreamWaitEvent(reader, also_written));
    add<<<BLOCKS, THREADS, 0, reader>>>(c, a, 1);
    return verdict_of_device(c, 2);
}
