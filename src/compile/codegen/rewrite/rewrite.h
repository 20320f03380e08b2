/* SPDX-License-Identifier: Apache-2.0 */

/* From PTX to PTX: a kernel's body is written anew where what it calls has to be a part of it. No LLVM here.
 *
 * Lanes of a warp that wait for each other have to be in one function: those that are parked in a caller can't run
 * before a call comes back. So a call of a function that waits is *replaced* by the function's body, with registers,
 * labels and variables of its own: a *splice*. Functions that wait and call each other in a *ring* become *routines*:
 * each body stands in the kernel once, and calls within the ring are jumps. Barriers that lanes of one warp may come
 * to under different numbers are taken *apart*, into an arrival and a loop that asks whether it is over.
 *
 *   inline.c     calls and barriers, one after the other
 *   recursion.c  rings of functions (inline.c and recursion.c call each other: a routine's body has calls, too)
 *   passing.c    what calls pass in registers
 *   splice.c     the lists that a new body is made of
 *
 * The verified module is left alone: everything that changes is new. */
#ifndef MR_COMPILE_CODEGEN_REWRITE_REWRITE_H
#define MR_COMPILE_CODEGEN_REWRITE_REWRITE_H

#include "compile/codegen/analysis/flow.h"

/* A kernel with what it calls inside: inline.c. */
struct cg_inlined {
    bool any;                        /* anything was: else the rest is empty, and the kernel as it was */
    struct mr_ptx_module module;     /* the module with `func` in the kernel's place */
    struct mr_ptx_function func;
    struct mr_layout_entry entry;    /* of it */
    const struct mr_ptx_function *stays; /* one that waits and is still called somewhere, NULL if there is none */
    struct piece *pieces;            /* memory */
};

/* What else than waiting loops has to be in the kernel itself: bodies with barriers; and these with arrival and wait
 * apart, so that lanes of a warp may wait at several at the same time. */
enum cg_inline_barriers { CG_BARRIERS_STAY, CG_BARRIERS_INSIDE, CG_BARRIERS_APART };

/* Puts the bodies of functions that wait into the kernel. `facts` are the module's; the copy's must be found anew.
 * False when memory is short. Call cg_inline_clear in any case; *in stays in its place till then. */
bool cg_inline_waits(struct cg_inlined *in, const struct mr_layout_entry *entry, const struct mr_flow_facts *facts,
                     enum cg_inline_barriers barriers) __attribute__((warn_unused_result));
void cg_inline_clear(struct cg_inlined *in);

#endif
