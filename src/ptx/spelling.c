/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings that clang does not take; see spelling.h.
 *
 * The text is read token by token, as the preprocessor would before it looks at directives: comments, strings and raw strings are passed over, and
 * what stands in a macro's definition is text like any other. Launches are told by their opening, `<<` and then `<`, which nothing else in C++ has but
 * an operator function's name. They end at the first `>>` and `>` that stand outside of brackets and before a `(` or the line's end. */
#include "ptx/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

struct token {
    size_t begin, end;
};

struct scanner {
    char *text;
    size_t length, at;
    struct token before;     /* the last token but one that next() gave */
    struct token now;
    size_t changes;
    int depth;               /* of (, [ and { */
    int launch;              /* the depth of the launch that is open; -1: none */
};

static char peek(const struct scanner *s, size_t at)
{
    return at < s->length ? s->text[at] : '\0';
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static size_t line_end(const struct scanner *s, size_t at)
{
    while (at < s->length && (s->text[at] != '\n' || s->text[at - 1] == '\\'))
        at++;
    return at;
}

/* Behind blanks and comments. */
static size_t behind_blanks(const struct scanner *s, size_t at)
{
    for (;;) {
        char c = peek(s, at), next = peek(s, at + 1);
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
static size_t behind_quoted(const struct scanner *s, size_t at)
{
    char quote = s->text[at];
    for (at++; at < s->length && s->text[at] != quote && s->text[at] != '\n'; at++)
        if (s->text[at] == '\\')
            at++;
    return at < s->length ? at + 1 : s->length;
}

/* Behind a raw string whose quote is at `at`. */
static size_t behind_raw(const struct scanner *s, size_t at)
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

static size_t behind_number(const struct scanner *s, size_t at)
{
    while (at < s->length) {
        char c = s->text[at], before = s->text[at - 1];
        bool sign = (c == '+' || c == '-') && strchr("eEpP", before);
        if (!is_word(c) && c != '.' && !sign && !(c == '\'' && is_word(peek(s, at + 1))))
            break;
        at++;
    }
    return at;
}

/* The token that begins at `at`, which is no blank: a word, number, string, a run of < or of >, or one character. */
static struct token token_at(const struct scanner *s, size_t at)
{
    size_t end = at + 1;
    char c = s->text[at];
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(s, at + 1)))) {
        end = behind_number(s, at + 1);
    } else if (is_word(c)) {
        while (end < s->length && is_word(s->text[end]))
            end++;
        if (peek(s, end) == '"' && s->text[end - 1] == 'R' && end - at <= 3)
            end = behind_raw(s, end);
    } else if (c == '"' || c == '\'') {
        end = behind_quoted(s, at);
    } else if (c == '<' || c == '>') {
        while (peek(s, end) == c)
            end++;
    }
    return (struct token){ at, end };
}

static bool is(const struct scanner *s, struct token token, const char *word)
{
    size_t length = strlen(word);
    return token.end - token.begin == length && memcmp(s->text + token.begin, word, length) == 0;
}

/* Two characters and one more behind blanks become three, with the blanks behind them. */
static void close_up(struct scanner *s, struct token two, size_t one)
{
    char c = s->text[one];
    memmove(s->text + two.end + 1, s->text + two.end, one - two.end);
    s->text[two.end] = c;
    s->changes++;
}

/* Whether what comes behind a launch's brackets is at `at`: its arguments, or a line's end, as in a macro's definition. */
static bool ends_launch(const struct scanner *s, size_t at)
{
    size_t next = behind_blanks(s, at);
    return peek(s, next) == '(' || next == s->length || memchr(s->text + at, '\n', next - at);
}

static void angle(struct scanner *s)
{
    size_t size = s->now.end - s->now.begin, next = behind_blanks(s, s->now.end);
    bool single = peek(s, next) == s->text[s->now.begin] && peek(s, next + 1) != s->text[next] && peek(s, next + 1) != '=';
    if (s->text[s->now.begin] == '<') {
        bool opens = size == 3 || (size == 2 && single && next > s->now.end && !is(s, s->before, "operator"));
        if (!opens)
            return;
        s->launch = s->depth;
        if (size == 2)
            close_up(s, s->now, next);
    } else if (s->launch == s->depth && size >= 3) {
        s->launch = -1;
        return;
    } else if (s->launch == s->depth && size == 2 && single && ends_launch(s, next + 1)) {
        s->launch = -1;
        close_up(s, s->now, next);
    } else {
        return;
    }
    s->at = s->now.end = s->now.begin + 3;
}

