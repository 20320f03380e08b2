/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values that step from lane to lane, of which each row of a warp has a base of its own: their parts, and the vector
 * of all lanes.
 */
#include "compile/codegen/operands/operands.h"

LLVMValueRef cg_row_start(const struct cg *g, LLVMValueRef base, int64_t stride)
{
    if (g->now.row == 0)
        return base;
    LLVMValueRef ahead = LLVMConstInt(LLVMTypeOf(base), (uint64_t)stride * g->now.row * cg_row_lanes(g), true);
    return LLVMBuildAdd(g->b, base, ahead, "");
}

LLVMValueRef cg_row_spread(const struct cg *g, const LLVMValueRef *rows)
{
    LLVMValueRef from[CG_LANES_MAX], all;
    if (g->flow.rows == 1)
        return cg_splat(g, rows[0]);
    all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(rows[0]), g->flow.rows));
    for (unsigned row = 0; row < g->flow.rows; row++)
        all = LLVMBuildInsertElement(g->b, all, rows[row], LLVMConstInt(g->unit->i32, row, false), "");
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        from[lane] = LLVMConstInt(g->unit->i32, lane / cg_row_lanes(g), false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(from, g->unit->width), "");
}

/* What each lane is ahead of its row's first one. */
static LLVMValueRef steps_in_row(const struct cg *g, LLVMTypeRef element, int64_t stride)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        all[lane] = LLVMConstInt(element, (uint64_t)stride * (lane % cg_row_lanes(g)), true);
    return LLVMConstVector(all, g->unit->width);
}

LLVMValueRef cg_affine_vector(struct cg *g, const struct cg_affine *rows)
{
    struct mr_class c = rows[0].c;
    LLVMTypeRef element = LLVMTypeOf(rows[0].base);
    LLVMValueRef bases[CG_ROWS_MAX], breaks[CG_ROWS_MAX];
    if (c.kind == MR_CLASS_UNIFORM)
        return cg_splat(g, rows[0].base);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        bases[row] = rows[row].base;
        breaks[row] = rows[row].brk;
    }
    LLVMValueRef vector = cg_row_spread(g, bases);
    if (c.stride)
        vector = LLVMBuildAdd(g->b, vector, steps_in_row(g, element, c.stride), "");
    if (c.wrap) {
        LLVMValueRef past =
            LLVMBuildICmp(g->b, LLVMIntUGE, steps_in_row(g, g->unit->i32, 1), cg_row_spread(g, breaks), "");
        LLVMValueRef by = cg_splat(g, LLVMConstInt(element, (uint64_t)c.wrap, true));
        LLVMValueRef moved = LLVMBuildAdd(g->b, vector, by, "");
        vector = LLVMBuildSelect(g->b, past, moved, vector, "");
    }
    return vector;
}

/* The first lane of a row whose 32-bit sum base + stride * lane leaves the range of its type; the number of lanes if
 * none does. */
LLVMValueRef cg_break(struct cg *g, LLVMValueRef base, int64_t stride, bool is_signed)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef wide = is_signed ? LLVMBuildSExt(g->b, base, unit->i64, "") : LLVMBuildZExt(g->b, base, unit->i64, "");
    LLVMValueRef most = LLVMConstInt(unit->i64, cg_row_lanes(g), false);
    int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    uint64_t step = stride > 0 ? (uint64_t)stride : (uint64_t)-stride;
    LLVMValueRef room = stride > 0 ? LLVMBuildSub(g->b, LLVMConstInt(unit->i64, (uint64_t)high, true), wide, "")
                                   : LLVMBuildSub(g->b, wide, LLVMConstInt(unit->i64, (uint64_t)low, true), "");
    LLVMValueRef lanes = LLVMBuildUDiv(g->b, room, LLVMConstInt(unit->i64, step, false), "");
    lanes = LLVMBuildAdd(g->b, lanes, LLVMConstInt(unit->i64, 1, false), "");
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntUGT, lanes, most, "");
    lanes = LLVMBuildSelect(g->b, many, most, lanes, "");
    return LLVMBuildTrunc(g->b, lanes, unit->i32, "");
}

LLVMValueRef cg_row_place(struct cg *g, LLVMValueRef slot)
{
    if (LLVMGetTypeKind(LLVMGetAllocatedType(slot)) != LLVMArrayTypeKind)
        return slot;
    LLVMValueRef at[2] = {LLVMConstInt(g->unit->i32, 0, false), LLVMConstInt(g->unit->i32, g->now.row, false)};
    return LLVMBuildInBoundsGEP2(g->b, LLVMGetAllocatedType(slot), slot, at, 2, "");
}

LLVMValueRef cg_row_runs(struct cg *g, unsigned row)
{
    unsigned lanes = cg_row_lanes(g);
    uint64_t bits = (lanes == 64 ? ~UINT64_C(0) : (UINT64_C(1) << lanes) - 1) << (row * lanes);
    LLVMValueRef active = LLVMBuildAnd(g->b, g->now.exec, LLVMConstInt(g->unit->mask, bits, false), "");
    return LLVMBuildICmp(g->b, LLVMIntNE, active, cg_mask_zero(g), "");
}
