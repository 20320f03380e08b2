/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a size known late, with initialisers; see sized.h. */
#include "ptx/sized.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/cxx_text.h"
#include "ptx/places.h"

size_t mr_sized_places(const char *messages, struct mr_words *places)
{
    return mr_places_add(messages, "error: variable-sized object may not be initialized", places);
}

/* `NAME[SIZE]… = { … };`, or without the `=`. */
struct array {
    struct mr_cxx_token name;
    size_t behind_sizes; /* behind the last ] */
    struct mr_cxx_token values; /* with the braces */
    size_t end; /* behind the semicolon */
};

static char next_char(const struct mr_cxx_scanner *s, size_t *at)
{
    *at = mr_cxx_behind_blanks(s, *at);
    return mr_cxx_peek(s, *at);
}

/* Behind the brace that closes the one at `at`; at itself if none does. */
static size_t behind_braces(const struct mr_cxx_scanner *s, size_t at)
{
    int depth = 0;
    for (size_t now = at; (now = mr_cxx_behind_blanks(s, now)) < s->length;) {
        struct mr_cxx_token token = mr_cxx_token_at(s, now);
        depth += s->text[now] == '{' ? 1 : s->text[now] == '}' ? -1 : 0;
        now = token.end;
        if (depth == 0)
            return now;
    }
    return at;
}

static bool read_array(const struct mr_cxx_scanner *s, struct mr_cxx_token name, struct array *array)
{
    size_t at = name.end;
    array->name = name;
    array->behind_sizes = name.end;
    if (next_char(s, &at) != '[')
        return false;
    while (next_char(s, &at) == '[') {
        size_t behind = mr_cxx_behind_group(s, at);
        if (behind == at)
            return false;
        at = array->behind_sizes = behind;
    }
    if (next_char(s, &at) == '=')
        at++;
    if (next_char(s, &at) != '{')
        return false;
    array->values.begin = at;
    at = array->values.end = behind_braces(s, at);
    if (at == array->values.begin || next_char(s, &at) != ';')
        return false;
    array->end = at + 1;
    return true;
}

/* The ends of lines of a part of the text. */
static void put_lines(const char *text, size_t from, size_t to, struct mr_text *out)
{
    for (; from < to; from++)
        if (text[from] == '\n')
            mr_text_put(out, "\n");
}

size_t mr_sized_mend(const char *text, const struct mr_words *places, struct mr_text *out)
{
    struct mr_cxx_scanner s = {.text = (char *)text, .length = strlen(text)};
    struct mr_origin origin = {.text = text};
    size_t copied = 0, count = 0;
    int commas = 0; /* of the statement, outside of brackets: it declares several */
    int depth = 0;
    for (size_t at = 0; places->count && (at = mr_cxx_behind_blanks(&s, at)) < s.length;) {
        struct mr_cxx_token token = mr_cxx_token_at(&s, at);
        struct array array;
        char c = text[at];
        if (c == '#' && (at == 0 || text[at - 1] == '\n')) {
            at += strcspn(text + at, "\n");
            continue;
        }
        at = token.end;
        if (strchr(";{}", c))
            commas = depth = 0;
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        commas += c == ',' && depth == 0;
        if ((!isalpha((unsigned char)c) && c != '_') || commas || depth || !read_array(&s, token, &array))
            continue;
        mr_origin_move(&origin, token.begin);
        if (!mr_origin_is_at(&origin, places))
            continue;
        int length = (int)(array.name.end - array.name.begin);
        mr_text_add(out, text + copied, array.behind_sizes - copied);
        bool some = mr_cxx_behind_blanks(&s, array.values.begin + 1) + 1 < array.values.end;
        if (some)
            mr_text_format(out, "; { const __typeof__(*%.*s) mr_values[] =", length, text + token.begin);
        else
            mr_text_put(out, "; {");
        put_lines(text, array.behind_sizes, array.values.begin, out);
        if (some) {
            mr_text_put(out, " ");
            mr_text_add(out, text + array.values.begin, array.values.end - array.values.begin);
            mr_text_put(out, ";");
        }
        mr_text_format(out, " ::mr_fill_sized(%.*s, sizeof(%.*s) / sizeof(*%.*s)%s); }", length, text + token.begin,
                       length, text + token.begin, length, text + token.begin, some ? ", mr_values" : "");
        put_lines(text, array.values.end, array.end, out);
        copied = at = array.end;
        count++;
    }
    mr_text_put(out, text + copied);
    return count;
}
