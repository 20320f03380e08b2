/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Division of integers. Division by zero gives all ones, as quotient and as remainder, as hardware does; the smallest
 * number by -1 wraps to itself with remainder 0.
 *
 * The commonest division finds an element's row and column: i / width, i % width. Neighbours' quotients are then the
 * same or differ by one, so the first lane's serves all (divide_near).
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/record.h"
#include "compile/codegen/emit/emit.h"

static bool signed_type(unsigned type)
{
    return mr_ptx_type_class(type) == 'S';
}

/* Vectors of 32 bits divide as doubles, whose quotient never rounds up to the next integer. */
static LLVMValueRef divide_vectors(struct cg *g, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef doubles = cg_type(g, g->unit->f64);
    LLVMValueRef q =
        LLVMBuildFDiv(g->b, LLVMBuildUIToFP(g->b, a, doubles, ""), LLVMBuildUIToFP(g->b, b, doubles, ""), "");
    return LLVMBuildFPToUI(g->b, q, LLVMTypeOf(a), "");
}

/* A divisor that is the same for all lanes is a factor: the double above 1 / b. The product of that and a whole number
 * below 2^32 is too large by less than 2^-19 / b, and a quotient is 1 / b away from the next integer at least. So it is
 * cut to the same number. */
static LLVMValueRef multiply_vectors(struct cg *g, LLVMValueRef a, LLVMValueRef factor)
{
    LLVMValueRef product = LLVMBuildFMul(g->b, LLVMBuildUIToFP(g->b, a, cg_type(g, g->unit->f64), ""), factor, "");
    return LLVMBuildFPToUI(g->b, product, LLVMTypeOf(a), "");
}

/* A divisor that is the same for all lanes, as a scalar of 32 bits. */
static LLVMValueRef scalar_divisor(struct cg *g, const struct mr_ptx_inst *inst, LLVMTypeRef type, bool sign)
{
    unsigned lanes = g->now.lanes;
    g->now.lanes = 1;
    LLVMValueRef b = cg_resize(g, cg_source(g, &inst->operands[2], type), g->unit->i32, sign);
    g->now.lanes = lanes;
    return b;
}

/* The factor of the divisor's size, a scalar; 1 in place of 0. */
static LLVMValueRef factor_of(struct cg *g, LLVMValueRef b, bool sign)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64, f64 = g->unit->f64;
    LLVMValueRef zero = LLVMConstInt(i32, 0, false);
    if (sign)
        b = LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, b, zero, ""), LLVMBuildNeg(g->b, b, ""), b, "");
    b = LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, b, zero, ""), LLVMConstInt(i32, 1, false), b, "");
    LLVMValueRef nearest = LLVMBuildFDiv(g->b, LLVMConstReal(f64, 1), LLVMBuildUIToFP(g->b, b, f64, ""), "");
    LLVMValueRef bits = LLVMBuildBitCast(g->b, nearest, i64, "");
    return LLVMBuildBitCast(g->b, LLVMBuildAdd(g->b, bits, LLVMConstInt(i64, 1, false), ""), f64, "");
}

struct division {
    const struct mr_ptx_inst *inst;
    LLVMTypeRef type; /* at least 32 bits */
    bool sign;
    LLVMValueRef a, b;
    LLVMValueRef divisor, factor; /* scalars if the divisor is the same for all lanes, else NULL */
};

