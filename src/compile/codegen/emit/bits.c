/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Bits: logic, shifts, fields, counts, permutations. Shift counts at or above
 * the width give zero (or the sign), never LLVM's undefined result.
 */
#include "compile/codegen/emit/emit.h"

static LLVMTypeRef bits_type(struct cg *g, unsigned type)
{
    return type == MR_PTX_TYPE_PRED ? g->unit->i1 : cg_int_type(g, mr_ptx_type_bits(type));
}

static LLVMValueRef compare(struct cg *g, LLVMIntPredicate predicate, LLVMValueRef a, uint64_t b)
{
    return LLVMBuildICmp(g->b, predicate, a, cg_int(g, cg_element(a), b), "");
}

/* Shifts by a count of the same type, clamped to the width. */
static LLVMValueRef shift(struct cg *g, LLVMOpcode op, LLVMValueRef value, LLVMValueRef count)
{
    LLVMTypeRef type = cg_element(value);
    unsigned bits = cg_bits(type);
    LLVMValueRef inside = compare(g, LLVMIntULT, count, bits);
    LLVMValueRef safe = cg_select(g, inside, count, cg_int(g, type, op == LLVMAShr ? bits - 1 : 0));
    LLVMValueRef shifted = LLVMBuildBinOp(g->b, op, value, safe, "");
    return op == LLVMAShr ? shifted : cg_select(g, inside, shifted, cg_int(g, type, 0));
}

/* A 32-bit count as a number of the value's type; wider than 16 bits counts saturate. */
static LLVMValueRef shift_count(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef type)
{
    LLVMValueRef count = cg_source(g, operand, g->unit->i32);
    if (cg_bits(type) < 32)
        count = cg_binary(g, "llvm.umin", count, cg_int(g, g->unit->i32, 255));
    return cg_resize(g, count, type, false);
}

static void emit_logic(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = bits_type(g, inst->type[0]);
    bool predicates = inst->type[0] == MR_PTX_TYPE_PRED;
    LLVMValueRef a = predicates ? cg_predicate(g, &inst->operands[1]) : cg_source(g, &inst->operands[1], type), b, r;
    switch (inst->op) {
    case MR_PTX_OP_NOT:
        r = LLVMBuildNot(g->b, a, "");
        break;
    case MR_PTX_OP_CNOT:
        r = cg_resize(g, compare(g, LLVMIntEQ, a, 0), type, false);
        break;
    default:
        b = predicates ? cg_predicate(g, &inst->operands[2]) : cg_source(g, &inst->operands[2], type);
        r = inst->op == MR_PTX_OP_AND  ? LLVMBuildAnd(g->b, a, b, "")
            : inst->op == MR_PTX_OP_OR ? LLVMBuildOr(g->b, a, b, "")
                                       : LLVMBuildXor(g->b, a, b, "");
        break;
    }
    cg_write(g, &inst->operands[0], r);
}

static void emit_shift(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = bits_type(g, inst->type[0]);
    LLVMOpcode op = inst->op == MR_PTX_OP_SHL ? LLVMShl : mr_ptx_type_class(inst->type[0]) == 'S' ? LLVMAShr : LLVMLShr;
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), r;
    if (inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)inst->operands[2].value < cg_bits(type))
        r = LLVMBuildBinOp(g->b, op, a, cg_int(g, type, (uint64_t)inst->operands[2].value), "");
    else
        r = shift(g, op, a, shift_count(g, &inst->operands[2], type));
    cg_write(g, &inst->operands[0], r);
}

/* The wrapping form is LLVM's funnel shift, which processors have for rotations at least. By 32, which only the
 * clamping one knows, all of the other operand moves in. */
static void emit_funnel(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef low = cg_source(g, &inst->operands[1], type), high = cg_source(g, &inst->operands[2], type),
                 count = cg_source(g, &inst->operands[3], type);
    bool left = inst->mode == MR_PTX_MODE_LEFT;
    LLVMTypeRef form = LLVMTypeOf(low);
    LLVMValueRef r = cg_intrinsic(g, left ? "llvm.fshl" : "llvm.fshr", &form, 1, (LLVMValueRef[]){high, low, count}, 3);
    if (inst->mode2 == MR_PTX_MODE_CLAMP)
        r = cg_select(g, compare(g, LLVMIntUGE, count, 32), left ? low : high, r);
    cg_write(g, &inst->operands[0], r);
}

