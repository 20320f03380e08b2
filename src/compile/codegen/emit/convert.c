/* SPDX-License-Identifier: Apache-2.0 */

/*
 * cvt: between integers, between floats, and from one to the other. A float that
 * an integer can't hold becomes the nearest one that it can; NaN becomes 0, but
 * 0x80... where 64 bits are involved on either side. Formats that only memory
 * and matrices have (.tf32, pairs of eight bits) are made and read in integers.
 */
#include "compile/codegen/emit/emit.h"

#include <math.h>

static bool is_float(unsigned type)
{
    return mr_ptx_type_class(type) == 'F';
}

static bool is_signed(unsigned type)
{
    return mr_ptx_type_class(type) == 'S';
}

/* The source as f32 or f64; halves are widened exactly. */
static LLVMValueRef float_source(struct cg *g, const struct mr_ptx_operand *operand, unsigned type, bool flush)
{
    switch (type) {
    case MR_PTX_TYPE_F16:
        return cg_half_to_float(g, cg_source(g, operand, g->unit->i16));
    case MR_PTX_TYPE_BF16:
        return cg_bfloat_to_float(g, cg_source(g, operand, g->unit->i16));
    case MR_PTX_TYPE_F64:
        return cg_source(g, operand, g->unit->f64);
    default: {
        LLVMValueRef value = cg_source(g, operand, g->unit->f32);
        return flush ? cg_flush_operand(g, operand, value) : value;
    }
    }
}

static bool directed(unsigned rounding)
{
    return rounding == MR_PTX_ROUND_RZ || rounding == MR_PTX_ROUND_RM || rounding == MR_PTX_ROUND_RP;
}

/* To an integer, still a float. */
static LLVMValueRef round_to_integer(struct cg *g, LLVMValueRef value, unsigned rounding)
{
    switch (rounding) {
    case MR_PTX_ROUND_RNI:
        return cg_unary(g, "llvm.roundeven", value);
    case MR_PTX_ROUND_RZI:
        return cg_unary(g, "llvm.trunc", value);
    case MR_PTX_ROUND_RMI:
        return cg_unary(g, "llvm.floor", value);
    case MR_PTX_ROUND_RPI:
        return cg_unary(g, "llvm.ceil", value);
    default:
        return value;
    }
}

/* A half or bfloat that was rounded to nearest becomes its neighbour where that went the wrong way. (LLVM's own
 * conversion under a rounding direction crashes for vectors of halves on processors without AVX-512.) */
static LLVMValueRef step_back(struct cg *g, LLVMValueRef value, LLVMValueRef bits, bool half, unsigned rounding)
{
    LLVMTypeRef i16 = g->unit->i16;
    LLVMValueRef back = half ? cg_half_to_float(g, bits) : cg_bfloat_to_float(g, bits);
    if (rounding == MR_PTX_ROUND_RZ) {
        LLVMValueRef far =
            LLVMBuildFCmp(g->b, LLVMRealOGT, cg_unary(g, "llvm.fabs", back), cg_unary(g, "llvm.fabs", value), "");
        return LLVMBuildSub(g->b, bits, cg_resize(g, far, i16, false), "");
    }
    bool up = rounding == MR_PTX_ROUND_RP;
    LLVMValueRef wrong = LLVMBuildFCmp(g->b, up ? LLVMRealOLT : LLVMRealOGT, back, value, "");
    /* +1 makes the number larger if it is positive, smaller if it is negative. */
    LLVMValueRef negative = LLVMBuildICmp(g->b, LLVMIntSLT, bits, cg_int(g, i16, 0), "");
    LLVMValueRef one = cg_int(g, i16, 1), minus = cg_int(g, i16, UINT64_MAX);
    LLVMValueRef step = up ? cg_select(g, negative, minus, one) : cg_select(g, negative, one, minus);
    return LLVMBuildAdd(g->b, bits, cg_select(g, wrong, step, cg_int(g, i16, 0)), "");
}

