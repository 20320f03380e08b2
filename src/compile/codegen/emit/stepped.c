/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions whose result steps from lane to lane by what only the running code knows: see operands/stepped.c.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/stepped.h"

static LLVMValueRef i64_of(const struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i64, value, false);
}

/* By how much a break that is known as a lane's number is scaled: k(l) is 1 from there on. */
static unsigned break_shift(const struct cg *g)
{
    return 32 - (unsigned)__builtin_ctz(g->unit->width);
}

/* An operand of the classes UNIFORM, AFFINE and STEPPED. */
static bool source(struct cg *g, const struct mr_ptx_operand *operand, struct cg_stepped *out)
{
    struct cg_affine a;
    if (operand->kind == MR_PTX_OPERAND_REG &&
        mr_flow_register_class(&g->flow, operand->reg).kind == MR_CLASS_STEPPED) {
        *out = cg_stepped_read(g, operand->reg);
        return true;
    }
    if (!cg_affine_source(g, operand, &a))
        return false;
    *out =
        (struct cg_stepped){.base = cg_resize(g, a.base, g->unit->i64, true), .step = i64_of(g, (uint64_t)a.c.stride)};
    if (a.c.wrap) {
        LLVMValueRef left =
            LLVMBuildSub(g->b, i64_of(g, g->unit->width), LLVMBuildZExt(g->b, a.brk, g->unit->i64, ""), "");
        out->factor = i64_of(g, (uint64_t)a.c.wrap);
        out->place = LLVMBuildShl(g->b, left, i64_of(g, break_shift(g)), "");
        out->pace = i64_of(g, UINT64_C(1) << break_shift(g));
    }
    return true;
}

static struct cg_stepped sum(struct cg *g, const struct cg_stepped *a, const struct cg_stepped *b)
{
    struct cg_stepped r = a->factor ? *a : *b;
    r.base = LLVMBuildAdd(g->b, a->base, b->base, "");
    r.step = LLVMBuildAdd(g->b, a->step, b->step, "");
    return r;
}

static struct cg_stepped scaled(struct cg *g, const struct cg_stepped *a, LLVMValueRef by)
{
    struct cg_stepped r = *a;
    r.base = LLVMBuildMul(g->b, a->base, by, "");
    r.step = LLVMBuildMul(g->b, a->step, by, "");
    if (a->factor)
        r.factor = LLVMBuildMul(g->b, a->factor, by, "");
    return r;
}

/* The upper or, shifted up, lower half as a number of 64 bits that may wrap: `base` and `step` as they are in 32 bits,
 * sign-extended. */
static struct cg_stepped wrapping(struct cg *g, LLVMValueRef base, LLVMValueRef step, bool is_signed)
{
    struct cg_stepped r = {
        .base = base, .step = step, .factor = i64_of(g, -(UINT64_C(1) << 32)), .place = base, .pace = step};
    if (is_signed)
        r.place = LLVMBuildAdd(g->b, base, i64_of(g, UINT64_C(1) << 31), "");
    else
        r.base = r.place = LLVMBuildAnd(g->b, base, i64_of(g, UINT32_MAX), "");
    return r;
}

static LLVMValueRef extended(struct cg *g, LLVMValueRef value)
{
    return LLVMBuildSExt(g->b, LLVMBuildTrunc(g->b, value, g->unit->i32, ""), g->unit->i64, "");
}

static struct cg_stepped widened(struct cg *g, const struct cg_stepped *a, bool is_signed)
{
    return wrapping(g, extended(g, a->base), extended(g, a->step), is_signed);
}

static struct cg_stepped upper_half(struct cg *g, const struct cg_stepped *a, bool is_signed)
{
    LLVMValueRef by = i64_of(g, 32);
    return wrapping(g, LLVMBuildAShr(g->b, a->base, by, ""), LLVMBuildAShr(g->b, a->step, by, ""), is_signed);
}

static bool is_signed_type(unsigned type)
{
    return mr_ptx_type_class((enum mr_ptx_type)type) == 'S';
}

static bool is_uniform(const struct cg *g, const struct mr_ptx_operand *operand)
{
    return mr_flow_operand_class(&g->flow, operand).kind == MR_CLASS_UNIFORM;
}

static bool product(struct cg *g, const struct mr_ptx_inst *inst, struct cg_stepped *out)
{
    bool swap = is_uniform(g, &inst->operands[1]), sign = is_signed_type(inst->type[0]);
    const struct mr_ptx_operand *value = &inst->operands[swap ? 2 : 1], *by = &inst->operands[swap ? 1 : 2];
    struct cg_stepped a, b;
    if (!source(g, value, &a) || !source(g, by, &b))
        return false;
    if (inst->mode == MR_PTX_MODE_WIDE) {
        bool narrow = mr_class_is_small(mr_flow_operand_class(&g->flow, value));
        a = narrow ? (struct cg_stepped){.base = extended(g, a.base), .step = a.step} : widened(g, &a, sign);
        b.base = cg_resize(g, LLVMBuildTrunc(g->b, b.base, g->unit->i32, ""), g->unit->i64, sign);
    }
    *out = scaled(g, &a, b.base);
    return true;
}

static bool result(struct cg *g, const struct mr_ptx_inst *inst, struct cg_stepped *out)
{
    const struct mr_ptx_operand *operands = inst->operands;
    struct cg_stepped a, b;
    if (inst->op == MR_PTX_OP_MUL || inst->op == MR_PTX_OP_MAD) {
        if (!product(g, inst, out))
            return false;
        if (inst->op == MR_PTX_OP_MUL)
            return true;
        a = *out;
        if (!source(g, &operands[3], &b))
            return false;
        *out = sum(g, &a, &b);
        return true;
    }
    if (!source(g, &operands[1], &a))
        return false;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVTA:
        *out = a;
        return true;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        if (!source(g, &operands[2], &b))
            return false;
        if (inst->op == MR_PTX_OP_SUB)
            b = scaled(g, &b, i64_of(g, UINT64_MAX));
        *out = sum(g, &a, &b);
        return true;
    case MR_PTX_OP_SHL:
        *out = scaled(g, &a, i64_of(g, UINT64_C(1) << operands[2].value));
        return true;
    case MR_PTX_OP_SHR:
        *out = upper_half(g, &a, is_signed_type(inst->type[0]));
        return true;
    case MR_PTX_OP_CVT:
        *out = a;
        if (mr_ptx_type_bits(inst->type[0]) == 64 && mr_ptx_type_bits(inst->type[1]) == 32)
            *out = widened(g, &a, is_signed_type(inst->type[1]));
        return true;
    default:
        return false;
    }
}

void cg_emit_stepped(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_stepped r;
    unsigned lanes = g->now.lanes;
    g->now.lanes = 1;
    if (result(g, inst, &r))
        cg_stepped_write(g, inst->operands[0].reg, &r);
    else
        cg_fail(g->unit, inst, "code generation does not know how it steps");
    g->now.lanes = lanes;
}
