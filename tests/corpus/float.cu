/* SPDX-License-Identifier: Apache-2.0 */
/* Single and double precision: all roundings, flushing, saturation, and what compilers make of plain expressions. */
#include "corpus.h"

#define ROUNDINGS(T, R)                                              \
    PTX2(T##_add_##R, T, T, T, "add." #R "." #T " %0, %1, %2;")      \
    PTX2(T##_sub_##R, T, T, T, "sub." #R "." #T " %0, %1, %2;")      \
    PTX2(T##_mul_##R, T, T, T, "mul." #R "." #T " %0, %1, %2;")      \
    PTX3(T##_fma_##R, T, T, T, T, "fma." #R "." #T " %0, %1, %2, %3;") \
    PTX2(T##_div_##R, T, T, T, "div." #R "." #T " %0, %1, %2;")      \
    PTX1(T##_rcp_##R, T, T, "rcp." #R "." #T " %0, %1;")             \
    PTX1(T##_sqrt_##R, T, T, "sqrt." #R "." #T " %0, %1;")
ROUNDINGS(f32, rn)
ROUNDINGS(f32, rz)
ROUNDINGS(f32, rm)
ROUNDINGS(f32, rp)
ROUNDINGS(f64, rn)
ROUNDINGS(f64, rz)
ROUNDINGS(f64, rm)
ROUNDINGS(f64, rp)

#define FLUSHED(R)                                                               \
    PTX2(f32_add_##R##_ftz, f32, f32, f32, "add." #R ".ftz.f32 %0, %1, %2;")     \
    PTX2(f32_mul_##R##_ftz, f32, f32, f32, "mul." #R ".ftz.f32 %0, %1, %2;")     \
    PTX3(f32_fma_##R##_ftz, f32, f32, f32, f32, "fma." #R ".ftz.f32 %0, %1, %2, %3;") \
    PTX2(f32_div_##R##_ftz, f32, f32, f32, "div." #R ".ftz.f32 %0, %1, %2;")     \
    PTX1(f32_rcp_##R##_ftz, f32, f32, "rcp." #R ".ftz.f32 %0, %1;")              \
    PTX1(f32_sqrt_##R##_ftz, f32, f32, "sqrt." #R ".ftz.f32 %0, %1;")
FLUSHED(rn)
FLUSHED(rz)
FLUSHED(rm)
FLUSHED(rp)

PTX2(f32_add_sat, f32, f32, f32, "add.sat.f32 %0, %1, %2;")
PTX2(f32_sub_ftz_sat, f32, f32, f32, "sub.rn.ftz.sat.f32 %0, %1, %2;")
PTX2(f32_mul_rz_sat, f32, f32, f32, "mul.rz.sat.f32 %0, %1, %2;")
PTX3(f32_fma_rm_sat, f32, f32, f32, f32, "fma.rm.sat.f32 %0, %1, %2, %3;")
PTX3(f32_mad_rn, f32, f32, f32, f32, "mad.rn.f32 %0, %1, %2, %3;")
PTX1(f32_abs_ftz, f32, f32, "abs.ftz.f32 %0, %1;")
PTX1(f32_neg_ftz, f32, f32, "neg.ftz.f32 %0, %1;")
PTX2(f32_min, f32, f32, f32, "min.f32 %0, %1, %2;")
PTX2(f32_max, f32, f32, f32, "max.f32 %0, %1, %2;")
PTX2(f32_min_ftz, f32, f32, f32, "min.ftz.f32 %0, %1, %2;")
PTX2(f32_max_ftz, f32, f32, f32, "max.ftz.f32 %0, %1, %2;")
PTX2(f64_min, f64, f64, f64, "min.f64 %0, %1, %2;")
PTX2(f64_max, f64, f64, f64, "max.f64 %0, %1, %2;")
PTX2(f32_copysign, f32, f32, f32, "copysign.f32 %0, %1, %2;")
PTX2(f64_copysign, f64, f64, f64, "copysign.f64 %0, %1, %2;")
#if __CUDA_ARCH__ >= 800
PTX2(f32_min_nan, f32, f32, f32, "min.NaN.f32 %0, %1, %2;")
PTX2(f32_max_ftz_nan, f32, f32, f32, "max.ftz.NaN.f32 %0, %1, %2;")
#endif
#if __CUDA_ARCH__ >= 860
PTX2(f32_min_xorsign, f32, f32, f32, "min.xorsign.abs.f32 %0, %1, %2;")
PTX2(f32_max_nan_xorsign, f32, f32, f32, "max.NaN.xorsign.abs.f32 %0, %1, %2;")
#endif

#define TESTP(T, WHAT) PTX1(T##_testp_##WHAT, u32, T, "{ .reg .pred p;\n\ttestp." #WHAT "." #T " p, %1;\n\tselp.u32 %0, 1, 0, p; }")
TESTP(f32, finite)
TESTP(f32, infinite)
TESTP(f32, number)
TESTP(f32, notanumber)
TESTP(f32, normal)
TESTP(f32, subnormal)
TESTP(f64, finite)
TESTP(f64, normal)
TESTP(f64, subnormal)
TESTP(f64, notanumber)

/* What C++ writes. */
BINARY(f32_plus, f32, f32, a + b)
BINARY(f32_minus, f32, f32, a - b)
BINARY(f32_times, f32, f32, a *b)
BINARY(f32_over, f32, f32, a / b)
TERNARY(f32_contracted, f32, f32, a *b + c)
TERNARY(f32_contracted_minus, f32, f32, a *b - c)
TERNARY(f32_contracted_both, f32, f32, a *b + b * c)
BINARY(f64_plus, f64, f64, a + b)
BINARY(f64_minus, f64, f64, a - b)
BINARY(f64_times, f64, f64, a *b)
BINARY(f64_over, f64, f64, a / b)
TERNARY(f64_contracted, f64, f64, a *b + c)
UNARY(f32_negated, f32, f32, -a)
UNARY(f64_negated, f64, f64, -a)
UNARY(f32_constants, f32, f32, a * 0.1f + 3.25f)
UNARY(f32_over_constant, f32, f32, a / 3.0f)
UNARY(f32_over_power, f32, f32, a / 8.0f)
UNARY(f64_constants, f64, f64, a * 0.1 + 3.25)
UNARY(f32_horner, f32, f32, ((((0.125f * a + 0.5f) * a - 1.75f) * a + 2.0f) * a - 0.3f) * a + 1.0f)
UNARY(f64_horner, f64, f64, ((((0.125 * a + 0.5) * a - 1.75) * a + 2.0) * a - 0.3) * a + 1.0)
BINARY(f32_select, f32, f32, a < b ? a : b)
BINARY(f64_select, f64, f64, a >= b ? a : b)
BINARY(f32_mixed, f64, f32, (double)a * b + 1.0)
UNARY(f32_is_nan, u32, f32, a != a)
BINARY(f32_intrinsic_rd, f32, f32, __fadd_rd(a, b))
TERNARY(f32_intrinsic_fma_ru, f32, f32, __fmaf_ru(a, b, c))
BINARY(f64_intrinsic_rz, f64, f64, __dmul_rz(a, b))
TERNARY(f64_intrinsic_fma_rd, f64, f64, __fma_rd(a, b, c))
UNARY(f32_bits, u32, f32, __float_as_uint(a) ^ 0x80000000u)
UNARY(f64_words, u64, f64, (u64)(u32)__double2hiint(a) * 3 + (u32)__double2loint(a))
UNARY(u32_as_float, f32, u32, __uint_as_float(a))
BINARY(f64_from_words, f64, s32, __hiloint2double(a, b))

struct complex { f32 x, y; };
KERNEL(f32_complex_product)
{
    complex a = {LOAD(f32, 0), LOAD(f32, 1)}, b = {LOAD(f32, 1), LOAD(f32, 2)};
    complex r = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    STORE(r);
}
/* Sums that keep what rounding loses: wrong at once if anything is reassociated. */
KERNEL(f32_kahan)
{
    f32 sum = 0, lost = 0;
    for (int k = 0; k < 64; k++) {
        f32 term = __uint_as_float((in->i32[1][(i + k * 29) % CORPUS_THREADS] & 0x7fffff) | 0x3f800000) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    STORE(sum - lost);
}
KERNEL(f64_two_sum)
{
    f64 a = LOAD(f64, 0), b = LOAD(f64, 1), sum = a + b, part = sum - a;
    STORE((a - (sum - part)) + (b - part));
}
KERNEL(f32_newton_root)
{
    f32 a = __uint_as_float((LOAD(u32, 0) & 0x7fffff) | 0x40000000), x = a;
    for (int k = 0; k < 6; k++)
        x = 0.5f * (x + a / x);
    STORE(x);
}
KERNEL(f64_series)
{
    f64 x = (double)(LOAD(s32, 0) % 1000) / 250.0, term = 1, sum = 1;
    for (int k = 1; k < 20; k++) {
        term *= x / k;
        sum += term;
    }
    STORE(sum);
}
KERNEL(f32_inverse_3x3)
{
    f32 m[9], r = 0;
    for (int k = 0; k < 9; k++)
        m[k] = (f32)(s32)(in->i32[k % 3][(i * 7 + k * 13) % CORPUS_THREADS] & 255) - 100.0f;
    f32 det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    r = (m[4] * m[8] - m[5] * m[7]) / det + (m[0] * m[4] - m[1] * m[3]) / det;
    STORE(r);
}
