/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loops that may wait for another thread, and what each function of a module
 * may do that its callers must know.
 *
 * A loop may wait if whether it is left depends on something that another thread
 * can change: a volatile, relaxed or acquiring load, the result of an atomic
 * operation, any load in a loop that also has a fence, or a call of a function
 * with one of these, in the loop. Dependence is followed through registers without
 * regard to order, and through control: what is written only if such a value chose the
 * way there depends on it as well. Once such a value is stored, or a store depends on one, every load counts. A loop
 * that sleeps, or that has no way out, waits too. Waiting loops give way to other warps now and then; to call one
 * waiting by mistake costs a little time, to miss one may hang.
 *
 * Programs may also poll with plain loads, though nothing promises that they ever
 * see a change. Most loops that end by what they load don't wait: those that surely do
 * are found in idle.c, and the rest is only noted, for the engine.
 */
#include "compile/codegen/analysis/flow.h"

#include <string.h>

#include "base/alloc.h"

static bool is_sync_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_LD && inst->semantics != MR_PTX_SEM_NONE && inst->semantics != MR_PTX_SEM_WEAK &&
           inst->space != MR_PTX_SPACE_LOCAL && inst->space != MR_PTX_SPACE_PARAM;
}

static bool is_fence(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_MEMBAR || inst->op == MR_PTX_OP_FENCE;
}

/* Waits for a phase of an mbarrier, which others complete. */
static bool is_phase_wait(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_MBARRIER &&
           (inst->mode == MR_PTX_MODE_TEST_WAIT || inst->mode == MR_PTX_MODE_TRY_WAIT);
}

/* Waits at a barrier by itself. */
static bool is_barrier_test(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_BAR && inst->mode == MR_PTX_MODE_TEST;
}

bool mr_flow_tests_barrier(const struct mr_flow *flow, uint32_t loop)
{
    const struct mr_flow_block *head = &flow->blocks[flow->loops[loop].first];
    return head->end > head->first && is_barrier_test(&flow->func->insts[head->first]);
}

/* Whether any function that a pointer may lead to polls. */
static bool pointers_poll(const struct mr_flow_facts *facts, const struct mr_ptx_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f]->address_taken && facts[mr_layout_resolve(module->functions[f])->index].polls)
            return true;
    return false;
}

/* Whether the result of an instruction may show another thread's progress. */
static bool is_source(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    if (is_sync_load(inst) || inst->op == MR_PTX_OP_ATOM || is_phase_wait(inst) || is_barrier_test(inst))
        return true;
    if (inst->op == MR_PTX_OP_LD && (inst->cache == MR_PTX_CACHE_CV))
        return true;
    if (inst->op != MR_PTX_OP_CALL)
        return false;
    if (!inst->call->callee)
        return pointers_poll(flow->facts, flow->func->module);
    return flow->facts[mr_layout_resolve(inst->call->callee)->index].polls;
}

/* Looking at each loop by itself costs at most so many visits of instructions. */
#define LOOP_VISITS_MAX 20000000u

struct taint {
    const struct mr_flow *flow;
    bool plain; /* what any load gives counts, and what any call returns */
    mr_word *regs;
    uint32_t *joins;         /* by block: join_of, 0 where nobody has asked yet */
    bool *uneven;            /* by loop: how often it runs depends on a source */
    uint32_t controlled_end; /* whether the blocks before this one run, of those not visited yet, depends on a source */
    bool controlled; /* the instruction is in such a block, or in an uneven loop */
    bool tainted, mark, changed, stored, fences;
};

static void taint_visit(void *data, uint32_t reg, bool is_definition)
{
    struct taint *taint = data;
    if (!is_definition) {
        taint->tainted |= mr_bit_get(taint->regs, reg);
    } else if (taint->mark && !mr_bit_get(taint->regs, reg)) {
        mr_bit_set(taint->regs, reg);
        taint->changed = true;
    }
}

/* Reads memory that is not addressed as others are, or by many lanes together: counts where plain loads do. */
static bool is_other_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_SULD || inst->op == MR_PTX_OP_TEX || inst->op == MR_PTX_OP_TLD4 ||
           inst->op == MR_PTX_OP_LDMATRIX || inst->op == MR_PTX_OP_WMMA;
}

