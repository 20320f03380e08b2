/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands and results: from PTX registers in their classes to LLVM values in
 * the form of the instruction at hand, and back.
 */
#include "compile/codegen/basics/cg.h"
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/operands/stepped.h"

#include <string.h>

LLVMTypeRef cg_vector_type(LLVMTypeRef element, unsigned count)
{
    return LLVMVectorType(element, count);
}

LLVMTypeRef cg_type(const struct cg *g, LLVMTypeRef element)
{
    return g->lanes == 1 ? element : LLVMVectorType(element, g->unit->width);
}

static bool is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

LLVMTypeRef cg_element(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

unsigned cg_bits(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    case LLVMDoubleTypeKind: return 64;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    default: return 64;
    }
}

LLVMTypeRef cg_int_type(const struct cg *g, unsigned bits)
{
    return LLVMIntTypeInContext(g->unit->context, bits);
}

LLVMTypeRef cg_reg_type(const struct cg *g, unsigned ptx_type)
{
    switch (ptx_type) {
    case MR_PTX_TYPE_F32: return g->unit->f32;
    case MR_PTX_TYPE_F64: return g->unit->f64;
    case MR_PTX_TYPE_PRED: return g->unit->i1;
    default: return cg_int_type(g, mr_ptx_type_bits(ptx_type));
    }
}

LLVMTypeRef cg_passed_type(const struct cg *g, unsigned ptx_type)
{
    return ptx_type == MR_PTX_TYPE_PRED ? g->unit->i8 : cg_reg_type(g, ptx_type);
}

static LLVMValueRef spread(const struct cg *g, LLVMValueRef constant)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        all[i] = constant;
    return LLVMConstVector(all, g->unit->width);
}

LLVMValueRef cg_int(const struct cg *g, LLVMTypeRef element, uint64_t value)
{
    LLVMValueRef constant = LLVMConstInt(element, value, true);
    return g->lanes == 1 ? constant : spread(g, constant);
}

LLVMValueRef cg_real(const struct cg *g, LLVMTypeRef element, double value)
{
    LLVMValueRef constant = LLVMConstReal(element, value);
    return g->lanes == 1 ? constant : spread(g, constant);
}

LLVMValueRef cg_splat(const struct cg *g, LLVMValueRef scalar)
{
    if (LLVMIsConstant(scalar) && !LLVMIsUndef(scalar))
        return spread(g, scalar);
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), g->unit->width);
    LLVMValueRef poison = LLVMGetPoison(type);
    LLVMValueRef first = LLVMBuildInsertElement(g->b, poison, scalar, LLVMConstInt(g->unit->i32, 0, false), "");
    return LLVMBuildShuffleVector(g->b, first, poison, LLVMConstNull(LLVMVectorType(g->unit->i32, g->unit->width)), "");
}

LLVMValueRef cg_lane_numbers(const struct cg *g, LLVMTypeRef element, int64_t stride)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        all[i] = LLVMConstInt(element, (uint64_t)stride * i, true);
    return LLVMConstVector(all, g->unit->width);
}

LLVMValueRef cg_cast_bits(const struct cg *g, LLVMValueRef value, LLVMTypeRef element)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef wanted = is_vector(value) ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
    return type == wanted ? value : LLVMBuildBitCast(g->b, value, wanted, "");
}

LLVMValueRef cg_resize(const struct cg *g, LLVMValueRef value, LLVMTypeRef element, bool is_signed)
{
    unsigned from = cg_bits(cg_element(value)), to = cg_bits(element);
    if (LLVMGetTypeKind(cg_element(value)) != LLVMIntegerTypeKind)
        value = cg_cast_bits(g, value, cg_int_type(g, from));
    LLVMTypeRef wanted = is_vector(value) ? LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(value))) : element;
    if (from == to)
        return value;
    if (from > to)
        return LLVMBuildTrunc(g->b, value, wanted, "");
    return is_signed ? LLVMBuildSExt(g->b, value, wanted, "") : LLVMBuildZExt(g->b, value, wanted, "");
}

LLVMValueRef cg_shuffle_parts(const struct cg *g, LLVMValueRef wide, unsigned parts, unsigned part)
{
    LLVMValueRef lanes[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, i * parts + part, false);
    return LLVMBuildShuffleVector(g->b, wide, LLVMGetPoison(LLVMTypeOf(wide)), LLVMConstVector(lanes, g->unit->width), "");
}

