/* SPDX-License-Identifier: Apache-2.0 */

/*
 * alloca, stacksave, stackrestore: basics/stack.c keeps the memory.
 */
#include "compile/codegen/basics/stack.h"
#include "compile/codegen/emit/emit.h"

/* Ends the launch if a lane that runs asks for more than its memory has. */
static void check_room(struct cg *g, LLVMValueRef top, LLVMValueRef size, LLVMValueRef pointer)
{
    LLVMValueRef base = LLVMBuildLoad2(g->b, g->unit->i64, cg_stack_field(g, 1), ""), low = cg_stack_bounds(g, base, 0);
    LLVMValueRef room = LLVMBuildSub(g->b, top, low, "");
    LLVMValueRef over = LLVMBuildICmp(g->b, LLVMIntUGT, size, room, "");
    over = LLVMBuildOr(g->b, over, LLVMBuildICmp(g->b, LLVMIntULT, pointer, low, ""), "");
    over = cg_mask_bits(g, LLVMBuildAnd(g->b, over, g->now.exec_vector, ""));
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
    if (!mr_flow_is_stack_op(inst->op))
        return false;
    LLVMTypeRef type = g->unit->i64;
    g->now.lanes = g->unit->width;
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
        pointer =
            LLVMBuildAnd(g->b, LLVMBuildSub(g->b, top, size, ""), cg_int(g, type, ~((align < 8 ? 8 : align) - 1)), "");
        check_room(g, top, size, pointer);
        cg_write(g, &inst->operands[0], cg_resize(g, pointer, given, false));
    }
    cg_stack_store(g, LLVMBuildSelect(g->b, g->now.exec_vector, pointer, top, ""));
    return true;
}
