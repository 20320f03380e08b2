/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a kernel of the corpus is written.  Nothing here needs a header of any compiler's.
 *
 *     UNARY(name, result, kind, expression of a)            also BINARY (a, b) and TERNARY (a, b, c)
 *     PTX1(name, result, kind, "instruction %0, %1;")       also PTX2 and PTX3
 *     APPROX1(name, kind, "instruction %0, %1;")            stores the operand beside the result: compared within a
 * bound, not bit for bit KERNEL(name) { … }                                    anything else: in, out, scratch, and i,
 * the thread's number
 *
 * Kinds name what an operand is: s8 u8 s16 u16 s32 u32 s64 u64 f32 f64, and f16 bf16 f16x2 bf16x2 as bits in integers;
 * b32 and b64 are u32 and u64.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include "corpus_data.h"

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef u16 f16;
typedef u16 bf16;
typedef u32 f16x2;
typedef u32 bf16x2;
typedef u32 b32;
typedef u64 b64;
typedef u16 b16;

typedef const struct corpus_input corpus_in;

#define CORPUS_KIND(kind, member) \
    static __device__ __forceinline__ kind load_##kind(corpus_in *in, int operand, int i) \
    { \
        return *(const kind *)&in->member[operand][i]; \
    }
CORPUS_KIND(s8, i8)
CORPUS_KIND(u8, i8)
CORPUS_KIND(s16, i16)
CORPUS_KIND(u16, i16)
CORPUS_KIND(s32, i32)
CORPUS_KIND(u32, i32)
CORPUS_KIND(s64, i64)
CORPUS_KIND(u64, i64)
CORPUS_KIND(f32, f32)
CORPUS_KIND(f64, f64)
CORPUS_KIND(f16, f16)
CORPUS_KIND(bf16, bf16)
CORPUS_KIND(f16x2, f16x2)
CORPUS_KIND(bf16x2, bf16x2)
CORPUS_KIND(b16, i16)
CORPUS_KIND(b32, i32)
CORPUS_KIND(b64, i64)

/* The register that inline PTX gives an operand of a kind. */
#define REG_s16 "h"
#define REG_u16 "h"
#define REG_b16 "h"
#define REG_f16 "h"
#define REG_bf16 "h"
#define REG_s32 "r"
#define REG_u32 "r"
#define REG_b32 "r"
#define REG_f16x2 "r"
#define REG_bf16x2 "r"
#define REG_s64 "l"
#define REG_u64 "l"
#define REG_b64 "l"
#define REG_f32 "f"
#define REG_f64 "d"

/* Results as they are, but a NaN of double precision as one: its bits are left open. */
template <typename T> static __device__ __forceinline__ void corpus_store(void *out, int i, T value)
{
    ((T *)out)[i] = value;
}
static __device__ __forceinline__ void corpus_store(void *out, int i, double value)
{
    if (value != value)
        ((u64 *)out)[i] = 0x7ff8000000000000ull;
    else
        ((double *)out)[i] = value;
}

#define STORE(value) corpus_store(out, i, value)
#define LOAD(kind, operand) load_##kind(in, operand, i)
#define NOINLINE static __device__ __noinline__

/* A kernel's body is a function of its own, so that `i` is at hand; it is inlined wherever the compiler inlines at all.
 */
#define KERNEL(name) \
    static __device__ __forceinline__ void body_##name(corpus_in *in, void *out, u32 *scratch, int i); \
    extern "C" __global__ void __launch_bounds__(CORPUS_BLOCK) name(corpus_in *in, void *out, u32 *scratch, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) \
            body_##name(in, out, scratch, i); \
    } \
    static __device__ __forceinline__ void body_##name(corpus_in *in, void *out, u32 *scratch, int i)

#define UNARY(name, result, kind, expression) \
    KERNEL(name) \
    { \
        kind a = LOAD(kind, 0); \
        STORE((result)(expression)); \
    }
#define BINARY(name, result, kind, expression) \
    KERNEL(name) \
    { \
        kind a = LOAD(kind, 0), b = LOAD(kind, 1); \
        STORE((result)(expression)); \
    }
#define TERNARY(name, result, kind, expression) \
    KERNEL(name) \
    { \
        kind a = LOAD(kind, 0), b = LOAD(kind, 1), c = LOAD(kind, 2); \
        STORE((result)(expression)); \
    }
#define PTX1(name, result, kind, text) \
    KERNEL(name) \
    { \
        result r; \
        asm volatile(text : "=" REG_##result(r) : REG_##kind(LOAD(kind, 0))); \
        STORE(r); \
    }
#define PTX2(name, result, first, second, text) \
    KERNEL(name) \
    { \
        result r; \
        asm volatile(text : "=" REG_##result(r) : REG_##first(LOAD(first, 0)), REG_##second(LOAD(second, 1))); \
        STORE(r); \
    }
#define PTX3(name, result, first, second, third, text) \
    KERNEL(name) \
    { \
        result r; \
        asm volatile(text \
                     : "=" REG_##result(r) \
                     : REG_##first(LOAD(first, 0)), REG_##second(LOAD(second, 1)), REG_##third(LOAD(third, 2))); \
        STORE(r); \
    }

/* Operand and result side by side. */
template <typename T> struct corpus_pair {
    T operand, result;
};
template <typename T> struct corpus_triple {
    T first, second, result, unused;
};
#define APPROX1(name, kind, text) \
    KERNEL(approx_##name) \
    { \
        corpus_pair<kind> r; \
        r.operand = LOAD(kind, 0); \
        asm volatile(text : "=" REG_##kind(r.result) : REG_##kind(r.operand)); \
        STORE(r); \
    }
#define APPROX2(name, kind, text) \
    KERNEL(approx_##name) \
    { \
        corpus_triple<kind> r; \
        r.first = LOAD(kind, 0); \
        r.second = LOAD(kind, 1); \
        r.unused = 0; \
        asm volatile(text : "=" REG_##kind(r.result) : REG_##kind(r.first), REG_##kind(r.second)); \
        STORE(r); \
    }

#endif
