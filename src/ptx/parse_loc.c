/* SPDX-License-Identifier: Apache-2.0 */

/*
 * .loc file line column {, function_name label {+ offset}, inlined_at file line column}
 *
 * The last part says that the lines which follow belong to a function that was put in the place of its call, and where
 * that call stands. If the call stands in a body that was put in place of another call, an earlier .loc of the same
 * function has the call's file, line and column, and says so in turn: the latest one counts. The label is that of a
 * name in .debug_str. The directive has no end mark of its own, so it is taken apart word by word.
 */
#include <string.h>

#include "ptx/parse_debug.h"

/* What a place or a call of the function at hand is known by, and its number. A place has no name. */
struct loc_entry {
    const struct atom *name;
    uint32_t file, line, column, outer;
    uint32_t function; /* which one of the text it is of, from 1; 0: the entry is free */
    uint32_t number;
};

/* Open addressing; half of it is free at least. */
struct loc_table {
    struct loc_entry *entries;
    size_t room, used;
    uint32_t function, number; /* the function and the call at hand */
};

static size_t hash_of(const struct loc_entry *entry)
{
    uint64_t hash = entry->name ? entry->name->hash : 0;
    hash = (hash ^ entry->file) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 29) ^ entry->line) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 29) ^ ((uint64_t)entry->column << 32 | entry->outer)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)((hash ^ (hash >> 29)) + entry->function);
}

static bool same(const struct loc_entry *a, const struct loc_entry *b)
{
    return a->function == b->function && a->name == b->name && a->line == b->line && a->column == b->column &&
           a->file == b->file && a->outer == b->outer;
}

/* The entry that is known by the same, or a free one. */
static struct loc_entry *slot(const struct loc_table *table, const struct loc_entry *like)
{
    size_t at = hash_of(like) & (table->room - 1);
    while (table->entries[at].function && !same(&table->entries[at], like))
        at = (at + 1) & (table->room - 1);
    return &table->entries[at];
}

static void make_room(struct parser *parser, struct loc_table *table)
{
    if (table->used * 2 < table->room)
        return;
    struct loc_table larger = *table;
    larger.room = table->room ? table->room * 2 : 256;
    larger.entries = mr_ptx_new(parser, larger.room, sizeof *larger.entries);
    larger.used = 0;
    for (size_t i = 0; i < table->room; i++) {
        if (table->entries[i].function != table->function)
            continue; /* of a function that has ended */
        *slot(&larger, &table->entries[i]) = table->entries[i];
        larger.used++;
    }
    *table = larger;
}

static struct loc_entry *find(struct parser *parser, struct loc_entry like)
{
    struct loc_table *table = parser->loc_table;
    like.function = table->function;
    make_room(parser, table);
    struct loc_entry *entry = slot(table, &like);
    if (!entry->function) {
        *entry = like;
        table->used++;
    }
    return entry;
}

/* The number of a call, which becomes known. */
static uint32_t number_of(struct parser *parser, const struct atom *name, const uint32_t at[3])
{
    uint32_t outer = find(parser, (struct loc_entry){.file = at[0], .line = at[1], .column = at[2]})->number;
    struct loc_entry *entry =
        find(parser, (struct loc_entry){.name = name, .file = at[0], .line = at[1], .column = at[2], .outer = outer});
    uint32_t number = entry->number;
    if (number == 0) {
        entry->number = number = (uint32_t)parser->inlined.count + 1;
        /* What is known by its name alone is the first call of that function. */
        struct loc_entry *first = find(parser, (struct loc_entry){.name = name, .outer = UINT32_MAX});
        if (first->number == 0)
            first->number = number;
        *(struct mr_ptx_inlined *)mr_ptx_list_add(parser, &parser->inlined, sizeof(struct mr_ptx_inlined)) =
            (struct mr_ptx_inlined){
                .file = at[0], .line = at[1], .column = at[2], .outer = outer, .same = first->number};
        *(const struct atom **)mr_ptx_list_add(parser, &parser->inlined_names, sizeof(struct atom *)) = name;
    }
    return number;
}

void mr_ptx_add_inlined_range(struct parser *parser, uint32_t line, uint32_t number)
{
    struct list *ranges = &parser->inlined_ranges;
    struct mr_ptx_inlined_range *last = ranges->items;
    last = ranges->count ? last + ranges->count - 1 : NULL;
    if ((last ? last->number : 0) == number)
        return;
    if (last && last->line == line)
        last->number = number;
    else
        *(struct mr_ptx_inlined_range *)mr_ptx_list_add(parser, ranges, sizeof *last) =
            (struct mr_ptx_inlined_range){line, number};
}

void mr_ptx_loc_reset(struct parser *parser)
{
    parser->loc_file = parser->loc_line = 0;
    if (parser->loc_table) {
        parser->loc_table->function++;
        mr_ptx_add_inlined_range(parser, parser->token.line, 0);
    }
}

/* Notes what the directive in that line says. */
static void note(struct parser *parser, uint32_t line, const uint32_t place[3], const struct atom *name,
                 const uint32_t *at)
{
    if (!parser->loc_table) {
        if (!name || !at)
            return;
        parser->loc_table = mr_ptx_new(parser, 1, sizeof *parser->loc_table);
        parser->loc_table->function = 1;
    }
    uint32_t number = name && at ? number_of(parser, name, at) : 0;
    find(parser, (struct loc_entry){.file = place[0], .line = place[1], .column = place[2]})->number = number;
    mr_ptx_add_inlined_range(parser, line, number);
}

static bool parse_place(struct parser *parser, uint32_t place[3])
{
    static const char *const what[] = {"file number", "line number", "column number"};
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!mr_ptx_parse_bounded(parser, what[i], 0, UINT32_MAX, &value))
            return false;
        place[i] = (uint32_t)value;
    }
    return true;
}

bool mr_ptx_parse_loc(struct parser *parser)
{
    uint32_t line = parser->token.line, place[3], at[3];
    const struct atom *name = NULL;
    bool inlined = false;
    int64_t offset = 0;
    if (!parse_place(parser, place))
        return false;
    parser->loc_file = place[0];
    parser->loc_line = place[1];
    while (mr_ptx_accept(parser, ',')) {
        struct atom *word = mr_ptx_expect_name(parser, "function_name or inlined_at");
        if (!word)
            return false;
        if (strcmp(word->name, "function_name") == 0) {
            name = mr_ptx_expect_name(parser, "a label");
            if (!name || !mr_ptx_parse_addend(parser, &offset))
                return false;
        } else if (strcmp(word->name, "inlined_at") == 0) {
            if (!parse_place(parser, at))
                return false;
            inlined = true;
        } else {
            return mr_ptx_error(parser, "expected function_name or inlined_at");
        }
    }
    mr_ptx_accept(parser, ';');
    note(parser, line, place, offset == 0 ? name : NULL, inlined ? at : NULL);
    return true;
}
