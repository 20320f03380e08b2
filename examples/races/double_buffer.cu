/* SPDX-License-Identifier: Apache-2.0 */
/* Two buffers take turns between a stream of copies and a stream of kernels. A copy must wait for the kernel that used its
 * buffer two rounds before; it waits for the one three rounds before. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    const int rounds = 6;
    int *buffer[2] = {new_buffer(), new_buffer()}, *out = new_buffer(), *pinned[rounds];
    cudaStream_t copies = new_stream(), kernels = new_stream();
    cudaEvent_t filled[rounds], used[rounds];
    for (int round = 0; round < rounds; round++) {
        filled[round] = new_event();
        used[round] = new_event();
        pinned[round] = new_pinned();
        for (int i = 0; i < N; i++)
            pinned[round][i] = round;
    }
    for (int round = 0; round < rounds; round++) {
        int before = round - (mended ? 2 : 3);
        if (before >= 0)
            CHECK(cudaStreamWaitEvent(copies, used[before]));
        CHECK(cudaMemcpyAsync(buffer[round % 2], pinned[round], BYTES, cudaMemcpyHostToDevice, copies));
        CHECK(cudaEventRecord(filled[round], copies));
        CHECK(cudaStreamWaitEvent(kernels, filled[round]));
        accumulate<<<BLOCKS, THREADS, 0, kernels>>>(out, buffer[round % 2]);
        CHECK(cudaEventRecord(used[round], kernels));
    }
    return verdict_of_device(out, 0 + 1 + 2 + 3 + 4 + 5);
}
