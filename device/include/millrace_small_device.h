/* SPDX-License-Identifier: Apache-2.0 */
/* What only kernels have of MR_SMALL and MR_SMALL2: fused sums, mathematics, shuffles, atomic sums, whole numbers in all roundings. Goes with
 * millrace_small_float.h, with the same names defined, and mr_fused (fma with one rounding). No include guard: it is made to be included twice. */

#define MR_FROM(value) mr_narrow_as(value, (const MR_SMALL *)0)
#define MR_BITS(bits) mr_small_as((unsigned short)(bits), (const MR_SMALL *)0)

MR_DEVICE MR_SMALL __hfma(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return mr_fused(x, y, z); }
MR_DEVICE MR_SMALL __hfma_sat(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return mr_saturate(mr_fused(x, y, z)); }
MR_DEVICE MR_SMALL __hfma_relu(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return __hmax_nan(mr_fused(x, y, z), MR_BITS(0)); }
#define MR_PAIR1(name, single) MR_DEVICE MR_SMALL2 name(MR_SMALL2 x) { return mr_pair(single(x.x), single(x.y)); }
#define MR_PAIR3(name, single) \
    MR_DEVICE MR_SMALL2 name(MR_SMALL2 x, MR_SMALL2 y, MR_SMALL2 z) { return mr_pair(single(x.x, y.x, z.x), single(x.y, y.y, z.y)); }
MR_PAIR3(__hfma2, __hfma) MR_PAIR3(__hfma2_sat, __hfma_sat) MR_PAIR3(__hfma2_relu, __hfma_relu)
/* Complex x * y + z, with x as the real and y as the imaginary part. */
MR_DEVICE MR_SMALL2 __hcmadd(MR_SMALL2 x, MR_SMALL2 y, MR_SMALL2 z)
{
    MR_SMALL real = __hfma(x.x, y.x, z.x), imaginary = __hfma(x.x, y.y, z.y);
    return mr_pair(__hfma(__hneg(x.y), y.y, real), __hfma(x.y, y.x, imaginary));
}

/* Mathematics: the float's function, rounded, which is the nearest number except for the arguments that stand here. NVIDIA's are the nearest, too. */
#define MR_BUT(argument, result, else_result) x.__x == argument ? MR_BITS(result) : else_result
#if MR_DIGITS == 10
#define MR_NEAREST_exp(result) MR_BUT(0x1f79, 0x3c07, MR_BUT(0x25cf, 0x3c17, result))
#define MR_NEAREST_exp2(result) MR_BUT(0x11c5, 0x3c01, result)
#define MR_NEAREST_exp10(result) result
#define MR_NEAREST_log(result) MR_BUT(0x1d78, 0xc53b, result)
#define MR_NEAREST_log10(result) \
    MR_BUT(0x338f, 0xb903, MR_BUT(0x33f8, 0xb8d5, MR_BUT(0x57e1, 0x4033, MR_BUT(0x69d0, 0x42f3, MR_BUT(0x719d, 0x440f, result)))))
