/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What happens when a block ends: its lanes are parked in front of their
 * successors, then the first block in scan order that has lanes goes on.
 *
 * If the branch is uniform and nothing can be pending, that comes down to a
 * store and a load of the same mask with a jump between, which LLVM removes.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"
#include "compile/codegen/body/early.h"
#include "compile/codegen/body/give_way.h"

#include <string.h>

#include "base/alloc.h"

/* In a function that has a dispatcher, so many blocks are looked at in place. */
#define NEAREST 6u

static void park(struct cg *g, uint32_t block, LLVMValueRef lanes, bool first)
{
    LLVMValueRef slot = g->parking.masks[block];
    if (!first || mr_bit_get(g->flow.blocks[g->now.at].pend, block))
        lanes = LLVMBuildOr(g->b, LLVMBuildLoad2(g->b, g->unit->mask, slot, ""), lanes, "");
    LLVMBuildStore(g->b, lanes, slot);
}

/* Jumps to the first block of the list that has lanes; to the end of the function if none has. `cut`: behind the
 * nearest the dispatcher knows the rest. */
static void jump_first(struct cg *g, const uint32_t *list, uint32_t count, struct mr_flow_exit way,
                       enum mr_flow_order order, bool cut)
{
    for (uint32_t i = 0; i < count; i++) {
        bool sure = way.certain && ((way.target_count == 1 && list[i] == way.targets[0]) || i + 1 == count);
        if (sure) {
            LLVMBuildBr(g->b, g->parking.entries[list[i]]);
            return;
        }
        if (cut && i == NEAREST) {
            cg_dispatcher_ask(g, LLVMConstInt(g->unit->i32, order, false));
            return;
        }
        LLVMValueRef lanes = LLVMBuildLoad2(g->b, g->unit->mask, g->parking.masks[list[i]], "");
        LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, lanes, cg_mask_zero(g), "");
        LLVMBasicBlockRef other = cg_new_block(g, "next");
        LLVMBuildCondBr(g->b, any, g->parking.entries[list[i]], other);
        LLVMPositionBuilderAtEnd(g->b, other);
    }
    LLVMBuildBr(g->b, g->parking.finish);
}

/* The same from the dispatcher, where nothing is known of what is pending. */
static void dispatch_any(struct cg *g, enum mr_flow_order order)
{
    LLVMValueRef which = LLVMConstInt(g->unit->i32, order, false);
    if (order == MR_SCAN_USUAL && g->parking.rounds && mr_flow_waiting_loop(&g->flow, g->now.at) != MR_FLOW_NONE) {
        LLVMValueRef turn = cg_is_turn(g), outside = LLVMConstInt(g->unit->i32, MR_SCAN_OUTSIDE, false);
        cg_take_turn(g, turn);
        if (g->flow.draws)
            outside = LLVMBuildSelect(g->b, cg_is_draw(g), cg_drawn_order(g), outside, "");
        which = LLVMBuildSelect(g->b, turn, outside, which, "");
    }
    cg_dispatcher_ask(g, which);
}

/* One of the blocks of `set` that have lanes and are no barriers; goes on where the builder is if none has. */
static void jump_drawn(struct cg *g, const mr_word *set)
{
    LLVMBasicBlockRef ways[MR_FLOW_DRAWN_MAX], none = cg_new_block(g, "none");
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef some = LLVMConstInt(i64, 0, false);
    uint32_t count = 0;
    for (uint32_t b = 0; b < g->flow.block_count && count < MR_FLOW_DRAWN_MAX; b++) {
        if (!mr_bit_get(set, b) || g->flow.blocks[b].barrier)
            continue;
        LLVMValueRef lanes = LLVMBuildLoad2(g->b, g->unit->mask, g->parking.masks[b], "");
        LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, lanes, cg_mask_zero(g), "");
        LLVMValueRef bit = LLVMConstInt(i64, UINT64_C(1) << count, false);
        some = LLVMBuildOr(g->b, some, LLVMBuildSelect(g->b, any, bit, LLVMConstInt(i64, 0, false), ""), "");
        ways[count++] = g->parking.entries[b];
    }
    cg_jump(g, cg_draw_bit(g, some, count), ways, count, none);
    LLVMPositionBuilderAtEnd(g->b, none);
}

