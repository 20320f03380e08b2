/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The DWARF of a text's sections (.debug_abbrev, .debug_info): which functions a compiler has put in the place of their
 * calls, and between which labels their instructions are (DWARF 4, 3.3.8); what variables of the source there are is
 * debug_variables.c's.
 *
 * The compilers give each inlined function one range of addresses, from its first instruction to its last one. What
 * they have moved in between from elsewhere is shown as part of the function.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/dwarf.h"
#include "ptx/parse_debug.h"

#define DEPTH_MAX 128u

struct reading {
    struct parser *parser;
    struct mr_dwarf_unit *unit;
};

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

static void note_function(struct reading *reading, const struct mr_dwarf_entry *entry)
{
    *(struct function_entry *)mr_ptx_list_add(reading->parser, &reading->parser->debug_entries,
                                              sizeof(struct function_entry)) =
        (struct function_entry){.offset = entry->offset,
                                .same_as = entry->origin ? entry->origin : entry->specification,
                                .name = entry->name,
                                .linkage = entry->linkage};
}

/* Its number among the calls, from 1. */
static uint32_t note_call(struct reading *reading, const struct mr_dwarf_entry *entry, uint32_t outer)
{
    struct list *calls = &reading->parser->debug_calls;
    *(struct call_entry *)mr_ptx_list_add(reading->parser, calls, sizeof(struct call_entry)) =
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
static void read_entries(struct reading *reading)
{
    uint32_t outer[DEPTH_MAX] = {0}; /* by depth: the call around */
    struct mr_ptx_lines within[DEPTH_MAX] = {{0, 0}}; /* the lines of the block around */
    unsigned depth = 0;
    while (reading->unit->at.at < reading->unit->at.end && !reading->unit->at.bad) {
        struct mr_dwarf_entry entry = mr_dwarf_next(reading->unit);
        if (entry.tag == 0) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        uint32_t around = outer[depth];
        if (entry.tag == MR_DWARF_SUBPROGRAM) {
            note_function(reading, &entry);
            around = 0;
        } else if (entry.tag == MR_DWARF_INLINED) {
            around = note_call(reading, &entry, around);
        } else if (entry.tag == MR_DWARF_VARIABLE || entry.tag == MR_DWARF_PARAMETER) {
            mr_ptx_note_variable(reading->parser, reading->unit, &entry, within[depth], around);
        }
        if (entry.has_children) {
            if (++depth == DEPTH_MAX)
                return;
            outer[depth] = around;
            within[depth] = within[depth - 1];
            if (entry.low < entry.high && entry.high <= UINT32_MAX)
                within[depth] = (struct mr_ptx_lines){(uint32_t)entry.low, (uint32_t)entry.high};
            else if (entry.tag == MR_DWARF_SUBPROGRAM)
                within[depth] = (struct mr_ptx_lines){0, 0};
        }
    }
}

static void read_units(struct reading *reading, const uint8_t *info, size_t info_bytes, const uint8_t *abbreviations,
                       size_t abbreviation_bytes)
{
    struct mr_dwarf_cursor all = {info, info + info_bytes, false};
    reading->unit->info = info;
    while (all.at < all.end && !all.bad) {
        reading->unit->start = all.at;
        uint64_t length = mr_dwarf_fixed(&all, 4);
        const uint8_t *body = all.at;
        if (length == 0 || length >= 0xfffffff0)
            return;
        /* The unit's length may be that of the machine code's; all that is there is read. */
        size_t left = (size_t)(all.end - all.at);
        reading->unit->at = (struct mr_dwarf_cursor){body, body + (length < left ? length : left), false};
        all.at = reading->unit->at.end;
        reading->unit->version = (unsigned)mr_dwarf_fixed(&reading->unit->at, 2);
        uint64_t offset = mr_dwarf_fixed(&reading->unit->at, 4);
        reading->unit->address_size = (unsigned)mr_dwarf_fixed(&reading->unit->at, 1);
        if (reading->unit->version < 2 || reading->unit->version > 4 ||
            (reading->unit->address_size != 4 && reading->unit->address_size != 8))
            continue;
        mr_dwarf_abbreviations(reading->unit, abbreviations, abbreviation_bytes, offset);
        read_entries(reading);
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
static void number_calls(struct parser *parser, uint32_t files)
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
                                    .file = call->file + files,
                                    .line = call->line,
                                    .column = call->column,
                                    .outer = outer};
    }
}

/* Variables, from that one on, know their call by its place in the list so far. */
static void number_variables(struct parser *parser, size_t first)
{
    const struct call_entry *calls = parser->debug_calls.items;
    struct mr_ptx_shown *shown = parser->shown.items;
    for (size_t i = first; i < parser->shown.count; i++)
        if (shown[i].inlined)
            shown[i].inlined = calls[shown[i].inlined - 1].number;
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

void mr_ptx_read_debug_info(struct parser *parser, uint32_t part, uint32_t files)
{
    size_t info_bytes, abbreviation_bytes;
    size_t string_bytes;
    size_t first_shown = parser->shown.count;
    const uint8_t *strings = mr_ptx_section_bytes(parser, part, "debug_str", &string_bytes); /* first, for its labels */
    const uint8_t *abbreviations = mr_ptx_section_bytes(parser, part, "debug_abbrev", &abbreviation_bytes);
    const uint8_t *info = mr_ptx_section_bytes(parser, part, "debug_info", &info_bytes);
    parser->debug_entries.count = parser->debug_calls.count = parser->debug_types.count = 0; /* another part's */
    if (!info || !abbreviations)
        return;
    struct mr_dwarf_unit *unit = mr_ptx_new(parser, 1, sizeof *unit);
    unit->strings = strings;
    unit->string_bytes = string_bytes;
    unit->lists = mr_ptx_section_bytes(parser, part, "debug_loc", &unit->list_bytes);
    read_units(&(struct reading){parser, unit}, info, info_bytes, abbreviations, abbreviation_bytes);
    number_calls(parser, files);
    number_variables(parser, first_shown);
    if (parser->debug_calls.count == 0)
        return;
    qsort(parser->debug_calls.items, parser->debug_calls.count, sizeof(struct call_entry), by_start);
    lay_out(parser, mr_ptx_new(parser, parser->debug_calls.count, sizeof(struct call_entry *)));
}
