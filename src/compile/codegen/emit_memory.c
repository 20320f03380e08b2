/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loads and stores. What an access becomes depends on how its address varies:
 *
 *   the same for all lanes     one scalar access
 *   stepping by its own size   one vector access under the mask (pairs and
 *                              quads of elements are loaded whole and shuffled),
 *                              one for each row where a warp is several rows;
 *                              where the processor has no masks for vectors, one
 *                              without a mask if all lanes run
 *   the same within each row   loads: a scalar for each row
 *   stepping by what only the  a test of that step, and the way for its own size
 *   running code knows         if it turns out to be that
 *   anything else              a gather or scatter, or a loop over the lanes
 *                              where the processor has none of that width;
 *                              in global memory only if the addresses turn out
 *                              not to step by the access's size
 *
 * A stepping address that was widened from 32 bits steps only if no lane
 * overflowed on the way; that is tested when the code runs, and the other way
 * is taken if one did.
 *
 * A vector that is stronger than weak moves as one, lane by lane: programs pass a
 * value and its status in one (CUB's scans do), and count on nobody seeing half of it.
 *
 * Anything stronger than a weak access is fenced off from the compiler's own
 * reordering; acquire and release get the processor's fence too. A uniform
 * access is volatile then, so that each round of a polling loop looks again.
 */
#include "compile/codegen/emit_regions.h"
#include "compile/codegen/lines.h"
#include "compile/codegen/parameters.h"
#include "compile/codegen/stepped.h"

struct access {
    const struct mr_ptx_inst *inst;
    LLVMTypeRef element; /* in memory */
    unsigned bytes;      /* of one element */
    unsigned count;      /* elements per lane */
    struct cg_address address;
    struct cg_stepped stepped; /* in place of the address, if `steps` */
    bool steps;
    bool strong, constant;
    LLVMValueRef values[8]; /* a component each; loads: results */
};

static bool is_strong(const struct mr_ptx_inst *inst)
{
    return (inst->semantics != MR_PTX_SEM_NONE && inst->semantics != MR_PTX_SEM_WEAK)
        || inst->cache == MR_PTX_CACHE_CV;
}

static void compiler_fence(struct cg *g)
{
    LLVMBuildFence(g->b, LLVMAtomicOrderingAcquireRelease, true, "");
}

static LLVMValueRef offset_pointer(struct cg *g, LLVMValueRef address, uint64_t offset)
{
    if (offset)
        address = LLVMBuildAdd(g->b, address, LLVMConstInt(g->unit->i64, offset, false), "");
    return cg_pointer(g, address);
}

static LLVMValueRef splat_offset(struct cg *g, LLVMValueRef vector, uint64_t offset)
{
    if (!offset)
        return vector;
    return LLVMBuildAdd(g->b, vector, cg_splat(g, LLVMConstInt(g->unit->i64, offset, false)), "");
}

static void load_uniform(struct cg *g, struct access *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef pointer = offset_pointer(g, a->address.base[0], (uint64_t)i * a->bytes);
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
        return g->exec_vector;
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    for (unsigned i = 0; i < row_lanes * count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, row * row_lanes + i / count, false);
    return LLVMBuildShuffleVector(g->b, g->exec_vector, LLVMGetPoison(LLVMTypeOf(g->exec_vector)),
                                  LLVMConstVector(lanes, row_lanes * count), "");
}

LLVMValueRef cg_join(struct cg *g, LLVMValueRef *parts, unsigned count)
{
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    for (; count > 1; count /= 2) {
        unsigned size = LLVMGetVectorSize(LLVMTypeOf(parts[0]));
        for (unsigned i = 0; i < 2 * size; i++)
            lanes[i] = LLVMConstInt(g->unit->i32, i, false);
        for (unsigned i = 0; i < count / 2; i++)
            parts[i] = LLVMBuildShuffleVector(g->b, parts[2 * i], parts[2 * i + 1], LLVMConstVector(lanes, 2 * size), "");
    }
    return parts[0];
}

/* What has been read of each row, taken apart into elements. */
static void take_rows(struct cg *g, struct access *a, LLVMValueRef *parts)
{
    LLVMValueRef all = cg_join(g, parts, g->flow.rows);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = a->count == 1 ? all : cg_shuffle_parts(g, all, a->count, i);
}

static void load_masked(struct cg *g, struct access *a)
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
static void load_whole(struct cg *g, struct access *a)
{
    LLVMTypeRef type = LLVMVectorType(a->element, cg_row_lanes(g) * a->count);
    LLVMValueRef parts[CG_ROWS_MAX];
    for (unsigned row = 0; row < g->flow.rows; row++) {
        parts[row] = LLVMBuildLoad2(g->b, type, cg_pointer(g, a->address.base[row]), "");
        LLVMSetAlignment(parts[row], a->bytes);
    }
    take_rows(g, a, parts);
}

/* A load in a loop asks for what it will read some rounds later, if its address goes on as it did. A warp that strides over a whole grid's
 * worth of memory in each round is never guessed right by the processor, since the block's other warps, which read what lies between, have their turn
 * only when this one is done. A wrong guess costs a few instructions and doesn't fault. The memory is asked for in the cache's second level: strides are
 * powers of two more often than not, and eight rounds of such a stride are all that one place of the first level holds.
 * Where warps take turns at barriers in the loop, the next round is far enough, and the first level near enough. */
#define PREFETCH_ROUNDS 8
enum { TO_SECOND_LEVEL = 2, TO_FIRST_LEVEL = 3 }; /* LLVM's locality */

static LLVMValueRef address_before(struct cg *g)
{
    LLVMValueRef slot = cg_slot(g, g->unit->i64, "before");
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue_end);
    LLVMBuildStore(g->b, LLVMConstInt(g->unit->i64, 0, false), slot);
    LLVMPositionBuilderAtEnd(g->b, at);
    cg_line_again(g);
    return slot;
}

