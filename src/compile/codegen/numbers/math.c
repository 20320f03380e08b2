/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that hardware approximates, in f32, without branches so that lanes
 * run together. Bounds from the PTX manual: sin, cos 2^-20.5 absolute within
 * [-pi, pi] (hardware's own errors beyond that are matched); ex2 2^-22.5 relative; lg2 2^-22 absolute near 1 and
 * relative elsewhere; tanh 2^-11 relative. tests/run/codegen_math.c measures what is reached.
 */
#include "compile/codegen/numbers/numbers.h"

#include <math.h>

#define TO_NEAREST_WHOLE 8 /* of vreduceps: what is left of whole numbers; no exceptions */

static LLVMValueRef f(struct cg *g, double value)
{
    return cg_real(g, g->unit->f32, value);
}

static LLVMValueRef n(struct cg *g, uint64_t value)
{
    return cg_int(g, g->unit->i32, value);
}

/* c[0] + x * (c[1] + x * ...) */
static LLVMValueRef polynomial(struct cg *g, LLVMValueRef x, const double *c, unsigned count)
{
    LLVMValueRef r = f(g, c[count - 1]);
    for (unsigned i = count - 1; i-- > 0;)
        r = cg_fma(g, r, x, f(g, c[i]));
    return r;
}

/* A number that fits, or a NaN, which gives any number. (LLVM's saturating conversions of vectors go element by
 * element.) */
static LLVMValueRef to_int(struct cg *g, LLVMValueRef x)
{
    LLVMValueRef whole = LLVMBuildFPToSI(g->b, x, cg_type(g, g->unit->i32), "");
    return LLVMBuildFreeze(g->b, whole, "");
}

/* 2^k for an integer k from -126 to 127. */
static LLVMValueRef power_of_two(struct cg *g, LLVMValueRef k)
{
    LLVMValueRef bits = LLVMBuildShl(g->b, LLVMBuildAdd(g->b, k, n(g, 127), ""), n(g, 23), "");
    return cg_cast_bits(g, bits, g->unit->f32);
}

LLVMValueRef cg_ex2(struct cg *g, LLVMValueRef x)
{
    /* 2^t on [-1/2, 1/2]: with eight Taylor terms of exp(t ln 2) what is left out is below 2^-27 of it. */
    static const double c[] = {1.0,
                               0.693147180559945,
                               0.240226506959101,
                               0.0555041086648216,
                               0.00961812910762848,
                               0.00133335581464284,
                               0.000154035303933816,
                               1.52527338040598e-05};
    if (cg_wide_fits(g, x)) {
        /* The same bits: what is left of whole numbers is exact (0 of an infinite one), and scaling rounds once. */
        LLVMValueRef whole[2] = {x, LLVMConstInt(g->unit->i32, TO_NEAREST_WHOLE, false)};
        LLVMValueRef t = cg_wide_masked(g, "llvm.x86.avx512.mask.reduce.ps.512", whole, 2);
        LLVMValueRef power[2] = {polynomial(g, t, c, sizeof c / sizeof *c), cg_unary(g, "llvm.roundeven", x)};
        return cg_wide_masked(g, "llvm.x86.avx512.mask.scalef.ps.512", power, 2);
    }
    LLVMValueRef low = LLVMBuildFCmp(g->b, LLVMRealOLT, x, f(g, -151.0), "");
    LLVMValueRef high = LLVMBuildFCmp(g->b, LLVMRealOGT, x, f(g, 129.0), "");
    LLVMValueRef y = cg_select(g, low, f(g, -151.0), cg_select(g, high, f(g, 129.0), x));
    LLVMValueRef whole = cg_unary(g, "llvm.roundeven", y);
    LLVMValueRef r = polynomial(g, LLVMBuildFSub(g->b, y, whole, ""), c, sizeof c / sizeof *c);
    /* Two steps, so that results near either end of the range are reached without leaving it on the way. */
    LLVMValueRef k = to_int(g, whole), half = LLVMBuildAShr(g->b, k, n(g, 1), "");
    r = LLVMBuildFMul(g->b, r, power_of_two(g, half), "");
    return LLVMBuildFMul(g->b, r, power_of_two(g, LLVMBuildSub(g->b, k, half, "")), "");
}

LLVMValueRef cg_lg2(struct cg *g, LLVMValueRef x)
{
    /* log2(m) = s * (c0 + c1 s^2 + ...), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)] */
    static const double c[] = {2.88539008177793, 0.961796693925976, 0.577078016355585, 0.412198583111132,
                               0.320598897975325};
    LLVMValueRef tiny = LLVMBuildFCmp(g->b, LLVMRealOLT, x, f(g, 0x1p-126), "");
    LLVMValueRef y = cg_select(g, tiny, LLVMBuildFMul(g->b, x, f(g, 0x1p24), ""), x);
    LLVMValueRef bits = cg_cast_bits(g, y, g->unit->i32);
    LLVMValueRef moved = LLVMBuildSub(g->b, bits, n(g, 0x3f3504f3), "");
    LLVMValueRef exponent = LLVMBuildAShr(g->b, moved, n(g, 23), "");
    LLVMValueRef fraction = LLVMBuildSub(g->b, bits, LLVMBuildShl(g->b, exponent, n(g, 23), ""), "");
    LLVMValueRef m = cg_cast_bits(g, fraction, g->unit->f32);
    exponent = LLVMBuildSub(g->b, exponent, cg_select(g, tiny, n(g, 24), n(g, 0)), "");
    LLVMValueRef one = f(g, 1.0);
    LLVMValueRef s = LLVMBuildFDiv(g->b, LLVMBuildFSub(g->b, m, one, ""), LLVMBuildFAdd(g->b, m, one, ""), "");
    LLVMValueRef p = polynomial(g, LLVMBuildFMul(g->b, s, s, ""), c, sizeof c / sizeof *c);
    LLVMValueRef e = LLVMBuildSIToFP(g->b, exponent, cg_type(g, g->unit->f32), "");
    LLVMValueRef r = cg_fma(g, s, p, e);
    /* 0 -> -inf, negative and NaN -> NaN, +inf -> +inf */
    LLVMValueRef good = LLVMBuildFCmp(g->b, LLVMRealOGT, x, f(g, 0.0), "");
    LLVMValueRef zero = LLVMBuildFCmp(g->b, LLVMRealOEQ, x, f(g, 0.0), "");
    r = cg_select(g, good, r, cg_select(g, zero, f(g, -(double)INFINITY), f(g, (double)NAN)));
    LLVMValueRef infinite = LLVMBuildFCmp(g->b, LLVMRealOEQ, x, f(g, (double)INFINITY), "");
    return cg_select(g, infinite, f(g, (double)INFINITY), r);
}

/* As hardware reduces an angle (an H100: 2^18 angles of all sizes, to within 2^-21.5): it is multiplied by the float
 * next to 1 / 2 pi, and cut, not rounded, to a float of turns; what is left of whole turns is cut to 25 bits. So the
 * sine of a small number is 0, and from 2^23 turns on there is nothing left. */
static LLVMValueRef fraction_of_turns(struct cg *g, LLVMValueRef size)
{
    LLVMValueRef factor = f(g, (double)0.15915494309189535f), turns = LLVMBuildFMul(g->b, size, factor, "");
    LLVMValueRef rest = cg_fma(g, size, factor, LLVMBuildFNeg(g->b, turns, ""));
    LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOLT, rest, f(g, 0.0), "");
    LLVMValueRef bits =
        LLVMBuildSub(g->b, cg_cast_bits(g, turns, g->unit->i32), cg_select(g, above, n(g, 1), n(g, 0)), "");
    turns = cg_cast_bits(g, bits, g->unit->f32);
    LLVMValueRef fraction = LLVMBuildFSub(g->b, turns, cg_unary(g, "llvm.floor", turns), "");
    return to_int(g, LLVMBuildFMul(g->b, fraction, f(g, 0x1p25), ""));
}

