/* SPDX-License-Identifier: Apache-2.0 */

/* Values that step from lane to lane by something that only the running code knows: see stepped.c. */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_STEPPED_H
#define MR_COMPILE_CODEGEN_OPERANDS_STEPPED_H

#include "compile/codegen/operands/operands.h"

/* Lane l holds base + step * l + factor * ((place + pace * l) >> 32), the shift being arithmetic. All are i64; of a
 * 32-bit value the lower halves count. `factor` is a multiple of 2^32. The last three are NULL where there is no such
 * term. */
struct cg_stepped {
    LLVMValueRef base, step, factor, place, pace;
};

/* The slot of a register of that class. */
LLVMTypeRef cg_stepped_slot_type(const struct cg *g, struct mr_class c);

/* An instruction whose result is a STEPPED register, which it writes. */
void cg_emit_stepped(struct cg *g, const struct mr_ptx_inst *inst);

/* Reads a register of that class: as scalars, and as a vector of its type. */
struct cg_stepped cg_stepped_read(struct cg *g, uint32_t reg);
void cg_stepped_write(struct cg *g, uint32_t reg, const struct cg_stepped *value); /* under the guard */
LLVMValueRef cg_stepped_vector(struct cg *g, const struct cg_stepped *value, LLVMTypeRef element);

/* The same value, for a block that hardly ever runs: LLVM does not take what is made of it to places that run more
 * often. */
struct cg_stepped cg_stepped_rarely(struct cg *g, const struct cg_stepped *value);

/* Whether the last term is 0 in all lanes, so that they step evenly: an i1, NULL if it always is. */
LLVMValueRef cg_stepped_evenly(struct cg *g, const struct cg_stepped *value);

/* The generic address behind a memory operand in global memory; false if it is not of that class. */
bool cg_stepped_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_stepped *out);

#endif