/* .relu: nothing below zero, and no -0. .satfinite: nothing beyond `limit`. NaN stays. */
static LLVMValueRef cut_float(struct cg *g, LLVMValueRef value, uint32_t flags, double limit)
{
    LLVMTypeRef f32 = g->unit->f32;
    if (flags & MR_PTX_FLAG_RELU) {
        LLVMValueRef positive = LLVMBuildFCmp(g->b, LLVMRealUGT, value, cg_real(g, f32, 0.0), "");
        value = cg_select(g, positive, value, cg_real(g, f32, 0.0));
    }
    if (flags & MR_PTX_FLAG_SATFINITE) {
        LLVMValueRef most = cg_real(g, f32, limit), least = cg_real(g, f32, -limit);
        value = cg_select(g, LLVMBuildFCmp(g->b, LLVMRealOGT, value, most, ""), most, value);
        value = cg_select(g, LLVMBuildFCmp(g->b, LLVMRealOLT, value, least, ""), least, value);
    }
    return value;
}

/* f32 or f64 to the 16 bits of a half or a bfloat. */
static LLVMValueRef narrow_float(struct cg *g, LLVMValueRef value, unsigned type, unsigned rounding, uint32_t flags)
{
    if (cg_element(value) == g->unit->f64)
        value = cg_double_to_odd(g, value);
    if (flags & MR_PTX_FLAG_SAT)
        value = cg_saturate(g, value);
    bool half = type == MR_PTX_TYPE_F16;
    value = cut_float(g, value, flags, half ? 65504.0 : 0x1.fep127);
    LLVMValueRef bits = half ? cg_float_to_half(g, value) : cg_float_to_bfloat(g, value);
    return directed(rounding) ? step_back(g, value, bits, half, rounding) : bits;
}

/* A double's NaN as a half or a bfloat: the sign and the first digits stay, and it is a quiet one. */
static LLVMValueRef nan_of_double(struct cg *g, LLVMValueRef value, bool half)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef bits = cg_cast_bits(g, value, i64);
    LLVMValueRef sign =
        LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, cg_int(g, i64, 48), ""), cg_int(g, i64, 0x8000), "");
    LLVMValueRef digits = LLVMBuildLShr(g->b, bits, cg_int(g, i64, half ? 42 : 45), "");
    digits = LLVMBuildAnd(g->b, digits, cg_int(g, i64, half ? 0x3ff : 0x7f), "");
    LLVMValueRef nan =
        LLVMBuildOr(g->b, LLVMBuildOr(g->b, sign, digits, ""), cg_int(g, i64, half ? 0x7e00 : 0x7fc0), "");
    return cg_resize(g, nan, g->unit->i16, false);
}

/* .tf32: ten bits of mantissa. .rna, ties away from zero, is hardware's old way: a NaN is cut like a number, and
 * .satfinite takes one off the last place of what then is no number. .rn and .rz give a NaN of their own. */
static LLVMValueRef to_tf32(struct cg *g, LLVMValueRef value, unsigned rounding, uint32_t flags)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef keep = cg_int(g, i32, 0xffffe000), add = cg_int(g, i32, 0x1000);
    if (rounding == MR_PTX_ROUND_RNA) {
        add = cg_select(g, cg_is_nan(g, value), cg_int(g, i32, 0), add);
        LLVMValueRef r = LLVMBuildAnd(g->b, LLVMBuildAdd(g->b, cg_cast_bits(g, value, i32), add, ""), keep, "");
        if (!(flags & MR_PTX_FLAG_SATFINITE))
            return r;
        LLVMValueRef size = LLVMBuildAnd(g->b, r, cg_int(g, i32, 0x7fffffff), "");
        LLVMValueRef beyond = LLVMBuildICmp(g->b, LLVMIntUGE, size, cg_int(g, i32, 0x7f800000), "");
        return cg_select(g, beyond, LLVMBuildSub(g->b, r, cg_int(g, i32, 0x2000), ""), r);
    }
    value = cut_float(g, value, flags, 0x1.ffcp127);
    LLVMValueRef bits = cg_cast_bits(g, value, i32);
    add = cg_int(g, i32, 0);
    if (rounding == MR_PTX_ROUND_RN) {
        LLVMValueRef odd = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, cg_int(g, i32, 13), ""), cg_int(g, i32, 1), "");
        add = LLVMBuildAdd(g->b, odd, cg_int(g, i32, 0xfff), "");
    }
    LLVMValueRef rounded = LLVMBuildAnd(g->b, LLVMBuildAdd(g->b, bits, add, ""), keep, "");
    return cg_select(g, cg_is_nan(g, value), cg_int(g, i32, 0x7fffe000), rounded);
}

