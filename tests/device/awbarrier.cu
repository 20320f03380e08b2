/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_awbarrier_primitives.h, with mbarrier and without: halves of a block hand a buffer to each other, and some leave. */
#include <cstdio>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

static __managed__ int sums[128], wrong;

static __device__ void wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    while (!__mbarrier_test_wait(barrier, token))
        ;
}

static __global__ void turns(int rounds)
{
    __shared__ int buffer[64];
    __shared__ __mbarrier_t full, empty, all;
    int i = threadIdx.x, sum = 0;
    if (i == 0) {
        __mbarrier_init(&full, 128);
        __mbarrier_init(&empty, 128);
        __mbarrier_init(&all, 128);
    }
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        if (i < 64)
            buffer[i] = round * 64 + i;
        wait(&full, __mbarrier_arrive(&full));
        if (i >= 64)
            sum += buffer[127 - i];
        wait(&empty, __mbarrier_arrive(&empty));
    }
    sums[i] = sum;
    if (i >= 96) {
        __mbarrier_arrive_and_drop(&all);
        return;
    }
    __mbarrier_token_t token = __mbarrier_arrive(&all);
    unsigned left = __mbarrier_token_pending_count(token);
    if (left < 1 || left > 128)
        wrong = 1;
    wait(&all, token);
    wait(&all, __mbarrier_arrive(&all)); /* without those that have left */
    __pipeline_arrive_on(&all);
    wait(&all, __mbarrier_arrive(&all));
    sums[i] += 1000000;
    if (__mbarrier_maximum_count() < 1024 || !__mbarrier_test_wait(&all, token))
        wrong = 2;
}

int main()
{
    turns<<<1, 128>>>(50);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    for (int i = 0; i < 128; i++) {
        int right = i < 96 ? 1000000 : 0;
        for (int round = 0; round < 50 && i >= 64; round++)
            right += round * 64 + 127 - i;
        if (sums[i] != right)
            std::printf("%d: %d, not %d\n", i, sums[i], right), wrong = 3;
    }
    return wrong;
}
