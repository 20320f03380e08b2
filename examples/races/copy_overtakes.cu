/* SPDX-License-Identifier: Apache-2.0 */
/* The results are copied out in a stream of copies, which doesn't wait for the kernel. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *pinned = new_pinned();
    cudaStream_t kernels = new_stream(), copies = new_stream();
    cudaEvent_t done = new_event();
    set<<<BLOCKS, THREADS, 0, kernels>>>(a, 1);
    CHECK(cudaEventRecord(done, kernels));
    if (mended)
        CHECK(cudaStreamWaitEvent(copies, done));
    CHECK(cudaMemcpyAsync(pinned, a, BYTES, cudaMemcpyDeviceToHost, copies));
    CHECK(cudaStreamSynchronize(copies));
    int status = verdict(pinned, 1);
    CHECK(cudaDeviceSynchronize());
    return status;
}