/* In a loop that waits: if it is the turn of others, one of them runs next; else goes on where the builder is. `set`:
 * what may have lanes. */
static void give_way(struct cg *g, struct mr_flow_exit way, const mr_word *set, uint32_t *list)
{
    const struct mr_flow_loop *loop = &g->flow.loops[mr_flow_waiting_loop(&g->flow, g->now.at)];
    uint32_t outer = 0, count = 0;
    uint32_t blocks = g->flow.block_count;
    for (uint32_t b = mr_bit_next(set, 0, blocks); b < blocks; b = mr_bit_next(set, b + 1, blocks)) {
        count += !g->flow.blocks[b].barrier;
        outer += b < loop->first || b >= loop->end;
    }
    bool draws = g->flow.draws && count > 1;
    if (!outer && !draws)
        return;
    LLVMBasicBlockRef turn = cg_new_block(g, "turn"), usual = cg_new_block(g, "usual");
    LLVMBuildCondBr(g->b, cg_is_turn(g), turn, usual);
    LLVMPositionBuilderAtEnd(g->b, turn);
    cg_take_turn(g, LLVMConstInt(g->unit->i1, 1, false));
    if (draws) {
        LLVMBasicBlockRef drawn = cg_new_block(g, "draw"), first = outer ? cg_new_block(g, "first") : usual;
        LLVMBuildCondBr(g->b, cg_is_draw(g), drawn, first);
        LLVMPositionBuilderAtEnd(g->b, drawn);
        if (g->parking.crowded) {
            cg_dispatcher_ask(g, cg_drawn_order(g));
        } else {
            jump_drawn(g, set);
            LLVMBuildBr(g->b, first);
        }
        LLVMPositionBuilderAtEnd(g->b, first);
    }
    if (outer && g->parking.crowded)
        cg_dispatcher_ask(g, LLVMConstInt(g->unit->i32, MR_SCAN_OUTSIDE, false));
    else if (outer)
        jump_first(g, list, mr_flow_scan(&g->flow, g->now.at, set, MR_SCAN_OUTSIDE, list), way, MR_SCAN_OUTSIDE, false);
    LLVMPositionBuilderAtEnd(g->b, usual);
}

/* Goes on with what is pending after `way`, the lanes being parked already. */
static void dispatch_in(struct cg *g, struct mr_flow_exit way, enum mr_flow_order order)
{
    if (g->flow.dispatched) {
        dispatch_any(g, order);
        return;
    }
    size_t words = mr_bit_words(g->flow.block_count), room = way.target_count + 1;
    const mr_word *pend = g->flow.blocks[g->now.at].pend;
    for (size_t w = 0; w < words; w++)
        room += (size_t)__builtin_popcountll(pend[w]);
    mr_word *set = mr_calloc(words, sizeof *set);
    uint32_t *list = mr_calloc(room, sizeof *list);
    if (!set || !list) {
        cg_fail(g->unit, NULL, "memory is short");
        LLVMBuildUnreachable(g->b);
    } else {
        memcpy(set, pend, words * sizeof *set);
        for (uint32_t i = 0; i < way.target_count; i++)
            mr_bit_set(set, way.targets[i]);
        if (g->parking.rounds && order == MR_SCAN_USUAL && mr_flow_waiting_loop(&g->flow, g->now.at) != MR_FLOW_NONE)
            give_way(g, way, set, list);
        jump_first(g, list, mr_flow_scan(&g->flow, g->now.at, set, order, list), way, order, g->parking.crowded);
    }
    mr_free(set);
    mr_free(list);
}

static void dispatch(struct cg *g, struct mr_flow_exit way)
{
    dispatch_in(g, way, MR_SCAN_USUAL);
}

/*
 * Lanes of one warp may arrive at different barriers, in both arms of an if for
 * example. Nothing else can run then. All but the last group are only noted as
 * arrived and parked behind their barrier; the last group waits in the name of
 * all of them. If the barrier has a predicate, theirs are kept for that group, and when it has
 * the result it gives it to all lanes that were at such a barrier. (All lanes are taken to be at one barrier: under
 * different numbers such code waits for itself, which the runtime finds out.)
 */
static LLVMValueRef empty_slot(struct cg *g, const char *name)
{
    LLVMValueRef slot =
        g->parking.crowded ? cg_slot_in_memory(g, g->unit->mask, name) : cg_slot(g, g->unit->mask, name);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    LLVMBuildStore(g->b, cg_mask_zero(g), slot);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return slot;
}

