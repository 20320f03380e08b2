/* SPDX-License-Identifier: Apache-2.0 */

/*
 * DWARF as a stream of entries (versions 2 to 4; DWARF 4, 7.5). An entry (a "DIE") begins with the number of its
 * abbreviation, which says what the entry is, and which attributes it has in which form. Entries that others stand in
 * come before those. An offset counts from the start of .debug_info.
 *
 * All of it is safe for bytes that are anything: what can't be read sets `bad`, and gives 0 and "".
 */
#ifndef MR_PTX_DWARF_H
#define MR_PTX_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MR_DWARF_ARRAY = 0x01,
    MR_DWARF_CLASS = 0x02,
    MR_DWARF_ENUMERATION = 0x04,
    MR_DWARF_PARAMETER = 0x05,
    MR_DWARF_MEMBER = 0x0d,
    MR_DWARF_POINTER = 0x0f,
    MR_DWARF_REFERENCE = 0x10,
    MR_DWARF_STRUCT = 0x13,
    MR_DWARF_TYPEDEF = 0x16,
    MR_DWARF_UNION = 0x17,
    MR_DWARF_INLINED = 0x1d,
    MR_DWARF_SUBRANGE = 0x21,
    MR_DWARF_BASE = 0x24,
    MR_DWARF_CONST = 0x26,
    MR_DWARF_SUBPROGRAM = 0x2e,
    MR_DWARF_VARIABLE = 0x34,
    MR_DWARF_VOLATILE = 0x35,
};

/* Reads numbers; behind the end everything is 0. */
struct mr_dwarf_cursor {
    const uint8_t *at, *end;
    bool bad;
};

uint64_t mr_dwarf_fixed(struct mr_dwarf_cursor *cursor, unsigned size);
uint64_t mr_dwarf_leb(struct mr_dwarf_cursor *cursor);

#define MR_DWARF_ABBREVIATIONS 4096u

struct mr_dwarf_unit {
    const uint8_t *start, *info; /* of the unit, of the section */
    const uint8_t *strings;      /* .debug_str, or NULL */
    size_t string_bytes;
    const uint8_t *lists; /* .debug_loc, or NULL */
    size_t list_bytes;
    struct mr_dwarf_cursor at; /* the next entry */
    unsigned version, address_size;
    const uint8_t *abbreviations[MR_DWARF_ABBREVIATIONS]; /* by number: what follows the number */
    const uint8_t *abbreviations_end;
};

/* What the attributes say that matter here; 0 and NULL where an entry has none. */
struct mr_dwarf_entry {
    uint64_t offset, tag, low, high, origin, specification, type, size, encoding, count, upper, place;
    const char *name, *linkage;
    const uint8_t *expression; /* of a place, if it is one expression, ... */
    uint64_t expression_bytes;
    uint64_t list; /* ... or the offset of a list of places, plus 1 */
    uint32_t file, line, column; /* of a call */
    bool has_children, has_upper;
};

/* The unit's table of abbreviations, at that offset of .debug_abbrev. */
void mr_dwarf_abbreviations(struct mr_dwarf_unit *unit, const uint8_t *bytes, size_t count, uint64_t offset);
/* The next entry; its tag is 0 where a row of children ends. */
struct mr_dwarf_entry mr_dwarf_next(struct mr_dwarf_unit *unit);
/* The entry at that offset, without going there; its tag is 0 if there is none in this unit. */
struct mr_dwarf_entry mr_dwarf_entry_at(struct mr_dwarf_unit *unit, uint64_t offset);

#endif
