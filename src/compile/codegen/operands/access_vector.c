/* SPDX-License-Identifier: Apache-2.0 */

/* Accesses by scalars and by whole vectors: one for all lanes, or one for each row where a warp is several rows. Pairs
 * and quads of elements are loaded whole and shuffled. */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/record.h"
#include "compile/codegen/operands/access.h"
#include "compile/codegen/operands/operands.h"

void cg_load_uniform(struct cg *g, struct cg_access *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef pointer = cg_offset_pointer(g, a->address.base[0], (uint64_t)i * a->bytes);
        a->values[i] = LLVMBuildLoad2(g->b, a->element, pointer, "");
        LLVMSetAlignment(a->values[i], a->bytes);
        LLVMSetVolatile(a->values[i], a->strong);
        if (a->constant)
            cg_mark_invariant(g, a->values[i]);
    }
}

/* A row's lanes of the mask, every one repeated for each of its elements. */
static LLVMValueRef row_mask(struct cg *g, unsigned count, unsigned row)
{
    unsigned row_lanes = cg_row_lanes(g);
    if (count == 1 && g->flow.rows == 1)
        return g->now.exec_vector;
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    for (unsigned i = 0; i < row_lanes * count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, row * row_lanes + i / count, false);
    return LLVMBuildShuffleVector(g->b, g->now.exec_vector, LLVMGetPoison(LLVMTypeOf(g->now.exec_vector)),
                                  LLVMConstVector(lanes, row_lanes * count), "");
}

/* What has been read of each row, taken apart into elements. */
static void take_rows(struct cg *g, struct cg_access *a, LLVMValueRef *parts)
{
    LLVMValueRef all = cg_join(g, parts, g->flow.rows);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = a->count == 1 ? all : cg_shuffle_parts(g, all, a->count, i);
}

void cg_load_masked(struct cg *g, struct cg_access *a)
{
    LLVMTypeRef type = LLVMVectorType(a->element, cg_row_lanes(g) * a->count), types[2] = {type, g->unit->ptr};
    LLVMValueRef parts[CG_ROWS_MAX];
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef args[4] = {cg_pointer(g, a->address.base[row]), LLVMConstInt(g->unit->i32, a->bytes, false),
                                row_mask(g, a->count, row), LLVMGetPoison(type)};
        parts[row] = cg_intrinsic(g, "llvm.masked.load", types, 2, args, 4);
    }
    take_rows(g, a, parts);
}

/* The same where all lanes run. */
void cg_load_whole(struct cg *g, struct cg_access *a)
{
    LLVMTypeRef type = LLVMVectorType(a->element, cg_row_lanes(g) * a->count);
    LLVMValueRef parts[CG_ROWS_MAX];
    for (unsigned row = 0; row < g->flow.rows; row++) {
        parts[row] = LLVMBuildLoad2(g->b, type, cg_pointer(g, a->address.base[row]), "");
        LLVMSetAlignment(parts[row], a->bytes);
    }
    take_rows(g, a, parts);
}

/* A load in a loop asks for what it will read some rounds later, if its address goes on as it did. A warp that strides
 * over a whole grid's worth of memory in each round is never guessed right by the processor, since the block's other
 * warps, which read what lies between, have their turn only when this one is done. A wrong guess costs a few
 * instructions and doesn't fault. The memory is asked for in the cache's second level: strides are powers of two more
 * often than not, and eight rounds of such a stride are all that one place of the first level holds. Where warps take
 * turns at barriers in the loop, the next round is far enough, and the first level near enough. A loop over
 * the rows of a tile is done by then. It asks for what lies behind what it reads, where the next block's tile is. */
#define PREFETCH_ROUNDS 8
enum { TO_SECOND_LEVEL = 2, TO_FIRST_LEVEL = 3 }; /* LLVM's locality */

