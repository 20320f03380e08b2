/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pend(B): blocks in front of which lanes may be parked while B runs. A forward
 * data flow over the graph of what may run after what, which is wider than the
 * function's own graph: at the end of B the first block in scan order that has
 * lanes runs, and those after it in the list may have some too.
 */
#include "compile/codegen/analysis/flow.h"

#include <string.h>

#include "base/alloc.h"

uint32_t mr_flow_waiting_loop(const struct mr_flow *flow, uint32_t block)
{
    uint32_t loop = flow->blocks[block].loop;
    while (loop != MR_FLOW_NONE && !flow->loops[loop].waits)
        loop = flow->loops[loop].parent;
    return loop;
}

bool mr_flow_ends_round(const struct mr_flow *flow, uint32_t block)
{
    for (uint32_t l = flow->blocks[block].loop; l != MR_FLOW_NONE; l = flow->loops[l].parent)
        for (uint32_t s = 0; flow->loops[l].waits && s < flow->blocks[block].succ_count; s++)
            if (flow->blocks[block].succs[s] <= block && flow->blocks[block].succs[s] >= flow->loops[l].first)
                return true;
    return false;
}

bool mr_flow_is_on_its_way(const struct mr_flow *flow, uint32_t block)
{
    return flow->draws && !flow->blocks[block].meets && !flow->blocks[block].barrier;
}

bool mr_flow_waits_for(const struct mr_flow *flow, uint32_t block, uint32_t other)
{
    if (!flow->blocks[block].meets)
        return false;
    for (uint32_t l = flow->blocks[other].loop; l != MR_FLOW_NONE; l = flow->loops[l].parent)
        if (flow->loops[l].waits && (block < flow->loops[l].first || block >= flow->loops[l].end))
            return true;
    return mr_flow_is_on_its_way(flow, other);
}

/* Ring by ring from the inside: what follows in the loop, then the loop from its head to what has been looked at. */
static uint32_t scan_rings(const struct mr_flow *flow, uint32_t block, const mr_word *set, uint32_t *list)
{
    uint32_t count = 0, low = block + 1, high = block + 1, loop = flow->blocks[block].loop;
    for (bool more = true; more;) {
        uint32_t first = 0, end = flow->block_count;
        more = loop != MR_FLOW_NONE;
        if (more) {
            first = flow->loops[loop].first;
            end = flow->loops[loop].end;
            loop = flow->loops[loop].parent;
        }
        for (uint32_t b = mr_bit_next(set, high, end); b < end; b = mr_bit_next(set, b + 1, end))
            list[count++] = b;
        for (uint32_t b = mr_bit_next(set, first, low); b < low; b = mr_bit_next(set, b + 1, low))
            list[count++] = b;
        high = end;
        low = first;
    }
    return count;
}

/* Moves the blocks for which `late` holds behind the others, both in their order. */
static void move_back(uint32_t *list, uint32_t count, const struct mr_flow *flow, bool barriers, uint32_t first,
                      uint32_t end)
{
    for (uint32_t i = 0, front = 0; i < count; i++) {
        uint32_t block = list[i];
        bool late = barriers ? flow->blocks[block].barrier : block >= first && block < end;
        if (late)
            continue;
        for (uint32_t k = i; k > front; k--)
            list[k] = list[k - 1];
        list[front++] = block;
    }
}

static void move_front(uint32_t *list, uint32_t count, const struct mr_flow *flow)
{
    for (uint32_t i = 0, front = 0; i < count; i++) {
        uint32_t block = list[i];
        if (!flow->blocks[block].barrier)
            continue;
        for (uint32_t k = i; k > front; k--)
            list[k] = list[k - 1];
        list[front++] = block;
    }
}

uint32_t mr_flow_scan(const struct mr_flow *flow, uint32_t block, const mr_word *set, enum mr_flow_order order,
                      uint32_t *list)
{
    uint32_t count = scan_rings(flow, block, set, list), waiting = mr_flow_waiting_loop(flow, block);
    if (order == MR_SCAN_OUTSIDE && waiting != MR_FLOW_NONE)
        move_back(list, count, flow, false, flow->loops[waiting].first, flow->loops[waiting].end);
    if (order == MR_SCAN_BARRIERS)
        move_front(list, count, flow);
    else
        move_back(list, count, flow, true, 0, 0);
    return count;
}

bool mr_flow_barrier_shared(const struct mr_flow *flow, uint32_t block)
{
    const mr_word *pend = flow->blocks[block].pend;
    uint32_t count = flow->block_count;
    for (uint32_t b = mr_bit_next(pend, 0, count); b < count; b = mr_bit_next(pend, b + 1, count))
        if (flow->blocks[b].barrier && b != block)
            return flow->blocks[block].barrier;
    return false;
}

