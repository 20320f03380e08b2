/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies and their barriers. */
#include "corpus.h"

#define SHARED(p) ((u32)__cvta_generic_to_shared(p))

#if __CUDA_ARCH__ >= 800
KERNEL(async_copy_4)
{
    __shared__ u32 s[CORPUS_BLOCK];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;" :: "r"(SHARED(&s[threadIdx.x])), "l"(&in->i32[0][i]) : "memory");
    __syncthreads();
    STORE(s[threadIdx.x ^ 5]);
}
KERNEL(async_copy_8)
{
    __shared__ u64 s[CORPUS_BLOCK];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;\n\tcp.async.wait_all;" :: "r"(SHARED(&s[threadIdx.x])), "l"(&in->i64[1][i]) : "memory");
    __syncthreads();
    STORE(s[127 - threadIdx.x]);
}
KERNEL(async_copy_16)
{
    alignas(16) __shared__ u32 s[4 * CORPUS_BLOCK];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;"
                 :: "r"(SHARED(&s[4 * threadIdx.x])), "l"(&in->i32[1][(4 * i) & 2047]) : "memory");
    __syncthreads();
    STORE(s[threadIdx.x * 3] + s[threadIdx.x + 200]);
}
KERNEL(async_copy_part)
{
    /* What lies beyond the source's size becomes zero. */
    alignas(16) __shared__ u32 s[4 * CORPUS_BLOCK];
    u32 bytes = LOAD(u32, 0) & 15;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n\tcp.async.wait_all;" :: "r"(SHARED(&s[4 * threadIdx.x])), "l"(&in->i32[1][(4 * i) & 2047]), "r"(bytes) : "memory");
    __syncthreads();
    u32 r = 0;
    for (int k = 0; k < 4; k++)
        r = r * 31 + s[4 * threadIdx.x + k];
    STORE(r);
}
KERNEL(async_pipeline)
{
    __shared__ u32 s[2][CORPUS_BLOCK];
    u32 r = 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;" :: "r"(SHARED(&s[0][threadIdx.x])), "l"(&in->i32[0][i]) : "memory");
    for (int k = 1; k <= 6; k++) {
        if (k < 6)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(SHARED(&s[k & 1][threadIdx.x])), "l"(&in->i32[k % 3][(i + k * 50) & 2047]) : "memory");
        asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        r = r * 5 + s[(k & 1) ^ 1][(threadIdx.x + k) & 127];
        __syncthreads();
    }
    STORE(r);
}
KERNEL(mbarrier_phases)
{
    __shared__ u64 barrier;
    __shared__ u32 s[CORPUS_BLOCK];
    u32 at = SHARED(&barrier), r = LOAD(u32, 0);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(at) : "memory");
    __syncthreads();
    for (u32 k = 0; k < 4; k++) {
        s[threadIdx.x] = r;
        for (int half = 0; half < 2; half++) {
            u64 token;
            u32 done = 0;
            asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
            while (!done)
                asm volatile("{ .reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(token) : "memory");
            if (half == 0)
                r = s[(threadIdx.x * 3 + k) & 127] + k;
        }
    }
    STORE(r);
}
KERNEL(mbarrier_copy)
{
    __shared__ u64 barrier;
    __shared__ u32 s[CORPUS_BLOCK];
    u32 at = SHARED(&barrier), done = 0;
    u64 token;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(at) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%1], [%2], 4;\n\tcp.async.mbarrier.arrive.noinc.shared.b64 [%3];\n\tmov.u64 %0, 0;"
                 : "=l"(token) : "r"(SHARED(&s[threadIdx.x])), "l"(&in->i32[2][i]), "r"(at) : "memory");
    while (!done)
#if __CUDA_ARCH__ >= 900
        asm volatile("{ .reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
#else
        asm volatile("{ .reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
#endif
    STORE(s[threadIdx.x ^ 64] + (u32)token);
}
#endif
#if __CUDA_ARCH__ >= 900
KERNEL(bulk_copy)
{
    __shared__ u64 barrier;
    alignas(16) __shared__ u32 s[CORPUS_BLOCK];
    u32 at = SHARED(&barrier), done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;" :: "r"(at) : "memory");
        asm volatile("{ .reg .b64 t;\n\tmbarrier.arrive.expect_tx.shared.b64 t, [%0], 512; }" :: "r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" :: "r"(SHARED(s)), "l"(&in->i32[0][i]), "r"(at) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    STORE(s[127 - threadIdx.x]);
}
KERNEL(bulk_store)
{
    alignas(16) __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 0) * 3;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;"
                     :: "l"((u32 *)out + i), "r"(SHARED(s)) : "memory");
}
KERNEL(bulk_reduce)
{
    alignas(16) __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 512;\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;"
                     :: "l"(scratch + 64), "r"(SHARED(s)) : "memory");
}
KERNEL(cluster_of_one)
{
    u32 rank, count;
    asm volatile("mov.u32 %0, %%cluster_ctarank;\n\tmov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(count));
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    STORE(rank * 10 + count);
}
#endif
/* Something for every target. */
KERNEL(fences)
{
    __shared__ volatile u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = i;
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    asm volatile("fence.sc.gpu;\n\tfence.acq_rel.cta;\n\tmembar.cta;\n\tnanosleep.u32 1;" ::: "memory");
    __syncthreads();
    STORE(s[threadIdx.x ^ 32]);
}
