/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that clang refuses and NVIDIA's compilers take; see ranges.h. */
#include "ptx/ranges.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/cxx_text.h"
#include "ptx/places.h"

#define MARK "ranges"
#define QUALIFIED "error: extra qualification on member '"
#define BYPASSES "note: jump bypasses variable initialization"

/* What is told of by ranges, and what is put around those: around each of a message's, or the one at its column. */
static const struct {
    const char *refused, *open, *close;
    bool at_column;
} kinds[] = {
    {"error: arithmetic on a pointer to void", "::mr_void_pointer(", ")", false},
    {"error: cannot pass object of non-trivial type '", "::mr_object_address(", ")", true},
    {"error: cannot pass non-trivial object of type '", "::mr_object_address(", ")", true},
};

#define KINDS (sizeof kinds / sizeof *kinds)

size_t mr_ranges_places(const char *messages, struct mr_words *places)
{
    struct mr_text plain = {.data = NULL};
    mr_places_plain(messages, strlen(messages), &plain);
    bool found = strstr(mr_text_chars(&plain), BYPASSES) || strstr(mr_text_chars(&plain), QUALIFIED);
    for (size_t i = 0; i < KINDS; i++)
        found = found || strstr(mr_text_chars(&plain), kinds[i].refused);
    places->failed = places->failed || plain.failed;
    mr_text_clear(&plain);
    if (!found || mr_ranges_known(places))
        return 0;
    mr_words_add(places, MARK, "");
    return 1;
}

bool mr_ranges_known(const struct mr_words *places)
{
    return mr_words_have(places, MARK, sizeof MARK - 1);
}

void mr_ranges_words(struct mr_words *words)
{
    static const char *const looking[] = {"-w",
                                          "-fsyntax-only",
                                          "-ferror-limit=0",
                                          "-fshow-column",
                                          "-fdiagnostics-format=clang",
                                          "-fdiagnostics-print-source-range-info",
                                          "-fno-caret-diagnostics",
                                          "-fno-color-diagnostics"};
    for (size_t i = 0; i < sizeof looking / sizeof *looking; i++)
        mr_words_add(words, looking[i], "");
}

/* A change of the text: `length` characters at `at` become `text`. */
struct change {
    size_t at, length;
    const char *text;
    int order; /* of those at one place: what closes comes before what opens */
};

struct changes {
    struct change *items;
    size_t count, room;
    bool failed;
};

static void add_change(struct changes *changes, struct change change)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].at == change.at && changes->items[i].order == change.order)
            return; /* the same part, as another instance of a template has it */
    if (changes->count == changes->room) {
        size_t room = changes->room ? 2 * changes->room : 16;
        struct change *items = mr_realloc(changes->items, room * sizeof *items);
        if (!items) {
            changes->failed = true;
            return;
        }
        changes->items = items;
        changes->room = room;
    }
    changes->items[changes->count++] = change;
}

static int compare(const void *one, const void *other)
{
    const struct change *a = one, *b = other;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->order - b->order;
}

/* Where lines of the text begin. */
struct lines {
    size_t *begins;
    size_t count;
};

static bool find_lines(const char *text, struct lines *lines)
{
    size_t count = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    lines->begins = mr_alloc((count + 1) * sizeof *lines->begins);
    if (!lines->begins)
        return false;
    lines->begins[0] = 0;
    lines->count = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines->begins[lines->count++] = (size_t)(at + 1 - text);
    lines->begins[lines->count] = strlen(text) + 1;
    return true;
}

/* `LINE:COLUMN`, both from 1. */
static bool read_position(const struct lines *lines, const char **at, size_t *position)
{
    char *end;
    unsigned long line = strtoul(*at, &end, 10);
    if (*end != ':')
        return false;
    unsigned long column = strtoul(end + 1, &end, 10);
    *at = end;
    if (line == 0 || line > lines->count || column == 0)
        return false;
    *position = lines->begins[line - 1] + column - 1;
    return *position < lines->begins[line];
}

