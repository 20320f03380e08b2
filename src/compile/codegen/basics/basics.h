/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What all code that makes LLVM IR stands on; it knows nothing of PTX operands.
 *
 * An instruction is emitted once for either of two *forms*: a scalar, when its result is the same for all lanes, or a
 * vector of all lanes. g->now.lanes is 1 or the number of lanes accordingly, and what is here gives types, constants
 * and values in that form, so that the same call builds `fadd float` or `fadd <32 x float>`. (32 is `unit->width`:
 * some kernels run two warps as one of 64 lanes, see analysis/pair.c.)
 *
 * A *mask* is a set of lanes, as an integer with a bit for each. Two of them matter: g->now.mask has the lanes that
 * run the block and is never empty; g->now.exec is what is left of it under the instruction's guard. Only what can be
 * seen from outside (memory, runtime calls) looks at them at once; arithmetic runs in all lanes, and writing a
 * register keeps old values where they are still wanted (analysis/flow.h).
 *
 *   unit.h      one object       function.h  one function, in parts
 *   types.c     LLVM's types     values.c    constants, conversions, intrinsics, pointers
 *   masks.c     sets of lanes    slots.c     memory of the frame, and the block's record
 *   ways.c      blocks of code and ways between them
 *   nothing.h   assembly of no instructions, which LLVM doesn't look into
 *   runtime.c   calls of the runtime, traps, notes for reports of faults
 *   lines.c     which line of the PTX code comes from
 *   stack.c     lanes' memory for alloca
 *   record.c    what is kept of a warp where warps take turns
 *   sites.c     what the code makes notes of
 *   fail.c      the reason why an object can't be made
 */
#ifndef MR_COMPILE_CODEGEN_BASICS_BASICS_H
#define MR_COMPILE_CODEGEN_BASICS_BASICS_H

#include "compile/codegen/basics/function.h"

/* ---- types.c ---- */

LLVMTypeRef cg_vector_type(LLVMTypeRef element, unsigned count);
LLVMTypeRef cg_type(const struct cg *g, LLVMTypeRef element); /* in the form at hand */
LLVMTypeRef cg_element(LLVMValueRef value);
static inline bool cg_is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}
unsigned cg_bits(LLVMTypeRef type);
LLVMTypeRef cg_int_type(const struct cg *g, unsigned bits);
/* Of a PTX type: in a register; where a function passes it in a register, a byte for a predicate; in memory. */
LLVMTypeRef cg_reg_type(const struct cg *g, unsigned ptx_type);
LLVMTypeRef cg_passed_type(const struct cg *g, unsigned ptx_type);
LLVMTypeRef cg_memory_type(struct cg *g, unsigned type);
LLVMTypeRef cg_function_type(const struct cg_unit *unit,
                             const struct mr_ptx_function *func); /* NULL when memory is short */
LLVMTypeRef cg_state_type(const struct cg_unit *unit);

/* ---- values.c ---- */

