/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Addresses that a byte picks: base + scale * byte, as those of a histogram's bins. What picks the place then takes a
 * byte of each lane instead of a whole address, and the processor adds and multiplies while it gets there. Found by
 * going back from the address through the block that uses it.
 */
#include "compile/codegen/analysis/flow.h"

#include "compile/codegen.h"

/* Instructions between the address and the byte, and how far apart one and the next may be. */
#define STEPS_MAX 6u
#define DISTANCE_MAX 64u

struct search {
    uint32_t reg;
    bool writes;
};

static void note_writer(void *data, uint32_t reg, bool is_definition)
{
    struct search *search = data;
    search->writes |= is_definition && reg == search->reg;
}

static bool writes(const struct mr_flow *flow, uint32_t inst, uint32_t reg)
{
    struct search search = {.reg = reg};
    mr_flow_registers(flow, &flow->func->insts[inst], note_writer, &search);
    return search.writes;
}

/* The instruction of the block that has written a register last before `end`. */
static uint32_t writer_before(const struct mr_flow *flow, uint32_t block, uint32_t end, uint32_t reg)
{
    uint32_t first = flow->blocks[block].first;
    if (end - first > DISTANCE_MAX)
        first = end - DISTANCE_MAX;
    while (end-- > first)
        if (writes(flow, end, reg))
            return end;
    return MR_FLOW_NONE;
}

static bool stays(const struct mr_flow *flow, uint32_t reg, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (writes(flow, i, reg))
            return false;
    return true;
}

static bool is_imm(const struct mr_ptx_operand *operand, int64_t least, int64_t most)
{
    return operand->kind == MR_PTX_OPERAND_IMM_INT && operand->value >= least && operand->value <= most;
}

static unsigned bits_of(const struct mr_ptx_inst *inst, unsigned type)
{
    return mr_ptx_type_bits((enum mr_ptx_type)inst->type[type]);
}

static bool is_integer(const struct mr_ptx_inst *inst, unsigned type)
{
    return mr_ptx_type_class((enum mr_ptx_type)inst->type[type]) != 'F';
}

/* Whether its result is 0 to 255, whatever it is made from. */
static bool gives_byte(const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_LD:
        return bits_of(inst, 0) == 8 && mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) != 'S' &&
               is_integer(inst, 0);
    case MR_PTX_OP_CVT:
        return inst->type[1] == MR_PTX_TYPE_U8 && is_integer(inst, 0);
    case MR_PTX_OP_AND:
        return is_imm(&inst->operands[1], 0, 255) || is_imm(&inst->operands[2], 0, 255);
    case MR_PTX_OP_SHR:
        return mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) != 'S' &&
               is_imm(&inst->operands[2], bits_of(inst, 0) - 8, INT32_MAX);
    case MR_PTX_OP_BFE:
        return mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) != 'S' && is_imm(&inst->operands[3], 0, 8);
    default:
        return false;
    }
}

/* Takes the instruction into account; gives the operand that the byte must come from, or NULL. */
static const struct mr_ptx_operand *step_back(const struct mr_flow *flow, const struct mr_ptx_inst *inst,
                                              struct mr_flow_byte_places *places)
{
    const struct mr_ptx_operand *from = &inst->operands[1], *base = NULL;
    int64_t factor = 1;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        return inst->vector == 1 ? from : NULL;
    case MR_PTX_OP_CVT: { /* what the byte is added to is cut to 32 bits in the end, and must not be before; the byte
                             alone needs less */
        unsigned least = places->base ? 16 : 32;
        bool keeps = is_integer(inst, 0) && is_integer(inst, 1) && !(inst->flags & MR_PTX_FLAG_SAT) &&
                     bits_of(inst, 0) >= least && bits_of(inst, 1) >= least;
        return keeps ? from : NULL;
    }
    case MR_PTX_OP_ADD:
        base = &inst->operands[2];
        if (mr_flow_operand_class(flow, from).kind == MR_CLASS_UNIFORM) {
            base = from;
            from = &inst->operands[2];
        }
        break;
    case MR_PTX_OP_MAD:
        base = &inst->operands[3];
        factor = inst->operands[2].value;
        break;
    case MR_PTX_OP_MUL:
        factor = inst->operands[2].value;
        break;
    case MR_PTX_OP_SHL:
        factor = is_imm(&inst->operands[2], 0, 3) ? INT64_C(1) << inst->operands[2].value : 0;
        break;
    default:
        return NULL;
    }
    bool multiplies = inst->op == MR_PTX_OP_MUL || inst->op == MR_PTX_OP_MAD;
    if (!is_integer(inst, 0) || inst->flags & MR_PTX_FLAG_SAT ||
        (multiplies && (inst->mode == MR_PTX_MODE_HI || inst->operands[2].kind != MR_PTX_OPERAND_IMM_INT)))
        return NULL;
    if (base && (places->base || places->scale != 1 || (bits_of(inst, 0) < 32 && inst->mode != MR_PTX_MODE_WIDE) ||
                 mr_flow_operand_class(flow, base).kind != MR_CLASS_UNIFORM))
        return NULL;
    if (factor < 1 || factor * places->scale > 8 || (factor & (factor - 1)))
        return NULL;
    places->scale *= (unsigned)factor;
    if (base)
        places->base = base;
    return from;
}

bool mr_flow_byte_places_find(const struct mr_flow *flow, uint32_t block, uint32_t inst,
                              const struct mr_ptx_operand *address, struct mr_flow_byte_places *places)
{
    *places = (struct mr_flow_byte_places){.reg = address->reg, .scale = 1, .offset = address->value};
    if (address->kind != MR_PTX_OPERAND_REG_ADDRESS)
        return false;
    for (uint32_t end = inst, step = 0; step < STEPS_MAX; step++) {
        uint32_t writer = writer_before(flow, block, end, places->reg);
        if (writer == MR_FLOW_NONE)
            return false;
        const struct mr_ptx_inst *at = &flow->func->insts[writer];
        if (at->guard != MR_PTX_NONE)
            return false;
        if (gives_byte(at))
            return mr_flow_register_class(flow, places->reg).kind == MR_CLASS_VARYING &&
                   stays(flow, places->reg, writer + 1, inst);
        bool had_base = places->base != NULL;
        const struct mr_ptx_operand *from = step_back(flow, at, places);
        if (!from || from->kind != MR_PTX_OPERAND_REG)
            return false;
        if (places->base && !had_base && places->base->kind == MR_PTX_OPERAND_REG &&
            !stays(flow, places->base->reg, writer, inst))
            return false;
        places->reg = from->reg;
        end = writer;
    }
    return false;
}
