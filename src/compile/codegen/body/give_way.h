/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that wait and give way to what is outside of them: give_way.c has the words. */
#ifndef MR_COMPILE_CODEGEN_BODY_GIVE_WAY_H
#define MR_COMPILE_CODEGEN_BODY_GIVE_WAY_H

#include "compile/codegen/basics/basics.h"

/* If the block at hand begins a new round of a loop that waits: counts it, and lets other warps run every 256 rounds.
 */
void cg_count_round(struct cg *g);

/* The block at hand is in a loop that waits. i1: whether it is the turn of those outside; at a barrier it always is. */
LLVMValueRef cg_is_turn(struct cg *g);
/* The turn is taken, if `taken` (i1): the loop around owes the next. */
void cg_take_turn(struct cg *g, LLVMValueRef taken);

/* i1: whether a turn is a draw. i32: the dispatcher's order for a draw. */
LLVMValueRef cg_is_draw(struct cg *g);
LLVMValueRef cg_drawn_order(struct cg *g);
/* i32: the number of one of the bits that are set in `bits` (i64), of which there are `count`; 64 if none is. */
LLVMValueRef cg_draw_bit(struct cg *g, LLVMValueRef bits, uint32_t count);

#endif