static void load_prefetch(struct cg *g, const struct access *a)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64;
    bool global = a->inst->space == MR_PTX_SPACE_GLOBAL || a->inst->space == MR_PTX_SPACE_GENERIC, turns = cg_regions_turns_in_loop(g);
    if ((g->flow.rows > 1 && !turns) || !global || g->flow.dispatched || g->flow.blocks[g->at].loop == MR_FLOW_NONE || (g->regions && g->blocks))
        return; /* (where the warps of several blocks take turns, they read what lies side by side) */
    LLVMValueRef slot = cg_regions_step(g), here = a->address.base[0];
    if (!slot && turns)
        return;
    if (!slot)
        slot = address_before(g);
    LLVMValueRef step = LLVMBuildSub(g->b, here, LLVMBuildLoad2(g->b, i64, slot, ""), "");
    LLVMBuildStore(g->b, here, slot);
    step = LLVMBuildMul(g->b, step, LLVMConstInt(i64, turns ? 1 : PREFETCH_ROUNDS, false), "");
    LLVMValueRef level = LLVMConstInt(i32, turns ? TO_FIRST_LEVEL : TO_SECOND_LEVEL, false);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef ahead = LLVMBuildAdd(g->b, a->address.base[row], step, "");
        for (unsigned line = 0; line < cg_row_lanes(g) * a->bytes * a->count; line += 64) {
            LLVMValueRef args[4] = {offset_pointer(g, ahead, line), LLVMConstInt(i32, 0, false), level, LLVMConstInt(i32, 1, false)};
            cg_intrinsic(g, "llvm.prefetch", &g->unit->ptr, 1, args, 4);
        }
    }
}

/* One address for all lanes of a row. Rows without a lane that runs read where the first other one does. */
static void load_by_row(struct cg *g, struct access *a)
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
            LLVMValueRef value = LLVMBuildLoad2(g->b, a->element, offset_pointer(g, from[row], (uint64_t)i * a->bytes), "");
            LLVMSetAlignment(value, a->bytes);
            LLVMSetVolatile(value, a->strong);
            if (a->constant)
                cg_mark_invariant(g, value);
            values[row] = value;
        }
        a->values[i] = cg_row_spread(g, values);
    }
}

static bool has_gather(const struct cg *g, const struct access *a)
{
    return g->unit->wide && a->bytes >= 4;
}

static LLVMValueRef lane_pointer(struct cg *g, LLVMValueRef slot, LLVMTypeRef element, LLVMValueRef lane)
{
    return LLVMBuildGEP2(g->b, element, slot, &lane, 1, "");
}

/* The address of one lane of a stepping address: for the rare case that lanes overflowed or don't run, kept short. */
static LLVMValueRef stepping_address(struct cg *g, const struct cg_address *address, LLVMValueRef lane)
{
    LLVMTypeRef i64 = g->unit->i64;
    bool wraps = address->c.wrap != 0;
    LLVMValueRef base = address->base[0], brk = wraps ? address->brk[0] : NULL;
    if (g->flow.rows > 1) {
        LLVMValueRef row = LLVMBuildUDiv(g->b, lane, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        lane = LLVMBuildURem(g->b, lane, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        for (unsigned i = 1; i < g->flow.rows; i++) {
            LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntEQ, row, LLVMConstInt(g->unit->i32, i, false), "");
            base = LLVMBuildSelect(g->b, is, address->base[i], base, "");
            brk = wraps ? LLVMBuildSelect(g->b, is, address->brk[i], brk, "") : NULL;
        }
    }
    LLVMValueRef wide = LLVMBuildZExt(g->b, lane, i64, "");
    LLVMValueRef step = LLVMBuildMul(g->b, wide, LLVMConstInt(i64, (uint64_t)address->c.stride, true), "");
    if (!wraps)
        return LLVMBuildAdd(g->b, base, step, "");
    LLVMValueRef past = LLVMBuildICmp(g->b, LLVMIntUGE, lane, brk, "");
    LLVMValueRef wrap = LLVMBuildSelect(g->b, past, LLVMConstInt(i64, (uint64_t)address->c.wrap, true),
                                        LLVMConstInt(i64, 0, false), "");
    return LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, base, step, ""), wrap, "");
}

