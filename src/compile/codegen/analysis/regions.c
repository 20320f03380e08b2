/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels whose warps take turns at barriers within one call, without stacks of
 * their own: which ones, and what has to be kept of a warp while it waits. The code for it is in turns.c.
 *
 * Where every barrier is one of the whole block, nobody has to count arrivals: let each warp run until it
 * comes to a barrier or leaves, one after the other; then all have arrived, and each goes on behind the
 * barrier where it stopped. Nothing has to be proved about the conditions around barriers, for
 * each warp remembers its own place. What a warp keeps is what is live
 * behind the barrier, except for registers that are made anew more cheaply.
 *
 * The same way warps take turns at the head of loops that stride over memory by the width of the block or the grid:
 * round by round, the block's warps then read what lies side by side. If one warp ran through such a loop alone, it
 * would take a few bytes here and there, which no processor foresees.
 */
#include "compile/codegen/analysis/flow.h"

#include <string.h>

#include "base/alloc.h"

/* Most blocks of a loop that strides. */
#define STRIDE_BLOCKS_MAX 8u

/* Steps in which a register is made anew: as a scalar, as a vector of lanes. */
#define REMAKE_STEPS_SCALAR 12u
#define REMAKE_STEPS_VECTOR 2u

static bool is_block_barrier(const struct mr_ptx_inst *inst)
{
    return (inst->op == MR_PTX_OP_BAR || inst->op == MR_PTX_OP_BARRIER) && inst->mode != MR_PTX_MODE_WARP_SYNC;
}

uint32_t mr_flow_barrier_number(const struct mr_ptx_inst *inst)
{
    return inst->operand_count > inst->dst_count && inst->operands[inst->dst_count].kind == MR_PTX_OPERAND_IMM_INT
               ? (uint32_t)inst->operands[inst->dst_count].value
               : 0;
}

/* bar.sync and bar.red of all threads of the block, under a number that is known now and without a guard. */
static bool is_plain_barrier(const struct mr_ptx_inst *inst)
{
    if ((inst->mode != MR_PTX_MODE_SYNC && inst->mode != MR_PTX_MODE_RED) || inst->guard != MR_PTX_NONE)
        return false;
    uint32_t numbers = inst->operand_count - inst->dst_count - (inst->mode == MR_PTX_MODE_RED);
    if (numbers == 0)
        return true;
    const struct mr_ptx_operand *number = &inst->operands[inst->dst_count];
    return numbers == 1 && number->kind == MR_PTX_OPERAND_IMM_INT && number->value >= 0 && number->value < 16;
}

/* Whether an instruction can't be in such a kernel: it may wait for another warp, or keeps memory on the stack. */
static bool needs_stack(const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_NANOSLEEP:
    case MR_PTX_OP_MBARRIER:
    case MR_PTX_OP_ALLOCA:
    case MR_PTX_OP_STACKSAVE:
    case MR_PTX_OP_STACKRESTORE:
        return true;
    default:
        return is_block_barrier(inst) && !is_plain_barrier(inst);
    }
}

/* Whether a .param variable of the body is used on both sides of a barrier. (They are there for one call, in all code
 * that compilers write.) */
static bool params_cross_barriers(const struct mr_ptx_function *func)
{
    for (uint32_t v = 0; v < func->var_count; v++) {
        const struct mr_ptx_var *var = func->vars[v];
        if (var->space != MR_PTX_SPACE_PARAM || var->reg != MR_PTX_NONE)
            continue;
        bool used = false, behind = false;
        for (uint32_t i = 0; i < func->inst_count; i++) {
            const struct mr_ptx_inst *inst = &func->insts[i];
            bool uses = false;
            for (uint32_t o = 0; o < inst->operand_count; o++)
                uses |= inst->operands[o].var == var;
            for (uint32_t o = 0; inst->call && o < inst->call->arg_count; o++)
                uses |= inst->call->args[o].var == var;
            for (uint32_t o = 0; inst->call && o < inst->call->return_count; o++)
                uses |= inst->call->returns[o].var == var;
            if (uses && behind)
                return true;
            used |= uses;
            behind |= used && is_block_barrier(inst);
        }
    }
    return false;
}

bool mr_flow_regions_fit(const struct mr_flow *flow, const struct mr_layout_entry *entry)
{
    const struct mr_ptx_function *func = flow->func;
    if (!func->is_entry || flow->dispatched || params_cross_barriers(func))
        return false;
    for (uint32_t b = 0; b < flow->block_count; b++)
        if (mr_flow_reduces_apart(flow, b) && mr_flow_barriers_meet(flow))
            return false;
    for (uint32_t f = 0; f < entry->reachable_count; f++) {
        const struct mr_ptx_function *callee = entry->reachable[f];
        if (flow->facts[callee->index].waits || (callee != func && flow->facts[callee->index].barriers))
            return false;
        for (uint32_t i = 0; i < callee->inst_count; i++)
            if (needs_stack(&callee->insts[i]))
                return false;
    }
    return true;
}

