/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an object's symbol table. Those of frameworks hold a million symbols and a hundred million bytes of names,
 * and no runtime library. So one name is looked for first, piece by piece, and nothing else is read if the object has
 * no function of that name for itself. */
#define _GNU_SOURCE
#include "libs/redirect/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libs/redirect/known.h"
#include "libs/redirect/slots.h"

/* A function of Millrace's own static runtime library, and of no other, and the section that it is in, which stays in a
 * stripped object. */
#define OURS "mr_rt_driver_slow"
#define OUR_SECTION "millrace_runtime"

/* A function of every runtime library. */
#define SIGN "cudaRuntimeGetVersion"

/* Bytes that are read at once, and how many places of the sign among the names are looked at: its own, and those where
 * a longer name ends with it. */
enum { PIECE = 1 << 18, MOST_SIGNS = 8 };

#define LARGE_PAGE ((size_t)2 << 20)

struct file {
    int fd;
    uint64_t size;
    Elf64_Shdr *sections;
    unsigned section_count;
    bool exports; /* it is a runtime library itself: its functions are those that others may call */
};

/* Memory whose last byte is null. Large pages halve what reading the names of a framework's object costs. */
static char *room_for(uint64_t size)
{
    if (size < 2 * LARGE_PAGE)
        return calloc(1, size);
    if (size > SIZE_MAX - LARGE_PAGE)
        return NULL;
    size_t pages = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    char *bytes = aligned_alloc(LARGE_PAGE, pages);
    if (bytes) {
        madvise(bytes, pages, MADV_HUGEPAGE);
        bytes[size - 1] = 0;
    }
    return bytes;
}

/* A part of the file, in memory that the caller frees, with a null character behind it; NULL if the file has no such
 * part. */
static void *read_part(const struct file *file, uint64_t offset, uint64_t size)
{
    if (offset > file->size || size > file->size - offset)
        return NULL;
    char *bytes = room_for(size + 1);
    for (uint64_t done = 0; bytes && done < size;) {
        ssize_t got = pread(file->fd, bytes + done, size - done, (off_t)(offset + done));
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        done += (uint64_t)got;
    }
    return bytes;
}