static void load_stepwise(struct cg *g, struct access *a)
{
    LLVMValueRef to[8];
    for (unsigned i = 0; i < a->count; i++)
        to[i] = cg_scratch(g, a->element);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    LLVMValueRef address = stepping_address(g, &a->address, loop.lane);
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(g->b, a->element, offset_pointer(g, address, (uint64_t)i * a->bytes), "");
        LLVMSetAlignment(value, a->bytes);
        LLVMBuildStore(g->b, value, lane_pointer(g, to[i], a->element, loop.lane));
    }
    cg_lane_loop_end(g, &loop);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = LLVMBuildLoad2(g->b, LLVMVectorType(a->element, g->unit->width), to[i], "");
}

static void load_scattered(struct cg *g, struct access *a)
{
    LLVMValueRef addresses = cg_address_vector(g, &a->address);
    LLVMTypeRef type = LLVMVectorType(a->element, g->unit->width);
    if (has_gather(g, a)) {
        LLVMTypeRef types[2] = {type, LLVMVectorType(g->unit->ptr, g->unit->width)};
        for (unsigned i = 0; i < a->count; i++) {
            LLVMValueRef args[4] = {cg_pointer(g, splat_offset(g, addresses, (uint64_t)i * a->bytes)),
                                    LLVMConstInt(g->unit->i32, a->bytes, false), g->exec_vector, LLVMGetPoison(type)};
            a->values[i] = cg_intrinsic(g, "llvm.masked.gather", types, 2, args, 4);
        }
        return;
    }
    LLVMValueRef from = cg_scratch(g, g->unit->i64), to[8];
    LLVMBuildStore(g->b, addresses, from);
    for (unsigned i = 0; i < a->count; i++)
        to[i] = cg_scratch(g, a->element);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    LLVMValueRef address = LLVMBuildLoad2(g->b, g->unit->i64, lane_pointer(g, from, g->unit->i64, loop.lane), "");
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(g->b, a->element, offset_pointer(g, address, (uint64_t)i * a->bytes), "");
        LLVMSetAlignment(value, a->bytes);
        LLVMBuildStore(g->b, value, lane_pointer(g, to[i], a->element, loop.lane));
    }
    cg_lane_loop_end(g, &loop);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = LLVMBuildLoad2(g->b, type, to[i], "");
}

static void store_uniform(struct cg *g, struct access *a)
{
    /* All lanes write to one place and any may win: the last one does. */
    LLVMTypeRef type = g->unit->mask;
    LLVMValueRef zeros = cg_intrinsic(g, "llvm.ctlz", &type, 1,
                                      (LLVMValueRef[]){g->exec, LLVMConstInt(g->unit->i1, 1, false)}, 2);
    LLVMValueRef last = LLVMBuildSub(g->b, LLVMConstInt(type, g->unit->width - 1, false), zeros, "");
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = a->values[i];
        if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
            value = LLVMBuildExtractElement(g->b, value, last, "");
        LLVMValueRef store = LLVMBuildStore(g->b, value, offset_pointer(g, a->address.base[0], (uint64_t)i * a->bytes));
        LLVMSetAlignment(store, a->bytes);
        LLVMSetVolatile(store, a->strong);
    }
}

/* a0 b0 a1 b1 ... from the components. */
static LLVMValueRef interleave(struct cg *g, struct access *a)
{
    if (a->count == 1)
        return a->values[0];
    LLVMValueRef lanes[CG_LANES_MAX * 8], parts[8] = {NULL};
    for (unsigned i = 0; i < a->count; i++)
        parts[i] = a->values[i];
    LLVMValueRef all = cg_join(g, parts, a->count);
    for (unsigned i = 0; i < g->unit->width * a->count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, (i % a->count) * g->unit->width + i / a->count, false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(lanes, g->unit->width * a->count), "");
}

/* The part of a store that belongs to a row. */
static LLVMValueRef row_part(struct cg *g, const struct access *a, LLVMValueRef all, unsigned row)
{
    unsigned size = cg_row_lanes(g) * a->count;
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    if (g->flow.rows == 1)
        return all;
    for (unsigned i = 0; i < size; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, row * size + i, false);
    return LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(lanes, size), "");
}

