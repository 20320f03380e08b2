/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits: e4m3 (no infinities, up to 448) and e5m2 (up to 57344), pairs and fours of them, and their conversions, on the host and in kernels;
 * millrace_e8m0.h: scales of 8 bits. */
#ifndef MILLRACE_CUDA_FP8_H
#define MILLRACE_CUDA_FP8_H
#include <cuda_fp16.h>
#include <cuda_bf16.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;   /* the first number is in the lower byte, here and in fours */
typedef unsigned int __nv_fp8x4_storage_t;
/* Beyond the largest finite number: NOSAT gives infinity for e5m2 and NaN for e4m3, SATFINITE the largest finite number. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* To the nearest, ties to even; NaN is 0x7f. From the double's bits: the digits that stay are cut off, and the rest decides. */
MR_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    unsigned long long bits = __builtin_bit_cast(unsigned long long, x), size = bits & ~(1ull << 63);
    int digits = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    unsigned int sign = (unsigned int)(bits >> 63) << 7, largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    if (size > 0x7ffull << 52)
        return 0x7f;
    int exponent = (int)(size >> 52) - 1023 + bias, cut = 52 - digits;
    unsigned long long digits_of = size & ((1ull << 52) - 1);
    if (exponent < 1) {
        cut += 1 - exponent;
        digits_of |= 1ull << 52;
        exponent = 0;
    }
    if (cut > 54)
        return (__nv_fp8_storage_t)sign;
    unsigned long long kept = digits_of >> cut, rest = digits_of & ((1ull << cut) - 1), half = 1ull << (cut - 1);
    unsigned long long result = ((unsigned long long)exponent << digits) + kept;
    result += rest > half || (rest == half && (kept & 1));
    if (result > largest)
        result = saturate == __NV_SATFINITE ? largest : kind == __NV_E4M3 ? 0x7f : 0x7c;
    return (__nv_fp8_storage_t)(sign | result);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)(float)__half(x), saturate, kind);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)(float)__nv_bfloat16(x), saturate, kind);
}
#define MR_TWO(name, type)                                                                                                        \
    MR_BOTH __nv_fp8x2_storage_t __nv_cvt_##name##_to_fp8x2(type x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)   \
    {                                                                                                                             \
        unsigned int low = MR_ONE(x.x), high = MR_ONE(x.y);                                                                       \
        return (__nv_fp8x2_storage_t)(low | high << 8);                                                                           \
    }
#define MR_ONE(part) __nv_cvt_double_to_fp8((double)(part), saturate, kind)
MR_TWO(double2, double2) MR_TWO(float2, float2)
#undef MR_ONE
#define MR_ONE(part) __nv_cvt_halfraw_to_fp8(__half_raw{part}, saturate, kind)
MR_TWO(halfraw2, __half2_raw)
#undef MR_ONE
#define MR_ONE(part) __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{part}, saturate, kind)
MR_TWO(bfloat16raw2, __nv_bfloat162_raw)
#undef MR_ONE
#undef MR_TWO

/* Exact. An e5m2 is the upper byte of a half. */
MR_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    unsigned int sign = (unsigned int)(x & 0x80) << 8, size = x & 0x7f;
    if (kind == __NV_E5M2)
        return __half_raw{(unsigned short)(size > 0x7c ? 0x7fff : sign | size << 8)};
    if (size == 0x7f)
        return __half_raw{0x7fff};
    /* With the same exponent field the half's number is 2^8 times smaller. */
    float value = (float)__half(__half_raw{(unsigned short)(size << 7)}) * 256.0f;
    return __half_raw{(unsigned short)(sign | __half(value).__x)};
}
MR_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

