/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which registers a loop moves.
 *
 * A register that a loop writes and that is live at its head *moves* if a new value of it depends on an older one: a
 * count, a pointer that goes from link to link, two registers that change places. One that is written but does not move
 * gets the same value in each round, as long as memory and all that moves stay as they are: a value that is loaded anew
 * from the same place, for example.
 *
 * So for each such register, what depends on its value at the head is followed through the rounds. Other than in
 * waits.c the order counts: a register that is written without such a value does not depend on it any more. What a load
 * gives depends on its address.
 */
#include "compile/codegen/analysis/moving.h"

#include <string.h>

#include "base/alloc.h"

/* Loops with more than so many registers, or instructions, or larger sets, are not looked at: all of theirs move. */
#define REGISTERS_MAX 24u
#define INSTRUCTIONS_MAX 4000u
#define STORES_MAX 64u /* the others are not compared with loads */
#define SETS_WORDS_MAX (1u << 18)

struct walk {
    const struct mr_flow *flow;
    const struct mr_flow_loop *loop;
    size_t words;
    mr_word *in; /* by block of the loop: registers that depend on what is followed */
    mr_word *now;
    const mr_word *own; /* instructions: see moving.h */
    uint32_t asked; /* a register */
    bool uses, writes, marks;
};

static mr_word *in_of(const struct walk *walk, uint32_t block)
{
    return walk->in + (block - walk->loop->first) * walk->words;
}

static void use_visit(void *data, uint32_t reg, bool is_definition)
{
    struct walk *walk = data;
    walk->uses |= !is_definition && mr_bit_get(walk->now, reg);
    walk->writes |= is_definition && reg == walk->asked;
}

/* What has a guard may leave the old value. */
static void definition_visit(void *data, uint32_t reg, bool is_definition)
{
    struct walk *walk = data;
    if (!is_definition)
        return;
    if (walk->marks)
        mr_bit_set(walk->now, reg);
    else
        mr_bit_clear(walk->now, reg);
}

static bool is_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_LD && inst->space != MR_PTX_SPACE_PARAM && inst->space != MR_PTX_SPACE_CONST &&
           inst->space != MR_PTX_SPACE_LOCAL && inst->cache != MR_PTX_CACHE_NC;
}

/* What is followed besides what depends on the head's set: nothing, or what is loaded from the loop's own places, or
 * from others. */
enum follows { NOTHING, OWN, OTHERS };

/* Goes through a block. True if it writes walk->asked by what is followed.
 */
static bool walk_block(struct walk *walk, uint32_t block, enum follows follows)
{
    bool found = false;
    memcpy(walk->now, in_of(walk, block), walk->words * sizeof(mr_word));
    for (uint32_t i = walk->flow->blocks[block].first; i < walk->flow->blocks[block].end; i++) {
        const struct mr_ptx_inst *inst = &walk->flow->func->insts[i];
        walk->uses = is_load(inst) && (mr_bit_get(walk->own, i) ? follows == OWN : follows == OTHERS);
        walk->writes = false;
        mr_flow_registers(walk->flow, inst, use_visit, walk);
        found |= walk->uses && walk->writes;
        walk->marks = walk->uses;
        if (walk->uses || inst->guard == MR_PTX_NONE)
            mr_flow_registers(walk->flow, inst, definition_visit, walk);
    }
    return found;
}

/* Follows it through all rounds. True if walk->asked is ever
 * written by it. */
static bool follow(struct walk *walk, enum follows follows)
{
    const struct mr_flow_loop *loop = walk->loop;
    bool found = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = loop->first; b < loop->end; b++) {
            const struct mr_flow_block *block = &walk->flow->blocks[b];
            found |= walk_block(walk, b, follows);
            for (uint32_t s = 0; s < block->succ_count; s++) {
                if (block->succs[s] < loop->first || block->succs[s] >= loop->end)
                    continue;
                mr_word *to = in_of(walk, block->succs[s]);
                for (size_t w = 0; w < walk->words; w++) {
                    changed |= (walk->now[w] & ~to[w]) != 0;
                    to[w] |= walk->now[w];
                }
            }
        }
    }
    return found;
}

static void written_visit(void *data, uint32_t reg, bool is_definition)
{
    if (is_definition)
        mr_bit_set(data, reg);
}

