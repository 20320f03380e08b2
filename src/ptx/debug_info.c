/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The DWARF of a text's sections (.debug_abbrev, .debug_info; versions 2 to 4): which functions a compiler has put in
 * the place of their calls, and between which labels their instructions are. (DWARF 4, 3.3.8 and 7.5.)
 *
 * An entry (a "DIE") begins with the number of its abbreviation, which says what the entry is, and which attributes it
 * has in which form. Entries that others stand in come before those. An offset counts from the start of .debug_info, or
 * of its unit.
 *
 * The compilers give each inlined function one range of addresses, from its first instruction to its last one. What
 * they have moved in between from elsewhere is shown as part of the function.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/parse_debug.h"

enum {
    TAG_INLINED = 0x1d,
    TAG_SUBPROGRAM = 0x2e,
    AT_NAME = 0x03,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_ABSTRACT_ORIGIN = 0x31,
    AT_SPECIFICATION = 0x47,
    AT_CALL_COLUMN = 0x57,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    AT_MIPS_LINKAGE_NAME = 0x2007,
};

#define DEPTH_MAX 128u
#define ABBREVIATIONS_MAX 4096u

/* Reads numbers; behind the end everything is 0, and `bad` is set. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t fixed(struct cursor *cursor, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)*cursor->at++ << 8 * i;
    return value;
}

static uint64_t leb(struct cursor *cursor)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static void skip(struct cursor *cursor, uint64_t size)
{
    if ((uint64_t)(cursor->end - cursor->at) < size)
        cursor->bad = true;
    else
        cursor->at += size;
}

static const char *text(struct cursor *cursor)
{
    const uint8_t *start = cursor->at, *end = memchr(start, 0, (size_t)(cursor->end - start));
    if (!end) {
        cursor->bad = true;
        return "";
    }
    cursor->at = end + 1;
    return (const char *)start;
}

/* What an attribute says: a number, an offset from the start of the section, or a text. */
struct said {
    uint64_t number;
    const char *text;
};

struct unit {
    struct parser *parser;
    const uint8_t *start, *info; /* of the unit, of the section */
    const uint8_t *strings;      /* .debug_str, or NULL */
    size_t string_bytes;
    struct cursor at;
    unsigned version, address_size;
    const uint8_t *abbreviations[ABBREVIATIONS_MAX]; /* by number: what follows the number */
    const uint8_t *abbreviations_end;
};

static struct said string_at(const struct unit *unit, uint64_t offset)
{
    bool good =
        unit->strings && offset < unit->string_bytes && memchr(unit->strings + offset, 0, unit->string_bytes - offset);
    return (struct said){offset, good ? (const char *)unit->strings + offset : ""};
}

static struct said attribute(struct unit *unit, uint64_t form)
{
    struct cursor *at = &unit->at;
    uint64_t offset = (uint64_t)(unit->start - unit->info);
    switch (form) {
    case 0x01: /* addr */
        return (struct said){fixed(at, unit->address_size), NULL};
    case 0x03: /* block2 */
        skip(at, fixed(at, 2));
        return (struct said){0, NULL};
    case 0x04: /* block4 */
        skip(at, fixed(at, 4));
        return (struct said){0, NULL};
    case 0x09: /* block */
    case 0x18: /* exprloc */
        skip(at, leb(at));
        return (struct said){0, NULL};
    case 0x0a: /* block1 */
        skip(at, fixed(at, 1));
        return (struct said){0, NULL};
    case 0x0b: /* data1 */
    case 0x0c: /* flag */
        return (struct said){fixed(at, 1), NULL};
    case 0x05: /* data2 */
        return (struct said){fixed(at, 2), NULL};
    case 0x06: /* data4 */
    case 0x17: /* sec_offset */
        return (struct said){fixed(at, 4), NULL};
    case 0x07: /* data8 */
        return (struct said){fixed(at, 8), NULL};
    case 0x08: /* string */
        return (struct said){0, text(at)};
    case 0x0e: /* strp */
        return string_at(unit, fixed(at, 4));
    case 0x0d: /* sdata */
    case 0x0f: /* udata */
        return (struct said){leb(at), NULL};
    case 0x10: /* ref_addr */
        return (struct said){fixed(at, unit->version == 2 ? unit->address_size : 4), NULL};
    case 0x11: /* ref1 */
        return (struct said){offset + fixed(at, 1), NULL};
    case 0x12: /* ref2 */
        return (struct said){offset + fixed(at, 2), NULL};
    case 0x13: /* ref4 */
        return (struct said){offset + fixed(at, 4), NULL};
    case 0x14: /* ref8 */
        return (struct said){offset + fixed(at, 8), NULL};
    case 0x15: /* ref_udata */
        return (struct said){offset + leb(at), NULL};
    case 0x19: /* flag_present */
        return (struct said){1, NULL};
    default:
        at->bad = true;
        return (struct said){0, NULL};
    }
}

