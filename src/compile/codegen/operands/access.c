/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an access becomes depends on how its address varies:
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
 *                              where the processor has none of that width; in
 *                              global memory a test comes first: whether the
 *                              addresses step by the access's size after all,
 *                              or, of a load, are the same for all lanes
 *
 * A stepping address that was widened from 32 bits steps only if no lane
 * overflowed on the way; that is tested when the code runs, and the other way
 * is taken if one did.
 *
 * A vector that is stronger than weak moves as one, lane by lane: programs pass a
 * value and its status in one (CUB's scans do), and count on nobody seeing half of it.
 */
#include "compile/codegen/operands/access.h"
#include "compile/codegen/operands/operands.h"
#include "compile/codegen/operands/touch.h"

/* Behind the first way, which is written already: the other one in the block `slow`; both go on in `on`. */
static void join_ways(struct cg *g, struct cg_access *a, struct cg_access *other, bool is_load, cg_access_way *way,
                      LLVMBasicBlockRef slow, LLVMBasicBlockRef on)
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

/* Without AVX-512, masks are made element by element, a store under one costs as much as twenty others, and bytes have
 * none at all. With it, AMD's fifth EPYCs fetch nothing ahead for loads under a mask. So what follows asks whether all
 * lanes run, which they mostly do. */
static void by_mask(struct cg *g, struct cg_access *a, bool is_load, cg_access_way *whole, cg_access_way *masked,
                    cg_access_way *stepwise)
{
    if (g->unit->wide && (g->unit->request->hurry || !(is_load && cg_is_far(a->inst)))) {
        masked(g, a);
        return;
    }
    LLVMBasicBlockRef fast = cg_new_block(g, "whole"), slow = cg_new_block(g, "part"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, g->now.exec, LLVMConstAllOnes(g->unit->mask), ""), fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct cg_access other = *a;
    whole(g, a);
    join_ways(g, a, &other, is_load, a->bytes < 4 ? stepwise : masked, slow, on);
}

static void load_contiguous(struct cg *g, struct cg_access *a)
{
    by_mask(g, a, true, cg_load_whole, cg_load_masked, cg_load_stepwise);
}

static void store_contiguous(struct cg *g, struct cg_access *a)
{
    by_mask(g, a, false, cg_store_whole, cg_store_masked, cg_store_stepwise);
}

/* The steady way if no lane is past the break, else lane by lane. */
static void either_way(struct cg *g, struct cg_access *a, bool is_load, cg_access_way *steady, cg_access_way *scattered)
{
    if (!a->address.c.wrap) {
        steady(g, a);
        return;
    }
    LLVMBasicBlockRef fast = cg_new_block(g, "steady"), slow = cg_new_block(g, "scattered"), on = cg_new_block(g, "on");
    LLVMValueRef whole = NULL;
    for (unsigned row = 0; row < g->flow.rows; row++) {
        LLVMValueRef one = LLVMBuildICmp(g->b, LLVMIntUGE, a->address.brk[row],
                                         LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        whole = whole ? LLVMBuildAnd(g->b, whole, one, "") : one;
    }
    LLVMBuildCondBr(g->b, whole, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct cg_access other = *a;
    steady(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* Nobody could tell whether the addresses step by the access's size, but they often do: kernels take the strides of
 * arrays as parameters (CuPy's and Numba's all do). So that is tested when the code runs. What lanes that don't run
 * hold doesn't count, but the first lane's is what the others are compared with. */
static bool may_be_contiguous(const struct cg *g, const struct cg_access *a)
{
    return cg_is_far(a->inst) && a->address.c.kind == MR_CLASS_VARYING && g->flow.rows == 1 && !g->flow.dispatched &&
           !g->unit->request->hurry;
}

/* The running lanes whose address is not the expected one. */
static LLVMValueRef strays(struct cg *g, LLVMValueRef addresses, LLVMValueRef expected)
{
    LLVMValueRef others = LLVMBuildICmp(g->b, LLVMIntNE, addresses, expected, "");
    return LLVMBuildBitCast(g->b, LLVMBuildAnd(g->b, others, g->now.exec_vector, ""), g->unit->mask, "");
}

/* One place for all lanes, if that turns out so: kernels find an element's row by a division, and read what belongs to
 * the row (a broadcast, a softmax). The first lane has to run, since its address is the one that is read. */
static void load_one_place(struct cg *g, struct cg_access *a)
{
    LLVMTypeRef mask = g->unit->mask;
    LLVMValueRef addresses = cg_address_vector(g, &a->address);
    LLVMValueRef first = LLVMBuildExtractElement(g->b, addresses, LLVMConstInt(g->unit->i32, 0, false), "");
    LLVMValueRef idle = LLVMBuildAnd(g->b, LLVMBuildNot(g->b, g->now.exec, ""), LLVMConstInt(mask, 1, false), "");
    LLVMValueRef others = LLVMBuildOr(g->b, strays(g, addresses, cg_splat(g, first)), idle, "");
    LLVMBasicBlockRef fast = cg_new_block(g, "same"), slow = cg_new_block(g, "scattered"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, others, LLVMConstInt(mask, 0, false), ""), fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct cg_access other = *a;
    a->address = (struct cg_address){.c = {.kind = MR_CLASS_UNIFORM}, .base = {first}};
    cg_load_uniform(g, a);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = cg_splat(g, a->values[i]);
    join_ways(g, a, &other, true, cg_load_scattered, slow, on);
}

static void tested_way(struct cg *g, struct cg_access *a, bool is_load, cg_access_way *contiguous,
                       cg_access_way *scattered)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef addresses = cg_address_vector(g, &a->address), steps[CG_LANES_MAX];
    LLVMValueRef first = LLVMBuildExtractElement(g->b, addresses, LLVMConstInt(g->unit->i32, 0, false), "");
    for (unsigned lane = 0; lane < g->unit->width; lane++)
        steps[lane] = LLVMConstInt(i64, (uint64_t)lane * a->bytes * a->count, false);
    LLVMValueRef expected = LLVMBuildAdd(g->b, cg_splat(g, first), LLVMConstVector(steps, g->unit->width), "");
    LLVMValueRef none =
        LLVMBuildICmp(g->b, LLVMIntEQ, strays(g, addresses, expected), LLVMConstInt(g->unit->mask, 0, false), "");
    LLVMBasicBlockRef fast = cg_new_block(g, "together"), slow = cg_new_block(g, "scattered"),
                      on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, none, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, fast);
    struct cg_access other = *a;
    a->address =
        (struct cg_address){.c = {.kind = MR_CLASS_AFFINE, .stride = (int64_t)a->bytes * a->count}, .base = {first}};
    if (is_load)
        cg_load_prefetch(g, a);
    contiguous(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* A step that the running code knows. */
static void stepped_way(struct cg *g, struct cg_access *a, bool is_load, cg_access_way *contiguous,
                        cg_access_way *scattered)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef steady =
        LLVMBuildICmp(g->b, LLVMIntEQ, a->stepped.step, LLVMConstInt(i64, (uint64_t)a->bytes * a->count, false), "");
    LLVMValueRef even = cg_stepped_evenly(g, &a->stepped);
    if (even)
        steady = LLVMBuildAnd(g->b, steady, even, "");
    LLVMBasicBlockRef fast = cg_new_block(g, "together"), slow = cg_new_block(g, "scattered"),
                      on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, steady, fast, slow);
    LLVMPositionBuilderAtEnd(g->b, slow);
    struct cg_access other = *a;
    struct cg_stepped rare = cg_stepped_rarely(g, &a->stepped);
    other.address = (struct cg_address){.c = {.kind = MR_CLASS_VARYING}, .vector = cg_stepped_vector(g, &rare, i64)};
    slow = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderAtEnd(g->b, fast);
    a->address = (struct cg_address){.c = {.kind = MR_CLASS_AFFINE, .stride = (int64_t)a->bytes * a->count},
                                     .base = {a->stepped.base}};
    contiguous(g, a);
    join_ways(g, a, &other, is_load, scattered, slow, on);
}

/* If the first lane's address and the step have no low bits, no lane's has; else they are looked at. */
static void check_stepped_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct cg_access *a)
{
    uint64_t size = (uint64_t)a->bytes * a->count;
    if (size == 1)
        return;
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef low = LLVMBuildAnd(g->b, LLVMBuildOr(g->b, a->stepped.base, a->stepped.step, ""),
                                    LLVMConstInt(i64, size - 1, false), "");
    LLVMBasicBlockRef look = cg_new_block(g, "look"), on = cg_new_block(g, "on");
    cg_mark_unlikely(
        g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, low, LLVMConstInt(i64, 0, false), ""), look, on));
    LLVMPositionBuilderAtEnd(g->b, look);
    struct cg_stepped rare = cg_stepped_rarely(g, &a->stepped);
    struct cg_address address = {.c = {.kind = MR_CLASS_VARYING}, .vector = cg_stepped_vector(g, &rare, i64)};
    cg_check_alignment(g, operand, &address, size);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

void cg_access_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_access *a)
{
    uint32_t how = (a->inst->op == MR_PTX_OP_ST ? MR_SITE_WRITE : MR_SITE_READ) | (a->strong ? MR_SITE_ATOMIC : 0u),
             touches = cg_touch_flags(g, operand, a->inst->space, how);
    a->steps = cg_is_far(a->inst) && cg_stepped_address(g, operand, &a->stepped);
    if (a->steps) {
        check_stepped_alignment(g, operand, a);
        cg_touch_stepped(g, &a->stepped, a->bytes * a->count, touches);
        return;
    }
    cg_address(g, operand, a->inst->space, &a->address);
    /* A vector of parameters has the alignment of its elements: so it is on hardware, and NVIDIA's compilers use it. */
    unsigned together = a->inst->space == MR_PTX_SPACE_PARAM ? 1 : a->count;
    cg_check_alignment(g, operand, &a->address, (uint64_t)a->bytes * together);
    cg_touch(g, &a->address, a->bytes * a->count, touches);
}

