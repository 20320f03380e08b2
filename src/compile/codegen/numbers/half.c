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

/* Where hardware approximates halves and bfloats, it cuts its f32 result: it does not round. */
static LLVMValueRef cut(struct cg *g, LLVMValueRef value, bool bfloat)
{
    LLVMTypeRef i16 = g->unit->i16, i32 = g->unit->i32;
    if (bfloat)
        return cg_resize(g, LLVMBuildLShr(g->b, cg_cast_bits(g, value, i32), cg_int(g, i32, 16), ""), i16, false);
    LLVMValueRef bits = cg_float_to_half(g, value), back = cg_half_to_float(g, bits);
    LLVMValueRef above =
        LLVMBuildFCmp(g->b, LLVMRealOGT, cg_unary(g, "llvm.fabs", back), cg_unary(g, "llvm.fabs", value), "");
    return LLVMBuildSub(g->b, bits, cg_resize(g, above, i16, false), "");
}

/* Sizes for which hardware's tanh.approx.f32 lies on the other side of a half than the tangent: of the half behind the
 * one that the tangent is cut to, and of that in front of it. */
static const uint16_t tanh_more[] = {0x29c6, 0x2c95, 0x2c96, 0x2e39, 0x2e9d, 0x3064, 0x323f, 0x32ff,
                                     0x355b, 0x372d, 0x3824, 0x399a, 0x3cc9, 0x3de3, 0x3ed6, 0x4080};
static const uint16_t tanh_less[] = {0x2d3f, 0x39f8, 0x3c8e, 0x3c9d, 0x3db8, 0x3e23, 0x3eab, 0x4429};
static const uint16_t bfloat_tanh_less[] = {0x3f3f};

static LLVMValueRef is_any(struct cg *g, LLVMValueRef bits, const uint16_t *of, unsigned count)
{
    LLVMValueRef any = NULL;
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntEQ, bits, cg_int(g, g->unit->i16, of[i]), "");
        any = any ? LLVMBuildOr(g->b, any, is, "") : is;
    }
    return cg_resize(g, any, g->unit->i16, false);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

LLVMValueRef cg_half_tanh(struct cg *g, LLVMValueRef bits, bool bfloat)
{
    LLVMTypeRef i16 = g->unit->i16;
    LLVMValueRef size = LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x7fff), "");
    LLVMValueRef value = bfloat ? cg_bfloat_to_float(g, size) : cg_half_to_float(g, size);
    LLVMValueRef r = cut(g, cg_tanh(g, value), bfloat);
    if (!bfloat)
        r = LLVMBuildAdd(g->b, r, is_any(g, size, tanh_more, COUNT(tanh_more)), "");
    r = LLVMBuildSub(g->b, r,
                     bfloat ? is_any(g, size, bfloat_tanh_less, COUNT(bfloat_tanh_less))
                            : is_any(g, size, tanh_less, COUNT(tanh_less)),
                     "");
    /* A small one is its own tangent, and from 8 on it is 1. */
    LLVMValueRef small = LLVMBuildICmp(g->b, LLVMIntULE, size, cg_int(g, i16, bfloat ? 0x3b80 : 0x1c07), "");
    LLVMValueRef large = LLVMBuildICmp(g->b, LLVMIntUGE, size, cg_int(g, i16, bfloat ? 0x4100 : 0x4800), "");
    r = cg_select(g, small, size, cg_select(g, large, cg_int(g, i16, bfloat ? 0x3f80 : 0x3c00), r));
    r = LLVMBuildOr(g->b, r, LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x8000), ""), "");
    LLVMValueRef nan = LLVMBuildICmp(g->b, LLVMIntUGT, size, cg_int(g, i16, bfloat ? 0x7f80 : 0x7c00), "");
    return cg_select(g, nan, cg_int(g, i16, 0x7fff), r);
}

/* Exponents above -2^-23 count as 0. */
LLVMValueRef cg_half_ex2(struct cg *g, LLVMValueRef bits, bool bfloat)
{
    LLVMTypeRef f32 = g->unit->f32;
    LLVMValueRef x = bfloat ? cg_bfloat_to_float(g, bits) : cg_half_to_float(g, bits), zero = cg_real(g, f32, 0.0);
    LLVMValueRef tiny = LLVMBuildAnd(g->b, LLVMBuildFCmp(g->b, LLVMRealOLT, x, zero, ""),
                                     LLVMBuildFCmp(g->b, LLVMRealOGT, x, cg_real(g, f32, -0x1p-23), ""), "");
    LLVMValueRef power = cg_ex2(g, cg_select(g, tiny, zero, x)),
                 r = cut(g, bfloat ? cg_flush(g, power) : power, bfloat);
    if (!bfloat) { /* not the largest half, where there is none */
        LLVMValueRef large = LLVMBuildFCmp(g->b, LLVMRealOGE, power, cg_real(g, f32, 65536.0), "");
        r = cg_select(g, large, cg_int(g, g->unit->i16, 0x7c00), r);
    }
    return cg_select(g, cg_is_nan(g, x), cg_int(g, g->unit->i16, 0x7fff), r);
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