/* A format of eight bits: sign, exponent, `mantissa` bits; the smallest normal number, and the largest one. */
struct fp8 {
    unsigned mantissa;
    int least;
    double most;
};

static struct fp8 fp8_of(unsigned type)
{
    return type == MR_PTX_TYPE_E4M3X2 ? (struct fp8){3, -6, 448.0} : (struct fp8){2, -14, 57344.0};
}

/* f32 to eight bits (in 32), to nearest even, beyond the largest number to that one. Adding a number whose last place
 * is the smallest of the format rounds those below the normal ones; the others are rounded as integers. */
static LLVMValueRef float_to_fp8(struct cg *g, LLVMValueRef value, unsigned type, uint32_t flags)
{
    LLVMTypeRef i32 = g->unit->i32, f32 = g->unit->f32;
    struct fp8 form = fp8_of(type);
    unsigned cut = 23 - form.mantissa;
    value = cut_float(g, value, flags, form.most);
    LLVMValueRef size = cg_unary(g, "llvm.fabs", value), bits = cg_cast_bits(g, size, i32);
    LLVMValueRef odd = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, cg_int(g, i32, cut), ""), cg_int(g, i32, 1), "");
    LLVMValueRef normal =
        LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, bits, odd, ""), cg_int(g, i32, (1u << (cut - 1)) - 1), "");
    normal = LLVMBuildLShr(g->b, normal, cg_int(g, i32, cut), "");
    normal = LLVMBuildSub(g->b, normal, cg_int(g, i32, (uint64_t)(126 + form.least) << form.mantissa), "");
    LLVMValueRef magic = cg_real(g, f32, ldexp(1.0, form.least + (int)cut));
    LLVMValueRef small = cg_cast_bits(g, LLVMBuildFAdd(g->b, size, magic, ""), i32);
    small = LLVMBuildSub(g->b, small, cg_cast_bits(g, magic, i32), "");
    LLVMValueRef is_small = LLVMBuildFCmp(g->b, LLVMRealOLT, size, cg_real(g, f32, ldexp(1.0, form.least)), "");
    LLVMValueRef sign = LLVMBuildLShr(g->b, cg_cast_bits(g, value, i32), cg_int(g, i32, 24), "");
    sign = LLVMBuildAnd(g->b, sign, cg_int(g, i32, 0x80), "");
    LLVMValueRef r = LLVMBuildOr(g->b, cg_select(g, is_small, small, normal), sign, "");
    return cg_select(g, cg_is_nan(g, value), cg_int(g, i32, 0x7f), r);
}

