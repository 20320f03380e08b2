/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that come to a barrier before others of their warp, which are at another: control.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_EARLY_H
#define MR_COMPILE_CODEGEN_BODY_EARLY_H

#include "compile/codegen/basics/basics.h"

void cg_emit_early_arrival(struct cg *g);
LLVMValueRef cg_early_lanes(struct cg *g);      /* slot: lanes that have come early; NULL: there can be none */
LLVMValueRef
cg_early_predicates(struct cg *g); /* slot: lanes that have come early to a barrier.red with a true predicate */
void cg_give_reduction(struct cg *g,
                       LLVMValueRef result); /* to the lanes that have come early, a predicate or a count */

#endif
