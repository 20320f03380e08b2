/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that take a product along, and products that are added to themselves: contract.c. */
#ifndef MR_COMPILE_CODEGEN_NUMBERS_CONTRACT_H
#define MR_COMPILE_CODEGEN_NUMBERS_CONTRACT_H

#include "compile/codegen/basics/basics.h"

/* A product that a sum takes along, and which of the sum's operands it is; NULL if there is none. Of an fma: the
 * product, its third operand, that it adds to the same product, so that it is twice that. */
struct cg_contracted {
    const struct mr_ptx_inst *product;
    unsigned index;
};

/* Finds all of a function's, into g->regs.contracted; false when memory is short. */
bool cg_contract_prepare(struct cg *g);

/* That of one instruction. */
struct cg_contracted cg_contracted(const struct cg *g, const struct mr_ptx_inst *inst);

#endif
