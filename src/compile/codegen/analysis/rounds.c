/* SPDX-License-Identifier: Apache-2.0 */
/* How often a loop goes round, as far as its constants tell: loops over the rows of a tile, or the places of a stencil,
 * have a few rounds, which says where memory is read next. */
#include "compile/codegen/analysis/flow.h"

/* The comparison with a constant that decides which way the block ends; NULL if there is none. */
static const struct mr_ptx_inst *comparison_of(const struct mr_flow *flow, const struct mr_flow_block *block)
{
    if (block->end_kind != MR_END_BRANCH)
        return NULL;
    for (uint32_t i = block->end; i-- > block->first;) {
        const struct mr_ptx_inst *inst = &flow->func->insts[i];
        if (inst->dst_count != 1 || inst->operands[0].kind != MR_PTX_OPERAND_REG ||
            inst->operands[0].reg != block->last->guard)
            continue;
        return inst->op == MR_PTX_OP_SETP && inst->operand_count == 3 && inst->operands[1].kind == MR_PTX_OPERAND_REG &&
                       inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT
                   ? inst
                   : NULL;
    }
    return NULL;
}

struct definitions {
    uint32_t reg;
    const struct mr_ptx_inst *inst; /* the one at hand */
    const struct mr_ptx_inst *found; /* the last definition */
    unsigned count;
};

static void count_definition(void *data, uint32_t reg, bool is_definition)
{
    struct definitions *definitions = data;
    if (!is_definition || reg != definitions->reg)
        return;
    definitions->found = definitions->inst;
    definitions->count++;
}

/* By how much a loop raises a register in each round; 0 if nobody knows. */
static int64_t step_of(const struct mr_flow *flow, const struct mr_flow_loop *loop, uint32_t reg)
{
    struct definitions definitions = {.reg = reg};
    for (uint32_t b = loop->first; b < loop->end; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++) {
            definitions.inst = &flow->func->insts[i];
            mr_flow_registers(flow, definitions.inst, count_definition, &definitions);
        }
    const struct mr_ptx_inst *inst = definitions.found;
    bool counts = definitions.count == 1 && inst->op == MR_PTX_OP_ADD && inst->operand_count == 3 &&
                  inst->operands[1].kind == MR_PTX_OPERAND_REG && inst->operands[1].reg == reg &&
                  inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT;
    return counts ? inst->operands[2].value : 0;
}

static bool leaves(const struct mr_flow_loop *loop, const struct mr_flow_block *block)
{
    for (uint32_t i = 0; i < block->succ_count; i++)
        if (block->succs[i] < loop->first || block->succs[i] >= loop->end)
            return true;
    return false;
}

static uint64_t rounds_of(const struct mr_flow *flow, const struct mr_flow_loop *loop)
{
    uint64_t rounds = 0;
    for (uint32_t b = loop->first; b < loop->end; b++) {
        const struct mr_ptx_inst *compare =
            leaves(loop, &flow->blocks[b]) ? comparison_of(flow, &flow->blocks[b]) : NULL;
        int64_t limit = compare ? compare->operands[2].value : 0,
                step = limit > 0 ? step_of(flow, loop, compare->operands[1].reg) : 0;
        if (step <= 0)
            continue;
        uint64_t some = (uint64_t)(limit / step) + 1;
        rounds = rounds && rounds < some ? rounds : some;
    }
    return rounds;
}

void mr_flow_rounds(struct mr_flow *flow)
{
    for (uint32_t i = 0; i < flow->loop_count; i++)
        flow->loops[i].rounds = rounds_of(flow, &flow->loops[i]);
}
