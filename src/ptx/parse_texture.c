/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands of textures and surfaces. The bracket holds a handle and coordinates,
 * with a sampler between them or not; what may follow depends on the modifiers,
 * and much of it may be left out. So each operand has a place of its own
 * (MR_PTX_TEXTURE_), and places that stay empty hold a SINK.
 *
 * A predicate beside the result says whether all texels are resident. Here they
 * always are, so it becomes an instruction of its own, which sets it.
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

/* Offsets, then a number to compare with; either may be left out. NVIDIA's assembler also takes an integer where
 * offsets stand, without braces, which then means nothing: before a number to compare with, or alone if it is a
 * constant or has a type. */
static bool is_offset(struct parser *parser, const struct mr_ptx_operand *operand)
{
    bool integer = operand->kind == MR_PTX_OPERAND_IMM_INT ||
                   (operand->kind == MR_PTX_OPERAND_REG && operand->type != MR_PTX_TYPE_F32);
    return operand->kind == MR_PTX_OPERAND_VECTOR ||
           (integer && (mr_ptx_is(parser, ',') || operand->type != MR_PTX_TYPE_B32));
}

static bool parse_extras(struct parser *parser, struct mr_ptx_inst *inst, struct mr_ptx_operand *operands)
{
    while (mr_ptx_is(parser, ',')) {
        struct mr_ptx_operand operand = {0};
        if (!parse_next(parser, &operand))
            return false;
        bool offset = operands[MR_PTX_TEXTURE_OFFSET].kind == MR_PTX_OPERAND_SINK && is_offset(parser, &operand);
        unsigned place = offset ? MR_PTX_TEXTURE_OFFSET : MR_PTX_TEXTURE_COMPARE;
        if (operands[MR_PTX_TEXTURE_COMPARE].kind != MR_PTX_OPERAND_SINK)
            return mr_ptx_error(parser, "'%s' has too many operands", mr_ptx_op_name((enum mr_ptx_op)inst->op));
        operands[place] = operand;
    }
    return true;
}

/* "|p" whose bar was taken. */
static bool parse_resident(struct parser *parser, const struct mr_ptx_inst *inst, struct mr_ptx_operand *operand)
{
    if (inst->op != MR_PTX_OP_TEX && inst->op != MR_PTX_OP_TLD4)
        return mr_ptx_error(parser, "'%s' has no predicate beside its result",
                            mr_ptx_op_name((enum mr_ptx_op)inst->op));
    struct mr_ptx_token token = parser->token;
    if (!mr_ptx_need(parser, "a predicate beside a texture's result", 71, 60) || !mr_ptx_parse_operand(parser, operand))
        return false;
    return (operand->kind == MR_PTX_OPERAND_REG && operand->type == MR_PTX_TYPE_PRED && !operand->negated) ||
           mr_ptx_error_at(parser, token.line, token.column, "expected a predicate register");
}

void mr_ptx_add_resident(struct parser *parser, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *predicate = &inst->operands[MR_PTX_TEXTURE_RESIDENT];
    if (predicate->kind == MR_PTX_OPERAND_SINK)
        return;
    struct mr_ptx_operand *operands = mr_ptx_new(parser, 2, sizeof *operands);
    operands[0] = *predicate;
    operands[1] = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_IMM_INT,
                                          .value = 1,
                                          .reg = MR_PTX_NONE,
                                          .reg2 = MR_PTX_NONE,
                                          .line = predicate->line,
                                          .column = predicate->column};
    struct mr_ptx_inst *set = mr_ptx_list_add(parser, &parser->insts, sizeof *set);
    *set = (struct mr_ptx_inst){.op = MR_PTX_OP_MOV,
                                .guard = inst->guard,
                                .guard_negated = inst->guard_negated,
                                .vector = 1,
                                .type = {MR_PTX_TYPE_PRED},
                                .type_count = 1,
                                .operands = operands,
                                .operand_count = 2,
                                .dst_count = 1,
                                .line = inst->line,
                                .column = inst->column,
                                .loc_file = inst->loc_file,
                                .loc_line = inst->loc_line};
}

/* Whether NVIDIA's assembler takes one coordinate without braces where a geometry has more. */
static bool may_lack_coordinates(const struct mr_ptx_inst *inst)
{
    bool surface = inst->op != MR_PTX_OP_TEX && inst->op != MR_PTX_OP_TLD4;
    switch (inst->geom) {
    case MR_PTX_GEOM_2D:
        return true;
    case MR_PTX_GEOM_3D:
        return inst->op != MR_PTX_OP_TLD4;
    case MR_PTX_GEOM_CUBE:
        return !surface;
    case MR_PTX_GEOM_A1D:
    case MR_PTX_GEOM_A2D:
        return inst->op == MR_PTX_OP_SULD || inst->op == MR_PTX_OP_SUST;
    default:
        return false;
    }
}

/* The others are 0. On hardware they are what registers happen to hold. */
static void add_coordinates(struct parser *parser, const struct mr_ptx_inst *inst, struct mr_ptx_operand *at)
{
    bool flat = inst->geom == MR_PTX_GEOM_2D || inst->geom == MR_PTX_GEOM_A1D,
         surface = inst->op != MR_PTX_OP_TEX && inst->op != MR_PTX_OP_TLD4;
    uint8_t count = flat ? 2 : 4;
    struct mr_ptx_operand *all = mr_ptx_new(parser, count, sizeof *all);
    all[0] = *at;
    for (uint8_t i = 1; i < count; i++) {
        bool number = surface || inst->type[1] != MR_PTX_TYPE_F32;
        all[i] = (struct mr_ptx_operand){.kind = number ? MR_PTX_OPERAND_IMM_INT : MR_PTX_OPERAND_IMM_FLOAT,
                                         .is_single = !number,
                                         .reg = MR_PTX_NONE,
                                         .reg2 = MR_PTX_NONE,
                                         .line = at->line,
                                         .column = at->column};
    }
    *at = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_VECTOR,
                                  .count = count,
                                  .elements = all,
                                  .reg = MR_PTX_NONE,
                                  .reg2 = MR_PTX_NONE,
                                  .line = at->line,
                                  .column = at->column};
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
        if (mr_ptx_accept(parser, '|') && !parse_resident(parser, inst, &operands[MR_PTX_TEXTURE_RESIDENT]))
            return false;
        if (!mr_ptx_expect(parser, ',', "','"))
            return false;
    }
    if (!parse_bracket(parser, operands, query))
        return false;
    if (operands[MR_PTX_TEXTURE_AT].kind == MR_PTX_OPERAND_REG && may_lack_coordinates(inst))
        add_coordinates(parser, inst, &operands[MR_PTX_TEXTURE_AT]);
    if (stores)
        return parse_next(parser, &operands[MR_PTX_TEXTURE_DATA]);
    bool level = inst->mode == MR_PTX_MODE_LEVEL && (inst->op == MR_PTX_OP_TEX || inst->op == MR_PTX_OP_TXQ);
    if ((level || inst->mode == MR_PTX_MODE_GRAD) && !parse_next(parser, &operands[MR_PTX_TEXTURE_LEVEL]))
        return false;
    if (inst->mode == MR_PTX_MODE_GRAD && !parse_next(parser, &operands[MR_PTX_TEXTURE_ALONG_Y]))
        return false;
    return (inst->op != MR_PTX_OP_TEX && inst->op != MR_PTX_OP_TLD4) || parse_extras(parser, inst, operands);
}
