/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cuts a function into basic blocks and puts them into a weak topological order
 * (Bourdoncle, 1993): every strongly connected part is a contiguous range that
 * begins with its head, and inside it the same holds without the head. An edge
 * that goes backwards in the order leads to the head of a loop around it, or,
 * in an irreducible graph, to somewhere inside one.
 */
#include "compile/codegen/analysis/flow.h"

#include <string.h>

#include "base/alloc.h"

static bool ends_block(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_BRA:
    case MR_PTX_OP_BRX:
    case MR_PTX_OP_RET:
    case MR_PTX_OP_EXIT:
    case MR_PTX_OP_TRAP:
        return inst->op != MR_PTX_OP_TRAP || inst->guard == MR_PTX_NONE;
    case MR_PTX_OP_CALL:
        if (!inst->call->callee)
            return true; /* anything may be behind a pointer */
        return flow->facts[mr_layout_resolve(inst->call->callee)->index].may_exit;
    default:
        return false;
    }
}

bool mr_flow_is_barrier(const struct mr_ptx_inst *inst)
{
    return (inst->op == MR_PTX_OP_BAR || inst->op == MR_PTX_OP_BARRIER) &&
           (inst->mode == MR_PTX_MODE_SYNC || inst->mode == MR_PTX_MODE_RED || inst->mode == MR_PTX_MODE_CLUSTER_WAIT ||
            inst->mode == MR_PTX_MODE_JOIN || inst->mode == MR_PTX_MODE_TEST);
}

/* The member mask of a warp operation, NULL for every other instruction (and for the forms without .sync). */
static const struct mr_ptx_operand *member_mask(const struct mr_ptx_inst *inst)
{
    if (inst->mode == MR_PTX_MODE_WARP_SYNC && (inst->op == MR_PTX_OP_BAR || inst->op == MR_PTX_OP_BARRIER))
        return &inst->operands[0];
    if (!(inst->flags & MR_PTX_FLAG_SYNC))
        return NULL;
    switch (inst->op) {
    case MR_PTX_OP_SHFL:
    case MR_PTX_OP_VOTE:
    case MR_PTX_OP_MATCH:
    case MR_PTX_OP_REDUX:
    case MR_PTX_OP_ELECT:
        return &inst->operands[inst->operand_count - 1];
    default:
        return NULL;
    }
}

struct definition {
    uint32_t reg;
    bool found;
};

static void find_definition(void *data, uint32_t reg, bool is_definition)
{
    struct definition *definition = data;
    definition->found |= is_definition && reg == definition->reg;
}

/* What a warp operation asks of the block that it stands in. */
enum meeting {
    MEET_NEVER,    /* it is no warp operation, or lanes that are there made its mask */
    MEET_AT_START, /* its lanes can as well meet where the block begins */
    MEET_HERE /* something before it in the block can't wait for that: the mask itself, or what another thread may wait
                 for */
};

#define LOOK_BACK 64u

static enum meeting meeting_of(const struct mr_flow *flow, uint32_t first, uint32_t at)
{
    const struct mr_ptx_inst *insts = flow->func->insts;
    const struct mr_ptx_operand *mask = member_mask(&insts[at]);
    if (!mask)
        return MEET_NEVER;
    struct definition definition = {mask->kind == MR_PTX_OPERAND_REG ? mask->reg : MR_PTX_NONE, false};
    for (uint32_t i = at; i > first; i--) {
        const struct mr_ptx_inst *inst = &insts[i - 1];
        if (definition.reg != MR_PTX_NONE)
            mr_flow_registers(flow, inst, find_definition, &definition);
        if (definition.found)
            return inst->op == MR_PTX_OP_VOTE || inst->op == MR_PTX_OP_MATCH || inst->op == MR_PTX_OP_ACTIVEMASK
                       ? MEET_NEVER
                       : MEET_HERE;
        bool acts =
            (inst->dst_count == 0 && !member_mask(inst)) || inst->op == MR_PTX_OP_ATOM || inst->op == MR_PTX_OP_CALL;
        if (acts || at - i >= LOOK_BACK)
            return MEET_HERE;
    }
    return MEET_AT_START;
}

const struct mr_ptx_operand *mr_flow_members(const struct mr_flow *flow, uint32_t first, uint32_t at)
{
    return meeting_of(flow, first, at) == MEET_AT_START ? member_mask(&flow->func->insts[at]) : NULL;
}