/* One more look at an instruction. */
static void taint_instruction(struct taint *taint, const struct mr_ptx_inst *inst)
{
    bool loads = inst->op == MR_PTX_OP_LD && inst->space != MR_PTX_SPACE_PARAM && inst->space != MR_PTX_SPACE_CONST &&
                 inst->cache != MR_PTX_CACHE_NC;
    taint->mark = false;
    taint->tainted = is_source(taint->flow, inst) || (loads && taint->stored) ||
                     (taint->plain && is_other_load(inst)) ||
                     (loads && (taint->fences || taint->plain) && inst->space != MR_PTX_SPACE_LOCAL) ||
                     (taint->plain && inst->op == MR_PTX_OP_CALL) || taint->controlled;
    mr_flow_registers(taint->flow, inst, taint_visit, taint);
    if (!taint->tainted)
        return;
    if (inst->op == MR_PTX_OP_ST && !taint->stored)
        taint->stored = taint->changed = true;
    taint->mark = true;
    mr_flow_registers(taint->flow, inst, taint_visit, taint);
}

/* The end of the blocks behind `block` whose running depends on the way that it takes: the first that every way comes
 * by. Edges lead onwards in the order of blocks or back to the head of a loop, so it is the farthest that a block
 * before it leads to. A way back to before `block` skips the rest of its loop. */
static uint32_t join_of(const struct mr_flow *flow, uint32_t block)
{
    uint32_t join = block + 1;
    for (uint32_t at = block; at < join && at < flow->block_count; at++) {
        const struct mr_flow_block *from = &flow->blocks[at];
        for (uint32_t s = 0; s < from->succ_count; s++) {
            uint32_t to = from->succs[s], loop = flow->blocks[block].loop;
            if (to <= block) {
                while (loop != MR_FLOW_NONE && to < flow->loops[loop].first)
                    loop = flow->loops[loop].parent;
                to = loop != MR_FLOW_NONE ? flow->loops[loop].end : block + 1;
            }
            join = to > join ? to : join;
        }
    }
    return join;
}

/* Whether the way that the block goes on depends on a tainted register. */
static bool chooses_by_taint(const struct taint *taint, const struct mr_flow_block *block)
{
    const struct mr_ptx_inst *last = block->last;
    if (!last || block->succ_count + (block->end_kind == MR_END_SOME_EXIT) < 2)
        return false;
    return (last->guard != MR_PTX_NONE && mr_bit_get(taint->regs, last->guard)) ||
           (block->end_kind == MR_END_TABLE && last->operands[0].kind == MR_PTX_OPERAND_REG &&
            mr_bit_get(taint->regs, last->operands[0].reg));
}

static bool leads_out(const struct mr_flow_block *block, const struct mr_flow_loop *loop)
{
    for (uint32_t s = 0; s < block->succ_count; s++)
        if (block->succs[s] < loop->first || block->succs[s] >= loop->end)
            return true;
    return false;
}

/* Whether the loop is a smaller part of the blocks [first, end). */
static bool is_inside(const struct mr_flow_loop *loop, uint32_t first, uint32_t end)
{
    return loop->first >= first && loop->end <= end && loop->end - loop->first < end - first;
}

/* A tainted choice: what comes before the ways' join depends on it, and what the inner loops write that it may leave,
 * by how often they run. */
static void taint_choice(struct taint *taint, uint32_t block, uint32_t first, uint32_t end)
{
    const struct mr_flow *flow = taint->flow;
    if (!taint->joins[block])
        taint->joins[block] = join_of(flow, block);
    if (taint->joins[block] > taint->controlled_end)
        taint->controlled_end = taint->joins[block];
    for (uint32_t l = flow->blocks[block].loop; l != MR_FLOW_NONE && is_inside(&flow->loops[l], first, end);
         l = flow->loops[l].parent)
        if (!taint->uneven[l] && leads_out(&flow->blocks[block], &flow->loops[l]))
            taint->uneven[l] = taint->changed = true;
}

static bool is_controlled(const struct taint *taint, uint32_t block)
{
    bool controlled = block < taint->controlled_end;
    for (uint32_t l = taint->flow->blocks[block].loop; l != MR_FLOW_NONE && !controlled;
         l = taint->flow->loops[l].parent)
        controlled = taint->uneven[l];
    return controlled;
}

/* Marks the registers that depend on a source, both in the blocks [first, end), in taint->regs, which is cleared first.
 */
