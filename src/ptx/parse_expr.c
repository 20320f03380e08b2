/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Constant expressions: C's operators over 64-bit integers and doubles, with
 * C's precedences, the casts (.s64) and (.u64), and WARP_SZ. Precedence climbing
 * with a bound on its depth. Integer arithmetic wraps; an operand that is
 * unsigned makes the result unsigned, as in C. A literal 0f... stays a float
 * only while nothing is done to it but a change of sign.
 */
#include <string.h>

#include "ptx/parse.h"

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double mr_ptx_value_double(const struct value *value)
{
    float single;
    uint32_t bits = (uint32_t)value->bits;
    switch (value->kind) {
    case VALUE_SIGNED:
        return (double)(int64_t)value->bits;
    case VALUE_UNSIGNED:
        return (double)value->bits;
    case VALUE_SINGLE:
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    default:
        return double_of(value->bits);
    }
}

static bool is_float(const struct value *value)
{
    return value->kind == VALUE_DOUBLE || value->kind == VALUE_SINGLE;
}

static bool parse_ternary(struct parser *parser, struct value *value);

/* "(.s64)" or "(.u64)" before an operand. */
static bool parse_cast(struct parser *parser, enum value_kind *kind)
{
    struct mr_ptx_token token = mr_ptx_peek(parser);
    if (token.kind != MR_PTX_TOKEN_DOT)
        return false;
    enum mr_ptx_type type = mr_ptx_type_find(token.text, token.length);
    if (type != MR_PTX_TYPE_S64 && type != MR_PTX_TYPE_U64)
        return false;
    *kind = type == MR_PTX_TYPE_S64 ? VALUE_SIGNED : VALUE_UNSIGNED;
    mr_ptx_advance(parser);
    mr_ptx_advance(parser);
    return true;
}

static bool parse_unary_operator(struct parser *parser, struct value *value, int operator);

static bool parse_primary(struct parser *parser, struct value *value)
{
    const struct mr_ptx_token *token = &parser->token;
    enum value_kind kind;
    switch (token->kind) {
    case MR_PTX_TOKEN_INT:
        *value = (struct value){token->is_unsigned ? VALUE_UNSIGNED : VALUE_SIGNED, token->value};
        mr_ptx_advance(parser);
        return true;
    case MR_PTX_TOKEN_FLOAT:
        *value = (struct value){token->is_single ? VALUE_SINGLE : VALUE_DOUBLE, token->value};
        mr_ptx_advance(parser);
        return true;
    case MR_PTX_TOKEN_NAME:
        if (token->length != 7 || memcmp(token->text, "WARP_SZ", 7) != 0)
            return mr_ptx_error(parser, "'%.*s' is not a constant", token->length > 60 ? 60 : (int)token->length,
                                token->text);
        *value = (struct value){VALUE_SIGNED, 32};
        mr_ptx_advance(parser);
        return true;
    case '(':
        if (parse_cast(parser, &kind)) {
            if (!mr_ptx_expect(parser, ')', "')'") || !parse_unary_operator(parser, value, '('))
                return false;
            if (is_float(value))
                return mr_ptx_error(parser, "a float cannot be cast");
            value->kind = kind;
            return true;
        }
        mr_ptx_advance(parser);
        return parse_ternary(parser, value) && mr_ptx_expect(parser, ')', "')'");
    case '+':
    case '-':
    case '!':
    case '~': {
        int operator= token->kind;
        mr_ptx_advance(parser);
        return parse_unary_operator(parser, value, operator);
    }
    default:
        return mr_ptx_expect(parser, MR_PTX_TOKEN_INT, "a constant");
    }
}

/* The operand of a unary operator or cast, and its effect. */
static bool parse_unary_operator(struct parser *parser, struct value *value, int operator)
{
    if (parser->expr_depth >= MR_PTX_NEST_MAX)
        return mr_ptx_error(parser, "expression is nested too deeply");
    parser->expr_depth++;
    bool good = parse_primary(parser, value);
    parser->expr_depth--;
    if (!good)
        return false;
    if (is_float(value)) {
        if (operator== '-')
            value->bits ^= value->kind == VALUE_SINGLE ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        else if (operator== '!')
            *value = (struct value){VALUE_SIGNED, mr_ptx_value_double(value) == 0};
        else if (operator== '~')
            return mr_ptx_error(parser, "'~' needs an integer");
        return true;
    }
    if (operator== '-')
        value->bits = 0 - value->bits;
    else if (operator== '~')
        value->bits = ~value->bits;
    else if (operator== '!')
        *value = (struct value){VALUE_SIGNED, value->bits == 0};
    return true;
}

