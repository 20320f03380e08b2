/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One instruction: guard, mnemonic with its modifiers and types, operands. What
 * an opcode may carry comes from ptx_ops.def; a word that does not belong to it
 * is an error here, so that later passes never meet a modifier they would ignore.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/parse.h"

/* "@p" or "@!p" */
static bool parse_guard(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (!mr_ptx_accept(parser, '@'))
        return true;
    inst->guard_negated = mr_ptx_accept(parser, '!');
    struct mr_ptx_token token = parser->token;
    struct mr_ptx_operand operand = {0};
    if (!mr_ptx_parse_operand(parser, &operand))
        return false;
    if (operand.kind != MR_PTX_OPERAND_REG || operand.type != MR_PTX_TYPE_PRED || operand.negated)
        return mr_ptx_error_at(parser, token.line, token.column, "a guard must be a predicate register");
    inst->guard = operand.reg;
    return true;
}

/* The member that a modifier sets, NULL for flags and words without effect. */
static uint8_t *field_of(struct mr_ptx_inst *inst, enum mr_ptx_field field)
{
    switch (field) {
    case MR_PTX_FIELD_ROUNDING: return &inst->rounding;
    case MR_PTX_FIELD_CMP: return &inst->cmp;
    case MR_PTX_FIELD_BOOLOP: return &inst->boolop;
    case MR_PTX_FIELD_MODE: return &inst->mode;
    case MR_PTX_FIELD_MODE2: return &inst->mode2;
    case MR_PTX_FIELD_SPACE: return &inst->space;
    case MR_PTX_FIELD_CACHE: return &inst->cache;
    case MR_PTX_FIELD_SEM: return &inst->semantics;
    case MR_PTX_FIELD_SCOPE: return &inst->scope;
    case MR_PTX_FIELD_ATOM: return &inst->atom;
    case MR_PTX_FIELD_VECTOR: return &inst->vector;
    case MR_PTX_FIELD_GEOM: return &inst->geom;
    case MR_PTX_FIELD_QUERY: return &inst->query;
    default: return NULL;
    }
}

/* Whether the module is new enough for a modifier. */
static bool check_modifier_need(struct parser *parser, const struct mr_ptx_modifier *modifier)
{
    char what[64];
    snprintf(what, sizeof what, "'.%s'", modifier->word);
    return mr_ptx_need(parser, what, modifier->version, modifier->sm);
}

/* One ".word" of a mnemonic. */
static bool parse_modifier(struct parser *parser, struct mr_ptx_inst *inst)
{
    const struct mr_ptx_op_info *info = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    const char *word = parser->token.text;
    size_t length = parser->token.length;
    int cut = length > 60 ? 60 : (int)length;
    const struct mr_ptx_modifier *modifier = mr_ptx_modifier_find(word, length, info->modifiers);
    if (modifier) {
        uint8_t *field = field_of(inst, (enum mr_ptx_field)modifier->field);
        if (!check_modifier_need(parser, modifier))
            return false;
        /* .nc stands beside another cache operator, and has the last word. */
        bool beside = modifier->field == MR_PTX_FIELD_CACHE && modifier->value == MR_PTX_CACHE_NC &&
                      inst->cache != MR_PTX_CACHE_NC && inst->cache != MR_PTX_CACHE_CV;
        if (field && *field != 0 && !beside)
            return mr_ptx_error(parser, "'.%.*s' contradicts an earlier modifier of '%s'", cut, word, info->name);
        if (field)
            *field = (uint8_t)modifier->value;
        else if (modifier->field == MR_PTX_FIELD_FLAG)
            inst->flags |= modifier->value;
        mr_ptx_advance(parser);
        return true;
    }
    enum mr_ptx_type type = mr_ptx_type_find(word, length);
    if (type == MR_PTX_TYPE_NONE) {
        if (mr_ptx_modifier_is_known(word, length))
            return mr_ptx_error(parser, "'%s' has no modifier '.%.*s'", info->name, cut, word);
        return mr_ptx_error(parser, "unknown modifier '.%.*s' of '%s'", cut, word, info->name);
    }
    if (inst->type_count == 3)
        return mr_ptx_error(parser, "'%s' has too many types", info->name);
    inst->type[inst->type_count++] = (uint8_t)type;
    mr_ptx_advance(parser);
    return true;
}

static bool parse_one(struct parser *parser, char letter, struct mr_ptx_operand *operand)
{
    if (letter == 'L' || letter == 'T')
        return mr_ptx_parse_target(parser, operand, letter == 'T');
    return mr_ptx_parse_operand(parser, operand);
}

