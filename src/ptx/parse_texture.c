/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands of textures and surfaces. The bracket holds a handle and coordinates,
 * with a sampler between them or not; what may follow depends on the modifiers,
 * and much of it may be left out. So each operand has a place of its own
 * (MR_PTX_TEXTURE_), and places that stay empty hold a SINK.
 */
#include <string.h>

#include "ptx/parse.h"

static void set_empty(struct mr_ptx_operand *operands)
{
    for (unsigned i = 0; i < MR_PTX_TEXTURE_OPERANDS; i++)
        operands[i] = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_SINK, .reg = MR_PTX_NONE, .reg2 = MR_PTX_NONE};
}

/* "[handle, coordinates]", "[handle, sampler, coordinates]"; queries have a handle only. */
static bool parse_bracket(struct parser *parser, struct mr_ptx_operand *operands, bool query)
{
    if (!mr_ptx_expect(parser, '[', "'['") || !mr_ptx_parse_operand(parser, &operands[MR_PTX_TEXTURE_HANDLE]))
        return false;
    if (query)
        return mr_ptx_expect(parser, ']', "']'");
    if (!mr_ptx_expect(parser, ',', "','") || !mr_ptx_parse_operand(parser, &operands[MR_PTX_TEXTURE_AT]))
        return false;
    if (mr_ptx_accept(parser, ',')) {
        operands[MR_PTX_TEXTURE_SAMPLER] = operands[MR_PTX_TEXTURE_AT];
        if (!mr_ptx_parse_operand(parser, &operands[MR_PTX_TEXTURE_AT]))
            return false;
    }
    return mr_ptx_expect(parser, ']', "']'");
}

static bool parse_next(struct parser *parser, struct mr_ptx_operand *operand)
{
    return mr_ptx_expect(parser, ',', "','") && mr_ptx_parse_operand(parser, operand);
}

/* Offsets, then a number to compare with; either may be left out. Only one-dimensional textures take an offset that is no
 * vector, and those are never compared. */
static bool parse_extras(struct parser *parser, struct mr_ptx_inst *inst, struct mr_ptx_operand *operands)
{
    bool flat = inst->geom == MR_PTX_GEOM_1D || inst->geom == MR_PTX_GEOM_A1D;
    while (mr_ptx_is(parser, ',')) {
        struct mr_ptx_operand operand = {0};
        if (!parse_next(parser, &operand))
            return false;
        unsigned place = flat || operand.kind == MR_PTX_OPERAND_VECTOR ? MR_PTX_TEXTURE_OFFSET : MR_PTX_TEXTURE_COMPARE;
        if (operands[place].kind != MR_PTX_OPERAND_SINK || operands[MR_PTX_TEXTURE_COMPARE].kind != MR_PTX_OPERAND_SINK)
            return mr_ptx_error(parser, "'%s' has too many operands", mr_ptx_op_name((enum mr_ptx_op)inst->op));
        operands[place] = operand;
    }
    return true;
}

bool mr_ptx_parse_texture(struct parser *parser, struct mr_ptx_inst *inst)
{
    struct mr_ptx_operand *operands = mr_ptx_new(parser, MR_PTX_TEXTURE_OPERANDS, sizeof *operands);
    bool query = inst->op == MR_PTX_OP_TXQ || inst->op == MR_PTX_OP_SUQ;
    bool stores = inst->op == MR_PTX_OP_SUST || inst->op == MR_PTX_OP_SURED;
    set_empty(operands);
    inst->operands = operands;
    inst->operand_count = MR_PTX_TEXTURE_OPERANDS;
    inst->dst_count = !stores;
    if (!stores) {
        if (!mr_ptx_parse_operand(parser, &operands[MR_PTX_TEXTURE_RESULT]))
            return false;
        if (mr_ptx_is(parser, '|'))
            return mr_ptx_error(parser, "'%s' with a predicate (sparse textures) is not supported", mr_ptx_op_name((enum mr_ptx_op)inst->op));
        if (!mr_ptx_expect(parser, ',', "','"))
            return false;
    }
    if (!parse_bracket(parser, operands, query))
        return false;
    if (stores)
        return parse_next(parser, &operands[MR_PTX_TEXTURE_DATA]);
    bool level = inst->mode == MR_PTX_MODE_LEVEL && (inst->op == MR_PTX_OP_TEX || inst->op == MR_PTX_OP_TXQ);
    if ((level || inst->mode == MR_PTX_MODE_GRAD) && !parse_next(parser, &operands[MR_PTX_TEXTURE_LEVEL]))
        return false;
    if (inst->mode == MR_PTX_MODE_GRAD && !parse_next(parser, &operands[MR_PTX_TEXTURE_ALONG_Y]))
        return false;
    return (inst->op != MR_PTX_OP_TEX && inst->op != MR_PTX_OP_TLD4) || parse_extras(parser, inst, operands);
}