bool mr_flow_lanes_stay(const struct mr_flow *flow)
{
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const struct mr_flow_block *block = &flow->blocks[b];
        bool splits = mr_flow_diverges(flow, block);
        if (block->may_vanish || (splits && (block->end_kind == MR_END_SOME_EXIT || block->end_kind == MR_END_TABLE)))
            return false;
        if (block->end_kind == MR_END_EXIT && !mr_flow_runs_alone(flow, b))
            return false;
    }
    return true;
}

bool mr_flow_runs_alone(const struct mr_flow *flow, uint32_t block)
{
    for (size_t w = 0; w < mr_bit_words(flow->block_count); w++)
        if (flow->blocks[block].pend[w])
            return false;
    return true;
}

/* Registers made anew. */

struct writers {
    struct mr_flow_remake *remake;
    uint32_t at;
};

static void note_writer(void *data, uint32_t reg, bool is_definition)
{
    struct writers *writers = data;
    if (!is_definition)
        return;
    struct mr_flow_remake *r = &writers->remake[reg];
    r->writer = r->writers++ ? MR_FLOW_NONE : writers->at;
}

/* Whether the operand is the same wherever and whenever a lane reads it; adds the steps that it takes. */
static bool source_is_lasting(const struct mr_flow_remake *remake, const struct mr_ptx_operand *operand,
                              uint32_t *steps)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_IMM_INT:
    case MR_PTX_OPERAND_IMM_FLOAT:
    case MR_PTX_OPERAND_SYMBOL:
        return true;
    case MR_PTX_OPERAND_SYMBOL_ADDRESS: /* of ld.param */
        return operand->var->space == MR_PTX_SPACE_PARAM && !mr_flow_is_per_lane(operand->var);
    case MR_PTX_OPERAND_REG:
        *steps += remake[operand->reg].steps;
        return remake[operand->reg].steps != 0;
    case MR_PTX_OPERAND_SPECIAL:
        switch (operand->special) {
        case MR_PTX_SPECIAL_TID:
        case MR_PTX_SPECIAL_NTID:
        case MR_PTX_SPECIAL_CTAID:
        case MR_PTX_SPECIAL_NCTAID:
        case MR_PTX_SPECIAL_LANEID:
        case MR_PTX_SPECIAL_WARPID:
        case MR_PTX_SPECIAL_LANEMASK_EQ:
        case MR_PTX_SPECIAL_LANEMASK_LE:
        case MR_PTX_SPECIAL_LANEMASK_LT:
        case MR_PTX_SPECIAL_LANEMASK_GE:
        case MR_PTX_SPECIAL_LANEMASK_GT:
            return true;
        default:
            return false;
        }
    default:
        return false;
    }
}

/* Whether an instruction calculates with integers and bits alone, and has one result. */
static bool is_calculation(const struct mr_ptx_inst *inst)
{
    if (inst->guard != MR_PTX_NONE || inst->dst_count != 1 || inst->operands[0].kind != MR_PTX_OPERAND_REG ||
        (inst->flags & MR_PTX_FLAG_CC))
        return false;
    for (uint32_t i = 0; i < inst->type_count; i++)
        if (mr_ptx_type_class((enum mr_ptx_type)inst->type[i]) == 'F' && inst->op != MR_PTX_OP_MOV &&
            inst->op != MR_PTX_OP_LD)
            return false;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVTA:
    case MR_PTX_OP_CVT:
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
    case MR_PTX_OP_SHL:
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_NOT:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_SETP:
        return true;
    case MR_PTX_OP_LD:
        return inst->space == MR_PTX_SPACE_PARAM && inst->vector == 1;
    default:
        return false;
    }
}

void mr_flow_remakes(const struct mr_flow *flow, struct mr_flow_remake *remake)
{
    const struct mr_ptx_inst *insts = flow->func->insts;
    for (uint32_t r = 0; r < flow->reg_count; r++)
        remake[r] = (struct mr_flow_remake){.writer = MR_FLOW_NONE};
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++) {
            struct writers writers = {remake, i};
            mr_flow_registers(flow, &insts[i], note_writer, &writers);
        }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = 0; r < flow->reg_count; r++) {
            if (remake[r].steps || remake[r].writer == MR_FLOW_NONE || !is_calculation(&insts[remake[r].writer]))
                continue;
            const struct mr_ptx_inst *inst = &insts[remake[r].writer];
            uint32_t steps = 1;
            bool lasting = true;
            for (uint32_t o = 1; o < inst->operand_count && lasting; o++)
                lasting = source_is_lasting(remake, &inst->operands[o], &steps);
            bool vector = mr_flow_register_class(flow, r).kind == MR_CLASS_VARYING;
            if (!lasting || steps > (vector ? REMAKE_STEPS_VECTOR : REMAKE_STEPS_SCALAR))
                continue;
            remake[r].steps = steps;
            changed = true;
        }
    }
}

