/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a text says of functions that a compiler put in the place of their calls: in its `.loc` directives (parse_loc.c,
 * as NVIDIA's compiler writes it for -lineinfo), or in the DWARF of its sections (debug_info.c, as both compilers write
 * it for -G, and clang for line numbers, too). What neither a debugger nor the parser understands is left out: debug
 * information that is wrong refuses no text.
 *
 * Addresses in DWARF are labels of the text. A label's address is its line, counted from 1.
 *
 * A text that was joined from several (join.c) has the debug information of each: its files, its functions, its
 * sections. A file that comes behind sections begins the next one's. There, DWARF counts files from that one on.
 */
#ifndef MR_PTX_PARSE_DEBUG_H
#define MR_PTX_PARSE_DEBUG_H

#include "ptx/parse.h"

/* A section of the text, between its braces. */
struct section {
    const char *name; /* "debug_info", behind the dot */
    size_t name_length;
    const char *begin, *end;
    uint32_t line; /* where `begin` is */
    uint32_t part, first_file; /* which of the joined texts it is of, from 0; the lowest number of that one's files */
};

/* .loc behind the word; parse_loc.c. */
bool mr_ptx_parse_loc(struct parser *parser);
/* Before a body: no line is known. */
void mr_ptx_loc_reset(struct parser *parser);
/* From this line of the text on, instructions belong to that call (mr_ptx_inlined), 0 being none. Lines come in
 * order. */
void mr_ptx_add_inlined_range(struct parser *parser, uint32_t line, uint32_t number);

/* .file with that number; debug_text.c. */
void mr_ptx_note_file(struct parser *parser, uint32_t number);
/* .section behind the word: notes where it is; debug_text.c. */
bool mr_ptx_parse_section(struct parser *parser);
/*
 * The bytes of the section of that name in a part of the text, as far as they can be understood, in the arena; NULL if
 * there is none. A label inside is its offset, a label of a function its line, and the name of another section 0. A
 * name that is none of these is its number in parser->debug_names (const char *) with MR_PTX_DEBUG_NAME added.
 */
#define MR_PTX_DEBUG_NAME (UINT64_C(1) << 63)
const uint8_t *mr_ptx_section_bytes(struct parser *parser, uint32_t part, const char *name, size_t *count);

/* Lines of the text: from <= line < to. */
struct mr_ptx_lines {
    uint32_t from, to;
};

/* debug_variables.c: a variable's entry, in these lines and that call (0: none): its places, in parser->shown. */
struct mr_dwarf_unit;
struct mr_dwarf_entry;
void mr_ptx_note_variable(struct parser *parser, struct mr_dwarf_unit *unit, const struct mr_dwarf_entry *entry,
                          struct mr_ptx_lines lines, uint32_t call);

/* At the end of the text: what all that comes to, in the module. */
void mr_ptx_debug_finish(struct parser *parser);
/* debug_info.c: the calls and variables that the DWARF of a part tells of. Parts are read in their order. Numbers of
 * files in it are less by `files` than the module's. */
void mr_ptx_read_debug_info(struct parser *parser, uint32_t part, uint32_t files);

#endif
