/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Integer arithmetic. Everything wraps unless it says .sat. Division is in division.c.
 */
#include "compile/codegen/emit/emit.h"

static bool integer_type(unsigned type)
{
    char c = mr_ptx_type_class(type);
    return c == 'B' || c == 'U' || c == 'S';
}

static bool signed_type(unsigned type)
{
    return mr_ptx_type_class(type) == 'S';
}

/* 32 lanes of a pair of 16-bit numbers as 64 numbers. */
static LLVMValueRef split_pairs(struct cg *g, LLVMValueRef value)
{
    unsigned count = g->now.lanes == 1 ? 2 : 2 * g->unit->width;
    return LLVMBuildBitCast(g->b, value, LLVMVectorType(g->unit->i16, count), "");
}

static LLVMValueRef min_max(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef a, LLVMValueRef b)
{
    bool sign = signed_type(inst->type[0]);
    const char *name =
        inst->op == MR_PTX_OP_MIN ? (sign ? "llvm.smin" : "llvm.umin") : (sign ? "llvm.smax" : "llvm.umax");
    return cg_binary(g, name, a, b);
}

static void emit_pairs(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef a = split_pairs(g, cg_source(g, &inst->operands[1], type));
    LLVMValueRef b = split_pairs(g, cg_source(g, &inst->operands[2], type));
    LLVMValueRef r;
    if (inst->op == MR_PTX_OP_ADD)
        r = LLVMBuildAdd(g->b, a, b, "");
    else if (inst->op == MR_PTX_OP_SUB)
        r = LLVMBuildSub(g->b, a, b, "");
    else
        r = min_max(g, inst, a, b);
    if (inst->flags & MR_PTX_FLAG_RELU)
        r = cg_binary(g, "llvm.smax", r, LLVMConstNull(LLVMTypeOf(r)));
    cg_write(g, &inst->operands[0], LLVMBuildBitCast(g->b, r, cg_type(g, type), ""));
}

static LLVMValueRef widen(struct cg *g, LLVMValueRef value, bool is_signed)
{
    return cg_resize(g, value, cg_int_type(g, 2 * cg_bits(cg_element(value))), is_signed);
}

static LLVMValueRef product(struct cg *g, LLVMValueRef a, LLVMValueRef b, unsigned mode, bool is_signed)
{
    LLVMTypeRef narrow = cg_element(a);
    unsigned bits = cg_bits(narrow);
    if (mode != MR_PTX_MODE_HI && mode != MR_PTX_MODE_WIDE)
        return LLVMBuildMul(g->b, a, b, "");
    LLVMValueRef wide = LLVMBuildMul(g->b, widen(g, a, is_signed), widen(g, b, is_signed), "");
    if (mode == MR_PTX_MODE_WIDE)
        return wide;
    LLVMValueRef high = LLVMBuildLShr(g->b, wide, cg_int(g, cg_element(wide), bits), "");
    return cg_resize(g, high, narrow, false);
}

static void emit_product(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool sign = signed_type(inst->type[0]);
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    LLVMValueRef r =
        product(g, cg_source(g, &inst->operands[1], type), cg_source(g, &inst->operands[2], type), inst->mode, sign);
    if (inst->op == MR_PTX_OP_MAD) {
        LLVMValueRef c = cg_source(g, &inst->operands[3], cg_element(r));
        r = inst->flags & MR_PTX_FLAG_SAT ? cg_binary(g, "llvm.sadd.sat", r, c) : LLVMBuildAdd(g->b, r, c, "");
    }
    cg_write(g, &inst->operands[0], r);
}