/* Two numbers of eight bits, from two f32 or from the two halves of a register; the first goes to the upper byte. */
static void emit_to_fp8(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef i32 = g->unit->i32, i16 = g->unit->i16;
    LLVMValueRef r = NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value;
        if (inst->type[1] == MR_PTX_TYPE_F32) {
            value = cg_source(g, &inst->operands[1 + i], g->unit->f32);
        } else {
            LLVMValueRef pair = cg_source(g, &inst->operands[1], i32);
            pair = i == 0 ? LLVMBuildLShr(g->b, pair, cg_int(g, i32, 16), "") : pair;
            value = cg_half_to_float(g, cg_resize(g, pair, i16, false));
        }
        LLVMValueRef bits = float_to_fp8(g, value, inst->type[0], inst->flags);
        r = r ? LLVMBuildOr(g->b, r, bits, "") : LLVMBuildShl(g->b, bits, cg_int(g, i32, 8), "");
    }
    cg_write(g, &inst->operands[0], cg_resize(g, r, i16, false));
}

static void emit_from_fp8(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef both = cg_resize(g, cg_source(g, &inst->operands[1], g->unit->i16), i32, false);
    LLVMValueRef upper = LLVMBuildLShr(g->b, both, cg_int(g, i32, 8), "");
    bool relu = inst->flags & MR_PTX_FLAG_RELU;
    LLVMValueRef high = cg_resize(g, cg_fp8_to_half(g, upper, inst->type[1], relu), i32, false);
    LLVMValueRef low = cg_resize(g, cg_fp8_to_half(g, both, inst->type[1], relu), i32, false);
    cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, LLVMBuildShl(g->b, high, cg_int(g, i32, 16), ""), low, ""));
}

/* Both operands into one register of 32 bits; the first goes to the upper half. */
static void emit_pair(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned half = inst->type[0] == MR_PTX_TYPE_F16X2 ? MR_PTX_TYPE_F16 : MR_PTX_TYPE_BF16;
    LLVMValueRef r = NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = float_source(g, &inst->operands[1 + i], MR_PTX_TYPE_F32, inst->flags & MR_PTX_FLAG_FTZ);
        LLVMValueRef bits =
            cg_resize(g, narrow_float(g, value, half, inst->rounding, inst->flags), g->unit->i32, false);
        r = r ? LLVMBuildOr(g->b, r, bits, "") : LLVMBuildShl(g->b, bits, cg_int(g, g->unit->i32, 16), "");
    }
    cg_write(g, &inst->operands[0], r);
}

static void float_to_float(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned to = inst->type[0], from = inst->type[1];
    /* On the way to a half .ftz has no effect, which a rounding up or down shows. */
    bool flush = (inst->flags & MR_PTX_FLAG_FTZ) && to != MR_PTX_TYPE_F16;
    LLVMValueRef value = float_source(g, &inst->operands[1], from, flush);
    value = round_to_integer(g, value, inst->rounding);
    if (to == MR_PTX_TYPE_F16 || to == MR_PTX_TYPE_BF16) {
        LLVMValueRef bits = from == to && inst->rounding < MR_PTX_ROUND_RNI && !inst->flags
                                ? cg_source(g, &inst->operands[1], g->unit->i16)
                                : narrow_float(g, value, to, inst->rounding, inst->flags);
        if (from == MR_PTX_TYPE_F64 && !(inst->flags & MR_PTX_FLAG_SAT)) /* the conversions with another NaN */
            bits = cg_select(g, cg_is_nan(g, value), nan_of_double(g, value, to == MR_PTX_TYPE_F16), bits);
        cg_write(g, &inst->operands[0], bits);
        return;
    }
    if (to == MR_PTX_TYPE_F64 && cg_element(value) != g->unit->f64)
        value = LLVMBuildFPExt(g->b, value, cg_type(g, g->unit->f64), "");
    if (to == MR_PTX_TYPE_F32 && cg_element(value) == g->unit->f64) {
        value = directed(inst->rounding) ? cg_rounded(g, "fptrunc", inst->rounding, cg_type(g, g->unit->f32), &value, 1)
                                         : LLVMBuildFPTrunc(g->b, value, cg_type(g, g->unit->f32), "");
    }
    if (flush && to == MR_PTX_TYPE_F32 && (from == MR_PTX_TYPE_F64 || from == MR_PTX_TYPE_BF16))
        value = cg_flush(g, value);
    if (flush && from == MR_PTX_TYPE_BF16)
        value = cg_nan_mended(g, value);
    if (inst->flags & MR_PTX_FLAG_SAT)
        value = cg_saturate(g, value);
    if (cg_nan_is_arithmetic(inst) &&
        !(inst->operands[0].kind == MR_PTX_OPERAND_REG && g->regs.loose[inst->operands[0].reg]))
        value = cg_nan_mended(g, value);
    cg_write(g, &inst->operands[0], value);
}

