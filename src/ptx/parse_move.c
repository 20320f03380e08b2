/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mov.v2 and mov.v4. Nothing behind the parser knows them: they become as many
 * instructions as they have elements. A special register of several parts can be
 * a source as a whole (%tid).
 */
#include "ptx/parse.h"

enum { PARTS_MAX = 4 };

/* "%tid" without a component: takes it, and makes a vector of its four parts. */
static bool take_special(struct parser *parser, struct mr_ptx_operand *operand)
{
    const struct mr_ptx_token *token = &parser->token;
    uint32_t number = 0;
    if (!mr_ptx_is(parser, MR_PTX_TOKEN_NAME) || token->text[0] != '%' || mr_ptx_peek(parser).kind == MR_PTX_TOKEN_DOT)
        return false;
    enum mr_ptx_special special = mr_ptx_special_find(token->text + 1, token->length - 1, &number);
    if (special == MR_PTX_SPECIAL_NONE || mr_ptx_special_kind(special) != 'V' ||
        mr_ptx_lookup(parser, mr_ptx_intern(parser, token->text, token->length)))
        return false;
    struct mr_ptx_operand *parts = mr_ptx_new(parser, PARTS_MAX, sizeof *parts);
    for (unsigned i = 0; i < PARTS_MAX; i++)
        parts[i] = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_SPECIAL,
                                           .special = (uint8_t)special,
                                           .component = (uint8_t)i,
                                           .type = MR_PTX_TYPE_U32,
                                           .reg = MR_PTX_NONE,
                                           .reg2 = MR_PTX_NONE,
                                           .line = token->line,
                                           .column = token->column};
    operand->kind = MR_PTX_OPERAND_VECTOR;
    operand->count = PARTS_MAX;
    operand->elements = parts;
    mr_ptx_advance(parser);
    return true;
}

/* "{a, b}" as sources, which may be all that a mov of one element takes. */
static bool parse_sources(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct mr_ptx_operand *parts = mr_ptx_new(parser, PARTS_MAX, sizeof *parts);
    operand->kind = MR_PTX_OPERAND_VECTOR;
    operand->elements = parts;
    mr_ptx_advance(parser);
    do {
        if (operand->count == PARTS_MAX)
            return mr_ptx_error(parser, "a vector of 'mov' has at most %u elements", PARTS_MAX);
        if (!mr_ptx_parse_operand(parser, &parts[operand->count]))
            return false;
        if (parts[operand->count++].kind == MR_PTX_OPERAND_VECTOR)
            return mr_ptx_error(parser, "a vector does not consist of vectors");
    } while (mr_ptx_accept(parser, ','));
    return mr_ptx_expect(parser, '}', "'}'");
}

/* "{a, b}", a vector register, or a special register. */
static bool parse_vector(struct parser *parser, struct mr_ptx_operand *operand, unsigned count, bool is_source)
{
    struct mr_ptx_token token = parser->token;
    operand->line = token.line;
    operand->column = token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    bool whole = is_source && take_special(parser, operand);
    if (!whole &&
        !(is_source && mr_ptx_is(parser, '{') ? parse_sources(parser, operand) : mr_ptx_parse_operand(parser, operand)))
        return false;
    return (operand->kind == MR_PTX_OPERAND_VECTOR && operand->count == count) ||
           mr_ptx_error_at(parser, token.line, token.column, "expected a vector of %u elements", count);
}

bool mr_ptx_parse_move(struct parser *parser, struct mr_ptx_inst *inst)
{
    unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]);
    if (inst->vector > PARTS_MAX || inst->type_count != 1 || bits < 16 || bits * inst->vector > 128)
        return mr_ptx_error(parser,
                            "'mov' moves vectors of 2 or 4 elements of 16 bits and more, and up to 128 bits in all");
    struct mr_ptx_operand *operands = mr_ptx_new(parser, 2, sizeof *operands);
    inst->operands = operands;
    inst->operand_count = 2;
    inst->dst_count = 1;
    return parse_vector(parser, &operands[0], inst->vector, false) && mr_ptx_expect(parser, ',', "','") &&
           parse_vector(parser, &operands[1], inst->vector, true);
}

static void add_one(struct parser *parser, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *to,
                    const struct mr_ptx_operand *from)
{
    struct mr_ptx_operand *operands = mr_ptx_new(parser, 2, sizeof *operands);
    operands[0] = *to;
    operands[1] = *from;
    struct mr_ptx_inst *one = mr_ptx_list_add(parser, &parser->insts, sizeof *one);
    *one = *inst;
    one->vector = 1;
    one->operands = operands;
}

/* Whether an element is written before it is read. */
static bool overlaps(const struct mr_ptx_operand *to, const struct mr_ptx_operand *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = i + 1; j < count; j++)
            if (to[i].kind == MR_PTX_OPERAND_REG && from[j].kind == MR_PTX_OPERAND_REG && to[i].reg == from[j].reg)
                return true;
    return false;
}

/* A register that has no name in the text. */
static struct mr_ptx_operand new_register(struct parser *parser, const struct mr_ptx_operand *like)
{
    struct mr_ptx_operand operand = *like;
    operand.reg = (uint32_t)parser->regs.count;
    struct mr_ptx_reg *reg = mr_ptx_list_add(parser, &parser->regs, sizeof *reg);
    *reg = (struct mr_ptx_reg){.name = "mov", .type = like->type, .line = like->line};
    return operand;
}

void mr_ptx_add_moves(struct parser *parser, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *to = inst->operands[0].elements, *from = inst->operands[1].elements;
    struct mr_ptx_operand held[PARTS_MAX];
    unsigned count = inst->vector;
    bool hold = overlaps(to, from, count);
    for (unsigned i = 0; i < count; i++) {
        held[i] = from[i];
        if (hold && from[i].kind == MR_PTX_OPERAND_REG) {
            held[i] = new_register(parser, &from[i]);
            add_one(parser, inst, &held[i], &from[i]);
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (to[i].kind != MR_PTX_OPERAND_SINK)
            add_one(parser, inst, &to[i], &held[i]);
}
