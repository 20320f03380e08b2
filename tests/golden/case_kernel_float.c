/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point instructions with a rounding in their name, bit for bit, and
 * conversions; the approximate ones against a bound.
 */
#include "gold_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gold_kernel single[] = {
    {"kernel.add_rn_f32", IN_FLOAT, 'f', "add.rn.f32 %f10, %f1, %f2;"},
    {"kernel.add_rz_f32", IN_FLOAT, 'f', "add.rz.f32 %f10, %f1, %f2;"},
    {"kernel.add_rm_f32", IN_FLOAT, 'f', "add.rm.f32 %f10, %f1, %f2;"},
    {"kernel.add_rp_f32", IN_FLOAT, 'f', "add.rp.f32 %f10, %f1, %f2;"},
    {"kernel.add_ftz_f32", IN_FLOAT, 'f', "add.ftz.f32 %f10, %f1, %f2;"},
    {"kernel.add_sat_f32", IN_FLOAT, 'f', "add.sat.f32 %f10, %f1, %f2;"},
    {"kernel.sub_f32", IN_FLOAT, 'f', "sub.f32 %f10, %f1, %f2;"},
    {"kernel.mul_rn_f32", IN_FLOAT, 'f', "mul.rn.f32 %f10, %f1, %f2;"},
    {"kernel.mul_rz_f32", IN_FLOAT, 'f', "mul.rz.f32 %f10, %f1, %f2;"},
    {"kernel.mul_rm_f32", IN_FLOAT, 'f', "mul.rm.f32 %f10, %f1, %f2;"},
    {"kernel.mul_rp_f32", IN_FLOAT, 'f', "mul.rp.f32 %f10, %f1, %f2;"},
    {"kernel.mul_tiny_ftz_f32", IN_FLOAT, 'f',
     "mul.f32 %f4, %f1, 0f1F800000; mul.f32 %f5, %f2, 0f20000000; mul.ftz.f32 %f10, %f4, %f5;"},
    {"kernel.fma_tiny_ftz_f32", IN_FLOAT, 'f',
     "mul.f32 %f4, %f1, 0f1F800000; mul.f32 %f5, %f2, 0f20000000; fma.rn.ftz.f32 %f10, %f4, %f5, 0f00800000;"},
    {"kernel.nan_through_select_f32", IN_FLOAT, 'f',
     "add.f32 %f4, %f1, %f2; setp.gt.f32 %p1, %f1, %f2; selp.f32 %f5, %f4, 0f3F800000, %p1; mov.f32 %f6, %f5; neg.f32 %f10, %f6;"},
    {"kernel.nan_to_double_f32", IN_FLOAT, 'd', "add.f32 %f4, %f1, %f2; cvt.f64.f32 %d10, %f4;"},
    {"kernel.nan_and_load_f32", IN_FLOAT, 'f',
     "setp.gt.f32 %p1, %f1, %f2; mov.f32 %f10, %f3; @%p1 add.f32 %f10, %f1, %f2;"},
    {"kernel.mul_ftz_f32", IN_FLOAT, 'f', "mul.ftz.f32 %f10, %f1, %f2;"},
    {"kernel.mul_sat_f32", IN_FLOAT, 'f', "mul.sat.f32 %f10, %f1, %f2;"},
    {"kernel.fma_rn_f32", IN_FLOAT, 'f', "fma.rn.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.fma_rz_f32", IN_FLOAT, 'f', "fma.rz.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.fma_rm_f32", IN_FLOAT, 'f', "fma.rm.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.fma_rp_f32", IN_FLOAT, 'f', "fma.rp.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.fma_ftz_f32", IN_FLOAT, 'f', "fma.rn.ftz.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.fma_sat_f32", IN_FLOAT, 'f', "fma.rn.sat.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.mul_then_add_rn_is_not_fused", IN_FLOAT, 'f', "mul.rn.f32 %f4, %f1, %f2; add.rn.f32 %f10, %f4, %f3;"},
    {"kernel.div_rn_f32", IN_FLOAT, 'f', "div.rn.f32 %f10, %f1, %f2;"},
    {"kernel.div_rz_f32", IN_FLOAT, 'f', "div.rz.f32 %f10, %f1, %f2;"},
    {"kernel.div_rm_f32", IN_FLOAT, 'f', "div.rm.f32 %f10, %f1, %f2;"},
    {"kernel.div_rp_f32", IN_FLOAT, 'f', "div.rp.f32 %f10, %f1, %f2;"},
    {"kernel.div_ftz_f32", IN_FLOAT, 'f', "div.rn.ftz.f32 %f10, %f1, %f2;"},
    {"kernel.rcp_rn_f32", IN_FLOAT, 'f', "rcp.rn.f32 %f10, %f1;"},
    {"kernel.rcp_rz_f32", IN_FLOAT, 'f', "rcp.rz.f32 %f10, %f1;"},
    {"kernel.sqrt_rn_f32", IN_FLOAT, 'f', "sqrt.rn.f32 %f10, %f1;"},
    {"kernel.sqrt_rz_f32", IN_FLOAT, 'f', "sqrt.rz.f32 %f10, %f1;"},
    {"kernel.sqrt_rm_f32", IN_FLOAT, 'f', "sqrt.rm.f32 %f10, %f1;"},
    {"kernel.sqrt_rp_f32", IN_FLOAT, 'f', "sqrt.rp.f32 %f10, %f1;"},
    {"kernel.abs_neg_f32", IN_FLOAT, 'f', "abs.f32 %f4, %f1; neg.f32 %f10, %f4;"},
    {"kernel.abs_ftz_f32", IN_FLOAT, 'f', "abs.ftz.f32 %f10, %f1;"},
    {"kernel.min_f32", IN_FLOAT, 'f', "min.f32 %f10, %f1, %f2;"},
    {"kernel.max_f32", IN_FLOAT, 'f', "max.f32 %f10, %f1, %f2;"},
    {"kernel.min_ftz_f32", IN_FLOAT, 'f', "min.ftz.f32 %f10, %f1, %f2;"},
    {"kernel.copysign_f32", IN_FLOAT, 'f', "copysign.f32 %f10, %f1, %f2;"},
    {"kernel.testp_f32", IN_FLOAT, 'r',
     "testp.finite.f32 %p1, %f1; testp.infinite.f32 %p2, %f1; testp.number.f32 %p3, %f1; "
     "testp.normal.f32 %p4, %f1; testp.subnormal.f32 %p5, %f1; selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; "
     "selp.u32 %r6, 4, 0, %p3; selp.u32 %r7, 8, 0, %p4; selp.u32 %r8, 16, 0, %p5; add.u32 %r10, %r4, %r5; "
     "add.u32 %r10, %r10, %r6; add.u32 %r10, %r10, %r7; add.u32 %r10, %r10, %r8;"},
    {"kernel.setp_f32", IN_FLOAT, 'r',
     "setp.lt.f32 %p1, %f1, %f2; setp.le.f32 %p2, %f1, %f2; setp.eq.f32 %p3, %f1, %f2; setp.ne.f32 %p4, %f1, %f2; "
     "selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; selp.u32 %r6, 4, 0, %p3; selp.u32 %r7, 8, 0, %p4; "
     "add.u32 %r10, %r4, %r5; add.u32 %r10, %r10, %r6; add.u32 %r10, %r10, %r7;"},
    {"kernel.setp_ftz_f32", IN_FLOAT, 'r', "setp.gt.ftz.f32 %p1, %f1, %f2; selp.u32 %r10, 1, 0, %p1;"},
    {"kernel.set_f32_f32", IN_FLOAT, 'f', "set.ge.f32.f32 %f10, %f1, %f2;"},
    {"kernel.slct_f32", IN_FLOAT, 'f', "slct.f32.f32 %f10, %f1, %f2, %f3;"},
    {"kernel.selp_f32", IN_FLOAT, 'f', "setp.lt.f32 %p1, %f1, %f2; selp.f32 %f10, %f1, %f3, %p1;"},
    {"kernel.constants_f32", IN_INDEX, 'f',
     "mov.f32 %f4, 0f3F800001; add.rn.f32 %f10, %f4, 0f40490FDB; add.rn.f32 %f10, %f10, 1.25;"},
    /* NaN operands: the result of arithmetic is one fixed NaN. */
    {"kernel.add_nan_f32", IN_NAN, 'f', "add.rn.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.mul_nan_f32", IN_NAN, 'f', "mul.rn.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.fma_nan_f32", IN_NAN, 'f', "fma.rn.f32 %f10, %f1, %f2, %f3;", .exact_nan = true},
    {"kernel.div_nan_f32", IN_NAN, 'f', "div.rn.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.sqrt_nan_f32", IN_NAN, 'f', "sqrt.rn.f32 %f10, %f1;", .exact_nan = true},
    {"kernel.min_nan_f32", IN_NAN, 'f', "min.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.max_nan_f32", IN_NAN, 'f', "max.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.sat_nan_f32", IN_NAN, 'f', "add.sat.f32 %f10, %f1, %f2;", .exact_nan = true},
    {"kernel.setp_nan_f32", IN_NAN, 'r',
     "setp.lt.f32 %p1, %f1, %f2; setp.ltu.f32 %p2, %f1, %f2; setp.num.f32 %p3, %f1, %f2; setp.nan.f32 %p4, %f1, %f2; "
     "setp.ne.f32 %p5, %f1, %f2; setp.neu.f32 %p6, %f1, %f2; setp.equ.f32 %p7, %f1, %f2; selp.u32 %r4, 1, 0, %p1; "
     "selp.u32 %r5, 2, 0, %p2; selp.u32 %r6, 4, 0, %p3; selp.u32 %r7, 8, 0, %p4; selp.u32 %r8, 16, 0, %p5; "
     "selp.u32 %r9, 32, 0, %p6; selp.u32 %r11, 64, 0, %p7; add.u32 %r10, %r4, %r5; add.u32 %r10, %r10, %r6; "
     "add.u32 %r10, %r10, %r7; add.u32 %r10, %r10, %r8; add.u32 %r10, %r10, %r9; add.u32 %r10, %r10, %r11;"},
    {"kernel.cvt_s32_nan", IN_NAN, 'r', "cvt.rzi.s32.f32 %r10, %f1;"},
    {"kernel.cvt_u32_nan", IN_NAN, 'r', "cvt.rzi.u32.f32 %r10, %f1;"},
    {"kernel.cvt_s64_nan", IN_NAN, 'x', "cvt.rzi.s64.f32 %rd10, %f1;"},
    {"kernel.cvt_u8_nan", IN_NAN, 'r', "cvt.rzi.u8.f32 %h4, %f1; cvt.u32.u16 %r10, %h4;"},
};
KERNELS(single);