/* A number of the nearest value that the type has; NaN gives 0. LLVM's saturating conversions of vectors go element by
 * element on x86, so this says it in comparisons: out of range LLVM's plain conversion may give anything, which the
 * choices then leave aside. */
static LLVMValueRef saturated(struct cg *g, LLVMValueRef value, unsigned bits, bool sign)
{
    LLVMTypeRef type = cg_int_type(g, bits), types[2] = {cg_type(g, type), LLVMTypeOf(value)}, real = cg_element(value);
    if (g->now.lanes == 1)
        return cg_intrinsic(g, sign ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &value, 1);
    LLVMTypeRef wide = bits < 32 ? g->unit->i32 : type;
    double past = sign ? (double)(UINT64_C(1) << (bits - 1)) : 2 * (double)(UINT64_C(1) << (bits - 1)),
           least = sign ? -past : 0;
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    LLVMValueRef r =
        sign ? LLVMBuildFPToSI(g->b, value, cg_type(g, wide), "") : LLVMBuildFPToUI(g->b, value, cg_type(g, wide), "");
    LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOGE, value, cg_real(g, real, past), "");
    LLVMValueRef below = LLVMBuildFCmp(g->b, LLVMRealOLT, value, cg_real(g, real, least), "");
    r = cg_select(g, above, cg_int(g, wide, sign ? most >> 1 : most), r);
    r = cg_select(g, below, cg_int(g, wide, sign ? ~(most >> 1) : 0), r);
    r = cg_select(g, cg_is_nan(g, value), cg_int(g, wide, 0), r);
    return cg_resize(g, r, type, sign);
}

static void float_to_integer(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned to = inst->type[0], from = inst->type[1], bits = mr_ptx_type_bits(to);
    LLVMValueRef value = float_source(g, &inst->operands[1], from, inst->flags & MR_PTX_FLAG_FTZ);
    value = round_to_integer(g, value, inst->rounding);
    LLVMTypeRef type = cg_int_type(g, bits);
    LLVMValueRef r = saturated(g, value, bits, is_signed(to));
    if (from == MR_PTX_TYPE_F64 || bits == 64)
        r = cg_select(g, cg_is_nan(g, value), cg_int(g, type, UINT64_C(1) << (bits - 1)), r);
    cg_write_extended(g, &inst->operands[0], r, is_signed(to));
}

/*
 * What a store of `type` takes from a wider register: where one is a float and the other is not, hardware converts the
 * number, towards zero to an integer without a sign, and to nearest from one. NULL if it just cuts bits off.
 */
LLVMValueRef cg_converted_store(struct cg *g, const struct mr_ptx_operand *from, unsigned type)
{
    if (from->kind != MR_PTX_OPERAND_REG)
        return NULL;
    unsigned own = g->func->regs[from->reg].type, bits = mr_ptx_type_bits(type);
    if (mr_ptx_type_bits(own) <= bits)
        return NULL;
    if (type == MR_PTX_TYPE_F32 && !is_float(own)) {
        LLVMValueRef value = cg_source(g, from, g->unit->i64);
        return is_signed(own) ? LLVMBuildSIToFP(g->b, value, cg_type(g, g->unit->f32), "")
                              : LLVMBuildUIToFP(g->b, value, cg_type(g, g->unit->f32), "");
    }
    if (is_float(type) || (own != MR_PTX_TYPE_F32 && own != MR_PTX_TYPE_F64))
        return NULL;
    LLVMValueRef value = cg_source(g, from, own == MR_PTX_TYPE_F32 ? g->unit->f32 : g->unit->f64),
                 r = saturated(g, value, bits, false);
    return own == MR_PTX_TYPE_F64
               ? cg_select(g, cg_is_nan(g, value), cg_int(g, cg_int_type(g, bits), UINT64_C(1) << (bits - 1)), r)
               : r;
}