LLVMValueRef cg_intrinsic(const struct cg *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                          LLVMValueRef *args, unsigned arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(g->unit->module, id, types, type_count);
    LLVMTypeRef type = LLVMGlobalGetValueType(callee);
    return LLVMBuildCall2(g->b, type, callee, args, arg_count, "");
}

LLVMValueRef cg_unary(const struct cg *g, const char *name, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, name, &type, 1, &a, 1);
}

LLVMValueRef cg_binary(const struct cg *g, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, name, &type, 1, (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef cg_fma(const struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, "llvm.fma", &type, 1, (LLVMValueRef[]){a, b, c}, 3);
}

LLVMValueRef cg_select(const struct cg *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(g->b, c, a, b, "");
}

LLVMValueRef cg_slot(struct cg *g, LLVMTypeRef type, const char *name)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue_end);
    LLVMValueRef slot = LLVMBuildAlloca(g->b, type, name);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return slot;
}

/* Whenever a use of it is gone, LLVM looks through all uses of a slot, and an atomic operation uses one for each lane. */
#define SCRATCH_USES 8u

LLVMValueRef cg_scratch(struct cg *g, LLVMTypeRef element)
{
    LLVMTypeRef type = LLVMVectorType(element, g->unit->width);
    unsigned slot = g->scratch_used;
    if (slot < CG_SCRATCH && g->scratch[slot].slot && g->scratch[slot].type == type && g->scratch[slot].uses < SCRATCH_USES) {
        g->scratch_used++;
        g->scratch[slot].uses++;
        return g->scratch[slot].slot;
    }
    LLVMValueRef made = cg_slot(g, type, "scratch");
    LLVMSetAlignment(made, 64);
    g->frame += g->unit->width * cg_bits(element) / 8;
    if (slot < CG_SCRATCH) {
        g->scratch[slot].type = type;
        g->scratch[slot].slot = made;
        g->scratch[slot].uses = 1;
        g->scratch_used++;
    }
    return made;
}

void cg_mark_invariant(struct cg *g, LLVMValueRef load)
{
    unsigned kind = LLVMGetMDKindIDInContext(g->unit->context, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMDNodeInContext(g->unit->context, NULL, 0));
}

void cg_mark_unlikely(struct cg *g, LLVMValueRef branch)
{
    LLVMContextRef context = g->unit->context;
    LLVMMetadataRef weights[3] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                                  LLVMValueAsMetadata(LLVMConstInt(g->unit->i32, 1, false)),
                                  LLVMValueAsMetadata(LLVMConstInt(g->unit->i32, 1u << 20, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, weights, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4), LLVMMetadataAsValue(context, node));
}

LLVMValueRef cg_block_field(struct cg *g, size_t offset, LLVMTypeRef type, const char *name)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue_end);
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, g->unit->i8, g->block, &place, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(g->b, type, pointer, name);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return value;
}

LLVMValueRef cg_mask_bits(struct cg *g, LLVMValueRef predicate)
{
    if (is_vector(predicate))
        return LLVMBuildBitCast(g->b, predicate, g->unit->mask, "");
    return LLVMBuildSExt(g->b, predicate, g->unit->mask, "");
}

LLVMValueRef cg_mask_vector(struct cg *g, LLVMValueRef bits)
{
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->unit->i1, g->unit->width), "");
}

LLVMValueRef cg_mask_zero(const struct cg *g)
{
    return LLVMConstInt(g->unit->mask, 0, false);
}

LLVMBasicBlockRef cg_new_block(struct cg *g, const char *name)
{
    return LLVMAppendBasicBlockInContext(g->unit->context, g->fn, name);
}

void cg_lane_loop_begin(struct cg *g, LLVMValueRef mask, struct cg_lane_loop *loop)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    loop->body = cg_new_block(g, "lane");
    LLVMBuildBr(g->b, loop->body);
    LLVMPositionBuilderAtEnd(g->b, loop->body);
    loop->rest = LLVMBuildPhi(g->b, g->unit->mask, "rest");
    LLVMAddIncoming(loop->rest, &mask, &before, 1);
    LLVMTypeRef type = g->unit->mask;
    loop->lane = cg_intrinsic(g, "llvm.cttz", &type, 1,
                              (LLVMValueRef[]){loop->rest, LLVMConstInt(g->unit->i1, 1, false)}, 2);
    if (type != g->unit->i32)
        loop->lane = LLVMBuildTrunc(g->b, loop->lane, g->unit->i32, "");
}

