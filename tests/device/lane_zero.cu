/* SPDX-License-Identifier: Apache-2.0 */
/* A variable that one lane alone sets before all lanes read it of that lane by a shuffle, as programs write it to add to
 * a counter once for a warp. In the other lanes it has no value. To C++ that is an error, which a compiler may take for a
 * promise that there are no such lanes; NVIDIA's takes the program as it is meant. */
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void by_shuffle(int *counter, int *out)
{
    int lane = threadIdx.x & 31, base;
    if (lane == 0)
        base = atomicAdd(counter, 32);
    base = __shfl_sync(0xffffffffu, base, 0);
    out[threadIdx.x] = base + lane;
}

__global__ void by_group(int *counter, int *out)
{
    cg::coalesced_group group = cg::coalesced_threads();
    int base;
    if (group.thread_rank() == 0)
        base = atomicAdd(counter, 32);
    out[threadIdx.x] = group.shfl(base, 0) + (int)group.thread_rank();
}

__device__ int first_of(int value)
{
    return __shfl_sync(0xffffffffu, value, 0);
}

/* Only the sum of what is there counts. */
__global__ void by_function(int *counter, int *out)
{
    int lane = threadIdx.x & 31, low, high;
    unsigned set = __ballot_sync(0xffffffffu, threadIdx.x % 2 == 0);
    if (lane == 0) {
        if (__popc(set) > 0)
            low = atomicAdd(counter, __popc(set));
        if (__popc(~set) > 0)
            high = atomicAdd(counter, __popc(~set));
    }
    low = first_of(low);
    high = first_of(high);
    unsigned before = (1u << lane) - 1;
    out[threadIdx.x] = threadIdx.x % 2 == 0 ? low + __popc(set & before) : high + __popc(~set & before);
}

int main()
{
    int *counter, *out;
    if (cudaMallocManaged(&counter, sizeof *counter) || cudaMallocManaged(&out, 64 * sizeof *out))
        return 1;
    void (*const kernels[])(int *, int *) = {by_shuffle, by_group, by_function};
    for (int i = 0; i < 3; i++) {
        *counter = 0;
        kernels[i]<<<1, 64>>>(counter, out);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return 2;
        bool seen[64] = {};
        for (int k = 0; k < 64; k++) {
            if (out[k] < 0 || out[k] >= 64 || seen[out[k]])
                return printf("kernel %d: thread %d got %d\n", i, k, out[k]), 3;
            seen[out[k]] = true;
        }
        if (*counter != 64)
            return printf("kernel %d: counted to %d\n", i, *counter), 4;
    }
    puts("passed");
    return 0;
}