static void integer_to_float(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned to = inst->type[0], from = inst->type[1];
    bool sign = is_signed(from), half = to == MR_PTX_TYPE_F16 || to == MR_PTX_TYPE_BF16;
    LLVMValueRef value = cg_source(g, &inst->operands[1], cg_int_type(g, mr_ptx_type_bits(from)));
    if (cg_bits(cg_element(value)) < 32)
        value = cg_resize(g, value, g->unit->i32, sign);
    LLVMTypeRef type = to == MR_PTX_TYPE_F64 ? g->unit->f64 : g->unit->f32;
    if (half) {
        /* 64 bits don't fit a double: the bits that fall off go into the last one. Then odd rounding to f32. */
        type = g->unit->f64;
        if (cg_bits(cg_element(value)) == 64) {
            LLVMValueRef low = LLVMBuildAnd(g->b, value, cg_int(g, g->unit->i64, 0xffff), "");
            LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, low, cg_int(g, g->unit->i64, 0), "");
            LLVMValueRef big = LLVMBuildSub(g->b, value, low, "");
            big = LLVMBuildOr(g->b, big, cg_select(g, any, cg_int(g, g->unit->i64, 0x1000), cg_int(g, g->unit->i64, 0)),
                              "");
            LLVMValueRef shifted = sign ? LLVMBuildAShr(g->b, value, cg_int(g, g->unit->i64, 48), "")
                                        : LLVMBuildLShr(g->b, value, cg_int(g, g->unit->i64, 48), "");
            LLVMValueRef small = LLVMBuildICmp(g->b, LLVMIntEQ, shifted, cg_int(g, g->unit->i64, 0), "");
            if (sign)
                small = LLVMBuildOr(
                    g->b, small, LLVMBuildICmp(g->b, LLVMIntEQ, shifted, cg_int(g, g->unit->i64, UINT64_MAX), ""), "");
            value = cg_select(g, small, value, big);
        }
    }
    LLVMValueRef r;
    if (!half && directed(inst->rounding))
        r = cg_rounded(g, sign ? "sitofp" : "uitofp", inst->rounding, cg_type(g, type), &value, 1);
    else
        r = sign ? LLVMBuildSIToFP(g->b, value, cg_type(g, type), "")
                 : LLVMBuildUIToFP(g->b, value, cg_type(g, type), "");
    if (!sign && directed(inst->rounding))
        r = cg_unary(g, "llvm.fabs", r); /* where LLVM subtracts halves of the number, rounding down makes -0 of 0 */
    if (half)
        r = narrow_float(g, r, to, inst->rounding, inst->flags);
    else if (inst->flags & MR_PTX_FLAG_SAT)
        r = cg_saturate(g, r);
    cg_write(g, &inst->operands[0], r);
}