static void add_to_slot(struct cg *g, LLVMValueRef slot, LLVMValueRef bits)
{
    LLVMBuildStore(g->b, LLVMBuildOr(g->b, LLVMBuildLoad2(g->b, g->unit->mask, slot, ""), bits, ""), slot);
}

/* The slot of the lanes that have come early to the barrier at the head of a block; NULL unless that
 * barrier has a result for them. */
static LLVMValueRef early_slot(struct cg *g, uint32_t block)
{
    if (!mr_flow_reduces_apart(&g->flow, block))
        return NULL;
    if (!g->early.slots) {
        g->early.slots = mr_calloc(g->flow.block_count, sizeof *g->early.slots);
        if (!g->early.slots) {
            cg_fail(g->unit, NULL, "memory is short");
            return NULL;
        }
    }
    if (!g->early.slots[block])
        g->early.slots[block] = empty_slot(g, "early");
    return g->early.slots[block];
}

LLVMValueRef cg_early_lanes(struct cg *g)
{
    if (!g->early.meet)
        g->early.meet = mr_flow_barriers_meet(&g->flow) ? 1 : -1;
    if (g->early.meet < 0)
        return NULL;
    if (!g->early.arrived)
        g->early.arrived = empty_slot(g, "arrived");
    return g->early.arrived;
}

LLVMValueRef cg_early_predicates(struct cg *g)
{
    if (!g->early.predicate)
        g->early.predicate = empty_slot(g, "true");
    return g->early.predicate;
}

void cg_give_reduction(struct cg *g, LLVMValueRef result)
{
    for (uint32_t b = 0; b < g->flow.block_count; b++) {
        LLVMValueRef slot = b != g->now.at ? early_slot(g, b) : NULL;
        if (!slot)
            continue;
        const struct mr_ptx_operand *to = &g->func->insts[g->flow.blocks[b].first].operands[0];
        if (to->reg != MR_PTX_NONE && LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMIntegerTypeKind)
            cg_write_lanes(g, to->reg, result, LLVMBuildLoad2(g->b, g->unit->mask, slot, ""));
        LLVMBuildStore(g->b, cg_mask_zero(g), slot);
    }
}

/* More than so many barriers are looked through by a loop, where that can be. */
#define BARRIERS_IN_LINE 16u

/* The lanes that are parked in front of other barriers than the block at hand, whose own have just been taken off. */
static LLVMValueRef lanes_at_other_barriers(struct cg *g)
{
    const struct mr_flow_block *block = &g->flow.blocks[g->now.at];
    LLVMValueRef others = cg_mask_zero(g);
    uint32_t count = 0;
    for (uint32_t b = 0; g->parking.crowded && b < g->flow.block_count && count <= BARRIERS_IN_LINE; b++)
        count += b != g->now.at && g->flow.blocks[b].barrier && mr_bit_get(block->pend, b);
    if (count > BARRIERS_IN_LINE)
        return cg_dispatcher_at_barriers(g);
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        if (b != g->now.at && g->flow.blocks[b].barrier && mr_bit_get(block->pend, b))
            others = LLVMBuildOr(g->b, others, LLVMBuildLoad2(g->b, g->unit->mask, g->parking.masks[b], ""), "");
    return others;
}

void cg_emit_early_arrival(struct cg *g)
{
    const struct mr_flow_block *block = &g->flow.blocks[g->now.at];
    const struct mr_ptx_inst *inst = &g->func->insts[block->first];
    bool reduces = mr_flow_reduces_apart(&g->flow, g->now.at);
    if (!mr_flow_barrier_shared(&g->flow, g->now.at) || (inst->mode != MR_PTX_MODE_SYNC && !reduces) ||
        inst->guard != MR_PTX_NONE)
        return;
    LLVMValueRef early_lanes = cg_early_lanes(g), others = lanes_at_other_barriers(g);
    LLVMBasicBlockRef early = cg_new_block(g, "early"), all = cg_new_block(g, "all");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, others, cg_mask_zero(g), ""), early, all);
    LLVMPositionBuilderAtEnd(g->b, early);
    add_to_slot(g, early_lanes, g->now.mask);
    if (reduces) {
        LLVMValueRef slot = early_slot(g, g->now.at), true_slot = cg_early_predicates(g);
        g->now.lanes = CG_LANES;
        if (slot)
            add_to_slot(g, slot, g->now.mask);
        add_to_slot(g, true_slot,
                    LLVMBuildAnd(g->b, cg_mask_bits(g, cg_predicate(g, &inst->operands[inst->operand_count - 1])),
                                 g->now.mask, ""));
    }
    park(g, block->succs[0], g->now.mask, true);
    dispatch_in(g, (struct mr_flow_exit){block->succs, 1, false}, MR_SCAN_BARRIERS);
    LLVMPositionBuilderAtEnd(g->b, all);
}

