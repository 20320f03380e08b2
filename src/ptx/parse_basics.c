/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parser's small tools, on which all its files stand: memory, lists, errors,
 * and the token at hand.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/parse.h"

void mr_ptx_give_up(struct parser *parser, bool out_of_memory)
{
    if (out_of_memory) {
        parser->errors++;
        if (parser->diag)
            parser->diag->out_of_memory = true;
        mr_ptx_diag_error(parser->diag, 0, 0, "out of memory");
    }
    longjmp(parser->give_up, 1);
}

void *mr_ptx_new(struct parser *parser, size_t count, size_t size)
{
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = mr_ptx_arena_alloc(parser->arena, bytes);
    if (!memory)
        mr_ptx_give_up(parser, true);
    return memory;
}

void *mr_ptx_list_add(struct parser *parser, struct list *list, size_t size)
{
    if (!mr_array_reserve(&list->items, &list->capacity, list->count + 1, size))
        mr_ptx_give_up(parser, true);
    void *item = (char *)list->items + list->count++ * size;
    memset(item, 0, size);
    return item;
}

void *mr_ptx_list_copy(struct parser *parser, const struct list *list, size_t size)
{
    if (list->count == 0)
        return NULL;
    void *copy = mr_ptx_new(parser, list->count, size);
    memcpy(copy, list->items, list->count * size);
    return copy;
}

static bool error_va(struct parser *parser, uint32_t line, uint32_t column, const char *format, va_list arguments)
{
    char message[400];
    vsnprintf(message, sizeof message, format, arguments);
    mr_ptx_diag_error(parser->diag, line, column, "%s", message);
    if (++parser->errors > MR_PTX_DIAG_ERRORS_MAX)
        mr_ptx_give_up(parser, false);
    return false;
}

bool mr_ptx_error(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_va(parser, parser->token.line, parser->token.column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_error_at(struct parser *parser, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_va(parser, line, column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_need(struct parser *parser, const char *what, uint32_t version, uint32_t sm)
{
    if (!mr_ptx_module_has_version(parser->module, version))
        return mr_ptx_error(parser, "%s needs PTX %u.%u", what, version / 10, version % 10);
    if (parser->module->target_sm < sm)
        return mr_ptx_error(parser, "%s needs target sm_%u", what, sm);
    return true;
}

void mr_ptx_advance(struct parser *parser)
{
    for (;;) {
        mr_ptx_lexer_next(&parser->lexer, &parser->token);
        if (parser->token.kind != MR_PTX_TOKEN_ERROR)
            return;
        mr_ptx_error(parser, "%s", parser->token.message);
        if (parser->token.length > 0 && parser->token.text[0] >= '0' && parser->token.text[0] <= '9') {
            parser->token.kind = MR_PTX_TOKEN_INT; /* one error is enough for it */
            return;
        }
    }
}

struct mr_ptx_token mr_ptx_peek(const struct parser *parser)
{
    struct mr_ptx_lexer lexer = parser->lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_next(&lexer, &token);
    return token;
}

bool mr_ptx_is(const struct parser *parser, int kind)
{
    return parser->token.kind == kind;
}

bool mr_ptx_is_dot(const struct parser *parser, const char *word)
{
    size_t length = parser->token.length;
    return parser->token.kind == MR_PTX_TOKEN_DOT && strncmp(parser->token.text, word, length) == 0 &&
           word[length] == '\0';
}

bool mr_ptx_accept(struct parser *parser, int kind)
{
    if (parser->token.kind != kind)
        return false;
    mr_ptx_advance(parser);
    return true;
}

bool mr_ptx_accept_dot(struct parser *parser, const char *word)
{
    if (!mr_ptx_is_dot(parser, word))
        return false;
    mr_ptx_advance(parser);
    return true;
}

/* Reports "expected WHAT" with what stands there instead. */
bool mr_ptx_unexpected(struct parser *parser, const char *what)
{
    if (parser->token.kind == MR_PTX_TOKEN_END)
        return mr_ptx_error(parser, "expected %s, but the text ends", what);
    int length = parser->token.length > 40 ? 40 : (int)parser->token.length;
    return mr_ptx_error(parser, "expected %s before '%s%.*s'", what, parser->token.kind == MR_PTX_TOKEN_DOT ? "." : "",
                        length, parser->token.text);
}

bool mr_ptx_expect(struct parser *parser, int kind, const char *what)
{
    return mr_ptx_accept(parser, kind) || mr_ptx_unexpected(parser, what);
}

struct atom *mr_ptx_expect_name(struct parser *parser, const char *what)
{
    if (parser->token.kind != MR_PTX_TOKEN_NAME) {
        mr_ptx_unexpected(parser, what);
        return NULL;
    }
    struct atom *atom = mr_ptx_intern(parser, parser->token.text, parser->token.length);
    mr_ptx_advance(parser);
    return atom;
}

void mr_ptx_skip_statement(struct parser *parser)
{
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END)) {
        if (mr_ptx_accept(parser, ';'))
            return;
        if (mr_ptx_is(parser, '}')) {
            /* A brace that ends a vector is followed by more of the statement. */
            int next = mr_ptx_peek(parser).kind;
            if (next != ',' && next != ';' && next != ']')
                return;
        }
        mr_ptx_advance(parser);
    }
}
