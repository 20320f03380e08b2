/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Registers whose numbers probably lie near each other in a warp: made of indexes by sums, shifts, quotients and small
 * factors. Numbers from memory and scrambled ones (a hash) probably don't. Divisions go by it (emit/division.c), so a
 * wrong answer costs time and changes no result.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"

/* Products with larger constants scramble. */
#define FACTOR_MAX 65536

struct near {
    const struct mr_flow *flow;
    mr_word *set;
    bool stays, changed;
};

static bool is_small_factor(const struct near *near, const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_IMM_INT)
        return operand->value >= -FACTOR_MAX && operand->value <= FACTOR_MAX;
    return mr_flow_operand_class(near->flow, operand).kind == MR_CLASS_UNIFORM;
}

/* Whether the result is near if the operands are. Products that are cut to their upper half are quotients. */
static bool keeps_near(const struct near *near, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVT:
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_DIV:
    case MR_PTX_OP_REM:
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_SHL:
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_BFE:
    case MR_PTX_OP_SELP:
        return true;
    case MR_PTX_OP_LD:
        return inst->space == MR_PTX_SPACE_PARAM;
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
        return inst->mode == MR_PTX_MODE_HI || inst->mode == MR_PTX_MODE_WIDE ||
               is_small_factor(near, &inst->operands[1]) || is_small_factor(near, &inst->operands[2]);
    default:
        return false;
    }
}

static void look(void *data, uint32_t reg, bool is_definition)
{
    struct near *near = data;
    near->stays = near->stays && (is_definition || mr_bit_get(near->set, reg));
}

static void leave(void *data, uint32_t reg, bool is_definition)
{
    struct near *near = data;
    if (!is_definition || !mr_bit_get(near->set, reg) ||
        mr_flow_register_class(near->flow, reg).kind != MR_CLASS_VARYING)
        return;
    mr_bit_clear(near->set, reg);
    near->changed = true;
}

mr_word *mr_flow_near(const struct mr_flow *flow)
{
    size_t words = mr_bit_words(flow->reg_count);
    struct near near = {.flow = flow, .set = mr_calloc(words ? words : 1, sizeof *near.set), .changed = true};
    if (!near.set)
        return NULL;
    for (uint32_t r = 0; r < flow->reg_count; r++)
        mr_bit_set(near.set, r);
    while (near.changed) {
        near.changed = false;
        for (uint32_t i = 0; i < flow->func->inst_count; i++) {
            const struct mr_ptx_inst *inst = &flow->func->insts[i];
            near.stays = keeps_near(&near, inst);
            mr_flow_registers(flow, inst, look, &near);
            if (!near.stays)
                mr_flow_registers(flow, inst, leave, &near);
        }
    }
    return near.set;
}
