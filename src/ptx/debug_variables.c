/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Variables of the source, as a text's DWARF tells of them: their types, and where they are while which lines run.
 *
 * Two kinds of places are known, which are those that compilers write: a .local variable and an offset in it, and a
 * register. (The name of a register is a number whose bytes are its letters, the last one lowest.) Variables elsewhere
 * are left out, and so are those whose type is not known.
 */
#include <string.h>

#include "ptx/dwarf.h"
#include "ptx/parse_debug.h"

enum { OP_ADDRESS = 0x03, OP_PLUS = 0x23, OP_REGISTER = 0x90, ENCODING_UNSIGNED = 7 };

#define TYPES_MAX 4096u   /* of a module; variables of further ones are left out */
#define TYPES_DEEP 24u    /* inside of each other */
#define MEMBERS_MAX 512u
#define PLACES_MAX 1024u  /* of one variable */
#define SIZE_MAX_SHOWN (UINT64_C(1) << 32)

/* --- Types ----------------------------------------------------------------------- */

struct known_type {
    uint64_t offset;
    uint32_t number;
};

struct types {
    struct parser *parser;
    struct mr_dwarf_unit *unit;
};

static struct mr_ptx_shown_type *type_number(struct types *types, uint32_t number)
{
    return (struct mr_ptx_shown_type *)types->parser->shown_types.items + number - 1;
}

static uint64_t size_of(struct types *types, uint32_t number)
{
    for (unsigned hops = 0; number && hops < TYPES_DEEP; hops++) {
        const struct mr_ptx_shown_type *type = type_number(types, number);
        if (type->kind != MR_PTX_SHOWN_ALIAS)
            return type->size;
        number = type->of;
    }
    return 0;
}

static uint32_t read_type(struct types *types, uint64_t offset, unsigned deep);

/* The next child of an entry, nested ones passed over; tag 0 at the end. */
static struct mr_dwarf_entry next_child(struct mr_dwarf_unit *unit)
{
    struct mr_dwarf_entry entry = mr_dwarf_next(unit);
    unsigned depth = entry.tag && entry.has_children ? 1 : 0;
    while (depth > 0 && !unit->at.bad) {
        struct mr_dwarf_entry inner = mr_dwarf_next(unit);
        if (inner.tag == 0)
            depth--;
        else if (inner.has_children)
            depth++;
    }
    return entry;
}

/* Goes to the children of an entry; false if it has none. What was the next entry is kept in `kept`. */
static bool enter(struct mr_dwarf_unit *unit, const struct mr_dwarf_entry *entry, struct mr_dwarf_cursor *kept)
{
    *kept = unit->at;
    if (!entry->has_children)
        return false;
    unit->at = (struct mr_dwarf_cursor){unit->info + entry->offset, kept->end, false};
    mr_dwarf_next(unit);
    return true;
}

static uint64_t member_offset(const struct mr_dwarf_entry *entry)
{
    if (!entry->expression)
        return entry->place;
    struct mr_dwarf_cursor at = {entry->expression, entry->expression + entry->expression_bytes, false};
    return mr_dwarf_fixed(&at, 1) == OP_PLUS ? mr_dwarf_leb(&at) : 0;
}

/* Members of a structure, MEMBERS_MAX at most. */
static uint32_t count_members(struct mr_dwarf_unit *unit, const struct mr_dwarf_entry *entry)
{
    struct mr_dwarf_cursor kept;
    uint32_t count = 0;
    if (enter(unit, entry, &kept)) {
        for (;;) {
            struct mr_dwarf_entry child = next_child(unit);
            if (child.tag == 0 || unit->at.bad || count == MEMBERS_MAX)
                break;
            count += child.tag == MR_DWARF_MEMBER;
        }
    }
    unit->at = kept;
    return count;
}

static void read_members(struct types *types, const struct mr_dwarf_entry *entry, uint32_t number, unsigned deep)
{
    struct mr_dwarf_cursor kept;
    uint32_t count = 0, most = count_members(types->unit, entry);
    struct mr_ptx_shown_member *members = mr_ptx_new(types->parser, most, sizeof *members);
    if (enter(types->unit, entry, &kept)) {
        for (;;) {
            struct mr_dwarf_entry child = next_child(types->unit);
            if (child.tag == 0 || types->unit->at.bad || count == most)
                break;
            if (child.tag != MR_DWARF_MEMBER || member_offset(&child) >= entry->size)
                continue;
            struct mr_dwarf_cursor here = types->unit->at;
            uint32_t type = read_type(types, child.type, deep + 1);
            types->unit->at = here;
            if (type)
                members[count++] =
                    (struct mr_ptx_shown_member){child.name ? child.name : "", member_offset(&child), type};
        }
    }
    types->unit->at = kept;
    type_number(types, number)->members = members;
    type_number(types, number)->member_count = count;
}