static const struct gold_kernel twofold[] = {
    {"kernel.add_rn_f64", IN_DOUBLE, 'd', "add.rn.f64 %d10, %d1, %d2;"},
    {"kernel.add_rz_f64", IN_DOUBLE, 'd', "add.rz.f64 %d10, %d1, %d2;"},
    {"kernel.add_rm_f64", IN_DOUBLE, 'd', "add.rm.f64 %d10, %d1, %d2;"},
    {"kernel.add_rp_f64", IN_DOUBLE, 'd', "add.rp.f64 %d10, %d1, %d2;"},
    {"kernel.sub_f64", IN_DOUBLE, 'd', "sub.f64 %d10, %d1, %d2;"},
    {"kernel.mul_rn_f64", IN_DOUBLE, 'd', "mul.rn.f64 %d10, %d1, %d2;"},
    {"kernel.mul_rp_f64", IN_DOUBLE, 'd', "mul.rp.f64 %d10, %d1, %d2;"},
    {"kernel.fma_rn_f64", IN_DOUBLE, 'd', "fma.rn.f64 %d10, %d1, %d2, %d3;"},
    {"kernel.fma_rz_f64", IN_DOUBLE, 'd', "fma.rz.f64 %d10, %d1, %d2, %d3;"},
    {"kernel.fma_rm_f64", IN_DOUBLE, 'd', "fma.rm.f64 %d10, %d1, %d2, %d3;"},
    {"kernel.div_rn_f64", IN_DOUBLE, 'd', "div.rn.f64 %d10, %d1, %d2;"},
    {"kernel.div_rz_f64", IN_DOUBLE, 'd', "div.rz.f64 %d10, %d1, %d2;"},
    {"kernel.rcp_rn_f64", IN_DOUBLE, 'd', "rcp.rn.f64 %d10, %d1;"},
    {"kernel.sqrt_rn_f64", IN_DOUBLE, 'd', "sqrt.rn.f64 %d10, %d1;"},
    {"kernel.sqrt_rm_f64", IN_DOUBLE, 'd', "sqrt.rm.f64 %d10, %d1;"},
    {"kernel.min_f64", IN_DOUBLE, 'd', "min.f64 %d10, %d1, %d2;"},
    {"kernel.max_f64", IN_DOUBLE, 'd', "max.f64 %d10, %d1, %d2;"},
    {"kernel.abs_neg_f64", IN_DOUBLE, 'd', "abs.f64 %d4, %d1; neg.f64 %d10, %d4;"},
    {"kernel.copysign_f64", IN_DOUBLE, 'd', "copysign.f64 %d10, %d1, %d2;"},
    {"kernel.setp_f64", IN_DOUBLE, 'd', "setp.leu.f64 %p1, %d1, %d2; selp.f64 %d10, %d1, %d3, %p1;"},
    {"kernel.testp_f64", IN_DOUBLE, 'r', "testp.subnormal.f64 %p1, %d1; selp.u32 %r10, 1, 0, %p1;"},
    {"kernel.mul_then_add_f64_is_not_fused", IN_DOUBLE, 'd', "mul.rn.f64 %d4, %d1, %d2; add.rn.f64 %d10, %d4, %d3;"},
};
KERNELS(twofold);

