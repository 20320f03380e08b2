/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of blocks: plain, with a vote, named, for some of the warps, in loops and branches. */
#include "corpus.h"

KERNEL(barrier_reduce)
{
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 0);
    __syncthreads();
    for (u32 step = CORPUS_BLOCK / 2; step; step >>= 1) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    STORE(s[0]);
}
KERNEL(barrier_scan)
{
    __shared__ u32 s[2][CORPUS_BLOCK];
    int from = 0;
    s[0][threadIdx.x] = LOAD(u32, 0);
    for (u32 step = 1; step < CORPUS_BLOCK; step <<= 1) {
        __syncthreads();
        s[1 - from][threadIdx.x] = s[from][threadIdx.x] + (threadIdx.x >= step ? s[from][threadIdx.x - step] : 0);
        from = 1 - from;
    }
    STORE(s[from][threadIdx.x]);
}
KERNEL(barrier_bitonic)
{
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 0) * 2654435761u ^ i;
    for (u32 size = 2; size <= CORPUS_BLOCK; size <<= 1)
        for (u32 step = size >> 1; step; step >>= 1) {
            __syncthreads();
            u32 other = threadIdx.x ^ step;
            if (other > threadIdx.x && (s[threadIdx.x] > s[other]) == !(threadIdx.x & size)) {
                u32 t = s[threadIdx.x];
                s[threadIdx.x] = s[other];
                s[other] = t;
            }
        }
    __syncthreads();
    STORE(s[threadIdx.x]);
}
KERNEL(barrier_count) { STORE(__syncthreads_count(LOAD(u32, 0) & 1)); }
KERNEL(barrier_and) { STORE(__syncthreads_and(LOAD(u32, 0) < 0xf0000000u) + 2 * __syncthreads_and(i >= 128)); }
KERNEL(barrier_or) { STORE(__syncthreads_or(LOAD(u32, 0) == 10) + 2 * __syncthreads_or(i == 300)); }
KERNEL(barrier_red_ptx)
{
    u32 r, p, q;
    asm volatile("{ .reg .pred p, q, r;\n\tsetp.lt.s32 p, %3, 0;\n\tbarrier.sync.aligned 0;\n\tbarrier.red.popc.aligned.u32 %0, 1, !p;\n\tbarrier.red.or.aligned.pred q, 2, p;\n\t"
                 "barrier.red.and.aligned.pred r, 3, 128, p;\n\tselp.u32 %1, 1, 0, q;\n\tselp.u32 %2, 1, 0, r; }" : "=r"(r), "=r"(p), "=r"(q) : "r"(LOAD(s32, 0)));
    STORE(r * 4 + p * 2 + q);
}
KERNEL(barrier_named)
{
    /* Pairs of warps meet at a barrier of their own. */
    __shared__ u32 s[CORPUS_BLOCK];
    u32 id = 1 + threadIdx.x / 64;
    s[threadIdx.x] = LOAD(u32, 0);
    for (int k = 0; k < 4; k++) {
        asm volatile("barrier.sync %0, 64;" :: "r"(id) : "memory");
        u32 t = s[(threadIdx.x & 64) | ((threadIdx.x * 5 + k) & 63)];
        asm volatile("barrier.sync %0, 64;" :: "r"(id) : "memory");
        s[threadIdx.x] += t;
    }
    STORE(s[threadIdx.x]);
}
KERNEL(barrier_producer)
{
    /* Half of the warps fill, half of them use: arrive and sync. */
    __shared__ u32 s[64];
    u32 r = 0;
    if (threadIdx.x < 64) {
        for (u32 k = 0; k < 3; k++) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            s[threadIdx.x] = LOAD(u32, 0) + k * i;
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    } else {
        for (u32 k = 0; k < 3; k++) {
            asm volatile("bar.arrive 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
            r = r * 3 + s[(threadIdx.x * 3) & 63];
        }
    }
    STORE(r);
}
KERNEL(barrier_in_branch)
{
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = i;
    if (blockIdx.x & 1) {
        __syncthreads();
        s[(threadIdx.x + 5) & 127] += LOAD(u32, 0);
        __syncthreads();
    } else {
        for (u32 k = 0; k < blockIdx.x; k++) {
            __syncthreads();
            u32 t = s[(threadIdx.x + k) & 127];
            __syncthreads();
            s[threadIdx.x] = t + k;
        }
    }
    __syncthreads();
    STORE(s[threadIdx.x ^ 64]);
}
KERNEL(barrier_after_exit)
{
    /* Warps that have left are not waited for. */
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = i * 3;
    if (threadIdx.x >= 96)
        return;
    __syncthreads();
    STORE(s[95 - threadIdx.x]);
}
KERNEL(barrier_tiles)
{
    /* A product of matrices of 32 x 32 by tiles of 8 x 8, a block each. */
    __shared__ f32 a[8][8], b[8][8];
    u32 x = threadIdx.x % 8, y = threadIdx.x / 8 % 8, bx = blockIdx.x % 4, by = blockIdx.x / 4;
    f32 sum = 0;
    for (u32 t = 0; t < 4; t++) {
        if (threadIdx.x < 64) {
            a[y][x] = (f32)(s32)(in->i32[1][((by * 8 + y) * 32 + t * 8 + x)] & 15);
            b[y][x] = (f32)(s32)(in->i32[2][((t * 8 + y) * 32 + bx * 8 + x)] & 15);
        }
        __syncthreads();
        for (u32 k = 0; k < 8; k++)
            sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    STORE(sum);
}
KERNEL(barrier_last_block)
{
    /* The block that comes last sums what all have left. */
    __shared__ bool last;
    scratch[64 + i] = LOAD(u32, 0) & 0xffff;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(scratch, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        u32 sum = 0;
        for (u32 k = threadIdx.x; k < CORPUS_THREADS; k += CORPUS_BLOCK)
            sum += ((volatile u32 *)scratch)[64 + k];
        atomicAdd(scratch + 1, sum);
    }
}
NOINLINE u32 meet(u32 *s, u32 value)
{
    s[threadIdx.x] = value;
    __syncthreads();
    u32 r = s[(threadIdx.x + 33) & 127];
    __syncthreads();
    return r;
}
KERNEL(barrier_in_function)
{
    __shared__ u32 s[CORPUS_BLOCK];
    u32 r = LOAD(u32, 0);
    for (int k = 0; k < 3; k++)
        r = meet(s, r * 5 + k) + 1;
    STORE(r);
}
