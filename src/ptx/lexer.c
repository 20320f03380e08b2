/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tokens of PTX. Two places want care. A dot begins a word (.global, .2d) or a
 * number (.5): after a name or a number's end it is always a word. And numbers
 * have seven spellings: decimal, 0 octal, 0x, 0b, each with an optional U; 0f and
 * 0d followed by the bits of a float or a double; and C's decimal floats.
 */
#include "ptx/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LENGTH_MAX 128u /* of a decimal float */

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(int c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

void mr_ptx_lexer_init(struct mr_ptx_lexer *lexer, const char *text, size_t length)
{
    const char *nul = length ? memchr(text, '\0', length) : NULL;
    lexer->at = lexer->line_start = text;
    lexer->end = nul ? nul : text + length;
    lexer->line = 1;
}

/* The character `ahead` places on, 0 beyond the end. */
static int peek(const struct mr_ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? (unsigned char)lexer->at[ahead] : 0;
}

static void newline(struct mr_ptx_lexer *lexer)
{
    lexer->at++;
    lexer->line++;
    lexer->line_start = lexer->at;
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit((unsigned char)*at))
        at++;
    return at;
}

/* Skips what a preprocessor leaves behind, to the end of the line: # 5 "file" 2,
 * #line 5 "file". False if it is something else. */
static bool skip_line_mark(struct mr_ptx_lexer *lexer)
{
    const char *end = lexer->end, *at = skip_spaces(lexer->at + 1, end);
    if (end - at > 4 && memcmp(at, "line", 4) == 0)
        at = skip_spaces(at + 4, end);
    const char *number = at;
    at = skip_digits(at, end);
    if (at == number)
        return false;
    at = skip_spaces(at, end);
    if (at == end || *at++ != '"')
        return false;
    while (at < end && *at != '"' && *at != '\n')
        at++;
    if (at == end || *at++ != '"')
        return false;
    for (const char *flag = NULL; flag != at;) {
        flag = at;
        at = skip_digits(skip_spaces(at, end), end);
    }
    if (at < end && *at != '\n')
        return false;
    lexer->at = at;
    return true;
}

