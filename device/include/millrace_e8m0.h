/* SPDX-License-Identifier: Apache-2.0 */
/* e8m0: a scale of 8 bits, the power of 2 from 2^-127 (0) to 2^127 (254), or NaN (255). Part of cuda_fp8.h.
 *
 * A number becomes the power at or next to its size, its sign does not count: cudaRoundZero takes the lower one, cudaRoundPosInf the upper one; nothing
 * else is allowed. What is below the range, 0 included, becomes 2^-127; what is above 2^127 or NaN, as the saturation says. */
#ifndef MILLRACE_E8M0_H
#define MILLRACE_E8M0_H

MR_BOTH unsigned int mr_e8m0_of(unsigned long long bits, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    unsigned long long size = bits & ~(1ull << 63);
    int code;
    if (rounding != cudaRoundZero && rounding != cudaRoundPosInf)
        __builtin_trap();   /* NVIDIA's header asserts */
    if (size > 0x7ffull << 52)
        return 0xff;
    /* The digits behind the first one round up to the next exponent. */
    code = (int)((size + (rounding == cudaRoundPosInf ? (1ull << 52) - 1 : 0)) >> 52) - 1023 + 127;
    /* cudaRoundZero takes any finite number down into the range. */
    if (code > 254)
        return saturate == __NV_SATFINITE || (rounding == cudaRoundZero && size < 0x7ffull << 52) ? 254 : 255;
    return (unsigned int)(code < 0 ? 0 : code);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return (__nv_fp8_storage_t)mr_e8m0_of(mr_bits_of_double(x), saturate, rounding);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return (__nv_fp8_storage_t)mr_e8m0_of(mr_double_bits_of_float(x), saturate, rounding);
}
MR_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
{
    return __nv_cvt_float_to_e8m0(mr_upper_half_widened(x.x), saturate, rounding);
}
#define MR_E8M0_TWO(name, type, wide, one)                                                                                              \
    MR_BOTH __nv_fp8x2_storage_t __nv_cvt_##name##_to_e8m0x2(type x, __nv_saturation_t saturate, enum cudaRoundMode rounding)           \
    {                                                                                                                                   \
        unsigned int low = one(wide(x.x), saturate, rounding), high = one(wide(x.y), saturate, rounding);                               \
        return (__nv_fp8x2_storage_t)(low | high << 8);                                                                                 \
    }
MR_E8M0_TWO(double2, double2, , __nv_cvt_double_to_e8m0) MR_E8M0_TWO(float2, float2, , __nv_cvt_float_to_e8m0)
MR_E8M0_TWO(bfloat162raw, __nv_bfloat162_raw, mr_upper_half_widened, __nv_cvt_float_to_e8m0)
#undef MR_E8M0_TWO

/* Exact: the code is the exponent's field, but 2^-127 is a denormal. */
MR_BOTH unsigned short mr_e8m0_upper_half(unsigned int x) { return (unsigned short)(x == 0 ? 0x40 : x == 0xff ? 0x7fff : x << 7); }
MR_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x)
{
    __nv_bfloat16_raw raw;
    raw.x = mr_e8m0_upper_half(x);
    return raw;
}
MR_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x)
{
    __nv_bfloat162_raw raw;
    raw.x = mr_e8m0_upper_half(x & 0xffu);
    raw.y = mr_e8m0_upper_half((unsigned int)x >> 8);
    return raw;
}

#ifdef __cplusplus
MR_BOTH float mr_e8m0_float(unsigned int x) { return mr_upper_half_widened(mr_e8m0_upper_half(x & 0xff)); }
/* Of a whole number's size, up. */
template <class T> MR_BOTH unsigned int mr_e8m0_of_whole(T x)
{
    unsigned long long size = x < (T)0 ? 0ull - (unsigned long long)x : (unsigned long long)x;
    return (unsigned int)(size ? 127 + 63 - __builtin_clzll(size) + ((size & (size - 1)) != 0) : 0);
}
/* As constructors do: up, and within the range. */
MR_BOTH unsigned int mr_e8m0_up(unsigned long long bits) { return mr_e8m0_of(bits, __NV_SATFINITE, cudaRoundPosInf); }
MR_BOTH float4 mr_e8m0_floats(unsigned int x) { return make_float4(mr_e8m0_float(x), mr_e8m0_float(x >> 8), mr_e8m0_float(x >> 16), mr_e8m0_float(x >> 24)); }

struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    MR_PLAIN_CONSTRUCTOR(__nv_fp8_e8m0)
    MR_FP8_FROM(MR_SMALL_MEMBER explicit __nv_fp8_e8m0(__half x) : __x((__nv_fp8_storage_t)MR_TINY_OF_SMALL(mr_e8m0_up, x)) {}
                MR_SMALL_MEMBER explicit __nv_fp8_e8m0(__nv_bfloat16 x) : __x((__nv_fp8_storage_t)MR_TINY_OF_SMALL(mr_e8m0_up, x)) {}
                MR_SMALL_MEMBER explicit __nv_fp8_e8m0(float x) : __x((__nv_fp8_storage_t)MR_TINY_OF_FLOAT(mr_e8m0_up, x)) {}
                MR_SMALL_MEMBER explicit __nv_fp8_e8m0(double x) : __x((__nv_fp8_storage_t)MR_TINY_OF_DOUBLE(mr_e8m0_up, x)) {}
                MR_TINY_FROM_WHOLES(__nv_fp8_e8m0, (__nv_fp8_storage_t)mr_e8m0_of_whole(x)))
    MR_FP8_TO(MR_SMALL_MEMBER explicit operator __nv_bfloat16() const { return mr_bfloat16_raw(mr_e8m0_upper_half(__x)); }
              MR_SMALL_MEMBER explicit operator float() const { return mr_e8m0_float(__x); }
              MR_SMALL_MEMBER explicit operator double() const { return (double)(float)*this; }
              MR_SMALL_MEMBER explicit operator __half() const { return mr_half_raw(mr_half_bits((float)*this)); }
              MR_SMALL_MEMBER explicit operator bool() const { return true; }   /* no scale is 0 */
              MR_TINY_CASTS)
};
struct __attribute__((aligned(2))) __nv_fp8x2_e8m0 {
    __nv_fp8x2_storage_t __x;
    MR_PLAIN_CONSTRUCTOR(__nv_fp8x2_e8m0)
    MR_FP8_FROM(MR_SMALL_MEMBER explicit __nv_fp8x2_e8m0(__half2 x)
                    : __x((__nv_fp8x2_storage_t)MR_TINY_TWO(MR_TINY_OF_SMALL(mr_e8m0_up, x.x), MR_TINY_OF_SMALL(mr_e8m0_up, x.y), 8)) {}
                MR_SMALL_MEMBER explicit __nv_fp8x2_e8m0(__nv_bfloat162 x)
                    : __x((__nv_fp8x2_storage_t)MR_TINY_TWO(MR_TINY_OF_SMALL(mr_e8m0_up, x.x), MR_TINY_OF_SMALL(mr_e8m0_up, x.y), 8)) {}
                MR_SMALL_MEMBER explicit __nv_fp8x2_e8m0(float2 x)
                    : __x((__nv_fp8x2_storage_t)MR_TINY_TWO(MR_TINY_OF_FLOAT(mr_e8m0_up, x.x), MR_TINY_OF_FLOAT(mr_e8m0_up, x.y), 8)) {}
                MR_SMALL_MEMBER explicit __nv_fp8x2_e8m0(double2 x)
                    : __x((__nv_fp8x2_storage_t)MR_TINY_TWO(MR_TINY_OF_DOUBLE(mr_e8m0_up, x.x), MR_TINY_OF_DOUBLE(mr_e8m0_up, x.y), 8)) {})
    MR_FP8_TO(MR_SMALL_MEMBER explicit operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
              MR_SMALL_MEMBER explicit operator float2() const { return make_float2(mr_e8m0_float(__x), mr_e8m0_float((unsigned int)__x >> 8)); }
              MR_SMALL_MEMBER explicit operator __half2() const { return __float22half2_rn((float2)*this); })
};
MR_TINY_FOUR_OF(__nv_fp8x4_e8m0, __nv_fp8x4_storage_t, mr_e8m0_up, mr_e8m0_floats, 8, MR_FP8_FROM, MR_FP8_TO);
#endif

#endif