/* Elements of all dimensions. */
static uint64_t elements(struct types *types, const struct mr_dwarf_entry *entry)
{
    struct mr_dwarf_cursor kept;
    uint64_t count = 1;
    bool any = false;
    if (enter(types->unit, entry, &kept)) {
        for (;;) {
            struct mr_dwarf_entry child = next_child(types->unit);
            if (child.tag == 0 || types->unit->at.bad)
                break;
            if (child.tag != MR_DWARF_SUBRANGE)
                continue;
            any = true;
            if (__builtin_mul_overflow(count, child.has_upper ? child.upper + 1 : child.count, &count))
                count = 0;
        }
    }
    types->unit->at = kept;
    return any && count < SIZE_MAX_SHOWN ? count : 0;
}

static uint32_t add_type(struct types *types, uint64_t offset, enum mr_ptx_shown_kind kind,
                         const struct mr_dwarf_entry *entry)
{
    struct parser *parser = types->parser;
    *(struct mr_ptx_shown_type *)mr_ptx_list_add(parser, &parser->shown_types, sizeof(struct mr_ptx_shown_type)) =
        (struct mr_ptx_shown_type){.kind = kind,
                                   .name = entry->name ? entry->name : "",
                                   .size = entry->size,
                                   .encoding = (uint32_t)entry->encoding};
    uint32_t number = (uint32_t)parser->shown_types.count;
    *(struct known_type *)mr_ptx_list_add(parser, &parser->debug_types, sizeof(struct known_type)) =
        (struct known_type){offset, number};
    return number;
}

static uint32_t known_type(const struct types *types, uint64_t offset)
{
    const struct known_type *known = types->parser->debug_types.items;
    for (size_t i = types->parser->debug_types.count; i > 0; i--)
        if (known[i - 1].offset == offset)
            return known[i - 1].number;
    return 0;
}

static uint32_t read_array(struct types *types, const struct mr_dwarf_entry *entry, unsigned deep)
{
    uint32_t of = read_type(types, entry->type, deep + 1);
    uint64_t count = elements(types, entry), size;
    if (!of || !count || __builtin_mul_overflow(count, size_of(types, of), &size) || size >= SIZE_MAX_SHOWN)
        return 0;
    uint32_t number = add_type(types, entry->offset, MR_PTX_SHOWN_ARRAY, entry);
    type_number(types, number)->of = of;
    type_number(types, number)->count = count;
    type_number(types, number)->size = size;
    return number;
}

/* A type's number; 0 if it is not known. Types that hold themselves do so by pointers, which are known by then. */
static uint32_t read_type(struct types *types, uint64_t offset, unsigned deep) /* NOLINT(misc-no-recursion) */
{
    uint32_t number = offset ? known_type(types, offset) : 0;
    if (!offset || number || deep >= TYPES_DEEP || types->parser->shown_types.count >= TYPES_MAX)
        return number;
    struct mr_dwarf_entry entry = mr_dwarf_entry_at(types->unit, offset);
    if (entry.size >= SIZE_MAX_SHOWN)
        return 0;
    switch (entry.tag) {
    case MR_DWARF_CONST:
    case MR_DWARF_VOLATILE:
        return read_type(types, entry.type, deep + 1);
    case MR_DWARF_ENUMERATION:
        entry.encoding = ENCODING_UNSIGNED;
        return add_type(types, offset, MR_PTX_SHOWN_NUMBER, &entry);
    case MR_DWARF_BASE:
        return add_type(types, offset, MR_PTX_SHOWN_NUMBER, &entry);
    case MR_DWARF_POINTER:
    case MR_DWARF_REFERENCE: {
        entry.size = 8;
        number = add_type(types, offset, MR_PTX_SHOWN_POINTER, &entry);
        uint32_t of = read_type(types, entry.type, deep + 1);
        type_number(types, number)->of = of;
        return number;
    }
    case MR_DWARF_TYPEDEF: {
        uint32_t of = read_type(types, entry.type, deep + 1);
        number = of ? add_type(types, offset, MR_PTX_SHOWN_ALIAS, &entry) : 0;
        if (number)
            type_number(types, number)->of = of;
        return number;
    }
    case MR_DWARF_ARRAY:
        return read_array(types, &entry, deep);
    case MR_DWARF_STRUCT:
    case MR_DWARF_CLASS:
    case MR_DWARF_UNION:
        number = add_type(types, offset, MR_PTX_SHOWN_STRUCT, &entry);
        read_members(types, &entry, number, deep);
        return number;
    default:
        return 0;
    }
}

