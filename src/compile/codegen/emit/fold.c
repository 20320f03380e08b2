/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lanes folded into one value by an operation on integers: redux, and reductions into one place.
 */
#include "compile/codegen/emit/emit.h"

/* A reduction of all lanes into one, where order can't matter. NULL if there is none. */
const char *cg_fold_name(const struct mr_ptx_inst *inst, uint64_t *neutral)
{
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    unsigned bits = mr_ptx_type_bits(inst->type[0]);
    uint64_t top = UINT64_C(1) << (bits - 1);
    if (mr_ptx_type_class(inst->type[0]) == 'F')
        return NULL;
    *neutral = 0;
    switch (inst->atom) {
    case MR_PTX_ATOM_ADD:
        return "llvm.vector.reduce.add";
    case MR_PTX_ATOM_OR:
        return "llvm.vector.reduce.or";
    case MR_PTX_ATOM_XOR:
        return "llvm.vector.reduce.xor";
    case MR_PTX_ATOM_AND:
        *neutral = UINT64_MAX;
        return "llvm.vector.reduce.and";
    case MR_PTX_ATOM_MIN:
        *neutral = sign ? top - 1 : UINT64_MAX;
        return sign ? "llvm.vector.reduce.smin" : "llvm.vector.reduce.umin";
    case MR_PTX_ATOM_MAX:
        *neutral = sign ? top : 0;
        return sign ? "llvm.vector.reduce.smax" : "llvm.vector.reduce.umax";
    default:
        return NULL;
    }
}

/* All lanes of `mask` folded; used by redux as well. */
LLVMValueRef cg_fold_lanes(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef values, LLVMValueRef mask_vector)
{
    uint64_t neutral;
    const char *name = cg_fold_name(inst, &neutral);
    LLVMValueRef rest = cg_int(g, cg_element(values), neutral);
    return cg_unary(g, name, LLVMBuildSelect(g->b, mask_vector, values, rest, ""));
}
