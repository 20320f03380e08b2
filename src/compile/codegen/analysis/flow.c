/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All passes over one function. Classes and pending sets are found again until no register has to become a vector any
 * more.
 */
#include "compile/codegen/analysis/flow.h"

#include <string.h>

struct demotion {
    struct mr_flow *flow;
    const struct mr_flow_block *block;
    bool changed;
};

static void demotion_visit(void *data, uint32_t reg, bool is_definition)
{
    struct demotion *demotion = data;
    struct mr_flow *flow = demotion->flow;
    if (is_definition && mr_bit_get(demotion->block->parked, reg) && flow->classes[reg].kind != MR_CLASS_VARYING) {
        mr_bit_set(flow->forced, reg);
        flow->classes[reg] = (struct mr_class){MR_CLASS_VARYING, 0, 0};
        demotion->changed = true;
    }
}

/* Whether the lists of what is looked at when the blocks end are long in all. */
static bool is_crowded(const struct mr_flow *flow)
{
    size_t looks = 0;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        size_t pending = 0, lists = mr_flow_exit_count(flow, &flow->blocks[b]);
        bool waits = mr_flow_waiting_loop(flow, b) != MR_FLOW_NONE;
        for (size_t w = 0; w < mr_bit_words(flow->block_count); w++)
            pending += (size_t)__builtin_popcountll(flow->blocks[b].pend[w]);
        looks += pending * lists * (waits ? 2 : 1);
        if (waits && flow->draws && pending + flow->blocks[b].succ_count > MR_FLOW_DRAWN_MAX)
            return true;
    }
    return looks > MR_FLOW_CROWD && looks > (size_t)MR_FLOW_CROWD_OF_BLOCK * flow->block_count;
}

bool mr_flow_build(struct mr_flow *flow, const struct mr_ptx_function *func, const struct mr_flow_facts *facts,
                   unsigned shape)
{
    memset(flow, 0, sizeof *flow);
    flow->func = func;
    flow->facts = facts;
    flow->shape = shape;
    flow->rows = mr_flow_shape_rows(shape);
    flow->reg_count = func->reg_count + 1;
    if (!mr_flow_order(flow) || !mr_flow_liveness(flow) || !mr_flow_waits(flow) || !mr_flow_steady(flow) ||
        !mr_flow_grids(flow))
        goto failed;
    mr_flow_rounds(flow);
    struct demotion demotion = {.flow = flow, .changed = true};
    while (demotion.changed) {
        demotion.changed = false;
        if (!mr_flow_classes(flow) || !mr_flow_pending(flow))
            goto failed;
        for (uint32_t b = 0; b < flow->block_count; b++) {
            demotion.block = &flow->blocks[b];
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
                mr_flow_registers(flow, &func->insts[i], demotion_visit, &demotion);
        }
    }
    flow->crowded = flow->dispatched || is_crowded(flow);
    return true;
failed:
    mr_flow_clear(flow);
    return false;
}
