/* SPDX-License-Identifier: Apache-2.0 */

/* PTX operands as LLVM values: what an instruction reads, and where its results go.
 *
 * Each register has a *class* (analysis/flow.h), which says what is in its slot. UNIFORM: one scalar. AFFINE: a base,
 * and a *break*, the first lane that is past an overflow of 32 bits, for each *row* of threads that the warp is.
 * STEPPED: scalars from which each lane's value follows. VARYING: a vector of all lanes. Code that reads an operand
 * says which type it wants, and gets it in the form of the instruction at hand (basics/basics.h); or it asks for the
 * scalars of an affine value.
 *
 *   operands.c    any operand, read and written
 *   registers.c   registers in their slots
 *   rows.c        affine values: their parts, and the vector of all lanes
 *   stepped.c     values that step by what only the running code knows
 *   special.c     special registers        symbol.c   where variables are
 *   spaces.c      which space a generic address is in
 *   narrow.c      addresses of 32 bits     parameters.c   a kernel's parameters, read once
 *   address.c     where a memory operand points: a host address, checked for alignment
 *   touch.c       notes of what is touched
 *   access.c      a load or store by the lanes of a warp: access_vector.c at once, access_lanes.c one by one */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_OPERANDS_H
#define MR_COMPILE_CODEGEN_OPERANDS_OPERANDS_H

#include "compile/codegen/basics/basics.h"

/* A value of class UNIFORM or AFFINE: lane l holds base + stride * l (+ wrap from lane brk on). brk may be NULL if
 * there is no wrap. Where a warp is several rows, this is the value in one row, g->now.row, and l counts within it. */
struct cg_affine {
    struct mr_class c;
    LLVMValueRef base, brk;
};

/* ---- operands.c ---- */

/* An operand as values of `element`: bits reinterpreted, wider registers cut. */
LLVMValueRef cg_source(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef element);
LLVMValueRef cg_predicate(struct cg *g, const struct mr_ptx_operand *operand);
/* An operand of 32 bits that is meant to be the same for all lanes, as a scalar: else that of the lowest lane that
 * runs. */
LLVMValueRef cg_scalar_source(struct cg *g, const struct mr_ptx_operand *operand);
/* An operand of class UNIFORM or AFFINE in the row at hand, or in each row: `rows` has g->flow.rows entries. False if
 * it is of another class. */
bool cg_affine_source(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out);
bool cg_affine_rows(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *rows);
/* Results. `value` may be a scalar or a vector; a scalar is spread if the register holds a vector. */
void cg_write(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value);
void cg_write_extended(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value, bool is_signed);

/* ---- registers.c ---- */

LLVMValueRef cg_read(struct cg *g, uint32_t reg);
struct cg_affine cg_read_affine(struct cg *g, uint32_t reg); /* of the row at hand */
void cg_write_reg(struct cg *g, uint32_t reg, LLVMValueRef value);
/* For these lanes alone, whichever lanes run; a scalar value. A register that holds a scalar changes if there are any.
 */
void cg_write_lanes(struct cg *g, uint32_t reg, LLVMValueRef value, LLVMValueRef lanes);
void cg_write_affine(struct cg *g, uint32_t reg, const struct cg_affine *rows); /* g->flow.rows entries */

/* ---- rows.c ---- */

LLVMValueRef cg_affine_vector(struct cg *g, const struct cg_affine *rows); /* g->flow.rows entries */
/* base + stride * lane for the first lane of the row at hand, as a scalar. */
LLVMValueRef cg_row_start(const struct cg *g, LLVMValueRef base, int64_t stride);
/* In a slot that has a scalar for each row, the place of the row at hand. */
LLVMValueRef cg_row_place(struct cg *g, LLVMValueRef slot);
/* A vector of all lanes from a scalar for each row. */
LLVMValueRef cg_row_spread(const struct cg *g, const LLVMValueRef *rows);
/* Whether any lane of a row runs the instruction, where a warp is several rows. */
LLVMValueRef cg_row_runs(struct cg *g, unsigned row);
/* The first lane of a row whose 32-bit sum base + stride * lane leaves the range of its type; the number of lanes if
 * none does. */
LLVMValueRef cg_break(struct cg *g, LLVMValueRef base, int64_t stride, bool is_signed);

/* ---- special.c, symbol.c, spaces.c ---- */

/* A scalar or vector; NULL if *affine was filled instead. */
LLVMValueRef cg_special(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *affine);
LLVMValueRef cg_symbol_address(struct cg *g, const struct mr_ptx_var *var); /* i64, base of lane 0 */
uint64_t cg_entry_parameter_offset(const struct cg *g, const struct mr_ptx_var *var);
/* Whether a generic address is one in .shared memory, or in that space. */
LLVMValueRef cg_in_shared(struct cg *g, LLVMValueRef address);
LLVMValueRef cg_in_space(struct cg *g, LLVMValueRef address, unsigned space);

/* ---- address.c ---- */

/* Where an operand points, as a generic address. */
struct cg_address {
    struct mr_class c;   /* UNIFORM, AFFINE or VARYING */
    LLVMValueRef base[CG_ROWS_MAX], brk[CG_ROWS_MAX]; /* i64, i32; by row. UNIFORM: the same for all */
    LLVMValueRef vector; /* <32 x i64> */
};
void cg_address(struct cg *g, const struct mr_ptx_operand *operand, unsigned space, struct cg_address *out);
LLVMValueRef cg_address_vector(struct cg *g, const struct cg_address *address);
/* Ends the launch if an active lane's address is no multiple of `bytes` (a power of two). Notes the access, if that is
 * asked for. */
void cg_check_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct cg_address *address,
                        uint64_t bytes);
/* Notes an access of the lanes that run, for reports of faults. */
void cg_note_access(struct cg *g, const struct cg_address *address, uint64_t bytes);
/* Whether an instruction may reach memory that is not the block's own. */
bool cg_is_far(const struct mr_ptx_inst *inst);

#endif
