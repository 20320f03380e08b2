/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Video instructions. Scalar ones work on 64 bits: parts of registers, extended
 * by their own sign, then the operation, saturation, and the second operation or
 * the merge with the third input. The manual describes all of that with results
 * as wide as they need to be; where the code here says "hardware", an H200 does
 * something else, and so does Millrace (docs/ptx.md). SIMD ones do the same for
 * two halves or four bytes, as the manual says.
 */
#include "compile/codegen/emit/emit.h"
#include "ptx/ptx_tables.h"

static LLVMValueRef is_less(struct cg *g, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(g->b, LLVMIntSLT, a, b, "");
}

static LLVMValueRef smaller(struct cg *g, LLVMValueRef a, LLVMValueRef b, bool larger)
{
    LLVMValueRef less = is_less(g, a, b);
    return larger ? cg_select(g, less, b, a) : cg_select(g, less, a, b);
}

/* `a` if it stands so to `b`, otherwise `b`. */
static LLVMValueRef chosen(struct cg *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
    return cg_select(g, LLVMBuildICmp(g->b, predicate, a, b, ""), a, b);
}

/* `bits` bits from `shift` on, extended to `wide`. */
static LLVMValueRef part(struct cg *g, LLVMValueRef word, unsigned shift, unsigned bits, bool is_signed,
                         LLVMTypeRef wide)
{
    if (shift)
        word = LLVMBuildLShr(g->b, word, cg_int(g, g->unit->i32, shift), "");
    if (bits < 32)
        word = cg_resize(g, word, cg_int_type(g, bits), false);
    return cg_resize(g, word, wide, is_signed);
}

static bool has_sign(const struct mr_ptx_inst *inst, unsigned type)
{
    return mr_ptx_type_class((enum mr_ptx_type)inst->type[type]) == 'S';
}

/* Where a scalar selector points. */
static void selected(unsigned selector, unsigned *shift, unsigned *bits)
{
    *bits = selector == 0 ? 32 : selector < 5 ? 8 : 16;
    *shift = selector == 0 ? 0 : selector < 5 ? 8 * (selector - 1) : 16 * (selector - 5);
}

/* An operand as 32 bits, without the minus before it. */
static LLVMValueRef word_source(struct cg *g, const struct mr_ptx_operand *operand)
{
    struct mr_ptx_operand plain = *operand;
    plain.negated = false;
    return cg_source(g, &plain, g->unit->i32);
}

static LLVMValueRef scalar_source(struct cg *g, const struct mr_ptx_operand *operand, bool is_signed, LLVMTypeRef wide)
{
    unsigned shift, bits;
    selected(operand->selector, &shift, &bits);
    return part(g, word_source(g, operand), shift, bits, is_signed, wide);
}

/* To the range of `bits` bits. */
static LLVMValueRef saturated(struct cg *g, LLVMValueRef value, unsigned bits, bool is_signed)
{
    LLVMTypeRef wide = cg_element(value);
    int64_t most = is_signed ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    value = smaller(g, value, cg_int(g, wide, (uint64_t)most), false);
    LLVMValueRef least = is_signed ? cg_int(g, wide, (uint64_t)(-most - 1)) : cg_int(g, wide, 0);
    return smaller(g, value, least, true);
}

static bool is_shift(unsigned op)
{
    return op == MR_PTX_OP_VSHL || op == MR_PTX_OP_VSHR;
}

static LLVMIntPredicate comparison(unsigned cmp)
{
    switch (cmp) {
    case MR_PTX_CMP_EQ:
        return LLVMIntEQ;
    case MR_PTX_CMP_NE:
        return LLVMIntNE;
    case MR_PTX_CMP_LT:
        return LLVMIntSLT;
    case MR_PTX_CMP_LE:
        return LLVMIntSLE;
    case MR_PTX_CMP_GT:
        return LLVMIntSGT;
    default:
        return LLVMIntSGE;
    }
}

/* The shift of `a` by `count`, which is not negative. */
static LLVMValueRef shifted(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef a, LLVMValueRef count)
{
    LLVMTypeRef wide = cg_element(a);
    count = inst->mode2 == MR_PTX_MODE_WRAP ? LLVMBuildAnd(g->b, count, cg_int(g, wide, 31), "")
                                            : smaller(g, count, cg_int(g, wide, 32), false);
    return inst->op == MR_PTX_OP_VSHL ? LLVMBuildShl(g->b, a, count, "") : LLVMBuildAShr(g->b, a, count, "");
}

/*
 * A scalar result to the range of its `bits` bits, as hardware does it. Bytes and
 * halves are cut above, as numbers without a sign, which makes negative ones the
 * largest; words without a sign are cut at 0 alone, and differences not at all.
 * Shifts keep 34 bits, and cut those at both ends, to the range of a word
 * wherever they go.
 */