bool mr_flow_barriers_meet(const struct mr_flow *flow)
{
    for (uint32_t b = 0; b < flow->block_count; b++)
        if (flow->blocks[b].barrier && mr_flow_barrier_shared(flow, b))
            return true;
    return false;
}

/* The operand of a barrier with its number (0) or its threads (1), NULL if it has none. */
static const struct mr_ptx_operand *barrier_operand(const struct mr_ptx_inst *inst, unsigned which)
{
    unsigned end = inst->operand_count - (inst->mode == MR_PTX_MODE_RED), at = inst->dst_count + which;
    return at < end ? &inst->operands[at] : NULL;
}

bool mr_flow_same_number(const struct mr_ptx_inst *a, const struct mr_ptx_inst *b)
{
    const struct mr_ptx_operand *x = barrier_operand(a, 0), *y = barrier_operand(b, 0);
    bool known = (!x || x->kind == MR_PTX_OPERAND_IMM_INT) && (!y || y->kind == MR_PTX_OPERAND_IMM_INT);
    return known && (x ? x->value : 0) == (y ? y->value : 0);
}

/* The barrier that a block is; NULL if it is no barrier, or the cluster's. */
static const struct mr_ptx_inst *block_barrier(const struct mr_flow *flow, uint32_t b)
{
    const struct mr_ptx_inst *inst = flow->blocks[b].barrier ? &flow->func->insts[flow->blocks[b].first] : NULL;
    return inst && inst->mode != MR_PTX_MODE_CLUSTER_WAIT ? inst : NULL;
}

bool mr_flow_barriers_part(const struct mr_flow *flow)
{
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const struct mr_ptx_inst *inst = block_barrier(flow, b);
        if (!inst)
            continue;
        for (unsigned i = 0; i < 2; i++)
            if (barrier_operand(inst, i) &&
                mr_flow_operand_class(flow, barrier_operand(inst, i)).kind > MR_CLASS_UNIFORM)
                return true;
        const mr_word *pend = flow->blocks[b].pend;
        uint32_t count = flow->block_count;
        for (uint32_t other = mr_bit_next(pend, 0, count); other < count; other = mr_bit_next(pend, other + 1, count))
            if (other != b && block_barrier(flow, other) && !mr_flow_same_number(inst, block_barrier(flow, other)))
                return true;
    }
    return false;
}

bool mr_flow_reduces_apart(const struct mr_flow *flow, uint32_t block)
{
    const struct mr_ptx_inst *inst = &flow->func->insts[flow->blocks[block].first];
    return flow->blocks[block].barrier && inst->op == MR_PTX_OP_BARRIER && inst->mode == MR_PTX_MODE_RED &&
           !(inst->flags & MR_PTX_FLAG_ALIGNED) && inst->guard == MR_PTX_NONE;
}

bool mr_flow_diverges(const struct mr_flow *flow, const struct mr_flow_block *block)
{
    const struct mr_ptx_inst *last = block->last;
    if (!last)
        return false;
    if (last->guard != MR_PTX_NONE && mr_flow_register_class(flow, last->guard).kind == MR_CLASS_VARYING)
        return true;
    return block->end_kind == MR_END_TABLE && mr_flow_operand_class(flow, &last->operands[0]).kind != MR_CLASS_UNIFORM;
}

uint32_t mr_flow_exit_count(const struct mr_flow *flow, const struct mr_flow_block *block)
{
    switch (block->end_kind) {
    case MR_END_BRANCH:
    case MR_END_TABLE:
        return mr_flow_diverges(flow, block) ? 1 : block->succ_count;
    case MR_END_SOME_EXIT:
        return mr_flow_diverges(flow, block) ? 1 : 2;
    case MR_END_TRAP:
        return 0;
    default:
        return 1;
    }
}

struct mr_flow_exit mr_flow_exit_get(const struct mr_flow *flow, const struct mr_flow_block *block, uint32_t index)
{
    switch (block->end_kind) {
    case MR_END_BRANCH:
    case MR_END_TABLE:
        if (mr_flow_diverges(flow, block))
            return (struct mr_flow_exit){block->succs, block->succ_count, true};
        return (struct mr_flow_exit){&block->succs[index], 1, true};
    case MR_END_SOME_EXIT:
        if (mr_flow_diverges(flow, block))
            return (struct mr_flow_exit){block->succs, 1, false};
        return index == 0 ? (struct mr_flow_exit){block->succs, 1, true} : (struct mr_flow_exit){NULL, 0, false};
    case MR_END_FALL:
        return (struct mr_flow_exit){block->succs, 1, !block->may_vanish};
    default:
        return (struct mr_flow_exit){NULL, 0, false};
    }
}

