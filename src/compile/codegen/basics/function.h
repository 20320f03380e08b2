/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One function that is being emitted: what is known of it as a whole, in parts, and of the instruction at hand.
 *
 * All values are LLVM's. A *slot* is memory of the function's frame, made in the prologue, which LLVM's promotion
 * pass turns into a value where it can.
 */
#ifndef MR_COMPILE_CODEGEN_BASICS_FUNCTION_H
#define MR_COMPILE_CODEGEN_BASICS_FUNCTION_H

#include "compile/codegen/basics/unit.h"

#define CG_SCRATCH 8

/* Where slots and loads go that are made once for the whole function. */
struct cg_prologue {
    LLVMBasicBlockRef start; /* ends with a jump that is added last */
    LLVMValueRef end;        /* what is made goes before it */
};

/* What is known of the launch and of the block of threads: read in the prologue. */
struct cg_launch {
    LLVMValueRef block;        /* its struct mr_block */
    LLVMValueRef runtime, params, shared, symbols, threads;
    LLVMValueRef notes;        /* of the warp, by site: abi/note.h; NULL: none are made */
    LLVMValueRef params_place; /* what addresses of parameters are */
    LLVMValueRef ntid[3], ctaid[3], nctaid[3];
    LLVMValueRef ntid_inverse[2]; /* i64: 2^32 by them, and a bit more; NULL until needed (body/threads.c) */
    struct cg_blocks *several; /* body/blocks.c; NULL: a call runs one block */
};

/* The warp that runs. */
struct cg_warp {
    LLVMValueRef state;        /* {i32 warp, i32 exited, ...}: see cg_state_type */
    LLVMValueRef number;       /* i32 */
    LLVMValueRef tid[3];       /* scalars if linear or rows: of the first lane; else vectors */
    LLVMValueRef tid_slots[3]; /* the same in slots, where warps take turns; else NULL */
    /* Of a kernel with alloca: its lanes' memory. Of a device function: the stack pointers at the start. */
    LLVMValueRef stack_saved;
};

/* The function's PTX registers, and what is known of each and of instructions that write them. */
struct cg_registers {
    LLVMValueRef *slots, *breaks; /* by register */
    int64_t *block_steps; /* of a kernel whose blocks are of one size: mr_flow_block_steps(); else NULL */
    mr_word *near; /* mr_flow_near() where divisions go by it; else NULL */
    bool *loose; /* also: holds results of f32 arithmetic only, with any NaN (numbers/nan.c) */
    uint8_t *known; /* CG_NUMBER_* (numbers/numbers.h) */
    struct cg_contracted *contracted; /* by instruction (numbers/contract.h) */
    struct cg_parameter *parameters; /* by register (operands/parameters.h) */
};

/* Memory of the frame, besides registers. */
struct cg_memory {
    LLVMValueRef *vars; /* slots of .local and .param variables: func->vars, then params, then returns */
    struct {
        LLVMTypeRef type;
        LLVMValueRef slot;
        unsigned uses;
    } scratch[CG_SCRATCH]; /* arrays of 32, by use */
    unsigned scratch_used;
    LLVMValueRef noted; /* slot: addresses of the latest access (cg_note_access) */
    LLVMValueRef images; /* slot: struct mr_image_lanes, once an instruction needs it */
    LLVMValueRef tensors; /* slot: struct mr_tensor_lanes, likewise */
    LLVMValueRef matrices; /* slot: operands of a product of matrices (emit/matrix.c) */
    struct cg_kept *kept; /* what such products leave for the next ones (emit/matrix_kept.c); NULL: nothing yet */
    uint64_t bytes; /* of slots that stay in memory */
};

/* Lanes that wait in front of blocks, and how the next block is found (analysis/flow.h). */
struct cg_parking {
    LLVMBasicBlockRef *entries; /* by block: its code */
    LLVMBasicBlockRef finish; /* where no block has lanes */
    LLVMValueRef *masks; /* by block: slot of the lanes that are parked there */
    mr_word *kept; /* blocks whose mask may be read or added to without a store just before: it must be 0 while no lanes
                      are parked there. The other masks are stored first: they pass lanes from one block to the next */
    LLVMValueRef rounds; /* slot: rounds of waiting loops */
    LLVMValueRef owed; /* slot, if waiting loops are nested: the number of the loop that owes a turn, from 1; 0: none */
    /* Where blocks run from a dispatcher, unless the next one is among the nearest (body/dispatcher.c). */
    bool crowded;
    LLVMValueRef array; /* all masks */
    LLVMValueRef current, order; /* the block that ran last; the order of what follows */
    LLVMValueRef registers; /* registers' addresses */
    LLVMValueRef scan_table; /* which blocks are barriers, and in which loops blocks are; NULL until it is needed */
    LLVMValueRef waiting_table; /* the waiting loop around each block; NULL until it is needed */
    LLVMBasicBlockRef dispatcher;
    LLVMBasicBlockRef direct; /* goes on with the block whose number is in `current`; NULL if nothing does */
};

/* Lanes that have come to a barrier before others of their warp, which are at another (body/control.c). */
struct cg_early {
    int meet; /* mr_flow_barriers_meet: 1 yes, -1 no, 0 not asked yet */
    LLVMValueRef arrived; /* slot: lanes that wait behind a barrier for the last of their warp */
    LLVMValueRef predicate; /* slot: those of them whose predicate holds */
    LLVMValueRef *slots; /* by block: lanes that wait behind the barrier.red at its head */
};

/* The instruction at hand, or the end of a block. */
struct cg_now {
    const struct mr_ptx_inst *inst; /* NULL: none in particular */
    uint32_t at; /* its block */
    unsigned lanes; /* the form of what is made: 1, a scalar, or unit->width, a vector */
    unsigned row; /* which one affine values are asked for */
    bool looks; /* it sees the bits of its f32 operands (numbers/nan.c) */
    LLVMValueRef mask, mask_vector; /* lanes that run the block */
    LLVMValueRef exec, exec_vector; /* those of them that run the instruction */
    LLVMValueRef guard; /* as a value of its own class, NULL without */
    bool guard_varies;
};

struct cg {
    struct cg_unit *unit;
    const struct mr_ptx_function *func;
    struct mr_flow flow;
    bool multiplies; /* it has products of matrices (mma) */
    LLVMValueRef fn;
    LLVMBuilderRef b;
    LLVMMetadataRef scope; /* lines.c: the function; NULL in helpers, which have no lines */
    LLVMMetadataRef place; /* the line that what is built belongs to; likewise */
    uint32_t loc_file, loc_line; /* of the source, that the latest instruction which has one belongs to */
    struct cg_prologue prologue;
    struct cg_launch launch;
    struct cg_warp warp;
    struct cg_registers regs;
    struct cg_memory memory;
    struct cg_parking parking;
    struct cg_early early;
    struct {
        struct cg_watched *watched; /* variables of the source that are in registers: shown.c */
        uint32_t count;
    } shown;
    struct cg_regions *regions; /* record.h; NULL: a warp runs from its start to its end */
    struct cg_now now;
};

/* Lanes of a row: of the whole warp if that is one. */
static inline unsigned cg_row_lanes(const struct cg *g)
{
    return g->unit->width / g->flow.rows;
}

#endif
