/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Comparison and selection: setp, set, selp, slct.
 *
 * Numbers that rise by one from lane to lane are mostly compared with a scalar ("i < n"). How many lanes hold is then a
 * matter of a few scalar instructions, where vectors of 32 numbers of 64 bits take forty of 256 bits.
 */
#include "compile/codegen/emit/emit.h"

/* Instructions of a function in which readers of predicates are looked for. */
#define GUARDS_MAX 4000u

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
        return flags & MR_PTX_FLAG_FTZ ? cg_flush_operand(g, operand, value) : value;
    case MR_PTX_TYPE_F64:
        return cg_source(g, operand, g->unit->f64);
    default:
        return cg_source(g, operand, cg_int_type(g, mr_ptx_type_bits(type)));
    }
}

static LLVMValueRef compare_floats(struct cg *g, unsigned cmp, LLVMValueRef a, LLVMValueRef b)
{
    static const LLVMRealPredicate predicates[] = {
        [MR_PTX_CMP_EQ] = LLVMRealOEQ,  [MR_PTX_CMP_NE] = LLVMRealONE,  [MR_PTX_CMP_LT] = LLVMRealOLT,
        [MR_PTX_CMP_LE] = LLVMRealOLE,  [MR_PTX_CMP_GT] = LLVMRealOGT,  [MR_PTX_CMP_GE] = LLVMRealOGE,
        [MR_PTX_CMP_LO] = LLVMRealOLT,  [MR_PTX_CMP_LS] = LLVMRealOLE,  [MR_PTX_CMP_HI] = LLVMRealOGT,
        [MR_PTX_CMP_HS] = LLVMRealOGE,  [MR_PTX_CMP_EQU] = LLVMRealUEQ, [MR_PTX_CMP_NEU] = LLVMRealUNE,
        [MR_PTX_CMP_LTU] = LLVMRealULT, [MR_PTX_CMP_LEU] = LLVMRealULE, [MR_PTX_CMP_GTU] = LLVMRealUGT,
        [MR_PTX_CMP_GEU] = LLVMRealUGE, [MR_PTX_CMP_NUM] = LLVMRealORD, [MR_PTX_CMP_NAN] = LLVMRealUNO};
    return LLVMBuildFCmp(g->b, predicates[cmp], a, b, "");
}

static LLVMValueRef compare_integers(struct cg *g, unsigned cmp, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMIntPredicate predicate;
    switch (cmp) {
    case MR_PTX_CMP_EQ:
        predicate = LLVMIntEQ;
        break;
    case MR_PTX_CMP_NE:
        predicate = LLVMIntNE;
        break;
    case MR_PTX_CMP_LT:
        predicate = is_signed ? LLVMIntSLT : LLVMIntULT;
        break;
    case MR_PTX_CMP_LE:
        predicate = is_signed ? LLVMIntSLE : LLVMIntULE;
        break;
    case MR_PTX_CMP_GT:
        predicate = is_signed ? LLVMIntSGT : LLVMIntUGT;
        break;
    case MR_PTX_CMP_GE:
        predicate = is_signed ? LLVMIntSGE : LLVMIntUGE;
        break;
    case MR_PTX_CMP_LO:
        predicate = LLVMIntULT;
        break;
    case MR_PTX_CMP_LS:
        predicate = LLVMIntULE;
        break;
    case MR_PTX_CMP_HI:
        predicate = LLVMIntUGT;
        break;
    default:
        predicate = LLVMIntUGE;
        break;
    }
    return LLVMBuildICmp(g->b, predicate, a, b, "");
}

/* The comparison with its sides changed. */
static unsigned mirrored(unsigned cmp)
{
    switch (cmp) {
    case MR_PTX_CMP_LT:
        return MR_PTX_CMP_GT;
    case MR_PTX_CMP_LE:
        return MR_PTX_CMP_GE;
    case MR_PTX_CMP_GT:
        return MR_PTX_CMP_LT;
    case MR_PTX_CMP_GE:
        return MR_PTX_CMP_LE;
    case MR_PTX_CMP_LO:
        return MR_PTX_CMP_HI;
    case MR_PTX_CMP_LS:
        return MR_PTX_CMP_HS;
    case MR_PTX_CMP_HI:
        return MR_PTX_CMP_LO;
    case MR_PTX_CMP_HS:
        return MR_PTX_CMP_LS;
    default:
        return cmp;
    }
}