/* The member masks of all lanes and all warp operations of the block that look for them at its start, in one. */
static LLVMValueRef members_of(struct cg *g, const struct mr_flow_block *block)
{
    LLVMTypeRef i32 = g->unit->i32, type = cg_vector_type(i32, g->unit->width);
    LLVMValueRef all = LLVMConstNull(type);
    g->now.lanes = g->unit->width;
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mr_ptx_operand *operand = mr_flow_members(&g->flow, block->first, i);
        if (operand)
            all = LLVMBuildOr(g->b, all, cg_source(g, operand, i32), "");
    }
    all = LLVMBuildSelect(g->b, g->now.mask_vector, all, LLVMConstNull(type), "");
    return cg_intrinsic(g, "llvm.vector.reduce.or", &type, 1, &all, 1);
}

/*
 * Lanes that came out of a waiting loop may go first (see dispatch_in), but not past a warp operation that names lanes
 * which are still in the loop: then they stay in front of it, and the loop goes on.
 */
void cg_emit_members_wait(struct cg *g)
{
    const struct mr_flow_block *block = &g->flow.blocks[g->now.at];
    size_t words = mr_bit_words(g->flow.block_count);
    if (g->flow.dispatched) {
        LLVMBasicBlockRef look = cg_new_block(g, "missing"), all = cg_new_block(g, "all");
        LLVMValueRef missing = LLVMBuildAnd(g->b, members_of(g, block), LLVMBuildNot(g->b, g->now.mask, ""), "");
        cg_mark_unlikely(
            g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, missing, cg_mask_zero(g), ""), look, all));
        LLVMPositionBuilderAtEnd(g->b, look);
        cg_dispatcher_wait(g, missing);
        LLVMBuildBr(g->b, all);
        LLVMPositionBuilderAtEnd(g->b, all);
        return;
    }
    mr_word *set = mr_calloc(words, sizeof *set);
    uint32_t *list = mr_calloc((size_t)g->flow.block_count * 2, sizeof *list);
    LLVMValueRef inside = NULL;
    if (!set || !list)
        cg_fail(g->unit, NULL, "memory is short");
    for (uint32_t b = 0; b < g->flow.block_count && set && list; b++) {
        if (b == g->now.at || !mr_bit_get(block->pend, b) || !mr_flow_waits_for(&g->flow, g->now.at, b))
            continue;
        LLVMValueRef lanes = LLVMBuildLoad2(g->b, g->unit->mask, g->parking.masks[b], "");
        inside = inside ? LLVMBuildOr(g->b, inside, lanes, "") : lanes;
        mr_bit_set(set, b);
    }
    if (inside) {
        LLVMValueRef missing = LLVMBuildAnd(g->b, inside, members_of(g, block), "");
        LLVMBasicBlockRef stay = cg_new_block(g, "stay"), together = cg_new_block(g, "together");
        cg_mark_unlikely(
            g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, missing, cg_mask_zero(g), ""), stay, together));
        LLVMPositionBuilderAtEnd(g->b, stay);
        LLVMBuildStore(g->b, g->now.mask, g->parking.masks[g->now.at]);
        jump_first(g, list, mr_flow_scan(&g->flow, g->now.at, set, MR_SCAN_USUAL, list),
                   (struct mr_flow_exit){NULL, 0, true}, MR_SCAN_USUAL, false);
        LLVMPositionBuilderAtEnd(g->b, together);
    }
    mr_free(set);
    mr_free(list);
}