#define WIDTH_STEPS 4u

/* Whether the register is the same for all threads and may be made from the size of the block or of the grid. */
static bool is_width(const struct mr_flow *flow, uint32_t reg, unsigned steps)
{
    if (steps == 0 || mr_flow_register_class(flow, reg).kind != MR_CLASS_UNIFORM)
        return false;
    for (uint32_t i = 0; i < flow->func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &flow->func->insts[i];
        if (inst->dst_count != 1 || inst->operands[0].kind != MR_PTX_OPERAND_REG || inst->operands[0].reg != reg)
            continue;
        for (uint32_t o = 1; o < inst->operand_count; o++) {
            const struct mr_ptx_operand *operand = &inst->operands[o];
            if (operand->kind == MR_PTX_OPERAND_SPECIAL &&
                (operand->special == MR_PTX_SPECIAL_NTID || operand->special == MR_PTX_SPECIAL_NCTAID))
                return true;
            if (operand->kind == MR_PTX_OPERAND_REG && operand->reg != reg && is_width(flow, operand->reg, steps - 1))
                return true;
        }
    }
    return false;
}

/* An addition of such a width to something that steps from lane to lane and that the next round sees. */
static bool steps_by_width(const struct mr_flow *flow, const struct mr_ptx_inst *inst, uint32_t head)
{
    if (inst->op != MR_PTX_OP_ADD || inst->operands[0].kind != MR_PTX_OPERAND_REG ||
        mr_flow_register_class(flow, inst->operands[0].reg).kind != MR_CLASS_AFFINE ||
        !mr_bit_get(flow->blocks[head].live_in, inst->operands[0].reg))
        return false;
    for (uint32_t o = 1; o < 3; o++)
        if (inst->operands[o].kind == MR_PTX_OPERAND_REG && is_width(flow, inst->operands[o].reg, WIDTH_STEPS))
            return true;
    return false;
}

/* A load of what lies side by side in global memory. */
static bool loads_side_by_side(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_LD || inst->space != MR_PTX_SPACE_GLOBAL ||
        inst->operands[1].kind != MR_PTX_OPERAND_REG_ADDRESS)
        return false;
    struct mr_class c = mr_flow_register_class(flow, inst->operands[1].reg);
    return c.kind == MR_CLASS_AFFINE && c.stride == (int64_t)mr_ptx_type_bytes(inst->type[0]) * inst->vector;
}

bool mr_flow_strides(const struct mr_flow *flow, uint32_t head)
{
    uint32_t l = flow->blocks[head].loop;
    if (l == MR_FLOW_NONE || flow->loops[l].first != head || flow->rows > 1 ||
        flow->loops[l].end - head > STRIDE_BLOCKS_MAX)
        return false;
    bool steps = false, loads = false;
    for (uint32_t b = head; b < flow->loops[l].end; b++) {
        if (flow->blocks[b].loop != l || flow->blocks[b].barrier)
            return false; /* a loop inside, or barriers that do it */
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++) {
            const struct mr_ptx_inst *inst = &flow->func->insts[i];
            if (inst->op == MR_PTX_OP_CALL || inst->op == MR_PTX_OP_ATOM || inst->op == MR_PTX_OP_RED)
                return false;
            steps |= steps_by_width(flow, inst, head);
            loads |= loads_side_by_side(flow, inst);
        }
    }
    return steps && loads;
}

const mr_word *mr_flow_live_behind(const struct mr_flow *flow, uint32_t block)
{
    const struct mr_flow_block *at = &flow->blocks[block];
    return flow->blocks[at->barrier ? at->succs[0] : block].live_in;
}

void mr_flow_kept(const struct mr_flow *flow, const struct mr_flow_remake *remake, uint32_t block, mr_word *set)
{
    const struct mr_flow_block *at = &flow->blocks[block];
    const mr_word *live = mr_flow_live_behind(flow, block);
    for (size_t w = 0; w < mr_bit_words(flow->reg_count); w++)
        set[w] = live[w] | at->parked[w];
    for (uint32_t r = 0; r < flow->reg_count; r++)
        if (remake[r].steps)
            mr_bit_clear(set, r);
}
