/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Masks: sets of lanes, as integers with a bit for each, and as vectors of i1.
 */
#include "compile/codegen/basics/basics.h"

LLVMValueRef cg_mask_bits(struct cg *g, LLVMValueRef predicate)
{
    if (cg_is_vector(predicate))
        return LLVMBuildBitCast(g->b, predicate, g->unit->mask, "");
    return LLVMBuildSExt(g->b, predicate, g->unit->mask, "");
}

LLVMValueRef cg_mask_vector(struct cg *g, LLVMValueRef bits)
{
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->unit->i1, g->unit->width), "");
}

LLVMValueRef cg_mask_zero(const struct cg *g)
{
    return LLVMConstInt(g->unit->mask, 0, false);
}

LLVMValueRef cg_lowest_lane(struct cg *g, LLVMValueRef mask)
{
    LLVMTypeRef type = g->unit->i32;
    return cg_intrinsic(g, "llvm.cttz", &type, 1, (LLVMValueRef[]){mask, LLVMConstInt(g->unit->i1, 1, false)}, 2);
}
