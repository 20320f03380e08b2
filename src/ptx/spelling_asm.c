/* SPDX-License-Identifier: Apache-2.0 */
/* PTX in asm statements, as spelling.h says: nvcc takes `%laneid` beside operands (`%0`) for the register's name. For
 * clang a percent sign in such a text begins an operand, so it has to stand twice.
 *
 * Host code has asm statements, too. There a name of a register has two percent signs already, and one in front of a
 * letter and a number is an operand with a modifier (`%b0`). So such a short name is doubled only where the text
 * declares registers, which only PTX does.
 *
 * nvcc also takes operands without a comma between them (`: "r"(a) "l"(p)`), where clang wants one. */
#include "ptx/spelling_asm.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/cxx_text.h"

#define STRINGS_MAX 512 /* of one statement; more are left as they are */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Whether what stands behind a percent sign is a name in PTX; *end: behind the name. */
static bool is_name(const char *name, const char *stop, bool declares, const char **end)
{
    const char *tail = name;
    if (name == stop || !(isalpha((unsigned char)*name) || *name == '_' || *name == '$'))
        return false;
    while (tail < stop && is_name_char(*tail))
        tail++;
    *end = tail;
    size_t digits = 1;
    while (name + digits < tail && isdigit((unsigned char)name[digits]))
        digits++;
    bool is_short = name + digits == tail;
    return declares || !is_short;
}

/* Adds a string's text, with what is doubled. `more`: what the next string holds, if it comes at once, else NULL. */
static size_t add_string(struct mr_text *out, const char *at, const char *stop, const char *more, bool declares)
{
    const char *ignored;
    size_t changes = 0;
    while (at < stop) {
        const char *percent = memchr(at, '%', (size_t)(stop - at)), *end;
        if (!percent) {
            mr_text_add(out, at, (size_t)(stop - at));
            break;
        }
        if (percent == stop - 2 && more && is_name(more, more + strcspn(more, "\"\n"), declares, &ignored)) {
            /* Macros put names together so. */
            mr_text_add(out, at, (size_t)(percent - at));
            mr_text_put(out, "%%\"");
            return changes + 1;
        }
        if (is_name(percent + 1, stop, declares, &end)) {
            mr_text_add(out, at, (size_t)(percent - at));
            mr_text_put(out, "%");
            changes++;
        } else {
            end = percent + (stop - percent > 1 ? 2 : 1);
            mr_text_add(out, at, (size_t)(percent - at));
        }
        mr_text_add(out, percent, (size_t)(end - percent));
        at = end;
    }
    return changes;
}

static bool is_string(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    return token.end > token.begin + 1 && s->text[token.end - 1] == '"';
}

static bool is_asm(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    return mr_cxx_is(s, token, "asm") || mr_cxx_is(s, token, "__asm__") || mr_cxx_is(s, token, "__asm");
}

/* The next token, or an empty one at the text's end. */
static struct mr_cxx_token next_token(const struct mr_cxx_scanner *s, size_t at)
{
    at = mr_cxx_behind_blanks(s, at);
    return at < s->length ? mr_cxx_token_at(s, at) : (struct mr_cxx_token){s->length, s->length};
}

/* The strings of an asm statement's text, which begins at `at`; none if it has no operands. *end: where to go on. */
static size_t find_strings(const struct mr_cxx_scanner *s, size_t at, struct mr_cxx_token *strings, size_t *end)
{
    struct mr_cxx_token token = next_token(s, at);
    while (mr_cxx_is(s, token, "volatile") || mr_cxx_is(s, token, "__volatile__") || mr_cxx_is(s, token, "__volatile"))
        token = next_token(s, token.end);
    *end = token.begin;
    if (mr_cxx_peek(s, token.begin) != '(')
        return 0;
    size_t count = 0;
    int depth = 0;
    do {
        char c = mr_cxx_peek(s, token.begin);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ':' && depth == 1)
            return count;
        if (is_string(s, token)) {
            if (count == STRINGS_MAX)
                return 0;
            strings[count++] = token;
        }
        *end = token.end;
        token = next_token(s, token.end);
    } while (depth > 0 && token.end > token.begin);
    return 0;
}

/* Adds the commas that are missing between the operands behind an asm statement's text, from `at`; *end: where to go
 * on. What is added stands between *done and the statement's end. */
static size_t add_commas(const struct mr_cxx_scanner *s, size_t at, struct mr_text *out, size_t *done, size_t *end)
{
    size_t changes = 0;
    int depth = 1;
    struct mr_cxx_token token = next_token(s, at);
    for (bool behind_operand = false; depth > 0 && token.end > token.begin; token = next_token(s, token.end)) {
        char c = mr_cxx_peek(s, token.begin);
        if (depth == 1 && behind_operand && (c == '[' || is_string(s, token))) {
            mr_text_add(out, s->text + *done, token.begin - *done);
            mr_text_put(out, ", ");
            *done = token.begin;
            changes++;
        }
        depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
        behind_operand = c == ')' && depth == 1;
        *end = token.end;
    }
    return changes;
}

/* What the second string holds, if it stands beside the first and neither is a raw one. */
static const char *joined(const struct mr_cxx_scanner *s, struct mr_cxx_token first, struct mr_cxx_token second)
{
    bool plain = s->text[first.begin] == '"' && s->text[second.begin] == '"';
    return plain && mr_cxx_behind_blanks(s, first.end) == second.begin ? s->text + second.begin + 1 : NULL;
}

size_t mr_spelling_mend_asm(const char *text, size_t length, struct mr_text *out)
{
    struct mr_cxx_scanner s = {.text = (char *)text, .length = length, .launch = -1};
    struct mr_cxx_token strings[STRINGS_MAX];
    size_t done = 0, changes = 0;
    if (!memmem(text, length, "asm", 3) || !memchr(text, '%', length))
        return 0;
    while (mr_cxx_next(&s)) {
        if (!is_asm(&s, s.now))
            continue;
        size_t count = find_strings(&s, s.at, strings, &s.at);
        bool declares = false;
        for (size_t i = 0; i < count && !declares; i++)
            declares = memmem(text + strings[i].begin, strings[i].end - strings[i].begin, ".reg", 4);
        for (size_t i = 0; i < count; i++) {
            mr_text_add(out, text + done, strings[i].begin - done);
            changes += add_string(out, text + strings[i].begin, text + strings[i].end,
                                  i + 1 < count ? joined(&s, strings[i], strings[i + 1]) : NULL, declares);
            done = strings[i].end;
        }
        if (count > 0)
            changes += add_commas(&s, s.at, out, &done, &s.at);
    }
    mr_text_add(out, text + done, length - done);
    return changes;
}