static void store_masked(struct cg *g, struct access *a)
{
    LLVMTypeRef types[2] = {LLVMVectorType(a->element, cg_row_lanes(g) * a->count), g->unit->ptr};
    LLVMValueRef all = interleave(g, a);
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef args[4] = {row_part(g, a, all, row), cg_pointer(g, a->address.base[row]), LLVMConstInt(g->unit->i32, a->bytes, false),
                                row_mask(g, a->count, row)};
        cg_intrinsic(g, "llvm.masked.store", types, 2, args, 4);
    }
}

static void store_whole(struct cg *g, struct access *a)
{
    LLVMValueRef all = interleave(g, a);
    for (unsigned row = 0; row < g->flow.rows; row++)
        LLVMSetAlignment(LLVMBuildStore(g->b, row_part(g, a, all, row), cg_pointer(g, a->address.base[row])), a->bytes);
}

static void store_stepwise(struct cg *g, struct access *a)
{
    LLVMValueRef from[8];
    for (unsigned i = 0; i < a->count; i++) {
        from[i] = cg_scratch(g, a->element);
        LLVMBuildStore(g->b, a->values[i], from[i]);
    }
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    LLVMValueRef address = stepping_address(g, &a->address, loop.lane);
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(g->b, a->element, lane_pointer(g, from[i], a->element, loop.lane), "");
        LLVMSetAlignment(LLVMBuildStore(g->b, value, offset_pointer(g, address, (uint64_t)i * a->bytes)), a->bytes);
    }
    cg_lane_loop_end(g, &loop);
}

static void store_scattered(struct cg *g, struct access *a)
{
    LLVMValueRef addresses = cg_address_vector(g, &a->address);
    if (has_gather(g, a)) {
        LLVMTypeRef types[2] = {LLVMVectorType(a->element, g->unit->width), LLVMVectorType(g->unit->ptr, g->unit->width)};
        for (unsigned i = 0; i < a->count; i++) {
            LLVMValueRef args[4] = {a->values[i], cg_pointer(g, splat_offset(g, addresses, (uint64_t)i * a->bytes)),
                                    LLVMConstInt(g->unit->i32, a->bytes, false), g->exec_vector};
            cg_intrinsic(g, "llvm.masked.scatter", types, 2, args, 4);
        }
        return;
    }
    LLVMValueRef to = cg_scratch(g, g->unit->i64), from[8];
    LLVMBuildStore(g->b, addresses, to);
    for (unsigned i = 0; i < a->count; i++) {
        from[i] = cg_scratch(g, a->element);
        LLVMBuildStore(g->b, a->values[i], from[i]);
    }
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    LLVMValueRef address = LLVMBuildLoad2(g->b, g->unit->i64, lane_pointer(g, to, g->unit->i64, loop.lane), "");
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(g->b, a->element, lane_pointer(g, from[i], a->element, loop.lane), "");
        LLVMValueRef store = LLVMBuildStore(g->b, value, offset_pointer(g, address, (uint64_t)i * a->bytes));
        LLVMSetAlignment(store, a->bytes);
    }
    cg_lane_loop_end(g, &loop);
}

typedef void access_way(struct cg *g, struct access *a);

/* Behind the first way, which is written already: the other one in the block `slow`; both go on in `on`. */
static void join_ways(struct cg *g, struct access *a, struct access *other, bool is_load, access_way *way, LLVMBasicBlockRef slow, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef fast = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, slow);
    way(g, other);
    slow = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    for (unsigned i = 0; is_load && i < a->count; i++) {
        LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(a->values[i]), "");
        LLVMAddIncoming(phi, (LLVMValueRef[]){a->values[i], other->values[i]}, (LLVMBasicBlockRef[]){fast, slow}, 2);
        a->values[i] = phi;
    }
}

/* Without AVX-512, masks are made element by element, a store under one costs as much as twenty others, and bytes have none at all. With it, AMD's fifth
 * EPYCs fetch nothing ahead for loads under a mask. So what follows asks whether all lanes run, which they mostly do. */
static void by_mask(struct cg *g, struct access *a, bool is_load, access_way *whole, access_way *masked, access_way *stepwise)
{
    bool far = a->inst->space == MR_PTX_SPACE_GLOBAL || a->inst->space == MR_PTX_SPACE_GENERIC;
    if (g->unit->wide && !(is_load && far)) {
        masked(g, a);
        return;
    }
    LLVMBasicBlockRef fast = cg_new_block(g, "whole"), slow = cg_new_block(g, "part"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, g->exec, LLVMConstAllOnes(g->unit->mask), ""), fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct access other = *a;
    whole(g, a);
    join_ways(g, a, &other, is_load, a->bytes < 4 ? stepwise : masked, slow, on);
}

static void load_contiguous(struct cg *g, struct access *a)
{
    by_mask(g, a, true, load_whole, load_masked, load_stepwise);
}

