/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an object's symbol table. */
#include "libs/redirect/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libs/redirect/known.h"
#include "libs/redirect/slots.h"

/* A function of Millrace's own static runtime library, and of no other, and the section that it is in, which stays in a
 * stripped object. */
#define OURS "mr_rt_driver_slow"
#define OUR_SECTION "millrace_runtime"

struct file {
    int fd;
    uint64_t size;
    Elf64_Shdr *sections;
    unsigned section_count;
};

/* A part of the file, in memory that the caller frees, with a null character behind it; NULL if the file has no such
 * part. */
static void *read_part(const struct file *file, uint64_t offset, uint64_t size)
{
    if (offset > file->size || size > file->size - offset)
        return NULL;
    char *bytes = calloc(1, size + 1);
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

static int compare_symbols(const void *left, const void *right)
{
    const Elf64_Sym *a = left, *b = right;
    return a->st_value < b->st_value ? -1 : a->st_value > b->st_value;
}

/* Whether the object has this function for itself. Others may call one that is neither local nor hidden: it is no copy
 * inside. */
static bool is_inside(const struct file *file, const Elf64_Sym *symbol)
{
    unsigned binding = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < file->section_count &&
           (binding == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL);
}

static bool is_in_code(const struct file *file, const Elf64_Sym *symbol)
{
    const Elf64_Shdr *section = &file->sections[symbol->st_shndx];
    return (section->sh_flags & SHF_EXECINSTR) && section->sh_type == SHT_PROGBITS &&
           symbol->st_value >= section->sh_addr && symbol->st_value - section->sh_addr < section->sh_size;
}

/* Takes a function into the list. `next` is the address at which the next function begins, or 0. */
static void take(const struct file *file, const Elf64_Sym *symbol, int name, uint64_t next,
                 struct mr_redirect_symbols *out)
{
    const Elf64_Shdr *section = &file->sections[symbol->st_shndx];
    uint64_t inside = symbol->st_value - section->sh_addr, room = section->sh_size - inside;
    if (next > symbol->st_value && next - symbol->st_value < room)
        room = next - symbol->st_value;
    out->functions[out->count++] =
        (struct mr_redirect_function){.name = name,
                                      .offset = section->sh_offset + inside,
                                      .value = symbol->st_value,
                                      .size = symbol->st_size < room ? symbol->st_size : room,
                                      .room = room};
}

/* Puts the functions into order and fills the list. `text` has `length` characters. */
static const char *collect(const struct file *file, Elf64_Sym *symbols, size_t count, const char *text, size_t length,
                           struct mr_redirect_symbols *out)
{
    size_t functions = 0, wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].st_name >= length)
            return "a symbol's name lies beyond the end of its names";
        const char *name = text + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC)
            continue;
        out->is_ours |= strcmp(name, OURS) == 0;
        wanted += strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
        symbols[functions++] = symbols[i];
    }
    if (wanted == 0 || out->is_ours)
        return NULL;
    out->functions = calloc(wanted, sizeof *out->functions);
    if (!out->functions)
        return "there is no memory for its functions";
    qsort(symbols, functions, sizeof *symbols, compare_symbols);
    for (size_t i = 0; i < functions; i++) {
        const char *name = text + symbols[i].st_name;
        if ((name[0] != 'c' && name[0] != '_') || !is_inside(file, &symbols[i]))
            continue;
        int number = mr_redirect_name(name);
        if (number >= 0 && !is_in_code(file, &symbols[i])) {
            out->misplaced++;
            continue;
        }
        size_t next = i + 1;
        while (next < functions && symbols[next].st_value == symbols[i].st_value)
            next++;
        if (number >= 0)
            take(file, &symbols[i], number, next < functions ? symbols[next].st_value : 0, out);
    }
    return NULL;
}

static const char *read_table(const struct file *file, const Elf64_Shdr *table, struct mr_redirect_symbols *out)
{
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= file->section_count)
        return "its symbol table has an unknown form";
    const Elf64_Shdr *names = &file->sections[table->sh_link];
    Elf64_Sym *symbols = read_part(file, table->sh_offset, table->sh_size);
    char *text = read_part(file, names->sh_offset, names->sh_size);
    const char *problem = "its symbol table lies beyond its end";
    if (symbols && text)
        problem = collect(file, symbols, table->sh_size / sizeof *symbols, text, names->sh_size, out);
    free(symbols);
    free(text);
    return problem;
}

const char *mr_redirect_read(int fd, struct mr_redirect_symbols *out)
{
    struct file file = {.fd = fd};
    *out = (struct mr_redirect_symbols){0};
    const char *problem = read_sections(&file);
    const Elf64_Shdr *table = find_section(&file, SHT_SYMTAB);
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
        bool in_file = section->sh_offset <= file.size && section->sh_size <= file.size - section->sh_offset;
        if ((section->sh_flags & SHF_EXECINSTR) && section->sh_type == SHT_PROGBITS && in_file)
            problem = mr_redirect_known(fd, section, out);
    }
    free(file.sections);
    return problem;
}
