/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loops that wait and do nothing that could bring them further, though they change memory.
 *
 * A loop that polls may count its rounds in memory, or write a sign of life. From outside that looks like work. Such a
 * loop is *steady* if nothing in it goes on by itself: no register that the loop moves (moving.c) has to do with which
 * way it goes, no clock has either, each place that it loads or stores is the same in every round, and it calls
 * nothing. What a steady loop stores is no progress. A change of what it is left by is, so all loads that have to do
 * with the way of a loop that waits, the function's *polls*, are compared with what they gave before.
 *
 * In doubt a loop is not steady: then every store in it counts, as in a loop that works (body/change.c).
 */
#include "compile/codegen/analysis/flow.h"
#include "compile/codegen/analysis/moving.h"

#include <string.h>

#include "base/alloc.h"

/* Looking at each loop by itself costs at most so many visits of instructions. */
#define LOOP_VISITS_MAX 20000000u

struct steady {
    const struct mr_flow *flow;
    size_t words;
    mr_word *moving, *relevant, *derived, *own; /* own: instructions; see moving.h */
    bool hit, changed;
};

static const struct mr_ptx_inst *inst_at(const struct steady *steady, uint32_t i)
{
    return &steady->flow->func->insts[i];
}

static bool is_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_LD && inst->space != MR_PTX_SPACE_PARAM && inst->space != MR_PTX_SPACE_CONST &&
           inst->cache != MR_PTX_CACHE_NC;
}

/* What gets another value by itself. */
static bool reads_clock(const struct mr_ptx_inst *inst)
{
    for (uint32_t o = 0; o < inst->operand_count; o++)
        if (inst->operands[o].kind == MR_PTX_OPERAND_SPECIAL &&
            ((inst->operands[o].special >= MR_PTX_SPECIAL_CLOCK &&
              inst->operands[o].special <= MR_PTX_SPECIAL_GLOBALTIMER_HI) ||
             inst->operands[o].special == MR_PTX_SPECIAL_PM || inst->operands[o].special == MR_PTX_SPECIAL_PM64))
            return true;
    return false;
}

static void derived_use_visit(void *data, uint32_t reg, bool is_definition)
{
    struct steady *steady = data;
    steady->hit |= !is_definition && mr_bit_get(steady->derived, reg);
}

static void derived_definition_visit(void *data, uint32_t reg, bool is_definition)
{
    struct steady *steady = data;
    if (!is_definition || mr_bit_get(steady->derived, reg))
        return;
    mr_bit_set(steady->derived, reg);
    steady->changed = true;
}

/* What may be another value in another round: what moves, what is loaded, and what is made of them. */
static void find_derived(struct steady *steady, const struct mr_flow_loop *loop)
{
    memcpy(steady->derived, steady->moving, steady->words * sizeof *steady->derived);
    for (steady->changed = true; steady->changed;) {
        steady->changed = false;
        for (uint32_t b = loop->first; b < loop->end; b++)
            for (uint32_t i = steady->flow->blocks[b].first; i < steady->flow->blocks[b].end; i++) {
                const struct mr_ptx_inst *inst = inst_at(steady, i);
                steady->hit = is_load(inst) || inst->op == MR_PTX_OP_ATOM || reads_clock(inst);
                mr_flow_registers(steady->flow, inst, derived_use_visit, steady);
                if (steady->hit)
                    mr_flow_registers(steady->flow, inst, derived_definition_visit, steady);
            }
    }
}

static bool is_derived(const struct steady *steady, const struct mr_ptx_operand *operand)
{
    return (operand->kind == MR_PTX_OPERAND_REG || operand->kind == MR_PTX_OPERAND_REG_ADDRESS) &&
           (operand->reg == MR_PTX_NONE || mr_bit_get(steady->derived, operand->reg));
}

static void relevant_visit(void *data, uint32_t reg, bool is_definition)
{
    struct steady *steady = data;
    steady->hit |= is_definition && mr_bit_get(steady->relevant, reg);
}

static bool is_relevant(struct steady *steady, const struct mr_ptx_inst *inst)
{
    steady->hit = false;
    mr_flow_registers(steady->flow, inst, relevant_visit, steady);
    return steady->hit;
}

/* Whether the instruction leaves its loop steady. */
static bool is_still(struct steady *steady, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_LD:
    case MR_PTX_OP_ATOM:
        return inst->operand_count > 1 && !is_derived(steady, &inst->operands[1]);
    case MR_PTX_OP_ST:
    case MR_PTX_OP_RED:
        return inst->operand_count > 1 && !is_derived(steady, &inst->operands[0]);
    case MR_PTX_OP_CALL:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_LDMATRIX:
    case MR_PTX_OP_WMMA:
        return false;
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        return true;
    default:
        return !mr_flow_acts(inst) && !(reads_clock(inst) && is_relevant(steady, inst));
    }
}