/* Lanes leave the kernel here: by exit anywhere, by ret in the kernel itself. */
static void leave(struct cg *g, LLVMValueRef lanes, bool is_exit)
{
    struct cg_unit *unit = g->unit;
    bool kernel = g->func->is_entry, partial = g->flow.dispatched || !kernel;
    if (!kernel && !is_exit)
        return;
    for (size_t w = 0; w < mr_bit_words(g->flow.block_count); w++)
        partial |= g->flow.blocks[g->now.at].pend[w] != 0;
    partial |= g->flow.blocks[g->now.at].end_kind == MR_END_SOME_EXIT;
    if (!kernel) {
        LLVMValueRef place = LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->warp.state, 1, "");
        LLVMValueRef old = LLVMBuildLoad2(g->b, unit->i32, place, "");
        LLVMBuildStore(g->b, LLVMBuildOr(g->b, old, lanes, ""), place);
    }
    if (partial && unit->facts[unit->entry->func->index].barriers && !unit->regions)
        cg_runtime_call(g, offsetof(struct mr_runtime, lanes_exit), unit->void_type, &lanes, 1);
}

/* A register that is a return parameter goes to the caller's memory. */
static void store_return_registers(struct cg *g)
{
    for (uint32_t i = 0; i < g->func->return_count; i++) {
        const struct mr_ptx_var *var = g->func->returns[i];
        if (var->reg == MR_PTX_NONE)
            continue;
        LLVMValueRef slot = *cg_var_slot(g, var), value = cg_read(g, var->reg);
        LLVMTypeRef type = cg_vector_type(cg_int_type(g, (unsigned)var->size * 8), g->unit->width);
        value = cg_resize(g, value, LLVMGetElementType(type), false);
        LLVMValueRef old = LLVMBuildLoad2(g->b, type, slot, "");
        LLVMBuildStore(g->b, LLVMBuildSelect(g->b, g->now.exec_vector, value, old, ""), slot);
    }
}

static LLVMValueRef guard_bits(struct cg *g)
{
    return cg_mask_bits(g, g->now.guard);
}

/* One way for uniform ends, a part of the lanes each for divergent ones. */
static void end_branch(struct cg *g, const struct mr_flow_block *block)
{
    struct mr_flow_exit way = mr_flow_exit_get(&g->flow, block, 0);
    if (mr_flow_diverges(&g->flow, block)) {
        LLVMValueRef bits = guard_bits(g);
        LLVMValueRef taken = LLVMBuildAnd(g->b, g->now.mask, bits, "");
        LLVMValueRef passed = LLVMBuildAnd(g->b, g->now.mask, LLVMBuildNot(g->b, bits, ""), "");
        park(g, block->succs[0], taken, true);
        park(g, block->succs[1], passed, block->succs[1] != block->succs[0]);
        dispatch(g, way);
        return;
    }
    LLVMBasicBlockRef yes = cg_new_block(g, "true"), no = cg_new_block(g, "false");
    LLVMBuildCondBr(g->b, g->now.guard, yes, no);
    LLVMPositionBuilderAtEnd(g->b, yes);
    park(g, block->succs[0], g->now.mask, true);
    dispatch(g, way);
    LLVMPositionBuilderAtEnd(g->b, no);
    park(g, block->succs[1], g->now.mask, true);
    dispatch(g, mr_flow_exit_get(&g->flow, block, 1));
}

/* brx.idx by an index that is the same for all lanes. */
static void end_table_uniform(struct cg *g, const struct mr_flow_block *block, uint32_t count)
{
    LLVMValueRef index = cg_source(g, &block->last->operands[0], g->unit->i32);
    LLVMBasicBlockRef bad = cg_new_block(g, "bad"), *arms = mr_calloc(count, sizeof *arms);
    for (uint32_t i = 0; i < count && arms; i++)
        arms[i] = cg_new_block(g, "arm");
    if (arms)
        cg_jump(g, index, arms, count, bad);
    else
        cg_fail(g->unit, NULL, "memory is short");
    for (uint32_t i = 0; i < count && arms; i++) {
        LLVMPositionBuilderAtEnd(g->b, arms[i]);
        park(g, block->succs[i], g->now.mask, true);
        dispatch(g, (struct mr_flow_exit){&block->succs[i], 1, true});
    }
    mr_free(arms);
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_UNREACHABLE);
    LLVMBuildUnreachable(g->b);
}