void cg_lane_loop_end(struct cg *g, struct cg_lane_loop *loop)
{
    LLVMValueRef less = LLVMBuildSub(g->b, loop->rest, LLVMConstInt(g->unit->mask, 1, false), "");
    LLVMValueRef next = LLVMBuildAnd(g->b, loop->rest, less, "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b), done = cg_new_block(g, "lanes.done");
    LLVMAddIncoming(loop->rest, &next, &here, 1);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntNE, next, cg_mask_zero(g), "");
    LLVMBuildCondBr(g->b, more, loop->body, done);
    LLVMPositionBuilderAtEnd(g->b, done);
}

/* Rows. */

LLVMValueRef cg_row_start(const struct cg *g, LLVMValueRef base, int64_t stride)
{
    if (g->row == 0)
        return base;
    LLVMValueRef ahead = LLVMConstInt(LLVMTypeOf(base), (uint64_t)stride * g->row * cg_row_lanes(g), true);
    return LLVMBuildAdd(g->b, base, ahead, "");
}

LLVMValueRef cg_row_spread(const struct cg *g, const LLVMValueRef *rows)
{
    LLVMValueRef from[CG_LANES_MAX], all;
    if (g->flow.rows == 1)
        return cg_splat(g, rows[0]);
    all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(rows[0]), g->flow.rows));
    for (unsigned row = 0; row < g->flow.rows; row++)
        all = LLVMBuildInsertElement(g->b, all, rows[row], LLVMConstInt(g->unit->i32, row, false), "");
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        from[lane] = LLVMConstInt(g->unit->i32, lane / cg_row_lanes(g), false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(from, g->unit->width), "");
}

/* What each lane is ahead of its row's first one. */
static LLVMValueRef steps_in_row(const struct cg *g, LLVMTypeRef element, int64_t stride)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        all[lane] = LLVMConstInt(element, (uint64_t)stride * (lane % cg_row_lanes(g)), true);
    return LLVMConstVector(all, g->unit->width);
}

/* Reading. */

LLVMValueRef cg_affine_vector(struct cg *g, const struct cg_affine *rows)
{
    struct mr_class c = rows[0].c;
    LLVMTypeRef element = LLVMTypeOf(rows[0].base);
    LLVMValueRef bases[CG_ROWS_MAX], breaks[CG_ROWS_MAX];
    if (c.kind == MR_CLASS_UNIFORM)
        return cg_splat(g, rows[0].base);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        bases[row] = rows[row].base;
        breaks[row] = rows[row].brk;
    }
    LLVMValueRef vector = cg_row_spread(g, bases);
    if (c.stride)
        vector = LLVMBuildAdd(g->b, vector, steps_in_row(g, element, c.stride), "");
    if (c.wrap) {
        LLVMValueRef past = LLVMBuildICmp(g->b, LLVMIntUGE, steps_in_row(g, g->unit->i32, 1), cg_row_spread(g, breaks), "");
        LLVMValueRef by = spread(g, LLVMConstInt(element, (uint64_t)c.wrap, true));
        LLVMValueRef moved = LLVMBuildAdd(g->b, vector, by, "");
        vector = LLVMBuildSelect(g->b, past, moved, vector, "");
    }
    return vector;
}

static LLVMValueRef load_slot(struct cg *g, LLVMValueRef slot)
{
    return LLVMBuildLoad2(g->b, LLVMGetAllocatedType(slot), slot, "");
}

LLVMValueRef cg_row_place(struct cg *g, LLVMValueRef slot)
{
    if (LLVMGetTypeKind(LLVMGetAllocatedType(slot)) != LLVMArrayTypeKind)
        return slot;
    LLVMValueRef at[2] = {LLVMConstInt(g->unit->i32, 0, false), LLVMConstInt(g->unit->i32, g->row, false)};
    return LLVMBuildInBoundsGEP2(g->b, LLVMGetAllocatedType(slot), slot, at, 2, "");
}

