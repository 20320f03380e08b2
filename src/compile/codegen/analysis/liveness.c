/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Live registers at the start of each block: the classic backward data flow.
 * A definition under a guard does not end the life of the old value.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"

static void visit_operand(const struct mr_ptx_operand *operand, bool is_definition, mr_flow_visit *visit, void *data)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
        visit(data, operand->reg, is_definition);
        break;
    case MR_PTX_OPERAND_PAIR:
        if (operand->reg != MR_PTX_NONE)
            visit(data, operand->reg, is_definition);
        if (operand->reg2 != MR_PTX_NONE)
            visit(data, operand->reg2, is_definition);
        break;
    case MR_PTX_OPERAND_REG_ADDRESS:
        visit(data, operand->reg, false);
        break;
    case MR_PTX_OPERAND_VECTOR:
        for (uint32_t i = 0; i < operand->count; i++)
            visit_operand(&operand->elements[i], is_definition, visit, data);
        break;
    default:
        break;
    }
}

void mr_flow_registers(const struct mr_flow *flow, const struct mr_ptx_inst *inst, mr_flow_visit *visit, void *data)
{
    uint32_t carry = flow->reg_count - 1;
    for (uint32_t i = inst->dst_count; i < inst->operand_count; i++)
        visit_operand(&inst->operands[i], false, visit, data);
    if (inst->guard != MR_PTX_NONE)
        visit(data, inst->guard, false);
    if (inst->op == MR_PTX_OP_ADDC || inst->op == MR_PTX_OP_SUBC || inst->op == MR_PTX_OP_MADC)
        visit(data, carry, false);
    if (inst->call) {
        for (uint32_t i = 0; i < inst->call->arg_count; i++)
            visit_operand(&inst->call->args[i], false, visit, data);
        if (inst->call->callee_reg != MR_PTX_NONE)
            visit(data, inst->call->callee_reg, false);
        for (uint32_t i = 0; i < inst->call->return_count; i++)
            visit_operand(&inst->call->returns[i], true, visit, data);
    }
    for (uint32_t i = 0; i < inst->dst_count; i++)
        visit_operand(&inst->operands[i], true, visit, data);
    if (inst->flags & MR_PTX_FLAG_CC)
        visit(data, carry, true);
}

/* Walking an instruction backwards needs definitions first, then uses. */
struct live_walk {
    mr_word *live;
    bool guarded, definitions;
};

static void live_visit(void *data, uint32_t reg, bool is_definition)
{
    struct live_walk *walk = data;
    if (is_definition != walk->definitions)
        return;
    if (!is_definition)
        mr_bit_set(walk->live, reg);
    else if (!walk->guarded)
        mr_bit_clear(walk->live, reg);
}

/* live := what is live before the instruction `first`, from what is live before `end`. */
static void walk_backwards(const struct mr_flow *flow, uint32_t first, uint32_t end, mr_word *live)
{
    for (uint32_t i = end; i-- > first;) {
        const struct mr_ptx_inst *inst = &flow->func->insts[i];
        struct live_walk walk = {live, inst->guard != MR_PTX_NONE, true};
        mr_flow_registers(flow, inst, live_visit, &walk);
        walk.definitions = false;
        mr_flow_registers(flow, inst, live_visit, &walk);
    }
}

/* Return parameters that are registers are read when a lane leaves. */
static void live_at_return(const struct mr_flow *flow, mr_word *live)
{
    const struct mr_ptx_function *func = flow->func;
    for (uint32_t i = 0; i < func->return_count; i++)
        if (func->returns[i]->reg != MR_PTX_NONE)
            mr_bit_set(live, func->returns[i]->reg);
}

/* What is live where a block ends. */
static void live_at_end(const struct mr_flow *flow, const struct mr_flow_block *block, mr_word *live)
{
    for (size_t w = 0; w < mr_bit_words(flow->reg_count); w++) {
        live[w] = 0;
        for (uint32_t s = 0; s < block->succ_count; s++)
            live[w] |= flow->blocks[block->succs[s]].live_in[w];
    }
    if (block->end_kind == MR_END_EXIT || block->end_kind == MR_END_SOME_EXIT)
        live_at_return(flow, live);
}

void mr_flow_live_after(const struct mr_flow *flow, uint32_t inst, mr_word *live)
{
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const struct mr_flow_block *block = &flow->blocks[b];
        if (inst < block->first || inst >= block->end)
            continue;
        live_at_end(flow, block, live);
        walk_backwards(flow, inst + 1, block->end, live);
        return;
    }
}

static void read_visit(void *data, uint32_t reg, bool is_definition)
{
    if (!is_definition)
        mr_bit_set(data, reg);
}

bool mr_flow_liveness(struct mr_flow *flow)
{
    size_t words = mr_bit_words(flow->reg_count);
    flow->read = mr_calloc(words, sizeof *flow->read);
    if (!flow->read)
        return false;
    live_at_return(flow, flow->read);
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            mr_flow_registers(flow, &flow->func->insts[i], read_visit, flow->read);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        flow->blocks[b].live_in = mr_calloc(words, sizeof(mr_word));
        if (!flow->blocks[b].live_in)
            return false;
    }
    mr_word *live = mr_calloc(words, sizeof *live);
    if (!live)
        return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = flow->block_count; b-- > 0;) {
            struct mr_flow_block *block = &flow->blocks[b];
            live_at_end(flow, block, live);
            walk_backwards(flow, block->first, block->end, live);
            for (size_t w = 0; w < words; w++)
                if (live[w] != block->live_in[w]) {
                    block->live_in[w] = live[w];
                    changed = true;
                }
        }
    }
    mr_free(live);
    return true;
}