/* Binding strength of a binary operator, 0 if the token is not one. */
static int strength(int kind)
{
    switch (kind) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case MR_PTX_TOKEN_SHIFT_LEFT:
    case MR_PTX_TOKEN_SHIFT_RIGHT:
        return 8;
    case '<':
    case '>':
    case MR_PTX_TOKEN_LESS_EQ:
    case MR_PTX_TOKEN_MORE_EQ:
        return 7;
    case MR_PTX_TOKEN_EQ_EQ:
    case MR_PTX_TOKEN_NOT_EQ:
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case MR_PTX_TOKEN_AND_AND:
        return 2;
    case MR_PTX_TOKEN_OR_OR:
        return 1;
    default:
        return 0;
    }
}

static bool apply_float(struct parser *parser, int operator, struct value * left, const struct value *right)
{
    double a = mr_ptx_value_double(left), b = mr_ptx_value_double(right);
    switch (operator) {
    case '*':
        *left = (struct value){VALUE_DOUBLE, bits_of(a * b)};
        return true;
    case '/':
        *left = (struct value){VALUE_DOUBLE, bits_of(a / b)};
        return true;
    case '+':
        *left = (struct value){VALUE_DOUBLE, bits_of(a + b)};
        return true;
    case '-':
        *left = (struct value){VALUE_DOUBLE, bits_of(a - b)};
        return true;
    case '<':
        *left = (struct value){VALUE_SIGNED, a < b};
        return true;
    case '>':
        *left = (struct value){VALUE_SIGNED, a > b};
        return true;
    case MR_PTX_TOKEN_LESS_EQ:
        *left = (struct value){VALUE_SIGNED, a <= b};
        return true;
    case MR_PTX_TOKEN_MORE_EQ:
        *left = (struct value){VALUE_SIGNED, a >= b};
        return true;
    case MR_PTX_TOKEN_EQ_EQ:
        *left = (struct value){VALUE_SIGNED, a == b};
        return true;
    case MR_PTX_TOKEN_NOT_EQ:
        *left = (struct value){VALUE_SIGNED, a != b};
        return true;
    case MR_PTX_TOKEN_AND_AND:
        *left = (struct value){VALUE_SIGNED, a != 0 && b != 0};
        return true;
    case MR_PTX_TOKEN_OR_OR:
        *left = (struct value){VALUE_SIGNED, a != 0 || b != 0};
        return true;
    default:
        return mr_ptx_error(parser, "operator needs integers");
    }
}

static bool divide(struct parser *parser, int operator, struct value * left, uint64_t divisor, bool is_signed)
{
    uint64_t a = left->bits;
    if (divisor == 0)
        return mr_ptx_error(parser, "division by zero");
    if (!is_signed)
        left->bits = operator== '/' ? a / divisor : a % divisor;
    else if (divisor == UINT64_MAX) /* -1: also the one case that overflows */
        left->bits = operator== '/' ? 0 - a : 0;
    else if (operator== '/')
        left->bits = (uint64_t)((int64_t)a / (int64_t)divisor);
    else
        left->bits = (uint64_t)((int64_t)a % (int64_t)divisor);
    return true;
}

/* Shifts by 64 and more give 0, or the sign. */
static uint64_t shift(const struct value *left, int operator, uint64_t amount)
{
    if (operator== MR_PTX_TOKEN_SHIFT_LEFT)
        return amount > 63 ? 0 : left->bits << amount;
    if (left->kind == VALUE_UNSIGNED)
        return amount > 63 ? 0 : left->bits >> amount;
    return (uint64_t)((int64_t)left->bits >> (amount > 63 ? 63 : amount));
}

