/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels that run several blocks in one call: see blocks.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_BLOCKS_H
#define MR_COMPILE_CODEGEN_BODY_BLOCKS_H

#include "compile/codegen/basics/basics.h"

/* The loops over warps and blocks. */
struct cg_blocks {
    LLVMBasicBlockRef head;
    LLVMValueRef inner, outer, inner_count, outer_count;
    LLVMValueRef by_row;        /* the inner loop goes through blocks, else through the warps of one */
    LLVMValueRef first;         /* ctaid.x of the first block */
};

/* Whether the unit's kernel may run several blocks in one call. */
bool cg_blocks_fit(const struct cg_unit *unit);

/* The head of the loop over their warps, which is entered `from` that block, and in which g->warp.number and
 * g->launch.ctaid[0] are known. */
void cg_blocks_begin(struct cg *g, LLVMBasicBlockRef from, LLVMBasicBlockRef head);

/* The number of the warp at hand among those of the call, at most MR_CALL_WARPS. */
LLVMValueRef cg_blocks_index(struct cg *g);

/* Its end, where the builder stands at the end of a warp. */
void cg_blocks_end(struct cg *g, LLVMBasicBlockRef done);

#endif