/* The low 24 bits of each factor; .hi is bits 16 to 47 of the product. */
static void emit_product24(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool sign = signed_type(inst->type[0]);
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef factors[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef v = LLVMBuildShl(g->b, cg_source(g, &inst->operands[1 + i], type), cg_int(g, type, 8), "");
        v = sign ? LLVMBuildAShr(g->b, v, cg_int(g, type, 8), "") : LLVMBuildLShr(g->b, v, cg_int(g, type, 8), "");
        factors[i] = widen(g, v, sign);
    }
    LLVMValueRef r = LLVMBuildMul(g->b, factors[0], factors[1], "");
    if (inst->mode == MR_PTX_MODE_HI)
        r = LLVMBuildLShr(g->b, r, cg_int(g, g->unit->i64, 16), "");
    r = cg_resize(g, r, type, false);
    if (inst->op == MR_PTX_OP_MAD24) {
        LLVMValueRef c = cg_source(g, &inst->operands[3], type);
        r = inst->flags & MR_PTX_FLAG_SAT ? cg_binary(g, "llvm.sadd.sat", r, c) : LLVMBuildAdd(g->b, r, c, "");
    }
    cg_write(g, &inst->operands[0], r);
}

/* Sum of products of the 4 bytes of a, or of 2 halves of a with bytes of b. */
static void emit_dot(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i32;
    bool a_sign = signed_type(inst->type[0]), b_sign = signed_type(inst->type[1]);
    unsigned parts = inst->op == MR_PTX_OP_DP4A ? 4 : 2, width = 32 / parts;
    unsigned start = inst->op == MR_PTX_OP_DP2A && inst->mode == MR_PTX_MODE_HI ? 16 : 0;
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    LLVMValueRef sum = cg_source(g, &inst->operands[3], type);
    for (unsigned i = 0; i < parts; i++) {
        LLVMValueRef x = LLVMBuildShl(g->b, a, cg_int(g, type, 32 - width * (i + 1)), "");
        LLVMValueRef y = LLVMBuildShl(g->b, b, cg_int(g, type, 24 - start - 8 * i), "");
        LLVMValueRef x_by = cg_int(g, type, 32 - width), y_by = cg_int(g, type, 24);
        x = a_sign ? LLVMBuildAShr(g->b, x, x_by, "") : LLVMBuildLShr(g->b, x, x_by, "");
        y = b_sign ? LLVMBuildAShr(g->b, y, y_by, "") : LLVMBuildLShr(g->b, y, y_by, "");
        sum = LLVMBuildAdd(g->b, sum, LLVMBuildMul(g->b, x, y, ""), "");
    }
    cg_write(g, &inst->operands[0], sum);
}

static void emit_sum(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type), r;
    bool add = inst->op == MR_PTX_OP_ADD;
    if (inst->flags & MR_PTX_FLAG_SAT)
        r = cg_binary(g, add ? "llvm.sadd.sat" : "llvm.ssub.sat", a, b);
    else
        r = add ? LLVMBuildAdd(g->b, a, b, "") : LLVMBuildSub(g->b, a, b, "");
    cg_write(g, &inst->operands[0], r);
}

static void emit_sad(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), b = cg_source(g, &inst->operands[2], type);
    LLVMValueRef less = LLVMBuildICmp(g->b, signed_type(inst->type[0]) ? LLVMIntSLT : LLVMIntULT, a, b, "");
    LLVMValueRef difference = cg_select(g, less, LLVMBuildSub(g->b, b, a, ""), LLVMBuildSub(g->b, a, b, ""));
    cg_write(g, &inst->operands[0], LLVMBuildAdd(g->b, difference, cg_source(g, &inst->operands[3], type), ""));
}

static void emit_one(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), negated = LLVMBuildNeg(g->b, a, "");
    if (inst->op == MR_PTX_OP_ABS)
        negated = cg_select(g, LLVMBuildICmp(g->b, LLVMIntSLT, a, cg_int(g, type, 0), ""), negated, a);
    cg_write(g, &inst->operands[0], negated);
}