static LLVMValueRef scalar_saturated(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef r, unsigned bits,
                                     bool is_signed)
{
    LLVMTypeRef wide = cg_element(r);
    if (is_shift(inst->op))
        return saturated(g, cg_resize(g, cg_resize(g, r, cg_int_type(g, 34), false), wide, true), 32, is_signed);
    if (bits < 32)
        return chosen(g, LLVMIntULT, r, cg_int(g, wide, (UINT64_C(1) << (is_signed ? bits - 1 : bits)) - 1));
    if (is_signed)
        return saturated(g, r, bits, true);
    return inst->op == MR_PTX_OP_VABSDIFF ? r : smaller(g, r, cg_int(g, wide, 0), true);
}

/*
 * The second operation of a scalar result and the third input, which has the
 * result's sign. Hardware compares 64 bits, of which sums, differences and what
 * shifts saturated have the low 32, with a sign whatever their type.
 */
static LLVMValueRef second(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef r, bool is_signed)
{
    LLVMTypeRef wide = cg_element(r), word = g->unit->i32;
    LLVMValueRef c = cg_resize(g, cg_source(g, &inst->operands[3], word), wide, is_signed);
    if (inst->atom == MR_PTX_ATOM_ADD)
        return LLVMBuildAdd(g->b, r, c, "");
    if (inst->op == MR_PTX_OP_VADD || inst->op == MR_PTX_OP_VSUB ||
        (is_shift(inst->op) && inst->flags & MR_PTX_FLAG_SAT))
        r = cg_resize(g, cg_resize(g, r, word, false), wide, true);
    if (inst->atom == MR_PTX_ATOM_MAX)
        return chosen(g, is_signed ? LLVMIntSGT : LLVMIntUGT, r, c);
    return chosen(g, is_signed ? LLVMIntSLT : LLVMIntULT, r, c);
}

/* The operation proper, on numbers that are extended already. */
static LLVMValueRef operate(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef wide = cg_element(a);
    LLVMValueRef sum;
    switch (inst->op) {
    case MR_PTX_OP_VADD:
    case MR_PTX_OP_VADD2:
    case MR_PTX_OP_VADD4:
        return LLVMBuildAdd(g->b, a, b, "");
    case MR_PTX_OP_VSUB:
    case MR_PTX_OP_VSUB2:
    case MR_PTX_OP_VSUB4:
        return LLVMBuildSub(g->b, a, b, "");
    case MR_PTX_OP_VABSDIFF:
    case MR_PTX_OP_VABSDIFF2:
    case MR_PTX_OP_VABSDIFF4:
        return LLVMBuildSub(g->b, smaller(g, a, b, true), smaller(g, a, b, false), "");
    case MR_PTX_OP_VMIN:
    case MR_PTX_OP_VMIN2:
    case MR_PTX_OP_VMIN4:
        return smaller(g, a, b, false);
    case MR_PTX_OP_VMAX:
    case MR_PTX_OP_VMAX2:
    case MR_PTX_OP_VMAX4:
        return smaller(g, a, b, true);
    case MR_PTX_OP_VAVRG2:
    case MR_PTX_OP_VAVRG4:
        /* Halves are rounded away from zero. */
        sum = LLVMBuildAdd(g->b, a, b, "");
        a = cg_select(g, is_less(g, sum, cg_int(g, wide, 0)), cg_int(g, wide, 0), cg_int(g, wide, 1));
        return LLVMBuildAShr(g->b, LLVMBuildAdd(g->b, sum, a, ""), cg_int(g, wide, 1), "");
    case MR_PTX_OP_VSHL:
    case MR_PTX_OP_VSHR:
        return shifted(g, inst, a, b);
    default:
        return cg_resize(g, LLVMBuildICmp(g->b, comparison(inst->cmp), a, b, ""), wide, false);
    }
}

static bool is_set(unsigned op)
{
    return op == MR_PTX_OP_VSET || op == MR_PTX_OP_VSET2 || op == MR_PTX_OP_VSET4;
}

static void emit_scalar(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef wide = g->unit->i64, word = g->unit->i32;
    unsigned first = is_set(inst->op) ? 0 : 1, shift, bits;
    /* vset has no type for its result; on hardware it is that of its first input. */
    bool is_signed = has_sign(inst, 0);
    LLVMValueRef a = scalar_source(g, &inst->operands[1], has_sign(inst, first), wide);
    LLVMValueRef b = scalar_source(g, &inst->operands[2], has_sign(inst, first + 1), wide);
    LLVMValueRef r = operate(g, inst, a, b);
    selected(inst->operands[0].selector, &shift, &bits);
    if (inst->flags & MR_PTX_FLAG_SAT)
        r = scalar_saturated(g, inst, r, bits, is_signed);
    if (inst->atom != MR_PTX_ATOM_NONE)
        r = second(g, inst, r, is_signed);
    r = cg_resize(g, r, word, false);
    if (bits < 32) {
        uint32_t mask = ((UINT32_C(1) << bits) - 1) << shift;
        /* To the upper half hardware takes the result's upper half. */
        if (bits == 8)
            r = LLVMBuildShl(g->b, r, cg_int(g, word, shift), "");
        r = LLVMBuildAnd(g->b, r, cg_int(g, word, mask), "");
        r = LLVMBuildOr(g->b, r, LLVMBuildAnd(g->b, cg_source(g, &inst->operands[3], word), cg_int(g, word, ~mask), ""),
                        "");
    }
    cg_write(g, &inst->operands[0], r);
}