/* `{LINE:COLUMN-LINE:COLUMN}`. */
static bool read_range(const struct lines *lines, const char **at, struct mr_cxx_token *part)
{
    if (**at != '{')
        return false;
    ++*at;
    if (!read_position(lines, at, &part->begin) || **at != '-')
        return false;
    ++*at;
    if (!read_position(lines, at, &part->end) || **at != '}')
        return false;
    ++*at;
    return part->begin < part->end;
}

/* The column, and the ranges behind it: "FILE:LINE:COLUMN:{…}{…}: KIND". */
static const char *read_column(const char *line, const char *kind, unsigned long *column)
{
    const char *at = kind;
    while (at > line && strchr("0123456789:-{} ", at[-1]))
        at--;
    const char *ranges = at;
    while (ranges < kind && *ranges != '{')
        ranges++;
    const char *end = ranges;
    while (end > line && strchr(": ", end[-1]))
        end--;
    for (at = end; at > line && isdigit((unsigned char)at[-1]);)
        at--;
    *column = strtoul(at, NULL, 10);
    return ranges;
}

static void add_ranges(const char *line, const char *kind, size_t which, const struct lines *lines,
                       struct changes *changes)
{
    struct mr_cxx_token part;
    unsigned long column;
    const char *at = read_column(line, kind, &column), *before = at;
    for (; read_range(lines, &at, &part); before = at) {
        if (kinds[which].at_column && strtoul(strchr(before, ':') + 1, NULL, 10) != column)
            continue;
        add_change(changes, (struct change){part.begin, 0, kinds[which].open, 1});
        add_change(changes, (struct change){part.end, 0, kinds[which].close, 0});
    }
}

/* Places in the text that a message may mean: "FILE:LINE:COLUMN: ", as the text's markers count. */
struct search {
    struct mr_origin origin;
    struct mr_text place;
    unsigned long column;
    size_t begin; /* of the line */
};

/* False, with nothing to search for, for a message without a place. */
static bool begin_search(struct search *search, const char *text, const char *line, const char *kind)
{
    const char *end = kind, *number;
    *search = (struct search){.origin.text = text};
    while (end > line && strchr(": ", end[-1]))
        end--;
    while (end > line && isdigit((unsigned char)end[-1]))
        end--;
    search->column = strtoul(end, NULL, 10);
    if (end == line || *--end != ':')
        return false;
    for (number = end; number > line && isdigit((unsigned char)number[-1]);)
        number--;
    if (number == end || number == line || number[-1] != ':')
        return false;
    mr_text_format(&search->place, "%.*s %.*s", (int)(end - number), number, (int)(number - 1 - line), line);
    return !search->place.failed && search->column > 0;
}

static bool search_next(struct search *search, size_t *position)
{
    const char *text = search->origin.text;
    for (;;) {
        search->begin += strcspn(text + search->begin, "\n");
        if (!text[search->begin])
            return false;
        search->begin++;
        size_t length = strcspn(text + search->begin, "\n");
        mr_origin_move(&search->origin, search->begin + length);
        *position = search->begin + search->column - 1;
        if (text[search->begin] != '#' && search->column <= length &&
            mr_origin_is(&search->origin, search->place.data, search->place.length))
            return true;
    }
}

/* The member's name is at `name`: what stands before it goes. False if nothing does. */
static bool drop_qualification(const char *text, size_t name, struct changes *changes)
{
    size_t begin = mr_cxx_begin_of_name(text, name);
    if (begin == name)
        return false;
    add_change(changes, (struct change){begin, name - begin, "", 2});
    return true;
}

/* Where the statement begins in which a token stands. */
static size_t begin_of_statement(const struct mr_cxx_scanner *s, size_t token)
{
    size_t begin = 0;
    for (size_t at = 0; (at = mr_cxx_behind_blanks(s, at)) < token;) {
        if (s->text[at] == '#' && (at == 0 || s->text[at - 1] == '\n')) {
            at += strcspn(s->text + at, "\n");
            begin = at;
            continue;
        }
        struct mr_cxx_token now = mr_cxx_token_at(s, at);
        at = now.end;
        if (strchr(";{}:", s->text[now.begin]))
            begin = at;
    }
    return begin;
}

