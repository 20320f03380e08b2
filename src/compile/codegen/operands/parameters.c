/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loads of a kernel's parameters. Nobody writes to them while the kernel runs, so each is read once in a call, in the
 * prologue, and what is calculated from parameters alone leaves the loop over warps with it. Compilers name a parameter
 * itself, or move its address to a register first, as for members of a structure: such a register is known by having
 * one definition, a move or a sum with a constant.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/operands/operands.h"
#include "compile/codegen/operands/parameters.h"

#include "base/alloc.h"

static bool is_kernel_parameter(const struct mr_ptx_var *var)
{
    return var->space == MR_PTX_SPACE_PARAM && !mr_flow_is_per_lane(var);
}

static void count_definitions(void *data, uint32_t reg, bool is_definition)
{
    uint8_t *definitions = data;
    if (is_definition && definitions[reg] < 2)
        definitions[reg]++;
}

/* What an operand points to, if that is known. */
static struct cg_parameter pointed_to(const struct cg *g, const struct mr_ptx_operand *operand)
{
    struct cg_parameter at = {NULL, operand->value};
    if ((operand->kind == MR_PTX_OPERAND_SYMBOL || operand->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS) &&
        is_kernel_parameter(operand->var)) {
        at.var = operand->var;
    } else if (operand->kind == MR_PTX_OPERAND_REG || operand->kind == MR_PTX_OPERAND_REG_ADDRESS) {
        at = g->regs.parameters[operand->reg];
        if (operand->kind == MR_PTX_OPERAND_REG_ADDRESS)
            at.offset += operand->value;
    }
    return at;
}

/* Where the result of a move or sum points to. */
static struct cg_parameter moved(const struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_parameter none = {NULL, 0};
    if (inst->guard != MR_PTX_NONE || inst->type_count != 1 || mr_ptx_type_bits(inst->type[0]) != 64)
        return none;
    if (inst->op == MR_PTX_OP_MOV)
        return pointed_to(g, &inst->operands[1]);
    if (inst->op != MR_PTX_OP_ADD || inst->operands[2].kind != MR_PTX_OPERAND_IMM_INT)
        return none;
    struct cg_parameter at = pointed_to(g, &inst->operands[1]);
    at.offset += inst->operands[2].value;
    return at;
}

bool cg_parameters_prepare(struct cg *g)
{
    const struct mr_ptx_function *func = g->func;
    size_t regs = g->flow.reg_count ? g->flow.reg_count : 1;
    uint8_t *definitions = mr_calloc(regs, sizeof *definitions);
    g->regs.parameters = mr_calloc(regs, sizeof *g->regs.parameters);
    bool good = definitions && g->regs.parameters;
    for (uint32_t i = 0; good && func->is_entry && i < func->inst_count; i++)
        mr_flow_registers(&g->flow, &func->insts[i], count_definitions, definitions);
    for (uint32_t i = 0; good && func->is_entry && i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        if (inst->dst_count == 1 && inst->operands[0].kind == MR_PTX_OPERAND_REG &&
            definitions[inst->operands[0].reg] == 1)
            g->regs.parameters[inst->operands[0].reg] = moved(g, inst);
    }
    mr_free(definitions);
    return good;
}

static LLVMValueRef read_once(struct cg *g, LLVMTypeRef type, uint64_t offset, unsigned bytes)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMValueRef value =
        LLVMBuildLoad2(g->b, type, LLVMBuildInBoundsGEP2(g->b, g->unit->i8, g->launch.params, &place, 1, ""), "");
    LLVMSetAlignment(value, bytes);
    cg_mark_invariant(g, value);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return value;
}

bool cg_emit_parameter_load(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->space != MR_PTX_SPACE_PARAM)
        return false;
    struct cg_parameter from = pointed_to(g, &inst->operands[1]);
    unsigned count = inst->vector ? inst->vector : 1, bytes = mr_ptx_type_bytes(inst->type[0]);
    if (!from.var || bytes > 8 || from.offset < 0 || (uint64_t)from.offset + (uint64_t)count * bytes > from.var->size)
        return false;
    uint64_t offset = cg_entry_parameter_offset(g, from.var) + (uint64_t)from.offset;
    if (offset % bytes)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct mr_ptx_operand *to =
            inst->operands[0].kind == MR_PTX_OPERAND_VECTOR ? &inst->operands[0].elements[i] : &inst->operands[0];
        if (to->kind != MR_PTX_OPERAND_SINK)
            cg_write_extended(g, to, read_once(g, cg_memory_type(g, inst->type[0]), offset + i * bytes, bytes),
                              mr_ptx_type_class(inst->type[0]) == 'S');
    }
    return true;
}
