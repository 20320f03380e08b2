/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lanes of a warp at one place, with one atomic instruction for all:
 *
 *   integers, no result    the lanes' operands are folded
 *   integers with a result the same, and each lane's result is the old value with the operands of the lanes before it
 *   anything else          the lanes' operations one after the other in a register, from the old value on. A
 *                          compare-and-swap puts the last one's into the place, or all is done again
 *
 * So sums of floats have the bits that lanes in turn give.
 */
#include "compile/codegen/emit/atomic.h"

LLVMValueRef cg_atomic_lane_of(struct cg *g, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane)
{
    return LLVMBuildGEP2(g->b, type, array, &lane, 1, "");
}

/* The values of the lanes `by` places before, and `rest` where there is none. */
static LLVMValueRef moved_up(struct cg *g, LLVMValueRef values, LLVMValueRef rest, unsigned by)
{
    LLVMValueRef from[CG_LANES];
    for (unsigned lane = 0; lane < CG_LANES; lane++)
        from[lane] = LLVMConstInt(g->unit->i32, lane < by ? CG_LANES : lane - by, false);
    return LLVMBuildShuffleVector(g->b, values, rest, LLVMConstVector(from, CG_LANES), "");
}

static void with_results(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef mask,
                         const struct cg_atomic_operands *operands, uint64_t neutral)
{
    LLVMTypeRef vector = LLVMVectorType(a->type, CG_LANES);
    LLVMValueRef rest = cg_int(g, a->type, neutral), lanes = cg_mask_vector(g, mask);
    LLVMValueRef sums = LLVMBuildSelect(g->b, lanes, operands->b, rest, "");
    for (unsigned by = 1; by < CG_LANES; by *= 2)
        sums = cg_atomic_new_value(g, a, moved_up(g, sums, rest, by), sums, NULL);
    LLVMValueRef last = LLVMConstInt(g->unit->i32, CG_LANES - 1, false);
    LLVMValueRef whole = LLVMBuildExtractElement(g->b, sums, last, "");
    g->now.lanes = 1;
    LLVMValueRef old = cg_atomic_perform(g, a, pointer, whole, NULL, NULL);
    g->now.lanes = CG_LANES;
    LLVMValueRef results = cg_atomic_new_value(g, a, cg_splat(g, old), moved_up(g, sums, rest, 1), NULL);
    LLVMValueRef before = LLVMBuildLoad2(g->b, vector, operands->to, "");
    LLVMBuildStore(g->b, LLVMBuildSelect(g->b, lanes, results, before, ""), operands->to);
}

/* The lanes' operations one after the other. */
struct series {
    LLVMValueRef mask;
    const struct cg_atomic_operands *operands;
    bool adds; /* of floats, without results: the sums alone count */
    LLVMValueRef coarse; /* also: whether no sum of the operands can be subnormal, unless the old value makes it so */
};

static bool is_float_sum(const struct cg_atomic *a)
{
    unsigned type = a->inst->type[0];
    return a->inst->atom == MR_PTX_ATOM_ADD && (type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64);
}

/* Zero, or a multiple of the smallest normal number, by its size alone: sums of such numbers are multiples, too. */
static LLVMValueRef is_coarse(struct cg *g, LLVMValueRef bits)
{
    LLVMTypeRef f32 = g->unit->f32;
    LLVMValueRef size = cg_unary(g, "llvm.fabs", cg_cast_bits(g, bits, f32));
    LLVMValueRef large = LLVMBuildFCmp(g->b, LLVMRealUGE, size, cg_real(g, f32, 0x1p-103), "");
    return LLVMBuildOr(g->b, large, LLVMBuildFCmp(g->b, LLVMRealOEQ, size, cg_real(g, f32, 0.0), ""), "");
}

