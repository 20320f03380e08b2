/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory of a function's frame, and what it reads from the block's record and notes there.
 *
 * Slots are made in the prologue, whatever is being emitted at the time.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/lines.h"

LLVMValueRef cg_slot(struct cg *g, LLVMTypeRef type, const char *name)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMValueRef slot = LLVMBuildAlloca(g->b, type, name);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return slot;
}

LLVMValueRef cg_slot_of_zero(struct cg *g, LLVMTypeRef type, const char *name)
{
    LLVMValueRef slot = cg_slot(g, type, name);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMBuildStore(g->b, LLVMConstNull(type), slot);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return slot;
}

/* LLVM looks through all uses of a slot whenever one of them is gone, and an atomic operation has one for each lane. */
#define SCRATCH_USES 8u

LLVMValueRef cg_scratch(struct cg *g, LLVMTypeRef element)
{
    LLVMTypeRef type = LLVMVectorType(element, g->unit->width);
    unsigned slot = g->memory.scratch_used;
    if (slot < CG_SCRATCH && g->memory.scratch[slot].slot && g->memory.scratch[slot].type == type &&
        g->memory.scratch[slot].uses < SCRATCH_USES) {
        g->memory.scratch_used++;
        g->memory.scratch[slot].uses++;
        return g->memory.scratch[slot].slot;
    }
    LLVMValueRef made = cg_slot(g, type, "scratch");
    LLVMSetAlignment(made, 64);
    g->memory.bytes += g->unit->width * cg_bits(element) / 8;
    if (slot < CG_SCRATCH) {
        g->memory.scratch[slot].type = type;
        g->memory.scratch[slot].slot = made;
        g->memory.scratch[slot].uses = 1;
        g->memory.scratch_used++;
    }
    return made;
}

void cg_mark_invariant(struct cg *g, LLVMValueRef load)
{
    unsigned kind = LLVMGetMDKindIDInContext(g->unit->context, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMDNodeInContext(g->unit->context, NULL, 0));
}

LLVMValueRef cg_block_field(struct cg *g, size_t offset, LLVMTypeRef type, const char *name)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, g->unit->i8, g->launch.block, &place, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(g->b, type, pointer, name);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return value;
}

LLVMValueRef cg_block_store(struct cg *g, size_t offset, LLVMValueRef value)
{
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    return LLVMBuildStore(g->b, value, LLVMBuildGEP2(g->b, g->unit->i8, g->launch.block, &place, 1, ""));
}

LLVMValueRef *cg_var_slot(struct cg *g, const struct mr_ptx_var *var)
{
    uint32_t index = var->index;
    if (var->is_input)
        index += g->func->var_count;
    else if (var->is_return)
        index += g->func->var_count + g->func->param_count;
    return &g->memory.vars[index];
}