static const struct gold_kernel convert[] = {
    {"kernel.cvt_rzi_s32_f32", IN_FLOAT, 'r', "cvt.rzi.s32.f32 %r10, %f1;"},
    {"kernel.cvt_rni_s32_f32", IN_FLOAT, 'r', "cvt.rni.s32.f32 %r10, %f1;"},
    {"kernel.cvt_rmi_s32_f32", IN_FLOAT, 'r', "cvt.rmi.s32.f32 %r10, %f1;"},
    {"kernel.cvt_rpi_s32_f32", IN_FLOAT, 'r', "cvt.rpi.s32.f32 %r10, %f1;"},
    {"kernel.cvt_rzi_u32_f32", IN_FLOAT, 'r', "cvt.rzi.u32.f32 %r10, %f1;"},
    {"kernel.cvt_rni_u32_f32", IN_FLOAT, 'r', "cvt.rni.u32.f32 %r10, %f1;"},
    {"kernel.cvt_rzi_s64_f32", IN_FLOAT, 'x', "cvt.rzi.s64.f32 %rd10, %f1;"},
    {"kernel.cvt_rzi_u64_f32", IN_FLOAT, 'x', "cvt.rzi.u64.f32 %rd10, %f1;"},
    {"kernel.cvt_rzi_s16_f32", IN_FLOAT, 'h', "cvt.rzi.s16.f32 %h10, %f1;"},
    {"kernel.cvt_rzi_u16_f32", IN_FLOAT, 'h', "cvt.rzi.u16.f32 %h10, %f1;"},
    {"kernel.cvt_rzi_s8_f32", IN_FLOAT, 'r', "cvt.rzi.s8.f32 %r10, %f1;"},
    {"kernel.cvt_rzi_u8_f32", IN_FLOAT, 'r', "cvt.rzi.u8.f32 %r10, %f1;"},
    {"kernel.cvt_rzi_ftz_s32_f32", IN_FLOAT, 'r', "cvt.rpi.ftz.s32.f32 %r10, %f1;"},
    {"kernel.cvt_rni_f32_f32", IN_FLOAT, 'f', "cvt.rni.f32.f32 %f10, %f1;"},
    {"kernel.cvt_rmi_f32_f32", IN_FLOAT, 'f', "cvt.rmi.f32.f32 %f10, %f1;"},
    {"kernel.cvt_rpi_f32_f32", IN_FLOAT, 'f', "cvt.rpi.f32.f32 %f10, %f1;"},
    {"kernel.cvt_rzi_f32_f32", IN_FLOAT, 'f', "cvt.rzi.f32.f32 %f10, %f1;"},
    {"kernel.cvt_sat_f32_f32", IN_FLOAT, 'f', "cvt.sat.f32.f32 %f10, %f1;"},
    {"kernel.cvt_ftz_f32_f32", IN_FLOAT, 'f', "cvt.ftz.f32.f32 %f10, %f1;"},
    {"kernel.cvt_f64_f32", IN_FLOAT, 'd', "cvt.f64.f32 %d10, %f1;"},
    {"kernel.cvt_rn_f16_f32", IN_FLOAT, 'h', "cvt.rn.f16.f32 %h10, %f1;"},
    {"kernel.cvt_rz_f16_f32", IN_FLOAT, 'h', "cvt.rz.f16.f32 %h10, %f1;"},
    {"kernel.cvt_f32_f16", IN_INT, 'f', "cvt.f32.f16 %f10, %h1;"},
    {"kernel.cvt_rn_f32_s32", IN_INT, 'f', "cvt.rn.f32.s32 %f10, %r1;"},
    {"kernel.cvt_rz_f32_u32", IN_INT, 'f', "cvt.rz.f32.u32 %f10, %r1;"},
    {"kernel.cvt_rm_f32_s32", IN_INT, 'f', "cvt.rm.f32.s32 %f10, %r1;"},
    {"kernel.cvt_rp_f32_u32", IN_INT, 'f', "cvt.rp.f32.u32 %f10, %r1;"},
    {"kernel.cvt_rn_f32_s64", IN_INT, 'f', "cvt.rn.f32.s64 %f10, %rd11;"},
    {"kernel.cvt_rn_f32_u64", IN_INT, 'f', "cvt.rn.f32.u64 %f10, %rd11;"},
    {"kernel.cvt_rz_f32_u64", IN_INT, 'f', "cvt.rz.f32.u64 %f10, %rd11;"},
    {"kernel.cvt_rn_f32_s16", IN_INT, 'f', "cvt.rn.f32.s16 %f10, %h1;"},
    {"kernel.cvt_rn_f32_u8", IN_INT, 'f', "cvt.rn.f32.u8 %f10, %h1;"},
    {"kernel.cvt_rn_f64_s32", IN_INT, 'd', "cvt.rn.f64.s32 %d10, %r1;"},
    {"kernel.cvt_rn_f64_s64", IN_INT, 'd', "cvt.rn.f64.s64 %d10, %rd11;"},
    {"kernel.cvt_rn_f64_u64", IN_INT, 'd', "cvt.rn.f64.u64 %d10, %rd11;"},
    {"kernel.cvt_rm_f64_s64", IN_INT, 'd', "cvt.rm.f64.s64 %d10, %rd11;"},
    {"kernel.cvt_rzi_s32_f64", IN_DOUBLE, 'r', "cvt.rzi.s32.f64 %r10, %d1;"},
    {"kernel.cvt_rni_u32_f64", IN_DOUBLE, 'r', "cvt.rni.u32.f64 %r10, %d1;"},
    {"kernel.cvt_rzi_s64_f64", IN_DOUBLE, 'x', "cvt.rzi.s64.f64 %rd10, %d1;"},
    {"kernel.cvt_rmi_s64_f64", IN_DOUBLE, 'x', "cvt.rmi.s64.f64 %rd10, %d1;"},
    {"kernel.cvt_rzi_u64_f64", IN_DOUBLE, 'x', "cvt.rzi.u64.f64 %rd10, %d1;"},
    {"kernel.cvt_rn_f32_f64", IN_DOUBLE, 'f', "cvt.rn.f32.f64 %f10, %d1;"},
    {"kernel.cvt_rz_f32_f64", IN_DOUBLE, 'f', "cvt.rz.f32.f64 %f10, %d1;"},
    {"kernel.cvt_rm_f32_f64", IN_DOUBLE, 'f', "cvt.rm.f32.f64 %f10, %d1;"},
    {"kernel.cvt_rp_f32_f64", IN_DOUBLE, 'f', "cvt.rp.f32.f64 %f10, %d1;"},
    {"kernel.cvt_rn_ftz_f32_f64", IN_DOUBLE, 'f', "cvt.rn.ftz.f32.f64 %f10, %d1;"},
    {"kernel.cvt_rni_f64_f64", IN_DOUBLE, 'd', "cvt.rni.f64.f64 %d10, %d1;"},
    {"kernel.cvt_rzi_f64_f64", IN_DOUBLE, 'd', "cvt.rzi.f64.f64 %d10, %d1;"},
    {"kernel.cvt_s8_s32", IN_INT, 'r', "cvt.s8.s32 %r4, %r1; cvt.s32.s8 %r10, %r4;"},
    {"kernel.cvt_u8_u32", IN_INT, 'r', "cvt.u8.u32 %r10, %r1;"},
    {"kernel.cvt_sat_s8_s32", IN_INT, 'r', "cvt.sat.s8.s32 %r10, %r1;"},
    {"kernel.cvt_sat_u8_s32", IN_INT, 'r', "cvt.sat.u8.s32 %r10, %r1;"},
    {"kernel.cvt_sat_u16_s32", IN_INT, 'r', "cvt.sat.u16.s32 %h4, %r1; cvt.u32.u16 %r10, %h4;"},
    {"kernel.cvt_sat_s16_s64", IN_INT, 'h', "cvt.sat.s16.s64 %h10, %rd11;"},
    {"kernel.cvt_sat_s32_s64", IN_INT, 'r', "cvt.sat.s32.s64 %r10, %rd11;"},
    {"kernel.cvt_sat_u32_s64", IN_INT, 'r', "cvt.sat.u32.s64 %r10, %rd11;"},
    {"kernel.cvt_sat_s32_u32", IN_INT, 'r', "cvt.sat.s32.u32 %r10, %r1;"},
    {"kernel.cvt_s64_s32", IN_INT, 'x', "cvt.s64.s32 %rd10, %r1;"},
    {"kernel.cvt_u64_u32", IN_INT, 'x', "cvt.u64.u32 %rd10, %r1;"},
    {"kernel.cvt_s32_s16", IN_INT, 'r', "cvt.s32.s16 %r10, %h1;"},
    {"kernel.cvt_u32_s16", IN_INT, 'r', "cvt.u32.s16 %r10, %h1;"},
    {"kernel.cvt_u16_s64", IN_INT, 'h', "cvt.u16.s64 %h10, %rd11;"},
};
KERNELS(convert);

