/* SPDX-License-Identifier: Apache-2.0 */

/* Memory that a lane takes on the stack: see emit_stack.c. */
#ifndef MR_COMPILE_CODEGEN_EMIT_STACK_H
#define MR_COMPILE_CODEGEN_EMIT_STACK_H

#include "compile/codegen/cg.h"

/* Whether a function moves the stack pointer. */
bool cg_stack_is_used(const struct mr_ptx_function *func);

/* The state's pointers for a warp that starts, with CG_STACK_BYTES for each lane at `memory`. */
void cg_stack_start(struct cg *g, LLVMValueRef memory);

/* All lanes' pointers. */
LLVMValueRef cg_stack_load(struct cg *g);
void cg_stack_store(struct cg *g, LLVMValueRef pointers);

#endif