static bool apply(struct parser *parser, int operator, struct value * left, const struct value *right)
{
    if (is_float(left) || is_float(right))
        return apply_float(parser, operator, left, right);
    uint64_t a = left->bits, b = right->bits;
    if (operator== MR_PTX_TOKEN_SHIFT_LEFT || operator== MR_PTX_TOKEN_SHIFT_RIGHT) {
        left->bits = shift(left, operator, b);
        return true;
    }
    bool is_signed = left->kind == VALUE_SIGNED && right->kind == VALUE_SIGNED;
    enum value_kind kind = is_signed ? VALUE_SIGNED : VALUE_UNSIGNED;
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    left->kind = kind;
    switch (operator) {
    case '*':
        left->bits = a * b;
        return true;
    case '+':
        left->bits = a + b;
        return true;
    case '-':
        left->bits = a - b;
        return true;
    case '/':
    case '%':
        return divide(parser, operator, left, b, is_signed);
    case '&':
        left->bits = a & b;
        return true;
    case '^':
        left->bits = a ^ b;
        return true;
    case '|':
        left->bits = a | b;
        return true;
    default:
        left->kind = VALUE_SIGNED;
        break;
    }
    switch (operator) {
    case '<':
        left->bits = less;
        break;
    case '>':
        left->bits = !less && a != b;
        break;
    case MR_PTX_TOKEN_LESS_EQ:
        left->bits = less || a == b;
        break;
    case MR_PTX_TOKEN_MORE_EQ:
        left->bits = !less;
        break;
    case MR_PTX_TOKEN_EQ_EQ:
        left->bits = a == b;
        break;
    case MR_PTX_TOKEN_NOT_EQ:
        left->bits = a != b;
        break;
    case MR_PTX_TOKEN_AND_AND:
        left->bits = a != 0 && b != 0;
        break;
    default:
        left->bits = a != 0 || b != 0;
        break;
    }
    return true;
}

static bool parse_binary(struct parser *parser, struct value *value, int least)
{
    if (!parse_primary(parser, value))
        return false;
    for (int level; (level = strength(parser->token.kind)) >= least;) {
        int operator= parser->token.kind;
        struct value right = {VALUE_SIGNED, 0};
        mr_ptx_advance(parser);
        if (!parse_binary(parser, &right, level + 1) || !apply(parser, operator, value, &right))
            return false;
    }
    return true;
}

static bool parse_ternary(struct parser *parser, struct value *value)
{
    if (parser->expr_depth >= MR_PTX_NEST_MAX)
        return mr_ptx_error(parser, "expression is nested too deeply");
    parser->expr_depth++;
    bool good = parse_binary(parser, value, 1);
    if (good && mr_ptx_accept(parser, '?')) {
        struct value yes = {VALUE_SIGNED, 0}, no = yes;
        good = parse_ternary(parser, &yes) && mr_ptx_expect(parser, ':', "':'") && parse_ternary(parser, &no);
        if (good)
            *value = mr_ptx_value_double(value) != 0 ? yes : no;
    }
    parser->expr_depth--;
    return good;
}

bool mr_ptx_parse_value(struct parser *parser, struct value *value)
{
    parser->expr_depth = 0;
    return parse_ternary(parser, value);
}

bool mr_ptx_parse_integer(struct parser *parser, uint64_t *value, bool *is_unsigned)
{
    struct mr_ptx_token token = parser->token;
    struct value result = {VALUE_SIGNED, 0};
    if (!mr_ptx_parse_value(parser, &result))
        return false;
    if (is_float(&result))
        return mr_ptx_error_at(parser, token.line, token.column, "expected an integer");
    *value = result.bits;
    if (is_unsigned)
        *is_unsigned = result.kind == VALUE_UNSIGNED;
    return true;
}

bool mr_ptx_parse_count(struct parser *parser, uint64_t *value)
{
    struct mr_ptx_token token = parser->token;
    struct value result;
    parser->expr_depth = 0;
    if (!parse_binary(parser, &result, strength('+')))
        return false;
    bool negative = result.kind == VALUE_SIGNED && (int64_t)result.bits < 0;
    if (is_float(&result) || negative || result.bits > UINT32_MAX)
        return mr_ptx_error_at(parser, token.line, token.column, "expected a number of registers");
    *value = result.bits;
    return true;
}

bool mr_ptx_parse_bounded(struct parser *parser, const char *what, uint64_t least, uint64_t most, uint64_t *value)
{
    struct mr_ptx_token token = parser->token;
    bool is_unsigned = false;
    if (!mr_ptx_parse_integer(parser, value, &is_unsigned))
        return false;
    if ((!is_unsigned && (int64_t)*value < 0) || *value < least || *value > most)
        return mr_ptx_error_at(parser, token.line, token.column, "%s must be from %llu to %llu", what,
                               (unsigned long long)least, (unsigned long long)most);
    return true;
}
