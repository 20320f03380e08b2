/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_COMPILE_CODEGEN_BODY_SHOWN_H
#define MR_COMPILE_CODEGEN_BODY_SHOWN_H

#include "compile/codegen/basics/basics.h"

/* Variables of the source, for debuggers. Once the frame has its registers and variables; around the instruction of
 * that number, where g->shown.count is not 0; at the end, always. */
void cg_shown_declare(struct cg *g);
void cg_shown_before(struct cg *g, uint32_t inst);
void cg_shown_after(struct cg *g, uint32_t inst);
void cg_shown_clear(struct cg *g);

#endif
