/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where variables are.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/operands/operands.h"

uint64_t cg_entry_parameter_offset(const struct cg *g, const struct mr_ptx_var *var)
{
    return g->func->param_offsets ? g->func->param_offsets[var->index] : 0;
}

LLVMValueRef cg_symbol_address(struct cg *g, const struct mr_ptx_var *var)
{
    struct cg_unit *unit = g->unit;
    uint32_t offset = 0;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef pointer, place;
    switch (var->space) {
    case MR_PTX_SPACE_SHARED:
        if (!mr_layout_shared_find(unit->entry, var, &offset))
            cg_fail(unit, g->now.inst, "a shared variable that has no place");
        return LLVMConstInt(unit->i64, offset, false);
    case MR_PTX_SPACE_GLOBAL:
    case MR_PTX_SPACE_CONST:
        place = LLVMConstInt(unit->i64, mr_layout_symbol(unit->request->layout, var), false);
        LLVMPositionBuilderBefore(g->b, g->prologue.end);
        pointer = LLVMBuildGEP2(g->b, unit->i64, g->launch.symbols, &place, 1, "");
        place = cg_aligned(g, LLVMBuildLoad2(g->b, unit->i64, pointer, var->name), var->align);
        LLVMPositionBuilderAtEnd(g->b, here);
        cg_line_again(g);
        return place;
    default:
        break;
    }
    if (mr_flow_is_per_lane(var))
        return LLVMBuildPtrToInt(g->b, *cg_var_slot(g, var), unit->i64, "");
    return LLVMBuildAdd(g->b, LLVMBuildPtrToInt(g->b, g->launch.params_place, unit->i64, ""),
                        LLVMConstInt(unit->i64, cg_entry_parameter_offset(g, var), false), "");
}
