/* SPDX-License-Identifier: Apache-2.0 */

/*
 * f32 and f64 arithmetic. LLVM's plain operations round to nearest and are never
 * fused or reordered, since no fast-math flag is ever set; other directions go
 * through rounding.c. `.ftz` flushes subnormal inputs and results to zero of the
 * same sign; results that PTX calls approximate are exact where that costs no
 * more, else come from math.c.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/numbers/contract.h"

#include <math.h>

#include <stdio.h>

static LLVMTypeRef float_type(struct cg *g, const struct mr_ptx_inst *inst)
{
    return inst->type[0] == MR_PTX_TYPE_F64 ? g->unit->f64 : g->unit->f32;
}

/* rcp of f64 with a rounding has .ftz too, which means nothing there. */
static bool flushes(const struct mr_ptx_inst *inst)
{
    return (inst->flags & MR_PTX_FLAG_FTZ) && inst->type[0] != MR_PTX_TYPE_F64;
}

static LLVMValueRef operand(struct cg *g, const struct mr_ptx_inst *inst, unsigned index)
{
    LLVMValueRef value = cg_source(g, &inst->operands[index], float_type(g, inst));
    return flushes(inst) ? cg_flush_operand(g, &inst->operands[index], value) : value;
}

/* A result that can't be subnormal (numbers/flush.c says which can't), or may be. */
static void normal_result(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef value)
{
    if (inst->flags & MR_PTX_FLAG_SAT)
        value = cg_saturate(g, value);
    const struct mr_ptx_operand *to = &inst->operands[0];
    if (cg_nan_is_arithmetic(inst) && to->kind == MR_PTX_OPERAND_REG && !g->regs.loose[to->reg])
        value = cg_nan_mended(g, value);
    cg_write(g, &inst->operands[0], value);
}

static void result(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef value)
{
    normal_result(g, inst, flushes(inst) ? cg_flush(g, value) : value);
}

static bool is_directed(const struct mr_ptx_inst *inst)
{
    return inst->rounding == MR_PTX_ROUND_RZ || inst->rounding == MR_PTX_ROUND_RM || inst->rounding == MR_PTX_ROUND_RP;
}

/* add, sub, mul, div, sqrt, fma by one of LLVM's names; args in the present form. */
static LLVMValueRef arithmetic(struct cg *g, const struct mr_ptx_inst *inst, const char *name, LLVMOpcode op,
                               LLVMValueRef *args, unsigned count)
{
    if (is_directed(inst))
        return cg_rounded(g, name, inst->rounding, LLVMTypeOf(args[0]), args, count);
    if (count == 2)
        return LLVMBuildBinOp(g->b, op, args[0], args[1], "");
    return count == 3 ? cg_fma(g, args[0], args[1], args[2]) : cg_unary(g, "llvm.sqrt", args[0]);
}

/* A sum with the product that it takes along: rounded once. */
static void emit_contracted(struct cg *g, const struct mr_ptx_inst *inst, struct cg_contracted with)
{
    LLVMValueRef a = operand(g, with.product, 1), b = operand(g, with.product, 2), c = operand(g, inst, 3 - with.index);
    if (inst->op == MR_PTX_OP_SUB && with.index == 1)
        c = LLVMBuildFNeg(g->b, c, "");
    else if (inst->op == MR_PTX_OP_SUB)
        a = LLVMBuildFNeg(g->b, a, "");
    result(g, inst, cg_fma(g, a, b, c));
}

/* The result of a sum, whose last operand or, of two, whose first one too may show that it is not subnormal. */
static void sum_result(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef value)
{
    bool fused = inst->op == MR_PTX_OP_FMA || inst->op == MR_PTX_OP_MAD;
    bool sum = fused || inst->op == MR_PTX_OP_ADD || inst->op == MR_PTX_OP_SUB;
    if (sum && (cg_flush_sum_is_normal(g, &inst->operands[fused ? 3 : 2]) ||
                (!fused && cg_flush_sum_is_normal(g, &inst->operands[1]))))
        normal_result(g, inst, value);
    else
        result(g, inst, value);
}

static void emit_two(struct cg *g, const struct mr_ptx_inst *inst, const char *name, LLVMOpcode op)
{
    struct cg_contracted with = cg_contracted(g, inst);
    if (with.product) {
        emit_contracted(g, inst, with);
        return;
    }
    LLVMValueRef args[2] = {operand(g, inst, 1), operand(g, inst, 2)};
    sum_result(g, inst, arithmetic(g, inst, name, op, args, 2));
}