#define MR_NEAREST_sin(result) MR_BUT(0x32b3, 0x32a7, MR_BUT(0xb2b3, 0xb2a7, MR_BUT(0x5cb0, 0xbbff, MR_BUT(0xdcb0, 0x3bff, result))))
#define MR_NEAREST_cos(result) MR_BUT(0x2b7c, 0x3bfd, MR_BUT(0xab7c, 0x3bfd, result))
#else
#define MR_NEAREST_exp(result) result
#define MR_NEAREST_exp2(result) result
#define MR_NEAREST_exp10(result) MR_BUT(0xbc95, 0x3f75, result)
#define MR_NEAREST_log(result) result
#define MR_NEAREST_log10(result) result
#define MR_NEAREST_sin(result) result
#define MR_NEAREST_cos(result) result
#endif
#define MR_AS_IT_IS(result) result
#define MR_MATH(name, function, nearest)                                                            \
    MR_DEVICE MR_SMALL h##name(MR_SMALL x) { return nearest(MR_FROM(function(mr_wide(x)))); }       \
    MR_PAIR1(h2##name, h##name)
#define MR_RECIPROCAL(x) (1.0f / (x))
#define MR_RECIPROCAL_ROOT(x) (float)rsqrt((double)(x))
MR_MATH(sqrt, sqrtf, MR_AS_IT_IS)
#if MR_DIGITS == 7 && defined(MILLRACE_FAST_MATH)
/* As on hardware: the float's approximations, rounded. */
MR_DEVICE float mr_fast_sin(float x)
{
    float r;
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
MR_DEVICE float mr_fast_cos(float x)
{
    float r;
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
MR_MATH(cos, mr_fast_cos, MR_AS_IT_IS)
/* Subnormal numbers are their own sines; hardware's approximation is larger than Millrace's by so much that it is rounded to the next number for these sizes. */
#define MR_SIN_BEYOND(x) \
    (((x) >= 0x363d && (x) <= 0x3649) || ((x) >= 0x36bd && (x) <= 0x36c2) || ((x) >= 0x373d && (x) <= 0x373f) || (x) == 0x37b2 || (x) == 0x37b3 || \
     (x) == 0x37bd || (x) == 0x37be || (x) == 0x3832 || (x) == 0x383d)
MR_DEVICE MR_SMALL hsin(MR_SMALL x)
{
    unsigned int size = x.__x & 0x7fffu;
    return size < 0x80 ? x : MR_BITS((unsigned int)MR_FROM(mr_fast_sin(mr_wide(x))).__x + (MR_SIN_BEYOND(size) ? 1u : 0u));
}
MR_PAIR1(h2sin, hsin)
#undef MR_SIN_BEYOND
#else
MR_MATH(sin, sinf, MR_NEAREST_sin) MR_MATH(cos, cosf, MR_NEAREST_cos)
#endif
#if MR_DIGITS == 7 && defined(MILLRACE_FLUSHES)
/* Where floats that are subnormal count as 0 (-ftz=true, -use_fast_math), bfloat16s that are keep their values, as on hardware: these go by doubles. */
#define MR_MATH_KEPT(name, function)                                                                                           \
    MR_DEVICE MR_SMALL h##name(MR_SMALL x)                                                                                     \
    {                                                                                                                          \
        return MR_BITS(mr_bfloat16_of_double_bits(__builtin_bit_cast(unsigned long long, function(mr_double_of_bfloat16(x))),  \
            cudaRoundNearest));                                                                                                \
    }                                                                                                                          \
    MR_PAIR1(h2##name, h##name)
#define MR_DOUBLE_RECIPROCAL(x) (1.0 / (x))
MR_DEVICE double mr_double_of_bfloat16(MR_SMALL x)
{
    unsigned int size = x.__x & 0x7fffu;
    double value = size < 0x80 ? (double)size * 0x1p-133 : (double)mr_wide(MR_BITS(size));
    return x.__x >> 15 ? -value : value;
}
MR_MATH_KEPT(rsqrt, rsqrt) MR_MATH_KEPT(rcp, MR_DOUBLE_RECIPROCAL) MR_MATH_KEPT(exp, exp) MR_MATH_KEPT(exp2, exp2)
MR_MATH_KEPT(exp10, exp10) MR_MATH_KEPT(log, log) MR_MATH_KEPT(log2, log2) MR_MATH_KEPT(log10, log10) MR_MATH_KEPT(tanh, tanh)
#undef MR_MATH_KEPT
#undef MR_DOUBLE_RECIPROCAL
#else
MR_MATH(rsqrt, MR_RECIPROCAL_ROOT, MR_AS_IT_IS) MR_MATH(rcp, MR_RECIPROCAL, MR_AS_IT_IS)
#if MR_DIGITS == 10 && defined(MILLRACE_FAST_MATH)
/* Hardware rounds the float's approximation here, which is next to the nearest number for the arguments that stand here: beyond it for MR_TANH_BEYOND, before
 * it for MR_TANH_BEFORE. */
#define MR_TANH_BEYOND(x) \
    (((x) >= 0x2895 && (x) <= 0x2898) || (x) == 0x2a9c || (x) == 0x2c2a || (x) == 0x2cf0 || (x) == 0x2e6d || (x) == 0x2ecb || (x) == 0x3179 || (x) == 0x3c56 || \
     (x) == 0x3cd7 || (x) == 0x3e59 || (x) == 0x3ec4 || (x) == 0x402f || (x) == 0x4072)
#define MR_TANH_BEFORE(x) \
    (((x) >= 0x2742 && (x) <= 0x2744) || (x) == 0x2f6e || (x) == 0x2fb6 || (x) == 0x319b || (x) == 0x32de || (x) == 0x34e3 || (x) == 0x35c2 || (x) == 0x379b || \
     (x) == 0x38af || (x) == 0x3a44 || (x) == 0x3b28 || (x) == 0x3b5e || (x) == 0x3c2c || (x) == 0x3d98 || (x) == 0x3da6 || (x) == 0x3e9e || (x) == 0x3f27)
MR_DEVICE MR_SMALL htanh(MR_SMALL x)
{
    unsigned int size = x.__x & 0x7fffu;
    return MR_BITS((unsigned int)MR_FROM(tanhf(mr_wide(x))).__x + (MR_TANH_BEYOND(size) ? 1u : 0u) - (MR_TANH_BEFORE(size) ? 1u : 0u));
}
MR_PAIR1(h2tanh, htanh)
#undef MR_TANH_BEYOND
#undef MR_TANH_BEFORE
#else
MR_MATH(tanh, tanhf, MR_AS_IT_IS)
#endif
MR_MATH(exp, expf, MR_NEAREST_exp) MR_MATH(exp2, exp2f, MR_NEAREST_exp2) MR_MATH(exp10, exp10f, MR_NEAREST_exp10)
MR_MATH(log, logf, MR_NEAREST_log) MR_MATH(log2, log2f, MR_AS_IT_IS) MR_MATH(log10, log10f, MR_NEAREST_log10)
#endif
MR_MATH(floor, floorf, MR_AS_IT_IS) MR_MATH(ceil, ceilf, MR_AS_IT_IS) MR_MATH(trunc, truncf, MR_AS_IT_IS) MR_MATH(rint, rintf, MR_AS_IT_IS)
/* Hardware's own approximation, bit by bit. A small argument is its own result; from 8 on the result is 1. Between them it is the number next to the tangent
 * towards 0, except for the arguments that stand here: one step more for MR_TANH_MORE, one less for MR_TANH_LESS. */
#if MR_DIGITS == 10
#define MR_TANH_SMALL 0x1c07u
#define MR_TANH_MORE(x) \
    ((x) == 0x29c6 || (x) == 0x2c95 || (x) == 0x2c96 || (x) == 0x2e39 || (x) == 0x2e9d || (x) == 0x3064 || (x) == 0x323f || (x) == 0x32ff || (x) == 0x355b || \
     (x) == 0x372d || (x) == 0x3824 || (x) == 0x399a || (x) == 0x3cc9 || (x) == 0x3de3 || (x) == 0x3ed6 || (x) == 0x4080)
#define MR_TANH_LESS(x) \
    ((x) == 0x2d3f || (x) == 0x39f8 || (x) == 0x3c8e || (x) == 0x3c9d || (x) == 0x3db8 || (x) == 0x3e23 || (x) == 0x3eab || (x) == 0x4429)
#else
#define MR_TANH_SMALL 0x3b80u
#define MR_TANH_MORE(x) false
#define MR_TANH_LESS(x) ((x) == 0x3f3f)
#endif
MR_DEVICE MR_SMALL htanh_approx(MR_SMALL x)
{
    unsigned int size = x.__x & 0x7fffu, sign = x.__x & 0x8000u, one = (unsigned int)MR_FROM(1.0f).__x, eight = (unsigned int)MR_FROM(8.0f).__x;
    if (mr_wide(x) != mr_wide(x))
        return MR_BITS(0x7fff);
    float tangent = tanhf(mr_wide(MR_BITS(size)));
    MR_SMALL nearest = MR_FROM(tangent);
    unsigned int bits = (unsigned int)nearest.__x - (mr_wide(nearest) > tangent ? 1u : 0u) + (MR_TANH_MORE(size) ? 1u : 0u) - (MR_TANH_LESS(size) ? 1u : 0u);
    return MR_BITS(sign | (size <= MR_TANH_SMALL ? size : size >= eight ? one : bits));
}
MR_PAIR1(h2tanh_approx, htanh_approx)
#undef MR_TANH_SMALL
#undef MR_TANH_MORE
#undef MR_TANH_LESS
#undef MR_MATH
#undef MR_RECIPROCAL
#undef MR_RECIPROCAL_ROOT
#undef MR_BUT
#undef MR_AS_IT_IS
#undef MR_NEAREST_exp
#undef MR_NEAREST_exp2
#undef MR_NEAREST_exp10
#undef MR_NEAREST_log
#undef MR_NEAREST_log10
#undef MR_NEAREST_sin
#undef MR_NEAREST_cos

/* Shuffles: the value or the pair travels in a word. */
#define MR_SHUFFLE(name, by)                                                                                                              \
    MR_DEVICE MR_SMALL name##_sync(unsigned int mask, MR_SMALL value, by lane, int width = 32) { MR_SHUFFLE_WORD(name##_sync, mask, word) }    \
    MR_DEVICE MR_SMALL2 name##_sync(unsigned int mask, MR_SMALL2 value, by lane, int width = 32) { MR_SHUFFLE_WORD(name##_sync, mask, word) }
#define MR_SHUFFLE_HERE(name, by)                                                                        \
    MR_DEVICE MR_SMALL name(MR_SMALL value, by lane, int width = 32) { MR_SHUFFLE_WORD(name, word) }     \
    MR_DEVICE MR_SMALL2 name(MR_SMALL2 value, by lane, int width = 32) { MR_SHUFFLE_WORD(name, word) }
#define MR_SHUFFLE_WORD(name, ...)                      \
    unsigned int word = 0;                              \
    __builtin_memcpy(&word, &value, sizeof(value));     \
    word = name(__VA_ARGS__, lane, width);              \
    __builtin_memcpy(&value, &word, sizeof(value));     \
    return value;
MR_SHUFFLE(__shfl, int) MR_SHUFFLE(__shfl_up, unsigned int) MR_SHUFFLE(__shfl_down, unsigned int) MR_SHUFFLE(__shfl_xor, int)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700
MR_SHUFFLE_HERE(__shfl, int) MR_SHUFFLE_HERE(__shfl_up, unsigned int) MR_SHUFFLE_HERE(__shfl_down, unsigned int) MR_SHUFFLE_HERE(__shfl_xor, int)
#endif
#undef MR_SHUFFLE
#undef MR_SHUFFLE_HERE
#undef MR_SHUFFLE_WORD

/* Atomic sums, by comparing and exchanging the word around the value. */
MR_DEVICE MR_SMALL2 atomicAdd(MR_SMALL2 *address, MR_SMALL2 value)
{
    unsigned int *word = (unsigned int *)address, seen = *(volatile unsigned int *)word, before;
    do {
        before = seen;
        MR_SMALL2 sum = __hadd2(__builtin_bit_cast(MR_SMALL2, before), value);
        seen = atomicCAS(word, before, __builtin_bit_cast(unsigned int, sum));
    } while (seen != before);
    return __builtin_bit_cast(MR_SMALL2, before);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/* Not below, where sources define their own, as with NVIDIA's headers. */
MR_DEVICE MR_SMALL atomicAdd(MR_SMALL *address, MR_SMALL value)
{
    unsigned long long place = (unsigned long long)address;
    unsigned int *word = (unsigned int *)(place & ~3ull), shift = (unsigned int)(place & 2) * 8, seen = *(volatile unsigned int *)word, before;
    MR_SMALL old;
    do {
        before = seen;
        old.__x = (unsigned short)(before >> shift);
        MR_SMALL sum = __hadd(old, value);
        seen = atomicCAS(word, before, (before & ~(0xffffu << shift)) | (unsigned int)sum.__x << shift);
    } while (seen != before);
    return old;
}
#endif

/* To whole numbers, in each of CUDA's roundings rn rz rd ru, which are PTX's rn rz rm rp. */
#define MR_TO_WHOLE(mode, ptx)                                                                                                    \
    MR_DEVICE int MR_TO(int_##mode)(MR_SMALL x) { return __nvvm_f2i_##ptx(mr_wide(x)); }                                          \
    MR_DEVICE unsigned int MR_TO(uint_##mode)(MR_SMALL x) { return __nvvm_f2ui_##ptx(mr_wide(x)); }                               \
    MR_DEVICE long long MR_TO(ll_##mode)(MR_SMALL x) { return __nvvm_f2ll_##ptx(mr_wide(x)); }                                    \
    MR_DEVICE unsigned long long MR_TO(ull_##mode)(MR_SMALL x) { return __nvvm_f2ull_##ptx(mr_wide(x)); }                         \
    MR_DEVICE short MR_TO(short_##mode)(MR_SMALL x) { return (short)max(-32768, min(32767, MR_TO(int_##mode)(x))); }              \
    MR_DEVICE unsigned short MR_TO(ushort_##mode)(MR_SMALL x) { return (unsigned short)min(65535u, MR_TO(uint_##mode)(x)); }
MR_TO_WHOLE(rn, rn) MR_TO_WHOLE(rd, rm) MR_TO_WHOLE(ru, rp)
#undef MR_TO_WHOLE
#ifdef __CUDA_ARCH__
MR_BOTH int MR_TO(int_rz)(MR_SMALL x) { return __nvvm_f2i_rz(mr_wide(x)); }
MR_BOTH unsigned int MR_TO(uint_rz)(MR_SMALL x) { return __nvvm_f2ui_rz(mr_wide(x)); }
MR_BOTH long long MR_TO(ll_rz)(MR_SMALL x) { return __nvvm_f2ll_rz(mr_wide(x)); }
MR_BOTH unsigned long long MR_TO(ull_rz)(MR_SMALL x) { return __nvvm_f2ull_rz(mr_wide(x)); }
#endif

#undef MR_PAIR1
#undef MR_PAIR3
#undef MR_FROM
#undef MR_BITS
