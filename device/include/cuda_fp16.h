/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: __half and __half2 (half, half2), their conversions; millrace_small_float.h has all that bfloat16 shares. */
#ifndef MILLRACE_CUDA_FP16_H
#define MILLRACE_CUDA_FP16_H

#ifndef MR_BOTH
#define MR_BOTH static __attribute__((host, device, always_inline, unused)) inline
#endif
#define MR_MEMBER __attribute__((host, device, always_inline)) inline
#include "millrace_small_casts.h"

/* The float of the same value. clang's own conversion takes subnormal halves for zeros under -ftz=true, as it takes subnormal floats; NVIDIA's headers keep them. */
static __attribute__((host, device, always_inline, unused)) inline float mr_half_widened(unsigned short bits)
{
#ifdef __CUDA_ARCH__
    if (!__builtin_constant_p(bits)) {
        float wide;
        __asm__("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
        return wide;
    }
#endif
    return (float)__builtin_bit_cast(_Float16, bits);
}

struct __nv_bfloat16;
struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct __attribute__((aligned(2))) __half {
    unsigned short __x;
    __half() = default;
    MR_MEMBER __half(__half_raw raw) : __x(raw.x) {}
    MR_MEMBER __half(float x) : __x(__builtin_bit_cast(unsigned short, (_Float16)x)) {}
    MR_MEMBER __half(double x) : __x(__builtin_bit_cast(unsigned short, (_Float16)x)) {}
    template <class T, class = typename mr_if_whole<T>::type> MR_MEMBER __half(T x) : __half((float)x) {}
    explicit MR_MEMBER __half(__nv_bfloat16 x); /* in cuda_bf16.h */
    MR_MEMBER operator float() const { return mr_half_widened(__x); }
    MR_SMALL_CASTS
    MR_MEMBER operator __half_raw() const { return {__x}; }
    MR_MEMBER operator __half_raw() const volatile { return {__x}; }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    MR_MEMBER __half2(__half a, __half b) : x(a), y(b) {}
    MR_MEMBER __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    MR_MEMBER operator __half2_raw() const { return {x.__x, y.__x}; }
};
typedef __half half, __nv_half;
typedef __half2 half2, __nv_half2;
#undef MR_MEMBER

MR_BOTH float mr_wide(__half x) { return (float)x; }
MR_BOTH __half mr_narrow_as(float x, const __half *) { return __half(x); }
MR_DEVICE __half mr_fused(__half x, __half y, __half z)
{
    unsigned short bits;
    __asm__("fma.rn.f16 %0, %1, %2, %3;" : "=h"(bits) : "h"(x.__x), "h"(y.__x), "h"(z.__x));
    return __half_raw{bits};
}
#ifndef MR_SIZE_OF
#define MR_SIZE_OF
/* A number without its sign. */
template <class T> MR_BOTH unsigned long long mr_size_of(T x) { return x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x; }
#endif
#define MR_TO(name) __half2##name
#define MR_OF(name, mode) __##name##2half_##mode
#define MR_DIGITS 11
#define MR_LARGEST 65504.0f
#define MR_SMALL __half
#define MR_SMALL2 __half2
#include "millrace_small_float.h"
#undef MR_SMALL
#undef MR_SMALL2
#undef MR_TO
#undef MR_OF
#undef MR_DIGITS
#undef MR_LARGEST

/* Conversions. */
MR_BOTH __half __float2half(float x) { return __half(x); }
MR_BOTH __half __float2half_rn(float x) { return __half(x); }
MR_BOTH __half __double2half(double x) { return __half(x); }
MR_BOTH float __half2float(__half x) { return (float)x; }
MR_DEVICE __half __float2half_rz(float x)
{
    unsigned short bits;
    __asm__("cvt.rz.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return __half_raw{bits};
}
MR_DEVICE __half __float2half_rd(float x)
{
    unsigned short bits;
    __asm__("cvt.rm.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return __half_raw{bits};
}
MR_DEVICE __half __float2half_ru(float x)
{
    unsigned short bits;
    __asm__("cvt.rp.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return __half_raw{bits};
}
MR_BOTH __half __ushort_as_half(unsigned short x) { return __half_raw{x}; }
MR_BOTH __half __short_as_half(short x) { return __half_raw{(unsigned short)x}; }
MR_BOTH unsigned short __half_as_ushort(__half x) { return x.__x; }
MR_BOTH short __half_as_short(__half x) { return (short)x.__x; }
MR_BOTH __half2 __halves2half2(__half x, __half y) { return {x, y}; }
MR_BOTH __half2 make_half2(__half x, __half y) { return {x, y}; }
MR_BOTH __half2 __half2half2(__half x) { return {x, x}; }
MR_BOTH __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
MR_BOTH __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
MR_BOTH __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
MR_BOTH float2 __half22float2(__half2 x) { return {(float)x.x, (float)x.y}; }
MR_BOTH __half __low2half(__half2 x) { return x.x; }
MR_BOTH __half __high2half(__half2 x) { return x.y; }
MR_BOTH float __low2float(__half2 x) { return (float)x.x; }
MR_BOTH float __high2float(__half2 x) { return (float)x.y; }
MR_BOTH __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
MR_BOTH __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
MR_BOTH __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
MR_BOTH __half2 __lows2half2(__half2 x, __half2 y) { return {x.x, y.x}; }
MR_BOTH __half2 __highs2half2(__half2 x, __half2 y) { return {x.y, y.y}; }

#endif
