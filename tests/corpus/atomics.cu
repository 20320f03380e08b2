/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations. Results do not depend on the order: each thread its own word, or sums of what commutes. */
#include "corpus.h"

#define OWN (&scratch[i])
#define OWN64 ((u64 *)scratch + i)

/* Two operations on a word that is a thread's own: what they return, and what they leave, in the scratch memory. */
#define ATOM(name, T, reg, word, type, value)                                                                        \
    KERNEL(atom_##name)                                                                                              \
    {                                                                                                                \
        T first, second;                                                                                             \
        *(T *)word = LOAD(T, 0);                                                                                     \
        asm volatile("atom.global." type " %0, [%2], %3;\n\tatom.global." type " %1, [%2], %3;"                     \
                     : "=&" reg(first), "=" reg(second) : "l"(word), reg((T)(value)) : "memory");                    \
        corpus_pair<T> r = {first, second};                                                                          \
        STORE(r);                                                                                                    \
    }
ATOM(add_u32, u32, "r", OWN, "add.u32", LOAD(u32, 1))
ATOM(add_s32, s32, "r", OWN, "add.s32", LOAD(s32, 1))
ATOM(add_u64, u64, "l", OWN64, "add.u64", LOAD(u64, 1))
ATOM(min_u32, u32, "r", OWN, "min.u32", LOAD(u32, 1))
ATOM(min_s32, s32, "r", OWN, "min.s32", LOAD(s32, 1))
ATOM(max_u32, u32, "r", OWN, "max.u32", LOAD(u32, 1))
ATOM(max_s64, s64, "l", OWN64, "max.s64", LOAD(s64, 1))
ATOM(min_u64, u64, "l", OWN64, "min.u64", LOAD(u64, 1))
ATOM(and_b32, b32, "r", OWN, "and.b32", LOAD(u32, 1))
ATOM(or_b64, b64, "l", OWN64, "or.b64", LOAD(u64, 1))
ATOM(xor_b32, b32, "r", OWN, "xor.b32", LOAD(u32, 1))
ATOM(exch_b32, b32, "r", OWN, "exch.b32", LOAD(u32, 1))
ATOM(exch_b64, b64, "l", OWN64, "exch.b64", LOAD(u64, 1))
ATOM(inc_u32, u32, "r", OWN, "inc.u32", LOAD(u32, 1))
ATOM(dec_u32, u32, "r", OWN, "dec.u32", LOAD(u32, 1))
ATOM(add_f32, f32, "f", OWN, "add.f32", LOAD(f32, 1))
ATOM(add_acquire, u32, "r", OWN, "acq_rel.gpu.add.u32", LOAD(u32, 1))
ATOM(add_relaxed_cta, u32, "r", OWN, "relaxed.cta.add.u32", LOAD(u32, 1))
ATOM(add_f16x2, f16x2, "r", OWN, "add.noftz.f16x2", LOAD(f16x2, 1))
#if __CUDA_ARCH__ >= 900
ATOM(add_bf16x2, bf16x2, "r", OWN, "add.noftz.bf16x2", LOAD(bf16x2, 1))
#endif
KERNEL(atom_add_f64)
{
    *(f64 *)OWN64 = LOAD(f64, 0);
    f64 first = atomicAdd((f64 *)OWN64, LOAD(f64, 1));
    f64 after = *(f64 *)OWN64;
    *OWN64 = after != after;
    STORE(first + after);
}
KERNEL(atom_add_f16)
{
    u16 first, *word = (u16 *)OWN;
    *word = LOAD(f16, 0);
    asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(first) : "l"(word), "h"(LOAD(f16, 1)) : "memory");
    STORE(first);
}
KERNEL(atom_cas_b32)
{
    *OWN = LOAD(u32, 0);
    u32 first = atomicCAS(OWN, LOAD(u32, 1), 77u), second = atomicCAS(OWN, LOAD(u32, 0), 99u);
    STORE((u64)first << 32 | second);
}
KERNEL(atom_cas_b64)
{
    *OWN64 = LOAD(u64, 0);
    u64 first = atomicCAS(OWN64, LOAD(u64, 1), 77ull), second = atomicCAS(OWN64, LOAD(u64, 0), 99ull);
    STORE(first * 3 + second);
}
KERNEL(atom_cas_b16)
{
    u16 first, *word = (u16 *)OWN + (i & 1);
    *(u32 *)OWN = 0x12345678;
    *word = LOAD(u16, 0);
    asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;" : "=h"(first) : "l"(word), "h"(LOAD(u16, 1)), "h"(LOAD(u16, 2)) : "memory");
    STORE(first);
}
/* One word for all threads. */
#define COMMON(name, statement) KERNEL(common_##name) { statement; }
COMMON(add, atomicAdd(scratch, LOAD(u32, 0)))
COMMON(sub, atomicSub(scratch, LOAD(u32, 0)))
COMMON(min, atomicMin((s32 *)scratch, LOAD(s32, 0)))
COMMON(max, atomicMax(scratch + 1, LOAD(u32, 1)))
COMMON(and, atomicAnd(scratch + 2, LOAD(u32, 1)))
COMMON(or, atomicOr(scratch + 3, 1u << (i & 31)))
COMMON(xor, atomicXor(scratch + 4, LOAD(u32, 1)))
COMMON(inc, atomicInc(scratch + 5, 99))
COMMON(dec, atomicDec(scratch + 6, 1000))
COMMON(add_64, atomicAdd((u64 *)scratch + 9, LOAD(u64, 0)))
COMMON(max_64, atomicMax((u64 *)scratch + 9, LOAD(u64, 0)))
COMMON(float_whole, atomicAdd((f32 *)scratch, (f32)(i & 15)))
COMMON(double_whole, atomicAdd((f64 *)scratch, (f64)(i & 1023)))
COMMON(histogram, atomicAdd(scratch + (LOAD(u32, 0) & 63), 1))
COMMON(histogram_same_block, atomicAdd(scratch + blockIdx.x, i))
COMMON(red_ptx, asm volatile("red.global.add.u32 [%0], %1;\n\tred.global.max.s32 [%0+4], %1;\n\tred.relaxed.sys.global.xor.b32 [%0+8], %1;" :: "l"(scratch), "r"(LOAD(u32, 0)) : "memory"))
COMMON(red_f16x2, asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(scratch + (i & 63)), "r"(0x3c003c00u) : "memory"))
COMMON(conditional, if (LOAD(s32, 0) > 0) atomicAdd(scratch, 3); else if (i & 1) atomicAdd(scratch + 1, 5))
COMMON(count_returned, if (atomicAdd(scratch, 1) == 1000) scratch[1] = 1)
KERNEL(atom_max_float_cas)
{
    /* The greatest float by compare and swap. */
    f32 value = (f32)(LOAD(u32, 0) % 10007);
    u32 seen = scratch[0];
    while (__uint_as_float(seen) < value) {
        u32 before = atomicCAS(scratch, seen, __float_as_uint(value));
        if (before == seen)
            break;
        seen = before;
    }
}
KERNEL(atom_ticket)
{
    /* Every ticket is drawn once. */
    u32 ticket = atomicAdd(scratch, 1);
    ((u32 *)out)[ticket] = 1;
}
KERNEL(shared_atomics)
{
    __shared__ u32 s[8];
    if (threadIdx.x < 8)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[i & 3], LOAD(u32, 0));
    atomicMax(&s[4], LOAD(u32, 1));
    atomicXor(&s[5], LOAD(u32, 2));
    atomicInc(&s[6], 9);
    atomicOr(&s[7], 1u << (threadIdx.x & 15));
    __syncthreads();
    STORE(s[threadIdx.x & 7]);
}
KERNEL(shared_atomic_64)
{
    __shared__ u64 s[2];
    if (threadIdx.x < 2)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[0], LOAD(u64, 0));
    atomicMin(&s[1], LOAD(u64, 1));
    __syncthreads();
    STORE(s[threadIdx.x & 1]);
}
KERNEL(shared_atomic_float)
{
    __shared__ f32 s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, (f32)(i & 31));
    __syncthreads();
    STORE(s);
}
KERNEL(shared_cas)
{
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 0);
    u32 r = atomicCAS(&s[threadIdx.x], LOAD(u32, 1), 5u) + atomicExch(&s[threadIdx.x], 9u) * 3;
    STORE(r + s[threadIdx.x]);
}
KERNEL(generic_atomic)
{
    __shared__ u32 s[4];
    if (threadIdx.x < 4)
        s[threadIdx.x] = 0;
    __syncthreads();
    u32 *p = i & 1 ? s + (i & 2) : scratch + (i & 7);
    asm volatile("" : "+l"(p));
    atomicAdd(p, 7);
    __syncthreads();
    STORE(s[threadIdx.x & 3]);
}
KERNEL(hash_table)
{
    /* Open addressing in a table of the block's own: which slot a key gets depends on the order, how many are taken does not. */
    __shared__ u32 slots[64], taken;
    if (threadIdx.x < 64)
        slots[threadIdx.x] = 0;
    if (threadIdx.x == 64)
        taken = 0;
    __syncthreads();
    u32 key = LOAD(u32, 0) % 40 + 1, at = key * 37 % 64;
    for (;;) {
        u32 before = atomicCAS(&slots[at], 0u, key);
        if (before == 0)
            atomicAdd(&taken, 1);
        if (before == 0 || before == key)
            break;
        at = (at + 1) % 64;
    }
    __syncthreads();
    STORE(taken * 100 + slots[at]);
}
