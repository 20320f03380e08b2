/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions by family. A *family* is a set of opcodes that one file emits; src/ptx/ptx_ops.def says which family
 * an opcode is in.
 *
 * An emitter is called with the guard looked at and the form of the result known (g->now). It reads its operands
 * (operands/operands.h), builds, and writes the result. Instructions that can be seen from outside, such as stores,
 * are only reached by code if some lane runs them, and have to look at g->now.exec themselves.
 *
 *   arithmetic.c                      integers or numbers with a point, as the type says
 *   integer.c division.c bits.c video.c  integers
 *   float.c half.c convert.c compare.c  numbers with a point, and both
 *   move.c load_store.c atomic.c stack.c texture.c async.c tensor.c  memory
 *   warp.c fold.c matrix.c matrix_lines.c matrix_kept.c matrix_move.c  what lanes do together
 *   call.c                            functions and the runtime's services
 *   stepped.c                         results that step by what only the running code knows
 *
 * Barriers are in body/barrier.c, since a warp may stop there.
 */
#ifndef MR_COMPILE_CODEGEN_EMIT_EMIT_H
#define MR_COMPILE_CODEGEN_EMIT_EMIT_H

#include "compile/codegen/numbers/numbers.h"
#include "compile/codegen/operands/operands.h"

/* Families; body/instruction.c has them by MR_PTX_FAMILY_*. False: the opcode, or its type, is not of this family. */
bool cg_emit_arithmetic(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_integer(struct cg *g, const struct mr_ptx_inst *inst);
void cg_emit_division(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_bits(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_video(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_stack(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_carry(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_float(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_half(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_compare(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_move(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_convert(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_memory(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_atomic(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_warp(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_texture(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_matrix(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_async(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_cluster(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_call(struct cg *g, const struct mr_ptx_inst *inst);

/* Results of those classes, whatever the family: AFFINE (false: the family does it), STEPPED. */
bool cg_emit_affine(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c);
void cg_emit_stepped(struct cg *g, const struct mr_ptx_inst *inst);

/* What one family does for another. */

/* matrix.c: a product of matrices in registers. */
void cg_emit_product(struct cg *g, const struct mr_ptx_inst *inst);
/* load_store.c: cp.async of whole sources, a load and a store. */
void cg_emit_copy(struct cg *g, const struct mr_ptx_inst *inst, unsigned bytes);
/* tensor.c: cp.async.bulk.tensor and its kin, which are some of cp's modes. */
void cg_emit_tensor(struct cg *g, const struct mr_ptx_inst *inst);
/* async.c: the mask of .multicast::cluster: which lanes' copies reach the block, which is alone in its cluster; others
 * end the launch. Lanes as predicates. */
LLVMValueRef cg_multicast(struct cg *g, const struct mr_ptx_operand *operand);
/* async.c: enum mr_reduce of an instruction. */
unsigned cg_reduction(const struct mr_ptx_inst *inst);
/* convert.c: what a store takes from a wider register that is a float where the store is not, or the other way round;
 * NULL otherwise. */
LLVMValueRef cg_converted_store(struct cg *g, const struct mr_ptx_operand *from, unsigned type);
/* fold.c: all lanes of a mask folded into one by an atomic operation on integers (redux, reductions into one place). */
LLVMValueRef cg_fold_lanes(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef values, LLVMValueRef mask_vector);
/* LLVM's name for that, and the value that changes nothing; NULL if there is none. */
const char *cg_fold_name(const struct mr_ptx_inst *inst, uint64_t *neutral);
/* warp.c: ends the launch if a lane that runs is not in its own mask of members. */
void cg_check_members(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *masks);

#endif