LLVMValueRef cg_sin(struct cg *g, LLVMValueRef x, bool cosine)
{
    static const double sine[] = {1.0, -0.166666666666667, 0.00833333333333333, -0.000198412698412698,
                                  2.75573192239859e-06};
    static const double cosines[] = {1.0, -0.5, 0.0416666666666667, -0.00138888888888889, 2.48015873015873e-05};
    LLVMValueRef size = cg_unary(g, "llvm.fabs", x), fraction = fraction_of_turns(g, size);
    /* The nearest quarter, and from there an angle of an eighth at most. */
    LLVMValueRef k = LLVMBuildLShr(g->b, LLVMBuildAdd(g->b, fraction, n(g, 1u << 22), ""), n(g, 23), "");
    LLVMValueRef rest = LLVMBuildSub(g->b, fraction, LLVMBuildShl(g->b, k, n(g, 23), ""), "");
    LLVMValueRef r = LLVMBuildFMul(g->b, LLVMBuildSIToFP(g->b, rest, cg_type(g, g->unit->f32), ""),
                                   f(g, 6.283185307179586 * 0x1p-25), "");
    LLVMValueRef square = LLVMBuildFMul(g->b, r, r, "");
    LLVMValueRef s = LLVMBuildFMul(g->b, r, polynomial(g, square, sine, sizeof sine / sizeof *sine), "");
    LLVMValueRef c = polynomial(g, square, cosines, sizeof cosines / sizeof *cosines);
    if (cosine)
        k = LLVMBuildAdd(g->b, k, n(g, 1), "");
    LLVMValueRef odd = LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, k, n(g, 1), ""), n(g, 0), "");
    LLVMValueRef flip = LLVMBuildShl(g->b, LLVMBuildAnd(g->b, k, n(g, 2), ""), n(g, 30), "");
    LLVMValueRef value = cg_cast_bits(g, cg_select(g, odd, c, s), g->unit->i32);
    if (!cosine)
        flip =
            LLVMBuildXor(g->b, flip, LLVMBuildAnd(g->b, cg_cast_bits(g, x, g->unit->i32), n(g, 0x80000000u), ""), "");
    value = cg_cast_bits(g, LLVMBuildXor(g->b, value, flip, ""), g->unit->f32);
    LLVMValueRef finite = LLVMBuildFCmp(g->b, LLVMRealOLT, size, f(g, (double)INFINITY), "");
    return cg_select(g, finite, value, f(g, (double)NAN));
}

LLVMValueRef cg_tanh(struct cg *g, LLVMValueRef x)
{
    static const double c[] = {
        1.0, -0.333333333333333, 0.133333333333333, -0.0539682539682540, 0.0218694885361552, -0.00886323552990220};
    LLVMValueRef size = cg_unary(g, "llvm.fabs", x);
    LLVMValueRef square = LLVMBuildFMul(g->b, x, x, "");
    LLVMValueRef near = LLVMBuildFMul(g->b, size, polynomial(g, square, c, sizeof c / sizeof *c), "");
    LLVMValueRef power = cg_ex2(g, LLVMBuildFMul(g->b, size, f(g, 2.88539008177793), ""));
    LLVMValueRef far = LLVMBuildFDiv(g->b, f(g, 2.0), LLVMBuildFAdd(g->b, power, f(g, 1.0), ""), "");
    far = LLVMBuildFSub(g->b, f(g, 1.0), far, "");
    LLVMValueRef small = LLVMBuildFCmp(g->b, LLVMRealOLT, size, f(g, 0.375), "");
    LLVMValueRef r = cg_binary(g, "llvm.copysign", cg_select(g, small, near, far), x);
    return cg_select(g, cg_is_nan(g, x), x, r);
}