/* Marks the first instruction of every block; the array has a place for the end of the body. */
static void mark_leaders(const struct mr_flow *flow, bool *leader)
{
    const struct mr_ptx_function *func = flow->func;
    leader[0] = true;
    for (uint32_t i = 0; i < func->label_count; i++)
        if (func->labels[i].inst <= func->inst_count)
            leader[func->labels[i].inst] = true;
    for (uint32_t i = 0; i < func->inst_count; i++) {
        if (mr_flow_is_barrier(&func->insts[i]))
            leader[i] = leader[i + 1] = true;
        else if (ends_block(flow, &func->insts[i]))
            leader[i + 1] = true;
    }
    for (uint32_t i = 0, first = 0; flow->facts[func->index].waits && i < func->inst_count; i++) {
        if (!leader[i] && meeting_of(flow, first, i) == MEET_HERE)
            leader[i] = true;
        first = leader[i] ? i : first;
    }
}

static bool alloc_succs(struct mr_flow_block *block, uint32_t count)
{
    block->succs = mr_calloc(count ? count : 1, sizeof *block->succs);
    block->succ_count = count;
    return block->succs != NULL;
}

static bool link_table(struct mr_flow *flow, struct mr_flow_block *block, uint32_t next)
{
    const struct mr_ptx_inst *last = block->last;
    const struct mr_ptx_table *table = &flow->func->tables[last->operands[1].label];
    bool guarded = last->guard != MR_PTX_NONE;
    if (!alloc_succs(block, table->count + guarded))
        return false;
    block->end_kind = MR_END_TABLE;
    for (uint32_t i = 0; i < table->count; i++)
        block->succs[i] = flow->block_of[flow->func->labels[table->labels[i]].inst];
    if (guarded)
        block->succs[table->count] = next;
    return true;
}

/* Finds the terminator and the successors (as numbers before ordering). */
static bool link_block(struct mr_flow *flow, struct mr_flow_block *block, uint32_t next)
{
    const struct mr_ptx_inst *last = block->end > block->first ? &flow->func->insts[block->end - 1] : NULL;
    bool guarded = last && last->guard != MR_PTX_NONE;
    block->last = last;
    block->barrier = last && mr_flow_is_barrier(last);
    for (uint32_t i = block->first; i < block->end && flow->facts[flow->func->index].waits && !block->meets; i++)
        block->meets = mr_flow_members(flow, block->first, i) != NULL;
    switch (last ? last->op : MR_PTX_OP_COUNT) {
    case MR_PTX_OP_BRA:
        block->end_kind = guarded ? MR_END_BRANCH : MR_END_FALL;
        if (!alloc_succs(block, guarded ? 2 : 1))
            return false;
        block->succs[0] = flow->block_of[flow->func->labels[last->operands[0].label].inst];
        if (guarded)
            block->succs[1] = next;
        return true;
    case MR_PTX_OP_BRX:
        return link_table(flow, block, next);
    case MR_PTX_OP_RET:
    case MR_PTX_OP_EXIT:
        block->end_kind = guarded ? MR_END_SOME_EXIT : MR_END_EXIT;
        if (!alloc_succs(block, guarded ? 1 : 0))
            return false;
        if (guarded)
            block->succs[0] = next;
        return true;
    case MR_PTX_OP_TRAP:
        if (!guarded) {
            block->end_kind = MR_END_TRAP;
            return alloc_succs(block, 0);
        }
        break;
    case MR_PTX_OP_CALL:
        block->may_vanish = ends_block(flow, last);
        break;
    default:
        break;
    }
    block->last = NULL;
    block->end_kind = MR_END_FALL;
    if (!alloc_succs(block, 1))
        return false;
    block->succs[0] = next;
    return true;
}

