/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::barrier, for test_barrier.c: the first half of a block fills a buffer, the other half adds it up, in turns; then all meet. */
#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void turns(int *out, int rounds)
{
    __shared__ int buffer[64];
    __shared__ block_barrier full, empty, all;
    int i = threadIdx.x;
    if (i == 0) {
        init(&full, 128);
        init(&empty, 128);
        init(&all, 128);
    }
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        if (i < 64)
            buffer[i] = round * 64 + i;
        full.arrive_and_wait();
        if (i >= 64)
            sum += buffer[127 - i];
        block_barrier::arrival_token token = empty.arrive();
        empty.wait(static_cast<block_barrier::arrival_token &&>(token));
    }
    out[i] = sum;
    if (i >= 96) {
        all.arrive_and_drop();
        return;
    }
    all.arrive_and_wait();
    all.arrive_and_wait();   /* without those that have left */
    out[i] += 1000000;
}
