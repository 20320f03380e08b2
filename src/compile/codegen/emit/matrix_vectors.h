/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Vectors of any length, and what products of matrices do to them (matrix_lines.c).
 *
 * A tile is a vector of 32: eight lines with four places each, as a register of a warp holds them. Turned over, it has
 * the first place of all eight lines first.
 */
#ifndef MR_COMPILE_CODEGEN_EMIT_MATRIX_VECTORS_H
#define MR_COMPILE_CODEGEN_EMIT_MATRIX_VECTORS_H

#include "compile/codegen/emit/matrix.h"

/* A constant, so many times; elements of a vector, or of two one behind the other. */
LLVMValueRef cg_all_of(LLVMTypeRef type, uint64_t value, unsigned count);
LLVMValueRef cg_elements_of(struct cg *g, LLVMValueRef a, LLVMValueRef b, const uint8_t *from, unsigned count);
/* A tile turned over, or back. */
LLVMValueRef cg_turned_over(struct cg *g, LLVMValueRef tile, bool back);
/* Eight elements of a vector from `first` on, and behind them eight of another. */
LLVMValueRef cg_eight_and_eight(struct cg *g, LLVMValueRef a, unsigned first, LLVMValueRef b, unsigned other);
/* A vector of all lines from tiles that are turned over, eight lines each: place `at` of each. */
LLVMValueRef cg_lines_of(struct cg *g, const LLVMValueRef *tiles, unsigned lines, unsigned at);
/* sum + the products of four bytes each: those of `a` without a sign, those of `b` with one. */
LLVMValueRef cg_add_bytes(struct cg *g, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b);
/* sum + the products of two numbers of 16 bits each. */
LLVMValueRef cg_add_pairs(struct cg *g, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b);
/* Bytes 0 and 2 of each word, or 1 and 3, as numbers of 16 bits. */
LLVMValueRef cg_pair_of(struct cg *g, LLVMValueRef words, unsigned odd, bool is_signed);
/* A half or bfloat of each word, as a float. */
LLVMValueRef cg_float_of(struct cg *g, LLVMValueRef words, unsigned part, bool bfloat);

#endif