/* mul.ftz.f32. The operands are flushed, so a large one leaves the other's size. */
static void emit_flushed_product(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef args[2] = {operand(g, inst, 1), operand(g, inst, 2)};
    LLVMValueRef product = arithmetic(g, inst, "fmul", LLVMFMul, args, 2);
    unsigned known = cg_flush_known(g, &inst->operands[1]) | cg_flush_known(g, &inst->operands[2]);
    normal_result(g, inst, known & CG_NUMBER_LARGE ? product : cg_flushed_product(g, args[0], args[1], product));
}

/* div.approx.f32 is a product with the reciprocal, which is 0 for divisors between 2^126 and infinity. */
static void emit_approximate_quotient(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef a = operand(g, inst, 1), b = operand(g, inst, 2), size = cg_unary(g, "llvm.fabs", b);
    LLVMValueRef large = LLVMBuildFCmp(g->b, LLVMRealOGT, size, cg_real(g, g->unit->f32, 0x1p126), "");
    large = LLVMBuildAnd(g->b, large,
                         LLVMBuildFCmp(g->b, LLVMRealONE, size, cg_real(g, g->unit->f32, (double)INFINITY), ""), "");
    LLVMValueRef nothing = LLVMBuildFMul(g->b, a, cg_binary(g, "llvm.copysign", cg_real(g, g->unit->f32, 0.0), b), "");
    result(g, inst, cg_select(g, large, nothing, LLVMBuildFDiv(g->b, a, b, "")));
}

static LLVMValueRef upper_half(struct cg *g, LLVMValueRef value)
{
    LLVMValueRef bits = cg_cast_bits(g, value, g->unit->i64);
    bits = LLVMBuildAnd(g->b, bits, cg_int(g, g->unit->i64, UINT64_C(0xffffffff00000000)), "");
    return cg_cast_bits(g, bits, g->unit->f64);
}

static void emit_reciprocal(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = float_type(g, inst);
    /* The approximate forms in f64 (.approx.ftz) look at the upper half of their operand and give an upper half. */
    bool halves = type == g->unit->f64 && (inst->flags & MR_PTX_FLAG_APPROX) && (inst->flags & MR_PTX_FLAG_FTZ);
    LLVMValueRef a = halves ? cg_flush(g, upper_half(g, cg_source(g, &inst->operands[1], type))) : operand(g, inst, 1);
    LLVMValueRef one = cg_real(g, type, 1.0);
    if (inst->op == MR_PTX_OP_RSQRT)
        a = cg_unary(g, "llvm.sqrt", a);
    LLVMValueRef args[2] = {one, a};
    LLVMValueRef r =
        inst->op == MR_PTX_OP_RSQRT ? LLVMBuildFDiv(g->b, one, a, "") : arithmetic(g, inst, "fdiv", LLVMFDiv, args, 2);
    if (halves)
        cg_write(g, &inst->operands[0], upper_half(g, cg_flush(g, r)));
    else if (inst->op == MR_PTX_OP_RSQRT)
        normal_result(g, inst, r);
    else
        result(g, inst, r);
}

static void emit_min_max(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool maximum = inst->op == MR_PTX_OP_MAX, nan = inst->flags & MR_PTX_FLAG_NAN;
    LLVMTypeRef type = float_type(g, inst), ints = cg_int_type(g, cg_bits(type));
    LLVMValueRef a = operand(g, inst, 1), b = operand(g, inst, 2), sign = NULL;
    if (inst->flags & MR_PTX_FLAG_XORSIGN) {
        LLVMValueRef top = cg_int(g, ints, UINT64_C(1) << (cg_bits(ints) - 1));
        sign = LLVMBuildAnd(g->b, LLVMBuildXor(g->b, cg_cast_bits(g, a, ints), cg_cast_bits(g, b, ints), ""), top, "");
    }
    if (inst->flags & (MR_PTX_FLAG_XORSIGN | MR_PTX_FLAG_ABS)) {
        a = cg_unary(g, "llvm.fabs", a);
        b = cg_unary(g, "llvm.fabs", b);
    }
    LLVMValueRef r = cg_min_max(g, a, b, maximum, nan);
    if (inst->operand_count > 3) {
        LLVMValueRef c = operand(g, inst, 3);
        if (inst->flags & MR_PTX_FLAG_ABS)
            c = cg_unary(g, "llvm.fabs", c);
        r = cg_min_max(g, r, c, maximum, nan);
    }
    if (sign)
        r = cg_cast_bits(g, LLVMBuildOr(g->b, cg_cast_bits(g, r, ints), sign, ""), type);
    normal_result(g, inst, r);
}

