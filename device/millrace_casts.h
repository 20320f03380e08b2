/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions and arithmetic with the rounding in the name, and the halves of doubles; included by millrace_device.h. Those that are missing here are
 * in millrace_device.h itself. */
#ifndef MILLRACE_CASTS_H
#define MILLRACE_CASTS_H

/* A conversion as one instruction of inline PTX. LLVM takes the intrinsic functions of conversions for casts, whatever their rounding, and those of C to
 * integers are open where PTX saturates. */
#define MR_CONVERT(to, name, from, instruction, result, operand)                                       \
    MR_DEVICE to name(from x)                                                                          \
    {                                                                                                  \
        to r;                                                                                          \
        __asm__(instruction " %0, %1;" : "=" result(r) : operand(x));                                  \
        return r;                                                                                      \
    }
/* CUDA's rn rz rd ru are PTX's rn rz rm rp. */
#define MR_ROUNDINGS(all) all(rn, rn) all(rz, rz) all(rd, rm) all(ru, rp)
#define MR_DOUBLES(mode, ptx)                                                                          \
    MR_DEVICE double __dadd_##mode(double x, double y) { return __nvvm_add_##ptx##_d(x, y); }          \
    MR_DEVICE double __dsub_##mode(double x, double y) { return __nvvm_add_##ptx##_d(x, -y); }         \
    MR_DEVICE double __dmul_##mode(double x, double y) { return __nvvm_mul_##ptx##_d(x, y); }          \
    MR_DEVICE double __ddiv_##mode(double x, double y) { return __nvvm_div_##ptx##_d(x, y); }          \
    MR_DEVICE double __fma_##mode(double x, double y, double z) { return __nvvm_fma_##ptx##_d(x, y, z); } \
    MR_DEVICE double __dsqrt_##mode(double x) { return __nvvm_sqrt_##ptx##_d(x); }                     \
    MR_DEVICE double __drcp_##mode(double x) { return __nvvm_rcp_##ptx##_d(x); }                       \
    MR_CONVERT(int, __double2int_##mode, double, "cvt." #ptx "i.s32.f64", "r", "d")                    \
    MR_CONVERT(unsigned int, __double2uint_##mode, double, "cvt." #ptx "i.u32.f64", "r", "d")          \
    MR_CONVERT(long long, __double2ll_##mode, double, "cvt." #ptx "i.s64.f64", "l", "d")               \
    MR_CONVERT(unsigned long long, __double2ull_##mode, double, "cvt." #ptx "i.u64.f64", "l", "d")     \
    MR_CONVERT(float, __double2float_##mode, double, "cvt." #ptx ".f32.f64", "f", "d")                 \
    MR_CONVERT(double, __ll2double_##mode, long long, "cvt." #ptx ".f64.s64", "d", "l")                \
    MR_CONVERT(double, __ull2double_##mode, unsigned long long, "cvt." #ptx ".f64.u64", "d", "l")      \
    MR_CONVERT(int, __float2int_##mode, float, "cvt." #ptx "i.s32.f32", "r", "f")                      \
    MR_CONVERT(unsigned int, __float2uint_##mode, float, "cvt." #ptx "i.u32.f32", "r", "f")            \
    MR_CONVERT(long long, __float2ll_##mode, float, "cvt." #ptx "i.s64.f32", "l", "f")                 \
    MR_CONVERT(unsigned long long, __float2ull_##mode, float, "cvt." #ptx "i.u64.f32", "l", "f")       \
    MR_CONVERT(float, __uint2float_##mode, unsigned int, "cvt." #ptx ".f32.u32", "f", "r")             \
    MR_CONVERT(float, __ll2float_##mode, long long, "cvt." #ptx ".f32.s64", "f", "l")                  \
    MR_CONVERT(float, __ull2float_##mode, unsigned long long, "cvt." #ptx ".f32.u64", "f", "l")        \
    MR_DEVICE float __fsub_##mode(float x, float y) { return __nvvm_add_##ptx##_f(x, -y); }
MR_ROUNDINGS(MR_DOUBLES)
#undef MR_DOUBLES
/* Those of float that millrace_device.h has for rn only. */
#define MR_FLOATS(mode, ptx)                                                                           \
    MR_DEVICE float __fadd_##mode(float x, float y) { return __nvvm_add_##ptx##_f(x, y); }             \
    MR_DEVICE float __fmul_##mode(float x, float y) { return __nvvm_mul_##ptx##_f(x, y); }             \
    MR_DEVICE float __fdiv_##mode(float x, float y) { return __nvvm_div_##ptx##_f(x, y); }             \
    MR_DEVICE float __fmaf_##mode(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); } \
    MR_DEVICE float __fsqrt_##mode(float x) { return __nvvm_sqrt_##ptx##_f(x); }                       \
    MR_DEVICE float __frcp_##mode(float x) { return __nvvm_rcp_##ptx##_f(x); }                         \
    MR_CONVERT(float, __int2float_##mode, int, "cvt." #ptx ".f32.s32", "f", "r")
MR_FLOATS(rz, rz) MR_FLOATS(rd, rm) MR_FLOATS(ru, rp)
#undef MR_FLOATS
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
/* Two floats at once. */
#define MR_PAIRS(mode, ptx)                                                                                           \
    MR_DEVICE float2 __fadd2_##mode(float2 x, float2 y) { return float2{__fadd_##mode(x.x, y.x), __fadd_##mode(x.y, y.y)}; } \
    MR_DEVICE float2 __fmul2_##mode(float2 x, float2 y) { return float2{__fmul_##mode(x.x, y.x), __fmul_##mode(x.y, y.y)}; } \
    MR_DEVICE float2 __ffma2_##mode(float2 x, float2 y, float2 z) { return float2{__fmaf_##mode(x.x, y.x, z.x), __fmaf_##mode(x.y, y.y, z.y)}; }
MR_ROUNDINGS(MR_PAIRS)
#undef MR_PAIRS
#endif
#undef MR_ROUNDINGS
#undef MR_CONVERT
MR_DEVICE double __int2double_rn(int x) { return (double)x; }
MR_DEVICE double __uint2double_rn(unsigned int x) { return (double)x; }
MR_DEVICE double __hiloint2double(int high, int low)
{
    return __builtin_bit_cast(double, (unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}
MR_DEVICE int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
MR_DEVICE int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
MR_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long long)(((unsigned __int128)x * y) >> 64); }
MR_DEVICE long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
MR_DEVICE int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
MR_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }
MR_DEVICE unsigned int __sad(int x, int y, unsigned int z) { return z + (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y); }
MR_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return z + (x < y ? y - x : x - y); }
MR_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
MR_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
MR_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y) >> 1); }
MR_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y + 1) >> 1); }

#endif
