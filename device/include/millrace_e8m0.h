/* SPDX-License-Identifier: Apache-2.0 */
/* e8m0: a scale of 8 bits, the power of 2 from 2^-127 (0) to 2^127 (254), or NaN (255). Part of cuda_fp8.h.
 *
 * A number becomes the power at or next to its size, its sign does not count: cudaRoundZero takes the lower one, cudaRoundPosInf the upper one; nothing
 * else is allowed. What is below the range, 0 included, becomes 2^-127; what is above 2^127 or NaN, as the saturation says. */
#ifndef MILLRACE_E8M0_H
#define MILLRACE_E8M0_H
#include <device_types.h>

MR_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    unsigned long long size = __builtin_bit_cast(unsigned long long, x) & ~(1ull << 63);
    if (rounding != cudaRoundZero && rounding != cudaRoundPosInf)
        __builtin_trap();   /* NVIDIA's header asserts */
    if (size > 0x7ffull << 52)
        return 0xff;
    /* The digits behind the first one round up to the next exponent. */
    int code = (int)((size + (rounding == cudaRoundPosInf ? (1ull << 52) - 1 : 0)) >> 52) - 1023 + 127;
    /* cudaRoundZero takes any finite number down into the range. */
    if (code > 254)
        return saturate == __NV_SATFINITE || (rounding == cudaRoundZero && size < 0x7ffull << 52) ? 254 : 255;
    return (__nv_fp8_storage_t)(code < 0 ? 0 : code);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return __nv_cvt_double_to_e8m0((double)x, saturate, rounding);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return __nv_cvt_double_to_e8m0((double)(float)__nv_bfloat16(x), saturate, rounding);
}
MR_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    unsigned int low = __nv_cvt_double_to_e8m0(x.x, saturate, rounding), high = __nv_cvt_double_to_e8m0(x.y, saturate, rounding);
    return (__nv_fp8x2_storage_t)(low | high << 8);
}
MR_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return __nv_cvt_double2_to_e8m0x2(double2{x.x, x.y}, saturate, rounding);
}
MR_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return __nv_cvt_double2_to_e8m0x2(double2{(float)__nv_bfloat16(__nv_bfloat16_raw{x.x}), (float)__nv_bfloat16(__nv_bfloat16_raw{x.y})}, saturate,
                                      rounding);
}

/* Exact: the code is the exponent's field, but 2^-127 is a denormal. */
MR_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x)
{
    return __nv_bfloat16_raw{(unsigned short)(x == 0 ? 0x40 : x == 0xff ? 0x7fff : x << 7)};
}
MR_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x)
{
    return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x, __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x};
}
/* Of a whole number's size, up. */
MR_BOTH __nv_fp8_storage_t mr_e8m0_of_size(unsigned long long size)
{
    return (__nv_fp8_storage_t)(size ? 127 + 63 - __builtin_clzll(size) + ((size & (size - 1)) != 0) : 0);
}

/* Constructors round up and saturate. */
struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    MR_MEMBER explicit __nv_fp8_e8m0(__half x) : __nv_fp8_e8m0((float)x) {}
    MR_MEMBER explicit __nv_fp8_e8m0(__nv_bfloat16 x) : __nv_fp8_e8m0((float)x) {}
    MR_MEMBER explicit __nv_fp8_e8m0(float x) : __x(__nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
    MR_MEMBER explicit __nv_fp8_e8m0(double x) : __x(__nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
    template <class T, class = typename mr_if_whole<T>::type>
    MR_MEMBER explicit __nv_fp8_e8m0(T x) : __x(mr_e8m0_of_size(x < (T)0 ? 0ull - (unsigned long long)x : (unsigned long long)x)) {}
    MR_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
    MR_MEMBER explicit operator float() const { return __builtin_bit_cast(float, (unsigned int)__nv_cvt_e8m0_to_bf16raw(__x).x << 16); }
    MR_MEMBER explicit operator double() const { return (double)(float)*this; }
    MR_MEMBER explicit operator __half() const { return __half((float)*this); }
    MR_MEMBER explicit operator bool() const { return true; }   /* no scale is 0 */
    MR_FP8_WHOLE(char) MR_FP8_WHOLE(signed char) MR_FP8_WHOLE(unsigned char) MR_FP8_WHOLE(short) MR_FP8_WHOLE(unsigned short)
    MR_FP8_WHOLE(int) MR_FP8_WHOLE(unsigned int) MR_FP8_WHOLE(long) MR_FP8_WHOLE(unsigned long)
    MR_FP8_WHOLE(long long) MR_FP8_WHOLE(unsigned long long)
};
struct __attribute__((aligned(2))) __nv_fp8x2_e8m0 {
    __nv_fp8x2_storage_t __x;
    __nv_fp8x2_e8m0() = default;
    MR_MEMBER explicit __nv_fp8x2_e8m0(__half2 x) : __nv_fp8x2_e8m0(__half22float2(x)) {}
    MR_MEMBER explicit __nv_fp8x2_e8m0(__nv_bfloat162 x) : __nv_fp8x2_e8m0(float2{(float)x.x, (float)x.y}) {}
    MR_MEMBER explicit __nv_fp8x2_e8m0(float2 x) : __x(__nv_cvt_float2_to_e8m0x2(x, __NV_SATFINITE, cudaRoundPosInf)) {}
    MR_MEMBER explicit __nv_fp8x2_e8m0(double2 x) : __x(__nv_cvt_double2_to_e8m0x2(x, __NV_SATFINITE, cudaRoundPosInf)) {}
    MR_MEMBER explicit operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
    MR_MEMBER explicit operator float2() const
    {
        __nv_fp8_e8m0 low, high;
        low.__x = (__nv_fp8_storage_t)__x;
        high.__x = (__nv_fp8_storage_t)(__x >> 8);
        return float2{(float)low, (float)high};
    }
    MR_MEMBER explicit operator __half2() const
    {
        float2 both = (float2)*this;
        return __half2(__half(both.x), __half(both.y));
    }
};
struct __attribute__((aligned(4))) __nv_fp8x4_e8m0 {
    __nv_fp8x4_storage_t __x;
    __nv_fp8x4_e8m0() = default;
    MR_MEMBER explicit __nv_fp8x4_e8m0(__half2 low, __half2 high) : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high)) {}
    MR_MEMBER explicit __nv_fp8x4_e8m0(__nv_bfloat162 low, __nv_bfloat162 high) : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high)) {}
    MR_MEMBER explicit __nv_fp8x4_e8m0(float4 x) : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(float2{x.x, x.y}), __nv_fp8x2_e8m0(float2{x.z, x.w})) {}
    MR_MEMBER explicit __nv_fp8x4_e8m0(double4 x) : __nv_fp8x4_e8m0(__nv_fp8x2_e8m0(double2{x.x, x.y}), __nv_fp8x2_e8m0(double2{x.z, x.w})) {}
    MR_MEMBER explicit operator float4() const
    {
        __nv_fp8x2_e8m0 low, high;
        low.__x = (__nv_fp8x2_storage_t)__x;
        high.__x = (__nv_fp8x2_storage_t)(__x >> 16);
        float2 first = (float2)low, second = (float2)high;
        return float4{first.x, first.y, second.x, second.y};
    }

private:
    MR_MEMBER __nv_fp8x4_e8m0(__nv_fp8x2_e8m0 low, __nv_fp8x2_e8m0 high) : __x(low.__x | (unsigned int)high.__x << 16) {}
};

#endif
