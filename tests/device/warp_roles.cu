/* SPDX-License-Identifier: Apache-2.0 */
/* Three warps with a role each, as in pipelines: one publishes numbers, of the second one lane waits for them while the
 * others wait for that lane, and the third takes what the second hands on through mbarriers. Several loops wait, one in
 * another, and lanes that don't go round in one must not go past a warp operation that names a lane which has just left
 * it. */
#include <cstdio>
#include <cuda_runtime.h>

#define WINDOWS 6000

__device__ unsigned place_of(void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

__device__ unsigned long long arrive(unsigned long long *barrier)
{
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(place_of(barrier)) : "memory");
    return token;
}

__device__ void meet(unsigned long long *barrier)
{
    unsigned long long token = arrive(barrier);
    int over;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(over) : "r"(place_of(barrier)), "l"(token) : "memory");
    while (!over);
}

__device__ int load(int *counter)
{
    int value;
    asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}

__global__ void roles(int *out, int *seen, int windows)
{
    __shared__ unsigned long long barriers[4];
    __shared__ int ring[2][32], numbers[WINDOWS];
    __shared__ int counter;
    unsigned long long *empty = barriers, *full = barriers + 2;
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 4)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(place_of(barriers + threadIdx.x)) : "memory");
    if (threadIdx.x == 0)
        counter = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int w = 0; w < windows; w++) {
            if (lane == 0) {
                numbers[w] = w * 7;
                asm volatile("st.release.cta.b32 [%0], %1;" ::"l"(&counter), "r"(w + 1) : "memory");
            }
            __syncwarp();
        }
    } else if (threadIdx.x < 64) {
        meet(empty);
        for (int w = 0; w < windows; w++) {
            int count = 0;
            if (lane == 0) {
                for (count = load(&counter); count <= w; count = load(&counter))
                    __nanosleep(100);
                __threadfence_block(); /* the lane has left the loop, and is on its way to the others */
            }
            count = __shfl_sync(~0u, count, 0);
            if (count <= w)
                atomicAdd(seen, 1);
            ring[w % 2][lane] = numbers[w] + lane;
            __syncwarp();
            arrive(full + w % 2);
            meet(empty + (w + 1) % 2);
        }
    } else {
        arrive(empty);
        arrive(empty + 1);
        for (int w = 0; w < windows; w++) {
            meet(full + w % 2);
            out[w * 32 + lane] = ring[w % 2][lane];
            __syncwarp();
            arrive(empty + w % 2);
        }
    }
}

int main()
{
    int *out, wrong = 0;
    if (cudaMallocManaged(&out, (WINDOWS * 32 + 1) * sizeof *out))
        return 1;
    int *seen = out + WINDOWS * 32;
    for (int windows = 6; windows <= WINDOWS; windows *= 10) {
        *seen = 0;
        roles<<<1, 96>>>(out, seen, windows);
        if (cudaDeviceSynchronize())
            return 2;
        for (int i = 0; i < windows * 32; i++)
            wrong += out[i] != i / 32 * 7 + i % 32;
        printf("%d windows: %d wrong, %d lanes too early\n", windows, wrong, *seen);
        wrong += *seen;
    }
    return wrong != 0;
}