static void store_contiguous(struct cg *g, struct access *a)
{
    by_mask(g, a, false, store_whole, store_masked, store_stepwise);
}

/* The steady way if no lane is past the break, else lane by lane. */
static void either_way(struct cg *g, struct access *a, bool is_load, access_way *steady, access_way *scattered)
{
    if (!a->address.c.wrap) {
        steady(g, a);
        return;
    }
    LLVMBasicBlockRef fast = cg_new_block(g, "steady"), slow = cg_new_block(g, "scattered"), on = cg_new_block(g, "on");
    LLVMValueRef whole = NULL;
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef one = LLVMBuildICmp(g->b, LLVMIntUGE, a->address.brk[row], LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        whole = whole ? LLVMBuildAnd(g->b, whole, one, "") : one;
    }
    LLVMBuildCondBr(g->b, whole, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct access other = *a;
    steady(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* Nobody could tell whether the addresses step by the access's size, but they often do: kernels take the strides of arrays as parameters (CuPy's and Numba's
 * all do). So that is tested when the code runs. What lanes that don't run hold doesn't count, but the first lane's is what the others are compared with. */
static bool may_be_contiguous(const struct cg *g, const struct access *a)
{
    bool global = a->inst->space == MR_PTX_SPACE_GLOBAL || a->inst->space == MR_PTX_SPACE_GENERIC;
    return global && a->address.c.kind == MR_CLASS_VARYING && g->flow.rows == 1 && !g->flow.dispatched;
}

static void tested_way(struct cg *g, struct access *a, bool is_load, access_way *contiguous, access_way *scattered)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef addresses = cg_address_vector(g, &a->address), steps[CG_LANES_MAX];
    LLVMValueRef first = LLVMBuildExtractElement(g->b, addresses, LLVMConstInt(g->unit->i32, 0, false), "");
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        steps[lane] = LLVMConstInt(i64, (uint64_t)lane * a->bytes * a->count, false);
    LLVMValueRef expected = LLVMBuildAdd(g->b, cg_splat(g, first), LLVMConstVector(steps, g->unit->width), "");
    LLVMValueRef strays = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntNE, addresses, expected, ""), g->exec_vector, "");
    LLVMValueRef none = LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildBitCast(g->b, strays, g->unit->mask, ""), LLVMConstInt(g->unit->mask, 0, false), "");
    LLVMBasicBlockRef fast = cg_new_block(g, "together"), slow = cg_new_block(g, "scattered"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, none, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct access other = *a;
    a->address = (struct cg_address){.c = {.kind = MR_CLASS_AFFINE, .stride = (int64_t)a->bytes * a->count}, .base = {first}};
    contiguous(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* A step that the running code knows. */
static void stepped_way(struct cg *g, struct access *a, bool is_load, access_way *contiguous, access_way *scattered)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef steady = LLVMBuildICmp(g->b, LLVMIntEQ, a->stepped.step, LLVMConstInt(i64, (uint64_t)a->bytes * a->count, false), "");
    LLVMValueRef even = cg_stepped_evenly(g, &a->stepped);
    if (even)
        steady = LLVMBuildAnd(g->b, steady, even, "");
    LLVMBasicBlockRef fast = cg_new_block(g, "together"), slow = cg_new_block(g, "scattered"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, steady, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, slow);
    struct access other = *a;
    struct cg_stepped rare = cg_stepped_rarely(g, &a->stepped);
    other.address = (struct cg_address){.c = {.kind = MR_CLASS_VARYING}, .vector = cg_stepped_vector(g, &rare, i64)};
    slow = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderAtEnd(g->b, fast);
    a->address = (struct cg_address){.c = {.kind = MR_CLASS_AFFINE, .stride = (int64_t)a->bytes * a->count}, .base = {a->stepped.base}};
    contiguous(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* If the first lane's address and the step have no low bits, no lane's has; else they are looked at. */
static void check_stepped_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct access *a)
{
    uint64_t size = (uint64_t)a->bytes * a->count;
    if (size == 1)
        return;
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef low = LLVMBuildAnd(g->b, LLVMBuildOr(g->b, a->stepped.base, a->stepped.step, ""), LLVMConstInt(i64, size - 1, false), "");
    LLVMBasicBlockRef look = cg_new_block(g, "look"), on = cg_new_block(g, "on");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, low, LLVMConstInt(i64, 0, false), ""), look, on));
    LLVMPositionBuilderAtEnd(g->b, look);
    struct cg_stepped rare = cg_stepped_rarely(g, &a->stepped);
    struct cg_address address = {.c = {.kind = MR_CLASS_VARYING}, .vector = cg_stepped_vector(g, &rare, i64)};
    cg_check_alignment(g, operand, &address, size);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

