/* SPDX-License-Identifier: Apache-2.0 */

/*
 * DWARF's entries, out of bytes that may be anything: see dwarf.h.
 */
#include "ptx/dwarf.h"

#include <string.h>

enum {
    AT_LOCATION = 0x02,
    AT_NAME = 0x03,
    AT_BYTE_SIZE = 0x0b,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_UPPER_BOUND = 0x2f,
    AT_ABSTRACT_ORIGIN = 0x31,
    AT_COUNT = 0x37,
    AT_MEMBER_LOCATION = 0x38,
    AT_ENCODING = 0x3e,
    AT_SPECIFICATION = 0x47,
    AT_TYPE = 0x49,
    AT_CALL_COLUMN = 0x57,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    AT_MIPS_LINKAGE_NAME = 0x2007,
};

uint64_t mr_dwarf_fixed(struct mr_dwarf_cursor *cursor, unsigned size)
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

uint64_t mr_dwarf_leb(struct mr_dwarf_cursor *cursor)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = mr_dwarf_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static const char *text(struct mr_dwarf_cursor *cursor)
{
    const uint8_t *start = cursor->at, *end = memchr(start, 0, (size_t)(cursor->end - start));
    if (!end) {
        cursor->bad = true;
        return "";
    }
    cursor->at = end + 1;
    return (const char *)start;
}

/* What an attribute says: a number, an offset from the start of the section, a text, or bytes. */
struct said {
    uint64_t number; /* or how many bytes */
    const char *text;
    const uint8_t *bytes;
};

static struct said block(struct mr_dwarf_cursor *at, uint64_t size)
{
    const uint8_t *start = at->at;
    if ((uint64_t)(at->end - start) < size) {
        at->bad = true;
        return (struct said){0, NULL, NULL};
    }
    at->at += size;
    return (struct said){size, NULL, start};
}

static struct said string_at(const struct mr_dwarf_unit *unit, uint64_t offset)
{
    bool good =
        unit->strings && offset < unit->string_bytes && memchr(unit->strings + offset, 0, unit->string_bytes - offset);
    return (struct said){offset, good ? (const char *)unit->strings + offset : "", NULL};
}

static struct said attribute(struct mr_dwarf_unit *unit, uint64_t form)
{
    struct mr_dwarf_cursor *at = &unit->at;
    uint64_t offset = (uint64_t)(unit->start - unit->info);
    switch (form) {
    case 0x01: /* addr */
        return (struct said){mr_dwarf_fixed(at, unit->address_size), NULL, NULL};
    case 0x03: /* block2 */
        return block(at, mr_dwarf_fixed(at, 2));
    case 0x04: /* block4 */
        return block(at, mr_dwarf_fixed(at, 4));
    case 0x09: /* block */
    case 0x18: /* exprloc */
        return block(at, mr_dwarf_leb(at));
    case 0x0a: /* block1 */
        return block(at, mr_dwarf_fixed(at, 1));
    case 0x0b: /* data1 */
    case 0x0c: /* flag */
        return (struct said){mr_dwarf_fixed(at, 1), NULL, NULL};
    case 0x05: /* data2 */
        return (struct said){mr_dwarf_fixed(at, 2), NULL, NULL};
    case 0x06: /* data4 */
    case 0x17: /* sec_offset */
        return (struct said){mr_dwarf_fixed(at, 4), NULL, NULL};
    case 0x07: /* data8 */
        return (struct said){mr_dwarf_fixed(at, 8), NULL, NULL};
    case 0x08: /* string */
        return (struct said){0, text(at), NULL};
    case 0x0e: /* strp */
        return string_at(unit, mr_dwarf_fixed(at, 4));
    case 0x0d: /* sdata */
    case 0x0f: /* udata */
        return (struct said){mr_dwarf_leb(at), NULL, NULL};
    case 0x10: /* ref_addr */
        return (struct said){mr_dwarf_fixed(at, unit->version == 2 ? unit->address_size : 4), NULL, NULL};
    case 0x11: /* ref1 */
        return (struct said){offset + mr_dwarf_fixed(at, 1), NULL, NULL};
    case 0x12: /* ref2 */
        return (struct said){offset + mr_dwarf_fixed(at, 2), NULL, NULL};
    case 0x13: /* ref4 */
        return (struct said){offset + mr_dwarf_fixed(at, 4), NULL, NULL};
    case 0x14: /* ref8 */
        return (struct said){offset + mr_dwarf_fixed(at, 8), NULL, NULL};
    case 0x15: /* ref_udata */
        return (struct said){offset + mr_dwarf_leb(at), NULL, NULL};
    case 0x19: /* flag_present */
        return (struct said){1, NULL, NULL};
    default:
        at->bad = true;
        return (struct said){0, NULL, NULL};
    }
}

