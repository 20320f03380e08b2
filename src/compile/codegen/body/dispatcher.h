/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with many blocks run them from a dispatcher: dispatcher.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_DISPATCHER_H
#define MR_COMPILE_CODEGEN_BODY_DISPATCHER_H

#include "compile/codegen/basics/basics.h"

/* A slot in the prologue that LLVM makes no values of: where each of thousands of blocks writes it, a choice between
 * all of them would cost the square of their number. */
LLVMValueRef cg_slot_in_memory(struct cg *g, LLVMTypeRef type, const char *name);

void cg_dispatcher_slots(struct cg *g); /* in the prologue: the masks of all blocks, and what is asked */
void cg_dispatcher_clear(struct cg *g); /* no lanes are parked */
void cg_dispatcher_ask(
    struct cg *g,
    LLVMValueRef order); /* ends the present block of code: goes on with what comes after g->now.at; MR_SCAN_ORDER_* */
void cg_dispatcher_emit(struct cg *g);
LLVMValueRef cg_dispatcher_at_barriers(
    struct cg *g); /* the lanes that are parked in front of any barrier, found by a loop over all blocks */
/* If any of these lanes is in a waiting loop that g->now.at is not in, the lanes at hand stay in front of g->now.at and
 * that loop goes on. Else the builder is where they go on. */
void cg_dispatcher_wait(struct cg *g, LLVMValueRef lanes);

#endif
