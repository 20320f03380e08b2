/* SPDX-License-Identifier: Apache-2.0 */
/* What the types of 16, 8, 6 and 4 bits are made of, for C, C++ and CUDA C++, on the host and in kernels: bits of floats, and numbers cut to few digits.
 *
 * Everything is made of integers, so that no compiler has to know these types and no option for fast floats changes a result. */
#ifndef MILLRACE_SMALL_BITS_H
#define MILLRACE_SMALL_BITS_H

#ifndef __CUDA__
#pragma GCC system_header   /* long long and the like, in any standard */
#endif

#include "device_types.h"
#ifndef __CUDA__   /* kernel sources have them */
#include "vector_types.h"
#include "vector_functions.h"
#endif
#if defined(__cplusplus) && !defined(__CUDA__)
#include <cstring>
#endif

/* A function, and a member, of both sides. */
#ifndef MR_BOTH
#ifdef __CUDA__
#define MR_BOTH static __attribute__((host, device, always_inline, unused)) inline
#else
#define MR_BOTH static __inline__ __attribute__((unused))
#endif
#endif
#ifdef __CUDA__
#define MR_SMALL_MEMBER __attribute__((host, device, always_inline)) inline
#else
#define MR_SMALL_MEMBER inline
#endif
/* Of C++ 11 and later. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define MR_CONSTEXPR constexpr
#define MR_PLAIN_CONSTRUCTOR(name) name() = default;
#define MR_SINCE_11(...) __VA_ARGS__
#else
#define MR_CONSTEXPR
#define MR_PLAIN_CONSTRUCTOR(name) MR_SMALL_MEMBER name() {}
#define MR_SINCE_11(...)
#endif

MR_BOTH unsigned int mr_bits_of_float(float x)
{
    unsigned int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
MR_BOTH float mr_float_of_bits(unsigned int bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
MR_BOTH unsigned long long mr_bits_of_double(double x)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* A float as the bits of the double of the same value: also of a subnormal one, which a conversion may take for zero. All NaNs are one. */
MR_BOTH unsigned long long mr_double_bits_of_float(float x)
{
    unsigned int bits = mr_bits_of_float(x), size = bits & 0x7fffffff;
    unsigned long long sign = (unsigned long long)(bits >> 31) << 63;
    if (size >= 0x7f800000)
        return size == 0x7f800000 ? sign | 0x7ffull << 52 : ~0ull >> 1;
    if (size < 0x800000)
        return sign | mr_bits_of_double((double)size * 1.4012984643248170709e-45);
    return sign | (((unsigned long long)size << 29) + (896ull << 52));
}

/* A double's size in a format of `digits` digits behind the first and an exponent of that bias, without its sign: rounded, and at most `infinity`, the
 * code behind the largest finite number. Not of a NaN. */
MR_BOTH unsigned int mr_small_size(unsigned long long bits, int digits, int bias, unsigned int infinity, enum cudaRoundMode rounding)
{
    unsigned long long size = bits & ~(1ull << 63), kept, rest, half, result, digits_of = size & ((1ull << 52) - 1);
    int exponent = (int)(size >> 52) - 1023 + bias, cut = 52 - digits, negative = (int)(bits >> 63);
    int away = rounding == (negative ? cudaRoundMinInf : cudaRoundPosInf);
    if (size >= 0x7ffull << 52)
        return infinity;
    if (exponent < 1) {
        cut += 1 - exponent;
        digits_of |= 1ull << 52;
        exponent = 0;
    }
    if (cut > 54)   /* less than half of the smallest number */
        return away && size != 0;
    kept = digits_of >> cut;
    rest = digits_of & ((1ull << cut) - 1);
    half = 1ull << (cut - 1);
    result = ((unsigned long long)exponent << digits) + kept;
    if (rounding == cudaRoundNearest)
        result += rest > half || (rest == half && (kept & 1));
    else if (away)
        result += rest != 0;
    if (result >= infinity)
        return rounding == cudaRoundNearest || away ? infinity : infinity - 1;
    return (unsigned int)result;
}
/* The same of a whole number. */
MR_BOTH unsigned int mr_small_size_of_whole(unsigned long long whole, int negative, int digits, int bias, unsigned int infinity, enum cudaRoundMode rounding)
{
    int first = 63 - __builtin_clzll(whole | 1), away = rounding == (negative ? cudaRoundMinInf : cudaRoundPosInf);
    unsigned long long aligned = whole << (63 - first), kept = aligned >> (63 - digits), rest = aligned << (digits + 1), half = 1ull << 63;
    unsigned int result = ((unsigned int)(first + bias - 1) << digits) + (unsigned int)kept;
    if (!whole)
        return 0;
    if (rounding == cudaRoundNearest)
        result += rest > half || (rest == half && (kept & 1));
    else if (away)
        result += rest != 0;
    if (result >= infinity)
        return rounding == cudaRoundNearest || away ? infinity : infinity - 1;
    return result;
}

/* The half of a number in a format of few digits and a smaller bias, without its sign: exact. */
MR_BOTH unsigned int mr_half_of_tiny(unsigned int size, int digits, int bias)
{
    int first = 31 - __builtin_clz(size | 1);
    if (size >> digits)
        return (size << (10 - digits)) + ((unsigned int)(15 - bias) << 10);
    return size ? ((unsigned int)(first - digits - bias + 16) << 10) + ((size << (10 - first)) & 0x3ff) : 0;
}

/* To and from half precision: 10 digits, bias 15. NaNs become one, 0x7fff and 0x7fffffff. */
MR_BOTH unsigned short mr_half_of_double_bits(unsigned long long bits, enum cudaRoundMode rounding)
{
    if ((bits & ~(1ull << 63)) > 0x7ffull << 52)
        return 0x7fff;
    return (unsigned short)(bits >> 63 << 15 | mr_small_size(bits, 10, 15, 0x7c00, rounding));
}
MR_BOTH float mr_half_widened(unsigned short bits)
{
#ifdef __CUDA_ARCH__
    /* clang's own conversion takes subnormal halves for zeros under -ftz=true, as it takes subnormal floats; hardware keeps them. */
    float wide;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    return wide;
#else
    unsigned int sign = (unsigned int)(bits & 0x8000) << 16, size = bits & 0x7fff;
    if (size > 0x7c00)
        return mr_float_of_bits(0x7fffffff);
    if (size == 0x7c00)
        return mr_float_of_bits(sign | 0x7f800000);
    if (size < 0x400)
        return mr_float_of_bits(sign | mr_bits_of_float((float)size * 5.9604644775390625e-8f));
    return mr_float_of_bits(sign | ((size << 13) + 0x38000000));
#endif
}
MR_BOTH float mr_upper_half_widened(unsigned short bits) { return mr_float_of_bits((unsigned int)bits << 16); }
/* To bfloat16, the upper half of a float: 7 digits, bias 127. */
MR_BOTH unsigned short mr_bfloat16_of_double_bits(unsigned long long bits, enum cudaRoundMode rounding)
{
    if ((bits & ~(1ull << 63)) > 0x7ffull << 52)
        return 0x7fff;
    return (unsigned short)(bits >> 63 << 15 | mr_small_size(bits, 7, 127, 0x7f80, rounding));
}

#endif