struct spread {
    struct mr_flow *flow;
    size_t words;
    mr_word *set, *queued;
    uint32_t *list;
    size_t edges; /* members of all sets */
    bool changed;
};

/* The blocks of the list behind the one at `index` may hold lanes while that one runs. */
static void spread_to(struct spread *spread, uint32_t count, uint32_t index)
{
    uint32_t target = spread->list[index];
    mr_word *pend = spread->flow->blocks[target].pend;
    bool grew = !mr_bit_get(spread->queued, target);
    for (uint32_t i = index + 1; i < count; i++)
        if (!mr_bit_get(pend, spread->list[i]) && spread->list[i] != target) {
            mr_bit_set(pend, spread->list[i]);
            spread->edges++;
            grew = true;
        }
    if (grew) {
        mr_bit_set(spread->queued, target);
        spread->changed = true;
    }
}

static void spread_exit(struct spread *spread, uint32_t block, struct mr_flow_exit way, enum mr_flow_order order)
{
    struct mr_flow *flow = spread->flow;
    memcpy(spread->set, flow->blocks[block].pend, spread->words * sizeof(mr_word));
    for (uint32_t i = 0; i < way.target_count; i++)
        mr_bit_set(spread->set, way.targets[i]);
    uint32_t count = mr_flow_scan(flow, block, spread->set, order, spread->list);
    for (uint32_t i = 0; i < count && spread->edges <= MR_FLOW_STATIC_EDGES; i++) {
        spread_to(spread, count, i);
        if (way.certain && way.target_count == 1 && spread->list[i] == way.targets[0])
            break;
    }
}

/* Which block is next is drawn: any but a barrier, and all others may hold lanes meanwhile. */
static void spread_drawn(struct spread *spread, uint32_t block, struct mr_flow_exit way)
{
    struct mr_flow *flow = spread->flow;
    memcpy(spread->set, flow->blocks[block].pend, spread->words * sizeof(mr_word));
    for (uint32_t i = 0; i < way.target_count; i++)
        mr_bit_set(spread->set, way.targets[i]);
    uint32_t count = flow->block_count;
    for (uint32_t to = mr_bit_next(spread->set, 0, count); to < count; to = mr_bit_next(spread->set, to + 1, count)) {
        if (flow->blocks[to].barrier)
            continue;
        bool grew = !mr_bit_get(spread->queued, to);
        mr_bit_clear(spread->set, to);
        for (size_t w = 0; w < spread->words; w++) {
            mr_word more = spread->set[w] & ~flow->blocks[to].pend[w];
            spread->edges += (size_t)__builtin_popcountll(more);
            grew |= more != 0;
            flow->blocks[to].pend[w] |= more;
        }
        mr_bit_set(spread->set, to);
        mr_bit_set(spread->queued, to);
        spread->changed |= grew;
    }
}

/* A block that waits for lanes in a loop leaves its own in front of it, and those in the loop go on. */
static void spread_wait(struct spread *spread, uint32_t block)
{
    struct mr_flow *flow = spread->flow;
    if (!flow->blocks[block].meets)
        return;
    memcpy(spread->set, flow->blocks[block].pend, spread->words * sizeof(mr_word));
    for (uint32_t to = 0; to < flow->block_count; to++) {
        if (to == block || !mr_bit_get(spread->set, to) || !mr_flow_waits_for(flow, block, to))
            continue;
        uint32_t count = 0;
        spread->list[count++] = to;
        spread->list[count++] = block;
        for (uint32_t b = 0; b < flow->block_count; b++)
            if (mr_bit_get(spread->set, b) && b != to && b != block)
                spread->list[count++] = b;
        spread_to(spread, count, 0);
    }
}

