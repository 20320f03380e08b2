/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Long blocks are cut. Much of LLVM's code generator (selection, both schedulers) takes time by more than the number of
 * a block's instructions, and a kernel may be one block of a hundred thousand. Pieces of some hundred instructions take
 * the same time each.
 *
 * LLVM would put the pieces together again if one just led to the next, and if one ended in a branch, it would move
 * what only later pieces need down into the last of them (MachineSink): all of it, in straight code. So between two
 * pieces stands a loop, which ends when a zero that LLVM knows nothing about is zero; a piece leads to it and nowhere
 * else. This comes last, since passes over the whole function do better without.
 */
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/llvm/llvm.h"

#define PIECE 500u       /* instructions of LLVM's language */
#define SPARED 1000u     /* blocks that are not longer stay whole */

/* How many instructions a block has, and how many there are up to the last that has to be in a function's first block.
 */
static uint32_t count_instructions(LLVMBasicBlockRef block, uint32_t *bound)
{
    uint32_t count = 0;
    *bound = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        count++;
        if (LLVMIsAAllocaInst(i))
            *bound = count;
    }
    return count;
}

/* The loop in front of a piece. */
static LLVMBasicBlockRef insert_loop(struct cg_unit *unit, LLVMBuilderRef builder, LLVMBasicBlockRef next)
{
    LLVMBasicBlockRef loop = LLVMInsertBasicBlockInContext(unit->context, next, "cut");
    LLVMPositionBuilderAtEnd(builder, loop);
    LLVMValueRef zero = LLVMConstInt(unit->i32, 0, false), same = cg_hidden(builder, zero, true);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntEQ, same, zero, ""), next, loop);
    return loop;
}

/* Moves the first `count` instructions of a block to a new one in front, which the block's predecessors then lead to.
 * Phis stay in front of all else, and those of successors go on naming the block that they named. */
static void cut_head(struct cg_unit *unit, LLVMBuilderRef builder, LLVMBasicBlockRef block, uint32_t count)
{
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(unit->context, block, "");
    /* Without its end the block has no successors, whose phis would be told of the new one as well. */
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMInstructionRemoveFromParent(end);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(head));
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMInsertIntoBuilder(builder, end);
    LLVMPositionBuilderAtEnd(builder, head);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; count > 0 || LLVMIsAPHINode(i); i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(builder, i);
        count -= count > 0;
    }
    LLVMBasicBlockRef loop = insert_loop(unit, builder, block);
    LLVMPositionBuilderAtEnd(builder, head);
    LLVMBuildBr(builder, loop);
}

static void cut_function(struct cg_unit *unit, LLVMBuilderRef builder, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        uint32_t bound, count = count_instructions(block, &bound), piece = bound > PIECE ? bound : PIECE;
        for (; count > SPARED && count > piece; count -= piece, piece = PIECE)
            cut_head(unit, builder, block, piece);
    }
}

void cg_cut(struct cg_unit *unit)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMValueRef function = LLVMGetFirstFunction(unit->module); function; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            cut_function(unit, builder, function);
    LLVMDisposeBuilder(builder);
}
