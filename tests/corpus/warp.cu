/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes of a warp do together. */
#include "corpus.h"

#define ALL 0xffffffffu
#define SHFL(name, mode, b, c)                                                                                                       \
    KERNEL(shfl_##name)                                                                                                              \
    {                                                                                                                                \
        u32 r, p;                                                                                                                    \
        asm volatile("{ .reg .pred p;\n\tshfl.sync." #mode ".b32 %0|p, %2, %3, %4, 0xffffffff;\n\tselp.u32 %1, 1, 0, p; }"           \
                     : "=r"(r), "=r"(p) : "r"(LOAD(u32, 0) + i), "r"(b), "r"(c));                                                   \
        STORE((u64)p << 32 | r);                                                                                                     \
    }
SHFL(idx, idx, 5, 31)
SHFL(idx_varying, idx, LOAD(u32, 1), 31)
SHFL(idx_parts, idx, LOAD(u32, 1), 0x181f)
SHFL(up_1, up, 1, 0)
SHFL(up_parts, up, 3, 0x1800)
SHFL(up_varying, up, LOAD(u32, 1) & 7, 0x1000)
SHFL(down_2, down, 2, 31)
SHFL(down_parts, down, 2, 0x1c1f)
SHFL(bfly_16, bfly, 16, 31)
SHFL(bfly_parts, bfly, 5, 0x1807)
SHFL(bfly_clamp, bfly, 7, 0x0005)

KERNEL(shfl_intrinsic) { STORE(__shfl_sync(ALL, LOAD(s32, 0), (i * 3) & 31) + __shfl_up_sync(ALL, i, 4, 16) + __shfl_down_sync(ALL, i, 3, 8) + __shfl_xor_sync(ALL, i, 9)); }
KERNEL(shfl_float) { STORE(__shfl_xor_sync(ALL, LOAD(f32, 0), 3)); }
KERNEL(shfl_double) { STORE(__shfl_down_sync(ALL, LOAD(f64, 0), 5)); }
KERNEL(shfl_u64) { STORE(__shfl_sync(ALL, LOAD(u64, 0), (i + 7) & 31, 16)); }
KERNEL(shfl_divergent)
{
    u32 r = i;
    if (i & 1)
        r = __shfl_xor_sync(0xaaaaaaaau, r * 3, 2);
    else
        r = __shfl_xor_sync(0x55555555u, r * 5, 4);
    STORE(r);
}
KERNEL(shfl_loop)
{
    u32 r = LOAD(u32, 0);
    for (int k = 0; k < 10; k++)
        r = r * 5 + __shfl_sync(ALL, r, (r + k) & 31);
    STORE(r);
}
KERNEL(vote_all) { STORE(__all_sync(ALL, LOAD(u32, 0) < 1000000) + 2 * __all_sync(ALL, i >= 32)); }
KERNEL(vote_any) { STORE(__any_sync(ALL, LOAD(u32, 0) == 5) + 2 * __any_sync(ALL, i == 32)); }
KERNEL(vote_ballot) { STORE(__ballot_sync(ALL, LOAD(u32, 0) & 1)); }
KERNEL(vote_uni)
{
    u32 r;
    asm volatile("{ .reg .pred p, q;\n\tsetp.lt.s32 p, %1, 0;\n\tvote.sync.uni.pred q, p, 0xffffffff;\n\tselp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"(LOAD(s32, 1)));
    STORE(r);
}
KERNEL(vote_negated)
{
    u32 r;
    asm volatile("{ .reg .pred p;\n\tsetp.lt.s32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, !p, 0xffffffff; }" : "=r"(r) : "r"(LOAD(s32, 0)));
    STORE(r);
}
KERNEL(vote_divergent)
{
    u32 r;
    if (i % 3 == 0)
        r = __ballot_sync(__activemask(), LOAD(u32, 0) & 1) | 1;
    else
        r = __popc(__ballot_sync(__activemask(), LOAD(u32, 0) & 2)) > 32;
    STORE(i % 3 == 0 ? (r & (1u << (i & 31))) : r);
}
KERNEL(match_any) { STORE(__match_any_sync(ALL, LOAD(u32, 0) & 3)); }
KERNEL(match_any_64) { STORE(__match_any_sync(ALL, LOAD(u64, 1) & 7)); }
KERNEL(match_all)
{
    int same;
    u32 r = __match_all_sync(ALL, i / 64 % 2 ? 7u : LOAD(u32, 0) & 1, &same);
    STORE((u64)r << 1 | (same != 0));
}
#if __CUDA_ARCH__ >= 800
KERNEL(redux_add) { STORE(__reduce_add_sync(ALL, LOAD(u32, 0))); }
KERNEL(redux_min_s32) { STORE(__reduce_min_sync(ALL, LOAD(s32, 0))); }
KERNEL(redux_max_u32) { STORE(__reduce_max_sync(ALL, LOAD(u32, 0))); }
KERNEL(redux_logic) { STORE(__reduce_and_sync(ALL, LOAD(u32, 0) | 0xf0) ^ __reduce_or_sync(ALL, LOAD(u32, 0) & 0xf0f) * 3 ^ __reduce_xor_sync(ALL, LOAD(u32, 1)) * 5); }
KERNEL(redux_part)
{
    u32 r = 1;
    if (i & 4)
        r = __reduce_add_sync(0xf0f0f0f0u, i);
    STORE(r);
}
#endif
#if __CUDA_ARCH__ >= 900
KERNEL(elect_one)
{
    u32 r, p;
    asm volatile("{ .reg .pred p;\n\telect.sync %0|p, 0xffffffff;\n\tselp.u32 %1, 1, 0, p; }" : "=r"(r), "=r"(p));
    STORE(__popc(__ballot_sync(ALL, p)) + 100 * (r < 32));
}
#endif
KERNEL(lane_masks)
{
    u32 a, b, c, d, e, f;
    asm("mov.u32 %0, %%lanemask_lt;\n\tmov.u32 %1, %%lanemask_le;\n\tmov.u32 %2, %%lanemask_gt;\n\tmov.u32 %3, %%lanemask_ge;\n\tmov.u32 %4, %%lanemask_eq;\n\tmov.u32 %5, %%laneid;"
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e), "=r"(f));
    STORE(a + b * 3 + c * 5 + d * 7 + e * 11 + f);
}
KERNEL(special_registers) { STORE((u64)threadIdx.x | blockIdx.x << 8 | (u64)blockDim.x << 16 | (u64)gridDim.x << 32 | (u64)threadIdx.y << 48 | (u64)warpSize << 52); }
KERNEL(warp_reduce)
{
    u32 sum = LOAD(u32, 0);
    for (int step = 16; step; step >>= 1)
        sum += __shfl_down_sync(ALL, sum, step);
    STORE((i & 31) ? 0 : sum);
}
KERNEL(warp_scan)
{
    u32 sum = LOAD(u32, 0);
    for (int step = 1; step < 32; step <<= 1) {
        u32 other = __shfl_up_sync(ALL, sum, step);
        if ((i & 31) >= step)
            sum += other;
    }
    STORE(sum);
}
KERNEL(warp_float_reduce)
{
    f32 sum = __uint_as_float((LOAD(u32, 0) & 0x7fffff) | 0x3f800000);
    for (int step = 16; step; step >>= 1)
        sum += __shfl_xor_sync(ALL, sum, step);
    STORE(sum);
}
KERNEL(warp_bitonic)
{
    u32 x = LOAD(u32, 0) * 2654435761u + i, lane = i & 31;
    for (u32 size = 2; size <= 32; size <<= 1)
        for (u32 step = size >> 1; step; step >>= 1) {
            u32 other = __shfl_xor_sync(ALL, x, step);
            bool up = !(lane & size), low = !(lane & step);
            x = (x < other) == (up == low) ? x : other;
        }
    STORE(x);
}
KERNEL(warp_compact)
{
    u32 mask = __ballot_sync(ALL, LOAD(u32, 0) & 2), before = __popc(mask & ((1u << (i & 31)) - 1));
    if (LOAD(u32, 0) & 2)
        ((u32 *)out)[(i & ~31) + before] = i;
}
KERNEL(warp_leader)
{
    /* Lanes of equal keys elect their lowest. */
    u32 key = LOAD(u32, 0) % 5, peers = __match_any_sync(ALL, key);
    int leader = __ffs(peers) - 1;
    u32 r = __shfl_sync(peers, i, leader);
    STORE(r * 10 + __popc(peers));
}
KERNEL(warp_sync_memory)
{
    __shared__ u32 s[CORPUS_BLOCK];
    u32 base = threadIdx.x & ~31u, lane = threadIdx.x & 31;
    s[threadIdx.x] = LOAD(u32, 0);
    for (int k = 0; k < 5; k++) {
        __syncwarp();
        u32 next = s[base + ((lane + 1) & 31)];
        __syncwarp();
        s[threadIdx.x] = next * 3 + k;
    }
    STORE(s[threadIdx.x]);
}
