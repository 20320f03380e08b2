/* SPDX-License-Identifier: Apache-2.0 */
/* Memory goes back to its pool in one stream while another stream still reads it. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a, *next, *b = new_buffer();
    cudaStream_t owner = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event(), read = new_event();
    CHECK(cudaMallocAsync(&a, BYTES, owner));
    set<<<BLOCKS, THREADS, 0, owner>>>(a, 1);
    CHECK(cudaEventRecord(written, owner));
    CHECK(cudaStreamWaitEvent(reader, written));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    CHECK(cudaEventRecord(read, reader));
    if (mended)
        CHECK(cudaStreamWaitEvent(owner, read));
    CHECK(cudaFreeAsync(a, owner));
    CHECK(cudaMallocAsync(&next, BYTES, owner)); /* the same memory */
    set<<<BLOCKS, THREADS, 0, owner>>>(next, 7);
    int status = verdict_of_device(b, 2);
    CHECK(cudaFreeAsync(next, owner));
    CHECK(cudaDeviceSynchronize());
    return status;
}
