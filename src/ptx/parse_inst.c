/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One instruction: guard, mnemonic with its modifiers and types, operands. What
 * an opcode may carry comes from ptx_ops.def; a word that does not belong to it
 * is an error here, so that later passes never meet a modifier they would ignore.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/parse_element.h"

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
    case MR_PTX_FIELD_ROUNDING:
        return &inst->rounding;
    case MR_PTX_FIELD_CMP:
        return &inst->cmp;
    case MR_PTX_FIELD_BOOLOP:
        return &inst->boolop;
    case MR_PTX_FIELD_MODE:
        return &inst->mode;
    case MR_PTX_FIELD_MODE2:
        return &inst->mode2;
    case MR_PTX_FIELD_SPACE:
        return &inst->space;
    case MR_PTX_FIELD_CACHE:
        return &inst->cache;
    case MR_PTX_FIELD_SEM:
        return &inst->semantics;
    case MR_PTX_FIELD_SCOPE:
        return &inst->scope;
    case MR_PTX_FIELD_ATOM:
        return &inst->atom;
    case MR_PTX_FIELD_VECTOR:
        return &inst->vector;
    case MR_PTX_FIELD_GEOM:
        return &inst->geom;
    case MR_PTX_FIELD_QUERY:
        return &inst->query;
    case MR_PTX_FIELD_SHAPE:
        return &inst->shape;
    case MR_PTX_FIELD_LAYOUT:
        return inst->layout[0] ? &inst->layout[1] : &inst->layout[0];
    default:
        return NULL;
    }
}

/* Whether the module is new enough for a modifier. */
static bool check_modifier_need(struct parser *parser, const struct mr_ptx_modifier *modifier)
{
    char what[64];
    snprintf(what, sizeof what, "'.%s'", modifier->word);
    return mr_ptx_need(parser, what, modifier->version, modifier->sm);
}

/* Does what a modifier says. */
static bool set_modifier(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_modifier *modifier)
{
    uint8_t *field = field_of(inst, (enum mr_ptx_field)modifier->field);
    if (!check_modifier_need(parser, modifier))
        return false;
    /* .nc stands beside another cache operator, in any order, and has the last word. */
    bool caches = modifier->field == MR_PTX_FIELD_CACHE;
    bool beside = caches && modifier->value == MR_PTX_CACHE_NC && inst->cache != MR_PTX_CACHE_NC &&
                  inst->cache != MR_PTX_CACHE_CV;
    if (caches && inst->cache == MR_PTX_CACHE_NC &&
        (modifier->value == MR_PTX_CACHE_CA || modifier->value == MR_PTX_CACHE_CG ||
         modifier->value == MR_PTX_CACHE_CS))
        return true;
    /* cp names two spaces, and a form says which. */
    if (inst->form && modifier->field == MR_PTX_FIELD_SPACE && inst->space != MR_PTX_SPACE_GENERIC)
        field = &inst->space2;
    bool again =
        modifier->field == MR_PTX_FIELD_MODE && modifier->value == MR_PTX_MODE_SYNC && *field == MR_PTX_MODE_SYNC;
    if (field && *field != 0 && !beside && !again)
        return mr_ptx_error(parser, "'.%s' contradicts an earlier modifier of '%s'", modifier->word,
                            mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (field)
        *field = (uint8_t)modifier->value;
    else if (modifier->field == MR_PTX_FIELD_FLAG)
        inst->flags |= modifier->value;
    return true;
}

bool mr_ptx_set_word(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *word)
{
    const struct mr_ptx_op_info *info = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    const struct mr_ptx_modifier *modifier = mr_ptx_modifier_find(word->text, word->length, info->modifiers);
    if (modifier)
        return set_modifier(parser, inst, modifier);
    enum mr_ptx_type type = mr_ptx_type_find(word->text, word->length);
    if (type != MR_PTX_TYPE_NONE && inst->type_count < sizeof inst->type)
        inst->type[inst->type_count++] = (uint8_t)type;
    return true;
}

/* One ".word" of a mnemonic. */
static bool parse_modifier(struct parser *parser, struct mr_ptx_inst *inst)
{
    const struct mr_ptx_op_info *info = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    const char *word = parser->token.text;
    size_t length = parser->token.length;
    int cut = length > 60 ? 60 : (int)length;
    if (!mr_ptx_modifier_find(word, length, info->modifiers)) {
        if (mr_ptx_type_find(word, length) == MR_PTX_TYPE_NONE) {
            if (mr_ptx_modifier_is_known(word, length))
                return mr_ptx_error(parser, "'%s' has no modifier '.%.*s'", info->name, cut, word);
            return mr_ptx_error(parser, "unknown modifier '.%.*s' of '%s'", cut, word, info->name);
        }
        if (inst->type_count == 3)
            return mr_ptx_error(parser, "'%s' has too many types", info->name);
    }
    if (!mr_ptx_set_word(parser, inst, &parser->token))
        return false;
    mr_ptx_advance(parser);
    return true;
}

/* How wide the address of an element is that stands for this operand without brackets; 0: none can. */
static unsigned element_bits(const struct mr_ptx_inst *inst, char letter)
{
    switch (inst->op) {
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_ST:
        return letter == 'M' ? 64 : 0;
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVTA:
        return inst->operand_count != 1 ? 0 : mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]) == 32 ? 32 : 64;
    default:
        return 0;
    }
}

