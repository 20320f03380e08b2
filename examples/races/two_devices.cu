/* SPDX-License-Identifier: Apache-2.0 */
/* A copy between two devices, in a stream of the second, doesn't wait for the first one's kernel. It needs two devices:
 * MILLRACE_DEVICES=2. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int count;
    CHECK(cudaGetDeviceCount(&count));
    if (count < 2) {
        std::printf("%s: needs two devices\n", program);
        return 77;
    }
    CHECK(cudaSetDevice(0));
    int *a = new_buffer();
    cudaStream_t writer = new_stream();
    cudaEvent_t written = new_event();
    CHECK(cudaSetDevice(1));
    int *b = new_buffer();
    cudaStream_t reader = new_stream();
    CHECK(cudaSetDevice(0));
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, writer));
    CHECK(cudaSetDevice(1));
    if (mended)
        CHECK(cudaStreamWaitEvent(reader, written));
    CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, reader));
    CHECK(cudaStreamSynchronize(reader));
    CHECK(cudaStreamSynchronize(writer));
    return verdict_of_device(b, 1);
}