static LLVMTypeRef place_type(LLVMValueRef slot)
{
    LLVMTypeRef type = LLVMGetAllocatedType(slot);
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetElementType(type) : type;
}

static struct cg_affine read_affine(struct cg *g, uint32_t reg)
{
    LLVMValueRef slot = g->slots[reg];
    struct cg_affine value = {mr_flow_register_class(&g->flow, reg), LLVMBuildLoad2(g->b, place_type(slot), cg_row_place(g, slot), ""), NULL};
    if (value.c.wrap)
        value.brk = LLVMBuildLoad2(g->b, g->unit->i32, cg_row_place(g, g->breaks[reg]), "");
    return value;
}

LLVMValueRef cg_read(struct cg *g, uint32_t reg)
{
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind == MR_CLASS_VARYING)
        return load_slot(g, g->slots[reg]);
    if (c.kind == MR_CLASS_STEPPED) {
        struct cg_stepped value = cg_stepped_read(g, reg);
        return cg_stepped_vector(g, &value, cg_reg_type(g, g->func->regs[reg].type));
    }
    struct cg_affine rows[CG_ROWS_MAX];
    for (g->row = 0; g->row < g->flow.rows; g->row++)
        rows[g->row] = read_affine(g, reg);
    g->row = 0;
    return g->lanes == 1 ? rows[0].base : cg_affine_vector(g, rows);
}

/* An immediate as bits of a value of that type. */
static LLVMValueRef immediate(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef element)
{
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    bool is_float = kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
    if (operand->kind == MR_PTX_OPERAND_IMM_INT && !is_float)
        return cg_int(g, element, (uint64_t)operand->value);
    if (operand->kind == MR_PTX_OPERAND_IMM_INT) {
        LLVMValueRef bits = cg_int(g, cg_int_type(g, cg_bits(element)), (uint64_t)operand->value);
        return LLVMConstBitCast(bits, cg_type(g, element));
    }
    uint64_t bits = (uint64_t)operand->value;
    unsigned width = cg_bits(element);
    if (operand->is_single && width == 64) {
        uint32_t narrow = (uint32_t)bits;
        float single;
        memcpy(&single, &narrow, sizeof single);
        double wide = (double)single;
        memcpy(&bits, &wide, sizeof bits);
    } else if (!operand->is_single && width == 32) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        float single = (float)wide;
        uint32_t narrow;
        memcpy(&narrow, &single, sizeof narrow);
        bits = narrow;
    }
    LLVMValueRef constant = cg_int(g, cg_int_type(g, width), bits);
    return is_float ? LLVMConstBitCast(constant, cg_type(g, element)) : constant;
}

/* Reinterprets a register's value: same width as it is, wider cut to its low bits, narrower extended by zeros. */
static LLVMValueRef as_element(struct cg *g, LLVMValueRef value, LLVMTypeRef element)
{
    if (cg_element(value) == element)
        return value;
    unsigned bits = cg_bits(element);
    LLVMValueRef resized = cg_resize(g, value, cg_int_type(g, bits), false);
    return cg_cast_bits(g, resized, element);
}

/* .b64 from two .b32 and the like: the first element is the least significant. */
static LLVMValueRef packed(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef element)
{
    unsigned bits = cg_bits(element), part = bits / operand->count;
    LLVMTypeRef whole = cg_int_type(g, bits), piece = cg_int_type(g, part);
    LLVMValueRef all = NULL;
    for (unsigned i = 0; i < operand->count; i++) {
        LLVMValueRef value = cg_source(g, &operand->elements[i], piece);
        value = cg_resize(g, value, whole, false);
        if (i)
            value = LLVMBuildShl(g->b, value, cg_int(g, whole, (uint64_t)part * i), "");
        all = all ? LLVMBuildOr(g->b, all, value, "") : value;
    }
    return cg_cast_bits(g, all, element);
}

