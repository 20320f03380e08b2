/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values that step from lane to lane by something that only the running code knows, as `i * stride` does where the stride is a parameter (CuPy's and
 * Numba's kernels get the strides of their arrays like that). uniformity.c says which registers are of that class, STEPPED; here is their code. They
 * are calculated in scalars, and an access asks two scalars whether it steps by its own size.
 *
 * What 32 bits can't hold wraps, and after widening that shows. With b and s the base and step of 32 bits, lane l of the widened value holds
 * b + s * l - 2^32 * k(l), where k(l) counts how often the sum has left the range up to there: (b - lowest + s * l) >> 32. That is the last
 * term of struct cg_stepped, whatever the step: `place` is b - lowest, `pace` is s, and `factor` is -2^32 and what it has been multiplied with since. It is
 * the same for `shr.s64 x, 32` of what steps by a multiple of 2^32, which is how compilers write the widening of x's upper half.
 */
#include "compile/codegen/operands/stepped.h"

#include <string.h>

enum { PART_BASE, PART_STEP, PART_FACTOR, PART_PLACE, PART_PACE, PARTS };

static LLVMValueRef i64_of(const struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i64, value, false);
}

LLVMTypeRef cg_stepped_slot_type(const struct cg *g, struct mr_class c)
{
    return LLVMArrayType2(g->unit->i64, c.wrap ? PARTS : PART_FACTOR);
}

static LLVMValueRef part(struct cg *g, uint32_t reg, unsigned which)
{
    LLVMValueRef at[2] = {LLVMConstInt(g->unit->i32, 0, false), LLVMConstInt(g->unit->i32, which, false)};
    return LLVMBuildInBoundsGEP2(g->b, LLVMGetAllocatedType(g->slots[reg]), g->slots[reg], at, 2, "");
}

struct cg_stepped cg_stepped_read(struct cg *g, uint32_t reg)
{
    LLVMValueRef parts[PARTS] = {NULL};
    unsigned count = (unsigned)LLVMGetArrayLength2(LLVMGetAllocatedType(g->slots[reg]));
    for (unsigned i = 0; i < count; i++)
        parts[i] = LLVMBuildLoad2(g->b, g->unit->i64, part(g, reg, i), "");
    return (struct cg_stepped){parts[PART_BASE], parts[PART_STEP], parts[PART_FACTOR], parts[PART_PLACE], parts[PART_PACE]};
}

static void write(struct cg *g, uint32_t reg, const struct cg_stepped *value)
{
    LLVMValueRef parts[PARTS] = {value->base, value->step, value->factor, value->place, value->pace};
    unsigned count = (unsigned)LLVMGetArrayLength2(LLVMGetAllocatedType(g->slots[reg]));
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef to = part(g, reg, i), from = parts[i] ? parts[i] : i64_of(g, 0);
        if (g->guard)
            from = LLVMBuildSelect(g->b, g->guard, from, LLVMBuildLoad2(g->b, g->unit->i64, to, ""), "");
        LLVMBuildStore(g->b, from, to);
    }
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
    if (operand->kind == MR_PTX_OPERAND_REG && mr_flow_register_class(&g->flow, operand->reg).kind == MR_CLASS_STEPPED) {
        *out = cg_stepped_read(g, operand->reg);
        return true;
    }
    if (!cg_affine_source(g, operand, &a))
        return false;
    *out = (struct cg_stepped){.base = cg_resize(g, a.base, g->unit->i64, true), .step = i64_of(g, (uint64_t)a.c.stride)};
    if (a.c.wrap) {
        LLVMValueRef left = LLVMBuildSub(g->b, i64_of(g, g->unit->width), LLVMBuildZExt(g->b, a.brk, g->unit->i64, ""), "");
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

/* The upper or, shifted up, lower half as a number of 64 bits that may wrap: `base` and `step` as they are in 32 bits, sign-extended. */
static struct cg_stepped wrapping(struct cg *g, LLVMValueRef base, LLVMValueRef step, bool is_signed)
{
    struct cg_stepped r = {.base = base, .step = step, .factor = i64_of(g, -(UINT64_C(1) << 32)), .place = base, .pace = step};
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
    case MR_PTX_OP_MOV: case MR_PTX_OP_CVTA:
        *out = a;
        return true;
    case MR_PTX_OP_ADD: case MR_PTX_OP_SUB:
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
    unsigned lanes = g->lanes;
    g->lanes = 1;
    if (result(g, inst, &r))
        write(g, inst->operands[0].reg, &r);
    else
        cg_fail(g->unit, inst, "code generation does not know how it steps");
    g->lanes = lanes;
}

LLVMValueRef cg_stepped_evenly(struct cg *g, const struct cg_stepped *value)
{
    if (!value->factor)
        return NULL;
    /* Between the first lane and the last k(l) only rises or only falls. */
    LLVMValueRef ahead = LLVMBuildMul(g->b, value->pace, i64_of(g, g->unit->width - 1), "");
    LLVMValueRef both = LLVMBuildOr(g->b, value->place, LLVMBuildAdd(g->b, value->place, ahead, ""), "");
    return LLVMBuildICmp(g->b, LLVMIntULT, both, i64_of(g, UINT64_C(1) << 32), "");
}

/* The value by a function of no instructions, which LLVM may drop but can't run before it is certain to be asked for: what is made of the result stays
 * where it is. */
static LLVMValueRef stays(struct cg *g, LLVMValueRef value)
{
    static const char *const kinds[] = {"memory", "nounwind", "willreturn"};
    LLVMTypeRef type = g->unit->i64, function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef nothing = LLVMGetInlineAsm(function, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    value = LLVMBuildCall2(g->b, function, nothing, &value, 1, "");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(kinds[i], strlen(kinds[i]));
        LLVMAddCallSiteAttribute(value, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->unit->context, kind, 0));
    }
    return value;
}

