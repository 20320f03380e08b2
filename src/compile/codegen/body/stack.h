/* SPDX-License-Identifier: Apache-2.0 */

/* Memory that a lane takes on the stack: see stack.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_STACK_H
#define MR_COMPILE_CODEGEN_BODY_STACK_H

#include "compile/codegen/basics/cg.h"

/* Whether a function moves the stack pointer. */
bool cg_stack_is_used(const struct mr_ptx_function *func);

/* Memory for all lanes, in the frame of a kernel that has its state; the state's pointers for a warp that starts with it. */
LLVMValueRef cg_stack_memory(struct cg *g);
void cg_stack_start(struct cg *g, LLVMValueRef memory);

/* Where the memory of all lanes begins, and how many bytes it has. */
LLVMValueRef cg_stack_range(struct cg *g, LLVMValueRef *bytes);

/* All lanes' pointers. */
LLVMValueRef cg_stack_load(struct cg *g);
void cg_stack_store(struct cg *g, LLVMValueRef pointers);

#endif
