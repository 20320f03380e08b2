/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands. The form is read off the text alone; whether the instruction can
 * take it is the verifier's question. Only labels need to know beforehand, since
 * a label may not be declared yet: they have a function of their own.
 */
#include <string.h>

#include "ptx/parse.h"
#include "ptx/parse_element.h"

/* Cut for messages. */
static int shown(size_t length)
{
    return length > 60 ? 60 : (int)length;
}

static void set_reg(const struct parser *parser, struct mr_ptx_operand *operand, uint32_t reg)
{
    operand->kind = MR_PTX_OPERAND_REG;
    operand->reg = reg;
    operand->type = ((const struct mr_ptx_reg *)parser->regs.items)[reg].type;
}

/* Index of a component name: .x .y .z .w or .r .g .b .a; -1 if none. */
static int component(const struct mr_ptx_token *token)
{
    static const char names[] = {'x', 'y', 'z', 'w', 'r', 'g', 'b', 'a'};
    if (token->kind != MR_PTX_TOKEN_DOT || token->length != 1)
        return -1;
    const char *place = memchr(names, token->text[0], sizeof names);
    return place ? (int)((place - names) & 3) : -1;
}

/* A register was named; takes ".x" behind the name of a vector. */
static bool parse_reg(struct parser *parser, const struct binding *binding, struct mr_ptx_operand *operand)
{
    if (binding->count == 1) {
        set_reg(parser, operand, binding->reg);
        return true;
    }
    if (mr_ptx_is(parser, MR_PTX_TOKEN_DOT)) {
        int place = component(&parser->token);
        if (place < 0 || place >= binding->count)
            return mr_ptx_error(parser, "'%s' has no such component", binding->atom->name);
        mr_ptx_advance(parser);
        set_reg(parser, operand, binding->reg + (uint32_t)place);
        return true;
    }
    struct mr_ptx_operand *elements = mr_ptx_new(parser, binding->count, sizeof *elements);
    for (uint8_t i = 0; i < binding->count; i++) {
        set_reg(parser, &elements[i], binding->reg + i);
        elements[i].line = operand->line;
        elements[i].column = operand->column;
    }
    operand->kind = MR_PTX_OPERAND_VECTOR;
    operand->count = binding->count;
    operand->elements = elements;
    return true;
}

/* A name that nothing declares: a special register, or an error. */
static bool parse_special(struct parser *parser, const struct atom *atom, const struct mr_ptx_token *token,
                          struct mr_ptx_operand *operand)
{
    uint32_t number = 0;
    enum mr_ptx_special special = MR_PTX_SPECIAL_NONE;
    if (atom->name[0] == '%')
        special = mr_ptx_special_find(atom->name + 1, atom->length - 1, &number);
    if (special == MR_PTX_SPECIAL_NONE)
        return mr_ptx_error_at(parser, token->line, token->column, "'%.*s' is not declared", shown(atom->length),
                               atom->name);
    operand->kind = MR_PTX_OPERAND_SPECIAL;
    operand->special = (uint8_t)special;
    operand->component = (uint8_t)number;
    switch (mr_ptx_special_kind(special)) {
    case 'V': {
        int place = component(&parser->token);
        if (place < 0)
            return mr_ptx_error_at(parser, token->line, token->column, "'%s' needs a component, as in %s.x", atom->name,
                                   atom->name);
        operand->component = (uint8_t)place;
        operand->type = MR_PTX_TYPE_U32;
        mr_ptx_advance(parser);
        break;
    }
    case 'L':
        operand->type = MR_PTX_TYPE_U64;
        break;
    case 'P':
        operand->type = MR_PTX_TYPE_PRED;
        break;
    case 'N':
        operand->type = special == MR_PTX_SPECIAL_PM64     ? MR_PTX_TYPE_U64
                        : special == MR_PTX_SPECIAL_ENVREG ? MR_PTX_TYPE_B32
                                                           : MR_PTX_TYPE_U32;
        break;
    default:
        operand->type = MR_PTX_TYPE_U32;
        break;
    }
    return true;
}

/* A variable was named; takes "+4", "[2]" or "[%r1+2]" behind it. */
static bool parse_symbol(struct parser *parser, const struct binding *binding, struct mr_ptx_operand *operand)
{
    if (binding->kind == BINDING_FUNCTION) {
        operand->kind = MR_PTX_OPERAND_FUNCTION;
        operand->func = binding->function;
        binding->function->address_taken = true;
        return true;
    }
    operand->kind = MR_PTX_OPERAND_SYMBOL;
    operand->var = binding->var;
    operand->type = (uint8_t)binding->var->type;
    return mr_ptx_accept(parser, '[') ? mr_ptx_parse_element(parser, operand)
                                      : mr_ptx_parse_addend(parser, &operand->value);
}