#define MR_MEMBER __attribute__((host, device, always_inline)) inline
#define MR_FP8(name, kind)                                                                                                        \
    struct __nv_fp8_##name {                                                                                                      \
        __nv_fp8_storage_t __x;                                                                                                   \
        __nv_fp8_##name() = default;                                                                                              \
        MR_MEMBER explicit __nv_fp8_##name(__half x) : __x(__nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, kind)) {}                   \
        MR_MEMBER explicit __nv_fp8_##name(__nv_bfloat16 x) : __x(__nv_cvt_bfloat16raw_to_fp8(x, __NV_SATFINITE, kind)) {}        \
        MR_MEMBER explicit __nv_fp8_##name(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) {}                      \
        MR_MEMBER explicit __nv_fp8_##name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind)) {}                    \
        template <class T, class = typename mr_if_whole<T>::type>                                                                 \
        MR_MEMBER explicit __nv_fp8_##name(T x) : __nv_fp8_##name((float)x) {}                                                    \
        MR_MEMBER explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }                         \
        MR_MEMBER explicit operator float() const                                                                                 \
        {                                                                                                                         \
            float x = (float)__half(*this);                                                                                       \
            return x != x ? __builtin_bit_cast(float, 0x7fffffff) : x;                                                            \
        }                                                                                                                         \
        MR_MEMBER explicit operator double() const { return (double)(float)*this; }                                               \
        MR_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                                 \
        MR_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                                                    \
        MR_FP8_WHOLE(char) MR_FP8_WHOLE(signed char) MR_FP8_WHOLE(unsigned char) MR_FP8_WHOLE(short) MR_FP8_WHOLE(unsigned short)  \
        MR_FP8_WHOLE(int) MR_FP8_WHOLE(unsigned int) MR_FP8_WHOLE(long) MR_FP8_WHOLE(unsigned long)                               \
        MR_FP8_WHOLE(long long) MR_FP8_WHOLE(unsigned long long)                                                                  \
    };                                                                                                                            \
    struct __attribute__((aligned(2))) __nv_fp8x2_##name {                                                                        \
        __nv_fp8x2_storage_t __x;                                                                                                 \
        __nv_fp8x2_##name() = default;                                                                                            \
        MR_MEMBER explicit __nv_fp8x2_##name(__half2 x) : __x(__nv_cvt_halfraw2_to_fp8x2(x, __NV_SATFINITE, kind)) {}             \
        MR_MEMBER explicit __nv_fp8x2_##name(__nv_bfloat162 x) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(x, __NV_SATFINITE, kind)) {}  \
        MR_MEMBER explicit __nv_fp8x2_##name(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kind)) {}                \
        MR_MEMBER explicit __nv_fp8x2_##name(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, kind)) {}              \
        MR_MEMBER explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }                    \
        MR_MEMBER explicit operator float2() const { return __half22float2(__half2(*this)); }                                     \
    };                                                                                                                            \
    struct __attribute__((aligned(4))) __nv_fp8x4_##name {                                                                        \
        __nv_fp8x4_storage_t __x;                                                                                                 \
        __nv_fp8x4_##name() = default;                                                                                            \
        MR_MEMBER explicit __nv_fp8x4_##name(__half2 low, __half2 high)                                                           \
            : __x(__nv_fp8x2_##name(low).__x | (unsigned int)__nv_fp8x2_##name(high).__x << 16) {}                                \
        MR_MEMBER explicit __nv_fp8x4_##name(__nv_bfloat162 low, __nv_bfloat162 high)                                             \
            : __x(__nv_fp8x2_##name(low).__x | (unsigned int)__nv_fp8x2_##name(high).__x << 16) {}                                \
        MR_MEMBER explicit __nv_fp8x4_##name(float4 x)                                                                            \
            : __x(__nv_fp8x2_##name(float2{x.x, x.y}).__x | (unsigned int)__nv_fp8x2_##name(float2{x.z, x.w}).__x << 16) {}       \
        MR_MEMBER explicit __nv_fp8x4_##name(double4 x)                                                                           \
            : __x(__nv_fp8x2_##name(double2{x.x, x.y}).__x | (unsigned int)__nv_fp8x2_##name(double2{x.z, x.w}).__x << 16) {}     \
        MR_MEMBER explicit operator float4() const                                                                                \
        {                                                                                                                         \
            float2 low = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)__x, kind)));                    \
            float2 high = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(__x >> 16), kind)));           \
            return float4{low.x, low.y, high.x, high.y};                                                                          \
        }                                                                                                                         \
    };
#define MR_FP8_WHOLE(type) MR_MEMBER explicit operator type() const { return mr_limited<type>((float)*this); }
MR_FP8(e4m3, __NV_E4M3)
MR_FP8(e5m2, __NV_E5M2)
#include "millrace_e8m0.h"
#undef MR_FP8
#undef MR_FP8_WHOLE
#undef MR_MEMBER

#endif
