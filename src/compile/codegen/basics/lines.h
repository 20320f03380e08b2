/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_COMPILE_CODEGEN_BASICS_LINES_H
#define MR_COMPILE_CODEGEN_BASICS_LINES_H

#include "compile/codegen/basics/basics.h"

/* Of the unit: before any function, after all of them (before LLVM's passes), and at the end, always. Of a function:
 * at its start; its own line, or an instruction's, for what follows. cg_line_again: after the builder was elsewhere. */
void cg_lines_begin(struct cg_unit *unit);
void cg_lines_end(struct cg_unit *unit);
void cg_lines_clear(struct cg_unit *unit);
void cg_lines_function(struct cg *g);
void cg_line_own(struct cg *g);
void cg_line_body(struct cg *g); /* its first instruction's that is on another line than the function itself */
void cg_line(struct cg *g, const struct mr_ptx_inst *inst);
void cg_line_again(struct cg *g);

/* variables.c: what debuggers show of a kernel by name, from the block's record on; in the prologue, which is not ended
 * yet. */
void cg_variables_declare(struct cg *g);

/* The function that was put in the place of that call, and the place of the call; without one (0) the PTX function, and
 * NULL. */
LLVMMetadataRef cg_inlined_scope(struct cg *g, uint32_t number, LLVMMetadataRef *at);

#endif
