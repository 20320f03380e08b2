/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arithmetic that the type decides about: add, sub, mul, mad, fma, div, min and their like.
 */
#include "compile/codegen/emit/emit.h"

bool cg_emit_arithmetic(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->flags & MR_PTX_FLAG_CC)
        return cg_emit_carry(g, inst);
    return cg_emit_integer(g, inst) || cg_emit_half(g, inst) || cg_emit_float(g, inst);
}