static LLVMValueRef count_zeros(struct cg *g, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, "llvm.ctlz", &type, 1, (LLVMValueRef[]){a, LLVMConstInt(g->unit->i1, 0, false)}, 2);
}

static void emit_count(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = bits_type(g, inst->type[0]);
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), r;
    unsigned bits = cg_bits(type);
    if (inst->op == MR_PTX_OP_POPC) {
        r = cg_unary(g, "llvm.ctpop", a);
    } else if (inst->op == MR_PTX_OP_CLZ) {
        r = count_zeros(g, a);
    } else {
        if (mr_ptx_type_class(inst->type[0]) == 'S') {
            LLVMValueRef sign = LLVMBuildAShr(g->b, a, cg_int(g, type, bits - 1), "");
            a = LLVMBuildXor(g->b, a, sign, "");
        }
        LLVMValueRef zeros = count_zeros(g, a);
        r = inst->flags & MR_PTX_FLAG_SHIFTAMT ? zeros : LLVMBuildSub(g->b, cg_int(g, type, bits - 1), zeros, "");
        r = cg_select(g, compare(g, LLVMIntEQ, a, 0), cg_int(g, type, UINT64_MAX), r);
    }
    cg_write(g, &inst->operands[0], cg_resize(g, r, g->unit->i32, false));
}

/* A position or length in fields of so many bits: 32 bits look at its low byte, 64 bits at all of it. */
static LLVMValueRef field_count(struct cg *g, const struct mr_ptx_operand *operand, unsigned bits)
{
    LLVMValueRef count = cg_source(g, operand, g->unit->i32), most = cg_int(g, g->unit->i32, 255);
    return bits == 64 ? cg_binary(g, "llvm.umin", count, most) : LLVMBuildAnd(g->b, count, most, "");
}

static void emit_extract(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = bits_type(g, inst->type[0]);
    unsigned bits = cg_bits(type);
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    LLVMValueRef a = cg_source(g, &inst->operands[1], type);
    LLVMValueRef pos = field_count(g, &inst->operands[2], bits), len = field_count(g, &inst->operands[3], bits);
    /* The field reaches at most to the top bit; its sign is its last bit that exists. */
    LLVMValueRef top = cg_binary(g, "llvm.umin", LLVMBuildAdd(g->b, pos, len, ""), cg_int(g, g->unit->i32, bits));
    LLVMValueRef position = cg_resize(g, pos, type, false);
    LLVMValueRef left = LLVMBuildSub(g->b, cg_int(g, type, bits), cg_resize(g, top, type, false), "");
    LLVMValueRef empty = compare(g, LLVMIntEQ, len, 0);
    if (!sign) {
        LLVMValueRef r = shift(g, LLVMLShr, a, position);
        LLVMValueRef length = cg_resize(g, len, type, false);
        LLVMValueRef whole = compare(g, LLVMIntUGE, length, bits);
        LLVMValueRef mask = LLVMBuildSub(g->b, shift(g, LLVMShl, cg_int(g, type, 1), length), cg_int(g, type, 1), "");
        mask = cg_select(g, whole, cg_int(g, type, UINT64_MAX), mask);
        cg_write(g, &inst->operands[0], LLVMBuildAnd(g->b, r, mask, ""));
        return;
    }
    LLVMValueRef moved = shift(g, LLVMShl, a, left);
    LLVMValueRef r = shift(g, LLVMAShr, moved, LLVMBuildAdd(g->b, left, position, ""));
    LLVMValueRef past = LLVMBuildICmp(g->b, LLVMIntUGE, pos, cg_int(g, g->unit->i32, bits), "");
    r = cg_select(g, past, LLVMBuildAShr(g->b, a, cg_int(g, type, bits - 1), ""), r);
    cg_write(g, &inst->operands[0], cg_select(g, empty, cg_int(g, type, 0), r));
}

static void emit_insert(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = bits_type(g, inst->type[0]);
    unsigned bits = cg_bits(type);
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    LLVMValueRef pos = field_count(g, &inst->operands[3], bits), len = field_count(g, &inst->operands[4], bits);
    LLVMValueRef position = cg_resize(g, pos, type, false), length = cg_resize(g, len, type, false);
    LLVMValueRef ones = LLVMBuildSub(g->b, shift(g, LLVMShl, cg_int(g, type, 1), length), cg_int(g, type, 1), "");
    ones = cg_select(g, compare(g, LLVMIntUGE, length, bits), cg_int(g, type, UINT64_MAX), ones);
    LLVMValueRef mask = shift(g, LLVMShl, ones, position);
    LLVMValueRef field = LLVMBuildAnd(g->b, shift(g, LLVMShl, a, position), mask, "");
    LLVMValueRef rest = LLVMBuildAnd(g->b, b, LLVMBuildNot(g->b, mask, ""), "");
    cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, field, rest, ""));
}

