/* SPDX-License-Identifier: Apache-2.0 */
/* Reading line tables. (DWARF 4, 6.2: Line Number Information.)
 *
 * The object is as the code generator made it, relocations not applied: the one place of a table that needs one is
 * where a sequence says at which address it begins. Section headers have addresses (loader.c, placed_copy). */
#include "compile/lines.h"

#include <string.h>

struct object {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
};

/* A part of the object with a place to read from; `bad` once a read went past the end. */
struct reader {
    const unsigned char *at, *end;
    bool bad;
};

static bool open_object(struct object *object, const unsigned char *bytes, size_t size)
{
    *object = (struct object){.bytes = bytes, .size = size};
    if (!bytes || size < sizeof object->header)
        return false;
    memcpy(&object->header, bytes, sizeof object->header);
    return object->header.e_shentsize == sizeof(Elf64_Shdr) && object->header.e_shoff <= size &&
           (uint64_t)object->header.e_shnum * sizeof(Elf64_Shdr) <= size - object->header.e_shoff;
}

/* Section `index`, whose contents are inside the file; false if there is none. */
static bool section_at(const struct object *object, unsigned index, Elf64_Shdr *section)
{
    if (index >= object->header.e_shnum)
        return false;
    memcpy(section, object->bytes + object->header.e_shoff + (size_t)index * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= object->size && section->sh_size <= object->size - section->sh_offset);
}

/* A text in a table of strings, or "". */
static const char *text_at(const struct object *object, unsigned table, uint64_t offset)
{
    Elf64_Shdr section;
    if (!section_at(object, table, &section) || section.sh_type != SHT_STRTAB || offset >= section.sh_size ||
        object->bytes[section.sh_offset + section.sh_size - 1] != '\0')
        return "";
    return (const char *)object->bytes + section.sh_offset + offset;
}

/* The address of a symbol that is in memory; 0 otherwise. */
static uint64_t symbol_address(const struct object *object, unsigned table, uint64_t index)
{
    Elf64_Shdr section;
    Elf64_Sym symbol;
    if (!section_at(object, table, &section) || index >= section.sh_size / sizeof symbol)
        return 0;
    memcpy(&symbol, object->bytes + section.sh_offset + index * sizeof symbol, sizeof symbol);
    if (!section_at(object, symbol.st_shndx, &section) || !section.sh_addr)
        return 0;
    return section.sh_addr + symbol.st_value;
}

