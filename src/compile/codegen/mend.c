/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Around a mistake of LLVM 19's, for processors with AVX-512.
 *
 * A choice between two vectors by constant bits, `(a & C) | (b & ~C)`, becomes one
 * vpternlog. Where its result is selected under a mask as well, and C comes from
 * memory, the instruction gets the wrong table: b chooses in C's place. LLVM forms
 * the masked instruction only if the selection is the sole use of the choice, so the
 * choice is stored as well, to a place that nobody reads.
 *
 * What LLVM takes for such a choice is wider than the pattern: an extended value is
 * one masked by a constant, and copysign is a choice by the sign's bit.
 */
#include "compile/codegen/cg.h"

#include <string.h>

static LLVMValueRef without_casts(LLVMValueRef value)
{
    while (LLVMIsABitCastInst(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

static bool by_constant(LLVMValueRef value)
{
    value = without_casts(value);
    if (LLVMIsAZExtInst(value))
        return true;
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMAnd &&
           (LLVMIsConstant(LLVMGetOperand(value, 0)) || LLVMIsConstant(LLVMGetOperand(value, 1)));
}

static bool is_choice(LLVMValueRef value)
{
    value = without_casts(value);
    if (LLVMIsACallInst(value)) {
        size_t length;
        LLVMValueRef called = LLVMGetCalledValue(value);
        return LLVMIsAFunction(called) && strncmp(LLVMGetValueName2(called, &length), "llvm.copysign.", 14) == 0;
    }
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMOr && by_constant(LLVMGetOperand(value, 0)) &&
           by_constant(LLVMGetOperand(value, 1));
}

/* A second use of the choice: a store that stays, in front of the selection. */
static void use_again(LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef select, LLVMValueRef choice)
{
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef place = LLVMBuildAlloca(builder, LLVMTypeOf(choice), "unread");
    LLVMPositionBuilderBefore(builder, select);
    LLVMSetVolatile(LLVMBuildStore(builder, choice, place), 1);
}

static void mend_function(LLVMBuilderRef builder, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsASelectInst(i) || LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMVectorTypeKind)
                continue;
            for (unsigned arm = 1; arm <= 2; arm++)
                if (is_choice(LLVMGetOperand(i, arm)))
                    use_again(builder, function, i, without_casts(LLVMGetOperand(i, arm)));
        }
}

void cg_mend(struct cg_unit *unit)
{
    if (!unit->wide)
        return;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMValueRef function = LLVMGetFirstFunction(unit->module); function; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            mend_function(builder, function);
    LLVMDisposeBuilder(builder);
}
