/* SPDX-License-Identifier: Apache-2.0 */

/* Memory that a lane takes on the stack: see stack.c. */
#ifndef MR_COMPILE_CODEGEN_BASICS_STACK_H
#define MR_COMPILE_CODEGEN_BASICS_STACK_H

#include "compile/codegen/basics/basics.h"

/* Memory for all lanes, in the frame of a kernel that has its state; the state's pointers for a warp that starts with
 * it. */
LLVMValueRef cg_stack_memory(struct cg *g);
void cg_stack_start(struct cg *g, LLVMValueRef memory);

/* Where the memory of all lanes begins, and how many bytes it has. */
LLVMValueRef cg_stack_range(struct cg *g, LLVMValueRef *bytes);

/* Parts of the state: 0 the lanes' pointers, 1 where the memory begins, 2 bytes of each lane. */
LLVMValueRef cg_stack_field(struct cg *g, unsigned field);

/* Each lane's lowest address (`ends` 0), or the one behind its memory (1). */
LLVMValueRef cg_stack_bounds(struct cg *g, LLVMValueRef base, unsigned ends);

/* All lanes' pointers. */
LLVMValueRef cg_stack_load(struct cg *g);
void cg_stack_store(struct cg *g, LLVMValueRef pointers);

#endif
