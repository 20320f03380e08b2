/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory of the lanes' own for alloca. A kernel that may come to one has memory for each lane
 * in its frame, as much as the launch says, and a pointer for each lane that moves down through
 * it. The pointers belong to the warp's state, so that functions called from
 * one another share them; a function that moves them puts them back at its end.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/stack.h"

/* Where the state has the pointers, and the start of the lanes' memory. */
LLVMValueRef cg_stack_field(struct cg *g, unsigned field)
{
    return LLVMBuildStructGEP2(g->b, cg_state_type(g->unit), g->warp.state, 2 + field, "");
}

static LLVMTypeRef pointers_type(const struct cg *g)
{
    return cg_vector_type(g->unit->i64, g->unit->width);
}

/* Nothing of `lane`'s memory is in use when `ends` is 1; its lowest address when it is 0. */
LLVMValueRef cg_stack_bounds(struct cg *g, LLVMValueRef base, unsigned ends)
{
    unsigned lanes = g->now.lanes;
    g->now.lanes = g->unit->width;
    LLVMValueRef bytes = LLVMBuildLoad2(g->b, g->unit->i64, cg_stack_field(g, 2), "");
    LLVMValueRef steps = LLVMBuildMul(g->b, cg_lane_numbers(g, g->unit->i64, 1), cg_splat(g, bytes), "");
    LLVMValueRef all = LLVMBuildAdd(g->b, cg_splat(g, ends ? LLVMBuildAdd(g->b, base, bytes, "") : base), steps, "");
    g->now.lanes = lanes;
    return all;
}

LLVMValueRef cg_stack_memory(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef bytes = cg_block_field(g, offsetof(struct mr_block, lane_stack), unit->i32, "lane_stack");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    bytes = LLVMBuildZExt(g->b, bytes, unit->i64, "");
    LLVMBuildStore(g->b, bytes, cg_stack_field(g, 2));
    LLVMValueRef all = LLVMBuildMul(g->b, bytes, LLVMConstInt(unit->i64, unit->width, false), "");
    LLVMValueRef memory = LLVMBuildArrayAlloca(g->b, unit->i8, all, "stack");
    LLVMSetAlignment(memory, 64);
    LLVMPositionBuilderAtEnd(g->b, here);
    return memory;
}

void cg_stack_start(struct cg *g, LLVMValueRef memory)
{
    LLVMValueRef base = LLVMBuildPtrToInt(g->b, memory, g->unit->i64, "stack");
    LLVMBuildStore(g->b, base, cg_stack_field(g, 1));
    LLVMSetAlignment(LLVMBuildStore(g->b, cg_stack_bounds(g, base, 1), cg_stack_field(g, 0)), 8);
}

LLVMValueRef cg_stack_range(struct cg *g, LLVMValueRef *bytes)
{
    LLVMTypeRef type = g->unit->i64;
    *bytes = LLVMBuildMul(g->b, LLVMBuildLoad2(g->b, type, cg_stack_field(g, 2), ""),
                          LLVMConstInt(type, g->unit->width, false), "");
    return LLVMBuildLoad2(g->b, type, cg_stack_field(g, 1), "");
}

LLVMValueRef cg_stack_load(struct cg *g)
{
    LLVMValueRef load = LLVMBuildLoad2(g->b, pointers_type(g), cg_stack_field(g, 0), "stackptr");
    LLVMSetAlignment(load, 8);
    return load;
}

void cg_stack_store(struct cg *g, LLVMValueRef pointers)
{
    LLVMSetAlignment(LLVMBuildStore(g->b, pointers, cg_stack_field(g, 0)), 8);
}
