/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where a kernel may have waited for the grids before it (griddepcontrol.wait), which a launch that may overlap with
 * them (programmatic stream serialization) needs before it uses what they make.
 *
 * An instruction is past the wait if any way leads to it from one: in the same block behind it, or from the block's
 * end. So what is certainly before the wait is found, and nothing else. A function that is no kernel counts as past it
 * as soon as any function of the module waits: who calls it, and from where, is not asked.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"

static bool waits(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    if (mr_flow_awaits_grids(inst))
        return true;
    if (!inst->call)
        return false;
    const struct mr_ptx_function *callee = mr_layout_resolve(inst->call->callee);
    if (callee)
        return flow->facts[callee->index].awaits_grids;
    const struct mr_ptx_module *module = flow->func->module;
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f]->address_taken &&
            flow->facts[mr_layout_resolve(module->functions[f])->index].awaits_grids)
            return true;
    return false;
}

bool mr_flow_awaits_grids(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_GRIDDEPCONTROL && inst->mode == MR_PTX_MODE_WAIT;
}

/* Marks what comes behind the block; true if that is new. */
static bool mark_behind(struct mr_flow *flow, const struct mr_flow_block *block)
{
    bool changed = false;
    for (uint32_t i = 0; i < block->succ_count; i++) {
        changed = changed || !mr_bit_get(flow->past_grids, block->succs[i]);
        mr_bit_set(flow->past_grids, block->succs[i]);
    }
    return changed;
}

bool mr_flow_grids(struct mr_flow *flow)
{
    if (!flow->facts[flow->func->index].awaits_grids)
        return true;
    flow->past_grids = mr_calloc(mr_bit_words(flow->block_count), sizeof *flow->past_grids);
    if (!flow->past_grids)
        return false;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const struct mr_flow_block *block = &flow->blocks[b];
        bool found = false;
        for (uint32_t i = block->first; i < block->end && !found; i++)
            found = waits(flow, &flow->func->insts[i]);
        if (found)
            mark_behind(flow, block);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < flow->block_count; b++)
            if (mr_bit_get(flow->past_grids, b))
                changed = mark_behind(flow, &flow->blocks[b]) || changed;
    }
    return true;
}

bool mr_flow_is_past_grids(const struct mr_flow *flow, uint32_t block, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_module *module = flow->func->module;
    if (!flow->func->is_entry) {
        for (uint32_t f = 0; f < module->function_count; f++)
            if (flow->facts[f].awaits_grids)
                return true;
        return false;
    }
    if (!flow->past_grids)
        return false;
    const struct mr_ptx_inst *first = flow->func->insts + flow->blocks[block].first;
    const struct mr_ptx_inst *end = flow->func->insts + flow->blocks[block].end;
    if (mr_bit_get(flow->past_grids, block) || inst < first || inst >= end)
        return true;
    for (; first < inst; first++)
        if (waits(flow, first))
            return true;
    return false;
}