struct cg_stepped cg_stepped_rarely(struct cg *g, const struct cg_stepped *value)
{
    struct cg_stepped r = *value;
    r.step = stays(g, r.step);
    return r;
}

LLVMValueRef cg_stepped_vector(struct cg *g, const struct cg_stepped *value, LLVMTypeRef element)
{
    struct cg_unit *unit = g->unit;
    unsigned lanes = g->lanes;
    g->lanes = unit->width;
    LLVMValueRef base = LLVMBuildTruncOrBitCast(g->b, value->base, element, ""), step = LLVMBuildTruncOrBitCast(g->b, value->step, element, "");
    LLVMValueRef ahead = LLVMBuildMul(g->b, cg_splat(g, step), cg_lane_numbers(g, element, 1), "");
    LLVMValueRef vector = LLVMBuildAdd(g->b, cg_splat(g, base), ahead, ""), even = cg_stepped_evenly(g, value);
    if (even && element == unit->i64) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b), wraps = cg_new_block(g, "wraps"), on = cg_new_block(g, "on");
        cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildNot(g->b, even, ""), wraps, on));
        LLVMPositionBuilderAtEnd(g->b, wraps);
        LLVMValueRef k = LLVMBuildMul(g->b, cg_splat(g, stays(g, value->pace)), cg_lane_numbers(g, element, 1), "");
        k = LLVMBuildAShr(g->b, LLVMBuildAdd(g->b, cg_splat(g, value->place), k, ""), cg_int(g, element, 32), "");
        LLVMValueRef wrapped = LLVMBuildAdd(g->b, vector, LLVMBuildMul(g->b, cg_splat(g, value->factor), k, ""), "");
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, on);
        LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(vector), "");
        LLVMAddIncoming(phi, (LLVMValueRef[]){vector, wrapped}, (LLVMBasicBlockRef[]){here, wraps}, 2);
        vector = phi;
    }
    g->lanes = lanes;
    return vector;
}

bool cg_stepped_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_stepped *out)
{
    if (operand->kind != MR_PTX_OPERAND_REG_ADDRESS || mr_flow_register_class(&g->flow, operand->reg).kind != MR_CLASS_STEPPED
        || mr_ptx_type_bits(g->func->regs[operand->reg].type) != 64)
        return false;
    *out = cg_stepped_read(g, operand->reg);
    if (operand->value)
        out->base = LLVMBuildAdd(g->b, out->base, i64_of(g, (uint64_t)operand->value), "");
    return true;
}
