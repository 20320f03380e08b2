/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is changed in the rounds of a loop that waits. A warp that polls changes nothing in memory; one that takes and
 * gives back locks in such a loop does, and its launch gets further (mr_block.changed_wait). Stores count. An atomic
 * operation counts if it changes the place: one that takes a lock does, one that finds it taken does not, and neither
 * does one that only asks, as atomicAdd(p, 0). In a steady loop (analysis/steady.c) neither stores count nor atomic
 * operations whose result nobody reads; what counts there is a poll that gives another value than before.
 */
#include "compile/codegen/body/change.h"

#include "abi/abi.h"
#include "compile/codegen/operands/operands.h"

static bool counts(const struct mr_ptx_inst *inst)
{
    bool own = inst->space == MR_PTX_SPACE_LOCAL || inst->space == MR_PTX_SPACE_PARAM;
    return (inst->op == MR_PTX_OP_ST && !own) || inst->op == MR_PTX_OP_RED || inst->op == MR_PTX_OP_ATOM;
}

static LLVMTypeRef bits_of(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned bits = inst->type_count ? mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]) : 0;
    return bits == 16 || bits == 32 || bits == 64 ? cg_int_type(g, bits) : NULL;
}

/* Whether the result of an atomic operation and its operand say whether it changed anything. (A result that nobody
 * reads is not made.) */
static bool can_tell(struct cg *g, const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_ATOM && inst->operands[0].kind == MR_PTX_OPERAND_REG &&
           inst->operands[0].reg != MR_PTX_NONE && mr_bit_get(g->flow.read, inst->operands[0].reg) &&
           inst->operand_count > 2 &&
           (inst->operands[2].kind == MR_PTX_OPERAND_REG || inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT);
}

struct cg_change cg_change_begin(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_change change = {.polls =
                                   g->flow.polls && mr_bit_get(g->flow.polls, (uint32_t)(inst - g->flow.func->insts))};
    if (!counts(inst) || mr_flow_waiting_loop(&g->flow, g->now.at) == MR_FLOW_NONE)
        return change;
    LLVMTypeRef type = can_tell(g, inst) ? bits_of(g, inst) : NULL;
    change.counts = type || !mr_flow_stores_steadily(&g->flow, g->now.at);
    if (type)
        change.operand = cg_source(g, &inst->operands[2], type);
    return change;
}

/* By lane: whether the place has another value than before, which is the result. */
static LLVMValueRef is_changed(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef operand)
{
    LLVMTypeRef type = bits_of(g, inst);
    LLVMValueRef before = cg_source(g, &inst->operands[0], type);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(operand));
    switch (inst->atom) {
    case MR_PTX_ATOM_CAS:
        return LLVMBuildICmp(g->b, LLVMIntEQ, before, operand, "");
    case MR_PTX_ATOM_EXCH:
        return LLVMBuildICmp(g->b, LLVMIntNE, before, operand, "");
    case MR_PTX_ATOM_AND:
        return LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, before, operand, ""), before, "");
    case MR_PTX_ATOM_OR:
        return LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildOr(g->b, before, operand, ""), before, "");
    case MR_PTX_ATOM_MIN:
    case MR_PTX_ATOM_MAX:
        /* What comes of it needs the type; a constant is there to ask. */
        return inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT
                   ? LLVMConstNull(LLVMTypeOf(LLVMBuildICmp(g->b, LLVMIntNE, operand, zero, "")))
                   : LLVMBuildICmp(g->b, LLVMIntNE, before, operand, "");
    case MR_PTX_ATOM_INC:
    case MR_PTX_ATOM_DEC:
        return LLVMConstAllOnes(LLVMTypeOf(LLVMBuildICmp(g->b, LLVMIntNE, operand, zero, "")));
    default: /* sums and exclusive ors */
        return LLVMBuildICmp(g->b, LLVMIntNE, operand, zero, "");
    }
}

/* Code that notes that the launch gets further. */
static void note(struct cg *g)
{
    cg_block_store(g, offsetof(struct mr_block, changed_wait), LLVMConstInt(g->unit->i32, 1, false));
}

/* The same if `changed`, by lane, holds for a lane that runs the instruction. */
static void note_if(struct cg *g, LLVMValueRef changed)
{
    LLVMValueRef lanes = LLVMBuildAnd(g->b, cg_mask_bits(g, changed), g->now.exec, "");
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntNE, lanes, cg_mask_zero(g), "");
    LLVMBasicBlockRef notes = cg_new_block(g, "changed"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, some, notes, on);
    LLVMPositionBuilderAtEnd(g->b, notes);
    note(g);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* Compares what a poll gave with what it gave last. (An instruction whose code stands twice has two such memories.) */
static void compare_poll(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef value = cg_read(g, inst->operands[0].reg);
    LLVMTypeRef type = LLVMTypeOf(value), whole;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        whole = LLVMVectorType(cg_int_type(g, cg_bits(LLVMGetElementType(type))), LLVMGetVectorSize(type));
    else
        whole = cg_int_type(g, cg_bits(type));
    value = LLVMBuildBitCast(g->b, value, whole, "");
    LLVMValueRef slot = cg_slot_of_zero(g, whole, "polled");
    LLVMValueRef before = LLVMBuildLoad2(g->b, whole, slot, "");
    LLVMValueRef now = LLVMGetTypeKind(whole) == LLVMVectorTypeKind
                           ? LLVMBuildSelect(g->b, g->now.exec_vector, value, before, "")
                           : value;
    LLVMBuildStore(g->b, now, slot);
    note_if(g, LLVMBuildICmp(g->b, LLVMIntNE, now, before, ""));
}

void cg_change_end(struct cg *g, const struct mr_ptx_inst *inst, struct cg_change change)
{
    if (change.operand)
        note_if(g, is_changed(g, inst, change.operand));
    else if (change.counts)
        note(g);
    if (change.polls)
        compare_poll(g, inst);
}