/* Skips blanks, comments and line marks; false if a comment does not end. */
static bool skip_blanks(struct mr_ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        int c = peek(lexer, 0);
        if (c == '\n') {
            newline(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            const char *stop = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
            lexer->at = stop ? stop : lexer->end;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->at += 2;
            while (!(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
                if (lexer->at >= lexer->end)
                    return false;
                if (*lexer->at == '\n')
                    newline(lexer);
                else
                    lexer->at++;
            }
            lexer->at += 2;
        } else if (c != '#' || !skip_line_mark(lexer)) {
            break;
        }
    }
    return true;
}

static void fail(struct mr_ptx_token *token, const char *message)
{
    token->kind = MR_PTX_TOKEN_ERROR;
    token->message = message;
}

/* 0f and 0d followed by exactly `digits` hexadecimal digits. */
static void lex_float_bits(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token, unsigned digits)
{
    lexer->at += 2;
    uint64_t value = 0;
    unsigned count = 0;
    for (int digit; (digit = hex_value(peek(lexer, 0))) >= 0; count++, lexer->at++)
        value = value << 4 | (uint64_t)digit;
    if (count != digits || is_word(peek(lexer, 0))) {
        while (is_word(peek(lexer, 0)))
            lexer->at++;
        fail(token, digits == 8 ? "0f must be followed by 8 hexadecimal digits"
                                : "0d must be followed by 16 hexadecimal digits");
        return;
    }
    token->kind = MR_PTX_TOKEN_FLOAT;
    token->value = value;
    token->is_single = digits == 8;
}

/* Whether the digits at the cursor are those of a decimal float. */
static bool looks_like_float(const struct mr_ptx_lexer *lexer)
{
    size_t i = 0;
    while (is_digit(peek(lexer, i)))
        i++;
    int c = peek(lexer, i);
    if (c == '.')
        return is_digit(peek(lexer, i + 1)) || !is_word(peek(lexer, i + 1));
    if (c != 'e' && c != 'E')
        return false;
    c = peek(lexer, i + 1);
    return is_digit(c) || ((c == '+' || c == '-') && is_digit(peek(lexer, i + 2)));
}

static void lex_decimal_float(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    char copy[NUMBER_LENGTH_MAX + 1];
    size_t length = 0;
    bool exponent = false;
    for (;;) {
        int c = peek(lexer, length);
        bool sign =
            (c == '+' || c == '-') && length > 0 && (peek(lexer, length - 1) == 'e' || peek(lexer, length - 1) == 'E');
        if (c == 'e' || c == 'E') {
            if (exponent)
                break;
            exponent = true;
        } else if (!is_digit(c) && c != '.' && !sign) {
            break;
        }
        if (length == NUMBER_LENGTH_MAX) {
            lexer->at += length;
            fail(token, "number is too long");
            return;
        }
        copy[length++] = (char)c;
    }
    copy[length] = '\0';
    lexer->at += length;
    /* The program may have chosen a locale whose decimal point is a comma. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        fail(token, "out of memory");
        return;
    }
    char *stop;
    double value = strtod_l(copy, &stop, c_locale);
    freelocale(c_locale);
    if (*stop != '\0' || is_word(peek(lexer, 0))) {
        fail(token, "malformed number");
        return;
    }
    token->kind = MR_PTX_TOKEN_FLOAT;
    memcpy(&token->value, &value, sizeof value);
}

static void lex_number(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    int second = peek(lexer, 1);
    unsigned base = 10;
    if (peek(lexer, 0) == '0') {
        if (second == 'f' || second == 'F') {
            lex_float_bits(lexer, token, 8);
            return;
        }
        if (second == 'd' || second == 'D') {
            lex_float_bits(lexer, token, 16);
            return;
        }
        if (second == 'x' || second == 'X')
            base = 16;
        else if (second == 'b' || second == 'B')
            base = 2;
    }
    if (base == 10 && looks_like_float(lexer)) {
        lex_decimal_float(lexer, token);
        return;
    }
    if (base != 10)
        lexer->at += 2;
    else if (peek(lexer, 0) == '0')
        base = 8;
    uint64_t value = 0;
    bool overflow = false;
    unsigned count = 0;
    for (int digit; (digit = hex_value(peek(lexer, 0))) >= 0 && digit < (int)base; count++, lexer->at++) {
        uint64_t next;
        overflow |= __builtin_mul_overflow(value, (uint64_t)base, &next) ||
                    __builtin_add_overflow(next, (uint64_t)digit, &next);
        value = next;
    }
    token->is_unsigned = value > INT64_MAX;
    if (peek(lexer, 0) == 'U') {
        token->is_unsigned = true;
        lexer->at++;
    }
    if (count == 0 || is_word(peek(lexer, 0))) {
        while (is_word(peek(lexer, 0)))
            lexer->at++;
        fail(token, "malformed number");
    } else if (overflow) {
        fail(token, "number does not fit in 64 bits");
    } else {
        token->kind = MR_PTX_TOKEN_INT;
        token->value = value;
    }
}

static void lex_string(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    const char *start = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at += *lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n' ? 2 : 1;
    if (lexer->at >= lexer->end || *lexer->at != '"') {
        fail(token, "string does not end");
        return;
    }
    token->kind = MR_PTX_TOKEN_STRING;
    token->text = start;
    token->length = (size_t)(lexer->at - start);
    lexer->at++;
}

/* .word, with parts joined by '::' */
static void lex_dot_word(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    token->text = ++lexer->at;
    for (;;) {
        while (is_word(peek(lexer, 0)))
            lexer->at++;
        if (peek(lexer, 0) != ':' || peek(lexer, 1) != ':' || !is_word(peek(lexer, 2)))
            break;
        lexer->at += 2;
    }
    token->kind = MR_PTX_TOKEN_DOT;
    token->length = (size_t)(lexer->at - token->text);
}

static void lex_operator(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    static const struct {
        char text[3];
        int kind;
    } pairs[] = {
        {"&&", MR_PTX_TOKEN_AND_AND},    {"||", MR_PTX_TOKEN_OR_OR},       {"==", MR_PTX_TOKEN_EQ_EQ},
        {"!=", MR_PTX_TOKEN_NOT_EQ},     {"<=", MR_PTX_TOKEN_LESS_EQ},     {">=", MR_PTX_TOKEN_MORE_EQ},
        {"<<", MR_PTX_TOKEN_SHIFT_LEFT}, {">>", MR_PTX_TOKEN_SHIFT_RIGHT},
    };
    int c = peek(lexer, 0), second = peek(lexer, 1);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (c == pairs[i].text[0] && second == pairs[i].text[1]) {
            token->kind = pairs[i].kind;
            token->length = 2;
            lexer->at += 2;
            return;
        }
    }
    lexer->at++;
    token->length = 1;
    if (c != 0 && strchr(",;:{}()[]<>=+-*/%&|^!~?@.", c))
        token->kind = c;
    else
        fail(token, c == '#' ? "'#' begins no line mark, as in # 5 \"file.cu\"" : "unexpected character");
}

void mr_ptx_lexer_next(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    const char *before = lexer->at;
    bool ended = skip_blanks(lexer);
    *token = (struct mr_ptx_token){
        .text = lexer->at,
        .line = lexer->line,
        .column = (uint32_t)(lexer->at - lexer->line_start) + 1,
    };
    if (!ended) {
        fail(token, "comment does not end");
        return;
    }
    if (lexer->at >= lexer->end)
        return;
    int c = peek(lexer, 0), second = peek(lexer, 1);
    if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(second))) {
        const char *start = lexer->at++;
        while (is_word(peek(lexer, 0)))
            lexer->at++;
        token->kind = MR_PTX_TOKEN_NAME;
        token->length = (size_t)(lexer->at - start);
    } else if (is_digit(c)) {
        lex_number(lexer, token);
    } else if (c == '.' && is_word(second)) {
        /* A dot right behind something (tex.1d) begins a word, even with a digit. */
        bool glued = before == lexer->at && lexer->at > lexer->line_start;
        if (is_digit(second) && !glued)
            lex_decimal_float(lexer, token);
        else
            lex_dot_word(lexer, token);
    } else if (c == '"') {
        lex_string(lexer, token);
    } else {
        lex_operator(lexer, token);
    }
    if (token->length == 0 && token->kind != MR_PTX_TOKEN_STRING)
        token->length = (size_t)(lexer->at - token->text);
}