/* ---- approximate instructions ---- */

struct approximate {
    const char *op;             /* the instruction, for one operand */
    double (*exact)(double);
    float from, to;             /* the range of operands */
    double relative, absolute;  /* the documented bound, with room for rounding */
};

static double exact_rcp(double x)
{
    return 1 / x;
}
static double exact_rsqrt(double x)
{
    return 1 / sqrt(x);
}

/* Runs OP on the 32 floats at IN and reads their results. */
static void run_approximate(const char *op, float *values)
{
    char text[1024];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 data)\n{\n"
             "    .reg .b32 %%r<3>;\n    .reg .b64 %%rd<5>;\n    .reg .f32 %%f<3>;\n    ld.param.u64 %%rd0, [data];\n"
             "    cvta.to.global.u64 %%rd1, %%rd0;\n    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%rd2, %%r0, 4;\n"
             "    add.u64 %%rd3, %%rd1, %%rd2;\n    ld.global.f32 %%f0, [%%rd3];\n    %s %%f1, %%f0;\n"
             "    st.global.f32 [%%rd3], %%f1;\n    ret;\n}\n",
             op);
    CUmodule module = gold_load(text);
    CUfunction function;
    NEED(cuModuleGetFunction(&function, module, "k"));
    CUdeviceptr data = gold_alloc(32 * sizeof *values);
    NEED(cuMemcpyHtoD(data, values, 32 * sizeof *values));
    void *params[] = {&data};
    NEED(gold_launch(function, 32, NULL, params));
    NEED(cuMemcpyDtoH(values, data, 32 * sizeof *values));
    NEED(cuMemFree(data));
    NEED(cuModuleUnload(module));
}

