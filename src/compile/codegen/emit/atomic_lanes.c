/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The lanes of an atomic operation at places of their own: in order, one atomic instruction each, since two lanes may
 * name the same place. Where many name one place, those go together. .shared memory, which only this thread of the host
 * touches, needs no atomic instructions.
 */
#include "compile/codegen/emit/atomic.h"

/* Each lane's place and operands as arrays, for lanes to take by number. */
struct turns {
    LLVMTypeRef place; /* of `from`: i64, an address; i32, an offset into .shared memory; or i8, what makes up an
                          address with the next two */
    LLVMValueRef start; /* i64, what is added; NULL: nothing */
    unsigned scale; /* what it is multiplied by before */
    LLVMValueRef from;
    LLVMValueRef places; /* where the type is i64: the same as a vector */
    struct cg_atomic_operands operands;
    LLVMValueRef same; /* the first operand, if it is the same for all lanes */
    LLVMValueRef seen, next; /* arrays: what a lane's place held a moment ago, and what it holds afterwards if that is
                                still so; NULL: not looked at */
};

static LLVMValueRef load_of(struct cg *g, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane)
{
    return LLVMBuildLoad2(g->b, type, cg_atomic_lane_of(g, type, array, lane), "");
}

/* One swap, if the place still holds what was seen there. */
static LLVMValueRef try_first(struct cg *g, struct cg_atomic *a, const struct turns *turns, LLVMValueRef lane,
                              LLVMValueRef pointer, LLVMValueRef b)
{
    LLVMBasicBlockRef late = cg_new_block(g, "late"), on = cg_new_block(g, "on"), ends[2];
    LLVMValueRef done, old[2], either;
    old[0] = cg_atomic_swap(g, a, pointer, load_of(g, a->type, turns->seen, lane),
                            load_of(g, a->type, turns->next, lane), &done);
    ends[0] = LLVMGetInsertBlock(g->b);
    LLVMBuildCondBr(g->b, done, on, late);
    LLVMPositionBuilderAtEnd(g->b, late);
    old[1] = cg_atomic_perform(g, a, pointer, b, NULL, old[0]);
    ends[1] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    either = LLVMBuildPhi(g->b, a->type, "");
    LLVMAddIncoming(either, old, ends, 2);
    return either;
}

static void one_turn(struct cg *g, struct cg_atomic *a, const struct turns *turns, LLVMValueRef lane,
                     LLVMValueRef where)
{
    const struct cg_atomic_operands *operands = &turns->operands;
    g->now.lanes = 1;
    if (turns->scale > 1)
        where = LLVMBuildMul(g->b, where, LLVMConstInt(g->unit->i64, turns->scale, false), "");
    if (turns->start)
        where = LLVMBuildAdd(g->b, where, turns->start, "");
    LLVMValueRef b = turns->same ? turns->same : load_of(g, a->type, operands->b_array, lane), old;
    LLVMValueRef c = operands->c_array ? load_of(g, a->type, operands->c_array, lane) : NULL;
    LLVMValueRef pointer = cg_pointer(g, where);
    old = turns->seen ? try_first(g, a, turns, lane, pointer, b) : cg_atomic_perform(g, a, pointer, b, c, NULL);
    if (operands->to)
        LLVMBuildStore(g->b, old, cg_atomic_lane_of(g, a->type, operands->to, lane));
    g->now.lanes = CG_LANES;
}

static void turns_of_some(struct cg *g, struct cg_atomic *a, const struct turns *turns, LLVMValueRef mask)
{
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, mask, &loop);
    LLVMValueRef where = load_of(g, turns->place, turns->from, loop.lane);
    one_turn(g, a, turns, loop.lane, cg_resize(g, where, g->unit->i64, turns->place != g->unit->i8));
    cg_lane_loop_end(g, &loop);
}

/* Of all lanes, in .shared memory, where bytes pick the places: eight are read at a time (LLVM would take them out of
 * the vector one by one). */
static void turns_by_bytes(struct cg *g, struct cg_atomic *a, const struct turns *turns)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef eight = NULL;
    for (unsigned lane = 0; lane < CG_LANES; lane++) {
        LLVMValueRef number = LLVMConstInt(g->unit->i32, lane, false);
        if (lane % 8 == 0) {
            eight = LLVMBuildLoad2(g->b, i64, cg_atomic_lane_of(g, turns->place, turns->from, number), "");
            LLVMSetVolatile(eight, true);
        }
        LLVMValueRef byte = LLVMBuildLShr(g->b, eight, LLVMConstInt(i64, lane % 8 * 8, false), "");
        one_turn(g, a, turns, number, LLVMBuildAnd(g->b, byte, LLVMConstInt(i64, 255, false), ""));
    }
}

