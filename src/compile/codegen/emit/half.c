/* SPDX-License-Identifier: Apache-2.0 */

/*
 * f16 and bf16, alone and in pairs. Registers hold bits; arithmetic is done in
 * f32 and rounded once more, which gives what one rounding would have given
 * because f32 has more than twice the bits. A fused multiply-add has no such
 * luck: it is done in f64 and rounded to odd on the way down.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/numbers/contract.h"

/* a * b + c of f32 that hold halves, rounded to odd in f32. */
static LLVMValueRef fused(struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMTypeRef doubles = cg_type(g, g->unit->f64), i64 = g->unit->i64;
    LLVMValueRef x =
        LLVMBuildFMul(g->b, LLVMBuildFPExt(g->b, a, doubles, ""), LLVMBuildFPExt(g->b, b, doubles, ""), "");
    LLVMValueRef y = LLVMBuildFPExt(g->b, c, doubles, "");
    LLVMValueRef sum = LLVMBuildFAdd(g->b, x, y, ""), part = LLVMBuildFSub(g->b, sum, x, "");
    LLVMValueRef left = LLVMBuildFSub(g->b, x, LLVMBuildFSub(g->b, sum, part, ""), "");
    LLVMValueRef error = LLVMBuildFAdd(g->b, left, LLVMBuildFSub(g->b, y, part, ""), "");
    LLVMValueRef zero = cg_real(g, g->unit->f64, 0.0);
    LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, error, zero, "");
    LLVMValueRef signs = LLVMBuildXor(g->b, cg_cast_bits(g, error, i64), cg_cast_bits(g, sum, i64), "");
    LLVMValueRef away = LLVMBuildAnd(g->b, inexact, LLVMBuildICmp(g->b, LLVMIntSLT, signs, cg_int(g, i64, 0), ""), "");
    LLVMValueRef bits = LLVMBuildSub(g->b, cg_cast_bits(g, sum, i64), cg_resize(g, away, i64, false), "");
    bits = LLVMBuildOr(g->b, bits, cg_resize(g, inexact, i64, false), "");
    return cg_double_to_odd(g, cg_cast_bits(g, bits, g->unit->f64));
}

struct half_form {
    bool bfloat;
    unsigned parts;
};

static bool half_form(unsigned type, struct half_form *form)
{
    switch (type) {
    case MR_PTX_TYPE_F16:
        *form = (struct half_form){false, 1};
        return true;
    case MR_PTX_TYPE_F16X2:
        *form = (struct half_form){false, 2};
        return true;
    case MR_PTX_TYPE_BF16:
        *form = (struct half_form){true, 1};
        return true;
    case MR_PTX_TYPE_BF16X2:
        *form = (struct half_form){true, 2};
        return true;
    default:
        return false;
    }
}

/* Part 0 or 1 of an operand as 16 bits. */
static LLVMValueRef part_bits(struct cg *g, const struct mr_ptx_inst *inst, struct half_form form, unsigned index,
                              unsigned part)
{
    if (form.parts == 1)
        return cg_source(g, &inst->operands[index], g->unit->i16);
    LLVMValueRef both = cg_source(g, &inst->operands[index], g->unit->i32);
    if (part)
        both = LLVMBuildLShr(g->b, both, cg_int(g, g->unit->i32, 16), "");
    return cg_resize(g, both, g->unit->i16, false);
}

/* Subnormal halves to zero of the same sign (bfloats have no .ftz). */
static LLVMValueRef flush_half(struct cg *g, LLVMValueRef bits)
{
    LLVMTypeRef i16 = g->unit->i16;
    LLVMValueRef size = LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x7fff), "");
    LLVMValueRef tiny = LLVMBuildICmp(g->b, LLVMIntULT, size, cg_int(g, i16, 0x0400), "");
    return cg_select(g, tiny, LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x8000), ""), bits);
}

/* What is no number has no sign to change: neg and abs give the one NaN of arithmetic. */
static LLVMValueRef sign_change(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef bits, bool bfloat)
{
    LLVMTypeRef i16 = g->unit->i16;
    LLVMValueRef size = LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x7fff), "");
    LLVMValueRef nan = LLVMBuildICmp(g->b, LLVMIntUGT, size, cg_int(g, i16, bfloat ? 0x7f80 : 0x7c00), "");
    LLVMValueRef changed = inst->op == MR_PTX_OP_ABS ? size : LLVMBuildXor(g->b, bits, cg_int(g, i16, 0x8000), "");
    return cg_select(g, nan, cg_int(g, i16, 0x7fff), changed);
}