/* One block per leader, in the order of the text, and an empty one for the end of the body. */
static bool cut_blocks(struct mr_flow *flow)
{
    const struct mr_ptx_function *func = flow->func;
    bool *leader = mr_calloc((size_t)func->inst_count + 2, sizeof *leader);
    flow->block_of = mr_calloc((size_t)func->inst_count + 2, sizeof *flow->block_of);
    if (!leader || !flow->block_of) {
        mr_free(leader);
        return false;
    }
    mark_leaders(flow, leader);
    leader[func->inst_count] = true;
    uint32_t count = 0;
    for (uint32_t i = 0; i <= func->inst_count; i++)
        count += leader[i];
    flow->blocks = mr_calloc(count, sizeof *flow->blocks);
    bool good = flow->blocks != NULL;
    for (uint32_t i = 0; i <= func->inst_count && good; i++)
        if (leader[i]) {
            flow->block_of[i] = flow->block_count;
            flow->blocks[flow->block_count++].first = i;
        }
    for (uint32_t b = 0; b < flow->block_count && good; b++) {
        bool is_last = b + 1 == flow->block_count;
        struct mr_flow_block *block = &flow->blocks[b];
        block->loop = MR_FLOW_NONE;
        block->end = is_last ? func->inst_count : flow->blocks[b + 1].first;
        if (is_last) {
            block->end_kind = MR_END_EXIT;
            good = alloc_succs(block, 0);
        } else {
            good = link_block(flow, block, b + 1);
        }
    }
    mr_free(leader);
    return good;
}

/* A call of the recursive algorithm, which is written without recursion: functions may have very many blocks. */
struct visit {
    uint32_t vertex, next; /* how far it has come with the successors */
    uint32_t head, end; /* the lowest number that can be reached; where the loop ends */
    bool loops, inside; /* it is in a loop; what is visited now is the inside of its own loop */
};

struct sorter {
    struct mr_flow *flow;
    uint32_t *number, *stack, *placed;
    uint32_t stack_count, position, counter;
    struct visit *visits;
    uint32_t depth;
    uint64_t steps;
};

/* Looking for loops in loops costs at most so many steps. */
#define SORT_STEPS_MAX 20000000u

static void sorter_enter(struct sorter *sorter, uint32_t vertex)
{
    sorter->stack[sorter->stack_count++] = vertex;
    sorter->number[vertex] = ++sorter->counter;
    sorter->visits[sorter->depth++] = (struct visit){.vertex = vertex, .head = sorter->counter};
}

/* Goes on to the next successor; true if it has to be visited first. */
static bool sorter_step(struct sorter *sorter, struct visit *visit)
{
    const struct mr_flow_block *block = &sorter->flow->blocks[visit->vertex];
    while (visit->next < block->succ_count) {
        uint32_t next = block->succs[visit->next], number = sorter->number[next];
        sorter->steps++;
        if (number == 0) {
            sorter_enter(sorter, next);
            return true;
        }
        if (!visit->inside && number <= visit->head) {
            visit->head = number;
            visit->loops = true;
        }
        visit->next++;
    }
    return false;
}

/* All successors have been seen. True if the inside of its loop is next: everything in the strongly connected part but
 * the head, then the head before it. */
static bool sorter_leave(struct sorter *sorter, struct visit *visit)
{
    uint32_t vertex = visit->vertex;
    if (visit->inside) {
        sorter->placed[--sorter->position] = vertex;
        struct mr_flow_loop *loop = &sorter->flow->loops[sorter->flow->loop_count++];
        *loop = (struct mr_flow_loop){.first = sorter->position, .end = visit->end, .parent = MR_FLOW_NONE};
        return false;
    }
    if (visit->head != sorter->number[vertex])
        return false;
    sorter->number[vertex] = UINT32_MAX;
    uint32_t element = sorter->stack[--sorter->stack_count];
    if (!visit->loops) {
        sorter->placed[--sorter->position] = vertex;
        return false;
    }
    while (element != vertex) {
        sorter->number[element] = 0;
        element = sorter->stack[--sorter->stack_count];
    }
    visit->inside = true;
    visit->next = 0;
    visit->end = sorter->position;
    return true;
}

/* False if that takes too long. */
static bool sort_loops(struct sorter *sorter)
{
    sorter_enter(sorter, 0);
    while (sorter->depth) {
        struct visit *visit = &sorter->visits[sorter->depth - 1];
        if (sorter->steps > SORT_STEPS_MAX)
            return false;
        if (sorter_step(sorter, visit) || sorter_leave(sorter, visit))
            continue;
        uint32_t head = visit->head;
        if (--sorter->depth == 0)
            break;
        struct visit *caller = &sorter->visits[sorter->depth - 1];
        if (!caller->inside && head <= caller->head) {
            caller->head = head;
            caller->loops = true;
        }
        caller->next++;
    }
    return true;
}