/* Of all lanes, in .shared memory. Offsets are read from the array two by two, not taken out of vector registers, which
 * costs more, though LLVM thinks otherwise (docs/benchmarks.md, "Single figures"). */
static void turns_of_all(struct cg *g, struct cg_atomic *a, const struct turns *turns)
{
    LLVMTypeRef i64 = g->unit->i64;
    for (unsigned lane = 0; lane < CG_LANES; lane += 2) {
        LLVMValueRef numbers[2] = {LLVMConstInt(g->unit->i32, lane, false),
                                   LLVMConstInt(g->unit->i32, lane + 1, false)};
        LLVMValueRef both = LLVMBuildLoad2(g->b, i64, cg_atomic_lane_of(g, turns->place, turns->from, numbers[0]), "");
        LLVMSetVolatile(both, true);
        LLVMValueRef low = LLVMBuildSExt(g->b, LLVMBuildTrunc(g->b, both, turns->place, ""), i64, "");
        one_turn(g, a, turns, numbers[0], low);
        one_turn(g, a, turns, numbers[1], LLVMBuildAShr(g->b, both, LLVMConstInt(i64, 32, false), ""));
    }
}

/* What all places have in common besides the start of .shared memory, as far as an address of 32 bits goes. */
static LLVMValueRef common_start(struct cg *g, const struct mr_flow_byte_places *bytes)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64;
    LLVMValueRef start = LLVMConstInt(i32, (uint64_t)bytes->offset, false);
    if (bytes->base) {
        LLVMTypeRef type =
            bytes->base->kind == MR_PTX_OPERAND_REG ? cg_reg_type(g, g->func->regs[bytes->base->reg].type) : i64;
        g->now.lanes = 1;
        start = LLVMBuildAdd(g->b, start, cg_resize(g, cg_source(g, bytes->base, type), i32, false), "");
        g->now.lanes = CG_LANES;
    }
    return LLVMBuildSExt(g->b, start, i64, "");
}

/* Each lane's place, as short as can be. */
static void take_places(struct cg *g, const struct cg_atomic *a, const struct cg_address *address, struct turns *turns)
{
    struct mr_flow_byte_places bytes;
    uint32_t at = (uint32_t)(g->now.inst - g->func->insts);
    LLVMValueRef places;
    turns->place = g->unit->i64;
    turns->scale = 1;
    if (!a->shared) {
        places = cg_address_vector(g, address);
    } else if (a->inst->vector == 1 && mr_flow_byte_places_find(&g->flow, g->now.at, at, a->address, &bytes)) {
        turns->place = g->unit->i8;
        turns->scale = bytes.scale;
        turns->start = LLVMBuildAdd(g->b, g->launch.shared, common_start(g, &bytes), "");
        places = cg_resize(g, cg_read(g, bytes.reg), turns->place, false);
    } else {
        turns->place = g->unit->i32;
        turns->start = g->launch.shared;
        places = cg_resize(g, LLVMBuildSub(g->b, cg_address_vector(g, address), cg_splat(g, g->launch.shared), ""),
                           turns->place, false);
    }
    turns->places = places;
    turns->from = cg_scratch(g, turns->place);
    LLVMBuildStore(g->b, places, turns->from);
}

/* Additions in .shared memory are short: where all lanes run, they stand one behind the other, and nothing is spent on
 * finding the next. */
static void turns_in_shared(struct cg *g, struct cg_atomic *a, const struct turns *turns)
{
    LLVMBasicBlockRef all = cg_new_block(g, "all"), some = cg_new_block(g, "some"), on = cg_new_block(g, "on");
    LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntEQ, g->now.exec, LLVMConstAllOnes(g->unit->mask), "");
    LLVMBuildCondBr(g->b, full, all, some);
    LLVMPositionBuilderAtEnd(g->b, all);
    if (turns->place == g->unit->i8)
        turns_by_bytes(g, a, turns);
    else
        turns_of_all(g, a, turns);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, some);
    turns_of_some(g, a, turns, g->now.exec);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* Sums of floats in memory that all threads reach: what the lanes' places hold is read at once and added to, so that
 * misses of the cache overlap and a turn is a compare-and-swap. If a lane before it was at the same place, or another
 * thread, it is done again. */
