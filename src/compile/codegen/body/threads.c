/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The threads of a warp as it starts: which exist, what their tid is; its registers and masks.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"

/* Registers and masks at the start of a warp: zero, so that what was never written is at least the same each time.
 * Registers that are always written before they are read, as nearly all are, need none: LLVM makes a value of a slot
 * in no time if it is stored to once. */
void cg_clear_warp(struct cg *g)
{
    for (uint32_t r = 0; r < g->flow.reg_count; r++) {
        if (!mr_bit_get(g->flow.blocks[0].live_in, r))
            continue;
        LLVMBuildStore(g->b, LLVMConstNull(LLVMGetAllocatedType(g->regs.slots[r])), g->regs.slots[r]);
        if (g->regs.breaks[r])
            for (g->now.row = 0; g->now.row < g->flow.rows; g->now.row++)
                LLVMBuildStore(g->b, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false),
                               cg_row_place(g, g->regs.breaks[r]));
        g->now.row = 0;
    }
    if (g->parking.crowded) {
        cg_dispatcher_clear(g);
        return;
    }
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        if (mr_bit_get(g->parking.kept, b))
            LLVMBuildStore(g->b, cg_mask_zero(g), g->parking.masks[b]);
}

LLVMValueRef cg_bounded_tid(struct cg *g, unsigned axis, LLVMValueRef tid)
{
    if (LLVMGetTypeKind(LLVMTypeOf(tid)) == LLVMVectorTypeKind)
        return tid;
    unsigned bits = axis == 2 ? 63 : 1023;
    if (axis == 0 && (g->unit->request->shape & MR_SHAPE_LINEAR))
        bits &= ~(CG_LANES - 1);
    return LLVMBuildAnd(g->b, tid, LLVMConstInt(g->unit->i32, bits, false), "tid");
}

/* A number by the block's size along an axis. Both are at most 1,024, so the product with 2^32 by the size, rounded up,
 * is never too far off; it takes a fifth of a division's time, and each warp of a block with several rows divides. */
static LLVMValueRef divided(struct cg *g, LLVMValueRef number, unsigned axis)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef *inverse = &g->launch.ntid_inverse[axis];
    if (!*inverse) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
        LLVMPositionBuilderBefore(g->b, g->prologue.end);
        LLVMValueRef size = LLVMBuildZExt(g->b, g->launch.ntid[axis], i64, "");
        LLVMValueRef whole = LLVMBuildUDiv(g->b, LLVMConstInt(i64, UINT64_C(1) << 32, false), size, "");
        *inverse = LLVMBuildAdd(g->b, whole, LLVMConstInt(i64, 1, false), "inverse");
        LLVMPositionBuilderAtEnd(g->b, here);
        cg_line_again(g);
    }
    LLVMValueRef product = LLVMBuildMul(g->b, LLVMBuildZExt(g->b, number, i64, ""), *inverse, "");
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, product, LLVMConstInt(i64, 32, false), ""), g->unit->i32, "");
}

/* tid from the number of the warp: see MR_SHAPE_LINEAR. The builder may go on in another block. */
static void find_any_thread(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBuilderRef b = g->b;
    LLVMValueRef first = LLVMBuildShl(b, g->warp.number, LLVMConstInt(unit->i32, 5, false), "first");
    if (unit->request->shape & MR_SHAPE_LINEAR) {
        /* Most blocks are one row: then there is nothing to divide. */
        LLVMValueRef zero = LLVMConstInt(unit->i32, 0, false);
        LLVMBasicBlockRef here = LLVMGetInsertBlock(b), later = cg_new_block(g, "row"), on = cg_new_block(g, "thread");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, first, g->launch.ntid[0], ""), on, later);
        LLVMPositionBuilderAtEnd(b, later);
        LLVMValueRef row = divided(g, first, 0);
        LLVMValueRef z = divided(g, row, 1);
        LLVMValueRef found[3] = {LLVMBuildSub(b, first, LLVMBuildMul(b, row, g->launch.ntid[0], ""), ""),
                                 LLVMBuildSub(b, row, LLVMBuildMul(b, z, g->launch.ntid[1], ""), ""), z};
        LLVMBuildBr(b, on);
        LLVMPositionBuilderAtEnd(b, on);
        for (unsigned i = 0; i < 3; i++) {
            g->warp.tid[i] = LLVMBuildPhi(b, unit->i32, "tid");
            LLVMAddIncoming(g->warp.tid[i], (LLVMValueRef[]){i ? zero : first, found[i]},
                            (LLVMBasicBlockRef[]){here, later}, 2);
        }
        return;
    }
    if (g->flow.rows > 1) {
        LLVMValueRef row =
            LLVMBuildMul(b, g->warp.number, LLVMConstInt(unit->i32, mr_flow_shape_rows(g->flow.shape), false), "");
        g->warp.tid[0] = LLVMConstInt(unit->i32, 0, false);
        g->warp.tid[2] = divided(g, row, 1);
        row = LLVMBuildSub(b, row, LLVMBuildMul(b, g->warp.tid[2], g->launch.ntid[1], ""), "tid.y");
        g->warp.tid[1] = row;
        return;
    }
    /* Small numbers: the quotient of floats, half a step in, never rounds to the wrong side. */
    g->now.lanes = g->unit->width;
    LLVMValueRef n = LLVMBuildAdd(b, cg_splat(g, first), cg_lane_numbers(g, unit->i32, 1), "");
    LLVMTypeRef floats = cg_type(g, unit->f32), ints = cg_type(g, unit->i32);
    for (unsigned axis = 0; axis < 2; axis++) {
        LLVMValueRef size = cg_splat(g, g->launch.ntid[axis]);
        LLVMValueRef half = LLVMBuildFAdd(b, LLVMBuildSIToFP(b, n, floats, ""), cg_real(g, unit->f32, 0.5), "");
        LLVMValueRef quotient = LLVMBuildFDiv(b, half, LLVMBuildSIToFP(b, size, floats, ""), "");
        LLVMValueRef row = LLVMBuildFPToSI(b, quotient, ints, "");
        g->warp.tid[axis] = LLVMBuildSub(b, n, LLVMBuildMul(b, row, size, ""), "tid");
        n = row;
    }
    g->warp.tid[2] = n;
}

void cg_find_thread(struct cg *g)
{
    find_any_thread(g);
    for (unsigned axis = 0; axis < 3; axis++)
        g->warp.tid[axis] = cg_bounded_tid(g, axis, g->warp.tid[axis]);
}

/* Lanes of the warp that exist. */
LLVMValueRef cg_first_mask(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    if (unit->request->shape & MR_SHAPE_FULL)
        return LLVMConstAllOnes(unit->mask);
    LLVMValueRef first = LLVMBuildShl(g->b, g->warp.number, LLVMConstInt(unit->i32, 5, false), "");
    LLVMValueRef left = LLVMBuildSub(g->b, g->launch.threads, first, "");
    LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntUGE, left, LLVMConstInt(unit->i32, g->unit->width, false), "");
    LLVMValueRef shift = LLVMBuildAnd(g->b, left, LLVMConstInt(unit->i32, g->unit->width - 1, false), "");
    LLVMValueRef bits = LLVMBuildShl(g->b, LLVMConstInt(unit->i32, 1, false), shift, "");
    bits = LLVMBuildSub(g->b, bits, LLVMConstInt(unit->i32, 1, false), "");
    return LLVMBuildSelect(g->b, full, LLVMConstAllOnes(unit->i32), bits, "alive");
}
