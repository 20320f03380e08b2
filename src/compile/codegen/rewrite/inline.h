/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_COMPILE_CODEGEN_REWRITE_INLINE_H
#define MR_COMPILE_CODEGEN_REWRITE_INLINE_H

#include "compile/codegen/basics/cg.h"

/* A kernel with what it calls inside: inline.c. */
struct cg_inlined {
    bool any;                        /* anything was: else the rest is empty, and the kernel as it was */
    struct mr_ptx_module module;     /* the module with `func` in the kernel's place */
    struct mr_ptx_function func;
    struct mr_layout_entry entry;    /* of it */
    const struct mr_ptx_function *stays; /* one that waits and is still called somewhere, NULL if there is none */
    struct piece *pieces;            /* memory */
};

/* What else than waiting loops has to be in the kernel itself: bodies with barriers; and these with arrival and wait apart, so that lanes of a warp may wait at
 * several at the same time. */
enum cg_inline_barriers { CG_BARRIERS_STAY, CG_BARRIERS_INSIDE, CG_BARRIERS_APART };

/* Puts the bodies of functions that wait into the kernel. `facts` are the module's; the copy's must be found anew. False when memory is short. Call
 * cg_inline_clear in any case; *in stays in its place till then. */
bool cg_inline_waits(struct cg_inlined *in, const struct mr_layout_entry *entry, const struct mr_flow_facts *facts, enum cg_inline_barriers barriers)
    __attribute__((warn_unused_result));
void cg_inline_clear(struct cg_inlined *in);

#endif