static const char *read_sections(struct file *file)
{
    Elf64_Ehdr header;
    struct stat status;
    if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "it is not a regular file";
    file->size = (uint64_t)status.st_size;
    if (pread(file->fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return "it is no ELF file of 64 bits";
    if (header.e_shoff == 0 || header.e_shnum == 0)
        return NULL; /* no sections */
    if (header.e_shentsize != sizeof(Elf64_Shdr))
        return "its section headers have an unknown size";
    file->sections = read_part(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr));
    file->section_count = file->sections ? header.e_shnum : 0;
    return file->sections ? NULL : "its section headers lie beyond its end";
}

static bool is_in_file(const struct file *file, const Elf64_Shdr *section)
{
    return section->sh_offset <= file->size && section->sh_size <= file->size - section->sh_offset;
}

static const Elf64_Shdr *find_section(const struct file *file, uint32_t type)
{
    for (unsigned i = 0; i < file->section_count; i++)
        if (file->sections[i].sh_type == type)
            return &file->sections[i];
    return NULL;
}

/* Whether there is a section of that name. */
static bool has_section(const struct file *file, const char *name)
{
    Elf64_Ehdr header;
    if (pread(file->fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        header.e_shstrndx >= file->section_count)
        return false;
    const Elf64_Shdr *strings = &file->sections[header.e_shstrndx];
    char *text = read_part(file, strings->sh_offset, strings->sh_size);
    bool found = false;
    for (unsigned i = 0; text && i < file->section_count && !found; i++)
        found = file->sections[i].sh_name < strings->sh_size && strcmp(text + file->sections[i].sh_name, name) == 0;
    free(text);
    return found;
}

/* Whether the object has this function for itself. Others may call one that is neither local nor hidden: it is no copy
 * inside, but one of an object that is the library. */
static bool is_inside(const struct file *file, const Elf64_Sym *symbol)
{
    unsigned binding = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    bool own = binding == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL;
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < file->section_count && own != file->exports;
}

static bool is_in_code(const struct file *file, const Elf64_Sym *symbol)
{
    const Elf64_Shdr *section = &file->sections[symbol->st_shndx];
    return (section->sh_flags & SHF_EXECINSTR) && section->sh_type == SHT_PROGBITS &&
           symbol->st_value >= section->sh_addr && symbol->st_value - section->sh_addr < section->sh_size;
}

/* Places of the sign in a table of names. */
struct signs {
    uint32_t at[MOST_SIGNS];
    unsigned count;
};

static bool read_piece(const struct file *file, char *piece, uint64_t offset, size_t size)
{
    return pread(file->fd, piece, size, (off_t)offset) == (ssize_t)size;
}

/* Looks for the sign in all names. `piece` has room for PIECE bytes. */
static void find_signs(const struct file *file, const Elf64_Shdr *names, char *piece, struct signs *out)
{
    for (uint64_t at = 0; at < names->sh_size; at += PIECE - (sizeof SIGN - 1)) {
        uint64_t rest = names->sh_size - at;
        size_t size = rest < PIECE ? rest : PIECE;
        if (!read_piece(file, piece, names->sh_offset + at, size))
            return;
        const char *found = piece;
        while ((found = memmem(found, size - (size_t)(found - piece), SIGN, sizeof SIGN)) && out->count < MOST_SIGNS)
            out->at[out->count++] = (uint32_t)(at + (size_t)(found++ - piece));
    }
}

/* Whether the object has a function of that name for itself. */
static bool has_sign(const struct file *file, const Elf64_Shdr *table, char *piece, const struct signs *signs)
{
    for (uint64_t at = 0; at < table->sh_size; at += PIECE / sizeof(Elf64_Sym) * sizeof(Elf64_Sym)) {
        uint64_t rest = table->sh_size - at;
        size_t count = (rest < PIECE ? rest : PIECE) / sizeof(Elf64_Sym);
        if (!read_piece(file, piece, table->sh_offset + at, count * sizeof(Elf64_Sym)))
            return false;
        const Elf64_Sym *symbols = (const Elf64_Sym *)piece;
        for (size_t i = 0; i < count; i++)
            for (unsigned sign = 0; sign < signs->count; sign++)
                if (symbols[i].st_name == signs->at[sign] && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
                    is_inside(file, &symbols[i]))
                    return true;
    }
    return false;
}

static bool may_carry(const struct file *file, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
    struct signs signs = {.count = 0};
    char *piece = malloc(PIECE);
    if (!piece)
        return true;
    find_signs(file, names, piece, &signs);
    bool may = signs.count == MOST_SIGNS || (signs.count && has_sign(file, table, piece, &signs));
    free(piece);
    return may;
}

static int compare_functions(const void *left, const void *right)
{
    const struct mr_redirect_function *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* The index of the last function of the list that begins below `value`; the list's length if there is none. */
static size_t last_below(const struct mr_redirect_symbols *list, uint64_t value)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->functions[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : list->count;
}

/* Ends each function's room where the next function begins, whichever that is, and its size with its room. The list is
 * in the order of addresses. */
static void limit_rooms(const Elf64_Sym *symbols, size_t count, struct mr_redirect_symbols *out)
{
    struct mr_redirect_function *functions = out->functions;
    for (size_t i = 0; i < count; i++) {
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC)
            continue;
        size_t before = last_below(out, symbols[i].st_value);
        if (before < out->count && symbols[i].st_value - functions[before].value < functions[before].room)
            functions[before].room = symbols[i].st_value - functions[before].value;
    }
    /* Of several that begin at one place the last has been limited. */
    for (size_t i = out->count; i-- > 0;) {
        if (i + 1 < out->count && functions[i].value == functions[i + 1].value)
            functions[i].room = functions[i + 1].room;
        if (functions[i].size > functions[i].room)
            functions[i].size = functions[i].room;
    }
}

/* Whether a runtime library may have a function of that name. */
static bool is_wanted(const char *name)
{
    return (name[0] == 'c' && strncmp(name, "cuda", 4) == 0) ||
           (name[0] == '_' && name[1] == '_' && strncmp(name, "__cuda", 6) == 0);
}

/* Takes a function into the list, with all bytes up to its section's end as its room. */
static void take(const struct file *file, const Elf64_Sym *symbol, int name, struct mr_redirect_symbols *out)
{
    const Elf64_Shdr *section = &file->sections[symbol->st_shndx];
    uint64_t inside = symbol->st_value - section->sh_addr;
    out->functions[out->count++] = (struct mr_redirect_function){.name = name,
                                                                 .offset = section->sh_offset + inside,
                                                                 .value = symbol->st_value,
                                                                 .size = symbol->st_size,
                                                                 .room = section->sh_size - inside};
}

/* Fills the list, in the order of addresses. `text` has `length` characters. */
static const char *collect(const struct file *file, const Elf64_Sym *symbols, size_t count, const char *text,
                           size_t length, struct mr_redirect_symbols *out)
{
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].st_name >= length)
            return "a symbol's name lies beyond the end of its names";
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC)
            continue;
        const char *name = text + symbols[i].st_name;
        out->is_ours |= *name == *OURS && strcmp(name, OURS) == 0;
        wanted += is_wanted(name);
    }
    if (wanted == 0 || out->is_ours)
        return NULL;
    out->functions = calloc(wanted, sizeof *out->functions);
    if (!out->functions)
        return "there is no memory for its functions";
    for (size_t i = 0; i < count; i++) {
        const char *name = text + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || !is_inside(file, &symbols[i]) || !is_wanted(name))
            continue;
        int number = mr_redirect_name(name);
        if (number >= 0 && is_in_code(file, &symbols[i]))
            take(file, &symbols[i], number, out);
        else if (number >= 0)
            out->misplaced++;
    }
    qsort(out->functions, out->count, sizeof *out->functions, compare_functions);
    limit_rooms(symbols, count, out);
    return NULL;
}

