/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Products of matrices: where elements lie in the registers of a warp, and the two ways of making a product.
 *
 *   matrix.c        any form: a lane's results as chains of multiply-adds
 *   matrix_lines.c  forms of the common formats: whole lines at a time
 *   matrix_kept.c   what of a product serves the next ones, too
 *   matrix_vectors.c  the vectors that it takes
 */
#ifndef MR_COMPILE_CODEGEN_EMIT_MATRIX_H
#define MR_COMPILE_CODEGEN_EMIT_MATRIX_H

#include "compile/codegen/emit/emit.h"
#include "ptx/matrix.h"

#define CG_MATRIX_REGS 8u /* registers that a matrix takes at most */

/* Where an element lies. */
struct cg_matrix_place {
    unsigned reg, part, lane;
};

/* What a lane's result is: an element of one of the products. */
struct cg_matrix_element {
    unsigned row, col, quad;
};

struct cg_product {
    struct cg *g;
    struct mr_ptx_matrix_op op;
    bool transposed[2];  /* quads: elements of A lie along its columns, of B along its rows */
    bool saturates, ands;
    unsigned rounding;
    unsigned selector;   /* sparse: which lanes have the metadata */
    LLVMTypeRef work;    /* element that is calculated with: f32, f64, i32 */
    LLVMValueRef regs[MR_PTX_MATRIX_COUNT][CG_MATRIX_REGS];
    LLVMValueRef metadata; /* sparse */
    LLVMValueRef parts[3][CG_MATRIX_REGS][8]; /* of A, B and C, converted; made when first asked for */
};

/* ---- matrix.c ---- */

struct cg_product cg_matrix_product(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op);
/* What a form's functions are called. */
void cg_matrix_name(const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op, char *name, size_t size);
struct cg_matrix_place cg_matrix_place_of_factor(const struct cg_product *p, unsigned name, unsigned line, unsigned k,
                                                 unsigned quad);
struct cg_matrix_place cg_matrix_place_of_sum(const struct cg_product *p, unsigned name, struct cg_matrix_element e);
/* Part of a register, p->regs[name][reg], as what is calculated with: a vector of all lanes. */
LLVMValueRef cg_matrix_convert_part(struct cg_product *p, unsigned name, unsigned reg, unsigned part);
/* A sum as f16, as the form rounds it. */
LLVMValueRef cg_matrix_half_of_sum(struct cg_product *p, LLVMValueRef sum);

/* ---- matrix_lines.c ---- */

/* Whether a form can be made by whole lines; makes it so. */
bool cg_matrix_has_lines(const struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op);
void cg_emit_product_of_lines(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op);

#endif
