/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Comparison and selection: setp, set, selp, slct.
 */
#include "compile/codegen/cg.h"

static bool float_class(unsigned type)
{
    return mr_ptx_type_class(type) == 'F';
}

/* An operand as what its type compares as: halves as f32, which holds them exactly. */
static LLVMValueRef comparable(struct cg *g, const struct mr_ptx_operand *operand, unsigned type, uint32_t flags)
{
    LLVMValueRef value;
    switch (type) {
    case MR_PTX_TYPE_F16:
        value = cg_half_to_float(g, cg_source(g, operand, g->unit->i16));
        return flags & MR_PTX_FLAG_FTZ ? cg_flush_half_number(g, value) : value;
    case MR_PTX_TYPE_BF16:
        return cg_bfloat_to_float(g, cg_source(g, operand, g->unit->i16));
    case MR_PTX_TYPE_F32:
        value = cg_source(g, operand, g->unit->f32);
        return flags & MR_PTX_FLAG_FTZ ? cg_flush(g, value) : value;
    case MR_PTX_TYPE_F64:
        return cg_source(g, operand, g->unit->f64);
    default:
        return cg_source(g, operand, cg_int_type(g, mr_ptx_type_bits(type)));
    }
}

static LLVMValueRef compare_floats(struct cg *g, unsigned cmp, LLVMValueRef a, LLVMValueRef b)
{
    static const LLVMRealPredicate predicates[] = {
        [MR_PTX_CMP_EQ] = LLVMRealOEQ, [MR_PTX_CMP_NE] = LLVMRealONE, [MR_PTX_CMP_LT] = LLVMRealOLT,
        [MR_PTX_CMP_LE] = LLVMRealOLE, [MR_PTX_CMP_GT] = LLVMRealOGT, [MR_PTX_CMP_GE] = LLVMRealOGE,
        [MR_PTX_CMP_LO] = LLVMRealOLT, [MR_PTX_CMP_LS] = LLVMRealOLE, [MR_PTX_CMP_HI] = LLVMRealOGT,
        [MR_PTX_CMP_HS] = LLVMRealOGE, [MR_PTX_CMP_EQU] = LLVMRealUEQ, [MR_PTX_CMP_NEU] = LLVMRealUNE,
        [MR_PTX_CMP_LTU] = LLVMRealULT, [MR_PTX_CMP_LEU] = LLVMRealULE, [MR_PTX_CMP_GTU] = LLVMRealUGT,
        [MR_PTX_CMP_GEU] = LLVMRealUGE, [MR_PTX_CMP_NUM] = LLVMRealORD, [MR_PTX_CMP_NAN] = LLVMRealUNO};
    return LLVMBuildFCmp(g->b, predicates[cmp], a, b, "");
}

static LLVMValueRef compare_integers(struct cg *g, unsigned cmp, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMIntPredicate predicate;
    switch (cmp) {
    case MR_PTX_CMP_EQ: predicate = LLVMIntEQ; break;
    case MR_PTX_CMP_NE: predicate = LLVMIntNE; break;
    case MR_PTX_CMP_LT: predicate = is_signed ? LLVMIntSLT : LLVMIntULT; break;
    case MR_PTX_CMP_LE: predicate = is_signed ? LLVMIntSLE : LLVMIntULE; break;
    case MR_PTX_CMP_GT: predicate = is_signed ? LLVMIntSGT : LLVMIntUGT; break;
    case MR_PTX_CMP_GE: predicate = is_signed ? LLVMIntSGE : LLVMIntUGE; break;
    case MR_PTX_CMP_LO: predicate = LLVMIntULT; break;
    case MR_PTX_CMP_LS: predicate = LLVMIntULE; break;
    case MR_PTX_CMP_HI: predicate = LLVMIntUGT; break;
    default: predicate = LLVMIntUGE; break;
    }
    return LLVMBuildICmp(g->b, predicate, a, b, "");
}

static LLVMValueRef combined(struct cg *g, unsigned boolop, LLVMValueRef a, LLVMValueRef b)
{
    switch (boolop) {
    case MR_PTX_BOOL_AND: return LLVMBuildAnd(g->b, a, b, "");
    case MR_PTX_BOOL_OR: return LLVMBuildOr(g->b, a, b, "");
    case MR_PTX_BOOL_XOR: return LLVMBuildXor(g->b, a, b, "");
    default: return a;
    }
}

static void emit_set(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef truth)
{
    LLVMValueRef r;
    switch (inst->type[0]) {
    case MR_PTX_TYPE_F32:
        r = cg_select(g, truth, cg_real(g, g->unit->f32, 1.0), cg_real(g, g->unit->f32, 0.0));
        break;
    case MR_PTX_TYPE_F16:
        r = cg_select(g, truth, cg_int(g, g->unit->i16, 0x3c00), cg_int(g, g->unit->i16, 0));
        break;
    case MR_PTX_TYPE_BF16:
        r = cg_select(g, truth, cg_int(g, g->unit->i16, 0x3f80), cg_int(g, g->unit->i16, 0));
        break;
    default:
        r = cg_resize(g, truth, cg_int_type(g, mr_ptx_type_bits(inst->type[0])), true);
        break;
    }
    cg_write(g, &inst->operands[0], r);
}

