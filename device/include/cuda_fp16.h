/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: __half and __half2 (half, half2), their conversions; millrace_small_float.h and millrace_small_device.h have all that bfloat16 shares.
 *
 * For kernels and the host, and for host compilers alone: C++ has all that runs on the host, C has the types of bits. */
#ifndef MILLRACE_CUDA_FP16_H
#define MILLRACE_CUDA_FP16_H
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#include "millrace_small_bits.h"
#ifndef __CUDA__
#pragma GCC system_header
#endif

typedef struct __attribute__((aligned(2))) { unsigned short x; } __half_raw;
typedef struct __attribute__((aligned(4))) { unsigned short x, y; } __half2_raw;

#ifdef __cplusplus
#include "millrace_small_casts.h"

/* Rounded to nearest. */
MR_BOTH unsigned short mr_half_bits(float x)
{
#ifdef __CUDA_ARCH__
    unsigned short bits;
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    return mr_half_of_double_bits(mr_double_bits_of_float(x), cudaRoundNearest);
#endif
}
MR_BOTH unsigned short mr_half_bits(double x)
{
#ifdef __CUDA_ARCH__
    unsigned short bits;
    __asm__("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
    return bits;
#else
    return mr_half_of_double_bits(mr_bits_of_double(x), cudaRoundNearest);
#endif
}
MR_BOTH __half_raw mr_half_raw(unsigned short bits)
{
    __half_raw raw;
    raw.x = bits;
    return raw;
}

struct __nv_bfloat16;
struct __attribute__((aligned(2))) __half {
    unsigned short __x;
    MR_PLAIN_CONSTRUCTOR(__half)
    MR_SMALL_MEMBER MR_CONSTEXPR __half(const __half_raw &raw) : __x(raw.x) {}
    MR_SMALL_MEMBER __half &operator=(const __half_raw &raw) { __x = raw.x; return *this; }
    MR_SMALL_MEMBER volatile __half &operator=(const __half_raw &raw) volatile { __x = raw.x; return *this; }
    MR_SMALL_MEMBER volatile __half &operator=(const volatile __half_raw &raw) volatile { __x = raw.x; return *this; }
    MR_SMALL_MEMBER operator __half_raw() const { return mr_half_raw(__x); }
    MR_SMALL_MEMBER operator __half_raw() const volatile { return mr_half_raw(__x); }
#ifndef __CUDA_NO_HALF_CONVERSIONS__
    MR_SINCE_11(explicit MR_SMALL_MEMBER __half(__nv_bfloat16 x);) /* in cuda_bf16.h */
    MR_SMALL_MEMBER __half(float x) : __x(mr_half_bits(x)) {}
    MR_SMALL_MEMBER __half(double x) : __x(mr_half_bits(x)) {}
    MR_SMALL_MEMBER operator float() const { return mr_half_widened(__x); }
    MR_SMALL_MEMBER __half &operator=(float x) { __x = mr_half_bits(x); return *this; }
    MR_SMALL_MEMBER __half &operator=(double x) { __x = mr_half_bits(x); return *this; }
#if !defined(__CUDA_FP16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__) || defined(__CUDACC__)
    /* A whole number that a float does not have is beyond the largest half. */
    MR_WHOLE_CONSTRUCTORS(__half, mr_half_bits((float)x))
    MR_SMALL_CASTS(mr_half_widened(__x))
#endif
#endif
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    MR_PLAIN_CONSTRUCTOR(__half2)
    MR_SMALL_MEMBER MR_CONSTEXPR __half2(const __half &a, const __half &b) : x(a), y(b) {}
    MR_SMALL_MEMBER __half2(const __half2_raw &raw) : x(mr_half_raw(raw.x)), y(mr_half_raw(raw.y)) {}
    MR_SMALL_MEMBER __half2 &operator=(const __half2_raw &raw) { x.__x = raw.x; y.__x = raw.y; return *this; }
    MR_SMALL_MEMBER operator __half2_raw() const
    {
        __half2_raw raw;
        raw.x = x.__x;
        raw.y = y.__x;
        return raw;
    }
};
#ifndef CUDA_NO_HALF
typedef __half half, __nv_half, nv_half;
typedef __half2 half2, __nv_half2, nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#endif

MR_BOTH float mr_wide(const __half &x) { return mr_half_widened(x.__x); }
MR_BOTH __half mr_narrow_as(float x, const __half *) { return mr_half_raw(mr_half_bits(x)); }
MR_BOTH __half mr_small_as(unsigned short bits, const __half *) { return mr_half_raw(bits); }
MR_BOTH __half2 mr_pair(const __half &x, const __half &y) { return __half2(x, y); }
#ifdef __CUDA__
MR_DEVICE __half mr_fused(__half x, __half y, __half z)
{
    unsigned short bits;
    __asm__("fma.rn.f16 %0, %1, %2, %3;" : "=h"(bits) : "h"(x.__x), "h"(y.__x), "h"(z.__x));
    return mr_half_raw(bits);
}
#endif
#define MR_TO(name) __half2##name
#define MR_OF(name, mode) __##name##2half_##mode
#define MR_BOTH_IF_HALF MR_BOTH
#define MR_DIGITS 10
#define MR_BIAS 15
#define MR_SMALL_INFINITY 0x7c00
#define MR_SMALL __half
#define MR_SMALL2 __half2
#ifndef __CUDA_NO_HALF_OPERATORS__
#define MR_OPERATORS
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
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
MR_BOTH __half __float2half(float x) { return mr_half_raw(mr_half_bits(x)); }
MR_BOTH __half __float2half_rn(float x) { return mr_half_raw(mr_half_bits(x)); }
MR_BOTH __half __double2half(double x) { return mr_half_raw(mr_half_bits(x)); }
MR_BOTH float __half2float(__half x) { return mr_wide(x); }
/* In one of PTX's other roundings. */
#ifdef __CUDA_ARCH__
#define MR_FLOAT_TO_HALF(mode, ptx, rounding)                              \
    MR_BOTH __half __float2half_##mode(float x)                            \
    {                                                                      \
        unsigned short bits;                                               \
        __asm__("cvt." #ptx ".f16.f32 %0, %1;" : "=h"(bits) : "f"(x));     \
        return mr_half_raw(bits);                                          \
    }
#else
#define MR_FLOAT_TO_HALF(mode, ptx, rounding)                                                                                               \
    MR_BOTH __half __float2half_##mode(float x) { return mr_half_raw(mr_half_of_double_bits(mr_double_bits_of_float(x), rounding)); }
#endif
MR_FLOAT_TO_HALF(rz, rz, cudaRoundZero) MR_FLOAT_TO_HALF(rd, rm, cudaRoundMinInf) MR_FLOAT_TO_HALF(ru, rp, cudaRoundPosInf)
#undef MR_FLOAT_TO_HALF
MR_BOTH __half __ushort_as_half(unsigned short x) { return mr_half_raw(x); }
MR_BOTH __half __short_as_half(short x) { return mr_half_raw((unsigned short)x); }
MR_BOTH unsigned short __half_as_ushort(__half x) { return x.__x; }
MR_BOTH short __half_as_short(__half x) { return (short)x.__x; }
MR_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
MR_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
MR_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
MR_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__float2half(x), __float2half(y)); }
MR_BOTH __half2 __float2half2_rn(float x) { return __floats2half2_rn(x, x); }
MR_BOTH __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }
MR_BOTH float2 __half22float2(__half2 x)
{
    float2 both;
    both.x = mr_wide(x.x);
    both.y = mr_wide(x.y);
    return both;
}
MR_BOTH __half __low2half(__half2 x) { return x.x; }
MR_BOTH __half __high2half(__half2 x) { return x.y; }
MR_BOTH float __low2float(__half2 x) { return mr_wide(x.x); }
MR_BOTH float __high2float(__half2 x) { return mr_wide(x.y); }
MR_BOTH __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
MR_BOTH __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
MR_BOTH __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
MR_BOTH __half2 __lows2half2(__half2 x, __half2 y) { return __half2(x.x, y.x); }
MR_BOTH __half2 __highs2half2(__half2 x, __half2 y) { return __half2(x.y, y.y); }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#endif

#endif