/* For any numbers. */
static LLVMValueRef divide_any(struct cg *g, const struct division *d)
{
    LLVMValueRef a = d->a, b = d->b, zero = cg_int(g, d->type, 0), negative = NULL, dividend = a, divisor = b, q;
    LLVMValueRef by_zero = LLVMBuildICmp(g->b, LLVMIntEQ, b, zero, "");
    if (d->sign) {
        LLVMValueRef a_sign = LLVMBuildICmp(g->b, LLVMIntSLT, a, zero, "");
        LLVMValueRef b_sign = LLVMBuildICmp(g->b, LLVMIntSLT, b, zero, "");
        dividend = cg_select(g, a_sign, LLVMBuildNeg(g->b, a, ""), a);
        divisor = cg_select(g, b_sign, LLVMBuildNeg(g->b, b, ""), b);
        negative = LLVMBuildXor(g->b, a_sign, b_sign, "");
    }
    divisor = cg_select(g, by_zero, cg_int(g, d->type, 1), divisor);
    if (g->now.lanes == 1 || cg_bits(d->type) != 32)
        q = LLVMBuildUDiv(g->b, dividend, divisor, "");
    else if (d->factor)
        q = multiply_vectors(g, dividend, cg_splat(g, d->factor));
    else
        q = divide_vectors(g, dividend, divisor);
    if (d->sign)
        q = cg_select(g, negative, LLVMBuildNeg(g->b, q, ""), q);
    if (d->inst->op == MR_PTX_OP_REM)
        q = LLVMBuildSub(g->b, a, LLVMBuildMul(g->b, q, b, ""), "");
    return cg_select(g, by_zero, cg_int(g, d->type, UINT64_MAX), q);
}

/* Divisors up to this one: twice as much is a positive number of 32 bits. */
#define NEAR_DIVISOR_MAX ((UINT64_C(1) << 30) - 1)
/* Numbers that step further rarely share a quotient. */
#define STRIDE_MAX 64

/* Whether it is worth a test, and a second way. With AVX-512 the general one is as short. */
static bool is_worth_a_test(const struct cg *g, const struct division *d)
{
    const struct mr_ptx_operand *a = &d->inst->operands[1];
    return d->factor && !g->unit->wide && g->regs.near && a->kind == MR_PTX_OPERAND_REG &&
           mr_bit_get(g->regs.near, a->reg);
}

/* The first lane's number and quotient, and what is left of the number: scalars. */
struct first {
    LLVMValueRef number, quotient, rest;
};

static struct first divide_first(struct cg *g, LLVMValueRef numbers, LLVMValueRef b, LLVMValueRef factor)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64, f64 = g->unit->f64;
    struct first f = {.number = LLVMBuildExtractElement(g->b, numbers, LLVMConstInt(i32, 0, false), "")};
    LLVMValueRef wide = LLVMBuildSIToFP(g->b, LLVMBuildZExt(g->b, f.number, i64, ""), f64, "");
    f.quotient = LLVMBuildFPToSI(g->b, LLVMBuildFMul(g->b, wide, factor, ""), i64, "");
    f.quotient = LLVMBuildTrunc(g->b, f.quotient, i32, "");
    f.rest = LLVMBuildSub(g->b, f.number, LLVMBuildMul(g->b, f.quotient, b, ""), "");
    return f;
}

/* i1: all lanes that run have `offset` in [0, 2 * b), and no number with its highest bit set. */
static LLVMValueRef lanes_are_near(struct cg *g, LLVMValueRef numbers, LLVMValueRef offset, LLVMValueRef last)
{
    LLVMValueRef outside = LLVMBuildOr(g->b, offset, LLVMBuildSub(g->b, cg_splat(g, last), offset, ""), "");
    outside = LLVMBuildICmp(g->b, LLVMIntSLT, LLVMBuildOr(g->b, outside, numbers, ""), cg_int(g, g->unit->i32, 0), "");
    LLVMValueRef lanes = LLVMBuildBitCast(g->b, outside, g->unit->mask, "");
    return LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, lanes, g->now.exec, ""), cg_mask_zero(g), "");
}

/* The same of numbers that step evenly upwards over `span`: the first and the last lane tell. */
static LLVMValueRef ends_are_near(struct cg *g, const struct first *f, LLVMValueRef last, uint64_t span)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef end = LLVMBuildAdd(g->b, f->rest, LLVMConstInt(i32, span, false), "");
    return LLVMBuildAnd(
        g->b, LLVMBuildICmp(g->b, LLVMIntULE, end, last, ""),
        LLVMBuildICmp(g->b, LLVMIntULT, f->number, LLVMConstInt(i32, (UINT64_C(1) << 31) - span, false), ""), "");
}