static bool is_steady(struct steady *steady, const struct mr_flow_loop *loop)
{
    find_derived(steady, loop);
    for (size_t w = 0; w < steady->words; w++)
        if (steady->relevant[w] & steady->moving[w])
            return false;
    for (uint32_t b = loop->first; b < loop->end; b++)
        for (uint32_t i = steady->flow->blocks[b].first; i < steady->flow->blocks[b].end; i++)
            if (!is_still(steady, inst_at(steady, i)))
                return false;
    return true;
}

/* Adds the loop's polls. False if one of them can't be compared. */
static bool note_polls(struct steady *steady, const struct mr_flow_loop *loop, mr_word *polls)
{
    for (uint32_t b = loop->first; b < loop->end; b++)
        for (uint32_t i = steady->flow->blocks[b].first; i < steady->flow->blocks[b].end; i++) {
            const struct mr_ptx_inst *inst = inst_at(steady, i);
            if ((!is_load(inst) && inst->op != MR_PTX_OP_ATOM) || !is_relevant(steady, inst))
                continue;
            if (inst->operands[0].kind != MR_PTX_OPERAND_REG || inst->operands[0].reg == MR_PTX_NONE)
                return false;
            mr_bit_set(polls, i);
        }
    return true;
}

static bool changes_memory(const struct mr_flow *flow, const struct mr_flow_loop *loop)
{
    for (uint32_t b = loop->first; b < loop->end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            if (flow->func->insts[i].op == MR_PTX_OP_ST || flow->func->insts[i].op == MR_PTX_OP_RED ||
                flow->func->insts[i].op == MR_PTX_OP_ATOM)
                return true;
    return false;
}

/* A loop that waits, and stands in none that does. */
static bool is_outermost(const struct mr_flow *flow, const struct mr_flow_loop *loop)
{
    if (!loop->waits)
        return false;
    for (uint32_t l = loop->parent; l != MR_FLOW_NONE; l = flow->loops[l].parent)
        if (flow->loops[l].waits)
            return false;
    return true;
}

/* All loops that wait. True if some of the steady ones change memory, and all polls can be compared; *good: memory was
 * not short. */
static bool look_at_loops(struct steady *steady, struct mr_flow *flow, bool *good)
{
    bool some = false, comparable = true;
    uint64_t visits = 0;
    for (uint32_t l = 0; l < flow->loop_count && comparable; l++) {
        struct mr_flow_loop *loop = &flow->loops[l];
        bool polls; /* asked of no use here */
        if (!is_outermost(flow, loop))
            continue;
        visits += flow->func->inst_count + steady->words;
        if (visits > LOOP_VISITS_MAX)
            return false;
        memset(steady->relevant, 0, steady->words * sizeof *steady->relevant);
        memset(steady->own, 0, mr_bit_words(flow->func->inst_count) * sizeof *steady->own);
        mr_flow_relevant(flow, loop, steady->relevant);
        comparable = note_polls(steady, loop, flow->polls);
        if (!changes_memory(flow, loop))
            continue;
        *good = mr_flow_moving(flow, loop, steady->moving, steady->own, &polls);
        if (!*good)
            return false;
        loop->steady = is_steady(steady, loop);
        some |= loop->steady;
    }
    return some && comparable;
}

bool mr_flow_steady(struct mr_flow *flow)
{
    bool some = false, good = true;
    for (uint32_t l = 0; l < flow->loop_count; l++)
        some |= flow->loops[l].waits && changes_memory(flow, &flow->loops[l]);
    if (!some)
        return true;
    struct steady steady = {.flow = flow, .words = mr_bit_words(flow->reg_count)};
    size_t inst_words = mr_bit_words(flow->func->inst_count);
    steady.moving = mr_calloc(3 * steady.words + inst_words, sizeof *steady.moving);
    flow->polls = mr_calloc(inst_words, sizeof *flow->polls);
    good = steady.moving && flow->polls;
    if (good) {
        steady.relevant = steady.moving + steady.words;
        steady.derived = steady.moving + 2 * steady.words;
        steady.own = steady.moving + 3 * steady.words;
        some = look_at_loops(&steady, flow, &good);
    }
    mr_free(steady.moving);
    if (good && some)
        return true;
    mr_free(flow->polls);
    flow->polls = NULL;
    for (uint32_t l = 0; l < flow->loop_count; l++)
        flow->loops[l].steady = false;
    return good;
}

bool mr_flow_stores_steadily(const struct mr_flow *flow, uint32_t block)
{
    for (uint32_t l = flow->blocks[block].loop; l != MR_FLOW_NONE; l = flow->loops[l].parent)
        if (flow->loops[l].steady)
            return true;
    return false;
}
