/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A function's body: what is around its instructions.
 *
 * A kernel's function loops over the warps that a call is told to run; a device function runs for one warp. Either
 * begins with a *prologue*, which has the slots and the loads that are made once. Then comes the start of a warp, its
 * registers and masks cleared, its lanes parked in front of the first block; then the blocks in the order of the
 * analysis, each with its instructions and its *end*: the lanes are parked in front of the blocks that follow, and
 * the first block that has any runs.
 *
 *   function.c    one function from its start to its end
 *   frame.c       the prologue, the loop over warps     threads.c     a warp's threads as it starts
 *   instruction.c one instruction: its guard, its form, its family
 *   control.c     the end of a block; lanes that come early to a barrier
 *   change.c      stores and atomic operations in loops that wait: the launch gets further
 *   give_way.c    loops that wait and let others go first
 *   dispatcher.c  how the next block is found where there are too many to look at
 *   barrier.c     barriers of a block
 *   turns.c       kernels whose warps take turns at barriers, without stacks of their own
 *   blocks.c      kernels that run several blocks of threads in one call
 *
 * barrier.c, turns.c and instruction.c call each other: a barrier ends a warp's turn, and behind it registers are
 * made anew, by their instructions.
 */
#ifndef MR_COMPILE_CODEGEN_BODY_BODY_H
#define MR_COMPILE_CODEGEN_BODY_BODY_H

#include "compile/codegen/emit/emit.h"

/* function.c: false with an error in the unit. */
bool cg_emit_function(struct cg_unit *unit, const struct mr_ptx_function *func);

/* instruction.c: the guard of an instruction, or of none, and the lanes that it leaves; then all of it. */
void cg_begin_instruction(struct cg *g, const struct mr_ptx_inst *inst);
void cg_emit_instruction(struct cg *g, const struct mr_ptx_inst *inst);

/* barrier.c. */
bool cg_emit_barrier(struct cg *g, const struct mr_ptx_inst *inst);

/* control.c: where a block ends; in front of a warp operation, waits for lanes in waiting loops that it names. */
void cg_emit_block_end(struct cg *g);
void cg_emit_members_wait(struct cg *g);
/* give_way.c, before any block: where loops that wait are nested, every block of them may give way. */
void cg_begin_turns(struct cg *g);

/* threads.c: fills g->warp.tid; a number of the warp's first thread with the bits cut off that it can't have, so that
 * LLVM knows how large it is (sums of it then can't overflow); lanes of the warp that exist; all registers and masks
 * as they are when a warp starts. */
void cg_find_thread(struct cg *g);
LLVMValueRef cg_bounded_tid(struct cg *g, unsigned axis, LLVMValueRef tid);
LLVMValueRef cg_first_mask(struct cg *g);
void cg_clear_warp(struct cg *g);

/* frame.c: the prologue's loads and slots; the start of a kernel (the loop's head and its number of the warp, for the
 * end) and of a device function. */
void cg_frame_fields(struct cg *g);
void cg_frame_registers(struct cg *g);
void cg_frame_variables(struct cg *g);
void cg_frame_parking(struct cg *g);
void cg_frame_start_kernel(struct cg *g, LLVMBasicBlockRef *loop, LLVMValueRef *warp);
void cg_frame_start_function(struct cg *g, LLVMBasicBlockRef *loop);
void cg_frame_end_kernel(struct cg *g, LLVMBasicBlockRef loop, LLVMValueRef warp);

#endif
