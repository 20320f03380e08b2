/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 6 bits, each in a byte: e2m3 (up to 7.5) and e3m2 (up to 28), without infinities and NaNs; pairs and fours of them, and their conversions,
 * on the host and in kernels. C has the types of bits and the functions. */
#ifndef MILLRACE_CUDA_FP6_H
#define MILLRACE_CUDA_FP6_H
#define __CUDA_FP6_H__
#include "cuda_fp8.h"
#ifndef __CUDA__
#pragma GCC system_header
#endif

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

/* To the nearest, ties to even, or towards zero, and no other way. What is too large becomes the largest number, a NaN the positive one. */
MR_BOTH unsigned int mr_fp6_of(unsigned long long bits, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
{
    unsigned int size;
    if (rounding != cudaRoundNearest && rounding != cudaRoundZero)
        __builtin_trap();   /* NVIDIA's header asserts */
    if ((bits & ~(1ull << 63)) > 0x7ffull << 52)
        return 0x1f;
    size = mr_small_size(bits, kind == __NV_E2M3 ? 3 : 2, kind == __NV_E2M3 ? 1 : 3, 0x20, rounding);
    return (unsigned int)(bits >> 63) << 5 | (size - (size == 0x20));
}
MR_BOTH unsigned short mr_fp6_half(unsigned int x, __nv_fp6_interpretation_t kind)
{
    return (unsigned short)((x & 0x20) << 10 | (kind == __NV_E2M3 ? mr_half_of_tiny(x & 0x1f, 3, 1) : mr_half_of_tiny(x & 0x1f, 2, 3)));
}

MR_BOTH __nv_fp6_storage_t __nv_cvt_double_to_fp6(double x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
{
    return (__nv_fp6_storage_t)mr_fp6_of(mr_bits_of_double(x), kind, rounding);
}
MR_BOTH __nv_fp6_storage_t __nv_cvt_float_to_fp6(float x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
{
    return (__nv_fp6_storage_t)mr_fp6_of(mr_double_bits_of_float(x), kind, rounding);
}
MR_BOTH __nv_fp6_storage_t __nv_cvt_halfraw_to_fp6(__half_raw x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
{
    return __nv_cvt_float_to_fp6(mr_half_widened(x.x), kind, rounding);
}
MR_BOTH __nv_fp6_storage_t __nv_cvt_bfloat16raw_to_fp6(__nv_bfloat16_raw x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
{
    return __nv_cvt_float_to_fp6(mr_upper_half_widened(x.x), kind, rounding);
}
#define MR_FP6_TWO(name, type, wide, one)                                                                                              \
    MR_BOTH __nv_fp6x2_storage_t __nv_cvt_##name##_to_fp6x2(type x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)       \
    {                                                                                                                                  \
        unsigned int low = one(wide(x.x), kind, rounding), high = one(wide(x.y), kind, rounding);                                      \
        return (__nv_fp6x2_storage_t)(low | high << 8);                                                                                \
    }
MR_FP6_TWO(double2, double2, , __nv_cvt_double_to_fp6) MR_FP6_TWO(float2, float2, , __nv_cvt_float_to_fp6)
MR_FP6_TWO(halfraw2, __half2_raw, mr_half_widened, __nv_cvt_float_to_fp6)
MR_FP6_TWO(bfloat16raw2, __nv_bfloat162_raw, mr_upper_half_widened, __nv_cvt_float_to_fp6)
#undef MR_FP6_TWO
/* Exact; the two upper bits of a byte do not count. */
MR_BOTH __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t kind)
{
    __half_raw raw;
    raw.x = mr_fp6_half(x, kind);
    return raw;
}
MR_BOTH __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x, __nv_fp6_interpretation_t kind)
{
    __half2_raw raw;
    raw.x = mr_fp6_half(x, kind);
    raw.y = mr_fp6_half((unsigned int)x >> 8, kind);
    return raw;
}

#ifdef __cplusplus
#define __CUDA_FP6_TYPES_EXIST__
#ifndef __CUDA_NO_FP6_CONVERSIONS__
#define MR_FP6_FROM(...) __VA_ARGS__
#else
#define MR_FP6_FROM(...)
#endif
#if !defined(__CUDA_NO_FP6_CONVERSIONS__) && !defined(__CUDA_NO_FP6_CONVERSION_OPERATORS__) && __cplusplus >= 201103L
#define MR_FP6_TO(...) __VA_ARGS__
#else
#define MR_FP6_TO(...)
#endif
#define MR_FP6(name, kind)                                                                                                          \
    MR_BOTH unsigned int mr_##name##_of(unsigned long long bits) { return mr_fp6_of(bits, kind, cudaRoundNearest); }                \
    MR_BOTH unsigned short mr_##name##_half(unsigned int x) { return mr_fp6_half(x, kind); }                                        \
    MR_BOTH __half2_raw mr_##name##_halves(unsigned int x) { return __nv_cvt_fp6x2_to_halfraw2((__nv_fp6x2_storage_t)x, kind); }    \
    MR_BOTH float4 mr_##name##_floats(unsigned int x)                                                                               \
    {                                                                                                                               \
        return make_float4(mr_half_widened(mr_fp6_half(x, kind)), mr_half_widened(mr_fp6_half(x >> 8, kind)),                       \
                           mr_half_widened(mr_fp6_half(x >> 16, kind)), mr_half_widened(mr_fp6_half(x >> 24, kind)));               \
    }                                                                                                                               \
    MR_TINY_ONE(__nv_fp6_##name, __nv_fp6_storage_t, mr_##name##_of, mr_##name##_half, 0x1f, MR_FP6_FROM, MR_FP6_TO);               \
    MR_TINY_PAIR(__nv_fp6x2_##name, __nv_fp6x2_storage_t, mr_##name##_of, mr_##name##_halves, 8, MR_FP6_FROM, MR_FP6_TO);           \
    MR_TINY_FOUR_OF(__nv_fp6x4_##name, __nv_fp6x4_storage_t, mr_##name##_of, mr_##name##_floats, 8, MR_FP6_FROM, MR_FP6_TO);
MR_FP6(e2m3, __NV_E2M3)
MR_FP6(e3m2, __NV_E3M2)
#undef MR_FP6
#undef MR_FP6_FROM
#undef MR_FP6_TO
#endif

#endif
