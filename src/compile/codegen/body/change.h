/* SPDX-License-Identifier: Apache-2.0 */
/* Stores and atomic operations in loops that wait: change.c. */
#ifndef MR_COMPILE_CODEGEN_BODY_CHANGE_H
#define MR_COMPILE_CODEGEN_BODY_CHANGE_H

#include "compile/codegen/basics/basics.h"

struct cg_change {
    bool polls;  /* the instruction's result is compared with the one before */
    bool counts; /* it changes memory in a loop that waits */
    LLVMValueRef operand; /* of an atomic operation whose result tells whether it changed anything; else NULL */
};

/* Before an instruction's code, and behind it, where some lane runs it: code that notes in the block's record that the
 * launch gets further, if the instruction stands in a loop that waits and changes memory, or gives a poll another
 * value. */
struct cg_change cg_change_begin(struct cg *g, const struct mr_ptx_inst *inst);
void cg_change_end(struct cg *g, const struct mr_ptx_inst *inst, struct cg_change change);

#endif
