/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels left out of PTX. The text is read statement by statement at its outermost level; those of kernels that nobody
 * asked for are not copied. */
#include "ptx/entries.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/lexer.h"

struct statement {
    const char *begin, *end;
    const char *name; /* NULL: it has none */
    size_t name_length;
    bool is_entry, is_symbol;
};

static bool ends(const struct mr_ptx_token *token)
{
    return token->kind == MR_PTX_TOKEN_END || token->kind == MR_PTX_TOKEN_ERROR;
}

static bool is_one_of(const struct mr_ptx_token *token, const char *const *words)
{
    for (; *words; words++)
        if (token->kind == MR_PTX_TOKEN_DOT && token->length == strlen(*words) &&
            memcmp(token->text, *words, token->length) == 0)
            return true;
    return false;
}

/* A directive of a few words, without a semicolon: up to the next directive. */
static void skip_line(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token)
{
    do
        mr_ptx_lexer_next(lexer, token);
    while (!ends(token) && token->kind != MR_PTX_TOKEN_DOT);
}

/* Reads one statement that begins with `token`, which is left behind it. */
static void read_statement(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token, struct statement *statement)
{
    static const char *const lines[] = {"version", "target", "address_size", "file", "loc", NULL};
    static const char *const entry[] = {"entry", NULL}, *const function[] = {"entry", "func", NULL};
    static const char *const symbols[] = {"entry", "func", "global", "const", "shared", "tex", NULL};
    static const char *const sections[] = {"section", NULL};
    unsigned braces = 0, parens = 0;
    bool is_function = false, initial = false;
    *statement = (struct statement){.begin = token->text - (token->kind == MR_PTX_TOKEN_DOT)};
    bool section = is_one_of(token, sections);
    if (is_one_of(token, lines)) {
        skip_line(lexer, token);
        return;
    }
    for (; !ends(token); mr_ptx_lexer_next(lexer, token)) {
        bool outside = braces == 0 && parens == 0;
        statement->is_entry |= outside && !statement->name && is_one_of(token, entry);
        is_function |= outside && !statement->name && is_one_of(token, function);
        statement->is_symbol |= outside && !statement->name && is_one_of(token, symbols);
        if (outside && token->kind == MR_PTX_TOKEN_NAME && !statement->name) {
            statement->name = token->text;
            statement->name_length = token->length;
        }
        initial |= outside && token->kind == '=';
        braces += token->kind == '{';
        parens += token->kind == '(';
        parens -= token->kind == ')' && parens > 0;
        bool closes = token->kind == '}' && braces > 0 && --braces == 0;
        if ((outside && token->kind == ';') || (closes && !initial && (is_function || section))) {
            statement->end = token->text + token->length;
            mr_ptx_lexer_next(lexer, token);
            return;
        }
    }
}

/* Which of the names the statement has; names->count: none. */
static size_t find(const struct mr_words *names, const struct statement *statement)
{
    size_t i = 0;
    while (i < names->count && !(strlen(names->items[i]) == statement->name_length &&
                                 memcmp(names->items[i], statement->name, statement->name_length) == 0))
        i++;
    return i;
}

enum mr_ptx_entries_result mr_ptx_keep_entries(const char *ptx, const struct mr_words *names, struct mr_text *out,
                                               size_t *wrong)
{
    enum { NOWHERE, OTHER, ENTRY };
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    const char *copied = ptx;
    uint8_t *found = mr_calloc(names->count + 1, 1);
    *wrong = 0;
    out->failed |= !found;
    mr_ptx_lexer_init(&lexer, ptx, strlen(ptx));
    mr_ptx_lexer_next(&lexer, &token);
    while (found && !ends(&token)) {
        struct statement statement;
        read_statement(&lexer, &token, &statement);
        size_t which = statement.name && statement.is_symbol ? find(names, &statement) : names->count;
        if (which < names->count && found[which] != ENTRY)
            found[which] = statement.is_entry ? ENTRY : OTHER;
        if (!statement.is_entry || !statement.name || which < names->count || !statement.end)
            continue;
        mr_text_add(out, copied, (size_t)(statement.begin - copied));
        copied = statement.end;
    }
    mr_text_put(out, copied);
    enum mr_ptx_entries_result result = MR_PTX_ENTRIES_KEPT;
    for (size_t i = 0; found && i < names->count && result == MR_PTX_ENTRIES_KEPT; i++)
        if (found[i] != ENTRY) {
            result = found[i] == OTHER
            ? MR_PTX_ENTRIES_NO_ENTRY : MR_PTX_ENTRIES_UNKNOWN;
            *wrong = i;
        }
    mr_free(found);
    return result;
}

void mr_ptx_entries_list(const char *list, struct mr_words *names)
{
    while (*list) {
        struct mr_text name = {.data = NULL};
        size_t length = strcspn(list, ",");
        mr_text_add(&name, list, length);
        if (length && !mr_words_have(names, list, length))
            mr_words_add(names, mr_text_chars(&name), "");
        names->failed |= name.failed;
        mr_text_clear(&name);
        list += length + (list[length] == ',');
    }
}

void mr_ptx_entries_explain(enum mr_ptx_entries_result result, const char *name, struct mr_text *out)
{
    if (result == MR_PTX_ENTRIES_UNKNOWN)
        mr_text_format(out, "ptxas fatal   : Unknown function %s\n", name);
    else if (result == MR_PTX_ENTRIES_NO_ENTRY)
        mr_text_format(out,
                       "ptxas error   : Entry function '%s' not found\n"
                       "ptxas fatal   : Ptx assembly aborted due to errors\n",
                       name);
}
