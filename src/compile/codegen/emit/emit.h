/* SPDX-License-Identifier: Apache-2.0 */

/* What the files emit_*.c give; cg.h includes it. */
#ifndef MR_COMPILE_CODEGEN_EMIT_EMIT_H
#define MR_COMPILE_CODEGEN_EMIT_EMIT_H

/* Instruction families. False: not one of mine. */
bool cg_emit_integer(struct cg *g, const struct mr_ptx_inst *inst);
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
bool cg_emit_barrier(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_texture(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_matrix(struct cg *g, const struct mr_ptx_inst *inst);
void cg_emit_product(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_async(struct cg *g, const struct mr_ptx_inst *inst);
/* cp.async of whole sources: a load and a store. */
void cg_emit_copy(struct cg *g, const struct mr_ptx_inst *inst, unsigned bytes);
bool cg_emit_cluster(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_call(struct cg *g, const struct mr_ptx_inst *inst);
bool cg_emit_affine(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c);

#endif