/* Cuts to the range of `to`; value is of type `from`. */
static LLVMValueRef clamp_integer(struct cg *g, LLVMValueRef value, unsigned from, unsigned to)
{
    LLVMTypeRef type = cg_element(value);
    unsigned from_bits = cg_bits(type), to_bits = mr_ptx_type_bits(to);
    if (!is_signed(from)) {
        if (is_signed(to) ? to_bits <= from_bits : to_bits < from_bits) {
            uint64_t most = (UINT64_C(1) << (to_bits - (is_signed(to) ? 1 : 0))) - 1;
            value = cg_binary(g, "llvm.umin", value, cg_int(g, type, most));
        }
        return value;
    }
    if (!is_signed(to)) {
        value = cg_binary(g, "llvm.smax", value, cg_int(g, type, 0));
        if (to_bits < from_bits)
            value = cg_binary(g, "llvm.smin", value, cg_int(g, type, (UINT64_C(1) << to_bits) - 1));
        return value;
    }
    if (to_bits < from_bits) {
        int64_t most = (INT64_C(1) << (to_bits - 1)) - 1;
        value = cg_binary(g, "llvm.smin", value, cg_int(g, type, (uint64_t)most));
        value = cg_binary(g, "llvm.smax", value, cg_int(g, type, (uint64_t)(-most - 1)));
    }
    return value;
}

static void integer_to_integer(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned to = inst->type[0], from = inst->type[1];
    LLVMValueRef value = cg_source(g, &inst->operands[1], cg_int_type(g, mr_ptx_type_bits(from)));
    if (inst->flags & MR_PTX_FLAG_SAT)
        value = clamp_integer(g, value, from, to);
    value = cg_resize(g, value, cg_int_type(g, mr_ptx_type_bits(to)), is_signed(from));
    cg_write_extended(g, &inst->operands[0], value, is_signed(to));
}

/* cvt.pack.sat: two numbers cut to 16 bits fill a register; smaller ones fill its low bits, and those of c come above.
 */
static void emit_pack(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef i32 = g->unit->i32;
    unsigned to = inst->type[0], bits = mr_ptx_type_bits(to);
    bool has_sign = is_signed(to) || to == MR_PTX_TYPE_S4 || to == MR_PTX_TYPE_S2;
    int64_t most = (INT64_C(1) << (bits - has_sign)) - 1, least = has_sign ? -most - 1 : 0;
    LLVMValueRef parts[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = cg_source(g, &inst->operands[1 + i], i32);
        value = cg_binary(g, "llvm.smin", value, cg_int(g, i32, (uint64_t)most));
        value = cg_binary(g, "llvm.smax", value, cg_int(g, i32, (uint64_t)least));
        parts[i] = LLVMBuildAnd(g->b, value, cg_int(g, i32, (UINT64_C(1) << bits) - 1), "");
    }
    LLVMValueRef r = LLVMBuildOr(g->b, LLVMBuildShl(g->b, parts[0], cg_int(g, i32, bits), ""), parts[1], "");
    if (inst->operand_count > 3) {
        LLVMValueRef c = LLVMBuildShl(g->b, cg_source(g, &inst->operands[3], i32), cg_int(g, i32, 2 * bits), "");
        r = LLVMBuildOr(g->b, r, c, "");
    }
    cg_write_extended(g, &inst->operands[0], r, false);
}

bool cg_emit_convert(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_CVT)
        return false;
    enum mr_ptx_type to = (enum mr_ptx_type)inst->type[0], from = (enum mr_ptx_type)inst->type[1];
    if (inst->flags & MR_PTX_FLAG_PACK)
        emit_pack(g, inst);
    else if (mr_ptx_type_is_fp8_pair(to))
        emit_to_fp8(g, inst);
    else if (mr_ptx_type_is_fp8_pair(from))
        emit_from_fp8(g, inst);
    else if (to == MR_PTX_TYPE_F16X2 || to == MR_PTX_TYPE_BF16X2)
        emit_pair(g, inst);
    else if (to == MR_PTX_TYPE_TF32)
        cg_write(g, &inst->operands[0],
                 to_tf32(g, cg_source(g, &inst->operands[1], g->unit->f32), inst->rounding, inst->flags));
    else if (is_float(to))
        is_float(from) ? float_to_float(g, inst) : integer_to_float(g, inst);
    else
        is_float(from) ? float_to_integer(g, inst) : integer_to_integer(g, inst);
    return true;
}