/* `TYPE NAME = VALUE;`, with the name at `at`: becomes `TYPE NAME; NAME = VALUE;`, without `const`. */
static bool add_late(const struct mr_cxx_scanner *s, size_t name, struct changes *changes, struct mr_words *names)
{
    struct mr_cxx_token token = mr_cxx_token_at(s, name);
    size_t equals = mr_cxx_behind_blanks(s, token.end);
    if (mr_cxx_peek(s, equals) != '=')
        return false;
    int depth = 0;
    for (size_t at = mr_cxx_behind_blanks(s, equals + 1);; at = mr_cxx_behind_blanks(s, at)) {
        char c = mr_cxx_peek(s, at);
        if (c == '\0' || c == '{' || (c == ',' && depth == 0))
            return false;
        if (c == ';' && depth == 0)
            break;
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        at = mr_cxx_token_at(s, at).end;
    }
    for (size_t at = begin_of_statement(s, name); (at = mr_cxx_behind_blanks(s, at)) < name;) {
        struct mr_cxx_token word = mr_cxx_token_at(s, at);
        if (strchr(",&(=", s->text[at]) || mr_cxx_is(s, word, "auto") || mr_cxx_is(s, word, "constexpr"))
            return false;
        at = word.end;
    }
    for (size_t at = begin_of_statement(s, name); (at = mr_cxx_behind_blanks(s, at)) < name;) {
        struct mr_cxx_token word = mr_cxx_token_at(s, at);
        if (mr_cxx_is(s, word, "const"))
            add_change(changes, (struct change){word.begin, word.end - word.begin, "", 2});
        at = word.end;
    }
    struct mr_text more = {.data = NULL};
    mr_text_format(&more, "; %.*s ", (int)(token.end - token.begin), s->text + token.begin);
    mr_words_add(names, mr_text_chars(&more), "");
    names->failed = names->failed || more.failed;
    mr_text_clear(&more);
    if (!names->failed)
        add_change(changes, (struct change){equals, 0, names->items[names->count - 1], 2});
    return true;
}

static void find_changes(const char *messages, const char *text, struct changes *changes, struct mr_words *names)
{
    const struct mr_cxx_scanner s = {.text = (char *)text, .length = strlen(text)};
    struct lines lines = {.begins = NULL};
    changes->failed = !find_lines(text, &lines);
    for (const char *at = messages; !changes->failed && *at;) {
        size_t length = strcspn(at, "\n"), position;
        for (size_t i = 0; i < KINDS; i++) {
            const char *kind = memmem(at, length, kinds[i].refused, strlen(kinds[i].refused));
            if (kind)
                add_ranges(at, kind, i, &lines, changes);
        }
        const char *late = memmem(at, length, BYPASSES, sizeof BYPASSES - 1),
                   *kind = late ? late : memmem(at, length, QUALIFIED, sizeof QUALIFIED - 1);
        struct search search;
        bool searches = kind && begin_search(&search, text, at, kind);
        while (searches && search_next(&search, &position))
            if (late ? add_late(&s, position, changes, names) : drop_qualification(text, position, changes))
                break;
        if (kind)
            mr_text_clear(&search.place);
        at += length + (at[length] == '\n');
    }
    mr_free(lines.begins);
}

size_t mr_ranges_mend(const char *messages, const char *text, struct mr_text *out)
{
    struct changes changes = {.items = NULL};
    struct mr_words names = {.items = NULL};
    size_t copied = 0;
    find_changes(messages, text, &changes, &names);
    if (changes.count)
        qsort(changes.items, changes.count, sizeof *changes.items, compare);
    for (size_t i = 0; i < changes.count; i++) {
        const struct change *change = &changes.items[i];
        if (change->at < copied)
            continue;
        mr_text_add(out, text + copied, change->at - copied);
        mr_text_put(out, change->text);
        copied = change->at;
        for (; copied < change->at + change->length; copied++) /* what goes leaves its lines */
            if (text[copied] == '\n')
                mr_text_put(out, "\n");
    }
    mr_text_put(out, text + copied);
    out->failed = out->failed || changes.failed || names.failed;
    size_t count = changes.count;
    mr_words_clear(&names);
    mr_free(changes.items);
    return count;
}
