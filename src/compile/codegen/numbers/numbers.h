/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers with a point, as hardware has them: all of it on values in the form at hand, none of it on operands.
 *
 * No fast-math flag is ever set, so LLVM's plain operations round to nearest and are neither fused nor reordered.
 * What is left to do is where PTX differs:
 *
 *   float.c     saturation to [0, 1]; the smaller of two
 *   flush.c     flushing (`.ftz`: subnormal numbers to zero of the same sign), and where it is not needed
 *   half.c      formats of 16 bits and less, whose bits are in registers and whose arithmetic is done in f32
 *   nan.c       the one NaN of single precision; registers that are *loose* may hold any
 *   rounding.c  arithmetic that is rounded in another direction than to nearest
 *   contract.c  products that a sum takes along, as an fma
 *   math.c      functions that hardware approximates
 *   wide.c      instructions of AVX-512 that LLVM has no words for
 */
#ifndef MR_COMPILE_CODEGEN_NUMBERS_NUMBERS_H
#define MR_COMPILE_CODEGEN_NUMBERS_NUMBERS_H

#include "compile/codegen/basics/basics.h"

/* ---- float.c ---- */

LLVMValueRef cg_is_nan(struct cg *g, LLVMValueRef value);
LLVMValueRef cg_saturate(struct cg *g, LLVMValueRef value); /* to [0, 1], NaN -> 0 */
LLVMValueRef cg_min_max(struct cg *g, LLVMValueRef a, LLVMValueRef b, bool maximum, bool propagate_nan);

/* ---- flush.c ---- */

/* What is known of an f32 number: it is not subnormal; it is a NaN, or its size is 1 or more. */
enum { CG_NUMBER_FLUSHED = 1, CG_NUMBER_LARGE = 2 };

/* Fills g->regs.known; false when memory is short. */
bool cg_flush_prepare(struct cg *g);
/* CG_NUMBER_* of an operand of an f32 instruction. */
unsigned cg_flush_known(const struct cg *g, const struct mr_ptx_operand *operand);
/* Whether a sum of flushed numbers, or of a product of two and this addend, can't be subnormal. */
bool cg_flush_sum_is_normal(const struct cg *g, const struct mr_ptx_operand *addend);
LLVMValueRef cg_flush(struct cg *g, LLVMValueRef value); /* subnormal -> signed zero */
/* The same of an operand's value, which stays as it is if the operand is known to be flushed. */
LLVMValueRef cg_flush_operand(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value);
/* The f32 product of a and b, rounded to nearest or otherwise: zero of its sign where the product is subnormal before
 * it is rounded. */
LLVMValueRef cg_flushed_product(struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef product);

/* ---- half.c ---- */

LLVMValueRef cg_half_to_float(struct cg *g, LLVMValueRef bits);      /* i16 f16 -> f32 */
LLVMValueRef cg_float_to_half(struct cg *g, LLVMValueRef value);     /* f32 -> i16, nearest even */
LLVMValueRef cg_bfloat_to_float(struct cg *g, LLVMValueRef bits);
LLVMValueRef cg_float_to_bfloat(struct cg *g, LLVMValueRef value);
LLVMValueRef cg_fp8_to_half(struct cg *g, LLVMValueRef bits, unsigned type,
                            bool relu); /* the low 8 of 32 bits, of a pair's type -> i16 */
/* tanh.approx and ex2.approx as hardware has them, bit by bit (an H100: all 65,536 numbers); i16 -> i16. */
LLVMValueRef cg_half_tanh(struct cg *g, LLVMValueRef bits, bool bfloat);
LLVMValueRef cg_half_ex2(struct cg *g, LLVMValueRef bits, bool bfloat);
LLVMValueRef cg_double_to_odd(struct cg *g, LLVMValueRef value);     /* f64 -> f32 rounded to odd */
LLVMValueRef cg_flush_half_number(struct cg *g,
                                  LLVMValueRef value); /* f32 that holds a half: subnormal halves to zero */

/* ---- nan.c ---- */

/* Whether an opcode, on f32, computes a new number: not a choice, a copy or a conversion. */
bool cg_computes(unsigned op);
/* Fills g->regs.loose; false when memory is short. */
bool cg_nan_prepare(struct cg *g);
/* Whether an instruction gives NaNs that need mending; whether it looks at the bits of its operands. */
bool cg_nan_is_arithmetic(const struct mr_ptx_inst *inst);
bool cg_nan_looks(const struct cg *g, const struct mr_ptx_inst *inst);
/* The value with hardware's NaN in place of any other. */
LLVMValueRef cg_nan_mended(struct cg *g, LLVMValueRef value);

/* ---- rounding.c ---- */

/* An operation ("fadd", "fma", "fptrunc", ...) under a rounding direction other than nearest, exactly. */
LLVMValueRef cg_rounded(struct cg *g, const char *operation, unsigned rounding, LLVMTypeRef result, LLVMValueRef *args,
                        unsigned count);
/* Attributes of a function that is called from many places of the object and stays one. */
void cg_helper_attributes(const struct cg *g, LLVMValueRef fn);

/* ---- wide.c: AVX-512's instructions on vectors of f32 ---- */

#define CG_WIDE_ARGS 6 /* most arguments of one */

/* Whether they take such a value. */
bool cg_wide_fits(const struct cg *g, LLVMValueRef value);
/* One of them, by its intrinsic for 512 bits, on values for which cg_wide_fits(), and numbers; cg_wide_masked() for an
 * intrinsic that also takes what stands where its mask is not set, the mask, and a rounding. */
LLVMValueRef cg_wide(struct cg *g, const char *intrinsic, const LLVMValueRef *args, unsigned count);
LLVMValueRef cg_wide_masked(struct cg *g, const char *intrinsic, const LLVMValueRef *args, unsigned count);

/* ---- math.c: f32 ---- */

LLVMValueRef cg_sin(struct cg *g, LLVMValueRef x, bool cosine);
LLVMValueRef cg_ex2(struct cg *g, LLVMValueRef x);
LLVMValueRef cg_lg2(struct cg *g, LLVMValueRef x);
LLVMValueRef cg_tanh(struct cg *g, LLVMValueRef x);

#endif
