/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Flushing (`.ftz`): subnormal numbers become zero of the same sign, operands before the operation and results after
 * it. Compilers write it on every instruction of a program that is built so (nvcc's -use_fast_math, Dr.Jit), where it
 * would be most of the work. So what can't be subnormal is left alone:
 *
 *   - a register is *flushed*, and needs nothing as an operand, if it only ever gets flushed results, integers and
 *     halves as floats, constants, bits without a fraction, bits with one of the exponent's set, and copies of such
 *     registers;
 *   - of flushed numbers, these are not subnormal: the smaller, the larger, one with another sign, a root, a logarithm;
 *   - a product of a flushed number with one of size 1 or more (or a NaN), a *large* register or constant, is zero or
 *     as large as that number;
 *   - a sum of any number, or of a product, with one of size 2^-76 or more is zero or larger than a subnormal number. A
 *     product of two numbers that are not subnormal, if it is about as large as the other number, is a multiple of
 *     2^-48 times that, and so is the sum. Polynomials have such a constant in each step.
 *
 * Hardware flushes a product that is below the least normal number before it is rounded. With AVX-512 the product
 * rounded towards zero tells; without, a double does, which holds it whole.
 */
#include "base/alloc.h"
#include "compile/codegen/numbers/numbers.h"

#include <math.h>
#include <string.h>

#define LEAST_NORMAL 0x1p-126
#define LEAST_ADDEND 0x1p-76
#define TINY_CLASSES 0x26     /* of vfpclassps: subnormal numbers and zeros */
#define TOWARDS_ZERO 11      /* of vmulps: and no exceptions */
/* of the bits of an f32 */
#define SIGN 0x80000000u
#define EXPONENT 0x7f800000u
#define EXPONENT_OF_1 0x3f800000u
#define FRACTION 0x007fffffu
#define FRACTION_BITS 23u

/* ---- what is known of registers ---- */

static unsigned known_of_number(double number)
{
    double size = fabs(number);
    return (size > 0 && size < LEAST_NORMAL ? 0 : CG_NUMBER_FLUSHED) |
           (size >= 1 || isnan(number) ? CG_NUMBER_LARGE : 0);
}

static unsigned known_of_bits(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return known_of_number((double)number);
}

static unsigned known_of_constant(const struct mr_ptx_operand *operand)
{
    double number;
    memcpy(&number, &operand->value, sizeof number);
    return operand->is_single ? known_of_bits((uint32_t)operand->value) : known_of_number((double)(float)number);
}

/* Of what a move of 32 bits takes. */
static unsigned known_of_source(const struct mr_ptx_operand *operand, const uint8_t *known)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
        return known[operand->reg];
    case MR_PTX_OPERAND_IMM_INT:
        return known_of_bits((uint32_t)operand->value);
    case MR_PTX_OPERAND_IMM_FLOAT:
        return known_of_constant(operand);
    default:
        return 0;
    }
}

static bool is_integer(unsigned type)
{
    return strchr("US", mr_ptx_type_class(type)) != NULL;
}

/* Of a conversion to f32. No integer and no half is subnormal there. */
static unsigned known_of_converted(const struct mr_ptx_inst *inst)
{
    if (inst->type_count != 2)
        return 0;
    unsigned from = inst->type[1];
    bool flushes = (inst->flags & MR_PTX_FLAG_FTZ) &&
                   (from == MR_PTX_TYPE_F32 || from == MR_PTX_TYPE_F64 || from == MR_PTX_TYPE_BF16);
    return flushes || from == MR_PTX_TYPE_F16 || is_integer(from) ? CG_NUMBER_FLUSHED : 0;
}

/* The constant among the operands of an instruction on bits; NULL if there is none. */
static const struct mr_ptx_operand *constant_of(const struct mr_ptx_inst *inst)
{
    for (unsigned i = 1; i < inst->operand_count; i++)
        if (inst->operands[i].kind == MR_PTX_OPERAND_IMM_INT)
            return &inst->operands[i];
    return NULL;
}