/* A function, by its offset, and what it is called. */
struct function_entry {
    uint64_t offset, same_as; /* the entry that says more about it, or 0 */
    const char *name, *linkage;
    uint32_t first; /* the first call of it that was found, or 0 */
};

/* A call, which is the outer one of those that come later and name it. */
struct call_entry {
    uint64_t origin, low, high;
    uint32_t file, line, column, outer, number;
};

struct entry {
    uint64_t offset, tag, low, high, origin, specification;
    const char *name, *linkage;
    uint32_t file, line, column;
    bool has_children;
};

static void take(struct entry *entry, uint64_t name, uint64_t form, struct said value)
{
    switch (name) {
    case AT_NAME:
        entry->name = value.text;
        break;
    case AT_LINKAGE_NAME:
    case AT_MIPS_LINKAGE_NAME:
        entry->linkage = value.text;
        break;
    case AT_LOW_PC:
        entry->low = value.number;
        break;
    case AT_HIGH_PC: /* version 4 has sizes, too, which labels have not */
        entry->high = form == 0x01 ? value.number : 0;
        break;
    case AT_ABSTRACT_ORIGIN:
        entry->origin = value.number;
        break;
    case AT_SPECIFICATION:
        entry->specification = value.number;
        break;
    case AT_CALL_FILE:
        entry->file = (uint32_t)value.number;
        break;
    case AT_CALL_LINE:
        entry->line = (uint32_t)value.number;
        break;
    case AT_CALL_COLUMN:
        entry->column = (uint32_t)value.number;
        break;
    default:
        break;
    }
}

/* The next entry; its tag is 0 where a row of children ends. */
static struct entry read_entry(struct unit *unit)
{
    struct entry entry = {.offset = (uint64_t)(unit->at.at - unit->info)};
    uint64_t number = leb(&unit->at);
    if (unit->at.bad || number == 0)
        return entry;
    if (number >= ABBREVIATIONS_MAX || !unit->abbreviations[number]) {
        unit->at.bad = true;
        return entry;
    }
    struct cursor form = {unit->abbreviations[number], unit->abbreviations_end, false};
    entry.tag = leb(&form);
    entry.has_children = fixed(&form, 1) != 0;
    for (;;) {
        uint64_t name = leb(&form), how = leb(&form);
        if (form.bad || unit->at.bad || (name == 0 && how == 0))
            break;
        take(&entry, name, how, attribute(unit, how));
    }
    unit->at.bad |= form.bad;
    return entry;
}

static void note_function(struct unit *unit, const struct entry *entry)
{
    *(struct function_entry *)mr_ptx_list_add(unit->parser, &unit->parser->debug_entries,
                                              sizeof(struct function_entry)) =
        (struct function_entry){.offset = entry->offset,
                                .same_as = entry->origin ? entry->origin : entry->specification,
                                .name = entry->name,
                                .linkage = entry->linkage};
}

/* Its number among the calls, from 1. */
static uint32_t note_call(struct unit *unit, const struct entry *entry, uint32_t outer)
{
    struct list *calls = &unit->parser->debug_calls;
    *(struct call_entry *)mr_ptx_list_add(unit->parser, calls, sizeof(struct call_entry)) =
        (struct call_entry){.origin = entry->origin,
                            .low = entry->low,
                            .high = entry->high,
                            .file = entry->file,
                            .line = entry->line,
                            .column = entry->column,
                            .outer = outer};
    return (uint32_t)calls->count;
}

/* The entries of a unit. What stands too deep is read, and not noted. */
static void read_entries(struct unit *unit)
{
    uint32_t outer[DEPTH_MAX] = {0}; /* by depth: the call around */
    unsigned depth = 0;
    while (unit->at.at < unit->at.end && !unit->at.bad) {
        struct entry entry = read_entry(unit);
        if (entry.tag == 0) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        uint32_t around = outer[depth];
        if (entry.tag == TAG_SUBPROGRAM) {
            note_function(unit, &entry);
            around = 0;
        } else if (entry.tag == TAG_INLINED) {
            around = note_call(unit, &entry, around);
        }
        if (entry.has_children) {
            if (++depth == DEPTH_MAX)
                return;
            outer[depth] = around;
        }
    }
}

static void read_abbreviations(struct unit *unit, const uint8_t *bytes, size_t count, uint64_t offset)
{
    memset(unit->abbreviations, 0, sizeof unit->abbreviations);
    unit->abbreviations_end = bytes + count;
    struct cursor at = {bytes + (offset < count ? offset : count), bytes + count, false};
    for (;;) {
        uint64_t number = leb(&at);
        if (at.bad || number == 0)
            return;
        if (number < ABBREVIATIONS_MAX)
            unit->abbreviations[number] = at.at;
        leb(&at);
        fixed(&at, 1);
        uint64_t name, form;
        do {
            name = leb(&at);
            form = leb(&at);
        } while (!at.bad && (name || form));
    }
}

