/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16: __nv_bfloat16 and __nv_bfloat162, their conversions; millrace_small_float.h has all that half precision shares.
 *
 * A bfloat16 is the upper half of a float, so conversions are made of integers. */
#ifndef MILLRACE_CUDA_BF16_H
#define MILLRACE_CUDA_BF16_H

#include "cuda_fp16.h"

#define MR_MEMBER __attribute__((host, device, always_inline)) inline

/* The upper half, rounded to nearest, ties to even. */
MR_BOTH unsigned short mr_upper_half(float x)
{
    unsigned int bits = __builtin_bit_cast(unsigned int, x);
    return x != x ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/* A float between the same two bfloat16 as the double: cut off, with its last bit set if something was. */
MR_BOTH float mr_to_odd(double x)
{
    float near = (float)x;
    unsigned int bits = __builtin_bit_cast(unsigned int, near);
    double back = (double)near;
    if (back == x || x != x || near == 0)
        return near;
    if (__builtin_fabs(back) > __builtin_fabs(x))
        bits--;
    return __builtin_bit_cast(float, bits | 1);
}

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };
struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    MR_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
    MR_MEMBER __nv_bfloat16(float x) : __x(mr_upper_half(x)) {}
    MR_MEMBER __nv_bfloat16(double x) : __x(mr_upper_half(mr_to_odd(x))) {}
    template <class T, class = typename mr_if_whole<T>::type> MR_MEMBER __nv_bfloat16(T x) : __nv_bfloat16((double)x) {}
    explicit MR_MEMBER __nv_bfloat16(__half x) : __nv_bfloat16((float)x) {}
    MR_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned int)__x << 16); }
    MR_SMALL_CASTS
    MR_MEMBER operator __nv_bfloat16_raw() const { return {__x}; }
    MR_MEMBER operator __nv_bfloat16_raw() const volatile { return {__x}; }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    MR_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
    MR_MEMBER __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    MR_MEMBER operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
MR_MEMBER __half::__half(__nv_bfloat16 x) : __half((float)x) {}
#undef MR_MEMBER

MR_BOTH float mr_wide(__nv_bfloat16 x) { return (float)x; }
MR_BOTH __nv_bfloat16 mr_narrow_as(float x, const __nv_bfloat16 *) { return __nv_bfloat16(x); }
MR_DEVICE __nv_bfloat16 mr_fused(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z)
{
    unsigned short bits;
    __asm__("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(bits) : "h"(x.__x), "h"(y.__x), "h"(z.__x));
    return __nv_bfloat16_raw{bits};
}
#ifndef MR_SIZE_OF
#define MR_SIZE_OF
/* A number without its sign. */
template <class T> MR_BOTH unsigned long long mr_size_of(T x) { return x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x; }
#endif
#define MR_TO(name) __bfloat162##name
#define MR_OF(name, mode) __##name##2bfloat16_##mode
#define MR_DIGITS 8
#define MR_LARGEST 0x1.fep127f
#define MR_SMALL __nv_bfloat16
#define MR_SMALL2 __nv_bfloat162
#include "millrace_small_float.h"
#undef MR_SMALL
#undef MR_SMALL2
#undef MR_TO
#undef MR_OF
#undef MR_DIGITS
#undef MR_LARGEST

/* Conversions. */
MR_BOTH __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
MR_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
MR_BOTH __nv_bfloat16 __float2bfloat16_rz(float x)
{
    return __nv_bfloat16_raw{x != x ? (unsigned short)0x7fff : (unsigned short)(__builtin_bit_cast(unsigned int, x) >> 16)};
}
/* Down and up: the upper half, and one more on the way from zero if something was cut off. */
MR_BOTH __nv_bfloat16 __float2bfloat16_rd(float x)
{
    unsigned int bits = __builtin_bit_cast(unsigned int, x);
    return __nv_bfloat16_raw{x != x ? (unsigned short)0x7fff : (unsigned short)((bits + (bits >> 31 ? 0xffff : 0)) >> 16)};
}
MR_BOTH __nv_bfloat16 __float2bfloat16_ru(float x)
{
    unsigned int bits = __builtin_bit_cast(unsigned int, x);
    return __nv_bfloat16_raw{x != x ? (unsigned short)0x7fff : (unsigned short)((bits + (bits >> 31 ? 0 : 0xffff)) >> 16)};
}
MR_BOTH __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
MR_BOTH float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
MR_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
MR_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16_raw{(unsigned short)x}; }
MR_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
MR_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
MR_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
MR_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
MR_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
MR_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
MR_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
MR_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {__nv_bfloat16(x.x), __nv_bfloat16(x.y)}; }
MR_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return {(float)x.x, (float)x.y}; }
MR_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
MR_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
MR_BOTH float __low2float(__nv_bfloat162 x) { return (float)x.x; }
MR_BOTH float __high2float(__nv_bfloat162 x) { return (float)x.y; }
MR_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return {x.y, x.x}; }
MR_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return {x.x, y.x}; }
MR_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return {x.y, y.y}; }
MR_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return {x.x, x.x}; }
MR_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return {x.y, x.y}; }

#endif
