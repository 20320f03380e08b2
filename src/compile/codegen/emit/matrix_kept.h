/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What products of matrices leave for the next ones of the same block: factors that are in the frame already, and D as
 * the next product wants C. A kernel multiplies each part of a factor by several of the other, and adds to each sum
 * several times.
 *
 * What is kept holds as long as no instruction writes the registers that it was made of. It is forgotten where a block
 * begins, and behind a product that not all lanes may have run.
 */
#ifndef MR_COMPILE_CODEGEN_EMIT_MATRIX_KEPT_H
#define MR_COMPILE_CODEGEN_EMIT_MATRIX_KEPT_H

#include "compile/codegen/emit/matrix.h"

/* Around an instruction that is a product. The first forgets what does not hold any more, the second what the
 * instruction itself has changed. */
void cg_kept_begin(struct cg *g, const struct mr_ptx_inst *inst);
void cg_kept_end(struct cg *g, const struct mr_ptx_inst *inst);

/* Where that writer has put that factor; NULL: nowhere. */
LLVMValueRef cg_kept_factor(struct cg *g, LLVMValueRef writer, const struct mr_ptx_operand *operand, unsigned count);
/* A place of the frame for it, multiples of 64. */
LLVMValueRef cg_keep_factor(struct cg *g, LLVMValueRef writer, const struct mr_ptx_operand *operand, unsigned count,
                            unsigned bytes);

/* C as vectors of lines, if it is the D of such a product whose vectors are of the same kind; else NULL. */
struct cg_sums_kind {
    LLVMTypeRef vector;
    unsigned type; /* enum mr_ptx_type of elements */
    bool turned;
};
LLVMValueRef cg_kept_sums(struct cg *g, struct cg_sums_kind kind, const struct mr_ptx_operand *operand, unsigned count);
/* After cg_kept_end. */
void cg_keep_sums(struct cg *g, LLVMValueRef vectors, struct cg_sums_kind kind, const struct mr_ptx_operand *operand,
                  unsigned count);

#endif
