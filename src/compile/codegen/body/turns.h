/* SPDX-License-Identifier: Apache-2.0 */

/* Warps that take turns at barriers within one call: the steps of making such a kernel, in the order of use. See
 * turns.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_TURNS_H
#define MR_COMPILE_CODEGEN_BODY_TURNS_H

#include "compile/codegen/basics/basics.h"

/* Decides whether the kernel's warps take turns, and plans what they keep; g->regions tells. False when memory is
 * short. */
bool cg_regions_plan(struct cg *g);

/* The loops around a warp. Gives the block that the prologue leads to, and leaves the builder where a warp starts. */
LLVMBasicBlockRef cg_regions_begin(struct cg *g);

/* Keeps g->warp.tid, which is known now. */
void cg_regions_note_thread(struct cg *g);

/* Stops the warp at a barrier. The builder is left where it goes on, with the masks that it has there. */
void cg_regions_barrier(struct cg *g, const struct mr_ptx_inst *inst);

/* At the start of a block: stops the warp there too, if it is the head of a loop that strides over memory. */
void cg_regions_pause(struct cg *g);

/* After an instruction of a block: what it wrote goes to the record, if stops leave that to it. */
void cg_regions_note_writes(struct cg *g, const struct mr_ptx_inst *inst);

/* The end of a warp's turn, of a round, and of all rounds, where the builder is left. */
void cg_regions_end(struct cg *g);

/* After the function's last block: LLVM does not see the loop over the warps of a round as a loop (cg_hide_loop). */
void cg_regions_hide(struct cg *g);

void cg_regions_clear(struct cg *g);

#endif