/* Too many loops in loops: reachable blocks in the order of the text, as one loop. */
static void sort_plainly(struct sorter *sorter)
{
    struct mr_flow *flow = sorter->flow;
    memset(sorter->number, 0, flow->block_count * sizeof *sorter->number);
    sorter->stack_count = 0;
    sorter->position = flow->block_count;
    flow->loop_count = 0;
    sorter->stack[sorter->stack_count++] = 0;
    sorter->number[0] = 1;
    while (sorter->stack_count) {
        const struct mr_flow_block *block = &flow->blocks[sorter->stack[--sorter->stack_count]];
        for (uint32_t i = 0; i < block->succ_count; i++)
            if (!sorter->number[block->succs[i]]) {
                sorter->number[block->succs[i]] = 1;
                sorter->stack[sorter->stack_count++] = block->succs[i];
            }
    }
    for (uint32_t b = flow->block_count; b-- > 0;)
        if (sorter->number[b])
            sorter->placed[--sorter->position] = b;
    struct mr_flow_loop *loop = &flow->loops[flow->loop_count++];
    *loop = (struct mr_flow_loop){.first = sorter->position, .end = flow->block_count, .parent = MR_FLOW_NONE};
}

/* Moves the blocks into their order and drops those that nothing reaches. */
static bool apply_order(struct mr_flow *flow, const struct sorter *sorter)
{
    uint32_t skipped = sorter->position, count = flow->block_count - skipped;
    struct mr_flow_block *ordered = mr_calloc(count ? count : 1, sizeof *ordered);
    uint32_t *position = mr_calloc(flow->block_count, sizeof *position);
    if (!ordered || !position) {
        mr_free(ordered);
        mr_free(position);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        position[sorter->placed[skipped + i]] = i + 1;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct mr_flow_block *block = &flow->blocks[b];
        if (!position[b]) {
            mr_free(block->succs);
            continue;
        }
        for (uint32_t i = 0; i < block->succ_count; i++)
            block->succs[i] = position[block->succs[i]] - 1;
        ordered[position[b] - 1] = *block;
    }
    mr_free(flow->blocks);
    mr_free(position);
    flow->blocks = ordered;
    flow->block_count = count;
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        flow->loops[l].first -= skipped;
        flow->loops[l].end -= skipped;
    }
    return true;
}

/* Loops complete after the loops inside them, so from the last to the first each is inside what holds its head already.
 */
static void nest_loops(struct mr_flow *flow)
{
    for (uint32_t l = flow->loop_count; l-- > 0;) {
        struct mr_flow_loop *loop = &flow->loops[l];
        loop->parent = flow->blocks[loop->first].loop;
        for (uint32_t b = loop->first; b < loop->end; b++)
            flow->blocks[b].loop = l;
    }
}

bool mr_flow_order(struct mr_flow *flow)
{
    if (!cut_blocks(flow))
        return false;
    size_t room = flow->block_count;
    struct sorter sorter = {.flow = flow, .position = flow->block_count};
    sorter.number = mr_calloc(room, sizeof *sorter.number);
    sorter.stack = mr_calloc(room, sizeof *sorter.stack);
    sorter.placed = mr_calloc(room, sizeof *sorter.placed);
    sorter.visits = mr_calloc(room, sizeof *sorter.visits);
    flow->loops = mr_calloc(room, sizeof *flow->loops);
    bool good = sorter.number && sorter.stack && sorter.placed && sorter.visits && flow->loops;
    if (good) {
        flow->dispatched = flow->block_count > MR_FLOW_STATIC_BLOCKS;
        if (!sort_loops(&sorter)) {
            flow->dispatched = true;
            sort_plainly(&sorter);
        }
        good = apply_order(flow, &sorter);
    }
    if (good)
        nest_loops(flow);
    mr_free(sorter.number);
    mr_free(sorter.stack);
    mr_free(sorter.placed);
    mr_free(sorter.visits);
    return good;
}

void mr_flow_clear(struct mr_flow *flow)
{
    for (uint32_t b = 0; flow->blocks && b < flow->block_count; b++) {
        mr_free(flow->blocks[b].succs);
        mr_free(flow->blocks[b].live_in);
        mr_free(flow->blocks[b].pend);
        mr_free(flow->blocks[b].parked);
    }
    mr_free(flow->blocks);
    mr_free(flow->loops);
    mr_free(flow->classes);
    mr_free(flow->forced);
    mr_free(flow->read);
    mr_free(flow->polls);
    mr_free(flow->past_grids);
    mr_free(flow->block_of);
    memset(flow, 0, sizeof *flow);
}