static void taint_registers(struct taint *taint, uint32_t first, uint32_t end)
{
    const struct mr_flow *flow = taint->flow;
    memset(taint->regs, 0, mr_bit_words(flow->reg_count) * sizeof *taint->regs);
    memset(taint->uneven, 0, flow->loop_count * sizeof *taint->uneven);
    taint->stored = taint->fences = false;
    for (uint32_t b = first; b < end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            taint->fences |= is_fence(&flow->func->insts[i]);
    taint->changed = true;
    while (taint->changed) {
        taint->changed = false;
        taint->controlled_end = first;
        for (uint32_t b = first; b < end; b++) {
            taint->controlled = is_controlled(taint, b);
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
                taint_instruction(taint, &flow->func->insts[i]);
            if (chooses_by_taint(taint, &flow->blocks[b]))
                taint_choice(taint, b, first, end);
        }
    }
}

static bool loop_waits(const struct mr_flow *flow, const struct mr_flow_loop *loop, const mr_word *tainted)
{
    bool leaves = false;
    for (uint32_t b = loop->first; b < loop->end; b++) {
        const struct mr_flow_block *block = &flow->blocks[b];
        for (uint32_t i = block->first; i < block->end; i++)
            if (flow->func->insts[i].op == MR_PTX_OP_NANOSLEEP)
                return true;
        bool exits = block->end_kind == MR_END_EXIT || block->end_kind == MR_END_SOME_EXIT;
        for (uint32_t s = 0; s < block->succ_count; s++)
            exits |= block->succs[s] < loop->first || block->succs[s] >= loop->end;
        leaves |= exits;
        if (exits && block->last && block->last->guard != MR_PTX_NONE && mr_bit_get(tainted, block->last->guard))
            return true;
        if (exits && block->end_kind == MR_END_TABLE && block->last->operands[0].kind == MR_PTX_OPERAND_REG &&
            mr_bit_get(tainted, block->last->operands[0].reg))
            return true;
    }
    return !leaves;
}

/* Finds out which loops end by what they load, where plain loads count or don't. False when memory is short. */
static bool find_waits(struct mr_flow *flow, bool plain)
{
    size_t words = mr_bit_words(flow->reg_count);
    struct taint taint = {.flow = flow, .plain = plain};
    if (!flow->loop_count)
        return true;
    taint.regs = mr_calloc(words, sizeof *taint.regs);
    taint.joins = mr_calloc(flow->block_count, sizeof *taint.joins);
    taint.uneven = mr_calloc(flow->loop_count, sizeof *taint.uneven);
    bool good = taint.regs && taint.joins && taint.uneven;
    if (good)
        taint_registers(&taint, 0, flow->block_count);
    for (uint32_t l = 0; good && l < flow->loop_count; l++)
        flow->loops[l].may_wait = loop_waits(flow, &flow->loops[l], taint.regs);
    /* Most of them don't: what they depend on was known before they began. */
    uint64_t visits = 0;
    for (uint32_t l = 0; good && l < flow->loop_count; l++) {
        struct mr_flow_loop *loop = &flow->loops[l];
        visits += flow->func->inst_count + words;
        if (!loop->may_wait || visits > LOOP_VISITS_MAX)
            continue;
        taint_registers(&taint, loop->first, loop->end);
        loop->may_wait = loop_waits(flow, loop, taint.regs);
    }
    mr_free(taint.uneven);
    mr_free(taint.joins);
    mr_free(taint.regs);
    return good;
}

/* Of the loops that end by plain loads only, those that can go round without getting any further. */
static bool find_idle(struct mr_flow *flow)
{
    uint64_t visits = 0;
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        struct mr_flow_loop *loop = &flow->loops[l];
        visits += flow->func->inst_count + mr_bit_words(flow->reg_count);
        if (loop->waits || !loop->may_wait || visits > LOOP_VISITS_MAX)
            continue;
        int idles = mr_flow_idles(flow, loop);
        if (idles < 0)
            return false;
        loop->waits = idles;
    }
    return true;
}

static bool is_in_wait(const struct mr_flow *flow, uint32_t block)
{
    return mr_flow_waiting_loop(flow, block) != MR_FLOW_NONE;
}

static void note_ways_out(struct mr_flow *flow)
{
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t s = 0; is_in_wait(flow, b) && s < flow->blocks[b].succ_count; s++)
            flow->blocks[flow->blocks[b].succs[s]].follows_wait |= !is_in_wait(flow, flow->blocks[b].succs[s]);
}