static LLVMValueRef i64_of(const struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i64, value, false);
}

static bool is_equality(unsigned cmp)
{
    return cmp == MR_PTX_CMP_EQ || cmp == MR_PTX_CMP_NE;
}

/* Whether a predicate is only asked for as a guard, of branches above all, where bits are what is wanted. (Calculating
 * with vectors of predicates that were made of bits costs more than vectors of comparisons, without AVX-512.) */
static bool only_guards(const struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_function *func = g->func;
    if (inst->operands[0].kind != MR_PTX_OPERAND_REG || inst->operand_count != 3 || func->inst_count > GUARDS_MAX)
        return false;
    for (uint32_t i = 0; i < func->inst_count; i++)
        for (uint32_t o = func->insts[i].dst_count; o < func->insts[i].operand_count; o++) {
            const struct mr_ptx_operand *operand = &func->insts[i].operands[o];
            if (operand->kind == MR_PTX_OPERAND_REG && operand->reg == inst->operands[0].reg)
                return false;
        }
    return true;
}

/* A bit for each lane l for which start + l compares so with the limit, if no lane's number overflows; i64. The two
 * have been widened, or moved to the range of signed numbers. */
static LLVMValueRef rising_bits(struct cg *g, unsigned cmp, unsigned bits, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef room, all = i64_of(g, UINT32_MAX), one = i64_of(g, 1);
    if (is_equality(cmp)) {
        room = LLVMBuildSub(g->b, limit, start, "");
        room = bits == 32 ? LLVMBuildAnd(g->b, room, all, "") : room;
        LLVMValueRef bit = LLVMBuildShl(g->b, one, LLVMBuildAnd(g->b, room, i64_of(g, CG_LANES - 1), ""), "");
        LLVMValueRef inside = LLVMBuildICmp(g->b, LLVMIntULT, room, i64_of(g, CG_LANES), "");
        LLVMValueRef r = LLVMBuildSelect(g->b, inside, bit, i64_of(g, 0), "");
        return cmp == MR_PTX_CMP_NE ? LLVMBuildXor(g->b, r, all, "") : r;
    }
    bool or_equal = cmp == MR_PTX_CMP_LE || cmp == MR_PTX_CMP_LS || cmp == MR_PTX_CMP_GT || cmp == MR_PTX_CMP_HI;
    bool below = cmp == MR_PTX_CMP_LT || cmp == MR_PTX_CMP_LO || cmp == MR_PTX_CMP_LE || cmp == MR_PTX_CMP_LS;
    if (bits == 32)
        room = LLVMBuildSub(g->b, limit, start, "");
    else
        room = cg_intrinsic(g, "llvm.ssub.sat", &i64, 1, (LLVMValueRef[]){limit, start}, 2);
    room = cg_intrinsic(g, "llvm.smin", &i64, 1, (LLVMValueRef[]){room, i64_of(g, CG_LANES - or_equal)}, 2);
    if (or_equal)
        room = LLVMBuildAdd(g->b, room, one, "");
    room = cg_intrinsic(g, "llvm.smax", &i64, 1, (LLVMValueRef[]){room, i64_of(g, 0)}, 2);
    LLVMValueRef r = LLVMBuildSub(g->b, LLVMBuildShl(g->b, one, room, ""), one, "");
    return below ? r : LLVMBuildXor(g->b, r, all, "");
}

