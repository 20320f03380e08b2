// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for each other: a scan in one pass whose blocks look back at the sums of those before them, a lock
// that every thread takes once, and lists whose chunks are allocated under a lock.
#define BENCH_DEVICE
#include "between.h"

#define KERNEL extern "C" __global__ void

// What a block tells: nothing yet, its own sum, or the sum of all up to it. The number is in the upper half.
#define OWN 1ull
#define WHOLE 2ull

static __device__ unsigned long long told(unsigned long long kind, float sum)
{
    return (unsigned long long)__float_as_uint(sum) << 32 | kind;
}

static __device__ float warp_scan(float x, unsigned lane)
{
    for (unsigned by = 1; by < 32; by *= 2) {
        float before = __shfl_up_sync(0xffffffff, x, by);
        if (lane >= by)
            x += before;
    }
    return x;
}

// The sum of all blocks before this one, by the lanes of a warp: each looks at one block, the last lane at the nearest.
static __device__ float look_back(volatile unsigned long long *state, int block, unsigned lane)
{
    float before = 0;
    for (int at = block - 32 + (int)lane;; at -= 32) {
        unsigned long long word;
        do
            word = at >= 0 ? state[at] : WHOLE;
        while (__any_sync(0xffffffff, (word & 3) == 0));
        unsigned whole = __ballot_sync(0xffffffff, (word & 3) == WHOLE);
        int last = 31 - __clz(whole); // the nearest that tells all
        float mine = !whole || (int)lane >= last ? __uint_as_float((unsigned)(word >> 32)) : 0.0f;
        for (int by = 16; by > 0; by /= 2)
            mine += __shfl_xor_sync(0xffffffff, mine, by);
        before += mine;
        if (whole)
            return before;
    }
}

KERNEL scan(const float *in, float *out, volatile unsigned long long *state)
{
    __shared__ float sums[SCAN_THREADS / 32], before;
    int thread = threadIdx.x, warp = thread / 32, block = blockIdx.x;
    unsigned lane = thread % 32;
    in += (size_t)block * SCAN_THREADS * SCAN_EACH + thread * SCAN_EACH;
    out += (size_t)block * SCAN_THREADS * SCAN_EACH + thread * SCAN_EACH;
    float x[SCAN_EACH], sum = 0;
    for (int k = 0; k < SCAN_EACH; k++)
        x[k] = sum += in[k];
    float upto = warp_scan(sum, lane);
    if (lane == 31)
        sums[warp] = upto;
    __syncthreads();
    float base = upto - sum;
    for (int w = 0; w < warp; w++)
        base += sums[w];
    if (warp == 0) {
        float all = 0;
        for (int w = 0; w < SCAN_THREADS / 32; w++)
            all += sums[w];
        if (lane == 0)
            state[block] = told(block ? OWN : WHOLE, all);
        float earlier = block ? look_back(state, block, lane) : 0.0f;
        if (lane == 0) {
            if (block)
                state[block] = told(WHOLE, earlier + all);
            before = earlier;
        }
    }
    __syncthreads();
    base += before;
    for (int k = 0; k < SCAN_EACH; k++)
        out[k] = base + x[k];
}

// data[0] is the lock, data[1] what it guards.
KERNEL lock(const float *in, volatile int *data, volatile unsigned long long *state)
{
    for (bool done = false; !done;)
        if (atomicCAS((int *)data, 0, 1) == 0) {
            __threadfence();
            data[1] += 1;
            __threadfence();
            atomicExch((int *)data, 0);
            done = true;
        }
}

// data[0] is how many chunks there are, data[1] how many values, data[2] the lock; chunk c's number of its place, from
// 1, is at data[4 + c], and its values are behind all these.
KERNEL append(const float *in, volatile int *data, volatile unsigned long long *state)
{
    int number = atomicAdd((int *)&data[1], 1), chunk = number / CHUNK;
    if (data[4 + chunk] == 0) {
        unsigned rest = __activemask();
        while (rest) { // the lanes of a warp, one after the other
            int leader = __ffs(rest) - 1;
            if ((int)(threadIdx.x % 32) == leader) {
                while (atomicExch((int *)&data[2], 1) == 1)
                    ;
                __threadfence();
                if (data[4 + chunk] == 0)
                    data[4 + chunk] = 1 + atomicAdd((int *)data, 1);
                __threadfence();
                atomicExch((int *)&data[2], 0);
            }
            rest &= rest - 1;
        }
    }
    data[4 + CHUNKS + (data[4 + chunk] - 1) * CHUNK + number % CHUNK] = blockIdx.x * blockDim.x + threadIdx.x;
}