static bool is_contiguous(const struct access *a)
{
    return a->address.c.kind == MR_CLASS_AFFINE && a->address.c.stride == (int64_t)a->bytes * a->count;
}

/* Whether all of a lane's elements have to move at once: where other threads of the host may look. `.cg` is how it was asked for before there were orders. */
static bool is_undivided(const struct access *a)
{
    unsigned bytes = a->count * a->bytes;
    bool far = a->inst->space == MR_PTX_SPACE_GLOBAL || a->inst->space == MR_PTX_SPACE_GENERIC;
    return far && a->count > 1 && (bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) && (a->strong || a->inst->cache == MR_PTX_CACHE_CG);
}

/* What the processor moves at once: an integer, or a vector of 16 bytes (two registers, if it were an integer). */
static LLVMTypeRef undivided_type(struct cg *g, const struct access *a)
{
    unsigned bytes = a->count * a->bytes;
    return bytes == 16 ? LLVMVectorType(g->unit->i64, 2) : LLVMIntTypeInContext(g->unit->context, bytes * 8);
}

static void read_undivided(struct cg *g, const struct access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    LLVMValueRef whole = LLVMBuildLoad2(g->b, undivided_type(g, a), cg_pointer(g, address), "");
    LLVMSetAlignment(whole, a->count * a->bytes);
    LLVMSetVolatile(whole, true);
    whole = LLVMBuildBitCast(g->b, whole, LLVMVectorType(a->element, a->count), "");
    for (unsigned i = 0; i < a->count; i++)
        elements[i] = LLVMBuildExtractElement(g->b, whole, LLVMConstInt(g->unit->i32, i, false), "");
}

static void write_undivided(struct cg *g, const struct access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    LLVMValueRef whole = LLVMGetPoison(LLVMVectorType(a->element, a->count));
    for (unsigned i = 0; i < a->count; i++)
        whole = LLVMBuildInsertElement(g->b, whole, elements[i], LLVMConstInt(g->unit->i32, i, false), "");
    LLVMValueRef store = LLVMBuildStore(g->b, LLVMBuildBitCast(g->b, whole, undivided_type(g, a), ""), cg_pointer(g, address));
    LLVMSetAlignment(store, a->count * a->bytes);
    LLVMSetVolatile(store, true);
}

/* The lanes' addresses in memory, for a loop over lanes. */
static LLVMValueRef addresses_by_lane(struct cg *g, struct access *a)
{
    LLVMValueRef all = a->steps ? cg_stepped_vector(g, &a->stepped, g->unit->i64) : cg_address_vector(g, &a->address), slot = cg_scratch(g, g->unit->i64);
    LLVMBuildStore(g->b, all, slot);
    return slot;
}

static bool is_uniform(const struct access *a)
{
    return !a->steps && a->address.c.kind == MR_CLASS_UNIFORM;
}

static void load_undivided(struct cg *g, struct access *a)
{
    LLVMValueRef to[8], elements[8];
    if (is_uniform(a)) {
        read_undivided(g, a, a->address.base[0], a->values);
        return;
    }
    LLVMValueRef from = addresses_by_lane(g, a);
    for (unsigned i = 0; i < a->count; i++)
        to[i] = cg_scratch(g, a->element);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    read_undivided(g, a, LLVMBuildLoad2(g->b, g->unit->i64, lane_pointer(g, from, g->unit->i64, loop.lane), ""), elements);
    for (unsigned i = 0; i < a->count; i++)
        LLVMBuildStore(g->b, elements[i], lane_pointer(g, to[i], a->element, loop.lane));
    cg_lane_loop_end(g, &loop);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = LLVMBuildLoad2(g->b, LLVMVectorType(a->element, g->unit->width), to[i], "");
}

static void store_undivided(struct cg *g, struct access *a)
{
    LLVMValueRef from[8], elements[8];
    LLVMValueRef to = is_uniform(a) ? NULL : addresses_by_lane(g, a);
    for (unsigned i = 0; i < a->count; i++) {
        from[i] = cg_scratch(g, a->element);
        LLVMBuildStore(g->b, a->values[i], from[i]);
    }
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->exec, &loop);
    for (unsigned i = 0; i < a->count; i++)
        elements[i] = LLVMBuildLoad2(g->b, a->element, lane_pointer(g, from[i], a->element, loop.lane), "");
    write_undivided(g, a, to ? LLVMBuildLoad2(g->b, g->unit->i64, lane_pointer(g, to, g->unit->i64, loop.lane), "") : a->address.base[0], elements);
    cg_lane_loop_end(g, &loop);
}