/* Of bits that a mask or a shift leaves. A subnormal number has a fraction, and no bit of the exponent. Programs make
 * powers of two so, and take numbers apart. */
static unsigned known_of_pattern(const struct mr_ptx_inst *inst, const uint8_t *known)
{
    const struct mr_ptx_operand *constant = constant_of(inst), *other;
    if (!constant)
        return 0;
    uint32_t bits = (uint32_t)constant->value;
    switch (inst->op) {
    case MR_PTX_OP_SHL:
        return constant == &inst->operands[2] && bits >= FRACTION_BITS ? CG_NUMBER_FLUSHED : 0;
    case MR_PTX_OP_AND:
        other = constant == &inst->operands[1] ? &inst->operands[2] : &inst->operands[1];
        if (bits == ~SIGN)
            return known_of_source(other, known);
        return bits & FRACTION ? 0 : CG_NUMBER_FLUSHED;
    default: /* or */
        return (bits & EXPONENT ? CG_NUMBER_FLUSHED : 0) | ((bits & EXPONENT) >= EXPONENT_OF_1 ? CG_NUMBER_LARGE : 0);
    }
}

/* Of what an instruction writes to its first operand. */
static unsigned known_of_result(const struct mr_ptx_inst *inst, const uint8_t *known)
{
    if (!inst->type_count || (inst->type[0] != MR_PTX_TYPE_F32 && inst->type[0] != MR_PTX_TYPE_B32))
        return 0;
    bool flushes = inst->type[0] == MR_PTX_TYPE_F32 && inst->type_count == 1 && (inst->flags & MR_PTX_FLAG_FTZ);
    switch (inst->op) {
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
    case MR_PTX_OP_ABS:
        return flushes ? CG_NUMBER_FLUSHED : 0;
    case MR_PTX_OP_CVT:
        return inst->type[0] == MR_PTX_TYPE_F32 ? known_of_converted(inst) : 0;
    case MR_PTX_OP_SHL:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
        return known_of_pattern(inst, known);
    case MR_PTX_OP_MOV:
        return known_of_source(&inst->operands[1], known);
    case MR_PTX_OP_SELP:
        return known_of_source(&inst->operands[1], known) & known_of_source(&inst->operands[2], known);
    default:
        return flushes && cg_computes(inst->op) ? CG_NUMBER_FLUSHED : 0;
    }
}

struct narrowing {
    uint8_t *known;
    unsigned left; /* what the instruction at hand leaves of what was known of the registers that it writes */
    bool changed;
};

static void narrow(void *data, uint32_t reg, bool is_definition)
{
    struct narrowing *narrowing = data;
    uint8_t *known = &narrowing->known[reg];
    if (!is_definition || (*known & narrowing->left) == *known)
        return;
    *known &= (uint8_t)narrowing->left;
    narrowing->changed = true;
}

bool cg_flush_prepare(struct cg *g)
{
    const struct mr_ptx_function *func = g->func;
    uint8_t *known = mr_calloc(g->flow.reg_count ? g->flow.reg_count : 1, sizeof *known);
    g->regs.known = known;
    if (!known)
        return false;
    for (uint32_t r = 0; r < func->reg_count; r++)
        if (func->regs[r].type == MR_PTX_TYPE_F32 || func->regs[r].type == MR_PTX_TYPE_B32)
            known[r] = CG_NUMBER_FLUSHED | CG_NUMBER_LARGE;
    for (uint32_t p = 0; p < func->param_count; p++)
        if (func->params[p]->reg != MR_PTX_NONE)
            known[func->params[p]->reg] = 0;
    struct narrowing narrowing = {.known = known, .changed = true};
    while (narrowing.changed) {
        narrowing.changed = false;
        for (uint32_t i = 0; i < func->inst_count; i++) {
            const struct mr_ptx_inst *inst = &func->insts[i];
            narrowing.left =
                inst->dst_count == 1 && inst->operands[0].kind == MR_PTX_OPERAND_REG ? known_of_result(inst, known) : 0;
            mr_flow_registers(&g->flow, inst, narrow, &narrowing);
        }
    }
    return true;
}

