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
 * way there depends on it as well. Once such a value is stored, or a store depends on one, every load counts. A loop that sleeps, or
 * that has no way out, waits too. Waiting loops give way to other warps now and
 * then; to call one waiting by mistake costs a little time, to miss one may hang.
 *
 * Programs may also poll with plain loads, though nothing promises that they ever
 * see a change. Most loops that end by what they load don't wait, so these are
 * only noted, for the engine.
 */
#include "compile/codegen/flow.h"

#include <string.h>

#include "base/memory.h"

static bool is_sync_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_LD && inst->semantics != MR_PTX_SEM_NONE && inst->semantics != MR_PTX_SEM_WEAK
        && inst->space != MR_PTX_SPACE_LOCAL && inst->space != MR_PTX_SPACE_PARAM;
}

static bool is_fence(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_MEMBAR || inst->op == MR_PTX_OP_FENCE;
}

/* Waits for a phase of an mbarrier, which others complete. */
static bool is_phase_wait(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_MBARRIER && (inst->mode == MR_PTX_MODE_TEST_WAIT || inst->mode == MR_PTX_MODE_TRY_WAIT);
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
    bool tainted, mark, changed, stored, fences;
    bool controlled; /* the instruction is reached or not by a branch on a source */
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

/* One more look at an instruction. */
static void taint_instruction(struct taint *taint, const struct mr_ptx_inst *inst)
{
    bool loads = inst->op == MR_PTX_OP_LD && inst->space != MR_PTX_SPACE_PARAM
        && inst->space != MR_PTX_SPACE_CONST && inst->cache != MR_PTX_CACHE_NC;
    taint->mark = false;
    taint->tainted = is_source(taint->flow, inst) || (loads && taint->stored)
        || (loads && (taint->fences || taint->plain) && inst->space != MR_PTX_SPACE_LOCAL)
        || (taint->plain && inst->op == MR_PTX_OP_CALL) || taint->controlled;
    mr_flow_registers(taint->flow, inst, taint_visit, taint);
    if (!taint->tainted)
        return;
    if (inst->op == MR_PTX_OP_ST && !taint->stored)
        taint->stored = taint->changed = true;
    taint->mark = true;
    mr_flow_registers(taint->flow, inst, taint_visit, taint);
}

/* The first block behind `block` that every way from there comes by, or the end of the blocks whose running depends on the way taken: ways that jump back
 * to before `block` skip the rest of their loop. Edges otherwise lead onwards in the order of blocks, so the farthest end of those between is the join. */
static uint32_t join_of(const struct mr_flow *flow, uint32_t block)
{
    uint32_t reach = block + 1;
    for (uint32_t at = block; at < reach && at < flow->block_count; at++) {
        const struct mr_flow_block *from = &flow->blocks[at];
        for (uint32_t s = 0; s < from->succ_count; s++) {
            uint32_t to = from->succs[s], loop = flow->blocks[block].loop;
            /* Of the loops with both, the one that this way goes round in again. */
            while (to <= block && loop != MR_FLOW_NONE && to > flow->loops[loop].first)
                loop = flow->loops[loop].parent;
            if (to <= block)
                to = loop != MR_FLOW_NONE ? flow->loops[loop].end : block + 1;
            reach = to > reach ? to : reach;
        }
    }
    return reach;
}

/* Whether the way that the block goes on depends on a tainted register. */
static bool chooses_by_taint(const struct taint *taint, const struct mr_flow_block *block)
{
    const struct mr_ptx_inst *last = block->last;
    if (!last || block->succ_count + (block->end_kind == MR_END_SOME_EXIT) < 2)
        return false;
    return (last->guard != MR_PTX_NONE && mr_bit_get(taint->regs, last->guard))
        || (block->end_kind == MR_END_TABLE && last->operands[0].kind == MR_PTX_OPERAND_REG && mr_bit_get(taint->regs, last->operands[0].reg));
}

/* Marks what inner loops write that a block may leave by a tainted choice: it depends on how often they ran. */
static void taint_rounds(struct taint *taint, uint32_t block, uint32_t first, uint32_t end)
{
    const struct mr_flow *flow = taint->flow;
    for (uint32_t l = flow->blocks[block].loop; l != MR_FLOW_NONE; l = flow->loops[l].parent) {
        const struct mr_flow_loop *loop = &flow->loops[l];
        bool leaves = false;
        for (uint32_t s = 0; s < flow->blocks[block].succ_count; s++)
            leaves |= flow->blocks[block].succs[s] < loop->first || flow->blocks[block].succs[s] >= loop->end;
        if (!leaves || (loop->first == first && loop->end == end) || loop->first < first || loop->end > end)
            return;
        taint->controlled = true;
        for (uint32_t b = loop->first; b <= block; b++)
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
                taint_instruction(taint, &flow->func->insts[i]);
        taint->controlled = false;
    }
}

/* Registers that depend on a source, both in the given blocks. Returns through *regs (words of reg_count). */
static void taint_registers(const struct mr_flow *flow, bool plain, uint32_t first, uint32_t end, uint32_t *joins, mr_word *regs)
{
    struct taint taint = {.flow = flow, .plain = plain, .regs = regs, .changed = true};
    for (uint32_t b = first; b < end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            taint.fences |= is_fence(&flow->func->insts[i]);
    while (taint.changed) {
        uint32_t controlled = first; /* blocks before this one run or don't by a tainted choice */
        taint.changed = false;
        for (uint32_t b = first; b < end; b++) {
            taint.controlled = b < controlled;
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
                taint_instruction(&taint, &flow->func->insts[i]);
            taint.controlled = false;
            if (!chooses_by_taint(&taint, &flow->blocks[b]))
                continue;
            if (!joins[b])
                joins[b] = join_of(flow, b);
            controlled = joins[b] > controlled ? joins[b] : controlled;
            taint_rounds(&taint, b, first, end);
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
        if (exits && block->end_kind == MR_END_TABLE && block->last->operands[0].kind == MR_PTX_OPERAND_REG
            && mr_bit_get(tainted, block->last->operands[0].reg))
            return true;
    }
    return !leaves;
}

/* Finds out which loops may wait, where plain loads count or don't. False when memory is short. */
static bool find_waits(struct mr_flow *flow, bool plain)
{
    mr_word *tainted = mr_calloc(mr_bit_words(flow->reg_count), sizeof *tainted);
    uint32_t *joins = mr_calloc(flow->block_count + 1, sizeof *joins);
    if (!tainted || !joins) {
        mr_free(joins);
        mr_free(tainted);
        return false;
    }
    if (flow->loop_count)
        taint_registers(flow, plain, 0, flow->block_count, joins, tainted);
    for (uint32_t l = 0; l < flow->loop_count; l++)
        flow->loops[l].waits = loop_waits(flow, &flow->loops[l], tainted);
    /* Most of them don't: what they depend on was known before they began. */
    size_t words = mr_bit_words(flow->reg_count);
    uint64_t visits = 0;
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        struct mr_flow_loop *loop = &flow->loops[l];
        visits += flow->func->inst_count + words;
        if (!loop->waits || visits > LOOP_VISITS_MAX)
            continue;
        memset(tainted, 0, words * sizeof *tainted);
        taint_registers(flow, plain, loop->first, loop->end, joins, tainted);
        loop->waits = loop_waits(flow, loop, tainted);
    }
    mr_free(joins);
    mr_free(tainted);
    return true;
}

bool mr_flow_waits(struct mr_flow *flow)
{
    return find_waits(flow, false);
}

static bool has_waiting_loop(const struct mr_flow *flow)
{
    for (uint32_t l = 0; l < flow->loop_count; l++)
        if (flow->loops[l].waits)
            return true;
    return false;
}

/* A fact holds for a function if it holds for it alone or for anything that it calls. */
static void facts_of_body(const struct mr_ptx_function *func, struct mr_flow_facts *all, bool *changed)
{
    struct mr_flow_facts facts = all[func->index];
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        facts.may_exit |= inst->op == MR_PTX_OP_EXIT;
        facts.polls |= is_sync_load(inst) || inst->op == MR_PTX_OP_ATOM || is_phase_wait(inst) || is_fence(inst);
        facts.barriers |= (inst->op == MR_PTX_OP_BAR && inst->mode != MR_PTX_MODE_WARP_SYNC)
            || inst->op == MR_PTX_OP_BARRIER;
        if (!inst->call)
            continue;
        const struct mr_ptx_function *callee = mr_layout_resolve(inst->call->callee);
        if (callee) {
            facts.may_exit |= all[callee->index].may_exit;
            facts.polls |= all[callee->index].polls;
            facts.barriers |= all[callee->index].barriers;
            continue;
        }
        facts.polls |= pointers_poll(all, func->module);
        for (uint32_t f = 0; f < func->module->function_count; f++)
            if (func->module->functions[f]->address_taken) {
                uint32_t target = mr_layout_resolve(func->module->functions[f])->index;
                facts.may_exit |= all[target].may_exit;
                facts.barriers |= all[target].barriers;
            }
    }
    struct mr_flow_facts *old = &all[func->index];
    if (facts.may_exit != old->may_exit || facts.polls != old->polls || facts.barriers != old->barriers) {
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
        bool good = mr_flow_order(&flow) && find_waits(&flow, false);
        facts[f].waits = facts[f].may_wait = good && has_waiting_loop(&flow);
        if (good && !facts[f].waits) {
            good = find_waits(&flow, true);
            facts[f].may_wait = good && has_waiting_loop(&flow);
        }
        mr_flow_clear(&flow);
        if (!good)
            return false;
    }
    return true;
}