static void read_units(struct unit *unit, const uint8_t *info, size_t info_bytes, const uint8_t *abbreviations,
                       size_t abbreviation_bytes)
{
    struct cursor all = {info, info + info_bytes, false};
    unit->info = info;
    while (all.at < all.end && !all.bad) {
        unit->start = all.at;
        uint64_t length = fixed(&all, 4);
        const uint8_t *body = all.at;
        if (length == 0 || length >= 0xfffffff0)
            return;
        /* The unit's length may be that of the machine code's; all that is there is read. */
        size_t left = (size_t)(all.end - all.at);
        unit->at = (struct cursor){body, body + (length < left ? length : left), false};
        all.at = unit->at.end;
        unit->version = (unsigned)fixed(&unit->at, 2);
        uint64_t offset = fixed(&unit->at, 4);
        unit->address_size = (unsigned)fixed(&unit->at, 1);
        if (unit->version < 2 || unit->version > 4 || (unit->address_size != 4 && unit->address_size != 8))
            continue;
        read_abbreviations(unit, abbreviations, abbreviation_bytes, offset);
        read_entries(unit);
    }
}

/* --- From entries to calls of the module ------------------------------------------- */

static struct function_entry *function_at(struct parser *parser, uint64_t offset)
{
    struct function_entry *functions = parser->debug_entries.items;
    size_t low = 0, high = parser->debug_entries.count;
    while (low < high) { /* they were read in the order of their offsets */
        size_t middle = low + (high - low) / 2;
        if (functions[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < parser->debug_entries.count && functions[low].offset == offset ? &functions[low] : NULL;
}

/* The calls get numbers in the order in which they were read, outer ones first. */
static void number_calls(struct parser *parser)
{
    struct call_entry *calls = parser->debug_calls.items;
    for (size_t i = 0; i < parser->debug_calls.count; i++) {
        struct call_entry *call = &calls[i];
        uint32_t outer = call->outer ? calls[call->outer - 1].number : 0;
        struct function_entry *function = function_at(parser, call->origin), *named = function;
        for (unsigned hops = 0; named && !named->name && !named->linkage && hops < 4; hops++)
            named = function_at(parser, named->same_as);
        const char *name = !named ? NULL : named->linkage && *named->linkage ? named->linkage : named->name;
        bool known = name && *name && call->low < call->high && call->high <= UINT32_MAX;
        call->number = outer;
        if (!known)
            continue;
        call->number = (uint32_t)parser->inlined.count + 1;
        if (function->first == 0)
            function->first = call->number;
        *(struct mr_ptx_inlined *)mr_ptx_list_add(parser, &parser->inlined, sizeof(struct mr_ptx_inlined)) =
            (struct mr_ptx_inlined){.name = name,
                                    .same = function->first,
                                    .file = call->file,
                                    .line = call->line,
                                    .column = call->column,
                                    .outer = outer};
    }
}

static int by_start(const void *one, const void *other)
{
    const struct call_entry *a = one, *b = other;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Ranges that follow each other: of the calls that a line is in, the one that began last. `open` has room for all. */
static void lay_out(struct parser *parser, const struct call_entry **open)
{
    const struct call_entry *calls = parser->debug_calls.items, *end = calls + parser->debug_calls.count;
    size_t depth = 0;
    while (calls != end || depth > 0) {
        if (depth > 0 && (calls == end || open[depth - 1]->high <= calls->low)) {
            const struct call_entry *done = open[--depth];
            while (depth > 0 && open[depth - 1]->high <= done->high)
                depth--;
            mr_ptx_add_inlined_range(parser, (uint32_t)done->high, depth ? open[depth - 1]->number : 0);
        } else {
            if (calls->low < calls->high && calls->high <= UINT32_MAX) {
                mr_ptx_add_inlined_range(parser, (uint32_t)calls->low, calls->number);
                open[depth++] = calls;
            }
            calls++;
        }
    }
}

void mr_ptx_read_debug_info(struct parser *parser)
{
    size_t info_bytes, abbreviation_bytes;
    size_t string_bytes;
    const uint8_t *strings = mr_ptx_section_bytes(parser, "debug_str", &string_bytes); /* first, for its labels */
    const uint8_t *abbreviations = mr_ptx_section_bytes(parser, "debug_abbrev", &abbreviation_bytes);
    const uint8_t *info = mr_ptx_section_bytes(parser, "debug_info", &info_bytes);
    if (!info || !abbreviations)
        return;
    struct unit *unit = mr_ptx_new(parser, 1, sizeof *unit);
    unit->parser = parser;
    unit->strings = strings;
    unit->string_bytes = string_bytes;
    read_units(unit, info, info_bytes, abbreviations, abbreviation_bytes);
    number_calls(parser);
    if (parser->debug_calls.count == 0)
        return;
    qsort(parser->debug_calls.items, parser->debug_calls.count, sizeof(struct call_entry), by_start);
    lay_out(parser, mr_ptx_new(parser, parser->debug_calls.count, sizeof(struct call_entry *)));
}