/* bmsk: `b` ones from bit `a` on. szext: sign or zero extension of the low `b` bits. */
static void emit_mask(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    bool wrap = inst->mode == MR_PTX_MODE_WRAP || inst->mode2 == MR_PTX_MODE_WRAP;
    if (wrap)
        b = LLVMBuildAnd(g->b, b, cg_int(g, type, 31), "");
    if (inst->op == MR_PTX_OP_BMSK) {
        if (wrap)
            a = LLVMBuildAnd(g->b, a, cg_int(g, type, 31), "");
        LLVMValueRef ones = LLVMBuildSub(g->b, shift(g, LLVMShl, cg_int(g, type, 1), b), cg_int(g, type, 1), "");
        cg_write(g, &inst->operands[0], shift(g, LLVMShl, ones, a));
        return;
    }
    LLVMValueRef up = LLVMBuildSub(g->b, cg_int(g, type, 32), cg_binary(g, "llvm.umin", b, cg_int(g, type, 32)), "");
    LLVMValueRef moved = shift(g, LLVMShl, a, up);
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    LLVMValueRef r = shift(g, sign ? LLVMAShr : LLVMLShr, moved, up);
    cg_write(g, &inst->operands[0], cg_select(g, compare(g, LLVMIntEQ, b, 0), cg_int(g, type, 0), r));
}

static LLVMValueRef lop3(struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c, unsigned table)
{
    LLVMValueRef result = NULL;
    if ((table & 0xff) == 0xff)
        return cg_int(g, g->unit->i32, UINT64_MAX);
    for (unsigned i = 0; i < 8; i++) {
        if (!(table >> i & 1))
            continue;
        LLVMValueRef term =
            LLVMBuildAnd(g->b, i & 4 ? a : LLVMBuildNot(g->b, a, ""), i & 2 ? b : LLVMBuildNot(g->b, b, ""), "");
        term = LLVMBuildAnd(g->b, term, i & 1 ? c : LLVMBuildNot(g->b, c, ""), "");
        result = result ? LLVMBuildOr(g->b, result, term, "") : term;
    }
    return result ? result : cg_int(g, g->unit->i32, 0);
}

static void emit_lop3(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef r = lop3(g, cg_source(g, &inst->operands[1], type), cg_source(g, &inst->operands[2], type),
                          cg_source(g, &inst->operands[3], type), (unsigned)inst->operands[4].value);
    if (inst->operands[0].kind != MR_PTX_OPERAND_PAIR) {
        cg_write(g, &inst->operands[0], r);
        return;
    }
    LLVMValueRef p = LLVMBuildICmp(g->b, LLVMIntNE, r, cg_int(g, type, 0), "");
    if (inst->operand_count > 5) {
        LLVMValueRef q = cg_predicate(g, &inst->operands[5]);
        p = inst->boolop == MR_PTX_BOOL_OR ? LLVMBuildOr(g->b, p, q, "") : LLVMBuildAnd(g->b, p, q, "");
    }
    cg_write(g, &inst->operands[0], r);
    if (inst->operands[0].reg2 != MR_PTX_NONE)
        cg_write_reg(g, inst->operands[0].reg2, p);
}

/* Byte `index` (0 to 7, per lane) of the 64-bit value, or its sign repeated if bit 3 of the selector is set. */
static LLVMValueRef pick_byte(struct cg *g, LLVMValueRef both, LLVMValueRef selector)
{
    LLVMTypeRef wide = g->unit->i64;
    LLVMValueRef index = LLVMBuildAnd(g->b, selector, cg_int(g, g->unit->i32, 7), "");
    LLVMValueRef by = LLVMBuildShl(g->b, cg_resize(g, index, wide, false), cg_int(g, wide, 3), "");
    LLVMValueRef byte = cg_resize(g, LLVMBuildLShr(g->b, both, by, ""), g->unit->i8, false);
    LLVMValueRef sign = LLVMBuildAShr(g->b, byte, cg_int(g, g->unit->i8, 7), "");
    LLVMValueRef repeat = LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, selector, cg_int(g, g->unit->i32, 8), ""),
                                        cg_int(g, g->unit->i32, 0), "");
    return cg_resize(g, cg_select(g, repeat, sign, byte), g->unit->i32, false);
}