bool mr_flow_waits(struct mr_flow *flow)
{
    bool some = false;
    if (!find_waits(flow, false))
        return false;
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        flow->loops[l].waits = flow->loops[l].may_wait;
        some |= !flow->loops[l].waits;
    }
    if (some && !(find_waits(flow, true) && find_idle(flow)))
        return false;
    note_ways_out(flow);
    uint32_t waiting = 0;
    for (uint32_t l = 0; l < flow->loop_count; l++)
        waiting += flow->loops[l].waits && !mr_flow_tests_barrier(flow, l);
    flow->draws = waiting > 1;
    return true;
}

bool mr_flow_acts(const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_BRA:
    case MR_PTX_OP_BRX:
    case MR_PTX_OP_CALL:
    case MR_PTX_OP_RET:
    case MR_PTX_OP_EXIT:
    case MR_PTX_OP_MEMBAR:
    case MR_PTX_OP_FENCE:
    case MR_PTX_OP_NANOSLEEP:
    case MR_PTX_OP_PREFETCH:
    case MR_PTX_OP_PREFETCHU:
        return false;
    default:
        return inst->dst_count == 0 || inst->op == MR_PTX_OP_ATOM || inst->op == MR_PTX_OP_BAR ||
               inst->op == MR_PTX_OP_BARRIER || inst->op == MR_PTX_OP_MBARRIER;
    }
}

/* Whether somebody outside of the function may see what the instruction does; calls are asked for elsewhere. */
static bool leaves_traces(const struct mr_ptx_inst *inst)
{
    if (inst->op == MR_PTX_OP_ST)
        return inst->space != MR_PTX_SPACE_LOCAL && inst->space != MR_PTX_SPACE_PARAM;
    return inst->op == MR_PTX_OP_EXIT || mr_flow_acts(inst);
}

/* A fact holds for a function if it holds for it alone or for anything that it calls. */
static void facts_of_body(const struct mr_ptx_function *func, struct mr_flow_facts *all, bool *changed)
{
    struct mr_flow_facts facts = all[func->index];
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        facts.may_exit |= inst->op == MR_PTX_OP_EXIT;
        facts.acts |= leaves_traces(inst);
        facts.awaits_grids |= mr_flow_awaits_grids(inst);
        facts.polls |= is_sync_load(inst) || inst->op == MR_PTX_OP_ATOM || is_phase_wait(inst) || is_fence(inst);
        facts.barriers |=
            (inst->op == MR_PTX_OP_BAR && inst->mode != MR_PTX_MODE_WARP_SYNC) || inst->op == MR_PTX_OP_BARRIER;
        if (!inst->call)
            continue;
        const struct mr_ptx_function *callee = mr_layout_resolve(inst->call->callee);
        if (callee) {
            facts.may_exit |= all[callee->index].may_exit;
            facts.acts |= all[callee->index].acts;
            facts.awaits_grids |= all[callee->index].awaits_grids;
            facts.polls |= all[callee->index].polls;
            facts.barriers |= all[callee->index].barriers;
            continue;
        }
        facts.acts = true;
        facts.polls |= pointers_poll(all, func->module);
        for (uint32_t f = 0; f < func->module->function_count; f++)
            if (func->module->functions[f]->address_taken) {
                uint32_t target = mr_layout_resolve(func->module->functions[f])->index;
                facts.may_exit |= all[target].may_exit;
                facts.barriers |= all[target].barriers;
                facts.awaits_grids |= all[target].awaits_grids;
            }
    }
    struct mr_flow_facts *old = &all[func->index];
    if (facts.may_exit != old->may_exit || facts.polls != old->polls || facts.barriers != old->barriers ||
        facts.acts != old->acts || facts.awaits_grids != old->awaits_grids) {
        *old = facts;
        *changed = true;
    }
}

bool mr_flow_facts_find(const struct mr_ptx_module *module, struct mr_flow_facts *facts)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < module->function_count; f++)
            if (module->functions[f]->has_body)
                facts_of_body(module->functions[f], facts, &changed);
    }
    for (uint32_t f = 0; f < module->function_count; f++) {
        struct mr_flow flow = {0};
        if (!module->functions[f]->has_body)
            continue;
        flow.func = module->functions[f];
        flow.facts = facts;
        flow.reg_count = flow.func->reg_count + 1;
        bool good = mr_flow_order(&flow) && mr_flow_liveness(&flow) && mr_flow_waits(&flow);
        for (uint32_t l = 0; good && l < flow.loop_count; l++) {
            facts[f].waits |= flow.loops[l].waits;
            facts[f].may_wait |= flow.loops[l].waits || flow.loops[l].may_wait;
        }
        mr_flow_clear(&flow);
        if (!good)
            return false;
    }
    return true;
}
