/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Video instructions: which modifiers go together, and their operands. A second
 * operation and a destination of less than 32 bits exclude each other, since
 * both use the third input; so do .sat and .add of the SIMD forms.
 */
#include "ptx/verify.h"

static bool is_shift(uint16_t op)
{
    return op == MR_PTX_OP_VSHL || op == MR_PTX_OP_VSHR;
}

static bool is_set(uint16_t op)
{
    return op == MR_PTX_OP_VSET || op == MR_PTX_OP_VSET2 || op == MR_PTX_OP_VSET4;
}

static bool check_modifiers(struct verifier *verifier, unsigned lanes)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const char *name = mr_ptx_op_name((enum mr_ptx_op)inst->op);
    bool limits = inst->atom == MR_PTX_ATOM_MIN || inst->atom == MR_PTX_ATOM_MAX;
    if (inst->atom != MR_PTX_ATOM_NONE && inst->atom != MR_PTX_ATOM_ADD && !(limits && lanes == 1))
        return mr_ptx_verify_error(verifier, "'%s' has no such second operation", name);
    if (lanes > 1 && inst->atom != MR_PTX_ATOM_NONE && (inst->flags & MR_PTX_FLAG_SAT))
        return mr_ptx_verify_error(verifier, "'.sat' and '.add' of '%s' exclude each other", name);
    if (is_set(inst->op) && (inst->cmp < MR_PTX_CMP_EQ || inst->cmp > MR_PTX_CMP_GE))
        return mr_ptx_verify_error(verifier, "'%s' needs one of '.eq', '.ne', '.lt', '.le', '.gt', '.ge'", name);
    if (is_shift(inst->op) && inst->mode2 == MR_PTX_MODE_NONE)
        return mr_ptx_verify_error(verifier, "'%s' needs '.clamp' or '.wrap'", name);
    if (is_shift(inst->op) && inst->type[2] != MR_PTX_TYPE_U32)
        return mr_ptx_verify_error(verifier, "the third type of '%s' must be '.u32'", name);
    return true;
}

static bool check_negation(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *operands = inst->operands;
    if (operands[0].negated)
        return mr_ptx_verify_operand_error(verifier, &operands[0], "a result cannot be negated");
    bool product = operands[1].negated != operands[2].negated;
    if (product && operands[3].negated)
        return mr_ptx_verify_error(verifier, "'vmad' negates either the product or the third input");
    if ((product || operands[3].negated) && (inst->flags & MR_PTX_FLAG_PO))
        return mr_ptx_verify_error(verifier, "'.po' and a negated product or third input exclude each other");
    return true;
}

bool mr_ptx_verify_video(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *operands = inst->operands;
    unsigned lanes = mr_ptx_video_lanes((enum mr_ptx_op)inst->op);
    if (!check_modifiers(verifier, lanes))
        return false;
    bool mad = inst->op == MR_PTX_OP_VMAD, merges = lanes == 1 && operands[0].is_selected;
    uint8_t least = lanes > 1 || mad || merges || inst->atom != MR_PTX_ATOM_NONE ? 4 : 3;
    if (inst->operand_count < least)
        return mr_ptx_verify_error(verifier, "'%s' needs %u operands here", mr_ptx_op_name((enum mr_ptx_op)inst->op),
                                   least);
    if (merges && (mad || inst->atom != MR_PTX_ATOM_NONE))
        return mr_ptx_verify_operand_error(verifier, &operands[0], "no selector is allowed on the result here");
    if (mad && !check_negation(verifier))
        return false;
    if (operands[0].kind != MR_PTX_OPERAND_REG ||
        !mr_ptx_verify_type_fits((enum mr_ptx_type)operands[0].type, MR_PTX_TYPE_U32, false))
        return mr_ptx_verify_operand_error(verifier, &operands[0], "expected a register of 32 bits");
    for (uint8_t i = 1; i < inst->operand_count; i++) {
        struct mr_ptx_operand source = operands[i];
        source.negated = false;
        if (lanes > 1 && i < 3 && source.kind != MR_PTX_OPERAND_REG)
            return mr_ptx_verify_operand_error(verifier, &operands[i], "expected a register");
        if (!mr_ptx_verify_source(verifier, &source, MR_PTX_TYPE_U32, false))
            return false;
    }
    return true;
}