/* Where a variable is, or a member in its structure: version 2 has an expression for the latter, too. */
static void take_place(struct mr_dwarf_entry *entry, struct said said)
{
    if (said.bytes) {
        entry->expression = said.bytes;
        entry->expression_bytes = said.number;
    } else {
        entry->place = said.number;
        entry->list = said.number + 1;
    }
}

static void take(struct mr_dwarf_entry *entry, uint64_t name, uint64_t form, struct said said)
{
    switch (name) {
    case AT_LOCATION:
    case AT_MEMBER_LOCATION:
        take_place(entry, said);
        break;
    case AT_NAME:
        entry->name = said.text;
        break;
    case AT_LINKAGE_NAME:
    case AT_MIPS_LINKAGE_NAME:
        entry->linkage = said.text;
        break;
    case AT_BYTE_SIZE:
        entry->size = said.number;
        break;
    case AT_ENCODING:
        entry->encoding = said.number;
        break;
    case AT_TYPE:
        entry->type = said.number;
        break;
    case AT_COUNT:
        entry->count = said.number;
        break;
    case AT_UPPER_BOUND:
        entry->upper = said.number;
        entry->has_upper = !said.bytes;
        break;
    case AT_LOW_PC:
        entry->low = said.number;
        break;
    case AT_HIGH_PC: /* version 4 has sizes, too, which labels have not */
        entry->high = form == 0x01 ? said.number : 0;
        break;
    case AT_ABSTRACT_ORIGIN:
        entry->origin = said.number;
        break;
    case AT_SPECIFICATION:
        entry->specification = said.number;
        break;
    case AT_CALL_FILE:
        entry->file = (uint32_t)said.number;
        break;
    case AT_CALL_LINE:
        entry->line = (uint32_t)said.number;
        break;
    case AT_CALL_COLUMN:
        entry->column = (uint32_t)said.number;
        break;
    default:
        break;
    }
}

struct mr_dwarf_entry mr_dwarf_next(struct mr_dwarf_unit *unit)
{
    struct mr_dwarf_entry entry = {.offset = (uint64_t)(unit->at.at - unit->info)};
    uint64_t number = mr_dwarf_leb(&unit->at);
    if (unit->at.bad || number == 0)
        return entry;
    if (number >= MR_DWARF_ABBREVIATIONS || !unit->abbreviations[number]) {
        unit->at.bad = true;
        return entry;
    }
    struct mr_dwarf_cursor form = {unit->abbreviations[number], unit->abbreviations_end, false};
    entry.tag = mr_dwarf_leb(&form);
    entry.has_children = mr_dwarf_fixed(&form, 1) != 0;
    for (;;) {
        uint64_t name = mr_dwarf_leb(&form), how = mr_dwarf_leb(&form);
        if (form.bad || unit->at.bad || (name == 0 && how == 0))
            break;
        take(&entry, name, how, attribute(unit, how));
    }
    unit->at.bad |= form.bad;
    return entry;
}

struct mr_dwarf_entry mr_dwarf_entry_at(struct mr_dwarf_unit *unit, uint64_t offset)
{
    struct mr_dwarf_cursor kept = unit->at;
    struct mr_dwarf_entry entry = {.offset = offset};
    if (offset > (uint64_t)(unit->start - unit->info) && offset < (uint64_t)(kept.end - unit->info)) {
        unit->at = (struct mr_dwarf_cursor){unit->info + offset, kept.end, false};
        entry = mr_dwarf_next(unit);
        if (unit->at.bad)
            entry = (struct mr_dwarf_entry){.offset = offset};
    }
    unit->at = kept;
    return entry;
}

void mr_dwarf_abbreviations(struct mr_dwarf_unit *unit, const uint8_t *bytes, size_t count, uint64_t offset)
{
    memset(unit->abbreviations, 0, sizeof unit->abbreviations);
    unit->abbreviations_end = bytes + count;
    struct mr_dwarf_cursor at = {bytes + (offset < count ? offset : count), bytes + count, false};
    for (;;) {
        uint64_t number = mr_dwarf_leb(&at);
        if (at.bad || number == 0)
            return;
        if (number < MR_DWARF_ABBREVIATIONS)
            unit->abbreviations[number] = at.at;
        mr_dwarf_leb(&at);
        mr_dwarf_fixed(&at, 1);
        uint64_t name, form;
        do {
            name = mr_dwarf_leb(&at);
            form = mr_dwarf_leb(&at);
        } while (!at.bad && (name || form));
    }
}
