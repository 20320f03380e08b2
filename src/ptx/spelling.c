/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings that clang does not take; see spelling.h.
 *
 * The text is read token by token, as the preprocessor would before it looks at directives: comments, strings and raw
 * strings are passed over, and what stands in a macro's definition is text like any other. Launches are told by their
 * opening, `<<` and then `<`, which only an operator function's name has otherwise. They end at the first `>>` and `>`
 * that stand outside of brackets and before a `(` or the line's end. */
#include "ptx/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/cxx_text.h"
#include "ptx/spelling_asm.h"
#include "ptx/spelling_launch.h"

/* Two characters and one more behind blanks become three, with the blanks behind them. */
static void close_up(struct mr_cxx_scanner *s, struct mr_cxx_token two, size_t one)
{
    char c = s->text[one];
    memmove(s->text + two.end + 1, s->text + two.end, one - two.end);
    s->text[two.end] = c;
    s->changes++;
}

/* Whether what follows a launch's brackets is at `at`: its arguments, or a line's end, as in a macro's definition. */
static bool ends_launch(const struct mr_cxx_scanner *s, size_t at)
{
    size_t next = mr_cxx_behind_blanks(s, at);
    return mr_cxx_peek(s, next) == '(' || next == s->length || memchr(s->text + at, '\n', next - at);
}

static void angle(struct mr_cxx_scanner *s)
{
    size_t size = s->now.end - s->now.begin, next = mr_cxx_behind_blanks(s, s->now.end);
    bool single = mr_cxx_peek(s, next) == s->text[s->now.begin] && mr_cxx_peek(s, next + 1) != s->text[next] &&
                  mr_cxx_peek(s, next + 1) != '=';
    if (s->text[s->now.begin] == '<') {
        bool opens = size == 3 || (size == 2 && single && next > s->now.end && !mr_cxx_is(s, s->before, "operator"));
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

/* Puts C++'s own attributes first; what stands between attributes keeps its order. */
static void reorder(struct mr_cxx_scanner *s, const struct mr_cxx_token *items, const bool *own, size_t count)
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
        size_t length = items[order[i]].end - items[order[i]].begin,
               gap = i + 1 < count ? items[i + 1].begin - items[i].end : 0;
        memcpy(copy + to, s->text + items[order[i]].begin, length);
        to += length;
        memcpy(copy + to, s->text + items[i].end, gap);
        to += gap;
    }
    memcpy(s->text + begin, copy, size);
    mr_free(copy);
    s->changes++;
}

static bool begins_run(const struct mr_cxx_scanner *s)
{
    size_t end;
    if (mr_cxx_is_shared(s, s->now, &end))
        return true;
    return mr_cxx_is(s, s->now, "__align__") && (!s->before.end || strchr(";{}", s->text[s->before.begin]));
}

static void attributes(struct mr_cxx_scanner *s)
{
    struct mr_cxx_token items[ITEMS_MAX];
    bool own[ITEMS_MAX], mixed = false, apart = true;
    size_t count = 0, last = 0;
    for (size_t at = s->now.begin; count < ITEMS_MAX && mr_cxx_attribute_at(s, at, &items[count], &own[count]);
         count++) {
        apart = apart && (count == 0 || items[count].begin > items[count - 1].end);
        at = mr_cxx_behind_blanks(s, items[count].end);
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
    return (memmem(text, length, "__shared__", 10) || memmem(text, length, "shared))", 8) ||
            memmem(text, length, "__align__", 9)) &&
           (memmem(text, length, "alignas", 7) || memmem(text, length, "[[", 2));
}

/* What takes no more room than before. */
static size_t mend_in_place(char *text, size_t length)
{
    struct mr_cxx_scanner s = {.text = text, .length = length, .launch = -1};
    if (!may_have(text, length))
        return 0;
    while (mr_cxx_next(&s)) {
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

/* Takes what one of the others has made of the text, which is longer; how many places that are. */
static size_t take(struct mr_text *text, struct mr_text *longer, size_t changes)
{
    if (changes && !longer->failed) {
        mr_text_clear(text);
        *text = *longer;
        return changes;
    }
    text->failed |= changes > 0;
    mr_text_clear(longer);
    return 0;
}

size_t mr_spelling_mend(struct mr_text *text)
{
    struct mr_text longer = {.data = NULL}, more = {.data = NULL};
    if (!text->length)
        return 0;
    size_t changes = mend_in_place(text->data, text->length);
    changes += take(text, &longer, mr_spelling_mend_launch(text->data, text->length, &longer));
    return changes + take(text, &more, mr_spelling_mend_asm(text->data, text->length, &more));
}