/* One lane of a SIMD source, which chooses among the parts of both inputs. */
static LLVMValueRef simd_source(struct cg *g, const struct mr_ptx_inst *inst, unsigned place, unsigned lane,
                                unsigned lanes, bool is_signed)
{
    unsigned bits = 32 / lanes, digit = inst->operands[place].selector >> (4 * lane) & 15;
    const struct mr_ptx_operand *from = &inst->operands[digit < lanes ? 1 : 2];
    return part(g, cg_source(g, from, g->unit->i32), digit % lanes * bits, bits, is_signed, g->unit->i32);
}

static void emit_simd(struct cg *g, const struct mr_ptx_inst *inst, unsigned lanes)
{
    LLVMTypeRef word = g->unit->i32;
    unsigned first = is_set(inst->op) ? 0 : 1, bits = 32 / lanes, mask = inst->operands[0].selector;
    LLVMValueRef c = cg_source(g, &inst->operands[3], word);
    bool adds = inst->atom == MR_PTX_ATOM_ADD;
    LLVMValueRef r = adds ? c : cg_int(g, word, 0);
    for (unsigned lane = 0; lane < lanes; lane++) {
        uint32_t field = ((UINT32_C(1) << bits) - 1) << (lane * bits);
        if (!(mask >> lane & 1)) {
            r = adds ? r : LLVMBuildOr(g->b, r, LLVMBuildAnd(g->b, c, cg_int(g, word, field), ""), "");
            continue;
        }
        LLVMValueRef a = simd_source(g, inst, 1, lane, lanes, has_sign(inst, first));
        LLVMValueRef b = simd_source(g, inst, 2, lane, lanes, has_sign(inst, first + 1));
        LLVMValueRef t = operate(g, inst, a, b);
        if (inst->flags & MR_PTX_FLAG_SAT)
            t = saturated(g, t, bits, has_sign(inst, 0));
        if (adds) {
            r = LLVMBuildAdd(g->b, r, t, "");
        } else {
            t = LLVMBuildAnd(g->b, LLVMBuildShl(g->b, t, cg_int(g, word, lane * bits), ""), cg_int(g, word, field), "");
            r = LLVMBuildOr(g->b, r, t, "");
        }
    }
    cg_write(g, &inst->operands[0], r);
}

/* A factor: hardware takes whole words for numbers with a sign, whatever their type, so that 64 bits are enough for all
 * products and sums. */
static LLVMValueRef factor(struct cg *g, const struct mr_ptx_inst *inst, unsigned place)
{
    const struct mr_ptx_operand *operand = &inst->operands[place];
    return scalar_source(g, operand, operand->selector == 0 || has_sign(inst, place), g->unit->i64);
}

/* a * b + c, shifted and saturated with a sign where the manual has one; hardware extends c by its sign always. */
static void emit_mad(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    LLVMTypeRef wide = g->unit->i64;
    bool product = operands[1].negated != operands[2].negated;
    bool is_signed = has_sign(inst, 1) || has_sign(inst, 2) || product || operands[3].negated;
    LLVMValueRef c = word_source(g, &operands[3]), r = LLVMBuildMul(g->b, factor(g, inst, 1), factor(g, inst, 2), "");
    bool one = product || operands[3].negated || (inst->flags & MR_PTX_FLAG_PO);
    if (product)
        r = LLVMBuildNot(g->b, r, "");
    if (operands[3].negated)
        c = LLVMBuildNot(g->b, c, "");
    r = LLVMBuildAdd(g->b, r, cg_resize(g, c, wide, true), "");
    if (one)
        r = LLVMBuildAdd(g->b, r, cg_int(g, wide, 1), "");
    unsigned scale = inst->mode == MR_PTX_MODE_SHR7 ? 7 : inst->mode == MR_PTX_MODE_SHR15 ? 15 : 0;
    r = LLVMBuildBinOp(g->b, is_signed ? LLVMAShr : LLVMLShr, r, cg_int(g, wide, scale), "");
    if (inst->flags & MR_PTX_FLAG_SAT)
        r = saturated(g, r, 32, is_signed);
    cg_write(g, &inst->operands[0], cg_resize(g, r, g->unit->i32, false));
}

bool cg_emit_video(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned lanes = mr_ptx_video_lanes((enum mr_ptx_op)inst->op);
    if (lanes == 0)
        return false;
    if (inst->op == MR_PTX_OP_VMAD)
        emit_mad(g, inst);
    else if (lanes == 1)
        emit_scalar(g, inst);
    else
        emit_simd(g, inst, lanes);
    return true;
}