/* Operands as the table says: how many, and which are labels. They are written
 * straight to the arena, because labels are filled in at the end of the body. */
static bool parse_operands(struct parser *parser, struct mr_ptx_inst *inst)
{
    const struct mr_ptx_op_info *info = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    size_t most = 0;
    for (const char *letter = info->operands; *letter; letter++)
        most += *letter != '?';
    struct mr_ptx_operand *operands = mr_ptx_new(parser, most + 1, sizeof *operands);
    inst->operands = operands;
    inst->dst_count = *info->operands && strchr("dDucnPQRSv", *info->operands) != NULL;
    for (const char *letter = info->operands; *letter; letter++) {
        if (letter[0] == '?')
            continue;
        bool optional = letter[1] == '?';
        if (mr_ptx_is(parser, ';')) {
            if (!optional)
                return mr_ptx_error(parser, "'%s' needs more operands", info->name);
            break;
        }
        if (inst->operand_count > 0 && !mr_ptx_expect(parser, ',', "','"))
            return false;
        if (!parse_one(parser, *letter, &operands[inst->operand_count]))
            return false;
        if (*letter == 'M' && inst->op == MR_PTX_OP_LD && mr_ptx_accept_dot(parser, "unified"))
            inst->flags |= MR_PTX_FLAG_UNIFIED;
        inst->operand_count++;
    }
    if (mr_ptx_is(parser, ','))
        return mr_ptx_error(parser, "'%s' has too many operands", info->name);
    return true;
}

/* A name without a row: keeps the mnemonic and skips the rest. */
static void skip_unsupported(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *name)
{
    const char *end = name->text + name->length;
    for (; mr_ptx_is(parser, MR_PTX_TOKEN_DOT); mr_ptx_advance(parser))
        end = parser->token.text + parser->token.length;
    inst->name = mr_ptx_intern(parser, name->text, (size_t)(end - name->text))->name;
    unsigned braces = 0;
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END) && !mr_ptx_is(parser, ';')) {
        if (mr_ptx_is(parser, '{'))
            braces++;
        else if (mr_ptx_is(parser, '}') && braces-- == 0)
            break;
        mr_ptx_advance(parser);
    }
}

static bool parse_rest(struct parser *parser, struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_CALL: return mr_ptx_parse_call(parser, inst);
    case MR_PTX_OP_BAR: case MR_PTX_OP_BARRIER: return mr_ptx_parse_barrier(parser, inst);
    case MR_PTX_OP_TEX: case MR_PTX_OP_TLD4: case MR_PTX_OP_TXQ: case MR_PTX_OP_SULD: case MR_PTX_OP_SUST: case MR_PTX_OP_SURED:
    case MR_PTX_OP_SUQ: return mr_ptx_parse_texture(parser, inst);
    case MR_PTX_OP_CREATEPOLICY: return mr_ptx_parse_policy(parser, inst);
    default: return mr_ptx_video_lanes((enum mr_ptx_op)inst->op) ? mr_ptx_parse_video(parser, inst) : parse_operands(parser, inst);
    }
}

bool mr_ptx_parse_inst(struct parser *parser)
{
    struct mr_ptx_inst inst = {
        .guard = MR_PTX_NONE, .loc_file = parser->loc_file, .loc_line = parser->loc_line,
    };
    if (!parse_guard(parser, &inst))
        return false;
    struct mr_ptx_token name = parser->token;
    inst.line = name.line;
    inst.column = name.column;
    struct atom *atom = mr_ptx_expect_name(parser, "an instruction");
    if (!atom)
        return false;
    if (!atom->is_op)
        return mr_ptx_error_at(parser, name.line, name.column, "unknown instruction '%.*s'",
                               atom->length > 60 ? 60 : (int)atom->length, atom->name);
    inst.op = atom->op;
    if (inst.op == MR_PTX_OP_UNSUPPORTED) {
        skip_unsupported(parser, &inst, &name);
    } else {
        while (mr_ptx_is(parser, MR_PTX_TOKEN_DOT))
            if (!parse_modifier(parser, &inst))
                return false;
        if (!parse_rest(parser, &inst))
            return false;
    }
    if (inst.vector == 0)
        inst.vector = 1;
    if (!mr_ptx_expect(parser, ';', "';'"))
        return false;
    *(struct mr_ptx_inst *)mr_ptx_list_add(parser, &parser->insts, sizeof inst) = inst;
    return true;
}