/* Constants in the form at hand. */
LLVMValueRef cg_int(const struct cg *g, LLVMTypeRef element, uint64_t value);
LLVMValueRef cg_real(const struct cg *g, LLVMTypeRef element, double value);
/* A vector of a scalar; of stride * lane. */
LLVMValueRef cg_splat(const struct cg *g, LLVMValueRef scalar);
LLVMValueRef cg_lane_numbers(const struct cg *g, LLVMTypeRef element, int64_t stride);
/* In the value's own form: the same bits as another type; an integer extended or truncated. */
LLVMValueRef cg_cast_bits(const struct cg *g, LLVMValueRef value, LLVMTypeRef element);
LLVMValueRef cg_resize(const struct cg *g, LLVMValueRef value, LLVMTypeRef element, bool is_signed);
/* A register's value as `element`: of the same width as it is; wider, cut to its low bits; narrower, with zeros. */
LLVMValueRef cg_as_element(struct cg *g, LLVMValueRef value, LLVMTypeRef element);
/* Each `parts`-th element from `part` on. */
LLVMValueRef cg_shuffle_parts(const struct cg *g, LLVMValueRef wide, unsigned parts, unsigned part);
/* Vectors of one size, one behind the other. `count` is a power of two; the array is used up. */
LLVMValueRef cg_join(struct cg *g, LLVMValueRef *parts, unsigned count);
/* A call of an intrinsic overloaded on the given types; the others are overloaded on their first operand's. */
LLVMValueRef cg_intrinsic(const struct cg *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                          LLVMValueRef *args, unsigned arg_count);
LLVMValueRef cg_unary(const struct cg *g, const char *name, LLVMValueRef a);
LLVMValueRef cg_binary(const struct cg *g, const char *name, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_fma(const struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef cg_select(const struct cg *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
/* Pointers to an address, and to `offset` bytes behind one. */
LLVMValueRef cg_pointer(struct cg *g, LLVMValueRef address);
LLVMValueRef cg_offset_pointer(struct cg *g, LLVMValueRef address, uint64_t offset);
/* The address with the low bits cut off that are known to be zero: LLVM can't know. */
LLVMValueRef cg_aligned(struct cg *g, LLVMValueRef address, uint64_t align);

/* ---- masks.c ---- */

LLVMValueRef cg_mask_bits(struct cg *g, LLVMValueRef predicate); /* <32 x i1> or i1 -> mask, scalar i1 gives 0 or ~0 */
LLVMValueRef cg_mask_vector(struct cg *g, LLVMValueRef bits); /* mask -> <32 x i1> */
LLVMValueRef cg_mask_zero(const struct cg *g);
LLVMValueRef cg_lowest_lane(struct cg *g, LLVMValueRef mask); /* of a mask of 32 lanes that is not empty */

/* ---- slots.c ---- */

LLVMValueRef cg_slot(struct cg *g, LLVMTypeRef type, const char *name);
LLVMValueRef cg_slot_of_zero(struct cg *g, LLVMTypeRef type, const char *name); /* holds 0 when the function begins */
LLVMValueRef cg_scratch(struct cg *g, LLVMTypeRef element); /* an element for each lane, until the instruction's end */
LLVMValueRef *cg_var_slot(struct cg *g, const struct mr_ptx_var *var);
/* A field of the block's record: read in the prologue; written here and now, which gives the store. */
LLVMValueRef cg_block_field(struct cg *g, size_t offset, LLVMTypeRef type, const char *name);
LLVMValueRef cg_block_store(struct cg *g, size_t offset, LLVMValueRef value);
void cg_mark_invariant(struct cg *g, LLVMValueRef load);

/* ---- ways.c ---- */

LLVMBasicBlockRef cg_new_block(struct cg *g, const char *name);
void cg_mark_unlikely(struct cg *g, LLVMValueRef branch); /* its first way */
/* A loop over the lanes of a mask that is not empty: the builder is left in its body with *lane; cg_lane_loop_end()
 * leaves it behind the loop. */
struct cg_lane_loop {
    LLVMBasicBlockRef body;
    LLVMValueRef rest, lane;
};
void cg_lane_loop_begin(struct cg *g, LLVMValueRef mask, struct cg_lane_loop *loop);
void cg_lane_loop_end(struct cg *g, struct cg_lane_loop *loop);
/* Lets a loop have a second way in, so that LLVM takes it for none: `before` jumps to the head, and may as well jump to
 * what leads back there. Both do the same. LLVM takes what is the same in all rounds out of a loop, constants of
 * vectors above all, and each lives through the whole loop then; registers for them take time by the square of its
 * length. */
void cg_hide_loop(struct cg *g, LLVMBasicBlockRef before, LLVMBasicBlockRef head);
/* To the way of that number, or, if there is none, elsewhere. Ends the block. */
void cg_jump(struct cg *g, LLVMValueRef number, const LLVMBasicBlockRef *ways, uint32_t count,
             LLVMBasicBlockRef otherwise);

/* ---- runtime.c ---- */

/* Calls the service at that offset of struct mr_runtime, its first argument being the block. */
LLVMValueRef cg_runtime_call(struct cg *g, size_t offset, LLVMTypeRef result, LLVMValueRef *args, unsigned count);
void cg_emit_trap(struct cg *g, unsigned kind); /* MR_TRAP_* */
/* For reports of faults: the warp (gives the store); the line of a call of a service. */
LLVMValueRef cg_note_warp(struct cg *g);
void cg_note_service(struct cg *g);

#endif