/* Which byte goes to place `place` for selector value `c` (0 to 3) in the named modes. */
static unsigned prmt_index(unsigned mode, unsigned c, unsigned place)
{
    switch (mode) {
    case MR_PTX_MODE_F4E:
        return c + place;
    case MR_PTX_MODE_B4E:
        return (c + 8 - place) & 7;
    case MR_PTX_MODE_RC8:
        return c;
    case MR_PTX_MODE_ECL:
        return place > c ? place : c;
    case MR_PTX_MODE_ECR:
        return place < c ? place : c;
    default:
        return (c & 1) * 2 + (place & 1);
    }
}

static void emit_permute(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32, wide = g->unit->i64;
    LLVMValueRef low = cg_resize(g, cg_source(g, &inst->operands[1], type), wide, false);
    LLVMValueRef high = cg_resize(g, cg_source(g, &inst->operands[2], type), wide, false);
    LLVMValueRef both = LLVMBuildOr(g->b, LLVMBuildShl(g->b, high, cg_int(g, wide, 32), ""), low, "");
    LLVMValueRef selector = cg_source(g, &inst->operands[3], type), r = NULL;
    for (unsigned place = 0; place < 4; place++) {
        LLVMValueRef index;
        if (inst->mode == MR_PTX_MODE_NONE) {
            index = LLVMBuildLShr(g->b, selector, cg_int(g, type, 4 * place), "");
        } else {
            index = cg_int(g, type, prmt_index(inst->mode, 0, place));
            LLVMValueRef c = LLVMBuildAnd(g->b, selector, cg_int(g, type, 3), "");
            for (unsigned v = 1; v < 4; v++)
                index =
                    cg_select(g, compare(g, LLVMIntEQ, c, v), cg_int(g, type, prmt_index(inst->mode, v, place)), index);
        }
        LLVMValueRef byte = LLVMBuildShl(g->b, pick_byte(g, both, index), cg_int(g, type, 8 * place), "");
        r = r ? LLVMBuildOr(g->b, r, byte, "") : byte;
    }
    cg_write(g, &inst->operands[0], r);
}

/* The n-th set bit from a base upwards or downwards: walks all 32 bits at once for every lane. */
static void emit_find_nth(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef mask = cg_source(g, &inst->operands[1], type), base = cg_source(g, &inst->operands[2], type);
    LLVMValueRef offset = cg_source(g, &inst->operands[3], type), zero = cg_int(g, type, 0);
    LLVMValueRef up = LLVMBuildICmp(g->b, LLVMIntSGT, offset, zero, "");
    LLVMValueRef same = LLVMBuildICmp(g->b, LLVMIntEQ, offset, zero, "");
    LLVMValueRef want = cg_select(g, up, offset, LLVMBuildNeg(g->b, offset, ""));
    want = cg_select(g, same, cg_int(g, type, 1), want);
    LLVMValueRef seen = zero, found = cg_int(g, type, UINT64_MAX), at = base;
    LLVMValueRef step = cg_select(g, LLVMBuildOr(g->b, up, same, ""), cg_int(g, type, 1), cg_int(g, type, UINT64_MAX));
    for (unsigned i = 0; i < 32; i++) {
        LLVMValueRef inside = compare(g, LLVMIntULT, at, 32);
        LLVMValueRef bit = LLVMBuildAnd(g->b, shift(g, LLVMLShr, mask, at), cg_int(g, type, 1), "");
        bit = cg_select(g, inside, bit, zero);
        seen = LLVMBuildAdd(g->b, seen, bit, "");
        LLVMValueRef hit = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntNE, bit, zero, ""),
                                        LLVMBuildICmp(g->b, LLVMIntEQ, seen, want, ""), "");
        if (i > 0) /* offset 0 looks at the base only */
            hit = LLVMBuildAnd(g->b, hit, LLVMBuildNot(g->b, same, ""), "");
        found = cg_select(g, hit, at, found);
        at = LLVMBuildAdd(g->b, at, step, "");
    }
    /* The one distance that has no opposite gives 0 on hardware, whatever the mask. */
    LLVMValueRef lowest = LLVMBuildICmp(g->b, LLVMIntEQ, offset, cg_int(g, type, UINT32_C(1) << 31), "");
    found = cg_select(g, lowest, zero, found);
    cg_write(g, &inst->operands[0], found);
}