/* --- Places ---------------------------------------------------------------------- */

/* The letters of a number; NULL if they are none of a register's. */
static const char *register_name(struct parser *parser, uint64_t number)
{
    char *name = mr_ptx_new(parser, 1, sizeof number + 1);
    unsigned length = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        char letter = (char)(number >> shift);
        if (letter || length)
            name[length++] = letter;
    }
    return length > 1 && name[0] == '%' && strlen(name) == length ? name : NULL;
}

/* What an expression says; false if it is of no known kind. */
static bool read_place(struct parser *parser, const uint8_t *bytes, uint64_t count, struct mr_ptx_shown *shown)
{
    struct mr_dwarf_cursor at = {bytes, bytes + count, false};
    uint64_t op = mr_dwarf_fixed(&at, 1), value;
    shown->place = NULL;
    shown->in_register = op == OP_REGISTER;
    if (op == OP_REGISTER) {
        value = mr_dwarf_leb(&at);
        shown->place = at.bad ? NULL : register_name(parser, value);
    } else if (op == OP_ADDRESS) {
        value = mr_dwarf_fixed(&at, 8);
        if (!(value & MR_PTX_DEBUG_NAME) || value - MR_PTX_DEBUG_NAME >= parser->debug_names.count)
            return false;
        shown->place = ((const char **)parser->debug_names.items)[value - MR_PTX_DEBUG_NAME];
        if (at.at != at.end && mr_dwarf_fixed(&at, 1) == OP_PLUS)
            shown->offset = mr_dwarf_leb(&at);
    }
    return shown->place && !at.bad && at.at == at.end;
}

static void add_shown(struct parser *parser, const struct mr_ptx_shown *shown)
{
    if (shown->from < shown->to)
        *(struct mr_ptx_shown *)mr_ptx_list_add(parser, &parser->shown, sizeof *shown) = *shown;
}

/* A list of places, each for a range of addresses. */
static void read_list(struct parser *parser, const struct mr_dwarf_unit *unit, uint64_t offset,
                      struct mr_ptx_shown shown)
{
    if (!unit->lists || offset >= unit->list_bytes)
        return;
    struct mr_dwarf_cursor at = {unit->lists + offset, unit->lists + unit->list_bytes, false};
    for (unsigned i = 0; i < PLACES_MAX; i++) {
        uint64_t from = mr_dwarf_fixed(&at, 8), to = mr_dwarf_fixed(&at, 8), size;
        if (at.bad || (from == 0 && to == 0))
            return;
        size = mr_dwarf_fixed(&at, 2);
        if (at.bad || (uint64_t)(at.end - at.at) < size)
            return;
        if (from < to && to <= UINT32_MAX && read_place(parser, at.at, size, &shown)) {
            shown.from = (uint32_t)from;
            shown.to = (uint32_t)to;
            add_shown(parser, &shown);
        }
        at.at += size;
    }
}

void mr_ptx_note_variable(struct parser *parser, struct mr_dwarf_unit *unit, const struct mr_dwarf_entry *entry,
                          struct mr_ptx_lines lines, uint32_t call)
{
    if (lines.from >= lines.to || (!entry->expression && !entry->list))
        return;
    const char *name = entry->name;
    uint64_t type = entry->type;
    if (entry->origin && (!name || !type)) {
        struct mr_dwarf_entry origin = mr_dwarf_entry_at(unit, entry->origin);
        name = name ? name : origin.name;
        type = type ? type : origin.type;
    }
    struct mr_ptx_shown shown = {.name = name, .inlined = call, .from = lines.from, .to = lines.to};
    struct types types = {parser, unit};
    if (!name || !*name)
        return;
    shown.type = read_type(&types, type, 0);
    if (!shown.type)
        return;
    if (entry->list)
        read_list(parser, unit, entry->list - 1, shown);
    else if (read_place(parser, entry->expression, entry->expression_bytes, &shown))
        add_shown(parser, &shown);
}
