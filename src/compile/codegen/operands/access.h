/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An access to memory by the lanes of a warp: what a load or store becomes once its address and its elements are known.
 * Internal to codegen.
 */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_ACCESS_H
#define MR_COMPILE_CODEGEN_OPERANDS_ACCESS_H

#include "compile/codegen/operands/stepped.h"

struct cg_access {
    const struct mr_ptx_inst *inst;
    LLVMTypeRef element; /* in memory */
    unsigned bytes;      /* of one element */
    unsigned count;      /* elements per lane */
    struct cg_address address;
    struct cg_stepped stepped; /* in place of the address, if `steps` */
    bool steps;
    bool strong, constant;
    LLVMValueRef values[8]; /* a component each; loads: results */
};

/* access.c. */
/* The address of an access to `inst`'s space, checked for alignment, into `a`. */
void cg_access_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_access *a);
void cg_access_load(struct cg *g, struct cg_access *a);
void cg_access_store(struct cg *g, struct cg_access *a);

/* A way to do an access. */
typedef void cg_access_way(struct cg *g, struct cg_access *a);

/* access_vector.c: one address for all lanes, or for all of a row; addresses that step by the access's size, under the
 * mask and where all lanes run. */
cg_access_way cg_load_uniform, cg_load_by_row, cg_load_masked, cg_load_whole, cg_store_uniform, cg_store_masked,
    cg_store_whole;
/* Asks for what the load will read some rounds of its loop later, or in the next block of threads. */
void cg_load_prefetch(struct cg *g, const struct cg_access *a);

/* access_lanes.c: lane by lane, the address stepping or being any; all elements of a lane at once. */
cg_access_way cg_load_stepwise, cg_load_scattered, cg_load_undivided, cg_store_stepwise, cg_store_scattered,
    cg_store_undivided;
/* From one address to the other, 4 to 16 bytes a lane, of which nothing goes through registers. */
void cg_copy_by_lane(struct cg *g, struct cg_access *to, struct cg_access *from);

#endif
