/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16: __nv_bfloat16 and __nv_bfloat162, their conversions; millrace_small_float.h and millrace_small_device.h have all that half precision shares.
 *
 * A bfloat16 is the upper half of a float, so conversions are made of integers. For the same readers as cuda_fp16.h. */
#ifndef MILLRACE_CUDA_BF16_H
#define MILLRACE_CUDA_BF16_H
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_fp16.h"
#ifndef __CUDA__
#pragma GCC system_header
#endif

typedef struct __attribute__((aligned(2))) { unsigned short x; } __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) { unsigned short x, y; } __nv_bfloat162_raw;

#ifdef __cplusplus
/* The upper half, rounded to nearest, ties to even; toward 0; away from 0. */
MR_BOTH unsigned short mr_upper_half(float x)
{
    unsigned int bits = mr_bits_of_float(x);
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
MR_BOTH unsigned short mr_upper_half_cut(float x, bool away)
{
    unsigned int bits = mr_bits_of_float(x);
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (unsigned short)((bits + (away ? 0xffff : 0)) >> 16);
}
#ifdef __CUDA_ARCH__
/* A float between the same two bfloat16 as the double: cut off, with its last bit set if something was. Subnormal floats count as such, however the kernel is compiled. */
static __attribute__((device, always_inline, unused)) inline float mr_to_odd(double x)
{
    float near;
    double back;
    __asm__("cvt.rn.f32.f64 %0, %1;" : "=f"(near) : "d"(x));
    __asm__("cvt.f64.f32 %0, %1;" : "=d"(back) : "f"(near));
    unsigned int bits = mr_bits_of_float(near);
    if (back == x || x != x || !(bits & 0x7fffffff))
        return near;
    if (__builtin_fabs(back) > __builtin_fabs(x))
        bits--;
    return mr_float_of_bits(bits | 1);
}
#endif
MR_BOTH unsigned short mr_bfloat16_bits(float x) { return mr_upper_half(x); }
MR_BOTH unsigned short mr_bfloat16_bits(double x)
{
#ifdef __CUDA_ARCH__
    /* In hardware a NaN keeps its sign and its first digits. */
    unsigned long long bits = mr_bits_of_double(x);
    return x != x ? (unsigned short)(bits >> 48 & 0x8000 | 0x7fc0 | (bits >> 45 & 0x7f)) : mr_upper_half(mr_to_odd(x));
#else
    return mr_bfloat16_of_double_bits(mr_bits_of_double(x), cudaRoundNearest);
#endif
}
/* Doubles have the numbers of 32 bits. Of the longer ones the last bits only say that there is something. */
MR_BOTH unsigned short mr_bfloat16_bits(int x) { return mr_bfloat16_bits((double)x); }
MR_BOTH unsigned short mr_bfloat16_bits(unsigned int x) { return mr_bfloat16_bits((double)x); }
MR_BOTH unsigned short mr_bfloat16_bits(unsigned long long x)
{
    return mr_bfloat16_bits((double)(x >> 32 ? (x & ~0xfffull) | ((x & 0xfff) != 0) << 12 : x));
}
MR_BOTH unsigned short mr_bfloat16_bits(long long x)
{
    unsigned short size = mr_bfloat16_bits(x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x);
    return (unsigned short)((x < 0) << 15 | size);
}
MR_BOTH __nv_bfloat16_raw mr_bfloat16_raw(unsigned short bits)
{
    __nv_bfloat16_raw raw;
    raw.x = bits;
    return raw;
}

struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x;
    MR_PLAIN_CONSTRUCTOR(__nv_bfloat16)
    MR_SMALL_MEMBER MR_CONSTEXPR __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    MR_SMALL_MEMBER __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) { __x = raw.x; return *this; }
    MR_SMALL_MEMBER volatile __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) volatile { __x = raw.x; return *this; }
    MR_SMALL_MEMBER volatile __nv_bfloat16 &operator=(const volatile __nv_bfloat16_raw &raw) volatile { __x = raw.x; return *this; }
    MR_SMALL_MEMBER operator __nv_bfloat16_raw() const { return mr_bfloat16_raw(__x); }
    MR_SMALL_MEMBER operator __nv_bfloat16_raw() const volatile { return mr_bfloat16_raw(__x); }
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
    MR_SINCE_11(explicit MR_SMALL_MEMBER __nv_bfloat16(__half x) : __x(mr_upper_half(mr_wide(x))) {})
    MR_SMALL_MEMBER __nv_bfloat16(float x) : __x(mr_bfloat16_bits(x)) {}
    MR_SMALL_MEMBER __nv_bfloat16(double x) : __x(mr_bfloat16_bits(x)) {}
    MR_SMALL_MEMBER operator float() const { return mr_upper_half_widened(__x); }
    MR_SMALL_MEMBER __nv_bfloat16 &operator=(float x) { __x = mr_bfloat16_bits(x); return *this; }
    MR_SMALL_MEMBER __nv_bfloat16 &operator=(double x) { __x = mr_bfloat16_bits(x); return *this; }
