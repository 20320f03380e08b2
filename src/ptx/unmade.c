/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in shared memory that nobody makes; see unmade.h. */
#include "ptx/unmade.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/cxx_text.h"
#include "ptx/places.h"

#define REFUSED "error: initialization is not supported for __shared__ variables"
#define VARIABLES_MAX 16

size_t mr_unmade_places(const char *messages, struct mr_words *places)
{
    return mr_places_add(messages, REFUSED, places);
}

/* A declaration of variables: what stands before the type, the type, and each name with the brackets behind it. */
struct declaration {
    struct mr_cxx_token prefix, type;
    struct {
        struct mr_cxx_token name, dimensions;
    } variables[VARIABLES_MAX];
    size_t count, end;      /* behind the semicolon */
};

static bool is_name(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    char c = s->text[token.begin];
    return isalpha((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Reads on from the first variable's type. False for what is no plain list of variables. */
static bool read_variables(const struct mr_cxx_scanner *s, size_t at, struct declaration *d)
{
    int depth = 0;
    struct mr_cxx_token name = {0, 0};
    size_t open = 0;
    d->count = 0;
    d->type.begin = at;
    for (; (at = mr_cxx_behind_blanks(s, at)) < s->length;) {
        struct mr_cxx_token token = mr_cxx_token_at(s, at);
        char c = s->text[at];
        at = token.end;
        if (depth == 0 && (c == ',' || c == ';')) {
            if (name.end == 0 || d->count == VARIABLES_MAX)
                return false;
            if (d->count == 0)
                d->type.end = name.begin;
            d->variables[d->count].name = name;
            d->variables[d->count++].dimensions = (struct mr_cxx_token){open ? open : token.begin, token.begin};
            d->end = token.end;
            if (c == ';')
                return d->type.end > d->type.begin;
            name = (struct mr_cxx_token){0, 0};
            open = 0;
        } else if (c == '#' || c == '{' || c == '}' || (c == '=' && depth == 0) ||
                   (c == '(' && depth == 0 && d->count) || ((c == '*' || c == '&') && depth == 0)) {
            return false;
        } else if (c == '<' || c == '>') {
            depth += (c == '<' ? 1 : -1) * (int)(token.end - token.begin);
        } else if (c == '(' || c == '[') {
            open = depth == 0 && c == '[' && !open ? token.begin : open;
            depth++;
        } else if (c == ')' || c == ']') {
            depth--;
        } else if (depth == 0 && is_name(s, token) && !open) {
            name = token;
        }
        if (depth < 0)
            return false;
    }
    return false;
}

/* The declaration whose word for shared memory ends at `at`, in a statement that begins at `begin`. */
static bool read_declaration(const struct mr_cxx_scanner *s, size_t begin, size_t word, size_t at,
                             struct declaration *d)
{
    bool own;
    for (size_t before = mr_cxx_behind_blanks(s, begin); before < word; before = mr_cxx_behind_blanks(s, before)) {
        struct mr_cxx_token token = mr_cxx_token_at(s, before);
        if (!mr_cxx_is(s, token, "static") && !mr_cxx_attribute_at(s, before, &token, &own))
            return false;
        before = token.end;
    }
    for (;;) {
        at = mr_cxx_behind_blanks(s, at);
        struct mr_cxx_token token = at < s->length ? mr_cxx_token_at(s, at) : (struct mr_cxx_token){at, at};
        if (!mr_cxx_is(s, token, "static") && !mr_cxx_attribute_at(s, at, &token, &own))
            break;
        at = token.end;
    }
    d->prefix = (struct mr_cxx_token){begin, at};
    return read_variables(s, at, d);
}

/* A part of the text in one line. */
static void put_part(const struct mr_cxx_scanner *s, struct mr_cxx_token part, struct mr_text *out)
{
    for (size_t i = part.begin; i < part.end; i++)
        mr_text_add(out, s->text[i] == '\n' ? " " : s->text + i, 1);
}

static void put_declaration(const struct mr_cxx_scanner *s, const struct declaration *d, struct mr_text *out)
{
    for (size_t i = 0; i < d->count; i++) {
        struct mr_cxx_token name = d->variables[i].name;
        int length = (int)(name.end - name.begin);
        put_part(s, d->prefix, out);
        mr_text_put(out, " ::mr_unmade<");
        put_part(s, d->type, out);
        put_part(s, d->variables[i].dimensions, out);
        mr_text_format(out, "> mr_unmade_%.*s; constexpr auto &%.*s = mr_unmade_%.*s.value;", length,
                       s->text + name.begin, length, s->text + name.begin, length, s->text + name.begin);
    }
    for (size_t i = d->prefix.begin; i < d->end; i++)
        if (s->text[i] == '\n')
            mr_text_put(out, "\n");
}

/* Whether one of the variables is at a place. */
static bool is_meant(const struct declaration *d, struct mr_origin *origin, const struct mr_words *places)
{
    for (size_t i = 0; i < d->count; i++) {
        mr_origin_move(origin, d->variables[i].name.begin);
        if (mr_origin_is_at(origin, places))
            return true;
    }
    return false;
}

size_t mr_unmade_mend(const char *text, const struct mr_words *places, struct mr_text *out)
{
    struct mr_cxx_scanner s = {.text = (char *)text, .length = strlen(text)};
    struct mr_origin origin = {.text = text};
    size_t begin = 0, copied = 0, count = 0;
    for (size_t at = 0; places->count && (at = mr_cxx_behind_blanks(&s, at)) < s.length;) {
        struct mr_cxx_token token = mr_cxx_token_at(&s, at);
        struct declaration d;
        size_t behind;
        if (text[at] == '#' && (at == 0 || text[at - 1] == '\n')) {
            at += strcspn(text + at, "\n");
            at += text[at] == '\n'; /* what is put in the place of a declaration has no line end before it */
            begin = at;
            continue;
        }
        if (mr_cxx_is_shared(&s, token, &behind) && read_declaration(&s, begin, at, behind, &d) &&
            is_meant(&d, &origin, places)) {
            mr_text_add(out, text + copied, d.prefix.begin - copied);
            put_declaration(&s, &d, out);
            copied = at = begin = d.end;
            count++;
            continue;
        }
        at = token.end;
        if (strchr(";{}", text[token.begin]))
            begin = at;
    }
    mr_text_put(out, text + copied);
    return count;
}
