/* SPDX-License-Identifier: Apache-2.0 */
/* An asynchronous copy out of pageable memory has read its source when it returns. That doesn't mean that the bytes have
 * arrived: another stream must wait for the copy. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *pageable = (int *)std::malloc(BYTES);
    cudaStream_t copies = new_stream(), kernels = new_stream();
    cudaEvent_t arrived = new_event();
    for (int i = 0; i < N; i++)
        pageable[i] = 1;
    set<<<BLOCKS, THREADS, 0, copies>>>(a, 5);
    CHECK(cudaMemcpyAsync(a, pageable, BYTES, cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(arrived, copies));
    if (mended)
        CHECK(cudaStreamWaitEvent(kernels, arrived));
    add<<<BLOCKS, THREADS, 0, kernels>>>(b, a, 1);
    int status = verdict_of_device(b, 2);
    std::free(pageable);
    return status;
}