static void approximate(const struct gold_case *self)
{
    const struct approximate *row = self->data;
    float in[32], out[32];
    for (int i = 0; i < 32; i++)
        out[i] = in[i] = row->from + (row->to - row->from) * (float)i / 31;
    run_approximate(row->op, out);
    int within = 0;
    for (int i = 0; i < 32; i++) {
        double exact = row->exact((double)in[i]), error = fabs((double)out[i] - exact);
        within += error <= row->absolute + row->relative * fabs(exact);
    }
    say_value("within_bound", within);
    /* What has no error to speak of: zeroes, infinities and NaN. */
    float special[32] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 1.0f};
    run_approximate(row->op, special);
    for (int i = 0; i < 5; i++)
        say_text(isnan(special[i])   ? "nan"
                 : isinf(special[i]) ? (special[i] > 0 ? "+inf" : "-inf")
                 : special[i] == 0   ? (signbit(special[i]) ? "-0" : "+0")
                                     : "number");
}

static const struct approximate approximations[] = {
    {"rcp.approx.f32", exact_rcp, 0.25f, 40.0f, 2.4e-7, 0},
    {"rcp.approx.ftz.f32", exact_rcp, 0.25f, 40.0f, 2.4e-7, 0},
    {"sqrt.approx.f32", sqrt, 0.25f, 40.0f, 2.4e-7, 0},
    {"sqrt.approx.ftz.f32", sqrt, 0.25f, 40.0f, 2.4e-7, 0},
    {"rsqrt.approx.f32", exact_rsqrt, 0.25f, 40.0f, 4.8e-7, 0},
    {"rsqrt.approx.ftz.f32", exact_rsqrt, 0.25f, 40.0f, 4.8e-7, 0},
    {"sin.approx.f32", sin, -3.1f, 3.1f, 0, 8e-7},
    {"sin.approx.ftz.f32", sin, -3.1f, 3.1f, 0, 8e-7},
    {"cos.approx.f32", cos, -3.1f, 3.1f, 0, 8e-7},
    {"cos.approx.ftz.f32", cos, -3.1f, 3.1f, 0, 8e-7},
    {"ex2.approx.f32", exp2, -20.0f, 20.0f, 4.8e-7, 0},
    {"ex2.approx.ftz.f32", exp2, -20.0f, 20.0f, 4.8e-7, 0},
    {"lg2.approx.f32", log2, 0.3f, 50.0f, 4e-7, 4e-7},
    {"lg2.approx.ftz.f32", log2, 0.3f, 50.0f, 4e-7, 4e-7},
    {"tanh.approx.f32", tanh, -4.0f, 4.0f, 6e-4, 0},
};
enum { APPROXIMATIONS = sizeof approximations / sizeof approximations[0] };