static void end_table(struct cg *g, const struct mr_flow_block *block)
{
    struct cg_unit *unit = g->unit;
    bool guarded = block->last->guard != MR_PTX_NONE;
    uint32_t count = block->succ_count - guarded;
    bool diverges = mr_flow_diverges(&g->flow, block);
    g->now.lanes = diverges ? g->unit->width : 1;
    if (guarded && !diverges) {
        LLVMBasicBlockRef yes = cg_new_block(g, "true"), no = cg_new_block(g, "false");
        LLVMBuildCondBr(g->b, g->now.guard, yes, no);
        LLVMPositionBuilderAtEnd(g->b, no);
        park(g, block->succs[count], g->now.mask, true);
        dispatch(g, (struct mr_flow_exit){&block->succs[count], 1, true});
        LLVMPositionBuilderAtEnd(g->b, yes);
    }
    if (!diverges) {
        end_table_uniform(g, block, count);
        return;
    }
    LLVMValueRef index = cg_source(g, &block->last->operands[0], unit->i32);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef here = LLVMBuildICmp(g->b, LLVMIntEQ, index, cg_int(g, unit->i32, i), "");
        LLVMValueRef lanes = LLVMBuildAnd(g->b, g->now.exec, cg_mask_bits(g, here), "");
        park(g, block->succs[i], lanes, false);
    }
    if (guarded)
        park(g, block->succs[count], LLVMBuildAnd(g->b, g->now.mask, LLVMBuildNot(g->b, g->now.exec, ""), ""), false);
    /* An index past the table is undefined: such lanes end here. */
    struct mr_flow_exit way = mr_flow_exit_get(&g->flow, block, 0);
    way.certain = false;
    dispatch(g, way);
}

static void end_some_exit(struct cg *g, const struct mr_flow_block *block)
{
    bool is_exit = block->last->op == MR_PTX_OP_EXIT;
    struct mr_flow_exit way = mr_flow_exit_get(&g->flow, block, 0);
    if (mr_flow_diverges(&g->flow, block)) {
        store_return_registers(g);
        leave(g, g->now.exec, is_exit);
        park(g, block->succs[0], LLVMBuildAnd(g->b, g->now.mask, LLVMBuildNot(g->b, g->now.exec, ""), ""), true);
        dispatch(g, way);
        return;
    }
    LLVMBasicBlockRef yes = cg_new_block(g, "true"), no = cg_new_block(g, "false");
    LLVMBuildCondBr(g->b, g->now.guard, yes, no);
    LLVMPositionBuilderAtEnd(g->b, yes);
    store_return_registers(g);
    leave(g, g->now.mask, is_exit);
    dispatch(g, mr_flow_exit_get(&g->flow, block, 1));
    LLVMPositionBuilderAtEnd(g->b, no);
    park(g, block->succs[0], g->now.mask, true);
    dispatch(g, way);
}

void cg_emit_block_end(struct cg *g)
{
    const struct mr_flow_block *block = &g->flow.blocks[g->now.at];
    bool is_exit = block->last && block->last->op == MR_PTX_OP_EXIT;
    cg_count_round(g);
    g->now.lanes = g->unit->width;
    switch (block->end_kind) {
    case MR_END_FALL: {
        LLVMValueRef lanes = g->now.mask;
        if (block->may_vanish) {
            LLVMValueRef place = LLVMBuildStructGEP2(g->b, cg_state_type(g->unit), g->warp.state, 1, "");
            LLVMValueRef gone = LLVMBuildLoad2(g->b, g->unit->i32, place, "");
            lanes = LLVMBuildAnd(g->b, lanes, LLVMBuildNot(g->b, gone, ""), "");
        }
        park(g, block->succs[0], lanes, true);
        dispatch(g, mr_flow_exit_get(&g->flow, block, 0));
        break;
    }
    case MR_END_BRANCH:
        end_branch(g, block);
        break;
    case MR_END_TABLE:
        end_table(g, block);
        break;
    case MR_END_EXIT:
        store_return_registers(g);
        leave(g, g->now.mask, is_exit);
        dispatch(g, mr_flow_exit_get(&g->flow, block, 0));
        break;
    case MR_END_SOME_EXIT:
        end_some_exit(g, block);
        break;
    case MR_END_TRAP:
        cg_emit_trap(g, MR_TRAP_TRAP);
        LLVMBuildUnreachable(g->b);
        break;
    }
}