/* From the old value to the last lane's; plainly: sums without a look at subnormal numbers and NaNs. */
static LLVMValueRef run_series(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, const struct series *series,
                               bool plainly)
{
    const struct cg_atomic_operands *operands = series->operands;
    LLVMTypeRef real = a->inst->type[0] == MR_PTX_TYPE_F32 ? g->unit->f32 : g->unit->f64;
    LLVMTypeRef type = plainly ? real : a->type;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMValueRef first = plainly ? LLVMBuildBitCast(g->b, old, real, "") : old, next;
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, series->mask, &loop);
    LLVMPositionBuilderBefore(g->b, LLVMGetFirstInstruction(loop.body));
    LLVMValueRef now = LLVMBuildPhi(g->b, type, "");
    LLVMPositionBuilderAtEnd(g->b, loop.body);
    if (operands->to)
        LLVMBuildStore(g->b, now, cg_atomic_lane_of(g, a->type, operands->to, loop.lane));
    LLVMValueRef b = LLVMBuildLoad2(g->b, type, cg_atomic_lane_of(g, a->type, operands->b_array, loop.lane), ""),
                 c = NULL;
    if (operands->c_array)
        c = LLVMBuildLoad2(g->b, type, cg_atomic_lane_of(g, a->type, operands->c_array, loop.lane), "");
    next = plainly ? LLVMBuildFAdd(g->b, now, b, "") : cg_atomic_new_value(g, a, now, b, c);
    LLVMAddIncoming(now, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(g->b)}, 2);
    cg_lane_loop_end(g, &loop);
    if (!plainly)
        return next;
    return LLVMBuildBitCast(g->b, real == g->unit->f32 ? cg_nan_mended(g, next) : next, a->type, "");
}

static LLVMValueRef after_series(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, void *data)
{
    const struct series *series = data;
    if (!series->coarse)
        return run_series(g, a, old, series, series->adds);
    LLVMBasicBlockRef plain = cg_new_block(g, "plain"), flushed = cg_new_block(g, "flushed"),
                      on = cg_new_block(g, "on"), ends[2];
    LLVMValueRef quick = LLVMBuildAnd(g->b, series->coarse, is_coarse(g, old), ""), next[2];
    LLVMBuildCondBr(g->b, quick, plain, flushed);
    LLVMPositionBuilderAtEnd(g->b, plain);
    next[0] = run_series(g, a, old, series, true);
    ends[0] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, flushed);
    next[1] = run_series(g, a, old, series, false);
    ends[1] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    LLVMValueRef either = LLVMBuildPhi(g->b, a->type, "");
    LLVMAddIncoming(either, next, ends, 2);
    return either;
}

static void in_series(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef mask,
                      const struct cg_atomic_operands *operands)
{
    struct series series = {mask, operands, is_float_sum(a) && !operands->to, NULL};
    if (series.adds && a->inst->type[0] == MR_PTX_TYPE_F32 && !a->shared) {
        LLVMValueRef fine = cg_mask_bits(g, LLVMBuildNot(g->b, is_coarse(g, operands->b), ""));
        series.coarse = LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, fine, mask, ""), cg_mask_zero(g), "");
    }
    g->now.lanes = 1;
    cg_atomic_look_at(g, a, LLVMBuildPtrToInt(g->b, pointer, g->unit->i64, ""));
    if (a->shared) {
        LLVMValueRef old = LLVMBuildLoad2(g->b, a->type, pointer, "");
        LLVMSetAlignment(old, a->bytes);
        LLVMSetAlignment(LLVMBuildStore(g->b, after_series(g, a, old, &series), pointer), a->bytes);
    } else {
        cg_atomic_swap_loop(g, a, pointer, NULL, after_series, &series);
    }
    g->now.lanes = CG_LANES;
}

void cg_atomic_together(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef mask,
                        const struct cg_atomic_operands *operands)
{
    uint64_t neutral;
    if (!cg_fold_name(a->inst, &neutral)) {
        in_series(g, a, pointer, mask, operands);
    } else if (operands->to) {
        with_results(g, a, pointer, mask, operands, neutral);
    } else {
        LLVMValueRef folded = cg_fold_lanes(g, a->inst, operands->b, cg_mask_vector(g, mask));
        g->now.lanes = 1;
        cg_atomic_perform(g, a, pointer, folded, NULL, NULL);
        g->now.lanes = CG_LANES;
    }
}