unsigned cg_flush_known(const struct cg *g, const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_REG         ? g->regs.known[operand->reg]
           : operand->kind == MR_PTX_OPERAND_IMM_FLOAT ? known_of_constant(operand)
                                                       : 0;
}

bool cg_flush_sum_is_normal(const struct cg *g, const struct mr_ptx_operand *addend)
{
    if (addend->kind != MR_PTX_OPERAND_IMM_FLOAT)
        return addend->kind == MR_PTX_OPERAND_REG && (g->regs.known[addend->reg] & CG_NUMBER_LARGE);
    double number;
    memcpy(&number, &addend->value, sizeof number);
    if (addend->is_single) {
        uint32_t bits = (uint32_t)addend->value;
        float single;
        memcpy(&single, &bits, sizeof single);
        number = (double)single;
    }
    return fabs(number) >= LEAST_ADDEND;
}

/* ---- flushing ---- */

/* Which elements are subnormal or zero. */
static LLVMValueRef are_tiny(struct cg *g, LLVMValueRef value)
{
    LLVMTypeRef type = cg_element(value);
    if (!cg_wide_fits(g, value)) {
        double least = type == g->unit->f64 ? 0x1p-1022 : LEAST_NORMAL;
        return LLVMBuildFCmp(g->b, LLVMRealOLT, cg_unary(g, "llvm.fabs", value), cg_real(g, type, least), "");
    }
    LLVMValueRef args[2] = {value, LLVMConstInt(g->unit->i32, TINY_CLASSES, false)};
    return cg_wide(g, "llvm.x86.avx512.fpclass.ps.512", args, 2);
}

/* Zero of the same sign for the elements that are tiny. (By a mask: copysign would be one of the choices that mend.c
 * has to store.) */
static LLVMValueRef without(struct cg *g, LLVMValueRef value, LLVMValueRef tiny)
{
    LLVMTypeRef type = cg_element(value), bits = cg_int_type(g, cg_bits(type));
    LLVMValueRef keep =
        cg_select(g, tiny, cg_int(g, bits, UINT64_C(1) << (cg_bits(type) - 1)), cg_int(g, bits, UINT64_MAX));
    return cg_cast_bits(g, LLVMBuildAnd(g->b, cg_cast_bits(g, value, bits), keep, ""), type);
}

LLVMValueRef cg_flush(struct cg *g, LLVMValueRef value)
{
    return without(g, value, are_tiny(g, value));
}

LLVMValueRef cg_flush_operand(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value)
{
    return cg_flush_known(g, operand) & CG_NUMBER_FLUSHED ? value : cg_flush(g, value);
}

LLVMValueRef cg_flushed_product(struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef product)
{
    if (cg_wide_fits(g, a) && cg_wide_fits(g, b)) {
        LLVMValueRef args[3] = {a, b, LLVMConstInt(g->unit->i32, TOWARDS_ZERO, false)};
        return without(g, product, are_tiny(g, cg_wide(g, "llvm.x86.avx512.mul.ps.512", args, 3)));
    }
    LLVMTypeRef doubles = cg_type(g, g->unit->f64);
    LLVMValueRef whole =
        LLVMBuildFMul(g->b, LLVMBuildFPExt(g->b, a, doubles, ""), LLVMBuildFPExt(g->b, b, doubles, ""), "");
    LLVMValueRef least = cg_real(g, g->unit->f64, LEAST_NORMAL), size = cg_unary(g, "llvm.fabs", whole);
    return without(g, product, LLVMBuildFCmp(g->b, LLVMRealOLT, size, least, ""));
}
