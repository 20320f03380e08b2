/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a load decides: whether the value that it gives, whatever that is, says which way the lane goes, or where it
 * accesses memory.
 *
 * Only what is certain counts. So the value is followed from the load to the end of its block, where all that runs the
 * load runs as well, and only through instructions whose results change whenever the value does, or nearly so: copies,
 * sums, products with a number, comparisons. Where a choice or a mask may leave the value out, it is lost. Whether
 * somebody has written what is loaded is for others to ask (abi/note.h).
 */
#include "compile/codegen/analysis/flow.h"

/* Registers that are followed at once; more are lost. */
#define FOLLOWED_MAX 16u

struct followed {
    uint32_t regs[FOLLOWED_MAX];
    unsigned count;
    bool uses, byte; /* the load's value is one byte */
};

static bool is_followed(const struct followed *followed, uint32_t reg)
{
    for (unsigned i = 0; i < followed->count; i++)
        if (followed->regs[i] == reg)
            return true;
    return false;
}

static bool uses(const struct followed *followed, const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_REG && is_followed(followed, operand->reg);
}

static void add(struct followed *followed, uint32_t reg)
{
    if (reg != MR_FLOW_NONE && !is_followed(followed, reg) && followed->count < FOLLOWED_MAX)
        followed->regs[followed->count++] = reg;
}

static void forget_visit(void *data, uint32_t reg, bool is_definition)
{
    struct followed *followed = data;
    for (unsigned i = 0; is_definition && i < followed->count; i++)
        if (followed->regs[i] == reg)
            followed->regs[i--] = followed->regs[--followed->count];
}

static bool is_number(const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_IMM_INT && operand->value != 0;
}

/* Whether the instruction's result hangs on a register that is followed. */
static bool hands_on(const struct followed *followed, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *from = inst->operands;
    unsigned count = inst->operand_count;
    if (inst->guard != MR_FLOW_NONE || inst->dst_count != 1 || count < 2 || inst->flags & MR_PTX_FLAG_SAT)
        return false;
    bool first = uses(followed, &from[1]), second = count > 2 && uses(followed, &from[2]);
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        return inst->vector <= 1 && first;
    case MR_PTX_OP_CVT:
    case MR_PTX_OP_CVTA:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_NOT:
        return first;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_XOR:
        return first != second;
    case MR_PTX_OP_SETP:
        return inst->boolop == MR_PTX_BOOL_NONE && first != second;
    case MR_PTX_OP_AND: /* of a byte clang takes a bool's one bit */
        return first && followed->byte && is_number(&from[2]);
    case MR_PTX_OP_SHL:
        return first && from[2].kind == MR_PTX_OPERAND_IMM_INT;
    case MR_PTX_OP_MUL:
        return inst->mode != MR_PTX_MODE_HI && ((first && is_number(&from[2])) || (second && is_number(&from[1])));
    case MR_PTX_OP_MAD:
        return inst->mode != MR_PTX_MODE_HI && count > 3 && first && is_number(&from[2]) && !uses(followed, &from[3]);
    default:
        return false;
    }
}

/* What the instruction lets a register that is followed decide; see enum mr_flow_decides. */
static unsigned decided_by(const struct followed *followed, const struct mr_ptx_inst *inst)
{
    unsigned decided = 0;
    bool branches = inst->op == MR_PTX_OP_BRA || inst->op == MR_PTX_OP_EXIT || inst->op == MR_PTX_OP_RET;
    if (branches && inst->guard != MR_FLOW_NONE && is_followed(followed, inst->guard))
        decided |= MR_FLOW_DECIDES_WAY;
    if (inst->guard == MR_FLOW_NONE)
        for (unsigned i = 0; i < inst->operand_count; i++)
            if (inst->operands[i].kind == MR_PTX_OPERAND_REG_ADDRESS && inst->space != MR_PTX_SPACE_LOCAL &&
                inst->space != MR_PTX_SPACE_PARAM && is_followed(followed, inst->operands[i].reg))
                decided |= MR_FLOW_DECIDES_PLACE;
    return decided;
}

unsigned mr_flow_decides(const struct mr_flow *flow, uint32_t block, const struct mr_ptx_inst *load)
{
    const struct mr_ptx_inst *insts = flow->func->insts;
    const struct mr_ptx_inst *end = insts + flow->blocks[block].end;
    struct followed followed = {.count = 0};
    unsigned decided = 0;
    if (load->op != MR_PTX_OP_LD || load->vector > 1 || load->guard != MR_FLOW_NONE ||
        load->operands[0].kind != MR_PTX_OPERAND_REG || load < insts + flow->blocks[block].first || load >= end)
        return 0;
    followed.byte = mr_ptx_type_bits((enum mr_ptx_type)load->type[0]) == 8;
    add(&followed, load->operands[0].reg);
    for (const struct mr_ptx_inst *inst = load + 1; inst < end && followed.count; inst++) {
        bool on = hands_on(&followed, inst);
        decided |= decided_by(&followed, inst);
        mr_flow_registers(flow, inst, forget_visit, &followed);
        if (on && inst->operands[0].kind == MR_PTX_OPERAND_REG)
            add(&followed, inst->operands[0].reg);
        else if (on && inst->operands[0].kind == MR_PTX_OPERAND_PAIR) {
            add(&followed, inst->operands[0].reg);
            add(&followed, inst->operands[0].reg2);
        }
    }
    return decided;
}
