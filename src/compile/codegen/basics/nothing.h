/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Assembly of no instructions: it costs nothing when it runs, and LLVM, which doesn't look into it, takes nothing for
 * known of what goes through. Each way to use it says what it keeps LLVM from.
 */
#ifndef MR_COMPILE_CODEGEN_BASICS_NOTHING_H
#define MR_COMPILE_CODEGEN_BASICS_NOTHING_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* The integer itself, of which LLVM knows nothing any more. `each_time`: the call stays where it is, however often it
 * is made; else it may be dropped, moved, and made once for many. */
LLVMValueRef cg_hidden(LLVMBuilderRef builder, LLVMValueRef integer, bool each_time);
/* What the pointer leads to is seen from outside: it stays in memory. */
void cg_seen(LLVMBuilderRef builder, LLVMValueRef pointer);
/* No access of memory comes over from one side to the other. */
void cg_compiler_barrier(LLVMBuilderRef builder, LLVMContextRef context);

#endif
