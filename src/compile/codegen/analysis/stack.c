/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that move the stack pointer.
 */
#include "compile/codegen/analysis/flow.h"

bool mr_flow_is_stack_op(unsigned op)
{
    return op == MR_PTX_OP_ALLOCA || op == MR_PTX_OP_STACKSAVE || op == MR_PTX_OP_STACKRESTORE;
}

bool mr_flow_moves_stack(const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++)
        if (mr_flow_is_stack_op(func->insts[i].op))
            return true;
    return false;
}