static struct gold_case approximate_cases[APPROXIMATIONS];

__attribute__((constructor)) static void approximate_add(void)
{
    static char names[APPROXIMATIONS][48];
    for (int i = 0; i < APPROXIMATIONS; i++) {
        snprintf(names[i], sizeof names[i], "kernel.%s", approximations[i].op);
        for (char *c = names[i] + 7; *c; c++)
            if (*c == '.')
                *c = '_';
        approximate_cases[i] = (struct gold_case){.name = names[i], .run = approximate, .data = &approximations[i]};
    }
    gold_register_all(approximate_cases, APPROXIMATIONS);
}

/* Operands around the NaN that .oob means, 0x7ff7 with either sign, beside numbers. */
#define NEAR_OOB \
    "and.b32 %r11, %r0, 31; xor.b32 %r12, %r11, 0x10; shl.b32 %r12, %r12, 11; and.b32 %r12, %r12, 0x8000; and.b32 %r11, %r11, 15; " \
    "or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, 0x7ff0; cvt.u16.u32 %h11, %r11; and.b32 %r13, %r0, 0x20; setp.ne.u32 %p1, %r13, 0; " \
    "selp.b16 %h12, %h11, %h2, %p1; selp.b16 %h13, %h2, %h11, %p1; mov.b32 %r14, {%h12, %h2}; mov.b32 %r15, {%h13, %h11}; mov.b32 %r16, {%h3, %h12}; "
