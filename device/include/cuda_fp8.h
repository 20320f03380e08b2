/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits: e4m3 (no infinities, up to 448) and e5m2 (up to 57344), pairs and fours of them, and their conversions, on the host and in kernels;
 * millrace_e8m0.h: scales of 8 bits. C has the types of bits and the functions. */
#ifndef MILLRACE_CUDA_FP8_H
#define MILLRACE_CUDA_FP8_H
#define __CUDA_FP8_H__
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#ifndef __CUDA__
#pragma GCC system_header
#endif

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;   /* the first number is in the lower byte, here and in fours */
typedef unsigned int __nv_fp8x4_storage_t;
/* Beyond the largest finite number: NOSAT gives infinity for e5m2 and NaN for e4m3, SATFINITE the largest finite number. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* To the nearest, ties to even. A NaN keeps its sign, and as an e5m2 its second digit; that of mr_double_bits_of_float is 0x7f. */
MR_BOTH unsigned int mr_fp8_of(unsigned long long bits, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    unsigned int infinity = kind == __NV_E4M3 ? 0x7f : 0x7c, size;
    if ((bits & ~(1ull << 63)) > 0x7ffull << 52)
        return (unsigned int)(bits >> 63) << 7 | (kind == __NV_E4M3 ? 0x7f : 0x7e | (unsigned int)(bits >> 50 & 1));
    size = mr_small_size(bits, kind == __NV_E4M3 ? 3 : 2, kind == __NV_E4M3 ? 7 : 15, infinity, cudaRoundNearest);
    return (unsigned int)(bits >> 63) << 7 | (size - (saturate == __NV_SATFINITE && size == infinity));
}
/* Exact. An e5m2 is the upper byte of a half. */
MR_BOTH unsigned short mr_fp8_half(unsigned int x, __nv_fp8_interpretation_t kind)
{
    unsigned int sign = (x & 0x80) << 8, size = x & 0x7f;
    if (size > (kind == __NV_E4M3 ? 0x7eu : 0x7cu))
        return 0x7fff;
    return (unsigned short)(sign | (kind == __NV_E4M3 ? mr_half_of_tiny(size, 3, 7) : size << 8));
}

MR_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8_storage_t)mr_fp8_of(mr_bits_of_double(x), saturate, kind);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8_storage_t)mr_fp8_of(mr_double_bits_of_float(x), saturate, kind);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(mr_half_widened(x.x), saturate, kind);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(mr_upper_half_widened(x.x), saturate, kind);
}
#define MR_FP8_TWO(name, type, wide, one)                                                                                         \
    MR_BOTH __nv_fp8x2_storage_t __nv_cvt_##name##_to_fp8x2(type x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)   \
    {                                                                                                                             \
        unsigned int low = one(wide(x.x), saturate, kind), high = one(wide(x.y), saturate, kind);                                 \
        return (__nv_fp8x2_storage_t)(low | high << 8);                                                                           \
    }
MR_FP8_TWO(double2, double2, , __nv_cvt_double_to_fp8) MR_FP8_TWO(float2, float2, , __nv_cvt_float_to_fp8)
MR_FP8_TWO(halfraw2, __half2_raw, mr_half_widened, __nv_cvt_float_to_fp8)
MR_FP8_TWO(bfloat16raw2, __nv_bfloat162_raw, mr_upper_half_widened, __nv_cvt_float_to_fp8)
#undef MR_FP8_TWO
MR_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    __half_raw raw;
    raw.x = mr_fp8_half(x, kind);
    return raw;
}
MR_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    __half2_raw raw;
    raw.x = mr_fp8_half(x & 0xffu, kind);
    raw.y = mr_fp8_half((unsigned int)x >> 8, kind);
    return raw;
}

#ifdef __cplusplus
#define __CUDA_FP8_TYPES_EXIST__
#include "millrace_tiny_classes.h"
#ifndef __CUDA_NO_FP8_CONVERSIONS__
#define MR_FP8_FROM(...) __VA_ARGS__
#else
#define MR_FP8_FROM(...)
#endif
#if !defined(__CUDA_NO_FP8_CONVERSIONS__) && !defined(__CUDA_NO_FP8_CONVERSION_OPERATORS__) && __cplusplus >= 201103L
#define MR_FP8_TO(...) __VA_ARGS__
#else
#define MR_FP8_TO(...)
#endif
#define MR_FP8(name, kind)                                                                                                          \
    MR_BOTH unsigned int mr_##name##_of(unsigned long long bits) { return mr_fp8_of(bits, __NV_SATFINITE, kind); }                  \
    MR_BOTH unsigned short mr_##name##_half(unsigned int x) { return mr_fp8_half(x, kind); }                                        \
    MR_BOTH __half2_raw mr_##name##_halves(unsigned int x) { return __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)x, kind); }    \
    MR_BOTH float4 mr_##name##_floats(unsigned int x)                                                                               \
    {                                                                                                                               \
        return make_float4(mr_half_widened(mr_fp8_half(x & 0xff, kind)), mr_half_widened(mr_fp8_half(x >> 8 & 0xff, kind)),         \
                           mr_half_widened(mr_fp8_half(x >> 16 & 0xff, kind)), mr_half_widened(mr_fp8_half(x >> 24, kind)));        \
    }                                                                                                                               \
    MR_TINY_ONE(__nv_fp8_##name, __nv_fp8_storage_t, mr_##name##_of, mr_##name##_half, 0x7f, MR_FP8_FROM, MR_FP8_TO);               \
    MR_TINY_PAIR(__nv_fp8x2_##name, __nv_fp8x2_storage_t, mr_##name##_of, mr_##name##_halves, 8, MR_FP8_FROM, MR_FP8_TO);           \
    MR_TINY_FOUR_OF(__nv_fp8x4_##name, __nv_fp8x4_storage_t, mr_##name##_of, mr_##name##_floats, 8, MR_FP8_FROM, MR_FP8_TO);
MR_FP8(e4m3, __NV_E4M3)
MR_FP8(e5m2, __NV_E5M2)
#undef MR_FP8
#endif
#include "millrace_e8m0.h"
#undef MR_FP8_FROM
#undef MR_FP8_TO
#define __CUDA_ALIGN__(n) __attribute__((aligned(n))) /* sources use it: NVIDIA's header leaves it behind */

#endif
