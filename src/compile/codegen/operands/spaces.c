/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which space a generic address is in.
 */
#include "compile/codegen/basics/stack.h"
#include "compile/codegen/operands/operands.h"

/* Within [start, start + size), as one unsigned comparison. */
static LLVMValueRef within(struct cg *g, LLVMValueRef address, LLVMValueRef start, LLVMValueRef size)
{
    if (g->now.lanes != 1) {
        start = cg_splat(g, start);
        size = cg_splat(g, size);
    }
    return LLVMBuildICmp(g->b, LLVMIntULT, LLVMBuildSub(g->b, address, start, ""), size, "");
}

LLVMValueRef cg_in_shared(struct cg *g, LLVMValueRef address)
{
    LLVMValueRef size = cg_block_field(g, offsetof(struct mr_block, shared_size), g->unit->i32, "");
    return within(g, address, g->launch.shared, LLVMBuildZExt(g->b, size, g->unit->i64, ""));
}

/* Local memory is whatever lies in the frames of this warp: any of the function's own variables counts, and so does
 * what is close above the frame, where its callers' variables are; and memory of alloca, with what the kernel has
 * close above it. */
static LLVMValueRef in_local(struct cg *g, LLVMValueRef address)
{
    LLVMValueRef mark = cg_slot(g, g->unit->i64, "frame");
    LLVMValueRef start = LLVMBuildSub(g->b, LLVMBuildPtrToInt(g->b, mark, g->unit->i64, ""),
                                      LLVMConstInt(g->unit->i64, 1u << 20, false), "");
    LLVMValueRef near = within(g, address, start, LLVMConstInt(g->unit->i64, 2u << 20, false));
    if (!g->unit->allocas)
        return near;
    LLVMValueRef size, stack = cg_stack_range(g, &size);
    size = LLVMBuildAdd(g->b, size, LLVMConstInt(g->unit->i64, 1u << 20, false), "");
    return LLVMBuildOr(g->b, near, within(g, address, stack, size), "");
}

/* Inside one of the module's constant variables. */
static LLVMValueRef in_const(struct cg *g, LLVMValueRef address)
{
    const struct mr_layout *layout = g->unit->request->layout;
    LLVMValueRef any = cg_int(g, g->unit->i1, 0);
    for (uint32_t i = 0; i < layout->variable_count; i++) {
        const struct mr_ptx_var *var = layout->symbols[i].var;
        if (!var || var->space != MR_PTX_SPACE_CONST)
            continue;
        LLVMValueRef start = cg_symbol_address(g, var), size = LLVMConstInt(g->unit->i64, var->size, false);
        any = LLVMBuildOr(g->b, any, within(g, address, start, size), "");
    }
    return any;
}

LLVMValueRef cg_in_space(struct cg *g, LLVMValueRef address, unsigned space)
{
    LLVMValueRef shared = cg_in_shared(g, address);
    switch (space) {
    case MR_PTX_SPACE_SHARED:
    case MR_PTX_SPACE_SHARED_CLUSTER:
        return shared;
    case MR_PTX_SPACE_LOCAL:
        return in_local(g, address);
    case MR_PTX_SPACE_CONST:
        return in_const(g, address);
    case MR_PTX_SPACE_GLOBAL: {
        LLVMValueRef other = LLVMBuildOr(g->b, shared, in_local(g, address), "");
        return LLVMBuildNot(g->b, LLVMBuildOr(g->b, other, in_const(g, address), ""), "");
    }
    default: {
        /* .param, .param::entry: the kernel's parameters. */
        LLVMValueRef start = LLVMBuildPtrToInt(g->b, g->launch.params_place, g->unit->i64, "");
        return within(g, address, start, LLVMConstInt(g->unit->i64, g->unit->entry->func->param_size, false));
    }
    }
}
