/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic of all widths, as compilers emit it. */
#include "corpus.h"

/* Every type alike.  Division by zero and of the least number by -1 are kept out: C leaves them open. */
#define EVERY(T, BITS)                                               \
    BINARY(T##_add, T, T, a + b)                                     \
    BINARY(T##_sub, T, T, a - b)                                     \
    BINARY(T##_mul, T, T, a *b)                                      \
    TERNARY(T##_mad, T, T, a *b + c)                                 \
    BINARY(T##_div, T, T, (b == 0 || b == (T)-1) ? a : a / b)        \
    BINARY(T##_rem, T, T, (b == 0 || b == (T)-1) ? a : a % b)        \
    UNARY(T##_div_7, T, T, a / 7)                                    \
    UNARY(T##_div_16, T, T, a / 16)                                  \
    UNARY(T##_rem_10, T, T, a % 10)                                  \
    BINARY(T##_min, T, T, a < b ? a : b)                             \
    BINARY(T##_max, T, T, a < b ? b : a)                             \
    BINARY(T##_shl, T, T, a << (b & (BITS - 1)))                     \
    BINARY(T##_shr, T, T, a >> (b & (BITS - 1)))                     \
    TERNARY(T##_logic, T, T, (a & b) | (~a & c) ^ (b & ~c))          \
    TERNARY(T##_clamp, T, T, a < b ? b : a > c ? c : a)              \
    BINARY(T##_distance, T, T, a < b ? b - a : a - b)                \
    BINARY(T##_average, T, T, (a & b) + ((a ^ b) >> 1))              \
    UNARY(T##_not_neg, T, T, ~a ^ -a)                                \
    BINARY(T##_select, T, T, (a & 1) ? b : a)                        \
    BINARY(T##_compare, u32, T, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5 | (a && b) << 6 | (!a) << 7)

EVERY(u8, 8)
EVERY(s16, 16)
EVERY(u16, 16)
EVERY(u32, 32)
EVERY(u64, 64)
/* Signed overflow is open in C: sums by way of the unsigned type, all else as above. */
#define SIGNED(S, U, BITS)                                           \
    BINARY(S##_add, S, S, (U)a + (U)b)                               \
    BINARY(S##_mul, S, S, (U)a *(U)b)                                \
    BINARY(S##_div, S, S, (b == 0 || b == -1) ? a : a / b)           \
    BINARY(S##_rem, S, S, (b == 0 || b == -1) ? a : a % b)           \
    UNARY(S##_div_7, S, S, a / 7)                                    \
    UNARY(S##_div_16, S, S, a / 16)                                  \
    UNARY(S##_rem_10, S, S, a % 10)                                  \
    BINARY(S##_min, S, S, a < b ? a : b)                             \
    BINARY(S##_max, S, S, a < b ? b : a)                             \
    BINARY(S##_shr, S, S, a >> (b & (BITS - 1)))                     \
    UNARY(S##_abs, U, S, a < 0 ? 0 - (U)a : (U)a)                    \
    UNARY(S##_sign, S, S, (a > 0) - (a < 0))                         \
    BINARY(S##_compare, u32, S, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5)
SIGNED(s8, u8, 8)
SIGNED(s32, u32, 32)
SIGNED(s64, u64, 64)

BINARY(u32_mulhi_wide, u32, u32, ((u64)a * b) >> 32)
BINARY(s32_mulhi_wide, s32, s32, ((s64)a * b) >> 32)
BINARY(u32_mul_wide, u64, u32, (u64)a *b)
BINARY(s32_mul_wide, s64, s32, (s64)a *b)
TERNARY(u32_mad_wide, u64, u32, (u64)a *b + c)
TERNARY(s32_mad_wide, u64, s32, (u64)((s64)a * b) + (u64)(s64)c)
BINARY(u16_mul_wide, u32, u16, (u32)a *b)
BINARY(s16_mul_wide, s32, s16, (s32)a *b)
BINARY(u32_mulhi, u32, u32, __umulhi(a, b))
BINARY(s32_mulhi, s32, s32, __mulhi(a, b))
BINARY(u64_mulhi, u64, u64, __umul64hi(a, b))
BINARY(s64_mulhi, s64, s64, __mul64hi(a, b))
PTX2(u32_mul24_lo, u32, u32, u32, "mul24.lo.u32 %0, %1, %2;")
PTX2(s32_mul24_hi, s32, s32, s32, "mul24.hi.s32 %0, %1, %2;")
PTX3(s32_mad24_lo, s32, s32, s32, s32, "mad24.lo.s32 %0, %1, %2, %3;")
PTX3(s32_mad24_hi_sat, s32, s32, s32, s32, "mad24.hi.sat.s32 %0, %1, %2, %3;")
PTX2(s32_add_sat, s32, s32, s32, "add.sat.s32 %0, %1, %2;")
PTX2(s32_sub_sat, s32, s32, s32, "sub.sat.s32 %0, %1, %2;")
PTX3(s32_mad_hi_sat, s32, s32, s32, s32, "mad.hi.sat.s32 %0, %1, %2, %3;")
PTX3(u64_mad_hi, u64, u64, u64, u64, "mad.hi.u64 %0, %1, %2, %3;")
PTX3(s64_mad_hi, s64, s64, s64, s64, "mad.hi.s64 %0, %1, %2, %3;")
PTX3(u32_sad, u32, u32, u32, u32, "sad.u32 %0, %1, %2, %3;")
PTX3(s32_sad, s32, s32, s32, s32, "sad.s32 %0, %1, %2, %3;")
PTX3(s16_sad, s16, s16, s16, s16, "sad.s16 %0, %1, %2, %3;")
PTX3(u64_sad, u64, u64, u64, u64, "sad.u64 %0, %1, %2, %3;")
PTX3(u16_mad_wide, u32, u16, u16, u32, "mad.wide.u16 %0, %1, %2, %3;")
PTX3(s16_mad_lo, s16, s16, s16, s16, "mad.lo.s16 %0, %1, %2, %3;")
PTX2(s16_mul_hi, s16, s16, s16, "mul.hi.s16 %0, %1, %2;")
PTX2(u16_mul_hi, u16, u16, u16, "mul.hi.u16 %0, %1, %2;")
PTX1(s64_abs_ptx, s64, s64, "abs.s64 %0, %1;")
PTX1(s16_neg_ptx, s16, s16, "neg.s16 %0, %1;")
#if __CUDA_ARCH__ >= 900
PTX2(u16x2_add, u32, u32, u32, "add.u16x2 %0, %1, %2;")
PTX2(s16x2_min, u32, u32, u32, "min.s16x2 %0, %1, %2;")
PTX2(u16x2_max, u32, u32, u32, "max.u16x2 %0, %1, %2;")
PTX2(s16x2_max_relu, u32, u32, u32, "max.relu.s16x2 %0, %1, %2;")
PTX2(s32_min_relu, s32, s32, s32, "min.relu.s32 %0, %1, %2;")
#endif