static const char *read_table(const struct file *file, const Elf64_Shdr *table, struct mr_redirect_symbols *out)
{
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= file->section_count)
        return "its symbol table has an unknown form";
    const Elf64_Shdr *names = &file->sections[table->sh_link];
    if (!is_in_file(file, table) || !is_in_file(file, names))
        return "its symbol table lies beyond its end";
    if (!may_carry(file, table, names))
        return NULL;
    Elf64_Sym *symbols = read_part(file, table->sh_offset, table->sh_size);
    char *text = read_part(file, names->sh_offset, names->sh_size);
    const char *problem = "its symbol table can't be read";
    if (symbols && text)
        problem = collect(file, symbols, table->sh_size / sizeof *symbols, text, names->sh_size, out);
    free(symbols);
    free(text);
    return problem;
}

const char *mr_redirect_read(int fd, bool exports, struct mr_redirect_symbols *out)
{
    struct file file = {.fd = fd, .exports = exports};
    *out = (struct mr_redirect_symbols){0};
    const char *problem = read_sections(&file);
    const Elf64_Shdr *table = find_section(&file, exports ? SHT_DYNSYM : SHT_SYMTAB);
    if (!problem && table) {
        out->has_table = true;
        problem = read_table(&file, table, out);
    } else if (!problem && file.sections) {
        out->has_kernels = has_section(&file, ".nvFatBinSegment");
        out->is_ours = has_section(&file, OUR_SECTION);
    }
    free(file.sections);
    if (problem) {
        free(out->functions);
        out->functions = NULL;
        out->count = 0;
    }
    return problem;
}

const char *mr_redirect_read_code(int fd, struct mr_redirect_symbols *out)
{
    struct file file = {.fd = fd};
    const char *problem = read_sections(&file);
    for (unsigned i = 0; !problem && out->count == 0 && i < file.section_count; i++) {
        const Elf64_Shdr *section = &file.sections[i];
        if ((section->sh_flags & SHF_EXECINSTR) && section->sh_type == SHT_PROGBITS && is_in_file(&file, section))
            problem = mr_redirect_known(fd, section, out);
    }
    free(file.sections);
    return problem;
}
