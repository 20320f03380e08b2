/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels that run several blocks in one call: those behind the first along x.
 *
 * Without barriers, loops that may wait (be it by plain loads) and shared memory, nothing ties the warps of a block
 * together, and all warps of a few blocks may run in any order. Where a block is one row of threads they run block by
 * block. Where it is several rows, the same row of all blocks comes first, then the next row: neighbouring blocks
 * mostly work on neighbouring memory, so that the processor sees a few long streams instead of many short pieces.
 */
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/body/body.h"

static bool uses_shared(const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++)
        if (func->insts[i].space == MR_PTX_SPACE_SHARED || func->insts[i].space == MR_PTX_SPACE_SHARED_CLUSTER)
            return true;
    return false;
}

bool cg_blocks_fit(const struct cg_unit *unit)
{
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++) {
        const struct mr_ptx_function *func = unit->entry->reachable[i];
        if (unit->facts[func->index].barriers || unit->facts[func->index].may_wait || uses_shared(func))
            return false;
    }
    return unit->entry->shared_count == 0 && !unit->entry->calls_indirectly;
}

static LLVMValueRef i32_of(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* In the prologue: how many warps and blocks there are, and which of them the inner loop goes through. */
static void count(struct cg *g)
{
    struct cg_blocks *blocks = g->launch.several;
    LLVMValueRef more = cg_block_field(g, offsetof(struct mr_block, more_blocks), g->unit->i32, "more_blocks");
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    unsigned step = g->unit->width / CG_LANES;
    LLVMValueRef warps = LLVMBuildSub(g->b, LLVMGetParam(g->fn, 2), LLVMGetParam(g->fn, 1), "");
    warps = LLVMBuildUDiv(g->b, LLVMBuildAdd(g->b, warps, i32_of(g, step - 1), ""), i32_of(g, step), "warps");
    LLVMValueRef all = LLVMBuildAdd(g->b, more, i32_of(g, 1), "blocks");
    blocks->by_row = LLVMBuildICmp(g->b, LLVMIntNE, g->launch.ntid[0], g->launch.threads, "by_row");
    blocks->inner_count = LLVMBuildSelect(g->b, blocks->by_row, all, warps, "");
    blocks->outer_count = LLVMBuildSelect(g->b, blocks->by_row, warps, all, "");
    blocks->first = g->launch.ctaid[0];
}

void cg_blocks_begin(struct cg *g, LLVMBasicBlockRef from, LLVMBasicBlockRef head)
{
    struct cg_unit *unit = g->unit;
    struct cg_blocks *blocks = g->launch.several;
    LLVMValueRef zero = i32_of(g, 0);
    count(g);
    LLVMPositionBuilderAtEnd(g->b, head);
    blocks->head = head;
    blocks->inner = LLVMBuildPhi(g->b, unit->i32, "inner");
    blocks->outer = LLVMBuildPhi(g->b, unit->i32, "outer");
    LLVMAddIncoming(blocks->inner, &zero, &from, 1);
    LLVMAddIncoming(blocks->outer, &zero, &from, 1);
    LLVMValueRef warp = LLVMBuildSelect(g->b, blocks->by_row, blocks->outer, blocks->inner, "");
    LLVMValueRef block = LLVMBuildSelect(g->b, blocks->by_row, blocks->inner, blocks->outer, "");
    warp = LLVMBuildMul(g->b, warp, i32_of(g, unit->width / CG_LANES), "");
    g->warp.number = LLVMBuildAdd(g->b, LLVMGetParam(g->fn, 1), warp, "warp");
    g->launch.ctaid[0] = LLVMBuildAdd(g->b, blocks->first, block, "ctaid");
    /* For device functions, and for the report of a fault. */
    LLVMValueRef offset = LLVMConstInt(unit->i64, offsetof(struct mr_block, ctaid), false);
    LLVMBuildStore(g->b, g->launch.ctaid[0], LLVMBuildGEP2(g->b, unit->i8, g->launch.block, &offset, 1, ""));
}

LLVMValueRef cg_blocks_index(struct cg *g)
{
    LLVMValueRef before = LLVMBuildMul(g->b, g->launch.several->outer, g->launch.several->inner_count, "");
    return LLVMBuildAdd(g->b, before, g->launch.several->inner, "index");
}

void cg_blocks_end(struct cg *g, LLVMBasicBlockRef done)
{
    struct cg_blocks *blocks = g->launch.several;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef inner = LLVMBuildAdd(g->b, blocks->inner, i32_of(g, 1), "");
    LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntEQ, inner, blocks->inner_count, "");
    LLVMValueRef outer = LLVMBuildAdd(g->b, blocks->outer, LLVMBuildZExt(g->b, full, g->unit->i32, ""), "");
    inner = LLVMBuildSelect(g->b, full, i32_of(g, 0), inner, "");
    LLVMAddIncoming(blocks->inner, &inner, &here, 1);
    LLVMAddIncoming(blocks->outer, &outer, &here, 1);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntULT, outer, blocks->outer_count, "");
    LLVMBuildCondBr(g->b, more, blocks->head, done);
}