/* False when the sets are too large to be worth their code. */
static bool pend_fixpoint(struct spread *spread)
{
    struct mr_flow *flow = spread->flow;
    memset(spread->queued, 0, spread->words * sizeof(mr_word));
    mr_bit_set(spread->queued, 0);
    for (spread->changed = true; spread->changed;) {
        spread->changed = false;
        for (uint32_t b = 0; b < flow->block_count; b++) {
            if (!mr_bit_get(spread->queued, b))
                continue; /* nothing has led here yet */
            if (spread->edges > MR_FLOW_STATIC_EDGES)
                return false;
            spread_wait(spread, b);
            uint32_t ways = mr_flow_exit_count(flow, &flow->blocks[b]);
            for (uint32_t i = 0; i < ways; i++) {
                struct mr_flow_exit way = mr_flow_exit_get(flow, &flow->blocks[b], i);
                spread_exit(spread, b, way, MR_SCAN_USUAL);
                if (mr_flow_waiting_loop(flow, b) != MR_FLOW_NONE)
                    spread_exit(spread, b, way, MR_SCAN_OUTSIDE);
                if (flow->draws && mr_flow_waiting_loop(flow, b) != MR_FLOW_NONE)
                    spread_drawn(spread, b, way);
                if (mr_flow_barrier_shared(flow, b))
                    spread_exit(spread, b, way, MR_SCAN_BARRIERS);
            }
        }
    }
    return spread->edges <= MR_FLOW_STATIC_EDGES;
}

static void pend_everything(struct mr_flow *flow)
{
    size_t words = mr_bit_words(flow->block_count);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        if (b > 0) {
            memcpy(flow->blocks[b].pend, flow->blocks[b - 1].pend, words * sizeof(mr_word));
            mr_bit_set(flow->blocks[b].pend, b - 1);
        } else {
            memset(flow->blocks[b].pend, 0, words * sizeof(mr_word));
            for (uint32_t x = 0; x < flow->block_count; x++)
                mr_bit_set(flow->blocks[b].pend, x);
        }
        mr_bit_clear(flow->blocks[b].pend, b);
    }
}

/* The same where lanes may be parked in front of all others: what lives into two blocks, or into one that is not this.
 * `once`, `twice`: room. */
static void find_parked_anywhere(struct mr_flow *flow, mr_word *once, mr_word *twice)
{
    size_t words = mr_bit_words(flow->reg_count);
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (size_t w = 0; w < words; w++) {
            twice[w] |= once[w] & flow->blocks[b].live_in[w];
            once[w] |= flow->blocks[b].live_in[w];
        }
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (size_t w = 0; w < words; w++)
            flow->blocks[b].parked[w] = twice[w] | (once[w] & ~flow->blocks[b].live_in[w]);
}

/* parked := registers that a parked lane may read. False when memory is short. */
static bool find_parked(struct mr_flow *flow)
{
    size_t words = mr_bit_words(flow->reg_count);
    if (flow->dispatched) {
        mr_word *both = mr_calloc(2 * words, sizeof *both);
        if (both)
            find_parked_anywhere(flow, both, both + words);
        mr_free(both);
        return both != NULL;
    }
    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct mr_flow_block *block = &flow->blocks[b];
        memset(block->parked, 0, words * sizeof(mr_word));
        uint32_t count = flow->block_count;
        for (uint32_t x = mr_bit_next(block->pend, 0, count); x < count; x = mr_bit_next(block->pend, x + 1, count))
            for (size_t w = 0; w < words; w++)
                block->parked[w] |= flow->blocks[x].live_in[w];
    }
    return true;
}

/* A dispatched function has one set of parked registers for all its blocks: all that live anywhere. */
static bool prepare_sets(struct mr_flow *flow)
{
    size_t block_words = mr_bit_words(flow->block_count), reg_words = mr_bit_words(flow->reg_count);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct mr_flow_block *block = &flow->blocks[b];
        block->pend = mr_calloc(block_words, sizeof(mr_word));
        block->parked = mr_calloc(reg_words, sizeof(mr_word));
        if (!block->pend || !block->parked)
            return false;
    }
    return true;
}

bool mr_flow_pending(struct mr_flow *flow)
{
    if (!flow->blocks[0].pend && !prepare_sets(flow))
        return false;
    struct spread spread = {.flow = flow, .words = mr_bit_words(flow->block_count)};
    spread.set = mr_calloc(spread.words, sizeof *spread.set);
    spread.queued = mr_calloc(spread.words, sizeof *spread.queued);
    spread.list = mr_calloc((size_t)flow->block_count * 2, sizeof *spread.list);
    bool good = spread.set && spread.queued && spread.list;
    if (good && !flow->dispatched) {
        for (uint32_t b = 0; b < flow->block_count; b++)
            memset(flow->blocks[b].pend, 0, spread.words * sizeof(mr_word));
        flow->dispatched = !pend_fixpoint(&spread);
    }
    if (good && flow->dispatched)
        pend_everything(flow);
    good = good && find_parked(flow);
    mr_free(spread.set);
    mr_free(spread.queued);
    mr_free(spread.list);
    return good;
}
