/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How far a register goes on from one block of threads to the next along x: by 16,384 if it is made as
 * (ctaid.x << 12) * 4 + something that no block changes. It is what a load goes by that asks for what the next block
 * will read, so a wrong answer costs time and changes no result: bits put together by `or` are taken for a sum.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"

/* Not known. */
#define ANY MR_FLOW_BLOCK_STEP_ANY

struct steps {
    const struct mr_flow *flow;
    int64_t *of; /* by register */
    int64_t result; /* of the instruction at hand */
};

static int64_t checked(int64_t step)
{
    return step > -MR_FLOW_BLOCK_STEP_MAX && step < MR_FLOW_BLOCK_STEP_MAX ? step : ANY;
}

static int64_t operand_step(const struct steps *steps, const struct mr_ptx_operand *operand)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
        return steps->of[operand->reg] == MR_FLOW_BLOCK_STEP_NONE ? ANY : steps->of[operand->reg];
    case MR_PTX_OPERAND_SPECIAL:
        return operand->special == MR_PTX_SPECIAL_CTAID && operand->component == 0 ? 1 : 0;
    case MR_PTX_OPERAND_IMM_INT:
    case MR_PTX_OPERAND_SYMBOL:
        return 0;
    default:
        return ANY;
    }
}

static int64_t sum(int64_t a, int64_t b)
{
    return a == ANY || b == ANY ? ANY : checked(a + b);
}

static int64_t product(const struct steps *steps, const struct mr_ptx_operand *a, const struct mr_ptx_operand *b)
{
    int64_t by_a = operand_step(steps, a), by_b = operand_step(steps, b), factor;
    if (by_a == 0 && by_b == 0)
        return 0;
    if (by_a == ANY || b->kind != MR_PTX_OPERAND_IMM_INT)
        return ANY;
    return __builtin_mul_overflow(by_a, b->value, &factor) ? ANY : checked(factor);
}

/* What an instruction with one result gives. */
static int64_t result_step(const struct steps *steps, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *from = &inst->operands[1];
    bool same = true;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVT:
    case MR_PTX_OP_CVTA:
        return operand_step(steps, &from[0]);
    case MR_PTX_OP_LD:
        return inst->space == MR_PTX_SPACE_PARAM ? 0 : ANY;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_OR:
        return sum(operand_step(steps, &from[0]), operand_step(steps, &from[1]));
    case MR_PTX_OP_MUL:
        return product(steps, &from[0], &from[1]);
    case MR_PTX_OP_MAD:
        return sum(product(steps, &from[0], &from[1]), operand_step(steps, &from[2]));
    case MR_PTX_OP_SHL: {
        int64_t step = operand_step(steps, &from[0]);
        if (step != 0 && from[1].kind == MR_PTX_OPERAND_IMM_INT && step != ANY && from[1].value >= 0 &&
            from[1].value < 31)
            return checked(step * (INT64_C(1) << from[1].value));
        break;
    }
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_BFE:
        break;
    default:
        return ANY;
    }
    for (unsigned o = 1; o < inst->operand_count; o++)
        same = same && operand_step(steps, &inst->operands[o]) == 0;
    return same ? 0 : ANY;
}

/* A register that several instructions write is not known. */
static void note(void *data, uint32_t reg, bool is_definition)
{
    struct steps *steps = data;
    if (is_definition)
        steps->of[reg] = steps->of[reg] == MR_FLOW_BLOCK_STEP_NONE ? steps->result : ANY;
}

int64_t *mr_flow_block_steps(const struct mr_flow *flow)
{
    struct steps steps = {.flow = flow, .of = mr_calloc(flow->reg_count ? flow->reg_count : 1, sizeof *steps.of)};
    for (uint32_t r = 0; steps.of && r < flow->reg_count; r++)
        steps.of[r] = MR_FLOW_BLOCK_STEP_NONE;
    for (uint32_t i = 0; steps.of && i < flow->func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &flow->func->insts[i];
        bool one = inst->dst_count == 1 && inst->operand_count > 1 && inst->guard == MR_PTX_NONE;
        steps.result = one ? result_step(&steps, inst) : ANY;
        mr_flow_registers(flow, inst, note, &steps);
    }
    return steps.of;
}