static bool is_contiguous(const struct cg_access *a)
{
    return a->address.c.kind == MR_CLASS_AFFINE && a->address.c.stride == (int64_t)a->bytes * a->count;
}

/* Whether all of a lane's elements have to move at once: where other threads of the host may look. `.cg` is how it was
 * asked for before there were orders. */
static bool is_undivided(const struct cg_access *a)
{
    unsigned bytes = a->count * a->bytes;
    return cg_is_far(a->inst) && a->count > 1 && (bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) &&
           (a->strong || a->inst->cache == MR_PTX_CACHE_CG);
}

static bool is_uniform(const struct cg_access *a)
{
    return !a->steps && a->address.c.kind == MR_CLASS_UNIFORM;
}

void cg_access_load(struct cg *g, struct cg_access *a)
{
    if (is_undivided(a))
        cg_load_undivided(g, a);
    else if (a->steps)
        stepped_way(g, a, true, load_contiguous, cg_load_scattered);
    else if (a->address.c.kind == MR_CLASS_UNIFORM)
        cg_load_uniform(g, a);
    else if (is_contiguous(a)) {
        cg_load_prefetch(g, a);
        either_way(g, a, true, load_contiguous, cg_load_stepwise);
    } else if (a->address.c.kind == MR_CLASS_AFFINE && !a->address.c.stride && !a->address.c.wrap)
        cg_load_by_row(g, a);
    else if (may_be_contiguous(g, a))
        tested_way(g, a, true, load_contiguous, load_one_place);
    else
        cg_load_scattered(g, a);
}

void cg_access_store(struct cg *g, struct cg_access *a)
{
    if (is_uniform(a) && !is_undivided(a)) {
        cg_store_uniform(g, a);
        return;
    }
    for (unsigned i = 0; i < a->count; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(a->values[i])) != LLVMVectorTypeKind)
            a->values[i] = cg_splat(g, a->values[i]);
    if (is_undivided(a))
        cg_store_undivided(g, a);
    else if (a->steps)
        stepped_way(g, a, false, store_contiguous, cg_store_scattered);
    else if (is_contiguous(a))
        either_way(g, a, false, store_contiguous, cg_store_stepwise);
    else if (may_be_contiguous(g, a))
        tested_way(g, a, false, store_contiguous, cg_store_scattered);
    else
        cg_store_scattered(g, a);
}
