/* SPDX-License-Identifier: Apache-2.0 */

/* The forms that nothing.h tells of. */
#include "compile/codegen/basics/nothing.h"

#include <string.h>

static LLVMValueRef nothing(LLVMTypeRef type, const char *operands, bool has_effects)
{
    return LLVMGetInlineAsm(type, "", 0, operands, strlen(operands), has_effects, false, LLVMInlineAsmDialectATT,
                            false);
}

LLVMValueRef cg_hidden(LLVMBuilderRef builder, LLVMValueRef integer, bool each_time)
{
    LLVMTypeRef type = LLVMTypeOf(integer), function = LLVMFunctionType(type, &type, 1, false);
    return LLVMBuildCall2(builder, function, nothing(function, "=r,0", each_time), &integer, 1, "");
}

void cg_seen(LLVMBuilderRef builder, LLVMValueRef pointer)
{
    LLVMTypeRef type = LLVMTypeOf(pointer), none = LLVMVoidTypeInContext(LLVMGetTypeContext(type));
    LLVMTypeRef function = LLVMFunctionType(none, &type, 1, false);
    LLVMBuildCall2(builder, function, nothing(function, "r", true), &pointer, 1, "");
}

void cg_compiler_barrier(LLVMBuilderRef builder, LLVMContextRef context)
{
    LLVMTypeRef function = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
    LLVMBuildCall2(builder, function, nothing(function, "~{memory}", true), NULL, 0, "");
}
