/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Formats of 16 bits and less: registers hold their bits, arithmetic is done in f32.
 */
#include "compile/codegen/numbers/numbers.h"

LLVMValueRef cg_half_to_float(struct cg *g, LLVMValueRef bits)
{
    LLVMValueRef half = cg_cast_bits(g, bits, g->unit->f16);
    return LLVMBuildFPExt(g->b, half, cg_type(g, g->unit->f32), "");
}

LLVMValueRef cg_float_to_half(struct cg *g, LLVMValueRef value)
{
    LLVMValueRef half = LLVMBuildFPTrunc(g->b, value, cg_type(g, g->unit->f16), "");
    LLVMValueRef bits = cg_cast_bits(g, half, g->unit->i16);
    return cg_select(g, cg_is_nan(g, value), cg_int(g, g->unit->i16, 0x7fff), bits);
}

LLVMValueRef cg_bfloat_to_float(struct cg *g, LLVMValueRef bits)
{
    LLVMValueRef wide = LLVMBuildShl(g->b, cg_resize(g, bits, g->unit->i32, false), cg_int(g, g->unit->i32, 16), "");
    return cg_cast_bits(g, wide, g->unit->f32);
}

LLVMValueRef cg_float_to_bfloat(struct cg *g, LLVMValueRef value)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef bits = cg_cast_bits(g, value, i32);
    LLVMValueRef odd = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, cg_int(g, i32, 16), ""), cg_int(g, i32, 1), "");
    LLVMValueRef rounded = LLVMBuildAdd(g->b, bits, LLVMBuildAdd(g->b, odd, cg_int(g, i32, 0x7fff), ""), "");
    rounded = cg_resize(g, LLVMBuildLShr(g->b, rounded, cg_int(g, i32, 16), ""), g->unit->i16, false);
    return cg_select(g, cg_is_nan(g, value), cg_int(g, g->unit->i16, 0x7fff), rounded);
}

LLVMValueRef cg_double_to_odd(struct cg *g, LLVMValueRef value)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef near = LLVMBuildFPTrunc(g->b, value, cg_type(g, g->unit->f32), "");
    LLVMValueRef back = LLVMBuildFPExt(g->b, near, cg_type(g, g->unit->f64), "");
    LLVMValueRef above =
        LLVMBuildFCmp(g->b, LLVMRealOGT, cg_unary(g, "llvm.fabs", back), cg_unary(g, "llvm.fabs", value), "");
    LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, back, value, "");
    LLVMValueRef bits = LLVMBuildSub(g->b, cg_cast_bits(g, near, i32), cg_resize(g, above, i32, false), "");
    return cg_cast_bits(g, LLVMBuildOr(g->b, bits, cg_resize(g, inexact, i32, false), ""), g->unit->f32);
}

/* The smallest normal half is 2^-14. */
LLVMValueRef cg_flush_half_number(struct cg *g, LLVMValueRef value)
{
    LLVMValueRef tiny =
        LLVMBuildFCmp(g->b, LLVMRealOLT, cg_unary(g, "llvm.fabs", value), cg_real(g, g->unit->f32, 0x1p-14), "");
    return cg_select(g, tiny, cg_binary(g, "llvm.copysign", cg_real(g, g->unit->f32, 0.0), value), value);
}

/* The low eight bits of an integer of 32 to the bits of a half, exactly. */
LLVMValueRef cg_fp8_to_half(struct cg *g, LLVMValueRef bits, unsigned type, bool relu)
{
    LLVMTypeRef i16 = g->unit->i16;
    bool is_e4m3 = type == MR_PTX_TYPE_E4M3X2;
    LLVMValueRef byte = LLVMBuildAnd(g->b, cg_resize(g, bits, i16, false), cg_int(g, i16, 0xff), "");
    LLVMValueRef size = LLVMBuildAnd(g->b, byte, cg_int(g, i16, 0x7f), "");
    LLVMValueRef half = LLVMBuildShl(g->b, size, cg_int(g, i16, is_e4m3 ? 7 : 8), "");
    if (is_e4m3) {
        /* The same bits read as a half are 2^-8 of the number. */
        LLVMValueRef number = LLVMBuildFMul(g->b, cg_half_to_float(g, half), cg_real(g, g->unit->f32, 256.0), "");
        half = cg_float_to_half(g, number);
    }
    LLVMValueRef sign = LLVMBuildAnd(g->b, byte, cg_int(g, i16, 0x80), "");
    if (relu)
        half = cg_select(g, LLVMBuildICmp(g->b, LLVMIntNE, sign, cg_int(g, i16, 0), ""), cg_int(g, i16, 0), half);
    else
        half = LLVMBuildOr(g->b, half, LLVMBuildShl(g->b, sign, cg_int(g, i16, 8), ""), "");
    LLVMValueRef nan = LLVMBuildICmp(g->b, LLVMIntUGT, size, cg_int(g, i16, is_e4m3 ? 0x7e : 0x7c), "");
    return cg_select(g, nan, cg_int(g, i16, 0x7fff), half);
}
