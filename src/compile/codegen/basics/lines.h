/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_COMPILE_CODEGEN_BASICS_LINES_H
#define MR_COMPILE_CODEGEN_BASICS_LINES_H

#include "compile/codegen/basics/basics.h"

/* Of the unit: before any function, after all of them (before LLVM's passes), and at the end, always. Of a function:
 * at its start, and the line that follows. cg_line_again: after the builder was elsewhere. */
void cg_lines_begin(struct cg_unit *unit);
void cg_lines_end(struct cg_unit *unit);
void cg_lines_clear(struct cg_unit *unit);
void cg_lines_function(struct cg *g);
void cg_line(struct cg *g, uint32_t line, uint32_t column);
void cg_line_again(struct cg *g);

#endif