/* How far the last lane's number lies behind the first one's, if that is known and little; else 0. */
static uint64_t known_span(const struct cg *g, const struct division *d)
{
    struct mr_class c = mr_flow_operand_class(&g->flow, &d->inst->operands[1]);
    bool steps = c.kind == MR_CLASS_AFFINE && g->flow.rows == 1 && !c.wrap && c.stride > 0 && c.stride <= STRIDE_MAX;
    return steps && mr_ptx_type_bits(d->inst->type[0]) == 32 ? (uint64_t)c.stride * (g->unit->width - 1) : 0;
}

/* With q the first lane's quotient and b the divisor: if all numbers lie in [q * b, (q + 2) * b), and none is negative,
 * then each lane's quotient is q or q + 1, and a comparison tells which. What lanes that don't run hold doesn't count,
 * but the first lane's number is what the others are compared with. */
static LLVMValueRef divide_near(struct cg *g, const struct division *d)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef one = LLVMConstInt(i32, 1, false);
    LLVMValueRef a = LLVMBuildFreeze(g->b, d->a, ""), b = LLVMBuildFreeze(g->b, d->divisor, "");
    struct first f = divide_first(g, a, b, d->factor);
    LLVMValueRef offset = LLVMBuildSub(g->b, a, cg_splat(g, LLVMBuildSub(g->b, f.number, f.rest, "")), "");
    LLVMValueRef last = LLVMBuildSub(g->b, LLVMBuildShl(g->b, b, one, ""), one, "");
    LLVMValueRef good =
        LLVMBuildICmp(g->b, LLVMIntULT, LLVMBuildSub(g->b, b, one, ""), LLVMConstInt(i32, NEAR_DIVISOR_MAX, false), "");
    good = LLVMBuildAnd(g->b, good, LLVMBuildICmp(g->b, LLVMIntSGE, f.number, LLVMConstInt(i32, 0, false), ""), "");
    uint64_t span = known_span(g, d);
    good = LLVMBuildAnd(g->b, good, span ? ends_are_near(g, &f, last, span) : lanes_are_near(g, a, offset, last), "");

    LLVMBasicBlockRef ways[2] = {cg_new_block(g, "near"), cg_new_block(g, "any")}, on = cg_new_block(g, "on");
    LLVMValueRef results[2];
    LLVMBuildCondBr(g->b, good, ways[0], ways[1]);
    LLVMPositionBuilderAtEnd(g->b, ways[0]);
    cg_line_again(g);
    LLVMValueRef next = LLVMBuildICmp(g->b, LLVMIntSGE, offset, cg_splat(g, b), "");
    if (d->inst->op == MR_PTX_OP_DIV)
        results[0] = LLVMBuildSub(g->b, cg_splat(g, f.quotient), LLVMBuildSExt(g->b, next, LLVMTypeOf(a), ""), "");
    else
        results[0] = LLVMBuildSub(g->b, offset, cg_select(g, next, cg_splat(g, b), cg_int(g, i32, 0)), "");
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, ways[1]);
    cg_line_again(g);
    results[1] = divide_any(g, d);
    ways[1] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    cg_line_again(g);
    LLVMValueRef result = LLVMBuildPhi(g->b, LLVMTypeOf(a), "");
    LLVMAddIncoming(result, results, ways, 2);
    return result;
}

void cg_emit_division(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool sign = signed_type(inst->type[0]);
    unsigned bits = mr_ptx_type_bits(inst->type[0]);
    LLVMTypeRef type = cg_int_type(g, bits), work = bits < 32 ? g->unit->i32 : type;
    struct division d = {.inst = inst,
                         .type = work,
                         .sign = sign,
                         .a = cg_resize(g, cg_source(g, &inst->operands[1], type), work, sign),
                         .b = cg_resize(g, cg_source(g, &inst->operands[2], type), work, sign)};
    if (g->now.lanes > 1 && bits <= 32 &&
        mr_flow_operand_class(&g->flow, &inst->operands[2]).kind == MR_CLASS_UNIFORM) {
        d.divisor = scalar_divisor(g, inst, type, sign);
        d.factor = factor_of(g, d.divisor, sign);
    }
    LLVMValueRef r = is_worth_a_test(g, &d) ? divide_near(g, &d) : divide_any(g, &d);
    cg_write(g, &inst->operands[0], cg_resize(g, r, type, false));
}