/* Registers written in the loop and live at its head, into `set`; how many. */
static uint32_t find_carried(const struct walk *walk, mr_word *set)
{
    const struct mr_flow *flow = walk->flow;
    uint32_t count = 0;
    for (uint32_t b = walk->loop->first; b < walk->loop->end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            mr_flow_registers(flow, &flow->func->insts[i], written_visit, set);
    for (size_t w = 0; w < walk->words; w++) {
        set[w] &= flow->blocks[walk->loop->first].live_in[w];
        count += (uint32_t)__builtin_popcountll(set[w]);
    }
    return count;
}

static void begin(struct walk *walk)
{
    memset(walk->in, 0, (walk->loop->end - walk->loop->first) * walk->words * sizeof(mr_word));
}

/* Whether the loop can be left at the block's end, by a condition; *by: what is followed has to do with that. */
static bool leaves(struct walk *walk, uint32_t block, enum follows follows, bool *by)
{
    const struct mr_flow_block *at = &walk->flow->blocks[block];
    bool exits = at->end_kind == MR_END_EXIT || at->end_kind == MR_END_SOME_EXIT;
    for (uint32_t s = 0; s < at->succ_count; s++)
        exits |= at->succs[s] < walk->loop->first || at->succs[s] >= walk->loop->end;
    if (!exits || !at->last || at->last->guard == MR_PTX_NONE)
        return false;
    (void)walk_block(walk, block, follows);
    *by = mr_bit_get(walk->now, at->last->guard);
    return true;
}

/* Whether the loop has a way out that goes by what was loaded, and by nothing that moves. `still`: room, by block. */
static bool has_still_exit(struct walk *walk, const mr_word *moving, mr_word *still)
{
    const struct mr_flow_loop *loop = walk->loop;
    bool by;
    begin(walk);
    (void)follow(walk, OTHERS);
    for (uint32_t b = loop->first; b < loop->end; b++)
        if (leaves(walk, b, OTHERS, &by) && by)
            mr_bit_set(still, b);
    begin(walk);
    memcpy(in_of(walk, loop->first), moving, walk->words * sizeof(mr_word));
    (void)follow(walk, OWN);
    for (uint32_t b = loop->first; b < loop->end; b++)
        if (mr_bit_get(still, b) && leaves(walk, b, OWN, &by) && !by)
            return true;
    return false;
}

/* The address of a load or a store to memory that others see; NULL if this is no such instruction. */
static const struct mr_ptx_operand *place_of(const struct mr_ptx_inst *inst)
{
    if (inst->op == MR_PTX_OP_ST && inst->space != MR_PTX_SPACE_PARAM && inst->space != MR_PTX_SPACE_LOCAL)
        return &inst->operands[0];
    return is_load(inst) && inst->operand_count > 1 ? &inst->operands[1] : NULL;
}

static bool is_one_place(const struct mr_ptx_operand *a, const struct mr_ptx_operand *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && a->var == b->var;
}

/* Sets `own`, which is empty. */
static void find_own(const struct mr_flow *flow, const struct mr_flow_loop *loop, mr_word *own)
{
    uint32_t stores[STORES_MAX], count = 0;
    for (uint32_t b = loop->first; b < loop->end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end && count < STORES_MAX; i++)
            if (flow->func->insts[i].op == MR_PTX_OP_ST && place_of(&flow->func->insts[i]))
                stores[count++] = i;
    for (uint32_t b = loop->first; b < loop->end && count; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++) {
            const struct mr_ptx_operand *place =
                is_load(&flow->func->insts[i]) ? place_of(&flow->func->insts[i]) : NULL;
            for (uint32_t s = 0; place && s < count; s++)
                if (is_one_place(place, place_of(&flow->func->insts[stores[s]]))) {
                    mr_bit_set(own, i);
                    mr_bit_set(own, stores[s]);
                }
        }
}

bool mr_flow_moving(const struct mr_flow *flow, const struct mr_flow_loop *loop, mr_word *moving, mr_word *own,
                    bool *polls)
{
    size_t words = mr_bit_words(flow->reg_count), blocks = loop->end - loop->first;
    struct walk walk = {.flow = flow, .loop = loop, .words = words, .asked = MR_FLOW_NONE};
    uint32_t insts = 0;
    bool calls = false;
    *polls = false;
    find_own(flow, loop, own);
    walk.own = own;
    memset(moving, 0, words * sizeof *moving);
    uint32_t count = find_carried(&walk, moving);
    for (uint32_t b = loop->first; b < loop->end; b++) {
        insts += flow->blocks[b].end - flow->blocks[b].first;
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            calls |= flow->func->insts[i].op == MR_PTX_OP_CALL;
    }
    if (count > REGISTERS_MAX || insts > INSTRUCTIONS_MAX || blocks * words > SETS_WORDS_MAX)
        return true;
    mr_word *memory = mr_calloc((blocks + 2) * words + mr_bit_words(flow->block_count), sizeof *memory);
    if (!memory)
        return false;
    walk.in = memory;
    walk.now = memory + blocks * words;
    mr_word *carried = memory + (blocks + 1) * words, *still = memory + (blocks + 2) * words;
    memcpy(carried, moving, words * sizeof *moving);
    for (uint32_t r = 0; r < flow->reg_count; r++) {
        if (!mr_bit_get(carried, r))
            continue;
        begin(&walk);
        mr_bit_set(in_of(&walk, loop->first), r);
        walk.asked = r;
        if (!follow(&walk, NOTHING))
            mr_bit_clear(moving, r);
    }
    walk.asked = MR_FLOW_NONE;
    *polls = !calls && has_still_exit(&walk, moving, still);
    mr_free(memory);
    return true;
}

struct relevance {
    mr_word *set;
    bool hit, changed;
};

static void made_visit(void *data, uint32_t reg, bool is_definition)
{
    struct relevance *relevance = data;
    relevance->hit |= is_definition && mr_bit_get(relevance->set, reg);
}

static void relevant_visit(void *data, uint32_t reg, bool is_definition)
{
    struct relevance *relevance = data;
    if (is_definition || mr_bit_get(relevance->set, reg))
        return;
    mr_bit_set(relevance->set, reg);
    relevance->changed = true;
}

static bool is_branch(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_BRA || inst->op == MR_PTX_OP_BRX || inst->op == MR_PTX_OP_RET ||
           inst->op == MR_PTX_OP_EXIT;
}

void mr_flow_relevant(const struct mr_flow *flow, const struct mr_flow_loop *loop, mr_word *relevant)
{
    struct relevance relevance = {.set = relevant, .changed = true};
    while (relevance.changed) {
        relevance.changed = false;
        for (uint32_t b = loop->end; b-- > loop->first;)
            for (uint32_t i = flow->blocks[b].end; i-- > flow->blocks[b].first;) {
                const struct mr_ptx_inst *inst = &flow->func->insts[i];
                relevance.hit = is_branch(inst);
                mr_flow_registers(flow, inst, made_visit, &relevance);
                if (relevance.hit)
                    mr_flow_registers(flow, inst, relevant_visit, &relevance);
            }
    }
}