static void do_load(struct cg *g, struct access *a)
{
    if (is_undivided(a))
        load_undivided(g, a);
    else if (a->steps)
        stepped_way(g, a, true, load_contiguous, load_scattered);
    else if (a->address.c.kind == MR_CLASS_UNIFORM)
        load_uniform(g, a);
    else if (is_contiguous(a)) {
        load_prefetch(g, a);
        either_way(g, a, true, load_contiguous, load_stepwise);
    }
    else if (a->address.c.kind == MR_CLASS_AFFINE && !a->address.c.stride && !a->address.c.wrap)
        load_by_row(g, a);
    else if (may_be_contiguous(g, a))
        tested_way(g, a, true, load_contiguous, load_scattered);
    else
        load_scattered(g, a);
}

static void do_store(struct cg *g, struct access *a)
{
    if (is_uniform(a) && !is_undivided(a)) {
        store_uniform(g, a);
        return;
    }
    for (unsigned i = 0; i < a->count; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(a->values[i])) != LLVMVectorTypeKind)
            a->values[i] = cg_splat(g, a->values[i]);
    if (is_undivided(a))
        store_undivided(g, a);
    else if (a->steps)
        stepped_way(g, a, false, store_contiguous, store_scattered);
    else if (is_contiguous(a))
        either_way(g, a, false, store_contiguous, store_stepwise);
    else if (may_be_contiguous(g, a))
        tested_way(g, a, false, store_contiguous, store_scattered);
    else
        store_scattered(g, a);
}

static const struct mr_ptx_operand *component(const struct mr_ptx_operand *operand, unsigned index)
{
    return operand->kind == MR_PTX_OPERAND_VECTOR ? &operand->elements[index] : operand;
}

/* A scalar parameter of a function or call is 32 lanes of one number, not memory with a stride. */
static bool is_lane_parameter(const struct mr_ptx_operand *address)
{
    if (address->kind != MR_PTX_OPERAND_SYMBOL_ADDRESS)
        return false;
    const struct mr_ptx_var *var = address->var;
    return var->space == MR_PTX_SPACE_PARAM && mr_flow_is_per_lane(var) && !var->is_array && var->vector <= 1;
}

static void lane_parameter(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *address, bool is_load)
{
    const struct mr_ptx_var *var = address->var;
    unsigned whole = (unsigned)var->size * 8, bits = mr_ptx_type_bits(inst->type[0]);
    unsigned count = inst->vector ? inst->vector : 1;
    LLVMTypeRef type = cg_int_type(g, whole), part = cg_int_type(g, bits);
    LLVMValueRef slot = *cg_var_slot(g, var);
    g->lanes = g->unit->width;
    LLVMValueRef all = LLVMBuildLoad2(g->b, LLVMVectorType(type, g->unit->width), slot, ""), old = all;
    for (unsigned i = 0; i < count; i++) {
        uint64_t shift = ((uint64_t)address->value + (uint64_t)i * (bits / 8)) * 8;
        if (shift + bits > whole) {
            cg_fail(g->unit, inst, "an access outside a parameter");
            return;
        }
        if (is_load) {
            LLVMValueRef value = shift ? LLVMBuildLShr(g->b, all, cg_int(g, type, shift), "") : all;
            cg_write_extended(g, component(&inst->operands[0], i), cg_resize(g, value, part, false),
                              mr_ptx_type_class(inst->type[0]) == 'S');
            continue;
        }
        LLVMValueRef value = cg_resize(g, cg_source(g, component(&inst->operands[1], i), part), type, false);
        if (bits == whole) {
            all = value;
            continue;
        }
        uint64_t hole = ~((bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) << shift);
        value = LLVMBuildShl(g->b, value, cg_int(g, type, shift), "");
        all = LLVMBuildOr(g->b, LLVMBuildAnd(g->b, all, cg_int(g, type, hole), ""), value, "");
    }
    if (!is_load)
        LLVMBuildStore(g->b, LLVMBuildSelect(g->b, g->exec_vector, all, old, ""), slot);
}

LLVMTypeRef cg_memory_type(struct cg *g, unsigned type)
{
    if (type == MR_PTX_TYPE_F32)
        return g->unit->f32;
    return type == MR_PTX_TYPE_F64 ? g->unit->f64 : cg_int_type(g, mr_ptx_type_bytes(type) * 8);
}

static void fence_for(struct cg *g, const struct mr_ptx_inst *inst, bool before)
{
    if (!is_strong(inst))
        return;
    if (before ? inst->semantics == MR_PTX_SEM_RELEASE : inst->semantics == MR_PTX_SEM_ACQUIRE)
        LLVMBuildFence(g->b, before ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire, false, "");
    else
        compiler_fence(g);
}

static void take_address(struct cg *g, const struct mr_ptx_operand *operand, struct access *a)
{
    bool global = a->inst->space == MR_PTX_SPACE_GLOBAL || a->inst->space == MR_PTX_SPACE_GENERIC;
    a->steps = global && cg_stepped_address(g, operand, &a->stepped);
    if (a->steps) {
        check_stepped_alignment(g, operand, a);
        return;
    }
    cg_address(g, operand, a->inst->space, &a->address);
    cg_check_alignment(g, operand, &a->address, (uint64_t)a->bytes * a->count);
}