/* Comparison of an operand that rises by one from lane to lane with a scalar; NULL if this is no such comparison. */
static LLVMValueRef compare_rising(struct cg *g, const struct mr_ptx_inst *inst, unsigned type, LLVMValueRef a,
                                   LLVMValueRef b)
{
    unsigned bits = mr_ptx_type_bits(type), cmp = inst->cmp;
    const struct mr_ptx_operand *rising = &inst->operands[1], *limit = &inst->operands[2];
    if (g->now.lanes != CG_LANES || g->unit->width != CG_LANES || g->flow.rows != 1 || (bits != 32 && bits != 64) ||
        float_class(type))
        return NULL;
    if (mr_flow_operand_class(&g->flow, rising).kind == MR_CLASS_UNIFORM) {
        cmp = mirrored(cmp);
        rising = limit;
        limit = &inst->operands[1];
    }
    struct mr_class c = mr_flow_operand_class(&g->flow, rising);
    struct cg_affine steps;
    if (c.kind != MR_CLASS_AFFINE || c.stride != 1 || mr_flow_operand_class(&g->flow, limit).kind != MR_CLASS_UNIFORM ||
        rising->kind != MR_PTX_OPERAND_REG || !cg_affine_source(g, rising, &steps))
        return NULL;
    bool sign = mr_ptx_type_class(type) == 'S' && cmp != MR_PTX_CMP_LO && cmp != MR_PTX_CMP_LS &&
                cmp != MR_PTX_CMP_HI && cmp != MR_PTX_CMP_HS;
    LLVMTypeRef narrow = cg_int_type(g, bits), i64 = g->unit->i64;
    g->now.lanes = 1;
    LLVMValueRef ends[2] = {cg_resize(g, steps.base, narrow, false), cg_source(g, limit, narrow)};
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = cg_resize(g, ends[i], i64, sign);
        if (bits == 64 && !sign && !is_equality(cmp))
            ends[i] = LLVMBuildXor(g->b, ends[i], i64_of(g, UINT64_C(1) << 63), "");
    }
    uint64_t last = bits == 64 ? INT64_MAX : sign ? INT32_MAX : UINT32_MAX;
    LLVMValueRef past = LLVMConstInt(g->unit->i1, 0, false);
    if (!is_equality(cmp))
        past = LLVMBuildICmp(g->b, LLVMIntSGT, ends[0], i64_of(g, last - (CG_LANES - 1)), "");
    if (steps.brk && bits == 64)
        past = LLVMBuildOr(g->b, past,
                           LLVMBuildICmp(g->b, LLVMIntULT, steps.brk, LLVMConstInt(g->unit->i32, CG_LANES, false), ""),
                           "");
    LLVMBasicBlockRef rare = cg_new_block(g, "past"), usual = cg_new_block(g, "rising"), on = cg_new_block(g, "on");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, past, rare, usual));
    LLVMPositionBuilderAtEnd(g->b, usual);
    LLVMValueRef ways[2] = {LLVMBuildTrunc(g->b, rising_bits(g, cmp, bits, ends[0], ends[1]), g->unit->mask, "")};
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, rare);
    g->now.lanes = CG_LANES;
    ways[1] = cg_mask_bits(g, compare_integers(g, inst->cmp, mr_ptx_type_class(type) == 'S', a, b));
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    LLVMValueRef phi = LLVMBuildPhi(g->b, g->unit->mask, "");
    LLVMAddIncoming(phi, ways, (LLVMBasicBlockRef[]){usual, rare}, 2);
    return cg_mask_vector(g, phi);
}

static LLVMValueRef combined(struct cg *g, unsigned boolop, LLVMValueRef a, LLVMValueRef b)
{
    switch (boolop) {
    case MR_PTX_BOOL_AND:
        return LLVMBuildAnd(g->b, a, b, "");
    case MR_PTX_BOOL_OR:
        return LLVMBuildOr(g->b, a, b, "");
    case MR_PTX_BOOL_XOR:
        return LLVMBuildXor(g->b, a, b, "");
    default:
        return a;
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
            LLVMValueRef bits =
                LLVMBuildLShr(g->b, cg_source(g, &inst->operands[1 + i], i32), cg_int(g, i32, 16 * part), "");
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
    LLVMValueRef truth =
        inst->op == MR_PTX_OP_SETP && only_guards(g, inst) ? compare_rising(g, inst, type, a, b) : NULL;
    if (!truth)
        truth = float_class(type) ? compare_floats(g, inst->cmp, a, b) : compare_integers(g, inst->cmp, sign, a, b);
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
    case MR_PTX_OP_SETP:
    case MR_PTX_OP_SET:
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