LLVMValueRef cg_source(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef element)
{
    struct cg_affine rows[CG_ROWS_MAX];
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
        if (operand->negated)
            return cg_predicate(g, operand);
        if (g->looks && g->loose[operand->reg])
            return as_element(g, cg_nan_mended(g, cg_read(g, operand->reg)), element);
        return as_element(g, cg_read(g, operand->reg), element);
    case MR_PTX_OPERAND_IMM_INT: case MR_PTX_OPERAND_IMM_FLOAT:
        return immediate(g, operand, element);
    case MR_PTX_OPERAND_VECTOR:
        return packed(g, operand, element);
    case MR_PTX_OPERAND_SPECIAL: {
        LLVMValueRef vector = cg_special(g, operand, &rows[0]);
        if (!vector)
            vector = cg_affine_rows(g, operand, rows) && g->lanes == 1 ? rows[0].base : cg_affine_vector(g, rows);
        else if (g->lanes != 1 && !is_vector(vector))
            vector = cg_splat(g, vector);
        return as_element(g, vector, element);
    }
    default:
        if (cg_affine_rows(g, operand, rows))
            return as_element(g, g->lanes == 1 ? rows[0].base : cg_affine_vector(g, rows), element);
        return cg_int(g, element, 0);
    }
}

LLVMValueRef cg_predicate(struct cg *g, const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_IMM_INT)
        return cg_int(g, g->unit->i1, operand->value != 0);
    LLVMValueRef value = as_element(g, cg_read(g, operand->reg), g->unit->i1);
    return operand->negated ? LLVMBuildNot(g->b, value, "") : value;
}

bool cg_affine_source(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out)
{
    struct cg_unit *unit = g->unit;
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG: case MR_PTX_OPERAND_REG_ADDRESS:
        if (mr_flow_register_class(&g->flow, operand->reg).kind >= MR_CLASS_STEPPED)
            return false;
        *out = read_affine(g, operand->reg);
        return true;
    case MR_PTX_OPERAND_IMM_INT: case MR_PTX_OPERAND_IMM_ADDRESS:
        *out = (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, LLVMConstInt(unit->i64, (uint64_t)operand->value, true), NULL};
        return true;
    case MR_PTX_OPERAND_SPECIAL: {
        LLVMValueRef vector = cg_special(g, operand, out);
        if (vector && is_vector(vector))
            return false;
        if (vector)
            *out = (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, vector, NULL};
        return true;
    }
    case MR_PTX_OPERAND_SYMBOL: case MR_PTX_OPERAND_SYMBOL_ADDRESS:
        out->c = mr_flow_operand_class(&g->flow, operand);
        out->base = LLVMBuildAdd(g->b, cg_symbol_address(g, operand->var),
                                 LLVMConstInt(unit->i64, (uint64_t)operand->value, true), "");
        out->base = cg_row_start(g, out->base, out->c.stride);
        out->brk = NULL;
        return true;
    case MR_PTX_OPERAND_FUNCTION:
        *out = (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, LLVMConstInt(unit->i64,
            mr_layout_function_value(unit->request->layout, operand->func), false), NULL};
        return true;
    default:
        return false;
    }
}

bool cg_affine_rows(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out)
{
    bool good = true;
    for (g->row = 0; g->row < g->flow.rows; g->row++)
        good = good && cg_affine_source(g, operand, &out[g->row]);
    g->row = 0;
    return good;
}

/* The first lane of a row whose 32-bit sum base + stride * lane leaves the range of its type; the number of lanes if none does. */
LLVMValueRef cg_break(struct cg *g, LLVMValueRef base, int64_t stride, bool is_signed)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef wide = is_signed ? LLVMBuildSExt(g->b, base, unit->i64, "") : LLVMBuildZExt(g->b, base, unit->i64, "");
    LLVMValueRef most = LLVMConstInt(unit->i64, cg_row_lanes(g), false);
    int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    uint64_t step = stride > 0 ? (uint64_t)stride : (uint64_t)-stride;
    LLVMValueRef room = stride > 0 ? LLVMBuildSub(g->b, LLVMConstInt(unit->i64, (uint64_t)high, true), wide, "")
                                   : LLVMBuildSub(g->b, wide, LLVMConstInt(unit->i64, (uint64_t)low, true), "");
    LLVMValueRef lanes = LLVMBuildUDiv(g->b, room, LLVMConstInt(unit->i64, step, false), "");
    lanes = LLVMBuildAdd(g->b, lanes, LLVMConstInt(unit->i64, 1, false), "");
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntUGT, lanes, most, "");
    lanes = LLVMBuildSelect(g->b, many, most, lanes, "");
    return LLVMBuildTrunc(g->b, lanes, unit->i32, "");
}

