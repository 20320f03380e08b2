/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses of 32 bits outside .shared, whose addresses are offsets anyway. No compiler writes them in modules of
 * 64-bit addresses, but people do. There they are the lower halves of host addresses, whose upper halves have to be
 * known. Of local variables, and of the parameters of device functions, they are 0: such kernels run on stacks below 4
 * GiB. A kernel's own parameters are copied there. Variables in .const stay where they are, and an address is looked
 * for among them by its lower half. */
#include "compile/codegen/operands/narrow.h"
#include "compile/codegen/operands/operands.h"

#define SPACE(id) (1u << MR_PTX_SPACE_##id)

unsigned cg_narrow_spaces(const struct mr_ptx_function *func)
{
    unsigned spaces = 0;
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        bool moves_stack =
            inst->op == MR_PTX_OP_ALLOCA || inst->op == MR_PTX_OP_STACKSAVE || inst->op == MR_PTX_OP_STACKRESTORE;
        if (moves_stack && inst->type[0] == MR_PTX_TYPE_U32)
            spaces |= SPACE(LOCAL);
        for (uint32_t o = 0; o < inst->operand_count; o++) {
            const struct mr_ptx_operand *operand = &inst->operands[o];
            if (operand->kind == MR_PTX_OPERAND_REG_ADDRESS && mr_ptx_type_bits(func->regs[operand->reg].type) == 32)
                spaces |= 1u << inst->space;
            if (operand->kind == MR_PTX_OPERAND_SYMBOL && inst->op == MR_PTX_OP_MOV &&
                mr_ptx_type_bits(inst->type[0]) < 64)
                spaces |= 1u << operand->var->space;
        }
    }
    return spaces;
}

bool cg_narrow_needs_stack(unsigned spaces)
{
    return spaces & (SPACE(LOCAL) | SPACE(PARAM) | SPACE(PARAM_ENTRY) | SPACE(PARAM_FUNC));
}

LLVMValueRef cg_narrow_parameters(struct cg *g, LLVMValueRef params)
{
    enum { ALIGN = 16 }; /* of a launch's parameters */
    uint64_t bytes = g->func->param_size;
    if (!g->func->is_entry || !bytes || !(g->unit->narrow & (SPACE(PARAM) | SPACE(PARAM_ENTRY))))
        return params;
    LLVMValueRef copy = cg_slot(g, LLVMArrayType2(g->unit->i8, bytes), "narrow");
    LLVMSetAlignment(copy, ALIGN);
    g->memory.bytes += bytes;
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMBuildMemCpy(g->b, copy, ALIGN, params, ALIGN, LLVMConstInt(g->unit->i64, bytes, false));
    return copy;
}

LLVMValueRef cg_narrow_constant(struct cg *g, LLVMValueRef address)
{
    const struct mr_layout *layout = g->unit->request->layout;
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64;
    LLVMValueRef low = cg_resize(g, address, i32, false), r = address;
    for (uint32_t i = 0; i < layout->variable_count; i++) {
        const struct mr_ptx_var *var = layout->symbols[i].var;
        if (!var || var->space != MR_PTX_SPACE_CONST)
            continue;
        LLVMValueRef start = cg_symbol_address(g, var);
        if (g->now.lanes != 1)
            start = cg_splat(g, start);
        LLVMValueRef at = LLVMBuildSub(g->b, low, cg_resize(g, start, i32, false), "");
        LLVMValueRef here = LLVMBuildICmp(g->b, LLVMIntULT, at, cg_int(g, i32, var->size), "");
        r = cg_select(g, here, LLVMBuildAdd(g->b, start, cg_resize(g, at, i64, false), ""), r);
    }
    return r;
}
