/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 4 bits, e2m1: 0, 0.5, 1, 1.5, 2, 3, 4 and 6 with a sign, without infinities and NaNs; pairs of them in a byte, fours, and their conversions, on the
 * host and in kernels. C has the types of bits and the functions. */
#ifndef MILLRACE_CUDA_FP4_H
#define MILLRACE_CUDA_FP4_H
#define __CUDA_FP4_H__
#include "cuda_fp6.h"
#ifndef __CUDA__
#pragma GCC system_header
#endif

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;   /* the first number is in the lower bits, here and in fours */
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

/* As cuda_fp6.h rounds and saturates. */
MR_BOTH unsigned int mr_fp4_of(unsigned long long bits, enum cudaRoundMode rounding)
{
    unsigned int size;
    if (rounding != cudaRoundNearest && rounding != cudaRoundZero)
        __builtin_trap();   /* NVIDIA's header asserts */
    if ((bits & ~(1ull << 63)) > 0x7ffull << 52)
        return 7;
    size = mr_small_size(bits, 1, 1, 8, rounding);
    return (unsigned int)(bits >> 63) << 3 | (size - (size == 8));
}
MR_BOTH unsigned short mr_fp4_half(unsigned int x) { return (unsigned short)((x & 8) << 12 | mr_half_of_tiny(x & 7, 1, 1)); }

MR_BOTH __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)
{
    (void)kind;
    return (__nv_fp4_storage_t)mr_fp4_of(mr_bits_of_double(x), rounding);
}
MR_BOTH __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)
{
    (void)kind;
    return (__nv_fp4_storage_t)mr_fp4_of(mr_double_bits_of_float(x), rounding);
}
MR_BOTH __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)
{
    return __nv_cvt_float_to_fp4(mr_half_widened(x.x), kind, rounding);
}
MR_BOTH __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)
{
    return __nv_cvt_float_to_fp4(mr_upper_half_widened(x.x), kind, rounding);
}
#define MR_FP4_TWO(name, type, wide, one)                                                                                              \
    MR_BOTH __nv_fp4x2_storage_t __nv_cvt_##name##_to_fp4x2(type x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)       \
    {                                                                                                                                  \
        unsigned int low = one(wide(x.x), kind, rounding), high = one(wide(x.y), kind, rounding);                                      \
        return (__nv_fp4x2_storage_t)(low | high << 4);                                                                                \
    }
MR_FP4_TWO(double2, double2, , __nv_cvt_double_to_fp4) MR_FP4_TWO(float2, float2, , __nv_cvt_float_to_fp4)
MR_FP4_TWO(halfraw2, __half2_raw, mr_half_widened, __nv_cvt_float_to_fp4)
MR_FP4_TWO(bfloat16raw2, __nv_bfloat162_raw, mr_upper_half_widened, __nv_cvt_float_to_fp4)
#undef MR_FP4_TWO
/* Exact; of one number the four upper bits do not count. */
MR_BOTH __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t kind)
{
    __half_raw raw;
    (void)kind;
    raw.x = mr_fp4_half(x);
    return raw;
}
MR_BOTH __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t kind)
{
    __half2_raw raw;
    (void)kind;
    raw.x = mr_fp4_half(x);
    raw.y = mr_fp4_half((unsigned int)x >> 4);
    return raw;
}

#ifdef __cplusplus
#define __CUDA_FP4_TYPES_EXIST__
#ifndef __CUDA_NO_FP4_CONVERSIONS__
#define MR_FP4_FROM(...) __VA_ARGS__
#else
#define MR_FP4_FROM(...)
#endif
#if !defined(__CUDA_NO_FP4_CONVERSIONS__) && !defined(__CUDA_NO_FP4_CONVERSION_OPERATORS__) && __cplusplus >= 201103L
#define MR_FP4_TO(...) __VA_ARGS__
#else
#define MR_FP4_TO(...)
#endif
MR_BOTH unsigned int mr_e2m1_of(unsigned long long bits) { return mr_fp4_of(bits, cudaRoundNearest); }
MR_BOTH __half2_raw mr_e2m1_halves(unsigned int x) { return __nv_cvt_fp4x2_to_halfraw2((__nv_fp4x2_storage_t)x, __NV_E2M1); }
MR_BOTH float4 mr_e2m1_floats(unsigned int x)
{
    return make_float4(mr_half_widened(mr_fp4_half(x)), mr_half_widened(mr_fp4_half(x >> 4)), mr_half_widened(mr_fp4_half(x >> 8)),
                       mr_half_widened(mr_fp4_half(x >> 12)));
}
MR_TINY_ONE(__nv_fp4_e2m1, __nv_fp4_storage_t, mr_e2m1_of, mr_fp4_half, 7, MR_FP4_FROM, MR_FP4_TO);
MR_TINY_PAIR(__nv_fp4x2_e2m1, __nv_fp4x2_storage_t, mr_e2m1_of, mr_e2m1_halves, 4, MR_FP4_FROM, MR_FP4_TO);
MR_TINY_FOUR_OF(__nv_fp4x4_e2m1, __nv_fp4x4_storage_t, mr_e2m1_of, mr_e2m1_floats, 4, MR_FP4_FROM, MR_FP4_TO);
#undef MR_FP4_FROM
#undef MR_FP4_TO
#endif

#endif