#define OOB(name, result, type, a, b, c, to) \
    {name,         IN_INT,        result,           NEAR_OOB "fma.rn.oob" type " " to ", " a ", " b ", " c ";", \
     .target = 90, .version = 81, .exact_nan = true}

static const struct gold_kernel out_of_bounds[] = {
    OOB("kernel.fma_oob_f16", 'h', ".f16", "%h12", "%h13", "%h3", "%h10"),
    OOB("kernel.fma_oob_relu_f16", 'h', ".relu.f16", "%h12", "%h13", "%h3", "%h10"),
    OOB("kernel.fma_oob_bf16", 'h', ".bf16", "%h12", "%h13", "%h3", "%h10"),
    OOB("kernel.fma_oob_relu_bf16", 'h', ".relu.bf16", "%h12", "%h13", "%h3", "%h10"),
    OOB("kernel.fma_oob_third", 'h', ".f16", "%h1", "%h2", "%h11", "%h10"),
    OOB("kernel.fma_oob_f16x2", 'r', ".f16x2", "%r14", "%r15", "%r16", "%r10"),
    OOB("kernel.fma_oob_relu_bf16x2", 'r', ".relu.bf16x2", "%r14", "%r15", "%r16", "%r10"),
    {"kernel.fma_sat_oob_f16x2", IN_INT, 'r', NEAR_OOB "fma.rn.sat.oob.f16x2 %r10, %r14, %r15, %r16;", .target = 90,
     .version = 81},
};
KERNELS(out_of_bounds);