static LLVMValueRef address_before(struct cg *g)
{
    LLVMValueRef slot = cg_slot(g, g->unit->i64, "before");
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMBuildStore(g->b, LLVMConstInt(g->unit->i64, 0, false), slot);
    LLVMPositionBuilderAtEnd(g->b, at);
    cg_line_again(g);
    return slot;
}

/* Asks for the place that lies so far behind the one that is read. */
static void fetch_ahead(struct cg *g, const struct cg_access *a, LLVMValueRef step, unsigned locality)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef level = LLVMConstInt(i32, locality, false);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef ahead = LLVMBuildAdd(g->b, a->address.base[row], step, "");
        for (unsigned line = 0; line < cg_row_lanes(g) * a->bytes * a->count; line += 64) {
            LLVMValueRef args[4] = {cg_offset_pointer(g, ahead, line), LLVMConstInt(i32, 0, false), level,
                                    LLVMConstInt(i32, 1, false)};
            cg_intrinsic(g, "llvm.prefetch", &g->unit->ptr, 1, args, 4);
        }
    }
}

/* A load outside of loops asks for what the next block of threads will read. That is worth it where a block reads its
 * stretch of memory in several pieces: its warps have their turns one after the other, so each piece comes in parts,
 * and the processor does not see that they are one stream. */
#define PIECES 4

static void fetch_next_block(struct cg *g, const struct cg_access *a)
{
    const uint32_t *size = g->func->reqntid;
    const struct mr_ptx_operand *address = a->inst->operand_count > 1 ? &a->inst->operands[1] : NULL;
    if (!g->regs.block_steps || !address || address->kind != MR_PTX_OPERAND_REG_ADDRESS || !cg_is_far(a->inst))
        return; /* (the load of a copy has no operands) */
    int64_t step = g->regs.block_steps[address->reg];
    uint64_t piece = (uint64_t)size[0] * size[1] * size[2] * a->bytes * a->count;
    if (step < 0 || step >= MR_FLOW_BLOCK_STEP_ANY || (uint64_t)step < PIECES * piece)
        return;
    fetch_ahead(g, a, LLVMConstInt(g->unit->i64, (uint64_t)step, true), TO_SECOND_LEVEL);
}

void cg_load_prefetch(struct cg *g, const struct cg_access *a)
{
    LLVMTypeRef i64 = g->unit->i64;
    if (g->flow.blocks[g->now.at].loop == MR_FLOW_NONE) {
        fetch_next_block(g, a);
        return;
    }
    bool turns = cg_regions_turns_in_loop(g);
    if ((g->flow.rows > 1 && !turns) || !cg_is_far(a->inst) || g->flow.dispatched || (g->regions && g->launch.several))
        return; /* (where the warps of several blocks take turns, they read what lies side by side) */
    uint64_t rounds = turns ? 0 : g->flow.loops[g->flow.blocks[g->now.at].loop].rounds;
    if (rounds && rounds <= PREFETCH_ROUNDS) {
        uint64_t piece = (uint64_t)cg_row_lanes(g) * a->bytes * a->count;
        fetch_ahead(g, a, LLVMConstInt(i64, piece, false), TO_SECOND_LEVEL);
        return;
    }
    LLVMValueRef slot = cg_regions_step(g), here = a->address.base[0];
    if (!slot && turns)
        return;
    if (!slot)
        slot = address_before(g);
    LLVMValueRef step = LLVMBuildSub(g->b, here, LLVMBuildLoad2(g->b, i64, slot, ""), "");
    LLVMBuildStore(g->b, here, slot);
    step = LLVMBuildMul(g->b, step, LLVMConstInt(i64, turns ? 1 : PREFETCH_ROUNDS, false), "");
    fetch_ahead(g, a, step, turns ? TO_FIRST_LEVEL : TO_SECOND_LEVEL);
}