static void look_ahead(struct cg *g, struct cg_atomic *a, struct turns *turns, LLVMValueRef mask)
{
    LLVMTypeRef vector = LLVMVectorType(a->type, CG_LANES), types[2];
    LLVMTypeRef pointers = LLVMVectorType(g->unit->ptr, CG_LANES);
    types[0] = vector;
    types[1] = pointers;
    LLVMValueRef args[4] = {LLVMBuildIntToPtr(g->b, turns->places, pointers, ""),
                            LLVMConstInt(g->unit->i32, a->bytes, false), cg_mask_vector(g, mask),
                            LLVMConstNull(vector)};
    LLVMValueRef seen = cg_intrinsic(g, "llvm.masked.gather", types, 2, args, 4);
    cg_atomic_look_at(g, a, turns->places);
    LLVMBuildStore(g->b, seen, turns->seen = cg_scratch(g, a->type));
    LLVMBuildStore(g->b, cg_atomic_new_value(g, a, seen, turns->operands.b, NULL),
                   turns->next = cg_scratch(g, a->type));
}

static void turns_of_others(struct cg *g, struct cg_atomic *a, struct turns *turns, LLVMValueRef mask)
{
    unsigned type = a->inst->type[0];
    bool sums = a->inst->atom == MR_PTX_ATOM_ADD && (type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64);
    if (sums && g->unit->wide && turns->place == g->unit->i64)
        look_ahead(g, a, turns, mask);
    turns_of_some(g, a, turns, mask);
}

/* From this many lanes on it pays to do those of one place together. */
#define CROWD 4

/* The first lane's place, then that of the first which is left, and so on, as long as enough lanes share it; the rest
 * lane by lane. */
static void crowds_first(struct cg *g, struct cg_atomic *a, struct turns *turns)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), head = cg_new_block(g, "place"),
                      crowd = cg_new_block(g, "crowd"), alone = cg_new_block(g, "alone"),
                      done = cg_new_block(g, "done");
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef rest = LLVMBuildPhi(g->b, g->unit->mask, "rest");
    LLVMValueRef where = load_of(g, turns->place, turns->from, cg_lowest_lane(g, rest));
    LLVMValueRef same = LLVMBuildICmp(g->b, LLVMIntEQ, turns->places, cg_splat(g, where), "");
    same = LLVMBuildAnd(g->b, rest, cg_mask_bits(g, same), "");
    LLVMValueRef count = cg_unary(g, "llvm.ctpop", same);
    LLVMValueRef many = LLVMBuildICmp(g->b, LLVMIntUGE, count, LLVMConstInt(g->unit->mask, CROWD, false), "");
    LLVMBuildCondBr(g->b, many, crowd, alone);
    LLVMPositionBuilderAtEnd(g->b, crowd);
    cg_atomic_together(g, a, cg_pointer(g, where), same, &turns->operands);
    LLVMValueRef left = LLVMBuildAnd(g->b, rest, LLVMBuildNot(g->b, same, ""), "");
    LLVMAddIncoming(rest, (LLVMValueRef[]){g->now.exec, left}, (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(g->b)},
                    2);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, left, cg_mask_zero(g), ""), head, done);
    LLVMPositionBuilderAtEnd(g->b, alone);
    turns_of_others(g, a, turns, rest);
    LLVMBuildBr(g->b, done);
    LLVMPositionBuilderAtEnd(g->b, done);
}

LLVMValueRef cg_atomic_lanes(struct cg *g, struct cg_atomic *a, const struct cg_address *address, LLVMValueRef b,
                             LLVMValueRef c)
{
    struct turns turns = {.place = NULL};
    bool one = address->c.kind == MR_CLASS_UNIFORM && a->bytes <= 8;
    if (!one)
        take_places(g, a, address, &turns);
    struct cg_atomic_operands *operands = &turns.operands;
    operands->b = b;
    operands->b_array = cg_scratch(g, a->type);
    if (a->value->kind == MR_PTX_OPERAND_IMM_INT)
        turns.same = LLVMConstInt(a->type, (uint64_t)a->value->value, true);
    LLVMBuildStore(g->b, b, operands->b_array);
    if (c)
        LLVMBuildStore(g->b, c, operands->c_array = cg_scratch(g, a->type));
    if (cg_atomic_has_result(g, a))
        operands->to = cg_scratch(g, a->type);
    if (one)
        cg_atomic_together(g, a, cg_pointer(g, address->base[0]), g->now.exec, operands);
    else if (g->unit->request->hurry || (a->shared && (c || mr_ptx_type_class(a->inst->type[0]) == 'F')))
        turns_of_some(g, a, &turns, g->now.exec); /* in a hurry: the same results, and a tenth of the code */
    else if (a->shared)
        turns_in_shared(g, a, &turns);
    else if (!c && a->bytes <= 8 && address->c.kind == MR_CLASS_VARYING)
        crowds_first(g, a, &turns);
    else
        turns_of_others(g, a, &turns, g->now.exec);
    return operands->to ? LLVMBuildLoad2(g->b, LLVMVectorType(a->type, CG_LANES), operands->to, "") : NULL;
}