static void emit_sign(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef a = operand(g, inst, 1);
    if (inst->op == MR_PTX_OP_COPYSIGN) /* the sign of a on the size of b */
        cg_write(g, &inst->operands[0], cg_binary(g, "llvm.copysign", operand(g, inst, 2), a));
    else if (inst->op == MR_PTX_OP_ABS)
        normal_result(g, inst, cg_unary(g, "llvm.fabs", a));
    else
        normal_result(g, inst, LLVMBuildFNeg(g->b, a, ""));
}

static void emit_test(struct cg *g, const struct mr_ptx_inst *inst)
{
    static const struct {
        unsigned mode, mask;
    } classes[] = {/* bits of llvm.is.fpclass: 0-1 NaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7 +subnormal, 8
                    * +normal, 9 +inf; PTX counts zeros as normal */
                   {MR_PTX_MODE_FINITE, 0x1f8},     {MR_PTX_MODE_INFINITE, 0x204}, {MR_PTX_MODE_NUMBER, 0x3fc},
                   {MR_PTX_MODE_NOTANUMBER, 0x003}, {MR_PTX_MODE_NORMAL, 0x168},   {MR_PTX_MODE_SUBNORMAL, 0x090}};
    unsigned mask = 0;
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].mode == inst->mode)
            mask = classes[i].mask;
    LLVMValueRef a = cg_source(g, &inst->operands[1], float_type(g, inst));
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, LLVMConstInt(g->unit->i32, mask, false)};
    cg_write(g, &inst->operands[0], cg_intrinsic(g, "llvm.is.fpclass", &type, 1, args, 2));
}

static void emit_approximate(struct cg *g, const struct mr_ptx_inst *inst)
{
    /* 2 to a subnormal power is 1, flushed or not. */
    LLVMValueRef a = inst->op == MR_PTX_OP_EX2 ? cg_source(g, &inst->operands[1], g->unit->f32) : operand(g, inst, 1),
                 r;
    switch (inst->op) {
    case MR_PTX_OP_SIN:
        r = cg_sin(g, a, false);
        break;
    case MR_PTX_OP_COS:
        r = cg_sin(g, a, true);
        break;
    case MR_PTX_OP_EX2:
        r = cg_ex2(g, a);
        break;
    case MR_PTX_OP_LG2:
        normal_result(g, inst, cg_lg2(g, a));
        return;
    default:
        r = cg_tanh(g, a);
        break;
    }
    result(g, inst, r);
}

bool cg_emit_float(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (!inst->type_count || (inst->type[0] != MR_PTX_TYPE_F32 && inst->type[0] != MR_PTX_TYPE_F64))
        return false;
    switch (inst->op) {
    case MR_PTX_OP_ADD:
        emit_two(g, inst, "fadd", LLVMFAdd);
        return true;
    case MR_PTX_OP_SUB:
        emit_two(g, inst, "fsub", LLVMFSub);
        return true;
    case MR_PTX_OP_MUL:
        if ((inst->flags & MR_PTX_FLAG_FTZ) && inst->type[0] == MR_PTX_TYPE_F32)
            emit_flushed_product(g, inst);
        else
            emit_two(g, inst, "fmul", LLVMFMul);
        return true;
    case MR_PTX_OP_DIV:
        if (inst->flags & MR_PTX_FLAG_APPROX)
            emit_approximate_quotient(g, inst);
        else
            emit_two(g, inst, "fdiv", LLVMFDiv);
        return true;
    case MR_PTX_OP_FMA:
    case MR_PTX_OP_MAD: {
        LLVMValueRef args[3] = {operand(g, inst, 1), operand(g, inst, 2), operand(g, inst, 3)};
        if (cg_contracted(g, inst).product) {
            result(g, inst, LLVMBuildFAdd(g->b, args[2], args[2], ""));
            return true;
        }
        sum_result(g, inst, arithmetic(g, inst, "fma", LLVMFAdd, args, 3));
        return true;
    }
    case MR_PTX_OP_SQRT: {
        LLVMValueRef a = operand(g, inst, 1);
        normal_result(g, inst, arithmetic(g, inst, "sqrt", LLVMFAdd, &a, 1));
        return true;
    }
    case MR_PTX_OP_RCP:
    case MR_PTX_OP_RSQRT:
        emit_reciprocal(g, inst);
        return true;
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
        emit_min_max(g, inst);
        return true;
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_COPYSIGN:
        emit_sign(g, inst);
        return true;
    case MR_PTX_OP_TESTP:
        emit_test(g, inst);
        return true;
    case MR_PTX_OP_SIN:
    case MR_PTX_OP_COS:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_LG2:
    case MR_PTX_OP_TANH:
        emit_approximate(g, inst);
        return true;
    default:
        return false;
    }
}
