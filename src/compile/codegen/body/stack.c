/* SPDX-License-Identifier: Apache-2.0 */

/*
 * alloca, stacksave, stackrestore. A kernel that may come to one has memory for each lane
 * in its frame, as much as the launch says, and a pointer for each lane that moves down through
 * it. The pointers belong to the warp's state, so that functions called from
 * one another share them; a function that moves them puts them back at its end.
 */
#include "compile/codegen/body/stack.h"

static bool is_stack_op(unsigned op)
{
    return op == MR_PTX_OP_ALLOCA || op == MR_PTX_OP_STACKSAVE || op == MR_PTX_OP_STACKRESTORE;
}

bool cg_stack_is_used(const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++)
        if (is_stack_op(func->insts[i].op))
            return true;
    return false;
}

/* Where the state has the pointers, and the start of the lanes' memory. */
static LLVMValueRef state_field(struct cg *g, unsigned field)
{
    return LLVMBuildStructGEP2(g->b, cg_state_type(g->unit), g->state, 2 + field, "");
}

static LLVMTypeRef pointers_type(const struct cg *g)
{
    return cg_vector_type(g->unit->i64, g->unit->width);
}

/* Nothing of `lane`'s memory is in use when `ends` is 1; its lowest address when it is 0. */
static LLVMValueRef bounds(struct cg *g, LLVMValueRef base, unsigned ends)
{
    unsigned lanes = g->lanes;
    g->lanes = g->unit->width;
    LLVMValueRef bytes = LLVMBuildLoad2(g->b, g->unit->i64, state_field(g, 2), "");
    LLVMValueRef steps = LLVMBuildMul(g->b, cg_lane_numbers(g, g->unit->i64, 1), cg_splat(g, bytes), "");
    LLVMValueRef all = LLVMBuildAdd(g->b, cg_splat(g, ends ? LLVMBuildAdd(g->b, base, bytes, "") : base), steps, "");
    g->lanes = lanes;
    return all;
}

LLVMValueRef cg_stack_memory(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef bytes = cg_block_field(g, offsetof(struct mr_block, lane_stack), unit->i32, "lane_stack");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue_end);
    bytes = LLVMBuildZExt(g->b, bytes, unit->i64, "");
    LLVMBuildStore(g->b, bytes, state_field(g, 2));
    LLVMValueRef all = LLVMBuildMul(g->b, bytes, LLVMConstInt(unit->i64, unit->width, false), "");
    LLVMValueRef memory = LLVMBuildArrayAlloca(g->b, unit->i8, all, "stack");
    LLVMSetAlignment(memory, 64);
    LLVMPositionBuilderAtEnd(g->b, here);
    return memory;
}

void cg_stack_start(struct cg *g, LLVMValueRef memory)
{
    LLVMValueRef base = LLVMBuildPtrToInt(g->b, memory, g->unit->i64, "stack");
    LLVMBuildStore(g->b, base, state_field(g, 1));
    LLVMSetAlignment(LLVMBuildStore(g->b, bounds(g, base, 1), state_field(g, 0)), 8);
}

LLVMValueRef cg_stack_range(struct cg *g, LLVMValueRef *bytes)
{
    LLVMTypeRef type = g->unit->i64;
    *bytes = LLVMBuildMul(g->b, LLVMBuildLoad2(g->b, type, state_field(g, 2), ""), LLVMConstInt(type, g->unit->width, false), "");
    return LLVMBuildLoad2(g->b, type, state_field(g, 1), "");
}

LLVMValueRef cg_stack_load(struct cg *g)
{
    LLVMValueRef load = LLVMBuildLoad2(g->b, pointers_type(g), state_field(g, 0), "stackptr");
    LLVMSetAlignment(load, 8);
    return load;
}

void cg_stack_store(struct cg *g, LLVMValueRef pointers)
{
    LLVMSetAlignment(LLVMBuildStore(g->b, pointers, state_field(g, 0)), 8);
}

/* Ends the launch if a lane that runs asks for more than its memory has. */
static void check_room(struct cg *g, LLVMValueRef top, LLVMValueRef size, LLVMValueRef pointer)
{
    LLVMValueRef base = LLVMBuildLoad2(g->b, g->unit->i64, state_field(g, 1), ""), low = bounds(g, base, 0);
    LLVMValueRef room = LLVMBuildSub(g->b, top, low, "");
    LLVMValueRef over = LLVMBuildICmp(g->b, LLVMIntUGT, size, room, "");
    over = LLVMBuildOr(g->b, over, LLVMBuildICmp(g->b, LLVMIntULT, pointer, low, ""), "");
    over = cg_mask_bits(g, LLVMBuildAnd(g->b, over, g->exec_vector, ""));
    over = LLVMBuildICmp(g->b, LLVMIntNE, over, cg_mask_zero(g), "");
    LLVMBasicBlockRef bad = cg_new_block(g, "overflow"), good = cg_new_block(g, "room");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, over, bad, good));
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_STACK);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, good);
}

bool cg_emit_stack(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (!is_stack_op(inst->op))
        return false;
    LLVMTypeRef type = g->unit->i64;
    g->lanes = g->unit->width;
    LLVMValueRef top = cg_stack_load(g);
    /* The stacks of kernels with 32-bit addresses lie where these reach: MR_CODE_LOW_STACK. */
    LLVMTypeRef given = inst->type[0] == MR_PTX_TYPE_U32 ? g->unit->i32 : type;
    if (inst->op == MR_PTX_OP_STACKSAVE) {
        cg_write(g, &inst->operands[0], cg_resize(g, top, given, false));
        return true;
    }
    LLVMValueRef pointer;
    if (inst->op == MR_PTX_OP_STACKRESTORE) {
        pointer = cg_resize(g, cg_source(g, &inst->operands[0], given), type, false);
    } else {
        uint64_t align = inst->operand_count > 2 ? (uint64_t)inst->operands[2].value : 8;
        LLVMValueRef size = cg_resize(g, cg_source(g, &inst->operands[1], given), type, false);
        pointer = LLVMBuildAnd(g->b, LLVMBuildSub(g->b, top, size, ""), cg_int(g, type, ~((align < 8 ? 8 : align) - 1)), "");
        check_room(g, top, size, pointer);
        cg_write(g, &inst->operands[0], cg_resize(g, pointer, given, false));
    }
    cg_stack_store(g, LLVMBuildSelect(g->b, g->exec_vector, pointer, top, ""));
    return true;
}