static uint64_t read_bytes(struct reader *reader, unsigned count)
{
    uint64_t value = 0;
    if (reader->bad || (size_t)(reader->end - reader->at) < count) {
        reader->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += count;
    return value;
}

static void skip(struct reader *reader, uint64_t count)
{
    if (reader->bad || (uint64_t)(reader->end - reader->at) < count)
        reader->bad = true;
    else
        reader->at += count;
}

static uint64_t read_leb(struct reader *reader, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = read_bytes(reader, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && !reader->bad);
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= UINT64_MAX << shift;
    return value;
}

struct table {
    const struct object *object;
    Elf64_Shdr relocations;      /* of the table's section; sh_size 0: none */
    const unsigned char *start;  /* of the section */
    uint8_t step, opcodes, range;
    int8_t base;
    uint8_t lengths[256];        /* operands of standard opcodes */
    struct reader folders, files; /* the header's lists */
    void (*row)(void *data, const struct mr_line_row *row);
    void *data;
};

/* What stands at a place of the table, relocated. */
static uint64_t relocated(const struct table *table, const unsigned char *place, uint64_t value)
{
    for (uint64_t i = 0; i < table->relocations.sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela relocation;
        memcpy(&relocation, table->object->bytes + table->relocations.sh_offset + i * sizeof relocation,
               sizeof relocation);
        if (relocation.r_offset != (uint64_t)(place - table->start))
            continue;
        uint64_t address = symbol_address(table->object, table->relocations.sh_link, ELF64_R_SYM(relocation.r_info));
        return address ? address + (uint64_t)relocation.r_addend : 0;
    }
    return value;
}

/* A text with a NUL behind it; NULL if there is none. */
static const char *read_text(struct reader *reader)
{
    const char *text = (const char *)reader->at;
    const unsigned char *end = reader->bad ? NULL : memchr(reader->at, '\0', (size_t)(reader->end - reader->at));
    if (!end) {
        reader->bad = true;
        return NULL;
    }
    reader->at = end + 1;
    return text;
}

/* Text `number`, from 1, of the header's list of folders; NULL if there is none. */
static const char *folder_name(const struct table *table, uint64_t number)
{
    struct reader reader = table->folders;
    const char *name = NULL;
    for (uint64_t i = 0; i < number; i++)
        if (!(name = read_text(&reader)) || !*name)
            return NULL;
    return name;
}

/* What DWARF calls the state machine, as far as it is kept. */
struct state {
    uint64_t address;
    uint32_t line, discriminator;
    const char *folder, *file;
};

/* File `number`, from 1. */
static void set_file(const struct table *table, struct state *state, uint64_t number)
{
    struct reader reader = table->files;
    state->folder = state->file = NULL;
    for (uint64_t i = 1; !state->file; i++) {
        const char *name = read_text(&reader);
        uint64_t folder = read_leb(&reader, false);
        if (!name || !*name)
            return;
        if (i == number) {
            state->file = name;
            state->folder = folder_name(table, folder);
        }
        read_leb(&reader, false);
        read_leb(&reader, false);
    }
}

static bool is_ptx(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 4 && strcmp(name + length - 4, ".ptx") == 0;
}

static void begin_sequence(const struct table *table, struct state *state)
{
    *state = (struct state){.line = 1};
    set_file(table, state, 1);
}

static void tell_row(const struct table *table, struct state *state, bool end)
{
    struct mr_line_row row = {.address = state->address,
                              .line = end ? 0 : state->line,
                              .folder = state->folder,
                              .file = state->file,
                              .end = end};
    row.ptx_line = end || !row.line ? 0 : state->discriminator ? state->discriminator : is_ptx(row.file) ? row.line : 0;
    state->discriminator = 0;
    table->row(table->data, &row);
}

static void extended_opcode(const struct table *table, struct reader *reader, struct state *state)
{
    uint64_t length = read_leb(reader, false);
    const unsigned char *place = reader->at;
    unsigned extended = (unsigned)read_bytes(reader, 1);
    if (extended == 1) { /* end of a sequence */
        tell_row(table, state, true);
        begin_sequence(table, state);
    } else if (extended == 2 && length == 9) {
        const unsigned char *value = reader->at;
        state->address = relocated(table, value, read_bytes(reader, 8));
    } else if (extended == 4) {
        state->discriminator = (uint32_t)read_leb(reader, false);
    }
    reader->bad |= length == 0 || length > (uint64_t)(reader->end - place);
    reader->at = reader->bad ? reader->end : place + length;
}

/* The program of one table. */
static void run_table(const struct table *table, struct reader *reader)
{
    struct state state;
    begin_sequence(table, &state);
    while (!reader->bad && reader->at < reader->end) {
        unsigned opcode = (unsigned)read_bytes(reader, 1);
        if (opcode >= table->opcodes) {
            unsigned special = opcode - table->opcodes;
            state.address += (uint64_t)(special / table->range) * table->step;
            state.line += (uint32_t)(table->base + (int)(special % table->range));
            tell_row(table, &state, false);
        } else if (opcode == 0) {
            extended_opcode(table, reader, &state);
        } else if (opcode == 1) { /* copy */
            tell_row(table, &state, false);
        } else if (opcode == 2) {
            state.address += read_leb(reader, false) * table->step;
        } else if (opcode == 3) {
            state.line += (uint32_t)read_leb(reader, true);
        } else if (opcode == 4) {
            set_file(table, &state, read_leb(reader, false));
        } else if (opcode == 8) { /* as far as special opcode 255 goes */
            state.address += (uint64_t)((255u - table->opcodes) / table->range) * table->step;
        } else if (opcode == 9) {
            state.address += read_bytes(reader, 2);
        } else {
            for (unsigned i = 0; i < table->lengths[opcode]; i++)
                read_leb(reader, false);
        }
    }
}

static void read_table(struct table *table, struct reader *whole)
{
    uint64_t length = read_bytes(whole, 4);
    struct reader reader = *whole;
    skip(whole, length);
    if (whole->bad)
        return;
    reader.end = whole->at;
    unsigned version = (unsigned)read_bytes(&reader, 2);
    uint64_t header = read_bytes(&reader, 4);
    struct reader program = reader;
    skip(&program, header);
    table->step = (uint8_t)read_bytes(&reader, 1);
    if (version >= 4)
        read_bytes(&reader, 1); /* operations of an instruction */
    read_bytes(&reader, 1);     /* whether rows begin statements */
    table->base = (int8_t)read_bytes(&reader, 1);
    table->range = (uint8_t)read_bytes(&reader, 1);
    table->opcodes = (uint8_t)read_bytes(&reader, 1);
    for (unsigned i = 1; i < table->opcodes; i++)
        table->lengths[i] = (uint8_t)read_bytes(&reader, 1);
    table->folders = reader;
    for (const char *folder = read_text(&reader); folder && *folder;)
        folder = read_text(&reader);
    table->files = reader;
    table->files.end = table->folders.end = program.at;
    if (version < 2 || version > 4 || reader.bad || program.bad || table->range == 0 || table->opcodes == 0)
        return;
    run_table(table, &program);
}

void mr_lines_each(const unsigned char *bytes, size_t size, void (*row)(void *data, const struct mr_line_row *row),
                   void *data)
{
    struct object object;
    Elf64_Shdr section, lines = {.sh_size = 0};
    struct table table = {.object = &object, .row = row, .data = data};
    unsigned found = 0;
    if (!open_object(&object, bytes, size))
        return;
    for (unsigned i = 1; i < object.header.e_shnum; i++)
        if (section_at(&object, i, &section) && section.sh_type == SHT_PROGBITS &&
            strcmp(text_at(&object, object.header.e_shstrndx, section.sh_name), ".debug_line") == 0) {
            lines = section;
            found = i;
        }
    for (unsigned i = 1; found && i < object.header.e_shnum; i++)
        if (section_at(&object, i, &section) && section.sh_type == SHT_RELA && section.sh_info == found)
            table.relocations = section;
    table.start = bytes + lines.sh_offset;
    struct reader reader = {.at = table.start, .end = table.start + lines.sh_size};
    while (found && !reader.bad && reader.at < reader.end)
        read_table(&table, &reader);
}

struct search {
    uint64_t address, from;
    uint32_t line, known, result;
    bool inside;
};

/* Code that belongs to no line stands with what it was made for: the latest line before it. */
static void search_row(void *data, const struct mr_line_row *row)
{
    struct search *search = data;
    if (search->inside && search->from <= search->address && search->address < row->address)
        search->result = search->line ? search->line : search->known;
    search->inside = !row->end;
    search->from = row->address;
    search->line = row->ptx_line;
    search->known = row->end ? 0 : row->ptx_line ? row->ptx_line : search->known;
}

uint32_t mr_lines_find(const unsigned char *object, size_t size, uint64_t address)
{
    struct search search = {.address = address};
    mr_lines_each(object, size, search_row, &search);
    return search.result;
}

void mr_lines_functions(const unsigned char *bytes, size_t size,
                        void (*found)(void *data, const char *name, uint64_t address, uint64_t count), void *data)
{
    struct object object;
    Elf64_Shdr table, section;
    if (!open_object(&object, bytes, size))
        return;
    for (unsigned i = 1; i < object.header.e_shnum; i++) {
        if (!section_at(&object, i, &table) || table.sh_type != SHT_SYMTAB)
            continue;
        for (uint64_t s = 0; s < table.sh_size / sizeof(Elf64_Sym); s++) {
            Elf64_Sym symbol;
            memcpy(&symbol, bytes + table.sh_offset + s * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size &&
                section_at(&object, symbol.st_shndx, &section) && section.sh_addr)
                found(data, text_at(&object, table.sh_link, symbol.st_name), section.sh_addr + symbol.st_value,
                      symbol.st_size);
        }
    }
}