/* 128 bits are two halves of 64. */
static void emit_quad(struct cg *g, const struct mr_ptx_inst *inst, bool is_load)
{
    struct access a = {.inst = inst, .element = g->unit->i64, .bytes = 8, .count = 2, .strong = is_strong(inst)};
    LLVMTypeRef whole = cg_int_type(g, 128);
    take_address(g, &inst->operands[is_load ? 1 : 0], &a);
    if (is_load) {
        do_load(g, &a);
        LLVMValueRef high = cg_resize(g, a.values[1], whole, false);
        unsigned lanes = g->lanes;
        g->lanes = LLVMGetTypeKind(LLVMTypeOf(high)) == LLVMVectorTypeKind ? g->unit->width : 1;
        high = LLVMBuildShl(g->b, high, cg_int(g, whole, 64), "");
        cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, high, cg_resize(g, a.values[0], whole, false), ""));
        g->lanes = lanes;
        return;
    }
    g->lanes = g->unit->width;
    LLVMValueRef value = cg_source(g, &inst->operands[1], whole);
    a.values[0] = cg_resize(g, value, g->unit->i64, false);
    a.values[1] = cg_resize(g, LLVMBuildLShr(g->b, value, cg_int(g, whole, 64), ""), g->unit->i64, false);
    do_store(g, &a);
}

static struct access plain_access(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *address)
{
    struct access a = {.inst = inst, .element = cg_memory_type(g, inst->type[0]), .bytes = mr_ptx_type_bytes(inst->type[0]),
                       .count = inst->vector ? inst->vector : 1, .strong = is_strong(inst),
                       .constant = inst->space == MR_PTX_SPACE_CONST};
    take_address(g, address, &a);
    return a;
}

static void emit_load(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *address = &inst->operands[1];
    if (is_lane_parameter(address)) {
        lane_parameter(g, inst, address, true);
        return;
    }
    if (cg_emit_parameter_load(g, inst))
        return;
    struct access a = plain_access(g, inst, address);
    do_load(g, &a);
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    for (unsigned i = 0; i < a.count; i++) {
        const struct mr_ptx_operand *to = component(&inst->operands[0], i);
        if (to->kind != MR_PTX_OPERAND_SINK)
            cg_write_extended(g, to, a.values[i], sign);
    }
}

static void emit_store(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *address = &inst->operands[0];
    if (is_lane_parameter(address)) {
        lane_parameter(g, inst, address, false);
        return;
    }
    struct access a = plain_access(g, inst, address);
    for (unsigned i = 0; i < a.count; i++) {
        const struct mr_ptx_operand *from = component(&inst->operands[1], i);
        g->lanes = mr_flow_operand_class(&g->flow, from).kind == MR_CLASS_UNIFORM ? 1 : g->unit->width;
        a.values[i] = cg_source(g, from, a.element);
    }
    g->lanes = g->unit->width;
    do_store(g, &a);
}

void cg_emit_copy(struct cg *g, const struct mr_ptx_inst *inst, unsigned bytes)
{
    struct mr_ptx_inst load = {.op = MR_PTX_OP_LD, .space = inst->space2, .line = inst->line, .column = inst->column}, store = load;
    store.op = MR_PTX_OP_ST;
    store.space = inst->space;
    struct access from = {.inst = &load, .element = g->unit->i32, .bytes = 4, .count = bytes / 4}, to = from;
    to.inst = &store;
    take_address(g, &inst->operands[0], &to);
    take_address(g, &inst->operands[1], &from);
    do_load(g, &from);
    for (unsigned i = 0; i < to.count; i++)
        to.values[i] = from.values[i];
    do_store(g, &to);
}

bool cg_emit_memory(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool is_load = inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_LDU;
    switch (inst->op) {
    case MR_PTX_OP_LD: case MR_PTX_OP_LDU: case MR_PTX_OP_ST:
        fence_for(g, inst, true);
        if (inst->type[0] == MR_PTX_TYPE_B128)
            emit_quad(g, inst, is_load);
        else if (is_load)
            emit_load(g, inst);
        else
            emit_store(g, inst);
        fence_for(g, inst, false);
        return true;
    case MR_PTX_OP_MEMBAR: case MR_PTX_OP_FENCE:
        LLVMBuildFence(g->b, inst->scope == MR_PTX_SCOPE_CTA && inst->semantics != MR_PTX_SEM_SC
                       ? LLVMAtomicOrderingAcquireRelease : LLVMAtomicOrderingSequentiallyConsistent, false, "");
        return true;
    default:
        return false;
    }
}
