/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Atomic operations by the lanes of a warp: what the files of atom and red share. Internal to emit.
 *
 * The lanes of a warp come in order: one lane's operation is done before the next one's, so that results, also sums of
 * floats, are the same from run to run as far as one warp goes. Lanes that name one *place* may be done with one atomic
 * instruction, as long as the place and the results are what they would be in that order.
 */
#ifndef MR_COMPILE_CODEGEN_EMIT_ATOMIC_H
#define MR_COMPILE_CODEGEN_EMIT_ATOMIC_H

#include "compile/codegen/emit/emit.h"

struct cg_atomic {
    const struct mr_ptx_inst *inst;
    const struct mr_ptx_operand *address, *result,
        *value; /* the last two of the element at hand, where the operation is on vectors; result may be NULL */
    LLVMTypeRef type; /* integer of the operation's width */
    unsigned bytes;
    bool shared;
    LLVMAtomicOrdering ordering;
    LLVMValueRef keeps; /* whether a generic address means shared memory, where sums of f32 keep subnormal numbers, in
                           the form of the values at hand; NULL where that is known or nobody asks */
};

/* ---- atomic_operation.c ---- */

/* Whether anybody looks at it: compilers write atom where nobody does. */
bool cg_atomic_has_result(const struct cg *g, const struct cg_atomic *a);
/* Finds out about a->keeps for an address, or a vector of them. */
void cg_atomic_look_at(struct cg *g, struct cg_atomic *a, LLVMValueRef address);
/* What the place holds afterwards; c is the third operand of cas, else NULL. In the form at hand. */
LLVMValueRef cg_atomic_new_value(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, LLVMValueRef b,
                                 LLVMValueRef c);
/* Puts `next` into the place if that holds `old`. Gives what it holds before; *done: whether that was `old`. */
LLVMValueRef cg_atomic_swap(struct cg *g, const struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef old,
                            LLVMValueRef next, LLVMValueRef *done);
/* Builds what follows from `old`, until no other thread has come between: gives the old value. `first`, if it is not
 * NULL, is what the place held a moment ago. */
typedef LLVMValueRef cg_atomic_next(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, void *data);
LLVMValueRef cg_atomic_swap_loop(struct cg *g, const struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef first,
                                 cg_atomic_next *next, void *data);
/* One lane's operation, all scalars; gives the old value. `seen` as `first` above. */
LLVMValueRef cg_atomic_perform(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef b, LLVMValueRef c,
                               LLVMValueRef seen);

/* ---- atomic_together.c ---- */

/* Operands of all lanes, the first as values, too, and arrays in memory, where code finds a lane's by its number. */
struct cg_atomic_operands {
    LLVMValueRef b; /* a vector */
    LLVMValueRef b_array, c_array; /* c_array may be NULL */
    LLVMValueRef to; /* an array for old values; NULL: nobody wants them */
};

/* The operation of the lanes in `mask`, which has some, at the one place that all of them name: with one atomic
 * instruction. Not for more than 64 bits. */
void cg_atomic_together(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef mask,
                        const struct cg_atomic_operands *operands);

LLVMValueRef cg_atomic_lane_of(struct cg *g, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane);

/* ---- atomic_lanes.c ---- */

/* The operation of the lanes that run. Gives the old values, NULL if nobody wants them. c may be NULL. */
LLVMValueRef cg_atomic_lanes(struct cg *g, struct cg_atomic *a, const struct cg_address *address, LLVMValueRef b,
                             LLVMValueRef c);

#endif
