/* SPDX-License-Identifier: Apache-2.0 */
/* Names from early versions of CUDA that its headers still declare: roundings as arguments, votes without a mask,
 * counters of a profiler. Part of millrace_device.h. */
#ifndef MILLRACE_OLD_H
#define MILLRACE_OLD_H

/* The type is also in <device_types.h>, which then leaves it out. */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif

/* An argument of no known rounding counts as the one that the name has by itself. */
#define MR_BY_MODE(result, name, mode, other, intrinsic, parameters, arguments)                                        \
    MR_DEVICE result name parameters                                                                                   \
    {                                                                                                                  \
        switch (mode) {                                                                                                \
        case cudaRoundNearest: return intrinsic##_rn arguments;                                                        \
        case cudaRoundZero: return intrinsic##_rz arguments;                                                           \
        case cudaRoundPosInf: return intrinsic##_ru arguments;                                                         \
        case cudaRoundMinInf: return intrinsic##_rd arguments;                                                         \
        default: return intrinsic##_##other arguments;                                                                 \
        }                                                                                                              \
    }
#define MR_SUM(name, intrinsic) MR_BY_MODE(double, name, mode, rn, intrinsic, (double x, double y, cudaRoundMode mode = cudaRoundNearest), (x, y))
MR_SUM(dadd, __dadd) MR_SUM(dsub, __dsub) MR_SUM(dmul, __dmul)
#undef MR_SUM
MR_BY_MODE(double, fma, mode, rn, __fma, (double x, double y, double z, cudaRoundMode mode), (x, y, z))
#define MR_TO_INTEGER(type, name) MR_BY_MODE(type, name, mode, rz, __##name, (double x, cudaRoundMode mode = cudaRoundZero), (x))
MR_TO_INTEGER(int, double2int) MR_TO_INTEGER(unsigned int, double2uint) MR_TO_INTEGER(long long, double2ll) MR_TO_INTEGER(unsigned long long, double2ull)
#undef MR_TO_INTEGER
MR_BY_MODE(double, ll2double, mode, rn, __ll2double, (long long x, cudaRoundMode mode = cudaRoundNearest), (x))
MR_BY_MODE(double, ull2double, mode, rn, __ull2double, (unsigned long long x, cudaRoundMode mode = cudaRoundNearest), (x))
#undef MR_BY_MODE
/* Exact, however rounded. */
MR_DEVICE double int2double(int x, cudaRoundMode = cudaRoundNearest) { return (double)x; }
MR_DEVICE double uint2double(unsigned int x, cudaRoundMode = cudaRoundNearest) { return (double)x; }
MR_DEVICE double float2double(float x, cudaRoundMode = cudaRoundNearest) { return (double)x; }
MR_DEVICE double fdivide(double x, double y) { return x / y; }

#define MR_COUNTER(n) MR_DEVICE unsigned int __pm##n() { unsigned int count; __asm__ volatile("mov.u32 %0, %%pm" #n ";" : "=r"(count)); return count; }
MR_COUNTER(0) MR_COUNTER(1) MR_COUNTER(2) MR_COUNTER(3)
#undef MR_COUNTER

#endif