/* Writing. */

static void store_blended(struct cg *g, LLVMValueRef place, LLVMValueRef value, LLVMValueRef condition)
{
    if (condition)
        value = LLVMBuildSelect(g->b, condition, value, LLVMBuildLoad2(g->b, LLVMTypeOf(value), place, ""), "");
    LLVMBuildStore(g->b, value, place);
}

void cg_write_reg(struct cg *g, uint32_t reg, LLVMValueRef value)
{
    LLVMTypeRef element = reg == g->flow.reg_count - 1 ? g->unit->i1 : cg_reg_type(g, g->func->regs[reg].type);
    value = as_element(g, value, element);
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind != MR_CLASS_VARYING) {
        store_blended(g, g->slots[reg], value, g->guard);
        return;
    }
    if (!is_vector(value))
        value = cg_splat(g, value);
    LLVMValueRef condition = NULL;
    if (mr_bit_get(g->flow.blocks[g->at].parked, reg))
        condition = g->exec_vector;
    else if (g->guard)
        condition = g->guard_varies ? g->guard : cg_splat(g, g->guard);
    store_blended(g, g->slots[reg], value, condition);
}

void cg_write_lanes(struct cg *g, uint32_t reg, LLVMValueRef value, LLVMValueRef lanes)
{
    value = as_element(g, value, reg == g->flow.reg_count - 1 ? g->unit->i1 : cg_reg_type(g, g->func->regs[reg].type));
    if (mr_flow_register_class(&g->flow, reg).kind == MR_CLASS_VARYING)
        store_blended(g, g->slots[reg], is_vector(value) ? value : cg_splat(g, value), cg_mask_vector(g, lanes));
    else
        store_blended(g, g->slots[reg], value, LLVMBuildICmp(g->b, LLVMIntNE, lanes, cg_mask_zero(g), ""));
}

void cg_write_affine(struct cg *g, uint32_t reg, const struct cg_affine *rows)
{
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind == MR_CLASS_VARYING || c.kind == MR_CLASS_UNIFORM) {
        unsigned lanes = g->lanes;
        g->lanes = c.kind == MR_CLASS_VARYING ? g->unit->width : 1;
        cg_write_reg(g, reg, c.kind == MR_CLASS_VARYING ? cg_affine_vector(g, rows) : rows[0].base);
        g->lanes = lanes;
        return;
    }
    for (g->row = 0; g->row < g->flow.rows; g->row++) {
        store_blended(g, cg_row_place(g, g->slots[reg]), rows[g->row].base, g->guard);
        LLVMValueRef brk = rows[g->row].c.wrap ? rows[g->row].brk : NULL;
        if (c.wrap)
            store_blended(g, cg_row_place(g, g->breaks[reg]), brk ? brk : LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), g->guard);
    }
    g->row = 0;
}

void cg_write_extended(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value, bool is_signed)
{
    if (operand->kind == MR_PTX_OPERAND_REG) {
        LLVMTypeRef type = cg_reg_type(g, operand->type);
        if (cg_bits(cg_element(value)) < cg_bits(type))
            value = cg_resize(g, value, cg_int_type(g, cg_bits(type)), is_signed);
    }
    cg_write(g, operand, value);
}

void cg_write(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG: case MR_PTX_OPERAND_PAIR:
        if (operand->reg != MR_PTX_NONE)
            cg_write_reg(g, operand->reg, value);
        break;
    case MR_PTX_OPERAND_VECTOR: {
        unsigned bits = cg_bits(cg_element(value)), part = bits / operand->count;
        LLVMTypeRef whole = cg_int_type(g, bits);
        value = cg_cast_bits(g, value, whole);
        unsigned lanes = g->lanes;
        g->lanes = is_vector(value) ? g->unit->width : 1;
        for (unsigned i = 0; i < operand->count; i++) {
            LLVMValueRef piece = LLVMBuildLShr(g->b, value, cg_int(g, whole, (uint64_t)part * i), "");
            cg_write(g, &operand->elements[i], cg_resize(g, piece, cg_int_type(g, part), false));
        }
        g->lanes = lanes;
        break;
    }
    default:
        break; /* a sink */
    }
}