/* One address for all lanes of a row. Rows without a lane that runs read where the first other one does. */
void cg_load_by_row(struct cg *g, struct cg_access *a)
{
    unsigned rows = g->flow.rows;
    LLVMValueRef runs[CG_ROWS_MAX], from[CG_ROWS_MAX], other = NULL;
    for (unsigned row = rows; row-- > 0;) {
        runs[row] = cg_row_runs(g, row);
        from[row] = a->address.base[row];
        other = other ? LLVMBuildSelect(g->b, runs[row], from[row], other, "") : from[row];
    }
    for (unsigned row = 0; row < rows; row++)
        from[row] = LLVMBuildSelect(g->b, runs[row], from[row], other, "");
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef values[CG_ROWS_MAX];
        for (unsigned row = 0; row < rows; row++) {
            LLVMValueRef value =
                LLVMBuildLoad2(g->b, a->element, cg_offset_pointer(g, from[row], (uint64_t)i * a->bytes), "");
            LLVMSetAlignment(value, a->bytes);
            LLVMSetVolatile(value, a->strong);
            if (a->constant)
                cg_mark_invariant(g, value);
            values[row] = value;
        }
        a->values[i] = cg_row_spread(g, values);
    }
}

void cg_store_uniform(struct cg *g, struct cg_access *a)
{
    /* All lanes write to one place and any may win: the last one does. */
    LLVMTypeRef type = g->unit->mask;
    LLVMValueRef zeros =
        cg_intrinsic(g, "llvm.ctlz", &type, 1, (LLVMValueRef[]){g->now.exec, LLVMConstInt(g->unit->i1, 1, false)}, 2);
    LLVMValueRef last = LLVMBuildSub(g->b, LLVMConstInt(type, g->unit->width - 1, false), zeros, "");
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = a->values[i];
        if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
            value = LLVMBuildExtractElement(g->b, value, last, "");
        LLVMValueRef store =
            LLVMBuildStore(g->b, value, cg_offset_pointer(g, a->address.base[0], (uint64_t)i * a->bytes));
        LLVMSetAlignment(store, a->bytes);
        LLVMSetVolatile(store, a->strong);
    }
}

/* a0 b0 a1 b1 ... from the components. */
static LLVMValueRef interleave(struct cg *g, struct cg_access *a)
{
    if (a->count == 1)
        return a->values[0];
    LLVMValueRef lanes[CG_LANES_MAX * 8], parts[8] = {NULL};
    for (unsigned i = 0; i < a->count; i++)
        parts[i] = a->values[i];
    LLVMValueRef all = cg_join(g, parts, a->count);
    for (unsigned i = 0; i < g->unit->width * a->count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, (i % a->count) * g->unit->width + i / a->count, false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)),
                                  LLVMConstVector(lanes, g->unit->width * a->count), "");
}

/* The part of a store that belongs to a row. */
static LLVMValueRef row_part(struct cg *g, const struct cg_access *a, LLVMValueRef all, unsigned row)
{
    unsigned size = cg_row_lanes(g) * a->count;
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    if (g->flow.rows == 1)
        return all;
    for (unsigned i = 0; i < size; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, row * size + i, false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(lanes, size), "");
}

void cg_store_masked(struct cg *g, struct cg_access *a)
{
    LLVMTypeRef types[2] = {LLVMVectorType(a->element, cg_row_lanes(g) * a->count), g->unit->ptr};
    LLVMValueRef all = interleave(g, a);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef args[4] = {row_part(g, a, all, row), cg_pointer(g, a->address.base[row]),
                                LLVMConstInt(g->unit->i32, a->bytes, false), row_mask(g, a->count, row)};
        cg_intrinsic(g, "llvm.masked.store", types, 2, args, 4);
    }
}

void cg_store_whole(struct cg *g, struct cg_access *a)
{
    LLVMValueRef all = interleave(g, a);
    for (unsigned row = 0; row < g->flow.rows; row++)
        LLVMSetAlignment(LLVMBuildStore(g->b, row_part(g, a, all, row), cg_pointer(g, a->address.base[row])), a->bytes);
}
