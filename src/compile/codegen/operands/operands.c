/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands and results: from PTX registers in their classes to LLVM values in
 * the form of the instruction at hand, and back.
 */
#include "compile/codegen/numbers/numbers.h"
#include "compile/codegen/operands/operands.h"

#include <string.h>

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
        if (g->now.looks && g->regs.loose[operand->reg])
            return cg_as_element(g, cg_nan_mended(g, cg_as_element(g, cg_read(g, operand->reg), g->unit->f32)),
                                 element);
        return cg_as_element(g, cg_read(g, operand->reg), element);
    case MR_PTX_OPERAND_IMM_INT:
    case MR_PTX_OPERAND_IMM_FLOAT:
        return immediate(g, operand, element);
    case MR_PTX_OPERAND_VECTOR:
        return packed(g, operand, element);
    case MR_PTX_OPERAND_SPECIAL: {
        LLVMValueRef vector = cg_special(g, operand, &rows[0]);
        if (!vector)
            vector = cg_affine_rows(g, operand, rows) && g->now.lanes == 1 ? rows[0].base : cg_affine_vector(g, rows);
        else if (g->now.lanes != 1 && !cg_is_vector(vector))
            vector = cg_splat(g, vector);
        return cg_as_element(g, vector, element);
    }
    default:
        if (cg_affine_rows(g, operand, rows))
            return cg_as_element(g, g->now.lanes == 1 ? rows[0].base : cg_affine_vector(g, rows), element);
        return cg_int(g, element, 0);
    }
}

LLVMValueRef cg_predicate(struct cg *g, const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_IMM_INT)
        return cg_int(g, g->unit->i1, operand->value != 0);
    LLVMValueRef value = cg_as_element(g, cg_read(g, operand->reg), g->unit->i1);
    return operand->negated ? LLVMBuildNot(g->b, value, "") : value;
}

bool cg_affine_source(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out)
{
    struct cg_unit *unit = g->unit;
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
    case MR_PTX_OPERAND_REG_ADDRESS:
        if (mr_flow_register_class(&g->flow, operand->reg).kind >= MR_CLASS_STEPPED)
            return false;
        *out = cg_read_affine(g, operand->reg);
        return true;
    case MR_PTX_OPERAND_IMM_INT:
    case MR_PTX_OPERAND_IMM_ADDRESS:
        *out =
            (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, LLVMConstInt(unit->i64, (uint64_t)operand->value, true), NULL};
        return true;
    case MR_PTX_OPERAND_SPECIAL: {
        LLVMValueRef vector = cg_special(g, operand, out);
        if (vector && cg_is_vector(vector))
            return false;
        if (vector)
            *out = (struct cg_affine){{MR_CLASS_UNIFORM, 0, 0}, vector, NULL};
        return true;
    }
    case MR_PTX_OPERAND_SYMBOL:
    case MR_PTX_OPERAND_SYMBOL_ADDRESS:
        out->c = mr_flow_operand_class(&g->flow, operand);
        out->base = LLVMBuildAdd(g->b, cg_symbol_address(g, operand->var),
                                 LLVMConstInt(unit->i64, (uint64_t)operand->value, true), "");
        out->base = cg_row_start(g, out->base, out->c.stride);
        out->brk = NULL;
        return true;
    case MR_PTX_OPERAND_FUNCTION:
        *out = (struct cg_affine){
            {MR_CLASS_UNIFORM, 0, 0},
            LLVMConstInt(unit->i64, mr_layout_function_value(unit->request->layout, operand->func), false),
            NULL};
        return true;
    default:
        return false;
    }
}

bool cg_affine_rows(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out)
{
    bool good = true;
    for (g->now.row = 0; g->now.row < g->flow.rows; g->now.row++)
        good = good && cg_affine_source(g, operand, &out[g->now.row]);
    g->now.row = 0;
    return good;
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
    case MR_PTX_OPERAND_REG:
    case MR_PTX_OPERAND_PAIR:
        if (operand->reg != MR_PTX_NONE)
            cg_write_reg(g, operand->reg, value);
        break;
    case MR_PTX_OPERAND_VECTOR: {
        unsigned bits = cg_bits(cg_element(value)), part = bits / operand->count;
        LLVMTypeRef whole = cg_int_type(g, bits);
        value = cg_cast_bits(g, value, whole);
        unsigned lanes = g->now.lanes;
        g->now.lanes = cg_is_vector(value) ? g->unit->width : 1;
        for (unsigned i = 0; i < operand->count; i++) {
            LLVMValueRef piece = LLVMBuildLShr(g->b, value, cg_int(g, whole, (uint64_t)part * i), "");
            cg_write(g, &operand->elements[i], cg_resize(g, piece, cg_int_type(g, part), false));
        }
        g->now.lanes = lanes;
        break;
    }
    default:
        break; /* a sink */
    }
}

LLVMValueRef cg_scalar_source(struct cg *g, const struct mr_ptx_operand *operand)
{
    unsigned lanes = g->now.lanes;
    bool uniform = mr_flow_operand_class(&g->flow, operand).kind == MR_CLASS_UNIFORM;
    g->now.lanes = uniform ? 1 : CG_LANES;
    LLVMValueRef value = cg_source(g, operand, g->unit->i32);
    g->now.lanes = lanes;
    return uniform ? value : LLVMBuildExtractElement(g->b, value, cg_lowest_lane(g, g->now.exec), "");
}