bool cg_emit_integer(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (!inst->type_count || !integer_type(inst->type[0]) || (inst->flags & MR_PTX_FLAG_CC))
        return false;
    bool pairs = inst->type[0] == MR_PTX_TYPE_U16X2 || inst->type[0] == MR_PTX_TYPE_S16X2;
    switch (inst->op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        pairs ? emit_pairs(g, inst) : emit_sum(g, inst);
        return true;
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX: {
        if (pairs) {
            emit_pairs(g, inst);
            return true;
        }
        LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
        LLVMValueRef r =
            min_max(g, inst, cg_source(g, &inst->operands[1], type), cg_source(g, &inst->operands[2], type));
        if (inst->flags & MR_PTX_FLAG_RELU)
            r = cg_binary(g, "llvm.smax", r, cg_int(g, type, 0));
        cg_write(g, &inst->operands[0], r);
        return true;
    }
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
        emit_product(g, inst);
        return true;
    case MR_PTX_OP_MUL24:
    case MR_PTX_OP_MAD24:
        emit_product24(g, inst);
        return true;
    case MR_PTX_OP_DIV:
    case MR_PTX_OP_REM:
        cg_emit_division(g, inst);
        return true;
    case MR_PTX_OP_DP4A:
    case MR_PTX_OP_DP2A:
        emit_dot(g, inst);
        return true;
    case MR_PTX_OP_SAD:
        emit_sad(g, inst);
        return true;
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_NEG:
        emit_one(g, inst);
        return true;
    default:
        return false;
    }
}

/* The affine forms: the same sums and products on bases; only widening needs more. */
static LLVMValueRef base_of(struct cg *g, const struct cg_affine *value, LLVMTypeRef type)
{
    return cg_resize(g, value->base, type, true);
}

static bool affine_widened(struct cg *g, const struct cg_affine *a, bool is_signed, struct cg_affine *out)
{
    LLVMValueRef base = base_of(g, a, g->unit->i32);
    *out = *a;
    out->base = cg_resize(g, base, g->unit->i64, is_signed);
    out->brk = NULL;
    if (a->c.stride) {
        out->c.wrap = a->c.stride > 0 ? -(INT64_C(1) << 32) : INT64_C(1) << 32;
        out->brk = cg_break(g, base, a->c.stride, is_signed);
    }
    return true;
}

static bool affine_product(struct cg *g, const struct mr_ptx_inst *inst, struct cg_affine *out)
{
    struct cg_affine a;
    bool sign = signed_type(inst->type[0]), wide = inst->mode == MR_PTX_MODE_WIDE;
    if (inst->operands[2].kind != MR_PTX_OPERAND_IMM_INT) {
        /* Both the same in all lanes, of a row at least. */
        struct cg_affine b;
        if (!cg_affine_source(g, &inst->operands[1], &a) || !cg_affine_source(g, &inst->operands[2], &b))
            return false;
        LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
        LLVMValueRef x = base_of(g, &a, type), y = base_of(g, &b, type);
        unsigned lanes = g->now.lanes;
        g->now.lanes = 1;
        *out = (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, product(g, x, y, inst->mode, sign), NULL};
        g->now.lanes = lanes;
        return true;
    }
    if (!cg_affine_source(g, &inst->operands[1], &a))
        return false;
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    uint64_t factor = (uint64_t)inst->operands[2].value;
    if (wide) {
        factor = sign ? (uint64_t)(int64_t)(int32_t)factor : (uint32_t)factor;
        type = g->unit->i64;
        if (!affine_widened(g, &a, sign, &a))
            return false;
    } else if (inst->mode == MR_PTX_MODE_HI) {
        unsigned lanes = g->now.lanes;
        g->now.lanes = 1;
        LLVMValueRef x = base_of(g, &a, type);
        *out = (struct cg_affine){
            {MR_CLASS_UNIFORM, 0, 0}, product(g, x, LLVMConstInt(type, factor, true), inst->mode, sign), NULL};
        g->now.lanes = lanes;
        return true;
    }
    *out = a;
    out->base = LLVMBuildMul(g->b, base_of(g, &a, type), LLVMConstInt(type, factor, true), "");
    return true;
}

