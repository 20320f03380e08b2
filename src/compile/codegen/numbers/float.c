/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What instructions on f32 and f64 share: saturation, the smaller and the larger of two.
 */
#include "compile/codegen/numbers/numbers.h"

/* Of vrangeps: the smaller or the larger of two numbers, of which -0 is less than +0. */
#define RANGE_MIN 4u
#define RANGE_MAX 5u

LLVMValueRef cg_is_nan(struct cg *g, LLVMValueRef value)
{
    return LLVMBuildFCmp(g->b, LLVMRealUNO, value, value, "");
}

LLVMValueRef cg_saturate(struct cg *g, LLVMValueRef value)
{
    LLVMTypeRef type = cg_element(value);
    LLVMValueRef zero = cg_real(g, type, 0.0), one = cg_real(g, type, 1.0);
    LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOGT, value, zero, "");
    value = cg_select(g, above, value, zero); /* NaN and -0 become +0 */
    return cg_select(g, LLVMBuildFCmp(g->b, LLVMRealOGT, value, one, ""), one, value);
}

/* The hardware's NaN, so that results do not depend on which operand was one. */
static LLVMValueRef quiet_nan(struct cg *g, LLVMTypeRef type)
{
    uint64_t bits = type == g->unit->f64 ? UINT64_C(0x7ff8000000000000) : 0x7fffffff;
    return LLVMConstBitCast(cg_int(g, cg_int_type(g, cg_bits(type)), bits), cg_type(g, type));
}

LLVMValueRef cg_min_max(struct cg *g, LLVMValueRef a, LLVMValueRef b, bool maximum, bool propagate_nan)
{
    LLVMTypeRef type = cg_element(a);
    LLVMValueRef nan = quiet_nan(g, type);
    if (propagate_nan && cg_is_vector(a) && cg_is_vector(b) && (cg_wide_fits(g, a) || cg_wide_fits(g, b))) {
        LLVMValueRef args[3] = {a, b, LLVMConstInt(g->unit->i32, maximum ? RANGE_MAX : RANGE_MIN, false)};
        LLVMValueRef r = cg_wide_masked(g, "llvm.x86.avx512.mask.range.ps.512", args, 3);
        return cg_select(g, LLVMBuildFCmp(g->b, LLVMRealUNO, a, b, ""), nan, r);
    }
    LLVMTypeRef ints = cg_int_type(g, cg_bits(type));
    LLVMValueRef a_wins = LLVMBuildFCmp(g->b, maximum ? LLVMRealOGT : LLVMRealOLT, a, b, "");
    LLVMValueRef r = cg_select(g, a_wins, a, b);
    /* Equal zeros: -0 counts as less than +0; any other equal pair has equal bits. */
    LLVMValueRef equal = LLVMBuildFCmp(g->b, LLVMRealOEQ, a, b, "");
    LLVMValueRef x = cg_cast_bits(g, a, ints), y = cg_cast_bits(g, b, ints);
    LLVMValueRef both = maximum ? LLVMBuildAnd(g->b, x, y, "") : LLVMBuildOr(g->b, x, y, "");
    r = cg_select(g, equal, cg_cast_bits(g, both, type), r);
    LLVMValueRef a_nan = cg_is_nan(g, a), b_nan = cg_is_nan(g, b);
    if (propagate_nan)
        return cg_select(g, LLVMBuildOr(g->b, a_nan, b_nan, ""), nan, r);
    r = cg_select(g, b_nan, a, r);
    r = cg_select(g, a_nan, b, r);
    return cg_select(g, LLVMBuildAnd(g->b, a_nan, b_nan, ""), nan, r);
}