/* Whether an element in `own` may stand in an instruction that names its space. */
static bool suits_space(const struct mr_ptx_inst *inst, enum mr_ptx_space own)
{
    if (inst->op == MR_PTX_OP_MOV)
        return true;
    switch (inst->space) {
    case MR_PTX_SPACE_GENERIC:
        return own != MR_PTX_SPACE_PARAM;
    case MR_PTX_SPACE_PARAM_ENTRY:
    case MR_PTX_SPACE_PARAM_FUNC:
        return own == MR_PTX_SPACE_PARAM;
    case MR_PTX_SPACE_SHARED_CLUSTER:
        return own == MR_PTX_SPACE_SHARED;
    default:
        return inst->space == own;
    }
}

/* An element of an array: what is loaded or stored, without brackets around it, or a value. Without a space it is where
 * the array lies. */
static bool settle_element(struct parser *parser, struct mr_ptx_inst *inst, struct mr_ptx_operand *operand)
{
    const struct mr_ptx_var *var = operand->var;
    if (inst->op == MR_PTX_OP_ST && var->is_input && parser->function->is_entry)
        return mr_ptx_error_at(parser, operand->line, operand->column, "input parameters cannot be written");
    if (!suits_space(inst, var->space) || (inst->flags & MR_PTX_FLAG_TO))
        return mr_ptx_error_at(parser, operand->line, operand->column,
                               "'%s' is in space '.%s', and its element cannot stand here", var->name,
                               mr_ptx_space_name(var->space));
    bool moves = inst->op != MR_PTX_OP_MOV && inst->op != MR_PTX_OP_CVTA;
    if (operand->kind == MR_PTX_OPERAND_REG) {
        operand->var = NULL;
        if (inst->space == MR_PTX_SPACE_GENERIC && moves)
            inst->space = (uint8_t)var->space;
    }
    if (moves)
        operand->kind =
            operand->kind == MR_PTX_OPERAND_REG ? MR_PTX_OPERAND_REG_ADDRESS : MR_PTX_OPERAND_SYMBOL_ADDRESS;
    return true;
}

static bool parse_one(struct parser *parser, struct mr_ptx_inst *inst, char letter, struct mr_ptx_operand *operand)
{
    if (letter == 'L' || letter == 'T')
        return mr_ptx_parse_target(parser, operand, letter == 'T');
    if (letter == 'B' || letter == 'C')
        return mr_ptx_parse_tensor(parser, operand, letter == 'C');
    parser->element_bits = element_bits(inst, letter);
    bool element = parser->element_bits != 0, good = mr_ptx_parse_operand(parser, operand);
    parser->element_bits = 0;
    if (!good || !element || !operand->is_element ||
        (operand->kind != MR_PTX_OPERAND_SYMBOL && operand->kind != MR_PTX_OPERAND_REG))
        return good;
    return settle_element(parser, inst, operand);
}

/* One value that is loaded or stored may stand in braces, like several. */
static void take_out_of_braces(const struct mr_ptx_inst *inst, struct mr_ptx_operand *operands)
{
    bool loads = inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_LDU,
         stores = inst->op == MR_PTX_OP_ST || (inst->op == MR_PTX_OP_ST_ASYNC && inst->mode != MR_PTX_MODE_PLAIN);
    if ((!loads && !stores) || inst->vector > 1)
        return;
    struct mr_ptx_operand *value = &operands[loads ? 0 : 1];
    if (value->kind == MR_PTX_OPERAND_VECTOR && value->count == 1 && value->elements[0].kind != MR_PTX_OPERAND_SINK)
        *value = value->elements[0];
}

/* Operands as the table says: how many, and which are labels. They are written
 * straight to the arena, because labels are filled in at the end of the body. */