/* --- Attributes ------------------------------------------------------------------ */

#define ITEMS_MAX 8

/* Behind a group in brackets; at itself if there is none. */
static size_t behind_group(const struct scanner *s, size_t at)
{
    int depth = 0;
    size_t from = at;
    while ((at = behind_blanks(s, at)) < s->length) {
        struct token token = token_at(s, at);
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
static bool attribute_at(const struct scanner *s, size_t at, struct token *item, bool *own)
{
    static const char *const words[] = { "__shared__", "__device__", "__constant__" };
    static const char *const groups[] = { "__align__", "__attribute__", "alignas" };
    if (at >= s->length)
        return false;
    *item = token_at(s, at);
    *own = is(s, *item, "alignas");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(s, *item, words[i]))
            return true;
    if (s->text[at] == '[' && peek(s, at + 1) == '[') {
        *own = true;
        item->end = behind_group(s, at);
        return item->end > at;
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (is(s, *item, groups[i])) {
            size_t open = behind_blanks(s, item->end);
            size_t end = peek(s, open) == '(' ? behind_group(s, open) : open;
            item->end = end;
            return end > open;
        }
    return false;
}

/* Puts C++'s own attributes first; what stands between attributes keeps its order. */
static void reorder(struct scanner *s, const struct token *items, const bool *own, size_t count)
{
    size_t begin = items[0].begin, size = items[count - 1].end - begin, to = 0, order[ITEMS_MAX], placed = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            if (own[i] == (pass == 0))
                order[placed++] = i;
    char *copy = mr_alloc(size + 1);
    if (!copy)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t length = items[order[i]].end - items[order[i]].begin, gap = i + 1 < count ? items[i + 1].begin - items[i].end : 0;
        memcpy(copy + to, s->text + items[order[i]].begin, length);
        to += length;
        memcpy(copy + to, s->text + items[i].end, gap);
        to += gap;
    }
    memcpy(s->text + begin, copy, size);
    mr_free(copy);
    s->changes++;
}

static bool begins_run(const struct scanner *s)
{
    if (is(s, s->now, "__shared__"))
        return true;
    char before = s->before.end ? s->text[s->before.begin] : ';';
    return is(s, s->now, "__align__") && strchr(";{}", before);
}

static void attributes(struct scanner *s)
{
    struct token items[ITEMS_MAX];
    bool own[ITEMS_MAX], mixed = false, apart = true;
    size_t count = 0, last = 0;
    for (size_t at = s->now.begin; count < ITEMS_MAX && attribute_at(s, at, &items[count], &own[count]); count++) {
        apart = apart && (count == 0 || items[count].begin > items[count - 1].end);
        at = behind_blanks(s, items[count].end);
        if (own[count]) {
            mixed = true;
            last = count + 1; /* those of GNU behind the last one of C++ may stay */
        }
    }
    if (mixed && apart && last > 1) {
        reorder(s, items, own, last);
        s->at = s->now.end = items[last - 1].end;
    }
}

/* --- The text --------------------------------------------------------------------- */

/* Most texts have nothing of this in them, and need no reading. */
static bool may_have(const char *text, size_t length)
{
    for (const char *at = text; (at = memmem(at, length - (size_t)(at - text), "<<", 2)); at++) {
        const char *next = at + 2;
        while (next < text + length && (isspace((unsigned char)*next) || *next == '\\'))
            next++;
        if (next == text + length)
            break;
        if (*next == '<' || (*next == '/' && next > at + 2))
            return true;
    }
    return (memmem(text, length, "__shared__", 10) || memmem(text, length, "__align__", 9)) &&
        (memmem(text, length, "alignas", 7) || memmem(text, length, "[[", 2));
}

size_t mr_spelling_mend(char *text, size_t length)
{
    struct scanner s = { .text = text, .length = length, .launch = -1 };
    if (!may_have(text, length))
        return 0;
    while ((s.at = behind_blanks(&s, s.at)) < length) {
        s.before = s.now;
        s.now = token_at(&s, s.at);
        s.at = s.now.end;
        char c = text[s.now.begin];
        if (c && strchr("([{", c))
            s.depth++;
        else if (c && strchr(")]}", c))
            s.depth--;
        if (s.depth < s.launch || c == ';')
            s.launch = -1;
        if (c == '<' || c == '>')
            angle(&s);
        else if (c == '_' && begins_run(&s))
            attributes(&s);
    }
    return s.changes;
}
