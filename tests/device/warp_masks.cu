/* SPDX-License-Identifier: Apache-2.0 */
/* Member masks that lack the caller or most lanes: where all lanes come to the instruction with one mask, hardware (an H100) gives the result of all of them. */
#include <cstdio>

__device__ int wrong_line, wrong_lane;
#define IS(expression, right)                          \
    do {                                               \
        if ((expression) != (right)) {                 \
            wrong_line = __LINE__;                     \
            wrong_lane = (int)threadIdx.x;             \
        }                                              \
    } while (0)

/* `m` is known to the compiler, the same register in all lanes, or a register of each lane that happens to hold the same. */
static __device__ __forceinline__ void all_there(unsigned m)
{
    unsigned lane = threadIdx.x;
    int pred;
    IS(__ballot_sync(m, 1), ~0u);
    IS(__ballot_sync(m, lane & 2), 0xccccccccu);
    IS(__any_sync(m, lane == 0), 1);
    IS(__all_sync(m, lane != 0), 0);
    IS(__all_sync(m, lane < 32), 1);
    IS(__uni_sync(m, lane != 0), 0);
    IS(__shfl_sync(m, lane * 10, 3), 30u);
    IS(__shfl_sync(m, lane * 10, 0), 0u);
    IS(__shfl_down_sync(m, lane * 10, 1), lane == 31 ? 310u : lane * 10 + 10);
    IS(__shfl_xor_sync(m, lane * 10, 1), (lane ^ 1) * 10);
    IS(__match_any_sync(m, lane & 3), 0x11111111u << (lane & 3));
    IS(__match_any_sync(m, (unsigned long long)(lane & 1) << 40), 0x55555555u << (lane & 1));
    IS(__match_all_sync(m, 5, &pred), ~0u);
    IS(pred, 1);
    IS(__match_all_sync(m, lane == 0, &pred), 0u);
    IS(pred, 0);
    IS(__reduce_add_sync(m, 1), 32);
    IS(__reduce_max_sync(m, lane), 31u);
    IS(__reduce_or_sync(m, 1u << lane), ~0u);
    __syncwarp(m);
}

__global__ void kernel(unsigned same, const unsigned *each)
{
    all_there(~0u);
    all_there(0xfffffffe);
    all_there(0xaaaaaaaa);
    all_there(2);
    all_there(0);
    all_there(same);
    all_there(each[threadIdx.x]);
}

int main()
{
    const unsigned masks[] = {~0u, 0xfffffffe, 0x80000000, 0xaaaaaaaa, 2, 0};
    unsigned *each;
    if (cudaMallocManaged(&each, 32 * sizeof *each))
        return 1;
    for (unsigned mask : masks) {
        int line = 0, lane = 0;
        for (int i = 0; i < 32; i++)
            each[i] = mask;
        kernel<<<1, 32>>>(mask, each);
        cudaError_t status = cudaDeviceSynchronize();
        cudaMemcpyFromSymbol(&line, wrong_line, sizeof line);
        cudaMemcpyFromSymbol(&lane, wrong_lane, sizeof lane);
        if (status || line) {
            printf("mask %x: status %d line %d lane %d\n", mask, status, line, lane);
            return 1;
        }
    }
    return 0;
}