bool cg_emit_bits(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_NOT:
    case MR_PTX_OP_CNOT:
        emit_logic(g, inst);
        return true;
    case MR_PTX_OP_SHL:
    case MR_PTX_OP_SHR:
        emit_shift(g, inst);
        return true;
    case MR_PTX_OP_SHF:
        emit_funnel(g, inst);
        return true;
    case MR_PTX_OP_POPC:
    case MR_PTX_OP_CLZ:
    case MR_PTX_OP_BFIND:
        emit_count(g, inst);
        return true;
    case MR_PTX_OP_BREV: {
        LLVMTypeRef type = bits_type(g, inst->type[0]);
        cg_write(g, &inst->operands[0], cg_unary(g, "llvm.bitreverse", cg_source(g, &inst->operands[1], type)));
        return true;
    }
    case MR_PTX_OP_BFE:
        emit_extract(g, inst);
        return true;
    case MR_PTX_OP_BFI:
        emit_insert(g, inst);
        return true;
    case MR_PTX_OP_BMSK:
    case MR_PTX_OP_SZEXT:
        emit_mask(g, inst);
        return true;
    case MR_PTX_OP_LOP3:
        emit_lop3(g, inst);
        return true;
    case MR_PTX_OP_PRMT:
        emit_permute(g, inst);
        return true;
    case MR_PTX_OP_FNS:
        emit_find_nth(g, inst);
        return true;
    default:
        return false;
    }
}

/* Sums and products with the carry flag. The flag is a predicate per lane behind the last register. The manual calls it
 * "borrow" after a subtraction; on hardware a subtraction adds the complement, so that the flag then says that nothing
 * was borrowed, and subc takes one more where it is not set. What compilers make of divisions of 128 bits goes by that:
 * addc behind sub.cc. */
bool cg_emit_carry(struct cg *g, const struct mr_ptx_inst *inst)
{
    uint32_t flag = g->flow.reg_count - 1;
    bool takes = inst->op == MR_PTX_OP_ADDC || inst->op == MR_PTX_OP_SUBC || inst->op == MR_PTX_OP_MADC;
    bool gives = inst->flags & MR_PTX_FLAG_CC, minus = inst->op == MR_PTX_OP_SUB || inst->op == MR_PTX_OP_SUBC;
    bool product = inst->op == MR_PTX_OP_MAD || inst->op == MR_PTX_OP_MADC;
    if (!takes && !gives)
        return false;
    unsigned bits = mr_ptx_type_bits(inst->type[0]);
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    LLVMTypeRef type = cg_int_type(g, bits), twice = cg_int_type(g, 2 * bits);
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    if (product) {
        LLVMValueRef wide = LLVMBuildMul(g->b, cg_resize(g, a, twice, sign), cg_resize(g, b, twice, sign), "");
        /* Of 16 bits it is the upper half of a product of 64: what is left is the sign. */
        if (inst->mode == MR_PTX_MODE_HI && bits == 16)
            wide = sign ? LLVMBuildAShr(g->b, wide, cg_int(g, twice, 31), "") : cg_int(g, twice, 0);
        else if (inst->mode == MR_PTX_MODE_HI)
            wide = LLVMBuildLShr(g->b, wide, cg_int(g, twice, bits), "");
        a = cg_resize(g, wide, type, false);
        b = cg_source(g, &inst->operands[3], type);
    }
    LLVMValueRef r = minus ? LLVMBuildSub(g->b, a, b, "") : LLVMBuildAdd(g->b, a, b, "");
    LLVMValueRef over = minus ? LLVMBuildICmp(g->b, LLVMIntULT, a, b, "") : LLVMBuildICmp(g->b, LLVMIntULT, r, a, "");
    if (takes) {
        LLVMValueRef old = cg_read(g, flag), sum = r;
        LLVMValueRef extra = cg_resize(g, minus ? LLVMBuildNot(g->b, old, "") : old, type, false);
        r = minus ? LLVMBuildSub(g->b, sum, extra, "") : LLVMBuildAdd(g->b, sum, extra, "");
        LLVMValueRef more =
            minus ? LLVMBuildICmp(g->b, LLVMIntULT, sum, extra, "") : LLVMBuildICmp(g->b, LLVMIntULT, r, sum, "");
        over = LLVMBuildOr(g->b, over, more, "");
    }
    cg_write(g, &inst->operands[0], r);
    if (gives)
        cg_write_reg(g, flag, minus ? LLVMBuildNot(g->b, over, "") : over);
    return true;
}
