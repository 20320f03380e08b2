/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses of 32 bits: see narrow.c. */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_NARROW_H
#define MR_COMPILE_CODEGEN_OPERANDS_NARROW_H

#include "compile/codegen/basics/basics.h"

/* The spaces in which a function has addresses of 32 bits: bit n stands for the space n. */
unsigned cg_narrow_spaces(const struct mr_ptx_function *func);

/* Whether these need stacks below 4 GiB. */
bool cg_narrow_needs_stack(unsigned spaces);

/* Where the addresses of parameters point: to `params`, or in a kernel with such addresses of 32 bits to a copy, which
 * is made before the prologue's end. */
LLVMValueRef cg_narrow_parameters(struct cg *g, LLVMValueRef params);

/* The address in .const that these 64 bits, or their lower half, are meant for. */
LLVMValueRef cg_narrow_constant(struct cg *g, LLVMValueRef address);

#endif