static LLVMValueRef calculate(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef *v)
{
    switch (inst->op) {
    case MR_PTX_OP_ADD:
        return LLVMBuildFAdd(g->b, v[0], v[1], "");
    case MR_PTX_OP_SUB:
        return LLVMBuildFSub(g->b, v[0], v[1], "");
    case MR_PTX_OP_MUL:
        return LLVMBuildFMul(g->b, v[0], v[1], "");
    case MR_PTX_OP_FMA:
        return fused(g, v[0], v[1], v[2]);
    default: {
        bool maximum = inst->op == MR_PTX_OP_MAX, nan = inst->flags & MR_PTX_FLAG_NAN;
        LLVMValueRef a = v[0], b = v[1], sign = NULL;
        if (inst->flags & MR_PTX_FLAG_XORSIGN) {
            sign = LLVMBuildXor(g->b, cg_cast_bits(g, a, g->unit->i32), cg_cast_bits(g, b, g->unit->i32), "");
            sign = LLVMBuildAnd(g->b, sign, cg_int(g, g->unit->i32, 0x80000000), "");
            a = cg_unary(g, "llvm.fabs", a);
            b = cg_unary(g, "llvm.fabs", b);
        }
        LLVMValueRef r = cg_min_max(g, a, b, maximum, nan);
        if (sign)
            r = cg_cast_bits(g, LLVMBuildOr(g->b, cg_cast_bits(g, r, g->unit->i32), sign, ""), g->unit->f32);
        return r;
    }
    }
}

/* fma.oob: a factor of 0x7ff7, whatever its sign, stands for what lies outside of a tensor. */
static LLVMValueRef is_outside(struct cg *g, LLVMValueRef bits)
{
    LLVMTypeRef i16 = g->unit->i16;
    return LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, bits, cg_int(g, i16, 0x7fff), ""), cg_int(g, i16, 0x7ff7),
                         "");
}

static LLVMValueRef one_part(struct cg *g, const struct mr_ptx_inst *inst, struct half_form form, unsigned part)
{
    LLVMValueRef values[3], outside = NULL;
    bool flush = inst->flags & MR_PTX_FLAG_FTZ;
    struct cg_contracted with = cg_contracted(g, inst);
    unsigned count = with.product ? 4 : inst->operand_count;
    for (unsigned i = 1; i < count && i < 4; i++) {
        LLVMValueRef bits = !with.product ? part_bits(g, inst, form, i, part)
                            : i < 3       ? part_bits(g, with.product, form, i, part)
                                          : part_bits(g, inst, form, 3 - with.index, part);
        if (flush && !form.bfloat)
            bits = flush_half(g, bits);
        if ((inst->flags & MR_PTX_FLAG_OOB) && i < 3)
            outside = outside ? LLVMBuildOr(g->b, outside, is_outside(g, bits), "") : is_outside(g, bits);
        if (inst->op == MR_PTX_OP_NEG || inst->op == MR_PTX_OP_ABS)
            return sign_change(g, inst, bits, form.bfloat);
        if (inst->op == MR_PTX_OP_TANH)
            return cg_half_tanh(g, bits, form.bfloat);
        if (inst->op == MR_PTX_OP_EX2)
            return cg_half_ex2(g, bits, form.bfloat);
        values[i - 1] = form.bfloat ? cg_bfloat_to_float(g, bits) : cg_half_to_float(g, bits);
    }
    unsigned negative = with.index == 1 ? 2 : 0;
    if (with.product && inst->op == MR_PTX_OP_SUB)
        values[negative] = LLVMBuildFNeg(g->b, values[negative], "");
    LLVMValueRef r = with.product ? fused(g, values[0], values[1], values[2]) : calculate(g, inst, values);
    if (flush && !form.bfloat && inst->op == MR_PTX_OP_MUL)
        r = cg_flush_half_number(g, r); /* before it is rounded, as in f32; f32 holds the whole product */
    if (inst->flags & MR_PTX_FLAG_SAT)
        r = cg_saturate(g, r);
    if (inst->flags & MR_PTX_FLAG_RELU) {
        LLVMValueRef keep = LLVMBuildFCmp(g->b, LLVMRealUGT, r, cg_real(g, g->unit->f32, 0.0), "");
        r = cg_select(g, keep, r, cg_real(g, g->unit->f32, 0.0));
    }
    if (flush && form.bfloat)
        r = cg_flush(g, r);
    r = form.bfloat ? cg_float_to_bfloat(g, r) : cg_float_to_half(g, r);
    if (outside)
        r = cg_select(g, outside, cg_int(g, g->unit->i16, 0), r);
    return flush && !form.bfloat ? flush_half(g, r) : r;
}

bool cg_emit_half(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct half_form form;
    if (!inst->type_count || !half_form(inst->type[0], &form))
        return false;
    switch (inst->op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_FMA:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_TANH:
        break;
    default:
        return false;
    }
    LLVMValueRef low = one_part(g, inst, form, 0);
    if (form.parts == 1) {
        cg_write(g, &inst->operands[0], low);
        return true;
    }
    LLVMValueRef high = cg_resize(g, one_part(g, inst, form, 1), g->unit->i32, false);
    high = LLVMBuildShl(g->b, high, cg_int(g, g->unit->i32, 16), "");
    cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, high, cg_resize(g, low, g->unit->i32, false), ""));
    return true;
}
