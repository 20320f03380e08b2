/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PTX registers in their slots: read in the form of the instruction at hand, and written where the lanes that run are
 * the only ones to change.
 */
#include "compile/codegen/operands/operands.h"
#include "compile/codegen/operands/stepped.h"

static LLVMValueRef load_slot(struct cg *g, LLVMValueRef slot)
{
    return LLVMBuildLoad2(g->b, LLVMGetAllocatedType(slot), slot, "");
}

static LLVMTypeRef place_type(LLVMValueRef slot)
{
    LLVMTypeRef type = LLVMGetAllocatedType(slot);
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetElementType(type) : type;
}

struct cg_affine cg_read_affine(struct cg *g, uint32_t reg)
{
    LLVMValueRef slot = g->regs.slots[reg];
    struct cg_affine value = {mr_flow_register_class(&g->flow, reg),
                              LLVMBuildLoad2(g->b, place_type(slot), cg_row_place(g, slot), ""), NULL};
    if (value.c.wrap)
        value.brk = LLVMBuildLoad2(g->b, g->unit->i32, cg_row_place(g, g->regs.breaks[reg]), "");
    return value;
}

LLVMValueRef cg_read(struct cg *g, uint32_t reg)
{
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind == MR_CLASS_VARYING)
        return load_slot(g, g->regs.slots[reg]);
    if (c.kind == MR_CLASS_STEPPED) {
        struct cg_stepped value = cg_stepped_read(g, reg);
        return cg_stepped_vector(g, &value, cg_reg_type(g, g->func->regs[reg].type));
    }
    struct cg_affine rows[CG_ROWS_MAX];
    for (g->now.row = 0; g->now.row < g->flow.rows; g->now.row++)
        rows[g->now.row] = cg_read_affine(g, reg);
    g->now.row = 0;
    return g->now.lanes == 1 ? rows[0].base : cg_affine_vector(g, rows);
}

static void store_blended(struct cg *g, LLVMValueRef place, LLVMValueRef value, LLVMValueRef condition)
{
    if (condition)
        value = LLVMBuildSelect(g->b, condition, value, LLVMBuildLoad2(g->b, LLVMTypeOf(value), place, ""), "");
    LLVMBuildStore(g->b, value, place);
}

void cg_write_reg(struct cg *g, uint32_t reg, LLVMValueRef value)
{
    LLVMTypeRef element = reg == g->flow.reg_count - 1 ? g->unit->i1 : cg_reg_type(g, g->func->regs[reg].type);
    value = cg_as_element(g, value, element);
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind != MR_CLASS_VARYING) {
        store_blended(g, g->regs.slots[reg], value, g->now.guard);
        return;
    }
    if (!cg_is_vector(value))
        value = cg_splat(g, value);
    LLVMValueRef condition = NULL;
    if (mr_bit_get(g->flow.blocks[g->now.at].parked, reg))
        condition = g->now.exec_vector;
    else if (g->now.guard)
        condition = g->now.guard_varies ? g->now.guard : cg_splat(g, g->now.guard);
    store_blended(g, g->regs.slots[reg], value, condition);
}

void cg_write_lanes(struct cg *g, uint32_t reg, LLVMValueRef value, LLVMValueRef lanes)
{
    value =
        cg_as_element(g, value, reg == g->flow.reg_count - 1 ? g->unit->i1 : cg_reg_type(g, g->func->regs[reg].type));
    if (mr_flow_register_class(&g->flow, reg).kind == MR_CLASS_VARYING)
        store_blended(g, g->regs.slots[reg], cg_is_vector(value) ? value : cg_splat(g, value),
                      cg_mask_vector(g, lanes));
    else
        store_blended(g, g->regs.slots[reg], value, LLVMBuildICmp(g->b, LLVMIntNE, lanes, cg_mask_zero(g), ""));
}

void cg_write_affine(struct cg *g, uint32_t reg, const struct cg_affine *rows)
{
    struct mr_class c = mr_flow_register_class(&g->flow, reg);
    if (c.kind == MR_CLASS_VARYING || c.kind == MR_CLASS_UNIFORM) {
        unsigned lanes = g->now.lanes;
        g->now.lanes = c.kind == MR_CLASS_VARYING ? g->unit->width : 1;
        cg_write_reg(g, reg, c.kind == MR_CLASS_VARYING ? cg_affine_vector(g, rows) : rows[0].base);
        g->now.lanes = lanes;
        return;
    }
    for (g->now.row = 0; g->now.row < g->flow.rows; g->now.row++) {
        store_blended(g, cg_row_place(g, g->regs.slots[reg]), rows[g->now.row].base, g->now.guard);
        LLVMValueRef brk = rows[g->now.row].c.wrap ? rows[g->now.row].brk : NULL;
        if (c.wrap)
            store_blended(g, cg_row_place(g, g->regs.breaks[reg]),
                          brk ? brk : LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), g->now.guard);
    }
    g->now.row = 0;
}
