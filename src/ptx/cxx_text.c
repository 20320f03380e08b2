/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a text in CUDA C++; see cxx_text.h. */
#include "ptx/cxx_text.h"

#include <ctype.h>
#include <string.h>

char mr_cxx_peek(const struct mr_cxx_scanner *s, size_t at)
{
    if (at >= s->length)
        return '\0';
    return s->text[at];
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static size_t line_end(const struct mr_cxx_scanner *s, size_t at)
{
    while (at < s->length && (s->text[at] != '\n' || s->text[at - 1] == '\\'))
        at++;
    return at;
}

/* Behind blanks and comments. */
size_t mr_cxx_behind_blanks(const struct mr_cxx_scanner *s, size_t at)
{
    for (;;) {
        char c = mr_cxx_peek(s, at), next = mr_cxx_peek(s, at + 1);
        if (at < s->length && (isspace((unsigned char)c) || (c == '\\' && (next == '\n' || next == '\r')))) {
            at++;
        } else if (c == '/' && next == '/') {
            at = line_end(s, at + 1);
        } else if (c == '/' && next == '*') {
            const char *end = memmem(s->text + at + 2, s->length - at - 2, "*/", 2);
            at = end ? (size_t)(end - s->text) + 2 : s->length;
        } else {
            return at;
        }
    }
}

/* Behind a string or character that begins at `at`; one without an end ends with its line. */
static size_t behind_quoted(const struct mr_cxx_scanner *s, size_t at)
{
    char quote = s->text[at];
    for (at++; at < s->length && s->text[at] != quote && s->text[at] != '\n'; at++)
        if (s->text[at] == '\\')
            at++;
    return at < s->length ? at + 1 : s->length;
}

/* Behind a raw string whose quote is at `at`. */
static size_t behind_raw(const struct mr_cxx_scanner *s, size_t at)
{
    char end[20];
    size_t length = 0;
    end[length++] = ')';
    for (at++; at < s->length && s->text[at] != '(' && length < 17; at++)
        end[length++] = s->text[at];
    end[length++] = '"';
    const char *found = at < s->length ? memmem(s->text + at, s->length - at, end, length) : NULL;
    return found ? (size_t)(found - s->text) + length : s->length;
}

static size_t behind_number(const struct mr_cxx_scanner *s, size_t at)
{
    while (at < s->length) {
        char c = s->text[at], before = s->text[at - 1];
        bool sign = (c == '+' || c == '-') && strchr("eEpP", before);
        if (!is_word(c) && c != '.' && !sign && !(c == '\'' && is_word(mr_cxx_peek(s, at + 1))))
            break;
        at++;
    }
    return at;
}

/* The token that begins at `at`, which is no blank: a word, number, string, a run of < or of >, or one character. */
struct mr_cxx_token mr_cxx_token_at(const struct mr_cxx_scanner *s, size_t at)
{
    size_t end = at + 1;
    char c = s->text[at];
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)mr_cxx_peek(s, at + 1)))) {
        end = behind_number(s, at + 1);
    } else if (is_word(c)) {
        while (end < s->length && is_word(s->text[end]))
            end++;
        if (mr_cxx_peek(s, end) == '"' && s->text[end - 1] == 'R' && end - at <= 3)
            end = behind_raw(s, end);
    } else if (c == '"' || c == '\'') {
        end = behind_quoted(s, at);
    } else if (c == '<' || c == '>') {
        while (mr_cxx_peek(s, end) == c)
            end++;
    }
    return (struct mr_cxx_token){at, end};
}

bool mr_cxx_next(struct mr_cxx_scanner *s)
{
    s->at = mr_cxx_behind_blanks(s, s->at);
    if (s->at >= s->length)
        return false;
    s->before = s->now;
    s->now = mr_cxx_token_at(s, s->at);
    s->at = s->now.end;
    return true;
}

bool mr_cxx_is(const struct mr_cxx_scanner *s, struct mr_cxx_token token, const char *word)
{
    size_t length = strlen(word);
    return token.end - token.begin == length && memcmp(s->text + token.begin, word, length) == 0;
}

/* Behind a group in brackets; at itself if there is none. */
size_t mr_cxx_behind_group(const struct mr_cxx_scanner *s, size_t at)
{
    int depth = 0;
    size_t from = at;
    while ((at = mr_cxx_behind_blanks(s, at)) < s->length) {
        struct mr_cxx_token token = mr_cxx_token_at(s, at);
        char c = s->text[at];
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        if (depth == 0)
            return at > from || c == ')' || c == ']' ? token.end : from;
        if (c == ';' || c == '{')
            return from;
        at = token.end;
    }
    return from;
}

/* The attribute that begins at `at`: its end, and whether it is one of C++'s own; false if there is none. */
bool mr_cxx_attribute_at(const struct mr_cxx_scanner *s, size_t at, struct mr_cxx_token *item, bool *own)
{
    static const char *const words[] = {"__shared__", "__device__", "__constant__"};
    static const char *const groups[] = {"__align__", "__attribute__", "alignas"};
    if (at >= s->length)
        return false;
    *item = mr_cxx_token_at(s, at);
    *own = mr_cxx_is(s, *item, "alignas");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mr_cxx_is(s, *item, words[i]))
            return true;
    if (s->text[at] == '[' && mr_cxx_peek(s, at + 1) == '[') {
        *own = true;
        item->end = mr_cxx_behind_group(s, at);
        return item->end > at;
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (mr_cxx_is(s, *item, groups[i])) {
            size_t open = mr_cxx_behind_blanks(s, item->end);
            size_t end = mr_cxx_peek(s, open) == '(' ? mr_cxx_behind_group(s, open) : open;
            item->end = end;
            return end > open;
        }
    return false;
}

bool mr_cxx_is_shared(const struct mr_cxx_scanner *s, struct mr_cxx_token token, size_t *end)
{
    static const char *const parts[] = {"(", "(", "shared", ")", ")"};
    *end = token.end;
    if (mr_cxx_is(s, token, "__shared__"))
        return true;
    if (!mr_cxx_is(s, token, "__attribute__"))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t at = mr_cxx_behind_blanks(s, *end);
        struct mr_cxx_token part = at < s->length ? mr_cxx_token_at(s, at) : (struct mr_cxx_token){at, at};
        if (!mr_cxx_is(s, part, parts[i]))
            return false;
        *end = part.end;
    }
    return true;
}

size_t mr_cxx_before_blanks(const char *text, size_t at)
{
    while (at > 0 && isspace((unsigned char)text[at - 1]))
        at--;
    return at;
}

size_t mr_cxx_begin_of_name(const char *text, size_t begin)
{
    for (;;) {
        size_t at = mr_cxx_before_blanks(text, begin);
        if (at < 2 || text[at - 1] != ':' || text[at - 2] != ':')
            return begin;
        begin = at - 2;
        at = mr_cxx_before_blanks(text, begin);
        if (at > 0 && text[at - 1] == '>') {
            int depth = 0;
            do {
                at--;
                depth += text[at] == '>' ? 1 : text[at] == '<' ? -1 : 0;
            } while (at > 0 && depth > 0);
            at = mr_cxx_before_blanks(text, at);
        }
        if (at == 0 || !is_word(text[at - 1]))
            return begin;
        while (at > 0 && is_word(text[at - 1]))
            at--;
        begin = at;
    }
}
