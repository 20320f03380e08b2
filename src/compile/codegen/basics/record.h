/* SPDX-License-Identifier: Apache-2.0 */

/* What a kernel keeps of each warp where warps take turns (turns.c): one record for each, in its frame. */
#ifndef MR_COMPILE_CODEGEN_BASICS_RECORD_H
#define MR_COMPILE_CODEGEN_BASICS_RECORD_H

#include "compile/codegen/basics/basics.h"

struct cg_regions {
    struct mr_flow_remake *remake; /* by register */
    uint64_t *places;              /* in the record, by register; 0: none */
    mr_word *lasting; /* registers whose place always has their value: each write goes there at once, no stop does */
    uint64_t *masks; /* in the record, by block: lanes that are parked there while the warp waits; 0: none */
    uint64_t bytes; /* of a record */
    uint32_t numbers; /* a bit per barrier number that the kernel uses */
    unsigned stops; /* barriers and pauses emitted */
    unsigned barriers, pauses; /* in the kernel */
    uint64_t steps; /* place of the latest addresses of loads in loops that stride; as many as there are pauses */
    unsigned steps_used, step_count;
    uint64_t tid; /* place of tid: AT_TID, or where vectors may be */
    bool whole; /* lanes of a warp leave together */
    bool reduces;
    mr_word *kept; /* scratch, for one barrier */
    LLVMValueRef record; /* of the warp at hand */
    LLVMValueRef records; /* all of them */
    LLVMValueRef stopped; /* slot: a bit per number of a barrier at which a warp has stopped in this round */
    LLVMValueRef sums[3]; /* slots for bar.red: lanes with a true predicate, whether all, whether any; results of the
                             round before */
    LLVMValueRef results[3];
    LLVMValueRef held; /* slot: whether barriers hold this round; NULL if there can't be both */
    LLVMValueRef turn; /* the switch to the place where a warp goes on; NULL if there are many places */
    LLVMValueRef place; /* if there are many: the number of that place, which is the stop's, */
    LLVMBasicBlockRef places_from; /* the block that ends with the way there, made last, */
    LLVMBasicBlockRef *behind; /* and the places by number */
    LLVMValueRef first_round, warp;
    LLVMBasicBlockRef round, next;
};

/* Room for so many bytes, aligned to their size (to 64 at most): its place in the record. */
uint64_t cg_record_take(struct cg_regions *regions, uint64_t bytes);

/* Bytes that a slot's content takes: a vector of predicates is a mask. */
uint64_t cg_record_bytes(struct cg *g, LLVMTypeRef type);

/* In the record of the warp at hand: a place's address, a value there, and a slot's content put there or fetched. */
LLVMValueRef cg_record_place(struct cg *g, uint64_t place);
void cg_record_store(struct cg *g, LLVMValueRef value, uint64_t place);
LLVMValueRef cg_record_load(struct cg *g, LLVMTypeRef type, uint64_t place);
void cg_record_move(struct cg *g, LLVMValueRef slot, uint64_t place, bool to_record);

/* Whether warps take turns at a barrier in the innermost loop around the block at hand. */
bool cg_regions_turns_in_loop(const struct cg *g);

/* Memory of the warp's own for the latest address (i64, 0 at first) of one load in such a loop; NULL if there is none
 * left, or warps don't take turns. */
LLVMValueRef cg_regions_step(struct cg *g);

#endif
