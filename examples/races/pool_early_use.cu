/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that one stream allocates is used in another one, which doesn't wait for the allocation. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *before, *a;
    cudaStream_t owner = new_stream(), user = new_stream();
    cudaEvent_t allocated = new_event();
    CHECK(cudaMallocAsync(&before, BYTES, owner));
    set<<<BLOCKS, THREADS, 0, owner>>>(before, 7);
    CHECK(cudaFreeAsync(before, owner));
    CHECK(cudaMallocAsync(&a, BYTES, owner)); /* the same memory: its last user may still be writing */
    CHECK(cudaEventRecord(allocated, owner));
    if (mended)
        CHECK(cudaStreamWaitEvent(user, allocated));
    set<<<BLOCKS, THREADS, 0, user>>>(a, 1);
    int status = verdict_of_device(a, 1);
    CHECK(cudaFree(a));
    return status;
}