/* Bits of a base that steps between bits of its own (uniformity.c). */
static bool affine_bits(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c, struct cg_affine *out)
{
    struct cg_affine a, b;
    LLVMTypeRef type = g->unit->i32;
    if (!cg_affine_source(g, &inst->operands[1], &a) || !cg_affine_source(g, &inst->operands[2], &b))
        return false;
    LLVMValueRef x = base_of(g, &a, type), y = base_of(g, &b, type);
    switch (inst->op) {
    case MR_PTX_OP_AND:
        out->base = c.ones ? LLVMBuildAnd(g->b, x, y, "") : LLVMConstInt(type, 0, false);
        break;
    case MR_PTX_OP_OR:
        out->base = LLVMBuildOr(g->b, x, y, "");
        break;
    case MR_PTX_OP_XOR:
        out->base = LLVMBuildXor(g->b, x, y, "");
        break;
    default:
        out->base = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, x, y, ""), LLVMConstInt(type, c.ones, false), "");
        break;
    }
    return true;
}

/* The result in the row at hand. */
static bool affine_result(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c, struct cg_affine *out)
{
    struct cg_affine a, b, r = {.c = c};
    const struct mr_ptx_operand *operands = inst->operands;
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        if (!cg_affine_source(g, &operands[1], &a))
            return false;
        r = a;
        r.base = base_of(g, &a, type);
        break;
    case MR_PTX_OP_CVTA:
        if (!cg_affine_source(g, &operands[1], &a))
            return false;
        r = a;
        r.base = base_of(g, &a, type);
        if (inst->space == MR_PTX_SPACE_SHARED || inst->space == MR_PTX_SPACE_SHARED_CLUSTER)
            r.base = inst->flags & MR_PTX_FLAG_TO ? LLVMBuildSub(g->b, r.base, g->launch.shared, "")
                                                  : LLVMBuildAdd(g->b, r.base, g->launch.shared, "");
        break;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        if (!cg_affine_source(g, &operands[1], &a) || !cg_affine_source(g, &operands[2], &b))
            return false;
        r.base = inst->op == MR_PTX_OP_ADD ? LLVMBuildAdd(g->b, base_of(g, &a, type), base_of(g, &b, type), "")
                                           : LLVMBuildSub(g->b, base_of(g, &a, type), base_of(g, &b, type), "");
        r.brk = a.brk ? a.brk : b.brk;
        break;
    case MR_PTX_OP_NEG:
        if (!cg_affine_source(g, &operands[1], &a))
            return false;
        r.base = LLVMBuildNeg(g->b, base_of(g, &a, type), "");
        r.brk = a.brk;
        break;
    case MR_PTX_OP_SHL:
        if (!cg_affine_source(g, &operands[1], &a))
            return false;
        r.base = LLVMBuildShl(g->b, base_of(g, &a, type), LLVMConstInt(type, (uint64_t)operands[2].value, false), "");
        r.brk = a.brk;
        break;
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_BFE:
        if (!affine_bits(g, inst, c, &r))
            return false;
        break;
    case MR_PTX_OP_MUL:
        if (!affine_product(g, inst, &r))
            return false;
        break;
    case MR_PTX_OP_MAD:
        if (!affine_product(g, inst, &a) || !cg_affine_source(g, &operands[3], &b))
            return false;
        type = inst->mode == MR_PTX_MODE_WIDE ? g->unit->i64 : type;
        r.base = LLVMBuildAdd(g->b, base_of(g, &a, type), base_of(g, &b, type), "");
        r.brk = a.brk ? a.brk : b.brk;
        break;
    case MR_PTX_OP_CVT:
        if (!cg_affine_source(g, &operands[1], &a))
            return false;
        if (mr_ptx_type_bits(inst->type[0]) == 64 && mr_ptx_type_bits(inst->type[1]) == 32) {
            if (!affine_widened(g, &a, signed_type(inst->type[1]), &r))
                return false;
        } else {
            r = a;
            r.base = base_of(g, &a, type);
        }
        break;
    default:
        return false;
    }
    r.c = c;
    *out = r;
    return true;
}

bool cg_emit_affine(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c)
{
    struct cg_affine rows[CG_ROWS_MAX];
    bool good = true;
    for (g->now.row = 0; g->now.row < g->flow.rows; g->now.row++)
        good = good && affine_result(g, inst, c, &rows[g->now.row]);
    g->now.row = 0;
    if (good)
        cg_write_affine(g, inst->operands[0].reg, rows);
    return good;
}
