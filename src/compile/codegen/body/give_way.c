/* SPDX-License-Identifier: Apache-2.0 */

/*
 * When a loop that waits gives way: every now and then, because it may wait for lanes outside of it.
 *
 * All loops that wait count their rounds together. Every eighth round is a *turn*, and whichever loop counts that one
 * gives way to what is outside of it. A loop around it may never come to count such a round, for the loops inside may
 * count as many in each of its own; so when one inside gives way the next one outside *owes* a turn, and gives way when
 * it comes to a block of its own.
 *
 * Where several loops wait, every fourth turn is a *draw*: which block runs next is drawn from all that have lanes, the
 * loop's own among them. Without that, loops that give way to each other may do so for ever at places that leave others
 * out. The number drawn is the count of rounds times an odd number, of which the upper bits count: no rhythm of the
 * loops can keep up with that.
 */
#include "compile/codegen/body/give_way.h"

#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/body.h"

#include "abi/abi.h"

#define TURN 8u /* rounds */
#define DRAW 32u /* rounds; a multiple of TURN */
#define SPREAD 0x9e3779b1u

static LLVMValueRef zero32(struct cg *g)
{
    return LLVMConstInt(g->unit->i32, 0, false);
}

static bool has_waiting_loop_inside(const struct mr_flow *flow, uint32_t loop)
{
    for (uint32_t l = 0; l < flow->loop_count; l++)
        for (uint32_t around = flow->loops[l].waits ? flow->loops[l].parent : MR_FLOW_NONE; around != MR_FLOW_NONE;
             around = flow->loops[around].parent)
            if (around == loop)
                return true;
    return false;
}

static uint32_t waiting_loop_around(const struct mr_flow *flow, uint32_t loop)
{
    for (loop = flow->loops[loop].parent; loop != MR_FLOW_NONE && !flow->loops[loop].waits;
         loop = flow->loops[loop].parent)
        ;
    return loop;
}

void cg_begin_turns(struct cg *g)
{
    for (uint32_t l = 0; l < g->flow.loop_count && !g->parking.owed; l++)
        if (g->flow.loops[l].waits && waiting_loop_around(&g->flow, l) != MR_FLOW_NONE) {
            g->parking.rounds = cg_slot_of_zero(g, g->unit->i32, "rounds");
            g->parking.owed = cg_slot_of_zero(g, g->unit->i32, "owed");
        }
}

LLVMValueRef cg_is_turn(struct cg *g)
{
    uint32_t loop = mr_flow_waiting_loop(&g->flow, g->now.at);
    if (mr_flow_tests_barrier(&g->flow, loop))
        return LLVMConstInt(g->unit->i1, 1, false);
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef last = LLVMConstInt(i32, TURN - 1, false),
                 low = LLVMBuildAnd(g->b, LLVMBuildLoad2(g->b, i32, g->parking.rounds, ""), last, "");
    LLVMValueRef turn = LLVMBuildICmp(g->b, LLVMIntEQ, low, last, "");
    if (!g->parking.owed || !has_waiting_loop_inside(&g->flow, loop))
        return turn;
    LLVMValueRef owed = LLVMBuildLoad2(g->b, i32, g->parking.owed, "");
    return LLVMBuildOr(g->b, turn, LLVMBuildICmp(g->b, LLVMIntEQ, owed, LLVMConstInt(i32, loop + 1, false), ""), "");
}

void cg_take_turn(struct cg *g, LLVMValueRef taken)
{
    uint32_t loop = mr_flow_waiting_loop(&g->flow, g->now.at);
    uint32_t around =
        g->parking.owed && !mr_flow_tests_barrier(&g->flow, loop) ? waiting_loop_around(&g->flow, loop) : MR_FLOW_NONE;
    if (!g->parking.owed || (around == MR_FLOW_NONE && !has_waiting_loop_inside(&g->flow, loop)))
        return;
    LLVMValueRef owes = LLVMConstInt(g->unit->i32, around == MR_FLOW_NONE ? 0 : around + 1, false);
    LLVMValueRef before = LLVMBuildLoad2(g->b, g->unit->i32, g->parking.owed, "");
    LLVMBuildStore(g->b, LLVMBuildSelect(g->b, taken, owes, before, ""), g->parking.owed);
}

/* 16 bits, the same until the next round is counted. */
static LLVMValueRef draw_number(struct cg *g)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef rounds = LLVMBuildLoad2(g->b, i32, g->parking.rounds, "");
    LLVMValueRef product = LLVMBuildMul(g->b, rounds, LLVMConstInt(i32, SPREAD, false), "");
    return LLVMBuildLShr(g->b, product, LLVMConstInt(i32, 16, false), "");
}

LLVMValueRef cg_is_draw(struct cg *g)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef last = LLVMConstInt(i32, DRAW - 1, false);
    LLVMValueRef low = LLVMBuildAnd(g->b, LLVMBuildLoad2(g->b, i32, g->parking.rounds, ""), last, "");
    return LLVMBuildICmp(g->b, LLVMIntEQ, low, last, "");
}

_Static_assert(MR_SCAN_ORDER_DRAWN < 1 << MR_SCAN_ORDER_BITS, "an order has so many bits");

LLVMValueRef cg_drawn_order(struct cg *g)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef number = LLVMBuildShl(g->b, draw_number(g), LLVMConstInt(i32, MR_SCAN_ORDER_BITS, false), "");
    return LLVMBuildOr(g->b, number, LLVMConstInt(i32, MR_SCAN_ORDER_DRAWN, false), "");
}

LLVMValueRef cg_draw_bit(struct cg *g, LLVMValueRef bits, uint32_t count)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64;
    LLVMValueRef start = LLVMBuildMul(g->b, draw_number(g), LLVMConstInt(i32, count, false), "");
    start = LLVMBuildZExt(g->b, LLVMBuildLShr(g->b, start, LLVMConstInt(i32, 16, false), ""), i64, "");
    LLVMValueRef behind =
        LLVMBuildAnd(g->b, bits, LLVMBuildShl(g->b, LLVMConstInt(i64, UINT64_MAX, false), start, ""), "");
    LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, behind, LLVMConstInt(i64, 0, false), "");
    LLVMValueRef from = LLVMBuildSelect(g->b, any, behind, bits, "");
    LLVMValueRef bit =
        cg_intrinsic(g, "llvm.cttz", &i64, 1, (LLVMValueRef[]){from, LLVMConstInt(g->unit->i1, 0, false)}, 2);
    return LLVMBuildTrunc(g->b, bit, i32, "");
}

void cg_count_round(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    if (!mr_flow_ends_round(&g->flow, g->now.at))
        return;
    unit->flags |= MR_CODE_COOPERATIVE | MR_CODE_WAITS;
    if (!g->parking.rounds)
        g->parking.rounds = cg_slot_of_zero(g, g->unit->i32, "rounds");
    LLVMValueRef rounds = LLVMBuildLoad2(g->b, unit->i32, g->parking.rounds, "");
    rounds = LLVMBuildAdd(g->b, rounds, LLVMConstInt(unit->i32, 1, false), "");
    LLVMBuildStore(g->b, rounds, g->parking.rounds);
    LLVMValueRef low = LLVMBuildAnd(g->b, rounds, LLVMConstInt(unit->i32, 255, false), "");
    LLVMBasicBlockRef yield = cg_new_block(g, "yield"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, low, zero32(g), ""), yield, on);
    LLVMPositionBuilderAtEnd(g->b, yield);
    cg_runtime_call(g, offsetof(struct mr_runtime, yield), unit->void_type, NULL, 0);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}