/* The inside of "[...]" whose '[' was taken, up to what ends it. */
static bool parse_inside(struct parser *parser, struct mr_ptx_operand *operand)
{
    parser->element_bits = 0;
    if (mr_ptx_is(parser, MR_PTX_TOKEN_NAME)) {
        struct mr_ptx_token token = parser->token;
        struct atom *atom = mr_ptx_expect_name(parser, "an address");
        struct binding *binding = mr_ptx_lookup(parser, atom);
        if (!binding)
            return mr_ptx_error_at(parser, token.line, token.column, "'%.*s' is not declared", shown(atom->length),
                                   atom->name);
        if (binding->kind == BINDING_FUNCTION)
            return mr_ptx_error_at(parser, token.line, token.column, "'%s' is a function, not data", atom->name);
        if (binding->kind == BINDING_VAR) {
            if (!parse_symbol(parser, binding, operand))
                return false;
            operand->kind = MR_PTX_OPERAND_SYMBOL_ADDRESS;
        } else {
            if (!parse_reg(parser, binding, operand))
                return false;
            if (operand->kind != MR_PTX_OPERAND_REG)
                return mr_ptx_error_at(parser, token.line, token.column, "an address cannot be a vector");
            operand->kind = MR_PTX_OPERAND_REG_ADDRESS;
            if (!mr_ptx_parse_addend(parser, &operand->value))
                return false;
        }
    } else {
        uint64_t value;
        if (!mr_ptx_parse_integer(parser, &value, NULL))
            return false;
        operand->kind = MR_PTX_OPERAND_IMM_ADDRESS;
        operand->value = (int64_t)value;
    }
    return true;
}

static bool parse_address(struct parser *parser, struct mr_ptx_operand *operand)
{
    return parse_inside(parser, operand) && mr_ptx_expect(parser, ']', "']'");
}

static bool parse_immediate(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct value value;
    if (!mr_ptx_parse_value(parser, &value))
        return false;
    bool is_float = value.kind == VALUE_DOUBLE || value.kind == VALUE_SINGLE;
    operand->kind = is_float ? MR_PTX_OPERAND_IMM_FLOAT : MR_PTX_OPERAND_IMM_INT;
    operand->value = (int64_t)value.bits;
    operand->is_single = value.kind == VALUE_SINGLE;
    operand->is_unsigned = value.kind == VALUE_UNSIGNED;
    return true;
}

static bool is_name(const struct mr_ptx_token *token, const char *name)
{
    return token->kind == MR_PTX_TOKEN_NAME && token->length == strlen(name) &&
           memcmp(token->text, name, token->length) == 0;
}

bool mr_ptx_is_warp_size(const struct parser *parser)
{
    return is_name(&parser->token, "WARP_SZ");
}

bool mr_ptx_parse_register(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a register");
    operand->line = token.line;
    operand->column = token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    if (!atom)
        return false;
    const struct binding *binding = mr_ptx_lookup(parser, atom);
    if (binding ? binding->kind != BINDING_REG || binding->count != 1
                : mr_ptx_is(parser, MR_PTX_TOKEN_DOT) || atom->name[0] != '%')
        return mr_ptx_error_at(parser, token.line, token.column, "expected a register of one number");
    return binding ? parse_reg(parser, binding, operand) : parse_special(parser, atom, &token, operand);
}

/* A register, symbol, special register, `_` or constant. */
static bool parse_simple(struct parser *parser, struct mr_ptx_operand *operand)
{
    operand->line = parser->token.line;
    operand->column = parser->token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    if (!mr_ptx_is(parser, MR_PTX_TOKEN_NAME) || mr_ptx_is_warp_size(parser))
        return parse_immediate(parser, operand);
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "an operand");
    struct binding *binding = mr_ptx_lookup(parser, atom);
    if (!binding && is_name(&token, "_")) {
        operand->kind = MR_PTX_OPERAND_SINK;
        return true;
    }
    if (!binding)
        return parse_special(parser, atom, &token, operand);
    return binding->kind == BINDING_REG ? parse_reg(parser, binding, operand) : parse_symbol(parser, binding, operand);
}