/* Both halves of a pair: the lower gives the first result. */
static bool emit_pairs(struct cg *g, const struct mr_ptx_inst *inst, unsigned type)
{
    if (type != MR_PTX_TYPE_F16X2 && type != MR_PTX_TYPE_BF16X2)
        return false;
    LLVMTypeRef i32 = g->unit->i32;
    bool bfloat = type == MR_PTX_TYPE_BF16X2;
    LLVMValueRef other = inst->operand_count > 3 ? cg_predicate(g, &inst->operands[3]) : NULL, truth[2];
    for (unsigned part = 0; part < 2; part++) {
        LLVMValueRef sides[2];
        for (unsigned i = 0; i < 2; i++) {
            LLVMValueRef bits = LLVMBuildLShr(g->b, cg_source(g, &inst->operands[1 + i], i32), cg_int(g, i32, 16 * part), "");
            bits = cg_resize(g, bits, g->unit->i16, false);
            sides[i] = bfloat ? cg_bfloat_to_float(g, bits) : cg_half_to_float(g, bits);
            if ((inst->flags & MR_PTX_FLAG_FTZ) && !bfloat)
                sides[i] = cg_flush_half_number(g, sides[i]);
        }
        truth[part] = compare_floats(g, inst->cmp, sides[0], sides[1]);
        if (other)
            truth[part] = combined(g, inst->boolop, truth[part], other);
    }
    if (inst->op == MR_PTX_OP_SETP) {
        cg_write(g, &inst->operands[0], truth[0]);
        if (inst->operands[0].kind == MR_PTX_OPERAND_PAIR && inst->operands[0].reg2 != MR_PTX_NONE)
            cg_write_reg(g, inst->operands[0].reg2, truth[1]);
        return true;
    }
    /* An integer result has all bits of a half set where a pair of floats has 1. */
    bool floats = mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) == 'F';
    uint64_t one = !floats ? 0xffff : inst->type[0] == MR_PTX_TYPE_BF16X2 ? 0x3f80 : 0x3c00;
    LLVMValueRef low = cg_select(g, truth[0], cg_int(g, i32, one), cg_int(g, i32, 0));
    LLVMValueRef high = cg_select(g, truth[1], cg_int(g, i32, one << 16), cg_int(g, i32, 0));
    cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, low, high, ""));
    return true;
}

static void emit_comparison(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned type = inst->op == MR_PTX_OP_SET ? inst->type[1] : inst->type[0];
    if (emit_pairs(g, inst, type))
        return;
    LLVMValueRef a = comparable(g, &inst->operands[1], type, inst->flags);
    LLVMValueRef b = comparable(g, &inst->operands[2], type, inst->flags);
    bool sign = mr_ptx_type_class(type) == 'S';
    LLVMValueRef truth = float_class(type) ? compare_floats(g, inst->cmp, a, b)
                                           : compare_integers(g, inst->cmp, sign, a, b);
    LLVMValueRef other = inst->operand_count > 3 ? cg_predicate(g, &inst->operands[3]) : NULL;
    LLVMValueRef r = other ? combined(g, inst->boolop, truth, other) : truth;
    if (inst->op == MR_PTX_OP_SET) {
        emit_set(g, inst, r);
        return;
    }
    const struct mr_ptx_operand *to = &inst->operands[0];
    LLVMValueRef opposite = NULL;
    if (to->kind == MR_PTX_OPERAND_PAIR && to->reg2 != MR_PTX_NONE) {
        opposite = LLVMBuildNot(g->b, truth, "");
        opposite = other ? combined(g, inst->boolop, opposite, other) : opposite;
    }
    cg_write(g, to, r);
    if (opposite)
        cg_write_reg(g, to->reg2, opposite);
}

bool cg_emit_compare(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type;
    LLVMValueRef choice, zero;
    switch (inst->op) {
    case MR_PTX_OP_SETP: case MR_PTX_OP_SET:
        emit_comparison(g, inst);
        return true;
    case MR_PTX_OP_SELP:
        type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
        if (float_class(inst->type[0]) && mr_ptx_type_bits(inst->type[0]) >= 32 && inst->type[0] != MR_PTX_TYPE_F16X2)
            type = inst->type[0] == MR_PTX_TYPE_F64 ? g->unit->f64 : g->unit->f32;
        choice = cg_predicate(g, &inst->operands[3]);
        break;
    case MR_PTX_OP_SLCT:
        type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
        if (inst->type[0] == MR_PTX_TYPE_F32 || inst->type[0] == MR_PTX_TYPE_F64)
            type = inst->type[0] == MR_PTX_TYPE_F64 ? g->unit->f64 : g->unit->f32;
        choice = comparable(g, &inst->operands[3], inst->type[1], inst->flags);
        zero = LLVMConstNull(LLVMTypeOf(choice));
        choice = inst->type[1] == MR_PTX_TYPE_F32 ? LLVMBuildFCmp(g->b, LLVMRealOGE, choice, zero, "")
                                                  : LLVMBuildICmp(g->b, LLVMIntSGE, choice, zero, "");
        break;
    default:
        return false;
    }
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    cg_write(g, &inst->operands[0], cg_select(g, choice, a, b));
    return true;
}