#if !defined(__CUDA_BF16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__) || defined(__CUDACC__)
#define MR_WIDER(x) (sizeof(x) == 8 ? (x < 0 ? mr_bfloat16_bits((long long)x) : mr_bfloat16_bits((unsigned long long)x)) : mr_bfloat16_bits((double)x))
    MR_WHOLE_CONSTRUCTORS(__nv_bfloat16, MR_WIDER(x))
#undef MR_WIDER
    MR_SMALL_CASTS(mr_upper_half_widened(__x))
#endif
#endif
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    MR_PLAIN_CONSTRUCTOR(__nv_bfloat162)
    MR_SMALL_MEMBER MR_CONSTEXPR __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
    MR_SMALL_MEMBER __nv_bfloat162(const __nv_bfloat162_raw &raw) : x(mr_bfloat16_raw(raw.x)), y(mr_bfloat16_raw(raw.y)) {}
    MR_SMALL_MEMBER __nv_bfloat162 &operator=(const __nv_bfloat162_raw &raw) { x.__x = raw.x; y.__x = raw.y; return *this; }
    MR_SMALL_MEMBER operator __nv_bfloat162_raw() const
    {
        __nv_bfloat162_raw raw;
        raw.x = x.__x;
        raw.y = y.__x;
        return raw;
    }
};
#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
#ifndef __CUDA_NO_HALF_CONVERSIONS__
MR_SINCE_11(MR_SMALL_MEMBER __half::__half(__nv_bfloat16 x) : __x(mr_half_bits(mr_upper_half_widened(x.__x))) {})
#endif

MR_BOTH float mr_wide(const __nv_bfloat16 &x) { return mr_upper_half_widened(x.__x); }
MR_BOTH __nv_bfloat16 mr_narrow_as(float x, const __nv_bfloat16 *) { return mr_bfloat16_raw(mr_upper_half(x)); }
MR_BOTH __nv_bfloat16 mr_small_as(unsigned short bits, const __nv_bfloat16 *) { return mr_bfloat16_raw(bits); }
MR_BOTH __nv_bfloat162 mr_pair(const __nv_bfloat16 &x, const __nv_bfloat16 &y) { return __nv_bfloat162(x, y); }
#ifdef __CUDA__
MR_DEVICE __nv_bfloat16 mr_fused(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z)
{
    unsigned short bits;
    __asm__("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(bits) : "h"(x.__x), "h"(y.__x), "h"(z.__x));
    return mr_bfloat16_raw(bits);
}
#endif
#define MR_TO(name) __bfloat162##name
#define MR_OF(name, mode) __##name##2bfloat16_##mode
#define MR_BOTH_IF_HALF MR_DEVICE
#define MR_DIGITS 7
#define MR_BIAS 127
#define MR_SMALL_INFINITY 0x7f80
#define MR_SMALL __nv_bfloat16
#define MR_SMALL2 __nv_bfloat162
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define MR_OPERATORS
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define MR_OPERATORS2
#endif
#include "millrace_small_float.h"
#ifdef __CUDA__
#include "millrace_small_device.h"
#endif
#undef MR_SMALL
#undef MR_SMALL2
#undef MR_OPERATORS
#undef MR_OPERATORS2
#undef MR_TO
#undef MR_OF
#undef MR_BOTH_IF_HALF
#undef MR_DIGITS
#undef MR_BIAS
#undef MR_SMALL_INFINITY

/* Conversions. */
MR_BOTH __nv_bfloat16 __float2bfloat16(float x) { return mr_bfloat16_raw(mr_upper_half(x)); }
MR_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return mr_bfloat16_raw(mr_upper_half(x)); }
MR_BOTH __nv_bfloat16 __float2bfloat16_rz(float x) { return mr_bfloat16_raw(mr_upper_half_cut(x, false)); }
MR_BOTH __nv_bfloat16 __float2bfloat16_rd(float x) { return mr_bfloat16_raw(mr_upper_half_cut(x, mr_bits_of_float(x) >> 31 != 0)); }
MR_BOTH __nv_bfloat16 __float2bfloat16_ru(float x) { return mr_bfloat16_raw(mr_upper_half_cut(x, mr_bits_of_float(x) >> 31 == 0)); }
MR_BOTH __nv_bfloat16 __double2bfloat16(double x) { return mr_bfloat16_raw(mr_bfloat16_bits(x)); }
MR_BOTH float __bfloat162float(__nv_bfloat16 x) { return mr_wide(x); }
MR_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return mr_bfloat16_raw(x); }
MR_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return mr_bfloat16_raw((unsigned short)x); }
MR_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
MR_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
MR_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MR_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MR_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
MR_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__float2bfloat16(x), __float2bfloat16(y)); }
MR_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return __floats2bfloat162_rn(x, x); }
MR_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }
MR_BOTH float2 __bfloat1622float2(__nv_bfloat162 x)
{
    float2 both;
    both.x = mr_wide(x.x);
    both.y = mr_wide(x.y);
    return both;
}
MR_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
MR_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
MR_BOTH float __low2float(__nv_bfloat162 x) { return mr_wide(x.x); }
MR_BOTH float __high2float(__nv_bfloat162 x) { return mr_wide(x.y); }
MR_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.x); }
MR_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return __nv_bfloat162(x.x, y.x); }
MR_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return __nv_bfloat162(x.y, y.y); }
MR_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.x, x.x); }
MR_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.y); }

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
#endif

#endif