/* "{a, b}" whose '{' was taken. */
static bool parse_vector(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct mr_ptx_operand elements[MR_PTX_VECTOR_MAX];
    uint8_t count = 0;
    do {
        if (count == MR_PTX_VECTOR_MAX)
            return mr_ptx_error(parser, "a vector has at most %u elements", MR_PTX_VECTOR_MAX);
        memset(&elements[count], 0, sizeof elements[0]);
        if (!parse_simple(parser, &elements[count]))
            return false;
        uint8_t kind = elements[count++].kind;
        if (kind != MR_PTX_OPERAND_REG && kind != MR_PTX_OPERAND_IMM_INT && kind != MR_PTX_OPERAND_IMM_FLOAT &&
            kind != MR_PTX_OPERAND_SINK)
            return mr_ptx_error(parser, "a vector consists of registers and constants");
    } while (mr_ptx_accept(parser, ','));
    struct mr_ptx_operand *copy = mr_ptx_new(parser, count, sizeof *copy);
    memcpy(copy, elements, count * sizeof *copy);
    operand->kind = MR_PTX_OPERAND_VECTOR;
    operand->count = count;
    operand->elements = copy;
    return mr_ptx_expect(parser, '}', "'}'");
}

/* "|q" behind p or `_`. */
static bool parse_pair(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct mr_ptx_operand second = {0};
    if (operand->kind != MR_PTX_OPERAND_REG && operand->kind != MR_PTX_OPERAND_SINK)
        return mr_ptx_error(parser, "'|' needs a register on its left");
    mr_ptx_advance(parser);
    if (!parse_simple(parser, &second))
        return false;
    if (second.kind != MR_PTX_OPERAND_REG && second.kind != MR_PTX_OPERAND_SINK)
        return mr_ptx_error(parser, "'|' needs a register on its right");
    operand->kind = MR_PTX_OPERAND_PAIR;
    operand->reg2 = second.reg;
    return true;
}

bool mr_ptx_parse_operand(struct parser *parser, struct mr_ptx_operand *operand)
{
    operand->line = parser->token.line;
    operand->column = parser->token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    if (mr_ptx_accept(parser, '['))
        return parse_address(parser, operand);
    if (mr_ptx_accept(parser, '{'))
        return parse_vector(parser, operand);
    if (mr_ptx_is(parser, '!') && mr_ptx_peek(parser).kind == MR_PTX_TOKEN_NAME) {
        struct mr_ptx_token token = parser->token;
        mr_ptx_advance(parser);
        if (!parse_simple(parser, operand))
            return false;
        bool is_pred = operand->type == MR_PTX_TYPE_PRED &&
                       (operand->kind == MR_PTX_OPERAND_REG || operand->kind == MR_PTX_OPERAND_SPECIAL);
        if (!is_pred)
            return mr_ptx_error_at(parser, token.line, token.column, "'!' needs a predicate");
        operand->negated = true;
        return true;
    }
    if (!parse_simple(parser, operand))
        return false;
    return !mr_ptx_is(parser, '|') || parse_pair(parser, operand);
}

bool mr_ptx_parse_target(struct parser *parser, struct mr_ptx_operand *operand, bool is_table)
{
    operand->line = parser->token.line;
    operand->column = parser->token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    if (!mr_ptx_is(parser, MR_PTX_TOKEN_NAME))
        return mr_ptx_expect(parser, MR_PTX_TOKEN_NAME, is_table ? "a table of branch targets" : "a label");
    const struct atom *atom = mr_ptx_intern(parser, parser->token.text, parser->token.length);
    struct mention *mention = mr_ptx_mention(parser, atom);
    mention->is_table = is_table;
    mention->index = &operand->label;
    operand->kind = is_table ? MR_PTX_OPERAND_TABLE : MR_PTX_OPERAND_LABEL;
    mr_ptx_advance(parser);
    return true;
}

/* "[map" and then "{coordinates}]" */
bool mr_ptx_parse_tensor(struct parser *parser, struct mr_ptx_operand *operand, bool coordinates)
{
    operand->line = parser->token.line;
    operand->column = parser->token.column;
    operand->reg = operand->reg2 = MR_PTX_NONE;
    if (!coordinates)
        return mr_ptx_expect(parser, '[', "'['") && parse_inside(parser, operand);
    return mr_ptx_expect(parser, '{', "'{'") && parse_vector(parser, operand) && mr_ptx_expect(parser, ']', "']'");
}
