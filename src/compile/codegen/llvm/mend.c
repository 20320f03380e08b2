/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Around two mistakes of LLVM 19's, for processors with AVX-512.
 *
 * A choice between two vectors by constant bits, `(a & C) | (b & ~C)`, becomes one
 * vpternlog. Where its result is selected under a mask as well, and C comes from
 * memory, the instruction gets the wrong table: b chooses in C's place. LLVM forms
 * the masked instruction only if the selection is the sole use of the choice, so the
 * choice is stored as well, to a place that nobody reads.
 *
 * What LLVM takes for such a choice is wider than the pattern: an extended value is
 * one masked by a constant, and copysign is a choice by the sign's bit.
 *
 * Two masks that come from integers, of which each is used as a mask by itself as well: their and, or and xor (also as
 * a selection) is calculated among integers by one of LLVM's rules and among masks by another, in turn and for ever
 * (LLVM's issue 123333 is of that kind). It is calculated among integers here, and behind an assembly of no
 * instructions, through which no rule looks.
 */
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/llvm/llvm.h"

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
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMOr &&
           by_constant(LLVMGetOperand(value, 0)) && by_constant(LLVMGetOperand(value, 1));
}

/* A second use of the choice: a store that stays, in front of the selection. */
static void use_again(LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef select, LLVMValueRef choice)
{
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef place = LLVMBuildAlloca(builder, LLVMTypeOf(choice), "unread");
    LLVMPositionBuilderBefore(builder, select);
    LLVMSetVolatile(LLVMBuildStore(builder, choice, place), 1);
}

static bool is_mask(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetElementType(type) == LLVMInt1TypeInContext(LLVMGetTypeContext(type));
}

static bool is_logic(LLVMValueRef value)
{
    LLVMOpcode opcode = LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMRet;
    return opcode == LLVMAnd || opcode == LLVMOr || opcode == LLVMXor;
}

/* The and, or and xor of two masks; also the selection that is one, with all lanes or none in one arm. LLVMRet: none of
 * these. */
static LLVMOpcode joins_masks(LLVMValueRef value, LLVMValueRef *left, LLVMValueRef *right)
{
    if (!is_logic(value) && !LLVMIsASelectInst(value))
        return LLVMRet;
    *left = LLVMGetOperand(value, 0);
    *right = LLVMGetOperand(value, 1);
    if (is_logic(value))
        return LLVMGetInstructionOpcode(value);
    if (LLVMIsNull(LLVMGetOperand(value, 2)))
        return LLVMAnd;
    *right = LLVMGetOperand(value, 2);
    return LLVMGetOperand(value, 1) == LLVMConstAllOnes(LLVMTypeOf(value)) ? LLVMOr : LLVMRet;
}

/* The integer of which a mask is made, or NULL. */
static LLVMValueRef integer_of(LLVMValueRef mask)
{
    bool made = LLVMIsABitCastInst(mask) && is_mask(LLVMTypeOf(mask)) &&
                LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(mask, 0))) == LLVMIntegerTypeKind;
    return made ? LLVMGetOperand(mask, 0) : NULL;
}

static bool is_used_as_mask(LLVMValueRef integer)
{
    for (LLVMUseRef use = LLVMIsConstant(integer) ? NULL : LLVMGetFirstUse(integer); use; use = LLVMGetNextUse(use))
        if (LLVMIsABitCastInst(LLVMGetUser(use)) && is_mask(LLVMTypeOf(LLVMGetUser(use))))
            return true;
    return false;
}

/* `i` is logic of two masks, or makes a mask of the logic of two integers. */
static void mend_masks(LLVMBuilderRef builder, LLVMValueRef i)
{
    if (!is_mask(LLVMTypeOf(i)))
        return;
    LLVMValueRef from = integer_of(i), left, right;
    LLVMOpcode opcode = joins_masks(i, &left, &right);
    LLVMPositionBuilderBefore(builder, i);
    if (opcode != LLVMRet && integer_of(left) && integer_of(right)) {
        LLVMValueRef made = LLVMBuildBinOp(builder, opcode, integer_of(left), integer_of(right), "");
        LLVMReplaceAllUsesWith(i, LLVMBuildBitCast(builder, cg_hidden(builder, made, false), LLVMTypeOf(i), ""));
    } else if (from && is_logic(from) && is_used_as_mask(LLVMGetOperand(from, 0)) &&
               is_used_as_mask(LLVMGetOperand(from, 1))) {
        LLVMSetOperand(i, 0, cg_hidden(builder, from, false));
    }
}

static void mend_function(LLVMBuilderRef builder, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            mend_masks(builder, i);
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
