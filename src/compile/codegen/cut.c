/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Long blocks are cut. Much of LLVM's code generator (selection, both schedulers) takes time by more than the number of a block's instructions, and a kernel
 * may be one block of a hundred thousand. Pieces of some hundred instructions take the same time each.
 *
 * LLVM would put the pieces together again if one just led to the next. So each ends in a branch on a zero that LLVM knows nothing about; the way
 * not taken ends in a trap. This comes last, since passes over the whole function do better without.
 */
#include "compile/codegen/cg.h"

#define PIECE 500u       /* instructions of LLVM's language */
#define SPARED 1000u     /* blocks that are not longer stay whole */

/* How many instructions a block has, and how many there are up to the last that has to be in a function's first block. */
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

/* Where the way not taken leads; there is one in a function. */
static LLVMBasicBlockRef trap_block(struct cg_unit *unit, LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(unit->context, function, "never");
    LLVMTypeRef type = LLVMFunctionType(unit->void_type, NULL, 0, false);
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMBuildCall2(builder, type, LLVMGetIntrinsicDeclaration(unit->module, LLVMLookupIntrinsicID("llvm.trap", 9), NULL, 0), NULL, 0, "");
    LLVMBuildUnreachable(builder);
    return block;
}

/* Moves the first `count` instructions of a block to a new one in front, which the block's predecessors then lead to. Phis stay in front of all else, and those of
 * successors go on naming the block that they named. */
static void cut_head(struct cg_unit *unit, LLVMBuilderRef builder, LLVMBasicBlockRef block, uint32_t count, LLVMBasicBlockRef never)
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
    LLVMTypeRef type = LLVMFunctionType(unit->i32, &unit->i32, 1, false);
    LLVMValueRef nothing = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef zero = LLVMConstInt(unit->i32, 0, false), same = LLVMBuildCall2(builder, type, nothing, &zero, 1, "");
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntEQ, same, zero, ""), block, never);
}

static void cut_function(struct cg_unit *unit, LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef never = NULL;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        uint32_t bound, count = count_instructions(block, &bound), piece = bound > PIECE ? bound : PIECE;
        for (; count > SPARED && count > piece; count -= piece, piece = PIECE) {
            if (!never)
                never = trap_block(unit, builder, function);
            cut_head(unit, builder, block, piece, never);
        }
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