static bool parse_operands(struct parser *parser, struct mr_ptx_inst *inst)
{
    const struct mr_ptx_op_info *info = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    const char *letters = mr_ptx_inst_operands(inst);
    size_t most = 0;
    for (const char *letter = letters; *letter; letter++)
        most += *letter != '?';
    struct mr_ptx_operand *operands = mr_ptx_new(parser, most + 1, sizeof *operands);
    inst->operands = operands;
    inst->dst_count = *letters && strchr("dDucnPQRSvFJyq", *letters) != NULL;
    for (const char *letter = letters; *letter; letter++) {
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
        if (!parse_one(parser, inst, *letter, &operands[inst->operand_count]))
            return false;
        if (*letter == 'M' && inst->op == MR_PTX_OP_LD && mr_ptx_accept_dot(parser, "unified"))
            inst->flags |= MR_PTX_FLAG_UNIFIED;
        inst->operand_count++;
    }
    if (mr_ptx_is(parser, ','))
        return mr_ptx_error(parser, "'%s' has too many operands", info->name);
    take_out_of_braces(inst, operands);
    return true;
}

/* Keeps the mnemonic, which ends at `end`, and skips the operands. */
static void skip_named(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *name,
                       const char *end)
{
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

/* A name without a row. */
static void skip_unsupported(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *name)
{
    const char *end = name->text + name->length;
    for (; mr_ptx_is(parser, MR_PTX_TOKEN_DOT); mr_ptx_advance(parser))
        end = parser->token.text + parser->token.length;
    skip_named(parser, inst, name, end);
}

/* The same for a sentence that is known to be refused, whose words were taken. */
static void skip_form(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *name, const char *end)
{
    inst->op = MR_PTX_OP_UNSUPPORTED;
    skip_named(parser, inst, name, end);
}

/* st.async, red.async and st.bulk are instructions of their own. */
static void settle_async(struct parser *parser, struct mr_ptx_inst *inst)
{
    if ((inst->op == MR_PTX_OP_ST || inst->op == MR_PTX_OP_RED) && mr_ptx_accept_dot(parser, "async"))
        inst->op = inst->op == MR_PTX_OP_ST ? MR_PTX_OP_ST_ASYNC : MR_PTX_OP_RED_ASYNC;
    else if (inst->op == MR_PTX_OP_ST && mr_ptx_accept_dot(parser, "bulk"))
        inst->op = MR_PTX_OP_ST_BULK;
}

/* Operands as the opcode has them. */
static bool parse_rest(struct parser *parser, struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_CALL:
        return mr_ptx_parse_call(parser, inst);
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        return mr_ptx_parse_barrier(parser, inst);
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
    case MR_PTX_OP_SURED:
    case MR_PTX_OP_SUQ:
        return mr_ptx_parse_texture(parser, inst);
    case MR_PTX_OP_MOV:
        return inst->vector > 1 ? mr_ptx_parse_move(parser, inst) : parse_operands(parser, inst);
    default:
        return mr_ptx_video_lanes((enum mr_ptx_op)inst->op) ? mr_ptx_parse_video(parser, inst)
                                                            : parse_operands(parser, inst);
    }
}

static bool parse_mnemonic(struct parser *parser, struct mr_ptx_inst *inst)
{
    while (mr_ptx_is(parser, MR_PTX_TOKEN_DOT))
        if (!parse_modifier(parser, inst))
            return false;
    return parse_rest(parser, inst);
}

static bool parse_sentence(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *name)
{
    const char *end = name->text + name->length;
    switch (mr_ptx_parse_form(parser, inst, &end)) {
    case MR_PTX_FORM_FOUND:
        return parse_operands(parser, inst);
    case MR_PTX_FORM_REFUSED:
        skip_form(parser, inst, name, end);
        return true;
    default:
        return false;
    }
}

bool mr_ptx_parse_inst(struct parser *parser)
{
    struct mr_ptx_inst inst = {
        .guard = MR_PTX_NONE,
        .loc_file = parser->loc_file,
        .loc_line = parser->loc_line,
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
        settle_async(parser, &inst);
        bool sentence = *mr_ptx_op_info((enum mr_ptx_op)inst.op)->operands == '#';
        if (!(sentence ? parse_sentence(parser, &inst, &name) : parse_mnemonic(parser, &inst)))
            return false;
    }
    if (inst.vector == 0)
        inst.vector = 1;
    if (!mr_ptx_expect(parser, ';', "';'"))
        return false;
    if (!mr_ptx_settle(parser, &inst))
        return false;
    if (inst.op == MR_PTX_OP_MOV && inst.vector > 1)
        mr_ptx_add_moves(parser, &inst);
    else
        *(struct mr_ptx_inst *)mr_ptx_list_add(parser, &parser->insts, sizeof inst) = inst;
    if (inst.op == MR_PTX_OP_TEX || inst.op == MR_PTX_OP_TLD4)
        mr_ptx_add_resident(parser, &inst);
    return true;
}
